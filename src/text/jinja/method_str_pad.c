/* Methods of strings that fill up to a width.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

/* where: 'l' text at the left, 'r' at the right, 'c' in the middle. */
static qn_status pad(qn_run *run, const qn_vfunction *fn, const qn_args *args, char where, qn_value *out)
{
    qn_value a[2];
    int64_t width;
    QN_TRY(qn_args_bind(run, fn->name.data, "/width,fillchar=", args, a));
    QN_TRY(qn_varg_int(run, fn->name.data, a[0], 0, &width));
    if (a[1].kind == QN_V_UNDEFINED) {
        QN_TRY(qn_vcstring(run, " ", &a[1]));
    }
    if (qn_vis_safe(fn->self)) {
        QN_TRY(qn_vescape(run, a[1], &a[1]));
    }
    QN_TRY(qn_varg_string(run, fn->name.data, a[1]));
    if (a[1].u.s->n_chars != 1) {
        return qn_run_fail(run, "The fill character must be exactly one character long");
    }
    int64_t n = fn->self.u.s->n_chars, missing = width > n ? width - n : 0;
    int64_t left = where == 'l' ? 0 : where == 'r' ? missing : missing / 2 + (missing & width & 1);
    qn_vbuild v;
    qn_vbuild_init(&v, run);
    qn_vbuild_repeat(&v, a[1], (uint64_t)left);
    qn_vbuild_add_string(&v, fn->self);
    qn_vbuild_repeat(&v, a[1], (uint64_t)(missing - left));
    QN_TRY(qn_vbuild_finish(&v, out));
    *out = qn_vsafe(*out, qn_vis_safe(fn->self));
    return QN_OK;
}

static qn_status call_center(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    return pad(run, fn, args, 'c', out);
}

static qn_status call_ljust(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    return pad(run, fn, args, 'l', out);
}

static qn_status call_rjust(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    return pad(run, fn, args, 'r', out);
}

static qn_status call_zfill(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    const qn_vstr *s = fn->self.u.s;
    qn_value a, zero;
    int64_t width;
    QN_TRY(qn_args_bind(run, "zfill", "/width", args, &a));
    QN_TRY(qn_varg_int(run, "zfill", a, 0, &width));
    QN_TRY(qn_vcstring(run, "0", &zero));
    size_t sign = s->n_bytes > 0 && (s->bytes[0] == '-' || s->bytes[0] == '+');
    qn_vbuild v;
    qn_vbuild_init(&v, run);
    qn_vbuild_add_slice(&v, s, 0, sign);
    qn_vbuild_repeat(&v, zero, width > s->n_chars ? (uint64_t)(width - s->n_chars) : 0);
    qn_vbuild_add_slice(&v, s, sign, s->n_bytes - sign);
    QN_TRY(qn_vbuild_finish(&v, out));
    *out = qn_vsafe(*out, qn_vis_safe(fn->self));
    return QN_OK;
}

static qn_status call_expandtabs(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    const qn_vstr *s = fn->self.u.s;
    qn_value a, space;
    int64_t size;
    QN_TRY(qn_args_bind(run, "expandtabs", "tabsize=", args, &a));
    QN_TRY(qn_varg_int(run, "expandtabs", a, 8, &size));
    QN_TRY(qn_vcstring(run, " ", &space));
    QN_TRY(qn_run_steps(run, 1 + s->n_bytes / 4));
    qn_vbuild v;
    qn_vbuild_init(&v, run);
    int64_t column = 0;
    for (size_t i = 0; i < s->n_bytes && v.status == QN_OK;) {
        size_t at = i;
        uint32_t cp = qn_vchar_next(s, &i);
        if (cp != '\t') {
            qn_vbuild_add_slice(&v, s, at, i - at);
            column = cp == '\n' || cp == '\r' ? 0 : column + 1;
        } else if (size > 0) {
            int64_t n = size - column % size;
            qn_vbuild_repeat(&v, space, (uint64_t)n);
            column = (column + n) % size;
        }
    }
    QN_TRY(qn_vbuild_finish(&v, out));
    *out = qn_vsafe(*out, qn_vis_safe(fn->self));
    return QN_OK;
}

const qn_method qn_methods_str_pad[] = {
    {"center", call_center}, {"ljust", call_ljust},           {"rjust", call_rjust},
    {"zfill", call_zfill},   {"expandtabs", call_expandtabs}, {NULL, NULL},
};
