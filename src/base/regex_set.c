/* Sets of code points: ranges in one pool, equal sets stored once.
 * SPDX-License-Identifier: MIT */
#include "base/regex_int.h"

#include "base/checked.h"

#include <stdlib.h>

#define MAX_RANGES 16384 /* of all sets of a pattern; \p{L} has about 650 */

bool qn_regex_grow(qn_budget *b, void **items, size_t *cap, size_t n, size_t item_bytes)
{
    if (n < *cap) {
        return true;
    }
    size_t new_cap = *cap == 0 ? 64 : *cap * 2, bytes;
    void *p = qn_mul_size(new_cap, item_bytes, &bytes) ? qn_realloc(b, QN_REGEX_OWNER, *items, bytes) : NULL;
    if (p == NULL) {
        return false;
    }
    *items = p;
    *cap = new_cap;
    return true;
}

qn_status qn_regex_add(qn_regex_build *b, uint32_t first, uint32_t last)
{
    if (b->n_work >= MAX_RANGES) {
        return qn_fail(b->err, QN_EUNSUPPORTED, "pattern: a class of more than %d ranges", MAX_RANGES);
    }
    if (!qn_regex_grow(b->budget, (void **)&b->work, &b->cap_work, b->n_work, sizeof(*b->work))) {
        return qn_fail(b->err, QN_ENOMEM, "pattern: no memory for a class");
    }
    b->work[b->n_work++] = (qn_regex_range){first, last};
    return QN_OK;
}

qn_status qn_regex_add_categories(qn_regex_build *b, uint32_t mask)
{
    uint32_t first, last;
    qn_category category;
    for (size_t i = 0; qn_unicode_run(i, &first, &last, &category); i++) {
        if (mask >> category & 1) {
            QN_TRY(qn_regex_add(b, first, last));
        }
    }
    return QN_OK;
}

qn_status qn_regex_add_spaces(qn_regex_build *b, bool inverted)
{
    uint32_t first, last, next = 0;
    for (size_t i = 0; qn_unicode_space_run(i, &first, &last); i++) {
        QN_TRY(inverted ? qn_regex_add(b, next, first - 1) : qn_regex_add(b, first, last));
        next = last + 1;
    }
    return inverted ? qn_regex_add(b, next, QN_UNICODE_END - 1) : QN_OK;
}

qn_status qn_regex_add_set(qn_regex_build *b, uint32_t i_set)
{
    qn_regex_set set = b->sets[i_set];
    for (uint32_t i = 0; i < set.n; i++) {
        QN_TRY(qn_regex_add(b, b->ranges[set.i_first + i].first, b->ranges[set.i_first + i].last));
    }
    return QN_OK;
}

static int compare_ranges(const void *a, const void *b)
{
    uint32_t x = ((const qn_regex_range *)a)->first, y = ((const qn_regex_range *)b)->first;
    return x < y ? -1 : x > y;
}

/* Sorts the work set and joins what touches. */
static void normalise(qn_regex_build *b)
{
    if (b->n_work == 0) {
        return;
    }
    qsort(b->work, b->n_work, sizeof(*b->work), compare_ranges);
    size_t n = 1;
    for (size_t i = 1; i < b->n_work; i++) {
        if (b->work[i].first <= b->work[n - 1].last + 1) {
            if (b->work[i].last > b->work[n - 1].last) {
                b->work[n - 1].last = b->work[i].last;
            }
        } else {
            b->work[n++] = b->work[i];
        }
    }
    b->n_work = n;
}

static bool work_has(const qn_regex_build *b, size_t n, uint32_t cp)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (b->work[middle].last < cp) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < n && b->work[low].first <= cp;
}

qn_status qn_regex_fold_case(qn_regex_build *b)
{
    normalise(b);
    size_t n = b->n_work; /* what is added below lies behind and is not looked at */
    uint32_t cp, next;
    for (size_t i = 0; qn_unicode_case_entry(i, &cp, &next); i++) {
        if (work_has(b, n, cp)) {
            for (uint32_t other = next; other != cp; other = qn_unicode_next_case(other)) {
                QN_TRY(qn_regex_add(b, other, other));
            }
        }
    }
    return QN_OK;
}

qn_status qn_regex_invert(qn_regex_build *b, uint32_t last)
{
    normalise(b);
    size_t n = b->n_work;
    uint32_t next = 0; /* the least code point not dealt with */
    for (size_t i = 0; i < n; i++) {
        qn_regex_range r = b->work[i];
        if (r.first > next) {
            QN_TRY(qn_regex_add(b, next, r.first - 1));
        }
        next = r.last + 1;
    }
    if (next <= last) {
        QN_TRY(qn_regex_add(b, next, last));
    }
    memmove(b->work, b->work + n, (b->n_work - n) * sizeof(*b->work));
    b->n_work -= n;
    return QN_OK;
}

qn_status qn_regex_intern(qn_regex_build *b, uint32_t *i_set)
{
    normalise(b);
    size_t bytes = b->n_work * sizeof(*b->work);
    for (size_t i = 0; i < b->n_sets; i++) {
        if (b->sets[i].n == b->n_work && (bytes == 0 || memcmp(b->ranges + b->sets[i].i_first, b->work, bytes) == 0)) {
            b->n_work = 0;
            *i_set = (uint32_t)i;
            return QN_OK;
        }
    }
    if (b->n_ranges + b->n_work > MAX_RANGES || b->n_sets >= QN_REGEX_MAX_PROGRAM) {
        return qn_fail(b->err, QN_EUNSUPPORTED, "pattern: too many classes, or too many ranges in them");
    }
    if (!qn_regex_grow(b->budget, (void **)&b->sets, &b->cap_sets, b->n_sets, sizeof(*b->sets))) {
        return qn_fail(b->err, QN_ENOMEM, "pattern: no memory for a class");
    }
    size_t i_first = b->n_ranges;
    for (size_t i = 0; i < b->n_work; i++) {
        if (!qn_regex_grow(b->budget, (void **)&b->ranges, &b->cap_ranges, b->n_ranges, sizeof(*b->ranges))) {
            return qn_fail(b->err, QN_ENOMEM, "pattern: no memory for a class");
        }
        b->ranges[b->n_ranges++] = b->work[i];
    }
    b->sets[b->n_sets] = (qn_regex_set){(uint32_t)i_first, (uint32_t)b->n_work};
    *i_set = (uint32_t)b->n_sets++;
    b->n_work = 0;
    return QN_OK;
}
