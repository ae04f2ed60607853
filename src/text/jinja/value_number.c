/* Numbers as Python reads and compares them: integers of any size, exact comparison with floats.
 * SPDX-License-Identifier: MIT */
#include "base/os.h"
#include "text/jinja/value_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- reading ---- */

/* text without spaces around it, digits of other scripts made ASCII, and underscores between digits taken out.
 * *is false: an underscore at a wrong place, or a character beyond ASCII that is no digit. */
static qn_status plain_number(qn_run *run, qn_str text, bool *is, char **out, size_t *n_out)
{
    QN_TRY(qn_run_steps(run, 1 + text.len / 16));
    char *p = qn_run_alloc(run, text.len + 1);
    if (p == NULL) {
        return run->err->code;
    }
    qn_vstr s = {.bytes = text.data, .n_bytes = (uint32_t)text.len};
    size_t from = 0, to = text.len, n = 0;
    for (size_t i = 0; i < to && qn_char_is_space(qn_vchar_next(&s, &i));) {
        from = i;
    }
    for (size_t i = to; i > from && qn_char_is_space(qn_vchar_before(&s, &i));) {
        to = i;
    }
    bool after_digit = false, after_mark = false;
    *is = true;
    for (size_t i = from; i < to;) {
        uint32_t cp = qn_vchar_next(&s, &i);
        if (cp == '_') {
            *is = *is && after_digit;
            after_digit = false;
            after_mark = true;
            continue;
        }
        int digit = qn_char_decimal(cp);
        bool letter = (cp >= 'a' && cp <= 'z') || (cp >= 'A' && cp <= 'Z');
        if (digit < 0 && (cp >= 0x80 || cp == 0)) {
            *is = false;
            cp = '?';
        }
        *is = *is && (!after_mark || digit >= 0 || letter);
        after_mark = false;
        after_digit = digit >= 0 || letter;
        p[n++] = digit >= 0 ? (char)('0' + digit) : (char)cp;
    }
    *is = *is && !after_mark && n > 0;
    p[n] = '\0';
    *out = p;
    *n_out = n;
    return QN_OK;
}

#define MAX_DIGITS 4300 /* Python's limit for int(text) */
#define LIMB 1000000000u

/* Digits in any base to decimal ones. */
static qn_status big_value(qn_run *run, const char *digits, size_t n, unsigned base, bool minus, bool *is,
                           qn_value *out)
{
    uint32_t limbs[MAX_DIGITS / 9 + 2];
    size_t n_limbs = 0;
    QN_TRY(qn_run_steps(run, n * n / 16));
    for (size_t i = 0; i < n; i++) {
        char c = digits[i];
        uint64_t carry = (uint64_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
        for (size_t j = 0; j < n_limbs; j++) {
            carry += (uint64_t)limbs[j] * base;
            limbs[j] = (uint32_t)(carry % LIMB);
            carry /= LIMB;
        }
        if (carry > 0) {
            if (n_limbs == sizeof(limbs) / sizeof(*limbs)) {
                *is = false;
                return QN_OK;
            }
            limbs[n_limbs++] = (uint32_t)carry;
        }
    }
    qn_vbuild v;
    qn_vbuild_init(&v, run);
    qn_vbuild_printf(&v, "%s%u", minus ? "-" : "", limbs[n_limbs - 1]);
    for (size_t j = n_limbs - 1; j-- > 0;) {
        qn_vbuild_printf(&v, "%09u", limbs[j]);
    }
    QN_TRY(qn_vbuild_finish(&v, out));
    out->kind = QN_V_BIGINT;
    return QN_OK;
}

qn_status qn_vparse_int(qn_run *run, qn_str text, int64_t base, bool *is, qn_value *out)
{
    char *p;
    size_t n;
    QN_TRY(plain_number(run, text, is, &p, &n));
    if (!*is || (base != 0 && (base < 2 || base > 36))) {
        *is = false;
        return QN_OK;
    }
    bool minus = *p == '-';
    if (*p == '-' || *p == '+') {
        p++;
        n--;
    }
    char mark = n > 1 && p[0] == '0' ? (char)(p[1] | 32) : '0';
    unsigned named = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 0;
    if (named != 0 && (base == 0 || base == (int64_t)named)) {
        base = (int64_t)named;
        p += 2;
        n -= 2;
    } else if (base == 0) {
        base = 10;
        *is = n < 2 || p[0] != '0' || strspn(p, "0") == n;
    }
    uint64_t sum = 0;
    bool big = false;
    for (size_t i = 0; i < n; i++) {
        char c = (char)(p[i] | 32);
        int digit = p[i] >= '0' && p[i] <= '9' ? p[i] - '0' : c >= 'a' && c <= 'z' ? c - 'a' + 10 : 99;
        if (digit >= base) {
            *is = false;
            return QN_OK;
        }
        big = big || __builtin_mul_overflow(sum, (uint64_t)base, &sum) ||
              __builtin_add_overflow(sum, (uint64_t)digit, &sum);
    }
    *is = *is && n > 0 && n <= MAX_DIGITS;
    if (!*is) {
        return QN_OK;
    }
    if (big || sum > (uint64_t)INT64_MAX + minus) {
        return big_value(run, p, n, (unsigned)base, minus, is, out);
    }
    *out = qn_vint(minus ? (int64_t)(0 - sum) : (int64_t)sum);
    return QN_OK;
}

qn_status qn_vparse_float(qn_run *run, qn_str text, bool *is, double *out)
{
    char *whole;
    size_t n;
    QN_TRY(plain_number(run, text, is, &whole, &n));
    if (!*is) {
        return QN_OK;
    }
    char *p = whole + (*whole == '-' || *whole == '+');
    char word[10] = "";
    for (size_t i = 0; i + 1 < sizeof(word) && p[i] != '\0'; i++) {
        word[i] = (char)(p[i] | 32);
    }
    if (strcmp(word, "inf") == 0 || strcmp(word, "infinity") == 0 || strcmp(word, "nan") == 0) {
        double f = *word == 'n' ? (double)NAN : (double)INFINITY;
        *out = *whole == '-' ? -f : f;
        return QN_OK;
    }
    size_t before = strspn(p, "0123456789"), after = 0;
    p += before;
    if (*p == '.') {
        after = strspn(p + 1, "0123456789");
        p += after + 1;
    }
    *is = before + after > 0;
    if (*is && (*p | 32) == 'e') {
        p += 1 + (p[1] == '-' || p[1] == '+');
        size_t power = strspn(p, "0123456789");
        *is = power > 0;
        p += power;
    }
    *is = *is && *p == '\0';
    if (*is) {
        *out = qn_os_parse_f64(whole);
    }
    return QN_OK;
}

/* ---- comparing ---- */

int qn_bigint_compare(qn_str a, qn_str b)
{
    bool minus = *a.data == '-';
    if (minus != (*b.data == '-')) {
        return minus ? -1 : 1;
    }
    int order = a.len != b.len ? (a.len < b.len ? -1 : 1) : memcmp(a.data, b.data, a.len);
    order = (order > 0) - (order < 0);
    return minus ? -order : order;
}

double qn_vas_f64(qn_value a)
{
    if (a.kind == QN_V_FLOAT) {
        return a.u.f;
    }
    if (a.kind != QN_V_BIGINT) {
        return (double)qn_vwhole(a);
    }
    char text[400]; /* digits beyond 1e308 give an infinity anyway */
    size_t n = a.u.s->n_bytes < sizeof(text) ? a.u.s->n_bytes : sizeof(text) - 1;
    memcpy(text, a.u.s->bytes, n);
    text[n] = '\0';
    return qn_os_parse_f64(text);
}

static int sign_of(qn_value bigint)
{
    return bigint.u.s->bytes[0] == '-' ? -1 : 1;
}

static int compare_with_float(qn_value whole, double f)
{
    if (isnan(f)) {
        return QN_UNORDERED;
    }
    if (whole.kind == QN_V_BIGINT) {
        char digits[320];
        if (isinf(f)) {
            return f > 0 ? -1 : 1;
        }
        if ((f > -0x1p63 && f < 0x1p63) || !qn_f64_digits(f, digits, sizeof(digits))) {
            return sign_of(whole);
        }
        return qn_bigint_compare(qn_vbytes(whole), qn_str_of(digits));
    }
    int64_t i = qn_vwhole(whole);
    if (f >= 0x1p63 || f < -0x1p63) {
        return f > 0 ? -1 : 1;
    }
    int64_t j = (int64_t)f;
    double rest = f - (double)j;
    return i != j ? (i < j ? -1 : 1) : rest > 0 ? -1 : rest < 0;
}

qn_status qn_vcompare_numbers(qn_value a, qn_value b, int *out)
{
    if (a.kind == QN_V_FLOAT && b.kind == QN_V_FLOAT) {
        *out = isnan(a.u.f) || isnan(b.u.f) ? QN_UNORDERED : (a.u.f > b.u.f) - (a.u.f < b.u.f);
    } else if (a.kind == QN_V_FLOAT || b.kind == QN_V_FLOAT) {
        bool turned = a.kind == QN_V_FLOAT;
        int order = compare_with_float(turned ? b : a, turned ? a.u.f : b.u.f);
        *out = turned && order != QN_UNORDERED ? -order : order;
    } else if (a.kind == QN_V_BIGINT && b.kind == QN_V_BIGINT) {
        *out = qn_bigint_compare(qn_vbytes(a), qn_vbytes(b));
    } else if (a.kind == QN_V_BIGINT || b.kind == QN_V_BIGINT) {
        *out = a.kind == QN_V_BIGINT ? sign_of(a) : -sign_of(b);
    } else {
        *out = (qn_vwhole(a) > qn_vwhole(b)) - (qn_vwhole(a) < qn_vwhole(b));
    }
    return QN_OK;
}

qn_status qn_vtruncate(qn_run *run, double f, qn_value *out)
{
    if (!isfinite(f)) {
        return qn_run_fail(run, "cannot convert float %s to integer", isnan(f) ? "NaN" : "infinity");
    }
    f = trunc(f);
    if (f >= -0x1p63 && f < 0x1p63) {
        *out = qn_vint((int64_t)f);
        return QN_OK;
    }
    char digits[320];
    (void)qn_f64_digits(f, digits, sizeof(digits));
    QN_TRY(qn_vcstring(run, digits, out));
    out->kind = QN_V_BIGINT;
    return QN_OK;
}
