/* Packed panels times columns of A8 activations by sdot: 8 rows by up to 4 columns in registers, no horizontal sums.
 * A column's arithmetic is the same whichever columns are beside it.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/neon/mm_neon_int.h"

enum { COLUMNS = 4, ROWS = 8, N_VECTORS = ROWS / 4 };

typedef struct column {
    const int8_t *q;
    const float *d, *s;
} column;

/* Steps [4 * half, 4 * half + 4) of a block, in each of which a vector holds four rows with four elements each. */
QN_INLINE void dot_half(const int8_t *w, const column *x, size_t k, int n_cols, int half,
                        int32x4_t sum[COLUMNS][N_VECTORS])
{
    int8x16_t xv[COLUMNS];
    for (int c = 0; c < n_cols; c++) {
        xv[c] = vld1q_s8(x[c].q + k + 16 * (size_t)half);
    }
    w += 16 * half * QN_PANEL_ROWS;
    for (int v = 0; v < N_VECTORS; v++) {
        const int8_t *wv = w + 16 * v;
        int8x16_t w0 = vld1q_s8(wv), w1 = vld1q_s8(wv + 4 * QN_PANEL_ROWS);
        int8x16_t w2 = vld1q_s8(wv + 8 * QN_PANEL_ROWS), w3 = vld1q_s8(wv + 12 * QN_PANEL_ROWS);
        for (int c = 0; c < n_cols; c++) {
            sum[c][v] = vdotq_laneq_s32(sum[c][v], w0, xv[c], 0);
            sum[c][v] = vdotq_laneq_s32(sum[c][v], w1, xv[c], 1);
            sum[c][v] = vdotq_laneq_s32(sum[c][v], w2, xv[c], 2);
            sum[c][v] = vdotq_laneq_s32(sum[c][v], w3, xv[c], 3);
        }
    }
}

QN_INLINE void clear_sums(int n_cols, int32x4_t sum[COLUMNS][N_VECTORS])
{
    for (int c = 0; c < n_cols; c++) {
        for (int v = 0; v < N_VECTORS; v++) {
            sum[c][v] = vdupq_n_s32(0);
        }
    }
}

/* Rows [row, row + 8) of a tile: integer sums over one block; of half blocks scaled. */
QN_INLINE void dot_block(const uint8_t *tile, size_t row, const column *x, size_t k, int n_cols, qn_quants quants,
                         int32x4_t sum[COLUMNS][N_VECTORS])
{
    const int8_t *w = (const int8_t *)tile + 4 * row;
    clear_sums(n_cols, sum);
    dot_half(w, x, k, n_cols, 0, sum);
    if (quants != QN_HALVES) {
        dot_half(w, x, k, n_cols, 1, sum);
        return;
    }
    int32x4_t second[COLUMNS][N_VECTORS];
    clear_sums(n_cols, second);
    dot_half(w, x, k, n_cols, 1, second);
    const qn_panel_h8 *t = (const void *)tile;
    for (int v = 0; v < N_VECTORS; v++) {
        int16x4x2_t sc = vld2_s16(t->sc[row + 4 * (size_t)v]);
        for (int c = 0; c < n_cols; c++) {
            int32x4_t scaled = vmulq_s32(sum[c][v], vmovl_s16(sc.val[0]));
            sum[c][v] = vmlaq_s32(scaled, second[c][v], vmovl_s16(sc.val[1]));
        }
    }
}

/* Rows [row, row + 8) of the panel, of which n_rows are wanted. */
QN_INLINE void columns(const void *panel, size_t row, size_t n_rows, size_t n_k, const void *x, size_t x_bytes,
                       int n_cols, qn_quants quants, float *y, size_t ldy)
{
    const uint8_t *tile = panel;
    column col[COLUMNS];
    float32x4_t acc[COLUMNS][N_VECTORS];
    for (int c = 0; c < n_cols; c++) {
        const void *xc = qn_column(x, x_bytes, (size_t)c);
        col[c] = (column){qn_a8_q(xc), qn_a8_d(xc, n_k), qn_a8_s(xc, n_k)};
        acc[c][0] = acc[c][1] = vdupq_n_f32(0.0F);
    }
    for (size_t k = 0; k < n_k; k += 32, tile += qn_tile_bytes(quants)) {
        int32x4_t sum[COLUMNS][N_VECTORS];
        dot_block(tile, row, col, k, n_cols, quants, sum);
        const float *d = (const float *)(const void *)(tile + qn_tile_at_d(quants)) + row;
        const float *m = (const float *)(const void *)(tile + offsetof(qn_panel_u8, m)) + row;
        for (int c = 0; c < n_cols; c++) {
            for (int v = 0; v < N_VECTORS; v++) {
                float32x4_t scale = vmulq_n_f32(vld1q_f32(d + 4 * v), col[c].d[k / 32]);
                acc[c][v] = vfmaq_f32(acc[c][v], vcvtq_f32_s32(sum[c][v]), scale);
                if (quants == QN_SHIFTED) {
                    acc[c][v] = vfmaq_n_f32(acc[c][v], vld1q_f32(m + 4 * v), col[c].s[k / 32]);
                }
            }
        }
    }
    for (int c = 0; c < n_cols; c++) {
        qn_store_upto(y + (size_t)c * ldy, n_rows, acc[c][0]);
        if (n_rows > 4) {
            qn_store_upto(y + (size_t)c * ldy + 4, n_rows - 4, acc[c][1]);
        }
    }
}

QN_INLINE void panel_a8(const void *panel, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, size_t n_cols,
                        qn_quants quants, float *y, size_t ldy)
{
    for (size_t c = 0; c < n_cols; c += COLUMNS) {
        const void *xc = qn_column(x, x_bytes, c);
        for (size_t row = 0; row < n_rows; row += ROWS) {
            size_t left = n_rows - row < ROWS ? n_rows - row : ROWS;
            float *yc = y + c * ldy + row;
            switch (n_cols - c) {
            case 1:
                columns(panel, row, left, n_k, xc, x_bytes, 1, quants, yc, ldy);
                break;
            case 2:
                columns(panel, row, left, n_k, xc, x_bytes, 2, quants, yc, ldy);
                break;
            case 3:
                columns(panel, row, left, n_k, xc, x_bytes, 3, quants, yc, ldy);
                break;
            default:
                columns(panel, row, left, n_k, xc, x_bytes, COLUMNS, quants, yc, ldy);
                break;
            }
        }
    }
}

#define DEFINE(name, quants)                                                                                 \
    void qn_panel_##name##_neon(const void *panel, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, \
                                size_t n_cols, float *y, size_t ldy)                                         \
    {                                                                                                        \
        panel_a8(panel, n_rows, n_k, x, x_bytes, n_cols, quants, y, ldy);                                    \
    }

DEFINE(scaled, QN_SCALED)
DEFINE(shifted, QN_SHIFTED)
DEFINE(halves, QN_HALVES)
