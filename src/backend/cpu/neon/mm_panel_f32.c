/* Panels of floats times columns of floats: 16 rows by up to 4 columns in registers. A column's arithmetic is the same
 * whichever columns are beside it.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/neon/mm_neon_int.h"

enum {
    COLUMNS = 4,
    N_VECTORS = QN_PANEL_ROWS / 4,
    RUN = 64, /* products summed in one go; sums of runs are added, so that the error grows with neither's length */
};

QN_INLINE void clear_sums(int n_cols, float32x4_t sum[COLUMNS][N_VECTORS])
{
    for (int c = 0; c < n_cols; c++) {
        for (int v = 0; v < N_VECTORS; v++) {
            sum[c][v] = vdupq_n_f32(0.0F);
        }
    }
}

/* Products of k in [k0, k1). */
QN_INLINE void add_run(const float *panel, const float *const col[COLUMNS], size_t k0, size_t k1, int n_cols,
                       float32x4_t acc[COLUMNS][N_VECTORS])
{
    size_t k = k0;
    for (; k + 4 <= k1; k += 4) {
        float32x4_t x[COLUMNS];
        for (int c = 0; c < n_cols; c++) {
            x[c] = vld1q_f32(col[c] + k);
        }
        for (int v = 0; v < N_VECTORS; v++) {
            const float *w = panel + k * QN_PANEL_ROWS + 4 * v;
            float32x4_t w0 = vld1q_f32(w), w1 = vld1q_f32(w + QN_PANEL_ROWS);
            float32x4_t w2 = vld1q_f32(w + 2 * QN_PANEL_ROWS), w3 = vld1q_f32(w + 3 * QN_PANEL_ROWS);
            for (int c = 0; c < n_cols; c++) {
                acc[c][v] = vfmaq_laneq_f32(acc[c][v], w0, x[c], 0);
                acc[c][v] = vfmaq_laneq_f32(acc[c][v], w1, x[c], 1);
                acc[c][v] = vfmaq_laneq_f32(acc[c][v], w2, x[c], 2);
                acc[c][v] = vfmaq_laneq_f32(acc[c][v], w3, x[c], 3);
            }
        }
    }
    for (; k < k1; k++) {
        for (int v = 0; v < N_VECTORS; v++) {
            float32x4_t w = vld1q_f32(panel + k * QN_PANEL_ROWS + 4 * v);
            for (int c = 0; c < n_cols; c++) {
                acc[c][v] = vfmaq_n_f32(acc[c][v], w, col[c][k]);
            }
        }
    }
}

QN_INLINE void columns(const float *panel, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, int n_cols,
                       float *y, size_t ldy)
{
    const float *col[COLUMNS];
    float32x4_t total[COLUMNS][N_VECTORS];
    clear_sums(n_cols, total);
    for (int c = 0; c < n_cols; c++) {
        col[c] = qn_column(x, x_bytes, (size_t)c);
    }
    for (size_t k = 0; k < n_k; k += RUN) {
        float32x4_t acc[COLUMNS][N_VECTORS];
        clear_sums(n_cols, acc);
        add_run(panel, col, k, n_k - k < RUN ? n_k : k + RUN, n_cols, acc);
        for (int c = 0; c < n_cols; c++) {
            for (int v = 0; v < N_VECTORS; v++) {
                total[c][v] = vaddq_f32(total[c][v], acc[c][v]);
            }
        }
    }
    for (int c = 0; c < n_cols; c++) {
        for (size_t r = 0; r < n_rows; r += 4) {
            qn_store_upto(y + (size_t)c * ldy + r, n_rows - r, total[c][r / 4]);
        }
    }
}

void qn_panel_f32_neon(const void *panel, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, size_t n_cols,
                       float *y, size_t ldy)
{
    for (size_t c = 0; c < n_cols; c += COLUMNS) {
        const void *xc = qn_column(x, x_bytes, c);
        float *yc = y + c * ldy;
        switch (n_cols - c) {
        case 1:
            columns(panel, n_rows, n_k, xc, x_bytes, 1, yc, ldy);
            break;
        case 2:
            columns(panel, n_rows, n_k, xc, x_bytes, 2, yc, ldy);
            break;
        case 3:
            columns(panel, n_rows, n_k, xc, x_bytes, 3, yc, ldy);
            break;
        default:
            columns(panel, n_rows, n_k, xc, x_bytes, COLUMNS, yc, ldy);
            break;
        }
    }
}
