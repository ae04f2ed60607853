/* Conversations: what is put right, and what is left as it was. SPDX-License-Identifier: MIT */
#include "test.h"

#include "text/chat/conversation.h"

#include <stdio.h>

/* Ends an object with the variables that every template is given, where they are not in it. */
static void add_absent(char *json, size_t size)
{
    static const char *const members[] = {"\"tools\":null", "\"documents\":null", "\"add_generation_prompt\":false"};
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        char name[32];
        snprintf(name, sizeof(name), "%.*s", (int)(strchr(members[i], ':') - members[i]), members[i]);
        if (strstr(json, name) == NULL) {
            size_t n = strlen(json) - 1;
            snprintf(json + n, size - n, "%s%s}", n > 1 ? "," : "", members[i]);
        }
    }
}

static void assert_becomes(const char *json, const qn_conversation_options *o, const char *expected)
{
    qn_conversation *c;
    qn_error err = {0};
    qn_status status = qn_conversation_open(qn_str_of(json), o, NULL, &c, &err);
    if (status != QN_OK) {
        print_message("%s: %s\n", json, err.what);
    }
    assert_int_equal(status, QN_OK);
    qn_buf out;
    qn_json_writer w;
    qn_buf_init(&out, NULL, "test", 1 << 20);
    qn_json_writer_init(&w, &out);
    qn_json_copy(&w, qn_conversation_vars(c));
    char whole[1024];
    snprintf(whole, sizeof(whole), "%s", expected);
    add_absent(whole, sizeof(whole));
    assert_string_equal(out.data, whole);
    qn_buf_free(&out);
    qn_conversation_close(c);
}

static void assert_same(const char *json)
{
    assert_becomes(json, NULL, json);
}

static void assert_refused(const char *json, qn_status status, const char *word)
{
    qn_conversation *c;
    qn_error err = {0};
    assert_int_equal(qn_conversation_open(qn_str_of(json), NULL, NULL, &c, &err), status);
    assert_int_equal(err.code, status);
    if (strstr(err.what, word) == NULL) {
        fail_msg("'%s' is not in '%s'", word, err.what);
    }
}

#define CALL(arguments)                                                                                           \
    "{\"messages\":[{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"1\",\"function\":{\"arguments\":" arguments \
    ",\"name\":\"f\"}}]}]}"

static void most_is_left_alone(void **state)
{
    (void)state;
    assert_same("{}");
    assert_same("{\"messages\":[]}");
    assert_same(
        "{\"x\":{\"messages\":3,\"arguments\":\"{}\"},\"messages\":[{\"content\":null,\"n\":1.50}],\"tools\":null}");
    assert_same("{\"messages\":[{\"content\":[{\"type\":\"text\",\"text\":\"a\"}],\"arguments\":\"{}\",\"role\":1}]}");
    assert_same("{\"messages\":[{\"tool_calls\":null},{\"tool_calls\":[1,\"a\"]},{\"tool_calls\":\"x\"}]}");
    assert_same("{\"add_generation_prompt\":true,\"a\":\"\\u0000\",\"b\":\"<\\\"\\\\/\"}");
}

static void arguments_become_what_they_spell(void **state)
{
    (void)state;
    assert_becomes(CALL("\"{\\\"z\\\": [1.0, \\\"\\\\u00e9\\\"], \\\"a\\\":null}\""), NULL,
                   CALL("{\"z\":[1.0,\"\xC3\xA9\"],\"a\":null}"));
    assert_becomes(CALL("\"\""), NULL, CALL("{}"));
    assert_becomes(CALL("\" \\n\""), NULL, CALL("{}"));
    assert_becomes(CALL("\"7\""), NULL, CALL("7"));
    assert_same(CALL("{\"a\":\"{}\"}"));
    assert_same(CALL("null"));
    assert_becomes("{\"messages\":[{\"tool_calls\":[{\"name\":\"f\",\"arguments\":\"[]\"}]}]}", NULL,
                   "{\"messages\":[{\"tool_calls\":[{\"name\":\"f\",\"arguments\":[]}]}]}");
    const qn_conversation_options given = {.arguments = QN_ARGUMENTS_GIVEN};
    assert_becomes(CALL("\"{\\\"a\\\": 1}\""), &given, CALL("\"{\\\"a\\\": 1}\""));
    assert_becomes(CALL("{\"a\":[1.0]}"), &given, CALL("{\"a\":[1.0]}"));
    const qn_conversation_options spelled = {.arguments = QN_ARGUMENTS_SPELLED};
    assert_becomes(CALL("\"{\\\"a\\\": 1}\""), &spelled, CALL("\"{\\\"a\\\": 1}\""));
    assert_becomes(CALL("{\"a\":[1.0]}"), &spelled, CALL("\"{\\\"a\\\":[1.0]}\""));
    assert_refused(CALL("\"{\\\"a\\\": \""), QN_EFORMAT, "messages[0].tool_calls[0]: arguments: line 1");
    assert_refused(CALL("\"f(x)\""), QN_EFORMAT, "arguments");
}

static void absent_variables_are_none(void **state)
{
    (void)state;
    qn_conversation *c;
    assert_int_equal(qn_conversation_open(QN_STR("{\"documents\":[1],\"x\":2}"), NULL, NULL, &c, NULL), QN_OK);
    const qn_json *vars = qn_conversation_vars(c);
    assert_int_equal(qn_json_count(vars), 4);
    assert_int_equal(qn_json_kind_of(qn_json_find(vars, "tools")), QN_JSON_NULL);
    assert_int_equal(qn_json_kind_of(qn_json_find(vars, "documents")), QN_JSON_ARRAY);
    assert_int_equal(qn_json_kind_of(qn_json_find(vars, "add_generation_prompt")), QN_JSON_BOOL);
    assert_false(qn_json_as_bool(qn_json_find(vars, "add_generation_prompt")));
    qn_conversation_close(c);
}

static void tokens_are_added_once(void **state)
{
    (void)state;
    const qn_conversation_options o = {.bos = QN_STR("<s>"), .eos = QN_STR("</s>")};
    assert_becomes("{}", &o, "{\"bos_token\":\"<s>\",\"eos_token\":\"</s>\"}");
    assert_becomes("{\"bos_token\":null}", &o, "{\"bos_token\":null,\"eos_token\":\"</s>\"}");
    assert_becomes("{\"eos_token\":\"E\",\"x\":0}", &o, "{\"eos_token\":\"E\",\"x\":0,\"bos_token\":\"<s>\"}");
}

static bool has_gaps(const char *json)
{
    qn_conversation *c;
    assert_int_equal(qn_conversation_open(qn_str_of(json), NULL, NULL, &c, NULL), QN_OK);
    bool gaps = qn_conversation_has_gaps(c);
    qn_conversation_close(c);
    return gaps;
}

static void gaps_are_told_and_filled(void **state)
{
    (void)state;
    const qn_conversation_options filled = {.filled_contents = true};
    assert_false(has_gaps("{\"messages\":[{\"content\":\"\"},{\"content\":[]}]}"));
    assert_false(has_gaps("{\"content\":null}"));
    assert_true(has_gaps("{\"messages\":[{\"content\":\"\"},{\"content\":null}]}"));
    assert_true(has_gaps("{\"messages\":[{\"role\":\"user\"},{\"content\":\"\"}]}"));
    assert_becomes("{\"messages\":[{\"content\":null,\"role\":\"a\"},{\"role\":\"b\"},{\"content\":\"c\"}]}", &filled,
                   "{\"messages\":[{\"content\":\"\",\"role\":\"a\"},{\"role\":\"b\",\"content\":\"\"},"
                   "{\"content\":\"c\"}]}");
}

static void wrong_ones_are_refused(void **state)
{
    (void)state;
    assert_refused("", QN_EFORMAT, "line 1");
    assert_refused("{\"messages\":\n [}", QN_EFORMAT, "line 2");
    assert_refused("[]", QN_EFORMAT, "object");
    assert_refused("\xEF\xBB\xBF{}", QN_EFORMAT, "byte order mark");
    assert_refused("{\"messages\":{}}", QN_EFORMAT, "messages");
    assert_refused("{\"messages\":[{},\"x\"]}", QN_EFORMAT, "messages[1]");
}

static void no_memory_is_a_status(void **state)
{
    (void)state;
    qn_str json = QN_STR(CALL("\"{\\\"a\\\": 1}\""));
    const qn_conversation_options o = {.bos = QN_STR("<s>")};
    for (uint64_t n = 1;; n++) {
        qn_conversation *c;
        qn_error err = {0};
        uint64_t live = qn_alloc_live();
        qn_alloc_fail_at(n);
        qn_status status = qn_conversation_open(json, &o, NULL, &c, &err);
        qn_alloc_fail_at(0);
        if (status == QN_OK) {
            qn_conversation_close(c);
            assert_int_equal(qn_alloc_live(), live);
            assert_true(n > 4);
            return;
        }
        assert_int_equal(status, QN_ENOMEM);
        assert_int_equal(err.code, QN_ENOMEM);
        assert_int_equal(qn_alloc_live(), live);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(most_is_left_alone),     cmocka_unit_test(arguments_become_what_they_spell),
        cmocka_unit_test(tokens_are_added_once),  cmocka_unit_test(gaps_are_told_and_filled),
        cmocka_unit_test(wrong_ones_are_refused), cmocka_unit_test(no_memory_is_a_status),
        cmocka_unit_test(absent_variables_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
