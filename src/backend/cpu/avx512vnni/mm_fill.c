/* What AVX-512 VNNI overrides of the matrix products. SPDX-License-Identifier: MIT */
#include "backend/cpu/avx512vnni/mm_rows_int.h"

qn_pack512_fn *qn_packer_avx512vnni(qn_type type, qn_pack512_fn *avx2)
{
    switch (type) {
    case QN_TYPE_Q4_0:
        return qn_pack_Q4_0_avx512vnni;
    case QN_TYPE_Q4_1:
        return qn_pack_Q4_1_avx512vnni;
    case QN_TYPE_Q5_0:
        return qn_pack_Q5_0_avx512vnni;
    case QN_TYPE_Q5_1:
        return qn_pack_Q5_1_avx512vnni;
    case QN_TYPE_Q8_0:
        return qn_pack_Q8_0_avx512vnni;
    case QN_TYPE_Q4_K:
        return qn_pack_Q4_K_avx512vnni;
    case QN_TYPE_Q5_K:
        return qn_pack_Q5_K_avx512vnni;
    case QN_TYPE_Q6_K:
        return qn_pack_Q6_K_avx512vnni;
    default:
        return avx2;
    }
}

qn_slices qn_slices_of(qn_type type, qn_pack512_fn *pack, const uint8_t *w, size_t row_bytes)
{
    const qn_type_info *info = qn_type_find((uint32_t)type);
    return (qn_slices){w, row_bytes, QN_SLICE / info->block_len * info->block_bytes, pack};
}

#define DEFINE_SEVERAL(T, kind)                                                                           \
    static void several_##T(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x, \
                            size_t x_bytes, size_t n_cols, float *y, size_t ldy)                          \
    {                                                                                                     \
        qn_pack512_fn *pack = qn_packer_avx512vnni(QN_TYPE_##T, qn_mm_##T##_avx2.pack);                   \
        qn_slices slices = qn_slices_of(QN_TYPE_##T, pack, w, row_bytes);                                 \
        qn_several_##kind##_avx512vnni(&slices, n_rows, n_k, x, x_bytes, n_cols, y, ldy);                 \
    }
#define DEFINE_U8(T) DEFINE_SEVERAL(T, u8)
#define DEFINE_S8(T) DEFINE_SEVERAL(T, s8)
#define DEFINE_H6(T) DEFINE_SEVERAL(T, h6)
#define DEFINE_H7(T) DEFINE_SEVERAL(T, h7)
#define DEFINE_M6(T) DEFINE_SEVERAL(T, m6)
#define DEFINE_F5(T) DEFINE_SEVERAL(T, f5)
QN_MM_U8_TYPES(DEFINE_U8)
QN_MM_S8_TYPES(DEFINE_S8)
QN_MM_H6_TYPES(DEFINE_H6)
QN_MM_H7_TYPES(DEFINE_H7)
QN_MM_M6_TYPES(DEFINE_M6)
QN_MM_F5_TYPES(DEFINE_F5)

/* Where 16 rows are unpacked at once, that pays from three columns on (measured). */
enum { FEW_BEFORE_SEVERAL = 2 };

void qn_fill_mm_avx512vnni(qn_kernels *k)
{
#define SET_ROWS(T)                                   \
    k->mm[QN_TYPE_##T].one = qn_one_##T##_avx512vnni; \
    k->mm[QN_TYPE_##T].few = qn_few_##T##_avx512vnni; \
    k->mm[QN_TYPE_##T].few_max = QN_ROWS_FEW_MAX;
#define SET_PANEL(T, kind)                                                              \
    k->mm[QN_TYPE_##T].pack = qn_packer_avx512vnni(QN_TYPE_##T, qn_mm_##T##_avx2.pack); \
    k->mm[QN_TYPE_##T].panel_bytes = qn_mm_##T##_avx2.panel_bytes;                      \
    k->mm[QN_TYPE_##T].panel = qn_panel_##kind##_avx512vnni;                            \
    k->mm[QN_TYPE_##T].several = several_##T;                                           \
    k->mm[QN_TYPE_##T].several_max = QN_SEVERAL_MAX;                                    \
    if (k->mm[QN_TYPE_##T].pack != qn_mm_##T##_avx2.pack) {                             \
        k->mm[QN_TYPE_##T].few_max = FEW_BEFORE_SEVERAL;                                \
    }
#define SET_F32(T) k->mm[QN_TYPE_##T].panel = qn_panel_f32_avx512vnni;
#define SET_U8(T) SET_PANEL(T, u8)
#define SET_S8(T) SET_PANEL(T, s8)
#define SET_H6(T) SET_PANEL(T, h6)
#define SET_H7(T) SET_PANEL(T, h7)
#define SET_M6(T) SET_PANEL(T, m6)
#define SET_F5(T) SET_PANEL(T, f5)
    QN_ROWS_TYPES(SET_ROWS)
    QN_MM_U8_TYPES(SET_U8)
    QN_MM_S8_TYPES(SET_S8)
    QN_MM_H6_TYPES(SET_H6)
    QN_MM_H7_TYPES(SET_H7)
    QN_MM_M6_TYPES(SET_M6)
    QN_MM_F5_TYPES(SET_F5)
    QN_MM_PLAIN_TYPES(SET_F32)
    QN_MM_OTHER_TYPES(SET_F32)
}
