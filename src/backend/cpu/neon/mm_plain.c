/* Products of F32, F16 and BF16 with float activations: rows in place, and the packer of panels of floats. `one` and
 * `few` give the same bits for the same row and column.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/neon/mm_neon_int.h"

enum { COLUMNS = 4, N_SUMS = 4 }; /* columns that share a loaded weight, and sums of each */

typedef float32x4_t load4_fn(const void *p);

/* A row's running sums with one column. */
typedef struct row_sum {
    float32x4_t v[N_SUMS];
} row_sum;

QN_INLINE void add_16(load4_fn *load4, size_t elem_bytes, const uint8_t *w, const float *x, row_sum *sum)
{
    for (size_t i = 0; i < N_SUMS; i++) {
        sum->v[i] = vfmaq_f32(sum->v[i], load4(w + 4 * i * elem_bytes), vld1q_f32(x + 4 * i));
    }
}

QN_INLINE void row_products(load4_fn *load4, size_t elem_bytes, const uint8_t *row, size_t n_k, const float *x,
                            size_t x_bytes, int n_cols, float *y, size_t ldy)
{
    row_sum sum[COLUMNS];
    for (int c = 0; c < n_cols; c++) {
        for (int i = 0; i < N_SUMS; i++) {
            sum[c].v[i] = vdupq_n_f32(0.0F);
        }
    }
    size_t k = 0;
    for (; k + 16 <= n_k; k += 16) {
        for (int c = 0; c < n_cols; c++) {
            const float *xc = qn_column(x, x_bytes, (size_t)c);
            add_16(load4, elem_bytes, row + k * elem_bytes, xc + k, &sum[c]);
        }
    }
    if (k < n_k) {
        uint8_t w_rest[16 * sizeof(float)] = {0};
        memcpy(w_rest, row + k * elem_bytes, (n_k - k) * elem_bytes);
        for (int c = 0; c < n_cols; c++) {
            float x_rest[16] = {0};
            memcpy(x_rest, (const float *)qn_column(x, x_bytes, (size_t)c) + k, (n_k - k) * sizeof(*x));
            add_16(load4, elem_bytes, w_rest, x_rest, &sum[c]);
        }
    }
    for (int c = 0; c < n_cols; c++) {
        const float32x4_t *v = sum[c].v;
        y[(size_t)c * ldy] = qn_sum_f32(vaddq_f32(vaddq_f32(v[0], v[1]), vaddq_f32(v[2], v[3])));
    }
}

/* A row stays in the cache while all columns, four at a time, go by. */
QN_INLINE void rows_plain(load4_fn *load4, size_t elem_bytes, const uint8_t *w, size_t row_bytes, size_t n_rows,
                          size_t n_k, const float *x, size_t x_bytes, size_t n_cols, float *y, size_t ldy)
{
    for (size_t r = 0; r < n_rows; r++, w += row_bytes) {
        for (size_t c = 0; c < n_cols; c += COLUMNS) {
            const float *xc = qn_column(x, x_bytes, c);
            float *yc = y + c * ldy + r;
            switch (n_cols - c) {
            case 1:
                row_products(load4, elem_bytes, w, n_k, xc, x_bytes, 1, yc, ldy);
                break;
            case 2:
                row_products(load4, elem_bytes, w, n_k, xc, x_bytes, 2, yc, ldy);
                break;
            case 3:
                row_products(load4, elem_bytes, w, n_k, xc, x_bytes, 3, yc, ldy);
                break;
            default:
                row_products(load4, elem_bytes, w, n_k, xc, x_bytes, COLUMNS, yc, ldy);
                break;
            }
        }
    }
}

/* Elements [k, k + n), n <= 4, of four rows to the panel's lanes of those rows. */
QN_INLINE void pack_4x4(load4_fn *load4, size_t elem_bytes, const uint8_t *const rows[4], size_t k, size_t n,
                        float *panel)
{
    float at[4][4];
    for (int r = 0; r < 4; r++) {
        uint8_t rest[4 * sizeof(float)] = {0};
        const uint8_t *p = rows[r] == NULL ? rest : rows[r] + k * elem_bytes;
        if (n < 4 && rows[r] != NULL) {
            p = memcpy(rest, p, n * elem_bytes);
        }
        vst1q_f32(at[r], load4(p));
    }
    float32x4x4_t turned = vld4q_f32(at[0]);
    for (size_t i = 0; i < n; i++) {
        vst1q_f32(panel + (k + i) * QN_PANEL_ROWS, turned.val[i]);
    }
}

QN_INLINE void pack_plain(load4_fn *load4, size_t elem_bytes, const uint8_t *w, size_t row_bytes, size_t n_rows,
                          size_t n_k, float *panel)
{
    for (size_t first = 0; first < QN_PANEL_ROWS; first += 4) {
        const uint8_t *rows[4];
        for (size_t r = 0; r < 4; r++) {
            rows[r] = first + r < n_rows ? w + (first + r) * row_bytes : NULL;
        }
        for (size_t k = 0; k < n_k; k += 4) {
            pack_4x4(load4, elem_bytes, rows, k, n_k - k < 4 ? n_k - k : 4, panel + first);
        }
    }
}

static size_t panel_f32_bytes(size_t n_k)
{
    return n_k * QN_PANEL_ROWS * sizeof(float);
}

#define DEFINE(T, load4, elem_bytes)                                                                                  \
    static void one_##T(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x, float *y)       \
    {                                                                                                                 \
        rows_plain(load4, elem_bytes, w, row_bytes, n_rows, n_k, x, 0, 1, y, 0);                                      \
    }                                                                                                                 \
    static void few_##T(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, \
                        size_t n_cols, float *y, size_t ldy)                                                          \
    {                                                                                                                 \
        rows_plain(load4, elem_bytes, w, row_bytes, n_rows, n_k, x, x_bytes, n_cols, y, ldy);                         \
    }                                                                                                                 \
    static void pack_##T(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, void *panel)                  \
    {                                                                                                                 \
        pack_plain(load4, elem_bytes, w, row_bytes, n_rows, n_k, panel);                                              \
    }                                                                                                                 \
    const qn_mm qn_mm_##T##_neon = {                                                                                  \
        .act = QN_ACT_F32,                                                                                            \
        .few_max = QN_F32_FEW_MAX,                                                                                    \
        .panel_rows = QN_PANEL_ROWS,                                                                                  \
        .one = one_##T,                                                                                               \
        .few = few_##T,                                                                                               \
        .panel_bytes = panel_f32_bytes,                                                                               \
        .pack = pack_##T,                                                                                             \
        .panel = qn_panel_f32_neon,                                                                                   \
    };

DEFINE(F32, qn_load4_f32, sizeof(float))
DEFINE(F16, qn_load4_f16, sizeof(uint16_t))
DEFINE(BF16, qn_load4_bf16, sizeof(uint16_t))
