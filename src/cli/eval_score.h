/* What an evaluation counts of each token: how surprising it was, and how far two predictions of it are apart.
 * SPDX-License-Identifier: MIT */
#ifndef QN_CLI_EVAL_SCORE_H
#define QN_CLI_EVAL_SCORE_H

#include <stdbool.h>
#include <stdint.h>

/* A mean that grows. All zeros: of nothing. */
typedef struct qn_sample {
    double sum, sum_square;
    uint64_t n;
} qn_sample;

void qn_sample_add(qn_sample *s, double x);
double qn_sample_mean(const qn_sample *s);
double qn_sample_error(const qn_sample *s); /* standard error of the mean; 0 below two numbers */

/* Negative log-likelihood of token id by n logits. */
double qn_score_surprise(const float *logits, uint32_t n, int32_t id);

/* Predictions of the same tokens beside those of another setting, the base. */
typedef struct qn_divergence {
    qn_sample base_nll;
    qn_sample excess; /* negative log-likelihood less that of the base: its error is far below that of either */
    qn_sample kl;     /* Kullback-Leibler divergence of the prediction from the base, in nats */
    double largest_kl;
    uint64_t n_same_best; /* tokens for which both find the same one most probable */
} qn_divergence;

void qn_divergence_add(qn_divergence *d, const float *base, const float *logits, uint32_t n, int32_t id);

#endif
