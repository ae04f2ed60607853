/* Nodes of the pool: each is made once.
 * SPDX-License-Identifier: MIT */
#include "grammar/regular_int.h"

#define SHORT_TEXT 32 /* literals up to here are equal when their bytes are; longer ones when they are one place */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static uint64_t hash_bytes(uint64_t h, const void *bytes, size_t n)
{
    const unsigned char *c = bytes;
    for (; n >= 8; n -= 8, c += 8) {
        uint64_t word;
        memcpy(&word, c, 8);
        h = mix(h, word);
    }
    for (; n != 0; n--, c++) {
        h = mix(h, *c);
    }
    return h;
}

/* The part of a pool that belongs to a node's identity. */
static const void *content(const qn_rx_pool *p, const qn_rx_node *x, size_t *n_bytes)
{
    *n_bytes = 0;
    if (x->kind == QN_RX_K_SWITCH) {
        *n_bytes = x->b * sizeof(qn_rx_run);
        return qn_rx_runs(p) + x->a;
    }
    if (x->kind == QN_RX_K_ALT) {
        *n_bytes = x->b * sizeof(qn_rx);
        return qn_rx_kids(p) + x->a;
    }
    if (x->kind == QN_RX_K_LIT && x->b <= SHORT_TEXT) {
        *n_bytes = x->b;
        return (const char *)p->text.items + x->a;
    }
    return NULL;
}

static uint64_t hash_node(const qn_rx_pool *p, const qn_rx_node *x)
{
    size_t n_bytes;
    const void *held = content(p, x, &n_bytes);
    uint64_t h = mix(x->kind, x->b);
    h = mix(h, held != NULL ? 0 : x->a);
    h = mix(h, x->c);
    h = held != NULL ? hash_bytes(h, held, n_bytes) : h;
    return h ^ h >> 32;
}

static bool same_node(const qn_rx_pool *p, const qn_rx_node *x, const qn_rx_node *y)
{
    if (x->kind != y->kind || x->b != y->b || x->c != y->c) {
        return false;
    }
    size_t n_x, n_y;
    const void *of_x = content(p, x, &n_x), *of_y = content(p, y, &n_y);
    return of_x == NULL ? x->a == y->a : memcmp(of_x, of_y, n_x) == 0;
}

static bool grow_slots(qn_rx_pool *p)
{
    uint32_t n = p->n_slots == 0 ? 1024 : p->n_slots * 2;
    uint32_t *slots = qn_zalloc_array(p->budget, QN_RX_OWNER, n, sizeof(*slots));
    if (slots == NULL) {
        p->status = qn_alloc_failure(p->budget, (uint64_t)n * sizeof(*slots));
        return false;
    }
    for (uint32_t i = 1; i < p->nodes.n; i++) {
        uint32_t s = (uint32_t)hash_node(p, qn_rx_at(p, i)) & (n - 1);
        while (slots[s] != 0) {
            s = (s + 1) & (n - 1);
        }
        slots[s] = i;
    }
    qn_free(p->slots);
    p->slots = slots;
    p->n_slots = n;
    return true;
}

qn_rx qn_rx_intern(qn_rx_pool *p, const qn_rx_node *x, bool *is_new)
{
    *is_new = false;
    if (p->status != QN_OK || ((p->nodes.n + 1) * 4 > p->n_slots * 3 && !grow_slots(p))) {
        return QN_RX_NEVER;
    }
    uint32_t s = (uint32_t)hash_node(p, x) & (p->n_slots - 1);
    for (; p->slots[s] != 0; s = (s + 1) & (p->n_slots - 1)) {
        if (same_node(p, qn_rx_at(p, p->slots[s]), x)) {
            return p->slots[s];
        }
    }
    if (x->depth > QN_RX_MAX_DEPTH) {
        qn_rx_full(p, "expressions within expressions are too deep; rules of their own for the inner ones would do");
        return QN_RX_NEVER;
    }
    if (p->nodes.n == QN_RX_MAX_NODES) {
        qn_rx_full(p, "it needs too many states; smaller bounds of repetitions, or fewer alternatives, would do");
    }
    if (!qn_vec_add(p->budget, &p->status, &p->nodes, x, QN_RX_MAX_NODES, sizeof(*x))) {
        return QN_RX_NEVER;
    }
    *is_new = true;
    return p->slots[s] = p->nodes.n - 1;
}
