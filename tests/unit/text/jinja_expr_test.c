/* Expressions: precedence, chains, literals, subscripts, calls. jinja2 gave the answers.
 * SPDX-License-Identifier: MIT */
#include "jinja_render.h"

static const char variables[] =
    "{\"n\": 3, \"z\": 0, \"s\": \"abc\", \"l\": [1, 2, 3], \"d\": {\"a\": 1, \"b\": {\"c\": [4, 5]}, \"items"
    "\": 7}, \"none_\": null, \"t\": true, \"m\": [{\"r\": \"u\", \"k\": 1}, {\"r\": \"a\", \"k\": 2}]}";

static void arithmetic(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ 1 + 2 * 3 }}", "7"},
        {"{{ (1 + 2) * 3 }}", "9"},
        {"{{ 2 ** 3 ** 2 }}", "64"},
        {"{{ -2 ** 2 }}", "4"},
        {"{{ 7 // 2 }}{{ -7 // 2 }}{{ 7 % 3 }}{{ -7 % 3 }}", "3-412"},
        {"{{ 7 / 2 }}", "3.5"},
        {"{{ 2 * 3 ~ 4 }}", "64"},
        {"{{ 10 - 2 - 3 }}", "5"},
        {"{{ 2 - -3 }}", "5"},
        {"{{ - n }}", "-3"},
        {"{{ -n|abs }}", "3"},
        {"{{ (-n)|abs }}", "3"},
        {"{{ n|abs * 2 }}", "6"},
        {"{{ 'a' * 3 }}", "aaa"},
        {"{{ [1] * 2 + [3] }}", "[1, 1, 3]"},
        {"{{ 'a' + 'b' ~ 1 }}", "ab1"},
        {"{{ 1.0 * 2 }}", "2.0"},
    };
    QN_JINJA_ALL_GIVE(cases, variables);
}

static void logic(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ 1 and 0 or 2 }}", "2"},
        {"{{ '' or 'x' }}", "x"},
        {"{{ 'a' and 'b' }}", "b"},
        {"{{ not 1 == 2 }}", "True"},
        {"{{ not (1 == 2) }}", "True"},
        {"{{ not not n }}", "True"},
        {"{{ true or u.x.y }}", "True"},
        {"{{ false and u.x.y }}", "False"},
        {"{{ 1 < 2 < 3 }}", "True"},
        {"{{ 1 < 3 < 2 }}", "False"},
        {"{{ 3 > 2 > 1 != 0 }}", "True"},
        {"{{ 1 == 1.0 == true }}", "True"},
        {"{{ 2 in l }}{{ 5 not in l }}{{ not 2 in l }}", "TrueTrueFalse"},
        {"{{ 'b' in s }}{{ 'a' in d }}", "TrueTrue"},
        {"{{ 1 if n else 2 }}{{ 1 if z else 2 }}", "12"},
        {"{{ 1 if z }}|", "|"},
        {"{{ 1 if z else 2 if z else 3 }}", "3"},
        {"{{ (1 if z) is defined }}", "False"},
        {"{{ n > 2 and s == 'abc' }}", "True"},
        {"{{ 'x' if n is defined and n is not none else 'y' }}", "x"},
    };
    QN_JINJA_ALL_GIVE(cases, variables);
}

static void tests_and_filters(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ n is odd }}{{ n is not even }}", "TrueTrue"},
        {"{{ n is divisibleby 3 }}{{ n is divisibleby(2) }}", "TrueFalse"},
        {"{{ s is in ['abc'] }}", "True"},
        {"{{ not n is odd }}", "False"},
        {"{{ n is odd and z is even }}", "True"},
        {"{{ u is defined }}{{ u is undefined }}", "FalseTrue"},
        {"{{ s|upper|lower|length + 1 }}", "4"},
        {"{{ l|join(', ')|upper }}", "1, 2, 3"},
        {"{{ l|first is eq 1 }}", "True"},
        {"{{ n is none or t is true }}", "True"},
        {"{{ m|map(attribute='r')|join }}", "ua"},
        {"{{ m|selectattr('k', 'gt', 1)|list|length }}", "1"},
        {"{{ [n is odd, n is even] }}", "[True, False]"},
        {"{{ (s is string)|upper }}", "TRUE"},
        {"{{ n is sameas n }}", "True"},
        {"{{ 1 if s is not mapping else 2 }}", "1"},
    };
    QN_JINJA_ALL_GIVE(cases, variables);
}

static void access(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ d.a }}{{ d['a'] }}{{ d.b.c[1] }}", "115"},
        {"{{ d.items is callable }}|{{ d['items'] }}", "True|7"},
        {"{{ d.nope }}|{{ d['nope'] }}|{{ l[9] }}", "||"},
        {"{{ l.0 }}{{ l.1 }}", "12"},
        {"{{ l[-1] }}{{ l[0:2] }}{{ l[::-1] }}{{ l[:n] }}", "3[1, 2][3, 2, 1][1, 2, 3]"},
        {"{{ s[1] }}{{ s[::2] }}{{ s[-2:] }}", "bacbc"},
        {"{{ s.upper().lower() }}", "abc"},
        {"{{ m[0].r ~ m[-1]['r'] }}", "ua"},
        {"{{ (1, 2)[0] }}", "1"},
        {"{{ {'a': 1}.a }}", "1"},
        {"{{ [[1]][0][0] }}", "1"},
        {"{{ 'a,b'.split(',')[1] }}", "b"},
        {"{{ s.x is defined }}", "False"},
        {"{{ d.b.c.1 }}", "5"},
        {"{{ l[:] == l }}", "True"},
        {"{{ l[n] }}|", "|"},
    };
    QN_JINJA_ALL_GIVE(cases, variables);
}

static void literals(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ [] }}{{ () }}{{ {} }}", "[](){}"},
        {"{{ [1, 2,] }}{{ (1,) }}{{ (1) }}", "[1, 2](1,)1"},
        {"{{ 1, 2 }}", "(1, 2)"},
        {"{{ {'a': 1, 2: [none], none: true,} }}", "{'a': 1, 2: [None], None: True}"},
        {"{{ true }}{{ False }}{{ none }}{{ None }}", "TrueFalseNoneNone"},
        {"{{ 'a' 'b' ~ 'c' }}", "abc"},
        {"{{ {'a': 1, 'a': 2} }}", "{'a': 2}"},
        {"{{ [1, 'a', 2.0, true, none] }}", "[1, 'a', 2.0, True, None]"},
    };
    QN_JINJA_ALL_GIVE(cases, variables);
}

static void calls(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ range(3)|list }}", "[0, 1, 2]"},    {"{{ dict(a=1, b=2) }}", "{'a': 1, 'b': 2}"},
        {"{{ dict(**d)['a'] }}", "1"},           {"{{ range(*[1, 3])|list }}", "[1, 2]"},
        {"{{ range(1, *[3])|list }}", "[1, 2]"}, {"{{ dict(a=1, **{'b': 2}) }}", "{'a': 1, 'b': 2}"},
        {"{{ s.replace('a', 'b', ) }}", "bbc"},  {"{{ namespace(a=1).a }}", "1"},
    };
    QN_JINJA_ALL_GIVE(cases, variables);
}

static void refused(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ 1 + }}", "line 1: unexpected 'end of print statement'"},
        {"{{ * 2 }}", "line 1: unexpected '*'"},
        {"{{ [1, }}", "line 1: unexpected '}', expected ']'"},
        {"{{ (1, 2 }}", "line 1: unexpected '}', expected ')'"},
        {"{{ {1} }}", "line 1: expected token ':', got '}'"},
        {"{{ {'a' 1} }}", "line 1: expected token ':', got 'integer'"},
        {"{{ a. }}", "line 1: expected name or number"},
        {"{{ a.'b' }}", "line 1: expected name or number"},
        {"{{ a[] b }}", "line 1: expected token 'end of print statement', got 'b'"},
        {"{{ f(a=1, 2) }}", "line 1: invalid syntax for function call expression"},
        {"{{ f(**d, *l) }}", "line 1: invalid syntax for function call expression"},
        {"{{ f(*l, *l) }}", "line 1: invalid syntax for function call expression"},
        {"{{ f(1 2) }}", "line 1: expected token ',', got 'integer'"},
        {"{{ f(,) }}", "line 1: unexpected ','"},
        {"{{ s|nofilter }}", "line 1: No filter named 'nofilter'."},
        {"{{ s is notest }}", "line 1: No test named 'notest'."},
        {"{{ s| }}", "line 1: expected token 'name', got 'end of print statement'"},
        {"{{ s is }}", "line 1: expected token 'name', got 'end of print statement'"},
        {"{{ a is b is c }}", "line 1: You cannot chain multiple tests with is"},
        {"{{ x if }}", "line 1: unexpected 'end of print statement'"},
        {"{{ not }}", "line 1: unexpected 'end of print statement'"},
        {"{{ 1 2 }}", "line 1: expected token 'end of print statement', got 'integer'"},
        {"{{ a.1.b.'c' }}", "line 1: expected name or number"},
        {"{{ 5|nofilter|upper }}", "line 1: No filter named 'nofilter'."},
        {"\n{{ s|foo.bar }}", "line 2: No filter named 'foo.bar'."},
        {"{{ f(a=1, a=2) }}", "line 1: keyword argument repeated: a"},
    };
    QN_JINJA_ALL_FAIL(cases, variables);
}

static void failing(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ u.x }}", "line 1: 'u' is undefined"},
        {"{{ u + 1 }}", "line 1: 'u' is undefined"},
        {"{{ d.nope.x }}", "line 1: 'dict object' has no attribute 'nope'"},
        {"{{ 1 + 'a' }}", "line 1: unsupported operand type(s) for +: 'int' and 'str'"},
        {"{{ 'a' + 1 }}", "line 1: unsupported operand type(s) for +: 'str' and 'int'"},
        {"{{ none + 1 }}", "line 1: unsupported operand type(s) for +: 'NoneType' and 'int'"},
        {"{{ 1 < 'a' }}", "line 1: '<' or '>' not supported between instances of 'int' and 'str'"},
        {"{{ 1 in 2 }}", "line 1: argument of type 'int' is not iterable"},
        {"{{ n() }}", "line 1: 'int' object is not callable"},
        {"{{ u() }}", "line 1: 'u' is undefined"},
        {"{{ 1 // 0 }}", "line 1: integer division or modulo by zero"},
        {"\n\n{{ n / z }}", "line 3: division by zero"},
        {"{{ (1 if z).x }}",
         "line 1: the inline if-expression on line 1 evaluated to false and no else section was defined."},
        {"{{ n[1:] }}", "line 1: 'int' object is not subscriptable"},
        {"{{ dict(*1) }}", "line 1: 'int' object is not iterable"},
        {"{{ dict(a=1, **{'a': 2}) }}", "line 1: got multiple values for keyword argument 'a'"},
        {"{{ dict(**1) }}", "line 1: argument after ** must be a mapping, not int"},
        {"{{ {[1]: 2} }}", "line 1: unhashable type: 'list'"},
        {"{{ -s }}", "line 1: bad operand type for unary -: 'str'"},
        {"{{ 1 if true else s|nofilter }}{{ s|nofilter if true }}", "line 1: No filter named 'nofilter' found."},
        {"{{ raise_exception('told: ' ~ n) }}", "line 1: told: 3"},
        {"{{ u['a'] }}", "line 1: 'u' is undefined"},
        {"{{ l.x.y }}", "line 1: 'list object' has no attribute 'x'"},
    };
    QN_JINJA_ALL_FAIL(cases, variables);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic), cmocka_unit_test(logic),    cmocka_unit_test(tests_and_filters),
        cmocka_unit_test(access),     cmocka_unit_test(literals), cmocka_unit_test(calls),
        cmocka_unit_test(refused),    cmocka_unit_test(failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
