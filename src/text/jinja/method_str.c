/* Methods of strings: the way to them, the questions about characters, and case.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

qn_status qn_method_of(qn_run *run, const qn_method *table, qn_value a, qn_str name, qn_value *out)
{
    for (const qn_method *m = table; m->name != NULL; m++) {
        if (qn_str_is(name, m->name)) {
            return m->call == NULL ? qn_vunsafe(run, a, name, out) : qn_vmethod(run, m->name, m->call, a, out);
        }
    }
    return QN_OK;
}

/* ---- questions ---- */

typedef bool is_fn(uint32_t cp);

/* Whether all characters are so, and there is one. */
static qn_status all_are(qn_run *run, const qn_vfunction *fn, const qn_args *args, is_fn *is, bool empty, qn_value *out)
{
    const qn_vstr *s = fn->self.u.s;
    QN_TRY(qn_args_bind(run, fn->name.data, "", args, NULL));
    QN_TRY(qn_run_steps(run, 1 + s->n_chars / 4));
    bool all = s->n_bytes > 0 || empty;
    for (size_t i = 0; all && i < s->n_bytes;) {
        all = is(qn_vchar_next(s, &i));
    }
    *out = qn_vbool(all);
    return QN_OK;
}

static bool is_alnum(uint32_t cp)
{
    return qn_char_is_alpha(cp) || qn_char_is_numeric(cp) || qn_char_is_digit(cp);
}

static bool is_ascii(uint32_t cp)
{
    return cp < 0x80;
}

#define QUESTION(name, is, empty)                                                                  \
    static qn_status name(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out) \
    {                                                                                              \
        return all_are(run, fn, args, is, empty, out);                                             \
    }
QUESTION(call_isalpha, qn_char_is_alpha, false)
QUESTION(call_isdecimal, qn_char_is_decimal, false)
QUESTION(call_isdigit, qn_char_is_digit, false)
QUESTION(call_isnumeric, qn_char_is_numeric, false)
QUESTION(call_isspace, qn_char_is_space, false)
QUESTION(call_isalnum, is_alnum, false)
QUESTION(call_isascii, is_ascii, true)
QUESTION(call_isprintable, qn_char_is_printable, true)
#undef QUESTION

/* what: 'u' all cased characters are upper, 'l' lower, 't' words begin with upper or title case; one at least. */
static qn_status case_is(qn_run *run, const qn_vfunction *fn, const qn_args *args, char what, qn_value *out)
{
    const qn_vstr *s = fn->self.u.s;
    QN_TRY(qn_args_bind(run, fn->name.data, "", args, NULL));
    QN_TRY(qn_run_steps(run, 1 + s->n_chars / 4));
    bool cased = false, in_word = false, ok = true;
    for (size_t i = 0; ok && i < s->n_bytes;) {
        uint32_t cp = qn_vchar_next(s, &i);
        bool upper = qn_char_is_upper(cp), title = qn_char_is_title(cp), lower = qn_char_is_lower(cp);
        if (what == 't') {
            ok = upper || title ? !in_word : !lower || in_word;
            in_word = upper || title || lower;
            cased = cased || in_word;
        } else {
            ok = what == 'u' ? !lower && !title : !upper && !title;
            cased = cased || (what == 'u' ? upper : lower);
        }
    }
    *out = qn_vbool(ok && cased);
    return QN_OK;
}

static qn_status call_isupper(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    return case_is(run, fn, args, 'u', out);
}

static qn_status call_islower(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    return case_is(run, fn, args, 'l', out);
}

static qn_status call_istitle(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    return case_is(run, fn, args, 't', out);
}

static bool continues_identifier(uint32_t cp)
{
    qn_category c = qn_unicode_category(cp);
    return cp == '_' || qn_char_is_alpha(cp) || c == QN_CATEGORY_NL || c == QN_CATEGORY_ND || c == QN_CATEGORY_MN ||
           c == QN_CATEGORY_MC || c == QN_CATEGORY_PC;
}

static qn_status call_isidentifier(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    QN_TRY(all_are(run, fn, args, continues_identifier, false, out));
    size_t i = 0;
    if (out->u.b) {
        uint32_t first = qn_vchar_next(fn->self.u.s, &i);
        out->u.b = first == '_' || qn_char_is_alpha(first) || qn_unicode_category(first) == QN_CATEGORY_NL;
    }
    return QN_OK;
}

/* ---- case ---- */

#define CASE(function, to)                                                                             \
    static qn_status function(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out) \
    {                                                                                                  \
        QN_TRY(qn_args_bind(run, fn->name.data, "", args, NULL));                                      \
        return qn_vchange_case(run, fn->self, to, out);                                                \
    }
CASE(call_lower, QN_CASE_LOWER)
CASE(call_upper, QN_CASE_UPPER)
CASE(call_title, QN_CASE_TITLE)
CASE(call_capitalize, QN_CASE_CAPITAL)
CASE(call_swapcase, QN_CASE_SWAP)
CASE(call_casefold, QN_CASE_FOLD)
#undef CASE

/* ---- format ---- */

static qn_status call_format(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    return qn_vformat(run, fn->self, args, NULL, out);
}

static qn_status call_format_map(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    qn_value mapping;
    QN_TRY(qn_args_bind(run, "format_map", "/mapping", args, &mapping));
    if (mapping.kind != QN_V_DICT) {
        return qn_run_fail(run, "format_map: '%s' is no mapping", qn_vkind_name(mapping));
    }
    return qn_vformat(run, fn->self, &(qn_args){0}, mapping.u.dict, out);
}

static const qn_method methods[] = {
    {"lower", call_lower},
    {"upper", call_upper},
    {"title", call_title},
    {"capitalize", call_capitalize},
    {"swapcase", call_swapcase},
    {"casefold", call_casefold},
    {"isalpha", call_isalpha},
    {"isdecimal", call_isdecimal},
    {"isdigit", call_isdigit},
    {"isnumeric", call_isnumeric},
    {"isspace", call_isspace},
    {"isalnum", call_isalnum},
    {"isascii", call_isascii},
    {"isprintable", call_isprintable},
    {"isupper", call_isupper},
    {"islower", call_islower},
    {"istitle", call_istitle},
    {"isidentifier", call_isidentifier},
    {"format", call_format},
    {"format_map", call_format_map},
    {NULL, NULL},
};

qn_status qn_method_str(qn_run *run, qn_value a, qn_str name, qn_value *out)
{
    static const qn_method *const tables[] = {qn_methods_str_split, qn_methods_str_find, methods, qn_methods_str_pad};
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables) && out->kind == QN_V_UNDEFINED; i++) {
        QN_TRY(qn_method_of(run, tables[i], a, name, out));
    }
    return QN_OK;
}
