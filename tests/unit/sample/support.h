/* Shared by the sampler tests: random logits, and the plain way to do what the samplers do fast.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TESTS_SAMPLE_SUPPORT_H
#define QN_TESTS_SAMPLE_SUPPORT_H

#include "sample/sample_int.h"
#include "test.h"

static inline float *test_logits(qn_random *r, uint32_t n, float spread)
{
    float *x = malloc(n * sizeof(*x));
    assert_non_null(x);
    for (uint32_t i = 0; i < n; i++) {
        x[i] = spread * qn_random_normal(r);
    }
    return x;
}

/* Few distinct values, so that ties are common. */
static inline float *test_tied_logits(qn_random *r, uint32_t n, uint32_t n_values)
{
    float *x = malloc(n * sizeof(*x));
    assert_non_null(x);
    for (uint32_t i = 0; i < n; i++) {
        x[i] = (float)qn_random_below(r, n_values) * 0.5f - 1;
    }
    return x;
}

/* Best first by selection, the slow and obvious way. For free(). */
static inline int32_t *test_order(const float *x, uint32_t n)
{
    int32_t *ids = malloc(n * sizeof(*ids));
    assert_non_null(ids);
    for (uint32_t i = 0; i < n; i++) {
        ids[i] = (int32_t)i;
        for (uint32_t j = i; j > 0 && x[ids[j]] > x[ids[j - 1]]; j--) {
            int32_t swap = ids[j];
            ids[j] = ids[j - 1];
            ids[j - 1] = swap;
        }
    }
    return ids;
}

static inline double *test_softmax(const float *x, uint32_t n)
{
    double *p = malloc(n * sizeof(*p));
    assert_non_null(p);
    double max = -INFINITY, sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        max = x[i] > max ? x[i] : max;
    }
    for (uint32_t i = 0; i < n; i++) {
        p[i] = exp(x[i] - max);
        sum += p[i];
    }
    for (uint32_t i = 0; i < n; i++) {
        p[i] /= sum;
    }
    return p;
}

static inline qn_candidates test_candidates(const float *x, uint32_t n)
{
    qn_candidates c = {.item = malloc(n * sizeof(qn_candidate)), .cap = n};
    assert_non_null(c.item);
    qn_candidates_fill(&c, x, n);
    return c;
}

/* A chain that does nothing but the plain softmax at temperature 1. */
static inline qn_sampler_options test_plain_options(void)
{
    return (qn_sampler_options){.temperature = 1, .top_p = 1, .typical_p = 1, .repeat_penalty = 1, .seed = 1};
}

static inline qn_chain *test_chain(const qn_sampler_options *o, uint32_t n_vocab)
{
    qn_chain *c = NULL;
    qn_error err;
    assert_int_equal(qn_chain_open(o, n_vocab, NULL, &c, &err), QN_OK);
    return c;
}

static inline int32_t test_pick(qn_chain *c, const float *logits)
{
    int32_t id = -1;
    assert_int_equal(qn_chain_pick(c, logits, &id, NULL, NULL), QN_OK);
    return id;
}

/* Picks n times and compares the shares with p: each within 5 deviations. */
static inline void test_shares(qn_chain *c, const float *logits, const double *p, uint32_t n_vocab, uint32_t n)
{
    uint32_t *count = calloc(n_vocab, sizeof(*count));
    assert_non_null(count);
    for (uint32_t i = 0; i < n; i++) {
        count[test_pick(c, logits)]++;
    }
    for (uint32_t i = 0; i < n_vocab; i++) {
        double deviation = sqrt(p[i] * (1 - p[i]) * n);
        assert_true(fabs(count[i] - p[i] * n) <= 5 * deviation + 1e-9);
    }
    free(count);
}

#endif
