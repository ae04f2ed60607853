/* Writes a row into KV storage, and what keys and values kept as codes need before, in plain C. SPDX-License-Identifier: MIT */
#include "backend/cpu/vec_int.h"

#include <math.h>

void qn_kv_store_ref(const float *x, size_t n, qn_type type, void *dst, size_t dst_stride)
{
    if (type == QN_TYPE_F16) {
        uint16_t *half = dst;
        for (size_t i = 0; i < n; i++) {
            half[i * dst_stride] = qn_f32_to_f16(x[i]);
        }
        return;
    }
    if (type == QN_TYPE_BF16) {
        uint16_t *half = dst;
        for (size_t i = 0; i < n; i++) {
            half[i * dst_stride] = qn_f32_to_bf16(x[i]);
        }
        return;
    }
    float *single = dst;
    for (size_t i = 0; i < n; i++) {
        single[i * dst_stride] = x[i];
    }
}

void qn_rotate_ref(float *x, size_t n)
{
    size_t block = n & (~n + 1);
    float factor = (float)(1.0 / sqrt((double)block));
    for (size_t i = 0; i < n; i++) {
        x[i] *= factor;
    }
    for (size_t half = 1; half < block; half *= 2) {
        for (size_t i = 0; i < n; i++) {
            if ((i & half) == 0) {
                float a = x[i];
                float b = x[i + half];
                x[i] = a + b;
                x[i + half] = a - b;
            }
        }
    }
}
