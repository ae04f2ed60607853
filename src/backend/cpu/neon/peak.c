/* The most that sdot and fused multiply-adds can do: loops over registers alone. SPDX-License-Identifier: MIT */
#include "backend/cpu/neon/mm_neon_int.h"

enum { CHAINS = 16 }; /* independent sums: latency times throughput, with room for the operands in 32 registers */

uint64_t qn_peak_i8_neon(void)
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
            sum[j] = vdotq_s32(sum[j], a, b);
            QN_PEAK_HIDE_NEON(sum[j]);
        }
    }
    return (uint64_t)QN_PEAK_ROUNDS * CHAINS * 16;
}

uint64_t qn_peak_f32_neon(void)
{
    float32x4_t a = vdupq_n_f32(1.5F), b = vdupq_n_f32(0.5F), sum[CHAINS];
    QN_UNROLL
    for (int j = 0; j < CHAINS; j++) {
        sum[j] = vdupq_n_f32(0.0F);
    }
    for (int i = 0; i < QN_PEAK_ROUNDS; i++) {
        QN_UNROLL
        for (int j = 0; j < CHAINS; j++) {
            sum[j] = vfmaq_f32(sum[j], a, b);
            QN_PEAK_HIDE_NEON(sum[j]);
        }
    }
    return (uint64_t)QN_PEAK_ROUNDS * CHAINS * 4;
}
