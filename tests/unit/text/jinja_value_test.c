/* Values of templates: numbers, texts, order, items, slices, as Python has them.
 * SPDX-License-Identifier: MIT */
#include "jinja_render.h"
#include "jinja_vars.h"

static void numbers_are_shown_as_python_shows_them(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ [1.0, 1e16, 1e15, 123456789012345680.0, 1e-4, 1e-5, 0.1 + 0.2] }}",
         "[1.0, 1e+16, 1000000000000000.0, 1.2345678901234568e+17, 0.0001, 1e-05, 0.30000000000000004]"},
        {"{{ [5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1e22, 1e23] }}",
         "[5e-324, 2.2250738585072014e-308, 1.7976931348623157e+308, 1e+22, 1e+23]"},
        {"{{ [f * 1e308, f * -1e308, f * 1e308 - f * 1e308, -0.0] }}", "[inf, -inf, nan, -0.0]"},
        {"{{ [1/3, 2/3, 100.0, 1.5e300, 9007199254740993 / 2] }}",
         "[0.3333333333333333, 0.6666666666666666, 100.0, 1.5e+300, 4503599627370496.0]"},
        {"{{ [big, -big, 9223372036854775807, -9223372036854775807 - 1] }}",
         "[123456789012345678901234567890, -123456789012345678901234567890, 9223372036854775807, "
         "-9223372036854775808]"},
        {"{{ {'a': big, 'b': [-big]}|tojson }} {{ big|round }} {{ big|string }} {{ '%d' % big }}",
         "{\"a\": 123456789012345678901234567890, \"b\": [-123456789012345678901234567890]} "
         "123456789012345678901234567890 123456789012345678901234567890 123456789012345678901234567890"},
        {"{{ [0x1F, 0b101, 0o17, 1_000] }}", "[31, 5, 15, 1000]"},
    };
    QN_JINJA_ALL_GIVE(cases, VARS);
}

static void texts_of_values(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ [none, true, nothing, 'a'] }}", "[None, True, Undefined, 'a']"},
        {"{{ ['it\\'s', \"say \\\"x\\\"\", 'both \\' and \"', '\\\\', '\\n\\r\\t'] }}",
         "[\"it's\", 'say \"x\"', 'both \\' and \"', '\\\\', '\\n\\r\\t']"},
        {"{{ ['\\x00\\x7f\\u00a0\\u200b\\u2028', 'é世🎉'] }}", "['\\x00\\x7f\\xa0\\u200b\\u2028', 'é世🎉']"},
        {"{{ [(), (1,), (1, 2), [], {}, {'a': [1]}] }}", "[(), (1,), (1, 2), [], {}, {'a': [1]}]"},
        {"{{ {1: 'x', 2.5: none, none: [], true: 't', (1, 2): 3} }}", "{1: 't', 2.5: None, None: [], (1, 2): 3}"},
        {"{{ [range(3), range(1, 10, 2), range(0)] }}", "[range(0, 3), range(1, 10, 2), range(0, 0)]"},
        {"{{ [d.keys(), d.values(), d.items()] }}",
         "[dict_keys(['b', 'a', 'C']), dict_values([1, [1, 2.5, 'x'], None]), dict_items([('b', 1), ('a', [1, "
         "2.5, 'x']), ('C', None)])]"},
        {"{{ ['<'|safe, '<'|e] }}", "[Markup('<'), Markup('&lt;')]"},
        {"{{ 'a' ~ 1 ~ none ~ 1.0 ~ [1] ~ nothing }}", "a1None1.0[1]"},
        {"{{ namespace(a=1, b='x') }}", "<Namespace {'a': 1, 'b': 'x'}>"},
    };
    QN_JINJA_ALL_GIVE(cases, VARS);
}

static void arithmetic_is_pythons(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ [7 // 2, -7 // 2, 7 // -2, 7 % 3, -7 % 3, 7 % -3] }}", "[3, -4, -4, 1, 2, -2]"},
        {"{{ [7.5 // 2, -7.5 // 2, 7.5 % 2, -7.5 % 2, 7.5 % -2, 5.0 // 0.1, 5 % 2.5] }}",
         "[3.0, -4.0, 1.5, 0.5, -0.5, 49.0, 0.0]"},
        {"{{ [2 ** 10, 2 ** -1, 2 ** 0.5, 2 ** 62, 0 ** 0, (-2) ** 3] }}",
         "[1024, 0.5, 1.4142135623730951, 4611686018427387904, 1, -8]"},
        {"{{ [7 / 2, 6 / 2, true + true, -true, 3 * 1.1] }}", "[3.5, 3.0, 2, -1, 3.3000000000000003]"},
        {"{{ ['ab' * 3, 3 * 'ab', 'a' * -1, [1, 2] * 2, (1,) * 2] }}",
         "['ababab', 'ababab', '', [1, 2, 1, 2], (1, 1)]"},
        {"{{ [[1] + [2], (1,) + (2,), 'a' + 'b'] }}", "[[1, 2], (1, 2), 'ab']"},
    };
    QN_JINJA_ALL_GIVE(cases, VARS);
}

static void order_and_equality(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ [1 == 1.0, 1 == true, 1 == '1', none == 0, nothing == nothing, nothing == none] }}",
         "[True, True, False, False, True, False]"},
        {"{{ [[1, 2] == [1, 2], [1, 2] == (1, 2), {'a': 1, 'b': 2} == {'b': 2, 'a': 1.0}] }}", "[True, False, True]"},
        {"{{ [1 < 1.5, 9007199254740993 > 9007199254740992.0, big > 1e29, big < 1e30, big == big] }}",
         "[True, True, True, True, True]"},
        {"{{ ['a' < 'b', 'Z' < 'a', 'é' > 'z', 'a' < 'aa'] }}", "[True, True, True, True]"},
        {"{{ [[1, 2] < [1, 3], [1] < [1, 0], (1, 'a') < (1, 'b'), [1, 'a'] < [2, 3]] }}", "[True, True, True, True]"},
        {"{{ [f * 1e308 == f * 1e308, 'nan'|float == 'nan'|float, 'nan'|float < 1, 'nan'|float > 1] }}",
         "[True, False, False, False]"},
        {"{{ ['ell' in s, '' in s, 1 in l, 1.0 in l, 'a' in d, 2 in range(3), 1 not in l, 'x' in nothing] }}",
         "[True, True, True, True, True, True, False, False]"},
        {"{{ [d.keys() == {'C': 1, 'a': 2, 'b': 3}.keys(), range(3) == range(0, 3)] }}", "[True, True]"},
    };
    QN_JINJA_ALL_GIVE(cases, VARS);
}

static void items_and_slices(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ [l[0], l[-1], l[3] is defined, l['0'] is defined, l[true], (1, 2)[1], range(5)[-1]] }}",
         "[3, 2, False, False, 1, 2, 4]"},
        {"{{ [s[0], s[-1], u[2], u[7], u[-1], s[100] is defined] }}", "['H', 'd', 'ü', '世', '🎉', False]"},
        {"{{ [s[1:4], s[-3:], s[:-3], s[::2], s[::-1], s[10:2:-3], s[100:], s[:99999999999999999999]] }}",
         "['ell', 'rld', 'Hello, Wo', 'Hlo ol', 'dlroW ,olleH', 'lWo', '', 'Hello, World']"},
        {"{{ [u[1:3], u[::-1], u[7:9], u[8:0:-2], e[1:]] }}", "['rü', '🎉 界世 ,eßürG', '世界', '界 eü', '']"},
        {"{{ [l[1:], l[::-1], l[5:], (1, 2, 3)[::-1], range(10)[2:8:2], range(10)[::-1]] }}",
         "[[1, 2], [2, 1, 3], [], (3, 2, 1), range(2, 8, 2), range(9, -1, -1)]"},
        {"{{ [{1: 'one'}[1.0], {1: 'one'}[true], {'1': 'one'}[1] is defined, d.zz is defined, d['items'] is "
         "callable] }}",
         "['one', 'one', False, False, True]"},
        {"{{ [{'a': 1, 'a': 2}, {1: 'a', 1.0: 'b', true: 'c'}] }}", "[{'a': 2}, {1: 'c'}]"},
        {"{{ [l.append is defined, d.pop is defined, {'pop': 1}['pop'], d.__class__ is defined, s._x is defined, "
         "{'_x': 1}._x] }}",
         "[False, False, 1, False, False, 1]"},
        {"{{ [l.count(1), l.index(2), l.copy(), (1, 2).index(2), d.get('a'), d.get('zz'), d.get('zz', 5), "
         "d.copy()] }}",
         "[1, 2, [3, 1, 2], 1, [1, 2.5, 'x'], None, 5, {'b': 1, 'a': [1, 2.5, 'x'], 'C': None}]"},
    };
    QN_JINJA_ALL_GIVE(cases, VARS);
}

static void operations_that_fail(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ 1 / 0 }}", "line 1: division by zero"},
        {"{{ 1 % 0 }}", "line 1: integer division or modulo by zero"},
        {"{{ 1.0 // 0 }}", "line 1: float floor division by zero"},
        {"{{ 9223372036854775807 + n }}", "line 1: integer overflow: the result is beyond 64 bits"},
        {"{{ n ** 99 }}", "line 1: integer overflow: the result is beyond 64 bits"},
        {"{{ big + 1 }}", "line 1: integer overflow: the result is beyond 64 bits"},
        {"{{ big - big }}", "line 1: integer overflow: the result is beyond 64 bits"},
        {"{{ big // 2 }}", "line 1: integer overflow: the result is beyond 64 bits"},
        {"{{ [big, 1]|sum }}", "line 1: integer overflow: the result is beyond 64 bits"},
        {"{{ range(big) }}", "line 1: range: an integer beyond 64 bits"},
        {"{{ big|round(-1) }}", "line 1: integer overflow: round takes no more than 64 bits"},
        {"{{ 'a' + n }}", "line 1: unsupported operand type(s) for +: 'str' and 'int'"},
        {"{{ nothing + 1 }}", "line 1: 'nothing' is undefined"},
        {"{{ d.zz.y }}", "line 1: 'dict object' has no attribute 'zz'"},
        {"{{ l[9].x }}", "line 1: list object has no element 9"},
        {"{{ no.x.y }}", "line 1: 'None' has no attribute 'x'"},
        {"{{ 1 < s }}", "line 1: '<' or '>' not supported between instances of 'int' and 'str'"},
        {"{{ 1 in n }}", "line 1: argument of type 'int' is not iterable"},
        {"{{ 1 in s }}", "line 1: 'in <string>' requires string as left operand, not int"},
        {"{{ {l: 1} }}", "line 1: unhashable type: 'list'"},
        {"{{ s[::0] }}", "line 1: slice step cannot be zero"},
        {"{{ s['a':] }}", "line 1: slice indices must be integers or None or have an __index__ method"},
        {"{{ l.append(4) }}", "line 1: access to attribute 'append' of 'list' object is unsafe."},
        {"{{ d.update({}) }}", "line 1: access to attribute 'update' of 'dict' object is unsafe."},
        {"{{ s.nothing() }}", "line 1: 'str object' has no attribute 'nothing'"},
        {"{{ n() }}", "line 1: 'int' object is not callable"},
        {"{{ namespace(_x=1) }}",
         "line 1: Chat templates cannot store underscore-prefixed attributes on a namespace, but got '_x'."},
    };
    QN_JINJA_ALL_FAIL(cases, VARS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_shown_as_python_shows_them),
        cmocka_unit_test(texts_of_values),
        cmocka_unit_test(arithmetic_is_pythons),
        cmocka_unit_test(order_and_equality),
        cmocka_unit_test(items_and_slices),
        cmocka_unit_test(operations_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
