/* Sixteen floats at a time: exp, tanh, the logistic function and reductions.
 * Every function gives each lane the same bits wherever it stands in the row. SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_AVX512VNNI_MATH512_H
#define QN_BACKEND_CPU_AVX512VNNI_MATH512_H

#include <math.h>

#include "backend/cpu/avx512vnni/simd_int.h"

/* Smallest argument whose exponential is a normal number, and the largest whose exponential is finite. */
#define QN_EXP_MIN (-0x1.5d589ep+6F)
#define QN_EXP_MAX 0x1.62e42ep+6F

/* exp(x) in the lanes of `keep`, 0 in the others. For x in [QN_EXP_MIN, QN_EXP_MAX]; NaN gives NaN; other arguments
 * give garbage.
 * x = n ln 2 + r, |r| <= ln 2 / 2; the polynomial is minimax in relative error (3e-9), the result within 1e-7. */
QN_INLINE __m512 qn_exp16_core(__mmask16 keep, __m512 x)
{
    __m512i n = _mm512_cvtps_epi32(_mm512_mul_ps(x, _mm512_set1_ps(0x1.715476p+0F)));
    __m512 nf = _mm512_cvtepi32_ps(n);
    __m512 r = _mm512_fnmadd_ps(nf, _mm512_set1_ps(0x1.62e430p-1F), x);
    r = _mm512_fmadd_ps(nf, _mm512_set1_ps(0x1.05c610p-29F), r);
    __m512 p = _mm512_set1_ps(0x1.6a2352p-10F);
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0x1.123a6cp-7F));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0x1.5558f4p-5F));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0x1.555490p-3F));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0x1.fffffcp-2F));
    p = _mm512_fmadd_ps(_mm512_mul_ps(r, r), p, r);
    p = _mm512_add_ps(p, _mm512_set1_ps(1.0F));
    /* p is in (0.7, 1.42): adding n to its exponent field stays a normal number over the whole range. For NaN
     * n is INT_MIN, whose shift is 0. */
    return _mm512_castsi512_ps(_mm512_maskz_add_epi32(keep, _mm512_castps_si512(p), _mm512_slli_epi32(n, 23)));
}

/* exp(x) for x <= 0 (-inf included) or NaN. Results below the smallest normal number are 0: they would weigh
 * nothing beside the 1 that every softmax has, and subnormal numbers are slow. */
QN_INLINE __m512 qn_exp16_nonpos(__m512 x)
{
    return qn_exp16_core(_mm512_cmp_ps_mask(x, _mm512_set1_ps(QN_EXP_MIN), _CMP_NLT_UQ), x);
}

/* 1 / (1 + exp(x)) for any x; 0 where exp(x) overflows. A division costs as much as the exponential: the processor's
 * estimate and one Newton step are within 1e-7 too. */
QN_INLINE __m512 qn_logistic16(__m512 x)
{
    const __m512 one = _mm512_set1_ps(1.0F);
    __mmask16 finite = _mm512_cmp_ps_mask(x, _mm512_set1_ps(QN_EXP_MAX), _CMP_NGT_UQ);
    __m512 d = _mm512_add_ps(one, qn_exp16_nonpos(x));
    __m512 r = _mm512_rcp14_ps(d);
    return _mm512_maskz_fmadd_ps(finite, _mm512_fnmadd_ps(d, r, one), r, r);
}

/* tanh(x): near 0 an odd polynomial, so that the relative error stays within 3e-7 everywhere. */
QN_INLINE __m512 qn_tanh16(__m512 x)
{
    const __m512 sign_bit = _mm512_set1_ps(-0.0F);
    __m512 ax = _mm512_andnot_ps(sign_bit, x);
    __m512 z = _mm512_mul_ps(x, x);
    __m512 p = _mm512_set1_ps(-0.005704986862838268F);
    p = _mm512_fmadd_ps(p, z, _mm512_set1_ps(0.0206390880048275F));
    p = _mm512_fmadd_ps(p, z, _mm512_set1_ps(-0.05373971536755562F));
    p = _mm512_fmadd_ps(p, z, _mm512_set1_ps(0.13331441581249237F));
    p = _mm512_fmadd_ps(p, z, _mm512_set1_ps(-0.3333328068256378F));
    __m512 near = _mm512_fmadd_ps(_mm512_mul_ps(p, z), x, x);
    /* 1 - 2 / (1 + exp(2|x|)), with the sign of x. */
    __m512 far = qn_logistic16(_mm512_add_ps(ax, ax));
    far = _mm512_fnmadd_ps(_mm512_set1_ps(2.0F), far, _mm512_set1_ps(1.0F));
    far = _mm512_or_ps(far, _mm512_and_ps(sign_bit, x));
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(ax, _mm512_set1_ps(0.625F), _CMP_GT_OQ), near, far);
}

/* Lanes added in a fixed tree. */
QN_INLINE float qn_hsum16(__m512 x)
{
    __m256 h = _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

QN_INLINE double qn_hsum8d(__m512d x)
{
    __m256d h = _mm256_add_pd(_mm512_castpd512_pd256(x), _mm512_extractf64x4_pd(x, 1));
    __m128d s = _mm_add_pd(_mm256_castpd256_pd128(h), _mm256_extractf128_pd(h, 1));
    return _mm_cvtsd_f64(_mm_add_sd(s, _mm_unpackhi_pd(s, s)));
}

/* The largest lane. Lanes must not be NaN. */
QN_INLINE float qn_hmax16(__m512 x)
{
    __m256 h = _mm256_max_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
    __m128 s = _mm_max_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
    s = _mm_max_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}

/* The same of eight vectors at once, x[r] to lane r: lanes i and i + 8 of each, then i and i + 4, and so on. */
#define QN_REDUCE_16X8(x, OP)                                                                              \
    __m512 two[4], four[2];                                                                                \
    for (int i = 0; i < 4; i++) {                                                                          \
        two[i] = OP(_mm512_shuffle_f32x4((x)[2 * i], (x)[2 * i + 1], 0x44),                                \
                    _mm512_shuffle_f32x4((x)[2 * i], (x)[2 * i + 1], 0xEE));                               \
    }                                                                                                      \
    for (int i = 0; i < 2; i++) {                                                                          \
        four[i] = OP(_mm512_shuffle_f32x4(two[2 * i], two[2 * i + 1], 0x88),                               \
                     _mm512_shuffle_f32x4(two[2 * i], two[2 * i + 1], 0xDD));                              \
    }                                                                                                      \
    __m512 all = OP(_mm512_shuffle_ps(four[0], four[1], 0x44), _mm512_shuffle_ps(four[0], four[1], 0xEE)); \
    all = OP(all, _mm512_permute_ps(all, 0xB1));                                                           \
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 2, 6, 10, 14, 0, 0, 0, 0, 0, 0, 0, 0);            \
    return _mm512_castps512_ps256(_mm512_permutexvar_ps(order, all))

QN_INLINE __m256 qn_hsum16x8(const __m512 x[8])
{
    QN_REDUCE_16X8(x, _mm512_add_ps);
}
QN_INLINE __m256 qn_hmax16x8(const __m512 x[8])
{
    QN_REDUCE_16X8(x, _mm512_max_ps);
}

#undef QN_REDUCE_16X8

#endif
