/* Products of every type that has no kernel of its own: rows are decoded by quant a chunk at a time, then multiplied
 * as floats.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx2/mm_f32_int.h"

static void rows_decoded(qn_type type, const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x,
                         size_t x_bytes, size_t n_cols, float *y, size_t ldy)
{
    const qn_type_info *info = qn_type_find(type);
    size_t chunk_bytes = QN_MM_CHUNK / info->block_len * info->block_bytes;
    for (size_t r = 0; r < n_rows; r++) {
        const uint8_t *p = w + r * row_bytes;
        qn_row_sum sum[QN_F32_FEW_MAX];
        for (size_t c = 0; c < n_cols; c++) {
            sum[c].v[0] = sum[c].v[1] = _mm256_setzero_ps();
        }
        for (size_t k = 0; k < n_k; k += QN_MM_CHUNK, p += chunk_bytes) {
            size_t n = n_k - k < QN_MM_CHUNK ? n_k - k : QN_MM_CHUNK;
            float decoded[QN_MM_CHUNK];
            info->decode(p, decoded, n);
            for (size_t c = 0; c < n_cols; c++) {
                qn_f32_row_add(qn_load8_f32, sizeof(float), (const uint8_t *)decoded, n,
                               (const float *)qn_column(x, x_bytes, c) + k, 0, 1, &sum[c]);
            }
        }
        for (size_t c = 0; c < n_cols; c++) {
            y[c * ldy + r] = qn_row_sum_join(sum[c]);
        }
    }
}

static void pack_decoded(qn_type type, const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, float *panel)
{
    const qn_type_info *info = qn_type_find(type);
    size_t chunk_bytes = QN_MM_CHUNK / info->block_len * info->block_bytes;
    float decoded[8][QN_MM_CHUNK];
    for (size_t k = 0; k < n_k; k += QN_MM_CHUNK, w += chunk_bytes) {
        size_t n = n_k - k < QN_MM_CHUNK ? n_k - k : QN_MM_CHUNK;
        for (size_t first = 0; first < QN_PANEL_ROWS; first += 8) {
            const uint8_t *rows[8];
            for (size_t r = 0; r < 8; r++) {
                if (first + r < n_rows) {
                    info->decode(w + (first + r) * row_bytes, decoded[r], n);
                } else {
                    memset(decoded[r], 0, sizeof(decoded[r]));
                }
                rows[r] = (const uint8_t *)decoded[r];
            }
            qn_f32_pack_rows(qn_load8_f32, sizeof(float), rows, n, panel + k * QN_PANEL_ROWS + first);
        }
    }
}

#define DEFINE(T)                                                                                                     \
    static void one_##T(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x, float *y)       \
    {                                                                                                                 \
        rows_decoded(QN_TYPE_##T, w, row_bytes, n_rows, n_k, x, 0, 1, y, 0);                                          \
    }                                                                                                                 \
    static void few_##T(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, \
                        size_t n_cols, float *y, size_t ldy)                                                          \
    {                                                                                                                 \
        rows_decoded(QN_TYPE_##T, w, row_bytes, n_rows, n_k, x, x_bytes, n_cols, y, ldy);                             \
    }                                                                                                                 \
    static void pack_##T(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, void *panel)                  \
    {                                                                                                                 \
        pack_decoded(QN_TYPE_##T, w, row_bytes, n_rows, n_k, panel);                                                  \
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

QN_MM_OTHER_TYPES(DEFINE)
