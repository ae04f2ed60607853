/* Products of Q8_0 with A8 activations. Blocks: half d, 32 signed bytes; w = d * q.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx2/mm_a8_int.h"

enum { Q8_0_BYTES = 34 };

QN_INLINE void unpack_q8_0(const uint8_t *p, size_t n_blocks, qn_group *g)
{
    const uint8_t *b[8];
    for (size_t i = 0; i < 8; i++) {
        b[i] = qn_block_or_zeros(p, Q8_0_BYTES, i, n_blocks);
        g->q[i] = qn_load_256(b[i] + 2);
    }
    g->d = qn_gather_f16(b);
}

QN_MM_A8_DEFINE(Q8_0, unpack_q8_0, 8 * Q8_0_BYTES, QN_S8, qn_panel_s8_avx2);
