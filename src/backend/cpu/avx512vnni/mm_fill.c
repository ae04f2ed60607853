/* What AVX-512 VNNI overrides of the matrix products; packing stays as AVX2 has it. SPDX-License-Identifier: MIT */
#include "backend/cpu/avx512vnni/mm_rows_int.h"

void qn_fill_mm_avx512vnni(qn_kernels *k)
{
#define SET(T)                                        \
    k->mm[QN_TYPE_##T].one = qn_one_##T##_avx512vnni; \
    k->mm[QN_TYPE_##T].few = qn_few_##T##_avx512vnni; \
    k->mm[QN_TYPE_##T].few_max = QN_ROWS_FEW_MAX;     \
    k->mm[QN_TYPE_##T].panel = qn_panel_u8_avx512vnni;
    QN_MM_A8_TYPES(SET)
#undef SET
    k->mm[QN_TYPE_Q8_0].panel = qn_panel_s8_avx512vnni;
    k->mm[QN_TYPE_Q6_K].panel = qn_panel_h6_avx512vnni;
}
