/* Attention over a page of codes for AVX2: codes are taken as they are, four neighbours a lane.
 *
 * A query row, and a row of weights, is an integer of 15 bits times the row's scale. The even and the odd bytes of the
 * cells become two registers of 16-bit integers, which multiply the even and the odd elements of a row: four of them are
 * kept as 0, 2, 1, 3. The sums are exact, whatever the tile's shape: a row's bits do not depend on the rows beside it.
 * What a page's min and scale add is applied once a token (scores) or once a row (values).
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx2/attn_codes.h"
#include "backend/cpu/avx2/attn_tile.h"
#include "backend/cpu/avx2/math.h"
#include "backend/cpu/vec_int.h"

#include <string.h>

#define MAX_PAGE_TOKENS 256
#define LARGEST 16256
#define SUM_LIMIT (INT32_MAX / 255) /* of the magnitudes of a row: what 32 bits hold after a product with codes */

/* A prepared query row: elements[n], then these; n = head_dim in whole 64. */
typedef struct query_scale {
    float scale, sum;
} query_scale;

static size_t padded64(size_t n)
{
    return (n + 63) / 64 * 64;
}

/* Eight integers as 16 bits, the second and third of each four exchanged. */
static inline __m128i pack_swapped(__m256i c)
{
    __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(c), _mm256_extracti128_si256(c, 1));
    return _mm_shufflehi_epi16(_mm_shufflelo_epi16(words, 0xD8), 0xD8);
}

static inline __m256 load_some(const float *x, size_t n)
{
    return _mm256_maskload_ps(x, qn_tail_mask(n < 8 ? n : 8));
}

void qn_attn_prepare_avx2(const float *q, size_t head_dim, void *out)
{
    size_t n = padded64(head_dim);
    int16_t *elements = out;
    query_scale *s = (query_scale *)(void *)(elements + n);
    const __m256 sign = _mm256_set1_ps(-0.0F);
    __m256 largest = _mm256_setzero_ps();
    __m256 sum = largest;
    for (size_t i = 0; i < head_dim; i += 8) {
        __m256 v = load_some(q + i, head_dim - i);
        largest = _mm256_max_ps(largest, _mm256_andnot_ps(sign, v));
        sum = _mm256_add_ps(sum, v);
    }
    float max = qn_hmax8(largest);
    float most = head_dim * LARGEST > SUM_LIMIT ? (float)(SUM_LIMIT / head_dim) : (float)LARGEST;
    s->sum = qn_hsum8(sum);
    s->scale = max / most + s->sum * 0.0F; /* NaN where a query is not finite */
    const __m256 inverse = _mm256_set1_ps(max > 0.0F ? most / max : 0.0F);
    for (size_t i = 0; i < n; i += 8) {
        __m256 v = i < head_dim ? load_some(q + i, head_dim - i) : _mm256_setzero_ps();
        __m256i c = _mm256_cvtps_epi32(_mm256_mul_ps(v, inverse));
        _mm_storeu_si128((__m128i *)(void *)(elements + i), pack_swapped(c));
    }
}

/* As a float, whose broadcast is one load; an integer would pass through a general register. */
QN_TILE __m256i broadcast_pair(const int16_t *at)
{
    return _mm256_castps_si256(_mm256_broadcast_ss((const float *)(const void *)at));
}

/* sum[r][v] += the dot products of the cells of x (even bytes, odd bytes) with elements [at, at + 4) of row r. */
QN_TILE void add_cells(size_t n_rows, size_t n_vecs, const int16_t *const *rows, size_t at, const __m256i *even,
                       const __m256i *odd, __m256i sum[QN_ATTN_ROWS][4])
{
    QN_UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        const __m256i q02 = broadcast_pair(rows[r] + at);
        const __m256i q13 = broadcast_pair(rows[r] + at + 2);
        QN_UNROLL
        for (size_t v = 0; v < n_vecs; v++) {
            __m256i e = _mm256_madd_epi16(even[v], q02);
            __m256i o = _mm256_madd_epi16(odd[v], q13);
            sum[r][v] = _mm256_add_epi32(sum[r][v], _mm256_add_epi32(e, o));
        }
    }
}

QN_TILE void clear_sums(size_t n_rows, size_t n_vecs, __m256i sum[QN_ATTN_ROWS][4])
{
    QN_UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        QN_UNROLL
        for (size_t v = 0; v < n_vecs; v++) {
            sum[r][v] = _mm256_setzero_si256();
        }
    }
}

/* 16 in every byte whose bit is set; four bits for each of eight cells. */
QN_TILE __m256i fifth_bits(const uint8_t *bits)
{
    int32_t b;
    memcpy(&b, bits, sizeof(b));
    const __m256i which = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3,
                                           3, 3, 3, 3, 3, 3);
    const __m256i mask = _mm256_set1_epi64x((int64_t)0x8040201008040201);
    __m256i spread = _mm256_and_si256(_mm256_shuffle_epi8(_mm256_set1_epi32(b), which), mask);
    return _mm256_and_si256(_mm256_cmpeq_epi8(spread, mask), _mm256_set1_epi8(16));
}

QN_TILE void split_bytes(__m256i x, __m256i *even, __m256i *odd)
{
    *even = _mm256_and_si256(x, _mm256_set1_epi16(0xFF));
    *odd = _mm256_srli_epi16(x, 8);
}

QN_TILE void split_nibbles(__m256i x, __m256i *low, __m256i *high)
{
    const __m256i nibble = _mm256_set1_epi8(15);
    *low = _mm256_and_si256(x, nibble);
    *high = _mm256_and_si256(_mm256_srli_epi16(x, 4), nibble);
}

QN_TILE __m256i load_cells(const uint8_t *at)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

QN_TILE __m256 load_halves(const uint16_t *at)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)at));
}

/* Scale and min of eight tokens; packed or, with 8 bits, page_tokens apart. */
QN_TILE void load_scales(const uint16_t *at, uint32_t code_bits, size_t page_tokens, __m256 *scale, __m256 *min)
{
    if (code_bits == 8) {
        *scale = load_halves(at);
        *min = load_halves(at + page_tokens);
        return;
    }
    __m128i packed = _mm_loadu_si128((const __m128i *)(const void *)at);
    __m256i z = _mm256_cvtepu16_epi32(_mm_and_si128(packed, _mm_set1_epi16(15)));
    __m256 in_scales = _mm256_fmadd_ps(_mm256_cvtepi32_ps(z), _mm256_set1_ps(qn_kv_packed_step(code_bits)),
                                       _mm256_set1_ps(qn_kv_packed_first(code_bits)));
    *scale = _mm256_cvtph_ps(_mm_and_si128(_mm_srli_epi16(packed, 1), _mm_set1_epi16(0x7FF8)));
    *min = _mm256_mul_ps(*scale, in_scales);
}

/* Scores of tokens [t, t + 8 * n_vecs). */
QN_TILE void score_tile(const qn_attn_page *a, const uint32_t *row, size_t n_rows, size_t n_vecs, uint32_t bits,
                        size_t t, float *s)
{
    const size_t pt = a->page_tokens;
    const size_t n = padded64(a->head_dim);
    const uint8_t *codes = a->k;
    const uint8_t *fifth = codes + qn_kv_k_low_bytes(bits, a->head_dim, a->page_tokens);
    const int16_t *q[QN_ATTN_ROWS];
    __m256i sum[QN_ATTN_ROWS][4];
    for (size_t r = 0; r < n_rows; r++) {
        q[r] = (const int16_t *)(const void *)((const uint8_t *)a->q_codes + row[r] * qn_attn_q_bytes(a->head_dim));
    }
    clear_sums(n_rows, n_vecs, sum);
    const size_t n_cells = (a->head_dim + (32 / bits) - 1) / (32 / bits);
    for (size_t g = 0; g < n_cells; g++) {
        __m256i even[4], odd[4], up_even[4], up_odd[4];
        QN_UNROLL
        for (size_t v = 0; v < n_vecs; v++) {
            size_t at = t + 8 * v;
            __m256i x = load_cells(codes + 4 * (g * pt + at));
            if (bits == 4) {
                __m256i high;
                split_nibbles(x, &x, &high);
                x = _mm256_or_si256(x, fifth_bits(fifth + (2 * g * pt + at) / 2));
                high = _mm256_or_si256(high, fifth_bits(fifth + ((2 * g + 1) * pt + at) / 2));
                split_bytes(high, &up_even[v], &up_odd[v]);
            }
            split_bytes(x, &even[v], &odd[v]);
        }
        add_cells(n_rows, n_vecs, q, bits == 8 ? 4 * g : 8 * g, even, odd, sum);
        if (bits == 4) {
            add_cells(n_rows, n_vecs, q, 8 * g + 4, up_even, up_odd, sum);
        }
    }
    const uint16_t *scales =
        (const uint16_t *)(const void *)(codes + qn_kv_k_code_bytes(bits, a->head_dim, a->page_tokens));
    QN_UNROLL
    for (size_t v = 0; v < n_vecs; v++) {
        size_t at = t + 8 * v;
        __m256 scale, min;
        load_scales(scales + at, qn_kv_k_bits(bits), pt, &scale, &min);
        QN_UNROLL
        for (size_t r = 0; r < n_rows; r++) {
            const query_scale *qs = (const query_scale *)(const void *)(q[r] + n);
            float offset = a->offset != NULL ? a->offset[row[r]] : 0.0F;
            __m256 dot = _mm256_mul_ps(_mm256_cvtepi32_ps(sum[r][v]), _mm256_set1_ps(qs->scale));
            __m256 base = _mm256_fmadd_ps(min, _mm256_set1_ps(qs->sum), _mm256_set1_ps(offset));
            _mm256_storeu_ps(s + r * pt + at, _mm256_fmadd_ps(dot, scale, base));
        }
    }
}

/* Registers of sums per row. */
QN_TILE size_t tile_vecs(size_t n_rows)
{
    return n_rows == 1 ? 4 : n_rows <= 3 ? 2 : 1;
}

QN_TILE void score_rows(const qn_attn_page *a, const uint32_t *row, size_t n_rows, uint32_t bits, size_t t0, size_t t1,
                        float *s)
{
    const size_t wide = tile_vecs(n_rows);
    size_t t = t0;
    for (; t + 8 * wide <= t1; t += 8 * wide) {
        score_tile(a, row, n_rows, wide, bits, t, s);
    }
    for (; t < t1; t += 8) {
        score_tile(a, row, n_rows, 1, bits, t, s);
    }
}

#define FOR_ROWS(CASE) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6)

void qn_attn_score_codes_avx2(const qn_attn_page *a, const uint32_t *row, size_t n_rows, size_t t0, size_t t1, float *s)
{
#define SCORE_CASE(n)                            \
    case n:                                      \
        if (a->bits == 8) {                      \
            score_rows(a, row, n, 8, t0, t1, s); \
        } else {                                 \
            score_rows(a, row, n, 4, t0, t1, s); \
        }                                        \
        break;
    switch (n_rows) {
        FOR_ROWS(SCORE_CASE)
    default:
        break;
    }
#undef SCORE_CASE
}

/* A block's weights times the tokens' scales, as integers; 0 for tokens that a row does not see. */
typedef struct weights {
    _Alignas(32) int16_t elements[QN_ATTN_ROWS][MAX_PAGE_TOKENS];
    float scale[QN_ATTN_ROWS], bias[QN_ATTN_ROWS]; /* bias: the sum of weights times min */
} weights;

/* All bits set for the tokens of [t, t + 8) that lie in [lo, hi). */
static inline __m256 seen_lanes(size_t t, uint32_t lo, uint32_t hi)
{
    __m256i i = _mm256_add_epi32(_mm256_set1_epi32((int)t), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    __m256i from = _mm256_cmpgt_epi32(i, _mm256_set1_epi32((int)lo - 1));
    __m256i to = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)hi), i);
    return _mm256_castsi256_ps(_mm256_and_si256(from, to));
}

static void encode_row(const qn_attn_page *a, uint32_t i, const float *p, const uint16_t *scales, size_t t0, size_t t1,
                       size_t r, weights *w)
{
    __m256 max = _mm256_setzero_ps();
    __m256 bias = max;
    for (size_t t = t0; t < t1; t += 8) {
        __m256 seen = seen_lanes(t, a->lo[i], a->hi[i]);
        __m256 scale, min;
        load_scales(scales + t, a->bits, a->page_tokens, &scale, &min);
        scale = _mm256_and_ps(seen, scale);
        min = _mm256_and_ps(seen, min);
        __m256 x = _mm256_and_ps(seen, _mm256_loadu_ps(p + t));
        max = _mm256_max_ps(max, _mm256_mul_ps(x, scale));
        bias = _mm256_fmadd_ps(x, min, bias);
    }
    float largest = qn_hmax8(max);
    w->scale[r] = largest / LARGEST;
    w->bias[r] = qn_hsum8(bias);
    const __m256 inverse = _mm256_set1_ps(largest > 0.0F ? LARGEST / largest : 0.0F);
    for (size_t t = t0; t < t1; t += 8) {
        __m256 seen = seen_lanes(t, a->lo[i], a->hi[i]);
        __m256 scale, min;
        load_scales(scales + t, a->bits, a->page_tokens, &scale, &min);
        __m256 x = _mm256_and_ps(seen, _mm256_mul_ps(_mm256_loadu_ps(p + t), scale));
        __m256i c = _mm256_cvtps_epi32(_mm256_mul_ps(x, inverse));
        _mm_store_si128((__m128i *)(void *)(w->elements[r] + t), pack_swapped(c));
    }
}

/* Dimensions [j, j + 8 * n_vecs) of the cells [c0, c1). */
QN_TILE void value_tile(const qn_attn_page *a, const uint32_t *row, size_t n_rows, size_t n_vecs, uint32_t bits,
                        const weights *w, const float *keep, size_t c0, size_t c1, size_t j)
{
    const uint8_t *codes = a->v;
    const int16_t *rows[QN_ATTN_ROWS];
    __m256i sum[QN_ATTN_ROWS][4];
    for (size_t r = 0; r < n_rows; r++) {
        rows[r] = w->elements[r];
    }
    clear_sums(n_rows, n_vecs, sum);
    for (size_t c = c0; c < c1; c++) {
        __m256i even[4], odd[4], up_even[4], up_odd[4];
        QN_UNROLL
        for (size_t v = 0; v < n_vecs; v++) {
            __m256i x = load_cells(codes + 4 * (c * a->v_dim + j + 8 * v));
            if (bits == 4) {
                __m256i high;
                split_nibbles(x, &x, &high);
                split_bytes(high, &up_even[v], &up_odd[v]);
            }
            split_bytes(x, &even[v], &odd[v]);
        }
        add_cells(n_rows, n_vecs, rows, bits == 8 ? 4 * c : 8 * c, even, odd, sum);
        if (bits == 4) {
            add_cells(n_rows, n_vecs, rows, 8 * c + 4, up_even, up_odd, sum);
        }
    }
    QN_UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        QN_UNROLL
        for (size_t v = 0; v < n_vecs; v++) {
            float *acc = a->acc + row[r] * (size_t)a->v_dim + j + 8 * v;
            __m256 kept = _mm256_fmadd_ps(_mm256_loadu_ps(acc), _mm256_set1_ps(keep[r]), _mm256_set1_ps(w->bias[r]));
            __m256 dot = _mm256_cvtepi32_ps(sum[r][v]);
            _mm256_storeu_ps(acc, _mm256_fmadd_ps(dot, _mm256_set1_ps(w->scale[r]), kept));
        }
    }
}

/* One dimension of one row. */
static void add_value(const qn_attn_page *a, uint32_t i, const weights *w, size_t r, float keep, size_t c0, size_t c1,
                      size_t j)
{
    const uint8_t *codes = a->v;
    static const uint8_t place[4] = {0, 2, 1, 3};
    int32_t sum = 0;
    for (size_t c = c0; c < c1; c++) {
        const uint8_t *cell = codes + 4 * (c * a->v_dim + j);
        for (size_t k = 0; k < 4; k++) {
            if (a->bits == 8) {
                sum += cell[k] * w->elements[r][4 * c + place[k]];
            } else {
                sum += (cell[k] & 15) * w->elements[r][8 * c + place[k]];
                sum += (cell[k] >> 4) * w->elements[r][8 * c + 4 + place[k]];
            }
        }
    }
    float *acc = a->acc + i * (size_t)a->v_dim + j;
    *acc = *acc * keep + w->bias[r] + (float)sum * w->scale[r];
}

QN_TILE void value_rows(const qn_attn_page *a, const uint32_t *row, size_t n_rows, uint32_t bits, const weights *w,
                        const float *keep, size_t c0, size_t c1)
{
    const size_t wide = tile_vecs(n_rows);
    size_t j = 0;
    for (; j + 8 * wide <= a->v_dim; j += 8 * wide) {
        value_tile(a, row, n_rows, wide, bits, w, keep, c0, c1, j);
    }
    for (; j + 8 <= a->v_dim; j += 8) {
        value_tile(a, row, n_rows, 1, bits, w, keep, c0, c1, j);
    }
    for (; j < a->v_dim; j++) {
        for (size_t r = 0; r < n_rows; r++) {
            add_value(a, row[r], w, r, keep[r], c0, c1, j);
        }
    }
}

void qn_attn_value_codes_avx2(const qn_attn_page *a, const uint32_t *row, size_t n_rows, const float *p,
                              const float *keep, uint32_t lo, uint32_t hi)
{
    weights w;
    const size_t in_cell = 32 / a->bits;
    const size_t c0 = lo / in_cell;
    const size_t c1 = (hi + in_cell - 1) / in_cell;
    const uint16_t *scales = (const uint16_t *)(const void *)((const uint8_t *)a->v +
                                                              qn_kv_v_code_bytes(a->bits, a->v_dim, a->page_tokens));
    for (size_t r = 0; r < n_rows; r++) {
        encode_row(a, row[r], p + r * a->page_tokens, scales, lo / 8 * 8, hi, r, &w);
    }
#define VALUE_CASE(n)                                   \
    case n:                                             \
        if (a->bits == 8) {                             \
            value_rows(a, row, n, 8, &w, keep, c0, c1); \
        } else {                                        \
            value_rows(a, row, n, 4, &w, keep, c0, c1); \
        }                                               \
        break;
    switch (n_rows) {
        FOR_ROWS(VALUE_CASE)
    default:
        break;
    }
#undef VALUE_CASE
}
