/* One-column and few-column products of TQ1_0, TQ2_0, Q1_0 and Q8_K. The blocks of the first three are told in
 * avx2/mm_ternary.c; Q8_K: float d, 256 signed bytes, taken as unsigned with a minimum.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx512vnni/mm_rows_int.h"

enum { TQ1_0_BYTES = 54, TQ1_0_D = 52, TQ2_0_BYTES = 66, TQ2_0_D = 64, Q1_0_BYTES = 18, Q8_K_BYTES = 292 };

QN_INLINE __m512i times_3(__m512i v)
{
    return _mm512_add_epi8(v, _mm512_add_epi8(v, v));
}

/* v * 3 / 256: the top bits of three quarters of it. The 2 makes up for both averages' rounding up. */
QN_INLINE __m512i first_digits(__m512i v)
{
    __m512i half = _mm512_subs_epu8(_mm512_avg_epu8(v, _mm512_setzero_si512()), _mm512_set1_epi8(2));
    return _mm512_and_si512(_mm512_srli_epi16(_mm512_avg_epu8(v, half), 6), _mm512_set1_epi8(3));
}

/* Bytes 0..3 of v, times 1, then times 3, 9 and 27. */
QN_INLINE __m128i four_digits(int32_t v)
{
    const __m256i powers =
        _mm256_setr_epi64x(0x0001000100010001, 0x0003000300030003, 0x0009000900090009, 0x001B001B001B001B);
    return _mm256_cvtepi16_epi8(_mm256_mullo_epi16(_mm256_cvtepu8_epi16(_mm_set1_epi32(v)), powers));
}

QN_INLINE void set_d(const uint8_t *p, qn_rows_group *g)
{
    uint16_t h;
    memcpy(&h, p, sizeof(h));
    g->d = _mm256_broadcastss_ps(_mm_cvtph_ps(_mm_cvtsi32_si128(h)));
    g->m = _mm256_xor_ps(g->d, _mm256_set1_ps(-0.0f));
}

QN_INLINE void unpack_tq1_0(const uint8_t *p, size_t n_blocks, qn_rows_group *g)
{
    (void)n_blocks;
    const __mmask8 high = 0xF0;
    /* digits 0 and 1, 2 and 3, 4 of 32 bytes; a block of two digits of 16 bytes */
    __m512i v = _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *)(const void *)p));
    v = _mm512_mask_blend_epi64(high, v, times_3(v));
    g->q[0] = first_digits(v);
    v = times_3(times_3(v));
    g->q[1] = first_digits(v);
    v = times_3(times_3(v));
    __m512i w = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)(p + 32)));
    w = _mm512_mask_blend_epi64(0xCC, w, times_3(w));
    g->q[2] = first_digits(_mm512_mask_blend_epi64(high, v, w));
    /* the next two digits; the last, and four of four bytes */
    w = times_3(times_3(w));
    v = _mm512_mask_blend_epi64(high, w, times_3(times_3(w)));
    g->q[3] = first_digits(_mm512_inserti32x4(v, four_digits(qn_get_i32(p + 48)), 3));
    set_d(p + TQ1_0_D, g);
}

/* Bit pairs stay where they are, 4, 16 and 64 times too large; the scales make up for it. */
QN_INLINE void unpack_tq2_0(const uint8_t *p, size_t n_blocks, qn_rows_group *g)
{
    (void)n_blocks;
    const __m512i first = _mm512_inserti64x4(_mm512_set1_epi8(0x03), _mm256_set1_epi8(0x0C), 1);
    const __m512i second = _mm512_slli_epi16(first, 4);
    QN_UNROLL
    for (int i = 0; i < 2; i++) {
        __m512i v = _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *)(const void *)(p + 32 * i)));
        g->q[2 * i] = _mm512_and_si512(v, first);
        g->q[2 * i + 1] = _mm512_and_si512(v, second);
    }
    set_d(p + TQ2_0_D, g);
    const float a = 1.0f / 4.0f, b = 1.0f / 16.0f, c = 1.0f / 64.0f;
    g->d = _mm256_mul_ps(g->d, _mm256_setr_ps(1.0f, a, b, c, 1.0f, a, b, c));
}

/* w = d * q - d with q 0 or 2. */
QN_INLINE void unpack_q1_0(const uint8_t *p, size_t n_blocks, qn_rows_group *g)
{
    static const uint8_t zeros[Q1_0_BYTES];
    const uint8_t *block[2] = {p, n_blocks > 4 ? p + Q1_0_BYTES : zeros};
    QN_UNROLL
    for (int i = 0; i < 4; i++) {
        uint64_t bits;
        memcpy(&bits, block[i / 2] + 2 + 8 * (i % 2), sizeof(bits));
        g->q[i] = _mm512_maskz_mov_epi8(bits, _mm512_set1_epi8(2));
    }
    uint16_t h[2];
    memcpy(&h[0], block[0], sizeof(h[0]));
    memcpy(&h[1], block[1], sizeof(h[1]));
    g->d = _mm256_cvtph_ps(_mm_unpacklo_epi64(_mm_set1_epi16((short)h[0]), _mm_set1_epi16((short)h[1])));
    g->m = _mm256_xor_ps(g->d, _mm256_set1_ps(-0.0f));
}

QN_INLINE void unpack_q8_k(const uint8_t *p, size_t n_blocks, qn_rows_group *g)
{
    (void)n_blocks;
    QN_UNROLL
    for (int i = 0; i < 4; i++) {
        g->q[i] = _mm512_xor_si512(_mm512_loadu_si512(p + 4 + 64 * i), _mm512_set1_epi8((char)0x80));
    }
    g->d = _mm256_castsi256_ps(_mm256_set1_epi32(qn_get_i32(p)));
    g->m = _mm256_mul_ps(g->d, _mm256_set1_ps(-128.0f));
}

QN_ROWS_DEFINE(TQ1_0, unpack_tq1_0, TQ1_0_BYTES, QN_SPREAD_BLOCKS)
QN_ROWS_DEFINE(TQ2_0, unpack_tq2_0, TQ2_0_BYTES, QN_SPREAD_BLOCKS)
QN_ROWS_DEFINE(Q1_0, unpack_q1_0, 2 * Q1_0_BYTES, QN_SPREAD_BLOCKS)
QN_ROWS_DEFINE(Q8_K, unpack_q8_k, Q8_K_BYTES, QN_SPREAD_BLOCKS)
