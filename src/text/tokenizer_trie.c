/* Building a tree of bytes. A node stands for a range of the items: those that share its bytes. Ranges wait on a stack;
 * each is sorted by the next byte, which is read once, as the file under the spellings may change at any time.
 * SPDX-License-Identifier: MIT */
#include "text/tokenizer_trie.h"

#include "base/checked.h"

#include <string.h>

#define OWNER "tokenizer"
#define NO_ID (-1)
#define MAX_NODES UINT32_MAX
#define SMALL_RANGE 24 /* items that are sorted by insertion; others are counted by byte */

typedef struct range { /* items[from, to) share the first `depth` bytes, which lead to `node` */
    uint32_t from, to, depth, node;
} range;

typedef struct builder {
    qn_trie *t;
    qn_trie_item *items, *spare;
    uint8_t *keys;
    range *stack;
    size_t n_stack, cap_stack;
} builder;

static qn_status grow(qn_budget *b, void **items, size_t *cap, size_t need, size_t item_bytes)
{
    size_t new_cap = *cap < 64 ? 64 : *cap, bytes;
    if (need <= *cap) {
        return QN_OK;
    }
    while (new_cap < need) {
        new_cap += new_cap / 2;
    }
    void *p = qn_mul_size(new_cap, item_bytes, &bytes) ? qn_realloc(b, OWNER, *items, bytes) : NULL;
    if (p == NULL) {
        return QN_ENOMEM;
    }
    *items = p;
    *cap = new_cap;
    return QN_OK;
}

static qn_status add_nodes(qn_trie *t, size_t n)
{
    if (n > MAX_NODES - t->n) {
        return QN_EFORMAT;
    }
    QN_TRY(grow(t->budget, (void **)&t->nodes, &t->cap, t->n + n, sizeof(*t->nodes)));
    t->n += n;
    return QN_OK;
}

/* The nodes below `node` for the rest of one item. */
static qn_status add_chain(qn_trie *t, qn_trie_item item, uint32_t depth, uint32_t node)
{
    uint32_t n = item.len - depth, first = (uint32_t)t->n;
    QN_TRY(add_nodes(t, n));
    for (uint32_t i = 0; i < n; i++) {
        t->nodes[node].children = first + i;
        t->nodes[node].n_children = 1;
        node = first + i;
        t->nodes[node] = (qn_trie_node){.id = NO_ID, .label = (uint8_t)item.spelling[depth + i]};
    }
    t->nodes[node].id = item.id;
    return QN_OK;
}

static void sort_by_insertion(builder *b, uint32_t from, uint32_t to)
{
    for (uint32_t i = from + 1; i < to; i++) {
        qn_trie_item item = b->items[i];
        uint8_t key = b->keys[i];
        uint32_t at = i;
        for (; at > from && b->keys[at - 1] > key; at--) {
            b->items[at] = b->items[at - 1];
            b->keys[at] = b->keys[at - 1];
        }
        b->items[at] = item;
        b->keys[at] = key;
    }
}

static void sort_by_counting(builder *b, uint32_t from, uint32_t to)
{
    uint32_t counts[256] = {0}, place[256], sum = from;
    for (uint32_t i = from; i < to; i++) {
        counts[b->keys[i]]++;
    }
    for (size_t byte = 0; byte < 256; byte++) {
        place[byte] = sum;
        sum += counts[byte];
    }
    for (uint32_t i = from; i < to; i++) {
        b->spare[place[b->keys[i]]++] = b->items[i];
    }
    memcpy(b->items + from, b->spare + from, (to - from) * sizeof(*b->items));
    for (size_t byte = 0; byte < 256; byte++) {
        memset(b->keys + from, (int)byte, counts[byte]);
        from += counts[byte];
    }
}

/* Sorts items[from, to) by the byte at `depth`, which all have, keeping equal ones in order; keys holds these bytes
 * then. Returns how many different ones there are. */
static uint32_t sort(builder *b, uint32_t from, uint32_t to, uint32_t depth)
{
    for (uint32_t i = from; i < to; i++) {
        b->keys[i] = (uint8_t)b->items[i].spelling[depth];
    }
    (to - from <= SMALL_RANGE ? sort_by_insertion : sort_by_counting)(b, from, to);
    uint32_t n_different = 1;
    for (uint32_t i = from + 1; i < to; i++) {
        n_different += b->keys[i] != b->keys[i - 1];
    }
    return n_different;
}

/* Gives a node the id of the item that ends there and its children, whose ranges go on the stack. */
static qn_status expand(builder *b, range r)
{
    qn_trie *t = b->t;
    uint32_t kept = r.from;
    for (uint32_t i = r.from; i < r.to; i++) {
        if (b->items[i].len > r.depth) {
            b->items[kept++] = b->items[i];
        } else if (r.node != 0 && t->nodes[r.node].id == NO_ID) {
            t->nodes[r.node].id = b->items[i].id;
        }
    }
    r.to = kept;
    if (r.to - r.from == 1) {
        return add_chain(t, b->items[r.from], r.depth, r.node);
    }
    if (r.to == r.from) {
        return QN_OK;
    }
    uint32_t n_children = sort(b, r.from, r.to, r.depth), child = (uint32_t)t->n;
    QN_TRY(add_nodes(t, n_children));
    QN_TRY(grow(t->budget, (void **)&b->stack, &b->cap_stack, b->n_stack + n_children, sizeof(*b->stack)));
    t->nodes[r.node].children = child;
    t->nodes[r.node].n_children = (uint16_t)n_children;
    for (uint32_t i = r.from, start = r.from; i < r.to; i++) {
        if (i + 1 == r.to || b->keys[i + 1] != b->keys[i]) {
            t->nodes[child] = (qn_trie_node){.id = NO_ID, .label = b->keys[i]};
            b->stack[b->n_stack++] = (range){start, i + 1, r.depth + 1, child++};
            start = i + 1;
        }
    }
    return QN_OK;
}

static qn_status build(builder *b, size_t n)
{
    qn_trie *t = b->t;
    b->spare = qn_zalloc_array(t->budget, OWNER, n, sizeof(*b->spare));
    b->keys = qn_zalloc_array(t->budget, OWNER, n, sizeof(*b->keys));
    if (b->spare == NULL || b->keys == NULL) {
        return QN_ENOMEM;
    }
    QN_TRY(add_nodes(t, 1));
    t->nodes[0] = (qn_trie_node){.id = NO_ID};
    QN_TRY(expand(b, (range){0, (uint32_t)n, 0, 0}));
    while (b->n_stack > 0) {
        QN_TRY(expand(b, b->stack[--b->n_stack]));
    }
    for (uint32_t i = 0; i < t->nodes[0].n_children; i++) {
        uint32_t child = t->nodes[0].children + i;
        t->first[t->nodes[child].label] = child;
    }
    return QN_OK;
}

qn_status qn_trie_open(qn_trie_item *items, size_t n, qn_budget *budget, qn_trie *t)
{
    *t = (qn_trie){.budget = budget};
    if (n >= UINT32_MAX) {
        return QN_EFORMAT;
    }
    builder b = {.t = t, .items = items};
    qn_status s = build(&b, n);
    qn_free(b.spare);
    qn_free(b.keys);
    qn_free(b.stack);
    if (s != QN_OK) {
        qn_trie_free(t);
    }
    return s;
}

void qn_trie_free(qn_trie *t)
{
    qn_free(t->nodes);
    *t = (qn_trie){0};
}
