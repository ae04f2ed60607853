/* The table's row of the AVX2 kernels. SPDX-License-Identifier: MIT */
#include "backend/cpu/mm_int.h"
#include "backend/cpu/peak_int.h"
#include "backend/cpu/vec_int.h"

void qn_kernels_fill_avx2(qn_kernels *k)
{
    k->isa = "avx2";
    k->rms_norm = qn_rms_norm_avx2;
    k->add = qn_add_avx2;
    k->mul = qn_mul_avx2;
    k->scale = qn_scale_avx2;
    k->add_scaled = qn_add_scaled_avx2;
    k->softcap = qn_softcap_avx2;
    k->silu_mul = qn_silu_mul_avx2;
    k->gelu_mul = qn_gelu_mul_avx2;
    k->softmax = qn_softmax_avx2;
    k->rope = qn_rope_avx2;
    k->kv_store = qn_kv_store_avx2;
    k->attn_page = qn_attn_page_avx2;
    k->rotate = qn_rotate_avx2;
    k->kv_encode = qn_kv_encode_avx2;
    k->attn_prepare = qn_attn_prepare_avx2;
    k->peak[QN_PEAK_I8] = qn_peak_i8_avx2;
    k->peak[QN_PEAK_F32] = qn_peak_f32_avx2;
    qn_fill_mm_avx2(k);
}
