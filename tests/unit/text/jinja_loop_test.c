/* Loops: targets, filters, else, recursion, jumps and the variable loop. jinja2 gave the answers.
 * SPDX-License-Identifier: MIT */
#include "jinja_render.h"

static const char variables[] =
    "{\"l\": [1, 2, 3], \"m\": [{\"role\": \"user\", \"content\": \"Hi\"}, {\"role\": \"bot\", \"content"
    "\": \"Ho\"}], \"p\": [[1, \"a\"], [2, \"b\"]], \"d\": {\"x\": 1, \"y\": 2}, \"n\": 5, \"f\": false, "
    "\"s\": \"str\", \"tree\": [{\"v\": 1, \"k\": [{\"v\": 2, \"k\": []}, {\"v\": 3, \"k\": [{\"v\": 4, "
    "\"k\": []}]}]}, {\"v\": 5, \"k\": []}]}";

static void walking(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{% for x in l %}{{ x }},{% endfor %}", "1,2,3,"},
        {"{% for x in [] %}a{% else %}none{% endfor %}", "none"},
        {"{% for x in l %}a{% else %}none{% endfor %}", "aaa"},
        {"{% for c in s %}{{ c }}.{% endfor %}", "s.t.r."},
        {"{% for k in d %}{{ k }}{% endfor %}", "xy"},
        {"{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}", "x=1;y=2;"},
        {"{% for a, b in p %}{{ a }}{{ b }}{% endfor %}", "1a2b"},
        {"{% for (a, b) in p %}{{ b }}{% endfor %}", "ab"},
        {"{% for a, (b, c) in [(1, (2, 3))] %}{{ a + b + c }}{% endfor %}", "6"},
        {"{% for x in u %}a{% else %}e{% endfor %}", "e"},
        {"{% for x in l[::-1] %}{{ x }}{% endfor %}", "321"},
        {"{% for x in 1, 2 %}{{ x }}{% endfor %}", "12"},
        {"{% for x in range(3) %}{{ x }}{% endfor %}", "012"},
        {"{% for x in l|reverse %}{{ x }}{% endfor %}", "321"},
        {"{% for m in m %}{{ m.role }}{% endfor %}", "userbot"},
        {"{% for x in l: %}{{ x }}{% endfor %}", "123"},
    };
    QN_JINJA_ALL_GIVE(cases, variables);
}

static void filtered(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{% for x in l if x > 1 %}{{ x }}{{ loop.index }}{{ loop.length }}{{ loop.last }} {% endfor %}",
         "212False 322True "},
        {"{% for x in l if x > 5 %}a{% else %}e{% endfor %}", "e"},
        {"{% for a, b in p if b == 'b' %}{{ a }}{{ loop.first }}{% endfor %}", "2True"},
        {"{% set ns = namespace(k=2) %}{% for x in l if x < ns.k %}{{ x }}{% set ns.k = 9 %}{% endfor %}", "123"},
        {"{% set ns = namespace(k=2) %}{% for x in l if x < ns.k %}{{ x }}{{ loop.last }}{% set ns.k = 9 %}{% e"
         "ndfor %}",
         "1True"},
        {"{% for x in l if x is odd and n %}{{ x }}{% endfor %}", "13"},
        {"{% for x in l if loop is undefined %}{{ x }}{% endfor %}", "123"},
        {"{% set y = 2 %}{% for x in l if x == y %}{% set y = 3 %}{{ x }}{{ y }}{% endfor %}{{ y }}", "232"},
        {"{% for x in l if x > 1 %}{{ loop.revindex }}{{ loop.nextitem }}{{ loop.previtem }};{% endfor %}", "23;12;"},
    };
    QN_JINJA_ALL_GIVE(cases, variables);
}

static void iterators(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{% set it = l|map('string') %}{% for x in it %}{{ x }}{% break %}{% endfor %}{{ it|list }}", "1['2', '3']"},
        {"{% set it = l|map('string') %}{% for x in it %}{{ x }}{{ it|first }}{% endfor %}", "123"},
        {"{% set it = l|select('gt', 1) %}{% for x in it if x != 3 %}{{ x }}{{ loop.length }}{{ loop.revindex }"
         "}{{ loop.last }}{% endfor %}",
         "211True"},
        {"{% set it = l|map('string') %}{% for x in it %}{{ loop.last }}{% break %}{% endfor %}{{ it|list }}",
         "False['3']"},
        {"{% set it = l|map('string') %}{% for x in it %}{% for y in it %}{{ x }}{{ y }}{% endfor %}{% endfor %"
         "}",
         "1213"},
        {"{% set it = l|map('string') %}{% for x in it %}{{ loop.length }}{{ it|list }}{{ x }}{% endfor %}",
         "3[]13[]23[]3"},
        {"{% set it = l|reverse %}{% for x in it %}{{ x }}{{ loop.nextitem }}{% endfor %}{% for x in it %}{{ x "
         "}}{% else %}e{% endfor %}",
         "32211e"},
        {"{% for x in l|map('string') recursive %}{{ x }}{{ loop([]) }}{% endfor %}", "123"},
    };
    QN_JINJA_ALL_GIVE(cases, variables);
}

static void loop_variable(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{% for x in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first"
         " }}{{ loop.last }}{{ loop.length }};{% endfor %}",
         "1032TrueFalse3;2121FalseFalse3;3210FalseTrue3;"},
        {"{% for x in l %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }} {% endfor %}", "<1>2 1<2>3 2<3> "},
        {"{% for x in l %}{{ loop.previtem is defined }}{{ loop.nextitem is defined }}{% endfor %}",
         "FalseTrueTrueTrueTrueFalse"},
        {"{% for x in [1,1,2] %}{{ loop.changed(x) }}{% endfor %}", "TrueFalseTrue"},
        {"{% for x in [1,1,2] %}{{ loop.changed() }}{{ loop.changed(x, 1) }}{% endfor %}", "TrueTrueTrueTrueTrueTrue"},
        {"{% for x in l %}{{ loop.cycle('a', 'b') }}{% endfor %}", "aba"},
        {"{% for x in l %}{% for y in l %}{{ loop.index }}{% endfor %}{{ loop.index }};{% endfor %}",
         "1231;1232;1233;"},
        {"{% for x in l %}{% set outer = loop %}{% for y in [1] %}{{ outer.index }}{{ loop.index }}{% endfor %}"
         "{% endfor %}",
         "112131"},
        {"{% for x in l %}{{ loop.nope }}{{ loop.depth }}{{ loop.depth0 }}{% endfor %}", "101010"},
        {"{{ loop is defined }}", "False"},
        {"{% for x in l %}{% else %}{{ loop is defined }}{% endfor %}", ""},
        {"{% set ns = namespace() %}{% for x in l %}{% set ns.l = loop %}{% endfor %}{{ ns.l.index }}", "3"},
        {"{% for x in l|map('string') %}{{ loop.length }}{{ loop.last }}{% endfor %}", "3False3False3True"},
    };
    QN_JINJA_ALL_GIVE(cases, variables);
}

static void jumps(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{% for x in l %}{% if x == 2 %}{% break %}{% endif %}{{ x }}{% endfor %}", "1"},
        {"{% for x in l %}{% if x == 2 %}{% continue %}{% endif %}{{ x }}{% endfor %}", "13"},
        {"{% for x in l %}{% break %}{% else %}e{% endfor %}", "e"},
        {"{% for x in l %}{% continue %}{% else %}e{% endfor %}", "e"},
        {"{% for x in l %}{% if x == 3 %}{% break %}{% endif %}{% else %}e{% endfor %}", ""},
        {"{% for x in l %}{% for y in l %}{% if y == 2 %}{% break %}{% endif %}{{ x }}{{ y }}{% endfor %}{% end"
         "for %}",
         "112131"},
        {"{% for x in l %}{% set t %}a{% break %}{% endset %}{{ t }}{% endfor %}z", "z"},
        {"{% for x in l %}{% with y = x %}{% if y == 2 %}{% continue %}{% endif %}{{ y }}{% endwith %}{% endfor"
         " %}",
         "13"},
        {"{% for x in l %}{% filter upper %}a{% continue %}{% endfilter %}{{ x }}{% endfor %}", ""},
        {"{% for x in l %}{% for y in [] %}{% else %}{% break %}{% endfor %}{{ x }}{% endfor %}", ""},
    };
    QN_JINJA_ALL_GIVE(cases, variables);
}

static void recursion(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{% for x in tree recursive %}{{ x.v }}{% if x.k %}[{{ loop(x.k) }}]{% endif %}{% endfor %}", "1[23[4]]5"},
        {"{% for x in tree recursive %}{{ loop.depth }}{{ loop.index }}{{ loop(x.k) }}{% endfor %}", "1121223112"},
        {"{% for x in tree if x.v != 3 recursive %}{{ x.v }}{{ loop(x.k) }}{% else %}-{% endfor %}", "12-5-"},
        {"{% for x in tree recursive %}{% set y = x.v %}{{ loop(x.k) }}{{ y }}{% endfor %}", "24315"},
        {"{% set ns = namespace(c=0) %}{% for x in tree recursive %}{% set ns.c = ns.c + 1 %}{{ loop(x.k) }}{% "
         "endfor %}{{ ns.c }}",
         "5"},
        {"{% for x in tree recursive %}{% if loop.depth0 %}{% break %}{% endif %}{{ loop(x.k) }}{{ x.v }}{% end"
         "for %}",
         "15"},
    };
    QN_JINJA_ALL_GIVE(cases, variables);
}

static void refused(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{% for x l %}{% endfor %}", "line 1: expected token 'in', got 'l'"},
        {"{% for 1 in l %}{% endfor %}", "line 1: can't assign to 'const'"},
        {"{% for x.y in l %}{% endfor %}", "line 1: expected token 'in', got '.'"},
        {"{% for x in l %}",
         "line 1: Unexpected end of template. Jinja was looking for the following tags: 'endfor' or 'else'. The"
         " innermost block that needs to be closed is 'for'."},
        {"{% for x in %}{% endfor %}", "line 1: Expected an expression, got 'end of statement block'"},
        {"{% for loop in l %}{% endfor %}", "line 1: Can't assign to special loop variable in for-loop target"},
        {"{% for x in l %}{% set loop = 1 %}{% endfor %}",
         "line 1: Can't assign to special loop variable in for-loop target"},
        {"{% break %}", "line 1: 'break' outside loop"},
        {"{% if f %}{% continue %}{% endif %}", "line 1: 'continue' not properly in loop"},
        {"{% for x in l %}{% macro g() %}{% break %}{% endmacro %}{% endfor %}", "line 1: 'break' outside loop"},
        {"{% for x in l %}{% endif %}{% endfor %}",
         "line 1: Encountered unknown tag 'endif'. Jinja was looking for the following tags: 'endfor' or 'else'"
         ". The innermost block that needs to be closed is 'for'."},
        {"{% for x in l %}{% else %}{% else %}{% endfor %}",
         "line 1: Encountered unknown tag 'else'. Jinja was looking for the following tags: 'endfor'. The inner"
         "most block that needs to be closed is 'for'."},
        {"{% endfor %}", "line 1: Encountered unknown tag 'endfor'."},
        {"{% for true in l %}{% endfor %}", "line 1: can't assign to 'const'"},
    };
    QN_JINJA_ALL_FAIL(cases, variables);
}

static void failing(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{% for x in n %}{% endfor %}", "line 1: 'int' object is not iterable"},
        {"{% for a, b in l %}{% endfor %}", "line 1: cannot unpack non-iterable int object"},
        {"{% for a, b in [(1, 2, 3)] %}{% endfor %}", "line 1: too many values to unpack (expected 2)"},
        {"{% for a, b in ['x'] %}{% endfor %}", "line 1: not enough values to unpack (expected 2, got 1)"},
        {"{% for x in l %}{{ loop(l) }}{% endfor %}",
         "line 1: The loop must have the 'recursive' marker to be called recursively."},
        {"{% for x in l %}{{ loop.cycle() }}{% endfor %}", "line 1: no items for cycling given"},
        {"{% for x in l %}\n{{ x.y.z }}{% endfor %}", "line 2: 'int object' has no attribute 'y'"},
        {"{% for x in none %}{% endfor %}", "line 1: 'NoneType' object is not iterable"},
        {"{% for a, b, c in ['ab'] %}{% endfor %}", "line 1: not enough values to unpack (expected 3, got 2)"},
    };
    QN_JINJA_ALL_FAIL(cases, variables);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walking),       cmocka_unit_test(filtered), cmocka_unit_test(iterators),
        cmocka_unit_test(loop_variable), cmocka_unit_test(jumps),    cmocka_unit_test(recursion),
        cmocka_unit_test(refused),       cmocka_unit_test(failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
