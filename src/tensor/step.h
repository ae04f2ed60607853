/* The arguments of one ragged step: rows of (sequence, position, token), the rows whose logits are wanted, and each
 * sequence's pages. Shapes that change from step to step are all here; graphs and plans never change.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TENSOR_STEP_H
#define QN_TENSOR_STEP_H

#include "tensor/kv_layout.h"

/* One sequence's part. Its rows stand together and in order of position; positions before pos0 are in its pages. */
typedef struct qn_step_seq {
    uint32_t first_row, n_rows;
    uint32_t pos0; /* position of first_row */
    /* pages[g][i] holds positions [i * page_tokens, (i + 1) * page_tokens) of group g; NULL behind the window. */
    uint8_t *const *pages[QN_KV_MAX_GROUPS];
    float *means; /* of the keys in its first page, once that is full; NULL when the layout has none */
    uint8_t *recent;   /* the last tokens before pos0 as plain numbers; NULL when the layout keeps none */
    uint32_t n_recent; /* how many of them are there; at most what the layout keeps */
} qn_step_seq;

typedef struct qn_step_rows {
    uint32_t n_rows;
    const int32_t *token; /* n_rows, each inside the vocabulary */
    const uint32_t *pos;  /* n_rows */
    const uint32_t *seq;  /* n_rows: index into seqs */
    uint32_t n_seqs;
    const qn_step_seq *seqs;
    uint32_t n_out;
    const uint32_t *out_rows; /* n_out rows, ascending */
} qn_step_rows;

#endif
