/* Attention over one KV page in plain C: scores, weights and the page's sums in double, the state in float.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/vec_int.h"

#include <math.h>

#define MAX_PAGE_TOKENS 256

static double plain_at(const void *data, qn_type type, size_t i)
{
    switch (type) {
    case QN_TYPE_F16:
        return qn_f16_to_f32(((const uint16_t *)data)[i]);
    case QN_TYPE_BF16:
        return qn_bf16_to_f32(((const uint16_t *)data)[i]);
    default:
        return ((const float *)data)[i];
    }
}

static double key_at(const qn_attn_page *a, uint32_t d, uint32_t t)
{
    return a->bits == 0 ? plain_at(a->k, a->type, (size_t)d * a->page_tokens + t)
                        : qn_kv_get_k(a->k, a->bits, a->head_dim, a->page_tokens, t, d);
}

static double value_at(const qn_attn_page *a, uint32_t t, uint32_t j)
{
    return a->bits == 0 ? plain_at(a->v, a->type, (size_t)t * a->v_dim + j)
                        : qn_kv_get_v(a->v, a->bits, a->v_dim, a->page_tokens, t, j);
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
        double score = a->bits != 0 && a->offset != NULL ? a->offset[i] : 0.0;
        for (uint32_t d = 0; d < a->head_dim; d++) {
            score += q[d] * key_at(a, d, t);
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
            out += p[t] * value_at(a, t, j);
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

/* The queries themselves serve. */
void qn_attn_prepare_ref(const float *q, size_t head_dim, void *out)
{
    (void)q;
    (void)head_dim;
    (void)out;
}
