/* Eight floats at a time: exp, tanh, reductions and the masks for the end of a row.
 * Every function gives each lane the same bits wherever it stands in the row. SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_AVX2_MATH_H
#define QN_BACKEND_CPU_AVX2_MATH_H

#include <immintrin.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* Smallest argument whose exponential is a normal number, and the largest whose exponential is finite. */
#define QN_EXP_MIN (-0x1.5d589ep+6F)
#define QN_EXP_MAX 0x1.62e42ep+6F

/* All bits set in lanes [0, n), n <= 8. */
static inline __m256i qn_tail_mask(size_t n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/* exp(x) for x in [QN_EXP_MIN, QN_EXP_MAX]; NaN gives NaN; other arguments give garbage.
 * x = n ln 2 + r, |r| <= ln 2 / 2; the polynomial is minimax in relative error (3e-9), the result within 1e-7. */
static inline __m256 qn_exp8_core(__m256 x)
{
    __m256i n = _mm256_cvtps_epi32(_mm256_mul_ps(x, _mm256_set1_ps(0x1.715476p+0F)));
    __m256 nf = _mm256_cvtepi32_ps(n);
    __m256 r = _mm256_fnmadd_ps(nf, _mm256_set1_ps(0x1.62e430p-1F), x);
    r = _mm256_fmadd_ps(nf, _mm256_set1_ps(0x1.05c610p-29F), r);
    __m256 p = _mm256_set1_ps(0x1.6a2352p-10F);
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0x1.123a6cp-7F));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0x1.5558f4p-5F));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0x1.555490p-3F));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0x1.fffffcp-2F));
    p = _mm256_fmadd_ps(_mm256_mul_ps(r, r), p, r);
    p = _mm256_add_ps(p, _mm256_set1_ps(1.0F));
    /* p is in (0.7, 1.42): adding n to its exponent field stays a normal number over the whole range. For NaN
     * n is INT_MIN, whose shift is 0. */
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), _mm256_slli_epi32(n, 23)));
}

/* exp(x) for x <= 0 (-inf included) or NaN. Results below the smallest normal number are 0: they would weigh
 * nothing beside the 1 that every softmax has, and subnormal numbers are slow. */
static inline __m256 qn_exp8_nonpos(__m256 x)
{
    __m256 tiny = _mm256_cmp_ps(x, _mm256_set1_ps(QN_EXP_MIN), _CMP_LT_OQ);
    return _mm256_andnot_ps(tiny, qn_exp8_core(x));
}

/* exp(x) for any x; subnormal results are 0, too large ones inf. */
static inline __m256 qn_exp8(__m256 x)
{
    __m256 huge = _mm256_cmp_ps(x, _mm256_set1_ps(QN_EXP_MAX), _CMP_GT_OQ);
    return _mm256_blendv_ps(qn_exp8_nonpos(x), _mm256_set1_ps(INFINITY), huge);
}

/* tanh(x): near 0 an odd polynomial, so that the relative error stays within 2e-7 everywhere. */
static inline __m256 qn_tanh8(__m256 x)
{
    const __m256 sign_bit = _mm256_set1_ps(-0.0F);
    __m256 one = _mm256_set1_ps(1.0F);
    __m256 ax = _mm256_andnot_ps(sign_bit, x);
    __m256 z = _mm256_mul_ps(x, x);
    __m256 p = _mm256_set1_ps(-0.005704986862838268F);
    p = _mm256_fmadd_ps(p, z, _mm256_set1_ps(0.0206390880048275F));
    p = _mm256_fmadd_ps(p, z, _mm256_set1_ps(-0.05373971536755562F));
    p = _mm256_fmadd_ps(p, z, _mm256_set1_ps(0.13331441581249237F));
    p = _mm256_fmadd_ps(p, z, _mm256_set1_ps(-0.3333328068256378F));
    __m256 near = _mm256_fmadd_ps(_mm256_mul_ps(p, z), x, x);
    /* 1 - 2 / (1 + exp(2|x|)), with the sign of x. */
    __m256 e = qn_exp8(_mm256_add_ps(ax, ax));
    __m256 far = _mm256_sub_ps(one, _mm256_div_ps(_mm256_set1_ps(2.0F), _mm256_add_ps(one, e)));
    far = _mm256_or_ps(far, _mm256_and_ps(sign_bit, x));
    return _mm256_blendv_ps(near, far, _mm256_cmp_ps(ax, _mm256_set1_ps(0.625F), _CMP_GT_OQ));
}

/* Lanes added in a fixed tree. */
static inline float qn_hsum8(__m256 x)
{
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

static inline double qn_hsum4d(__m256d x)
{
    __m128d s = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
    return _mm_cvtsd_f64(_mm_add_sd(s, _mm_unpackhi_pd(s, s)));
}

/* The largest lane. Lanes must not be NaN. */
static inline float qn_hmax8(__m256 x)
{
    __m128 s = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    s = _mm_max_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}

#endif
