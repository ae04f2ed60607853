/* What is found out about small templates, and about those that are no help.
 * SPDX-License-Identifier: MIT */
#include "small_chats.h"

static qn_buf describe(const char *template)
{
    qn_dialect *d = small_dialect(template);
    qn_buf out;
    qn_buf_init(&out, NULL, "test", 1u << 20);
    assert_int_equal(qn_dialect_describe(d, &out), QN_OK);
    qn_dialect_close(d);
    return out;
}

/* The description has each of the pieces of JSON. */
static void check(const char *template, const char *const *wanted)
{
    qn_buf out = describe(template);
    for (; *wanted != NULL; wanted++) {
        if (strstr(out.data, *wanted) == NULL) {
            fail_msg("%s is not in %s", *wanted, out.data);
        }
    }
    qn_buf_free(&out);
}

static void objects(void **state)
{
    (void)state;
    check(small_objects,
          (const char *[]){"\"reasoning\":{\"open\":\"<think>\\n\",\"close\":\"\\n</think>\\n\\n\"}",
                           "\"shape\":\"object\"", "\"call_open\":\"\\n<call>\\n\"", "\"call_close\":\"\\n</call>\\n\"",
                           "\"end\":[\"<eot>\"]", "\"turn_start\":\"<bot>\"", NULL});
    check(small_bare, (const char *[]){"\"bare\":true", "\"arguments_key\":\"parameters\"", NULL});
}

static void names(void **state)
{
    (void)state;
    check(small_named,
          (const char *[]){"\"shape\":\"named\"", "\"call_open\":\"<go>\"", "\"name_end\":\"<args>\"", NULL});
    check(small_python, (const char *[]){"\"shape\":\"python\"", "\"list\":true", "\"section_open\":\"<py>\"", NULL});
}

static void tags(void **state)
{
    (void)state;
    check(small_tags, (const char *[]){"\"shape\":\"tagged\"", "\"call_open\":\"\\n<call>\\n<f=\"",
                                       "\"name_end\":\">\"", "\"key_open\":\"\\n<p=\"", "\"key_end\":\">\\n\"",
                                       "\"value_end\":\"\\n</p>\"", "\"call_close\":\"\\n</f>\\n</call>\\n\"", NULL});
}

static void headers(void **state)
{
    (void)state;
    check(small_headers,
          (const char *[]){"\"headers\":{\"open\":\"<go>bot\",\"end\":\"<say>\",\"content\":\"<ch>outer\","
                           "\"reasoning\":\"<ch>inner\",\"recipient\":\"to=fn.\",\"json_body\":true}",
                           "\"end\":[\"<stop>\",\"<end>\",\"<call>\"]", NULL});
}

static void no_calls(void **state)
{
    (void)state;
    check(small_echo, (const char *[]){"the template shows no calls", "\"whole\":true", "\"<tool_call>\"", NULL});
    qn_dialect *d = small_dialect(small_echo);
    assert_false(qn_dialect_has_calls(d));
    assert_false(qn_dialect_has_reasoning(d));
    qn_dialect_close(d);
    d = small_dialect(small_objects);
    assert_true(qn_dialect_has_calls(d));
    assert_true(qn_dialect_has_reasoning(d));
    qn_dialect_close(d);
}

/* Reasoning that only the prompt, or only the past, shows. */
static void reasoning_in_other_places(void **state)
{
    (void)state;
    check("{%- for m in messages %}<{{ m.role }}>{{ m.content }}<eot>{%- endfor %}{%- if add_generation_prompt "
          "%}<assistant>"
          "{%- if enable_thinking is defined and not enable_thinking %}{{ '<think>\\n\\n</think>\\n\\n' }}{% endif "
          "%}{% endif %}",
          (const char *[]){"\"reasoning\":{\"open\":\"<think>\\n\",\"close\":\"\\n</think>\\n\\n\"}", NULL});
    check("{%- for m in messages %}<{{ m.role }}>{% if m.role == 'assistant' %}"
          "{{- m.content.split('</think>')[-1].lstrip('\\n') }}{% else %}{{ m.content }}{% endif %}<eot>{%- endfor %}"
          "{%- if add_generation_prompt %}{{ '<assistant><think>\\n' }}{% endif %}",
          (const char *[]){"\"open\":\"<think>\\n\",\"close\":\"</think>\\n\\n\",\"opened_by_prompt\":true", NULL});
    check(
        "{%- for m in messages %}<{{ m.role }}>{% if m.reasoning_content %}{{ m.reasoning_content }}<answer>{% endif %}"
        "{{- m.content }}<eot>{%- endfor %}{%- if add_generation_prompt %}<assistant>My thoughts:{% endif %}",
        (const char *[]){"\"open\":\"My thoughts:\",\"close\":\"<answer>\",\"opened_by_prompt\":true", NULL});
}

/* Tools and documents are none when there are not any; but some templates are only for conversations that have them. */
static void tools_and_documents_that_are_none(void **state)
{
    (void)state;
    static const char *const begins[] = {
        "{%- if tools is not defined or documents is not defined %}{{ raise_exception('where are they?') }}{% endif %}",
        "{%- for t in tools %}{{ t.function.name }}{% endfor %}",
        "{%- for t in documents %}{{ t }}{% endfor %}",
    };
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
        char template[4096];
        snprintf(template, sizeof(template), "%s%s", begins[i], small_objects);
        check(template,
              (const char *[]){"\"reasoning\":{", "\"call_open\":\"\\n<call>\\n\"", "\"end\":[\"<eot>\"]", NULL});
    }
}

/* Besides its own syntax a dialect knows what models write all the same. */
static void syntaxes_that_no_template_shows(void **state)
{
    (void)state;
    check(small_tags, (const char *[]){"\"known\":true,\"call_open\":\"\\n<f=\"", "\"call_close\":\"\\n</f>\\n\"",
                                       "\"section_close\":\"\\n</call>\\n\"", "\"bare\":true,\"whole\":true", NULL});
    check(small_bare, (const char *[]){"\"known\":true,\"call_open\":\"<function=\"", "\"<|python_tag|>\"", NULL});
    check(small_objects, (const char *[]){"\"bare\":true,\"whole\":true", NULL});
}

static void templates_that_are_no_help(void **state)
{
    (void)state;
    static const char *const sources[] = {
        "",
        "x",
        "{{ raise_exception('no') }}",
        "{%- for m in messages %}{{ m.role }}{%- endfor %}",
        "{%- for m in messages %}{{ m.content }}{%- endfor %}",
        "{{ messages | tojson }}",
        "{%- for i in range(100000000) %}{%- for j in range(100000000) %}x{%- endfor %}{%- endfor %}",
        "{{ wanted + also_wanted + and_this + and_that + one_more }}{{ messages[0].content }}",
        "{%- for m in messages %}{{ '<' * 2000 }}{{ m.content }}{{ '>' * 2000 }}{%- endfor %}",
        "{%- for m in messages %}{{ m }}{%- endfor %}",
    };
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        qn_buf out = describe(sources[i]);
        qn_json_doc *doc = NULL;
        qn_error err;
        assert_int_equal(qn_json_parse(NULL, out.data, out.len, 1000, &doc, &err), QN_OK);
        assert_non_null(qn_json_find(qn_json_root(doc), "notes"));
        qn_json_free(doc);
        qn_buf_free(&out);
        /* Such a dialect reads plain text. */
        qn_dialect *d = small_dialect(sources[i]);
        qn_answer_options o = {.prompt = QN_STR("x")};
        small_check(d, &o, "a {b} [c]", "C(a {b} [c])", false);
        qn_dialect_close(d);
    }
}

static void without_memory(void **state)
{
    (void)state;
    qn_jinja *j = NULL;
    qn_error err = {0};
    assert_int_equal(qn_jinja_open(qn_str_of(small_tags), NULL, &j, &err), QN_OK);
    uint64_t live = qn_alloc_live();
    qn_status status = QN_ENOMEM;
    uint64_t n = 0;
    while (status == QN_ENOMEM) {
        qn_dialect *d = NULL;
        qn_alloc_fail_at(++n);
        status = qn_dialect_open(j, QN_STR(""), QN_STR(""), NULL, &d, &err);
        qn_alloc_fail_at(0);
        assert_true(status == QN_OK || d == NULL);
        qn_dialect_close(d);
        assert_int_equal(qn_alloc_live(), live);
    }
    assert_int_equal(status, QN_OK);
    assert_true(n > 50);
    qn_jinja_close(j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects),
        cmocka_unit_test(names),
        cmocka_unit_test(tags),
        cmocka_unit_test(headers),
        cmocka_unit_test(no_calls),
        cmocka_unit_test(reasoning_in_other_places),
        cmocka_unit_test(tools_and_documents_that_are_none),
        cmocka_unit_test(syntaxes_that_no_template_shows),
        cmocka_unit_test(templates_that_are_no_help),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
