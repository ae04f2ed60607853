/* format(value, spec): numbers and strings in fields, by Python's little language for it.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

#include <math.h>

typedef struct spec {
    qn_value fill; /* one character */
    char align;    /* '<', '>', '=', '^', or 0: the type's own */
    char sign;     /* '-', '+', ' ' */
    bool no_minus_zero, alt;
    char group;               /* ',', '_', or 0 */
    int64_t width, precision; /* -1: not given */
    char type;                /* 0: not given */
} spec;

/* ---- reading ---- */

static qn_status number(qn_run *run, qn_str text, size_t *i, int64_t *out)
{
    if (*i >= text.len || text.data[*i] < '0' || text.data[*i] > '9') {
        return QN_OK;
    }
    *out = 0;
    for (; *i < text.len && text.data[*i] >= '0' && text.data[*i] <= '9'; ++*i) {
        *out = *out * 10 + text.data[*i] - '0';
        if (*out > INT32_MAX) {
            return qn_run_fail(run, "Too many decimal digits in format string");
        }
    }
    return QN_OK;
}

static bool is_align(const qn_vstr *s, size_t i)
{
    return i < s->n_bytes && s->bytes[i] != '\0' && strchr("<>=^", s->bytes[i]) != NULL;
}

static bool take(qn_str text, size_t *i, const char *any, char *out)
{
    if (*i >= text.len || text.data[*i] == '\0' || strchr(any, text.data[*i]) == NULL) {
        return false;
    }
    *out = text.data[(*i)++];
    return true;
}

static qn_status read_spec(qn_run *run, qn_str text, spec *f)
{
    *f = (spec){.sign = '-', .width = -1, .precision = -1};
    qn_vstr whole = {.bytes = text.data, .n_bytes = (uint32_t)text.len};
    size_t i = 0, first = 0;
    if (text.len > 0) {
        qn_vchar_next(&whole, &first);
    }
    if (text.len > 0 && is_align(&whole, first)) {
        QN_TRY(qn_vstring(run, text.data, first, false, &f->fill));
        f->align = text.data[first];
        i = first + 1;
    } else {
        QN_TRY(qn_vcstring(run, " ", &f->fill));
        (void)take(text, &i, "<>=^", &f->align);
    }
    bool filled = i > 1;
    char c;
    (void)take(text, &i, "+- ", &f->sign);
    f->no_minus_zero = take(text, &i, "z", &c);
    f->alt = take(text, &i, "#", &c);
    if (!filled && take(text, &i, "0", &c)) {
        QN_TRY(qn_vcstring(run, "0", &f->fill));
        f->align = f->align == 0 ? '0' : f->align; /* '=' for numbers, nothing special for strings */
    }
    QN_TRY(number(run, text, &i, &f->width));
    if (take(text, &i, ",_", &f->group) && take(text, &i, ",_", &c)) {
        return qn_run_fail(run, "Cannot specify both ',' and '_'.");
    }
    if (take(text, &i, ".", &c)) {
        QN_TRY(number(run, text, &i, &f->precision));
        if (f->precision < 0) {
            return qn_run_fail(run, "Format specifier missing precision");
        }
    }
    if (i + 1 < text.len || (i < text.len && (uint8_t)text.data[i] >= 0x80)) {
        return qn_run_fail(run, "Invalid format specifier '%.*s'", QN_STR_ARG(text));
    }
    f->type = i < text.len ? text.data[i] : 0;
    if (f->group != 0 && f->type != 0 && strchr(f->group == '_' ? "defgEG%FboxX" : "defgEG%F", f->type) == NULL) {
        return qn_run_fail(run, "Cannot specify '%c' with '%c'.", f->group, f->type);
    }
    return QN_OK;
}

/* ---- writing ---- */

static qn_status pad(qn_run *run, const spec *f, char align, qn_value prefix, qn_value body, qn_value *out)
{
    int64_t n = (int64_t)prefix.u.s->n_chars + body.u.s->n_chars;
    uint64_t missing = f->width > n ? (uint64_t)(f->width - n) : 0;
    uint64_t left = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
    qn_vbuild v;
    qn_vbuild_init(&v, run);
    if (align != '=') {
        qn_vbuild_repeat(&v, f->fill, left);
    }
    qn_vbuild_add_string(&v, prefix);
    if (align == '=') {
        qn_vbuild_repeat(&v, f->fill, left);
    }
    qn_vbuild_add_string(&v, body);
    qn_vbuild_repeat(&v, f->fill, missing - left);
    return qn_vbuild_finish(&v, out);
}

static qn_status unknown_type(qn_run *run, char type, qn_value a)
{
    return qn_run_fail(run, "Unknown format code '%c' for object of type '%s'", type, qn_vkind_name(a));
}

static qn_status format_string(qn_run *run, qn_value a, const spec *f, qn_value *out)
{
    if (f->type != 0 && f->type != 's') {
        return unknown_type(run, f->type, a);
    }
    if (f->sign != '-' || f->alt || f->no_minus_zero || f->align == '=' || f->group != 0) {
        return qn_run_fail(run, "a sign, '#', 'z', '=' or grouping is not allowed in a string's format specifier");
    }
    qn_value empty;
    QN_TRY(qn_vcstring(run, "", &empty));
    if (f->precision >= 0 && f->precision < a.u.s->n_chars) {
        QN_TRY(qn_run_steps(run, (uint64_t)f->precision / 16));
        size_t n = qn_vstr_offset(a.u.s, (uint32_t)f->precision);
        QN_TRY(qn_vstring_slice(run, a.u.s, 0, n, &a));
    }
    return pad(run, f, f->align == 0 || f->align == '0' ? '<' : f->align, empty, a, out);
}

/* The whole digits with separators, and zeros before them up to `width` characters (0: none). */
static void add_grouped(qn_vbuild *v, const char *digits, size_t n, char group, unsigned size, int64_t width)
{
    if (group == 0) {
        qn_vbuild_add(v, digits, n);
        return;
    }
    /* Of digits, with the zeros: so many that they and their separators reach the width. A separator never comes first,
     * so the result may be one longer than asked for. */
    int64_t least = width * size / (size + 1) - 1;
    uint64_t total = least > (int64_t)n ? (uint64_t)least : n;
    while (width > 0 && (int64_t)(total + (total - 1) / size) < width) {
        total++;
    }
    if (v->status == QN_OK) {
        v->status = qn_run_steps(v->run, total);
    }
    for (uint64_t i = 0; i < total && v->status == QN_OK; i++) {
        char c = i < total - n ? '0' : digits[i - (total - n)];
        if (i > 0 && (total - i) % size == 0) {
            qn_vbuild_add(v, &group, 1);
        }
        qn_vbuild_add(v, &c, 1);
    }
}

/* A number as digits (and what follows them): sign, padding, groups. prefix: "0x" and such. */
static qn_status finish_number(qn_run *run, const spec *f, bool minus, const char *prefix, qn_value body, unsigned size,
                               qn_value *out)
{
    qn_vbuild head, v;
    qn_vbuild_init(&head, run);
    qn_vbuild_add_cstr(&head, minus ? "-" : f->sign == '+' ? "+" : f->sign == ' ' ? " " : "");
    qn_vbuild_add_cstr(&head, prefix);
    qn_value before, text;
    QN_TRY(qn_vbuild_finish(&head, &before));
    char align = f->align == 0 ? '>' : f->align == '0' ? '=' : f->align;
    const qn_vstr *s = body.u.s;
    size_t n = 0;
    bool hex = size == 4;
    while (n < s->n_bytes && ((s->bytes[n] >= '0' && s->bytes[n] <= '9') || (hex && s->bytes[n] != '.'))) {
        n++;
    }
    int64_t width = 0;
    if (align == '=' && qn_str_is(qn_vbytes(f->fill), "0")) {
        width = f->width - (int64_t)before.u.s->n_chars - (int64_t)(s->n_bytes - n);
    }
    qn_vbuild_init(&v, run);
    add_grouped(&v, s->bytes, n, n > 0 ? f->group : 0, size, width);
    qn_vbuild_add(&v, s->bytes + n, s->n_bytes - n);
    QN_TRY(qn_vbuild_finish(&v, &text));
    return pad(run, f, align, before, text, out);
}

/* ---- floats ---- */

/* Like 'g', but never without a decimal point: how a float without a type is shown. */
static void add_plain_float(qn_vbuild *v, double x, int precision, bool alt)
{
    if (precision < 0) {
        qn_vbuild_add_float(v, x);
        return;
    }
    int p = precision == 0 ? 1 : precision;
    qn_vbuild probe = {.run = v->run, .status = v->status};
    qn_vbuild_add_f64(&probe, x, 'e', p - 1, false);
    qn_value shown;
    v->status = qn_vbuild_finish(&probe, &shown);
    if (v->status != QN_OK) {
        return;
    }
    const char *e = memchr(shown.u.s->bytes, 'e', shown.u.s->n_bytes);
    long power = 0;
    for (const char *c = e == NULL ? "" : e + 2; e != NULL && c < shown.u.s->bytes + shown.u.s->n_bytes; c++) {
        power = power * 10 + (*c - '0');
    }
    power = e != NULL && e[1] == '-' ? -power : power;
    if (power >= -4 && power < p - 1) {
        qn_vbuild_add_f64(v, x, 'g', p, alt);
        bool point = memchr(v->bytes, '.', v->n_bytes) != NULL;
        qn_vbuild_add_cstr(v, v->status == QN_OK && !point ? ".0" : "");
        return;
    }
    /* With an exponent: the digits without the zeros at their end. */
    size_t end = e == NULL ? shown.u.s->n_bytes : (size_t)(e - shown.u.s->bytes), n = end;
    while (!alt && n > 1 && memchr(shown.u.s->bytes, '.', end) != NULL && shown.u.s->bytes[n - 1] == '0') {
        n--;
    }
    n -= !alt && n > 0 && shown.u.s->bytes[n - 1] == '.';
    qn_vbuild_add(v, shown.u.s->bytes, n);
    qn_vbuild_add(v, shown.u.s->bytes + end, shown.u.s->n_bytes - end);
}

static qn_status format_float(qn_run *run, qn_value a, double x, spec *f, qn_value *out)
{
    if (f->type != 0 && strchr("eEfFgGn%", f->type) == NULL) {
        return unknown_type(run, f->type, a);
    }
    char type = f->type == '%' ? 'f' : f->type == 'n' ? 'g' : f->type;
    if (f->type == '%') {
        x *= 100;
    }
    qn_vbuild v;
    qn_vbuild_init(&v, run);
    bool minus = signbit(x) && !isnan(x);
    if (!isfinite(x)) {
        bool upper = type == 'E' || type == 'F' || type == 'G';
        qn_vbuild_add_cstr(&v, isnan(x) ? (upper ? "NAN" : "nan") : upper ? "INF" : "inf");
    } else if (type == 0) {
        add_plain_float(&v, fabs(x), (int)f->precision, f->alt);
    } else {
        qn_vbuild_add_f64(&v, fabs(x), type, f->precision < 0 ? 6 : (int)f->precision, f->alt);
    }
    qn_vbuild_add_cstr(&v, f->type == '%' ? "%" : "");
    QN_TRY(qn_vbuild_finish(&v, &a));
    if (f->no_minus_zero && minus) {
        minus = false;
        for (uint32_t i = 0; i < a.u.s->n_bytes && (a.u.s->bytes[i] | 32) != 'e'; i++) {
            minus = minus || (a.u.s->bytes[i] >= '1' && a.u.s->bytes[i] <= '9') || a.u.s->bytes[i] == 'i';
        }
    }
    return finish_number(run, f, minus, "", a, 3, out);
}

/* ---- integers ---- */

static qn_status format_char(qn_run *run, int64_t i, const spec *f, qn_value *out)
{
    if (i < 0 || i >= QN_UNICODE_END || (i >= 0xD800 && i < 0xE000)) {
        return qn_run_fail(run, "%%c arg not in range(0x110000)");
    }
    if (f->sign != '-' || f->alt) {
        return qn_run_fail(run, "Sign or alternate form not allowed with integer format specifier 'c'");
    }
    qn_value body, none;
    char c[4];
    QN_TRY(qn_vstring(run, c, qn_utf8_put((uint32_t)i, c), false, &body));
    QN_TRY(qn_vcstring(run, "", &none));
    return pad(run, f, f->align == 0 ? '<' : f->align == '0' ? '=' : f->align, none, body, out);
}

static qn_status format_whole(qn_run *run, qn_value a, spec *f, qn_value *out)
{
    if (f->type != 0 && strchr("eEfFgG%", f->type) != NULL) {
        double x = qn_vas_f64(a);
        return isinf(x) ? qn_run_fail(run, "int too large to convert to float") : format_float(run, a, x, f, out);
    }
    if (f->type != 0 && strchr("bcdoxXn", f->type) == NULL) {
        return unknown_type(run, f->type, a);
    }
    if (f->precision >= 0 || f->no_minus_zero) {
        return qn_run_fail(run, "Precision and 'z' are not allowed in an integer's format specifier");
    }
    bool decimal = f->type == 0 || f->type == 'd' || f->type == 'n';
    if (a.kind == QN_V_BIGINT && !decimal) {
        return qn_run_fail(run, "integer overflow: beyond 64 bits only decimal digits are shown");
    }
    if (f->type == 'c') {
        return format_char(run, qn_vwhole(a), f, out);
    }
    qn_value body = a;
    bool minus = a.kind == QN_V_BIGINT ? a.u.s->bytes[0] == '-' : qn_vwhole(a) < 0;
    if (a.kind == QN_V_BIGINT) {
        QN_TRY(qn_vstring_slice(run, a.u.s, minus, a.u.s->n_bytes - minus, &body));
    } else {
        uint64_t left = minus ? 0 - (uint64_t)qn_vwhole(a) : (uint64_t)qn_vwhole(a);
        unsigned base = decimal ? 10 : f->type == 'b' ? 2 : f->type == 'o' ? 8 : 16;
        char digits[64];
        size_t at = sizeof(digits);
        do {
            digits[--at] = (f->type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef")[left % base];
            left /= base;
        } while (left > 0);
        QN_TRY(qn_vstring(run, digits + at, sizeof(digits) - at, false, &body));
    }
    char prefix[3] = {'0', f->type, '\0'};
    return finish_number(run, f, minus, f->alt && !decimal ? prefix : "", body, decimal ? 3 : 4, out);
}

qn_status qn_vformat_one(qn_run *run, qn_value a, qn_str text, qn_value *out)
{
    if (text.len == 0) {
        return qn_vstr_of(run, a, out);
    }
    spec f;
    QN_TRY(read_spec(run, text, &f));
    if (a.kind == QN_V_STRING) {
        return format_string(run, a, &f, out);
    }
    if (a.kind == QN_V_FLOAT) {
        return format_float(run, a, a.u.f, &f, out);
    }
    if (qn_vis_number(a)) {
        return format_whole(run, a, &f, out);
    }
    return qn_run_fail(run, "unsupported format string passed to %s.__format__", qn_vkind_name(a));
}
