/* Writes a row into KV storage for NEON, and what keys and values kept as codes need before.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "backend/cpu/neon/simd_int.h"
#include "backend/cpu/vec_int.h"

/* Four halves, or the upper halves of four floats, to nearest even; NaN stays NaN. */
QN_INLINE uint16x4_t to_half(float32x4_t v, bool is_bf16)
{
    if (!is_bf16) {
        return vreinterpret_u16_f16(vcvt_f16_f32(v));
    }
    uint32x4_t u = vreinterpretq_u32_f32(v);
    uint32x4_t odd = vandq_u32(vshrq_n_u32(u, 16), vdupq_n_u32(1));
    uint32x4_t rounded = vaddq_u32(vaddq_u32(u, vdupq_n_u32(0x7FFF)), odd);
    uint32x4_t quiet = vorrq_u32(u, vdupq_n_u32(0x400000));
    return vshrn_n_u32(vbslq_u32(vceqq_f32(v, v), rounded, quiet), 16);
}

QN_INLINE void store_half(const float *x, size_t n, bool is_bf16, uint16_t *dst, size_t stride)
{
    for (size_t i = 0; i < n; i += 4) {
        size_t left = n - i < 4 ? n - i : 4;
        uint16x4_t half = to_half(qn_load_upto(x + i, left), is_bf16);
        if (stride == 1 && left == 4) {
            vst1_u16(dst + i, half);
            continue;
        }
        uint16_t part[4];
        vst1_u16(part, half);
        for (size_t j = 0; j < left; j++) {
            dst[(i + j) * stride] = part[j];
        }
    }
}

void qn_kv_store_neon(const float *x, size_t n, qn_type type, void *dst, size_t dst_stride)
{
    if (type == QN_TYPE_F16) {
        store_half(x, n, false, dst, dst_stride);
    } else if (type == QN_TYPE_BF16) {
        store_half(x, n, true, dst, dst_stride);
    } else if (dst_stride == 1) {
        memcpy(dst, x, n * sizeof(*x));
    } else {
        float *single = dst;
        for (size_t i = 0; i < n; i++) {
            single[i * dst_stride] = x[i];
        }
    }
}

/* Sums and differences of the lanes that stand 1 and 2 apart. */
QN_INLINE float32x4_t rotate4(float32x4_t v)
{
    static const float by1[4] = {1, -1, 1, -1}, by2[4] = {1, 1, -1, -1};
    v = vfmaq_f32(vrev64q_f32(v), v, vld1q_f32(by1));
    return vfmaq_f32(vextq_f32(v, v, 2), v, vld1q_f32(by2));
}

void qn_rotate_neon(float *x, size_t n)
{
    size_t block = n & (~n + 1);
    if (block < 4) {
        qn_rotate_ref(x, n);
        return;
    }
    const float factor = (float)(1.0 / sqrt((double)block));
    for (size_t i = 0; i < n; i += 4) {
        vst1q_f32(x + i, rotate4(vmulq_n_f32(vld1q_f32(x + i), factor)));
    }
    for (size_t half = 4; half < block; half *= 2) {
        for (size_t base = 0; base < n; base += 2 * half) {
            for (size_t i = base; i < base + half; i += 4) {
                float32x4_t a = vld1q_f32(x + i), b = vld1q_f32(x + i + half);
                vst1q_f32(x + i, vaddq_f32(a, b));
                vst1q_f32(x + i + half, vsubq_f32(a, b));
            }
        }
    }
}

QN_INLINE void store_codes(uint32x4_t c, size_t n, uint8_t *out)
{
    uint16x4_t words = vmovn_u32(c);
    uint8_t part[8];
    vst1_u8(part, vmovn_u16(vcombine_u16(words, words)));
    memcpy(out, part, n);
}

qn_kv_scale qn_kv_encode_neon(const float *x, size_t n, uint32_t code_bits, uint8_t *codes)
{
    const float32x4_t fill = vdupq_n_f32(x[0]);
    float32x4_t min = fill;
    float32x4_t max = fill;
    float32x4_t finite = vdupq_n_f32(0.0F); /* NaN as soon as a number is not finite */
    for (size_t i = 0; i < n; i += 4) {
        float32x4_t v = qn_load_upto(x + i, n - i);
        v = vbslq_f32(qn_lanes_within(i, 0, n), v, fill);
        min = vminq_f32(min, v);
        max = vmaxq_f32(max, v);
        finite = vfmaq_n_f32(finite, v, 0.0F);
    }
    qn_kv_scale s = qn_kv_fit(vminvq_f32(min), vmaxvq_f32(max), qn_sum_f32(finite) == 0.0F, code_bits);
    if (isnan(s.scale)) {
        memset(codes, 0, n);
        return s;
    }
    const float inverse = s.scale > 0.0F ? 1.0F / s.scale : 0.0F;
    const uint32x4_t top = vdupq_n_u32((1u << code_bits) - 1);
    for (size_t i = 0; i < n; i += 4) {
        float32x4_t v = vsubq_f32(qn_load_upto(x + i, n - i), vdupq_n_f32(s.min));
        /* To nearest even; what is below 0 becomes 0. */
        uint32x4_t c = vminq_u32(vcvtnq_u32_f32(vmulq_n_f32(v, inverse)), top);
        store_codes(c, n - i < 4 ? n - i : 4, codes + i);
    }
    return s;
}
