/* The table's row of the NEON kernels where there is i8mm: panels of the int8 products; all else stays as neon has it.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/neon_i8mm/mm_i8mm_int.h"

#define DEFINE_PACK(T, group_bytes, quants)                                                          \
    static void pack_##T(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, void *panel) \
    {                                                                                                \
        qn_a8_pack(qn_unpack_##T, group_bytes, quants, 8, w, row_bytes, n_rows, n_k, panel);         \
    }
QN_NEON_A8_FORMATS(DEFINE_PACK)

/* The whole row of neon's, so that all of its functions agree on the format of activations. */
static void set_panels(qn_kernels *k, qn_type type, const qn_mm *neon,
                       void (*pack)(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, void *panel),
                       qn_panel_fn *panel)
{
    const qn_type_info *info = qn_type_find(type);
    if (info != NULL && info->decode != NULL) {
        k->mm[type] = *neon;
        k->mm[type].pack = pack;
        k->mm[type].panel = panel;
    }
}

#define PANEL_QN_SCALED qn_panel_scaled_i8mm
#define PANEL_QN_SHIFTED qn_panel_shifted_i8mm
#define PANEL_QN_HALVES qn_panel_halves_i8mm

void qn_kernels_fill_neon_i8mm(qn_kernels *k)
{
    k->isa = "neon_i8mm";
#define SET(T, bytes, quants) set_panels(k, QN_TYPE_##T, &qn_mm_##T##_neon, pack_##T, PANEL_##quants);
    QN_NEON_A8_FORMATS(SET)
#undef SET
    k->peak[QN_PEAK_I8] = qn_peak_i8_neon_i8mm;
}
