/* Items, attributes, slices, lengths, iteration and calls.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

/* ---- length and iteration ---- */

static bool has_list(qn_value a)
{
    return a.kind == QN_V_LIST || a.kind == QN_V_TUPLE || (a.kind == QN_V_ITERATOR && (a.flags & QN_VF_VIEW) != 0);
}

qn_status qn_vlength(qn_run *run, qn_value a, uint32_t *out)
{
    if (a.kind == QN_V_STRING) {
        *out = a.u.s->n_chars;
    } else if (a.kind == QN_V_DICT) {
        *out = a.u.dict->n;
    } else if (has_list(a)) {
        *out = a.u.list->n;
    } else if (a.kind == QN_V_UNDEFINED) {
        *out = 0;
    } else {
        return qn_run_fail(run, "object of type '%s' has no len()", qn_vkind_name(a));
    }
    return QN_OK;
}

static qn_status characters(qn_run *run, const qn_vstr *s, qn_vlist *l)
{
    for (size_t i = 0; i < s->n_bytes;) {
        size_t at = i;
        qn_vchar_next(s, &i);
        qn_value c;
        QN_TRY(qn_vstring_slice(run, s, at, i - at, &c));
        QN_TRY(qn_vlist_push(run, l, c));
    }
    return QN_OK;
}

qn_status qn_viterate(qn_run *run, qn_value a, const qn_vlist **out)
{
    qn_value l;
    switch ((qn_vkind)a.kind) {
    case QN_V_LIST:
    case QN_V_TUPLE:
        *out = a.u.list;
        return QN_OK;
    case QN_V_ITERATOR:
        if (a.u.list->failure != NULL) {
            return qn_fail(run->err, QN_EFORMAT, "%s", a.u.list->failure);
        }
        *out = a.u.list;
        if ((a.flags & QN_VF_VIEW) == 0) {
            QN_TRY(qn_vlist_new(run, QN_V_LIST, 0, &l));
            *l.u.list = *a.u.list;
            a.u.list->n = a.u.list->cap = 0;
            a.u.list->items = NULL;
            *out = l.u.list;
        }
        return QN_OK;
    case QN_V_UNDEFINED:
        QN_TRY(qn_vlist_new(run, QN_V_LIST, 0, &l));
        *out = l.u.list;
        return QN_OK;
    case QN_V_STRING:
        QN_TRY(qn_vlist_new(run, QN_V_LIST, a.u.s->n_chars, &l));
        *out = l.u.list;
        return characters(run, a.u.s, l.u.list);
    case QN_V_DICT:
        QN_TRY(qn_vdict_view(run, a.u.dict, 'k', &l));
        *out = l.u.list;
        return QN_OK;
    default:
        return qn_run_fail(run, "'%s' object is not iterable", qn_vkind_name(a));
    }
}

qn_status qn_vfirst(qn_run *run, qn_value a, bool *has, qn_value *out)
{
    if (a.kind == QN_V_STRING) {
        *has = a.u.s->n_bytes > 0;
        size_t n = 0;
        if (*has) {
            qn_vchar_next(a.u.s, &n);
        }
        return *has ? qn_vstring_slice(run, a.u.s, 0, n, out) : QN_OK;
    }
    if (a.kind == QN_V_DICT) {
        *has = a.u.dict->n > 0;
        *out = *has ? a.u.dict->entries[0].key : qn_vnone();
        return QN_OK;
    }
    if (a.kind == QN_V_ITERATOR && (a.flags & QN_VF_VIEW) == 0) {
        qn_vlist *rest = a.u.list;
        QN_TRY(qn_run_steps(run, 1));
        if (rest->n == 0 && rest->failure != NULL) {
            return qn_fail(run->err, QN_EFORMAT, "%s", rest->failure);
        }
        *has = rest->n > 0;
        *out = *has ? rest->items[0] : qn_vnone();
        if (*has) {
            rest->items++;
            rest->n--;
            rest->cap = rest->n;
        }
        return QN_OK;
    }
    const qn_vlist *l;
    QN_TRY(qn_viterate(run, a, &l));
    *has = l->n > 0;
    *out = *has ? l->items[0] : qn_vnone();
    return QN_OK;
}

/* ---- items ---- */

/* The i-th of n, from the end when negative. False: out of range. */
static bool place(int64_t i, uint32_t n, uint32_t *out)
{
    if (i < 0) {
        i += n;
    }
    *out = (uint32_t)i;
    return i >= 0 && i < n;
}

static qn_status item_at(qn_run *run, qn_value a, int64_t i, bool *has, qn_value *out)
{
    uint32_t at;
    if (a.kind != QN_V_STRING) {
        *has = place(i, a.u.list->n, &at);
        if (*has) {
            *out = a.u.list->items[at];
        }
        return QN_OK;
    }
    *has = place(i, a.u.s->n_chars, &at);
    if (!*has) {
        return QN_OK;
    }
    QN_TRY(qn_run_steps(run, a.u.s->n_chars == a.u.s->n_bytes ? 1 : 1 + at / 16));
    size_t from = qn_vstr_offset(a.u.s, at), to = from;
    qn_vchar_next(a.u.s, &to);
    QN_TRY(qn_vstring_slice(run, a.u.s, from, to - from, out));
    *out = qn_vsafe(*out, qn_vis_safe(a));
    return QN_OK;
}

static qn_status missing_item(qn_run *run, qn_value a, qn_value key, qn_value *out)
{
    if (key.kind == QN_V_STRING) {
        *out = qn_vno_attribute(run, a, qn_vbytes(key));
    } else {
        qn_value shown;
        QN_TRY(qn_vrepr_of(run, key, &shown));
        *out = qn_vundefined_hint(run, "%s object has no element %.*s", qn_vkind_name(a), QN_STR_ARG(qn_vbytes(shown)));
    }
    return out->u.name == NULL ? run->err->code : QN_OK;
}

qn_status qn_vtype_attribute(qn_run *run, qn_value a, qn_str name, qn_value *out)
{
    *out = (qn_value){.kind = QN_V_UNDEFINED};
    if (name.len > 0 && name.data[0] == '_') {
        return QN_OK;
    }
    bool has;
    switch ((qn_vkind)a.kind) {
    case QN_V_STRING:
        return qn_method_str(run, a, name, out);
    case QN_V_TUPLE:
        has = (a.flags & QN_VF_GROUP) != 0 && (qn_str_is(name, "grouper") || qn_str_is(name, "list"));
        if (has) {
            *out = a.u.list->items[qn_str_is(name, "list")];
            return QN_OK;
        }
        return qn_method_list(run, a, name, out);
    case QN_V_LIST:
    case QN_V_ITERATOR:
        return qn_method_list(run, a, name, out);
    case QN_V_DICT:
        return qn_method_dict(run, a, name, out);
    case QN_V_NAMESPACE:
        if (!qn_vdict_find_str(a.u.dict, name, out)) {
            *out = (qn_value){.kind = QN_V_UNDEFINED};
        }
        return QN_OK;
    case QN_V_OBJECT:
        return a.u.object->attribute(run, a.u.object, name, out);
    default:
        return QN_OK;
    }
}

qn_status qn_vitem(qn_run *run, qn_value a, qn_value key, qn_value *out)
{
    bool has = false;
    QN_TRY(qn_run_steps(run, 1));
    if (a.kind == QN_V_UNDEFINED) {
        return qn_vundefined_fail(run, a);
    }
    if (a.kind == QN_V_DICT) {
        /* A key without a hash is not in it. */
        has = key.kind == QN_V_TUPLE ? false : qn_vdict_find(a.u.dict, key, out);
        if (key.kind == QN_V_TUPLE) {
            QN_TRY(qn_vdict_get(run, a.u.dict, key, &has, out));
        }
    } else if (qn_vis_whole(key) && (qn_vis_sequence(a) || a.kind == QN_V_STRING)) {
        QN_TRY(item_at(run, a, qn_vwhole(key), &has, out));
    }
    if (has) {
        return QN_OK;
    }
    if (key.kind == QN_V_STRING) {
        QN_TRY(qn_vtype_attribute(run, a, qn_vbytes(key), out));
        if (out->kind != QN_V_UNDEFINED || out->u.name != NULL) {
            return QN_OK;
        }
    }
    return missing_item(run, a, key, out);
}

qn_status qn_vattribute(qn_run *run, qn_value a, qn_str name, qn_value *out)
{
    QN_TRY(qn_run_steps(run, 1));
    if (a.kind == QN_V_UNDEFINED) {
        return qn_vundefined_fail(run, a);
    }
    QN_TRY(qn_vtype_attribute(run, a, name, out));
    if (out->kind != QN_V_UNDEFINED || out->u.name != NULL) {
        return QN_OK;
    }
    if (a.kind == QN_V_DICT && qn_vdict_find_str(a.u.dict, name, out)) {
        return QN_OK;
    }
    *out = qn_vno_attribute(run, a, name);
    return out->u.name == NULL ? run->err->code : QN_OK;
}

/* ---- slices ---- */

/* A bound of a slice with step over n items: where it lies, cut to what there is. */
static qn_status bound(qn_run *run, qn_value a, uint32_t n, bool backwards, int64_t fallback, int64_t *out)
{
    if (a.kind == QN_V_NONE) {
        *out = fallback;
        return QN_OK;
    }
    int64_t low = backwards ? -1 : 0, high = backwards ? (int64_t)n - 1 : n, i;
    if (a.kind == QN_V_BIGINT) {
        i = a.u.s->bytes[0] == '-' ? INT64_MIN + n : INT64_MAX;
    } else if (qn_vis_whole(a)) {
        i = qn_vwhole(a);
    } else {
        return qn_run_fail(run, "slice indices must be integers or None or have an __index__ method");
    }
    if (i < 0) {
        i += n;
    }
    *out = i < low ? low : i > high ? high : i;
    return QN_OK;
}

static qn_status slice_string(qn_run *run, qn_value a, int64_t from, int64_t step, uint32_t n, qn_value *out)
{
    const qn_vstr *s = a.u.s;
    QN_TRY(qn_run_steps(run, 1 + (s->n_bytes == s->n_chars ? 0 : s->n_bytes / 16)));
    if (n == 0) {
        QN_TRY(qn_vstring_slice(run, s, 0, 0, out));
    } else if (step == 1) {
        size_t first = qn_vstr_offset(s, (uint32_t)from);
        QN_TRY(qn_vstring_slice(run, s, first, qn_vstr_offset(s, (uint32_t)from + n) - first, out));
    } else {
        qn_vbuild v;
        qn_vbuild_init(&v, run);
        size_t at = qn_vstr_offset(s, (uint32_t)from);
        for (uint32_t i = 0; i < n && v.status == QN_OK; i++) {
            size_t end = at;
            qn_vchar_next(s, &end);
            qn_vbuild_add_slice(&v, s, at, end - at);
            if (i + 1 < n) {
                QN_TRY(qn_run_steps(run, (uint64_t)(step < 0 ? -step : step) / 16));
            }
            for (int64_t j = 0; i + 1 < n && j < step; j++) {
                qn_vchar_next(s, &at);
            }
            for (int64_t j = 0; i + 1 < n && j > step; j--) {
                qn_vchar_before(s, &at);
            }
        }
        QN_TRY(qn_vbuild_finish(&v, out));
    }
    *out = qn_vsafe(*out, qn_vis_safe(a));
    return QN_OK;
}

static qn_status slice_range(qn_run *run, const qn_vlist *l, int64_t from, int64_t to, int64_t step, qn_value *out)
{
    /* Bounds lie within one step of values that exist, so only an absurd range overflows here. */
    int64_t start, stop, by;
    if (__builtin_mul_overflow(from, l->range[2], &start) || __builtin_add_overflow(start, l->range[0], &start) ||
        __builtin_mul_overflow(to, l->range[2], &stop) || __builtin_add_overflow(stop, l->range[0], &stop) ||
        __builtin_mul_overflow(step, l->range[2], &by)) {
        return qn_run_fail(run, "integer overflow: beyond 64 bits");
    }
    return qn_vrange(run, start, stop, by, out);
}

qn_status qn_vslice(qn_run *run, qn_value a, qn_value from, qn_value to, qn_value step, qn_value *out)
{
    if (a.kind == QN_V_UNDEFINED) {
        return qn_vundefined_fail(run, a);
    }
    if (a.kind != QN_V_STRING && !qn_vis_sequence(a)) {
        return a.kind == QN_V_DICT ? qn_run_fail(run, "unhashable type: 'slice'")
                                   : qn_run_fail(run, "'%s' object is not subscriptable", qn_vkind_name(a));
    }
    uint32_t length;
    QN_TRY(qn_vlength(run, a, &length));
    int64_t by = 1;
    if (step.kind == QN_V_BIGINT) {
        by = step.u.s->bytes[0] == '-' ? INT64_MIN + 1 : INT64_MAX;
    } else if (qn_vis_whole(step)) {
        by = qn_vwhole(step) == INT64_MIN ? INT64_MIN + 1 : qn_vwhole(step);
    } else if (step.kind != QN_V_NONE) {
        return qn_run_fail(run, "slice indices must be integers or None or have an __index__ method");
    }
    if (by == 0) {
        return qn_run_fail(run, "slice step cannot be zero");
    }
    int64_t first, last;
    QN_TRY(bound(run, from, length, by < 0, by < 0 ? (int64_t)length - 1 : 0, &first));
    QN_TRY(bound(run, to, length, by < 0, by < 0 ? -1 : (int64_t)length, &last));
    uint64_t n = 0;
    if (by > 0 && first < last) {
        n = (uint64_t)(last - first - 1) / (uint64_t)by + 1;
    } else if (by < 0 && first > last) {
        n = (uint64_t)(first - last - 1) / (uint64_t)-by + 1;
    }
    if (a.kind == QN_V_STRING) {
        return slice_string(run, a, first, by, (uint32_t)n, out);
    }
    if (a.kind == QN_V_ITERATOR) {
        return slice_range(run, a.u.list, first, last, by, out);
    }
    QN_TRY(qn_run_steps(run, 1 + n / 4));
    QN_TRY(qn_vlist_new(run, (qn_vkind)a.kind, (uint32_t)n, out));
    for (uint64_t i = 0; i < n; i++) {
        out->u.list->items[i] = a.u.list->items[first + (int64_t)i * by];
    }
    out->u.list->n = (uint32_t)n;
    return QN_OK;
}

/* ---- calls ---- */

qn_status qn_vcall(qn_run *run, qn_value callee, const qn_args *args, qn_value *out)
{
    QN_TRY(qn_run_steps(run, 1));
    if (callee.kind == QN_V_UNDEFINED) {
        return qn_vundefined_fail(run, callee);
    }
    if (callee.kind == QN_V_OBJECT) {
        qn_value call = {.kind = QN_V_UNDEFINED};
        QN_TRY(callee.u.object->attribute(run, callee.u.object, QN_STR("__call__"), &call));
        if (call.kind == QN_V_FUNCTION) {
            callee = call;
        }
    }
    if (callee.kind != QN_V_FUNCTION) {
        return qn_run_fail(run, "'%s' object is not callable", qn_vkind_name(callee));
    }
    QN_TRY(qn_run_enter(run));
    qn_status st = callee.u.fn->call(run, callee.u.fn, args, out);
    qn_run_leave(run);
    return st;
}
