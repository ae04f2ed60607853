/* How keys and values lie in memory: read by kv (which hands out the pages) and by the backends (which fill them).
 *
 * A page holds page_tokens tokens of all layers of one group; layers of a group lose their tokens at the same time
 * (all full, or all with the same window). Within a page each layer has a K part [head][head_dim][page_tokens], so
 * that a vector runs over tokens, and a V part [head][page_tokens][v_dim].
 * SPDX-License-Identifier: MIT */
#ifndef QN_TENSOR_KV_LAYOUT_H
#define QN_TENSOR_KV_LAYOUT_H

#include "base/alloc.h"
#include "quant/quant.h"

#define QN_KV_MAX_GROUPS 4 /* full attention and three window sizes; no known model has more than two */

typedef struct qn_kv_layer {
    uint32_t window; /* tokens that a row sees, itself included; 0: all */
    uint32_t n_heads, head_dim, v_dim;
    uint32_t i_group;            /* set by qn_kv_layout_plan() */
    uint64_t k_offset, v_offset; /* bytes from the page's start; set by qn_kv_layout_plan() */
} qn_kv_layer;

typedef struct qn_kv_group {
    uint32_t window;
    uint64_t page_bytes; /* a multiple of 64 */
} qn_kv_group;

typedef struct qn_kv_layout {
    qn_type type; /* F16 or F32 */
    uint32_t page_tokens;
    uint32_t n_layers, n_groups;
    qn_kv_layer *layers;
    qn_kv_group groups[QN_KV_MAX_GROUPS];
} qn_kv_layout;

/* Sorts the layers into groups and gives each its place. layers[].{window,n_heads,head_dim,v_dim} are set.
 * QN_EUNSUPPORTED: more window sizes than groups; QN_ERANGE: a page of 1 GiB or more. */
qn_status qn_kv_layout_plan(qn_kv_layout *kv, qn_error *err);

static inline uint64_t qn_kv_item_bytes(qn_type t)
{
    return t == QN_TYPE_F32 ? 4 : 2;
}

/* The K (V) block of one head of one layer inside a page. */
static inline uint8_t *qn_kv_k_block(const qn_kv_layout *kv, const qn_kv_layer *l, uint8_t *page, uint32_t i_head)
{
    return page + l->k_offset + qn_kv_item_bytes(kv->type) * i_head * l->head_dim * kv->page_tokens;
}
static inline uint8_t *qn_kv_v_block(const qn_kv_layout *kv, const qn_kv_layer *l, uint8_t *page, uint32_t i_head)
{
    return page + l->v_offset + qn_kv_item_bytes(kv->type) * i_head * l->v_dim * kv->page_tokens;
}

#endif
