/* Methods of strings that look for others in them, and put others in their place.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

/* The bytes [*from, *to) that the optional arguments start and end name. False: start lies behind end. */
static qn_status window(qn_run *run, const qn_vstr *s, const char *what, const qn_value *bounds, size_t *from,
                        size_t *to, bool *any)
{
    int64_t n = s->n_chars, start = 0, end = n;
    if (bounds[0].kind != QN_V_NONE) {
        QN_TRY(qn_varg_int(run, what, bounds[0], 0, &start));
    }
    if (bounds[1].kind != QN_V_NONE) {
        QN_TRY(qn_varg_int(run, what, bounds[1], n, &end));
    }
    end = end > n ? n : end < 0 ? end + n : end;
    end = end < 0 ? 0 : end;
    start = start < 0 ? start + n : start;
    start = start < 0 ? 0 : start;
    *any = start <= end;
    if (*any) {
        QN_TRY(qn_run_steps(run, 1 + s->n_bytes / 16));
        *from = qn_vstr_offset(s, (uint32_t)start);
        *to = qn_vstr_offset(s, (uint32_t)end);
    }
    return QN_OK;
}

static qn_status find(qn_run *run, const qn_vfunction *fn, const qn_args *args, bool reverse, bool must, qn_value *out)
{
    const qn_vstr *s = fn->self.u.s;
    qn_value a[3];
    QN_TRY(qn_args_bind(run, fn->name.data, "/sub,start=,end=", args, a));
    QN_TRY(qn_varg_string(run, fn->name.data, a[0]));
    size_t from = 0, to = 0, at = SIZE_MAX;
    bool any;
    QN_TRY(window(run, s, fn->name.data, a + 1, &from, &to, &any));
    if (any && reverse) {
        QN_TRY(qn_vstr_rfind(run, s, from, to, qn_vbytes(a[0]), &at));
    } else if (any) {
        at = qn_vstr_find(s, from, to, qn_vbytes(a[0]));
    }
    if (at == SIZE_MAX && must) {
        return qn_run_fail(run, "substring not found");
    }
    *out = qn_vint(at == SIZE_MAX ? -1 : (int64_t)qn_vchar_count(s->bytes, at));
    return QN_OK;
}

static qn_status call_find(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    return find(run, fn, args, false, false, out);
}

static qn_status call_rfind(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    return find(run, fn, args, true, false, out);
}

static qn_status call_index(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    return find(run, fn, args, false, true, out);
}

static qn_status call_rindex(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    return find(run, fn, args, true, true, out);
}

static qn_status call_count(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    const qn_vstr *s = fn->self.u.s;
    qn_value a[3];
    QN_TRY(qn_args_bind(run, "count", "/sub,start=,end=", args, a));
    QN_TRY(qn_varg_string(run, "count", a[0]));
    size_t from = 0, to = 0;
    bool any;
    QN_TRY(window(run, s, "count", a + 1, &from, &to, &any));
    int64_t n = 0;
    qn_str sub = qn_vbytes(a[0]);
    if (any && sub.len == 0) {
        n = (int64_t)qn_vchar_count(s->bytes + from, to - from) + 1;
    } else if (any) {
        for (size_t at; (at = qn_vstr_find(s, from, to, sub)) != SIZE_MAX; from = at + sub.len) {
            QN_TRY(qn_run_steps(run, 1));
            n++;
        }
    }
    *out = qn_vint(n);
    return QN_OK;
}

static qn_status affix(qn_run *run, const qn_vfunction *fn, const qn_args *args, bool end, qn_value *out)
{
    const qn_vstr *s = fn->self.u.s;
    qn_value a[3];
    QN_TRY(qn_args_bind(run, fn->name.data, "/prefix,start=,end=", args, a));
    size_t from = 0, to = 0;
    bool any, yes = false;
    QN_TRY(window(run, s, fn->name.data, a + 1, &from, &to, &any));
    const qn_value *each = a;
    uint32_t n = 1;
    if (a[0].kind == QN_V_TUPLE) {
        each = a[0].u.list->items;
        n = a[0].u.list->n;
    }
    for (uint32_t i = 0; i < n && !yes; i++) {
        QN_TRY(qn_varg_string(run, fn->name.data, each[i]));
        QN_TRY(qn_run_steps(run, 1 + each[i].u.s->n_bytes / 64));
        yes = any && (end ? qn_vstr_ends : qn_vstr_starts)(s, from, to, qn_vbytes(each[i]));
    }
    *out = qn_vbool(yes);
    return QN_OK;
}

static qn_status call_startswith(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    return affix(run, fn, args, false, out);
}

static qn_status call_endswith(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    return affix(run, fn, args, true, out);
}

static qn_status part(qn_run *run, qn_value self, size_t from, size_t n, qn_value *out)
{
    QN_TRY(qn_vstring_slice(run, self.u.s, from, n, out));
    *out = qn_vsafe(*out, qn_vis_safe(self));
    return QN_OK;
}

static qn_status call_removeprefix(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    const qn_vstr *s = fn->self.u.s;
    qn_value a;
    QN_TRY(qn_args_bind(run, "removeprefix", "/prefix", args, &a));
    QN_TRY(qn_varg_string(run, "removeprefix", a));
    size_t n = qn_vstr_starts(s, 0, s->n_bytes, qn_vbytes(a)) ? a.u.s->n_bytes : 0;
    return part(run, fn->self, n, s->n_bytes - n, out);
}

static qn_status call_removesuffix(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    const qn_vstr *s = fn->self.u.s;
    qn_value a;
    QN_TRY(qn_args_bind(run, "removesuffix", "/suffix", args, &a));
    QN_TRY(qn_varg_string(run, "removesuffix", a));
    size_t n = qn_vstr_ends(s, 0, s->n_bytes, qn_vbytes(a)) ? a.u.s->n_bytes : 0;
    return part(run, fn->self, 0, s->n_bytes - n, out);
}

/* (before, sep, after); all in one side when sep is not there. */
static qn_status partition(qn_run *run, const qn_vfunction *fn, const qn_args *args, bool last, qn_value *out)
{
    const qn_vstr *s = fn->self.u.s;
    qn_value a;
    QN_TRY(qn_args_bind(run, fn->name.data, "/sep", args, &a));
    QN_TRY(qn_varg_string(run, fn->name.data, a));
    if (a.u.s->n_bytes == 0) {
        return qn_run_fail(run, "empty separator");
    }
    QN_TRY(qn_run_steps(run, 1 + s->n_bytes / 16));
    size_t at, n = a.u.s->n_bytes;
    if (last) {
        QN_TRY(qn_vstr_rfind(run, s, 0, s->n_bytes, qn_vbytes(a), &at));
    } else {
        at = qn_vstr_find(s, 0, s->n_bytes, qn_vbytes(a));
    }
    if (at == SIZE_MAX) {
        at = last ? 0 : s->n_bytes;
        n = 0;
    }
    QN_TRY(qn_vlist_new(run, QN_V_TUPLE, 3, out));
    qn_vlist *l = out->u.list;
    l->n = 3;
    QN_TRY(part(run, fn->self, 0, at, &l->items[0]));
    QN_TRY(part(run, fn->self, at, n, &l->items[1]));
    return part(run, fn->self, at + n, s->n_bytes - at - n, &l->items[2]);
}

static qn_status call_partition(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    return partition(run, fn, args, false, out);
}

static qn_status call_rpartition(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    return partition(run, fn, args, true, out);
}

/* ---- replace ---- */

/* `to` before each character of s and at its end, count times at most. */
static void weave(qn_vbuild *v, const qn_vstr *s, qn_value to, uint64_t count)
{
    size_t i = 0;
    for (; i < s->n_bytes && count > 0 && v->status == QN_OK; count--) {
        size_t at = i;
        qn_vchar_next(s, &i);
        qn_vbuild_add_string(v, to);
        qn_vbuild_add_slice(v, s, at, i - at);
    }
    if (count > 0) {
        qn_vbuild_add_string(v, to);
    }
    qn_vbuild_add_slice(v, s, i, s->n_bytes - i);
}

qn_status qn_vreplace(qn_run *run, qn_value s, qn_value from, qn_value to, int64_t count, qn_value *out)
{
    const qn_vstr *whole = s.u.s;
    uint64_t left = count < 0 ? UINT64_MAX : (uint64_t)count;
    qn_str sub = qn_vbytes(from);
    QN_TRY(qn_run_steps(run, 1 + whole->n_bytes / 16));
    if (sub.len > 0 && qn_vstr_find(whole, 0, whole->n_bytes, sub) == SIZE_MAX) {
        *out = s;
        return QN_OK;
    }
    qn_vbuild v;
    qn_vbuild_init(&v, run);
    if (sub.len == 0) {
        weave(&v, whole, to, left);
    } else {
        size_t at = 0;
        for (size_t next; left > 0 && v.status == QN_OK; left--) {
            next = qn_vstr_find(whole, at, whole->n_bytes, sub);
            if (next == SIZE_MAX) {
                break;
            }
            qn_vbuild_add_slice(&v, whole, at, next - at);
            qn_vbuild_add_string(&v, to);
            at = next + sub.len;
        }
        qn_vbuild_add_slice(&v, whole, at, whole->n_bytes - at);
    }
    QN_TRY(qn_vbuild_finish(&v, out));
    *out = qn_vsafe(*out, qn_vis_safe(s));
    return QN_OK;
}

static qn_status call_replace(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    qn_value a[3];
    int64_t count;
    QN_TRY(qn_args_bind(run, "replace", "/old,new,count=", args, a));
    QN_TRY(qn_varg_string(run, "replace", a[0]));
    QN_TRY(qn_varg_int(run, "replace", a[2], -1, &count));
    if (qn_vis_safe(fn->self)) {
        QN_TRY(qn_vescape(run, a[1], &a[1]));
    }
    QN_TRY(qn_varg_string(run, "replace", a[1]));
    return qn_vreplace(run, fn->self, a[0], a[1], count, out);
}

const qn_method qn_methods_str_find[] = {
    {"startswith", call_startswith},
    {"endswith", call_endswith},
    {"replace", call_replace},
    {"find", call_find},
    {"rfind", call_rfind},
    {"index", call_index},
    {"rindex", call_rindex},
    {"count", call_count},
    {"removeprefix", call_removeprefix},
    {"removesuffix", call_removesuffix},
    {"partition", call_partition},
    {"rpartition", call_rpartition},
    {NULL, NULL},
};
