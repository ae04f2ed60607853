/* Products of Q3_K with A8 activations.
 * Super-blocks of 256: 32 bytes whose bit i is the high bit of block i's elements, 64 bytes of low bit pairs, 12 bytes
 * with 16 scales of half blocks of 6 bits, half d. Each half of 128 elements is four blocks of 32: the j-th block's low
 * bits are bits 2 j and 2 j + 1 of 32 bytes. w = d * (scale - 32) * (q - 4).
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx2/mm_a8_int.h"

enum { Q3_K_BYTES = 110, AT_LOW = 32, AT_SCALES = 96, AT_D = 108 };

/* The low 4 bits of scales 0..7 are the low nibbles of 8 bytes, those of 8..15 the high ones; the high 2 bits of scale
 * i are bits 2 (i / 4) and up of the (i % 4)-th of 4 more bytes. */
QN_INLINE __m256i scales_of(const uint8_t *p)
{
    __m128i v = _mm_loadl_epi64((const __m128i *)(const void *)p);
    __m128i low = _mm_and_si128(_mm_unpacklo_epi64(v, _mm_srli_epi16(v, 4)), _mm_set1_epi8(0x0F));
    __m128i pairs = _mm_srlv_epi32(_mm_set1_epi32(qn_get_i32(p + 8)), _mm_setr_epi32(0, 2, 4, 6));
    __m128i high = _mm_slli_epi16(_mm_and_si128(pairs, _mm_set1_epi8(3)), 4);
    return _mm256_cvtepi8_epi16(_mm_sub_epi8(_mm_or_si128(low, high), _mm_set1_epi8(32)));
}

/* Tiles of halves have q - 32. */
QN_INLINE void unpack_q3_k(const uint8_t *p, size_t n_blocks, qn_group *g)
{
    (void)n_blocks;
    const __m256i pair = _mm256_set1_epi8(3), third = _mm256_set1_epi8(4), rest = _mm256_set1_epi8(28);
    __m256i high = qn_load_256(p);
    for (int i = 0; i < 8; i++) {
        __m256i low = _mm256_srli_epi16(qn_load_256(p + AT_LOW + 32 * (i / 4)), 2 * (i % 4));
        __m256i bit = i < 2 ? _mm256_slli_epi16(high, 2 - i) : _mm256_srli_epi16(high, i - 2);
        __m256i q = _mm256_or_si256(_mm256_and_si256(low, pair), _mm256_and_si256(bit, third));
        g->q[i] = _mm256_add_epi8(q, rest);
    }
    g->sc = scales_of(p + AT_SCALES);
    g->d = _mm256_broadcastss_ps(_mm_cvtph_ps(_mm_cvtsi32_si128(qn_get_u16(p + AT_D))));
}

QN_MM_A8_DEFINE(Q3_K, unpack_q3_k, Q3_K_BYTES, QN_H6, qn_panel_h6_avx2);
