/* Products of IQ3_XXS and IQ3_S with A8 activations.
 * 256 elements: half d, then what src/quant/iq3.c tells: indices of entries of 4 magnitudes, signs as bits or as
 * indices of 7 bits, scales of 4 bits of 32 elements. XXS: w = d / 4 * (2 scale + 1) * magnitude, and the book has the
 * magnitudes plus 64. S: magnitudes are odd numbers up to 15, so that with their signs they are twice what numbers up
 * to 15 less 7.5 are; the book has 8 to 15, whose bits a sign turns over. SPDX-License-Identifier: MIT */
#include "backend/cpu/avx2/mm_iq_int.h"

enum { XXS_BYTES = 98, XXS_TAILS = 66 };
enum { S_BYTES = 110, S_HIGH = 66, S_SIGNS = 74, S_SCALES = 106 };

QN_INLINE void unpack_iq3_xxs(const uint8_t *p, size_t n_blocks, qn_group *g)
{
    (void)n_blocks;
    /* Tails: four sign indices with the scale on top. */
    __m256i tails = qn_load_256(p + XXS_TAILS);
    int32_t signs[8];
    qn_store_256(signs, qn_signs_of_tails(tails));
    for (int i = 0; i < 8; i++) {
        const uint8_t *at = p + 2 + 8 * i;
        __m128i low = qn_half_of_entries(qn_iq3_xxs_book, at[0], at[1], at[2], at[3]);
        __m128i high = qn_half_of_entries(qn_iq3_xxs_book, at[4], at[5], at[6], at[7]);
        g->q[i] = qn_apply_signs(_mm256_set_m128i(high, low), signs[i]);
    }
    g->d = _mm256_mul_ps(qn_broadcast_f16(p, 0.25f), qn_odd_scales(_mm256_srli_epi32(tails, 28)));
    g->m = _mm256_mul_ps(g->d, _mm256_set1_ps(-64.0f));
}

QN_INLINE void unpack_iq3_s(const uint8_t *p, size_t n_blocks, qn_group *g)
{
    (void)n_blocks;
    uint16_t indices[64];
    for (int i = 0; i < 2; i++) {
        __m256i high = _mm256_and_si256(qn_bits_to_bytes(qn_get_i32(p + S_HIGH + 4 * i)), _mm256_set1_epi8(1));
        qn_store_indices(indices + 32 * i, qn_load_256(p + 2 + 32 * i), high);
    }
    for (int i = 0; i < 8; i++) {
        const uint16_t *at = indices + 8 * i;
        __m128i low = qn_half_of_entries(qn_iq3_s_book, at[0], at[1], at[2], at[3]);
        __m128i high = qn_half_of_entries(qn_iq3_s_book, at[4], at[5], at[6], at[7]);
        __m256i turned = _mm256_and_si256(qn_bits_to_bytes(qn_get_i32(p + S_SIGNS + 4 * i)), _mm256_set1_epi8(0x0F));
        g->q[i] = _mm256_xor_si256(_mm256_set_m128i(high, low), turned);
    }
    __m256i s = _mm256_cvtepu8_epi32(qn_nibbles_of(_mm_cvtsi32_si128(qn_get_i32(p + S_SCALES))));
    g->d = _mm256_mul_ps(qn_broadcast_f16(p, 2.0f), qn_odd_scales(s));
    g->m = _mm256_mul_ps(g->d, _mm256_set1_ps(-7.5f));
}

QN_MM_A8_DEFINE(IQ3_XXS, unpack_iq3_xxs, XXS_BYTES, QN_U7, qn_panel_u7_avx2);
QN_MM_A8_DEFINE(IQ3_S, unpack_iq3_s, S_BYTES, QN_U4, qn_panel_u4_avx2);
