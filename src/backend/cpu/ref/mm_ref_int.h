/* The reference matrix product kernels by name; private to backend/cpu/ref.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_REF_MM_REF_INT_H
#define QN_BACKEND_CPU_REF_MM_REF_INT_H

#include "backend/cpu/mm_int.h"

/* As qn_kernels.quantize_a8. A block whose largest magnitude is below 1e-36 or so counts as zeros, since 127 / max
 * would overflow; a block with a NaN or an infinity gets d = s = NaN and q = 0, so that every product with it is NaN.
 */
void qn_quantize_a8_ref(const float *x, size_t n, void *out);

#endif
