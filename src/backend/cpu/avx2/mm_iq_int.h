/* What the products of the IQ1, IQ2 and IQ3 formats share: their 256 elements are entries of code books, 8 or 4
 * elements each, and for IQ2 and IQ3 signs. SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_AVX2_MM_IQ_INT_H
#define QN_BACKEND_CPU_AVX2_MM_IQ_INT_H

#include "backend/cpu/avx2/mm_a8_int.h"

/* 32 indices whose low bytes and high bytes are given. */
QN_INLINE void qn_store_indices(uint16_t out[32], __m256i low, __m256i high)
{
    __m256i a = _mm256_unpacklo_epi8(low, high), b = _mm256_unpackhi_epi8(low, high);
    qn_store_256(out, _mm256_permute2x128_si256(a, b, 0x20));
    qn_store_256(out + 16, _mm256_permute2x128_si256(a, b, 0x31));
}

/* A block of 32 elements: four entries of 8. */
QN_INLINE __m256i qn_four_entries(const uint64_t *book, size_t a, size_t b, size_t c, size_t d)
{
    return _mm256_set_epi64x((long long)book[d], (long long)book[c], (long long)book[b], (long long)book[a]);
}

/* Eight entries of 4. */
QN_INLINE __m128i qn_half_of_entries(const uint32_t *book, size_t a, size_t b, size_t c, size_t d)
{
    __m128i ab = _mm_unpacklo_epi32(_mm_cvtsi32_si128((int)book[a]), _mm_cvtsi32_si128((int)book[b]));
    __m128i cd = _mm_unpacklo_epi32(_mm_cvtsi32_si128((int)book[c]), _mm_cvtsi32_si128((int)book[d]));
    return _mm_unpacklo_epi64(ab, cd);
}

/* 128 - q for each element whose sign bit is set. */
QN_INLINE __m256i qn_apply_signs(__m256i q, int32_t signs)
{
    __m256i mask = qn_bits_to_bytes(signs);
    return _mm256_sub_epi8(_mm256_xor_si256(q, _mm256_and_si256(mask, _mm256_set1_epi8(0x7F))), mask);
}

/* Each byte's highest bit becomes the parity of the others, of which there are seven. */
QN_INLINE __m256i qn_add_parity(__m256i v)
{
    const __m256i odd = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, -128, -128, 0, -128, 0, 0, -128, -128, 0, 0, -128, 0, -128, -128, 0));
    __m256i folded = _mm256_and_si256(_mm256_xor_si256(v, _mm256_srli_epi16(v, 4)), _mm256_set1_epi8(0x0F));
    return _mm256_or_si256(v, _mm256_shuffle_epi8(odd, folded));
}

/* Eight dwords, each with four sign indices of 7 bits in its low 28: 32 bytes of signs. */
QN_INLINE __m256i qn_signs_of_tails(__m256i v)
{
    __m256i a = _mm256_and_si256(v, _mm256_set1_epi32(0x7F));
    __m256i b = _mm256_and_si256(_mm256_slli_epi32(v, 1), _mm256_set1_epi32(0x7F00));
    __m256i c = _mm256_and_si256(_mm256_slli_epi32(v, 2), _mm256_set1_epi32(0x7F0000));
    __m256i d = _mm256_and_si256(_mm256_slli_epi32(v, 3), _mm256_set1_epi32(0x7F000000));
    return qn_add_parity(_mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(c, d)));
}

/* 2 s + 1 of eight scales. */
QN_INLINE __m256 qn_odd_scales(__m256i s)
{
    return _mm256_cvtepi32_ps(_mm256_or_si256(_mm256_add_epi32(s, s), _mm256_set1_epi32(1)));
}

/* The bytes' nibbles, low ones first. */
QN_INLINE __m128i qn_nibbles_of(__m128i bytes)
{
    const __m128i low = _mm_set1_epi8(0x0F);
    return _mm_unpacklo_epi8(_mm_and_si128(bytes, low), _mm_and_si128(_mm_srli_epi16(bytes, 4), low));
}

QN_INLINE __m256 qn_broadcast_f16(const uint8_t *p, float f)
{
    return _mm256_broadcastss_ps(_mm_mul_ss(_mm_cvtph_ps(_mm_cvtsi32_si128(qn_get_u16(p))), _mm_set_ss(f)));
}

#endif
