/* Products of MXFP4 with A8 activations.
 * Blocks: an exponent e of 8 bits, 16 bytes whose low nibbles are elements 0..15 and whose high ones are 16..31. A code
 * is a float of 4 bits, doubled to be whole: up to 12, with a sign. It is looked up with 12 added, so that it is
 * unsigned and up to 24. w = 2^(e - 128) * value.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx2/mm_a8_int.h"

enum { MXFP4_BYTES = 17 };

QN_INLINE __m256i values_of(const uint8_t *p)
{
    const __m256i table = _mm256_setr_epi8(12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0, 12, 13, 14, 15,
                                           16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0);
    __m256i v = _mm256_srlv_epi64(_mm256_broadcastsi128_si256(qn_load_128(p)), _mm256_setr_epi64x(0, 0, 4, 4));
    return _mm256_shuffle_epi8(table, _mm256_and_si256(v, _mm256_set1_epi8(0x0F)));
}

/* 2^(e - 128); for e of 0 and 1 that is subnormal. */
QN_INLINE __m256 power_of(__m256i e)
{
    __m256i normal = _mm256_slli_epi32(_mm256_sub_epi32(e, _mm256_set1_epi32(1)), 23);
    __m256i subnormal = _mm256_sllv_epi32(_mm256_set1_epi32(0x200000), e);
    __m256i is_normal = _mm256_cmpgt_epi32(e, _mm256_set1_epi32(1));
    return _mm256_castsi256_ps(_mm256_blendv_epi8(subnormal, normal, is_normal));
}

QN_INLINE void unpack_mxfp4(const uint8_t *p, size_t n_blocks, qn_group *g)
{
    uint64_t e = 0;
    for (size_t i = 0; i < 8; i++) {
        const uint8_t *b = qn_block_or_zeros(p, MXFP4_BYTES, i, n_blocks);
        e |= (uint64_t)b[0] << (8 * i);
        g->q[i] = values_of(b + 1);
    }
    g->d = power_of(_mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)e)));
    g->m = _mm256_mul_ps(g->d, _mm256_set1_ps(-12.0f));
}

QN_MM_A8_DEFINE(MXFP4, unpack_mxfp4, 8 * MXFP4_BYTES, QN_U5, qn_panel_u5_avx2);
