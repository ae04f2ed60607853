/* Rotary position embedding for NEON. SPDX-License-Identifier: MIT */
#include "backend/cpu/neon/simd_int.h"
#include "backend/cpu/vec_int.h"

/* a cos - b sin */
QN_INLINE float32x4_t turn_first(float32x4_t a, float32x4_t b, float32x4_t c, float32x4_t s)
{
    return vfmaq_f32(vnegq_f32(vmulq_f32(b, s)), a, c);
}

/* b cos + a sin */
QN_INLINE float32x4_t turn_second(float32x4_t a, float32x4_t b, float32x4_t c, float32x4_t s)
{
    return vfmaq_f32(vmulq_f32(a, s), b, c);
}

/* Pairs (i, i + n_pairs): two plain rows. */
static void rope_neox(float *x, size_t n_pairs, const float *cosv, const float *sinv)
{
    float *y = x + n_pairs;
    for (size_t i = 0; i < n_pairs; i += 4) {
        size_t left = n_pairs - i;
        float32x4_t a = qn_load_upto(x + i, left), b = qn_load_upto(y + i, left);
        float32x4_t c = qn_load_upto(cosv + i, left), s = qn_load_upto(sinv + i, left);
        qn_store_upto(x + i, left, turn_first(a, b, c, s));
        qn_store_upto(y + i, left, turn_second(a, b, c, s));
    }
}

/* Pairs (2i, 2i + 1): loads and stores of twos take them apart and put them together. */
static void rope_normal(float *x, size_t n_pairs, const float *cosv, const float *sinv)
{
    for (size_t i = 0; i < n_pairs; i += 4) {
        size_t left = n_pairs - i < 4 ? n_pairs - i : 4;
        float32x4_t c = qn_load_upto(cosv + i, left), s = qn_load_upto(sinv + i, left);
        float part[8] = {0};
        float *at = left == 4 ? x + 2 * i : part;
        if (left < 4) {
            memcpy(part, x + 2 * i, 2 * left * sizeof(*x));
        }
        float32x4x2_t v = vld2q_f32(at);
        float32x4x2_t turned = {{turn_first(v.val[0], v.val[1], c, s), turn_second(v.val[0], v.val[1], c, s)}};
        vst2q_f32(at, turned);
        if (left < 4) {
            memcpy(x + 2 * i, part, 2 * left * sizeof(*x));
        }
    }
}

void qn_rope_neon(float *x, size_t n_pairs, const float *cosv, const float *sinv, qn_rope_kind kind)
{
    if (kind == QN_ROPE_NEOX) {
        rope_neox(x, n_pairs, cosv, sinv);
    } else {
        rope_normal(x, n_pairs, cosv, sinv);
    }
}
