/* Writes a row into KV storage, in plain C. SPDX-License-Identifier: MIT */
#include "backend/cpu/vec_int.h"

void qn_kv_store_ref(const float *x, size_t n, qn_type type, void *dst, size_t dst_stride)
{
    if (type == QN_TYPE_F16) {
        uint16_t *half = dst;
        for (size_t i = 0; i < n; i++) {
            half[i * dst_stride] = qn_f32_to_f16(x[i]);
        }
        return;
    }
    float *single = dst;
    for (size_t i = 0; i < n; i++) {
        single[i * dst_stride] = x[i];
    }
}
