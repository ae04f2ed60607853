/* Products with A8 activations by sdot: rows in place, and the table rows of all formats. `one` and `few` give the same
 * bits for the same row and column.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/neon/mm_neon_int.h"

QN_INLINE int32x4_t dot_32(const int8x16_t *w, const int8_t *x)
{
    return vdotq_s32(vdotq_s32(vdupq_n_s32(0), w[0], vld1q_s8(x)), w[1], vld1q_s8(x + 16));
}

QN_INLINE int32x4_t dot_16(int8x16_t w, const int8_t *x)
{
    return vdotq_s32(vdupq_n_s32(0), w, vld1q_s8(x));
}

/* Lane i: the sum of v[i]'s lanes. */
QN_INLINE int32x4_t sums_of_four(const int32x4_t v[4])
{
    return vpaddq_s32(vpaddq_s32(v[0], v[1]), vpaddq_s32(v[2], v[3]));
}

/* Lane i: q . x.q of block i; for half blocks their scaled sum. */
QN_INLINE int32x4_t quad_dot(const qn_quad *g, const int8_t *x, qn_quants quants)
{
    int32x4_t v[4];
    if (quants != QN_HALVES) {
        for (int i = 0; i < 4; i++) {
            v[i] = dot_32(&g->q[2 * i], x + 32 * i);
        }
        return sums_of_four(v);
    }
    int32x4_t half[2];
    for (int h = 0; h < 2; h++) {
        for (int i = 0; i < 4; i++) {
            v[i] = dot_16(g->q[4 * h + i], x + 64 * h + 16 * i);
        }
        half[h] = sums_of_four(v);
    }
    half[0] = vmulq_s32(half[0], vmovl_s16(vget_low_s16(g->sc)));
    half[1] = vmulq_s32(half[1], vmovl_s16(vget_high_s16(g->sc)));
    return vpaddq_s32(half[0], half[1]);
}

QN_INLINE float32x4_t quad_add(const qn_quad *g, const void *x, size_t n_k, size_t k, qn_quants quants, float32x4_t acc)
{
    int32x4_t dot = quad_dot(g, qn_a8_q(x) + k, quants);
    float32x4_t scale = vmulq_f32(g->d, vld1q_f32(qn_a8_d(x, n_k) + k / 32));
    acc = vfmaq_f32(acc, vcvtq_f32_s32(dot), scale);
    if (quants == QN_SHIFTED) {
        acc = vfmaq_f32(acc, g->m, vld1q_f32(qn_a8_s(x, n_k) + k / 32));
    }
    return acc;
}

QN_INLINE void rows_a8(qn_unpack_fn *unpack, size_t group_bytes, qn_quants quants, const uint8_t *w, size_t row_bytes,
                       size_t n_rows, size_t n_k, const void *x, size_t x_bytes, size_t n_cols, float *y, size_t ldy)
{
    for (size_t r = 0; r < n_rows; r++) {
        const uint8_t *row = w + r * row_bytes;
        float32x4_t acc[QN_A8_FEW_MAX];
        for (size_t c = 0; c < n_cols; c++) {
            acc[c] = vdupq_n_f32(0.0F);
        }
        for (size_t k = 0; k < n_k; k += 128) {
            const uint8_t *p = row + k / 256 * group_bytes;
            size_t n_blocks = n_k - k < 128 ? (n_k - k) / 32 : 4;
            qn_quad g;
            qn_prefetch_ahead(p, group_bytes / 2);
            unpack(p, k / 128 % 2, n_blocks, &g);
            for (size_t c = 0; c < n_cols; c++) {
                acc[c] = quad_add(&g, qn_column(x, x_bytes, c), n_k, k, quants, acc[c]);
            }
        }
        for (size_t c = 0; c < n_cols; c++) {
            y[c * ldy + r] = qn_sum_f32(acc[c]);
        }
    }
}

#define PANEL_QN_SCALED qn_panel_scaled_neon
#define PANEL_QN_SHIFTED qn_panel_shifted_neon
#define PANEL_QN_HALVES qn_panel_halves_neon

#define DEFINE(T, group_bytes, quants)                                                                                \
    static void one_##T(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x, float *y)       \
    {                                                                                                                 \
        rows_a8(qn_unpack_##T, group_bytes, quants, w, row_bytes, n_rows, n_k, x, 0, 1, y, 0);                        \
    }                                                                                                                 \
    static void few_##T(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, \
                        size_t n_cols, float *y, size_t ldy)                                                          \
    {                                                                                                                 \
        rows_a8(qn_unpack_##T, group_bytes, quants, w, row_bytes, n_rows, n_k, x, x_bytes, n_cols, y, ldy);           \
    }                                                                                                                 \
    static size_t panel_bytes_##T(size_t n_k)                                                                         \
    {                                                                                                                 \
        return n_k / 32 * qn_tile_bytes(quants);                                                                      \
    }                                                                                                                 \
    static void pack_##T(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, void *panel)                  \
    {                                                                                                                 \
        qn_a8_pack(qn_unpack_##T, group_bytes, quants, 4, w, row_bytes, n_rows, n_k, panel);                          \
    }                                                                                                                 \
    const qn_mm qn_mm_##T##_neon = {                                                                                  \
        .act = QN_ACT_A8,                                                                                             \
        .few_max = QN_A8_FEW_MAX,                                                                                     \
        .panel_rows = QN_PANEL_ROWS,                                                                                  \
        .one = one_##T,                                                                                               \
        .few = few_##T,                                                                                               \
        .panel_bytes = panel_bytes_##T,                                                                               \
        .pack = pack_##T,                                                                                             \
        .panel = PANEL_##quants,                                                                                      \
    };

QN_NEON_A8_FORMATS(DEFINE)
