/* Attention over a page of codes for NEON: codes are taken as they are, four neighbours a lane, by sdot.
 *
 * A query row, and a row of weights, is an integer of 15 bits times the row's scale. It is kept as two rows of signed
 * bytes, 128 * high + low, each of which is multiplied by the codes. Codes of 8 bits are made signed by taking 128 from
 * them, and 128 times the row's sum is added again. The sums are exact, whatever the tile's shape: a row's bits do not
 * depend on the rows beside it. What a page's min and scale add is applied once a token (scores) or once a row
 * (values). SPDX-License-Identifier: MIT */
#include "backend/cpu/neon/attn_codes.h"
#include "backend/cpu/neon/attn_tile.h"
#include "backend/cpu/neon/math_int.h"
#include "backend/cpu/vec_int.h"

enum {
    MAX_PAGE_TOKENS = 256,
    MAX_VECS = 4,
    LARGEST = 127 * 128,
    SUM_LIMIT = INT32_MAX / 255, /* of the magnitudes of a row: what 32 bits hold after a product with codes */
};

/* Integers of 15 bits in two halves. */
typedef struct halves {
    const int8_t *high, *low;
} halves;

/* A prepared query row: high[n], low[n], then these; n = head_dim in whole 64. */
typedef struct query_scale {
    float scale, sum;
    int32_t total; /* of the integers */
} query_scale;

static size_t padded64(size_t n)
{
    return (n + 63) / 64 * 64;
}

QN_INLINE void store_bytes(int32x4_t v, int8_t *out)
{
    int16x4_t words = vmovn_s32(v);
    int8x8_t bytes = vmovn_s16(vcombine_s16(words, words));
    vst1_lane_s32((int32_t *)(void *)out, vreinterpret_s32_s8(bytes), 0);
}

/* Four integers to nearest even, split; returns them. */
QN_INLINE int32x4_t store_halves(float32x4_t v, int8_t *high, int8_t *low)
{
    int32x4_t c = vcvtnq_s32_f32(v);
    int32x4_t above = vrshrq_n_s32(c, 7);
    store_bytes(above, high);
    store_bytes(vsubq_s32(c, vshlq_n_s32(above, 7)), low);
    return c;
}

void qn_attn_prepare_neon(const float *q, size_t head_dim, void *out)
{
    size_t n = padded64(head_dim);
    int8_t *high = out;
    int8_t *low = high + n;
    query_scale *s = (query_scale *)(void *)(low + n);
    float32x4_t largest = vdupq_n_f32(0.0F);
    float32x4_t sum = largest;
    for (size_t i = 0; i < head_dim; i += 4) {
        float32x4_t v = qn_load_upto(q + i, head_dim - i);
        largest = qn_max4(largest, vabsq_f32(v));
        sum = vaddq_f32(sum, v);
    }
    float max = vmaxnmvq_f32(largest);
    float most = head_dim * LARGEST > SUM_LIMIT ? (float)(SUM_LIMIT / head_dim) : (float)LARGEST;
    s->sum = qn_sum_f32(sum);
    s->scale = max / most + s->sum * 0.0F; /* NaN where a query is not finite */
    const float inverse = max > 0.0F ? most / max : 0.0F;
    int32x4_t total = vdupq_n_s32(0);
    for (size_t i = 0; i < n; i += 4) {
        float32x4_t v = i < head_dim ? qn_load_upto(q + i, head_dim - i) : vdupq_n_f32(0.0F);
        total = vaddq_s32(total, store_halves(vmulq_n_f32(v, inverse), high + i, low + i));
    }
    s->total = vaddvq_s32(total);
}

/* Sums of products with the high and with the low bytes. */
typedef struct sums {
    int32x4_t high[QN_ATTN_ROWS][MAX_VECS], low[QN_ATTN_ROWS][MAX_VECS];
} sums;

QN_INLINE void clear_sums(size_t n_rows, size_t n_vecs, sums *s)
{
    QN_UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        QN_UNROLL
        for (size_t v = 0; v < n_vecs; v++) {
            s->high[r][v] = s->low[r][v] = vdupq_n_s32(0);
        }
    }
}

QN_INLINE int8x16_t repeat_four(const int8_t *at)
{
    return vreinterpretq_s8_s32(vld1q_dup_s32((const int32_t *)(const void *)at));
}

/* Adds the dot products of n_vecs times four cells with elements [at, at + 4) of each row. */
QN_INLINE void add_cells(size_t n_rows, size_t n_vecs, const halves *rows, size_t at, const int8x16_t *cells, sums *s)
{
    QN_UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        int8x16_t high = repeat_four(rows[r].high + at), low = repeat_four(rows[r].low + at);
        QN_UNROLL
        for (size_t v = 0; v < n_vecs; v++) {
            s->high[r][v] = vdotq_s32(s->high[r][v], cells[v], high);
            s->low[r][v] = vdotq_s32(s->low[r][v], cells[v], low);
        }
    }
}

/* What the sums of one row and vector stand for; total: of the row's integers. Unsigned, since parts may wrap. */
QN_INLINE float32x4_t join_sums(const sums *s, size_t r, size_t v, uint32_t bits, int32_t total)
{
    uint32x4_t high = vshlq_n_u32(vreinterpretq_u32_s32(s->high[r][v]), 7);
    uint32x4_t joined = vaddq_u32(high, vreinterpretq_u32_s32(s->low[r][v]));
    if (bits == 8) {
        joined = vaddq_u32(joined, vdupq_n_u32(128 * (uint32_t)total));
    }
    return vcvtq_f32_s32(vreinterpretq_s32_u32(joined));
}

QN_INLINE int8x16_t load_signed(const uint8_t *at)
{
    return vreinterpretq_s8_u8(veorq_u8(vld1q_u8(at), vdupq_n_u8(0x80)));
}

QN_INLINE void load_nibbles(const uint8_t *at, uint8x16_t *low, uint8x16_t *high)
{
    uint8x16_t v = vld1q_u8(at);
    *low = vandq_u8(v, vdupq_n_u8(15));
    *high = vshrq_n_u8(v, 4);
}

/* Scale and min of four tokens; packed or, with 8 bits, page_tokens apart. */
QN_INLINE void load_scales(const uint16_t *at, uint32_t code_bits, size_t page_tokens, float32x4_t *scale,
                           float32x4_t *min)
{
    if (code_bits == 8) {
        *scale = qn_load4_f16(at);
        *min = qn_load4_f16(at + page_tokens);
        return;
    }
    uint16x4_t packed = vld1_u16(at);
    float32x4_t z = vcvtq_f32_u32(vmovl_u16(vand_u16(packed, vdup_n_u16(15))));
    float32x4_t in_scales = vfmaq_n_f32(vdupq_n_f32(qn_kv_packed_first(code_bits)), z, qn_kv_packed_step(code_bits));
    *scale = vcvt_f32_f16(vreinterpret_f16_u16(vand_u16(vshr_n_u16(packed, 1), vdup_n_u16(0x7FF8))));
    *min = vmulq_f32(*scale, in_scales);
}

/* ---- scores ---- */

QN_INLINE const query_scale *query_of(const qn_attn_page *a, uint32_t i, halves *h)
{
    size_t n = padded64(a->head_dim);
    h->high = (const int8_t *)a->q_codes + i * qn_attn_q_bytes(a->head_dim);
    h->low = h->high + n;
    return (const query_scale *)(const void *)(h->low + n);
}

/* Tokens [t, t + 4 * n_vecs). */
QN_INLINE void score_tile(const qn_attn_page *a, const uint32_t *row, size_t n_rows, size_t n_vecs, uint32_t bits,
                          size_t t, float *s)
{
    const size_t pt = a->page_tokens;
    const uint8_t *codes = a->k;
    const uint8_t *fifth = codes + qn_kv_k_low_bytes(bits, a->head_dim, a->page_tokens);
    halves q[QN_ATTN_ROWS];
    const query_scale *scale_of[QN_ATTN_ROWS];
    sums sum;
    for (size_t r = 0; r < n_rows; r++) {
        scale_of[r] = query_of(a, row[r], &q[r]);
    }
    clear_sums(n_rows, n_vecs, &sum);
    const size_t n_cells = (a->head_dim + (32 / bits) - 1) / (32 / bits);
    for (size_t g = 0; g < n_cells; g++) {
        int8x16_t cells[MAX_VECS], up[MAX_VECS];
        QN_UNROLL
        for (size_t v = 0; v < n_vecs; v++) {
            size_t at = t + 4 * v;
            if (bits == 8) {
                cells[v] = load_signed(codes + 4 * (g * pt + at));
                continue;
            }
            uint8x16_t low, high;
            load_nibbles(codes + 4 * (g * pt + at), &low, &high);
            low = vorrq_u8(low, qn_bits_to_16(fifth + (2 * g * pt + at) / 2));
            high = vorrq_u8(high, qn_bits_to_16(fifth + ((2 * g + 1) * pt + at) / 2));
            cells[v] = vreinterpretq_s8_u8(low);
            up[v] = vreinterpretq_s8_u8(high);
        }
        add_cells(n_rows, n_vecs, q, bits == 8 ? 4 * g : 8 * g, cells, &sum);
        if (bits == 4) {
            add_cells(n_rows, n_vecs, q, 8 * g + 4, up, &sum);
        }
    }
    const uint16_t *scales =
        (const uint16_t *)(const void *)(codes + qn_kv_k_code_bytes(bits, a->head_dim, a->page_tokens));
    QN_UNROLL
    for (size_t v = 0; v < n_vecs; v++) {
        size_t at = t + 4 * v;
        float32x4_t scale, min;
        load_scales(scales + at, qn_kv_k_bits(bits), pt, &scale, &min);
        QN_UNROLL
        for (size_t r = 0; r < n_rows; r++) {
            float offset = a->offset != NULL ? a->offset[row[r]] : 0.0F;
            float32x4_t base = vfmaq_n_f32(vdupq_n_f32(offset), min, scale_of[r]->sum);
            float32x4_t dot = vmulq_n_f32(join_sums(&sum, r, v, bits, scale_of[r]->total), scale_of[r]->scale);
            vst1q_f32(s + r * pt + at, vfmaq_f32(base, dot, scale));
        }
    }
}

/* Registers per row of each kind of sum. */
QN_INLINE size_t tile_vecs(size_t n_rows)
{
    return n_rows <= 3 ? 4 : 2;
}

QN_INLINE void score_rows(const qn_attn_page *a, const uint32_t *row, size_t n_rows, uint32_t bits, size_t t0,
                          size_t t1, float *s)
{
    const size_t wide = tile_vecs(n_rows);
    size_t t = t0;
    for (; t + 4 * wide <= t1; t += 4 * wide) {
        score_tile(a, row, n_rows, wide, bits, t, s);
    }
    for (; t < t1; t += 4) {
        score_tile(a, row, n_rows, 1, bits, t, s);
    }
}

#define FOR_ROWS(CASE) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6)

void qn_attn_score_codes_neon(const qn_attn_page *a, const uint32_t *row, size_t n_rows, size_t t0, size_t t1, float *s)
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

/* ---- values ---- */

/* A block's weights times the tokens' scales, as integers; 0 for tokens that a row does not see. */
typedef struct weights {
    int8_t high[QN_ATTN_ROWS][MAX_PAGE_TOKENS], low[QN_ATTN_ROWS][MAX_PAGE_TOKENS];
    float scale[QN_ATTN_ROWS], bias[QN_ATTN_ROWS]; /* bias: the sum of weights times min */
    int32_t total[QN_ATTN_ROWS];
} weights;

/* Tokens [t0, t1), both multiples of 8, of query row i become row r of w. */
static void encode_row(const qn_attn_page *a, uint32_t i, const float *p, const uint16_t *scales, size_t t0, size_t t1,
                       size_t r, weights *w)
{
    float32x4_t max = vdupq_n_f32(0.0F);
    float32x4_t bias = max;
    float32x4_t scaled[MAX_PAGE_TOKENS / 4];
    for (size_t t = t0; t < t1; t += 4) {
        uint32x4_t seen = qn_lanes_within(t, a->lo[i], a->hi[i]);
        float32x4_t scale, min;
        load_scales(scales + t, a->bits, a->page_tokens, &scale, &min);
        float32x4_t x = qn_keep_lanes(vld1q_f32(p + t), seen);
        scaled[t / 4] = vmulq_f32(x, qn_keep_lanes(scale, seen));
        max = qn_max4(max, scaled[t / 4]);
        bias = vfmaq_f32(bias, x, qn_keep_lanes(min, seen));
    }
    float largest = vmaxnmvq_f32(max);
    w->scale[r] = largest / LARGEST;
    w->bias[r] = qn_sum_f32(bias);
    const float inverse = largest > 0.0F ? LARGEST / largest : 0.0F;
    int32x4_t total = vdupq_n_s32(0);
    for (size_t t = t0; t < t1; t += 4) {
        float32x4_t x = vmulq_n_f32(scaled[t / 4], inverse);
        total = vaddq_s32(total, store_halves(x, w->high[r] + t, w->low[r] + t));
    }
    w->total[r] = vaddvq_s32(total);
}

/* Dimensions [j, j + 4 * n_vecs) of the cells [c0, c1). */
QN_INLINE void value_tile(const qn_attn_page *a, const uint32_t *row, size_t n_rows, size_t n_vecs, uint32_t bits,
                          const weights *w, const float *keep, size_t c0, size_t c1, size_t j)
{
    halves rows[QN_ATTN_ROWS];
    sums sum;
    for (size_t r = 0; r < n_rows; r++) {
        rows[r] = (halves){w->high[r], w->low[r]};
    }
    clear_sums(n_rows, n_vecs, &sum);
    for (size_t c = c0; c < c1; c++) {
        int8x16_t cells[MAX_VECS], up[MAX_VECS];
        QN_UNROLL
        for (size_t v = 0; v < n_vecs; v++) {
            const uint8_t *at = (const uint8_t *)a->v + 4 * (c * a->v_dim + j + 4 * v);
            if (bits == 8) {
                cells[v] = load_signed(at);
                continue;
            }
            uint8x16_t low, high;
            load_nibbles(at, &low, &high);
            cells[v] = vreinterpretq_s8_u8(low);
            up[v] = vreinterpretq_s8_u8(high);
        }
        add_cells(n_rows, n_vecs, rows, bits == 8 ? 4 * c : 8 * c, cells, &sum);
        if (bits == 4) {
            add_cells(n_rows, n_vecs, rows, 8 * c + 4, up, &sum);
        }
    }
    QN_UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        QN_UNROLL
        for (size_t v = 0; v < n_vecs; v++) {
            float *acc = a->acc + row[r] * (size_t)a->v_dim + j + 4 * v;
            float32x4_t kept = vfmaq_n_f32(vdupq_n_f32(w->bias[r]), vld1q_f32(acc), keep[r]);
            vst1q_f32(acc, vfmaq_n_f32(kept, join_sums(&sum, r, v, bits, w->total[r]), w->scale[r]));
        }
    }
}

/* One dimension of one row. */
static void add_value(const qn_attn_page *a, uint32_t i, const weights *w, size_t r, float keep, size_t c0, size_t c1,
                      size_t j)
{
    int32_t sum = 0;
    for (size_t c = c0; c < c1; c++) {
        const uint8_t *cell = (const uint8_t *)a->v + 4 * (c * a->v_dim + j);
        for (size_t k = 0; k < 4; k++) {
            size_t t = a->bits == 8 ? 4 * c + k : 8 * c + k;
            sum += (a->bits == 8 ? cell[k] : cell[k] & 15) * (128 * w->high[r][t] + w->low[r][t]);
            if (a->bits == 4) {
                sum += (cell[k] >> 4) * (128 * w->high[r][t + 4] + w->low[r][t + 4]);
            }
        }
    }
    float *acc = a->acc + i * (size_t)a->v_dim + j;
    *acc = *acc * keep + w->bias[r] + (float)sum * w->scale[r];
}

QN_INLINE void value_rows(const qn_attn_page *a, const uint32_t *row, size_t n_rows, uint32_t bits, const weights *w,
                          const float *keep, size_t c0, size_t c1)
{
    const size_t wide = tile_vecs(n_rows);
    size_t j = 0;
    for (; j + 4 * wide <= a->v_dim; j += 4 * wide) {
        value_tile(a, row, n_rows, wide, bits, w, keep, c0, c1, j);
    }
    for (; j + 4 <= a->v_dim; j += 4) {
        value_tile(a, row, n_rows, 1, bits, w, keep, c0, c1, j);
    }
    for (; j < a->v_dim; j++) {
        for (size_t r = 0; r < n_rows; r++) {
            add_value(a, row[r], w, r, keep[r], c0, c1, j);
        }
    }
}

void qn_attn_value_codes_neon(const qn_attn_page *a, const uint32_t *row, size_t n_rows, const float *p,
                              const float *keep, uint32_t lo, uint32_t hi)
{
    weights w;
    const size_t in_cell = 32 / a->bits;
    const size_t c0 = lo / in_cell;
    const size_t c1 = (hi + in_cell - 1) / in_cell;
    const uint16_t *scales =
        (const uint16_t *)(const void *)((const uint8_t *)a->v + qn_kv_v_code_bytes(a->bits, a->v_dim, a->page_tokens));
    for (size_t r = 0; r < n_rows; r++) {
        encode_row(a, row[r], p + r * a->page_tokens, scales, lo / 8 * 8, (hi + 7) / 8 * 8, r, &w);
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
