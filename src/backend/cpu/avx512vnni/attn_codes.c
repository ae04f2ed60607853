/* Attention over a page of codes for AVX-512 VNNI: codes are taken as they are, four neighbours a lane.
 *
 * A query row, and a row of weights, is an integer of 15 bits times the row's scale: 128 * high + low, both bytes, so
 * that two integer dot products take it; the high and the low bytes of four elements stand side by side. Their sums are exact, whatever the tile's shape: a row's bits do not depend on
 * the rows beside it. What a page's min and scale add is applied once a token (scores) or once a row (values).
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx512vnni/attn_codes.h"
#include "backend/cpu/avx512vnni/math512.h"
#include "backend/cpu/avx512vnni/vec_int512.h"

#define MAX_ROWS 8
#define MAX_PAGE_TOKENS 256
#define LARGEST 16256 /* 128 * 127 */

/* A prepared query row: the bytes of n elements, then these; n = head_dim in whole 64. */
typedef struct query_scale {
    float scale, sum;
} query_scale;

typedef struct code_rows {
    const int8_t *x;
    size_t bytes; /* from one row to the next */
} code_rows;

static size_t padded64(size_t n)
{
    return (n + 63) / 64 * 64;
}

/* Sixteen integers as bytes: four high, four low, and so on. */
QN_INLINE void store_split(__m512i c, __m512i high, int8_t *out)
{
    __m128i h = _mm512_cvtepi32_epi8(high);
    __m128i l = _mm512_cvtepi32_epi8(_mm512_sub_epi32(c, _mm512_slli_epi32(high, 7)));
    _mm_storeu_si128((__m128i *)(void *)out, _mm_unpacklo_epi32(h, l));
    _mm_storeu_si128((__m128i *)(void *)(out + 16), _mm_unpackhi_epi32(h, l));
}

void qn_attn_prepare_avx512vnni(const float *q, size_t head_dim, void *out)
{
    size_t n = padded64(head_dim);
    int8_t *bytes = out;
    query_scale *s = (query_scale *)(void *)(bytes + 2 * n);
    __m512 largest = _mm512_setzero_ps();
    __m512 sum = largest;
    for (size_t i = 0; i < head_dim; i += 16) {
        __mmask16 m = qn_first_lanes(head_dim - i < 16 ? head_dim - i : 16);
        __m512 v = _mm512_maskz_loadu_ps(m, q + i);
        largest = _mm512_max_ps(largest, _mm512_abs_ps(v));
        sum = _mm512_add_ps(sum, v);
    }
    float max = _mm512_reduce_max_ps(largest);
    s->sum = _mm512_reduce_add_ps(sum);
    s->scale = max / LARGEST + s->sum * 0.0F; /* NaN where a query is not finite */
    const __m512 inverse = _mm512_set1_ps(max > 0.0F ? LARGEST / max : 0.0F);
    for (size_t i = 0; i < n; i += 16) {
        __mmask16 m = qn_first_lanes(i >= head_dim ? 0 : head_dim - i < 16 ? head_dim - i : 16);
        __m512i c = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_maskz_loadu_ps(m, q + i), inverse));
        store_split(c, _mm512_srai_epi32(_mm512_add_epi32(c, _mm512_set1_epi32(64)), 7), bytes + 2 * i);
    }
}

/* As a float, whose broadcast is one load; an integer would pass through a general register. */
QN_INLINE __m512i broadcast_four(const int8_t *at)
{
    float bits;
    memcpy(&bits, at, sizeof(bits));
    return _mm512_castps_si512(_mm512_set1_ps(bits));
}

/* Adds the dot products of the cells in x with elements [at, at + 4) of every row. */
QN_INLINE void add_cells(size_t n_rows, size_t n_vecs, const code_rows *rows, size_t at, const __m512i *x,
                         __m512i high[MAX_ROWS][2], __m512i low[MAX_ROWS][2])
{
    QN_UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        __m512i h = broadcast_four(rows->x + r * rows->bytes + 2 * at);
        __m512i l = broadcast_four(rows->x + r * rows->bytes + 2 * at + 4);
        QN_UNROLL
        for (size_t v = 0; v < n_vecs; v++) {
            high[r][v] = _mm512_dpbusd_epi32(high[r][v], x[v], h);
            low[r][v] = _mm512_dpbusd_epi32(low[r][v], x[v], l);
        }
    }
}

QN_INLINE void clear_sums(size_t n_rows, size_t n_vecs, __m512i high[MAX_ROWS][2], __m512i low[MAX_ROWS][2])
{
    QN_UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        QN_UNROLL
        for (size_t v = 0; v < n_vecs; v++) {
            high[r][v] = low[r][v] = _mm512_setzero_si512();
        }
    }
}

QN_INLINE __m512 join_sums(__m512i high, __m512i low)
{
    return _mm512_fmadd_ps(_mm512_cvtepi32_ps(high), _mm512_set1_ps(128.0F), _mm512_cvtepi32_ps(low));
}

/* Scale and min of the tokens of m, 0 for others; packed or, with 8 bits, page_tokens apart. */
QN_INLINE void load_scales(const uint16_t *at, uint32_t code_bits, size_t page_tokens, __mmask16 m, __m512 *scale,
                           __m512 *min)
{
    __m256i x = _mm256_maskz_loadu_epi16(m, at);
    if (code_bits == 8) {
        *scale = _mm512_cvtph_ps(x);
        *min = _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(m, at + page_tokens));
        return;
    }
    __m512i z = _mm512_cvtepu16_epi32(_mm256_and_si256(x, _mm256_set1_epi16(15)));
    __m512 in_scales = _mm512_fmadd_ps(_mm512_cvtepi32_ps(z), _mm512_set1_ps(qn_kv_packed_step(code_bits)),
                                       _mm512_set1_ps(qn_kv_packed_first(code_bits)));
    *scale = _mm512_cvtph_ps(_mm256_and_si256(_mm256_srli_epi16(x, 1), _mm256_set1_epi16(0x7FF8)));
    *min = _mm512_mul_ps(*scale, in_scales);
}

/* Scores of tokens [t0, t0 + 16 * n_vecs), lanes of m alone. */
QN_INLINE void score_tile(const qn_attn_page *a, size_t n_rows, size_t n_vecs, uint32_t bits, __mmask16 m, size_t first,
                          size_t t0, float *s)
{
    const size_t pt = a->page_tokens;
    const size_t n = padded64(a->head_dim);
    const size_t q_bytes = qn_attn_q_bytes(a->head_dim);
    const int8_t *q = (const int8_t *)a->q_codes + first * q_bytes;
    const code_rows rows = {q, q_bytes};
    const uint8_t *codes = a->k;
    const uint8_t *fifth = codes + qn_kv_k_low_bytes(bits, a->head_dim, a->page_tokens);
    const __m512i nibble = _mm512_set1_epi8(15);
    const __m512i sixteen = _mm512_set1_epi8(16);
    __m512i high[MAX_ROWS][2], low[MAX_ROWS][2];
    clear_sums(n_rows, n_vecs, high, low);
    const size_t n_cells = (a->head_dim + (32 / bits) - 1) / (32 / bits);
    for (size_t g = 0; g < n_cells; g++) {
        __m512i x[2], up[2];
        QN_UNROLL
        for (size_t v = 0; v < n_vecs; v++) {
            size_t t = t0 + 16 * v;
            x[v] = _mm512_maskz_loadu_epi32(m, codes + 4 * (g * pt + t));
            if (bits == 4) {
                uint64_t bit[2];
                memcpy(&bit[0], fifth + (2 * g * pt + t) / 2, 8);
                memcpy(&bit[1], fifth + ((2 * g + 1) * pt + t) / 2, 8);
                up[v] = _mm512_and_si512(_mm512_srli_epi16(x[v], 4), nibble);
                up[v] = _mm512_mask_add_epi8(up[v], bit[1], up[v], sixteen);
                x[v] = _mm512_and_si512(x[v], nibble);
                x[v] = _mm512_mask_add_epi8(x[v], bit[0], x[v], sixteen);
            }
        }
        if (bits == 8) {
            add_cells(n_rows, n_vecs, &rows, 4 * g, x, high, low);
        } else {
            add_cells(n_rows, n_vecs, &rows, 8 * g, x, high, low);
            add_cells(n_rows, n_vecs, &rows, 8 * g + 4, up, high, low);
        }
    }
    const uint16_t *scales =
        (const uint16_t *)(const void *)(codes + qn_kv_k_code_bytes(bits, a->head_dim, a->page_tokens));
    QN_UNROLL
    for (size_t v = 0; v < n_vecs; v++) {
        size_t t = t0 + 16 * v;
        __m512 scale, min;
        load_scales(scales + t, qn_kv_k_bits(bits), pt, m, &scale, &min);
        QN_UNROLL
        for (size_t r = 0; r < n_rows; r++) {
            const query_scale *qs = (const query_scale *)(const void *)(q + r * q_bytes + 2 * n);
            float offset = a->offset != NULL ? a->offset[first + r] : 0.0F;
            __m512 dot = _mm512_mul_ps(join_sums(high[r][v], low[r][v]), _mm512_set1_ps(qs->scale));
            __m512 base = _mm512_fmadd_ps(min, _mm512_set1_ps(qs->sum), _mm512_set1_ps(offset));
            _mm512_mask_storeu_ps(s + r * pt + t, m, _mm512_fmadd_ps(dot, scale, base));
        }
    }
}

QN_INLINE void score_rows(const qn_attn_page *a, size_t n_rows, uint32_t bits, size_t first, size_t t0, size_t t1,
                          float *s)
{
    size_t t = t0;
    for (; t + 32 <= t1 && n_rows <= 6; t += 32) {
        score_tile(a, n_rows, 2, bits, 0xFFFF, first, t, s);
    }
    for (; t < t1; t += 16) {
        score_tile(a, n_rows, 1, bits, qn_first_lanes(t1 - t < 16 ? t1 - t : 16), first, t, s);
    }
}

#define FOR_ROWS(CASE) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)

void qn_attn_score_codes_avx512vnni(const qn_attn_page *a, size_t first, size_t n_rows, size_t t0, size_t t1, float *s)
{
#define SCORE_CASE(n)                              \
    case n:                                        \
        if (a->bits == 8) {                        \
            score_rows(a, n, 8, first, t0, t1, s); \
        } else {                                   \
            score_rows(a, n, 4, first, t0, t1, s); \
        }                                          \
        break;
    switch (n_rows) {
        FOR_ROWS(SCORE_CASE)
    default:
        break;
    }
#undef SCORE_CASE
}

/* A block's weights times the tokens' scales, as bytes; 0 for tokens that a row does not see. */
typedef struct weights {
    _Alignas(64) int8_t x[MAX_ROWS][2 * MAX_PAGE_TOKENS];
    float scale[MAX_ROWS], bias[MAX_ROWS]; /* bias: the sum of weights times min */
} weights;

QN_INLINE __mmask16 seen_lanes(size_t t, uint32_t lo, uint32_t hi)
{
    uint32_t from = lo > t ? lo - (uint32_t)t : 0;
    uint32_t to = hi > t ? hi - (uint32_t)t : 0;
    return from >= 16 ? 0 : qn_first_lanes(to < 16 ? to : 16) & (__mmask16)(0xFFFFu << from);
}

static void encode_weights(const qn_attn_page *a, size_t first, size_t n_rows, const float *p, size_t t0, size_t t1,
                           weights *w)
{
    const uint16_t *scales = (const uint16_t *)(const void *)((const uint8_t *)a->v +
                                                              qn_kv_v_code_bytes(a->bits, a->v_dim, a->page_tokens));
    __m512 max[MAX_ROWS], bias[MAX_ROWS];
    for (size_t r = 0; r < MAX_ROWS; r++) {
        max[r] = bias[r] = _mm512_setzero_ps();
    }
    for (size_t r = 0; r < n_rows; r++) {
        for (size_t t = t0; t < t1; t += 16) {
            __mmask16 m = seen_lanes(t, a->lo[first + r], a->hi[first + r]);
            __m512 scale, min;
            load_scales(scales + t, a->bits, a->page_tokens, m, &scale, &min);
            __m512 x = _mm512_maskz_loadu_ps(m, p + r * a->page_tokens + t);
            max[r] = _mm512_max_ps(max[r], _mm512_mul_ps(x, scale));
            bias[r] = _mm512_fmadd_ps(x, min, bias[r]);
        }
    }
    __m256 largest = qn_hmax16x8(max);
    _mm256_storeu_ps(w->bias, qn_hsum16x8(bias));
    _mm256_storeu_ps(w->scale, _mm256_div_ps(largest, _mm256_set1_ps(LARGEST)));
    float inverse[MAX_ROWS];
    __mmask8 any = _mm256_cmp_ps_mask(largest, _mm256_setzero_ps(), _CMP_GT_OQ);
    _mm256_storeu_ps(inverse, _mm256_maskz_div_ps(any, _mm256_set1_ps(LARGEST), largest));
    for (size_t r = 0; r < n_rows; r++) {
        for (size_t t = t0; t < t1; t += 16) {
            __mmask16 m = seen_lanes(t, a->lo[first + r], a->hi[first + r]);
            __m512 scale, min;
            load_scales(scales + t, a->bits, a->page_tokens, m, &scale, &min);
            __m512 x = _mm512_mul_ps(_mm512_maskz_loadu_ps(m, p + r * a->page_tokens + t), scale);
            __m512i c = _mm512_cvtps_epi32(_mm512_mul_ps(x, _mm512_set1_ps(inverse[r])));
            store_split(c, _mm512_srai_epi32(c, 7), w->x[r] + 2 * t);
        }
    }
}

/* Dimensions [j0, j0 + 16 * n_vecs), lanes of m alone, of the cells [c0, c1). */
QN_INLINE void value_tile(const qn_attn_page *a, size_t n_rows, size_t n_vecs, uint32_t bits, __mmask16 m, size_t first,
                          const weights *w, const float *keep, size_t c0, size_t c1, size_t j0)
{
    const code_rows rows = {w->x[0], sizeof(w->x[0])};
    const uint8_t *codes = a->v;
    const __m512i nibble = _mm512_set1_epi8(15);
    __m512i high[MAX_ROWS][2], low[MAX_ROWS][2];
    clear_sums(n_rows, n_vecs, high, low);
    for (size_t c = c0; c < c1; c++) {
        __m512i x[2], up[2];
        QN_UNROLL
        for (size_t v = 0; v < n_vecs; v++) {
            x[v] = _mm512_maskz_loadu_epi32(m, codes + 4 * (c * a->v_dim + j0 + 16 * v));
            if (bits == 4) {
                up[v] = _mm512_and_si512(_mm512_srli_epi16(x[v], 4), nibble);
                x[v] = _mm512_and_si512(x[v], nibble);
            }
        }
        if (bits == 8) {
            add_cells(n_rows, n_vecs, &rows, 4 * c, x, high, low);
        } else {
            add_cells(n_rows, n_vecs, &rows, 8 * c, x, high, low);
            add_cells(n_rows, n_vecs, &rows, 8 * c + 4, up, high, low);
        }
    }
    QN_UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        QN_UNROLL
        for (size_t v = 0; v < n_vecs; v++) {
            float *acc = a->acc + (first + r) * a->v_dim + j0 + 16 * v;
            __m512 sum =
                _mm512_fmadd_ps(_mm512_maskz_loadu_ps(m, acc), _mm512_set1_ps(keep[r]), _mm512_set1_ps(w->bias[r]));
            __m512 dot = join_sums(high[r][v], low[r][v]);
            _mm512_mask_storeu_ps(acc, m, _mm512_fmadd_ps(dot, _mm512_set1_ps(w->scale[r]), sum));
        }
    }
}

QN_INLINE void value_rows(const qn_attn_page *a, size_t n_rows, uint32_t bits, size_t first, const weights *w,
                          const float *keep, size_t c0, size_t c1)
{
    size_t j = 0;
    for (; j + 32 <= a->v_dim && n_rows <= 6; j += 32) {
        value_tile(a, n_rows, 2, bits, 0xFFFF, first, w, keep, c0, c1, j);
    }
    for (; j < a->v_dim; j += 16) {
        value_tile(a, n_rows, 1, bits, qn_first_lanes(a->v_dim - j < 16 ? a->v_dim - j : 16), first, w, keep, c0, c1,
                   j);
    }
}

void qn_attn_value_codes_avx512vnni(const qn_attn_page *a, size_t first, size_t n_rows, const float *p,
                                    const float *keep, uint32_t lo, uint32_t hi)
{
    weights w;
    const size_t in_cell = 32 / a->bits;
    const size_t c0 = lo / in_cell;
    const size_t c1 = (hi + in_cell - 1) / in_cell;
    encode_weights(a, first, n_rows, p, lo / 16 * 16, hi, &w);
#define VALUE_CASE(n)                                     \
    case n:                                               \
        if (a->bits == 8) {                               \
            value_rows(a, n, 8, first, &w, keep, c0, c1); \
        } else {                                          \
            value_rows(a, n, 4, first, &w, keep, c0, c1); \
        }                                                 \
        break;
    switch (n_rows) {
        FOR_ROWS(VALUE_CASE)
    default:
        break;
    }
#undef VALUE_CASE
}
