/* Log-probabilities under the plain softmax. SPDX-License-Identifier: MIT */
#include "sample/sample_int.h"

double qn_log_sum_exp(const float *logits, uint32_t n_vocab)
{
    float max = -INFINITY;
    for (uint32_t i = 0; i < n_vocab; i++) {
        float x = qn_logit_clean(logits[i]);
        max = x > max ? x : max;
    }
    if (max == -INFINITY) {
        return -INFINITY;
    }
    double sum = 0;
    for (uint32_t i = 0; i < n_vocab; i++) {
        sum += exp((double)qn_logit_clean(logits[i]) - (double)max);
    }
    return (double)max + log(sum);
}

void qn_top_logprobs(const float *logits, uint32_t n_vocab, size_t n, int32_t *ids, float *logprobs)
{
    if (n == 0) {
        return;
    }
    qn_sample_top_k(logits, n_vocab, (uint32_t)n, ids);
    double log_sum = qn_log_sum_exp(logits, n_vocab);
    for (size_t i = 0; i < n; i++) {
        float x = qn_logit_clean(logits[ids[i]]);
        logprobs[i] = x == -INFINITY ? -INFINITY : (float)((double)x - log_sum);
    }
}
