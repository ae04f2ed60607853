/* Rotary frequencies and their stretchings. SPDX-License-Identifier: MIT */
#include "model/net.h"

#include <math.h>

/* The pair index (a real number) whose wave turns n_turns times in the original context. */
static float pair_of_turns(const qn_hparams *hp, float freq_base, float n_turns)
{
    return (float)hp->n_rot * logf((float)hp->scaling_ctx / (n_turns * 2.0f * (float)M_PI)) / (2.0f * logf(freq_base));
}

/* YaRN: 1 for pairs that turn often (left as they are), 0 for those that turn rarely (stretched), a ramp between. */
static float yarn_keep(const qn_hparams *hp, float freq_base, uint32_t i)
{
    float low = fmaxf(floorf(pair_of_turns(hp, freq_base, hp->yarn_beta_fast)), 0.0f);
    float high = fminf(ceilf(pair_of_turns(hp, freq_base, hp->yarn_beta_slow)), (float)(hp->n_rot - 1));
    float ramp = ((float)i - low) / fmaxf(high - low, 0.001f);
    return 1.0f - fminf(fmaxf(ramp, 0.0f), 1.0f);
}

qn_status qn_rope_init(qn_rope *r, const qn_hparams *hp, float freq_base, bool neox, bool plain,
                       const qn_weight *factors, qn_budget *b, qn_error *err)
{
    uint32_t n_pairs = hp->n_rot / 2;
    float *inv_freq = qn_zalloc_array(b, "weights", n_pairs, sizeof(float));
    if (inv_freq == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for %u rotary frequencies", n_pairs);
    }
    *r = (qn_rope){.neox = neox, .n_pairs = n_pairs, .mscale = 1.0f, .inv_freq = inv_freq};
    bool yarn = !plain && hp->scaling == QN_SCALING_YARN, linear = !plain && hp->scaling == QN_SCALING_LINEAR;
    for (uint32_t i = 0; i < n_pairs; i++) {
        float f = 1.0f / powf(freq_base, (float)(2 * i) / (float)hp->n_rot);
        if (factors != NULL) {
            float factor;
            memcpy(&factor, factors->data + sizeof(float) * i, sizeof(factor));
            f /= factor;
        }
        if (linear) {
            f /= hp->scaling_factor;
        } else if (yarn) {
            float keep = yarn_keep(hp, freq_base, i);
            f = f / hp->scaling_factor * (1.0f - keep) + f * keep;
        }
        inv_freq[i] = f;
    }
    if (yarn && hp->scaling_factor > 1.0f) {
        r->mscale = hp->yarn_attn_factor * (1.0f + 0.1f * logf(hp->scaling_factor));
    }
    return QN_OK;
}

void qn_rope_free(qn_rope *r)
{
    qn_free((void *)(uintptr_t)r->inv_freq);
    *r = (qn_rope){0};
}
