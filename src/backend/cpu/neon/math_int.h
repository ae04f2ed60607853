/* Four floats at a time: exp, tanh and reductions. Every function gives each lane the same bits wherever it stands in
 * the row. Private to backend/cpu/neon.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_NEON_MATH_INT_H
#define QN_BACKEND_CPU_NEON_MATH_INT_H

#include <math.h>

#include "backend/cpu/neon/simd_int.h"

/* Smallest argument whose exponential is a normal number, and the largest whose exponential is finite. */
#define QN_EXP_MIN (-0x1.5d589ep+6F)
#define QN_EXP_MAX 0x1.62e42ep+6F

/* exp(x) for x in [QN_EXP_MIN, QN_EXP_MAX]; NaN gives NaN; other arguments give garbage.
 * x = n ln 2 + r, |r| <= ln 2 / 2; the polynomial is minimax in relative error (3e-9), the result within 1e-7. */
QN_INLINE float32x4_t qn_exp4_core(float32x4_t x)
{
    int32x4_t n = vcvtnq_s32_f32(vmulq_n_f32(x, 0x1.715476p+0F));
    float32x4_t nf = vcvtq_f32_s32(n);
    float32x4_t r = vfmsq_f32(x, nf, vdupq_n_f32(0x1.62e430p-1F));
    r = vfmaq_f32(r, nf, vdupq_n_f32(0x1.05c610p-29F));
    float32x4_t p = vdupq_n_f32(0x1.6a2352p-10F);
    p = vfmaq_f32(vdupq_n_f32(0x1.123a6cp-7F), p, r);
    p = vfmaq_f32(vdupq_n_f32(0x1.5558f4p-5F), p, r);
    p = vfmaq_f32(vdupq_n_f32(0x1.555490p-3F), p, r);
    p = vfmaq_f32(vdupq_n_f32(0x1.fffffcp-2F), p, r);
    p = vfmaq_f32(r, vmulq_f32(r, r), p);
    p = vaddq_f32(p, vdupq_n_f32(1.0F));
    /* p is in (0.7, 1.42): adding n to its exponent field stays a normal number over the whole range. For NaN n is 0.
     */
    return vreinterpretq_f32_u32(vaddq_u32(vreinterpretq_u32_f32(p), vreinterpretq_u32_s32(vshlq_n_s32(n, 23))));
}

/* exp(x) for x <= 0 (-inf included) or NaN. Results below the smallest normal number are 0: they would weigh
 * nothing beside the 1 that every softmax has. */
QN_INLINE float32x4_t qn_exp4_nonpos(float32x4_t x)
{
    uint32x4_t tiny = vcltq_f32(x, vdupq_n_f32(QN_EXP_MIN));
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(qn_exp4_core(x)), tiny));
}

/* exp(x) for any x; subnormal results are 0, too large ones inf. */
QN_INLINE float32x4_t qn_exp4(float32x4_t x)
{
    uint32x4_t huge = vcgtq_f32(x, vdupq_n_f32(QN_EXP_MAX));
    return vbslq_f32(huge, vdupq_n_f32(INFINITY), qn_exp4_nonpos(x));
}

/* tanh(x): near 0 an odd polynomial, so that the relative error stays within 2e-7 everywhere. */
QN_INLINE float32x4_t qn_tanh4(float32x4_t x)
{
    const uint32x4_t sign = vdupq_n_u32(0x80000000u);
    float32x4_t one = vdupq_n_f32(1.0F);
    float32x4_t ax = vabsq_f32(x);
    float32x4_t z = vmulq_f32(x, x);
    float32x4_t p = vdupq_n_f32(-0.005704986862838268F);
    p = vfmaq_f32(vdupq_n_f32(0.0206390880048275F), p, z);
    p = vfmaq_f32(vdupq_n_f32(-0.05373971536755562F), p, z);
    p = vfmaq_f32(vdupq_n_f32(0.13331441581249237F), p, z);
    p = vfmaq_f32(vdupq_n_f32(-0.3333328068256378F), p, z);
    float32x4_t near = vfmaq_f32(x, vmulq_f32(p, z), x);
    /* 1 - 2 / (1 + exp(2|x|)), with the sign of x. */
    float32x4_t e = qn_exp4(vaddq_f32(ax, ax));
    float32x4_t far = vsubq_f32(one, vdivq_f32(vdupq_n_f32(2.0F), vaddq_f32(one, e)));
    far = vbslq_f32(sign, x, far);
    return vbslq_f32(vcgtq_f32(ax, vdupq_n_f32(0.625F)), far, near);
}

/* The larger of two numbers in each lane, never a NaN where the other is none: NaN is left to show up in sums. */
QN_INLINE float32x4_t qn_max4(float32x4_t a, float32x4_t b)
{
    return vmaxnmq_f32(a, b);
}

#endif
