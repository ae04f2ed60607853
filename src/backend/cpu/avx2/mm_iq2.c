/* Products of IQ2_XXS, IQ2_XS and IQ2_S with A8 activations.
 * 256 elements: half d, then what src/quant/iq2.c tells: indices of entries of 8 magnitudes, signs as bits or as
 * indices of 7 bits, scales of 4 bits, of 32 elements or of 16. w = d / 8 * (2 scale + 1) * magnitude; the books have
 * the magnitudes plus 64, which with signs is what 7-bit quants with an offset of 64 are. SPDX-License-Identifier: MIT
 */
#include "backend/cpu/avx2/mm_iq_int.h"

enum { XXS_BYTES = 66, XS_BYTES = 74, XS_SCALES = 66 };
enum { S_BYTES = 82, S_SIGNS = 34, S_HIGH = 66, S_SCALES = 74 };

QN_INLINE void unpack_iq2_xxs(const uint8_t *p, size_t n_blocks, qn_group *g)
{
    (void)n_blocks;
    /* Each block: four bytes of indices, then four sign indices with the scale on top. */
    __m256 a = _mm256_castsi256_ps(qn_load_256(p + 2)), b = _mm256_castsi256_ps(qn_load_256(p + 34));
    __m256i tails = _mm256_permute4x64_epi64(_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xDD)), 0xD8);
    int32_t signs[8];
    qn_store_256(signs, qn_signs_of_tails(tails));
    for (int i = 0; i < 8; i++) {
        const uint8_t *at = p + 2 + 8 * i;
        g->q[i] = qn_apply_signs(qn_four_entries(qn_iq2_xxs_book, at[0], at[1], at[2], at[3]), signs[i]);
    }
    g->d = _mm256_mul_ps(qn_broadcast_f16(p, 0.125f), qn_odd_scales(_mm256_srli_epi32(tails, 28)));
    g->m = _mm256_mul_ps(g->d, _mm256_set1_ps(-64.0f));
}

/* Eight blocks by their entries' indices and their signs. */
QN_INLINE void look_up(const uint64_t *book, const uint16_t at[32], const uint8_t *signs, qn_group *g)
{
    for (int i = 0; i < 8; i++, at += 4) {
        g->q[i] = qn_apply_signs(qn_four_entries(book, at[0], at[1], at[2], at[3]), qn_get_i32(signs + 4 * i));
    }
}

QN_INLINE void unpack_half_scales(const uint8_t *p, const uint8_t *scales, qn_group *g)
{
    __m256i s = _mm256_cvtepu8_epi16(qn_nibbles_of(_mm_loadl_epi64((const __m128i *)(const void *)scales)));
    g->sc = _mm256_or_si256(_mm256_add_epi16(s, s), _mm256_set1_epi16(1));
    g->d = qn_broadcast_f16(p, 0.125f);
}

QN_INLINE void unpack_iq2_xs(const uint8_t *p, size_t n_blocks, qn_group *g)
{
    (void)n_blocks;
    /* Words: 9 bits of index, 7 of signs. */
    __m256i a = qn_load_256(p + 2), b = qn_load_256(p + 34);
    const __m256i low = _mm256_set1_epi16(511);
    uint16_t at[32];
    uint8_t signs[32];
    qn_store_256(at, _mm256_and_si256(a, low));
    qn_store_256(at + 16, _mm256_and_si256(b, low));
    __m256i packed = _mm256_packus_epi16(_mm256_srli_epi16(a, 9), _mm256_srli_epi16(b, 9));
    qn_store_256(signs, qn_add_parity(_mm256_permute4x64_epi64(packed, 0xD8)));
    look_up(qn_iq2_xs_book, at, signs, g);
    unpack_half_scales(p, p + XS_SCALES, g);
}

/* The four bit pairs of each of eight bytes as bytes. Shifted by 4 or not, a pair is in either half of a nibble, which
 * a table of both cases makes up for. */
QN_INLINE __m256i bit_pairs(const uint8_t *p)
{
    const __m256i spread = _mm256_setr_epi32(0x00000000, 0x01010101, 0x02020202, 0x03030303, 0x04040404, 0x05050505,
                                             0x06060606, 0x07070707);
    const __m256i value = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 3, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0));
    int64_t bytes;
    memcpy(&bytes, p, sizeof(bytes));
    __m256i v = _mm256_shuffle_epi8(_mm256_set1_epi64x(bytes), spread);
    v = _mm256_blend_epi16(v, _mm256_srli_epi16(v, 4), 0xAA);
    return _mm256_shuffle_epi8(value, _mm256_and_si256(v, _mm256_set1_epi16(0x0C03)));
}

QN_INLINE void unpack_iq2_s(const uint8_t *p, size_t n_blocks, qn_group *g)
{
    (void)n_blocks;
    uint16_t at[32];
    qn_store_indices(at, qn_load_256(p + 2), bit_pairs(p + S_HIGH));
    look_up(qn_iq2_s_book, at, p + S_SIGNS, g);
    unpack_half_scales(p, p + S_SCALES, g);
}

QN_MM_A8_DEFINE(IQ2_XXS, unpack_iq2_xxs, XXS_BYTES, QN_U7, qn_panel_u7_avx2);
QN_MM_A8_DEFINE(IQ2_XS, unpack_iq2_xs, XS_BYTES, QN_H7, qn_panel_h7_avx2);
QN_MM_A8_DEFINE(IQ2_S, unpack_iq2_s, S_BYTES, QN_H7, qn_panel_h7_avx2);
