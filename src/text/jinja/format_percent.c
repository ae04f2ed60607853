/* format % args, as Python has it from C's printf.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

#include <math.h>

typedef struct percent {
    qn_run *run;
    const qn_vstr *s;
    size_t i; /* in s */
    qn_vbuild v;
    const qn_value *items; /* of a tuple, or the one argument */
    uint32_t n_items, i_item;
    qn_value mapping; /* UNDEFINED without a text: there is none */
    /* of one conversion */
    bool left, plus, space, alt, zero, by_key;
    int64_t width, precision;
} percent;

static qn_status next_argument(percent *p, qn_value *out)
{
    if (p->i_item >= p->n_items) {
        return qn_run_fail(p->run, "not enough arguments for format string");
    }
    *out = p->items[p->i_item++];
    return QN_OK;
}

/* (name): the argument is that item of the mapping. */
static qn_status read_key(percent *p, qn_value *out)
{
    size_t from = ++p->i;
    for (unsigned open = 1; open > 0; p->i++) {
        if (p->i >= p->s->n_bytes) {
            return qn_run_fail(p->run, "incomplete format key");
        }
        open += p->s->bytes[p->i] == '(';
        open -= p->s->bytes[p->i] == ')';
    }
    if (p->mapping.kind != QN_V_DICT) {
        return qn_run_fail(p->run, "format requires a mapping");
    }
    qn_value key;
    bool has;
    QN_TRY(qn_vstring_slice(p->run, p->s, from, p->i - 1 - from, &key));
    QN_TRY(qn_vdict_get(p->run, p->mapping.u.dict, key, &has, out));
    p->by_key = true;
    return has ? QN_OK : qn_run_fail(p->run, "there is no key '%.*s'", QN_STR_ARG(qn_vbytes(key)));
}

/* Digits, or * for an argument. */
static qn_status read_number(percent *p, int64_t *out)
{
    if (p->i < p->s->n_bytes && p->s->bytes[p->i] == '*') {
        p->i++;
        qn_value a;
        QN_TRY(next_argument(p, &a));
        if (!qn_vis_whole(a)) {
            return qn_run_fail(p->run, "* wants int");
        }
        *out = qn_vwhole(a);
        return *out > INT32_MAX || *out < -INT32_MAX ? qn_run_fail(p->run, "width or precision too big") : QN_OK;
    }
    for (; p->i < p->s->n_bytes && p->s->bytes[p->i] >= '0' && p->s->bytes[p->i] <= '9'; p->i++) {
        *out = (*out < 0 ? 0 : *out) * 10 + p->s->bytes[p->i] - '0';
        if (*out > INT32_MAX) {
            return qn_run_fail(p->run, "width or precision too big");
        }
    }
    return QN_OK;
}

static qn_status read_conversion(percent *p, char *type, qn_value *argument, bool *given)
{
    p->left = p->plus = p->space = p->alt = p->zero = *given = false;
    p->width = p->precision = -1;
    if (p->i < p->s->n_bytes && p->s->bytes[p->i] == '(') {
        QN_TRY(read_key(p, argument));
        *given = true;
    }
    for (; p->i < p->s->n_bytes; p->i++) {
        char c = p->s->bytes[p->i];
        bool *flag = c == '-'   ? &p->left
                     : c == '+' ? &p->plus
                     : c == ' ' ? &p->space
                     : c == '#' ? &p->alt
                     : c == '0' ? &p->zero
                                : NULL;
        if (flag == NULL) {
            break;
        }
        *flag = true;
    }
    QN_TRY(read_number(p, &p->width));
    if (p->width < -1) {
        p->left = true;
        p->width = -p->width;
    }
    if (p->i < p->s->n_bytes && p->s->bytes[p->i] == '.') {
        p->i++;
        p->precision = 0;
        QN_TRY(read_number(p, &p->precision));
        p->precision = p->precision < 0 ? 0 : p->precision;
    }
    p->i += p->i < p->s->n_bytes && strchr("hlL", p->s->bytes[p->i]) != NULL;
    if (p->i >= p->s->n_bytes) {
        return qn_run_fail(p->run, "incomplete format");
    }
    *type = p->s->bytes[p->i++];
    return QN_OK;
}

/* sign and "0x" first, then body; zeros may stand between them. */
static qn_status add_field(percent *p, const char *sign, const char *prefix, qn_value body, bool number)
{
    int64_t n = (int64_t)(strlen(sign) + strlen(prefix)) + body.u.s->n_chars;
    uint64_t missing = p->width > n ? (uint64_t)(p->width - n) : 0;
    bool zeros = number && p->zero && !p->left;
    qn_value fill;
    QN_TRY(qn_vcstring(p->run, zeros ? "0" : " ", &fill));
    if (!zeros && !p->left) {
        qn_vbuild_repeat(&p->v, fill, missing);
    }
    qn_vbuild_add_cstr(&p->v, sign);
    qn_vbuild_add_cstr(&p->v, prefix);
    if (zeros) {
        qn_vbuild_repeat(&p->v, fill, missing);
    }
    qn_vbuild_add_string(&p->v, body);
    if (p->left) {
        qn_vbuild_repeat(&p->v, fill, missing);
    }
    return p->v.status;
}

static const char *sign_of(const percent *p, bool minus)
{
    return minus ? "-" : p->plus ? "+" : p->space ? " " : "";
}

static qn_status add_whole(percent *p, char type, qn_value a)
{
    if (a.kind == QN_V_FLOAT && (type == 'd' || type == 'i' || type == 'u')) {
        QN_TRY(qn_vtruncate(p->run, a.u.f, &a));
    }
    if (!qn_vis_whole(a) && a.kind != QN_V_BIGINT) {
        return a.kind == QN_V_UNDEFINED
                   ? qn_vundefined_fail(p->run, a)
                   : qn_run_fail(p->run, "%%%c format: an integer or real number is required, not %s", type,
                                 qn_vkind_name(a));
    }
    unsigned base = type == 'o' ? 8 : type == 'x' || type == 'X' ? 16 : 10;
    if (a.kind == QN_V_BIGINT && base != 10) {
        return qn_run_fail(p->run, "integer overflow: beyond 64 bits only decimal digits are shown");
    }
    char text[66];
    size_t at = sizeof(text);
    qn_str digits;
    bool minus;
    if (a.kind == QN_V_BIGINT) {
        digits = qn_vbytes(a);
        minus = digits.data[0] == '-';
        digits = (qn_str){digits.data + minus, digits.len - minus};
    } else {
        minus = qn_vwhole(a) < 0;
        uint64_t left = minus ? 0 - (uint64_t)qn_vwhole(a) : (uint64_t)qn_vwhole(a);
        do {
            text[--at] = (type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef")[left % base];
            left /= base;
        } while (left > 0);
        digits = (qn_str){text + at, sizeof(text) - at};
    }
    qn_value zero, body;
    QN_TRY(qn_vcstring(p->run, "0", &zero));
    qn_vbuild v;
    qn_vbuild_init(&v, p->run);
    qn_vbuild_repeat(&v, zero, p->precision > (int64_t)digits.len ? (uint64_t)p->precision - digits.len : 0);
    qn_vbuild_add(&v, digits.data, digits.len);
    QN_TRY(qn_vbuild_finish(&v, &body));
    const char *prefix = type == 'o' ? "0o" : type == 'x' ? "0x" : "0X";
    return add_field(p, sign_of(p, minus), p->alt && base != 10 ? prefix : "", body, true);
}

static qn_status add_float(percent *p, char type, qn_value a)
{
    double x = 0;
    if (qn_vis_number(a)) {
        x = qn_vas_f64(a);
        if (isinf(x) && a.kind != QN_V_FLOAT) {
            return qn_run_fail(p->run, "int too large to convert to float");
        }
    } else {
        return a.kind == QN_V_UNDEFINED ? qn_vundefined_fail(p->run, a)
                                        : qn_run_fail(p->run, "must be real number, not %s", qn_vkind_name(a));
    }
    qn_vbuild v;
    qn_vbuild_init(&v, p->run);
    if (isfinite(x)) {
        qn_vbuild_add_f64(&v, fabs(x), type, p->precision < 0 ? 6 : (int)p->precision, p->alt);
    } else {
        bool upper = type == 'E' || type == 'F' || type == 'G';
        qn_vbuild_add_cstr(&v, isnan(x) ? (upper ? "NAN" : "nan") : upper ? "INF" : "inf");
    }
    qn_value body;
    QN_TRY(qn_vbuild_finish(&v, &body));
    return add_field(p, sign_of(p, signbit(x) && !isnan(x)), "", body, true);
}

static qn_status add_char(percent *p, qn_value a)
{
    if (qn_vis_whole(a)) {
        int64_t i = qn_vwhole(a);
        if (i < 0 || i >= QN_UNICODE_END || (i >= 0xD800 && i < 0xE000)) {
            return qn_run_fail(p->run, "%%c arg not in range(0x110000)");
        }
        char c[4];
        QN_TRY(qn_vstring(p->run, c, qn_utf8_put((uint32_t)i, c), false, &a));
    }
    if (a.kind != QN_V_STRING || a.u.s->n_chars != 1) {
        return qn_run_fail(p->run, "%%c requires int or char");
    }
    return add_field(p, "", "", a, false);
}

static qn_status add_text(percent *p, char type, qn_value a, bool safe)
{
    if (type == 's') {
        QN_TRY(qn_vstr_of(p->run, a, &a));
    } else if (type == 'r') {
        QN_TRY(qn_vrepr_of(p->run, a, &a));
    } else {
        QN_TRY(qn_vascii_of(p->run, a, &a));
    }
    if (safe) {
        QN_TRY(qn_vescape(p->run, a, &a));
    }
    if (p->precision >= 0 && p->precision < a.u.s->n_chars) {
        QN_TRY(qn_vstring_slice(p->run, a.u.s, 0, qn_vstr_offset(a.u.s, (uint32_t)p->precision), &a));
    }
    return add_field(p, "", "", a, false);
}

static qn_status convert(percent *p, bool safe)
{
    char type = 0;
    bool given;
    qn_value a = {.kind = QN_V_UNDEFINED};
    size_t start = p->i;
    QN_TRY(read_conversion(p, &type, &a, &given));
    if (type == '%' && p->i == start + 1) {
        qn_vbuild_add(&p->v, "%", 1);
        return p->v.status;
    }
    if (!given) {
        QN_TRY(next_argument(p, &a));
    }
    if (strchr("sradiuoxXeEfFgGc", type) == NULL || type == '\0') {
        return qn_run_fail(p->run, "unsupported format character '%c'", type > ' ' && type < 0x7F ? type : '?');
    }
    switch (type) {
    case 's':
        if (safe && qn_vis_safe(a)) {
            safe = false;
        }
        return add_text(p, type, a, safe);
    case 'r':
    case 'a':
        return add_text(p, type, a, safe);
    case 'c':
        return add_char(p, a);
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X':
        return add_whole(p, type, a);
    default:
        return add_float(p, type, a);
    }
}

qn_status qn_vpercent(qn_run *run, qn_value format, qn_value args, qn_value *out)
{
    percent p = {.run = run, .s = format.u.s, .items = &args, .n_items = 1};
    qn_vbuild_init(&p.v, run);
    if (args.kind == QN_V_TUPLE) {
        p.items = args.u.list->items;
        p.n_items = args.u.list->n;
    } else {
        p.mapping = args;
    }
    while (p.i < p.s->n_bytes) {
        const char *at = memchr(p.s->bytes + p.i, '%', p.s->n_bytes - p.i);
        size_t next = at == NULL ? p.s->n_bytes : (size_t)(at - p.s->bytes);
        qn_vbuild_add_slice(&p.v, p.s, p.i, next - p.i);
        QN_TRY(p.v.status);
        p.i = next;
        if (at != NULL) {
            p.i++;
            QN_TRY(convert(&p, qn_vis_safe(format)));
        }
    }
    /* Whatever has items, even a list, may stay unused; so may what went by names. */
    bool may_stay = p.by_key || args.kind == QN_V_DICT || args.kind == QN_V_LIST || args.kind == QN_V_UNDEFINED ||
                    qn_vis_range(args);
    if (p.i_item < p.n_items && !may_stay) {
        return qn_run_fail(run, "not all arguments converted during string formatting");
    }
    QN_TRY(qn_vbuild_finish(&p.v, out));
    *out = qn_vsafe(*out, qn_vis_safe(format));
    return QN_OK;
}
