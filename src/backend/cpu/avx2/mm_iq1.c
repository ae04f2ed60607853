/* Products of IQ1_S and IQ1_M with A8 activations.
 * 256 elements: what src/quant/iq1.c tells: indices of entries of 8 numbers -1, 0 and 1, each moved up or down by an
 * eighth, scales of 3 bits. IQ1_S moves 32 elements alike, which is a minimum of theirs. IQ1_M moves each entry, and a
 * scale is that of 16 elements: eight times its numbers are -9 to 9, quants of half blocks with an offset of 32.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx2/mm_iq_int.h"

enum { S_BYTES = 50, S_HIGH = 34, M_BYTES = 56, M_HIGH = 32, M_SCALES = 48 };

/* A word holds four times 3 bits: of blocks first to first + 3, these are the high bits of 16 indices, shifted by 8. */
QN_INLINE __m256i high_bits_of(__m128i words, int first)
{
    const __m256i four_each =
        _mm256_setr_epi64x(0x0100010001000100, 0x0302030203020302, 0x0504050405040504, 0x0706070607060706);
    __m256i pick = _mm256_add_epi8(four_each, _mm256_set1_epi8((char)(2 * first)));
    __m256i v = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(words), pick);
    __m256i up = _mm256_mullo_epi16(v, _mm256_set1_epi64x(0x0001000400200100));
    return _mm256_and_si256(_mm256_blend_epi16(up, _mm256_srli_epi16(v, 1), 0x88), _mm256_set1_epi16(0x0700));
}

QN_INLINE void unpack_iq1_s(const uint8_t *p, size_t n_blocks, qn_group *g)
{
    (void)n_blocks;
    uint16_t indices[32];
    __m128i words = qn_load_128(p + S_HIGH);
    for (int i = 0; i < 2; i++) {
        __m256i low = _mm256_cvtepu8_epi16(qn_load_128(p + 2 + 16 * i));
        qn_store_256(indices + 16 * i, _mm256_or_si256(low, high_bits_of(words, 4 * i)));
    }
    for (int i = 0; i < 8; i++) {
        const uint16_t *at = indices + 4 * i;
        g->q[i] = qn_four_entries(qn_iq1_book, at[0], at[1], at[2], at[3]);
    }
    /* Bits 12 to 14: scale; bit 15: down. */
    __m256i w = _mm256_cvtepu16_epi32(words);
    __m256i s = _mm256_and_si256(_mm256_srli_epi32(w, 12), _mm256_set1_epi32(7));
    __m256 down = _mm256_castsi256_ps(_mm256_slli_epi32(w, 16));
    g->d = _mm256_mul_ps(qn_broadcast_f16(p, 1.0f), qn_odd_scales(s));
    g->m = _mm256_mul_ps(g->d, _mm256_blendv_ps(_mm256_set1_ps(-0.875f), _mm256_set1_ps(-1.125f), down));
}

/* Four words, each with four scales of 3 bits and on top a quarter of the half d. */
QN_INLINE void unpack_m_scales(const uint8_t *p, qn_group *g)
{
    const __m256i four_each =
        _mm256_setr_epi64x(0x0100010001000100, 0x0302030203020302, 0x0504050405040504, 0x0706070607060706);
    uint64_t words;
    memcpy(&words, p, sizeof(words));
    __m256i v = _mm256_shuffle_epi8(_mm256_set1_epi64x((long long)words), four_each);
    v = _mm256_srli_epi16(_mm256_mullo_epi16(v, _mm256_set1_epi64x(0x0001000800400200)), 8);
    g->sc = _mm256_or_si256(_mm256_and_si256(v, _mm256_set1_epi16(14)), _mm256_set1_epi16(1));
    uint64_t half = (words >> 12 & 0xF) | (words >> 24 & 0xF0) | (words >> 36 & 0xF00) | (words >> 48 & 0xF000);
    __m128 d = _mm_cvtph_ps(_mm_cvtsi32_si128((int)half));
    g->d = _mm256_broadcastss_ps(_mm_mul_ss(d, _mm_set_ss(0.125f)));
}

QN_INLINE void unpack_iq1_m(const uint8_t *p, size_t n_blocks, qn_group *g)
{
    (void)n_blocks;
    /* Nibbles: 3 high bits of an index; 8: down. */
    __m128i bytes = qn_load_128(p + M_HIGH);
    __m256i nibbles = _mm256_set_m128i(qn_nibbles_of(_mm_unpackhi_epi64(bytes, bytes)), qn_nibbles_of(bytes));
    uint16_t indices[32];
    qn_store_indices(indices, qn_load_256(p), _mm256_and_si256(nibbles, _mm256_set1_epi8(7)));
    /* 8 (entry + 1) + 24 + 1 or - 1 */
    __m256i down = _mm256_srli_epi16(_mm256_and_si256(nibbles, _mm256_set1_epi8(8)), 2);
    int32_t moves[8];
    qn_store_256(moves, _mm256_sub_epi8(_mm256_set1_epi8(25), down));
    const __m256i eight_each = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    for (int i = 0; i < 8; i++) {
        const uint16_t *at = indices + 4 * i;
        __m256i q = _mm256_slli_epi16(qn_four_entries(qn_iq1_book, at[0], at[1], at[2], at[3]), 3);
        g->q[i] = _mm256_add_epi8(q, _mm256_shuffle_epi8(_mm256_set1_epi32(moves[i]), eight_each));
    }
    unpack_m_scales(p + M_SCALES, g);
}

QN_MM_A8_DEFINE(IQ1_S, unpack_iq1_s, S_BYTES, QN_U4, qn_panel_u4_avx2);
QN_MM_A8_DEFINE(IQ1_M, unpack_iq1_m, M_BYTES, QN_H6, qn_panel_h6_avx2);
