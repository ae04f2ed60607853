/* Guides: opened, copied, and picking tokens.
 * SPDX-License-Identifier: MIT */
#include "engine/guide_int.h"

#include <assert.h>

#define MAX_REFUSALS 16 /* tokens of a pick that leave no way to the end; then a known way is gone */

/* ---- open and close ---- */

static uint32_t vocab_of(const qn_model *m)
{
    return m->net != NULL ? m->net->n_vocab : qn_tokenizer_n_vocab(m->tokenizer);
}

/* A guide without its matcher. */
static qn_guide *alloc_guide(const qn_model *m, qn_format *f)
{
    qn_budget *b = m->rt->budget;
    qn_guide *g = qn_zalloc(b, QN_GUIDE_OWNER, sizeof(*g));
    if (g == NULL) {
        return NULL;
    }
    g->model = m;
    g->format = qn_format_hold(f);
    assert(vocab_of(m) == qn_tokenizer_n_vocab(m->tokenizer)); /* masks and logits are as long as one another */
    g->n_words = (qn_tokenizer_n_vocab(m->tokenizer) + 63) / 64;
    g->mask = qn_zalloc_array(b, QN_GUIDE_OWNER, g->n_words, sizeof(*g->mask));
    qn_buf_init(&g->forced, b, QN_GUIDE_OWNER, SIZE_MAX);
    qn_buf_init(&g->text, b, QN_GUIDE_OWNER, SIZE_MAX);
    qn_buf_init(&g->way, b, QN_GUIDE_OWNER, SIZE_MAX);
    if (g->mask == NULL) {
        qn_guide_close(g);
        return NULL;
    }
    return g;
}

static qn_status open_matcher(qn_guide *g, qn_error *err)
{
    QN_TRY(qn_guide_vocab_need(g->model, err));
    return qn_matcher_open(g->format->grammar, g->model->guide_vocab->grammar, g->model->rt->budget, &g->matcher, err);
}

static qn_status open_guide(const qn_model *m, qn_format *f, qn_guide **out, qn_error *err)
{
    qn_guide *g = alloc_guide(m, f);
    qn_status status = g == NULL ? qn_fail(err, QN_ENOMEM, "no memory for a guide") : open_matcher(g, err);
    if (status != QN_OK) {
        qn_guide_close(g);
        return status;
    }
    *out = g;
    return QN_OK;
}

qn_status qn_guide_open(const qn_model *m, qn_format *f, qn_guide **out, qn_error *err)
{
    QN_NEED(m, err);
    QN_NEED(f, err);
    QN_NEED(out, err);
    qn_status status = qn_blame_ceiling(m->rt->budget, open_guide(m, f, out, err), err);
    if (status == QN_EBUDGET && qn_format_cache_clear(m->rt->formats)) { /* what is only kept makes room */
        status = qn_blame_ceiling(m->rt->budget, open_guide(m, f, out, err), err);
    }
    return status;
}

void qn_guide_close(qn_guide *g)
{
    if (g == NULL) {
        return;
    }
    qn_matcher_close(g->matcher); /* before the format: it gives its engine back to the grammar */
    qn_format_close(g->format);
    qn_buf_free(&g->forced);
    qn_buf_free(&g->text);
    qn_free(g->mask);
    qn_buf_free(&g->way);
    qn_free(g->ids);
    qn_free(g);
}

qn_status qn_guide_copy(const qn_guide *g, qn_guide **out, qn_error *err)
{
    QN_NEED(g, err);
    QN_NEED(out, err);
    qn_guide *copy = alloc_guide(g->model, g->format);
    qn_status status = copy == NULL ? qn_fail(err, QN_ENOMEM, "no memory for a guide")
                                    : qn_matcher_copy(g->matcher, &copy->matcher, err);
    if (status != QN_OK) {
        qn_guide_close(copy);
        return qn_blame_ceiling(g->model->rt->budget, status, err);
    }
    memcpy(copy->tail, g->tail, sizeof(copy->tail));
    copy->n_tail = g->n_tail;
    copy->has_ended = g->has_ended;
    *out = copy;
    return QN_OK;
}

bool qn_guide_may_end(const qn_guide *g)
{
    return qn_matcher_may_end(g->matcher);
}

bool qn_guide_must_end(const qn_guide *g)
{
    return g->has_ended || qn_matcher_must_end(g->matcher);
}

/* ---- picking ---- */

/* The matcher has taken id. An end token may be one that the format names within a text. */
static bool has_ended_by(const qn_guide *g, int32_t id)
{
    return qn_tokenizer_is_end(g->model->tokenizer, id) && qn_matcher_must_end(g->matcher);
}

void qn_guide_moved(qn_guide *g, int32_t id)
{
    if (qn_grammar_vocab_bytes(g->model->guide_vocab->grammar, id).len == 0) { /* tokenizers begin anew behind those */
        g->n_tail = 0;
        g->has_ended = has_ended_by(g, id);
        return;
    }
    if (g->n_tail == QN_GUIDE_TAIL) {
        g->n_tail--;
        memmove(g->tail, g->tail + 1, g->n_tail * sizeof(g->tail[0]));
    }
    g->tail[g->n_tail++] = id;
}

typedef struct pick {
    int32_t id;
    float *logprob; /* NULL: not asked for */
} pick;

/* What a matcher ran into: never a fault of the text. */
static qn_status fail_by_limit(const qn_guide *g, qn_status status, const char *doing, qn_error *err)
{
    const char *limit = qn_matcher_limit(g->matcher);
    return status == QN_EFULL && limit[0] != '\0' ? qn_fail(err, status, "%s: %s", doing, limit)
                                                  : qn_fail(err, status, "%s: %s", doing, qn_status_text(status));
}

static qn_status fill_mask(qn_guide *g, qn_error *err)
{
    qn_status status = qn_matcher_mask(g->matcher, g->mask);
    if (status == QN_ENOTFOUND) {
        return qn_fail(err, status, "no token of the vocabulary goes on with the text as the format wants it");
    }
    return status == QN_OK ? QN_OK : fail_by_limit(g, status, "what may come next", err);
}

static qn_status move(qn_guide *g, int32_t id, qn_error *err)
{
    qn_status status = qn_matcher_accept(g->matcher, id);
    return status == QN_OK ? QN_OK : fail_by_limit(g, status, "going on with the token that was picked", err);
}

/* Takes a token of the mask and moves. */
static qn_status take(qn_guide *g, qn_chain *c, const float *logits, pick *p, qn_error *err)
{
    QN_TRY(qn_chain_choose(c, logits, g->mask, &p->id, p->logprob, err));
    return move(g, p->id, err);
}

/* Along a shortest text to the end. Where bias bans that, the text cannot be ended, and goes on as it would. */
static qn_status take_way(qn_guide *g, qn_chain *c, const float *logits, pick *p, qn_error *err)
{
    QN_TRY(fill_mask(g, err));
    qn_status status = qn_guide_mask_way(g);
    if (status != QN_OK) {
        return qn_fail(err, status, "looking for a way to the end: %s", qn_status_text(status));
    }
    status = take(g, c, logits, p, NULL);
    if (status == QN_EINVAL) {
        QN_TRY(fill_mask(g, err));
        return take(g, c, logits, p, err);
    }
    return status == QN_OK ? QN_OK : qn_fail(err, status, "going to the end: %s", qn_status_text(status));
}

static qn_status can_end(qn_guide *g, uint64_t n_left, bool *can, qn_error *err)
{
    qn_status status = qn_guide_can_end(g, n_left, can);
    return status == QN_OK ? QN_OK : qn_fail(err, status, "looking for a way to the end: %s", qn_status_text(status));
}

/* Whether the text can be ended within n_left tokens behind the one that was just taken. If not, or if that cannot be
 * found out, it is taken back. */
static qn_status leaves_way(qn_guide *g, const pick *p, uint64_t n_left, bool *does, qn_error *err)
{
    *does = has_ended_by(g, p->id);
    qn_status status = *does ? QN_OK : can_end(g, n_left, does, err);
    if (status != QN_OK || !*does) {
        qn_matcher_rollback(g->matcher, 1); /* one token is always remembered */
    }
    return status;
}

/* The last pick left no way to the end, and was taken back: takes others, until one does. */
static qn_status take_another(qn_guide *g, qn_chain *c, const float *logits, uint64_t n_left, pick *p, qn_error *err)
{
    bool can;
    QN_TRY(can_end(g, n_left, &can, err));
    if (!can) { /* nor is there one from here: any token is as good */
        return move(g, p->id, err);
    }
    for (int n_refused = 1; n_refused < MAX_REFUSALS; n_refused++) {
        g->mask[p->id / 64] &= ~((uint64_t)1 << (p->id % 64));
        qn_status status = take(g, c, logits, p, err);
        if (status == QN_EINVAL) { /* the mask has nothing more */
            break;
        }
        QN_TRY(status);
        QN_TRY(leaves_way(g, p, n_left - 1, &can, err));
        if (can) {
            return QN_OK;
        }
    }
    return take_way(g, c, logits, p, err);
}

static qn_status pick_token(qn_guide *g, qn_chain *c, const float *logits, uint64_t n_left, pick *p, qn_error *err)
{
    bool can = true;
    QN_TRY(fill_mask(g, err));
    QN_TRY(take(g, c, logits, p, err));
    if (n_left != 0) {
        QN_TRY(leaves_way(g, p, n_left - 1, &can, err));
    }
    return can ? QN_OK : take_another(g, c, logits, n_left, p, err);
}

static qn_status check_pick(const qn_guide *g, const qn_sampler *s, qn_error *err)
{
    if (g->has_ended) {
        return qn_fail(err, QN_EINVAL, "guide: its text has ended");
    }
    if (qn_chain_n_vocab(s->chain) != vocab_of(g->model)) {
        return qn_fail(err, QN_EINVAL, "sampler: of %lu tokens, the guide's model has %lu",
                       (unsigned long)qn_chain_n_vocab(s->chain), (unsigned long)vocab_of(g->model));
    }
    return QN_OK;
}

qn_status qn_guide_pick(qn_guide *g, qn_sampler *s, const float *logits, uint64_t n_left, int32_t *id, float *logprob,
                        qn_error *err)
{
    QN_NEED(g, err);
    QN_NEED(s, err);
    QN_NEED(logits, err);
    QN_NEED(id, err);
    QN_TRY(check_pick(g, s, err));
    qn_budget *b = g->model->rt->budget;
    float its_logprob = 0;
    pick p = {.id = -1, .logprob = logprob != NULL ? &its_logprob : NULL};
    qn_status status = qn_chain_allow_masks(s->chain, err);
    if (status == QN_OK) {
        status = pick_token(g, s->chain, logits, n_left, &p, err);
    }
    if (status != QN_OK) {
        return qn_blame_ceiling(b, status, err);
    }
    qn_guide_moved(g, p.id);
    qn_chain_accept(s->chain, &p.id, 1);
    *id = p.id;
    if (logprob != NULL) {
        *logprob = its_logprob;
    }
    return QN_OK;
}
