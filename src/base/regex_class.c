/* Code points that no set of the pattern tells apart form one class. The partition starts as everything and the end
 * of text, and each set in turn splits the classes that it cuts.
 * SPDX-License-Identifier: MIT */
#include "base/regex_int.h"

typedef struct interval { /* from first up to the next interval */
    uint32_t first, c;
} interval;

typedef struct partition {
    interval *items;
    size_t n, cap;
} partition;

static qn_status push(qn_regex_build *b, partition *p, uint32_t first, uint32_t c)
{
    if (!qn_regex_grow(b->budget, (void **)&p->items, &p->cap, p->n, sizeof(*p->items))) {
        return qn_fail(b->err, QN_ENOMEM, "pattern: no memory for its classes");
    }
    p->items[p->n++] = (interval){first, c};
    return QN_OK;
}

/* `to` becomes `from` cut at the bounds of the set, with class 2c outside and 2c + 1 inside. */
static qn_status cut(qn_regex_build *b, const partition *from, partition *to, qn_regex_set set)
{
    const qn_regex_range *ranges = b->ranges + set.i_first;
    size_t i = 0;
    to->n = 0;
    for (size_t k = 0; k < from->n; k++) {
        uint32_t at = from->items[k].first, c = from->items[k].c * 2;
        uint32_t end = k + 1 < from->n ? from->items[k + 1].first : QN_REGEX_EOT + 1;
        while (at < end) {
            while (i < set.n && ranges[i].last < at) {
                i++;
            }
            bool inside = i < set.n && ranges[i].first <= at;
            uint32_t stop = i == set.n ? end : inside ? ranges[i].last + 1 : ranges[i].first;
            QN_TRY(push(b, to, at, c + inside));
            at = stop < end ? stop : end;
        }
    }
    return QN_OK;
}

/* Numbers the classes anew in the order of their first code points, so that the end of text has the last. */
static qn_status renumber(qn_regex_build *b, partition *p, uint32_t *n_classes)
{
    uint16_t number[2 * QN_REGEX_MAX_CLASSES];
    memset(number, 0xFF, sizeof(number));
    *n_classes = 0;
    size_t n = 0;
    for (size_t k = 0; k < p->n; k++) {
        uint32_t c = p->items[k].c;
        if (number[c] == UINT16_MAX) {
            if (*n_classes == QN_REGEX_MAX_CLASSES) {
                return qn_fail(b->err, QN_EUNSUPPORTED, "pattern: more than %d classes of characters",
                               QN_REGEX_MAX_CLASSES);
            }
            number[c] = (uint16_t)(*n_classes)++;
        }
        if (n == 0 || p->items[n - 1].c != number[c]) {
            p->items[n++] = (interval){p->items[k].first, number[c]};
        }
    }
    p->n = n;
    return QN_OK;
}

static void fill_members(const qn_regex_build *b, const partition *p, qn_regex *re)
{
    for (size_t s = 0; s < b->n_sets; s++) {
        const qn_regex_range *ranges = b->ranges + b->sets[s].i_first;
        size_t i = 0;
        for (size_t k = 0; k < p->n; k++) {
            while (i < b->sets[s].n && ranges[i].last < p->items[k].first) {
                i++;
            }
            if (i < b->sets[s].n && ranges[i].first <= p->items[k].first) {
                re->members[s][p->items[k].c / 64] |= UINT64_C(1) << p->items[k].c % 64;
            }
        }
    }
}

/* The map from code points to classes: blocks that lie in one interval share a row. */
static qn_status fill_map(qn_regex_build *b, const partition *p, qn_regex *re)
{
    uint16_t constant[QN_REGEX_MAX_CLASSES];
    memset(constant, 0xFF, sizeof(constant));
    size_t cap_rows = 0, n_rows = 0, k = 0;
    for (uint32_t block = 0; block < QN_CLASS_BLOCKS; block++) {
        uint32_t first = block * QN_CLASS_BLOCK;
        while (p->items[k + 1].first <= first) { /* the last interval is the end of text, above every block */
            k++;
        }
        bool whole = p->items[k + 1].first >= first + QN_CLASS_BLOCK;
        uint32_t c = p->items[k].c;
        if (whole && constant[c] != UINT16_MAX) {
            re->blocks[block] = constant[c];
            continue;
        }
        if (!qn_regex_grow(b->budget, (void **)&re->rows, &cap_rows, n_rows, QN_CLASS_BLOCK)) {
            return qn_fail(b->err, QN_ENOMEM, "pattern: no memory for its classes");
        }
        uint8_t *row = re->rows + n_rows * QN_CLASS_BLOCK;
        for (uint32_t i = 0, at = (uint32_t)k; i < QN_CLASS_BLOCK; i++) {
            while (p->items[at + 1].first <= first + i) {
                at++;
            }
            row[i] = (uint8_t)p->items[at].c;
        }
        re->blocks[block] = (uint16_t)n_rows;
        if (whole) {
            constant[c] = (uint16_t)n_rows;
        }
        n_rows++;
    }
    memcpy(re->ascii, re->rows + (size_t)re->blocks[0] * QN_CLASS_BLOCK, sizeof(re->ascii));
    re->invalid = re->rows[(size_t)re->blocks[0xFFFD / QN_CLASS_BLOCK] * QN_CLASS_BLOCK + 0xFFFD % QN_CLASS_BLOCK];
    return QN_OK;
}

static qn_status make_classes(qn_regex_build *b, partition *now, partition *next, qn_regex *re)
{
    QN_TRY(push(b, now, 0, 0));
    QN_TRY(push(b, now, QN_REGEX_EOT, 1));
    re->n_classes = 2;
    for (size_t i = 0; i < b->n_sets; i++) {
        QN_TRY(cut(b, now, next, b->sets[i]));
        QN_TRY(renumber(b, next, &re->n_classes));
        partition t = *now;
        *now = *next;
        *next = t;
    }
    re->n_sets = (uint32_t)b->n_sets;
    re->members = qn_zalloc_array(b->budget, QN_REGEX_OWNER, b->n_sets, sizeof(*re->members));
    re->blocks = qn_zalloc_array(b->budget, QN_REGEX_OWNER, QN_CLASS_BLOCKS, sizeof(*re->blocks));
    if (re->members == NULL || re->blocks == NULL) {
        return qn_fail(b->err, QN_ENOMEM, "pattern: no memory for its classes");
    }
    fill_members(b, now, re);
    return fill_map(b, now, re);
}

qn_status qn_regex_make_classes(qn_regex_build *b, qn_regex *re)
{
    partition now = {0}, next = {0};
    qn_status s = make_classes(b, &now, &next, re);
    qn_free(now.items);
    qn_free(next.items);
    return s;
}
