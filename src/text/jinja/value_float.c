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

/* More digits than any double has behind its point; the C library takes memory for each that is asked for. */
#define MAX_PRECISION 1100
#define MAX_F64_TEXT (MAX_PRECISION + 320)

/* What the C library takes for the digits of one double, in steps: a microsecond or two for a large or tiny one. */
#define FLOAT_STEPS 32

void qn_vbuild_add_f64(qn_vbuild *v, double f, char type, int precision, bool alt)
{
    if (v->status == QN_OK) {
        uint64_t digits = (uint64_t)(precision < MAX_PRECISION ? precision : MAX_PRECISION);
        v->status = qn_run_steps(v->run, FLOAT_STEPS + digits / 4);
    }
    if (v->status != QN_OK) {
        return;
    }
    char fmt[8] = {'%', '#', '.', '*', type, '\0'}, fmt_plain[8] = {'%', '.', '*', type, '\0'};
    char text[MAX_F64_TEXT];
    int n =
        snprintf(text, sizeof(text), alt ? fmt : fmt_plain, precision < MAX_PRECISION ? precision : MAX_PRECISION, f);
    if (n < 0 || (size_t)n >= sizeof(text)) {
        return;
    }
    use_point(text);
    bool general = type == 'g' || type == 'G';
    size_t digits = strcspn(text, "eE");
    qn_vbuild_add(v, text, digits);
    if (precision > MAX_PRECISION && (!general || alt)) {
        qn_value zero;
        if (qn_vcstring(v->run, "0", &zero) != QN_OK) {
            v->status = v->run->err->code;
            return;
        }
        qn_vbuild_repeat(v, zero, (uint64_t)(precision - MAX_PRECISION));
    }
    qn_vbuild_add_cstr(v, text + digits);
}

/* ---- the shortest form ---- */

/* f as n digits d, rounded; its value is 0.d times ten to the power of *point. */
static void round_to(double f, int n, char *d, int *point)
{
    char text[40];
    snprintf(text, sizeof(text), "%.*e", n - 1, f);
    use_point(text);
    d[0] = text[0];
    memcpy(d + 1, text + 2, (size_t)n - 1);
    *point = 1 + (int)strtol(strchr(text, 'e') + 1, NULL, 10);
}

static bool reads_back(const char *d, int n, int point, double f)
{
    char text[40];
    snprintf(text, sizeof(text), "%.*se%d", n, d, point - n);
    return strtod(text, NULL) == f;
}

/* The next larger number of n digits. False: it would have one more. */
static bool increment(char *d, int n)
{
    while (n > 0 && d[n - 1] == '9') {
        d[--n] = '0';
    }
    if (n > 0) {
        d[n - 1]++;
    }
    return n > 0;
}

/* As few digits as read back as f, which is positive; returns how many. */
static int shortest(double f, char d[24], int *point)
{
    int power, n = f < DBL_MIN ? 1 : DBL_DIG;
    bool asymmetric = frexp(f, &power) == 0.5; /* below a power of two doubles are closer together than above */
    for (; n < 17; n++) {
        round_to(f, n, d, point);
        if (reads_back(d, n, *point, f) || (asymmetric && increment(d, n) && reads_back(d, n, *point, f))) {
            break;
        }
    }
    if (n == 17) {
        round_to(f, n, d, point);
    }
    while (n > 1 && d[n - 1] == '0') {
        n--;
    }
    return n;
}

size_t qn_f64_text(double f, char out[QN_F64_TEXT])
{
    if (!isfinite(f)) {
        return (size_t)snprintf(out, QN_F64_TEXT, "%s", isnan(f) ? "nan" : f < 0 ? "-inf" : "inf");
    }
    char digits[24] = "0";
    int point = 1, n_digits = f == 0 ? 1 : shortest(fabs(f), digits, &point);
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

void qn_vbuild_add_float(qn_vbuild *v, double f)
{
    if (v->status == QN_OK) {
        v->status = qn_run_steps(v->run, 2 * FLOAT_STEPS); /* up to three tries, each read back */
    }
    if (v->status == QN_OK) {
        char text[QN_F64_TEXT];
        qn_vbuild_add(v, text, qn_f64_text(f, text));
    }
}

bool qn_f64_digits(double f, char *out, size_t cap)
{
    int n = snprintf(out, cap, "%.0f", f);
    return n > 0 && (size_t)n < cap;
}
