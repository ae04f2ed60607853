/* Panels of floats times columns of floats: 16 rows by up to 6 columns in registers.
 * A column's arithmetic is the same whichever columns are beside it.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx2/mm_f32_int.h"

enum {
    COLUMNS = 6,
    RUN = 64, /* products summed in one go; sums of runs are added, so that the error grows with neither's length */
};

size_t qn_panel_f32_bytes(size_t n_k)
{
    return n_k * QN_PANEL_ROWS * sizeof(float);
}

QN_INLINE void columns(const float *panel, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, int n_cols,
                       float *y, size_t ldy)
{
    const float *col[COLUMNS];
    __m256 total[COLUMNS][2];
    for (int c = 0; c < n_cols; c++) {
        col[c] = qn_column(x, x_bytes, (size_t)c);
        total[c][0] = total[c][1] = _mm256_setzero_ps();
    }
    for (size_t k = 0; k < n_k;) {
        size_t end = n_k - k < RUN ? n_k : k + RUN;
        __m256 acc[COLUMNS][2];
        for (int c = 0; c < n_cols; c++) {
            acc[c][0] = acc[c][1] = _mm256_setzero_ps();
        }
        for (; k < end; k++) {
            __m256 w0 = _mm256_load_ps(panel + k * QN_PANEL_ROWS), w1 = _mm256_load_ps(panel + k * QN_PANEL_ROWS + 8);
            for (int c = 0; c < n_cols; c++) {
                __m256 xv = _mm256_broadcast_ss(col[c] + k);
                acc[c][0] = _mm256_fmadd_ps(w0, xv, acc[c][0]);
                acc[c][1] = _mm256_fmadd_ps(w1, xv, acc[c][1]);
            }
        }
        for (int c = 0; c < n_cols; c++) {
            total[c][0] = _mm256_add_ps(total[c][0], acc[c][0]);
            total[c][1] = _mm256_add_ps(total[c][1], acc[c][1]);
        }
    }
    for (int c = 0; c < n_cols; c++) {
        qn_store_panel_rows(y + (size_t)c * ldy, total[c], n_rows);
    }
}

void qn_panel_f32_avx2(const void *panel, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, size_t n_cols,
                       float *y, size_t ldy)
{
    for (; n_cols >= COLUMNS; n_cols -= COLUMNS, y += COLUMNS * ldy) {
        columns(panel, n_rows, n_k, x, x_bytes, COLUMNS, y, ldy);
        x = qn_column(x, x_bytes, COLUMNS);
    }
    switch (n_cols) {
    case 5:
        columns(panel, n_rows, n_k, x, x_bytes, 5, y, ldy);
        break;
    case 4:
        columns(panel, n_rows, n_k, x, x_bytes, 4, y, ldy);
        break;
    case 3:
        columns(panel, n_rows, n_k, x, x_bytes, 3, y, ldy);
        break;
    case 2:
        columns(panel, n_rows, n_k, x, x_bytes, 2, y, ldy);
        break;
    case 1:
        columns(panel, n_rows, n_k, x, x_bytes, 1, y, ldy);
        break;
    default:
        break;
    }
}
