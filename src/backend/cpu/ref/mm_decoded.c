/* Matrix products of every type that has a decoder: rows are decoded a chunk at a time and multiplied as floats.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/ref/mm_ref_int.h"

enum { FEW_MAX = 16, N_LANES = 16 };

/* Sixteen sums in float, at most 16 products each, then joined as doubles: the error stays near that of one rounding
 * of each product. */
static double dot_chunk(const float *w, const float *x, size_t n)
{
    float lane[N_LANES] = {0};
    size_t i = 0;
    for (; i + N_LANES <= n; i += N_LANES) {
        for (size_t l = 0; l < N_LANES; l++) {
            lane[l] += w[i + l] * x[i + l];
        }
    }
    double sum = 0;
    for (; i < n; i++) {
        sum += (double)w[i] * (double)x[i];
    }
    for (size_t l = 0; l < N_LANES; l++) {
        sum += (double)lane[l];
    }
    return sum;
}

static void few(qn_type type, const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x,
                size_t x_bytes, size_t n_cols, float *y, size_t ldy)
{
    const qn_type_info *info = qn_type_find(type);
    size_t chunk_bytes = QN_MM_CHUNK / info->block_len * info->block_bytes;
    for (size_t r = 0; r < n_rows; r++) {
        const uint8_t *row = w + r * row_bytes;
        double sum[FEW_MAX] = {0};
        for (size_t k = 0; k < n_k; k += QN_MM_CHUNK, row += chunk_bytes) {
            size_t n = n_k - k < QN_MM_CHUNK ? n_k - k : QN_MM_CHUNK;
            float decoded[QN_MM_CHUNK];
            info->decode(row, decoded, n);
            for (size_t c = 0; c < n_cols; c++) {
                sum[c] += dot_chunk(decoded, (const float *)(const void *)((const char *)x + c * x_bytes) + k, n);
            }
        }
        for (size_t c = 0; c < n_cols; c++) {
            y[c * ldy + r] = (float)sum[c];
        }
    }
}

#define DEFINE(T)                                                                                                     \
    static void few_##T(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, \
                        size_t n_cols, float *y, size_t ldy)                                                          \
    {                                                                                                                 \
        few(QN_TYPE_##T, w, row_bytes, n_rows, n_k, x, x_bytes, n_cols, y, ldy);                                      \
    }                                                                                                                 \
    static void one_##T(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x, float *y)       \
    {                                                                                                                 \
        few(QN_TYPE_##T, w, row_bytes, n_rows, n_k, x, 0, 1, y, 0);                                                   \
    }

QN_MM_PLAIN_TYPES(DEFINE)
QN_MM_A8_TYPES(DEFINE)
QN_MM_OTHER_TYPES(DEFINE)

#define ROW(T) [QN_TYPE_##T] = {.act = QN_ACT_F32, .few_max = FEW_MAX, .one = one_##T, .few = few_##T},

static const qn_mm table[QN_TYPE_COUNT] = {QN_MM_PLAIN_TYPES(ROW) QN_MM_A8_TYPES(ROW) QN_MM_OTHER_TYPES(ROW)};

void qn_fill_mm_ref(qn_kernels *k)
{
    for (uint32_t t = 0; t < QN_TYPE_COUNT; t++) {
        const qn_type_info *info = qn_type_find(t);
        bool known = info != NULL && info->decode != NULL;
        k->mm[t] = known ? table[t] : (qn_mm){.act = QN_ACT_F32, .few_max = 1};
        k->decode_row[t] = known ? info->decode : NULL;
    }
    k->quantize_a8 = qn_quantize_a8_ref;
}
