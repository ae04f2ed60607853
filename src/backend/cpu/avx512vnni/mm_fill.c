/* What AVX-512 VNNI overrides of the matrix products; packing stays as AVX2 has it. SPDX-License-Identifier: MIT */
#include "backend/cpu/avx512vnni/mm_rows_int.h"

void qn_fill_mm_avx512vnni(qn_kernels *k)
{
#define SET_ROWS(T)                                   \
    k->mm[QN_TYPE_##T].one = qn_one_##T##_avx512vnni; \
    k->mm[QN_TYPE_##T].few = qn_few_##T##_avx512vnni; \
    k->mm[QN_TYPE_##T].few_max = QN_ROWS_FEW_MAX;
#define SET_U8(T) k->mm[QN_TYPE_##T].panel = qn_panel_u8_avx512vnni;
#define SET_S8(T) k->mm[QN_TYPE_##T].panel = qn_panel_s8_avx512vnni;
#define SET_H6(T) k->mm[QN_TYPE_##T].panel = qn_panel_h6_avx512vnni;
#define SET_H7(T) k->mm[QN_TYPE_##T].panel = qn_panel_h7_avx512vnni;
    QN_ROWS_TYPES(SET_ROWS)
    QN_MM_U8_TYPES(SET_U8)
    QN_MM_S8_TYPES(SET_S8)
    QN_MM_H6_TYPES(SET_H6)
    QN_MM_H7_TYPES(SET_H7)
}
