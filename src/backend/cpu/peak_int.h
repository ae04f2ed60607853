/* Loops that measure what an instruction set can multiply and add at best. Each runs for some ten microseconds and
 * returns its number of multiply-adds. Private to backend/cpu. SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_PEAK_INT_H
#define QN_BACKEND_CPU_PEAK_INT_H

#include <stdint.h>

enum { QN_PEAK_ROUNDS = 8000 };

/* Makes the compiler forget what it knows of a vector. */
#define QN_PEAK_HIDE(v) __asm__ volatile("" : "+v"(v))

uint64_t qn_peak_i8_avx2(void), qn_peak_f32_avx2(void);
uint64_t qn_peak_i8_avx512vnni(void), qn_peak_f32_avx512vnni(void);
uint64_t qn_peak_i8_amx(void), qn_peak_bf16_amx(void);

#endif
