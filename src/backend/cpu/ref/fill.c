/* The table's row of the reference kernels: every pointer is set. SPDX-License-Identifier: MIT */
#include "backend/cpu/mm_int.h"
#include "backend/cpu/vec_int.h"

void qn_kernels_fill_ref(qn_kernels *k)
{
    k->isa = "ref";
    k->rms_norm = qn_rms_norm_ref;
    k->add = qn_add_ref;
    k->mul = qn_mul_ref;
    k->scale = qn_scale_ref;
    k->add_scaled = qn_add_scaled_ref;
    k->softcap = qn_softcap_ref;
    k->silu_mul = qn_silu_mul_ref;
    k->gelu_mul = qn_gelu_mul_ref;
    k->softmax = qn_softmax_ref;
    k->rope = qn_rope_ref;
    k->kv_store = qn_kv_store_ref;
    k->attn_page = qn_attn_page_ref;
    k->rotate = qn_rotate_ref;
    k->kv_encode = qn_kv_encode;
    k->attn_prepare = qn_attn_prepare_ref;
    qn_fill_mm_ref(k);
}
