/* Methods of lists, tuples and ranges. What changes a list in place is refused, as in jinja2's immutable sandbox.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

static qn_status call_count(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    const qn_vlist *l = fn->self.u.list;
    qn_value x;
    int64_t n = 0;
    QN_TRY(qn_args_bind(run, "count", "/value", args, &x));
    for (uint32_t i = 0; i < l->n; i++) {
        bool same = qn_vsame(l->items[i], x);
        if (!same) {
            QN_TRY(qn_vequal(run, l->items[i], x, &same));
        }
        n += same;
    }
    *out = qn_vint(n);
    return QN_OK;
}

/* Bounds as a slice has them. */
static qn_status clip(qn_run *run, qn_value a, uint32_t n, int64_t fallback, int64_t *out)
{
    QN_TRY(qn_varg_int(run, "index", a, fallback, out));
    *out = *out < 0 ? *out + n : *out;
    *out = *out < 0 ? 0 : *out > n ? n : *out;
    return QN_OK;
}

static qn_status call_index(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    const qn_vlist *l = fn->self.u.list;
    qn_value a[3];
    int64_t start, stop;
    QN_TRY(qn_args_bind(run, "index", "/value,start=,stop=", args, a));
    QN_TRY(clip(run, a[1], l->n, 0, &start));
    QN_TRY(clip(run, a[2], l->n, l->n, &stop));
    for (int64_t i = start; i < stop; i++) {
        bool same = qn_vsame(l->items[i], a[0]);
        if (!same) {
            QN_TRY(qn_vequal(run, l->items[i], a[0], &same));
        }
        if (same) {
            *out = qn_vint(i);
            return QN_OK;
        }
    }
    return qn_run_fail(run, "the value is not in the %s", qn_vkind_name(fn->self));
}

static qn_status call_copy(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    QN_TRY(qn_args_bind(run, "copy", "", args, NULL));
    return qn_vlist_copy(run, QN_V_LIST, fn->self.u.list->items, fn->self.u.list->n, out);
}

static const qn_method of_list[] = {
    {"append", NULL},    {"extend", NULL},      {"insert", NULL},      {"pop", NULL},
    {"remove", NULL},    {"reverse", NULL},     {"sort", NULL},        {"clear", NULL},
    {"copy", call_copy}, {"count", call_count}, {"index", call_index}, {NULL, NULL},
};

static const qn_method of_tuple[] = {{"count", call_count}, {"index", call_index}, {NULL, NULL}};

qn_status qn_method_list(qn_run *run, qn_value a, qn_str name, qn_value *out)
{
    if (qn_vis_range(a)) {
        static const char *const bounds[] = {"start", "stop", "step"};
        for (int i = 0; i < 3; i++) {
            if (qn_str_is(name, bounds[i])) {
                *out = qn_vint(a.u.list->range[i]);
                return QN_OK;
            }
        }
    }
    if (!qn_vis_sequence(a)) {
        return QN_OK;
    }
    return qn_method_of(run, a.kind == QN_V_LIST ? of_list : of_tuple, a, name, out);
}
