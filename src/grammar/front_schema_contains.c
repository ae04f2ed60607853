/* Arrays in which items of a kind must occur, a number of times. Each item is either of that kind or is not, which can
 * be told, so that the counts are exact. SPDX-License-Identifier: MIT */
#include "grammar/front_schema_array.h"

#include <stdio.h>

#define MAX_COUNTED 4096u /* pairs of a number of items and a number of those that count */

/* Item i as one of the kind, and as none of it; false: nothing fits there. */
static qn_status both_kinds(qn_schema_array *a, uint32_t i, qn_gx *yes, qn_gx *no, bool *fits)
{
    size_t n;
    *fits = qn_schema_array_item(a, i, &n);
    if (!*fits) {
        return QN_OK;
    }
    a->items[n] = a->contains;
    QN_TRY(qn_sx_value(a->s, a->items, n + 1, yes));
    a->items[n].is_negated = !a->items[n].is_negated;
    return qn_sx_value(a->s, a->items, n + 1, no);
}

/* All items are alike, and how many there are does not matter: loops do. */
static qn_status in_loops(qn_schema_array *a, qn_gx *out)
{
    qn_sx *s = a->s;
    qn_gx_builder *b = s->b;
    qn_gx yes, no;
    bool fits;
    QN_TRY(both_kinds(a, 0, &yes, &no, &fits));
    if (!fits) {
        *out = a->min_contains == 0 && a->min == 0 ? qn_schema_array_brackets(a, qn_gx_bytes(b, QN_STR("")))
                                                   : qn_gx_never(b);
        return QN_OK;
    }
    uint32_t min = a->min_contains, max = a->max_contains;
    qn_gx others_before = qn_gx_repeat(b, qn_gx_cat(b, (qn_gx[]){no, s->comma}, 2), 0, QN_GX_NO_MAX);
    qn_gx others_after = qn_gx_repeat(b, qn_gx_cat(b, (qn_gx[]){s->comma, no}, 2), 0, QN_GX_NO_MAX);
    qn_gx next = qn_gx_cat(b, (qn_gx[]){s->comma, yes, others_after}, 3);
    qn_gx ways[2];
    uint32_t n_ways = 0;
    if (max > 0) {
        qn_gx rest = qn_gx_repeat(b, next, min > 0 ? min - 1 : 0, max == QN_GX_NO_MAX ? max : max - 1);
        ways[n_ways++] = qn_gx_cat(b, (qn_gx[]){others_before, yes, others_after, rest}, 4);
    }
    if (min == 0) {
        ways[n_ways++] = qn_schema_array_run(a, no, a->min, QN_GX_NO_MAX, false);
    }
    *out = qn_schema_array_brackets(a, qn_gx_alt(b, ways, n_ways));
    return QN_OK;
}

/* A rule for each number of items and of those that count. Numbers from which on nothing changes any more are one. */
static qn_status in_counts(qn_schema_array *a, qn_gx *out)
{
    qn_sx *s = a->s;
    qn_gx_builder *b = s->b;
    bool is_open = a->max == QN_GX_NO_MAX;
    uint64_t n_items = !is_open ? a->max : a->min > a->n_first ? a->min : a->n_first;
    uint64_t n_counts = a->max_contains != QN_GX_NO_MAX ? a->max_contains : a->min_contains;
    if (n_items >= MAX_COUNTED || n_counts >= MAX_COUNTED || (n_items + 1) * (n_counts + 1) > MAX_COUNTED) {
        return qn_sx_fail(s, QN_EUNSUPPORTED, a->contains_schema, a->contains_keyword,
                          "not enforced beside so large a number of items");
    }
    uint32_t row = (uint32_t)n_counts + 1, first = b->n_rules;
    for (uint32_t i = 0; i < (n_items + 1) * row; i++) {
        char name[64];
        snprintf(name, sizeof(name), "%u items, of which %u count", i / row, i % row);
        qn_gx_rule_new(b, qn_str_of(name));
    }
    QN_TRY(qn_front_status(b, s->err));
    for (uint32_t i = 0; i <= n_items; i++) {
        qn_gx yes = 0, no = 0;
        bool fits = false;
        if (i < a->max) {
            QN_TRY(both_kinds(a, i, &yes, &no, &fits));
        }
        uint32_t next = i < n_items ? i + 1 : i;
        for (uint32_t k = 0; k < row; k++) {
            qn_gx ways[3];
            uint32_t n_ways = 0;
            if (i >= a->min && k >= a->min_contains) {
                ways[n_ways++] = qn_gx_bytes(b, QN_STR(""));
            }
            bool is_last = k == n_counts, may_count = !is_last || a->max_contains == QN_GX_NO_MAX;
            qn_gx comma = i > 0 ? s->comma : qn_gx_bytes(b, QN_STR(""));
            if (fits && may_count) {
                qn_gx rest = qn_gx_rule_ref(b, first + next * row + (is_last ? k : k + 1));
                ways[n_ways++] = qn_gx_cat(b, (qn_gx[]){comma, yes, rest}, 3);
            }
            if (fits) {
                ways[n_ways++] = qn_gx_cat(b, (qn_gx[]){comma, no, qn_gx_rule_ref(b, first + next * row + k)}, 3);
            }
            qn_gx_rule_define(b, first + i * row + k, qn_gx_alt(b, ways, n_ways));
        }
    }
    *out = qn_schema_array_brackets(a, qn_gx_rule_ref(b, first));
    return qn_front_status(b, s->err);
}

qn_status qn_schema_array_contains(qn_schema_array *a, qn_gx *out)
{
    if (a->min_contains > a->max_contains) {
        *out = qn_gx_never(a->s->b);
        return QN_OK;
    }
    /* in_loops() knows no number of items but the least one without any that counts */
    bool is_counted = a->min > a->min_contains && !(a->min_contains == 0 && a->max_contains == 0);
    return a->n_first != 0 || is_counted || a->max != QN_GX_NO_MAX ? in_counts(a, out) : in_loops(a, out);
}
