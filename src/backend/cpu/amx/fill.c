/* The table's row of the AMX kernels: many columns of the int8 products; all else stays as AVX-512 has it.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/amx/amx_int.h"
#include "backend/cpu/amx/wide_int.h"
#include "backend/cpu/peak_int.h"

#define DEFINE_PACK(T, offset)                                                                       \
    static void pack_##T(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, void *panel) \
    {                                                                                                \
        if (QN_TYPE_##T == QN_TYPE_Q6_K) {                                                           \
            qn_pack_Q6_K_signed_avx512vnni(w, row_bytes, n_rows, n_k, panel);                        \
        } else {                                                                                     \
            qn_mm_##T##_avx2.pack(w, row_bytes, n_rows, n_k, panel);                                 \
            qn_make_panel_signed(panel, n_k, offset);                                                \
        }                                                                                            \
    }
#define DEFINE_PACK_H6(T) DEFINE_PACK(T, 32)
#define DEFINE_PACK_H7(T) DEFINE_PACK(T, 64)
QN_MM_H6_TYPES(DEFINE_PACK_H6)
QN_MM_H7_TYPES(DEFINE_PACK_H7)

/* With fewer columns the tile unit is not worth its loads and stores (measured). */
enum { LEAST_COLUMNS = 8 };

#define DEFINE_SEVERAL(T, packer, kind, kind512)                                                          \
    static void several_##T(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x, \
                            size_t x_bytes, size_t n_cols, float *y, size_t ldy)                          \
    {                                                                                                     \
        if (n_cols < LEAST_COLUMNS) {                                                                     \
            qn_pack512_fn *pack = qn_packer_avx512vnni(QN_TYPE_##T, qn_mm_##T##_avx2.pack);               \
            qn_slices slices = qn_slices_of(QN_TYPE_##T, pack, w, row_bytes);                             \
            qn_several_##kind512##_avx512vnni(&slices, n_rows, n_k, x, x_bytes, n_cols, y, ldy);          \
        } else {                                                                                          \
            qn_slices slices = qn_slices_of(QN_TYPE_##T, packer, w, row_bytes);                           \
            qn_several_##kind##_amx(&slices, n_rows, n_k, x, x_bytes, n_cols, y, ldy);                    \
        }                                                                                                 \
    }
#define DEFINE_U8(T) DEFINE_SEVERAL(T, qn_packer_avx512vnni(QN_TYPE_##T, qn_mm_##T##_avx2.pack), u8, u8)
#define DEFINE_S8(T) DEFINE_SEVERAL(T, qn_packer_avx512vnni(QN_TYPE_##T, qn_mm_##T##_avx2.pack), s8, s8)
#define DEFINE_H6(T) DEFINE_SEVERAL(T, pack_##T, h8, h6)
#define DEFINE_H7(T) DEFINE_SEVERAL(T, pack_##T, h8, h7)
QN_MM_U8_TYPES(DEFINE_U8)
QN_MM_S8_TYPES(DEFINE_S8)
QN_MM_H6_TYPES(DEFINE_H6)
QN_MM_H7_TYPES(DEFINE_H7)

void qn_kernels_fill_amx(qn_kernels *k)
{
    k->isa = "amx";
#define SET_U8(T)                               \
    k->mm[QN_TYPE_##T].panel = qn_panel_u8_amx; \
    k->mm[QN_TYPE_##T].several = several_##T;
#define SET_S8(T)                               \
    k->mm[QN_TYPE_##T].panel = qn_panel_s8_amx; \
    k->mm[QN_TYPE_##T].several = several_##T;
#define SET_H8(T)                               \
    k->mm[QN_TYPE_##T].panel = qn_panel_h8_amx; \
    k->mm[QN_TYPE_##T].pack = pack_##T;         \
    k->mm[QN_TYPE_##T].several = several_##T;
    QN_MM_U8_TYPES(SET_U8)
    QN_MM_S8_TYPES(SET_S8)
    QN_MM_H6_TYPES(SET_H8)
    QN_MM_H7_TYPES(SET_H8)
    k->peak[QN_PEAK_I8] = qn_peak_i8_amx;
    k->peak[QN_PEAK_BF16] = qn_peak_bf16_amx;
    qn_fill_wide_amx(k);
}
