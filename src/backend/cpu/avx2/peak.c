/* The most that AVX2 can multiply and add: loops over registers alone. SPDX-License-Identifier: MIT */
#include "backend/cpu/peak_int.h"

#include <immintrin.h>

enum { CHAINS = 10 }; /* independent sums: latency times throughput, and room for the operands in 16 registers */

uint64_t qn_peak_i8_avx2(void)
{
    __m256i a = _mm256_set1_epi8(3), b = _mm256_set1_epi8(2), ones = _mm256_set1_epi16(1), sum[CHAINS];
#pragma GCC unroll 10
    for (int j = 0; j < CHAINS; j++) {
        sum[j] = _mm256_setzero_si256();
    }
    for (int i = 0; i < QN_PEAK_ROUNDS; i++) {
#pragma GCC unroll 10
        for (int j = 0; j < CHAINS; j++) {
            QN_PEAK_HIDE(a); /* else all products are one */
            sum[j] = _mm256_add_epi32(sum[j], _mm256_madd_epi16(_mm256_maddubs_epi16(a, b), ones));
        }
    }
#pragma GCC unroll 10
    for (int j = 0; j < CHAINS; j++) {
        QN_PEAK_HIDE(sum[j]);
    }
    return (uint64_t)QN_PEAK_ROUNDS * CHAINS * 32;
}

uint64_t qn_peak_f32_avx2(void)
{
    __m256 a = _mm256_set1_ps(1.5F), b = _mm256_set1_ps(0.5F), sum[CHAINS];
#pragma GCC unroll 10
    for (int j = 0; j < CHAINS; j++) {
        sum[j] = _mm256_setzero_ps();
    }
    for (int i = 0; i < QN_PEAK_ROUNDS; i++) {
#pragma GCC unroll 10
        for (int j = 0; j < CHAINS; j++) {
            sum[j] = _mm256_fmadd_ps(a, b, sum[j]);
            QN_PEAK_HIDE(sum[j]);
        }
    }
    return (uint64_t)QN_PEAK_ROUNDS * CHAINS * 8;
}
