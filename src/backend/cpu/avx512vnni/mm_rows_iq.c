/* One-column and few-column products of IQ1, IQ2 and IQ3. Their blocks are told in src/quant/iq1.c, iq2.c and iq3.c,
 * the quants that they become in avx2/mm_iq1.c, mm_iq2.c and mm_iq3.c. A register takes eight entries of 8 elements or
 * 16 of 4; signs are its mask. SPDX-License-Identifier: MIT */
#include "backend/cpu/avx512vnni/mm_rows_int.h"

enum { IQ1_S_BYTES = 50, IQ1_S_HIGH = 34, IQ1_M_BYTES = 56, IQ1_M_HIGH = 32, IQ1_M_SCALES = 48 };
enum { IQ2_XXS_BYTES = 66, IQ2_XS_BYTES = 74, IQ2_XS_SCALES = 66 };
enum { IQ2_S_BYTES = 82, IQ2_S_SIGNS = 34, IQ2_S_HIGH = 66, IQ2_S_SCALES = 74 };
enum { IQ3_XXS_BYTES = 98, IQ3_XXS_TAILS = 66 };
enum { IQ3_S_BYTES = 110, IQ3_S_HIGH = 66, IQ3_S_SIGNS = 74, IQ3_S_SCALES = 106 };

QN_INLINE __m128i load_128(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

QN_INLINE __m128i load_64(const uint8_t *p)
{
    return _mm_loadl_epi64((const __m128i *)(const void *)p);
}

QN_INLINE __m256i load_256(const uint8_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

QN_INLINE __mmask64 load_mask(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

/* Eight bytes as dwords. */
QN_INLINE __m256i eight_bytes(const uint8_t *p)
{
    return _mm256_cvtepu8_epi32(load_64(p));
}

QN_INLINE __m512i entries(const uint64_t *book, __m256i indices)
{
    return _mm512_i32gather_epi64(indices, (const void *)book, 8);
}

/* The entries of eight indices whose low bytes are at `low`; lane i finds its high bits, those of `mask`, when `word`
 * is turned left by turn[i]. */
QN_INLINE __m512i split_entries(const uint64_t *book, const uint8_t *low, __m256i word, __m256i turn, int32_t mask)
{
    __m256i high = _mm256_rolv_epi32(word, turn);
    return entries(book, _mm256_ternarylogic_epi32(high, _mm256_set1_epi32(mask), eight_bytes(low), 0xEA));
}

/* 128 - q where the mask says so. */
QN_INLINE __m512i apply_signs(__m512i q, __mmask64 signs)
{
    return _mm512_mask_sub_epi8(q, signs, _mm512_set1_epi8((char)0x80), q);
}

/* Each byte's highest bit becomes the parity of the other seven. */
QN_INLINE __m256i add_parity(__m256i v)
{
    const __m256i odd = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, -128, -128, 0, -128, 0, 0, -128, -128, 0, 0, -128, 0, -128, -128, 0));
    __m256i folded = _mm256_and_si256(_mm256_xor_si256(v, _mm256_srli_epi16(v, 4)), _mm256_set1_epi8(0x0F));
    return _mm256_or_si256(v, _mm256_shuffle_epi8(odd, folded));
}

/* Eight dwords with four sign indices of 7 bits each. */
QN_INLINE __m256i signs_of_tails(__m256i v)
{
    __m256i bytes = _mm256_and_si256(v, _mm256_set1_epi32(0x7F));
    bytes = _mm256_ternarylogic_epi32(_mm256_slli_epi32(v, 1), _mm256_set1_epi32(0x7F00), bytes, 0xEA);
    bytes = _mm256_ternarylogic_epi32(_mm256_slli_epi32(v, 2), _mm256_set1_epi32(0x7F0000), bytes, 0xEA);
    bytes = _mm256_ternarylogic_epi32(_mm256_slli_epi32(v, 3), _mm256_set1_epi32(0x7F000000), bytes, 0xEA);
    return add_parity(bytes);
}

QN_INLINE __m256 broadcast_f16(const uint8_t *p, float f)
{
    uint16_t h;
    memcpy(&h, p, sizeof(h));
    return _mm256_broadcastss_ps(_mm_mul_ss(_mm_cvtph_ps(_mm_cvtsi32_si128(h)), _mm_set_ss(f)));
}

/* d * (2 s + 1) */
QN_INLINE __m256 odd_scales(__m256 d, __m256i s)
{
    return _mm256_mul_ps(d, _mm256_cvtepi32_ps(_mm256_or_si256(_mm256_add_epi32(s, s), _mm256_set1_epi32(1))));
}

/* The nibbles of the first eight bytes, low ones first. */
QN_INLINE __m128i nibbles(__m128i bytes)
{
    __m128i v = _mm_cvtepu8_epi16(bytes);
    return _mm_and_si128(_mm_or_si128(v, _mm_slli_epi16(v, 4)), _mm_set1_epi8(0x0F));
}

/* d * (2 s + 1) of 16 halves; quants with an offset. */
QN_INLINE void set_halves(__m256 d, __m512i s, float offset, qn_rows_group *g)
{
    __m512 odd = _mm512_cvtepi32_ps(_mm512_or_si512(_mm512_add_epi32(s, s), _mm512_set1_epi32(1)));
    g->half_d = _mm512_mul_ps(_mm512_broadcastss_ps(_mm256_castps256_ps128(d)), odd);
    g->half_m = _mm512_mul_ps(g->half_d, _mm512_set1_ps(-offset));
}

QN_INLINE void unpack_iq2_xxs(const uint8_t *p, size_t n_blocks, qn_rows_group *g)
{
    (void)n_blocks;
    /* Blocks: four bytes of indices, four sign indices with the scale on top. */
    const __m512i odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 0, 0, 0, 0, 0, 0, 0, 0);
    __m256i tails = _mm512_castsi512_si256(_mm512_permutexvar_epi32(odd, _mm512_loadu_si512(p + 2)));
    __m256i signs = signs_of_tails(tails);
    uint64_t masks[4];
    _mm256_storeu_si256((__m256i *)(void *)masks, signs);
    QN_UNROLL
    for (int i = 0; i < 4; i++) {
        __m256i at = _mm256_cvtepu8_epi32(_mm_shuffle_epi32(load_128(p + 2 + 16 * i), 0x08));
        g->q[i] = apply_signs(entries(qn_iq2_xxs_book, at), masks[i]);
    }
    g->d = odd_scales(broadcast_f16(p, 0.125f), _mm256_srli_epi32(tails, 28));
    g->m = _mm256_mul_ps(g->d, _mm256_set1_ps(-64.0f));
}

QN_INLINE void unpack_iq2_xs(const uint8_t *p, size_t n_blocks, qn_rows_group *g)
{
    (void)n_blocks;
    /* Words: 9 bits of index, 7 of signs. */
    __m512i words = _mm512_srli_epi16(_mm512_loadu_si512(p + 2), 9);
    uint64_t masks[4];
    _mm256_storeu_si256((__m256i *)(void *)masks, add_parity(_mm512_cvtepi16_epi8(words)));
    QN_UNROLL
    for (int i = 0; i < 4; i++) {
        __m256i at = _mm256_and_si256(_mm256_cvtepu16_epi32(load_128(p + 2 + 16 * i)), _mm256_set1_epi32(511));
        g->q[i] = apply_signs(entries(qn_iq2_xs_book, at), masks[i]);
    }
    set_halves(broadcast_f16(p, 0.125f), _mm512_cvtepu8_epi32(nibbles(load_64(p + IQ2_XS_SCALES))), 64.0f, g);
}

QN_INLINE void unpack_iq2_s(const uint8_t *p, size_t n_blocks, qn_rows_group *g)
{
    (void)n_blocks;
    /* Two bytes have the high bits of eight indices. */
    const __m256i turn = _mm256_setr_epi32(8, 6, 4, 2, 0, 30, 28, 26);
    QN_UNROLL
    for (int i = 0; i < 4; i++) {
        __m256i word = _mm256_set1_epi32(qn_get_i32(p + IQ2_S_HIGH + 2 * i));
        __m512i q = split_entries(qn_iq2_s_book, p + 2 + 8 * i, word, turn, 0x300);
        g->q[i] = apply_signs(q, load_mask(p + IQ2_S_SIGNS + 8 * i));
    }
    set_halves(broadcast_f16(p, 0.125f), _mm512_cvtepu8_epi32(nibbles(load_64(p + IQ2_S_SCALES))), 64.0f, g);
}

QN_INLINE void unpack_iq3_xxs(const uint8_t *p, size_t n_blocks, qn_rows_group *g)
{
    (void)n_blocks;
    __m256i tails = load_256(p + IQ3_XXS_TAILS);
    uint64_t masks[4];
    _mm256_storeu_si256((__m256i *)(void *)masks, signs_of_tails(tails));
    QN_UNROLL
    for (int i = 0; i < 4; i++) {
        __m512i at = _mm512_cvtepu8_epi32(load_128(p + 2 + 16 * i));
        g->q[i] = apply_signs(_mm512_i32gather_epi32(at, (const void *)qn_iq3_xxs_book, 4), masks[i]);
    }
    g->d = odd_scales(broadcast_f16(p, 0.25f), _mm256_srli_epi32(tails, 28));
    g->m = _mm256_mul_ps(g->d, _mm256_set1_ps(-64.0f));
}

QN_INLINE void unpack_iq3_s(const uint8_t *p, size_t n_blocks, qn_rows_group *g)
{
    (void)n_blocks;
    QN_UNROLL
    for (int i = 0; i < 4; i++) {
        uint16_t high;
        memcpy(&high, p + IQ3_S_HIGH + 2 * i, sizeof(high));
        __m512i at = _mm512_cvtepu8_epi32(load_128(p + 2 + 16 * i));
        at = _mm512_mask_add_epi32(at, high, at, _mm512_set1_epi32(256));
        __m512i q = _mm512_i32gather_epi32(at, (const void *)qn_iq3_s_book, 4);
        g->q[i] = _mm512_mask_sub_epi8(q, load_mask(p + IQ3_S_SIGNS + 8 * i), _mm512_set1_epi8(15), q);
    }
    g->d = odd_scales(broadcast_f16(p, 2.0f),
                      _mm256_cvtepu8_epi32(nibbles(_mm_cvtsi32_si128(qn_get_i32(p + IQ3_S_SCALES)))));
    g->m = _mm256_mul_ps(g->d, _mm256_set1_ps(-7.5f));
}

QN_INLINE void unpack_iq1_s(const uint8_t *p, size_t n_blocks, qn_rows_group *g)
{
    (void)n_blocks;
    /* Words of blocks: four times 3 high bits of an index, 3 bits of scale, 1 bit: down. */
    const __m256i turn = _mm256_setr_epi32(8, 5, 2, 31, 24, 21, 18, 15);
    QN_UNROLL
    for (int i = 0; i < 4; i++) {
        __m256i word = _mm256_set1_epi32(qn_get_i32(p + IQ1_S_HIGH + 4 * i));
        g->q[i] = split_entries(qn_iq1_book, p + 2 + 8 * i, word, turn, 0x700);
    }
    __m256i words = _mm256_cvtepu16_epi32(load_128(p + IQ1_S_HIGH));
    g->d = odd_scales(broadcast_f16(p, 1.0f), _mm256_and_si256(_mm256_srli_epi32(words, 12), _mm256_set1_epi32(7)));
    __mmask8 down = _mm256_test_epi32_mask(words, _mm256_set1_epi32(0x8000));
    g->m = _mm256_mul_ps(g->d, _mm256_mask_blend_ps(down, _mm256_set1_ps(-0.875f), _mm256_set1_ps(-1.125f)));
}

QN_INLINE void unpack_iq1_m(const uint8_t *p, size_t n_blocks, qn_rows_group *g)
{
    (void)n_blocks;
    /* Nibbles: 3 high bits of an index, 1 bit: down. */
    const __m256i turn = _mm256_setr_epi32(8, 4, 0, 28, 24, 20, 16, 12);
    QN_UNROLL
    for (int i = 0; i < 4; i++) {
        __m256i word = _mm256_set1_epi32(qn_get_i32(p + IQ1_M_HIGH + 4 * i));
        __m512i q = split_entries(qn_iq1_book, p + 8 * i, word, turn, 0x700);
        __mmask8 down = _mm256_test_epi32_mask(
            word, _mm256_setr_epi32(8, 0x80, 0x800, 0x8000, 0x80000, 0x800000, 0x8000000, (int)0x80000000));
        __m512i move = _mm512_mask_blend_epi64(down, _mm512_set1_epi8(25), _mm512_set1_epi8(23));
        g->q[i] = _mm512_add_epi8(_mm512_slli_epi16(q, 3), move);
    }
    /* Four words, each with four scales of 3 bits and a quarter of the half d. */
    uint64_t words = load_mask(p + IQ1_M_SCALES);
    uint16_t half = (uint16_t)_pext_u64(words, 0xF000F000F000F000);
    __m256 d = _mm256_broadcastss_ps(_mm_mul_ss(_mm_cvtph_ps(_mm_cvtsi32_si128(half)), _mm_set_ss(0.125f)));
    __m512i s = _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3),
                                         _mm512_castsi128_si512(_mm_cvtepu16_epi32(_mm_cvtsi64_si128((int64_t)words))));
    s = _mm512_srlv_epi32(s, _mm512_setr_epi32(0, 3, 6, 9, 0, 3, 6, 9, 0, 3, 6, 9, 0, 3, 6, 9));
    set_halves(d, _mm512_and_si512(s, _mm512_set1_epi32(7)), 32.0f, g);
}

QN_ROWS_DEFINE(IQ2_XXS, unpack_iq2_xxs, IQ2_XXS_BYTES, QN_SPREAD_BLOCKS)
QN_ROWS_DEFINE(IQ2_XS, unpack_iq2_xs, IQ2_XS_BYTES, QN_SPREAD_HALVES)
QN_ROWS_DEFINE(IQ2_S, unpack_iq2_s, IQ2_S_BYTES, QN_SPREAD_HALVES)
QN_ROWS_DEFINE(IQ3_XXS, unpack_iq3_xxs, IQ3_XXS_BYTES, QN_SPREAD_BLOCKS)
QN_ROWS_DEFINE(IQ3_S, unpack_iq3_s, IQ3_S_BYTES, QN_SPREAD_BLOCKS)
QN_ROWS_DEFINE(IQ1_S, unpack_iq1_s, IQ1_S_BYTES, QN_SPREAD_BLOCKS)
QN_ROWS_DEFINE(IQ1_M, unpack_iq1_m, IQ1_M_BYTES, QN_SPREAD_HALVES)
