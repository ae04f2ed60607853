/* Equality, order and membership.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

bool qn_vsame(qn_value a, qn_value b)
{
    if (a.kind != b.kind) {
        return false;
    }
    switch ((qn_vkind)a.kind) {
    case QN_V_NONE:
        return true;
    case QN_V_BOOL:
        return a.u.b == b.u.b;
    case QN_V_INT:
        return a.u.i == b.u.i;
    case QN_V_FLOAT:
        return memcmp(&a.u.f, &b.u.f, sizeof(a.u.f)) == 0;
    case QN_V_STRING:
    case QN_V_BIGINT:
        return a.u.s == b.u.s;
    case QN_V_UNDEFINED:
        return a.u.name == b.u.name;
    case QN_V_LIST:
    case QN_V_TUPLE:
    case QN_V_ITERATOR:
        return a.u.list == b.u.list;
    case QN_V_DICT:
    case QN_V_NAMESPACE:
        return a.u.dict == b.u.dict;
    case QN_V_FUNCTION:
        return a.u.fn == b.u.fn;
    case QN_V_OBJECT:
        return a.u.object == b.u.object;
    }
    return false;
}

/* ---- equality ---- */

static qn_status equal_lists(qn_run *run, const qn_vlist *a, const qn_vlist *b, bool *out)
{
    *out = a->n == b->n;
    for (uint32_t i = 0; *out && i < a->n; i++) {
        QN_TRY(qn_vequal(run, a->items[i], b->items[i], out));
    }
    return QN_OK;
}

static qn_status equal_dicts(qn_run *run, const qn_vdict *a, const qn_vdict *b, bool *out)
{
    *out = a->n == b->n;
    for (uint32_t i = 0; *out && i < a->n; i++) {
        qn_value x;
        QN_TRY(qn_vdict_get(run, b, a->entries[i].key, out, &x));
        if (*out) {
            QN_TRY(qn_vequal(run, a->entries[i].x, x, out));
        }
    }
    return QN_OK;
}

/* dict.keys() and dict.items() are sets to each other. */
static bool is_set_view(qn_value a)
{
    return a.kind == QN_V_ITERATOR &&
           (strcmp(a.u.list->type, "dict_keys") == 0 || strcmp(a.u.list->type, "dict_items") == 0);
}

static qn_status equal_sets(qn_run *run, qn_value a, qn_value b, bool *out)
{
    *out = a.u.list->n == b.u.list->n;
    for (uint32_t i = 0; *out && i < a.u.list->n; i++) {
        QN_TRY(qn_vcontains(run, b, a.u.list->items[i], out));
    }
    return QN_OK;
}

static qn_status equal_inside(qn_run *run, qn_value a, qn_value b, bool *out)
{
    if (is_set_view(a) && is_set_view(b)) {
        return equal_sets(run, a, b, out);
    }
    if ((a.kind == b.kind && (a.kind == QN_V_LIST || a.kind == QN_V_TUPLE)) || (qn_vis_range(a) && qn_vis_range(b))) {
        return equal_lists(run, a.u.list, b.u.list, out);
    }
    if (a.kind == QN_V_DICT && b.kind == QN_V_DICT) {
        return equal_dicts(run, a.u.dict, b.u.dict, out);
    }
    *out = false;
    return QN_OK;
}

qn_status qn_vequal(qn_run *run, qn_value a, qn_value b, bool *out)
{
    QN_TRY(qn_run_steps(run, 1));
    if (qn_vis_number(a) && qn_vis_number(b)) {
        int order;
        QN_TRY(qn_vcompare_numbers(a, b, &order));
        *out = order == 0;
        return QN_OK;
    }
    if (a.kind == QN_V_STRING && b.kind == QN_V_STRING) {
        QN_TRY(qn_run_steps(run, a.u.s->n_bytes == b.u.s->n_bytes ? a.u.s->n_bytes / 64 : 0));
        *out = qn_str_eq(qn_vbytes(a), qn_vbytes(b));
        return QN_OK;
    }
    if (a.kind == QN_V_UNDEFINED || qn_vsame(a, b)) {
        *out = a.kind == b.kind;
        return QN_OK;
    }
    QN_TRY(qn_run_enter(run));
    qn_status st = equal_inside(run, a, b, out);
    qn_run_leave(run);
    return st;
}

/* ---- order ---- */

static int compare_strings(const qn_vstr *a, const qn_vstr *b)
{
    /* UTF-8 sorts as its code points do. */
    size_t n = a->n_bytes < b->n_bytes ? a->n_bytes : b->n_bytes;
    int order = n == 0 ? 0 : memcmp(a->bytes, b->bytes, n);
    order = (order > 0) - (order < 0);
    return order != 0 ? order : (a->n_bytes > b->n_bytes) - (a->n_bytes < b->n_bytes);
}

static qn_status compare_lists(qn_run *run, const qn_vlist *a, const qn_vlist *b, int *out)
{
    for (uint32_t i = 0; i < a->n && i < b->n; i++) {
        bool same;
        QN_TRY(qn_vequal(run, a->items[i], b->items[i], &same));
        if (!same) {
            return qn_vcompare(run, a->items[i], b->items[i], out);
        }
    }
    *out = (a->n > b->n) - (a->n < b->n);
    return QN_OK;
}

/* Sets are in order when one has all that the other has. */
static qn_status compare_sets(qn_run *run, qn_value a, qn_value b, int *out)
{
    bool fewer = a.u.list->n <= b.u.list->n;
    const qn_vlist *small = fewer ? a.u.list : b.u.list;
    bool all = true;
    for (uint32_t i = 0; all && i < small->n; i++) {
        QN_TRY(qn_vcontains(run, fewer ? b : a, small->items[i], &all));
    }
    *out = !all ? QN_UNORDERED : (a.u.list->n > b.u.list->n) - (a.u.list->n < b.u.list->n);
    return QN_OK;
}

qn_status qn_vcompare(qn_run *run, qn_value a, qn_value b, int *out)
{
    QN_TRY(qn_run_steps(run, 1));
    if (qn_vis_number(a) && qn_vis_number(b)) {
        return qn_vcompare_numbers(a, b, out);
    }
    if (a.kind == QN_V_STRING && b.kind == QN_V_STRING) {
        size_t n = a.u.s->n_bytes < b.u.s->n_bytes ? a.u.s->n_bytes : b.u.s->n_bytes;
        QN_TRY(qn_run_steps(run, n / 64));
        *out = compare_strings(a.u.s, b.u.s);
        return QN_OK;
    }
    if (a.kind == QN_V_UNDEFINED || b.kind == QN_V_UNDEFINED) {
        return qn_vundefined_fail(run, a.kind == QN_V_UNDEFINED ? a : b);
    }
    if (a.kind == b.kind && (a.kind == QN_V_LIST || a.kind == QN_V_TUPLE)) {
        QN_TRY(qn_run_enter(run));
        qn_status st = compare_lists(run, a.u.list, b.u.list, out);
        qn_run_leave(run);
        return st;
    }
    if (is_set_view(a) && is_set_view(b)) {
        return compare_sets(run, a, b, out);
    }
    return qn_run_fail(run, "'<' or '>' not supported between instances of '%s' and '%s'", qn_vkind_name(a),
                       qn_vkind_name(b));
}

/* ---- membership ---- */

static qn_status in_string(qn_run *run, qn_value s, qn_value x, bool *out)
{
    if (!qn_vis_string(x)) {
        return qn_run_fail(run, "'in <string>' requires string as left operand, not %s", qn_vkind_name(x));
    }
    QN_TRY(qn_run_steps(run, 1 + s.u.s->n_bytes / 16));
    *out = qn_vstr_find(s.u.s, 0, s.u.s->n_bytes, qn_vbytes(x)) != SIZE_MAX;
    return QN_OK;
}

qn_status qn_vcontains(qn_run *run, qn_value container, qn_value x, bool *out)
{
    qn_value ignored;
    *out = false;
    switch ((qn_vkind)container.kind) {
    case QN_V_UNDEFINED:
        return QN_OK;
    case QN_V_STRING:
        return in_string(run, container, x, out);
    case QN_V_DICT:
        return qn_vdict_get(run, container.u.dict, x, out, &ignored);
    case QN_V_LIST:
    case QN_V_TUPLE:
        break;
    case QN_V_ITERATOR:
        if ((container.flags & QN_VF_VIEW) != 0) {
            uint64_t hash;
            bool keys = strcmp(container.u.list->type, "dict_keys") == 0;
            QN_TRY(keys ? qn_vhash(run, x, &hash) : QN_OK); /* only a key can be asked for */
            break;
        }
        for (bool has = true; !*out;) { /* what was looked at is gone */
            qn_value item;
            QN_TRY(qn_vfirst(run, container, &has, &item));
            if (!has) {
                break;
            }
            QN_TRY(qn_vequal(run, item, x, out));
        }
        return QN_OK;
    default:
        return qn_run_fail(run, "argument of type '%s' is not iterable", qn_vkind_name(container));
    }
    const qn_vlist *l = container.u.list;
    for (uint32_t i = 0; i < l->n && !*out; i++) {
        *out = qn_vsame(l->items[i], x);
        if (!*out) {
            QN_TRY(qn_vequal(run, l->items[i], x, out));
        }
    }
    return QN_OK;
}
