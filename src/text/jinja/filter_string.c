/* Filters that make a string of one.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

/* a as text; a string stays what it is, escaped or not. */
static qn_status soft(qn_run *run, qn_value a, qn_value *out)
{
    *out = a;
    return a.kind == QN_V_STRING ? QN_OK : qn_vstr_of(run, a, out);
}

#define CASE(name, shown, to)                                                          \
    static qn_status name(qn_run *run, qn_value a, const qn_args *args, qn_value *out) \
    {                                                                                  \
        QN_TRY(qn_args_bind(run, shown, "", args, NULL));                              \
        QN_TRY(soft(run, a, &a));                                                      \
        return qn_vchange_case(run, a, to, out);                                       \
    }
CASE(do_lower, "lower", QN_CASE_LOWER)
CASE(do_upper, "upper", QN_CASE_UPPER)
CASE(do_capitalize, "capitalize", QN_CASE_CAPITAL)
#undef CASE

static qn_status do_string(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    QN_TRY(qn_args_bind(run, "string", "", args, NULL));
    return soft(run, a, out);
}

static bool begins_word(uint32_t cp)
{
    return qn_char_is_space(cp) || (cp < 0x80 && strchr("-({[<", (int)cp) != NULL && cp != 0);
}

/* The first character in upper case, the others in lower: both without regard to what stands around. */
static qn_status add_titled(qn_run *run, qn_vbuild *v, const qn_vstr *s, size_t from, size_t to)
{
    size_t rest = from;
    qn_value part;
    qn_vchar_next(s, &rest);
    qn_vbuild_add_case(v, s, from, rest - from, QN_CASE_UPPER);
    QN_TRY(qn_vstring_slice(run, s, rest, to - rest, &part));
    qn_vbuild_add_case(v, part.u.s, 0, part.u.s->n_bytes, QN_CASE_LOWER);
    return v->status;
}

static qn_status do_title(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    QN_TRY(qn_args_bind(run, "title", "", args, NULL));
    QN_TRY(soft(run, a, &a));
    const qn_vstr *s = a.u.s;
    qn_vbuild v;
    qn_vbuild_init(&v, run);
    size_t from = 0;
    bool separator = false;
    for (size_t i = 0; i < s->n_bytes;) {
        size_t at = i;
        bool is = begins_word(qn_vchar_next(s, &i));
        if (is != separator && at > from) {
            QN_TRY(add_titled(run, &v, s, from, at));
            from = at;
        }
        separator = is;
    }
    if (from < s->n_bytes) {
        QN_TRY(add_titled(run, &v, s, from, s->n_bytes));
    }
    return qn_vbuild_finish(&v, out);
}

static qn_status do_trim(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    qn_value chars;
    QN_TRY(qn_args_bind(run, "trim", "chars=", args, &chars));
    QN_TRY(soft(run, a, &a));
    return qn_vstrip(run, a, chars, true, true, out);
}

static qn_status do_center(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    qn_value width, call = {.kind = QN_V_UNDEFINED};
    QN_TRY(qn_args_bind(run, "center", "width=", args, &width));
    if (width.kind == QN_V_UNDEFINED) {
        width = qn_vint(80);
    }
    QN_TRY(soft(run, a, &a));
    QN_TRY(qn_method_of(run, qn_methods_str_pad, a, QN_STR("center"), &call));
    return qn_vcall(run, call, &(qn_args){.pos = &width, .n_pos = 1}, out);
}

static qn_status do_replace(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    qn_value bound[3];
    int64_t count = -1;
    QN_TRY(qn_args_bind(run, "replace", "old,new,count=", args, bound));
    if (bound[2].kind != QN_V_NONE) {
        QN_TRY(qn_varg_int(run, "replace", bound[2], -1, &count));
    }
    QN_TRY(qn_vstr_of(run, a, &a));
    QN_TRY(qn_vstr_of(run, bound[0], &bound[0]));
    QN_TRY(qn_vstr_of(run, bound[1], &bound[1]));
    return qn_vreplace(run, a, bound[0], bound[1], count, out);
}

static qn_status do_format(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    qn_value items;
    if (args->n_pos > 0 && args->n_named > 0) {
        return qn_run_fail(run, "can't handle positional and keyword arguments at the same time");
    }
    QN_TRY(soft(run, a, &a));
    if (args->n_named > 0) {
        QN_TRY(qn_vdict_new(run, QN_V_DICT, &items));
        QN_TRY(qn_vdict_merge(run, items.u.dict, args, "format"));
    } else {
        QN_TRY(qn_vlist_copy(run, QN_V_TUPLE, args->pos, args->n_pos, &items));
    }
    return qn_vpercent(run, a, items, out);
}

static qn_status do_join(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    qn_value bound[2], separator;
    const qn_vlist *l;
    QN_TRY(qn_args_bind(run, "join", "d=,attribute=", args, bound));
    QN_TRY(qn_viterate(run, a, &l));
    QN_TRY(qn_vstr_of(run, bound[0], &separator));
    if (bound[1].kind != QN_V_UNDEFINED && bound[1].kind != QN_V_NONE) {
        qn_getter g = {.attribute = bound[1]};
        qn_value picked;
        QN_TRY(qn_vlist_new(run, QN_V_LIST, l->n, &picked));
        for (uint32_t i = 0; i < l->n; i++) {
            QN_TRY(qn_getter_get(run, &g, l->items[i], &picked.u.list->items[i]));
        }
        picked.u.list->n = l->n;
        l = picked.u.list;
    }
    return qn_vjoin(run, separator, l, true, out);
}

static qn_status do_wordcount(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    QN_TRY(qn_args_bind(run, "wordcount", "", args, NULL));
    QN_TRY(soft(run, a, &a));
    QN_TRY(qn_run_steps(run, 1 + a.u.s->n_chars / 4));
    int64_t n = 0;
    bool in_word = false;
    for (size_t i = 0; i < a.u.s->n_bytes;) {
        bool is = qn_char_is_word(qn_vchar_next(a.u.s, &i));
        n += is && !in_word;
        in_word = is;
    }
    *out = qn_vint(n);
    return QN_OK;
}

static qn_status do_tojson(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    return qn_json_text(run, a, args, out);
}

const qn_filter qn_filters_string[] = {
    {"tojson", do_tojson}, {"trim", do_trim},     {"lower", do_lower},     {"upper", do_upper},
    {"string", do_string}, {"join", do_join},     {"replace", do_replace}, {"capitalize", do_capitalize},
    {"title", do_title},   {"center", do_center}, {"format", do_format},   {"wordcount", do_wordcount},
    {NULL, NULL},
};
