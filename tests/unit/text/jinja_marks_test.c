/* Every byte that came from a variable keeps its mark through whatever a template does with it, and no byte of the
 * template's own gets one. Marked parts are shown as <...>.
 * SPDX-License-Identifier: MIT */
#include "jinja_render.h"

#define VARS                                                                                                       \
    "{\"v\": \"ab cd\", \"q\": \"x\\\"\\n&\", \"u\": \"\\u00e4\\u00df\\u4e16\", \"l\": [\"p\", \"q\"], \"n\": 7, " \
    "\"m\": \"%s-{}\", \"d\": {\"k\": \"w\"}}"

/* The text with its marks; checks that they are sorted, disjoint and not adjacent. For free(). */
static char *show(const qn_jinja_text *t)
{
    qn_str s = qn_buf_view(&t->text);
    char *out = malloc(s.len + 2 * t->n_spans + 1), *p = out;
    size_t at = 0;
    assert_non_null(out);
    for (size_t i = 0; i < t->n_spans; i++) {
        qn_span m = t->spans[i];
        assert_true(m.start < m.end && m.end <= s.len && (i == 0 ? m.start >= at : m.start > at));
        p = mempcpy(p, s.data + at, m.start - at);
        *p++ = '<';
        p = mempcpy(p, s.data + m.start, m.end - m.start);
        *p++ = '>';
        at = m.end;
    }
    p = mempcpy(p, s.data + at, s.len - at);
    *p = '\0';
    return out;
}

static void assert_marks(const qn_jinja_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        qn_jinja_text text;
        qn_error err = {0};
        qn_status s = qn_jinja_try(cases[i].source, strlen(cases[i].source), VARS, NULL, NULL, &text, &err);
        if (s != QN_OK) {
            print_message("%s: %s\n", cases[i].source, err.what);
        }
        assert_int_equal(s, QN_OK);
        char *shown = show(&text);
        if (strcmp(shown, cases[i].wanted) != 0) {
            print_message("%s\n  gives  %s\n  wanted %s\n", cases[i].source, shown, cases[i].wanted);
        }
        assert_string_equal(shown, cases[i].wanted);
        free(shown);
        qn_jinja_text_free(&text);
    }
}

#define ALL_MARKED(cases) assert_marks(cases, sizeof(cases) / sizeof(*(cases)))

static void joining_and_cutting(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ v }}", "<ab cd>"},
        {"-{{ v }}{{ v }}-", "-<ab cdab cd>-"},
        {"{{ 'x' + v + 'y' }}", "x<ab cd>y"},
        {"{{ v ~ n ~ v }}", "<ab cd>7<ab cd>"},
        {"{{ ('-' ~ v) * 2 }}", "-<ab cd>-<ab cd>"},
        {"{{ v[1:3] }}{{ 'x' }}", "<b >x"},
        {"{{ ('x' ~ v ~ 'y')[4:] }}", "<cd>y"},
        {"{{ ('x' ~ v)[::-1] }}", "<dc ba>x"},
        {"{{ ('x' ~ v)[0] ~ ('x' ~ v)[1] }}", "x<a>"},
        {"{{ u[1] ~ '.' ~ u[2] }}", "<\xc3\x9f>.<\xe4\xb8\x96>"},
        {"{% for c in v %}{{ c }}.{% endfor %}", "<a>.<b>.< >.<c>.<d>."},
        {"{{ l|join('-') }}", "<p>-<q>"},
        {"{{ '-'.join(l) }}{{ l[0] }}", "<p>-<qp>"},
        {"{{ v.join(['1', '2']) }}", "1<ab cd>2"},
        {"{{ v.split()|join('|') }}", "<ab>|<cd>"},
        {"{{ ('x' ~ v ~ ' y').split() }}", "['x<ab>', '<cd>', 'y']"},
        {"{{ ('x,' ~ v).partition(',') }}", "('x', ',', '<ab cd>')"},
        {"{{ ('  ' ~ v ~ ' ')|trim }}", "<ab cd>"},
        {"{{ v.strip('ad') }}", "<b c>"},
        {"{{ (v ~ '\\n' ~ v).splitlines() }}", "['<ab cd>', '<ab cd>']"},
        {"{{ v.center(9, '*') }}", "**<ab cd>**"},
        {"{{ '5'.zfill(3) ~ v.ljust(7) }}", "005<ab cd>  "},
        {"{{ v.removeprefix('a') }}", "<b cd>"},
        {"{{ v|first ~ v|last }}", "<ad>"},
        {"{{ v|reverse }}", "<dc ba>"},
        {"{{ v|list }}", "['<a>', '<b>', '< >', '<c>', '<d>']"},
        {"{{ (v ~ 'z')|batch(2)|map('join')|join('/') }}", "<ab>/< c>/<d>z"},
    };
    ALL_MARKED(cases);
}

static void changing(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ ('x' ~ v)|upper }}", "X<AB CD>"},
        {"{{ v|title ~ v|capitalize }}", "<Ab CdAb cd>"},
        {"{{ ('x' ~ u).upper() }}", "X<\xc3\x84SS\xe4\xb8\x96>"},
        {"{{ v|replace('b', 'z') }}", "<a>z< cd>"},
        {"{{ v.replace(' ', '') }}", "<abcd>"},
        {"{{ 'a-b'|replace('-', v) }}", "a<ab cd>b"},
        {"{{ v.replace('', '.') }}", ".<a>.<b>.< >.<c>.<d>."},
        {"{{ q|e }}", "<x&#34;\n&amp;>"},
        {"{{ ('<' ~ q)|e }}", "&lt;<x&#34;\n&amp;>"},
        {"{{ [q] }}", "['<x\"\\n&>']"},
        {"{{ q|tojson }}", "\"<x\\\"\\n&>\""},
        {"{{ d|tojson }}", "{\"<k>\": \"<w>\"}"},
        {"{{ d }}", "{'<k>': '<w>'}"},
        {"{{ u|tojson(ensure_ascii=true) }}", "\"<\\u00e4\\u00df\\u4e16>\""},
        {"{{ {'a': v}|tojson(indent=1) }}", "{\n \"a\": \"<ab cd>\"\n}"},
        {"{{ v|urlencode }}", "<ab%20cd>"},
        {"{{ 'x\\ty'.expandtabs(4) ~ (v ~ '\\t').expandtabs(8) }}", "x   y<ab cd>   "},
        {"{{ (v ~ '\\n' ~ v)|indent(2, true) }}", "  <ab cd>\n  <ab cd>"},
        {"{{ v|indent(v, true) }}", "<ab cdab cd>"},
        {"{{ (v ~ ' more words')|truncate(8, false, '!', 0) }}", "<ab cd>!"},
        {"{{ v|wordwrap(2) }}", "<ab>\n<cd>"},
        {"{{ ('<b>' ~ v ~ '</b>')|striptags }}", "<ab> <cd>"},
        {"{{ v|pprint }}", "'<ab cd>'"},
        {"{{ {'a': v}|xmlattr }}", " a=\"<ab cd>\""},
        {"{{ (v ~ ' www.a.com')|urlize }}", "<ab cd> <a href=\"https://www.a.com\" rel=\"noopener\">www.a.com</a>"},
    };
    ALL_MARKED(cases);
}

static void formatting(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ '%s!' % v }}", "<ab cd>!"},
        {"{{ '%8s|%-7s|%.2s' % (v, v, v) }}", "   <ab cd>|<ab cd>  |<ab>"},
        {"{{ '%r' % q }}", "'<x\"\\n&>'"},
        {"{{ '{}-{:>7}-{:.1}'.format(v, v, v) }}", "<ab cd>-  <ab cd>-<a>"},
        {"{{ '{x!r}'.format(x=v) }}", "'<ab cd>'"},
        {"{{ m % 'z' }}", "z<-{}>"},
        {"{{ m.format('z') }}", "<%s->z"},
        {"{{ '%s'|format(v) }}", "<ab cd>"},
        {"{{ v|string ~ v|default('x') ~ nothing|default(v) }}", "<ab cdab cdab cd>"},
        {"{{ l|map('upper')|join ~ l|sort|first ~ l|max ~ l|unique|join }}", "<PQpqpq>"},
        {"{% set x %}[{{ v }}]{% endset %}{{ x|upper }}", "[<AB CD>]"},
        {"{% macro f(a) %}({{ a }}){% endmacro %}{{ f(v) ~ f('z') }}", "(<ab cd>)(z)"},
        {"{% filter upper %}t{{ v }}{% endfilter %}", "T<AB CD>"},
        {"{{ (v if n else 'x') ~ namespace(a=v).a ~ dict(b=v).b }}", "<ab cdab cdab cd>"},
        {"{{ n }}{{ n + 1 }}{{ v|length }}{{ 'ab' in v }}", "785True"},
    };
    ALL_MARKED(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joining_and_cutting),
        cmocka_unit_test(changing),
        cmocka_unit_test(formatting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
