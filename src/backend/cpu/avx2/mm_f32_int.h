/* Bodies of the products with float activations, written once: a type gives the loader of eight of its elements.
 *
 * `one` and `few` give the same bits for the same row and column.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_AVX2_MM_F32_INT_H
#define QN_BACKEND_CPU_AVX2_MM_F32_INT_H

#include "backend/cpu/avx2/mm_avx2_int.h"

typedef __m256 qn_load8_fn(const void *p);

QN_INLINE __m256 qn_load8_f32(const void *p)
{
    return _mm256_loadu_ps(p);
}

/* A row's running sums with one column: two vectors, so that the additions' latency is halved and so is their error. */
typedef struct qn_row_sum {
    __m256 v[2];
} qn_row_sum;

QN_INLINE float qn_row_sum_join(qn_row_sum s)
{
    return qn_sum_ps(_mm256_add_ps(s.v[0], s.v[1]));
}

/* Adds n elements of one row times those of n_cols columns. */
QN_INLINE void qn_f32_row_add(qn_load8_fn *load8, size_t elem_bytes, const uint8_t *w, size_t n, const float *x,
                              size_t x_bytes, int n_cols, qn_row_sum *sum)
{
    size_t k = 0;
    for (; k + 16 <= n; k += 16) {
        __m256 w0 = load8(w + k * elem_bytes), w1 = load8(w + (k + 8) * elem_bytes);
        for (int c = 0; c < n_cols; c++) {
            const float *xc = (const float *)qn_column(x, x_bytes, (size_t)c) + k;
            sum[c].v[0] = _mm256_fmadd_ps(w0, _mm256_loadu_ps(xc), sum[c].v[0]);
            sum[c].v[1] = _mm256_fmadd_ps(w1, _mm256_loadu_ps(xc + 8), sum[c].v[1]);
        }
    }
    if (k < n) {
        uint8_t w_rest[16 * sizeof(float)] = {0};
        memcpy(w_rest, w + k * elem_bytes, (n - k) * elem_bytes);
        for (int c = 0; c < n_cols; c++) {
            float x_rest[16] = {0};
            memcpy(x_rest, (const float *)qn_column(x, x_bytes, (size_t)c) + k, (n - k) * sizeof(*x));
            for (int i = 0; i < 2; i++) {
                sum[c].v[i] = _mm256_fmadd_ps(load8(w_rest + 8 * (size_t)i * elem_bytes),
                                              _mm256_loadu_ps(x_rest + 8 * i), sum[c].v[i]);
            }
        }
    }
}

/* Eight rows, n elements each, into a panel's lanes of those rows. */
QN_INLINE void qn_f32_pack_rows(qn_load8_fn *load8, size_t elem_bytes, const uint8_t *const rows[8], size_t n,
                                float *panel)
{
    for (size_t k = 0; k < n; k += 8) {
        size_t n_here = n - k < 8 ? n - k : 8;
        __m256i v[8];
        for (int r = 0; r < 8; r++) {
            uint8_t rest[8 * sizeof(float)] = {0};
            const uint8_t *p = rows[r] + k * elem_bytes;
            if (n_here < 8) {
                p = memcpy(rest, p, n_here * elem_bytes);
            }
            v[r] = _mm256_castps_si256(load8(p));
        }
        qn_transpose_8x8(v);
        for (size_t i = 0; i < n_here; i++) {
            qn_store_256(panel + (k + i) * QN_PANEL_ROWS, v[i]);
        }
    }
}

#endif
