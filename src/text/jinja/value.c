/* Making values, and what kind of thing they are.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

#include <stdarg.h>
#include <stdio.h>

const char *qn_vkind_name(qn_value a)
{
    switch ((qn_vkind)a.kind) {
    case QN_V_UNDEFINED:
        return "Undefined";
    case QN_V_NONE:
        return "NoneType";
    case QN_V_BOOL:
        return "bool";
    case QN_V_INT:
    case QN_V_BIGINT:
        return "int";
    case QN_V_FLOAT:
        return "float";
    case QN_V_STRING:
        return (a.flags & QN_VF_SAFE) != 0 ? "Markup" : "str";
    case QN_V_LIST:
        return "list";
    case QN_V_TUPLE:
        return "tuple";
    case QN_V_DICT:
        return "dict";
    case QN_V_NAMESPACE:
        return "Namespace";
    case QN_V_ITERATOR:
        return a.u.list->type;
    case QN_V_FUNCTION:
        return "function";
    case QN_V_OBJECT:
        return a.u.object->type;
    }
    return "object";
}

bool qn_vis_range(qn_value a)
{
    return a.kind == QN_V_ITERATOR && (a.flags & QN_VF_VIEW) != 0 && strcmp(a.u.list->type, "range") == 0;
}

bool qn_vis_sequence(qn_value a)
{
    return a.kind == QN_V_LIST || a.kind == QN_V_TUPLE || qn_vis_range(a);
}

bool qn_vis_number(qn_value a)
{
    return qn_vis_whole(a) || a.kind == QN_V_BIGINT || a.kind == QN_V_FLOAT;
}

bool qn_vis_safe(qn_value a)
{
    return a.kind == QN_V_STRING && (a.flags & QN_VF_SAFE) != 0;
}

qn_value qn_vsafe(qn_value a, bool safe)
{
    a.flags = safe ? QN_VF_SAFE : 0;
    return a;
}

bool qn_vtruth(qn_value a)
{
    switch ((qn_vkind)a.kind) {
    case QN_V_UNDEFINED:
    case QN_V_NONE:
        return false;
    case QN_V_BOOL:
        return a.u.b;
    case QN_V_INT:
        return a.u.i != 0;
    case QN_V_FLOAT:
        return a.u.f != 0;
    case QN_V_STRING:
        return a.u.s->n_bytes > 0;
    case QN_V_LIST:
    case QN_V_TUPLE:
        return a.u.list->n > 0;
    case QN_V_DICT:
        return a.u.dict->n > 0;
    case QN_V_ITERATOR:
        return (a.flags & QN_VF_VIEW) == 0 || a.u.list->n > 0;
    case QN_V_BIGINT:
    case QN_V_NAMESPACE:
    case QN_V_FUNCTION:
    case QN_V_OBJECT:
        break;
    }
    return true;
}

/* ---- undefined ---- */

qn_value qn_vundefined(qn_run *run, qn_str name)
{
    qn_value a = {.kind = QN_V_UNDEFINED};
    char *copy = qn_run_alloc(run, name.len + 1);
    if (copy != NULL) {
        memcpy(copy, name.data, name.len);
        copy[name.len] = '\0';
    }
    a.u.name = copy;
    return a;
}

qn_value qn_vundefined_hint(qn_run *run, const char *fmt, ...)
{
    char text[200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    qn_value a = qn_vundefined(run, qn_str_of(text));
    a.flags = QN_VF_HINT;
    return a;
}

qn_status qn_vnothing(qn_run *run, const char *what, qn_value *out)
{
    *out = qn_vundefined_hint(run, "%s", what);
    return out->u.name == NULL ? run->err->code : QN_OK;
}

/* "dict object", as jinja2 speaks of what has no such attribute. */
qn_value qn_vno_attribute(qn_run *run, qn_value a, qn_str name)
{
    if (a.kind == QN_V_NONE) {
        return qn_vundefined_hint(run, "'None' has no attribute '%.*s'", QN_STR_ARG(name));
    }
    return qn_vundefined_hint(run, "'%s object' has no attribute '%.*s'", qn_vkind_name(a), QN_STR_ARG(name));
}

qn_status qn_vundefined_fail(qn_run *run, qn_value a)
{
    const char *name = a.u.name == NULL ? "" : a.u.name;
    return (a.flags & QN_VF_HINT) != 0 ? qn_run_fail(run, "%s", name) : qn_run_fail(run, "'%s' is undefined", name);
}

qn_status qn_vunsafe(qn_run *run, qn_value a, qn_str name, qn_value *out)
{
    *out = qn_vundefined_hint(run, "access to attribute '%.*s' of '%s' object is unsafe.", QN_STR_ARG(name),
                              qn_vkind_name(a));
    return out->u.name == NULL ? run->err->code : QN_OK;
}

/* ---- lists ---- */

qn_status qn_vlist_new(qn_run *run, qn_vkind kind, uint32_t cap, qn_value *out)
{
    qn_vlist *l = qn_run_alloc(run, sizeof(*l));
    if (l == NULL) {
        return run->err->code;
    }
    *l = (qn_vlist){.type = kind == QN_V_ITERATOR ? "generator" : NULL};
    if (cap > 0) {
        l->items = qn_run_alloc(run, (size_t)cap * sizeof(*l->items));
        if (l->items == NULL) {
            return run->err->code;
        }
        l->cap = cap;
    }
    *out = (qn_value){.kind = (uint8_t)kind, .u.list = l};
    return QN_OK;
}

qn_status qn_viterator_new(qn_run *run, const char *type, uint32_t cap, qn_value *out)
{
    QN_TRY(qn_vlist_new(run, QN_V_ITERATOR, cap, out));
    out->u.list->type = type;
    return QN_OK;
}

qn_status qn_vlist_push(qn_run *run, qn_vlist *l, qn_value x)
{
    if (l->n == l->cap) {
        if (l->cap > UINT32_MAX / 2) {
            return qn_run_fail(run, "a list of more than %u items", l->cap);
        }
        uint32_t cap = l->cap == 0 ? 4 : l->cap * 2;
        qn_value *items = qn_run_alloc(run, (size_t)cap * sizeof(*items));
        if (items == NULL) {
            return run->err->code;
        }
        if (l->n > 0) {
            memcpy(items, l->items, l->n * sizeof(*items));
        }
        l->items = items;
        l->cap = cap;
    }
    l->items[l->n++] = x;
    return QN_OK;
}

qn_status qn_vdefer(qn_run *run, qn_status st, uint32_t depth, qn_vlist *l)
{
    if (st != QN_EFORMAT) {
        return st;
    }
    size_t n = strlen(run->err->what) + 1;
    char *text = qn_run_alloc(run, n);
    if (text == NULL) {
        return run->err->code;
    }
    memcpy(text, run->err->what, n);
    l->failure = text;
    run->depth = depth;
    return QN_OK;
}

qn_status qn_vlist_copy(qn_run *run, qn_vkind kind, const qn_value *items, uint32_t n, qn_value *out)
{
    QN_TRY(qn_run_steps(run, n / 4));
    QN_TRY(qn_vlist_new(run, kind, n, out));
    if (n > 0) {
        memcpy(out->u.list->items, items, n * sizeof(*items));
    }
    out->u.list->n = n;
    return QN_OK;
}

qn_status qn_vpair(qn_run *run, qn_value a, qn_value b, qn_value *out)
{
    QN_TRY(qn_vlist_new(run, QN_V_TUPLE, 2, out));
    out->u.list->items[0] = a;
    out->u.list->items[1] = b;
    out->u.list->n = 2;
    return QN_OK;
}

qn_status qn_vrange(qn_run *run, int64_t start, int64_t stop, int64_t step, qn_value *out)
{
    if (step == 0) {
        return qn_run_fail(run, "range() arg 3 must not be zero");
    }
    uint64_t n = 0;
    if (step > 0 && start < stop) {
        n = ((uint64_t)stop - (uint64_t)start - 1) / (uint64_t)step + 1;
    } else if (step < 0 && start > stop) {
        n = ((uint64_t)start - (uint64_t)stop - 1) / (0 - (uint64_t)step) + 1;
    }
    if (n > QN_JINJA_MAX_RANGE) {
        return qn_run_fail(run, "Range too big. The sandbox blocks ranges larger than %d.", QN_JINJA_MAX_RANGE);
    }
    QN_TRY(qn_run_steps(run, n));
    QN_TRY(qn_viterator_new(run, "range", (uint32_t)n, out));
    out->flags = QN_VF_VIEW;
    qn_vlist *l = out->u.list;
    for (uint64_t i = 0; i < n; i++) {
        l->items[i] = qn_vint((int64_t)((uint64_t)start + i * (uint64_t)step));
    }
    l->n = (uint32_t)n;
    l->range[0] = start;
    l->range[1] = stop;
    l->range[2] = step;
    return QN_OK;
}

qn_status qn_vmethod(qn_run *run, const char *name, qn_call_fn *call, qn_value self, qn_value *out)
{
    qn_vfunction *f = qn_run_alloc(run, sizeof(*f));
    if (f == NULL) {
        return run->err->code;
    }
    *f = (qn_vfunction){.name = qn_str_of(name), .call = call, .self = self};
    *out = (qn_value){.kind = QN_V_FUNCTION, .u.fn = f};
    return QN_OK;
}

/* ---- JSON ---- */

static qn_status number_of(qn_run *run, qn_str text, qn_value *out)
{
    bool is = false;
    if (memchr(text.data, '.', text.len) == NULL && memchr(text.data, 'e', text.len) == NULL &&
        memchr(text.data, 'E', text.len) == NULL) {
        QN_TRY(qn_vparse_int(run, text, 10, &is, out));
        if (is) {
            return QN_OK;
        }
    }
    double f = 0;
    QN_TRY(qn_vparse_float(run, text, &is, &f));
    *out = qn_vfloat(f);
    return QN_OK;
}

static qn_status from_json(qn_run *run, const qn_json *j, qn_value *out)
{
    QN_TRY(qn_run_steps(run, 1));
    size_t n = qn_json_count(j);
    switch (qn_json_kind_of(j)) {
    case QN_JSON_NULL:
        *out = qn_vnone();
        return QN_OK;
    case QN_JSON_BOOL:
        *out = qn_vbool(qn_json_as_bool(j));
        return QN_OK;
    case QN_JSON_NUMBER:
        return number_of(run, qn_json_as_str(j), out);
    case QN_JSON_STRING: {
        qn_str s = qn_json_as_str(j);
        return qn_vstring(run, s.data, s.len, true, out);
    }
    case QN_JSON_ARRAY:
        if (n > UINT32_MAX / 2) {
            return qn_run_fail(run, "an array of too many elements");
        }
        QN_TRY(qn_vlist_new(run, QN_V_LIST, (uint32_t)n, out));
        for (size_t i = 0; i < n; i++) {
            qn_value x;
            QN_TRY(qn_vfrom_json(run, qn_json_at(j, i), &x));
            QN_TRY(qn_vlist_push(run, out->u.list, x));
        }
        return QN_OK;
    case QN_JSON_OBJECT:
        QN_TRY(qn_vdict_new(run, QN_V_DICT, out));
        for (size_t i = 0; i < n; i++) {
            qn_str name = qn_json_key_at(j, i);
            qn_value key, x;
            QN_TRY(qn_vstring(run, name.data, name.len, true, &key));
            QN_TRY(qn_vfrom_json(run, qn_json_at(j, i), &x));
            QN_TRY(qn_vdict_set(run, out->u.dict, key, x));
        }
        return QN_OK;
    }
    return qn_run_fail(run, "JSON of an unknown kind");
}

qn_status qn_vfrom_json(qn_run *run, const qn_json *j, qn_value *out)
{
    QN_TRY(qn_run_enter(run));
    qn_status st = from_json(run, j, out);
    qn_run_leave(run);
    return st;
}
