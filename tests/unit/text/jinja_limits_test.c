/* Hostile templates meet limits with a name; no failed allocation leaves anything behind; marks follow what came from
 * outside.
 * SPDX-License-Identifier: MIT */
#include "jinja_render.h"

/* head, n times the middle, tail. For free(). */
static char *repeat(const char *head, const char *middle, size_t n, const char *tail)
{
    size_t h = strlen(head), m = strlen(middle), t = strlen(tail);
    char *s = malloc(h + n * m + t + 1);
    assert_non_null(s);
    memcpy(s, head, h);
    for (size_t i = 0; i < n; i++) {
        memcpy(s + h + i * m, middle, m);
    }
    memcpy(s + h + n * m, tail, t + 1);
    return s;
}

/* The status of the template, whose message has `part` in it. */
static void assert_stops(const char *source, const qn_jinja_options *o, qn_status wanted, const char *part)
{
    qn_jinja_text text = {0};
    qn_error err = {0};
    uint64_t live = qn_alloc_live();
    qn_status status = qn_jinja_try(source, strlen(source), "{\"x\":1,\"y\":[1]}", o, NULL, &text, &err);
    if (status != wanted || strstr(err.what, part) == NULL) {
        print_message("%.60s...: %d %s\n", source, status, err.what);
    }
    assert_int_equal(status, wanted);
    assert_non_null(strstr(err.what, part));
    if (status == QN_OK) {
        qn_jinja_text_free(&text);
    }
    assert_int_equal(qn_alloc_live(), live);
}

#define MANY 100000

static void deep_sources(void **state)
{
    (void)state;
    static const struct {
        const char *head, *middle, *tail;
    } deep[] = {{"{{ ", "(", ""},
                {"{{ ", "[", ""},
                {"{{ ", "{1:", ""},
                {"{{ ", "not ", "1 }}"},
                {"{{ ", "-", "1 }}"},
                {"{{ ", "a[", ""},
                {"{{ ", "f(", ""},
                {"{{ a", " if a", " }}"},
                {"", "{%if x%}", ""},
                {"", "{%for x in y%}", ""},
                {"{{ ", "x if y else ", "1 }}"},
                {"{% set ", "(", ""}};
    for (size_t i = 0; i < sizeof(deep) / sizeof(*deep); i++) {
        char *s = repeat(deep[i].head, deep[i].middle, MANY / strlen(deep[i].middle), deep[i].tail);
        assert_stops(s, NULL, QN_EFULL, "nested deeper");
        free(s);
    }
    char *s = repeat("{{ ", "(", QN_JINJA_MAX_DEPTH - 10, "1");
    char *closed = repeat(s, ")", QN_JINJA_MAX_DEPTH - 10, " }}");
    assert_stops(closed, NULL, QN_OK, "");
    free(s);
    free(closed);
}

/* Length alone is no depth. */
static void long_sources(void **state)
{
    (void)state;
    static const struct {
        const char *head, *middle, *tail;
    } flat[] = {{"{{ 1", "+1", " }}"},
                {"{{ 1", " and 1", " }}"},
                {"{{ 1", "<=1", " }}"},
                {"{{ 'a'", "|upper", " }}"},
                {"{{ 'a'", ".upper()", " }}"},
                {"{{ [", "1,", "] }}"},
                {"{% if 0 %}", "{%elif 0%}", "{% endif %}"},
                {"", "{{x}}{#c#}", ""},
                {"{{ ", "'a' ", "}}"},
                {"", "{% set q=x %}", ""},
                {"", "{% if x %}{% set q=x %}{% endif %}", ""}};
    for (size_t i = 0; i < sizeof(flat) / sizeof(*flat); i++) {
        char *s = repeat(flat[i].head, flat[i].middle, MANY / strlen(flat[i].middle), flat[i].tail);
        assert_stops(s, NULL, QN_OK, "");
        free(s);
    }
    char *s = repeat("", "x", QN_JINJA_MAX_SOURCE + 1, "");
    assert_stops(s, NULL, QN_EFULL, "more than");
    free(s);
}

static void runaway_templates(void **state)
{
    (void)state;
    static const char *const deep[] = {
        "{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}",
        "{% for a in [1] recursive %}{{ loop([1]) }}{% endfor %}",
        "{% macro f() %}{% call f() %}{{ caller() }}{% endcall %}{% endmacro %}{{ f() }}",
        "{% block a %}{{ self.a() }}{% endblock %}",
        "{% set ns = namespace(x=[]) %}{% for a in range(1000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}"};
    for (size_t i = 0; i < sizeof(deep) / sizeof(*deep); i++) {
        assert_stops(deep[i], NULL, QN_EFULL, "nested deeper");
    }
    char *s = repeat("{% macro f(n) %}{{ ", "[-(", 30, "f(n)");
    char *closed = repeat(s, ")]", 30, " }}{% endmacro %}{{ f(0) }}");
    assert_stops(closed, NULL, QN_EFULL, "nested too deeply");
    free(s);
    free(closed);
    const qn_jinja_options small = {.max_steps = 100000, .max_output = 1000, .now = INT64_MIN};
    const qn_jinja_options memory = {.max_memory = 2u << 20, .now = INT64_MIN};
    assert_stops("{% for a in range(1000) %}{% for b in range(1000) %}{% endfor %}{% endfor %}", &small, QN_EFULL,
                 "steps");
    assert_stops("{% set ns = namespace(x='a') %}{% for a in range(40) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
                 &memory, QN_EFULL, "memory");
    assert_stops("{% for a in range(1001) %}x{% endfor %}", &small, QN_EFULL, "longer than 1000");
    assert_stops("{% for a in range(1000) %}x{% endfor %}", &small, QN_OK, "");
}

/* A text that is made piece by piece costs what its pieces weigh; what it was made of keeps its value and its marks. */
static void growing_texts(void **state)
{
    (void)state;
    const qn_jinja_options small = {.max_steps = 3000000, .max_memory = 16u << 20, .now = INT64_MIN};
    assert_stops(
        "{% set ns = namespace(t='') %}{% for i in range(50000) %}{% set ns.t = ns.t ~ 'abcdefgh' %}{% endfor %}"
        "{{ raise_exception(ns.t|length) }}",
        &small, QN_EFORMAT, "400000");
    assert_stops(
        "{% set ns = namespace(t='') %}{% for i in range(50000) %}{% set ns.t = ns.t + 'abc' ~ x %}{% endfor %}"
        "{{ raise_exception(ns.t|length) }}",
        &small, QN_EFORMAT, "200000");
    qn_jinja_text text;
    qn_error err;
    static const char branches[] =
        "{% set a = 'x' * 300 ~ s %}{% set b = a ~ 'b' %}{% set c = a ~ s ~ 'c' %}{% set d = b ~ s %}"
        "{{ a[300:] }},{{ b[300:] }},{{ c[300:] }},{{ d[300:] }}";
    assert_int_equal(qn_jinja_try(branches, sizeof(branches) - 1, "{\"s\":\"01\"}", NULL, NULL, &text, &err), QN_OK);
    static const qn_span marks[] = {{0, 2}, {3, 5}, {7, 11}, {13, 15}, {16, 18}};
    assert_true(qn_str_is(qn_buf_view(&text.text), "01,01b,0101c,01b01"));
    assert_int_equal(text.n_spans, sizeof(marks) / sizeof(*marks));
    assert_memory_equal(text.spans, marks, sizeof(marks));
    qn_jinja_text_free(&text);
}

static void refused_bytes(void **state)
{
    (void)state;
    qn_jinja_text text;
    qn_error err;
    assert_int_equal(qn_jinja_try("a\n\xFF", 3, "{}", NULL, NULL, &text, &err), QN_EFORMAT);
    assert_string_equal(err.what, "line 2: the template is not valid UTF-8");
    assert_int_equal(qn_jinja_try("a{{ x }}\0b", 10, "{\"x\":\"\\u0000\"}", NULL, NULL, &text, &err), QN_OK);
    qn_str got = qn_buf_view(&text.text);
    assert_int_equal(got.len, 4);
    assert_memory_equal(got.data, "a\0\0b", 4);
    qn_jinja_text_free(&text);
    assert_int_equal(qn_jinja_try("x", 1, "[]", NULL, NULL, &text, &err), QN_EINVAL);
}

/* Something of everything that asks for memory. */
static const char all[] =
    "{% set ns = namespace(n=0, t='') %}{% macro f(a, b=1) %}<{{ a }}{{ b }}{{ varargs }}{{ kwargs }}{{ caller('c') "
    "}}>{% endmacro %}"
    "{% for m in messages if m.role != 'x' recursive %}{% set ns.n = ns.n + loop.index %}{% set ns.t = ns.t ~ "
    "m.content|upper %}"
    "{% call(x) f(m.role, 2, 3, k=x) %}{{ x }}{% endcall %}{% if m.kids %}{{ loop(m.kids) }}{% endif %}{% endfor %}{{ "
    "ns.n }}{{ ns.t }}"
    "{% set b | trim %} {{ messages|tojson }} {% endset %}{{ b[:20] ~ {'a': [1, (2,)]} ~ "
    "messages|map(attribute='role')|join(',') }}"
    "{% filter replace('a', 'bb') %}banana{{ 12345678901234567890123 }}{% endfilter %}{% block t scoped %}{{ self.t is "
    "defined }}"
    "{% endblock %}{{ f('1' 'two', **{'z': 1}) if messages is undefined else u }}{% generation %}g{% endgeneration %}";
static const char all_variables[] =
    "{\"messages\":[{\"role\":\"user\",\"content\":\"a\\u00e9\",\"kids\":[{\"role\":\"k\",\"content\":\"kk\"}]},"
    "{\"role\":\"y\",\"content\":\"zz\"}]}";

static void failing_allocations(void **state)
{
    (void)state;
    uint64_t live = qn_alloc_live();
    qn_jinja_text text;
    qn_error err;
    qn_status status = QN_ENOMEM;
    unsigned n = 0;
    qn_json_doc *doc;
    assert_int_equal(qn_json_parse(NULL, all_variables, strlen(all_variables), 1000, &doc, NULL), QN_OK);
    uint64_t with_doc = qn_alloc_live();
    while (status == QN_ENOMEM) {
        qn_jinja *j = NULL;
        memset(&err, 0, sizeof(err));
        qn_alloc_fail_at(++n);
        status = qn_jinja_open((qn_str){all, sizeof(all) - 1}, NULL, &j, &err);
        if (status == QN_OK) {
            status = qn_jinja_render(j, qn_json_root(doc), NULL, NULL, &text, &err);
        }
        qn_alloc_fail_at(0);
        qn_jinja_close(j);
        if (status == QN_OK) {
            qn_jinja_text_free(&text);
        } else {
            assert_int_equal(err.code, QN_ENOMEM);
        }
        assert_int_equal(qn_alloc_live(), with_doc);
    }
    assert_int_equal(status, QN_OK);
    assert_true(n > 5);
    qn_json_free(doc);
    assert_int_equal(qn_alloc_live(), live);
}

/* Every ceiling from nothing up: refused by name, until there is enough. */
static void tight_budgets(void **state)
{
    (void)state;
    qn_status status = QN_EBUDGET;
    uint64_t limit = 256;
    while (status == QN_EBUDGET) {
        qn_budget *b;
        qn_jinja_text text;
        qn_error err;
        assert_int_equal(qn_budget_open(limit, &b), QN_OK);
        status = qn_jinja_try(all, sizeof(all) - 1, all_variables, NULL, b, &text, &err);
        if (status == QN_OK) {
            qn_jinja_text_free(&text);
        }
        assert_int_equal(qn_budget_used(b), 0);
        qn_budget_close(b);
        limit += limit / 4;
    }
    assert_int_equal(status, QN_OK);
}

/* The memory limit of the values, every size of it: refused, never wrong. */
static void tight_values(void **state)
{
    (void)state;
    qn_status status = QN_EFULL;
    uint64_t n = 0;
    for (uint64_t limit = 256u << 10; status == QN_EFULL; limit += 64, n++) {
        const qn_jinja_options o = {.max_memory = limit, .now = INT64_MIN};
        qn_jinja_text text;
        qn_error err;
        status = qn_jinja_try(all, sizeof(all) - 1, all_variables, &o, NULL, &text, &err);
        if (status == QN_OK) {
            qn_jinja_text_free(&text);
        }
    }
    assert_int_equal(status, QN_OK);
    assert_true(n > 10);
}

/* What the marks cover, with the rest as dots. */
static void marks_follow(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"a{{ s }}b", ".<xy>."},
        {"{{ s }}{{ s }}", "<xyxy>"},
        {"{{ s ~ 'q' ~ s }}", "<xy>.<xy>"},
        {"{{ s|upper }}{{ 'lit'|upper }}", "<XY>..."},
        {"{% set t %}a{{ s }}{% endset %}{{ t }}", ".<xy>"},
        {"{% macro f(a) %}[{{ a }}]{% endmacro %}{{ f(s) }}{{ f('c') }}", ".<xy>...."},
        {"{{ s[1:] }}{{ s[0] }}", "<yx>"},
        {"{% filter replace('b', '') %}ab{{ s }}{% endfilter %}", ".<xy>"},
        {"{% for c in s %}{{ c }},{% endfor %}", "<x>.<y>."},
        {"{{ '' ~ n }}{{ none }}", "....."},
        {"{% for m in [s] recursive %}-{{ m }}{% endfor %}", ".<xy>"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        qn_jinja_text text;
        qn_error err;
        char shown[64];
        size_t n = 0, k = 0;
        assert_int_equal(
            qn_jinja_try(cases[i].source, strlen(cases[i].source), "{\"s\":\"xy\",\"n\":7}", NULL, NULL, &text, &err),
            QN_OK);
        qn_str got = qn_buf_view(&text.text);
        for (size_t at = 0; at <= got.len; at++) {
            if (k < text.n_spans && at == text.spans[k].end) {
                shown[n++] = '>';
                k++;
            }
            bool inside = k < text.n_spans && at >= text.spans[k].start;
            if (inside && at == text.spans[k].start) {
                shown[n++] = '<';
            }
            if (at < got.len) {
                shown[n++] = inside ? got.data[at] : '.';
            }
        }
        shown[n] = '\0';
        assert_string_equal(shown, cases[i].wanted);
        qn_jinja_text_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deep_sources),  cmocka_unit_test(long_sources),  cmocka_unit_test(runaway_templates),
        cmocka_unit_test(growing_texts), cmocka_unit_test(refused_bytes), cmocka_unit_test(failing_allocations),
        cmocka_unit_test(tight_budgets), cmocka_unit_test(tight_values),  cmocka_unit_test(marks_follow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
