/* What AVX-512 VNNI overrides of the matrix products: the panels; packing and rows stay as AVX2 has them.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx512vnni/mm_int512.h"

static void set_panel(qn_kernels *k, qn_type type, qn_panel512_fn *panel) { k->mm[type].panel = panel; }

void qn_fill_mm_avx512vnni(qn_kernels *k)
{
    set_panel(k, QN_TYPE_Q4_0, qn_panel_u8_avx512vnni);
    set_panel(k, QN_TYPE_Q4_1, qn_panel_u8_avx512vnni);
    set_panel(k, QN_TYPE_Q5_0, qn_panel_u8_avx512vnni);
    set_panel(k, QN_TYPE_Q5_1, qn_panel_u8_avx512vnni);
    set_panel(k, QN_TYPE_Q4_K, qn_panel_u8_avx512vnni);
    set_panel(k, QN_TYPE_Q5_K, qn_panel_u8_avx512vnni);
    set_panel(k, QN_TYPE_Q8_0, qn_panel_s8_avx512vnni);
    set_panel(k, QN_TYPE_Q6_K, qn_panel_h6_avx512vnni);
}
