/* Writes a row into KV storage for AVX2 with F16C, and what keys and values kept as codes need before. SPDX-License-Identifier: MIT */
#include "backend/cpu/avx2/math.h"
#include "backend/cpu/vec_int.h"

#include <stdbool.h>
#include <string.h>

/* Eight halves, or the upper halves of eight floats, to nearest even; NaN stays NaN. */
static inline __m128i to_half(__m256 v, bool is_bf16)
{
    if (!is_bf16) {
        return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
    }
    __m256i u = _mm256_castps_si256(v);
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
    __m256i rounded = _mm256_add_epi32(_mm256_add_epi32(u, _mm256_set1_epi32(0x7FFF)), odd);
    __m256i quiet = _mm256_or_si256(u, _mm256_set1_epi32(0x400000));
    __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    __m256i wide = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, is_nan), 16);
    return _mm_packus_epi32(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));
}

static inline void store_half(const float *x, size_t n, bool is_bf16, uint16_t *dst, size_t stride)
{
    for (size_t i = 0; i < n; i += 8) {
        size_t left = n - i < 8 ? n - i : 8;
        __m128i half = to_half(_mm256_maskload_ps(x + i, qn_tail_mask(left)), is_bf16);
        if (stride == 1 && left == 8) {
            _mm_storeu_si128((__m128i *)(void *)(dst + i), half);
            continue;
        }
        uint16_t part[8];
        _mm_storeu_si128((__m128i *)(void *)part, half);
        for (size_t j = 0; j < left; j++) {
            dst[(i + j) * stride] = part[j];
        }
    }
}

void qn_kv_store_avx2(const float *x, size_t n, qn_type type, void *dst, size_t dst_stride)
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

/* Sums and differences of the lanes that stand 1, 2 and 4 apart. */
static inline __m256 rotate8(__m256 v)
{
    const __m256 by1 = _mm256_setr_ps(1, -1, 1, -1, 1, -1, 1, -1);
    const __m256 by2 = _mm256_setr_ps(1, 1, -1, -1, 1, 1, -1, -1);
    const __m256 by4 = _mm256_setr_ps(1, 1, 1, 1, -1, -1, -1, -1);
    v = _mm256_fmadd_ps(v, by1, _mm256_permute_ps(v, 0xB1));
    v = _mm256_fmadd_ps(v, by2, _mm256_permute_ps(v, 0x4E));
    return _mm256_fmadd_ps(v, by4, _mm256_permute2f128_ps(v, v, 1));
}

void qn_rotate_avx2(float *x, size_t n)
{
    size_t block = n & (~n + 1);
    if (block < 8) {
        qn_rotate_ref(x, n);
        return;
    }
    const __m256 factor = _mm256_set1_ps((float)(1.0 / sqrt((double)block)));
    for (size_t i = 0; i < n; i += 8) {
        _mm256_storeu_ps(x + i, rotate8(_mm256_mul_ps(_mm256_loadu_ps(x + i), factor)));
    }
    for (size_t half = 8; half < block; half *= 2) {
        for (size_t base = 0; base < n; base += 2 * half) {
            for (size_t i = base; i < base + half; i += 8) {
                __m256 a = _mm256_loadu_ps(x + i);
                __m256 b = _mm256_loadu_ps(x + i + half);
                _mm256_storeu_ps(x + i, _mm256_add_ps(a, b));
                _mm256_storeu_ps(x + i + half, _mm256_sub_ps(a, b));
            }
        }
    }
}

static inline void store_codes(__m256i c, size_t n, uint8_t *out)
{
    __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(c), _mm256_extracti128_si256(c, 1));
    __m128i bytes = _mm_packus_epi16(words, words);
    if (n == 8) {
        _mm_storel_epi64((__m128i *)(void *)out, bytes);
    } else {
        uint8_t part[16];
        _mm_storeu_si128((__m128i *)(void *)part, bytes);
        memcpy(out, part, n);
    }
}

qn_kv_scale qn_kv_encode_avx2(const float *x, size_t n, uint32_t code_bits, uint8_t *codes)
{
    const float top = (float)((1u << code_bits) - 1);
    const __m256 fill = _mm256_set1_ps(x[0]);
    __m256 min = fill;
    __m256 max = fill;
    __m256 finite = _mm256_setzero_ps(); /* NaN as soon as a number is not finite */
    for (size_t i = 0; i < n; i += 8) {
        __m256i mask = qn_tail_mask(n - i < 8 ? n - i : 8);
        __m256 v = _mm256_blendv_ps(fill, _mm256_maskload_ps(x + i, mask), _mm256_castsi256_ps(mask));
        min = _mm256_min_ps(min, v);
        max = _mm256_max_ps(max, v);
        finite = _mm256_fmadd_ps(v, _mm256_setzero_ps(), finite);
    }
    float lowest = -qn_hmax8(_mm256_sub_ps(_mm256_setzero_ps(), min));
    qn_kv_scale s = qn_kv_fit(lowest, qn_hmax8(max), qn_hsum8(finite) == 0.0F, code_bits);
    if (isnan(s.scale)) {
        memset(codes, 0, n);
        return s;
    }
    const __m256 inverse = _mm256_set1_ps(s.scale > 0.0F ? 1.0F / s.scale : 0.0F);
    for (size_t i = 0; i < n; i += 8) {
        size_t left = n - i < 8 ? n - i : 8;
        __m256 v = _mm256_sub_ps(_mm256_maskload_ps(x + i, qn_tail_mask(left)), _mm256_set1_ps(s.min));
        v = _mm256_max_ps(_mm256_mul_ps(v, inverse), _mm256_setzero_ps());
        store_codes(_mm256_cvtps_epi32(_mm256_min_ps(v, _mm256_set1_ps(top))), left, codes + i);
    }
    return s;
}
