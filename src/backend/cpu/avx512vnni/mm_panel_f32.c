/* Panels of floats times columns of floats: 16 rows, one register, by up to 12 columns.
 * A column's arithmetic is the same whichever columns are beside it.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx512vnni/mm_int512.h"
#include "backend/cpu/avx512vnni/simd_int.h"

enum {
    COLUMNS = 12,
    RUN = 64, /* products summed in one go; sums of runs are added, so that the error grows with neither's length */
};

QN_INLINE void columns(const float *panel, size_t n_rows, size_t n_k, const char *x, size_t x_bytes, int n_cols,
                       float *y, size_t ldy)
{
    const float *col[COLUMNS];
    __m512 total[COLUMNS];
    QN_UNROLL
    for (int c = 0; c < n_cols; c++) {
        col[c] = (const float *)(const void *)(x + (size_t)c * x_bytes);
        total[c] = _mm512_setzero_ps();
    }
    for (size_t k = 0; k < n_k;) {
        size_t end = n_k - k < RUN ? n_k : k + RUN;
        __m512 acc[COLUMNS];
        QN_UNROLL
        for (int c = 0; c < n_cols; c++) {
            acc[c] = _mm512_setzero_ps();
        }
        for (; k < end; k++) {
            __m512 w = _mm512_load_ps(panel + k * QN_PANEL_ROWS);
            QN_UNROLL
            for (int c = 0; c < n_cols; c++) {
                acc[c] = _mm512_fmadd_ps(w, _mm512_set1_ps(col[c][k]), acc[c]);
            }
        }
        QN_UNROLL
        for (int c = 0; c < n_cols; c++) {
            total[c] = _mm512_add_ps(total[c], acc[c]);
        }
    }
    QN_UNROLL
    for (int c = 0; c < n_cols; c++) {
        _mm512_mask_storeu_ps(y + (size_t)c * ldy, qn_first_lanes(n_rows), total[c]);
    }
}

void qn_panel_f32_avx512vnni(const void *panel, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, size_t n_cols,
                             float *y, size_t ldy)
{
    const char *xc = x;
#define COLUMNS_OF(n)                                                       \
    for (; n_cols >= (n); n_cols -= (n), xc += (n)*x_bytes, y += (n)*ldy) { \
        columns(panel, n_rows, n_k, xc, x_bytes, (n), y, ldy);              \
    }
    COLUMNS_OF(COLUMNS)
    COLUMNS_OF(8)
    COLUMNS_OF(4)
    COLUMNS_OF(2)
    COLUMNS_OF(1)
#undef COLUMNS_OF
}
