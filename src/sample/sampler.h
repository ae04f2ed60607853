/* The sampling chain: penalties and bias, then top-k, typical, top-p, min-p, temperature, then the draw.
 * One sampler serves one sequence; not thread-safe; no allocation after open. */
#ifndef QN_SAMPLE_SAMPLER_H
#define QN_SAMPLE_SAMPLER_H

#include "base/alloc.h"

typedef struct qn_chain qn_chain;

/* Contract as qn_sampler_open() and its siblings in quern.h, for a vocabulary of n_vocab tokens. */
qn_status qn_chain_open(const qn_sampler_options *o, uint32_t n_vocab, qn_budget *b, qn_chain **out, qn_error *err);
void qn_chain_close(qn_chain *c);
qn_status qn_chain_pick(qn_chain *c, const float *logits, int32_t *id, float *logprob, qn_error *err);
/* Makes room for picks under a mask; such picks then allocate nothing. Again: nothing. */
qn_status qn_chain_allow_masks(qn_chain *c, qn_error *err);
/* As qn_chain_pick() among the tokens whose bits are set in mask ((n_vocab + 63) / 64 words, none set beyond the
 * vocabulary), but the token is not remembered: that is qn_chain_accept()'s. A token that bias forces is picked only if
 * the mask has it. The masks must be allowed. QN_EINVAL: nothing in the mask can be picked. */
qn_status qn_chain_choose(qn_chain *c, const float *logits, const uint64_t *mask, int32_t *id, float *logprob,
                          qn_error *err);
uint32_t qn_chain_n_vocab(const qn_chain *c);
void qn_chain_accept(qn_chain *c, const int32_t *ids, size_t n_ids);

/* Natural log-probabilities of the n best tokens under the plain softmax; ties: lower id first. n <= n_vocab. */
void qn_top_logprobs(const float *logits, uint32_t n_vocab, size_t n, int32_t *ids, float *logprobs);
/* log(sum(exp(logits))) in double. -INFINITY when none is finite. NaN counts as -INFINITY. */
double qn_log_sum_exp(const float *logits, uint32_t n_vocab);

#endif
