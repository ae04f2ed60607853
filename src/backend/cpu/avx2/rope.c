/* Rotary position embedding for AVX2. SPDX-License-Identifier: MIT */
#include "backend/cpu/avx2/math.h"
#include "backend/cpu/vec_int.h"

/* Pairs (i, i + n_pairs): two plain rows. */
static void rope_neox(float *x, size_t n_pairs, const float *cosv, const float *sinv)
{
    float *y = x + n_pairs;
    for (size_t i = 0; i < n_pairs; i += 8) {
        size_t left = n_pairs - i;
        __m256i mask = qn_tail_mask(left < 8 ? left : 8);
        __m256 a = _mm256_maskload_ps(x + i, mask);
        __m256 b = _mm256_maskload_ps(y + i, mask);
        __m256 c = _mm256_maskload_ps(cosv + i, mask);
        __m256 s = _mm256_maskload_ps(sinv + i, mask);
        _mm256_maskstore_ps(x + i, mask, _mm256_fmsub_ps(a, c, _mm256_mul_ps(b, s)));
        _mm256_maskstore_ps(y + i, mask, _mm256_fmadd_ps(b, c, _mm256_mul_ps(a, s)));
    }
}

/* Pairs (2i, 2i + 1): four pairs in a register, the angle's values doubled to match. */
static void rope_normal(float *x, size_t n_pairs, const float *cosv, const float *sinv)
{
    const __m256i twice = _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3);
    for (size_t i = 0; i < n_pairs; i += 4) {
        size_t left = n_pairs - i < 4 ? n_pairs - i : 4;
        __m128i half = _mm256_castsi256_si128(qn_tail_mask(left));
        __m256i mask = qn_tail_mask(2 * left);
        __m256 c = _mm256_castps128_ps256(_mm_maskload_ps(cosv + i, half));
        __m256 s = _mm256_castps128_ps256(_mm_maskload_ps(sinv + i, half));
        c = _mm256_permutevar8x32_ps(c, twice);
        s = _mm256_permutevar8x32_ps(s, twice);
        __m256 v = _mm256_maskload_ps(x + 2 * i, mask);
        __m256 swapped = _mm256_permute_ps(v, 0xB1);
        _mm256_maskstore_ps(x + 2 * i, mask, _mm256_fmaddsub_ps(v, c, _mm256_mul_ps(swapped, s)));
    }
}

void qn_rope_avx2(float *x, size_t n_pairs, const float *cosv, const float *sinv, qn_rope_kind kind)
{
    if (kind == QN_ROPE_NEOX) {
        rope_neox(x, n_pairs, cosv, sinv);
    } else {
        rope_normal(x, n_pairs, cosv, sinv);
    }
}
