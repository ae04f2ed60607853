/* Text and tags: white space control, comments, raw text, literals, and what cannot be read. jinja2 gave the answers.
 * SPDX-License-Identifier: MIT */
#include "jinja_render.h"

static const char variables[] = "{\"x\": \"X\", \"l\": [1, 2, 3], \"a\": [[5, 6]], \"f\": 2}";

static void text_and_white_space(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"plain", "plain"},
        {"", ""},
        {"\n", ""},
        {"a\n", "a"},
        {"a\n\n", "a\n"},
        {"a\r\nb\rc\n", "a\nb\nc"},
        {"{{ x }}\n", "X"},
        {"{{ x }}\n\n", "X\n"},
        {"{{- x -}}", "X"},
        {"a {{- x -}} b", "aXb"},
        {"a {{ x -}}\n\n b", "a Xb"},
        {"a\n  {%- if f %} b{% endif %}", "a b"},
        {"  {% if f %}\n  b\n  {% endif %}\nc", "  b\nc"},
        {" t {% if f %}\nb{% endif %}", " t b"},
        {"  {%+ if f %}\nb{% endif %}", "  b"},
        {"{% if f +%}\nb{% endif %}", "\nb"},
        {"{% if f -%}\n\n  b{% endif %}", "b"},
        {"{# c #}\na", "a"},
        {"  {# c #}\n  a", "  a"},
        {"  {#+ c #}a", "  a"},
        {"a {#- c -#} b", "ab"},
        {"{#-#}a", "a"},
        {"{##}a", "a"},
        {"a{#", "a"},
        {"a {# b -#}\n c", "a c"},
        {"x{# {{ y }} #}y", "xy"},
        {"{# a\nb #}\nc", "c"},
        {"{# + +#}\na", "\na"},
        {"{{ {} }}", "{}"},
        {"{{ x}} {{x }}{{x}}", "X XX"},
        {"{ { x } }", "{ { x } }"},
        {"{{ x }}}", "X}"},
        {"a { b", "a { b"},
        {"a {", "a {"},
        {"{", "{"},
        {"{{\n x\n }}", "X"},
        {"{%\nif f\n%}y{%\nendif\n%}", "y"},
        {"\t{% if f %}\t{% endif %}\n", "\t"},
        {" {% if f %} {% endif %} {{ x }}", "  X"},
        {"a\302\240{{- x }}", "aX"},
        {"\342\200\203{% if f %}b{% endif %}", "b"},
        {"{{ x\302\240}}", "X"},
        {"{{ \303\251 }}", ""},
        {"{{ x|upper|lower }}", "x"},
    };
    QN_JINJA_ALL_GIVE(cases, variables);
}

static void raw_text(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{% raw %}{{ x }}{% endraw %}", "{{ x }}"},
        {"{% raw %}\na\n{% endraw %}\nb", "\na\nb"},
        {"{%- raw -%} a {%- endraw -%} b", "ab"},
        {"  {% raw %} {# #} {% endraw %}", " {# #} "},
        {"{% raw %}{% raw %}{% endraw %}", "{% raw %}"},
        {"{%raw%}{%endraw%}", ""},
        {"{% raw %}", ""},
        {"{%+ raw %}a{%+ endraw +%}\nb", "a\nb"},
    };
    QN_JINJA_ALL_GIVE(cases, variables);
}

static void literals(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ 'a\\nb\\t\\x41\\u00e9\\101\\\\\\'' }}", "a\nb\tA\303\251A\\'"},
        {"{{ \"it's\" }}", "it's"},
        {"{{ 'a' \"b\" 'c' }}", "abc"},
        {"{{ '\\q\\\303\251' }}", "\\q\\xe9"},
        {"{{ 'a\\\nb' }}", "ab"},
        {"{{ '\\U0001F41D' }}", "\360\237\220\235"},
        {"{{ 1_000 + 0x1f + 0b11 + 0o17 + 00 }}", "1049"},
        {"{{ 1.5e3 }}{{ 2E-2 }}{{ 1_0.2_5 }}", "1500.00.0210.25"},
        {"{{ a.0.1 }}", "6"},
        {"{{ 18446744073709551616 }}", "18446744073709551616"},
        {"{{ 0xffffffffffffffffffff }}", "1208925819614629174706175"},
        {"{{ 9223372036854775807 }}", "9223372036854775807"},
        {"{{ {'a': {'b': 1}}['a']['b'] }}", "1"},
        {"{{ {'k': (1)} }}", "{'k': 1}"},
        {"%}{{ '%}' }}", "%}%}"},
        {"{% if f %}{{ '}}' }}{% endif %}", "}}"},
        {"{{ '' }}  {% if f %}a{% endif %}", "  a"},
        {"{% set \303\251 = 1 %}{{ \303\251 }}", "1"},
        {"{{ -1 }}{{ +1 }}", "-11"},
        {"{{--1}}", "-1"},
        {"{{ 1 if f }}", "1"},
        {"{{ l[-1] }}", "3"},
    };
    QN_JINJA_ALL_GIVE(cases, variables);
}

static void refused(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{", "line 1: unexpected 'end of template'"},
        {"{{ x", "line 1: unexpected end of template, expected 'end of print statement'."},
        {"{{ x }", "line 1: unexpected '}'"},
        {"{% if", "line 1: unexpected 'end of template'"},
        {"{% if x", "line 1: unexpected end of template, expected 'end of statement block'."},
        {"{{ 'a }}", "line 1: unexpected char \"'\" at 3"},
        {"{{ 1 ! 2 }}", "line 1: unexpected char '!' at 5"},
        {"{{ $ }}", "line 1: unexpected char '$' at 3"},
        {"{{ ( }}", "line 1: unexpected '}', expected ')'"},
        {"{{ ) }}", "line 1: unexpected ')'"},
        {"{{ [1) }}", "line 1: unexpected ')', expected ']'"},
        {"{{ } }}", "line 1: unexpected '}'"},
        {"a\nb {# c", "line 2: Missing end of comment tag"},
        {"{% raw %}\n\nx", "line 1: Missing end of raw directive"},
        {"{{ '\\x4' }}", "line 1: truncated \\xXX escape"},
        {"{{ '\\u12' }}", "line 1: truncated \\uXXXX escape"},
        {"{{ 1abc }}", "line 1: expected token 'end of print statement', got 'abc'"},
        {"{{ & }}", "line 1: unexpected char '&' at 3"},
        {"{% %}", "line 1: tag name expected"},
        {"{% 5 %}", "line 1: tag name expected"},
        {"{{ }}", "line 1: Expected an expression, got 'end of print statement'"},
        {"\n\n{{ ? }}", "line 3: unexpected char '?' at 5"},
        {"{{ '\\N{DASH}' }}", "line 1: names of characters are not known here"},
        {"{{ @ }}\303\251", "line 1: unexpected char '@' at 3"},
        {"\303\251{{ ` }}", "line 1: unexpected char '`' at 4"},
        {"a {% raw %}b", "line 1: Missing end of raw directive"},
        {"{{ 007 }}", "line 1: expected token 'end of print statement', got 'integer'"},
    };
    QN_JINJA_ALL_FAIL(cases, variables);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_and_white_space),
        cmocka_unit_test(raw_text),
        cmocka_unit_test(literals),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
