/* Sets of code points, and how characters are spelled: plain, or inside the quotes of a JSON string.
 * SPDX-License-Identifier: MIT */
#include "base/unicode.h"
#include "grammar/front_int.h"

#include <stdlib.h>

#define MAX_RANGES 65536 /* \p{L} has about 650 */

void qn_ranges_free(qn_ranges *r)
{
    qn_free(r->items);
    *r = (qn_ranges){.budget = r->budget};
}

void qn_ranges_add(qn_ranges *r, uint32_t first, uint32_t last)
{
    if (r->status != QN_OK || first > last) {
        return;
    }
    if (r->n == r->cap) {
        uint32_t cap = r->cap == 0 ? 16 : r->cap * 2;
        qn_gx_range *moved = cap > MAX_RANGES ? NULL : qn_realloc(r->budget, "grammar", r->items, cap * sizeof(*moved));
        if (moved == NULL) {
            r->status = cap > MAX_RANGES ? QN_EFULL : qn_alloc_failure(r->budget, cap * sizeof(*moved));
            return;
        }
        r->items = moved;
        r->cap = cap;
    }
    r->items[r->n++] = (qn_gx_range){first, last};
}

static int by_first(const void *x, const void *y)
{
    const qn_gx_range *a = x, *b = y;
    return a->first < b->first ? -1 : a->first > b->first;
}

static void sort_and_join(qn_ranges *r)
{
    if (r->n == 0) {
        return;
    }
    qsort(r->items, r->n, sizeof(*r->items), by_first);
    uint32_t n = 1;
    for (uint32_t i = 1; i < r->n; i++) {
        if (r->items[i].first <= r->items[n - 1].last + 1) {
            uint32_t last = r->items[n - 1].last;
            r->items[n - 1].last = last > r->items[i].last ? last : r->items[i].last;
        } else {
            r->items[n++] = r->items[i];
        }
    }
    r->n = n;
}

void qn_ranges_normalise(qn_ranges *r)
{
    sort_and_join(r);
    uint32_t n = r->n;
    for (uint32_t i = 0; i < n; i++) {
        qn_gx_range x = r->items[i];
        if (x.first <= 0xDFFF && x.last >= 0xD800) {
            r->items[i].last = x.first < 0xD800 ? 0xD7FF : 0;
            r->items[i].first = x.first < 0xD800 ? x.first : 1; /* empty when it began inside */
            qn_ranges_add(r, 0xE000, x.last);
        }
    }
    for (n = 0; n < r->n;) {
        if (r->items[n].first > r->items[n].last) {
            r->items[n] = r->items[--r->n];
        } else {
            n++;
        }
    }
    sort_and_join(r);
}

void qn_ranges_invert(qn_ranges *r)
{
    sort_and_join(r);
    uint32_t n = r->n, next = 0;
    for (uint32_t i = 0; i < n; i++) {
        qn_gx_range x = r->items[i];
        if (x.first > next) {
            qn_ranges_add(r, next, x.first - 1);
        }
        next = x.last + 1;
    }
    if (next <= QN_FRONT_LAST) {
        qn_ranges_add(r, next, QN_FRONT_LAST);
    }
    if (r->status == QN_OK) {
        memmove(r->items, r->items + n, (r->n - n) * sizeof(*r->items));
        r->n -= n;
    }
    qn_ranges_normalise(r);
}

/* ---- \uXXXX ---- */

static qn_gx hex_digit(qn_gx_builder *b, uint32_t first, uint32_t last)
{
    qn_gx_range r[3];
    uint32_t n = 0;
    if (first <= 9) {
        r[n++] = (qn_gx_range){'0' + first, '0' + (last < 9 ? last : 9)};
    }
    if (last >= 10) {
        uint32_t from = first < 10 ? 10 : first;
        r[n++] = (qn_gx_range){'A' + from - 10, 'A' + last - 10};
        r[n++] = (qn_gx_range){'a' + from - 10, 'a' + last - 10};
    }
    return qn_gx_class(b, r, n);
}

/* The numbers from first to last in n hex digits, n <= 4: digit by digit, a piece for each border. */
static qn_gx hex_range(qn_gx_builder *b, uint32_t first, uint32_t last, unsigned n)
{
    if (n == 1) {
        return hex_digit(b, first, last);
    }
    uint32_t rest = (1u << 4 * (n - 1)) - 1;
    uint32_t from = first >> 4 * (n - 1), to = last >> 4 * (n - 1);
    if (from == to) {
        qn_gx parts[] = {hex_digit(b, from, to), hex_range(b, first & rest, last & rest, n - 1)};
        return qn_gx_cat(b, parts, 2);
    }
    qn_gx pieces[3];
    uint32_t n_pieces = 0;
    if ((first & rest) != 0) {
        qn_gx parts[] = {hex_digit(b, from, from), hex_range(b, first & rest, rest, n - 1)};
        pieces[n_pieces++] = qn_gx_cat(b, parts, 2);
        from++;
    }
    bool ends_short = (last & rest) != rest;
    to -= ends_short;
    if (from <= to) {
        qn_gx parts[] = {hex_digit(b, from, to), qn_gx_repeat(b, hex_digit(b, 0, 15), n - 1, n - 1)};
        pieces[n_pieces++] = qn_gx_cat(b, parts, 2);
    }
    if (ends_short) {
        qn_gx parts[] = {hex_digit(b, to + 1, to + 1), hex_range(b, 0, last & rest, n - 1)};
        pieces[n_pieces++] = qn_gx_cat(b, parts, 2);
    }
    return qn_gx_alt(b, pieces, n_pieces);
}

static qn_gx surrogates(qn_gx_builder *b, uint32_t high, uint32_t high_last, uint32_t low, uint32_t low_last)
{
    qn_gx parts[] = {hex_range(b, 0xD800 + high, 0xD800 + high_last, 4), qn_gx_bytes(b, QN_STR("\\u")),
                     hex_range(b, 0xDC00 + low, 0xDC00 + low_last, 4)};
    return qn_gx_cat(b, parts, 3);
}

/* What follows "\u" for the code points of one range; returns how many alternatives were written, 5 at most. */
static uint32_t escapes_of(qn_gx_builder *b, uint32_t first, uint32_t last, qn_gx *out)
{
    uint32_t n = 0;
    if (first <= 0xFFFF) {
        out[n++] = hex_range(b, first, last < 0xFFFF ? last : 0xFFFF, 4);
        first = 0x10000;
    }
    if (last < 0x10000) {
        return n;
    }
    uint32_t from = (first - 0x10000) >> 10, to = (last - 0x10000) >> 10;
    uint32_t low = (first - 0x10000) & 0x3FF, low_last = (last - 0x10000) & 0x3FF;
    if (from == to) {
        out[n++] = surrogates(b, from, to, low, low_last);
        return n;
    }
    if (low != 0) {
        out[n++] = surrogates(b, from, from, low, 0x3FF);
        from++;
    }
    if (low_last != 0x3FF) {
        out[n++] = surrogates(b, to, to, 0, low_last);
        to--;
    }
    if (from <= to && to != UINT32_MAX) {
        out[n++] = surrogates(b, from, to, 0, 0x3FF);
    }
    return n;
}

/* ---- characters ---- */

static bool has(const qn_ranges *r, uint32_t cp)
{
    for (uint32_t i = 0; i < r->n && r->items[i].first <= cp; i++) {
        if (cp <= r->items[i].last) {
            return true;
        }
    }
    return false;
}

static const char short_escapes[][2] = {{'"', '"'},  {'\\', '\\'}, {'\b', 'b'}, {'\f', 'f'},
                                        {'\n', 'n'}, {'\r', 'r'},  {'\t', 't'}};
#define N_SHORT (sizeof(short_escapes) / sizeof(*short_escapes))

/* What may be written as it is, and after a backslash. */
static void split(const qn_ranges *r, qn_ranges *raw, qn_ranges *escaped)
{
    for (uint32_t i = 0; i < r->n; i++) {
        qn_gx_range x = r->items[i];
        for (; x.first <= x.last && x.first < 0x7F; x.first++) {
            bool is_raw = x.first >= 0x20 && x.first != '"' && x.first != '\\';
            qn_ranges_add(is_raw ? raw : escaped, x.first, x.first);
        }
        if (x.first <= x.last) {
            qn_ranges_add(raw, x.first, x.last);
            qn_ranges_add(escaped, x.first, x.last);
        }
    }
    sort_and_join(escaped);
}

static qn_gx json_class(qn_gx_builder *b, const qn_ranges *r)
{
    qn_ranges raw = {.budget = b->budget}, escaped = {.budget = b->budget};
    split(r, &raw, &escaped);
    qn_gx ways[2];
    uint32_t n_ways = 0;
    if (raw.n != 0) {
        ways[n_ways++] = qn_gx_class(b, raw.items, raw.n);
    }
    qn_gx *after_u = qn_alloc(b->budget, "grammar", (size_t)(escaped.n + 1) * 5 * sizeof(*after_u));
    if (raw.status != QN_OK || escaped.status != QN_OK || after_u == NULL) {
        b->status = b->status != QN_OK    ? b->status
                    : after_u == NULL     ? QN_ENOMEM
                    : raw.status != QN_OK ? raw.status
                                          : escaped.status;
    } else if (escaped.n != 0) {
        uint32_t n_after = 0;
        for (uint32_t i = 0; i < escaped.n; i++) {
            n_after += escapes_of(b, escaped.items[i].first, escaped.items[i].last, after_u + n_after);
        }
        qn_gx_range letters[N_SHORT];
        uint32_t n_letters = 0;
        for (size_t i = 0; i < N_SHORT; i++) {
            if (has(r, (uint8_t)short_escapes[i][0])) {
                letters[n_letters++] = (qn_gx_range){(uint8_t)short_escapes[i][1], (uint8_t)short_escapes[i][1]};
            }
        }
        qn_gx u[] = {qn_gx_bytes(b, QN_STR("u")), qn_gx_alt(b, after_u, n_after)};
        qn_gx after[2] = {qn_gx_cat(b, u, 2)};
        if (n_letters != 0) {
            after[1] = qn_gx_class(b, letters, n_letters);
        }
        qn_gx parts[] = {qn_gx_bytes(b, QN_STR("\\")), qn_gx_alt(b, after, n_letters != 0 ? 2 : 1)};
        ways[n_ways++] = qn_gx_cat(b, parts, 2);
    }
    qn_free(after_u);
    qn_ranges_free(&raw);
    qn_ranges_free(&escaped);
    return qn_gx_alt(b, ways, n_ways);
}

qn_gx qn_front_class(qn_gx_builder *b, qn_ranges *r, bool as_json)
{
    qn_ranges_normalise(r);
    if (r->status != QN_OK) {
        b->status = b->status != QN_OK ? b->status : r->status;
        return 0;
    }
    return as_json ? json_class(b, r) : qn_gx_class(b, r->items, r->n);
}

qn_gx qn_front_any(qn_gx_builder *b, bool as_json)
{
    qn_ranges all = {.budget = b->budget};
    qn_ranges_add(&all, 0, QN_FRONT_LAST);
    qn_gx x = qn_front_class(b, &all, as_json);
    qn_ranges_free(&all);
    return x;
}

qn_gx qn_front_json_char(qn_gx_builder *b)
{
    static const qn_gx_range raw[] = {{0x20, 0x21}, {0x23, 0x5B}, {0x5D, 0xD7FF}, {0xE000, QN_FRONT_LAST}};
    static const char letters[] = "\"\\/bfnrt";
    qn_gx_range one[sizeof(letters) - 1];
    for (size_t i = 0; i < sizeof(letters) - 1; i++) {
        one[i] = (qn_gx_range){(uint8_t)letters[i], (uint8_t)letters[i]};
    }
    qn_gx after_u[] = {hex_range(b, 0, 0xD7FF, 4), hex_range(b, 0xE000, 0xFFFF, 4), surrogates(b, 0, 0x3FF, 0, 0x3FF)};
    qn_gx u[] = {qn_gx_bytes(b, QN_STR("u")), qn_gx_alt(b, after_u, 3)};
    qn_gx after[] = {qn_gx_class(b, one, sizeof(letters) - 1), qn_gx_cat(b, u, 2)};
    qn_gx escape[] = {qn_gx_bytes(b, QN_STR("\\")), qn_gx_alt(b, after, 2)};
    qn_gx ways[] = {qn_gx_class(b, raw, 4), qn_gx_cat(b, escape, 2)};
    return qn_gx_alt(b, ways, 2);
}

qn_gx qn_front_literal(qn_gx_builder *b, qn_str text, bool as_json)
{
    qn_gx *parts = qn_alloc(b->budget, "grammar", (text.len + 1) * sizeof(*parts));
    if (parts == NULL) {
        b->status = b->status != QN_OK ? b->status : QN_ENOMEM;
        return 0;
    }
    uint32_t n = 0;
    size_t start = 0, i = 0;
    while (as_json && i < text.len) {
        uint32_t cp;
        size_t len = qn_unicode_decode(text.data + i, text.len - i, &cp);
        if (cp < 0x20 || cp >= 0x7F || cp == '"' || cp == '\\') {
            if (i > start) {
                parts[n++] = qn_gx_bytes(b, (qn_str){text.data + start, i - start});
            }
            qn_ranges one = {.budget = b->budget};
            qn_ranges_add(&one, cp == UINT32_MAX ? 0xFFFD : cp, cp == UINT32_MAX ? 0xFFFD : cp);
            parts[n++] = qn_front_class(b, &one, true);
            qn_ranges_free(&one);
            start = i + len;
        }
        i += len;
    }
    if (start < text.len || n == 0) {
        parts[n++] = qn_gx_bytes(b, (qn_str){text.data + start, text.len - start});
    }
    qn_gx x = qn_gx_cat(b, parts, n);
    qn_free(parts);
    return x;
}

qn_status qn_front_status(const qn_gx_builder *b, qn_error *err)
{
    switch (b->status) {
    case QN_OK:
        return QN_OK;
    case QN_EFULL:
        return qn_fail(err, QN_EFULL, "the grammar is too large");
    default:
        return qn_fail(err, b->status, "no memory for a grammar");
    }
}
