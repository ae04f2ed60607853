/* Filters of sequences and mappings that need no order.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

static qn_status do_length(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    uint32_t n;
    QN_TRY(qn_args_bind(run, "length", "", args, NULL));
    QN_TRY(qn_vlength(run, a, &n));
    *out = qn_vint(n);
    return QN_OK;
}

static qn_status do_default(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    qn_value bound[2];
    QN_TRY(qn_args_bind(run, "default", "default_value=,boolean=", args, bound));
    if (a.kind != QN_V_UNDEFINED && (!qn_varg_truth(bound[1], false) || qn_vtruth(a))) {
        *out = a;
        return QN_OK;
    }
    *out = bound[0];
    bool none_given = args->n_pos == 0 && bound[0].kind == QN_V_UNDEFINED && bound[0].u.name == NULL;
    return none_given ? qn_vcstring(run, "", out) : QN_OK;
}

static qn_status do_list(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    const qn_vlist *l;
    QN_TRY(qn_args_bind(run, "list", "", args, NULL));
    QN_TRY(qn_viterate(run, a, &l));
    return qn_vlist_copy(run, QN_V_LIST, l->items, l->n, out);
}

static qn_status do_first(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    bool has;
    QN_TRY(qn_args_bind(run, "first", "", args, NULL));
    QN_TRY(qn_vfirst(run, a, &has, out));
    return has ? QN_OK : qn_vnothing(run, "No first item, sequence was empty.", out);
}

static bool is_generator(qn_value a)
{
    return a.kind == QN_V_ITERATOR && (a.flags & QN_VF_VIEW) == 0;
}

static qn_status do_last(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    const qn_vlist *l;
    QN_TRY(qn_args_bind(run, "last", "", args, NULL));
    if (is_generator(a)) {
        return qn_run_fail(run, "'%s' object is not reversible", qn_vkind_name(a));
    }
    if (a.kind == QN_V_STRING && a.u.s->n_bytes > 0) {
        size_t at = a.u.s->n_bytes;
        qn_vchar_before(a.u.s, &at);
        return qn_vstring_slice(run, a.u.s, at, a.u.s->n_bytes - at, out);
    }
    QN_TRY(qn_viterate(run, a, &l));
    if (l->n == 0) {
        return qn_vnothing(run, "No last item, sequence was empty.", out);
    }
    *out = l->items[l->n - 1];
    return QN_OK;
}

static qn_status do_reverse(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    const qn_vlist *l;
    QN_TRY(qn_args_bind(run, "reverse", "", args, NULL));
    if (a.kind == QN_V_STRING) {
        return qn_vslice(run, a, qn_vnone(), qn_vnone(), qn_vint(-1), out);
    }
    QN_TRY(qn_viterate(run, a, &l));
    QN_TRY(qn_run_steps(run, 1 + l->n / 4));
    if (is_generator(a)) {
        QN_TRY(qn_vlist_new(run, QN_V_LIST, l->n, out));
    } else {
        QN_TRY(qn_viterator_new(run, a.kind == QN_V_LIST ? "list_reverseiterator" : "reversed", l->n, out));
    }
    for (uint32_t i = 0; i < l->n; i++) {
        out->u.list->items[i] = l->items[l->n - 1 - i];
    }
    out->u.list->n = l->n;
    return QN_OK;
}

static qn_status do_items(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    QN_TRY(qn_args_bind(run, "items", "", args, NULL));
    if (a.kind == QN_V_UNDEFINED) {
        return qn_viterator_new(run, "generator", 0, out);
    }
    if (a.kind != QN_V_DICT) {
        return qn_run_fail(run, "Can only get item pairs from a mapping.");
    }
    QN_TRY(qn_vdict_view(run, a.u.dict, 'i', out));
    out->flags = 0;
    out->u.list->type = "generator";
    return QN_OK;
}

static qn_status do_attr(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    qn_value name;
    QN_TRY(qn_args_bind(run, "attr", "name", args, &name));
    QN_TRY(qn_varg_string(run, "attr", name));
    if (a.kind == QN_V_UNDEFINED) {
        return qn_vundefined_fail(run, a);
    }
    QN_TRY(qn_vtype_attribute(run, a, qn_vbytes(name), out));
    if (out->kind == QN_V_UNDEFINED && out->u.name == NULL) {
        *out = qn_vno_attribute(run, a, qn_vbytes(name));
        return out->u.name == NULL ? run->err->code : QN_OK;
    }
    return QN_OK;
}

/* ---- groups of equal size ---- */

static qn_status do_batch(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    qn_value bound[2], row = {.kind = QN_V_UNDEFINED};
    const qn_vlist *l;
    int64_t size;
    QN_TRY(qn_args_bind(run, "batch", "linecount,fill_with=", args, bound));
    bool fill = qn_varg_given(bound[1]) && bound[1].kind != QN_V_NONE;
    size = -1; /* what is no integer is never reached, and matters when something is to be filled up */
    if (qn_vis_whole(bound[0]) || fill) {
        QN_TRY(qn_varg_int(run, "batch", bound[0], 0, &size));
    }
    QN_TRY(qn_viterate(run, a, &l));
    QN_TRY(qn_run_steps(run, 1 + l->n / 4));
    QN_TRY(qn_viterator_new(run, "generator", 0, out));
    QN_TRY(qn_vlist_new(run, QN_V_LIST, 0, &row));
    for (uint32_t i = 0; i < l->n; i++) {
        if (row.u.list->n == size) {
            QN_TRY(qn_vlist_push(run, out->u.list, row));
            QN_TRY(qn_vlist_new(run, QN_V_LIST, 0, &row));
        }
        QN_TRY(qn_vlist_push(run, row.u.list, l->items[i]));
    }
    uint32_t n = row.u.list->n;
    if (n == 0) {
        return QN_OK;
    }
    if (fill && n < size) {
        qn_value full;
        if (size > UINT32_MAX / 2) {
            return qn_run_fail(run, "a list of too many items");
        }
        QN_TRY(qn_run_steps(run, (uint64_t)size / 4));
        QN_TRY(qn_vlist_new(run, QN_V_LIST, (uint32_t)size, &full));
        for (uint32_t i = 0; i < size; i++) {
            full.u.list->items[i] = i < n ? row.u.list->items[i] : bound[1];
        }
        full.u.list->n = (uint32_t)size;
        row = full;
    }
    return qn_vlist_push(run, out->u.list, row);
}

static qn_status do_slice(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    qn_value bound[2];
    const qn_vlist *l;
    int64_t slices;
    QN_TRY(qn_args_bind(run, "slice", "slices,fill_with=", args, bound));
    QN_TRY(qn_varg_int(run, "slice", bound[0], 0, &slices));
    QN_TRY(qn_viterate(run, a, &l));
    if (slices == 0) {
        return qn_run_fail(run, "integer division or modulo by zero");
    }
    QN_TRY(qn_viterator_new(run, "generator", 0, out));
    int64_t size = slices < 0 ? 0 : l->n / slices, longer = slices < 0 ? 0 : l->n % slices, from = 0;
    for (int64_t i = 0; i < slices; i++) {
        int64_t n = size + (i < longer);
        qn_value part;
        QN_TRY(qn_run_steps(run, 1));
        QN_TRY(qn_vlist_copy(run, QN_V_LIST, l->items == NULL ? NULL : l->items + from, (uint32_t)n, &part));
        if (qn_varg_given(bound[1]) && bound[1].kind != QN_V_NONE && i >= longer) {
            QN_TRY(qn_vlist_push(run, part.u.list, bound[1]));
        }
        QN_TRY(qn_vlist_push(run, out->u.list, part));
        from += n;
    }
    return QN_OK;
}

static qn_status do_random(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    (void)a;
    (void)args;
    (void)out;
    return qn_run_fail(run, "the filter 'random' is refused: a template gives the same text each time");
}

const qn_filter qn_filters_list[] = {
    {"length", do_length}, {"count", do_length}, {"default", do_default}, {"d", do_default},   {"list", do_list},
    {"first", do_first},   {"last", do_last},    {"reverse", do_reverse}, {"items", do_items}, {"attr", do_attr},
    {"batch", do_batch},   {"slice", do_slice},  {"random", do_random},   {NULL, NULL},
};
