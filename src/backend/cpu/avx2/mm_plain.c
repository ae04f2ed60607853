/* Products of F32, F16 and BF16 with float activations.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx2/mm_f32_int.h"

enum { COLUMNS = 4 }; /* columns that share a loaded weight: two sums each, so eight registers */

QN_INLINE __m256 load8_f16(const void *p)
{
    return _mm256_cvtph_ps(qn_load_128(p));
}

QN_INLINE __m256 load8_bf16(const void *p)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(qn_load_128(p)), 16));
}

QN_INLINE void row_f32(qn_load8_fn *load8, size_t elem_bytes, const uint8_t *row, size_t n_k, const float *x,
                       size_t x_bytes, int n_cols, float *y, size_t ldy)
{
    qn_row_sum sum[COLUMNS];
    for (int c = 0; c < n_cols; c++) {
        sum[c].v[0] = sum[c].v[1] = _mm256_setzero_ps();
    }
    qn_f32_row_add(load8, elem_bytes, row, n_k, x, x_bytes, n_cols, sum);
    for (int c = 0; c < n_cols; c++) {
        y[(size_t)c * ldy] = qn_row_sum_join(sum[c]);
    }
}

/* A row stays in the cache while all columns, four at a time, go by. */
QN_INLINE void rows_f32(qn_load8_fn *load8, size_t elem_bytes, const uint8_t *w, size_t row_bytes, size_t n_rows,
                        size_t n_k, const float *x, size_t x_bytes, size_t n_cols, float *y, size_t ldy)
{
    for (size_t r = 0; r < n_rows; r++, w += row_bytes) {
        for (size_t c = 0; c < n_cols; c += COLUMNS) {
            const float *xc = qn_column(x, x_bytes, c);
            float *yc = y + c * ldy + r;
            switch (n_cols - c) {
            case 1:
                row_f32(load8, elem_bytes, w, n_k, xc, x_bytes, 1, yc, ldy);
                break;
            case 2:
                row_f32(load8, elem_bytes, w, n_k, xc, x_bytes, 2, yc, ldy);
                break;
            case 3:
                row_f32(load8, elem_bytes, w, n_k, xc, x_bytes, 3, yc, ldy);
                break;
            default:
                row_f32(load8, elem_bytes, w, n_k, xc, x_bytes, COLUMNS, yc, ldy);
                break;
            }
        }
    }
}

QN_INLINE void pack_f32(qn_load8_fn *load8, size_t elem_bytes, const uint8_t *w, size_t row_bytes, size_t n_rows,
                        size_t n_k, float *panel)
{
    static const uint8_t zeros[QN_MM_CHUNK * sizeof(float)];
    for (size_t k = 0; k < n_k; k += QN_MM_CHUNK) {
        size_t n = n_k - k < QN_MM_CHUNK ? n_k - k : QN_MM_CHUNK;
        for (size_t first = 0; first < QN_PANEL_ROWS; first += 8) {
            const uint8_t *rows[8];
            for (size_t r = 0; r < 8; r++) {
                rows[r] = first + r < n_rows ? w + (first + r) * row_bytes + k * elem_bytes : zeros;
            }
            qn_f32_pack_rows(load8, elem_bytes, rows, n, panel + k * QN_PANEL_ROWS + first);
        }
    }
}

#define DEFINE(T, load8, elem_bytes)                                                                                  \
    static void one_##T(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x, float *y)       \
    {                                                                                                                 \
        rows_f32(load8, elem_bytes, w, row_bytes, n_rows, n_k, x, 0, 1, y, 0);                                        \
    }                                                                                                                 \
    static void few_##T(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, \
                        size_t n_cols, float *y, size_t ldy)                                                          \
    {                                                                                                                 \
        rows_f32(load8, elem_bytes, w, row_bytes, n_rows, n_k, x, x_bytes, n_cols, y, ldy);                           \
    }                                                                                                                 \
    static void pack_##T(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, void *panel)                  \
    {                                                                                                                 \
        pack_f32(load8, elem_bytes, w, row_bytes, n_rows, n_k, panel);                                                \
    }                                                                                                                 \
    const qn_mm qn_mm_##T##_avx2 = {                                                                                  \
        .act = QN_ACT_F32,                                                                                            \
        .few_max = QN_F32_FEW_MAX,                                                                                    \
        .panel_rows = QN_PANEL_ROWS,                                                                                  \
        .one = one_##T,                                                                                               \
        .few = few_##T,                                                                                               \
        .panel_bytes = qn_panel_f32_bytes,                                                                            \
        .pack = pack_##T,                                                                                             \
        .panel = qn_panel_f32_avx2,                                                                                   \
    };

DEFINE(F32, qn_load8_f32, sizeof(float))
DEFINE(F16, load8_f16, sizeof(uint16_t))
DEFINE(BF16, load8_bf16, sizeof(uint16_t))
