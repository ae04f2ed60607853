/* Templates that together use the whole language, for the fuzzer to start from. Each kind of statement, expression and
 * white space control is here; the variables are those of jinja_fuzz.c.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TESTS_FUZZ_JINJA_SEEDS_H
#define QN_TESTS_FUZZ_JINJA_SEEDS_H

static const char *const qn_jinja_seeds[] = {
    "{{ bos_token }}{% for message in messages %}{{ '<|' + message['role'] + '|>' }}{{ message.content }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}",
    "{%- set ns = namespace(found=false, n=0) -%}\n{%- for m in messages[::-1] if m.role != 'tool' -%}\n"
    "  {%- set ns.n = ns.n + loop.index0 * 2 -%}{{ loop.first ~ loop.last ~ loop.length }}{%- else -%}x{%- endfor +%}\n",
    "{% macro f(a, b=1, c='d') -%}{{ a|upper }}{{ varargs|length }}{{ kwargs }}{{ caller(a) if caller else b }}{%- endmacro %}"
    "{{ f('x') }}{{ f('y', 2, 3, 4, z=5) }}{% call(q) f('z') %}[{{ q }}]{% endcall %}{{ f.name }}{{ f.arguments }}",
    "{% for m in messages recursive %}{{ loop.depth }}{{ loop.cycle('a','b') }}{% if m.tool_calls %}({{ loop(m.tool_calls) }})"
    "{% endif %}{% if loop.changed(m.role) %}{% continue %}{% else %}{% break %}{% endif %}{% endfor %}",
    "{% set a, (b, c) = 1, (2, [3]) %}{% set t | trim | upper %} hi {{ a }} {% endset %}{{ t }}{{ b ** 2 ** -1 // 1 % 3 }}",
    "{% filter replace('a', 'b') %}banana{% endfilter %}{% with x = 1, y = x %}{{ x }}{{ y }}{% endwith %}{# c #}{#- d -#} e",
    "{% raw %}{{ no }}{% endraw %}{%- raw -%} {% if %} {%- endraw +%}\n{% generation %}{{ n }}{% endgeneration %}",
    "{% block title scoped %}{{ self.title is defined }}{{ super is defined }}{% endblock title %}{{ self.title() }}",
    "{{ 1 if n > 2 else 0 }}{{ 1 < n <= 3 != 4 }}{{ not n in l }}{{ 5 not in l }}{{ n is divisibleby 3 }}{{ u is not defined }}",
    "{{ [1, 2.5e3, 0x1F, 1_0, 'a' 'b', true, None, (1,), (), {'k': [1], 2: none}] }}{{ l[1:] }}{{ 'h\\u00e9\\n\\x41'[::-2] }}{{ d.k[0] }}",
    "{{ l|sort|map('string')|join(', ') }}{{ messages|selectattr('role', 'equalto', 'user')|map(attribute='content')|list }}",
    "{{ tools|tojson(indent=2) }}{{ d.items()|list }}{{ dict(a=1, **d)|dictsort }}{{ range(0, 10, 3)|list }}{{ big }}",
    "{% if tools is defined and tools is not none %}{{ tools[0].function.name }}{% elif n %}e{% else %}{{ raise_exception('x') }}"
    "{% endif %}{{ strftime_now('%Y-%m-%d') }}{{ cycler(1, 2).next() }}{{ joiner(',')() }}{{ x|round(1)|int }}",
    "{{ '%s-%05.2f' % ('a', x) }}{{ '{:>5}|{0!r}'.format('b') }}{{ 'a,b'.split(',')[-1].strip('b').title() }}{{ 'x'.join(['1']) }}",
    "{% include 'a' ignore missing with context %}{% import 'b' as c %}{% from 'd' import e as f, g %}{% extends 'h' %}",
    "{% autoescape false %}{{ '<' }}{% endautoescape %}{% print 1, n %}{% set ns = namespace() %}{% set ns.a, b = l[:2] %}{{ ns.a }}",
};

#endif
