/* The row kernels for NEON. Each element's bits depend on its own inputs alone, not on its place in the row.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/neon/math_int.h"
#include "backend/cpu/vec_int.h"

QN_INLINE float64x2_t low_double(float32x4_t v)
{
    return vcvt_f64_f32(vget_low_f32(v));
}

static double sum_of_squares(const float *x, size_t n)
{
    float64x2_t sum[4] = {vdupq_n_f64(0.0), vdupq_n_f64(0.0), vdupq_n_f64(0.0), vdupq_n_f64(0.0)};
    for (size_t i = 0; i < n; i += 8) {
        for (size_t j = 0; j < 2 && i + 4 * j < n; j++) {
            float32x4_t v = qn_load_upto(x + i + 4 * j, n - i - 4 * j);
            float64x2_t low = low_double(v), high = vcvt_high_f64_f32(v);
            sum[2 * j] = vfmaq_f64(sum[2 * j], low, low);
            sum[2 * j + 1] = vfmaq_f64(sum[2 * j + 1], high, high);
        }
    }
    return vaddvq_f64(vaddq_f64(vaddq_f64(sum[0], sum[1]), vaddq_f64(sum[2], sum[3])));
}

void qn_rms_norm_neon(const float *x, const float *w, size_t n, float eps, float *y)
{
    float f = (float)(1.0 / sqrt(sum_of_squares(x, n) / (double)n + eps));
    for (size_t i = 0; i < n; i += 4) {
        float32x4_t v = vmulq_n_f32(qn_load_upto(x + i, n - i), f);
        if (w != NULL) {
            v = vmulq_f32(v, qn_load_upto(w + i, n - i));
        }
        qn_store_upto(y + i, n - i, v);
    }
}

void qn_add_neon(const float *a, const float *b, size_t n, float *y)
{
    for (size_t i = 0; i < n; i += 4) {
        qn_store_upto(y + i, n - i, vaddq_f32(qn_load_upto(a + i, n - i), qn_load_upto(b + i, n - i)));
    }
}

void qn_mul_neon(const float *a, const float *b, size_t n, float *y)
{
    for (size_t i = 0; i < n; i += 4) {
        qn_store_upto(y + i, n - i, vmulq_f32(qn_load_upto(a + i, n - i), qn_load_upto(b + i, n - i)));
    }
}

void qn_scale_neon(const float *x, float f, size_t n, float *y)
{
    for (size_t i = 0; i < n; i += 4) {
        qn_store_upto(y + i, n - i, vmulq_n_f32(qn_load_upto(x + i, n - i), f));
    }
}

void qn_add_scaled_neon(const float *x, float f, size_t n, float *y)
{
    for (size_t i = 0; i < n; i += 4) {
        qn_store_upto(y + i, n - i, vfmaq_n_f32(qn_load_upto(y + i, n - i), qn_load_upto(x + i, n - i), f));
    }
}

void qn_softcap_neon(const float *x, float cap, size_t n, float *y)
{
    for (size_t i = 0; i < n; i += 4) {
        float32x4_t t = qn_tanh4(vdivq_f32(qn_load_upto(x + i, n - i), vdupq_n_f32(cap)));
        qn_store_upto(y + i, n - i, vmulq_n_f32(t, cap));
    }
}

/* g / (1 + exp(a)) */
QN_INLINE float32x4_t gate4(float32x4_t g, float32x4_t a)
{
    return vdivq_f32(g, vaddq_f32(vdupq_n_f32(1.0F), qn_exp4(a)));
}

void qn_silu_mul_neon(const float *gate, const float *up, size_t n, float *y)
{
    for (size_t i = 0; i < n; i += 4) {
        float32x4_t g = qn_load_upto(gate + i, n - i);
        qn_store_upto(y + i, n - i, vmulq_f32(gate4(g, vnegq_f32(g)), qn_load_upto(up + i, n - i)));
    }
}

void qn_gelu_mul_neon(const float *gate, const float *up, size_t n, float *y)
{
    /* 0.5 (1 + tanh(u)) = 1 / (1 + exp(-2u)), which keeps its digits where tanh comes close to -1.
     * -2u = g (linear + cubic g^2), linear = -2 sqrt(2 / pi), cubic = 0.044715 linear. */
    const float32x4_t linear = vdupq_n_f32(-1.5957691216057308F);
    const float32x4_t cubic = vdupq_n_f32(-0.07135481627260025F);
    for (size_t i = 0; i < n; i += 4) {
        float32x4_t g = qn_load_upto(gate + i, n - i);
        float32x4_t a = vmulq_f32(g, vfmaq_f32(linear, vmulq_f32(g, g), cubic));
        qn_store_upto(y + i, n - i, vmulq_f32(gate4(g, a), qn_load_upto(up + i, n - i)));
    }
}

static float row_max(const float *x, size_t n)
{
    float32x4_t max = vdupq_n_f32(-INFINITY);
    for (size_t i = 0; i < n; i += 4) {
        float32x4_t v = qn_load_upto(x + i, n - i);
        if (n - i < 4) {
            v = vbslq_f32(qn_lanes_within(0, 0, n - i), v, max);
        }
        max = qn_max4(v, max);
    }
    return vmaxnmvq_f32(max);
}

void qn_softmax_neon(const float *x, size_t n, float *y)
{
    float32x4_t max = vdupq_n_f32(row_max(x, n));
    float64x2_t sum0 = vdupq_n_f64(0.0);
    float64x2_t sum1 = sum0;
    for (size_t i = 0; i < n; i += 4) {
        float32x4_t e = qn_exp4_nonpos(vsubq_f32(qn_load_upto(x + i, n - i), max));
        if (n - i < 4) {
            e = qn_keep_lanes(e, qn_lanes_within(0, 0, n - i));
        }
        sum0 = vaddq_f64(sum0, low_double(e));
        sum1 = vaddq_f64(sum1, vcvt_high_f64_f32(e));
        qn_store_upto(y + i, n - i, e);
    }
    qn_scale_neon(y, (float)(1.0 / vaddvq_f64(vaddq_f64(sum0, sum1))), n, y);
}
