/* Tests of the JSON reader.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/json.h"

#include <math.h>

enum { MANY = 100000 };

static qn_json_doc *parse(const char *text)
{
    qn_json_doc *d = NULL;
    qn_error err = {0};
    qn_status status = qn_json_parse(NULL, text, strlen(text), MANY, &d, &err);
    if (status != QN_OK) {
        fail_msg("%s: %s", text, err.what);
    }
    return d;
}

static void test_tree(void **state)
{
    (void)state;
    qn_json_doc *d =
        parse(" { \"b\" : [1, [2, 3], {}, \"x\"] ,\n\t\"a\":{\"k\":true,\"l\":false},\"n\":null , \"b2\":-1.5e3}\r\n");
    const qn_json *root = qn_json_root(d);
    assert_int_equal(qn_json_kind_of(root), QN_JSON_OBJECT);
    assert_int_equal(qn_json_count(root), 4);
    /* Order is kept. */
    assert_true(qn_str_is(qn_json_key_at(root, 0), "b"));
    assert_true(qn_str_is(qn_json_key_at(root, 1), "a"));
    assert_true(qn_str_is(qn_json_key_at(root, 2), "n"));
    assert_true(qn_str_is(qn_json_key_at(root, 3), "b2"));
    assert_int_equal(qn_json_key_at(root, 4).len, 0);
    assert_null(qn_json_at(root, 4));

    const qn_json *b = qn_json_find(root, "b");
    assert_ptr_equal(b, qn_json_at(root, 0));
    assert_int_equal(qn_json_kind_of(b), QN_JSON_ARRAY);
    assert_int_equal(qn_json_count(b), 4);
    assert_int_equal(qn_json_key_at(b, 0).len, 0);
    const qn_json *inner = qn_json_at(b, 1);
    assert_int_equal(qn_json_count(inner), 2);
    assert_true(qn_json_as_f64(qn_json_at(inner, 1)) == 3);
    assert_int_equal(qn_json_kind_of(qn_json_at(b, 2)), QN_JSON_OBJECT);
    assert_int_equal(qn_json_count(qn_json_at(b, 2)), 0);
    assert_true(qn_str_is(qn_json_as_str(qn_json_at(b, 3)), "x"));
    assert_null(qn_json_find(b, "x"));

    const qn_json *a = qn_json_find(root, "a");
    assert_true(qn_json_as_bool(qn_json_find(a, "k")));
    assert_false(qn_json_as_bool(qn_json_find(a, "l")));
    assert_int_equal(qn_json_kind_of(qn_json_find(a, "l")), QN_JSON_BOOL);
    assert_int_equal(qn_json_kind_of(qn_json_find(root, "n")), QN_JSON_NULL);
    assert_true(qn_str_is(qn_json_as_str(qn_json_find(root, "b2")), "-1.5e3"));
    assert_true(qn_json_as_f64(qn_json_find(root, "b2")) == -1500);
    assert_null(qn_json_find(root, "c"));

    /* Asked for what they are not, values answer with nothing. */
    assert_false(qn_json_as_bool(root));
    assert_true(qn_json_as_f64(a) == 0);
    assert_int_equal(qn_json_as_str(a).len, 0);
    assert_int_equal(qn_json_count(qn_json_find(root, "n")), 0);
    assert_null(qn_json_at(qn_json_find(root, "b2"), 0));
    assert_false(qn_json_as_i64(a, &(int64_t){0}));
    qn_json_free(d);
    qn_json_free(NULL);
}

static void test_scalars_as_documents(void **state)
{
    (void)state;
    qn_json_doc *d = parse("\"x\"");
    assert_true(qn_str_is(qn_json_as_str(qn_json_root(d)), "x"));
    qn_json_free(d);
    d = parse(" null ");
    assert_int_equal(qn_json_kind_of(qn_json_root(d)), QN_JSON_NULL);
    qn_json_free(d);
    d = parse("0");
    assert_int_equal(qn_json_kind_of(qn_json_root(d)), QN_JSON_NUMBER);
    qn_json_free(d);
    d = parse("[]");
    assert_int_equal(qn_json_count(qn_json_root(d)), 0);
    assert_null(qn_json_at(qn_json_root(d), 0));
    qn_json_free(d);
}

static void test_duplicates(void **state)
{
    (void)state;
    qn_json_doc *d = parse("{\"a\":1,\"b\":2,\"a\":3}");
    const qn_json *root = qn_json_root(d);
    assert_int_equal(qn_json_count(root), 3);
    assert_true(qn_json_as_f64(qn_json_find(root, "a")) == 3);
    assert_true(qn_json_as_f64(qn_json_at(root, 0)) == 1);
    qn_json_free(d);
}

static void test_strings(void **state)
{
    (void)state;
    static const struct {
        const char *in;
        qn_str out;
    } cases[] = {
        {"\"\"", {"", 0}},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", {"\"\\/\b\f\n\r\t", 8}},
        {"\"\\u0041\\u00e9\\u20AC\"", {"A\xC3\xA9\xE2\x82\xAC", 6}},
        {"\"\\ud83d\\uDE00!\"", {"\xF0\x9F\x98\x80!", 5}},
        {"\"\\udbff\\udfff\"", {"\xF4\x8F\xBF\xBF", 4}},
        {"\"a\\u0000b\"", {"a\0b", 3}},
        {"\"\\uFFFF\\ue000\\ud7ff\"", {"\xEF\xBF\xBF\xEE\x80\x80\xED\x9F\xBF", 9}},
        {"\"\xF0\x9F\x98\x80 \x7F\"", {"\xF0\x9F\x98\x80 \x7F", 6}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        qn_json_doc *d = parse(cases[i].in);
        assert_int_equal(qn_json_kind_of(qn_json_root(d)), QN_JSON_STRING);
        assert_true(qn_str_eq(qn_json_as_str(qn_json_root(d)), cases[i].out));
        qn_json_free(d);
    }
    /* Keys are unescaped too. */
    qn_json_doc *d = parse("{\"\\u0061\\n\":1}");
    assert_non_null(qn_json_find(qn_json_root(d), "a\n"));
    qn_json_free(d);
}

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double v;
        bool is_integer;
        int64_t i;
    } cases[] = {
        {"0", 0, true, 0},
        {"-0", -0.0, true, 0},
        {"12", 12, true, 12},
        {"-12.50", -12.5, false, 0},
        {"1.0", 1, true, 1},
        {"1e2", 100, true, 100},
        {"1E+2", 100, true, 100},
        {"120e-1", 12, true, 12},
        {"125e-1", 12.5, false, 0},
        {"1.25e2", 125, true, 125},
        {"1.250e2", 125, true, 125},
        {"100.0e-2", 1, true, 1},
        {"0.000", 0, true, 0},
        {"0e999999999999999999999", 0, true, 0},
        {"0.001e3", 1, true, 1},
        {"10000000000000000000e-19", 1, true, 1},
        {"1e-1", 0.1, false, 0},
        {"9223372036854775807", 9223372036854775807.0, true, INT64_MAX},
        {"9223372036854775808", 9223372036854775808.0, false, 0},
        {"-9223372036854775808", -9223372036854775808.0, true, INT64_MIN},
        {"-9223372036854775809", -9223372036854775808.0, false, 0},
        {"18446744073709551616", 18446744073709551616.0, false, 0},
        {"99999999999999999999999999", 1e26, false, 0},
        {"1e18", 1e18, true, 1000000000000000000},
        {"1e19", 1e19, false, 0},
        {"1e99999999999999999999", INFINITY, false, 0},
        {"-1e999", -INFINITY, false, 0},
        {"1e-99999999999999999999", 0, false, 0},
        {"4.9e-324", 4.9e-324, false, 0},
        {"1000000000000000000000000000000e-30", 1, true, 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        qn_json_doc *d = parse(cases[i].text);
        const qn_json *v = qn_json_root(d);
        assert_int_equal(qn_json_kind_of(v), QN_JSON_NUMBER);
        assert_true(qn_str_is(qn_json_as_str(v), cases[i].text));
        double got = qn_json_as_f64(v);
        assert_memory_equal(&got, &cases[i].v, sizeof(got));
        int64_t whole = 77;
        assert_int_equal(qn_json_as_i64(v, &whole), cases[i].is_integer);
        assert_true(whole == (cases[i].is_integer ? cases[i].i : 77));
        qn_json_free(d);
    }
}

static void test_errors_name_the_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *what;
    } cases[] = {
        {"", "line 1, column 1: a value is missing at the end"},
        {"  ", "line 1, column 3: "},
        {"[1,\n2,\n  x]", "line 3, column 3: a value is missing"},
        {"[1 2]", "line 1, column 4: ',' or ']' is missing"},
        {"[1,]", "line 1, column 4: "},
        {"[,1]", "line 1, column 2: "},
        {"[1", "line 1, column 3: "},
        {"]", "line 1, column 1: "},
        {"[1}", "line 1, column 3: "},
        {"{\"a\":1]", "line 1, column 7: ',' or '}' is missing"},
        {"{\"a\" 1}", "line 1, column 6: ':' is missing"},
        {"{\"a\":}", "line 1, column 6: "},
        {"{\"a\":1,}", "line 1, column 8: a key in quotes is missing"},
        {"{a:1}", "line 1, column 2: a key in quotes"},
        {"{1:1}", "line 1, column 2: "},
        {"{,}", "line 1, column 2: "},
        {"{", "line 1, column 2: "},
        {"1 2", "line 1, column 3: text after the end"},
        {"{}}", "line 1, column 3: text after the end"},
        {"nul", "line 1, column 1: "},
        {"nullx", "line 1, column 5: "},
        {"True", "line 1, column 1: "},
        {"NaN", "line 1, column 1: "},
        {"-", "line 1, column 2: a digit is missing"},
        {"-Infinity", "line 1, column 2: "},
        {"01", "line 1, column 2: "},
        {"-01", "line 1, column 3: "},
        {"1.", "line 1, column 3: a digit is missing"},
        {"1.e5", "line 1, column 3: "},
        {".5", "line 1, column 1: "},
        {"+1", "line 1, column 1: "},
        {"1e", "line 1, column 3: "},
        {"1e+", "line 1, column 4: "},
        {"0x10", "line 1, column 2: "},
        {"\"abc", "line 1, column 5: a string has no end"},
        {"\"abc\\", "line 1, column 5: an escape"},
        {"\"abc\\\"", "line 1, column 7: a string has no end"},
        {"\"a\nb\"", "line 1, column 3: a control character"},
        {"\"a\tb\"", "line 1, column 3: a control character"},
        {"\"\\x41\"", "line 1, column 2: an escape that JSON does not have"},
        {"\"\\u12\"", "line 1, column 2: \\u needs four"},
        {"\"\\u12g4\"", "line 1, column 2: \\u needs four"},
        {"\"\\u", "line 1, column 2: \\u needs four"},
        {"\"\\ud800\"", "line 1, column 2: the first half"},
        {"\"\\ud800\\n\"", "line 1, column 2: the first half"},
        {"\"\\ud800\\ud800\"", "line 1, column 2: the first half"},
        {"\"\\ud800\\u0041\"", "line 1, column 2: the first half"},
        {"\"\\udc00\"", "line 1, column 2: the second half"},
        {"\"x\\n\\n\"\n,", "line 2, column 1: text after"}, /* line ends made by escapes are not counted */
        {"\"\xFF\"", "line 1, column 2: invalid UTF-8"},
        {"\"\xC0\x80\"", "line 1, column 2: invalid UTF-8"},
        {"\"\xED\xA0\x80\"", "line 1, column 2: invalid UTF-8"},
        {"\"\xC3\"", "line 1, column 2: invalid UTF-8"},
        {"\xEF\xBB\xBF{}", "line 1, column 1: "},
        {"// x\n1", "line 1, column 1: "},
        {"'a'", "line 1, column 1: "},
        {"\xC2\xA0"
         "1",
         "line 1, column 1: "},
        {"\v1", "line 1, column 1: "},
    };
    uint64_t live = qn_alloc_live();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        qn_json_doc *d = NULL;
        qn_error err = {0};
        assert_int_equal(qn_json_parse(NULL, cases[i].text, strlen(cases[i].text), MANY, &d, &err), QN_EFORMAT);
        assert_int_equal(err.code, QN_EFORMAT);
        if (strncmp(err.what, cases[i].what, strlen(cases[i].what)) != 0) {
            fail_msg("%s: \"%s\" instead of \"%s\"", cases[i].text, err.what, cases[i].what);
        }
        assert_null(d);
        assert_int_equal(qn_json_parse(NULL, cases[i].text, strlen(cases[i].text), MANY, &d, NULL), QN_EFORMAT);
    }
    assert_int_equal(qn_alloc_live(), live);
}

static void test_nul_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t n;
    } cases[] = {{"\0", 1},    {"1\0", 2},      {"1\0 ", 3},          {"\"a\0b\"", 5},
                 {"[1\0]", 4}, {"\"\\\0\"", 4}, {"\"\\u00\0041\"", 8}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        qn_json_doc *d = NULL;
        assert_int_equal(qn_json_parse(NULL, cases[i].text, cases[i].n, MANY, &d, NULL), QN_EFORMAT);
    }
    qn_json_doc *d = NULL;
    assert_int_equal(qn_json_parse(NULL, NULL, 0, MANY, &d, NULL), QN_EFORMAT);
    /* Nothing behind the given length is looked at. */
    assert_int_equal(qn_json_parse(NULL, "12345", 2, MANY, &d, NULL), QN_OK);
    assert_true(qn_json_as_f64(qn_json_root(d)) == 12);
    qn_json_free(d);
}

static void fill_nested(char *text, size_t depth)
{
    for (size_t i = 0; i < depth; i++) {
        text[i] = '[';
        text[2 * depth - 1 - i] = ']';
    }
    text[2 * depth] = '\0';
}

static void test_depth(void **state)
{
    (void)state;
    static char text[300000];
    fill_nested(text, QN_JSON_MAX_DEPTH);
    qn_json_doc *d = parse(text);
    const qn_json *v = qn_json_root(d);
    for (int i = 1; i < QN_JSON_MAX_DEPTH; i++) {
        assert_int_equal(qn_json_count(v), 1);
        v = qn_json_at(v, 0);
    }
    assert_int_equal(qn_json_count(v), 0);
    qn_json_free(d);
    fill_nested(text, QN_JSON_MAX_DEPTH + 1);
    qn_error err;
    assert_int_equal(qn_json_parse(NULL, text, strlen(text), MANY, &d, &err), QN_EFORMAT);
    assert_string_equal(err.what, "line 1, column 129: nested too deeply");
    memset(text, '[', sizeof(text));
    assert_int_equal(qn_json_parse(NULL, text, sizeof(text), SIZE_MAX, &d, NULL), QN_EFORMAT);
    /* Depth counts what is open, not what was. */
    qn_buf b;
    qn_buf_init(&b, NULL, "test", SIZE_MAX);
    qn_buf_add_char(&b, '[');
    for (int i = 0; i < 500; i++) {
        qn_buf_add_str(&b, "[{}],");
    }
    qn_buf_add_str(&b, "0]");
    d = parse(b.data);
    assert_int_equal(qn_json_count(qn_json_root(d)), 501);
    qn_json_free(d);
    qn_buf_free(&b);
}

static void test_node_limit(void **state)
{
    (void)state;
    qn_json_doc *d = NULL;
    qn_error err;
    const char *text = "[1,{\"a\":2},[]]"; /* 5 values */
    assert_int_equal(qn_json_parse(NULL, text, strlen(text), 4, &d, &err), QN_EFULL);
    assert_string_equal(err.what, "more than 4 JSON values");
    assert_int_equal(qn_json_parse(NULL, text, strlen(text), 5, &d, &err), QN_OK);
    qn_json_free(d);
    assert_int_equal(qn_json_parse(NULL, "1", 1, 0, &d, &err), QN_EFULL);
}

static void test_wide(void **state)
{
    (void)state;
    qn_buf b;
    qn_buf_init(&b, NULL, "test", SIZE_MAX);
    qn_buf_add_char(&b, '{');
    for (int i = 0; i < 3000; i++) {
        qn_buf_printf(&b, "%s\"k%d\":[%d,{\"v\":%d}]", i > 0 ? "," : "", i, i, i * 2);
    }
    qn_buf_add_char(&b, '}');
    qn_json_doc *d = parse(b.data);
    qn_buf_free(&b); /* the document keeps nothing of it */
    const qn_json *root = qn_json_root(d);
    assert_int_equal(qn_json_count(root), 3000);
    for (int i = 0; i < 3000; i++) {
        char key[16];
        snprintf(key, sizeof(key), "k%d", i);
        assert_true(qn_str_is(qn_json_key_at(root, (size_t)i), key));
        const qn_json *pair = qn_json_at(root, (size_t)i);
        int64_t v;
        assert_true(qn_json_as_i64(qn_json_at(pair, 0), &v));
        assert_int_equal(v, i);
        assert_true(qn_json_as_i64(qn_json_find(qn_json_at(pair, 1), "v"), &v));
        assert_int_equal(v, 2 * i);
    }
    qn_json_free(d);
}

static const char *const sample =
    "{\"messages\":[{\"role\":\"user\",\"content\":\"a\\u00e9\\n\"},{\"role\":\"tool\"}],\"n\":[1,2,3,4,5,6,7,8,9,10,"
    "11,12,"
    "13,14,15,16,17,18,19,[20,21,[22,[23,{\"x\":24,\"y\":[25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40]}]]]]}";

static void test_no_memory(void **state)
{
    (void)state;
    uint64_t live = qn_alloc_live(), n = 0;
    qn_status status = QN_ENOMEM;
    qn_json_doc *d = NULL;
    while (status == QN_ENOMEM) {
        qn_error err = {0};
        qn_alloc_fail_at(++n);
        status = qn_json_parse(NULL, sample, strlen(sample), MANY, &d, &err);
        qn_alloc_fail_at(0);
        assert_int_equal(err.code, status);
        assert_true(status == QN_OK || qn_alloc_live() == live);
    }
    assert_int_equal(status, QN_OK);
    assert_true(n > 5);
    qn_json_free(d);
    assert_int_equal(qn_alloc_live(), live);
}

static void test_budget(void **state)
{
    (void)state;
    qn_budget *b = NULL;
    assert_int_equal(qn_budget_open(2000, &b), QN_OK);
    qn_json_doc *d = NULL;
    assert_int_equal(qn_json_parse(b, sample, strlen(sample), MANY, &d, NULL), QN_ENOMEM);
    assert_int_equal(qn_budget_used(b), 0);
    assert_int_equal(qn_json_parse(b, "[1]", 3, MANY, &d, NULL), QN_OK);
    const char *owner = NULL;
    uint64_t bytes = 0;
    assert_true(qn_budget_owner(b, 0, &owner, &bytes));
    assert_string_equal(owner, "json");
    assert_true(bytes == qn_budget_used(b) && bytes > 0);
    qn_json_free(d);
    qn_budget_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree),       cmocka_unit_test(test_scalars_as_documents),
        cmocka_unit_test(test_duplicates), cmocka_unit_test(test_strings),
        cmocka_unit_test(test_numbers),    cmocka_unit_test(test_errors_name_the_place),
        cmocka_unit_test(test_nul_bytes),  cmocka_unit_test(test_depth),
        cmocka_unit_test(test_node_limit), cmocka_unit_test(test_wide),
        cmocka_unit_test(test_no_memory),  cmocka_unit_test(test_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
