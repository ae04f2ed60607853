/* How keys and values lie in memory: read by kv (which hands out the pages) and by the backends (which fill them).
 *
 * A page holds page_tokens tokens of all layers of one group; layers of a group lose their tokens at the same time
 * (all full, or all with the same window). Within a page each layer has a K part and a V part, with a block for each
 * head. In a plain page a K block is [head_dim][page_tokens], so that a vector runs over tokens, and a V block
 * [page_tokens][v_dim]; in a page of codes they are as quant/kv_code.h says. Where codes are in use all keys and values,
 * those in plain pages too, are kept rotated (backend/cpu/kernels.h: rotate).
 * SPDX-License-Identifier: MIT */
#ifndef QN_TENSOR_KV_LAYOUT_H
#define QN_TENSOR_KV_LAYOUT_H

#include "base/alloc.h"
#include "quant/kv_code.h"

#define QN_KV_MAX_GROUPS 4 /* full attention and three window sizes; no known model has more than two */

typedef struct qn_kv_layer {
    uint32_t window; /* tokens that a row sees, itself included; 0: all */
    uint32_t n_heads, head_dim, v_dim;
    /* Set by qn_kv_layout_plan(): bytes from the page's start, of plain pages and of those of codes. */
    uint32_t i_group;
    uint64_t k_offset, v_offset;
    uint64_t k_code_offset, v_code_offset;
    uint64_t mean_offset;   /* in floats, of a sequence's means */
    uint64_t recent_offset; /* in bytes, of a sequence's recent tokens: [n_heads][n_recent][K, then V] */
} qn_kv_layer;

typedef struct qn_kv_group {
    uint32_t window;
    uint64_t page_bytes; /* a multiple of 64, as is the next */
    uint64_t code_bytes; /* of a page of codes; 0 where there are none */
} qn_kv_group;

typedef struct qn_kv_layout {
    qn_type type;     /* of plain pages: F32, F16 or BF16 */
    uint32_t bits;    /* 0: all pages are plain; 8, 4: the later ones hold codes */
    uint32_t n_plain; /* with bits: a sequence's first pages that are plain all the same; at least 1 with 4 bits */
    uint32_t page_tokens;
    uint32_t n_layers, n_groups;
    qn_kv_layer *layers;
    qn_kv_group groups[QN_KV_MAX_GROUPS];
    uint32_t n_recent;     /* the last tokens of a sequence that are kept plain too; token t in place t % n_recent */
    uint64_t recent_bytes; /* of all of them; set by qn_kv_layout_plan() */
    uint64_t n_means; /* floats of a sequence's means; set by qn_kv_layout_plan() */
} qn_kv_layout;

/* Sorts the layers into groups and gives each its place. layers[].{window,n_heads,head_dim,v_dim} are set, as are all
 * members of kv above page_tokens. May be called again after a change of those. QN_EUNSUPPORTED: more window sizes than groups; QN_ERANGE: a page of 1 GiB or more. */
qn_status qn_kv_layout_plan(qn_kv_layout *kv, qn_error *err);

static inline uint64_t qn_kv_item_bytes(qn_type t)
{
    return t == QN_TYPE_F32 ? 4 : 2;
}

/* Whether keys are stored less their mean over the sequence's first page (which is plain): then a score lacks the
 * query's product with the mean. Each head of each layer has its mean, head_dim floats. */
static inline bool qn_kv_is_centred(const qn_kv_layout *kv)
{
    return kv->bits == 4;
}

/* Pages of a sequence that are plain. Of a window's pages it is one: later ones would be held for a short time only. */
static inline uint32_t qn_kv_plain_pages(const qn_kv_layout *kv, uint32_t window)
{
    return kv->bits == 0 ? UINT32_MAX : window != 0 && kv->n_plain > 1 ? 1 : kv->n_plain;
}

static inline bool qn_kv_is_plain(const qn_kv_layout *kv, const qn_kv_layer *l, uint32_t i_page)
{
    return i_page < qn_kv_plain_pages(kv, l->window);
}

/* The K (V) block of one head of one layer inside a sequence's page number i_page. */
static inline uint8_t *qn_kv_k_block(const qn_kv_layout *kv, const qn_kv_layer *l, uint8_t *page, uint32_t i_page,
                                     uint32_t i_head)
{
    return qn_kv_is_plain(kv, l, i_page)
               ? page + l->k_offset + qn_kv_item_bytes(kv->type) * i_head * l->head_dim * kv->page_tokens
               : page + l->k_code_offset + qn_kv_k_bytes(kv->bits, l->head_dim, kv->page_tokens) * i_head;
}
static inline uint8_t *qn_kv_v_block(const qn_kv_layout *kv, const qn_kv_layer *l, uint8_t *page, uint32_t i_page,
                                     uint32_t i_head)
{
    return qn_kv_is_plain(kv, l, i_page)
               ? page + l->v_offset + qn_kv_item_bytes(kv->type) * i_head * l->v_dim * kv->page_tokens
               : page + l->v_code_offset + qn_kv_v_bytes(kv->bits, l->v_dim, kv->page_tokens) * i_head;
}

#endif
