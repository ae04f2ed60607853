/* Placing layers inside KV pages. SPDX-License-Identifier: MIT */
#include "tensor/kv_layout.h"

#include "base/checked.h"

#define MAX_PAGE (1u << 30) /* keeps offsets far from overflow; the largest models need about 32 MiB */

static bool place(uint64_t *offset, uint64_t n_items, uint64_t item_bytes, uint64_t *at)
{
    uint64_t bytes;
    *at = *offset;
    return qn_mul_u64(n_items, item_bytes, &bytes) && qn_add_u64(*offset, bytes, offset) &&
           qn_round_up_u64(*offset, 64, offset);
}

static qn_status group_of(qn_kv_layout *kv, uint32_t window, uint32_t *i_group, qn_error *err)
{
    for (uint32_t i = 0; i < kv->n_groups; i++) {
        if (kv->groups[i].window == window) {
            *i_group = i;
            return QN_OK;
        }
    }
    if (kv->n_groups == QN_KV_MAX_GROUPS) {
        return qn_fail(err, QN_EUNSUPPORTED, "layers with more than %d different attention windows", QN_KV_MAX_GROUPS);
    }
    *i_group = kv->n_groups++;
    kv->groups[*i_group] = (qn_kv_group){.window = window};
    return QN_OK;
}

static bool place_layer(qn_kv_layout *kv, qn_kv_layer *l)
{
    qn_kv_group *g = &kv->groups[l->i_group];
    uint64_t item_bytes = qn_kv_item_bytes(kv->type);
    uint64_t tokens = (uint64_t)l->n_heads * kv->page_tokens;
    uint64_t means = (uint64_t)l->n_heads * l->head_dim;
    l->mean_offset = kv->n_means;
    return place(&g->page_bytes, tokens * l->head_dim, item_bytes, &l->k_offset) &&
           place(&g->page_bytes, tokens * l->v_dim, item_bytes, &l->v_offset) && g->page_bytes < MAX_PAGE &&
           (kv->bits == 0 || (place(&g->code_bytes, l->n_heads, qn_kv_k_bytes(kv->bits, l->head_dim, kv->page_tokens),
                                    &l->k_code_offset) &&
                              place(&g->code_bytes, l->n_heads, qn_kv_v_bytes(kv->bits, l->v_dim, kv->page_tokens),
                                    &l->v_code_offset) && g->code_bytes < MAX_PAGE)) &&
           place(&kv->recent_bytes, (uint64_t)l->n_heads * kv->n_recent, item_bytes * ((uint64_t)l->head_dim + l->v_dim),
                 &l->recent_offset) &&
           (!qn_kv_is_centred(kv) || qn_add_u64(kv->n_means, means, &kv->n_means));
}

qn_status qn_kv_layout_plan(qn_kv_layout *kv, qn_error *err)
{
    kv->n_groups = 0;
    kv->n_means = 0;
    kv->recent_bytes = 0;
    for (uint32_t i = 0; i < kv->n_layers; i++) {
        qn_kv_layer *l = &kv->layers[i];
        QN_TRY(group_of(kv, l->window, &l->i_group, err));
        if (!place_layer(kv, l)) {
            return qn_fail(err, QN_ERANGE, "a KV page of %u tokens would take over 1 GiB", kv->page_tokens);
        }
    }
    return QN_OK;
}
