/* Filters, tests and globals of templates.
 * SPDX-License-Identifier: MIT */
#include "jinja_render.h"
#include "jinja_vars.h"

static void strings(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ [s|upper, s|lower, 'hello wORLD-foo (bar)'|title, 'aB'|capitalize, n|upper, nothing|upper] }}",
         "['HELLO, WORLD', 'hello, world', 'Hello World-Foo (Bar)', 'Ab', '42', '']"},
        {"{{ [sp|trim, 'xxaxx'|trim('x'), n|trim, 'ab'|center(6), s|replace('l', 'L', 1), n|replace(4, 5)] }}",
         "['two  words\\n next', 'a', '42', '  ab  ', 'HeLlo, World', '52']"},
        {"{{ [l|join, ls|join('-'), users|join(', ', attribute='name'), [1, none, nothing, true]|join('|'), "
         "s|wordcount] }}",
         "['312', 'b-A-c-B-a', 'Bob, alice, Carl', '1|None||True', 2]"},
        {"{{ ['%s-%d'|format('a', 2), '%(x)s'|format(x=1), s|reverse, l|reverse|list, s|length, u|length, "
         "d|count] }}",
         "['a-2', '1', 'dlroW ,olleH', [2, 1, 3], 12, 11, 3]"},
        {"{{ ['a\\nb\\n\\nc'|indent, 'a\\nb\\n\\nc'|indent(2, true, true), 'a\\nb\\n'|indent('> '), "
         "''|indent(first=true)] }}",
         "['a\\n    b\\n\\n    c', '  a\\n  b\\n  \\n  c', 'a\\n> b\\n', '    ']"},
        {"{{ ['foo bar baz qux'|truncate(9), 'foo bar baz qux'|truncate(9, true), 'foo bar baz "
         "qux'|truncate(11)] }}",
         "['foo...', 'foo ba...', 'foo bar baz qux']"},
        {"{{ 'well-known averyveryverylong word'|wordwrap(8) }}", "well-\nknown av\neryveryv\nerylong\nword"},
        {"{{ 'the quick brown fox'|wordwrap(10, wrapstring='|') }}", "the quick|brown fox"},
    };
    QN_JINJA_ALL_GIVE(cases, VARS);
}

static void html(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ [html|e|string, html|e|e|length, html|forceescape|length, 'a'|safe is escaped] }}",
         "[Markup('&lt;b&gt;&#34;x&#34; &amp; &#39;y&#39;&lt;/b&gt;'), 48, 48, True]"},
        {"{{ (html|safe) + '<i>' }}", "<b>\"x\" & 'y'</b>&lt;i&gt;"},
        {"{{ '<i>' ~ (html|safe) }}", "<i><b>\"x\" & 'y'</b>"},
        {"{{ ('{}'|safe).format('<i>') ~ ('%s'|safe) % '<i>' ~ ('a'|safe).join(['<', '>']) }}",
         "&lt;i&gt;&lt;i&gt;&lt;a&gt;"},
        {"{{ '<b>x</b>  y <!-- c --> z &amp; &#65;'|striptags }}", "x y z & A"},
        {"{{ {'a': 1, 'b': none, 'c': '<\"'}|xmlattr }}", " a=\"1\" c=\"&lt;&#34;\""},
        {"{{ 'a b/c?d=é&f'|urlencode ~ ' ' ~ {'a': 'x y', 'b': 'é/'}|urlencode }}",
         "a%20b/c%3Fd%3D%C3%A9%26f a=x+y&b=%C3%A9%2F"},
        {"{{ 'see http://example.com/a, www.x.org. me@x.org'|urlize }}",
         "see <a href=\"http://example.com/a\" rel=\"noopener\">http://example.com/a</a>, <a "
         "href=\"https://www.x.org\" rel=\"noopener\">www.x.org</a>. <a href=\"mailto:me@x.org\">me@x.org</a>"},
    };
    QN_JINJA_ALL_GIVE(cases, VARS);
}

static void numbers(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ ['42'|int, ' -7 '|int, '4.9'|int, 'x'|int, 'x'|int(5), 4.9|int, none|int, 'ff'|int(base=16), "
         "'0b11'|int(0, 2), '٣'|int] }}",
         "[42, -7, 4, 0, 5, 4, 0, 255, 3, 3]"},
        {"{{ ['3.5'|float, 'x'|float, '1e3'|float, 'inf'|float, 3|float, '.5'|float, '1_0.5'|float, -5|abs, "
         "2.5|round, 3.5|round] }}",
         "[3.5, 0.0, 1000.0, inf, 3.0, 0.5, 10.5, 5, 2.0, 4.0]"},
        {"{{ [42.55|round(1), 42.55|round(1, 'floor'), 42.1|round(method='ceil'), 45|round(-1), 55|round(-1), "
         "1.005|round(2)] }}",
         "[42.5, 42.5, 43.0, 40, 60, 1.0]"},
        {"{{ [999|filesizeformat, 1500000|filesizeformat, 1024|filesizeformat(true)] }}",
         "['999 Bytes', '1.5 MB', '1.0 KiB']"},
        {"{{ [l|sum, users|sum(attribute='age'), l|min, l|max, ls|max, ls|max(true), []|max is defined] }}",
         "[6, 96, 1, 3, 'c', 'c', False]"},
    };
    QN_JINJA_ALL_GIVE(cases, VARS);
}

static void lists(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ [l|first, l|last, s|first, u|last, d|first, []|first is defined, s[:3]|list, d|list] }}",
         "[3, 2, 'H', '🎉', 'b', False, ['H', 'e', 'l'], ['b', 'a', 'C']]"},
        {"{{ [l|sort, ls|sort, ls|sort(case_sensitive=true), l|sort(reverse=true), [none, none]|sort] }}",
         "[[1, 2, 3], ['A', 'a', 'b', 'B', 'c'], ['A', 'B', 'a', 'b', 'c'], [3, 2, 1], [None, None]]"},
        {"{{ users|sort(attribute='city,name')|map(attribute='name')|list }}", "['alice', 'Bob', 'Carl']"},
        {"{{ [d|dictsort, {'x': 2, 'y': 1}|dictsort(by='value')] }}",
         "[[('a', [1, 2.5, 'x']), ('b', 1), ('C', None)], [('y', 1), ('x', 2)]]"},
        {"{{ [ls|unique|list, users|unique(attribute='city')|map(attribute='name')|list] }}",
         "[['b', 'A', 'c'], ['Bob', 'alice']]"},
        {"{{ users|groupby('city')|map(attribute='grouper')|list }}", "['Oslo', 'Rome']"},
        {"{{ [[l|batch(2, 'x')|list, l|slice(2, 'x')|list], range(7)|slice(3)|list] }}",
         "[[[[3, 1], [2, 'x']], [[3, 1], [2, 'x']]], [[0, 1, 2], [3, 4], [5, 6]]]"},
        {"{{ [ls|map('lower')|list, users|map(attribute='tags.0', default='-')|list, none|map('upper')|list] }}",
         "[['b', 'a', 'c', 'b', 'a'], ['x', '-', '-'], []]"},
        {"{{ [[0, 1, '', 'a']|select|list, l|select('odd')|list, l|reject('gt', 1)|list] }}",
         "[[1, 'a'], [3, 1], [1]]"},
        {"{{ users|selectattr('age', '>', 30)|rejectattr('admin')|map(attribute='name')|list }}", "['Carl']"},
        {"{{ [nothing|default('x'), none|default('x'), ''|d('x', true), d.zz|default([]), d|items|list] }}",
         "['x', None, 'x', [], [('b', 1), ('a', [1, 2.5, 'x']), ('C', None)]]"},
    };
    QN_JINJA_ALL_GIVE(cases, VARS);
}

static void json(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ u|tojson ~ html|tojson ~ u|tojson(ensure_ascii=true) }}",
         "\"Grüße, 世界 🎉\"\"<b>\\\"x\\\" & 'y'</b>\"\"Gr\\u00fc\\u00dfe, \\u4e16\\u754c \\ud83c\\udf89\""},
        {"{{ [1, 1.0, 1e16, true, none, big, f * 1e308]|tojson }}",
         "[1, 1.0, 1e+16, true, null, 123456789012345678901234567890, Infinity]"},
        {"{{ ['\\x00\\x1f\\x7f\\b\\f\\n\\r\\t\"\\\\/']|tojson }}", "[\"\\u0000\\u001f\177\\b\\f\\n\\r\\t\\\"\\\\/\"]"},
        {"{{ d|tojson(indent=2) }}", "{\n  \"b\": 1,\n  \"a\": [\n    1,\n    2.5,\n    \"x\"\n  ],\n  \"C\": null\n}"},
        {"{{ d|tojson(separators=(',', ':'), sort_keys=true) }}", "{\"C\":null,\"a\":[1,2.5,\"x\"],\"b\":1}"},
        {"{{ {1: 'a', 2.5: [], none: {}, true: ()}|tojson(indent=1) }}",
         "{\n \"1\": [],\n \"2.5\": [],\n \"null\": {}\n}"},
    };
    QN_JINJA_ALL_GIVE(cases, VARS);
}

static void layout(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ d|pprint }}", "{'C': None, 'a': [1, 2.5, 'x'], 'b': 1}"},
        {"{{ users|pprint }}",
         "[{'admin': True, 'age': 31, 'city': 'Rome', 'name': 'Bob', 'tags': ['x', 'y']},\n {'admin': False, "
         "'age': 25, 'city': 'Oslo', 'name': 'alice', 'tags': []},\n {'age': 40, 'city': 'Rome', 'name': 'Carl'}]"},
        {"{{ {'key': 'a long text that goes on and on, word after word, until it fits no more in one line of "
         "text'}|pprint }}",
         "{'key': 'a long text that goes on and on, word after word, until it fits no '\n        'more in one "
         "line of text'}"},
    };
    QN_JINJA_ALL_GIVE(cases, VARS);
}

static void questions(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ [n is defined, nothing is undefined, none is none, true is boolean, 1 is integer, true is integer, "
         "1.0 is float] }}",
         "[True, True, True, True, True, False, True]"},
        {"{{ ['a' is string, {} is mapping, [] is sequence, {} is sequence, 'a' is iterable, 1 is iterable, "
         "range is callable] }}",
         "[True, True, True, True, True, False, True]"},
        {"{{ [1 is odd, 2 is even, 6 is divisibleby 3, 'a' is lower, 'A' is upper, 1 is eq 1, 2 is gt 1, 1 is in "
         "[1], 1 is ne 2] }}",
         "[True, True, True, True, True, True, True, True, True]"},
        {"{{ ['upper' is filter, 'odd' is test, 1 is number, none is sameas none, true is true, 0 is false, big "
         "is integer] }}",
         "[True, True, True, True, True, False, True]"},
    };
    QN_JINJA_ALL_GIVE(cases, VARS);
}

static void globals(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ [range(5)|list, range(5, 2, -1)|list, dict(a=1, b=2), dict([('a', 1)]), dict.fromkeys('ab', 0), "
         "namespace(a=1).a] }}",
         "[[0, 1, 2, 3, 4], [5, 4, 3], {'a': 1, 'b': 2}, {'a': 1}, {'a': 0, 'b': 0}, 1]"},
        {"{{ [joiner()(), cycler('a', 'b').next(), cycler(1).current] }}", "['', 'a', 1]"},
        {"{{ strftime_now('%Y-%m-%d %H:%M:%S %d %B %Y') }}", "2024-07-26 09:05:03 26 July 2024"},
    };
    QN_JINJA_ALL_GIVE(cases, VARS);
}

static void misused_filters(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ nothing|abs }}", "line 1: bad operand type for abs(): 'Undefined'"},
        {"{{ n|length }}", "line 1: object of type 'int' has no len()"},
        {"{{ none|join }}", "line 1: 'NoneType' object is not iterable"},
        {"{{ l|map('string')|last }}", "line 1: 'generator' object is not reversible"},
        {"{{ [1, 'a']|sort }}", "line 1: '<' or '>' not supported between instances of 'str' and 'int'"},
        {"{{ d|dictsort(by='x') }}", "line 1: You can only sort by either \"key\" or \"value\""},
        {"{{ l|map('nofilter')|list }}", "line 1: No filter named 'nofilter'."},
        {"{{ l|select('notest')|list }}", "line 1: No test named 'notest'."},
        {"{{ l|batch }}", "line 1: batch() missing required argument: 'linecount'"},
        {"{{ nothing|tojson }}", "line 1: Object of type Undefined is not JSON serializable"},
        {"{{ {(1, 2): 3}|tojson }}", "line 1: keys must be str, int, float, bool or None, not tuple"},
        {"{{ 1.5|round(method='x') }}", "line 1: method must be common, ceil or floor"},
        {"{{ {'a b': 1}|xmlattr }}", "line 1: Invalid character in attribute name: 'a b'"},
        {"{{ l|random }}", "line 1: the filter 'random' is refused: a template gives the same text each time"},
        {"{{ lipsum() }}", "line 1: lipsum() is refused: a template gives the same text each time"},
        {"{{ range(100001) }}", "line 1: Range too big. The sandbox blocks ranges larger than 100000."},
        {"{{ range(1, 2, 0) }}", "line 1: range() arg 3 must not be zero"},
        {"{{ raise_exception('no ' ~ n) }}", "line 1: no 42"},
        {"{{ cycler() }}", "line 1: at least one item has to be provided"},
    };
    QN_JINJA_ALL_FAIL(cases, VARS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings),   cmocka_unit_test(html),    cmocka_unit_test(numbers),
        cmocka_unit_test(lists),     cmocka_unit_test(json),    cmocka_unit_test(layout),
        cmocka_unit_test(questions), cmocka_unit_test(globals), cmocka_unit_test(misused_filters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
