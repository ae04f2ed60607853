/* Filters that compare items: sort, dictsort, unique, groupby, min, max, sum.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

/* ---- a stable sort ---- */

typedef struct sorter {
    qn_run *run;
    qn_value *keys, *items, *more_keys, *more_items;
    bool reverse;
} sorter;

/* Whether b, which comes later, must go before a. */
static qn_status goes_first(const sorter *s, qn_value b, qn_value a, bool *out)
{
    int order;
    QN_TRY(qn_vcompare(s->run, s->reverse ? a : b, s->reverse ? b : a, &order));
    *out = order < 0;
    return QN_OK;
}

/* [from, mid) and [mid, to) are sorted. */
static qn_status merge(const sorter *s, uint32_t from, uint32_t mid, uint32_t to)
{
    uint32_t i = from, j = mid;
    for (uint32_t at = from; at < to; at++) {
        bool right = i == mid;
        if (!right && j < to) {
            QN_TRY(goes_first(s, s->keys[j], s->keys[i], &right));
        }
        uint32_t take = right ? j++ : i++;
        s->more_keys[at] = s->keys[take];
        s->more_items[at] = s->items[take];
    }
    memcpy(s->keys + from, s->more_keys + from, (to - from) * sizeof(qn_value));
    memcpy(s->items + from, s->more_items + from, (to - from) * sizeof(qn_value));
    return QN_OK;
}

qn_status qn_vsort(qn_run *run, qn_value *keys, qn_value *items, uint32_t n, bool reverse)
{
    if (n < 2) {
        return QN_OK;
    }
    sorter s = {.run = run, .keys = keys, .items = items, .reverse = reverse};
    s.more_keys = qn_run_alloc(run, n * sizeof(qn_value));
    s.more_items = s.more_keys == NULL ? NULL : qn_run_alloc(run, n * sizeof(qn_value));
    if (s.more_items == NULL) {
        return run->err->code;
    }
    for (uint64_t width = 1; width < n; width *= 2) {
        for (uint64_t from = 0; from + width < n; from += 2 * width) {
            uint64_t to = from + 2 * width < n ? from + 2 * width : n;
            QN_TRY(merge(&s, (uint32_t)from, (uint32_t)(from + width), (uint32_t)to));
        }
    }
    return QN_OK;
}

/* A copy of what a walks, sorted by what the getter takes of each item; *keys has those. */
static qn_status sorted(qn_run *run, qn_value a, const qn_getter *g, bool reverse, qn_value *keys, qn_value *out)
{
    const qn_vlist *l;
    QN_TRY(qn_viterate(run, a, &l));
    QN_TRY(qn_vlist_copy(run, QN_V_LIST, l->items, l->n, out));
    QN_TRY(qn_vlist_new(run, QN_V_LIST, l->n, keys));
    for (uint32_t i = 0; i < l->n; i++) {
        QN_TRY(qn_getter_get(run, g, l->items[i], &keys->u.list->items[i]));
    }
    keys->u.list->n = l->n;
    return qn_vsort(run, keys->u.list->items, out->u.list->items, l->n, reverse);
}

/* ---- filters ---- */

static qn_status do_sort(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    qn_value bound[3], keys;
    QN_TRY(qn_args_bind(run, "sort", "reverse=,case_sensitive=,attribute=", args, bound));
    qn_getter g = {.attribute = bound[2], .fold = !qn_varg_truth(bound[1], false), .many = true};
    bool reverse;
    QN_TRY(qn_varg_flag(run, "sort", bound[0], &reverse));
    return sorted(run, a, &g, reverse, &keys, out);
}

static qn_status do_dictsort(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    qn_value bound[3], keys, items;
    QN_TRY(qn_args_bind(run, "dictsort", "case_sensitive=,by=,reverse=", args, bound));
    bool by_value = bound[1].kind == QN_V_STRING && qn_str_is(qn_vbytes(bound[1]), "value");
    if (bound[1].kind != QN_V_UNDEFINED && !by_value &&
        (bound[1].kind != QN_V_STRING || !qn_str_is(qn_vbytes(bound[1]), "key"))) {
        return qn_run_fail(run, "You can only sort by either \"key\" or \"value\"");
    }
    if (a.kind == QN_V_UNDEFINED) {
        return qn_vundefined_fail(run, a);
    }
    if (a.kind != QN_V_DICT) {
        return qn_run_fail(run, "'%s' object has no attribute 'items'", qn_vkind_name(a));
    }
    QN_TRY(qn_vdict_view(run, a.u.dict, 'i', &items));
    qn_getter g = {.attribute = qn_vint(by_value), .fold = !qn_varg_truth(bound[0], false)};
    bool reverse;
    QN_TRY(qn_varg_flag(run, "dictsort", bound[2], &reverse));
    return sorted(run, items, &g, reverse, &keys, out);
}

static qn_status unique_items(qn_run *run, qn_value a, const qn_getter *g, qn_vlist *out)
{
    qn_value seen;
    const qn_vlist *l;
    QN_TRY(qn_viterate(run, a, &l));
    QN_TRY(qn_vdict_new(run, QN_V_DICT, &seen));
    for (uint32_t i = 0; i < l->n; i++) {
        qn_value key, ignored;
        bool has;
        QN_TRY(qn_getter_get(run, g, l->items[i], &key));
        QN_TRY(qn_vdict_get(run, seen.u.dict, key, &has, &ignored));
        if (!has) {
            QN_TRY(qn_vdict_set(run, seen.u.dict, key, qn_vnone()));
            QN_TRY(qn_vlist_push(run, out, l->items[i]));
        }
    }
    return QN_OK;
}

static qn_status do_unique(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    qn_value bound[2];
    uint32_t depth = run->depth;
    QN_TRY(qn_args_bind(run, "unique", "case_sensitive=,attribute=", args, bound));
    qn_getter g = {.attribute = bound[1], .fold = !qn_varg_truth(bound[0], false)};
    QN_TRY(qn_viterator_new(run, "generator", 0, out));
    return qn_vdefer(run, unique_items(run, a, &g, out->u.list), depth, out->u.list);
}

static qn_status do_groupby(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    qn_value bound[3], keys, items;
    QN_TRY(qn_args_bind(run, "groupby", "attribute,default=,case_sensitive=", args, bound));
    bool fold = !qn_varg_truth(bound[2], false);
    qn_getter g = {.attribute = bound[0], .fold = fold, .fallback = bound[1]};
    QN_TRY(sorted(run, a, &g, false, &keys, &items));
    QN_TRY(qn_vlist_new(run, QN_V_LIST, 0, out));
    const qn_value *k = keys.u.list->items;
    const qn_vlist *l = items.u.list;
    for (uint32_t i = 0, end; i < l->n; i = end) {
        bool same = true;
        for (end = i + 1; end < l->n; end++) {
            QN_TRY(qn_vequal(run, k[i], k[end], &same));
            if (!same) {
                break;
            }
        }
        qn_value shown = k[i], members, group;
        if (fold) { /* as the first of the group has it */
            qn_getter plain = {.attribute = bound[0], .fallback = bound[1]};
            QN_TRY(qn_getter_get(run, &plain, l->items[i], &shown));
        }
        QN_TRY(qn_vlist_copy(run, QN_V_LIST, l->items + i, end - i, &members));
        QN_TRY(qn_vpair(run, shown, members, &group));
        group.flags = QN_VF_GROUP;
        QN_TRY(qn_vlist_push(run, out->u.list, group));
    }
    return QN_OK;
}

static qn_status extreme(qn_run *run, const char *name, qn_value a, const qn_args *args, bool max, qn_value *out)
{
    qn_value bound[2], best;
    const qn_vlist *l;
    QN_TRY(qn_args_bind(run, name, "case_sensitive=,attribute=", args, bound));
    qn_getter g = {.attribute = bound[1], .fold = !qn_varg_truth(bound[0], false)};
    QN_TRY(qn_viterate(run, a, &l));
    if (l->n == 0) {
        return qn_vnothing(run, "No aggregated item, sequence was empty.", out);
    }
    QN_TRY(qn_getter_get(run, &g, l->items[0], &best));
    *out = l->items[0];
    for (uint32_t i = 1; i < l->n; i++) {
        qn_value key;
        int order;
        QN_TRY(qn_getter_get(run, &g, l->items[i], &key));
        QN_TRY(qn_vcompare(run, key, best, &order));
        if (max ? order > 0 && order != QN_UNORDERED : order < 0) {
            best = key;
            *out = l->items[i];
        }
    }
    return QN_OK;
}

static qn_status do_min(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    return extreme(run, "min", a, args, false, out);
}

static qn_status do_max(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    return extreme(run, "max", a, args, true, out);
}

static qn_status do_sum(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    qn_value bound[2];
    const qn_vlist *l;
    QN_TRY(qn_args_bind(run, "sum", "attribute=,start=", args, bound));
    qn_getter g = {.attribute = bound[0]};
    *out = !qn_varg_given(bound[1]) ? qn_vint(0) : bound[1];
    if (out->kind == QN_V_STRING) {
        return qn_run_fail(run, "sum() can't sum strings [use ''.join(seq) instead]");
    }
    QN_TRY(qn_viterate(run, a, &l));
    for (uint32_t i = 0; i < l->n; i++) {
        qn_value x;
        QN_TRY(qn_getter_get(run, &g, l->items[i], &x));
        QN_TRY(qn_varith(run, QN_OP_ADD, *out, x, out));
    }
    return QN_OK;
}

const qn_filter qn_filters_sort[] = {
    {"sort", do_sort}, {"dictsort", do_dictsort}, {"unique", do_unique}, {"groupby", do_groupby},
    {"min", do_min},   {"max", do_max},           {"sum", do_sum},       {NULL, NULL},
};
