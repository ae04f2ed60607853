/* Macros, call blocks and what they see. jinja2 gave the answers.
 * SPDX-License-Identifier: MIT */
#include "jinja_render.h"

static const char variables[] =
    "{\"l\": [1, 2, 3], \"m\": [{\"role\": \"user\", \"content\": \"Hi\"}, {\"role\": \"bot\", \"content"
    "\": \"Ho\"}], \"p\": [[1, \"a\"], [2, \"b\"]], \"d\": {\"x\": 1, \"y\": 2}, \"n\": 5, \"f\": false, "
    "\"s\": \"str\", \"tree\": [{\"v\": 1, \"k\": [{\"v\": 2, \"k\": []}, {\"v\": 3, \"k\": [{\"v\": 4, "
    "\"k\": []}]}]}, {\"v\": 5, \"k\": []}]}";

static void arguments(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{% macro f(a, b=2) %}{{ a }}{{ b }}{% endmacro %}{{ f(1) }}{{ f(1, 3) }}{{ f(b=4, a=5) }}{{ f() }}",
         "1213542"},
        {"{% macro f(a, b=a) %}{{ b }}{% endmacro %}{{ f(1) }}", "1"},
        {"{% macro f(a, b=n) %}{{ b }}{% endmacro %}{{ f(1) }}", "5"},
        {"{% macro f() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ f(1, 2, x=3) }}", "(1, 2){'x': 3}"},
        {"{% macro f(a) %}{{ a is defined }}{% endmacro %}{{ f() }}{{ f(none) }}", "FalseTrue"},
        {"{% macro f(a, varargs) %}{{ varargs }}{% endmacro %}{{ f(1, 2) }}", "2"},
        {"{% macro f(a) %}{{ kwargs.b }}{% endmacro %}{{ f(1, b=2) }}", "2"},
        {"{% macro f(a) %}{{ a }}{% endmacro %}{{ f(*l[:1]) }}{{ f(**{'a': 7}) }}", "17"},
        {"{% macro f() %}x{% endmacro %}{{ f()|upper }}{{ f() ~ 1 }}", "Xx1"},
        {"{% macro f(a, b) %}{% endmacro %}{{ f.name }}{{ f.arguments }}{{ f.catch_kwargs }}{{ f.catch_varargs "
         "}}{{ f.caller }}",
         "f('a', 'b')FalseFalseFalse"},
        {"{% macro f(x) %}{{ x }}{% endmacro %}{{ f('a') is string }}{{ f }}", "True<Macro 'f'>"},
    };
    QN_JINJA_ALL_GIVE(cases, variables);
}

static void names(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{% set x = 1 %}{% macro f() %}{{ x }}{% endmacro %}{% set x = 2 %}{{ f() }}", "2"},
        {"{% macro f() %}{{ q }}{% endmacro %}{% set q = 1 %}{{ f() }}", "1"},
        {"{% macro f() %}{{ n }}{% set n = 1 %}{{ n }}{% endmacro %}{{ f() }}{{ n }}", "515"},
        {"{% for i in l %}{% macro f() %}{{ i }}{% endmacro %}{{ f() }}{% endfor %}", "123"},
        {"{% macro f(k) %}{% if k %}{{ k }}{{ f(k - 1) }}{% endif %}{% endmacro %}{{ f(3) }}", "321"},
        {"{% macro f() %}{{ g() }}{% endmacro %}{% macro g() %}g{% endmacro %}{{ f() }}", "g"},
        {"{% for i in l %}{% macro f() %}{% endmacro %}{% endfor %}{{ f is defined }}", "True"},
        {"{% if n %}{% macro f() %}a{% endmacro %}{% endif %}{{ f() }}", "a"},
        {"{% macro f() %}{% macro g() %}g{{ n }}{% endmacro %}{{ g() }}{% endmacro %}{{ f() }}{{ g is defined }"
         "}",
         "g5False"},
        {"{% macro f(l) %}{% for x in l %}{{ x }}{{ loop.last }}{% endfor %}{% endmacro %}{{ f([7, 8]) }}{{ l }"
         "}",
         "7False8True[1, 2, 3]"},
        {"{% macro f(n=n) %}{{ n }}{% endmacro %}{{ f() }}{{ f(1) }}", "1"},
    };
    QN_JINJA_ALL_GIVE(cases, variables);
}

static void callers(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{% macro f() %}<{{ caller() }}>{% endmacro %}{% call f() %}x{{ n }}{% endcall %}", "<x5>"},
        {"{% macro f() %}{{ caller(1, b=2) }}{% endmacro %}{% call(a, b=0, c=3) f() %}{{ a }}{{ b }}{{ c }}{% e"
         "ndcall %}",
         "123"},
        {"{% macro f() %}{{ caller is defined }}{% endmacro %}{{ f() }}{% call f() %}{% endcall %}", "FalseTrue"},
        {"{% macro f(a) %}{{ a }}{{ caller() }}{% endmacro %}{% call f('z') %}{% set n = 1 %}{{ n }}{% endcall "
         "%}{{ n }}",
         "z15"},
        {"{% macro f(caller=none) %}{{ caller }}{% endmacro %}{{ f() }}", "None"},
        {"{% macro f() %}{% for x in l %}{{ caller(x) }}{% endfor %}{% endmacro %}{% call(x) f() %}{{ x * 2 }};"
         "{% endcall %}",
         "2;4;6;"},
        {"{% generation %}a{{ n }}{% endgeneration %}b", "a5b"},
        {"{% for i in l %}{% generation %}{{ i }}{{ loop.index }}{% endgeneration %}{% endfor %}", "112233"},
    };
    QN_JINJA_ALL_GIVE(cases, variables);
}

static void refused(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{% macro %}{% endmacro %}", "line 1: expected token 'name', got 'end of statement block'"},
        {"{% macro f %}{% endmacro %}", "line 1: expected token '(', got 'end of statement block'"},
        {"{% macro f(a=1, b) %}{% endmacro %}", "line 1: non-default argument follows default argument"},
        {"{% macro f(1) %}{% endmacro %}", "line 1: expected token 'name', got 'integer'"},
        {"{% macro f(a) %}",
         "line 1: Unexpected end of template. Jinja was looking for the following tags: 'endmacro'. The innermo"
         "st block that needs to be closed is 'macro'."},
        {"{% macro f(a, a) %}{% endmacro %}", "line 1: duplicate argument 'a' in function definition"},
        {"{% macro true() %}{% endmacro %}", "line 1: can't assign to 'name'"},
        {"{% call f %}{% endcall %}", "line 1: expected call"},
        {"{% call f()|upper %}{% endcall %}", "line 1: expected call"},
        {"{% macro f(caller) %}{{ caller() }}{% endmacro %}",
         "line 1: When defining macros or call blocks the special \"caller\" argument must be omitted or be giv"
         "en a default."},
        {"{% call f() %}",
         "line 1: Unexpected end of template. Jinja was looking for the following tags: 'endcall'. The innermos"
         "t block that needs to be closed is 'call'."},
        {"{% macro f(a b) %}{% endmacro %}", "line 1: expected token ',', got 'b'"},
    };
    QN_JINJA_ALL_FAIL(cases, variables);
}

static void failing(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{% macro f(a) %}{% endmacro %}{{ f(1, 2) }}", "line 1: macro 'f' takes not more than 1 argument(s)"},
        {"{% macro f(a) %}{% endmacro %}{{ f(b=1) }}", "line 1: macro 'f' takes no keyword argument 'b'"},
        {"{% macro f(a) %}{{ a.x.y }}{% endmacro %}{{ f() }}", "line 1: parameter 'a' was not provided"},
        {"{% macro f(a) %}{% endmacro %}{% call f(1) %}{% endcall %}",
         "line 1: macro 'f' was invoked with two values for the special caller argument. This is most likely a "
         "bug."},
        {"{% macro f() %}{{ caller() }}{% endmacro %}{{ f() }}", "line 1: No caller defined"},
        {"{% call n() %}{% endcall %}", "line 1: 'int' object is not callable"},
        {"{% macro f() %}\n{{ u.x }}{% endmacro %}\n{{ f() }}", "line 2: 'u' is undefined"},
        {"{% macro f(a) %}{% endmacro %}{{ f(1, a=2) }}", "line 1: macro 'f' takes no keyword argument 'a'"},
        {"{% call range(2) %}{% endcall %}", "line 1: range() takes no keyword arguments"},
    };
    QN_JINJA_ALL_FAIL(cases, variables);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments), cmocka_unit_test(names),   cmocka_unit_test(callers),
        cmocka_unit_test(refused),   cmocka_unit_test(failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
