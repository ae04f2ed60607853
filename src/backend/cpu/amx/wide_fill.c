/* The table's wide kernels, one for each type with panels of integers. SPDX-License-Identifier: MIT */
#include "backend/cpu/amx/wide_int.h"
#include "backend/cpu/avx512vnni/mm_int512.h"

#define DEFINE(T, expander)                                                                                           \
    static void wide_##T(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x, size_t n_cols, \
                         float *y, size_t ldy, void *scratch)                                                         \
    {                                                                                                                 \
        qn_pack512_fn *pack = qn_packer_avx512vnni(QN_TYPE_##T, qn_mm_##T##_avx2.pack);                               \
        const qn_wide_source source = {QN_TYPE_##T, pack, qn_wide_expand_##expander};                                 \
        qn_wide_product(&source, w, row_bytes, n_rows, n_k, x, n_cols, y, ldy, scratch);                              \
    }
#define DEFINE_U8(T) DEFINE(T, u8)
#define DEFINE_S8(T) DEFINE(T, s8)
#define DEFINE_H6(T) DEFINE(T, h6)
#define DEFINE_H7(T) DEFINE(T, h7)
#define DEFINE_M6(T) DEFINE(T, m6)
#define DEFINE_F5(T) DEFINE(T, f5)
QN_MM_U8_TYPES(DEFINE_U8)
QN_MM_S8_TYPES(DEFINE_S8)
QN_MM_H6_TYPES(DEFINE_H6)
QN_MM_H7_TYPES(DEFINE_H7)
QN_MM_M6_TYPES(DEFINE_M6)
QN_MM_F5_TYPES(DEFINE_F5)

void qn_fill_wide_amx(qn_kernels *k)
{
#define SET(T) k->mm[QN_TYPE_##T].wide = wide_##T;
    QN_MM_U8_TYPES(SET)
    QN_MM_S8_TYPES(SET)
    QN_MM_H6_TYPES(SET)
    QN_MM_H7_TYPES(SET)
    QN_MM_M6_TYPES(SET)
    QN_MM_F5_TYPES(SET)
#undef SET
    k->wide_min = 24; /* with fewer, rounding the weights to bf16 takes longer than all else */
    k->wide_rows = QN_WIDE_ROWS;
    k->wide_scratch = qn_wide_scratch();
    k->wide_store = qn_wide_store_amx;
}
