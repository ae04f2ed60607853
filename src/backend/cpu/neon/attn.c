/* Attention over one KV page for NEON.
 *
 * Query rows that see something of the page are taken in blocks of at most QN_ATTN_ROWS. A block's scores are computed
 * for whole groups of 4 tokens around what its rows see; each row then masks what it does not see. Tokens that a row
 * does not see may hold anything, NaN included (a page's end is not written yet), so their values are never multiplied:
 * the block sums the tokens that all its rows see together, and what is left at either end row by row. Both orders give
 * a row the same chain of operations, hence the same bits, in whatever company it is. Codes (attn_codes.c) need no such
 * care: what a row does not see weighs 0.
 *
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/neon/attn_codes.h"
#include "backend/cpu/neon/attn_tile.h"
#include "backend/cpu/neon/math_int.h"
#include "backend/cpu/vec_int.h"

typedef struct row_block {
    size_t n_rows;
    uint32_t row[QN_ATTN_ROWS]; /* indices into the call's rows */
} row_block;

#define FOR_ROWS(CASE) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6)

/* These two are large, and called from several places: one copy of each is enough. */
static __attribute__((noinline)) void score_block(const qn_attn_page *a, size_t n_rows, const float *const *q,
                                                  size_t t0, size_t t1, float *s)
{
#define SCORE_CASE(n)                                                                        \
    case n:                                                                                  \
        if (a->type == QN_TYPE_F16) {                                                        \
            qn_score_rows(n, QN_TYPE_F16, q, a->head_dim, a->k, a->page_tokens, t0, t1, s);  \
        } else if (a->type == QN_TYPE_BF16) {                                                \
            qn_score_rows(n, QN_TYPE_BF16, q, a->head_dim, a->k, a->page_tokens, t0, t1, s); \
        } else {                                                                             \
            qn_score_rows(n, QN_TYPE_F32, q, a->head_dim, a->k, a->page_tokens, t0, t1, s);  \
        }                                                                                    \
        break;
    switch (n_rows) {
        FOR_ROWS(SCORE_CASE)
    default:
        break;
    }
#undef SCORE_CASE
}

static __attribute__((noinline)) void value_block(const qn_attn_page *a, size_t n_rows, const float *p,
                                                  const float *keep, size_t t0, size_t t1, float *const *acc)
{
#define VALUE_CASE(n)                                                                             \
    case n:                                                                                       \
        if (a->type == QN_TYPE_F16) {                                                             \
            qn_value_rows(n, QN_TYPE_F16, p, a->page_tokens, keep, a->v, a->v_dim, t0, t1, acc);  \
        } else if (a->type == QN_TYPE_BF16) {                                                     \
            qn_value_rows(n, QN_TYPE_BF16, p, a->page_tokens, keep, a->v, a->v_dim, t0, t1, acc); \
        } else {                                                                                  \
            qn_value_rows(n, QN_TYPE_F32, p, a->page_tokens, keep, a->v, a->v_dim, t0, t1, acc);  \
        }                                                                                         \
        break;
    switch (n_rows) {
        FOR_ROWS(VALUE_CASE)
    default:
        break;
    }
#undef VALUE_CASE
}

/* Caps a row's scores, puts -inf where it sees nothing, and returns their maximum with m. Covers the groups of 4 tokens
 * that touch [lo, hi). */
static float mask_row(float *s, uint32_t lo, uint32_t hi, float softcap, float m)
{
    float32x4_t max = vdupq_n_f32(m);
    for (uint32_t t = lo / 4 * 4; t < hi; t += 4) {
        float32x4_t v = vld1q_f32(s + t);
        if (softcap > 0.0F) {
            v = vmulq_n_f32(qn_tanh4(vdivq_f32(v, vdupq_n_f32(softcap))), softcap);
        }
        v = vbslq_f32(qn_lanes_within(t, lo, hi), v, vdupq_n_f32(-INFINITY));
        vst1q_f32(s + t, v);
        max = qn_max4(v, max);
    }
    return vmaxnmvq_f32(max);
}

/* Turns a row's masked scores into weights and returns their sum. */
static float weigh_row(float *s, uint32_t lo, uint32_t hi, float base)
{
    float32x4_t sum = vdupq_n_f32(0.0F);
    for (uint32_t t = lo / 4 * 4; t < hi; t += 4) {
        float32x4_t p = qn_exp4_nonpos(vsubq_f32(vld1q_f32(s + t), vdupq_n_f32(base)));
        vst1q_f32(s + t, p);
        sum = vaddq_f32(sum, p);
    }
    return qn_sum_f32(sum);
}

/* Turns a block's scores into weights and updates each row's maximum and sum. keep[r] is the factor for what row r had
 * summed before. */
static void weigh_block(const qn_attn_page *a, const row_block *b, float *s, float *keep)
{
    for (size_t r = 0; r < b->n_rows; r++) {
        uint32_t i = b->row[r];
        float *row = s + r * a->page_tokens;
        float before = a->m[i];
        a->m[i] = mask_row(row, a->lo[i], a->hi[i], a->softcap, before);
        /* While nothing but -inf was seen, 0 stands in, so that exp() gives 0 and not NaN. */
        float base = a->m[i] == -INFINITY ? 0.0F : a->m[i];
        keep[r] = vgetq_lane_f32(qn_exp4_nonpos(vdupq_n_f32(before - base)), 0);
        a->l[i] = a->l[i] * keep[r] + weigh_row(row, a->lo[i], a->hi[i], base);
    }
}

static inline uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline uint32_t max_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Adds the weighted values of each row's [lo, hi) to its acc. */
static void add_values(const qn_attn_page *a, const row_block *b, const float *p, const float *keep)
{
    static const float kept = 1.0F;
    float *acc[QN_ATTN_ROWS];
    uint32_t all_lo = 0;
    uint32_t all_hi = UINT32_MAX;
    for (size_t r = 0; r < b->n_rows; r++) {
        acc[r] = a->acc + (size_t)b->row[r] * a->v_dim;
        all_lo = max_u32(all_lo, a->lo[b->row[r]]);
        all_hi = min_u32(all_hi, a->hi[b->row[r]]);
    }
    if (all_lo >= all_hi) {
        for (size_t r = 0; r < b->n_rows; r++) {
            value_block(a, 1, p + r * a->page_tokens, keep + r, a->lo[b->row[r]], a->hi[b->row[r]], acc + r);
        }
        return;
    }
    float keep_all[QN_ATTN_ROWS];
    for (size_t r = 0; r < b->n_rows; r++) {
        uint32_t lo = a->lo[b->row[r]];
        keep_all[r] = keep[r];
        if (lo < all_lo) {
            value_block(a, 1, p + r * a->page_tokens, keep + r, lo, all_lo, acc + r);
            keep_all[r] = kept;
        }
    }
    value_block(a, b->n_rows, p, keep_all, all_lo, all_hi, acc);
    for (size_t r = 0; r < b->n_rows; r++) {
        uint32_t hi = a->hi[b->row[r]];
        if (hi > all_hi) {
            value_block(a, 1, p + r * a->page_tokens, &kept, all_hi, hi, acc + r);
        }
    }
}

static void attend_block(const qn_attn_page *a, const row_block *b, float *s)
{
    const float *q[QN_ATTN_ROWS];
    float keep[QN_ATTN_ROWS];
    uint32_t lo = UINT32_MAX;
    uint32_t hi = 0;
    for (size_t r = 0; r < b->n_rows; r++) {
        q[r] = a->q + b->row[r] * a->q_stride;
        lo = min_u32(lo, a->lo[b->row[r]]);
        hi = max_u32(hi, a->hi[b->row[r]]);
    }
    if (a->bits != 0) {
        qn_attn_score_codes_neon(a, b->row, b->n_rows, lo / 4 * 4, (hi + 3) / 4 * 4, s);
        weigh_block(a, b, s, keep);
        qn_attn_value_codes_neon(a, b->row, b->n_rows, s, keep, lo, hi);
        return;
    }
    score_block(a, b->n_rows, q, lo / 4 * 4, (hi + 3) / 4 * 4, s);
    weigh_block(a, b, s, keep);
    add_values(a, b, s, keep);
}

void qn_attn_page_neon(const qn_attn_page *a)
{
    uint32_t n_left = 0;
    for (uint32_t i = 0; i < a->n_q; i++) {
        n_left += a->lo[i] < a->hi[i];
    }
    float *s = a->scratch + (size_t)a->page_tokens * (a->head_dim + a->v_dim);
    uint32_t i = 0;
    while (n_left > 0) {
        /* Blocks of about equal height: 8 rows are 4 + 4, not 6 + 2. */
        uint32_t n_blocks = (n_left + QN_ATTN_ROWS - 1) / QN_ATTN_ROWS;
        uint32_t height = (n_left + n_blocks - 1) / n_blocks;
        row_block b = {0};
        for (; b.n_rows < height; i++) {
            if (a->lo[i] < a->hi[i]) {
                b.row[b.n_rows++] = i;
            }
        }
        attend_block(a, &b, s);
        n_left -= height;
    }
}
