/* Which form of arguments a template wants. SPDX-License-Identifier: MIT */
#include "test.h"

#include "text/chat/conversation.h"

#define CALLS(shown)                                                                              \
    "{% for m in messages %}<{{ m.role }}>{% if m.tool_calls %}{% for c in m.tool_calls %}" shown \
    "{% endfor %}{% else %}"                                                                      \
    "{{ m.content }}{% endif %}{% endfor %}"

static bool wants_text(const char *source)
{
    qn_jinja *j;
    qn_error err = {0};
    const qn_conversation_options o = {.bos = QN_STR("<s>")};
    bool text = true;
    if (qn_jinja_open(qn_str_of(source), NULL, &j, &err) != QN_OK) {
        fail_msg("%s", err.what);
    }
    assert_int_equal(qn_conversation_probe(j, &o, NULL, &text, &err), QN_OK);
    qn_jinja_close(j);
    return text;
}

static void templates_tell(void **state)
{
    (void)state;
    /* Objects: as JSON, or walked through. */
    assert_false(wants_text(CALLS("{{ c.function.arguments | tojson }}")));
    assert_false(wants_text(CALLS("{{ c.function | tojson }}")));
    assert_false(wants_text(CALLS("{% for k, v in c.function.arguments.items() %}<{{ k }}>{{ v }}{% endfor %}")));
    assert_false(wants_text(CALLS("{% if c.function.arguments is string %}{{ c.function.arguments }}{% else %}"
                                  "{{ c.function.arguments | tojson }}{% endif %}")));
    /* Text: it would fail on an object, or show it as Python does. */
    assert_true(wants_text(CALLS("{{ c.function.name + '(' + c.function.arguments + ')' }}")));
    assert_true(wants_text(CALLS("{{ c.function.arguments }}")));
    /* Only where there is no content. */
    assert_true(
        wants_text("{% for m in messages %}{% if m.content is none %}{% for c in m.tool_calls %}"
                   "{{ 'x' + c.function.arguments }}{% endfor %}{% else %}{{ m.content }}{% endif %}{% endfor %}"));
    /* Neither tells. */
    assert_false(wants_text("{% for m in messages %}{{ m.content }}{% endfor %}"));
    assert_false(wants_text("{{ raise_exception('never') }}"));
    assert_false(wants_text(""));
}

static void no_memory_is_a_status(void **state)
{
    (void)state;
    qn_jinja *j;
    const qn_conversation_options o = {.bos = QN_STR("<s>")};
    assert_int_equal(qn_jinja_open(qn_str_of(CALLS("{{ c.function.arguments }}")), NULL, &j, NULL), QN_OK);
    for (uint64_t n = 1;; n++) {
        bool text = false;
        qn_error err = {0};
        uint64_t live = qn_alloc_live();
        qn_alloc_fail_at(n);
        qn_status status = qn_conversation_probe(j, &o, NULL, &text, &err);
        qn_alloc_fail_at(0);
        assert_int_equal(qn_alloc_live(), live);
        if (status == QN_OK) {
            assert_true(text && n > 8);
            break;
        }
        assert_int_equal(status, QN_ENOMEM);
    }
    qn_jinja_close(j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(templates_tell),
        cmocka_unit_test(no_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
