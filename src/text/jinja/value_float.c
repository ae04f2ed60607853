/* Floats as Python writes them: in the shortest form that reads back as the same, or with so many digits.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the C library's numbers, whatever the locale ---- */

/* Text of printf() with the locale's decimal point, with '.' for it. */
static void use_point(char *text)
{
    const char *point = localeconv()->decimal_point;
    char *at = strcmp(point, ".") == 0 ? NULL : strstr(text, point);
    if (at != NULL) {
        *at = '.';
        memmove(at + 1, at + strlen(point), strlen(at + strlen(point)) + 1);
    }
}

void qn_vbuild_add_f64(qn_vbuild *v, double f, char type, int precision, bool alt)
{
    char fmt[8] = {'%', '#', '.', '*', type, '\0'}, fmt_plain[8] = {'%', '.', '*', type, '\0'};
    char small[64];
    int n = snprintf(small, sizeof(small), alt ? fmt : fmt_plain, precision, f);
    if (n < 0 || v->status != QN_OK) {
        return;
    }
    char *text = small;
    if ((size_t)n >= sizeof(small)) {
        v->status = qn_run_steps(v->run, (uint64_t)n);
        text = v->status == QN_OK ? qn_run_alloc(v->run, (size_t)n + 1) : NULL;
        if (text == NULL) {
            v->status = v->status != QN_OK ? v->status : v->run->err->code;
            return;
        }
        snprintf(text, (size_t)n + 1, alt ? fmt : fmt_plain, precision, f);
    }
    use_point(text);
    qn_vbuild_add(v, text, strlen(text));
}

/* ---- writing ---- */

size_t qn_f64_text(double f, char out[QN_F64_TEXT])
{
    if (!isfinite(f)) {
        return (size_t)snprintf(out, QN_F64_TEXT, "%s", isnan(f) ? "nan" : f < 0 ? "-inf" : "inf");
    }
    char text[48];
    for (int n = fabs(f) < DBL_MIN ? 1 : DBL_DIG; n <= 17; n++) {
        snprintf(text, sizeof(text), "%.*g", n, f);
        if (strtod(text, NULL) == f) {
            break;
        }
    }
    use_point(text);
    /* "%g" text, d.ddde+xx or ddd.ddd, to digits without leading zeros and the place of the point. */
    char digits[24];
    int n_digits = 0, point = 0, exponent = 0;
    bool seen_point = false;
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '.') {
            seen_point = true;
        } else if (*p == 'e') {
            exponent = (int)strtol(p + 1, NULL, 10);
            break;
        } else if (*p != '-') {
            point += !seen_point && (n_digits > 0 || *p != '0');
            if (n_digits > 0 || *p != '0') {
                digits[n_digits++] = *p;
            } else {
                point -= seen_point;
            }
        }
    }
    while (n_digits > 1 && digits[n_digits - 1] == '0') {
        n_digits--;
    }
    point += exponent;
    if (n_digits == 0) {
        digits[n_digits++] = '0';
        point = 1;
    }
    char *p = out;
    if (signbit(f)) {
        *p++ = '-';
    }
    if (point > 16 || point < -3) {
        *p++ = digits[0];
        if (n_digits > 1) {
            *p++ = '.';
            memcpy(p, digits + 1, (size_t)n_digits - 1);
            p += n_digits - 1;
        }
        p += snprintf(p, 8, "e%c%02d", point > 0 ? '+' : '-', abs(point - 1));
        return (size_t)(p - out);
    }
    if (point <= 0) {
        *p++ = '0';
        *p++ = '.';
        memset(p, '0', (size_t)-point);
        p += -point;
        memcpy(p, digits, (size_t)n_digits);
        p += n_digits;
    } else {
        for (int i = 0; i < point || i < n_digits; i++) {
            if (i == point) {
                *p++ = '.';
            }
            *p++ = i < n_digits ? digits[i] : '0';
        }
        if (n_digits <= point) {
            *p++ = '.';
            *p++ = '0';
        }
    }
    *p = '\0';
    return (size_t)(p - out);
}

bool qn_f64_digits(double f, char *out, size_t cap)
{
    int n = snprintf(out, cap, "%.0f", f);
    return n > 0 && (size_t)n < cap;
}
