/* The most that AVX-512 with VNNI can multiply and add: loops over registers alone. SPDX-License-Identifier: MIT */
#include "backend/cpu/peak_int.h"

#include <immintrin.h>

enum { CHAINS = 16 };

uint64_t qn_peak_i8_avx512vnni(void)
{
    __m512i a = _mm512_set1_epi8(3), b = _mm512_set1_epi8(2), sum[CHAINS];
#pragma GCC unroll 16
    for (int j = 0; j < CHAINS; j++) {
        sum[j] = _mm512_setzero_si512();
    }
    for (int i = 0; i < QN_PEAK_ROUNDS; i++) {
#pragma GCC unroll 16
        for (int j = 0; j < CHAINS; j++) {
            sum[j] = _mm512_dpbusd_epi32(sum[j], a, b);
            QN_PEAK_HIDE(sum[j]);
        }
    }
    return (uint64_t)QN_PEAK_ROUNDS * CHAINS * 64;
}

uint64_t qn_peak_f32_avx512vnni(void)
{
    __m512 a = _mm512_set1_ps(1.5F), b = _mm512_set1_ps(0.5F), sum[CHAINS];
#pragma GCC unroll 16
    for (int j = 0; j < CHAINS; j++) {
        sum[j] = _mm512_setzero_ps();
    }
    for (int i = 0; i < QN_PEAK_ROUNDS; i++) {
#pragma GCC unroll 16
        for (int j = 0; j < CHAINS; j++) {
            sum[j] = _mm512_fmadd_ps(a, b, sum[j]);
            QN_PEAK_HIDE(sum[j]);
        }
    }
    return (uint64_t)QN_PEAK_ROUNDS * CHAINS * 16;
}
