/* Keys and values of a step's rows on their way into the pages: prepared, turned into what the page holds, put there.
 *
 * Where keys are kept less their mean, the mean is that of the sequence's first page, taken when the last token of that
 * page is written, and used from the second page on. So in a step that goes on from the first page the first pages are
 * written before all others. SPDX-License-Identifier: MIT */
#include "backend/cpu/exec_attention_int.h"

#include <string.h>

void qn_attention_prepare(const qn_attention_run *a, const qn_cpu_head_prep *prep, float *x, uint32_t head_dim,
                          uint32_t i_row)
{
    const qn_kernels *k = a->w->k;
    if (prep->norm != NULL) {
        k->rms_norm(x, (const float *)(const void *)prep->norm->data, head_dim, prep->eps, x);
    }
    if (prep->rope != NULL) {
        const float *cosv = qn_exec_angles(a->w->ex, prep->i_angles, i_row);
        k->rope(x, prep->rope->n_pairs, cosv, cosv + a->w->ex->max_pairs,
                prep->rope->neox ? QN_ROPE_NEOX : QN_ROPE_NORMAL);
    }
}

/* The head's mean over its first page, which has just been filled. */
static void take_mean(const qn_attention_run *a, const qn_step_seq *seq, uint32_t i_head, const uint8_t *k_block)
{
    uint32_t pt = a->kv->page_tokens;
    float *mean = qn_attention_mean(a, seq, i_head);
    float *row = a->page_scratch;
    for (uint32_t d = 0; d < a->layer->head_dim; d++) {
        a->w->k->decode_row[a->kv->type](k_block + qn_kv_item_bytes(a->kv->type) * d * pt, row, pt);
        float sum = 0.0F;
        for (uint32_t t = 0; t < pt; t++) {
            sum += row[t];
        }
        mean[d] = sum / (float)pt;
    }
}

static void put_plain(const qn_attention_run *a, const qn_step_seq *seq, uint32_t pos, uint32_t i_head, const float *k,
                      const float *v)
{
    const qn_kv_layer *l = a->layer;
    uint32_t pt = a->kv->page_tokens;
    uint64_t item = qn_kv_item_bytes(a->kv->type);
    uint8_t *page = qn_attention_page(a, seq, pos / pt);
    uint8_t *k_block = qn_kv_k_block(a->kv, l, page, pos / pt, i_head);
    uint8_t *v_block = qn_kv_v_block(a->kv, l, page, pos / pt, i_head);
    a->w->k->kv_store(k, l->head_dim, a->kv->type, k_block + item * (pos % pt), pt);
    a->w->k->kv_store(v, l->v_dim, a->kv->type, v_block + item * l->v_dim * (pos % pt), 1);
    if (pos + 1 == pt && qn_kv_is_centred(a->kv)) {
        take_mean(a, seq, i_head, k_block);
    }
}

/* rest: room for the key, and for the codes of the longer of the two. */
static void put_codes(const qn_attention_run *a, const qn_step_seq *seq, uint32_t pos, uint32_t i_head,
                      const float *k, const float *v, float *rest)
{
    const qn_kv_layer *l = a->layer;
    uint32_t pt = a->kv->page_tokens, bits = a->kv->bits;
    uint8_t *page = qn_attention_page(a, seq, pos / pt), *codes = (uint8_t *)(rest + l->head_dim);
    if (qn_kv_is_centred(a->kv)) {
        memcpy(rest, k, sizeof(float) * l->head_dim);
        a->w->k->add_scaled(qn_attention_mean(a, seq, i_head), -1.0F, l->head_dim, rest);
        k = rest;
    }
    qn_kv_scale s = a->w->k->kv_encode(k, l->head_dim, qn_kv_k_bits(bits), codes);
    qn_kv_put_k(codes, s, bits, l->head_dim, pt, pos % pt, qn_kv_k_block(a->kv, l, page, pos / pt, i_head));
    s = a->w->k->kv_encode(v, l->v_dim, bits, codes);
    qn_kv_put_v(codes, s, bits, l->v_dim, pt, pos % pt, qn_kv_v_block(a->kv, l, page, pos / pt, i_head));
}

/* The key is prepared where it stands: nobody else reads it. */
void qn_attention_write_head(const qn_attention_run *a, const qn_step_seq *seq, uint32_t i_row, uint32_t i_head)
{
    const qn_kv_layer *l = a->layer;
    const qn_job *job = a->w->job;
    uint32_t pos = seq->pos0 + (i_row - seq->first_row);
    float *k = (float *)qn_job_row(job, a->op->k, i_row) + i_head * l->head_dim;
    const float *v = (const float *)qn_job_row(job, a->op->v, i_row) + i_head * l->v_dim;
    qn_attention_prepare(a, &a->op->k_prep, k, l->head_dim, i_row);
    if (a->kv->bits != 0) {
        /* The scratch of a page holds v_dim + head_dim floats and as many bytes many times. */
        float *turned = a->page_scratch;
        memcpy(turned, v, sizeof(float) * l->v_dim);
        a->w->k->rotate(turned, l->v_dim);
        a->w->k->rotate(k, l->head_dim);
        v = turned;
        if (!qn_kv_is_plain(a->kv, l, pos / a->kv->page_tokens)) {
            put_codes(a, seq, pos, i_head, k, v, turned + l->v_dim);
            return;
        }
    }
    put_plain(a, seq, pos, i_head, k, v);
}

/* Chunks are pages, so that no two threads write to one cache line. */
void qn_attention_write_pages(const qn_attention_run *a, qn_chunks *c, qn_kv_pages which)
{
    uint32_t pt = a->kv->page_tokens, before = 0, i_seq = 0;
    for (uint32_t item = qn_chunks_take(c);; item = qn_chunks_take(c)) {
        uint32_t n_pages = 0, first_page = 0;
        const qn_step_seq *seq = NULL;
        for (; i_seq < a->step->n_seqs; before += n_pages, i_seq++) {
            seq = &a->step->seqs[i_seq];
            uint32_t end_page = (seq->pos0 + seq->n_rows - 1) / pt + 1;
            first_page = seq->pos0 / pt;
            first_page = which == QN_KV_LATER_PAGES && first_page == 0 ? 1 : first_page;
            end_page = which == QN_KV_FIRST_PAGES && end_page > 1 ? 1 : end_page;
            n_pages = end_page > first_page ? end_page - first_page : 0;
            if (item - before < n_pages) {
                break;
            }
        }
        if (i_seq == a->step->n_seqs) {
            return;
        }
        uint32_t begin_pos = (first_page + (item - before)) * pt, end_pos = begin_pos + pt;
        begin_pos = begin_pos < seq->pos0 ? seq->pos0 : begin_pos;
        end_pos = end_pos > seq->pos0 + seq->n_rows ? seq->pos0 + seq->n_rows : end_pos;
        for (uint32_t h = 0; h < a->layer->n_heads; h++) {
            for (uint32_t pos = begin_pos; pos < end_pos; pos++) {
                qn_attention_write_head(a, seq, seq->first_row + (pos - seq->pos0), h);
            }
        }
    }
}

bool qn_attention_needs_mean(const qn_kv_layout *kv, const qn_step_rows *step)
{
    uint32_t pt = kv->page_tokens;
    for (uint32_t i = 0; i < step->n_seqs && qn_kv_is_centred(kv); i++) {
        const qn_step_seq *seq = &step->seqs[i];
        if (seq->pos0 < pt && seq->pos0 + seq->n_rows > pt) {
            return true;
        }
    }
    return false;
}
