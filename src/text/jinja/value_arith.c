/* Arithmetic as Python does it, on integers of 64 bits: what does not fit is an error, never a wrong number.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

#include <math.h>

static const char *const signs[] = {"+", "-", "*", "/", "//", "%", "** or pow()"};

static qn_status overflow(qn_run *run)
{
    return qn_run_fail(run, "integer overflow: the result is beyond 64 bits");
}

/* ---- integers ---- */

static int64_t floor_div(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return q - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t floor_mod(int64_t a, int64_t b)
{
    int64_t r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static qn_status whole_power(qn_run *run, int64_t base, int64_t exponent, qn_value *out)
{
    int64_t result = 1;
    bool too_big = false;
    for (uint64_t e = (uint64_t)exponent; e != 0; e >>= 1) {
        if (e & 1) {
            if (too_big || __builtin_mul_overflow(result, base, &result)) {
                return overflow(run);
            }
        }
        /* A square that is too big is an error only when it is used. */
        too_big = too_big || __builtin_mul_overflow(base, base, &base);
    }
    *out = qn_vint(result);
    return QN_OK;
}

static qn_status power_f64(qn_run *run, double a, double b, qn_value *out)
{
    if (a == 0 && b < 0) {
        return qn_run_fail(run, "0.0 cannot be raised to a negative power");
    }
    double f = pow(a, b);
    if (isnan(f) && !isnan(a) && !isnan(b)) {
        return qn_run_fail(run, "a negative number to a fractional power is a complex number");
    }
    if (isinf(f) && isfinite(a) && isfinite(b)) {
        return qn_run_fail(run, "(34, 'Numerical result out of range')");
    }
    *out = qn_vfloat(f);
    return QN_OK;
}

static qn_status divide_whole(qn_run *run, int64_t a, int64_t b, qn_value *out)
{
    if (b == 0) {
        return qn_run_fail(run, "division by zero");
    }
    /* Wide enough to hold both as they are; the quotient is rounded to it and then to a double. */
    *out = qn_vfloat((double)((long double)a / (long double)b));
    return QN_OK;
}

static qn_status arith_whole(qn_run *run, qn_vop op, int64_t a, int64_t b, qn_value *out)
{
    int64_t r = 0;
    bool wrong = false;
    switch (op) {
    case QN_OP_ADD:
        wrong = __builtin_add_overflow(a, b, &r);
        break;
    case QN_OP_SUB:
        wrong = __builtin_sub_overflow(a, b, &r);
        break;
    case QN_OP_MUL:
        wrong = __builtin_mul_overflow(a, b, &r);
        break;
    case QN_OP_DIV:
        return divide_whole(run, a, b, out);
    case QN_OP_FLOORDIV:
    case QN_OP_MOD:
        if (b == 0) {
            return qn_run_fail(run, "integer division or modulo by zero");
        }
        wrong = op == QN_OP_FLOORDIV && a == INT64_MIN && b == -1;
        if (!wrong && b == -1) {
            r = op == QN_OP_FLOORDIV ? -a : 0;
        } else if (!wrong) {
            r = op == QN_OP_FLOORDIV ? floor_div(a, b) : floor_mod(a, b);
        }
        break;
    case QN_OP_POW:
        return b >= 0 ? whole_power(run, a, b, out) : power_f64(run, (double)a, (double)b, out);
    }
    if (wrong) {
        return overflow(run);
    }
    *out = qn_vint(r);
    return QN_OK;
}

/* ---- floats ---- */

static double floor_mod_f64(double a, double b)
{
    double r = fmod(a, b);
    if (r == 0) {
        return copysign(0, b);
    }
    return (r < 0) != (b < 0) ? r + b : r;
}

static double floor_div_f64(double a, double b)
{
    double r = fmod(a, b), q = (a - r) / b;
    if (r != 0 && (r < 0) != (b < 0)) {
        q -= 1;
    }
    if (q == 0) {
        return copysign(0, a / b);
    }
    double whole = floor(q);
    return q - whole > 0.5 ? whole + 1 : whole;
}

static qn_status arith_f64(qn_run *run, qn_vop op, double a, double b, qn_value *out)
{
    switch (op) {
    case QN_OP_ADD:
        *out = qn_vfloat(a + b);
        return QN_OK;
    case QN_OP_SUB:
        *out = qn_vfloat(a - b);
        return QN_OK;
    case QN_OP_MUL:
        *out = qn_vfloat(a * b);
        return QN_OK;
    case QN_OP_POW:
        return power_f64(run, a, b, out);
    case QN_OP_DIV:
    case QN_OP_FLOORDIV:
    case QN_OP_MOD:
        break;
    }
    if (b == 0) {
        return qn_run_fail(run, op == QN_OP_DIV ? "float division by zero" : "float floor division by zero");
    }
    *out = qn_vfloat(op == QN_OP_DIV ? a / b : op == QN_OP_MOD ? floor_mod_f64(a, b) : floor_div_f64(a, b));
    return QN_OK;
}

static qn_status arith_numbers(qn_run *run, qn_vop op, qn_value a, qn_value b, qn_value *out)
{
    if (a.kind == QN_V_FLOAT || b.kind == QN_V_FLOAT) {
        double x = qn_vas_f64(a), y = qn_vas_f64(b);
        if ((a.kind != QN_V_FLOAT && isinf(x)) || (b.kind != QN_V_FLOAT && isinf(y))) {
            return qn_run_fail(run, "int too large to convert to float");
        }
        return arith_f64(run, op, x, y, out);
    }
    if (a.kind == QN_V_BIGINT || b.kind == QN_V_BIGINT) {
        return overflow(run);
    }
    return arith_whole(run, op, qn_vwhole(a), qn_vwhole(b), out);
}

/* ---- strings and lists ---- */

static qn_status add_strings(qn_run *run, qn_value a, qn_value b, qn_value *out)
{
    bool safe = qn_vis_safe(a) || qn_vis_safe(b);
    if (safe) { /* what is not escaped yet becomes so */
        QN_TRY(qn_vescape(run, a, &a));
        QN_TRY(qn_vescape(run, b, &b));
    }
    if (!safe && a.u.s->n_bytes >= QN_APPEND_FROM) {
        return qn_vappend(run, (qn_value[]){a, b}, 2, out);
    }
    qn_vbuild v;
    qn_vbuild_init(&v, run);
    qn_vbuild_add_string(&v, a);
    qn_vbuild_add_string(&v, b);
    QN_TRY(qn_vbuild_finish(&v, out));
    *out = qn_vsafe(*out, safe);
    return QN_OK;
}

static qn_status add_lists(qn_run *run, qn_value a, qn_value b, qn_value *out)
{
    uint32_t n = a.u.list->n, m = b.u.list->n;
    if (n > UINT32_MAX / 2 || m > UINT32_MAX / 2) {
        return qn_run_fail(run, "a list of too many items");
    }
    QN_TRY(qn_run_steps(run, 1 + (n + m) / 4));
    QN_TRY(qn_vlist_new(run, (qn_vkind)a.kind, n + m, out));
    if (n > 0) {
        memcpy(out->u.list->items, a.u.list->items, n * sizeof(qn_value));
    }
    if (m > 0) {
        memcpy(out->u.list->items + n, b.u.list->items, m * sizeof(qn_value));
    }
    out->u.list->n = n + m;
    return QN_OK;
}

static qn_status repeat(qn_run *run, qn_value a, qn_value by, qn_value *out)
{
    if (by.kind == QN_V_BIGINT && by.u.s->bytes[0] != '-') {
        return qn_run_fail(run, "cannot fit 'int' into an index-sized integer");
    }
    uint64_t times = by.kind == QN_V_BIGINT || qn_vwhole(by) < 0 ? 0 : (uint64_t)qn_vwhole(by);
    if (a.kind == QN_V_STRING) {
        qn_vbuild v;
        qn_vbuild_init(&v, run);
        qn_vbuild_repeat(&v, a, times);
        QN_TRY(qn_vbuild_finish(&v, out));
        *out = qn_vsafe(*out, qn_vis_safe(a));
        return QN_OK;
    }
    uint64_t n;
    if (__builtin_mul_overflow(times, (uint64_t)a.u.list->n, &n) || n > UINT32_MAX / 2) {
        return qn_run_fail(run, "a list of too many items");
    }
    QN_TRY(qn_run_steps(run, 1 + n / 4));
    QN_TRY(qn_vlist_new(run, (qn_vkind)a.kind, (uint32_t)n, out));
    for (uint64_t i = 0; n > 0 && i < times; i++) {
        memcpy(out->u.list->items + i * a.u.list->n, a.u.list->items, a.u.list->n * sizeof(qn_value));
    }
    out->u.list->n = (uint32_t)n;
    return QN_OK;
}

static bool is_count(qn_value a)
{
    return qn_vis_whole(a) || a.kind == QN_V_BIGINT;
}

static bool can_repeat(qn_value a)
{
    return a.kind == QN_V_STRING || a.kind == QN_V_LIST || a.kind == QN_V_TUPLE;
}

qn_status qn_varith(qn_run *run, qn_vop op, qn_value a, qn_value b, qn_value *out)
{
    if (qn_vis_number(a) && qn_vis_number(b)) {
        return arith_numbers(run, op, a, b, out);
    }
    if (op == QN_OP_MOD && a.kind == QN_V_STRING) {
        return qn_vpercent(run, a, b, out);
    }
    if (a.kind == QN_V_UNDEFINED || b.kind == QN_V_UNDEFINED) {
        return qn_vundefined_fail(run, a.kind == QN_V_UNDEFINED ? a : b);
    }
    if (op == QN_OP_ADD && a.kind == QN_V_STRING && b.kind == QN_V_STRING) {
        return add_strings(run, a, b, out);
    }
    if (op == QN_OP_ADD && a.kind == b.kind && (a.kind == QN_V_LIST || a.kind == QN_V_TUPLE)) {
        return add_lists(run, a, b, out);
    }
    if (op == QN_OP_MUL && can_repeat(a) && is_count(b)) {
        return repeat(run, a, b, out);
    }
    if (op == QN_OP_MUL && can_repeat(b) && is_count(a)) {
        return repeat(run, b, a, out);
    }
    return qn_run_fail(run, "unsupported operand type(s) for %s: '%s' and '%s'", signs[op], qn_vkind_name(a),
                       qn_vkind_name(b));
}

qn_status qn_vnegate(qn_run *run, qn_value a, bool minus, qn_value *out)
{
    if (a.kind == QN_V_UNDEFINED) {
        return qn_vundefined_fail(run, a);
    }
    if (a.kind == QN_V_FLOAT) {
        *out = qn_vfloat(minus ? -a.u.f : a.u.f);
        return QN_OK;
    }
    if (a.kind == QN_V_BIGINT) {
        bool was_minus = a.u.s->bytes[0] == '-';
        *out = a;
        if (minus && was_minus) {
            QN_TRY(qn_vstring_slice(run, a.u.s, 1, a.u.s->n_bytes - 1, out));
        } else if (minus) {
            qn_vbuild v;
            qn_vbuild_init(&v, run);
            qn_vbuild_add(&v, "-", 1);
            qn_vbuild_add(&v, a.u.s->bytes, a.u.s->n_bytes);
            QN_TRY(qn_vbuild_finish(&v, out));
            bool fits = qn_str_is(qn_vbytes(*out), "-9223372036854775808");
            if (fits) {
                *out = qn_vint(INT64_MIN);
                return QN_OK;
            }
        }
        out->kind = QN_V_BIGINT;
        return QN_OK;
    }
    if (!qn_vis_whole(a)) {
        return qn_run_fail(run, "bad operand type for unary %s: '%s'", minus ? "-" : "+", qn_vkind_name(a));
    }
    if (minus && qn_vwhole(a) == INT64_MIN) {
        return overflow(run);
    }
    *out = qn_vint(minus ? -qn_vwhole(a) : qn_vwhole(a));
    return QN_OK;
}
