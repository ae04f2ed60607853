/* Numbers of a schema: bounds, exactly, and multiples of whole numbers.
 *
 * Exponents are written only where there is no bound and nothing but a number is asked for: with one, whether 1e400 is
 * above a bound or a multiple could not be told by a regular expression.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_schema_number.h"

#include <stdio.h>

/* Numbers end, as qn_schema_limit_number() says; their exponents where a double does, so that who reads one gets a
 * finite number. */
#define WHOLE "(?:0|[1-9]\\d{0,63})"
#define PLAIN_INTEGER "-?" WHOLE
#define ANY_INTEGER PLAIN_INTEGER "(?:\\.0)?"
#define ANY_NUMBER                                                                                              \
    "-?(?:" WHOLE "(?:\\.\\d{1,38})?|(?:0|[1-9]\\d{0,19})(?:\\.\\d{1,20})?[eE](?:\\+?(?:\\d{1,2}|[0-2]\\d\\d|30[0-7])" \
    "|-\\d{1,3})|1(?:\\.[0-6]\\d{0,20})?[eE]\\+?308)"
#define MAX_LISTED 2048 /* multiples between two bounds that are written out one by one */

typedef struct number {
    qn_sx *s;
    unsigned types;
    bool has_strings; /* the same clause allows strings */
    qn_decimal lower, upper;
    bool has_lower, has_upper, is_above, is_below; /* is_above: the bound itself is left out */
    int64_t divisor;                               /* 0: none */
    int64_t not_multiple_of[QN_SCHEMA_MAX_NOT];    /* whole numbers */
    size_t n_not;
    const qn_json *multiple_schema; /* that has the last multipleOf */
    uint32_t n_fraction;            /* digits behind the point that multipleOf 0.01 and its like allow */
    bool has_fraction_limit;
    qn_gx fractions; /* what stands behind the point, by multipleOf 0.5 and its like; whole numbers all fit */
    bool has_fractions;
    qn_gx all;
    bool has_all;
} number;

static void join(number *x, qn_gx part)
{
    x->all = x->has_all ? qn_gx_and(x->s->b, x->all, part) : part;
    x->has_all = true;
}

static qn_gx pattern(number *x, const char *text)
{
    qn_gx out = 0;
    qn_front_pattern(x->s->b, qn_str_of(text), false, false, &out, x->s->err); /* fails only when the builder is full */
    return out;
}

static qn_gx integers(number *x)
{
    return pattern(x, "-?(?:0|[1-9]\\d*)(?:\\.0+)?");
}
static qn_gx plain_numbers(number *x)
{
    return pattern(x, "-?(?:0|[1-9]\\d*)(?:\\.\\d+)?");
}

static qn_status add_bound(number *x, const qn_json *schema, const char *keyword, qn_str text, bool is_lower,
                           bool is_exclusive)
{
    qn_decimal d;
    if (!qn_decimal_read(x->s, text, &d) || d.point > QN_DECIMAL_MAX || (int64_t)d.n - d.point > QN_DECIMAL_MAX) {
        return qn_sx_fail(x->s, QN_EFULL, schema, keyword, "a number with more than 400 digits");
    }
    int order = 0;
    if (is_lower) {
        order = x->has_lower ? qn_decimal_compare(&d, &x->lower) : 1;
        x->is_above = order > 0 ? is_exclusive : order == 0 ? x->is_above || is_exclusive : x->is_above;
        x->lower = order > 0 ? d : x->lower;
        x->has_lower = true;
    } else {
        order = x->has_upper ? qn_decimal_compare(&d, &x->upper) : -1;
        x->is_below = order < 0 ? is_exclusive : order == 0 ? x->is_below || is_exclusive : x->is_below;
        x->upper = order < 0 ? d : x->upper;
        x->has_upper = true;
    }
    return QN_OK;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

static bool bound_i64(const qn_decimal *d, bool is_lower, bool is_exclusive, int64_t *out)
{
    if (d->n != 0 && d->point > 18) {
        return false;
    }
    int64_t v = 0;
    for (int32_t i = 0; i < d->point && d->n != 0; i++) {
        v = v * 10 + (i < (int32_t)d->n ? d->digits[i] - '0' : 0);
    }
    v = d->is_negative ? -v : v; /* cut towards zero */
    if (!qn_decimal_is_integer(d)) {
        v += is_lower && !d->is_negative ? 1 : !is_lower && d->is_negative ? -1 : 0;
    } else if (is_exclusive) {
        v += is_lower ? 1 : -1;
    }
    *out = v;
    return true;
}

static qn_status add_divisor(number *x, const qn_json *schema, const qn_json *v)
{
    int64_t m;
    qn_decimal d;
    x->multiple_schema = schema;
    if (!qn_decimal_read(x->s, qn_json_as_str(v), &d) || d.is_negative || d.n == 0) {
        return qn_sx_fail(x->s, QN_EFORMAT, schema, "multipleOf", "must be a number above zero");
    }
    if (d.n == 1 && d.digits[0] == '1' && d.point <= 0 && d.point > -30) { /* 0.1, 0.01 */
        uint32_t n = (uint32_t)(1 - d.point);
        x->n_fraction = !x->has_fraction_limit || n < x->n_fraction ? n : x->n_fraction;
        x->has_fraction_limit = true;
        return QN_OK;
    }
    qn_gx fractions;
    if (qn_schema_fraction_multiples(x->s, &d, &fractions)) {
        x->fractions = x->has_fractions ? qn_gx_and(x->s->b, x->fractions, fractions) : fractions;
        x->has_fractions = true;
        return QN_OK;
    }
    if (!qn_decimal_is_integer(&d) || !bound_i64(&d, true, false, &m)) {
        return qn_sx_fail(
            x->s, QN_EUNSUPPORTED, schema, "multipleOf",
            "only whole numbers of up to 18 digits are enforced, and fractions of one such as 0.01 or 0.5");
    }
    x->types &= QN_ST_INTEGER;
    int64_t both = x->divisor == 0 ? m : x->divisor;
    if (__builtin_mul_overflow(both / common_divisor(both, m), m, &x->divisor)) {
        return qn_sx_fail(x->s, QN_EFULL, schema, "multipleOf", "too large a common multiple");
    }
    return QN_OK;
}

/* int32 and its like. A format of strings says nothing of a number, and one that nobody knows may be anything. */
static qn_status add_format(number *x, const qn_json *schema, qn_str name)
{
    const char *low, *high;
    if (!qn_sx_number_format(name, &low, &high)) {
        bool is_of_strings = qn_front_format_index(name) >= 0 || qn_sx_other_format(name) != NULL;
        return is_of_strings || x->has_strings ? QN_OK
                                               : qn_sx_fail(x->s, QN_EUNSUPPORTED, schema, "format", QN_SX_NO_FORMAT);
    }
    if (low != NULL) {
        QN_TRY(add_bound(x, schema, "format", qn_str_of(low), true, false));
        QN_TRY(add_bound(x, schema, "format", qn_str_of(high), false, false));
    }
    return QN_OK;
}

static qn_status add_holds(number *x, const qn_json *schema)
{
    static const struct {
        const char *keyword;
        bool is_lower, is_exclusive;
    } bounds[] = {{"minimum", true, false},
                  {"exclusiveMinimum", true, true},
                  {"maximum", false, false},
                  {"exclusiveMaximum", false, true}};
    for (size_t i = 0; i < 4; i++) {
        const qn_json *v = qn_json_find(schema, bounds[i].keyword);
        if (v != NULL) {
            QN_TRY(
                add_bound(x, schema, bounds[i].keyword, qn_json_as_str(v), bounds[i].is_lower, bounds[i].is_exclusive));
        }
    }
    const qn_json *divisor = qn_json_find(schema, "multipleOf"), *format = qn_json_find(schema, "format");
    if (format != NULL) {
        QN_TRY(add_format(x, schema, qn_json_as_str(format)));
    }
    return divisor != NULL ? add_divisor(x, schema, divisor) : QN_OK;
}

/* ---- multiples ---- */

static qn_gx with_zeros(number *x, qn_gx whole)
{
    return qn_gx_cat(x->s->b, (qn_gx[]){whole, pattern(x, "(?:\\.0+)?")}, 2);
}

static qn_gx with_a_zero(number *x, qn_gx whole)
{
    return x->s->o->plain ? whole : qn_gx_cat(x->s->b, (qn_gx[]){whole, pattern(x, "(?:\\.0)?")}, 2);
}

/* By their last digits. */
static qn_gx all_multiples(number *x, int64_t m)
{
    qn_gx_builder *b = x->s->b;
    qn_gx sign = qn_gx_repeat(b, qn_gx_bytes(b, QN_STR("-")), 0, 1);
    return with_zeros(x, qn_gx_cat(b, (qn_gx[]){sign, qn_schema_last_digits(x->s, m)}, 2));
}

/* *is_done: they are few, and *out is all there is to say. */
static qn_status few_multiples(number *x, qn_gx *out, bool *is_done)
{
    int64_t low = 0, high = 0, m = x->divisor;
    *is_done = m != 0 && !x->has_all && x->n_not == 0 && x->has_lower && x->has_upper &&
               bound_i64(&x->lower, true, x->is_above, &low) && bound_i64(&x->upper, false, x->is_below, &high) &&
               high / m - low / m <= MAX_LISTED;
    if (*is_done) {
        qn_gx whole;
        QN_TRY(qn_schema_multiples_between(x->s, m, low, high, &whole));
        *out = with_a_zero(x, whole);
    }
    return QN_OK;
}

/* Whole numbers that must be followed digit by digit to know their remainder. */
static qn_status by_remainder(number *x, qn_gx *out)
{
    if (x->has_all) {
        return qn_sx_fail(x->s, QN_EUNSUPPORTED, x->multiple_schema, "multipleOf",
                          "not enforced beside numbers that must not come (not, if, oneOf)");
    }
    qn_schema_multiples m = {.schema = x->multiple_schema,
                             .divisor = x->divisor,
                             .n_not = x->n_not,
                             .modulus = x->divisor != 0 ? x->divisor : 1,
                             .has_low = x->has_lower,
                             .has_high = x->has_upper};
    for (size_t i = 0; i < x->n_not; i++) {
        int64_t n = m.not_multiple_of[i] = x->not_multiple_of[i];
        if (__builtin_mul_overflow(m.modulus / common_divisor(m.modulus, n), n, &m.modulus)) {
            m.modulus = INT64_MAX;
        }
    }
    if ((x->has_lower && !bound_i64(&x->lower, true, x->is_above, &m.low)) ||
        (x->has_upper && !bound_i64(&x->upper, false, x->is_below, &m.high))) {
        return qn_sx_fail(x->s, QN_EUNSUPPORTED, x->multiple_schema, "multipleOf",
                          "not enforced beside a bound of more than 18 digits");
    }
    qn_gx whole;
    QN_TRY(qn_schema_write_multiples(x->s, &m, &whole));
    *out = with_a_zero(x, whole);
    return QN_OK;
}

/* ---- what must fail ---- */

static qn_status forbid(number *x, const qn_json *list, bool is_list)
{
    for (size_t i = 0; i < (is_list ? qn_json_count(list) : 1); i++) {
        const qn_json *value = is_list ? qn_json_at(list, i) : list;
        if (qn_json_kind_of(value) == QN_JSON_NUMBER) {
            qn_gx literal;
            QN_TRY(qn_sx_number_literal(x->s, qn_json_as_str(value), QN_GX_NO_MAX, &literal));
            join(x, qn_gx_not(x->s->b, literal));
        }
    }
    return QN_OK;
}

static qn_status add_fails(number *x, const qn_schema_literal *l)
{
    switch (l->keyword) {
    case QN_SK_MINIMUM:
        return add_bound(x, l->schema, "minimum", qn_json_as_str(l->value), false, true);
    case QN_SK_EXCLUSIVE_MINIMUM:
        return add_bound(x, l->schema, "exclusiveMinimum", qn_json_as_str(l->value), false, false);
    case QN_SK_MAXIMUM:
        return add_bound(x, l->schema, "maximum", qn_json_as_str(l->value), true, true);
    case QN_SK_EXCLUSIVE_MAXIMUM:
        return add_bound(x, l->schema, "exclusiveMaximum", qn_json_as_str(l->value), true, false);
    case QN_SK_ENUM:
        return forbid(x, l->value, true);
    case QN_SK_CONST:
        return forbid(x, l->value, false);
    case QN_SK_MULTIPLE_OF:
        break;
    default:
        return QN_OK;
    }
    number other = {.s = x->s, .types = QN_ST_NUMBER};
    QN_TRY(add_divisor(&other, l->schema, l->value));
    qn_gx all;
    if (other.has_fraction_limit) {
        char text[64];
        snprintf(text, sizeof(text), "-?\\d+(?:\\.\\d{1,%u}0*)?", other.n_fraction);
        all = pattern(x, text);
    } else if (other.has_fractions) {
        all = other.fractions;
    } else if (x->n_not < QN_SCHEMA_MAX_NOT) {
        x->not_multiple_of[x->n_not++] = other.divisor;
        x->multiple_schema = l->schema;
        return QN_OK;
    } else if (qn_schema_decimal_places(other.divisor) != 0) {
        all = all_multiples(x, other.divisor);
    } else {
        return qn_sx_fail(x->s, QN_EUNSUPPORTED, l->schema, "multipleOf", "more than 4 that must fail for one value");
    }
    join(x, qn_gx_not(x->s->b, all));
    return QN_OK;
}

/* ---- the whole ---- */

static qn_gx unbounded(number *x)
{
    if (x->types == QN_ST_INTEGER) {
        return integers(x);
    }
    if (x->types == QN_ST_FRACTION) {
        return qn_gx_and(x->s->b, plain_numbers(x), qn_gx_not(x->s->b, integers(x)));
    }
    return plain_numbers(x);
}

/* Without remainders. */
static qn_gx regular(number *x)
{
    qn_gx_builder *b = x->s->b;
    if (x->has_fraction_limit && x->types != QN_ST_INTEGER) {
        char text[64];
        snprintf(text, sizeof(text), "-?(?:0|[1-9]\\d*)(?:\\.\\d{1,%u}0*)?", x->n_fraction);
        join(x, pattern(x, text));
    }
    bool integers_only = x->types == QN_ST_INTEGER;
    if (x->has_fractions && !integers_only) {
        join(x, x->fractions);
    }
    if (x->has_lower) {
        join(x, qn_decimal_bound(b, &x->lower, true, x->is_above, integers_only));
    }
    if (x->has_upper) {
        join(x, qn_decimal_bound(b, &x->upper, false, x->is_below, integers_only));
    }
    bool is_bounded = x->has_lower || x->has_upper;
    if (!is_bounded || x->types == QN_ST_FRACTION) {
        join(x, unbounded(x));
    }
    return x->all;
}

static qn_gx limited(number *x, qn_gx all)
{
    bool whole = x->s->o->plain && x->types == QN_ST_INTEGER;
    const qn_decimal *lower = x->has_lower ? &x->lower : NULL, *upper = x->has_upper ? &x->upper : NULL;
    return qn_schema_limit_number(x->s->b, lower, upper, whole, all);
}

/* Numbers whose remainders matter, and fractions. */
static qn_status with_remainders(number *x, qn_gx *out)
{
    qn_gx ways[2];
    uint32_t n_ways = 0;
    if ((x->types & QN_ST_INTEGER) != 0) {
        QN_TRY(by_remainder(x, &ways[n_ways++]));
    }
    x->types &= QN_ST_FRACTION;
    if (x->types != 0) {
        ways[n_ways++] = limited(x, regular(x));
    }
    *out = qn_gx_alt(x->s->b, ways, n_ways);
    return qn_front_status(x->s->b, x->s->err);
}

qn_status qn_sx_number(qn_sx *s, const qn_schema_clause *c, qn_gx *out)
{
    number x = {.s = s, .types = c->types & QN_ST_NUMBER, .has_strings = (c->types & QN_ST_STRING) != 0};
    for (size_t i = 0; i < c->n_literals; i++) {
        const qn_schema_literal *l = &c->literals[i];
        QN_TRY(l->is_negated ? add_fails(&x, l) : add_holds(&x, l->schema));
    }
    qn_gx_builder *b = s->b;
    int order = x.has_lower && x.has_upper ? qn_decimal_compare(&x.lower, &x.upper) : -1;
    if (x.types == 0 || order > 0 || (order == 0 && (x.is_above || x.is_below))) {
        *out = qn_gx_never(b);
        return QN_OK;
    }
    if (!x.has_lower && !x.has_upper && !x.has_all && x.divisor == 0 && x.n_not == 0 && !x.has_fraction_limit &&
        !x.has_fractions && x.types != QN_ST_FRACTION) {
        *out = pattern(&x, x.types == QN_ST_NUMBER ? ANY_NUMBER : s->o->plain ? PLAIN_INTEGER : ANY_INTEGER);
        return qn_front_status(b, s->err);
    }
    bool is_done;
    QN_TRY(few_multiples(&x, out, &is_done));
    if (is_done) {
        return qn_front_status(b, s->err);
    }
    bool is_regular = x.divisor == 0 || qn_schema_decimal_places(x.divisor) != 0;
    for (size_t i = 0; i < x.n_not; i++) {
        is_regular = is_regular && qn_schema_decimal_places(x.not_multiple_of[i]) != 0;
    }
    if (!is_regular) {
        return with_remainders(&x, out);
    }
    for (size_t i = 0; i < x.n_not; i++) {
        join(&x, qn_gx_not(b, all_multiples(&x, x.not_multiple_of[i])));
    }
    if (x.divisor != 0) {
        join(&x, all_multiples(&x, x.divisor));
    }
    *out = limited(&x, regular(&x));
    return qn_front_status(b, s->err);
}
