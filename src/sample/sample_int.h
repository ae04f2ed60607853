/* The parts of the sampling chain, seen by src/sample only.
 *
 * A pick goes: logits -> adjusted copy (bias, then penalties) -> candidates (all finite ones, or the top k) ->
 * typical -> top-p -> min-p -> temperature -> draw. All sums are double and run in a fixed order, so that a seed
 * gives the same text everywhere. A logit that is not finite (NaN, either infinity) counts as -INFINITY.
 *
 * SPDX-License-Identifier: MIT */
#ifndef QN_SAMPLE_INT_H
#define QN_SAMPLE_INT_H

#include "base/random.h"
#include "sample/sampler.h"

#include <float.h>
#include <math.h>

#define QN_SAMPLER_OWNER "sampler"
#define QN_MASK_WORDS(n_vocab) (((n_vocab) + 63) / 64)
/* Candidates that a mask may leave to be listed one by one; more are cheaper to reach through a copy of all logits. */
#define QN_MASK_FEW 1024u
#define QN_PENALTY_MAX_LAST_N (1u << 20) /* longer than any context; bounds the window's memory */

static inline float qn_logit_clean(float x)
{
    return isfinite(x) ? x : -INFINITY;
}

/* An adjusted logit as float. What was finite stays finite, because only a ban may take a token out. */
static inline float qn_logit_narrow(double x)
{
    return x > (double)FLT_MAX ? FLT_MAX : x < -(double)FLT_MAX ? -FLT_MAX : (float)x;
}

/* ---- candidates ----------------------------------------------------------------------------------- */

typedef struct qn_candidate {
    int32_t id;
    float logit;   /* finite */
    double weight; /* what the stage at work sorts or sums; no stage relies on what another left here */
} qn_candidate;

typedef struct qn_candidates {
    qn_candidate *item;
    size_t n, cap;
} qn_candidates;

/* Fills with all finite logits, in order of id. cap >= n_vocab. */
void qn_candidates_fill(qn_candidates *c, const float *logits, uint32_t n_vocab);
float qn_candidates_max_logit(const qn_candidates *c); /* n >= 1 */
/* weight = exp((logit - max) / temperature); returns the sum, which is >= 1. n >= 1. */
double qn_candidates_weigh(qn_candidates *c, double temperature);

typedef bool qn_candidate_before(const qn_candidate *a, const qn_candidate *b);

/* A heap in item[0, n) with the candidate that comes before all others at the root. Taking only the few that a
 * stage keeps from a heap costs O(n + kept log n), where sorting a vocabulary would cost O(n log n). */
void qn_heap_build(qn_candidate *item, size_t n, qn_candidate_before *before);
/* Moves the root to item[n - 1] and makes item[0, n - 1) a heap. n >= 1. */
void qn_heap_pop(qn_candidate *item, size_t n, qn_candidate_before *before);
/* After n_popped pops: the popped ones become the candidates, in the order of popping. */
void qn_candidates_keep_popped(qn_candidates *c, size_t n_popped);

/* Best first; ties: lower id first. */
bool qn_candidate_is_better(const qn_candidate *a, const qn_candidate *b);
/* Keeps the k best, best first. k >= 1. */
void qn_candidates_keep_best(qn_candidates *c, size_t k);

/* ---- masks: a bit a token, none set beyond the vocabulary -------------------------------------------- */

uint32_t qn_mask_count(const uint64_t *mask, uint32_t n_vocab);
/* Lists what may be picked and has a finite logit, in order of id. cap >= the mask's count. */
void qn_mask_list(const uint64_t *mask, const float *logits, uint32_t n_vocab, qn_candidates *c);
/* out = logits, with -INFINITY for what may not be picked. */
void qn_mask_copy(const uint64_t *mask, const float *logits, uint32_t n_vocab, float *out);

/* ---- one sampler a file --------------------------------------------------------------------------- */

/* Writes the ids of the k best logits, best first, ties by lower id; 1 <= k <= n_vocab. Those that are not finite
 * come last. */
void qn_sample_top_k(const float *logits, uint32_t n_vocab, uint32_t k, int32_t *ids);
void qn_sample_typical(qn_candidates *c, double p);
void qn_sample_top_p(qn_candidates *c, double p);
void qn_sample_min_p(qn_candidates *c, double p);
/* Draws with probabilities softmax(logit / temperature); unit is uniform in [0, 1). */
int32_t qn_sample_temperature(qn_candidates *c, double temperature, double unit);

/* ---- bias ----------------------------------------------------------------------------------------- */

/* Bias b is added to its token's logit, with two ends: b <= -100 bans the token; b >= 100 forces it, which means
 * that only forced tokens can be picked, as long as one of them has a finite logit. Two entries for one id add up. */
typedef struct qn_bias {
    qn_logit_bias *entry; /* by id, each id once */
    size_t n;
} qn_bias;

qn_status qn_bias_open(const qn_logit_bias *entry, size_t n, uint32_t n_vocab, qn_budget *b, qn_bias *out,
                       qn_error *err);
void qn_bias_close(qn_bias *bias);
void qn_bias_apply(const qn_bias *bias, float *logits, uint32_t n_vocab);
/* The same for candidates in order of id; those that cannot be picked any more leave the list. */
void qn_bias_apply_to_list(const qn_bias *bias, qn_candidates *c);

/* ---- penalties ------------------------------------------------------------------------------------ */

typedef struct qn_penalties {
    uint32_t *count; /* per token of the vocabulary, how often it stands in the window; NULL: penalties are off */
    int32_t *window; /* ring of the last tokens */
    uint32_t last_n, n, i_next;
    uint32_t n_vocab;
    double repeat, frequency, presence;
} qn_penalties;

/* Options are checked already. */
qn_status qn_penalties_open(const qn_sampler_options *o, uint32_t n_vocab, qn_budget *b, qn_penalties *out,
                            qn_error *err);
void qn_penalties_close(qn_penalties *p);
void qn_penalties_accept(qn_penalties *p, int32_t id); /* ids outside the vocabulary are passed over */
void qn_penalties_apply(qn_penalties *p, float *logits);
void qn_penalties_apply_to_list(const qn_penalties *p, qn_candidates *c);

#endif
