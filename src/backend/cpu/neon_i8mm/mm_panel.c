/* Packed panels times columns of A8 activations by smmla, which multiplies two rows by two columns, eight k at a time:
 * 8 rows by up to 4 columns in registers. A column's arithmetic is the same whichever columns are beside it.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/neon_i8mm/mm_i8mm_int.h"

enum {
    TOGETHER = 8,          /* k of a row side by side */
    STEPS = 32 / TOGETHER, /* of a block */
    ROWS = 8,              /* at a time, as N_PAIRS vectors of two */
    N_PAIRS = ROWS / 2,
    COLUMN_PAIRS = 2,
    COLUMNS = 2 * COLUMN_PAIRS,
};

typedef struct column {
    const int8_t *q;
    const float *d, *s;
} column;

/* A block of two columns as smmla takes it: eight elements of the first, then of the second. */
QN_INLINE void load_pair(const column x[2], size_t k, int8x16_t out[STEPS])
{
    for (int i = 0; i < 2; i++) {
        int64x2_t first = vreinterpretq_s64_s8(vld1q_s8(x[0].q + k + 16 * (size_t)i));
        int64x2_t second = vreinterpretq_s64_s8(vld1q_s8(x[1].q + k + 16 * (size_t)i));
        out[2 * i] = vreinterpretq_s8_s64(vzip1q_s64(first, second));
        out[2 * i + 1] = vreinterpretq_s8_s64(vzip2q_s64(first, second));
    }
}

/* Steps [first, end) of a row pair: r0 c0, r0 c1, r1 c0, r1 c1. */
QN_INLINE int32x4_t dot_steps(const int8_t *w, const int8x16_t x[STEPS], int first, int end)
{
    int32x4_t sum = vdupq_n_s32(0);
    for (int i = first; i < end; i++) {
        sum = vmmlaq_s32(sum, vld1q_s8(w + i * TOGETHER * QN_PANEL_ROWS), x[i]);
    }
    return sum;
}

/* Rows row and row + 1 of a tile times two columns over one block; of half blocks scaled. */
QN_INLINE int32x4_t dot_pair(const uint8_t *tile, size_t row, const int8x16_t x[STEPS], qn_quants quants)
{
    const int8_t *w = (const int8_t *)tile + TOGETHER * row;
    if (quants != QN_HALVES) {
        return dot_steps(w, x, 0, STEPS);
    }
    const qn_panel_h8 *t = (const void *)tile;
    int32x4_t sc = vmovl_s16(vld1_s16(t->sc[row]));
    int32x4_t first = vmulq_s32(dot_steps(w, x, 0, STEPS / 2), vtrn1q_s32(sc, sc));
    return vmlaq_s32(first, dot_steps(w, x, STEPS / 2, STEPS), vtrn2q_s32(sc, sc));
}

/* Two rows' floats for a result of smmla: a, a, b, b. */
QN_INLINE float32x4_t of_rows(const float *p)
{
    float32x2_t v = vld1_f32(p);
    return vcombine_f32(vdup_lane_f32(v, 0), vdup_lane_f32(v, 1));
}

/* Two columns' floats: a, b, a, b. */
QN_INLINE float32x4_t of_columns(float a, float b)
{
    float32x2_t v = vset_lane_f32(b, vdup_n_f32(a), 1);
    return vcombine_f32(v, v);
}

/* Rows [row, row + 8) over the block that begins at k. */
QN_INLINE void add_block(const uint8_t *tile, size_t row, const column *col, size_t k, int n_pairs, qn_quants quants,
                         float32x4_t acc[COLUMN_PAIRS][N_PAIRS])
{
    const float *d = (const float *)(const void *)(tile + qn_tile_at_d(quants)) + row;
    const float *m = (const float *)(const void *)(tile + offsetof(qn_panel_u8, m)) + row;
    for (int p = 0; p < n_pairs; p++) {
        const column *x = col + 2 * p;
        int8x16_t xv[STEPS];
        load_pair(x, k, xv);
        float32x4_t xd = of_columns(x[0].d[k / 32], x[1].d[k / 32]);
        for (int v = 0; v < N_PAIRS; v++) {
            int32x4_t sum = dot_pair(tile, row + 2 * (size_t)v, xv, quants);
            float32x4_t scale = vmulq_f32(of_rows(d + 2 * v), xd);
            acc[p][v] = vfmaq_f32(acc[p][v], vcvtq_f32_s32(sum), scale);
            if (quants == QN_SHIFTED) {
                float32x4_t xs = of_columns(x[0].s[k / 32], x[1].s[k / 32]);
                acc[p][v] = vfmaq_f32(acc[p][v], of_rows(m + 2 * v), xs);
            }
        }
    }
}

/* Four rows of up to eight of one column. */
QN_INLINE void store_rows(float *y, size_t n_rows, float32x4_t first, float32x4_t second)
{
    qn_store_upto(y, n_rows, first);
    if (n_rows > 4) {
        qn_store_upto(y + 4, n_rows - 4, second);
    }
}

/* Rows [row, row + 8) of the panel, of which n_rows are wanted. An odd column is its own neighbour. */
QN_INLINE void columns(const void *panel, size_t row, size_t n_rows, size_t n_k, const void *x, size_t x_bytes,
                       size_t n_cols, int n_pairs, qn_quants quants, float *y, size_t ldy)
{
    const uint8_t *tile = panel;
    column col[COLUMNS];
    float32x4_t acc[COLUMN_PAIRS][N_PAIRS];
    for (size_t c = 0; c < 2 * (size_t)n_pairs; c++) {
        const void *xc = qn_column(x, x_bytes, c < n_cols ? c : n_cols - 1);
        col[c] = (column){qn_a8_q(xc), qn_a8_d(xc, n_k), qn_a8_s(xc, n_k)};
    }
    for (int p = 0; p < n_pairs; p++) {
        for (int v = 0; v < N_PAIRS; v++) {
            acc[p][v] = vdupq_n_f32(0.0F);
        }
    }
    for (size_t k = 0; k < n_k; k += 32, tile += qn_tile_bytes(quants)) {
        add_block(tile, row, col, k, n_pairs, quants, acc);
    }
    for (int p = 0; p < n_pairs; p++) {
        const float32x4_t *a = acc[p];
        float *yp = y + 2 * (size_t)p * ldy;
        store_rows(yp, n_rows, vuzp1q_f32(a[0], a[1]), vuzp1q_f32(a[2], a[3]));
        if (2 * (size_t)p + 1 < n_cols) {
            store_rows(yp + ldy, n_rows, vuzp2q_f32(a[0], a[1]), vuzp2q_f32(a[2], a[3]));
        }
    }
}

QN_INLINE void panel_a8(const void *panel, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, size_t n_cols,
                        qn_quants quants, float *y, size_t ldy)
{
    for (size_t c = 0; c < n_cols; c += COLUMNS) {
        const void *xc = qn_column(x, x_bytes, c);
        size_t n_here = n_cols - c < COLUMNS ? n_cols - c : COLUMNS;
        for (size_t row = 0; row < n_rows; row += ROWS) {
            size_t left = n_rows - row < ROWS ? n_rows - row : ROWS;
            float *yc = y + c * ldy + row;
            if (n_here > 2) {
                columns(panel, row, left, n_k, xc, x_bytes, n_here, 2, quants, yc, ldy);
            } else {
                columns(panel, row, left, n_k, xc, x_bytes, n_here, 1, quants, yc, ldy);
            }
        }
    }
}

#define DEFINE(name, quants)                                                                                 \
    void qn_panel_##name##_i8mm(const void *panel, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, \
                                size_t n_cols, float *y, size_t ldy)                                         \
    {                                                                                                        \
        panel_a8(panel, n_rows, n_k, x, x_bytes, n_cols, quants, y, ldy);                                    \
    }

DEFINE(scaled, QN_SCALED)
DEFINE(shifted, QN_SHIFTED)
DEFINE(halves, QN_HALVES)
