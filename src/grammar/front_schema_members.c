/* The members of an object in their order, with commas between those that are there.
 *
 * A sequence of optional members is its first member that is there, then each further one with a comma before it.
 * Halves are put together from halves, so that n members take n log n parts and not n^2. SPDX-License-Identifier: MIT
 */
#include "grammar/front_schema_object.h"

#include <stdio.h>

#define MAX_COUNTED 16384 /* members times count, for minProperties and maxProperties */

static qn_gx behind_comma(qn_schema_object *o, qn_gx x)
{
    qn_gx comma = o->s->members != NULL ? o->s->members->comma : o->s->comma;
    return qn_gx_cat(o->s->b, (qn_gx[]){comma, x}, 2);
}

/* Members i to end, each with a comma before it. */
static qn_gx rest_of(qn_schema_object *o, uint32_t i, uint32_t end)
{
    qn_gx_builder *b = o->s->b;
    if (end - i == 1) {
        qn_gx x = behind_comma(o, o->members[i].x);
        return o->members[i].is_required ? x : qn_gx_repeat(b, x, 0, 1);
    }
    uint32_t middle = i + (end - i) / 2;
    return qn_gx_cat(b, (qn_gx[]){rest_of(o, i, middle), rest_of(o, middle, end)}, 2);
}

/* At least one of members i to end; *has_required: one of them must be there. */
static qn_gx some_of(qn_schema_object *o, uint32_t i, uint32_t end, bool *has_required)
{
    qn_gx_builder *b = o->s->b;
    if (end - i == 1) {
        *has_required = o->members[i].is_required;
        return o->members[i].x;
    }
    uint32_t middle = i + (end - i) / 2;
    bool before, behind;
    qn_gx left = some_of(o, i, middle, &before);
    qn_gx both = qn_gx_cat(b, (qn_gx[]){left, rest_of(o, middle, end)}, 2);
    if (before) {
        *has_required = true;
        return both;
    }
    qn_gx right = some_of(o, middle, end, &behind);
    *has_required = behind;
    return qn_gx_alt(b, (qn_gx[]){both, right}, 2);
}

qn_gx qn_schema_members(qn_schema_object *o, bool *may_be_empty)
{
    qn_gx_builder *b = o->s->b;
    qn_gx more = o->has_free ? qn_gx_repeat(b, behind_comma(o, o->free), 0, QN_GX_NO_MAX) : 0;
    *may_be_empty = true;
    qn_gx ways[2];
    uint32_t n = 0;
    if (o->n_members != 0) {
        bool has_required;
        ways[n] = some_of(o, 0, o->n_members, &has_required);
        if (o->has_free) {
            ways[n] = qn_gx_cat(b, (qn_gx[]){ways[n], more}, 2);
        }
        n++;
        *may_be_empty = !has_required;
    }
    if (o->has_free && *may_be_empty) {
        ways[n++] = qn_gx_cat(b, (qn_gx[]){o->free, more}, 2);
    }
    return n == 0 ? qn_gx_bytes(b, QN_STR("")) : qn_gx_alt(b, ways, n);
}

/* ---- counts ---- */

/* Undeclared members when n are there: as many as the counts ask for. */
static qn_status counted_tail(qn_schema_object *o, uint32_t n, uint32_t n_required, qn_gx *out)
{
    qn_gx_builder *b = o->s->b;
    uint32_t min = o->min > n ? o->min - n : 0, max = o->max == QN_GX_NO_MAX ? o->max : o->max - n;
    if (!o->has_free || n < n_required) {
        *out = min > 0 ? qn_gx_never(b) : qn_gx_bytes(b, QN_STR(""));
        return QN_OK;
    }
    if (min > 1) {
        return qn_sx_fail(
            o->s, QN_EUNSUPPORTED, o->min_schema, "minProperties",
            "above 1 not enforced over names that are free, which could repeat; over named properties it is");
    }
    qn_gx next = behind_comma(o, o->free);
    if (n > 0 || max == 0) {
        *out = qn_gx_repeat(b, next, min, max);
        return QN_OK;
    }
    qn_gx all = qn_gx_cat(b, (qn_gx[]){o->free, qn_gx_repeat(b, next, 0, max == QN_GX_NO_MAX ? max : max - 1)}, 2);
    *out = min == 0 ? qn_gx_repeat(b, all, 0, 1) : all;
    return QN_OK;
}

qn_status qn_schema_counted_members(qn_schema_object *o, uint32_t n_required, qn_gx *out)
{
    qn_sx *s = o->s;
    qn_gx_builder *b = s->b;
    uint32_t top = o->max < o->n_members ? o->max : o->n_members;
    if ((uint64_t)(top + 1) * o->n_members > MAX_COUNTED) {
        bool is_min = o->min_schema != NULL && o->min > 1;
        return qn_sx_fail(s, QN_EFULL, is_min ? o->min_schema : o->max_schema,
                          is_min ? "minProperties" : "maxProperties",
                          "too large over so many properties (the product of both may be 16384)");
    }
    qn_gx *tails = qn_sx_alloc(s, (size_t)(top + 2) * sizeof(*tails));
    if (tails == NULL) {
        return qn_sx_no_memory(s);
    }
    for (uint32_t n = 0; n <= top; n++) {
        QN_TRY(counted_tail(o, n, n_required, &tails[n]));
    }
    for (uint32_t i = o->n_members; i > 0; i--) {
        const qn_schema_member *m = &o->members[i - 1];
        for (uint32_t n = 0; n <= top && n < i; n++) { /* tails[n + 1] is still that of the member behind */
            qn_gx ways[2];
            uint32_t n_ways = 0;
            if (n < top) {
                ways[n_ways++] = qn_gx_cat(b, (qn_gx[]){n == 0 ? m->x : behind_comma(o, m->x), tails[n + 1]}, 2);
            }
            if (!m->is_required) {
                ways[n_ways++] = tails[n];
            }
            char name[48];
            snprintf(name, sizeof(name), "%u members before the %u.", n, i);
            uint32_t rule = qn_gx_rule_new(b, qn_str_of(name));
            qn_gx_rule_define(b, rule, qn_gx_alt(b, ways, n_ways));
            tails[n] = qn_gx_rule_ref(b, rule);
        }
    }
    *out = tails[0];
    return QN_OK;
}
