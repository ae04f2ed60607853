/* Products of Q4_K and Q5_K with A8 activations.
 * Super-blocks of 256: half d, half dmin, 12 bytes with 8 scales and 8 minima of 6 bits, for Q5_K 32 bytes whose bit i
 * is the fifth bit of block i's elements, then 4 x 32 bytes whose low nibbles are one block of 32 and whose high ones
 * are the next. w = d * scale * q - dmin * minimum.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx2/mm_a8_int.h"

enum { Q4_K_BYTES = 144, Q5_K_BYTES = 176, AT_SCALES = 4, AT_REST = 16 };

QN_INLINE __m256 bytes_to_ps(uint64_t bytes)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_set_epi64x(0, (long long)bytes)));
}

/* Scales and minima of blocks 0..3 are the low 6 bits of bytes 0..3 and 4..7; those of blocks 4..7 have their low 4
 * bits in the nibbles of bytes 8..11 and their high 2 in the top of the former. Four are put together at a time. */
QN_INLINE void unpack_scales(const uint8_t *p, qn_group *g)
{
    uint32_t a = qn_get_u32(p + AT_SCALES), b = qn_get_u32(p + AT_SCALES + 4), c = qn_get_u32(p + AT_SCALES + 8);
    uint32_t high_scales = (c & 0x0f0f0f0fu) | (a >> 2 & 0x30303030u);
    uint32_t high_minima = (c >> 4 & 0x0f0f0f0fu) | (b >> 2 & 0x30303030u);
    uint64_t scales = (uint64_t)high_scales << 32 | (a & 0x3f3f3f3fu);
    uint64_t minima = (uint64_t)high_minima << 32 | (b & 0x3f3f3f3fu);
    __m128 d = _mm_cvtph_ps(_mm_cvtsi32_si128(qn_get_i32(p)));
    __m256 dmin = _mm256_broadcastss_ps(_mm_movehdup_ps(d));
    g->d = _mm256_mul_ps(_mm256_broadcastss_ps(d), bytes_to_ps(scales));
    g->m = _mm256_mul_ps(_mm256_xor_ps(dmin, _mm256_set1_ps(-0.0f)), bytes_to_ps(minima));
}

QN_INLINE void unpack_nibbles(const uint8_t *p, qn_group *g)
{
    const __m256i low = _mm256_set1_epi8(0x0F);
    for (int i = 0; i < 4; i++) {
        __m256i v = qn_load_256(p + 32 * i);
        g->q[2 * i] = _mm256_and_si256(v, low);
        g->q[2 * i + 1] = _mm256_and_si256(_mm256_srli_epi16(v, 4), low);
    }
}

QN_INLINE void unpack_q4_k(const uint8_t *p, size_t n_blocks, qn_group *g)
{
    (void)n_blocks;
    unpack_scales(p, g);
    unpack_nibbles(p + AT_REST, g);
}

QN_INLINE void unpack_q5_k(const uint8_t *p, size_t n_blocks, qn_group *g)
{
    (void)n_blocks;
    unpack_scales(p, g);
    unpack_nibbles(p + AT_REST + 32, g);
    __m256i high = qn_load_256(p + AT_REST);
    for (int i = 0; i < 8; i++) {
        __m256i v = i < 4 ? _mm256_slli_epi16(high, 4 - i) : _mm256_srli_epi16(high, i - 4);
        g->q[i] = _mm256_or_si256(g->q[i], _mm256_and_si256(v, _mm256_set1_epi8(16)));
    }
}

QN_MM_A8_DEFINE(Q4_K, unpack_q4_k, Q4_K_BYTES, QN_U4, qn_panel_u4_avx2);
QN_MM_A8_DEFINE(Q5_K, unpack_q5_k, Q5_K_BYTES, QN_U5, qn_panel_u5_avx2);
