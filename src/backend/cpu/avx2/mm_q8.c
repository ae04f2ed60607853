/* Products of Q8_0, Q8_1 and Q8_K with A8 activations; w = d * q.
 * Blocks: half d, 32 signed bytes (Q8_0); float d, float sum, 32 signed bytes (Q8_1); float d, 256 signed bytes, sums
 * (Q8_K). SPDX-License-Identifier: MIT */
#include "backend/cpu/avx2/mm_a8_int.h"

enum { Q8_0_BYTES = 34, Q8_1_BYTES = 40, Q8_K_BYTES = 292 };

QN_INLINE void unpack_q8_0(const uint8_t *p, size_t n_blocks, qn_group *g)
{
    const uint8_t *b[8];
    for (size_t i = 0; i < 8; i++) {
        b[i] = qn_block_or_zeros(p, Q8_0_BYTES, i, n_blocks);
        g->q[i] = qn_load_256(b[i] + 2);
    }
    g->d = qn_gather_f16(b);
}

QN_INLINE void unpack_q8_1(const uint8_t *p, size_t n_blocks, qn_group *g)
{
    const uint8_t *b[8];
    for (size_t i = 0; i < 8; i++) {
        b[i] = qn_block_or_zeros(p, Q8_1_BYTES, i, n_blocks);
        g->q[i] = qn_load_256(b[i] + 8);
    }
    g->d = _mm256_castsi256_ps(_mm256_set_m128i(qn_gather_u32(b + 4), qn_gather_u32(b)));
}

QN_INLINE void unpack_q8_k(const uint8_t *p, size_t n_blocks, qn_group *g)
{
    (void)n_blocks;
    for (size_t i = 0; i < 8; i++) {
        g->q[i] = qn_load_256(p + 4 + 32 * i);
    }
    g->d = _mm256_castsi256_ps(_mm256_set1_epi32(qn_get_i32(p)));
}

QN_MM_A8_DEFINE(Q8_0, unpack_q8_0, 8 * Q8_0_BYTES, QN_S8, qn_panel_s8_avx2);
QN_MM_A8_DEFINE(Q8_1, unpack_q8_1, 8 * Q8_1_BYTES, QN_S8, qn_panel_s8_avx2);
QN_MM_A8_DEFINE(Q8_K, unpack_q8_k, Q8_K_BYTES, QN_S8, qn_panel_s8_avx2);
