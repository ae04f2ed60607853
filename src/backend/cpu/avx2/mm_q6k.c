/* Products of Q6_K with A8 activations.
 * Super-blocks of 256: 128 bytes of low nibbles, 64 bytes of high bit pairs, 16 signed scales of half blocks, half d.
 * Each half of 128 elements is four blocks of 32: the low nibbles of 2 x 32 bytes, then their high nibbles; the j-th
 * block's high bits are bits 2 j and 2 j + 1 of 32 bytes. w = d * scale * (q - 32).
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx2/mm_a8_int.h"

enum { Q6_K_BYTES = 210, AT_HIGH = 128, AT_SCALES = 192, AT_D = 208 };

QN_INLINE void unpack_q6_k(const uint8_t *p, size_t n_blocks, qn_group *g)
{
    (void)n_blocks;
    const __m256i low = _mm256_set1_epi8(0x0F), pair = _mm256_set1_epi8(0x30);
    for (int half = 0; half < 2; half++) {
        __m256i a = qn_load_256(p + 64 * half), b = qn_load_256(p + 64 * half + 32);
        __m256i high = qn_load_256(p + AT_HIGH + 32 * half);
        __m256i *q = g->q + 4 * half;
        q[0] = _mm256_or_si256(_mm256_and_si256(a, low), _mm256_and_si256(_mm256_slli_epi16(high, 4), pair));
        q[1] = _mm256_or_si256(_mm256_and_si256(b, low), _mm256_and_si256(_mm256_slli_epi16(high, 2), pair));
        q[2] = _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi16(a, 4), low), _mm256_and_si256(high, pair));
        q[3] = _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi16(b, 4), low),
                               _mm256_and_si256(_mm256_srli_epi16(high, 2), pair));
    }
    g->sc = _mm256_cvtepi8_epi16(qn_load_128(p + AT_SCALES));
    g->d = _mm256_broadcastss_ps(_mm_cvtph_ps(_mm_cvtsi32_si128(qn_get_u16(p + AT_D))));
}

QN_MM_A8_DEFINE(Q6_K, unpack_q6_k, Q6_K_BYTES, QN_H6, qn_panel_h6_avx2);
