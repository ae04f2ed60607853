/* Values that would be too large or too deep are refused before anything is allocated for them, work that grows is
 * counted, and no failed allocation leaves anything behind.
 * SPDX-License-Identifier: MIT */
#include "jinja_render.h"

/* The thread sanitizer looks at all of a text again whenever something is sought in the rest of it. */
#if defined(__SANITIZE_THREAD__)
#define MEMORY (1u << 20)
#else
#define MEMORY (16u << 20)
#endif

#define VARS "{\"s\": \"word word\", \"l\": [3, 1, 2], \"d\": {\"b\": 1, \"a\": \"x<y\"}}"

/* Each fails by a limit, or by an error that says how large it is, within a budget that would not hold it. */
static void sizes_are_refused(void **state)
{
    (void)state;
    static const char *const sources[] = {
        "{{ 'a' * 10**9 }}",
        "{{ 'a' * 10**18 }}",
        "{{ 10**9 * 'ab' }}",
        "{{ [1] * 10**9 }}",
        "{{ (1, 2) * 10**18 }}",
        "{{ range(10**9)|list }}",
        "{{ range(0, 0 - 10**18, -1)|list }}",
        "{{ 'a'.center(10**9) }}",
        "{{ 'a'|center(10**18) }}",
        "{{ 'a'.ljust(10**9) ~ 'a'.rjust(10**9) }}",
        "{{ 'a'.zfill(10**9) }}",
        "{{ 'a\\tb'.expandtabs(10**9) }}",
        "{{ 'a\\nb'|indent(10**9) }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ '%*d' % (10**9, 1) }}",
        "{{ '%.1000000000f' % 1.5 }}",
        "{{ '%.1000000000d' % 1 }}",
        "{{ '{:1000000000}'.format(1) }}",
        "{{ '{:.1000000000f}'.format(1.5) }}",
        "{{ '{:01000000000,}'.format(1) }}",
        "{{ '{:{}}'.format('a', 10**9) }}",
        "{{ l|batch(10**9, 0)|list }}",
        "{{ l|slice(10**9)|list }}",
        "{{ l|tojson(indent=10**9) }}",
        "{{ 1.5|round(10**18) if false else 'a' * 10**17 }}",
        "{{ ('a' * 10**6).replace('', 'b' * 10**6) }}",
        "{{ ('b' * 10**6).join('a' * 10**6) }}",
        "{% set ns = namespace(x='ab') %}{% for i in range(64) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
        "{% set ns = namespace(x=[1]) %}{% for i in range(64) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
        "{% set ns = namespace(x='a') %}{% for i in range(99) %}{% set ns.x = ns.x.replace('a', 'aa') %}{% endfor %}",
    };
    for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
        qn_budget *b;
        qn_jinja_text text;
        qn_error err = {0};
        assert_int_equal(qn_budget_open(512u << 20, &b), QN_OK);
        qn_jinja_options o = {.max_memory = MEMORY, .now = QN_JINJA_TEST_NOW};
        qn_status s = qn_jinja_try(sources[i], strlen(sources[i]), VARS, &o, b, &text, &err);
        if (s != QN_EFULL && s != QN_EFORMAT) {
            print_message("%s: %d %s\n", sources[i], s, err.what);
        }
        assert_true(s == QN_EFULL || s == QN_EFORMAT);
        assert_true(qn_budget_peak(b) < MEMORY + (8u << 20));
        qn_budget_close(b);
    }
}

/* Values in values, deeper than calls go or wider than steps last. */
static void depths_are_refused(void **state)
{
    (void)state;
#define DEEP(pack) "{% set ns = namespace(x=1, y=1) %}{% for i in range(5000) %}{% set ns.x = " pack " %}{% endfor %}"
#define WIDE(pack) "{% set ns = namespace(x=1, y=1) %}{% for i in range(80) %}{% set ns.x = " pack " %}{% endfor %}"
    static const char *const sources[] = {
        DEEP("[ns.x]") "{{ ns.x }}",
        DEEP("[ns.x]") "{{ ns.x|tojson }}",
        DEEP("[ns.x]") "{{ ns.x|pprint }}",
        DEEP("{'a': ns.x}") "{{ ns.x|string }}",
        DEEP("(ns.x,)") "{{ {ns.x: 1} }}",
        DEEP("(ns.x,)") "{{ ns.x in {1: 2} }}",
        DEEP("[ns.x]") "{% set ns.y = ns.x %}" DEEP("[ns.x]") "{{ ns.x == [ns.x] }}{{ ns.x < ns.y }}{{ ns.x }}",
        WIDE("[ns.x, ns.x]") "{{ ns.x }}",
        WIDE("[ns.x, ns.x]") "{{ ns.x|tojson }}",
        WIDE("[ns.x, ns.x]") "{{ ns.x|pprint }}",
        WIDE("(ns.x, ns.x)") "{{ {ns.x: 1} }}",
        WIDE("(ns.x, ns.x)") "{{ [ns.x]|unique|list }}",
        "{% set a = namespace(x=1) %}{% set b = namespace(x=1) %}{% for i in range(80) %}{% set a.x = [a.x, a.x] %}"
        "{% set b.x = [b.x, b.x] %}{% endfor %}{{ a.x == b.x }}",
    };
    for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
        qn_jinja_text text;
        qn_error err = {0};
        qn_jinja_options o = {.max_steps = 2000000, .max_memory = MEMORY, .now = QN_JINJA_TEST_NOW};
        qn_status s = qn_jinja_try(sources[i], strlen(sources[i]), VARS, &o, NULL, &text, &err);
        if (s != QN_EFULL && s != QN_EFORMAT) {
            print_message("%s: %d %s\n", sources[i], s, err.what);
        }
        assert_true(s == QN_EFULL || s == QN_EFORMAT);
    }
    qn_jinja_gives("{% set ns = namespace() %}{% set ns.me = ns %}{{ ns }}", VARS,
                   "<Namespace {'me': <Namespace {...}>}>");
    qn_jinja_gives("{% set ns = namespace() %}{% set ns.l = [ns] %}{{ ns.l }}", VARS, "[<Namespace {'l': [...]}>]");
}

/* A dict with very many members stays quick to use: the steps of finding each do not grow with their number. */
static void many_members(void **state)
{
    (void)state;
    qn_jinja_gives("{% set d = dict.fromkeys(range(50000)) %}{% set ns = namespace(n=0) %}"
                   "{% for i in range(50000) %}{% if i in d %}{% set ns.n = ns.n + 1 %}{% endif %}{% endfor %}"
                   "{{ ns.n }} {{ d|length }} {{ 50000 in d }} {{ 49999.0 in d }}",
                   VARS, "50000 50000 False True");
}

/* All of the library once, with the n-th allocation failing for every n. */
static void failing_allocations(void **state)
{
    (void)state;
    static const char source[] =
        "{{ s.split()|map('upper')|join('-') }}{{ l|sort|list }}{{ d|dictsort }}{{ d|tojson(indent=2, sort_keys=true) "
        "}}"
        "{{ s|replace('word', 'W')|title|center(30) }}{{ '%s %5.2f %d' % (s, 1.5, 3) }}{{ '{:>9} {!r}'.format(1, s) }}"
        "{{ l|batch(2, 0)|list }}{{ l|slice(2)|list }}{{ d|pprint }}{{ s|wordwrap(4) }}{{ d.a|e }}{{ s|urlize }}"
        "{{ d|xmlattr }}{{ s|urlencode }}{{ '<b>x</b> &amp;'|striptags }}{{ [l, l]|groupby(0) }}{{ l|unique|list }}"
        "{{ namespace(a=1) }}{{ dict(a=1) }}{{ range(5)[::2]|list }}{{ s[::-1] }}{{ s.partition('o') }}{{ 10**12 }}"
        "{{ '123456789012345678901234567890'|int }}{{ cycler(1, 2).next() }}{{ joiner()() }}{{ strftime_now('%Y') }}"
        "{{ s.expandtabs() ~ s.zfill(12) ~ s.swapcase() }}{{ 2.567|round(1) }}{{ 12345|filesizeformat }}"
        "{{ s.upper is callable }}{{ nothing is defined }}{{ s is lower }}{{ s.zz is defined }}{{ l.append is defined "
        "}}";
    uint64_t live = qn_alloc_live();
    for (uint64_t n = 1;; n++) {
        qn_jinja_text text;
        qn_error err = {0};
        qn_json_doc *doc;
        qn_jinja *j = NULL;
        assert_int_equal(qn_json_parse(NULL, VARS, strlen(VARS), 1000, &doc, &err), QN_OK);
        qn_alloc_fail_at(n);
        qn_status s = qn_jinja_open(qn_str_of(source), NULL, &j, &err);
        if (s == QN_OK) {
            s = qn_jinja_render(j, qn_json_root(doc), NULL, NULL, &text, &err);
        }
        qn_alloc_fail_at(0);
        if (s == QN_OK) {
            qn_jinja_text_free(&text);
        } else {
            assert_int_equal(s, QN_ENOMEM);
        }
        qn_jinja_close(j);
        qn_json_free(doc);
        assert_int_equal(qn_alloc_live(), live);
        if (s == QN_OK) {
            assert_true(n > 3);
            break;
        }
    }
}

/* The same with less and less memory for values: an allocation fails in each place where one is made. */
static void tight_memory(void **state)
{
    (void)state;
    static const char *const sources[] = {
        "{{ s.split()|map('upper')|join('-') ~ l|sort|list ~ d|dictsort ~ d|tojson(indent=2, sort_keys=true) }}",
        "{{ s|replace('word', 'W')|title|center(30) ~ '%s %5.2f %d' % (s, 1.5, 3) ~ '{:>9} {!r}'.format(1, s) }}",
        "{{ l|batch(2, 0)|list ~ l|slice(2)|list ~ d|pprint ~ s|wordwrap(4) ~ d.a|e ~ s|urlize ~ d|xmlattr }}",
        "{{ s|urlencode ~ '<b>x</b> &amp;'|striptags ~ [l, l]|groupby(0) ~ l|unique|list ~ namespace(a=1) }}",
        "{{ dict(a=1) ~ range(5)[::2]|list ~ s[::-1] ~ s.partition('o') ~ cycler(1, 2).next() ~ joiner()() }}",
        "{{ s.expandtabs() ~ s.zfill(12) ~ s.swapcase() ~ 2.567|round(1) ~ 12345|filesizeformat ~ 1e20|int }}",
        "{{ '123456789012345678901234567890'|int ~ strftime_now('%Y') ~ l.append is defined ~ s|indent ~ s|first }}",
    };
    for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
        qn_status s = QN_EFULL;
        for (uint64_t memory = 32; s != QN_OK; memory += 112) {
            qn_jinja_text text;
            qn_error err = {0};
            qn_jinja_options o = {.max_memory = memory, .now = QN_JINJA_TEST_NOW};
            s = qn_jinja_try(sources[i], strlen(sources[i]), VARS, &o, NULL, &text, &err);
            if (s == QN_OK) {
                qn_jinja_text_free(&text);
                break;
            }
            assert_int_equal(s, QN_EFULL);
            assert_true(memory < 1u << 20);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_refused),   cmocka_unit_test(depths_are_refused), cmocka_unit_test(many_members),
        cmocka_unit_test(failing_allocations), cmocka_unit_test(tight_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
