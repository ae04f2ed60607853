/* Attention over one KV page for AVX2.
 *
 * Query rows that see something of the page are taken in blocks of at most QN_ATTN_ROWS. A block's scores are computed
 * for whole groups of 8 tokens around what its rows see; each row then masks what it does not see. Tokens that a row
 * does not see may hold anything, NaN included (a page's end is not written yet), so their values are never multiplied:
 * the block sums the tokens that all its rows see together, and what is left at either end row by row. Both orders give
 * a row the same chain of operations, hence the same bits, in whatever company it is. Codes (attn_codes.c) need no such
 * care: what a row does not see weighs 0.
 *
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx2/attn_codes.h"
#include "backend/cpu/avx2/attn_tile.h"
#include "backend/cpu/avx2/math.h"
#include "backend/cpu/vec_int.h"

/* From this many rows on, it pays to turn a page of halves into floats once instead of once per block. */
#define CONVERT_MIN_ROWS 32

/* The page as the tiles read it. */
typedef struct page_view {
    const void *k, *v;
    qn_type type;
} page_view;

typedef struct row_block {
    int n_rows;
    uint32_t row[QN_ATTN_ROWS]; /* indices into the call's rows */
} row_block;

/* These two are large, and called from several places: one copy of each is enough. */
static __attribute__((noinline)) void score_block(const page_view *page, int n_rows, const float *const *q,
                                                  size_t head_dim, size_t page_tokens, size_t t0, size_t t1, float *s)
{
#define SCORE_CASE(n)                                                                     \
    case n:                                                                               \
        if (page->type == QN_TYPE_F16) {                                                  \
            qn_score_rows(n, QN_TYPE_F16, q, head_dim, page->k, page_tokens, t0, t1, s);  \
        } else if (page->type == QN_TYPE_BF16) {                                          \
            qn_score_rows(n, QN_TYPE_BF16, q, head_dim, page->k, page_tokens, t0, t1, s); \
        } else {                                                                          \
            qn_score_rows(n, QN_TYPE_F32, q, head_dim, page->k, page_tokens, t0, t1, s);  \
        }                                                                                 \
        break;
    switch (n_rows) {
        SCORE_CASE(1)
        SCORE_CASE(2)
        SCORE_CASE(3)
        SCORE_CASE(4)
        SCORE_CASE(5)
        SCORE_CASE(6)
    default:
        break;
    }
#undef SCORE_CASE
}

static __attribute__((noinline)) void value_block(const page_view *page, int n_rows, const float *p, size_t page_tokens,
                                                  const float *keep, size_t v_dim, size_t t0, size_t t1,
                                                  float *const *acc)
{
#define VALUE_CASE(n)                                                                          \
    case n:                                                                                    \
        if (page->type == QN_TYPE_F16) {                                                       \
            qn_value_rows(n, QN_TYPE_F16, p, page_tokens, keep, page->v, v_dim, t0, t1, acc);  \
        } else if (page->type == QN_TYPE_BF16) {                                               \
            qn_value_rows(n, QN_TYPE_BF16, p, page_tokens, keep, page->v, v_dim, t0, t1, acc); \
        } else {                                                                               \
            qn_value_rows(n, QN_TYPE_F32, p, page_tokens, keep, page->v, v_dim, t0, t1, acc);  \
        }                                                                                      \
        break;
    switch (n_rows) {
        VALUE_CASE(1)
        VALUE_CASE(2)
        VALUE_CASE(3)
        VALUE_CASE(4)
        VALUE_CASE(5)
        VALUE_CASE(6)
    default:
        break;
    }
#undef VALUE_CASE
}

/* All bits set for the tokens of [t, t + 8) that lie in [lo, hi). */
static inline __m256 seen_mask(uint32_t t, uint32_t lo, uint32_t hi)
{
    __m256i i = _mm256_add_epi32(_mm256_set1_epi32((int)t), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    __m256i from = _mm256_cmpgt_epi32(i, _mm256_set1_epi32((int)lo - 1));
    __m256i to = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)hi), i);
    return _mm256_castsi256_ps(_mm256_and_si256(from, to));
}

/* Caps a row's scores, puts -inf where it sees nothing, and returns their maximum with m. Covers the groups of 8 tokens
 * that touch [lo, hi). */
static float mask_row(float *s, uint32_t lo, uint32_t hi, float softcap, float m)
{
    const __m256 cap = _mm256_set1_ps(softcap);
    __m256 max = _mm256_set1_ps(m);
    for (uint32_t t = lo / 8 * 8; t < hi; t += 8) {
        __m256 v = _mm256_loadu_ps(s + t);
        bool at_edge = t < lo || t + 8 > hi;
        if (softcap > 0.0F) {
            v = _mm256_mul_ps(qn_tanh8(_mm256_div_ps(v, cap)), cap);
        }
        if (at_edge) {
            v = _mm256_blendv_ps(_mm256_set1_ps(-INFINITY), v, seen_mask(t, lo, hi));
        }
        if (at_edge || softcap > 0.0F) {
            _mm256_storeu_ps(s + t, v);
        }
        /* The second operand wins over a NaN: NaN is left to show up in the sums. */
        max = _mm256_max_ps(v, max);
    }
    return qn_hmax8(max);
}

/* Turns a row's masked scores into weights and returns their sum. */
static float weigh_row(float *s, uint32_t lo, uint32_t hi, float base)
{
    __m256 vbase = _mm256_set1_ps(base);
    __m256 sum = _mm256_setzero_ps();
    for (uint32_t t = lo / 8 * 8; t < hi; t += 8) {
        __m256 p = qn_exp8_nonpos(_mm256_sub_ps(_mm256_loadu_ps(s + t), vbase));
        _mm256_storeu_ps(s + t, p);
        sum = _mm256_add_ps(sum, p);
    }
    return qn_hsum8(sum);
}

/* Turns a block's scores into weights and updates each row's maximum and sum. keep[r] is the factor for what row r had
 * summed before. */
static void weigh_block(const qn_attn_page *a, const row_block *b, float *s, float keep[8])
{
    float base[8] = {0};
    float before[8] = {0};
    for (int r = 0; r < b->n_rows; r++) {
        uint32_t i = b->row[r];
        before[r] = a->m[i];
        a->m[i] = mask_row(s + (size_t)r * a->page_tokens, a->lo[i], a->hi[i], a->softcap, before[r]);
        /* While nothing but -inf was seen, 0 stands in, so that exp() gives 0 and not NaN. */
        base[r] = a->m[i] == -INFINITY ? 0.0F : a->m[i];
    }
    _mm256_storeu_ps(keep, qn_exp8_nonpos(_mm256_sub_ps(_mm256_loadu_ps(before), _mm256_loadu_ps(base))));
    for (int r = 0; r < b->n_rows; r++) {
        uint32_t i = b->row[r];
        a->l[i] = a->l[i] * keep[r] + weigh_row(s + (size_t)r * a->page_tokens, a->lo[i], a->hi[i], base[r]);
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
static void add_values(const qn_attn_page *a, const page_view *page, const row_block *b, const float *p, float *keep)
{
    float *acc[QN_ATTN_ROWS];
    uint32_t lo[QN_ATTN_ROWS];
    uint32_t hi[QN_ATTN_ROWS];
    uint32_t all_lo = 0;
    uint32_t all_hi = UINT32_MAX;
    for (int r = 0; r < b->n_rows; r++) {
        lo[r] = a->lo[b->row[r]];
        hi[r] = a->hi[b->row[r]];
        acc[r] = a->acc + (size_t)b->row[r] * a->v_dim;
        all_lo = max_u32(all_lo, lo[r]);
        all_hi = min_u32(all_hi, hi[r]);
    }
    if (all_lo >= all_hi) {
        for (int r = 0; r < b->n_rows; r++) {
            value_block(page, 1, p + (size_t)r * a->page_tokens, a->page_tokens, keep + r, a->v_dim, lo[r], hi[r],
                        acc + r);
        }
        return;
    }
    for (int r = 0; r < b->n_rows; r++) {
        if (lo[r] < all_lo) {
            value_block(page, 1, p + (size_t)r * a->page_tokens, a->page_tokens, keep + r, a->v_dim, lo[r], all_lo,
                        acc + r);
            keep[r] = 1.0F;
        }
    }
    value_block(page, b->n_rows, p, a->page_tokens, keep, a->v_dim, all_lo, all_hi, acc);
    const float one = 1.0F;
    for (int r = 0; r < b->n_rows; r++) {
        if (hi[r] > all_hi) {
            value_block(page, 1, p + (size_t)r * a->page_tokens, a->page_tokens, &one, a->v_dim, all_hi, hi[r],
                        acc + r);
        }
    }
}

static void attend_block(const qn_attn_page *a, const page_view *page, const row_block *b, float *s)
{
    const float *q[QN_ATTN_ROWS];
    uint32_t lo = UINT32_MAX;
    uint32_t hi = 0;
    for (int r = 0; r < b->n_rows; r++) {
        q[r] = a->q + b->row[r] * a->q_stride;
        lo = min_u32(lo, a->lo[b->row[r]]);
        hi = max_u32(hi, a->hi[b->row[r]]);
    }
    float keep[8];
    if (a->bits != 0) {
        qn_attn_score_codes_avx2(a, b->row, (size_t)b->n_rows, lo / 8 * 8, (hi + 7) / 8 * 8, s);
        weigh_block(a, b, s, keep);
        qn_attn_value_codes_avx2(a, b->row, (size_t)b->n_rows, s, keep, lo, hi);
        return;
    }
    score_block(page, b->n_rows, q, a->head_dim, a->page_tokens, lo / 8 * 8, (hi + 7) / 8 * 8, s);
    weigh_block(a, b, s, keep);
    add_values(a, page, b, s, keep);
}

static inline __m256 load_half8(const uint16_t *data, size_t i, qn_type type)
{
    return type == QN_TYPE_F16 ? qn_kv_load8(data, i, QN_TYPE_F16) : qn_kv_load8(data, i, QN_TYPE_BF16);
}

/* Turns the part [lo, hi) of a page of halves into floats in scratch, laid out as the page is. */
static page_view convert_page(const qn_attn_page *a, uint32_t lo, uint32_t hi)
{
    const uint16_t *k = a->k;
    const uint16_t *v = a->v;
    float *kf = a->scratch;
    float *vf = kf + (size_t)a->head_dim * a->page_tokens;
    for (uint32_t d = 0; d < a->head_dim; d++) {
        size_t row = (size_t)d * a->page_tokens;
        for (size_t i = row + lo / 8 * 8; i < row + hi; i += 8) {
            _mm256_storeu_ps(kf + i, load_half8(k, i, a->type));
        }
    }
    size_t i = (size_t)lo * a->v_dim;
    size_t end = (size_t)hi * a->v_dim;
    for (; i + 8 <= end; i += 8) {
        _mm256_storeu_ps(vf + i, load_half8(v, i, a->type));
    }
    for (; i < end; i++) {
        vf[i] = a->type == QN_TYPE_F16 ? qn_kv_load1(v, i, QN_TYPE_F16) : qn_kv_load1(v, i, QN_TYPE_BF16);
    }
    return (page_view){kf, vf, QN_TYPE_F32};
}

void qn_attn_page_avx2(const qn_attn_page *a)
{
    uint32_t n_left = 0;
    uint32_t lo = UINT32_MAX;
    uint32_t hi = 0;
    for (uint32_t i = 0; i < a->n_q; i++) {
        if (a->lo[i] < a->hi[i]) {
            n_left++;
            lo = min_u32(lo, a->lo[i]);
            hi = max_u32(hi, a->hi[i]);
        }
    }
    page_view page = {a->k, a->v, a->type};
    if (a->bits == 0 && a->type != QN_TYPE_F32 && n_left >= CONVERT_MIN_ROWS) {
        page = convert_page(a, lo, hi);
    }
    float *s = a->scratch + (size_t)a->page_tokens * (a->head_dim + a->v_dim);
    uint32_t i = 0;
    while (n_left > 0) {
        /* Blocks of about equal height: 8 rows are 4 + 4, not 6 + 2. */
        uint32_t n_blocks = (n_left + QN_ATTN_ROWS - 1) / QN_ATTN_ROWS;
        uint32_t height = (n_left + n_blocks - 1) / n_blocks;
        row_block b = {0};
        for (; (uint32_t)b.n_rows < height; i++) {
            if (a->lo[i] < a->hi[i]) {
                b.row[b.n_rows++] = i;
            }
        }
        attend_block(a, &page, &b, s);
        n_left -= height;
    }
}
