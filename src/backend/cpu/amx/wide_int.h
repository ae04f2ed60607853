/* Many columns on AMX's bf16 tiles: what unpacking and multiplying share. Private to backend/cpu/amx.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_AMX_WIDE_INT_H
#define QN_BACKEND_CPU_AMX_WIDE_INT_H

#include "backend/cpu/mm_int.h"

enum {
    QN_WIDE_K = 2048,  /* elements of a row unpacked at a time: 32 columns of it and a panel's stay in the L2 cache */
    QN_WIDE_ROWS = 128 /* weight rows of one call at most: each pass over the activations serves so many */
};

/* 32 k of 16 rows as bf16, neighbouring k in pairs: what a tile takes as its second operand. */
typedef struct qn_wide_tile {
    uint16_t w[16][QN_PANEL_ROWS][2];
} qn_wide_tile;

/* Turns n_tiles tiles of a panel of 16 rows into weights, rounded to nearest even. */
typedef void qn_wide_expand_fn(const void *panel, size_t n_tiles, qn_wide_tile *out);
qn_wide_expand_fn qn_wide_expand_u8, qn_wide_expand_s8, qn_wide_expand_h6, qn_wide_expand_h7,
    qn_wide_expand_m6, qn_wide_expand_f5;

/* How a type's rows become tiles. */
typedef struct qn_wide_source {
    qn_type type;
    void (*pack)(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, void *panel);
    qn_wide_expand_fn *expand;
} qn_wide_source;

/* qn_mm.wide for a source; see kernels.h. */
void qn_wide_product(const qn_wide_source *source, const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k,
                     const void *x, size_t n_cols, float *y, size_t ldy, void *scratch);
size_t qn_wide_scratch(void);
void qn_wide_store_amx(const float *x, size_t n, void *out, size_t i_row);

void qn_fill_wide_amx(qn_kernels *k);

#endif
