/* One-column and few-column products of MXFP4 and NVFP4. The layouts are told in avx2/mm_fp4.c; values are looked up
 * with 12 added. SPDX-License-Identifier: MIT */
#include "backend/cpu/avx512vnni/mm_rows_int.h"

enum { MXFP4_BYTES = 17, NVFP4_BYTES = 36, NVFP4_CODES = 4 };

/* Behind the end stands the last block again; the activations there are zeros. */
QN_INLINE const uint8_t *codes(const uint8_t *p, size_t i, size_t n_blocks)
{
    return p + (i < n_blocks ? i : n_blocks - 1) * MXFP4_BYTES + 1;
}

QN_INLINE __m512i values_of(__m512i v)
{
    const __m128i values = _mm_setr_epi8(12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0);
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(values), _mm512_and_si512(v, _mm512_set1_epi8(0x0F)));
}

/* 2^(e - 128); for e of 0 and 1 that is subnormal. */
QN_INLINE __m256 power_of(__m256i e)
{
    __m256i subnormal = _mm256_sllv_epi32(_mm256_set1_epi32(0x200000), e);
    __mmask8 is_normal = _mm256_cmpgt_epi32_mask(e, _mm256_set1_epi32(1));
    __m256i bits = _mm256_mask_slli_epi32(subnormal, is_normal, _mm256_sub_epi32(e, _mm256_set1_epi32(1)), 23);
    return _mm256_castsi256_ps(bits);
}

QN_INLINE void unpack_mxfp4(const uint8_t *p, size_t n_blocks, qn_rows_group *g)
{
    QN_UNROLL
    for (size_t i = 0; i < 4; i++) {
        __m512i v = qn_twice_each(codes(p, 2 * i, n_blocks), codes(p, 2 * i + 1, n_blocks));
        g->q[i] = values_of(_mm512_srlv_epi64(v, _mm512_setr_epi64(0, 0, 4, 4, 0, 0, 4, 4)));
    }
    /* exponent i is byte 17 i: the low byte of a word for even i, else the high one */
    __m512i a = qn_load_part(p, 0, n_blocks, MXFP4_BYTES), b = qn_load_part(p, 64, n_blocks, MXFP4_BYTES);
    const __m512i at = _mm512_castsi128_si512(_mm_setr_epi16(0, 8, 17, 25, 34, 42, 51, 59));
    __m128i words = _mm512_castsi512_si128(_mm512_permutex2var_epi16(a, at, b));
    words = _mm_and_si128(_mm_srlv_epi16(words, _mm_setr_epi16(0, 8, 0, 8, 0, 8, 0, 8)), _mm_set1_epi16(0xFF));
    g->d = power_of(_mm256_cvtepu16_epi32(words));
    g->m = _mm256_mul_ps(g->d, _mm256_set1_ps(-12.0f));
}

/* A register is one block of 64. */
QN_INLINE void unpack_nvfp4(const uint8_t *p, size_t n_blocks, qn_rows_group *g)
{
    const __m512i twice = _mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3);
    int32_t e[4];
    QN_UNROLL
    for (size_t i = 0; i < 4; i++) {
        const uint8_t *b = p + (2 * i < n_blocks ? i : n_blocks / 2 - 1) * NVFP4_BYTES;
        e[i] = qn_get_i32(b);
        __m256i codes32 = _mm256_loadu_si256((const __m256i *)(const void *)(b + NVFP4_CODES));
        __m512i v = _mm512_permutexvar_epi64(twice, _mm512_castsi256_si512(codes32));
        g->q[i] = values_of(_mm512_srlv_epi64(v, _mm512_setr_epi64(0, 4, 0, 4, 0, 4, 0, 4)));
    }
    /* as an f16, a scale's bits mean 2^-8 of it, and half of it is wanted; the code of NaN counts as 0 */
    __m256i bytes = _mm256_cvtepu8_epi16(_mm_setr_epi32(e[0], e[1], e[2], e[3]));
    bytes = _mm256_and_si256(bytes, _mm256_set1_epi16(0x7F));
    __mmask16 is_number = _mm256_cmpneq_epi16_mask(bytes, _mm256_set1_epi16(0x7F));
    __m512 h = _mm512_cvtph_ps(_mm256_maskz_slli_epi16(is_number, bytes, 7));
    g->half_d = _mm512_mul_ps(h, _mm512_set1_ps(128.0f));
    g->half_m = _mm512_mul_ps(g->half_d, _mm512_set1_ps(-12.0f));
}

QN_ROWS_DEFINE(MXFP4, unpack_mxfp4, 8 * MXFP4_BYTES, QN_SPREAD_BLOCKS)
QN_ROWS_DEFINE(NVFP4, unpack_nvfp4, 4 * NVFP4_BYTES, QN_SPREAD_HALVES)
