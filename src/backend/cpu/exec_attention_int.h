/* One attention op on one thread: what its parts share. Private to backend/cpu. SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_EXEC_ATTENTION_INT_H
#define QN_BACKEND_CPU_EXEC_ATTENTION_INT_H

#include "backend/cpu/exec_int.h"

/* Everything that stays the same during one op. */
typedef struct qn_attention_run {
    qn_worker *w;
    const qn_exec *ex;
    const qn_cpu_op *op;
    const qn_kv_layout *kv;
    const qn_kv_layer *layer;
    const qn_step_rows *step;
    uint32_t group;     /* query heads that share a KV head */
    uint32_t tile_rows; /* rows of a prefill item */
    bool all_decode;    /* every sequence has one row: an item writes its own keys and values, no pass before */
    float *q, *m, *l, *acc, *offset, *page_scratch;
    uint32_t *lo, *hi;
    uint8_t *q_codes;
    uint8_t *recent_page; /* room for a plain page of one head */
} qn_attention_run;

static inline uint32_t qn_attention_first_visible(const qn_attention_run *a, uint32_t pos)
{
    uint32_t window = a->layer->window;
    return window != 0 && pos + 1 > window ? pos + 1 - window : 0;
}

/* Norm and rotary embedding of one head of row i_row, in place. */
void qn_attention_prepare(const qn_attention_run *a, const qn_cpu_head_prep *prep, float *x, uint32_t head_dim,
                          uint32_t i_row);

static inline uint8_t *qn_attention_page(const qn_attention_run *a, const qn_step_seq *seq, uint32_t i_page)
{
    return seq->pages[a->layer->i_group][i_page];
}

/* Which of a sequence's pages a pass writes, of those that the step's rows fall into. */
typedef enum qn_kv_pages { QN_KV_ALL_PAGES, QN_KV_FIRST_PAGES, QN_KV_LATER_PAGES } qn_kv_pages;

/* exec_kv.c: one row's key and value of one head into its page; and those of all the step's rows. */
void qn_attention_write_head(const qn_attention_run *a, const qn_step_seq *seq, uint32_t i_row, uint32_t i_head);
void qn_attention_write_pages(const qn_attention_run *a, qn_chunks *c, qn_kv_pages which);

/* Whether some row stands behind a first page that is filled in this step, and its key is kept less the mean of it:
 * then the first pages are written in a pass of their own. */
bool qn_attention_needs_mean(const qn_kv_layout *kv, const qn_step_rows *step);

/* exec_recent.c: the first token that a row at pos takes as plain numbers though its page holds codes; pos + 1: none.
 * Then folding those of the loaded queries, p being all set but for the page; and, once the queries of a step's first
 * tile are through, keeping its last tokens for the steps to come. */
uint32_t qn_attention_recent_from(const qn_attention_run *a, const qn_step_seq *seq, uint32_t pos);
void qn_attention_fold_recent(const qn_attention_run *a, const qn_step_seq *seq, qn_attn_page *p, uint32_t pos0,
                              uint32_t n_rows, uint32_t i_head);
void qn_attention_keep_recent(const qn_attention_run *a, const qn_step_seq *seq, uint32_t i_head);
uint64_t qn_cpu_recent_scratch(const qn_kv_layout *kv, const qn_kv_layer *l);

/* The mean of a head's keys over the sequence's first page; only where keys are kept less it. */
static inline float *qn_attention_mean(const qn_attention_run *a, const qn_step_seq *seq, uint32_t i_head)
{
    return seq->means + a->layer->mean_offset + (uint64_t)i_head * a->layer->head_dim;
}

#endif
