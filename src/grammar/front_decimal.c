/* Decimal numbers, exactly: reading, comparing, and the expression of all numbers on one side of a bound.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_schema_int.h"

#define MAX_TEXT 4096 /* characters of a number in a schema */

bool qn_decimal_read(qn_sx *s, qn_str text, qn_decimal *out)
{
    if (text.len > MAX_TEXT) {
        return false;
    }
    char *digits = qn_sx_alloc(s, text.len + 1);
    if (digits == NULL) {
        return false;
    }
    size_t i = 0;
    bool after_point = false;
    int64_t point = 0;
    uint32_t n = 0;
    *out = (qn_decimal){.is_negative = text.len != 0 && text.data[0] == '-'};
    for (i = out->is_negative; i < text.len && text.data[i] != 'e' && text.data[i] != 'E'; i++) {
        char c = text.data[i];
        if (c == '.') {
            after_point = true;
        } else if (n != 0 || c != '0') {
            digits[n++] = c;
            point += !after_point;
        } else {
            point -= after_point;
        }
    }
    if (i < text.len) {
        bool is_down = i + 1 < text.len && text.data[i + 1] == '-';
        int64_t e = 0;
        for (i += 1; i < text.len; i++) {
            if (text.data[i] >= '0' && text.data[i] <= '9' && e < 1000000) {
                e = e * 10 + (text.data[i] - '0');
            }
        }
        point += is_down ? -e : e;
    }
    while (n != 0 && digits[n - 1] == '0') {
        n--;
    }
    if (n == 0) {
        *out = (qn_decimal){.digits = digits};
        return true;
    }
    if (point > 100000 || point < -100000) {
        return false;
    }
    out->digits = digits;
    out->n = n;
    out->point = (int32_t)point;
    return true;
}

static int compare_sizes(const qn_decimal *x, const qn_decimal *y)
{
    if (x->n == 0 || y->n == 0) {
        return (x->n != 0) - (y->n != 0);
    }
    if (x->point != y->point) {
        return x->point < y->point ? -1 : 1;
    }
    for (uint32_t i = 0; i < x->n || i < y->n; i++) {
        char a = i < x->n ? x->digits[i] : '0', b = i < y->n ? y->digits[i] : '0';
        if (a != b) {
            return a < b ? -1 : 1;
        }
    }
    return 0;
}

int qn_decimal_compare(const qn_decimal *x, const qn_decimal *y)
{
    if (x->is_negative != y->is_negative) {
        return x->is_negative ? -1 : 1;
    }
    return x->is_negative ? compare_sizes(y, x) : compare_sizes(x, y);
}

bool qn_decimal_is_integer(const qn_decimal *x)
{
    return x->n == 0 || x->point >= (int32_t)x->n;
}

bool qn_decimal_is_multiple(const qn_decimal *x, const qn_decimal *y, bool *is_known)
{
    *is_known = !y->is_negative && y->n != 0 && y->n <= 18;
    if (!*is_known || x->n == 0) {
        return x->n == 0;
    }
    /* x / y = (digits of x) * 10^shift / (digits of y); the last digit of x is not zero */
    int64_t shift = ((int64_t)x->point - x->n) - ((int64_t)y->point - y->n), size = 0;
    for (uint32_t i = 0; i < y->n; i++) {
        size = size * 10 + (y->digits[i] - '0');
    }
    unsigned __int128 rest = 0;
    for (int64_t i = 0; shift >= 0 && i < x->n + shift; i++) {
        rest = (rest * 10 + (unsigned)(i < x->n ? x->digits[i] - '0' : 0)) % (uint64_t)size;
    }
    return shift >= 0 && rest == 0;
}

/* The digit that stands for 10^(-i - 1) from the left of the number. */
static char digit_at(const qn_decimal *x, int64_t i)
{
    return i >= 0 && i < x->n ? x->digits[i] : '0';
}

bool qn_decimal_write(const qn_decimal *x, qn_buf *out)
{
    if (x->n == 0) {
        qn_buf_add_char(out, '0');
        return true;
    }
    int64_t before = x->point > 0 ? x->point : 0, after = (int64_t)x->n - x->point;
    if (before > QN_DECIMAL_MAX || after > QN_DECIMAL_MAX) {
        return false;
    }
    if (x->is_negative) {
        qn_buf_add_char(out, '-');
    }
    for (int64_t i = 0; i < before; i++) {
        qn_buf_add_char(out, digit_at(x, i));
    }
    if (before == 0) {
        qn_buf_add_char(out, '0');
    }
    for (int64_t i = 0; i < after; i++) {
        if (i == 0) {
            qn_buf_add_char(out, '.');
        }
        qn_buf_add_char(out, digit_at(x, x->point + i));
    }
    return true;
}

/* ---- bounds ---- */

typedef struct bound {
    qn_gx_builder *b;
    char whole[QN_DECIMAL_MAX + 1], fraction[QN_DECIMAL_MAX + 1]; /* digits; whole is never empty */
    uint32_t n_whole, n_fraction;
    bool integers_only;
    qn_gx ways[3 * QN_DECIMAL_MAX + 8];
    uint32_t n_ways;
} bound;

static qn_gx digit(qn_gx_builder *b, char first, char last)
{
    return qn_gx_class(b, &(qn_gx_range){(uint8_t)first, (uint8_t)last}, 1);
}

static qn_gx digits(qn_gx_builder *b, uint32_t min, uint32_t max)
{
    return qn_gx_repeat(b, digit(b, '0', '9'), min, max);
}
static qn_gx text(qn_gx_builder *b, const char *s, uint32_t n)
{
    return qn_gx_bytes(b, (qn_str){s, n});
}

static qn_gx optional(qn_gx_builder *b, qn_gx x)
{
    return qn_gx_repeat(b, x, 0, 1);
}

/* Any fraction, or none. */
static qn_gx any_fraction(bound *n)
{
    qn_gx digit_gx = n->integers_only ? digit(n->b, '0', '0') : digit(n->b, '0', '9');
    qn_gx parts[] = {text(n->b, ".", 1), qn_gx_repeat(n->b, digit_gx, 1, QN_GX_NO_MAX)};
    return optional(n->b, qn_gx_cat(n->b, parts, 2));
}

static void add_way(bound *n, const qn_gx *parts, uint32_t n_parts)
{
    n->ways[n->n_ways++] = qn_gx_cat(n->b, parts, n_parts);
}

/* Whole parts above or below n's, of the same length and (below: shorter, above: longer) of others. */
static qn_gx other_whole(bound *n, bool above)
{
    qn_gx_builder *b = n->b;
    qn_gx ways[QN_DECIMAL_MAX + 2];
    uint32_t n_ways = 0;
    bool is_zero = n->n_whole == 1 && n->whole[0] == '0';
    for (uint32_t k = 0; k < n->n_whole; k++) {
        char lowest = k == 0 && n->n_whole > 1 ? '1' : '0';
        char first = above ? n->whole[k] + 1 : lowest, last = above ? '9' : n->whole[k] - 1;
        if (first <= last && n->whole[k] != (above ? '9' : '0')) {
            qn_gx parts[] = {text(b, n->whole, k), digit(b, first, last),
                             digits(b, n->n_whole - k - 1, n->n_whole - k - 1)};
            ways[n_ways++] = qn_gx_cat(b, parts, 3);
        }
    }
    if (above) {
        qn_gx parts[] = {digit(b, '1', '9'), digits(b, is_zero ? 1 : n->n_whole, QN_GX_NO_MAX)};
        ways[n_ways++] = qn_gx_cat(b, parts, 2);
    } else if (n->n_whole > 1) {
        qn_gx parts[] = {digit(b, '1', '9'), digits(b, 0, n->n_whole - 2)};
        qn_gx shorter[] = {text(b, "0", 1), qn_gx_cat(b, parts, 2)};
        ways[n_ways++] = qn_gx_alt(b, shorter, 2);
    }
    return qn_gx_alt(b, ways, n_ways);
}

/* Fractions, with their point, that are above n's. */
static void fractions_above(bound *n, qn_gx whole, bool is_exclusive)
{
    qn_gx_builder *b = n->b;
    if (n->n_fraction == 0 && !is_exclusive) {
        add_way(n, (qn_gx[]){whole, any_fraction(n)}, 2);
        return;
    }
    if (n->integers_only) {
        return;
    }
    for (uint32_t k = 0; k < n->n_fraction; k++) {
        if (n->fraction[k] != '9') {
            add_way(n,
                    (qn_gx[]){whole, text(b, ".", 1), text(b, n->fraction, k), digit(b, n->fraction[k] + 1, '9'),
                              digits(b, 0, QN_GX_NO_MAX)},
                    5);
        }
    }
    qn_gx rest[] = {qn_gx_repeat(b, digit(b, '0', '0'), 0, QN_GX_NO_MAX), digit(b, '1', '9'),
                    digits(b, 0, QN_GX_NO_MAX)};
    qn_gx equal = is_exclusive ? qn_gx_cat(b, rest, 3) : digits(b, 0, QN_GX_NO_MAX);
    add_way(n, (qn_gx[]){whole, text(b, ".", 1), text(b, n->fraction, n->n_fraction), equal}, 4);
}

static void fractions_below(bound *n, qn_gx whole, bool is_exclusive)
{
    qn_gx_builder *b = n->b;
    qn_gx zeros = qn_gx_repeat(b, digit(b, '0', '0'), 0, QN_GX_NO_MAX);
    if (n->n_fraction == 0) {
        if (!is_exclusive) {
            qn_gx point[] = {text(b, ".0", 2), zeros};
            add_way(n, (qn_gx[]){whole, optional(b, qn_gx_cat(b, point, 2))}, 2);
        }
        return;
    }
    if (n->integers_only) {
        add_way(n, (qn_gx[]){whole, any_fraction(n)}, 2);
        return;
    }
    n->ways[n->n_ways++] = whole;
    for (uint32_t k = 0; k < n->n_fraction; k++) {
        if (n->fraction[k] != '0') {
            add_way(n,
                    (qn_gx[]){whole, text(b, ".", 1), text(b, n->fraction, k), digit(b, '0', n->fraction[k] - 1),
                              digits(b, 0, QN_GX_NO_MAX)},
                    5);
        }
        if (k > 0) { /* ends here: less, because the last digit of the bound is not zero */
            add_way(n, (qn_gx[]){whole, text(b, ".", 1), text(b, n->fraction, k)}, 3);
        }
    }
    if (!is_exclusive) {
        add_way(n, (qn_gx[]){whole, text(b, ".", 1), text(b, n->fraction, n->n_fraction), zeros}, 4);
    }
}

/* Numbers without a sign that are above or below the size of x. */
static qn_gx sizes(bound *n, bool above, bool is_exclusive)
{
    n->n_ways = 0;
    qn_gx whole = text(n->b, n->whole, n->n_whole);
    add_way(n, (qn_gx[]){other_whole(n, above), any_fraction(n)}, 2);
    if (above) {
        fractions_above(n, whole, is_exclusive);
    } else {
        fractions_below(n, whole, is_exclusive);
    }
    return qn_gx_alt(n->b, n->ways, n->n_ways);
}

qn_gx qn_decimal_bound(qn_gx_builder *b, const qn_decimal *x, bool is_lower, bool is_exclusive, bool integers_only)
{
    bound n = {.b = b, .integers_only = integers_only};
    int64_t before = x->point > 0 && x->n != 0 ? x->point : 0, after = x->n != 0 ? (int64_t)x->n - x->point : 0;
    if (before > QN_DECIMAL_MAX || after > QN_DECIMAL_MAX) {
        b->status = b->status != QN_OK ? b->status : QN_EFULL;
        return 0;
    }
    for (int64_t i = 0; i < before; i++) {
        n.whole[n.n_whole++] = digit_at(x, i);
    }
    if (n.n_whole == 0) {
        n.whole[n.n_whole++] = '0';
    }
    for (int64_t i = 0; i < after; i++) {
        n.fraction[n.n_fraction++] = digit_at(x, x->point + i);
    }
    qn_gx minus = text(b, "-", 1), ways[2];
    qn_gx any_parts[] = {digit(b, '1', '9'), digits(b, 0, QN_GX_NO_MAX)};
    qn_gx any_whole[] = {text(b, "0", 1), qn_gx_cat(b, any_parts, 2)};
    qn_gx any[] = {qn_gx_alt(b, any_whole, 2), any_fraction(&n)};
    bool is_zero = x->n == 0, is_positive = !is_zero && !x->is_negative;
    if (is_lower) {
        if (is_positive || is_zero) { /* no minus at all: -0 is nobody's wish */
            return sizes(&n, true, is_exclusive);
        }
        ways[0] = qn_gx_cat(b, any, 2);
        ways[1] = qn_gx_cat(b, (qn_gx[]){minus, sizes(&n, false, is_exclusive)}, 2);
        return qn_gx_alt(b, ways, 2);
    }
    if (is_positive) {
        ways[0] = sizes(&n, false, is_exclusive);
        ways[1] = qn_gx_cat(b, (qn_gx[]){minus, qn_gx_cat(b, any, 2)}, 2);
        return qn_gx_alt(b, ways, 2);
    }
    ways[0] = qn_gx_cat(b, (qn_gx[]){minus, sizes(&n, true, is_exclusive)}, 2);
    if (is_zero && !is_exclusive) {
        ways[1] = qn_gx_cat(
            b,
            (qn_gx[]){
                text(b, "0", 1),
                optional(
                    b,
                    qn_gx_cat(b, (qn_gx[]){text(b, ".", 1), qn_gx_repeat(b, digit(b, '0', '0'), 1, QN_GX_NO_MAX)}, 2))},
            2);
        return qn_gx_alt(b, ways, 2);
    }
    return ways[0];
}
