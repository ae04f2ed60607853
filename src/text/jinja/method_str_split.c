/* Methods of strings that take them apart and put them together: split, splitlines, strip, join.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

static qn_status push_part(qn_run *run, qn_value self, size_t from, size_t to, qn_vlist *l)
{
    qn_value part;
    QN_TRY(qn_vstring_slice(run, self.u.s, from, to - from, &part));
    return qn_vlist_push(run, l, qn_vsafe(part, qn_vis_safe(self)));
}

static void reverse(qn_vlist *l)
{
    for (uint32_t i = 0, j = l->n; i + 1 < j; i++) {
        j--;
        qn_value x = l->items[i];
        l->items[i] = l->items[j];
        l->items[j] = x;
    }
}

/* ---- split ---- */

static size_t skip_spaces(const qn_vstr *s, size_t i)
{
    for (size_t at = i; i < s->n_bytes; i = at) {
        if (!qn_char_is_space(qn_vchar_next(s, &at))) {
            break;
        }
    }
    return i;
}

static size_t skip_word(const qn_vstr *s, size_t i)
{
    for (size_t at = i; i < s->n_bytes; i = at) {
        if (qn_char_is_space(qn_vchar_next(s, &at))) {
            break;
        }
    }
    return i;
}

static size_t skip_spaces_back(const qn_vstr *s, size_t i)
{
    for (size_t at = i; i > 0; i = at) {
        if (!qn_char_is_space(qn_vchar_before(s, &at))) {
            break;
        }
    }
    return i;
}

static size_t skip_word_back(const qn_vstr *s, size_t i)
{
    for (size_t at = i; i > 0; i = at) {
        if (qn_char_is_space(qn_vchar_before(s, &at))) {
            break;
        }
    }
    return i;
}

/* At runs of white space; none gives an empty part. */
static qn_status split_spaces(qn_run *run, qn_value self, uint64_t left, qn_vlist *l)
{
    const qn_vstr *s = self.u.s;
    for (size_t i = skip_spaces(s, 0); i < s->n_bytes; left--) {
        size_t end = left == 0 ? s->n_bytes : skip_word(s, i); /* the rest keeps the spaces at its end */
        QN_TRY(push_part(run, self, i, end, l));
        i = skip_spaces(s, end);
    }
    return QN_OK;
}

static qn_status rsplit_spaces(qn_run *run, qn_value self, uint64_t left, qn_vlist *l)
{
    const qn_vstr *s = self.u.s;
    for (size_t end = skip_spaces_back(s, s->n_bytes); end > 0; left--) {
        size_t i = left == 0 ? 0 : skip_word_back(s, end);
        QN_TRY(push_part(run, self, i, end, l));
        end = skip_spaces_back(s, i);
    }
    reverse(l);
    return QN_OK;
}

static qn_status split_at(qn_run *run, qn_value self, qn_str sep, uint64_t left, qn_vlist *l)
{
    const qn_vstr *s = self.u.s;
    size_t from = 0;
    for (; left > 0; left--) {
        size_t at = qn_vstr_find(s, from, s->n_bytes, sep);
        if (at == SIZE_MAX) {
            break;
        }
        QN_TRY(push_part(run, self, from, at, l));
        from = at + sep.len;
    }
    return push_part(run, self, from, s->n_bytes, l);
}

static qn_status rsplit_at(qn_run *run, qn_value self, qn_str sep, uint64_t left, qn_vlist *l)
{
    const qn_vstr *s = self.u.s;
    size_t end = s->n_bytes;
    for (; left > 0; left--) {
        size_t at;
        QN_TRY(qn_vstr_rfind(run, s, 0, end, sep, &at));
        if (at == SIZE_MAX) {
            break;
        }
        QN_TRY(push_part(run, self, at + sep.len, end, l));
        end = at;
    }
    QN_TRY(push_part(run, self, 0, end, l));
    reverse(l);
    return QN_OK;
}

static qn_status split(qn_run *run, const qn_vfunction *fn, const qn_args *args, bool right, qn_value *out)
{
    qn_value a[2];
    int64_t max;
    QN_TRY(qn_args_bind(run, fn->name.data, "sep=,maxsplit=", args, a));
    QN_TRY(qn_varg_int(run, fn->name.data, a[1], -1, &max));
    uint64_t left = max < 0 ? UINT64_MAX : (uint64_t)max;
    QN_TRY(qn_run_steps(run, 1 + fn->self.u.s->n_bytes / 8));
    QN_TRY(qn_vlist_new(run, QN_V_LIST, 0, out));
    if (a[0].kind == QN_V_NONE || (a[0].kind == QN_V_UNDEFINED && a[0].u.name == NULL)) {
        return (right ? rsplit_spaces : split_spaces)(run, fn->self, left, out->u.list);
    }
    QN_TRY(qn_varg_string(run, fn->name.data, a[0]));
    if (a[0].u.s->n_bytes == 0) {
        return qn_run_fail(run, "empty separator");
    }
    return (right ? rsplit_at : split_at)(run, fn->self, qn_vbytes(a[0]), left, out->u.list);
}

static qn_status call_split(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    return split(run, fn, args, false, out);
}

static qn_status call_rsplit(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    return split(run, fn, args, true, out);
}

qn_status qn_vsplitlines(qn_run *run, qn_value self, bool keep, qn_value *out)
{
    const qn_vstr *s = self.u.s;
    QN_TRY(qn_run_steps(run, 1 + s->n_bytes / 8));
    QN_TRY(qn_vlist_new(run, QN_V_LIST, 0, out));
    size_t from = 0;
    for (size_t i = 0; i < s->n_bytes;) {
        size_t at = i;
        uint32_t cp = qn_vchar_next(s, &i);
        if (!qn_char_is_line_end(cp)) {
            continue;
        }
        if (cp == '\r' && i < s->n_bytes && s->bytes[i] == '\n') {
            i++;
        }
        QN_TRY(push_part(run, self, from, keep ? i : at, out->u.list));
        from = i;
    }
    return from == s->n_bytes ? QN_OK : push_part(run, self, from, s->n_bytes, out->u.list);
}

static qn_status call_splitlines(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    qn_value a;
    bool keep;
    QN_TRY(qn_args_bind(run, "splitlines", "keepends=", args, &a));
    QN_TRY(qn_varg_flag(run, "splitlines", a, &keep));
    return qn_vsplitlines(run, fn->self, keep, out);
}

/* ---- strip ---- */

static bool is_one_of(const qn_vstr *chars, const char *c, size_t n)
{
    /* A whole character is found only at the begin of one. */
    return n <= chars->n_bytes && memmem(chars->bytes, chars->n_bytes, c, n) != NULL;
}

qn_status qn_vstrip(qn_run *run, qn_value self, qn_value chars, bool left, bool right, qn_value *out)
{
    const qn_vstr *s = self.u.s;
    bool spaces = chars.kind == QN_V_NONE || (chars.kind == QN_V_UNDEFINED && chars.u.name == NULL);
    if (!spaces) {
        QN_TRY(qn_varg_string(run, "strip", chars));
    }
    size_t from = 0, to = s->n_bytes, cost = spaces ? 1 : 1 + chars.u.s->n_bytes / 32;
    for (size_t i = 0; left && i < to;) {
        size_t at = i;
        uint32_t cp = qn_vchar_next(s, &i);
        QN_TRY(qn_run_steps(run, cost));
        if (spaces ? !qn_char_is_space(cp) : !is_one_of(chars.u.s, s->bytes + at, i - at)) {
            break;
        }
        from = i;
    }
    for (size_t i = to; right && i > from;) {
        size_t end = i;
        uint32_t cp = qn_vchar_before(s, &i);
        QN_TRY(qn_run_steps(run, cost));
        if (spaces ? !qn_char_is_space(cp) : !is_one_of(chars.u.s, s->bytes + i, end - i)) {
            break;
        }
        to = i;
    }
    QN_TRY(qn_vstring_slice(run, s, from, to - from, out));
    *out = qn_vsafe(*out, qn_vis_safe(self));
    return QN_OK;
}

static qn_status strip(qn_run *run, const qn_vfunction *fn, const qn_args *args, bool left, bool right, qn_value *out)
{
    qn_value chars;
    QN_TRY(qn_args_bind(run, fn->name.data, "/chars=", args, &chars));
    return qn_vstrip(run, fn->self, chars, left, right, out);
}

static qn_status call_strip(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    return strip(run, fn, args, true, true, out);
}

static qn_status call_lstrip(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    return strip(run, fn, args, true, false, out);
}

static qn_status call_rstrip(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    return strip(run, fn, args, false, true, out);
}

/* ---- join ---- */

qn_status qn_vjoin(qn_run *run, qn_value separator, const qn_vlist *l, bool convert, qn_value *out)
{
    bool safe = qn_vis_safe(separator) && !convert;
    qn_vbuild v;
    qn_vbuild_init(&v, run);
    for (uint32_t i = 0; i < l->n && v.status == QN_OK; i++) {
        qn_value x = l->items[i];
        if (i > 0) {
            qn_vbuild_add_string(&v, separator);
        }
        if (safe) {
            QN_TRY(qn_vescape(run, x, &x));
        } else if (!convert && x.kind != QN_V_STRING) {
            return qn_run_fail(run, "sequence item %u: expected str instance, %s found", i, qn_vkind_name(x));
        }
        qn_vbuild_add_value(&v, x);
    }
    QN_TRY(qn_vbuild_finish(&v, out));
    *out = qn_vsafe(*out, safe);
    return QN_OK;
}

static qn_status call_join(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    qn_value items;
    const qn_vlist *l;
    QN_TRY(qn_args_bind(run, "join", "/iterable", args, &items));
    QN_TRY(qn_viterate(run, items, &l));
    return qn_vjoin(run, fn->self, l, false, out);
}

const qn_method qn_methods_str_split[] = {
    {"strip", call_strip},   {"split", call_split},           {"lstrip", call_lstrip}, {"rstrip", call_rstrip},
    {"rsplit", call_rsplit}, {"splitlines", call_splitlines}, {"join", call_join},     {NULL, NULL},
};
