/* Filters that apply others, or tests, to each item: map, select, reject, selectattr, rejectattr. A falsy value gives
 * an empty result, whatever it is. All items are made at once, but an error among them is met only where it is read.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

/* map(attribute=..., default=...) */
static qn_status map_attribute(qn_run *run, const qn_vlist *l, const qn_args *args, qn_vlist *out)
{
    qn_value bound[2];
    QN_TRY(qn_args_bind(run, "map", "attribute,default=", args, bound));
    qn_getter g = {.attribute = bound[0], .fallback = bound[1]};
    for (uint32_t i = 0; i < l->n; i++) {
        qn_value x;
        QN_TRY(qn_getter_get(run, &g, l->items[i], &x));
        QN_TRY(qn_vlist_push(run, out, x));
    }
    return QN_OK;
}

static bool has_name(const qn_args *args, const char *name)
{
    for (uint32_t i = 0; i < args->n_named; i++) {
        if (qn_str_is(args->names[i], name)) {
            return true;
        }
    }
    return false;
}

static qn_status map_items(qn_run *run, qn_value a, const qn_args *args, qn_vlist *out)
{
    const qn_vlist *l;
    if (!qn_vtruth(a)) {
        return QN_OK;
    }
    if (args->n_pos == 0 && has_name(args, "attribute")) {
        QN_TRY(qn_viterate(run, a, &l));
        return map_attribute(run, l, args, out);
    }
    if (args->n_pos == 0) {
        return qn_run_fail(run, "map requires a filter argument");
    }
    qn_value name = args->pos[0];
    qn_args rest = *args;
    rest.pos++;
    rest.n_pos--;
    qn_filter_fn *filter = name.kind == QN_V_STRING ? qn_filter_find(qn_vbytes(name)) : NULL;
    QN_TRY(qn_viterate(run, a, &l));
    QN_TRY(qn_run_enter(run));
    for (uint32_t i = 0; i < l->n; i++) {
        qn_value x;
        if (filter == NULL) {
            QN_TRY(qn_vstr_of(run, name, &name));
            return qn_run_fail(run, "No filter named '%.*s'.", QN_STR_ARG(qn_vbytes(name)));
        }
        QN_TRY(qn_run_steps(run, 1));
        QN_TRY(filter(run, l->items[i], &rest, &x));
        QN_TRY(qn_vlist_push(run, out, x));
    }
    qn_run_leave(run);
    return QN_OK;
}

static qn_status do_map(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    uint32_t depth = run->depth;
    QN_TRY(qn_viterator_new(run, "generator", 0, out));
    return qn_vdefer(run, map_items(run, a, args, out->u.list), depth, out->u.list);
}

/* keep: what the test must say. attribute: the first argument names what is tested of each item. */
static qn_status choose_items(qn_run *run, qn_value a, const qn_args *args, bool keep, bool attribute, qn_vlist *out)
{
    const qn_vlist *l;
    if (!qn_vtruth(a)) {
        return QN_OK;
    }
    qn_args rest = *args;
    qn_getter g = {.attribute = {.kind = QN_V_UNDEFINED}};
    if (attribute) {
        if (rest.n_pos == 0) {
            return qn_run_fail(run, "Missing parameter for attribute name");
        }
        g.attribute = *rest.pos++;
        rest.n_pos--;
    }
    qn_test_fn *test = NULL;
    bool by_test = rest.n_pos > 0;
    qn_value name = qn_vnone();
    if (by_test) {
        name = *rest.pos++;
        rest.n_pos--;
        test = name.kind == QN_V_STRING ? qn_test_find(qn_vbytes(name)) : NULL;
    }
    QN_TRY(qn_viterate(run, a, &l));
    for (uint32_t i = 0; i < l->n; i++) {
        qn_value x;
        QN_TRY(qn_run_steps(run, 1));
        QN_TRY(qn_getter_get(run, &g, l->items[i], &x));
        bool is = qn_vtruth(x);
        if (by_test && test == NULL) {
            QN_TRY(qn_vstr_of(run, name, &name));
            return qn_run_fail(run, "No test named '%.*s'.", QN_STR_ARG(qn_vbytes(name)));
        }
        if (by_test) {
            QN_TRY(test(run, x, &rest, &is));
        }
        if (is == keep) {
            QN_TRY(qn_vlist_push(run, out, l->items[i]));
        }
    }
    return QN_OK;
}

static qn_status choose(qn_run *run, qn_value a, const qn_args *args, bool keep, bool attribute, qn_value *out)
{
    uint32_t depth = run->depth;
    QN_TRY(qn_viterator_new(run, "generator", 0, out));
    return qn_vdefer(run, choose_items(run, a, args, keep, attribute, out->u.list), depth, out->u.list);
}

static qn_status do_select(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    return choose(run, a, args, true, false, out);
}

static qn_status do_reject(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    return choose(run, a, args, false, false, out);
}

static qn_status do_selectattr(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    return choose(run, a, args, true, true, out);
}

static qn_status do_rejectattr(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    return choose(run, a, args, false, true, out);
}

const qn_filter qn_filters_select[] = {
    {"map", do_map},
    {"select", do_select},
    {"reject", do_reject},
    {"selectattr", do_selectattr},
    {"rejectattr", do_rejectattr},
    {NULL, NULL},
};
