/* The table's row of the AVX-512 VNNI kernels: what is not named here stays as AVX2 has it.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx512vnni/vec_int512.h"
#include "backend/cpu/mm_int.h"
#include "backend/cpu/peak_int.h"

void qn_kernels_fill_avx512vnni(qn_kernels *k)
{
    k->isa = "avx512vnni";
    k->quantize_a8 = qn_quantize_a8_avx512vnni;
    k->rms_norm = qn_rms_norm_avx512vnni;
    k->add = qn_add_avx512vnni;
    k->mul = qn_mul_avx512vnni;
    k->scale = qn_scale_avx512vnni;
    k->add_scaled = qn_add_scaled_avx512vnni;
    k->softcap = qn_softcap_avx512vnni;
    k->silu_mul = qn_silu_mul_avx512vnni;
    k->gelu_mul = qn_gelu_mul_avx512vnni;
    k->softmax = qn_softmax_avx512vnni;
    k->rope = qn_rope_avx512vnni;
    k->attn_page = qn_attn_page_avx512vnni;
    k->attn_prepare = qn_attn_prepare_avx512vnni;
    k->peak[QN_PEAK_I8] = qn_peak_i8_avx512vnni;
    k->peak[QN_PEAK_F32] = qn_peak_f32_avx512vnni;
    qn_fill_mm_avx512vnni(k);
}
