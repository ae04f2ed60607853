/* What products of many rows and of few have in common. Private to backend/cpu. SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_EXEC_PRODUCT_INT_H
#define QN_BACKEND_CPU_EXEC_PRODUCT_INT_H

#include "backend/cpu/exec_int.h"

#define QN_PAIR_MAX_ROWS 256u /* rows of gate and up that are multiplied before they are combined: stays in the cache \
                               */

/* The columns of one call: where its activations are. */
typedef struct qn_columns {
    const void *x;
    size_t x_bytes; /* stride */
    uint32_t n;
    bool is_wide; /* x is a block in wide order */
} qn_columns;

/* y[c * ldy + r] for rows [r0, r0 + n_rows) of the matrix at `data`, which has the shape of m. */
void qn_cpu_multiply(const qn_worker *w, const qn_weight *m, const uint8_t *data, uint32_t r0, uint32_t n_rows,
                     const qn_columns *x, float *y, size_t ldy);

/* act(gate) * up for rows [r0, r0 + n); n: no more than QN_PAIR_MAX_ROWS, or than a chunk of panels. */
void qn_cpu_multiply_pair(const qn_worker *w, const qn_cpu_op *op, const qn_columns x[2], uint32_t r0, uint32_t n,
                          float *y, size_t ldy);

/* Bias, scale and softcap of product i on its rows [r0, r0 + n). */
void qn_cpu_after_product(const qn_worker *w, const qn_cpu_op *op, uint32_t i, uint32_t r0, uint32_t n, uint32_t n_cols,
                          float *y, size_t ldy);

/* exec_private.c: makes x, the input of op for m, a copy of this thread's own. Inside, after the joined op ran. */
void qn_cpu_make_private(const qn_worker *w, const qn_cpu_op *op, const qn_weight *m, qn_columns *x);
/* op, when it is cut for it, from private input. */
qn_pass_end qn_cpu_run_private(qn_worker *w, const qn_cpu_op *op, const qn_columns *x);

#endif
