/* Products of Q4_0, Q4_1, Q5_0 and Q5_1 with A8 activations.
 * Blocks: half d, half m (Q4_1, Q5_1), 32 fifth bits (Q5), 16 bytes whose low nibbles are elements 0..15 and whose high
 * ones are 16..31. w = d * q + m; without m, w = d * (q - 8) or d * (q - 16).
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx2/mm_a8_int.h"

enum { Q4_0_BYTES = 18, Q4_1_BYTES = 20, Q5_0_BYTES = 22, Q5_1_BYTES = 24 };

QN_INLINE __m256i nibbles(const uint8_t *p)
{
    __m256i both = _mm256_broadcastsi128_si256(qn_load_128(p));
    __m256i v = _mm256_srlv_epi64(both, _mm256_setr_epi64x(0, 0, 4, 4));
    return _mm256_and_si256(v, _mm256_set1_epi8(0x0F));
}

/* Bit i of the word at p becomes 16 in byte i. */
QN_INLINE __m256i fifth_bits(const uint8_t *p)
{
    return _mm256_and_si256(qn_bits_to_bytes(qn_get_i32(p)), _mm256_set1_epi8(16));
}

QN_INLINE void locate(const uint8_t *b[8], const uint8_t *p, size_t block_bytes, size_t n_blocks)
{
    for (size_t i = 0; i < 8; i++) {
        b[i] = qn_block_or_zeros(p, block_bytes, i, n_blocks);
    }
}

QN_INLINE void unpack_q4_0(const uint8_t *p, size_t n_blocks, qn_group *g)
{
    const uint8_t *b[8];
    locate(b, p, Q4_0_BYTES, n_blocks);
    for (int i = 0; i < 8; i++) {
        g->q[i] = nibbles(b[i] + 2);
    }
    g->d = qn_gather_f16(b);
    g->m = _mm256_mul_ps(g->d, _mm256_set1_ps(-8.0f));
}

QN_INLINE void unpack_q4_1(const uint8_t *p, size_t n_blocks, qn_group *g)
{
    const uint8_t *b[8];
    locate(b, p, Q4_1_BYTES, n_blocks);
    for (int i = 0; i < 8; i++) {
        g->q[i] = nibbles(b[i] + 4);
    }
    qn_gather_f16_pairs(b, &g->d, &g->m);
}

QN_INLINE void unpack_q5_0(const uint8_t *p, size_t n_blocks, qn_group *g)
{
    const uint8_t *b[8];
    locate(b, p, Q5_0_BYTES, n_blocks);
    for (int i = 0; i < 8; i++) {
        g->q[i] = _mm256_or_si256(nibbles(b[i] + 6), fifth_bits(b[i] + 2));
    }
    g->d = qn_gather_f16(b);
    g->m = _mm256_mul_ps(g->d, _mm256_set1_ps(-16.0f));
}

QN_INLINE void unpack_q5_1(const uint8_t *p, size_t n_blocks, qn_group *g)
{
    const uint8_t *b[8];
    locate(b, p, Q5_1_BYTES, n_blocks);
    for (int i = 0; i < 8; i++) {
        g->q[i] = _mm256_or_si256(nibbles(b[i] + 8), fifth_bits(b[i] + 4));
    }
    qn_gather_f16_pairs(b, &g->d, &g->m);
}

QN_MM_A8_DEFINE(Q4_0, unpack_q4_0, 8 * Q4_0_BYTES, QN_U4, qn_panel_u4_avx2);
QN_MM_A8_DEFINE(Q4_1, unpack_q4_1, 8 * Q4_1_BYTES, QN_U4, qn_panel_u4_avx2);
QN_MM_A8_DEFINE(Q5_0, unpack_q5_0, 8 * Q5_0_BYTES, QN_U5, qn_panel_u5_avx2);
QN_MM_A8_DEFINE(Q5_1, unpack_q5_1, 8 * Q5_1_BYTES, QN_U5, qn_panel_u5_avx2);
