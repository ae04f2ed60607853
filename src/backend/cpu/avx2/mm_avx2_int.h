/* The AVX2 matrix product kernels by name; private to backend/cpu/avx2.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_AVX2_MM_AVX2_INT_H
#define QN_BACKEND_CPU_AVX2_MM_AVX2_INT_H

#include "backend/cpu/avx2/simd_int.h"
#include "backend/cpu/mm_int.h"

/* Columns of `few`: with more, unpacking a panel pays for itself (measured; between 5 and 6, and between 8 and 12). */
enum { QN_A8_FEW_MAX = 5, QN_F32_FEW_MAX = 8 };

#define QN_MM_DECLARE(T) extern const qn_mm qn_mm_##T##_avx2;
QN_MM_PLAIN_TYPES(QN_MM_DECLARE)
QN_MM_OTHER_TYPES(QN_MM_DECLARE)
#undef QN_MM_DECLARE

/* qn_mm.panel for each kind of tile; u4, u5 and u7 differ in the range of q: up to 15, 31 and 127. */
typedef void qn_panel_fn(const void *panel, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, size_t n_cols,
                         float *y, size_t ldy);
qn_panel_fn qn_panel_u4_avx2, qn_panel_u5_avx2, qn_panel_u7_avx2, qn_panel_h6_avx2, qn_panel_h7_avx2, qn_panel_s8_avx2,
    qn_panel_m6_avx2, qn_panel_f5_avx2, qn_panel_f32_avx2;
size_t qn_panel_f32_bytes(size_t n_k);

/* Panels of signed weights: packed as s8, then expanded in place into what panel_x8 reads. */
qn_panel_fn qn_panel_x8_avx2;
size_t qn_panel_x8_bytes(size_t n_k);
void qn_panel_x8_expand(void *panel, size_t n_k);

/* As qn_kernels.quantize_a8: the same bits as ref. */
void qn_quantize_a8_avx2(const float *x, size_t n, void *out);

enum { QN_PANEL_VECTORS = QN_PANEL_ROWS / 8 };

/* A column's results of one panel. */
QN_INLINE void qn_store_panel_rows(float *y, const __m256 acc[QN_PANEL_VECTORS], size_t n_rows)
{
    if (n_rows == QN_PANEL_ROWS) {
        _mm256_storeu_ps(y, acc[0]);
        _mm256_storeu_ps(y + 8, acc[1]);
    } else {
        float all[QN_PANEL_ROWS];
        _mm256_storeu_ps(all, acc[0]);
        _mm256_storeu_ps(all + 8, acc[1]);
        memcpy(y, all, n_rows * sizeof(*y));
    }
}

#endif
