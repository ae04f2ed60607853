/* What this processor and its operating system can do.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BASE_CPU_H
#define QN_BASE_CPU_H

#include <stdbool.h>
#include <stdint.h>

typedef struct qn_cpu {
    bool avx2; /* AVX2, FMA and F16C, and the system saves ymm */
    bool avx_vnni;
    bool avx512; /* F, BW, DQ, VL, and the system saves zmm */
    bool avx512_vnni;
    bool avx512_bf16;
    bool amx; /* tiles with int8 and bf16, granted by the system to this process */
    bool neon, dotprod, i8mm;
    char name[64]; /* "Intel(R) Xeon(R) ..." or "" */
} qn_cpu;

void qn_cpu_detect(qn_cpu *out);

#endif
