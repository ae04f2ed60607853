/* Attention over one KV page in plain C: scores, weights and the page's sums in double, the state in float.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/vec_int.h"

#include <math.h>

#define MAX_PAGE_TOKENS 256

static double kv_get(const void *data, qn_type type, size_t i)
{
    return type == QN_TYPE_F16 ? qn_f16_to_f32(((const uint16_t *)data)[i]) : ((const float *)data)[i];
}

static void attend_row(const qn_attn_page *a, uint32_t i)
{
    const float *q = a->q + i * a->q_stride;
    float *acc = a->acc + (size_t)i * a->v_dim;
    uint32_t lo = a->lo[i];
    uint32_t hi = a->hi[i];
    double p[MAX_PAGE_TOKENS];
    double max = a->m[i];
    for (uint32_t t = lo; t < hi; t++) {
        double score = 0.0;
        for (uint32_t d = 0; d < a->head_dim; d++) {
            score += q[d] * kv_get(a->k, a->type, (size_t)d * a->page_tokens + t);
        }
        if (a->softcap > 0.0F) {
            score = a->softcap * tanh(score / a->softcap);
        }
        p[t] = score;
        max = score > max ? score : max;
    }
    max = (float)max;
    /* While nothing but -inf was seen, 0 stands in, so that exp() gives 0 and not NaN. */
    double base = max == -INFINITY ? 0.0 : max;
    double keep = exp(a->m[i] - base);
    double sum = a->l[i] * keep;
    for (uint32_t t = lo; t < hi; t++) {
        p[t] = exp(p[t] - base);
        sum += p[t];
    }
    for (uint32_t j = 0; j < a->v_dim; j++) {
        double out = acc[j] * keep;
        for (uint32_t t = lo; t < hi; t++) {
            out += p[t] * kv_get(a->v, a->type, (size_t)t * a->v_dim + j);
        }
        acc[j] = (float)out;
    }
    a->m[i] = (float)max;
    a->l[i] = (float)sum;
}

void qn_attn_page_ref(const qn_attn_page *a)
{
    for (uint32_t i = 0; i < a->n_q; i++) {
        if (a->lo[i] < a->hi[i]) {
            attend_row(a, i);
        }
    }
}
