/* Surprise and divergence of predictions. SPDX-License-Identifier: MIT */
#include "cli/eval_score.h"

#include <math.h>

void qn_sample_add(qn_sample *s, double x)
{
    s->sum += x;
    s->sum_square += x * x;
    s->n++;
}

double qn_sample_mean(const qn_sample *s)
{
    return s->sum / (double)s->n;
}

double qn_sample_error(const qn_sample *s)
{
    double n = (double)s->n;
    return s->n < 2 ? 0 : sqrt(fmax((s->sum_square - s->sum * s->sum / n) / (n - 1), 0) / n);
}

/* Logits become probabilities by exp(x - max) / sum. */
typedef struct prediction {
    float max;
    uint32_t best;
    double log_sum;
} prediction;

/* Sums four at a time: a fixed order all the same, and the additions need not wait for one another. */
static prediction predict(const float *logits, uint32_t n)
{
    prediction p = {.max = -INFINITY};
    for (uint32_t i = 0; i < n; i++) {
        if (logits[i] > p.max) {
            p.max = logits[i];
            p.best = i;
        }
    }
    double sum[4] = {0};
    for (uint32_t i = 0; i < n; i++) {
        sum[i % 4] += (double)expf(logits[i] - p.max);
    }
    p.log_sum = log(sum[0] + sum[1] + sum[2] + sum[3]);
    return p;
}

static double surprise(const prediction *p, float logit)
{
    return (double)p->max + p->log_sum - (double)logit;
}

double qn_score_surprise(const float *logits, uint32_t n, int32_t id)
{
    prediction p = predict(logits, n);
    return surprise(&p, logits[id]);
}

/* The difference of two log-probabilities is that of the logits, but for a constant; weighted by the base. */
static double divergence(const float *a, const prediction *of_a, const float *b, const prediction *of_b, uint32_t n)
{
    double sum[4] = {0};
    for (uint32_t i = 0; i < n; i++) {
        float off = (a[i] - of_a->max) - (b[i] - of_b->max);
        sum[i % 4] += (double)(expf(a[i] - of_a->max) * off);
    }
    double kl = (sum[0] + sum[1] + sum[2] + sum[3]) / exp(of_a->log_sum) - of_a->log_sum + of_b->log_sum;
    return kl > 0 || isnan(kl) ? kl : 0; /* roundings alone go below 0 */
}

void qn_divergence_add(qn_divergence *d, const float *base, const float *logits, uint32_t n, int32_t id)
{
    prediction of_base = predict(base, n), p = predict(logits, n);
    double base_nll = surprise(&of_base, base[id]);
    double kl = divergence(base, &of_base, logits, &p, n);
    qn_sample_add(&d->base_nll, base_nll);
    qn_sample_add(&d->excess, surprise(&p, logits[id]) - base_nll);
    qn_sample_add(&d->kl, kl);
    d->largest_kl = kl > d->largest_kl ? kl : d->largest_kl;
    d->n_same_best += p.best == of_base.best;
}
