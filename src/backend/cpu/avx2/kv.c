/* Writes a row into KV storage for AVX2 with F16C. SPDX-License-Identifier: MIT */
#include "backend/cpu/avx2/math.h"
#include "backend/cpu/vec_int.h"

#include <string.h>

static void store_f16(const float *x, size_t n, uint16_t *dst, size_t stride)
{
    for (size_t i = 0; i < n; i += 8) {
        size_t left = n - i < 8 ? n - i : 8;
        __m256 v = _mm256_maskload_ps(x + i, qn_tail_mask(left));
        __m128i half = _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
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
        store_f16(x, n, dst, dst_stride);
    } else if (dst_stride == 1) {
        memcpy(dst, x, n * sizeof(*x));
    } else {
        float *single = dst;
        for (size_t i = 0; i < n; i++) {
            single[i * dst_stride] = x[i];
        }
    }
}
