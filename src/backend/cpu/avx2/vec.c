/* The row kernels for AVX2. Each element's bits depend on its own inputs alone, not on its place in the row.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx2/math.h"
#include "backend/cpu/vec_int.h"

/* Eight lanes, or the `left` < 8 at the end of a row (then the other lanes are 0 and are not written). */
static inline __m256 load_upto(const float *p, size_t left)
{
    return left >= 8 ? _mm256_loadu_ps(p) : _mm256_maskload_ps(p, qn_tail_mask(left));
}

static inline void store_upto(float *p, size_t left, __m256 v)
{
    if (left >= 8) {
        _mm256_storeu_ps(p, v);
    } else {
        _mm256_maskstore_ps(p, qn_tail_mask(left), v);
    }
}

static inline __m256d low_double(__m256 v)
{
    return _mm256_cvtps_pd(_mm256_castps256_ps128(v));
}

static inline __m256d high_double(__m256 v)
{
    return _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1));
}

static double sum_of_squares(const float *x, size_t n)
{
    __m256d sum0 = _mm256_setzero_pd();
    __m256d sum1 = sum0;
    __m256d sum2 = sum0;
    __m256d sum3 = sum0;
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m256d a = _mm256_cvtps_pd(_mm_loadu_ps(x + i));
        __m256d b = _mm256_cvtps_pd(_mm_loadu_ps(x + i + 4));
        __m256d c = _mm256_cvtps_pd(_mm_loadu_ps(x + i + 8));
        __m256d d = _mm256_cvtps_pd(_mm_loadu_ps(x + i + 12));
        sum0 = _mm256_fmadd_pd(a, a, sum0);
        sum1 = _mm256_fmadd_pd(b, b, sum1);
        sum2 = _mm256_fmadd_pd(c, c, sum2);
        sum3 = _mm256_fmadd_pd(d, d, sum3);
    }
    for (; i < n; i += 8) {
        __m256 v = load_upto(x + i, n - i);
        __m256d a = low_double(v);
        __m256d b = high_double(v);
        sum0 = _mm256_fmadd_pd(a, a, sum0);
        sum1 = _mm256_fmadd_pd(b, b, sum1);
    }
    return qn_hsum4d(_mm256_add_pd(_mm256_add_pd(sum0, sum1), _mm256_add_pd(sum2, sum3)));
}

void qn_rms_norm_avx2(const float *x, const float *w, size_t n, float eps, float *y)
{
    __m256 f = _mm256_set1_ps((float)(1.0 / sqrt(sum_of_squares(x, n) / (double)n + eps)));
    for (size_t i = 0; i < n; i += 8) {
        size_t left = n - i;
        __m256 v = _mm256_mul_ps(load_upto(x + i, left), f);
        if (w != NULL) {
            v = _mm256_mul_ps(v, load_upto(w + i, left));
        }
        store_upto(y + i, left, v);
    }
}

void qn_add_avx2(const float *a, const float *b, size_t n, float *y)
{
    for (size_t i = 0; i < n; i += 8) {
        size_t left = n - i;
        store_upto(y + i, left, _mm256_add_ps(load_upto(a + i, left), load_upto(b + i, left)));
    }
}

void qn_mul_avx2(const float *a, const float *b, size_t n, float *y)
{
    for (size_t i = 0; i < n; i += 8) {
        size_t left = n - i;
        store_upto(y + i, left, _mm256_mul_ps(load_upto(a + i, left), load_upto(b + i, left)));
    }
}

void qn_scale_avx2(const float *x, float f, size_t n, float *y)
{
    __m256 vf = _mm256_set1_ps(f);
    for (size_t i = 0; i < n; i += 8) {
        size_t left = n - i;
        store_upto(y + i, left, _mm256_mul_ps(load_upto(x + i, left), vf));
    }
}

void qn_add_scaled_avx2(const float *x, float f, size_t n, float *y)
{
    __m256 vf = _mm256_set1_ps(f);
    for (size_t i = 0; i < n; i += 8) {
        size_t left = n - i;
        store_upto(y + i, left, _mm256_fmadd_ps(load_upto(x + i, left), vf, load_upto(y + i, left)));
    }
}

void qn_softcap_avx2(const float *x, float cap, size_t n, float *y)
{
    __m256 vcap = _mm256_set1_ps(cap);
    for (size_t i = 0; i < n; i += 8) {
        size_t left = n - i;
        __m256 t = qn_tanh8(_mm256_div_ps(load_upto(x + i, left), vcap));
        store_upto(y + i, left, _mm256_mul_ps(t, vcap));
    }
}

/* g / (1 + exp(a)) */
static inline __m256 gate8(__m256 g, __m256 a)
{
    return _mm256_div_ps(g, _mm256_add_ps(_mm256_set1_ps(1.0F), qn_exp8(a)));
}

void qn_silu_mul_avx2(const float *gate, const float *up, size_t n, float *y)
{
    for (size_t i = 0; i < n; i += 8) {
        size_t left = n - i;
        __m256 g = load_upto(gate + i, left);
        __m256 v = gate8(g, _mm256_xor_ps(g, _mm256_set1_ps(-0.0F)));
        store_upto(y + i, left, _mm256_mul_ps(v, load_upto(up + i, left)));
    }
}

void qn_gelu_mul_avx2(const float *gate, const float *up, size_t n, float *y)
{
    /* 0.5 (1 + tanh(u)) = 1 / (1 + exp(-2u)), which keeps its digits where tanh comes close to -1.
     * -2u = g (linear + cubic g^2), linear = -2 sqrt(2 / pi), cubic = 0.044715 linear. */
    const __m256 linear = _mm256_set1_ps(-1.5957691216057308F);
    const __m256 cubic = _mm256_set1_ps(-0.07135481627260025F);
    for (size_t i = 0; i < n; i += 8) {
        size_t left = n - i;
        __m256 g = load_upto(gate + i, left);
        __m256 a = _mm256_mul_ps(g, _mm256_fmadd_ps(_mm256_mul_ps(g, g), cubic, linear));
        store_upto(y + i, left, _mm256_mul_ps(gate8(g, a), load_upto(up + i, left)));
    }
}

static float row_max(const float *x, size_t n)
{
    __m256 max = _mm256_set1_ps(-INFINITY);
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        /* The second operand wins over a NaN: NaN is left to show up in the sum. */
        max = _mm256_max_ps(_mm256_loadu_ps(x + i), max);
    }
    float m = qn_hmax8(max);
    for (; i < n; i++) {
        m = x[i] > m ? x[i] : m;
    }
    return m;
}

void qn_softmax_avx2(const float *x, size_t n, float *y)
{
    __m256 max = _mm256_set1_ps(row_max(x, n));
    __m256d sum0 = _mm256_setzero_pd();
    __m256d sum1 = sum0;
    for (size_t i = 0; i < n; i += 8) {
        size_t left = n - i;
        __m256 e = qn_exp8_nonpos(_mm256_sub_ps(load_upto(x + i, left), max));
        if (left < 8) {
            e = _mm256_and_ps(e, _mm256_castsi256_ps(qn_tail_mask(left)));
        }
        sum0 = _mm256_add_pd(sum0, low_double(e));
        sum1 = _mm256_add_pd(sum1, high_double(e));
        store_upto(y + i, left, e);
    }
    qn_scale_avx2(y, (float)(1.0 / qn_hsum4d(_mm256_add_pd(sum0, sum1))), n, y);
}
