/* Filters of numbers: abs, int, float, round, filesizeformat.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

#include <math.h>
#include <stdio.h>

static qn_status do_abs(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    QN_TRY(qn_args_bind(run, "abs", "", args, NULL));
    if (!qn_vis_number(a)) {
        return qn_run_fail(run, "bad operand type for abs(): '%s'", qn_vkind_name(a));
    }
    if (a.kind == QN_V_FLOAT) {
        *out = qn_vfloat(fabs(a.u.f));
        return QN_OK;
    }
    bool minus = a.kind == QN_V_BIGINT ? a.u.s->bytes[0] == '-' : qn_vwhole(a) < 0;
    return qn_vnegate(run, a, minus, out);
}

/* float(a): *is false where Python raises ValueError or TypeError. */
static qn_status to_float(qn_run *run, qn_value a, bool *is, double *out)
{
    *is = true;
    if (a.kind == QN_V_UNDEFINED) {
        return qn_vundefined_fail(run, a);
    }
    if (a.kind == QN_V_STRING) {
        return qn_vparse_float(run, qn_vbytes(a), is, out);
    }
    *is = qn_vis_number(a);
    *out = *is ? qn_vas_f64(a) : 0;
    if (a.kind == QN_V_BIGINT && isinf(*out)) {
        return qn_run_fail(run, "int too large to convert to float");
    }
    return QN_OK;
}

static qn_status do_int(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    qn_value bound[2];
    int64_t base;
    bool is = false;
    double f;
    QN_TRY(qn_args_bind(run, "int", "default=,base=", args, bound));
    base = !qn_varg_given(bound[1]) ? 10 : qn_vis_whole(bound[1]) ? qn_vwhole(bound[1]) : -1; /* -1: fits nothing */
    if (qn_vis_number(a) && !(a.kind == QN_V_FLOAT && isnan(a.u.f))) {
        *out = qn_vis_whole(a) ? qn_vint(qn_vwhole(a)) : a;
        return a.kind == QN_V_FLOAT ? qn_vtruncate(run, a.u.f, out) : QN_OK;
    }
    if (a.kind == QN_V_STRING) {
        QN_TRY(qn_vparse_int(run, qn_vbytes(a), base, &is, out));
        if (is) {
            return QN_OK;
        }
    }
    QN_TRY(to_float(run, a, &is, &f));
    if (is && isfinite(f)) { /* "42.23" is 42 */
        return qn_vtruncate(run, f, out);
    }
    *out = !qn_varg_given(bound[0]) ? qn_vint(0) : bound[0];
    return QN_OK;
}

static qn_status do_float(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    qn_value fallback;
    bool is;
    double f;
    QN_TRY(qn_args_bind(run, "float", "default=", args, &fallback));
    QN_TRY(to_float(run, a, &is, &f));
    *out = is ? qn_vfloat(f) : !qn_varg_given(fallback) ? qn_vfloat(0) : fallback;
    return QN_OK;
}

/* ---- round ---- */

/* The decimal text of f with so many digits after the point, read back: the exact value decides, ties go to even. */
static qn_status round_float(qn_run *run, double f, int64_t digits, qn_value *out)
{
    if (!isfinite(f) || digits > 323) {
        *out = qn_vfloat(f);
        return QN_OK;
    }
    if (digits < -308) {
        *out = qn_vfloat(f < 0 ? -0.0 : 0.0);
        return QN_OK;
    }
    qn_vbuild v;
    qn_value text;
    bool is;
    qn_vbuild_init(&v, run);
    qn_vbuild_add_cstr(&v, signbit(f) ? "-" : "");
    if (digits >= 0) {
        qn_vbuild_add_f64(&v, fabs(f), 'f', (int)digits, false);
    } else {
        int power = f == 0 ? 0 : (int)floor(log10(fabs(f)));
        power -= f != 0 && fabs(f) < pow(10, power); /* log10 may be off by a hair */
        power += f != 0 && fabs(f) >= pow(10, power + 1);
        int keep = power + (int)digits; /* digits after the first */
        double unit = pow(10, (double)-digits);
        if (keep < 0) {
            f = copysign(keep == -1 && fabs(f) > unit / 2 ? unit : 0, f);
            *out = qn_vfloat(f);
            return QN_OK;
        }
        qn_vbuild_add_f64(&v, fabs(f), 'e', keep, false);
    }
    QN_TRY(qn_vbuild_finish(&v, &text));
    QN_TRY(qn_vparse_float(run, qn_vbytes(text), &is, &f));
    if (isinf(f)) {
        return qn_run_fail(run, "rounded value too large to represent");
    }
    *out = qn_vfloat(f);
    return QN_OK;
}

static qn_status round_whole(qn_run *run, int64_t i, int64_t digits, qn_value *out)
{
    *out = qn_vint(i);
    if (digits >= 0) {
        return QN_OK;
    }
    uint64_t size = i < 0 ? 0 - (uint64_t)i : (uint64_t)i, unit = 1;
    for (int64_t d = digits; d < 0 && unit != 0; d++) {
        unit = unit > UINT64_MAX / 10 ? 0 : unit * 10;
    }
    if (unit == 0) { /* more than twice as large as any integer here */
        *out = qn_vint(0);
        return QN_OK;
    }
    uint64_t rest = size % unit, low = size - rest;
    bool up = rest > unit - rest || (rest == unit - rest && rest != 0 && low / unit % 2 == 1);
    if (up && (low > UINT64_MAX - unit || low + unit > (uint64_t)INT64_MAX)) {
        return qn_run_fail(run, "integer overflow: the result is beyond 64 bits");
    }
    low += up ? unit : 0;
    *out = qn_vint(i < 0 ? (int64_t)(0 - low) : (int64_t)low);
    return QN_OK;
}

static qn_status do_round(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    qn_value bound[2];
    int64_t digits = 0;
    QN_TRY(qn_args_bind(run, "round", "precision=,method=", args, bound));
    qn_str method = bound[1].kind == QN_V_STRING ? qn_vbytes(bound[1]) : QN_STR("");
    bool floor_it = qn_str_is(method, "floor");
    bool common = bound[1].kind == QN_V_UNDEFINED || qn_str_is(method, "common");
    if (!common && !floor_it && !qn_str_is(method, "ceil")) {
        return qn_run_fail(run, "method must be common, ceil or floor");
    }
    bool to_whole = common && bound[0].kind == QN_V_NONE;
    QN_TRY(to_whole ? QN_OK : qn_varg_int(run, "round", bound[0], 0, &digits));
    if (a.kind == QN_V_BIGINT) {
        *out = a;
        return common && digits >= 0 ? QN_OK : qn_run_fail(run, "integer overflow: round takes no more than 64 bits");
    }
    if (!qn_vis_whole(a) && a.kind != QN_V_FLOAT) {
        return qn_run_fail(run, "type %s doesn't define __round__ method", qn_vkind_name(a));
    }
    if (to_whole) {
        return a.kind == QN_V_FLOAT ? qn_vtruncate(run, nearbyint(a.u.f), out) : qn_vnegate(run, a, false, out);
    }
    if (common) {
        return a.kind == QN_V_FLOAT ? round_float(run, a.u.f, digits, out)
                                    : round_whole(run, qn_vwhole(a), digits, out);
    }
    double scale = pow(10, (double)digits), f = qn_vas_f64(a);
    if (qn_vis_whole(a) && digits >= 0) {
        *out = qn_vfloat(f);
        return QN_OK;
    }
    f = floor_it ? floor(f * scale) : ceil(f * scale);
    if (!isfinite(f) || isinf(scale) || scale == 0) {
        return qn_run_fail(run, "cannot round to %lld digits", (long long)digits);
    }
    f = f / scale;
    *out = qn_vfloat(f == 0 ? 0 : f); /* the integer 0 in between has no sign */
    return QN_OK;
}

static qn_status do_filesizeformat(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    static const char prefixes[] = "kMGTPEZY";
    qn_value binary, whole;
    bool is;
    double f;
    QN_TRY(qn_args_bind(run, "filesizeformat", "binary=", args, &binary));
    QN_TRY(to_float(run, a, &is, &f));
    if (!is) {
        return qn_run_fail(run, "could not convert to float: '%s'", qn_vkind_name(a));
    }
    bool by_1024 = qn_varg_truth(binary, false);
    double base = by_1024 ? 1024 : 1000;
    qn_vbuild v;
    qn_vbuild_init(&v, run);
    if (f == 1) {
        return qn_vcstring(run, "1 Byte", out);
    }
    if (f < base) {
        QN_TRY(qn_vtruncate(run, f, &whole));
        qn_vbuild_add_value(&v, whole);
        qn_vbuild_add_cstr(&v, " Bytes");
        return qn_vbuild_finish(&v, out);
    }
    size_t i = 0;
    double unit = base * base;
    while (f >= unit && i + 1 < sizeof(prefixes) - 1) {
        i++;
        unit *= base;
    }
    double shown = base * f / unit;
    if (isfinite(shown)) {
        qn_vbuild_add_f64(&v, shown, 'f', 1, false);
    } else {
        qn_vbuild_add_cstr(&v, isnan(shown) ? "nan" : "inf");
    }
    char letter = by_1024 && prefixes[i] == 'k' ? 'K' : prefixes[i];
    qn_vbuild_printf(&v, " %c%sB", letter, by_1024 ? "i" : "");
    return qn_vbuild_finish(&v, out);
}

const qn_filter qn_filters_number[] = {
    {"int", do_int}, {"float", do_float}, {"abs", do_abs}, {"round", do_round}, {"filesizeformat", do_filesizeformat},
    {NULL, NULL},
};
