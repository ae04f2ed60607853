/* One-column and few-column products of IQ4_NL and IQ4_XS. The layouts are told in avx2/mm_iq4.c. The table's values
 * are made unsigned by adding 128, which the minima take away again. SPDX-License-Identifier: MIT */
#include "backend/cpu/avx512vnni/mm_rows_int.h"

enum { IQ4_NL_BYTES = 18, IQ4_XS_BYTES = 136, AT_HIGH = 2, AT_LOW = 4, AT_CODES = 8 };

QN_INLINE __m512i values_of(const uint8_t *a, const uint8_t *b)
{
    const __m128i table = _mm_setr_epi8(1, 24, 45, 63, 79, 93, 106, 118, (char)129, (char)141, (char)153, (char)166,
                                        (char)181, (char)197, (char)217, (char)241);
    __m512i v = _mm512_srlv_epi64(qn_twice_each(a, b), _mm512_setr_epi64(0, 0, 4, 4, 0, 0, 4, 4));
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(table), _mm512_and_si512(v, _mm512_set1_epi8(0x0F)));
}

/* Behind the end stands the last block again: its d is 0, so it does not count. */
QN_INLINE const uint8_t *codes(const uint8_t *p, size_t i, size_t n_blocks)
{
    return p + (i < n_blocks ? i : n_blocks - 1) * IQ4_NL_BYTES + 2;
}

QN_INLINE void unpack_iq4_nl(const uint8_t *p, size_t n_blocks, qn_rows_group *g)
{
    QN_UNROLL
    for (size_t i = 0; i < 4; i++) {
        g->q[i] = values_of(codes(p, 2 * i, n_blocks), codes(p, 2 * i + 1, n_blocks));
    }
    const __m512i at = _mm512_castsi128_si512(_mm_setr_epi16(0, 9, 18, 27, 36, 45, 54, 63));
    __m512i a = qn_load_part(p, 0, n_blocks, IQ4_NL_BYTES), b = qn_load_part(p, 64, n_blocks, IQ4_NL_BYTES);
    g->d = _mm256_cvtph_ps(_mm512_castsi512_si128(_mm512_permutex2var_epi16(a, at, b)));
    g->m = _mm256_mul_ps(g->d, _mm256_set1_ps(-128.0f));
}

QN_INLINE void unpack_iq4_xs(const uint8_t *p, size_t n_blocks, qn_rows_group *g)
{
    (void)n_blocks;
    QN_UNROLL
    for (int i = 0; i < 4; i++) {
        g->q[i] = values_of(p + AT_CODES + 32 * i, p + AT_CODES + 32 * i + 16);
    }
    uint16_t high_bits;
    memcpy(&high_bits, p + AT_HIGH, sizeof(high_bits));
    __m256i low = _mm256_srlv_epi32(_mm256_set1_epi32(qn_get_i32(p + AT_LOW)),
                                    _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28));
    __m256i high = _mm256_srlv_epi32(_mm256_set1_epi32(high_bits << 4), _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14));
    high = _mm256_and_si256(high, _mm256_set1_epi32(0x30));
    __m256i scale = _mm256_or_si256(_mm256_and_si256(low, _mm256_set1_epi32(0x0F)), high);
    __m256 d = _mm256_broadcastss_ps(_mm_cvtph_ps(_mm_cvtsi32_si128(qn_get_i32(p))));
    g->d = _mm256_mul_ps(d, _mm256_cvtepi32_ps(_mm256_sub_epi32(scale, _mm256_set1_epi32(32))));
    g->m = _mm256_mul_ps(g->d, _mm256_set1_ps(-128.0f));
}

QN_ROWS_DEFINE(IQ4_NL, unpack_iq4_nl, 8 * IQ4_NL_BYTES, QN_SPREAD_BLOCKS)
QN_ROWS_DEFINE(IQ4_XS, unpack_iq4_xs, IQ4_XS_BYTES, QN_SPREAD_BLOCKS)
