/* Building expressions: pools that only grow, and indexes into them.
 * Invariant: a node's children have smaller indexes than the node, so expressions have no cycles; only rules do.
 * SPDX-License-Identifier: MIT */
#include "grammar/expr.h"

#include <stdlib.h>

#define OWNER "grammar"
#define MAX_TEXT (1u << 26)  /* bytes of all literals; a schema is smaller than that */
#define MAX_RANGES (1u << 22)
#define MAX_RULES (1u << 18)

void qn_gx_init(qn_gx_builder *b, qn_budget *budget) { *b = (qn_gx_builder){.budget = budget}; }

void qn_gx_free(qn_gx_builder *b)
{
    for (uint32_t i = 0; i < b->n_rules; i++) {
        qn_free((char *)b->rules[i].name.data);
    }
    qn_free(b->nodes);
    qn_free(b->children);
    qn_free(b->ranges);
    qn_free(b->text);
    qn_free(b->rules);
    *b = (qn_gx_builder){.budget = b->budget, .status = b->status};
}

/* Room for n more items of a pool; NULL: b->status says why. */
static void *grow(qn_gx_builder *b, void *pool, uint32_t n_held, uint32_t *cap, uint32_t n, uint32_t limit, size_t size)
{
    if (b->status != QN_OK) {
        return NULL;
    }
    if (n > limit - n_held) {
        b->status = QN_EFULL;
        return NULL;
    }
    if (n_held + n <= *cap) {
        return pool;
    }
    uint32_t wanted = *cap < 32 ? 32 : *cap > limit / 2 ? limit : *cap * 2;
    wanted = wanted < n_held + n ? n_held + n : wanted;
    void *moved = qn_realloc(b->budget, OWNER, pool, wanted * size);
    if (moved == NULL) {
        b->status = qn_alloc_failure(b->budget, wanted * size);
        return NULL;
    }
    *cap = wanted;
    return moved;
}

static qn_gx add_node(qn_gx_builder *b, qn_gx_node node)
{
    qn_gx_node *nodes = grow(b, b->nodes, b->n_nodes, &b->cap_nodes, 1, QN_GX_MAX_NODES, sizeof(*nodes));
    if (nodes == NULL) {
        return 0;
    }
    b->nodes = nodes;
    b->nodes[b->n_nodes] = node;
    return b->n_nodes++;
}

static qn_gx add_parent(qn_gx_builder *b, qn_gx_kind kind, const qn_gx *parts, uint32_t n, uint32_t min, uint32_t max)
{
    qn_gx *children = grow(b, b->children, b->n_children, &b->cap_children, n, QN_GX_MAX_NODES * 4, sizeof(*children));
    if (children == NULL && (n != 0 || b->status != QN_OK)) {
        return 0;
    }
    b->children = children;
    uint32_t first = b->n_children;
    if (n != 0) {
        memcpy(children + first, parts, n * sizeof(*parts));
    }
    b->n_children += n;
    return add_node(b, (qn_gx_node){.kind = (uint8_t)kind, .first = first, .n = n, .min = min, .max = max});
}

static qn_gx add_text(qn_gx_builder *b, qn_gx_kind kind, qn_str bytes)
{
    if (bytes.len > MAX_TEXT) {
        b->status = b->status != QN_OK ? b->status : QN_EFULL;
        return 0;
    }
    char *text = grow(b, b->text, b->n_text, &b->cap_text, (uint32_t)bytes.len, MAX_TEXT, 1);
    if (text == NULL && (bytes.len != 0 || b->status != QN_OK)) {
        return 0;
    }
    b->text = text;
    uint32_t first = b->n_text;
    if (bytes.len != 0) {
        memcpy(text + first, bytes.data, bytes.len);
    }
    b->n_text += (uint32_t)bytes.len;
    return add_node(b, (qn_gx_node){.kind = (uint8_t)kind, .first = first, .n = (uint32_t)bytes.len});
}

qn_gx qn_gx_never(qn_gx_builder *b) { return add_node(b, (qn_gx_node){.kind = QN_GX_NEVER}); }

qn_gx qn_gx_bytes(qn_gx_builder *b, qn_str bytes) { return add_text(b, QN_GX_BYTES, bytes); }

qn_gx qn_gx_special(qn_gx_builder *b, qn_str spelling) { return add_text(b, QN_GX_SPECIAL, spelling); }

static int by_first(const void *x, const void *y)
{
    const qn_gx_range *a = x, *b = y;
    return a->first < b->first ? -1 : a->first > b->first;
}

qn_gx qn_gx_class(qn_gx_builder *b, const qn_gx_range *ranges, uint32_t n)
{
    qn_gx_range *pool = grow(b, b->ranges, b->n_ranges, &b->cap_ranges, n, MAX_RANGES, sizeof(*pool));
    if (pool == NULL || n == 0) {
        return b->status == QN_OK ? qn_gx_never(b) : 0;
    }
    b->ranges = pool;
    qn_gx_range *own = pool + b->n_ranges;
    memcpy(own, ranges, n * sizeof(*ranges));
    qsort(own, n, sizeof(*own), by_first);
    uint32_t n_joined = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (own[i].first > own[i].last) {
            continue;
        }
        if (n_joined != 0 && own[i].first <= own[n_joined - 1].last + 1) {
            uint32_t last = own[n_joined - 1].last;
            own[n_joined - 1].last = last > own[i].last ? last : own[i].last;
        } else {
            own[n_joined++] = own[i];
        }
    }
    uint32_t first = b->n_ranges;
    b->n_ranges += n_joined;
    return n_joined == 0 ? qn_gx_never(b) : add_node(b, (qn_gx_node){.kind = QN_GX_CLASS, .first = first, .n = n_joined});
}

qn_gx qn_gx_cat(qn_gx_builder *b, const qn_gx *parts, uint32_t n)
{
    return n == 1 ? parts[0] : add_parent(b, QN_GX_CAT, parts, n, 0, 0);
}

qn_gx qn_gx_alt(qn_gx_builder *b, const qn_gx *parts, uint32_t n)
{
    return n == 0 ? qn_gx_never(b) : n == 1 ? parts[0] : add_parent(b, QN_GX_ALT, parts, n, 0, 0);
}

qn_gx qn_gx_repeat(qn_gx_builder *b, qn_gx x, uint32_t min, uint32_t max)
{
    return min > max ? qn_gx_never(b) : add_parent(b, QN_GX_REPEAT, &x, 1, min, max);
}

qn_gx qn_gx_and(qn_gx_builder *b, qn_gx x, qn_gx y) { return add_parent(b, QN_GX_AND, (qn_gx[]){x, y}, 2, 0, 0); }

qn_gx qn_gx_not(qn_gx_builder *b, qn_gx x) { return add_parent(b, QN_GX_NOT, &x, 1, 0, 0); }

uint32_t qn_gx_rule_new(qn_gx_builder *b, qn_str name)
{
    qn_gx_rule *rules = grow(b, b->rules, b->n_rules, &b->cap_rules, 1, MAX_RULES, sizeof(*rules));
    if (rules == NULL) {
        return 0;
    }
    b->rules = rules;
    char *kept = qn_alloc(b->budget, OWNER, name.len + 1);
    if (kept == NULL) {
        b->status = qn_alloc_failure(b->budget, name.len + 1);
        return 0;
    }
    memcpy(kept, name.data, name.len);
    kept[name.len] = '\0';
    rules[b->n_rules] = (qn_gx_rule){.name = {kept, name.len}};
    return b->n_rules++;
}

void qn_gx_rule_define(qn_gx_builder *b, uint32_t rule, qn_gx body)
{
    if (b->status == QN_OK) {
        b->rules[rule].body = body;
        b->rules[rule].is_defined = true;
    }
}

qn_gx qn_gx_rule_ref(qn_gx_builder *b, uint32_t rule) { return add_node(b, (qn_gx_node){.kind = QN_GX_RULE, .rule = rule}); }
