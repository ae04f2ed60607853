/* Rotary position embedding in plain C. SPDX-License-Identifier: MIT */
#include "backend/cpu/vec_int.h"

void qn_rope_ref(float *x, size_t n_pairs, const float *cosv, const float *sinv, qn_rope_kind kind)
{
    size_t step = kind == QN_ROPE_NEOX ? 1 : 2;
    size_t partner = kind == QN_ROPE_NEOX ? n_pairs : 1;
    for (size_t i = 0; i < n_pairs; i++) {
        float *pair = x + i * step;
        double a = pair[0];
        double b = pair[partner];
        pair[0] = (float)(a * cosv[i] - b * sinv[i]);
        pair[partner] = (float)(b * cosv[i] + a * sinv[i]);
    }
}
