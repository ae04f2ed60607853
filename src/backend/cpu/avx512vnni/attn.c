/* Attention over one KV page for AVX-512.
 *
 * Runs of neighbouring query rows that all see something of the page are taken in batches, and these in blocks of at
 * most QN_ATTN_ROWS: the scores of all blocks, then their weights, then the weighted values, so that the latencies of
 * one block's softmax hide behind the others. Scores are computed for whole groups of 16 tokens around what a block's
 * rows see; each row then masks what it does not see. Tokens that a row does not see may hold anything, NaN included
 * (a page's end is not written yet), so their values are never multiplied: the block sums the tokens that all its rows
 * see together, and what is left at either end row by row. Both orders give a row the same chain of operations, hence
 * the same bits, in whatever company it is. Codes (attn_codes.c) need no such care: what a row does not see weighs 0.
 * F16 is turned into floats as it is read: doing it once for all blocks was
 * not faster, up to the 32 rows that a prefill's tile has.
 *
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx512vnni/attn_codes.h"
#include "backend/cpu/avx512vnni/attn_tile.h"
#include "backend/cpu/avx512vnni/math512.h"
#include "backend/cpu/avx512vnni/vec_int512.h"

enum { BATCH_BLOCKS = 4, BATCH_ROWS = BATCH_BLOCKS * QN_ATTN_ROWS };

/* What some rows see: tokens [all_lo, all_hi) are seen by all of them (none if all_lo >= all_hi), [lo, hi) holds what
 * any of them sees. */
typedef struct span {
    uint32_t lo, all_lo, all_hi, hi;
} span;

/* Rows [first, first + n_rows) of the call. */
typedef struct row_block {
    size_t first, n_rows;
    span seen;
    float *s;                 /* scores, later weights: row r's at s + r * page_tokens */
    float keep[QN_ATTN_ROWS]; /* the factor for what a row had summed before */
} row_block;

static inline uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline bool is_same_for_all(const span *x)
{
    return x->lo == x->all_lo && x->hi == x->all_hi;
}

/* The span of those of rows [first, first + n) that see anything. */
static void span_of(const qn_attn_page *a, size_t first, size_t n, span *out)
{
    if (n == 1) {
        uint32_t lo = a->lo[first], hi = a->hi[first];
        *out = (span){lo, lo, hi, hi};
        return;
    }
    __m512i lo_min = _mm512_set1_epi32(-1), hi_min = lo_min;
    __m512i lo_max = _mm512_setzero_si512(), hi_max = lo_max;
    for (size_t i = 0; i < n; i += 16) {
        __mmask16 m = qn_first_lanes(n - i < 16 ? n - i : 16);
        __m512i lo = _mm512_maskz_loadu_epi32(m, a->lo + first + i);
        __m512i hi = _mm512_maskz_loadu_epi32(m, a->hi + first + i);
        __mmask16 sees = _mm512_mask_cmplt_epu32_mask(m, lo, hi);
        lo_min = _mm512_mask_min_epu32(lo_min, sees, lo_min, lo);
        lo_max = _mm512_mask_max_epu32(lo_max, sees, lo_max, lo);
        hi_min = _mm512_mask_min_epu32(hi_min, sees, hi_min, hi);
        hi_max = _mm512_mask_max_epu32(hi_max, sees, hi_max, hi);
    }
    out->lo = _mm512_reduce_min_epu32(lo_min);
    out->all_lo = _mm512_reduce_max_epu32(lo_max);
    out->all_hi = _mm512_reduce_min_epu32(hi_min);
    out->hi = _mm512_reduce_max_epu32(hi_max);
}

#define FOR_ROWS(CASE) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)

/* These two are large, and called from several places: one copy of each is enough. */
static __attribute__((noinline)) void score_block(const qn_attn_page *a, size_t n_rows, const float *q, size_t t0,
                                                  size_t t1, float *s)
{
#define SCORE_CASE(n)                                                                                      \
    case n:                                                                                                \
        if (a->type == QN_TYPE_F16) {                                                                      \
            qn_score_rows(n, QN_TYPE_F16, q, a->q_stride, a->head_dim, a->k, a->page_tokens, t0, t1, s);   \
        } else if (a->type == QN_TYPE_BF16) {                                                              \
            qn_score_rows(n, QN_TYPE_BF16, q, a->q_stride, a->head_dim, a->k, a->page_tokens, t0, t1, s);  \
        } else {                                                                                           \
            qn_score_rows(n, QN_TYPE_F32, q, a->q_stride, a->head_dim, a->k, a->page_tokens, t0, t1, s);   \
        }                                                                                                  \
        break;
    switch (n_rows) {
        FOR_ROWS(SCORE_CASE)
    default:
        break;
    }
#undef SCORE_CASE
}

static __attribute__((noinline)) void value_block(const qn_attn_page *a, size_t n_rows, const float *p,
                                                  const float *keep, size_t t0, size_t t1, float *acc)
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

/* The lanes of the group [t, t + 16) that lie in [lo, hi), which touches it. */
static inline __mmask16 seen_lanes(uint32_t t, uint32_t lo, uint32_t hi)
{
    uint32_t from = lo > t ? lo - t : 0;
    return qn_first_lanes(min_u32(hi - t, 16)) & (__mmask16)(0xFFFFu << from);
}

/* 16 scores, of which a row sees those in `seen`, capped where a cap is given; and their maximum with max. */
QN_INLINE __m512 max_group(float *s, __mmask16 seen, float softcap, __m512 max)
{
    __m512 v = _mm512_mask_loadu_ps(_mm512_set1_ps(-INFINITY), seen, s);
    if (softcap > 0.0F) {
        const __m512 cap = _mm512_set1_ps(softcap);
        v = _mm512_mask_mul_ps(v, seen, qn_tanh16(_mm512_div_ps(v, cap)), cap);
        _mm512_mask_storeu_ps(s, seen, v);
    }
    /* The second operand wins over a NaN: NaN is left to show up in the sums. */
    return _mm512_max_ps(v, max);
}

/* `whole`: the row sees whole groups and no softcap is given, which is the usual case; the bits are the same. */
QN_INLINE __m512 max_row(float *s, uint32_t lo, uint32_t hi, bool whole, float softcap)
{
    __m512 max = _mm512_set1_ps(-INFINITY);
    for (uint32_t t = lo / 16 * 16; t < hi; t += 16) {
        if (whole) {
            max = max_group(s + t, 0xFFFF, 0.0F, max);
        } else {
            max = max_group(s + t, seen_lanes(t, lo, hi), softcap, max);
        }
    }
    return max;
}

/* Turns 16 scores, of which a row sees those in `seen`, into weights; returns them added to sum. */
QN_INLINE __m512 weigh_group(float *s, __mmask16 seen, __m512 base, __m512 sum)
{
    __m512 p = qn_exp16_nonpos(_mm512_sub_ps(_mm512_maskz_loadu_ps(seen, s), base));
    _mm512_mask_storeu_ps(s, seen, p);
    return _mm512_mask_add_ps(sum, seen, sum, p);
}

QN_INLINE __m512 weigh_row(float *s, uint32_t lo, uint32_t hi, bool whole, float base)
{
    const __m512 vbase = _mm512_set1_ps(base);
    __m512 sum = _mm512_setzero_ps();
    for (uint32_t t = lo / 16 * 16; t < hi; t += 16) {
        sum = weigh_group(s + t, whole ? 0xFFFF : seen_lanes(t, lo, hi), vbase, sum);
    }
    return sum;
}

/* Turns a block's scores into weights and updates each row's maximum and sum. Maxima and sums of all rows are reduced
 * together; a row's tree is the same in every place. */
QN_INLINE void weigh_rows(const qn_attn_page *a, row_block *b, bool whole)
{
    const uint32_t *lo = a->lo + b->first;
    const uint32_t *hi = a->hi + b->first;
    const uint32_t stride = a->page_tokens;
    float *m = a->m + b->first;
    float *l = a->l + b->first;
    const __mmask8 rows = (__mmask8)qn_first_lanes(b->n_rows);
    __m512 each[QN_ATTN_ROWS];
    QN_UNROLL
    for (size_t r = 0; r < QN_ATTN_ROWS; r++) {
        each[r] = _mm512_setzero_ps();
    }
    for (size_t r = 0; r < b->n_rows; r++) {
        uint32_t from = whole ? b->seen.lo : lo[r], to = whole ? b->seen.hi : hi[r];
        each[r] = max_row(b->s + r * stride, from, to, whole, a->softcap);
    }
    __m256 before = _mm256_maskz_loadu_ps(rows, m);
    __m256 max = _mm256_max_ps(qn_hmax16x8(each), before);
    _mm256_mask_storeu_ps(m, rows, max);
    /* While nothing but -inf was seen, 0 stands in, so that exp() gives 0 and not NaN. */
    __mmask8 seen_any = _mm256_cmp_ps_mask(max, _mm256_set1_ps(-INFINITY), _CMP_NEQ_UQ);
    __m256 base = _mm256_maskz_mov_ps(seen_any, max);
    float base_of[QN_ATTN_ROWS];
    _mm256_storeu_ps(base_of, base);
    __m512 down = _mm512_castps256_ps512(_mm256_sub_ps(before, base));
    __m256 keep = _mm512_castps512_ps256(qn_exp16_nonpos(down));
    _mm256_storeu_ps(b->keep, keep);
    for (size_t r = 0; r < b->n_rows; r++) {
        uint32_t from = whole ? b->seen.lo : lo[r], to = whole ? b->seen.hi : hi[r];
        each[r] = weigh_row(b->s + r * stride, from, to, whole, base_of[r]);
    }
    __m256 sum = _mm256_maskz_loadu_ps(rows, l);
    _mm256_mask_storeu_ps(l, rows, _mm256_fmadd_ps(sum, keep, qn_hsum16x8(each)));
}

static void weigh_block(const qn_attn_page *a, row_block *b)
{
    if (is_same_for_all(&b->seen) && b->seen.lo % 16 == 0 && b->seen.hi % 16 == 0 && !(a->softcap > 0.0F)) {
        weigh_rows(a, b, true);
    } else {
        weigh_rows(a, b, false);
    }
}

/* Adds the weighted values of the tokens [t0, t1) to the acc of row r of the block. */
static void add_row_values(const qn_attn_page *a, const row_block *b, size_t r, float keep, uint32_t t0, uint32_t t1)
{
    value_block(a, 1, b->s + r * a->page_tokens, &keep, t0, t1, a->acc + (b->first + r) * a->v_dim);
}

/* Adds the weighted values of each row's [lo, hi) to its acc. */
static void add_values(const qn_attn_page *a, row_block *b)
{
    const uint32_t *lo = a->lo + b->first;
    const uint32_t *hi = a->hi + b->first;
    const uint32_t all_lo = b->seen.all_lo;
    const uint32_t all_hi = b->seen.all_hi;
    if (a->bits != 0) {
        qn_attn_value_codes_avx512vnni(a, b->first, b->n_rows, b->s, b->keep, b->seen.lo, b->seen.hi);
        return;
    }
    if (is_same_for_all(&b->seen)) {
        value_block(a, b->n_rows, b->s, b->keep, all_lo, all_hi, a->acc + b->first * a->v_dim);
        return;
    }
    if (all_lo >= all_hi) {
        for (size_t r = 0; r < b->n_rows; r++) {
            add_row_values(a, b, r, b->keep[r], lo[r], hi[r]);
        }
        return;
    }
    for (size_t r = 0; r < b->n_rows; r++) {
        if (lo[r] < all_lo) {
            add_row_values(a, b, r, b->keep[r], lo[r], all_lo);
            b->keep[r] = 1.0F;
        }
    }
    value_block(a, b->n_rows, b->s, b->keep, all_lo, all_hi, a->acc + b->first * a->v_dim);
    for (size_t r = 0; r < b->n_rows; r++) {
        if (hi[r] > all_hi) {
            add_row_values(a, b, r, 1.0F, all_hi, hi[r]);
        }
    }
}

/* Rows [first, first + n_rows), at most BATCH_ROWS, that all see something of the page; `seen`: the call's span. */
static void attend_batch(const qn_attn_page *a, const span *seen, size_t first, size_t n_rows)
{
    row_block blocks[BATCH_BLOCKS];
    size_t n_blocks = (n_rows + QN_ATTN_ROWS - 1) / QN_ATTN_ROWS;
    size_t done = 0;
    float *s = a->scratch + (size_t)a->page_tokens * (a->head_dim + a->v_dim);
    for (size_t i = 0; i < n_blocks; i++) {
        row_block *b = &blocks[i];
        b->first = first + done;
        /* Blocks of about equal height: 10 rows are 5 + 5, not 8 + 2. */
        b->n_rows = (n_rows - done + n_blocks - i - 1) / (n_blocks - i);
        b->s = s + done * a->page_tokens;
        b->seen = *seen;
        if (!is_same_for_all(seen)) {
            span_of(a, b->first, b->n_rows, &b->seen);
        }
        done += b->n_rows;
        uint32_t end = min_u32((b->seen.hi + 15) / 16 * 16, a->page_tokens);
        uint32_t begin = b->seen.lo / 16 * 16;
        if (a->bits != 0) {
            qn_attn_score_codes_avx512vnni(a, b->first, b->n_rows, begin, end, b->s);
        } else {
            score_block(a, b->n_rows, a->q + b->first * a->q_stride, begin, end, b->s);
        }
    }
    for (size_t i = 0; i < n_blocks; i++) {
        weigh_block(a, &blocks[i]);
    }
    for (size_t i = 0; i < n_blocks; i++) {
        add_values(a, &blocks[i]);
    }
}

void qn_attn_page_avx512vnni(const qn_attn_page *a)
{
    span seen;
    span_of(a, 0, a->n_q, &seen);
    for (uint32_t i = 0; i < a->n_q;) {
        uint32_t end = i;
        while (end < a->n_q && end - i < BATCH_ROWS && a->lo[end] < a->hi[end]) {
            end++;
        }
        if (end == i) { /* sees nothing */
            i++;
        } else {
            attend_batch(a, &seen, i, end - i);
            i = end;
        }
    }
}
