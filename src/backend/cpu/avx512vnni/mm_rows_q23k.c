/* One-column and few-column products of Q2_K and Q3_K. The layouts of the super-blocks are told in avx2/mm_q2k.c and
 * avx2/mm_q3k.c. SPDX-License-Identifier: MIT */
#include "backend/cpu/avx512vnni/mm_rows_int.h"

enum { Q2_K_BYTES = 84, Q2_CODES = 16, Q2_D = 80 };
enum { Q3_K_BYTES = 110, Q3_LOW = 32, Q3_SCALES = 96, Q3_D = 108 };

/* 32 bytes hold four blocks, two bits each: blocks 2 i and 2 i + 1. */
QN_INLINE __m512i bit_pairs(const uint8_t *p, int i)
{
    __m512i v = _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *)(const void *)p));
    __m512i shift = _mm512_add_epi64(_mm512_setr_epi64(0, 0, 0, 0, 2, 2, 2, 2), _mm512_set1_epi64(4 * i));
    return _mm512_and_si512(_mm512_srlv_epi64(v, shift), _mm512_set1_epi8(3));
}

QN_INLINE __m512 bytes_to_ps(__m128i v)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(v));
}

QN_INLINE void unpack_q2_k(const uint8_t *p, size_t n_blocks, qn_rows_group *g)
{
    (void)n_blocks;
    QN_UNROLL
    for (int i = 0; i < 4; i++) {
        g->q[i] = bit_pairs(p + Q2_CODES + 32 * (i / 2), i % 2);
    }
    __m128i both = _mm_loadu_si128((const __m128i *)(const void *)p), nibble = _mm_set1_epi8(0x0F);
    __m128 d = _mm_cvtph_ps(_mm_cvtsi32_si128(qn_get_i32(p + Q2_D)));
    __m512 minus = _mm512_broadcastss_ps(_mm_sub_ps(_mm_setzero_ps(), _mm_movehdup_ps(d)));
    g->half_d = _mm512_mul_ps(_mm512_broadcastss_ps(d), bytes_to_ps(_mm_and_si128(both, nibble)));
    g->half_m = _mm512_mul_ps(minus, bytes_to_ps(_mm_and_si128(_mm_srli_epi16(both, 4), nibble)));
}

QN_INLINE __m128i q3_scales(const uint8_t *p)
{
    __m128i v = _mm_loadl_epi64((const __m128i *)(const void *)p);
    __m128i low = _mm_and_si128(_mm_unpacklo_epi64(v, _mm_srli_epi16(v, 4)), _mm_set1_epi8(0x0F));
    __m128i pairs = _mm_srlv_epi32(_mm_set1_epi32(qn_get_i32(p + 8)), _mm_setr_epi32(0, 2, 4, 6));
    __m128i high = _mm_slli_epi16(_mm_and_si128(pairs, _mm_set1_epi8(3)), 4);
    return _mm_sub_epi8(_mm_or_si128(low, high), _mm_set1_epi8(32));
}

QN_INLINE void unpack_q3_k(const uint8_t *p, size_t n_blocks, qn_rows_group *g)
{
    (void)n_blocks;
    /* bit 2 i of a byte belongs to the first block of register i, bit 2 i + 1 to the second */
    __m512i bits = _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *)(const void *)p));
    __m512i mask = _mm512_inserti64x4(_mm512_set1_epi8(1), _mm256_set1_epi8(2), 1);
    QN_UNROLL
    for (int i = 0; i < 4; i++) {
        __m512i q = bit_pairs(p + Q3_LOW + 32 * (i / 2), i % 2);
        g->q[i] = _mm512_mask_add_epi8(q, _mm512_test_epi8_mask(bits, mask), q, _mm512_set1_epi8(4));
        mask = _mm512_slli_epi16(mask, 2);
    }
    uint16_t d;
    memcpy(&d, p + Q3_D, sizeof(d));
    __m512 scale = _mm512_broadcastss_ps(_mm_cvtph_ps(_mm_cvtsi32_si128(d)));
    g->half_d = _mm512_mul_ps(scale, bytes_to_ps(q3_scales(p + Q3_SCALES)));
    g->half_m = _mm512_mul_ps(g->half_d, _mm512_set1_ps(-4.0f));
}

QN_ROWS_DEFINE(Q2_K, unpack_q2_k, Q2_K_BYTES, QN_SPREAD_HALVES)
QN_ROWS_DEFINE(Q3_K, unpack_q3_k, Q3_K_BYTES, QN_SPREAD_HALVES)
