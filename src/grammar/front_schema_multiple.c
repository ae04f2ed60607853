/* Whole numbers by their remainder, between bounds: multiples of some numbers, and of none of others.
 *
 * They are written down from the left. What has been written leaves a remainder; rules say what may follow it: a number
 * of digits more, or that many or more. Digits that are still those of a bound are followed one by one.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_schema_number.h"

#include <stdio.h>

#define MAX_RULES 20000u /* of one number */
#define MAX_DIGITS 19

typedef struct walk {
    qn_sx *s;
    const qn_schema_multiples *m;
    uint32_t *known; /* rule + 1, by whether more digits may follow, how many must, and the remainder */
    uint32_t n_rules;
    qn_gx digits[10], empty, never;
} walk;

static qn_status too_large(const walk *w)
{
    return qn_sx_fail(w->s, QN_EUNSUPPORTED, w->m->schema, "multipleOf",
                      "too large a number beside such bounds; closer bounds would be enforced");
}

static qn_gx end_of(const walk *w, int64_t remainder)
{
    bool fits = w->m->divisor == 0 || remainder % w->m->divisor == 0;
    for (size_t i = 0; i < w->m->n_not; i++) {
        fits = fits && remainder % w->m->not_multiple_of[i] != 0;
    }
    return fits ? w->empty : w->never;
}

static qn_status after(walk *w, bool is_open, uint32_t n, int64_t remainder, qn_gx *out);

static qn_status define(walk *w, bool is_open, uint32_t n, int64_t remainder, uint32_t rule)
{
    qn_gx ways[11];
    uint32_t n_ways = 0;
    for (int64_t d = 0; d < 10; d++) {
        qn_gx rest;
        QN_TRY(after(w, is_open, n > 0 ? n - 1 : 0, (remainder * 10 + d) % w->m->modulus, &rest));
        ways[n_ways++] = qn_gx_cat(w->s->b, (qn_gx[]){w->digits[d], rest}, 2);
    }
    if (n == 0) {
        ways[n_ways++] = end_of(w, remainder);
    }
    qn_gx_rule_define(w->s->b, rule, qn_gx_alt(w->s->b, ways, n_ways));
    return qn_front_status(w->s->b, w->s->err);
}

static uint32_t *known_at(const walk *w, bool is_open, uint32_t n, int64_t remainder)
{
    return &w->known[((is_open ? MAX_DIGITS + 1u : 0u) + n) * (size_t)w->m->modulus + (size_t)remainder];
}

static qn_status new_rule(walk *w, uint32_t *known)
{
    if (++w->n_rules > MAX_RULES) {
        return too_large(w);
    }
    char name[32];
    snprintf(name, sizeof(name), "multiple %u", w->n_rules);
    *known = qn_gx_rule_new(w->s->b, qn_str_of(name)) + 1;
    return QN_OK;
}

/* What may follow: n digits, or (is_open) n or more. Rules without a number of digits call each other in circles and
 * are all made before the first is defined, so that calls go no deeper than n. */
static qn_status after(walk *w, bool is_open, uint32_t n, int64_t remainder, qn_gx *out)
{
    if (n == 0 && !is_open) {
        *out = end_of(w, remainder);
        return QN_OK;
    }
    bool is_new = *known_at(w, is_open, n, remainder) == 0;
    if (is_new && n == 0) {
        for (int64_t r = 0; r < w->m->modulus; r++) {
            QN_TRY(new_rule(w, known_at(w, true, 0, r)));
        }
        for (int64_t r = 0; r < w->m->modulus; r++) {
            QN_TRY(define(w, true, 0, r, *known_at(w, true, 0, r) - 1));
        }
    } else if (is_new) {
        QN_TRY(new_rule(w, known_at(w, is_open, n, remainder)));
        QN_TRY(define(w, is_open, n, remainder, *known_at(w, is_open, n, remainder) - 1));
    }
    *out = qn_gx_rule_ref(w->s->b, *known_at(w, is_open, n, remainder) - 1);
    return QN_OK;
}

/* n more digits that are not below `low` and not above `high`; NULL: no bound any more. */
static qn_status between(walk *w, const char *low, const char *high, uint32_t n, int64_t remainder, qn_gx *out)
{
    if (n == 0 || (low == NULL && high == NULL)) {
        return after(w, false, n, remainder, out);
    }
    qn_gx ways[10];
    uint32_t n_ways = 0;
    char first = low != NULL ? *low : '0', last = high != NULL ? *high : '9';
    for (char d = first; d <= last; d++) {
        qn_gx rest;
        QN_TRY(between(w, low != NULL && d == first ? low + 1 : NULL, high != NULL && d == last ? high + 1 : NULL,
                       n - 1, (remainder * 10 + (d - '0')) % w->m->modulus, &rest));
        ways[n_ways++] = qn_gx_cat(w->s->b, (qn_gx[]){w->digits[d - '0'], rest}, 2);
    }
    *out = qn_gx_alt(w->s->b, ways, n_ways);
    return QN_OK;
}

/* Numbers without a sign from low to high; high < 0: without end. */
static qn_status sizes(walk *w, int64_t low, int64_t high, qn_gx *out)
{
    qn_gx ways[MAX_DIGITS + 10];
    uint32_t n_ways = 0;
    char a[24], b[24] = "", text_a[24], text_b[24];
    int n_a = snprintf(a, sizeof(a), "%lld", (long long)low), n_b = n_a;
    if (high >= 0) {
        n_b = snprintf(b, sizeof(b), "%lld", (long long)high);
    }
    for (int n = n_a; n <= n_b; n++) {
        memset(text_a, '0', sizeof(text_a));
        memset(text_b, '9', sizeof(text_b));
        text_a[0] = '1';
        if (n == n_a) {
            memcpy(text_a, a, (size_t)n);
        }
        if (n == n_b && high >= 0) {
            memcpy(text_b, b, (size_t)n);
        }
        QN_TRY(between(w, text_a, text_b, (uint32_t)n, 0, &ways[n_ways++]));
    }
    for (int64_t d = 1; d < 10 && high < 0; d++) { /* longer ones */
        qn_gx rest;
        QN_TRY(after(w, true, (uint32_t)n_a, d % w->m->modulus, &rest));
        ways[n_ways++] = qn_gx_cat(w->s->b, (qn_gx[]){w->digits[d], rest}, 2);
    }
    *out = qn_gx_alt(w->s->b, ways, n_ways);
    return QN_OK;
}

/* Numbers below, at and above zero; zeros behind each but zero itself, which stand for powers of ten in the divisor. */
static qn_status with_signs(walk *w, qn_gx zeros, qn_gx *out)
{
    const qn_schema_multiples *m = w->m;
    qn_gx_builder *b = w->s->b;
    qn_gx ways[3], size;
    uint32_t n_ways = 0;
    if ((!m->has_low || m->low <= 0) && (!m->has_high || m->high >= 0) && end_of(w, 0) == w->empty) {
        ways[n_ways++] = qn_gx_bytes(b, QN_STR("0"));
    }
    if (!m->has_high || m->high > 0) {
        QN_TRY(sizes(w, m->has_low && m->low > 0 ? m->low : 1, m->has_high ? m->high : -1, &size));
        ways[n_ways++] = qn_gx_cat(b, (qn_gx[]){size, zeros}, 2);
    }
    if (!m->has_low || m->low < 0) {
        QN_TRY(sizes(w, m->has_high && m->high < 0 ? -m->high : 1, m->has_low ? -m->low : -1, &size));
        ways[n_ways++] = qn_gx_cat(b, (qn_gx[]){qn_gx_bytes(b, QN_STR("-")), size, zeros}, 3);
    }
    *out = qn_gx_alt(b, ways, n_ways);
    return qn_front_status(b, w->s->err);
}

qn_status qn_schema_write_multiples(qn_sx *s, const qn_schema_multiples *asked, qn_gx *out)
{
    qn_gx_builder *b = s->b;
    qn_schema_multiples m = *asked;
    uint32_t n_zeros = 0;
    for (; m.n_not == 0 && m.divisor != 0 && m.divisor % 10 == 0; n_zeros++) {
        m.divisor /= 10;
        m.low = m.low > 0 ? m.low / 10 + (m.low % 10 != 0) : m.low / 10; /* towards the numbers that are left */
        m.high = m.high < 0 ? m.high / 10 - (m.high % 10 != 0) : m.high / 10;
    }
    m.modulus = n_zeros != 0 ? m.divisor : m.modulus;
    walk w = {.s = s, .m = &m, .empty = qn_gx_bytes(b, QN_STR("")), .never = qn_gx_never(b)};
    if (m.modulus > QN_SCHEMA_MAX_DIVISOR) {
        return too_large(&w);
    }
    size_t bytes = 2 * (MAX_DIGITS + 1) * (size_t)m.modulus * sizeof(*w.known);
    w.known = qn_sx_alloc(s, bytes);
    if (w.known == NULL) {
        return qn_sx_no_memory(s);
    }
    memset(w.known, 0, bytes);
    for (uint32_t d = 0; d < 10; d++) {
        w.digits[d] = qn_gx_class(b, &(qn_gx_range){'0' + d, '0' + d}, 1);
    }
    return with_signs(&w, qn_gx_bytes(b, (qn_str){"0000000000000000000", n_zeros}), out);
}
