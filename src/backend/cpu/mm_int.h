/* What the matrix product kernels of all instruction sets share; private to backend/cpu.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_MM_INT_H
#define QN_BACKEND_CPU_MM_INT_H

#include "backend/cpu/kernels.h"

/* Each sets mm[], quantize_a8 and decode_row[]; ref sets them all, the others what they are better at. */
void qn_fill_mm_ref(qn_kernels *k);
void qn_fill_mm_avx2(qn_kernels *k);

#endif
