/* What the AVX2 kernels of matrix products override.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx2/mm_avx2_int.h"

static void set(qn_kernels *k, qn_type type, const qn_mm *mm)
{
    const qn_type_info *info = qn_type_find(type);
    if (info != NULL && info->decode != NULL) {
        k->mm[type] = *mm;
    }
}

void qn_fill_mm_avx2(qn_kernels *k)
{
#define SET(T) set(k, QN_TYPE_##T, &qn_mm_##T##_avx2);
    QN_MM_PLAIN_TYPES(SET)
    QN_MM_A8_TYPES(SET)
    QN_MM_OTHER_TYPES(SET)
#undef SET
    k->quantize_a8 = qn_quantize_a8_avx2;
}
