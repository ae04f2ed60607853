/* Products of Q2_K with A8 activations.
 * Super-blocks of 256: 16 bytes, each a scale (low nibble) and a minimum of a half block, 64 bytes of bit pairs, half
 * d, half dmin. Each half of 128 elements is four blocks of 32: the j-th block are bits 2 j and 2 j + 1 of 32 bytes.
 * w = d * (scale * q) - dmin * minimum; scale * q, up to 45, is taken as the quant.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx2/mm_a8_int.h"

enum { Q2_K_BYTES = 84, AT_CODES = 16, AT_D = 80 };

/* Block i's scales out of 16 bytes, as words: that of the first half in the low lane's. */
QN_INLINE __m256i scales_of_block(__m256i scales, int i)
{
    const short none = (short)0x8000; /* a zero for the high byte */
    __m256i at = _mm256_set_m128i(_mm_set1_epi16((short)(none | (2 * i + 1))), _mm_set1_epi16((short)(none | 2 * i)));
    return _mm256_shuffle_epi8(scales, at);
}

QN_INLINE void unpack_q2_k(const uint8_t *p, size_t n_blocks, qn_group *g)
{
    (void)n_blocks;
    const __m128i nibble = _mm_set1_epi8(0x0F);
    __m128i both = qn_load_128(p);
    __m256i scales = _mm256_broadcastsi128_si256(_mm_and_si128(both, nibble));
    for (int i = 0; i < 8; i++) {
        __m256i q = _mm256_srli_epi16(qn_load_256(p + AT_CODES + 32 * (i / 4)), 2 * (i % 4));
        q = _mm256_and_si256(q, _mm256_set1_epi8(3));
        g->q[i] = _mm256_mullo_epi16(q, scales_of_block(scales, i)); /* neither byte of a word overflows */
    }
    g->sc = _mm256_cvtepu8_epi16(_mm_and_si128(_mm_srli_epi16(both, 4), nibble));
    __m128 d = _mm_cvtph_ps(_mm_cvtsi32_si128(qn_get_i32(p + AT_D)));
    g->d = _mm256_broadcastss_ps(d);
    g->m = _mm256_xor_ps(_mm256_broadcastss_ps(_mm_movehdup_ps(d)), _mm256_set1_ps(-0.0f));
}

QN_MM_A8_DEFINE(Q2_K, unpack_q2_k, Q2_K_BYTES, QN_M6, qn_panel_m6_avx2);
