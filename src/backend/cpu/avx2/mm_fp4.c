/* Products of MXFP4 and NVFP4 with A8 activations.
 * A code is a float of 4 bits, doubled to be whole: up to 12, with a sign. It is looked up with 12 added, so that it is
 * unsigned and up to 24.
 * MXFP4: blocks of an exponent e of 8 bits and 16 bytes whose low nibbles are elements 0..15 and whose high ones are
 * 16..31; w = 2^(e - 128) * value. NVFP4: blocks of 64: 4 scales, floats of 4 bits of exponent and 3 of mantissa, then
 * for each 16 elements 8 bytes, low nibbles first; w = scale / 2 * value.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx2/mm_a8_int.h"

enum { MXFP4_BYTES = 17, NVFP4_BYTES = 36, AT_CODES = 4 };

QN_INLINE __m256i values_of(__m256i codes)
{
    const __m256i table = _mm256_setr_epi8(12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0, 12, 13, 14, 15,
                                           16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0);
    return _mm256_shuffle_epi8(table, _mm256_and_si256(codes, _mm256_set1_epi8(0x0F)));
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
        __m256i twice = _mm256_broadcastsi128_si256(qn_load_128(b + 1));
        g->q[i] = values_of(_mm256_srlv_epi64(twice, _mm256_setr_epi64x(0, 0, 4, 4)));
    }
    g->d = power_of(_mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)e)));
    g->m = _mm256_mul_ps(g->d, _mm256_set1_ps(-12.0f));
}

/* Half of eight scales, a byte in each word. As an f16 its bits mean 2^-8 of the scale; the code of NaN counts as 0. */
QN_INLINE __m256 scales_of(__m128i bytes)
{
    bytes = _mm_and_si128(bytes, _mm_set1_epi16(0x7F));
    __m128i is_nan = _mm_cmpeq_epi16(bytes, _mm_set1_epi16(0x7F));
    __m256 h = _mm256_cvtph_ps(_mm_slli_epi16(_mm_andnot_si128(is_nan, bytes), 7));
    return _mm256_mul_ps(h, _mm256_set1_ps(128.0f));
}

QN_INLINE void unpack_nvfp4(const uint8_t *p, size_t n_blocks, qn_group *g)
{
    const uint8_t *b[4];
    for (size_t i = 0; i < 4; i++) {
        b[i] = qn_block_or_zeros(p, NVFP4_BYTES, i, n_blocks / 2);
        for (size_t j = 0; j < 2; j++) {
            __m256i codes = _mm256_castsi128_si256(qn_load_128(b[i] + AT_CODES + 16 * j));
            codes = _mm256_permute4x64_epi64(codes, 0x50);
            g->q[2 * i + j] = values_of(_mm256_srlv_epi64(codes, _mm256_setr_epi64x(0, 4, 0, 4)));
        }
    }
    __m128i scales = qn_gather_u32(b);
    g->d = scales_of(scales);
    g->m = scales_of(_mm_srli_epi16(scales, 8));
}

QN_MM_A8_DEFINE(MXFP4, unpack_mxfp4, 8 * MXFP4_BYTES, QN_U5, qn_panel_u5_avx2);
QN_MM_A8_DEFINE(NVFP4, unpack_nvfp4, 4 * NVFP4_BYTES, QN_F5, qn_panel_f5_avx2);
