/* The most that smmla can do: a loop over registers alone. SPDX-License-Identifier: MIT */
#include "backend/cpu/neon_i8mm/mm_i8mm_int.h"

enum { CHAINS = 16 }; /* as in neon/peak.c */

uint64_t qn_peak_i8_neon_i8mm(void)
{
    int8x16_t a = vdupq_n_s8(3), b = vdupq_n_s8(2);
    int32x4_t sum[CHAINS];
    QN_UNROLL
    for (int j = 0; j < CHAINS; j++) {
        sum[j] = vdupq_n_s32(0);
    }
    for (int i = 0; i < QN_PEAK_ROUNDS; i++) {
        QN_UNROLL
        for (int j = 0; j < CHAINS; j++) {
            sum[j] = vmmlaq_s32(sum[j], a, b);
            QN_PEAK_HIDE_NEON(sum[j]);
        }
    }
    return (uint64_t)QN_PEAK_ROUNDS * CHAINS * 32;
}
