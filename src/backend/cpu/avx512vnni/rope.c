/* Rotary position embedding for AVX-512. SPDX-License-Identifier: MIT */
#include "backend/cpu/avx512vnni/simd_int.h"
#include "backend/cpu/avx512vnni/vec_int512.h"

/* Pairs (i, i + n_pairs): two plain rows. */
static void rope_neox(float *x, size_t n_pairs, const float *cosv, const float *sinv)
{
    float *y = x + n_pairs;
    for (size_t i = 0; i < n_pairs; i += 16) {
        __mmask16 m = qn_first_lanes(n_pairs - i < 16 ? n_pairs - i : 16);
        __m512 a = _mm512_maskz_loadu_ps(m, x + i);
        __m512 b = _mm512_maskz_loadu_ps(m, y + i);
        __m512 c = _mm512_maskz_loadu_ps(m, cosv + i);
        __m512 s = _mm512_maskz_loadu_ps(m, sinv + i);
        _mm512_mask_storeu_ps(x + i, m, _mm512_fmsub_ps(a, c, _mm512_mul_ps(b, s)));
        _mm512_mask_storeu_ps(y + i, m, _mm512_fmadd_ps(b, c, _mm512_mul_ps(a, s)));
    }
}

/* Pairs (2i, 2i + 1): eight pairs in a register, the angle's values doubled to match. */
static void rope_normal(float *x, size_t n_pairs, const float *cosv, const float *sinv)
{
    const __m512i twice = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    for (size_t i = 0; i < n_pairs; i += 8) {
        size_t left = n_pairs - i < 8 ? n_pairs - i : 8;
        __mmask16 half = qn_first_lanes(left);
        __mmask16 m = qn_first_lanes(2 * left);
        __m512 c = _mm512_permutexvar_ps(twice, _mm512_maskz_loadu_ps(half, cosv + i));
        __m512 s = _mm512_permutexvar_ps(twice, _mm512_maskz_loadu_ps(half, sinv + i));
        __m512 v = _mm512_maskz_loadu_ps(m, x + 2 * i);
        __m512 swapped = _mm512_permute_ps(v, 0xB1);
        _mm512_mask_storeu_ps(x + 2 * i, m, _mm512_fmaddsub_ps(v, c, _mm512_mul_ps(swapped, s)));
    }
}

void qn_rope_avx512vnni(float *x, size_t n_pairs, const float *cosv, const float *sinv, qn_rope_kind kind)
{
    if (kind == QN_ROPE_NEOX) {
        rope_neox(x, n_pairs, cosv, sinv);
    } else {
        rope_normal(x, n_pairs, cosv, sinv);
    }
}
