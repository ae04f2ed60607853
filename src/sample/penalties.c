/* Penalties for tokens that were used lately: repetition, frequency, presence. SPDX-License-Identifier: MIT */
#include "sample/sample_int.h"

#define QN_COUNT_SEEN (1u << 31) /* set while a token's penalty is already in; counts stay below it */

qn_status qn_penalties_open(const qn_sampler_options *o, uint32_t n_vocab, qn_budget *b, qn_penalties *out,
                            qn_error *err)
{
    qn_penalties p = {
        .last_n = o->penalty_last_n,
        .n_vocab = n_vocab,
        .repeat = o->repeat_penalty,
        .frequency = o->frequency_penalty,
        .presence = o->presence_penalty,
    };
    if (p.last_n == 0 || (p.repeat == 1 && p.frequency == 0 && p.presence == 0)) {
        *out = (qn_penalties){0};
        return QN_OK;
    }
    p.count = qn_zalloc_array(b, QN_SAMPLER_OWNER, n_vocab, sizeof(*p.count));
    p.window = qn_zalloc_array(b, QN_SAMPLER_OWNER, p.last_n, sizeof(*p.window));
    if (p.count == NULL || p.window == NULL) {
        qn_penalties_close(&p);
        return qn_fail(err, QN_ENOMEM, "no memory for penalties over %lu tokens", (unsigned long)o->penalty_last_n);
    }
    *out = p;
    return QN_OK;
}

void qn_penalties_close(qn_penalties *p)
{
    qn_free(p->count);
    qn_free(p->window);
    *p = (qn_penalties){0};
}

void qn_penalties_accept(qn_penalties *p, int32_t id)
{
    if (p->count == NULL || id < 0 || (uint32_t)id >= p->n_vocab) {
        return;
    }
    if (p->n == p->last_n) {
        p->count[p->window[p->i_next]]--;
    } else {
        p->n++;
    }
    p->window[p->i_next] = id;
    p->count[id]++;
    p->i_next = p->i_next + 1 == p->last_n ? 0 : p->i_next + 1;
}

/* A finite logit of a token that stands count >= 1 times in the window. */
static float penalized(const qn_penalties *p, float logit, uint32_t count)
{
    double x = logit;
    x = x > 0 ? x / p->repeat : x * p->repeat;
    x -= (double)count * p->frequency + p->presence;
    return qn_logit_narrow(x);
}

void qn_penalties_apply(qn_penalties *p, float *logits)
{
    /* Until the ring is full it holds [0, n), afterwards all of it: the first n places either way. */
    for (uint32_t i = 0; i < p->n; i++) {
        int32_t id = p->window[i];
        uint32_t count = p->count[id];
        if (count & QN_COUNT_SEEN || !isfinite(logits[id])) {
            continue;
        }
        p->count[id] |= QN_COUNT_SEEN;
        logits[id] = penalized(p, logits[id], count);
    }
    for (uint32_t i = 0; i < p->n; i++) {
        p->count[p->window[i]] &= ~QN_COUNT_SEEN;
    }
}

void qn_penalties_apply_to_list(const qn_penalties *p, qn_candidates *c)
{
    for (size_t i = 0; p->count != NULL && i < c->n; i++) {
        uint32_t count = p->count[c->item[i].id];
        if (count != 0) {
            c->item[i].logit = penalized(p, c->item[i].logit, count);
        }
    }
}
