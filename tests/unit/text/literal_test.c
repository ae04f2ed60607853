/* Loose values become JSON; arguments become what a schema says.
 * SPDX-License-Identifier: MIT */
#include "text/chat/literal.h"

#include "test.h"
#include "text/chat/argument.h"

/* The JSON that comes out, then "..." when the value is not whole, or "!" and the rest that was not taken. */
static void check(qn_literal *l, const char *text, const char *wanted)
{
    char out[4096];
    size_t n = l->n_out;
    memcpy(out, l->out, n);
    qn_literal_step step = QN_LITERAL_MORE;
    while (*text != '\0' && step == QN_LITERAL_MORE) {
        step = qn_literal_push(l, *text);
        memcpy(out + n, l->out, l->n_out);
        n += l->n_out;
        text += step != QN_LITERAL_BAD ? 1 : 0;
    }
    if (step == QN_LITERAL_BAD) {
        n += (size_t)snprintf(out + n, sizeof(out) - n, "!%s", text);
    } else {
        bool whole = qn_literal_finish(l);
        memcpy(out + n, l->out, l->n_out);
        n += l->n_out;
        n += (size_t)snprintf(out + n, sizeof(out) - n, "%s%s", whole ? "" : "...", text);
    }
    out[n] = '\0';
    assert_string_equal(out, wanted);
}

static void values(void **state)
{
    (void)state;
    static const char *const given[][2] = {
        {"True", "true"},
        {"None", "null"},
        {"12", "12"},
        {"-1.5e3", "-1.5e3"},
        {"007", "\"007\""},
        {"word", "\"word\""},
        {"'it''s'", "\"it\"'s'"},
        {"'a\"b\\'c\\n\\\\'", "\"a\\\"b'c\\n\\\\\""},
        {"\"\\x41\\u00e9\\U0001F41D\\q\"", "\"\\u0041\\u00e9\\ud83d\\udc1d\\\\q\""},
        /* halves of surrogate pairs */
        {"'\\ud83d\\ude00\\U0001F41D'", "\"\\ud83d\\ude00\\ud83d\\udc1d\""},
        {"'\\ud800'", "\"\\ufffd\""},
        {"'\\udc00\\ud800x'", "\"\\ufffd\\ufffdx\""},
        {"'\\ud800\\n\\U0000d800\\x41'", "\"\\ufffd\\n\\ufffd\\u0041\""},
        {"'\\ud800\\ud801\\udc01\\udc01'", "\"\\ufffd\\ud801\\udc01\\ufffd\""},
        {"{'\\ud800': '\\U00110000'}", "{\"\\ufffd\": \"\\ufffd\"}"},
        {"[1, 'a', (2, 3), {'k': None},]", "[1, \"a\", [2, 3], {\"k\": null}]"},
        {"{a: 1, 'b' : [ ], \"c\": {}}", "{\"a\": 1, \"b\": [], \"c\": {}}"},
        {"[1 2]", "[1!2]"},
        {"[1}", "[1!}"},
        {"{1}", "{!}"},
        {"[", "[..."},
        {"'a", "\"a..."},
        {"\"\\xg\"", "\"!g\""},
        {"[,]", "[!,]"},
        {"f(1)", "!(1)"},
    };
    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
        qn_literal l;
        qn_literal_init(&l, (qn_str){"", 0});
        check(&l, given[i][0], given[i][1]);
    }
}

static void members(void **state)
{
    (void)state;
    static const char *const calls[][2] = {
        {"a=1, b='x')", "{\"a\": 1, \"b\": \"x\"}"},
        {")", "{}"},
        {"a=(1, 2),)", "{\"a\": [1, 2]}"},
        {"a=1]", "{\"a\": 1!]"},
        {"1)", "{!)"},
    };
    static const char *const maps[][2] = {
        {"a:<q>x<y<q>,b:[<q><q>]}", "{\"a\": \"x<y\", \"b\": [\"\"]}"},
        {"a:<q><<q>}", "{\"a\": \"<\"}"},
        {"a:{b:true},c:None}", "{\"a\": {\"b\": true}, \"c\": null}"},
        {"a:<x", "{\"a\": !x"},
    };
    qn_literal l;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        qn_literal_init_members(&l, (qn_str){"", 0}, ')');
        check(&l, calls[i][0], calls[i][1]);
    }
    for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
        qn_literal_init_members(&l, QN_STR("<q>"), '}');
        check(&l, maps[i][0], maps[i][1]);
    }
}

static void depth_and_words_are_bounded(void **state)
{
    (void)state;
    qn_literal l;
    qn_literal_init(&l, (qn_str){"", 0});
    for (int i = 0; i < QN_LITERAL_DEPTH; i++) {
        assert_int_equal(qn_literal_push(&l, '['), QN_LITERAL_MORE);
    }
    assert_int_equal(qn_literal_push(&l, '['), QN_LITERAL_BAD);
    qn_literal_init(&l, (qn_str){"", 0});
    for (int i = 0; i < QN_LITERAL_WORD; i++) {
        assert_int_equal(qn_literal_push(&l, 'a'), QN_LITERAL_MORE);
    }
    assert_int_equal(qn_literal_push(&l, 'a'), QN_LITERAL_BAD);
}

static void types_of_schemas(void **state)
{
    (void)state;
    static const struct {
        const char *schema;
        unsigned types;
    } given[] = {
        {"{\"type\": \"string\"}", QN_TYPE_STRING},
        {"{\"type\": [\"integer\", \"null\"]}", QN_TYPE_NUMBER | QN_TYPE_NULL},
        {"{\"type\": \"array\", \"nullable\": true}", QN_TYPE_ARRAY | QN_TYPE_NULL},
        {"{\"enum\": [\"a\", 1]}", QN_TYPE_STRING | QN_TYPE_NUMBER},
        {"{\"anyOf\": [{\"type\": \"object\"}, {\"type\": \"boolean\"}]}", QN_TYPE_OBJECT | QN_TYPE_BOOLEAN},
        {"{\"anyOf\": [{\"type\": \"object\"}, {}]}", 0},
        {"{}", 0},
        {"true", 0},
    };
    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
        qn_json_doc *doc = NULL;
        qn_error err;
        assert_int_equal(qn_json_parse(NULL, given[i].schema, strlen(given[i].schema), 100, &doc, &err), QN_OK);
        assert_int_equal(qn_schema_types(qn_json_root(doc)), given[i].types);
        qn_json_free(doc);
    }
    assert_int_equal(qn_schema_types(NULL), 0);
}

static void arguments_by_type(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned types;
        bool quoted;
        const char *wanted;
    } given[] = {
        {"12", QN_TYPE_STRING, false, "\"12\""},
        {"12", QN_TYPE_NUMBER, false, "12"},
        {" 12\n", 0, false, "12"},
        {"12", QN_TYPE_STRING | QN_TYPE_NUMBER, false, "12"},
        {"12", QN_TYPE_BOOLEAN, false, "\"12\""},
        {"True", QN_TYPE_BOOLEAN, false, "true"},
        {"True", QN_TYPE_STRING | QN_TYPE_NULL, false, "\"True\""},
        {"None", QN_TYPE_STRING | QN_TYPE_NULL, false, "null"},
        {"{'a': [True]}", QN_TYPE_OBJECT, false, "{\"a\": [true]}"},
        {"{'a'", QN_TYPE_OBJECT, false, "\"{'a'\""},
        {" a\"\n", 0, false, "\" a\\\"\\n\""},
        {"\"a\"", QN_TYPE_STRING, true, "\"a\""},
        {"\"a\"", QN_TYPE_STRING, false, "\"\\\"a\\\"\""},
        {"", QN_TYPE_NUMBER, false, "\"\""},
        {"[\"\\ud800\", \"\\ud83d\\ude00\"]", QN_TYPE_ARRAY, false, "[\"\\ufffd\", \"\\ud83d\\ude00\"]"},
        {"\"\\ud800\"", QN_TYPE_STRING, true, "\"\\\"\\\\ud800\\\"\""},
        /* too deep: a string */
        {"[[[1]]]", 0, false, "[[[1]]]"},
        {"[[[[1]]]]", QN_TYPE_ARRAY, false, "\"[[[[1]]]]\""},
        {"[(['a'])]", QN_TYPE_ARRAY, false, "[[[\"a\"]]]"},
        {"[([{'a': 1}])]", QN_TYPE_ARRAY, false, "\"[([{'a': 1}])]\""},
    };
    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
        qn_buf out;
        qn_buf_init(&out, NULL, "test", 1000);
        qn_argument_write(&out, qn_str_of(given[i].text), given[i].types, given[i].quoted, 3);
        assert_string_equal(out.data, given[i].wanted);
        qn_buf_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(members),
        cmocka_unit_test(depth_and_words_are_bounded),
        cmocka_unit_test(types_of_schemas),
        cmocka_unit_test(arguments_by_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
