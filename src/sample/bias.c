/* Logit bias. SPDX-License-Identifier: MIT */
#include "sample/sample_int.h"

#include <stdlib.h>
#include <string.h>

#define QN_BIAS_BAN (-100.0f) /* the ends that the common APIs allow, and promise to ban and to force */
#define QN_BIAS_FORCE (100.0f)

static int compare_id(const void *a, const void *b)
{
    int32_t x = ((const qn_logit_bias *)a)->id, y = ((const qn_logit_bias *)b)->id;
    return (x > y) - (x < y);
}

static qn_status check_entries(const qn_logit_bias *entry, size_t n, uint32_t n_vocab, qn_error *err)
{
    if (entry == NULL) {
        return qn_fail(err, QN_EINVAL, "bias: NULL with n_bias %zu", n);
    }
    for (size_t i = 0; i < n; i++) {
        if (entry[i].id < 0 || (uint32_t)entry[i].id >= n_vocab) {
            return qn_fail(err, QN_EINVAL, "bias: token id %ld is not in [0, %lu)", (long)entry[i].id,
                           (unsigned long)n_vocab);
        }
        if (!isfinite(entry[i].bias) && entry[i].bias != -INFINITY) {
            return qn_fail(err, QN_EINVAL, "bias: of token %ld is %g; it must be finite, or -inf to ban the token",
                           (long)entry[i].id, (double)entry[i].bias);
        }
    }
    return QN_OK;
}

qn_status qn_bias_open(const qn_logit_bias *entry, size_t n, uint32_t n_vocab, qn_budget *b, qn_bias *out,
                       qn_error *err)
{
    if (n == 0) {
        *out = (qn_bias){0};
        return QN_OK;
    }
    QN_TRY(check_entries(entry, n, n_vocab, err));
    qn_logit_bias *sorted = qn_zalloc_array(b, QN_SAMPLER_OWNER, n, sizeof(*sorted));
    if (sorted == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for %zu entries of logit bias", n);
    }
    memcpy(sorted, entry, n * sizeof(*sorted));
    qsort(sorted, n, sizeof(*sorted), compare_id);
    size_t n_merged = 1;
    for (size_t i = 1; i < n; i++) {
        qn_logit_bias *last = &sorted[n_merged - 1];
        if (sorted[i].id == last->id) {
            /* A ban stays a ban whatever is added. */
            double sum = (double)last->bias + (double)sorted[i].bias;
            last->bias = sum == -INFINITY ? -INFINITY : qn_logit_narrow(sum);
        } else {
            sorted[n_merged++] = sorted[i];
        }
    }
    *out = (qn_bias){.entry = sorted, .n = n_merged};
    return QN_OK;
}

void qn_bias_close(qn_bias *bias)
{
    qn_free(bias->entry);
    *bias = (qn_bias){0};
}

/* Bans everything that is not forced. */
static void leave_forced(const qn_bias *bias, float *logits, uint32_t n_vocab)
{
    size_t i_entry = 0;
    for (uint32_t i = 0; i < n_vocab; i++) {
        while (i_entry < bias->n && (uint32_t)bias->entry[i_entry].id < i) {
            i_entry++;
        }
        bool forced =
            i_entry < bias->n && (uint32_t)bias->entry[i_entry].id == i && bias->entry[i_entry].bias >= QN_BIAS_FORCE;
        if (!forced) {
            logits[i] = -INFINITY;
        }
    }
}

void qn_bias_apply(const qn_bias *bias, float *logits, uint32_t n_vocab)
{
    bool any_forced = false;
    for (size_t i = 0; i < bias->n; i++) {
        const qn_logit_bias *e = &bias->entry[i];
        float *x = &logits[e->id];
        if (e->bias <= QN_BIAS_BAN) {
            *x = -INFINITY;
        } else if (isfinite(*x)) {
            *x = qn_logit_narrow((double)*x + (double)e->bias);
            any_forced |= e->bias >= QN_BIAS_FORCE;
        }
    }
    if (any_forced) {
        leave_forced(bias, logits, n_vocab);
    }
}

/* Leaves those with weight >= least. */
static void keep_weighty(qn_candidates *c, double least)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (c->item[i].weight >= least) {
            c->item[n++] = c->item[i];
        }
    }
    c->n = n;
}

void qn_bias_apply_to_list(const qn_bias *bias, qn_candidates *c)
{
    /* What becomes of a candidate, as its weight. */
    enum { BANNED, FREE, FORCED } most = BANNED;
    for (size_t i = 0, i_entry = 0; i < c->n; i++) {
        qn_candidate *x = &c->item[i];
        while (i_entry < bias->n && bias->entry[i_entry].id < x->id) {
            i_entry++;
        }
        bool has_bias = i_entry < bias->n && bias->entry[i_entry].id == x->id;
        float b = has_bias ? bias->entry[i_entry].bias : 0;
        unsigned fate = b <= QN_BIAS_BAN ? BANNED : b >= QN_BIAS_FORCE ? FORCED : FREE;
        if (has_bias && fate != BANNED) {
            x->logit = qn_logit_narrow((double)x->logit + (double)b);
        }
        x->weight = fate;
        most = fate > most ? fate : most;
    }
    keep_weighty(c, most == FORCED ? FORCED : FREE);
}
