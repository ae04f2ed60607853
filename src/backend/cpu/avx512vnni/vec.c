/* The row kernels for AVX-512. Each element's bits depend on its own inputs alone, not on its place in the row. Rows of
 * one vector are common (a panel's rows of one column): every kernel reaches its only store without a detour.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx512vnni/math512.h"
#include "backend/cpu/avx512vnni/vec_int512.h"

/* Runs BODY with i at each whole vector and m all lanes, then with the lanes that are left. Where m is all lanes the
 * compiler makes plain loads and stores of the masked ones. */
#define FOR_VECTORS(n, BODY)                                    \
    do {                                                        \
        size_t i = 0;                                           \
        for (; i + 16 <= (n); i += 16) {                        \
            const __mmask16 m = 0xFFFF;                         \
            BODY                                                \
        }                                                       \
        if (i < (n)) {                                          \
            const __mmask16 m = qn_first_lanes((n) - i);        \
            BODY                                                \
        }                                                       \
    } while (0)

#define LOAD(p) _mm512_maskz_loadu_ps(m, (p) + i)
#define STORE(p, v) _mm512_mask_storeu_ps((p) + i, m, v)

QN_INLINE __m512d low_double(__m512 v) { return _mm512_cvtps_pd(_mm512_castps512_ps256(v)); }
QN_INLINE __m512d high_double(__m512 v) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1)); }

static double sum_of_squares(const float *x, size_t n)
{
    __m512d sum0 = _mm512_setzero_pd();
    __m512d sum1 = sum0;
    __m512d sum2 = sum0;
    __m512d sum3 = sum0;
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        __m512d a = _mm512_cvtps_pd(_mm256_loadu_ps(x + i));
        __m512d b = _mm512_cvtps_pd(_mm256_loadu_ps(x + i + 8));
        __m512d c = _mm512_cvtps_pd(_mm256_loadu_ps(x + i + 16));
        __m512d d = _mm512_cvtps_pd(_mm256_loadu_ps(x + i + 24));
        sum0 = _mm512_fmadd_pd(a, a, sum0);
        sum1 = _mm512_fmadd_pd(b, b, sum1);
        sum2 = _mm512_fmadd_pd(c, c, sum2);
        sum3 = _mm512_fmadd_pd(d, d, sum3);
    }
    for (; i < n; i += 16) {
        __m512 v = _mm512_maskz_loadu_ps(qn_first_lanes(n - i < 16 ? n - i : 16), x + i);
        __m512d a = low_double(v);
        __m512d b = high_double(v);
        sum0 = _mm512_fmadd_pd(a, a, sum0);
        sum1 = _mm512_fmadd_pd(b, b, sum1);
    }
    return qn_hsum8d(_mm512_add_pd(_mm512_add_pd(sum0, sum1), _mm512_add_pd(sum2, sum3)));
}

void qn_rms_norm_avx512vnni(const float *x, const float *w, size_t n, float eps, float *y)
{
    const __m512 f = _mm512_set1_ps((float)(1.0 / sqrt(sum_of_squares(x, n) / (double)n + eps)));
    if (w == NULL) {
        FOR_VECTORS(n, { STORE(y, _mm512_mul_ps(LOAD(x), f)); });
    } else {
        FOR_VECTORS(n, { STORE(y, _mm512_mul_ps(_mm512_mul_ps(LOAD(x), f), LOAD(w))); });
    }
}

void qn_add_avx512vnni(const float *a, const float *b, size_t n, float *y)
{
    FOR_VECTORS(n, { STORE(y, _mm512_add_ps(LOAD(a), LOAD(b))); });
}

void qn_mul_avx512vnni(const float *a, const float *b, size_t n, float *y)
{
    FOR_VECTORS(n, { STORE(y, _mm512_mul_ps(LOAD(a), LOAD(b))); });
}

void qn_scale_avx512vnni(const float *x, float f, size_t n, float *y)
{
    const __m512 vf = _mm512_set1_ps(f);
    FOR_VECTORS(n, { STORE(y, _mm512_mul_ps(LOAD(x), vf)); });
}

void qn_add_scaled_avx512vnni(const float *x, float f, size_t n, float *y)
{
    const __m512 vf = _mm512_set1_ps(f);
    FOR_VECTORS(n, { STORE(y, _mm512_fmadd_ps(LOAD(x), vf, LOAD(y))); });
}

void qn_softcap_avx512vnni(const float *x, float cap, size_t n, float *y)
{
    const __m512 vcap = _mm512_set1_ps(cap);
    FOR_VECTORS(n, { STORE(y, _mm512_mul_ps(qn_tanh16(_mm512_div_ps(LOAD(x), vcap)), vcap)); });
}

void qn_silu_mul_avx512vnni(const float *gate, const float *up, size_t n, float *y)
{
    const __m512 sign_bit = _mm512_set1_ps(-0.0F);
    FOR_VECTORS(n, {
        __m512 g = LOAD(gate);
        __m512 v = _mm512_mul_ps(g, qn_logistic16(_mm512_xor_ps(g, sign_bit)));
        STORE(y, _mm512_mul_ps(v, LOAD(up)));
    });
}

void qn_gelu_mul_avx512vnni(const float *gate, const float *up, size_t n, float *y)
{
    /* 0.5 (1 + tanh(u)) = 1 / (1 + exp(-2u)), which keeps its digits where tanh comes close to -1.
     * -2u = g (linear + cubic g^2), linear = -2 sqrt(2 / pi), cubic = 0.044715 linear. */
    const __m512 linear = _mm512_set1_ps(-1.5957691216057308F);
    const __m512 cubic = _mm512_set1_ps(-0.07135481627260025F);
    FOR_VECTORS(n, {
        __m512 g = LOAD(gate);
        __m512 a = _mm512_mul_ps(g, _mm512_fmadd_ps(_mm512_mul_ps(g, g), cubic, linear));
        STORE(y, _mm512_mul_ps(_mm512_mul_ps(g, qn_logistic16(a)), LOAD(up)));
    });
}

static float row_max(const float *x, size_t n)
{
    const __m512 least = _mm512_set1_ps(-INFINITY);
    __m512 max = least;
    /* The second operand wins over a NaN: NaN is left to show up in the sum. */
    FOR_VECTORS(n, { max = _mm512_max_ps(_mm512_mask_loadu_ps(least, m, x + i), max); });
    return qn_hmax16(max);
}

void qn_softmax_avx512vnni(const float *x, size_t n, float *y)
{
    const __m512 max = _mm512_set1_ps(row_max(x, n));
    __m512d sum0 = _mm512_setzero_pd();
    __m512d sum1 = sum0;
    FOR_VECTORS(n, {
        __m512 e = _mm512_maskz_mov_ps(m, qn_exp16_nonpos(_mm512_sub_ps(LOAD(x), max)));
        sum0 = _mm512_add_pd(sum0, low_double(e));
        sum1 = _mm512_add_pd(sum1, high_double(e));
        STORE(y, e);
    });
    qn_scale_avx512vnni(y, (float)(1.0 / qn_hsum8d(_mm512_add_pd(sum0, sum1))), n, y);
}
