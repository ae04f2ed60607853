/* What a name means: scopes of loops, macros, blocks, with and set. jinja2 gave the answers.
 * SPDX-License-Identifier: MIT */
#include "jinja_render.h"

static const char variables[] =
    "{\"l\": [1, 2, 3], \"m\": [{\"role\": \"user\", \"content\": \"Hi\"}, {\"role\": \"bot\", \"content"
    "\": \"Ho\"}], \"p\": [[1, \"a\"], [2, \"b\"]], \"d\": {\"x\": 1, \"y\": 2}, \"n\": 5, \"f\": false, "
    "\"s\": \"str\", \"tree\": [{\"v\": 1, \"k\": [{\"v\": 2, \"k\": []}, {\"v\": 3, \"k\": [{\"v\": 4, "
    "\"k\": []}]}]}, {\"v\": 5, \"k\": []}]}";

static void set(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{% set x = 1 %}{{ x }}", "1"},
        {"{% set x, y = 1, 2 %}{{ x + y }}", "3"},
        {"{% set (x, (y, z)) = (1, (2, 3)) %}{{ x }}{{ y }}{{ z }}", "123"},
        {"{% set x = 1, 2 %}{{ x }}", "(1, 2)"},
        {"{{ x }}|{% set x = 1 %}", "|"},
        {"{{ n }}{% set n = 1 %}{{ n }}", "51"},
        {"{% set n = n + 1 %}{{ n }}", "6"},
        {"{% if f %}{% set n = 1 %}{% endif %}{{ n }}", "5"},
        {"{% if not f %}{% set n = 1 %}{% endif %}{{ n }}", "1"},
        {"{% if not f %}{% set q = 1 %}{% endif %}{{ q }}", "1"},
        {"{% if f %}{% set q = 1 %}{% else %}{{ q }}{% endif %}{{ q }}|", "|"},
        {"{% if f %}{% elif n %}{% set q = 2 %}{% endif %}{{ q }}", "2"},
        {"{% set x %}a{{ n }}b{% endset %}{{ x }}", "a5b"},
        {"{% set x | upper | replace('A', 'z') %}a{{ n }}{% endset %}{{ x }}", "z5"},
        {"{% set x %}{% set y = 1 %}{{ y }}{% endset %}{{ x }}{{ y }}|", "1|"},
        {"{% set s = s ~ s %}{{ s }}", "strstr"},
        {"{% set ns = namespace(a=1) %}{% set ns.a = ns.a + 1 %}{% set ns.b %}t{% endset %}{{ ns.a }}{{ ns.b }}", "2t"},
        {"{% set ns = namespace() %}{% set ns.a, y = 1, 2 %}{{ ns.a }}{{ y }}", "12"},
    };
    QN_JINJA_ALL_GIVE(cases, variables);
}

static void loops(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{% set x = 0 %}{% for i in l %}{% set x = x + i %}{{ x }}{% endfor %}{{ x }}", "1230"},
        {"{% for i in l %}{% set q = i %}{% endfor %}{{ q }}|", "|"},
        {"{% set i = 9 %}{% for i in l %}{% endfor %}{{ i }}", "9"},
        {"{% for i in l %}{% if i == 2 %}{% set n = i %}{% endif %}{{ n }}{% endfor %}{{ n }}", "5255"},
        {"{% for i in l %}{{ q }}{% set q = i %}{{ q }}{% endfor %}", "123"},
        {"{% for i in l %}{% for i in p %}{{ i }}{% endfor %}{{ i }}{% endfor %}",
         "[1, 'a'][2, 'b']1[1, 'a'][2, 'b']2[1, 'a'][2, 'b']3"},
        {"{% set ns = namespace(t=0) %}{% for i in l %}{% set ns.t = ns.t + i %}{% endfor %}{{ ns.t }}", "6"},
        {"{% for i in l %}{% else %}{% set q = 1 %}{% endfor %}{{ q }}|", "|"},
        {"{% set x = 1 %}{% for i in [] %}{% else %}{% set x = 2 %}{{ x }}{% endfor %}{{ x }}", "21"},
        {"{% for n in l if n > 1 %}{{ n }}{% endfor %}{{ n }}", "235"},
    };
    QN_JINJA_ALL_GIVE(cases, variables);
}

static void with_and_blocks(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{% with x = 1, y = 2 %}{{ x + y }}{% endwith %}{{ x }}|", "3|"},
        {"{% set x = 1 %}{% with x = 2, y = x %}{{ x }}{{ y }}{% endwith %}{{ x }}", "211"},
        {"{% with %}{% set n = 1 %}{{ n }}{% endwith %}{{ n }}", "15"},
        {"{% with a, b = p[0] %}{{ a }}{{ b }}{% endwith %}", "1a"},
        {"{% filter upper %}{% set n = 'a' %}{{ n }}{% endfilter %}{{ n }}", "A5"},
        {"{% block b %}{{ n }}{% set n = 1 %}{{ n }}{% endblock %}{{ n }}", "515"},
        {"{% set x = 1 %}{% block b %}{{ x }}{% endblock b %}", "1"},
        {"{% for x in l %}{% block b %}{{ x }}{% endblock %}{% endfor %}|", "|"},
        {"{% for x in l %}{% block b scoped %}{{ x }}{{ loop.index }}{% endblock %}{% endfor %}", "112233"},
        {"{% block b %}a{% endblock %}{{ self.b() }}{{ self.c is defined }}", "aaFalse"},
        {"{% if f %}{% block b %}x{% endblock %}{% endif %}{{ self.b() }}", "x"},
        {"{% block b %}{{ super is defined }}{% block c %}c{% endblock %}{% endblock %}", "Falsec"},
        {"{% generation %}{% set n = 1 %}{{ n }}{% endgeneration %}{{ n }}", "15"},
        {"{% autoescape false %}{{ '<' }}{% set n = 1 %}{% endautoescape %}{{ n }}", "<5"},
    };
    QN_JINJA_ALL_GIVE(cases, variables);
}

static void refused(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{% set 1 = 2 %}", "line 1: can't assign to 'const'"},
        {"{% set x.y.z = 1 %}", "line 1: expected token 'end of statement block', got '.'"},
        {"{% set true = 1 %}", "line 1: can't assign to 'const'"},
        {"{% set x = %}", "line 1: Expected an expression, got 'end of statement block'"},
        {"{% set x %}",
         "line 1: Unexpected end of template. Jinja was looking for the following tags: 'endset'. The innermost"
         " block that needs to be closed is 'set'."},
        {"{% set [a] = 1 %}", "line 1: can't assign to 'list'"},
        {"{% set x|upper = 1 %}", "line 1: expected token 'end of statement block', got '='"},
        {"{% set d['a'] = 1 %}", "line 1: expected token 'end of statement block', got '['"},
        {"{% with x %}{% endwith %}", "line 1: expected token '=', got 'end of statement block'"},
        {"{% with x = 1 %}",
         "line 1: Unexpected end of template. Jinja was looking for the following tags: 'endwith'. The innermos"
         "t block that needs to be closed is 'with'."},
        {"{% block b %}{% endblock %}{% block b %}{% endblock %}", "line 1: block 'b' defined twice"},
        {"{% block a-b %}{% endblock %}",
         "line 1: Block names in Jinja have to be valid Python identifiers and may not contain hyphens, use an "
         "underscore instead."},
        {"{% block b required %}x{% endblock %}", "line 1: Required blocks can only contain comments or whitespace"},
        {"{% foo %}", "line 1: Encountered unknown tag 'foo'."},
        {"{% if f %}{% endfor %}",
         "line 1: Encountered unknown tag 'endfor'. Jinja was looking for the following tags: 'elif' or 'else' "
         "or 'endif'. The innermost block that needs to be closed is 'if'."},
        {"{% if f %}",
         "line 1: Unexpected end of template. Jinja was looking for the following tags: 'elif' or 'else' or 'en"
         "dif'. The innermost block that needs to be closed is 'if'."},
        {"{% if f %}{% foo %}{% endif %}",
         "line 1: Encountered unknown tag 'foo'. Jinja was looking for the following tags: 'elif' or 'else' or "
         "'endif'. The innermost block that needs to be closed is 'if'."},
        {"{% do n %}", "line 1: Encountered unknown tag 'do'."},
        {"{% for x in l %}{% extends 'a' %}{% endfor %}", "line 1: cannot use extend from a non top-level scope"},
        {"{% from 'a' import _x %}", "line 1: names starting with an underline can not be imported"},
        {"{% else %}", "line 1: Encountered unknown tag 'else'."},
        {"{% filter %}{% endfilter %}", "line 1: expected token 'name', got 'end of statement block'"},
        {"{% filter nofilter %}{% endfilter %}", "line 1: No filter named 'nofilter'."},
        {"{% generation %}",
         "line 1: Unexpected end of template. Jinja was looking for the following tags: 'endgeneration'. The in"
         "nermost block that needs to be closed is 'generation'."},
        {"{% endset %}", "line 1: Encountered unknown tag 'endset'."},
    };
    QN_JINJA_ALL_FAIL(cases, variables);
}

static void failing(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{% set d.x = 1 %}", "line 1: cannot assign attribute on non-namespace object"},
        {"{% set u.x = 1 %}", "line 1: cannot assign attribute on non-namespace object"},
        {"{% set ns = namespace() %}{% set ns._x = 1 %}",
         "line 1: Chat templates cannot store underscore-prefixed attributes on a namespace, but got '_x'."},
        {"{% set a, b = l %}", "line 1: too many values to unpack (expected 2)"},
        {"{% set a, b = 1 %}", "line 1: cannot unpack non-iterable int object"},
        {"{% include 'a' %}", "line 1: no loader for this environment specified"},
        {"{% import 'a' as b %}", "line 1: no loader for this environment specified"},
        {"{% extends 'a' %}", "line 1: no loader for this environment specified"},
        {"{% from 'a' import b %}", "line 1: no loader for this environment specified"},
        {"{% include 'a' ignore missing %}", "line 1: no loader for this environment specified"},
        {"{% block b required %}{% endblock %}", "line 1: Required block 'b' not found"},
        {"{% filter length %}abc{% endfilter %}", "line 1: sequence item: expected str instance, int found"},
        {"{% if true %}{% filter nofilter %}{% endfilter %}{% endif %}", "line 1: No filter named 'nofilter'."},
    };
    QN_JINJA_ALL_FAIL(cases, variables);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set),     cmocka_unit_test(loops),   cmocka_unit_test(with_and_blocks),
        cmocka_unit_test(refused), cmocka_unit_test(failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
