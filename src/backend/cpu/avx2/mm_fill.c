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

#define DEFINE_PACK(T)                                                                               \
    static void pack_##T(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, void *panel) \
    {                                                                                                \
        qn_mm_##T##_avx2.pack(w, row_bytes, n_rows, n_k, panel);                                     \
        qn_panel_x8_expand(panel, n_k);                                                              \
    }
QN_MM_S8_TYPES(DEFINE_PACK)

void qn_fill_mm_avx2(qn_kernels *k)
{
#define SET(T) set(k, QN_TYPE_##T, &qn_mm_##T##_avx2);
    QN_MM_PLAIN_TYPES(SET)
    QN_MM_A8_TYPES(SET)
    QN_MM_OTHER_TYPES(SET)
#undef SET
#define SET_X8(T)                                       \
    k->mm[QN_TYPE_##T].panel_bytes = qn_panel_x8_bytes; \
    k->mm[QN_TYPE_##T].pack = pack_##T;                 \
    k->mm[QN_TYPE_##T].panel = qn_panel_x8_avx2;
    QN_MM_S8_TYPES(SET_X8)
#undef SET_X8
    k->quantize_a8 = qn_quantize_a8_avx2;
}
