/* Products of IQ4_NL and IQ4_XS with A8 activations.
 * Codes of 4 bits into a table of 16 signed bytes, which one byte shuffle looks up. IQ4_NL: blocks of half d and 16
 * bytes whose low nibbles are elements 0..15 and whose high ones are 16..31. IQ4_XS: super-blocks of 256: half d, the
 * high two bits of 8 scales in 16 bits, their low four in 4 bytes, 8 x 16 bytes of codes as in IQ4_NL.
 * w = d * value, and d * (scale - 32) * value.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx2/mm_a8_int.h"

enum { IQ4_NL_BYTES = 18, IQ4_XS_BYTES = 136, AT_HIGH = 2, AT_LOW = 4, AT_CODES = 8 };

QN_INLINE __m256i values_of(const uint8_t *p)
{
    const __m256i table = _mm256_setr_epi8(-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113,
                                           -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113);
    __m256i v = _mm256_srlv_epi64(_mm256_broadcastsi128_si256(qn_load_128(p)), _mm256_setr_epi64x(0, 0, 4, 4));
    return _mm256_shuffle_epi8(table, _mm256_and_si256(v, _mm256_set1_epi8(0x0F)));
}

QN_INLINE void unpack_iq4_nl(const uint8_t *p, size_t n_blocks, qn_group *g)
{
    const uint8_t *b[8];
    for (size_t i = 0; i < 8; i++) {
        b[i] = qn_block_or_zeros(p, IQ4_NL_BYTES, i, n_blocks);
        g->q[i] = values_of(b[i] + 2);
    }
    g->d = qn_gather_f16(b);
}

QN_INLINE void unpack_iq4_xs(const uint8_t *p, size_t n_blocks, qn_group *g)
{
    (void)n_blocks;
    for (int i = 0; i < 8; i++) {
        g->q[i] = values_of(p + AT_CODES + 16 * i);
    }
    __m256i low =
        _mm256_srlv_epi32(_mm256_set1_epi32(qn_get_i32(p + AT_LOW)), _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28));
    __m256i high = _mm256_srlv_epi32(_mm256_set1_epi32(qn_get_u16(p + AT_HIGH) << 4),
                                     _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14));
    high = _mm256_and_si256(high, _mm256_set1_epi32(0x30));
    __m256i scale = _mm256_or_si256(_mm256_and_si256(low, _mm256_set1_epi32(0x0F)), high);
    __m256 d = _mm256_broadcastss_ps(_mm_cvtph_ps(_mm_cvtsi32_si128(qn_get_u16(p))));
    g->d = _mm256_mul_ps(d, _mm256_cvtepi32_ps(_mm256_sub_epi32(scale, _mm256_set1_epi32(32))));
}

QN_MM_A8_DEFINE(IQ4_NL, unpack_iq4_nl, 8 * IQ4_NL_BYTES, QN_S8, qn_panel_s8_avx2);
QN_MM_A8_DEFINE(IQ4_XS, unpack_iq4_xs, IQ4_XS_BYTES, QN_S8, qn_panel_s8_avx2);
