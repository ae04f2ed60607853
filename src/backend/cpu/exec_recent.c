/* The newest keys and values as plain numbers, beside the codes that their pages hold: much attention rests on the last
 * few tokens, and most of what codes of 4 bits cost would come from those.
 *
 * A row in a page of codes takes its own key and value, and those of kv->n_recent tokens before it, from the step's rows
 * and from what its sequence keeps of earlier steps: they are laid out as a plain page, which is folded last. So no result
 * depends on how a text was cut into steps. Where a sequence has not kept a token (after a truncation, or after a step
 * that failed) its codes stand in for it. SPDX-License-Identifier: MIT */
#include "backend/cpu/exec_attention_int.h"

#include <string.h>

/* Recent tokens of a row besides its own. Rows that look into what the sequence has kept must all be in its first tile,
 * which then keeps the step's. */
static uint32_t n_recent(const qn_attention_run *a)
{
    return a->kv->n_recent < a->tile_rows ? a->kv->n_recent : a->tile_rows;
}

uint64_t qn_cpu_recent_scratch(const qn_kv_layout *kv, const qn_kv_layer *l)
{
    return kv->n_recent == 0 ? 0 : qn_kv_item_bytes(kv->type) * kv->page_tokens * (l->head_dim + l->v_dim);
}

uint32_t qn_attention_recent_from(const qn_attention_run *a, const qn_step_seq *seq, uint32_t pos)
{
    if (a->kv->n_recent == 0 || qn_kv_is_plain(a->kv, a->layer, pos / a->kv->page_tokens)) {
        return pos + 1;
    }
    uint32_t from = pos > n_recent(a) ? pos - n_recent(a) : 0;
    uint32_t kept = seq->pos0 - seq->n_recent;
    uint32_t first_code = qn_kv_plain_pages(a->kv, a->layer->window) * a->kv->page_tokens;
    from = from > kept ? from : kept;
    return from > first_code ? from : first_code;
}

/* Where a sequence keeps the key of token pos; its value follows. */
static uint8_t *place(const qn_attention_run *a, const qn_step_seq *seq, uint32_t pos, uint32_t i_head)
{
    const qn_kv_layer *l = a->layer;
    uint64_t bytes = qn_kv_item_bytes(a->kv->type) * (l->head_dim + l->v_dim);
    return seq->recent + l->recent_offset + bytes * ((uint64_t)i_head * a->kv->n_recent + pos % a->kv->n_recent);
}

/* Key and value of a row of this step as they are kept, turned; the value at scratch. The key is prepared already. */
static const float *row_key(const qn_attention_run *a, uint32_t i_row, uint32_t i_head)
{
    return (const float *)qn_job_row(a->w->job, a->op->k, i_row) + (uint64_t)i_head * a->layer->head_dim;
}

static const float *row_value(const qn_attention_run *a, uint32_t i_row, uint32_t i_head, float *scratch)
{
    uint32_t v_dim = a->layer->v_dim;
    memcpy(scratch, (const float *)qn_job_row(a->w->job, a->op->v, i_row) + (uint64_t)i_head * v_dim,
           sizeof(float) * v_dim);
    a->w->k->rotate(scratch, v_dim);
    return scratch;
}

/* Token pos into place t of the page at a->recent_page. */
static void lay_out(const qn_attention_run *a, const qn_step_seq *seq, uint32_t pos, uint32_t i_head, uint32_t t)
{
    const qn_kv_layer *l = a->layer;
    uint32_t pt = a->kv->page_tokens;
    uint64_t item = qn_kv_item_bytes(a->kv->type);
    uint8_t *k_at = a->recent_page + item * t;
    uint8_t *v_at = a->recent_page + item * pt * l->head_dim + item * l->v_dim * t;
    if (pos >= seq->pos0) {
        uint32_t i_row = seq->first_row + (pos - seq->pos0);
        a->w->k->kv_store(row_key(a, i_row, i_head), l->head_dim, a->kv->type, k_at, pt);
        a->w->k->kv_store(row_value(a, i_row, i_head, a->page_scratch), l->v_dim, a->kv->type, v_at, 1);
        return;
    }
    const uint8_t *kept = place(a, seq, pos, i_head);
    for (uint32_t d = 0; d < l->head_dim; d++) {
        memcpy(k_at + item * pt * d, kept + item * d, item);
    }
    memcpy(v_at, kept + item * l->head_dim, item * l->v_dim);
}

void qn_attention_fold_recent(const qn_attention_run *a, const qn_step_seq *seq, qn_attn_page *p, uint32_t pos0,
                              uint32_t n_rows, uint32_t i_head)
{
    uint32_t pt = a->kv->page_tokens, end = pos0 + n_rows;
    if (qn_attention_recent_from(a, seq, end - 1) == end) {
        return;
    }
    /* Of a row in a plain page this is the next one, which is as early as a row behind it may look. */
    uint32_t base = qn_attention_recent_from(a, seq, pos0);
    p->bits = 0;
    p->k = a->recent_page;
    p->v = a->recent_page + qn_kv_item_bytes(a->kv->type) * pt * a->layer->head_dim;
    for (; base < end; base += pt) {
        uint32_t n = end - base < pt ? end - base : pt;
        for (uint32_t t = 0; t < n; t++) {
            lay_out(a, seq, base + t, i_head, t);
        }
        for (uint32_t r = 0; r < n_rows; r++) {
            uint32_t pos = pos0 + r, lo = qn_attention_recent_from(a, seq, pos), hi = pos + 1;
            uint32_t seen = qn_attention_first_visible(a, pos);
            lo = lo > seen ? lo : seen;
            lo = lo > base ? lo - base : 0;
            hi = hi > base ? hi - base : 0;
            hi = hi < pt ? hi : pt;
            for (uint32_t g = 0; g < a->group; g++) {
                a->lo[r * a->group + g] = lo < hi ? lo : 0;
                a->hi[r * a->group + g] = lo < hi ? hi : 0;
            }
        }
        a->w->k->attn_page(p);
    }
}

void qn_attention_keep_recent(const qn_attention_run *a, const qn_step_seq *seq, uint32_t i_head)
{
    const qn_kv_layer *l = a->layer;
    if (a->kv->n_recent == 0) {
        return;
    }
    uint32_t end = seq->pos0 + seq->n_rows, n = seq->n_rows < a->kv->n_recent ? seq->n_rows : a->kv->n_recent;
    for (uint32_t pos = end - n; pos < end; pos++) {
        uint32_t i_row = seq->first_row + (pos - seq->pos0);
        uint8_t *kept = place(a, seq, pos, i_head);
        a->w->k->kv_store(row_key(a, i_row, i_head), l->head_dim, a->kv->type, kept, 1);
        a->w->k->kv_store(row_value(a, i_row, i_head, a->page_scratch), l->v_dim, a->kv->type,
                          kept + qn_kv_item_bytes(a->kv->type) * l->head_dim, 1);
    }
}
