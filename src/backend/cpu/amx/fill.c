/* The table's row of the AMX kernels: many columns of the int8 products; all else stays as AVX-512 has it.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/amx/amx_int.h"

static void pack_q6_k(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, void *panel)
{
    qn_mm_Q6_K_avx2.pack(w, row_bytes, n_rows, n_k, panel);
    qn_make_panel_signed(panel, n_k);
}

void qn_kernels_fill_amx(qn_kernels *k)
{
    static const qn_type unsigned_types[] = {QN_TYPE_Q4_0, QN_TYPE_Q4_1, QN_TYPE_Q5_0,
                                             QN_TYPE_Q5_1, QN_TYPE_Q4_K, QN_TYPE_Q5_K};
    k->isa = "amx";
    for (size_t i = 0; i < sizeof(unsigned_types) / sizeof(unsigned_types[0]); i++) {
        k->mm[unsigned_types[i]].panel = qn_panel_u8_amx;
    }
    k->mm[QN_TYPE_Q8_0].panel = qn_panel_s8_amx;
    k->mm[QN_TYPE_Q6_K].panel = qn_panel_h6_amx;
    k->mm[QN_TYPE_Q6_K].pack = pack_q6_k;
}
