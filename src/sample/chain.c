/* The sampling chain: checks the options, owns the memory, calls the samplers in order.
 *
 * Invariants: work is there when bias or penalties are in force, or masks allowed; the candidates have room for as many
 * as can ever be listed at once (none when greedy, top_k when it is set, else the vocabulary; with masks, the few that
 * are listed from bits).
 *
 * SPDX-License-Identifier: MIT */
#include "sample/sample_int.h"

struct qn_chain {
    qn_budget *budget;
    uint32_t n_vocab;
    double temperature, top_p, min_p, typical_p;
    uint32_t top_k; /* in [1, n_vocab]; n_vocab: off */
    qn_bias bias;
    qn_penalties penalties;
    float *work; /* n_vocab */
    int32_t *top_ids; /* top_k; NULL when that is off */
    qn_candidates candidates;
    qn_random random;
};

void qn_sampler_options_init(qn_sampler_options *o)
{
    *o = (qn_sampler_options){
        .temperature = 0.8f,
        .top_k = 40,
        .top_p = 0.95f,
        .min_p = 0.05f,
        .typical_p = 1,
        .repeat_penalty = 1,
        .penalty_last_n = 64,
    };
}

static qn_status check_range(const char *name, float value, float min, float max, qn_error *err)
{
    if (!(value >= min && value <= max)) { /* NaN fails too */
        return qn_fail(err, QN_EINVAL, "%s: %g is not in [%g, %g]", name, (double)value, (double)min, (double)max);
    }
    return QN_OK;
}

static qn_status check_options(const qn_sampler_options *o, qn_error *err)
{
    QN_TRY(check_range("temperature", o->temperature, 0, FLT_MAX, err));
    QN_TRY(check_range("top_p", o->top_p, 0, 1, err));
    QN_TRY(check_range("min_p", o->min_p, 0, 1, err));
    QN_TRY(check_range("typical_p", o->typical_p, 0, 1, err));
    QN_TRY(check_range("frequency_penalty", o->frequency_penalty, -FLT_MAX, FLT_MAX, err));
    QN_TRY(check_range("presence_penalty", o->presence_penalty, -FLT_MAX, FLT_MAX, err));
    QN_TRY(check_range("repeat_penalty", o->repeat_penalty, 0, FLT_MAX, err));
    if (o->repeat_penalty <= 0) {
        return qn_fail(err, QN_EINVAL, "repeat_penalty: must be above 0");
    }
    if (o->penalty_last_n > QN_PENALTY_MAX_LAST_N) {
        return qn_fail(err, QN_EINVAL, "penalty_last_n: %lu is above %lu", (unsigned long)o->penalty_last_n,
                       (unsigned long)QN_PENALTY_MAX_LAST_N);
    }
    return QN_OK;
}

static bool adjusts(const qn_chain *c)
{
    return c->bias.n > 0 || c->penalties.count != NULL;
}

static qn_status reserve(qn_chain *c, qn_budget *b)
{
    if (adjusts(c)) {
        c->work = qn_zalloc_array(b, QN_SAMPLER_OWNER, c->n_vocab, sizeof(*c->work));
        if (c->work == NULL) {
            return QN_ENOMEM;
        }
    }
    if (c->temperature == 0) {
        return QN_OK;
    }
    if (c->top_k < c->n_vocab) {
        c->top_ids = qn_zalloc_array(b, QN_SAMPLER_OWNER, c->top_k, sizeof(*c->top_ids));
        if (c->top_ids == NULL) {
            return QN_ENOMEM;
        }
    }
    c->candidates.cap = c->top_k;
    c->candidates.item = qn_zalloc_array(b, QN_SAMPLER_OWNER, c->top_k, sizeof(*c->candidates.item));
    return c->candidates.item == NULL ? QN_ENOMEM : QN_OK;
}

qn_status qn_chain_open(const qn_sampler_options *o, uint32_t n_vocab, qn_budget *b, qn_chain **out, qn_error *err)
{
    if (n_vocab == 0 || n_vocab > INT32_MAX) {
        return qn_fail(err, QN_EINVAL, "sampler: a vocabulary of %lu tokens", (unsigned long)n_vocab);
    }
    QN_TRY(check_options(o, err));
    qn_chain *c = qn_zalloc(b, QN_SAMPLER_OWNER, sizeof(*c));
    if (c == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for a sampler");
    }
    c->budget = b;
    c->n_vocab = n_vocab;
    c->temperature = o->temperature;
    c->top_p = o->top_p;
    c->min_p = o->min_p;
    c->typical_p = o->typical_p;
    c->top_k = o->top_k == 0 || o->top_k > n_vocab ? n_vocab : o->top_k;
    qn_random_seed(&c->random, o->seed);
    qn_status status = qn_bias_open(o->bias, o->n_bias, n_vocab, b, &c->bias, err);
    if (status == QN_OK) {
        status = qn_penalties_open(o, n_vocab, b, &c->penalties, err);
    }
    if (status == QN_OK && reserve(c, b) != QN_OK) {
        status = qn_fail(err, QN_ENOMEM, "no memory to sample from %lu tokens", (unsigned long)n_vocab);
    }
    if (status != QN_OK) {
        qn_chain_close(c);
        return status;
    }
    *out = c;
    return QN_OK;
}

qn_status qn_chain_allow_masks(qn_chain *c, qn_error *err)
{
    uint32_t n_few = QN_MASK_FEW < c->n_vocab ? QN_MASK_FEW : c->n_vocab;
    if (c->work == NULL) {
        c->work = qn_alloc(c->budget, QN_SAMPLER_OWNER, (size_t)c->n_vocab * sizeof(*c->work));
    }
    if (c->candidates.cap < n_few) {
        void *grown = qn_realloc(c->budget, QN_SAMPLER_OWNER, c->candidates.item, n_few * sizeof(*c->candidates.item));
        c->candidates.item = grown != NULL ? grown : c->candidates.item;
        c->candidates.cap = grown != NULL ? n_few : c->candidates.cap;
    }
    return c->work != NULL && c->candidates.cap >= n_few ? QN_OK : qn_fail(err, QN_ENOMEM, "no memory for masks");
}

void qn_chain_close(qn_chain *c)
{
    if (c == NULL) {
        return;
    }
    qn_bias_close(&c->bias);
    qn_penalties_close(&c->penalties);
    qn_free(c->work);
    qn_free(c->top_ids);
    qn_free(c->candidates.item);
    qn_free(c);
}

static const float *adjust(qn_chain *c, const float *logits)
{
    if (!adjusts(c)) {
        return logits;
    }
    for (uint32_t i = 0; i < c->n_vocab; i++) {
        c->work[i] = qn_logit_clean(logits[i]);
    }
    qn_bias_apply(&c->bias, c->work, c->n_vocab);
    qn_penalties_apply(&c->penalties, c->work);
    return c->work;
}

static void list_candidates(qn_chain *c, const float *logits)
{
    if (c->top_ids == NULL) {
        qn_candidates_fill(&c->candidates, logits, c->n_vocab);
        return;
    }
    qn_sample_top_k(logits, c->n_vocab, c->top_k, c->top_ids);
    size_t n = 0;
    while (n < c->top_k && isfinite(logits[c->top_ids[n]])) { /* the finite ones come first */
        c->candidates.item[n] = (qn_candidate){.id = c->top_ids[n], .logit = logits[c->top_ids[n]]};
        n++;
    }
    c->candidates.n = n;
}

/* -1: nothing can be picked. */
static int32_t pick_greedy(const qn_chain *c, const float *logits)
{
    int32_t best;
    qn_sample_top_k(logits, c->n_vocab, 1, &best);
    return isfinite(logits[best]) ? best : -1;
}

/* Draws from the candidates; -1: there are none. */
static int32_t draw(qn_chain *c)
{
    if (c->candidates.n == 0) {
        return -1;
    }
    if (c->typical_p < 1) {
        qn_sample_typical(&c->candidates, c->typical_p);
    }
    if (c->top_p < 1) {
        qn_sample_top_p(&c->candidates, c->top_p);
    }
    if (c->min_p > 0) {
        qn_sample_min_p(&c->candidates, c->min_p);
    }
    return qn_sample_temperature(&c->candidates, c->temperature, qn_random_unit(&c->random));
}

/* From adjusted logits. */
static int32_t pick_of_all(qn_chain *c, const float *logits)
{
    if (c->temperature == 0) {
        return pick_greedy(c, logits);
    }
    list_candidates(c, logits);
    return draw(c);
}

/* From the few tokens of a mask: the same as from all logits without the others. */
static int32_t pick_of_few(qn_chain *c, const float *logits, const uint64_t *mask)
{
    qn_mask_list(mask, logits, c->n_vocab, &c->candidates);
    qn_bias_apply_to_list(&c->bias, &c->candidates);
    qn_penalties_apply_to_list(&c->penalties, &c->candidates);
    if (c->temperature == 0) {
        qn_candidates_keep_best(&c->candidates, 1);
        return c->candidates.n == 0 ? -1 : c->candidates.item[0].id;
    }
    if (c->top_ids != NULL) {
        qn_candidates_keep_best(&c->candidates, c->top_k);
    }
    return draw(c);
}

static int32_t pick_of_many(qn_chain *c, const float *logits, const uint64_t *mask)
{
    qn_mask_copy(mask, logits, c->n_vocab, c->work);
    qn_bias_apply(&c->bias, c->work, c->n_vocab);
    qn_penalties_apply(&c->penalties, c->work);
    return pick_of_all(c, c->work);
}

static void tell(const qn_chain *c, const float *logits, int32_t picked, int32_t *id, float *logprob)
{
    if (logprob != NULL) {
        *logprob = (float)((double)logits[picked] - qn_log_sum_exp(logits, c->n_vocab));
    }
    *id = picked;
}

qn_status qn_chain_pick(qn_chain *c, const float *logits, int32_t *id, float *logprob, qn_error *err)
{
    int32_t picked = pick_of_all(c, adjust(c, logits));
    if (picked < 0) {
        return qn_fail(err, QN_EINVAL, "no token can be picked: no logit is finite, or every token is banned");
    }
    qn_penalties_accept(&c->penalties, picked);
    tell(c, logits, picked, id, logprob);
    return QN_OK;
}

qn_status qn_chain_choose(qn_chain *c, const float *logits, const uint64_t *mask, int32_t *id, float *logprob,
                          qn_error *err)
{
    bool is_few = qn_mask_count(mask, c->n_vocab) <= QN_MASK_FEW;
    int32_t picked = is_few ? pick_of_few(c, logits, mask) : pick_of_many(c, logits, mask);
    if (picked < 0) {
        return qn_fail(err, QN_EINVAL,
                       "no token can be picked: those that may come next are banned or have no finite logit");
    }
    tell(c, logits, picked, id, logprob);
    return QN_OK;
}

uint32_t qn_chain_n_vocab(const qn_chain *c)
{
    return c->n_vocab;
}

void qn_chain_accept(qn_chain *c, const int32_t *ids, size_t n_ids)
{
    for (size_t i = 0; i < n_ids; i++) {
        qn_penalties_accept(&c->penalties, ids[i]);
    }
}
