/* The table's row of the NEON kernels, for ARMv8.2 with dot products. Products of types that have no kernel here stay
 * as ref has them.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/neon/mm_neon_int.h"
#include "backend/cpu/vec_int.h"

/* All of a product's functions come together, since they agree on the activations' format. */
static void set_product(qn_kernels *k, qn_type type, const qn_mm *mm)
{
    const qn_type_info *info = qn_type_find(type);
    if (info != NULL && info->decode != NULL) {
        k->mm[type] = *mm;
    }
}

void qn_kernels_fill_neon(qn_kernels *k)
{
    k->isa = "neon";
    k->rms_norm = qn_rms_norm_neon;
    k->add = qn_add_neon;
    k->mul = qn_mul_neon;
    k->scale = qn_scale_neon;
    k->add_scaled = qn_add_scaled_neon;
    k->softcap = qn_softcap_neon;
    k->silu_mul = qn_silu_mul_neon;
    k->gelu_mul = qn_gelu_mul_neon;
    k->softmax = qn_softmax_neon;
    k->rope = qn_rope_neon;
    k->kv_store = qn_kv_store_neon;
    k->attn_page = qn_attn_page_neon;
    k->rotate = qn_rotate_neon;
    k->kv_encode = qn_kv_encode_neon;
    k->attn_prepare = qn_attn_prepare_neon;
#define SET(T) set_product(k, QN_TYPE_##T, &qn_mm_##T##_neon);
    QN_MM_PLAIN_TYPES(SET)
#undef SET
#define SET(T, bytes, quants) set_product(k, QN_TYPE_##T, &qn_mm_##T##_neon);
    QN_NEON_A8_FORMATS(SET)
#undef SET
    k->quantize_a8 = qn_quantize_a8_neon;
    k->peak[QN_PEAK_I8] = qn_peak_i8_neon;
    k->peak[QN_PEAK_F32] = qn_peak_f32_neon;
}
