/* Multiples that the last digits of a number tell, or that are few, and limits to digits, as regular expressions.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_schema_number.h"

#include <stdio.h>

static qn_gx digit(qn_gx_builder *b, char first, char last)
{
    return qn_gx_class(b, &(qn_gx_range){(uint8_t)first, (uint8_t)last}, 1);
}

uint32_t qn_schema_decimal_places(int64_t m)
{
    int64_t power = 10;
    for (uint32_t k = 1; k <= 4; k++, power *= 10) {
        if (power % m == 0) {
            return k;
        }
    }
    return 0;
}

qn_gx qn_schema_last_digits(qn_sx *s, int64_t m)
{
    qn_gx_builder *b = s->b;
    qn_gx any_digit = digit(b, '0', '9');
    uint32_t k = qn_schema_decimal_places(m);
    int64_t power = 1;
    for (uint32_t i = 0; i < k; i++) {
        power *= 10;
    }
    qn_gx *ways = qn_sx_alloc(s, (size_t)(2 * (power / m) + 2) * sizeof(*ways));
    if (ways == NULL) {
        b->status = QN_ENOMEM;
        return 0;
    }
    uint32_t n = 0;
    for (int64_t v = 0; v < power; v += m) {
        char text[32];
        int len = snprintf(text, sizeof(text), "%0*lld", (int)k, (long long)v);
        ways[n++] = qn_gx_bytes(b, (qn_str){text, (size_t)len});
    }
    qn_gx any_digits = qn_gx_repeat(b, any_digit, 0, QN_GX_NO_MAX);
    qn_gx head = qn_gx_cat(b, (qn_gx[]){digit(b, '1', '9'), any_digits}, 2);
    qn_gx longer = qn_gx_cat(b, (qn_gx[]){head, qn_gx_alt(b, ways, n)}, 2);
    n = 0;
    ways[n++] = longer;
    for (int64_t v = 0; v < power; v += m) {
        char text[32];
        int len = snprintf(text, sizeof(text), "%lld", (long long)v);
        ways[n++] = qn_gx_bytes(b, (qn_str){text, (size_t)len});
    }
    return qn_gx_alt(b, ways, n);
}

bool qn_schema_fraction_multiples(qn_sx *s, const qn_decimal *d, qn_gx *out)
{
    qn_gx_builder *b = s->b;
    int32_t n_places = (int32_t)d->n - d->point;
    int power = 1, size = 0;
    if (n_places <= 0 || n_places > 4 || d->n > 8) {
        return false;
    }
    for (int32_t i = 0; i < n_places; i++) {
        power *= 10;
    }
    for (uint32_t i = 0; i < d->n; i++) {
        size = size * 10 + (d->digits[i] - '0');
    }
    if (size == 0 || power % size != 0) {
        return false;
    }
    qn_gx *ways = qn_sx_alloc(s, (size_t)(power / size) * sizeof(*ways));
    if (ways == NULL) {
        b->status = QN_ENOMEM;
        return true;
    }
    uint32_t n = 0;
    for (int v = 0; v < power; v += size) {
        char text[16];
        int len = snprintf(text, sizeof(text), ".%0*d", n_places, v);
        while (len > 2 && text[len - 1] == '0') {
            len--;
        }
        ways[n++] = qn_gx_bytes(b, (qn_str){text, (size_t)len});
    }
    qn_gx zeros = qn_gx_repeat(b, digit(b, '0', '0'), 0, QN_GX_NO_MAX);
    qn_gx behind = qn_gx_cat(b, (qn_gx[]){qn_gx_alt(b, ways, n), zeros}, 2);
    qn_gx parts[] = {qn_gx_repeat(b, qn_gx_bytes(b, QN_STR("-")), 0, 1),
                     qn_gx_repeat(b, digit(b, '0', '9'), 1, QN_GX_NO_MAX), qn_gx_repeat(b, behind, 0, 1)};
    *out = qn_gx_cat(b, parts, 3);
    return true;
}

qn_status qn_schema_multiples_between(qn_sx *s, int64_t m, int64_t low, int64_t high, qn_gx *out)
{
    int64_t first = low > 0 ? (low / m + (low % m != 0)) * m : -(-low / m * m);
    size_t n = first > high ? 0 : (size_t)((high - first) / m + 1);
    qn_gx *ways = qn_sx_alloc(s, (n + 1) * sizeof(*ways));
    if (ways == NULL) {
        return qn_sx_no_memory(s);
    }
    for (size_t i = 0; i < n; i++) {
        char text[32];
        int len = snprintf(text, sizeof(text), "%lld", (long long)(first + (int64_t)i * m));
        ways[i] = qn_gx_bytes(s->b, (qn_str){text, (size_t)len});
    }
    *out = qn_gx_alt(s->b, ways, (uint32_t)n);
    return QN_OK;
}

static uint32_t digits_of(const qn_decimal *d)
{
    if (d == NULL) {
        return 0;
    }
    int64_t fraction = (int64_t)d->n - d->point;
    return (uint32_t)((d->point > 0 ? d->point : 0) + (fraction > 0 ? fraction : 0));
}

qn_gx qn_schema_limit_number(qn_gx_builder *b, const qn_decimal *lower, const qn_decimal *upper, bool whole,
                             qn_gx all)
{
    const qn_gx_range chars[] = {{'-', whole ? '-' : '.'}, {'0', '9'}};
    uint32_t low = digits_of(lower), high = digits_of(upper);
    uint32_t most = QN_SCHEMA_NUMBER_CHARS + (low > high ? low : high);
    return qn_gx_and(b, qn_gx_repeat(b, qn_gx_class(b, chars, 2), 1, most), all);
}
