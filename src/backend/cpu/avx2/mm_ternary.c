/* Products of TQ1_0, TQ2_0 and Q1_0 with A8 activations.
 * TQ1_0: 256 elements of -1, 0 and 1: 48 bytes of five digits in base 3, 4 bytes of four, half d. Bytes 0..31 hold
 * elements 0..159, digit by digit, bytes 32..47 160..239 and the last four 240..255. A byte is a fraction of 256: times
 * 3, the digit runs out at the top.
 * TQ2_0: 256 elements of 2 bits, less 1: 2 x 32 bytes, each holding four blocks bit pair by bit pair, half d.
 * Q1_0: 128 elements: half d, 16 bytes; a set bit is d, a clear one -d.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx2/mm_a8_int.h"

enum { TQ1_0_BYTES = 54, TQ1_0_D = 52, TQ2_0_BYTES = 66, TQ2_0_D = 64, Q1_0_BYTES = 18 };

QN_INLINE __m256i times_3(__m256i v)
{
    return _mm256_add_epi8(v, _mm256_add_epi8(v, v));
}

/* The first digit of each byte, v * 3 / 256: the top bits of three quarters of it. The 2 makes up for both averages'
 * rounding up. */
QN_INLINE __m256i first_digits(__m256i v)
{
    __m256i half = _mm256_subs_epu8(_mm256_avg_epu8(v, _mm256_setzero_si256()), _mm256_set1_epi8(2));
    return _mm256_and_si256(_mm256_srli_epi16(_mm256_avg_epu8(v, half), 6), _mm256_set1_epi8(3));
}

/* Bytes 0..3 of v, times 1, then times 3, 9 and 27. */
QN_INLINE __m128i four_digits(uint32_t v)
{
    const __m256i powers =
        _mm256_setr_epi64x(0x0001000100010001, 0x0003000300030003, 0x0009000900090009, 0x001B001B001B001B);
    __m256i words = _mm256_mullo_epi16(_mm256_cvtepu8_epi16(_mm_set1_epi32((int)v)), powers);
    words = _mm256_and_si256(words, _mm256_set1_epi16(0xFF));
    return _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
}

QN_INLINE void unpack_tq1_0(const uint8_t *p, size_t n_blocks, qn_group *g)
{
    (void)n_blocks;
    __m256i v = qn_load_256(p);
    for (int i = 0; i < 5; i++) {
        g->q[i] = first_digits(v);
        v = times_3(v);
    }
    /* Two digits of 16 bytes fill a block. */
    __m256i twice = _mm256_broadcastsi128_si256(qn_load_128(p + 32));
    v = _mm256_blend_epi32(twice, times_3(twice), 0xF0);
    g->q[5] = first_digits(v);
    v = times_3(times_3(v));
    g->q[6] = first_digits(v);
    v = times_3(times_3(v));
    g->q[7] = first_digits(_mm256_inserti128_si256(v, four_digits(qn_get_u32(p + 48)), 1));
    g->d = _mm256_broadcastss_ps(_mm_cvtph_ps(_mm_cvtsi32_si128(qn_get_u16(p + TQ1_0_D))));
    g->m = _mm256_xor_ps(g->d, _mm256_set1_ps(-0.0f));
}

QN_INLINE void unpack_tq2_0(const uint8_t *p, size_t n_blocks, qn_group *g)
{
    (void)n_blocks;
    const __m256i low = _mm256_set1_epi8(3);
    for (int i = 0; i < 8; i += 4) {
        __m256i v = qn_load_256(p + 8 * i);
        g->q[i] = _mm256_and_si256(v, low);
        g->q[i + 1] = _mm256_and_si256(_mm256_srli_epi16(v, 2), low);
        g->q[i + 2] = _mm256_and_si256(_mm256_srli_epi16(v, 4), low);
        g->q[i + 3] = _mm256_and_si256(_mm256_srli_epi16(v, 6), low);
    }
    g->d = _mm256_broadcastss_ps(_mm_cvtph_ps(_mm_cvtsi32_si128(qn_get_u16(p + TQ2_0_D))));
    g->m = _mm256_xor_ps(g->d, _mm256_set1_ps(-0.0f));
}

/* w = d * q - d with q 0 or 2. */
QN_INLINE void unpack_q1_0(const uint8_t *p, size_t n_blocks, qn_group *g)
{
    const uint8_t *second = qn_block_or_zeros(p, Q1_0_BYTES, 1, n_blocks / 4);
    for (int i = 0; i < 8; i++) {
        g->q[i] =
            _mm256_and_si256(qn_bits_to_bytes(qn_get_i32((i < 4 ? p : second) + 2 + 4 * (i % 4))), _mm256_set1_epi8(2));
    }
    __m128 first = _mm_cvtph_ps(_mm_set1_epi16((short)qn_get_u16(p)));
    g->d =
        _mm256_insertf128_ps(_mm256_castps128_ps256(first), _mm_cvtph_ps(_mm_set1_epi16((short)qn_get_u16(second))), 1);
    g->m = _mm256_xor_ps(g->d, _mm256_set1_ps(-0.0f));
}

QN_MM_A8_DEFINE(TQ1_0, unpack_tq1_0, TQ1_0_BYTES, QN_U4, qn_panel_u4_avx2);
QN_MM_A8_DEFINE(TQ2_0, unpack_tq2_0, TQ2_0_BYTES, QN_U4, qn_panel_u4_avx2);
QN_MM_A8_DEFINE(Q1_0, unpack_q1_0, 2 * Q1_0_BYTES, QN_U4, qn_panel_u4_avx2);
