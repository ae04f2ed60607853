/* Guides: opened, copied, and picking tokens.
 * SPDX-License-Identifier: MIT */
#include "engine/guide_int.h"

#include <assert.h>

#define MAX_REFUSALS 16 /* tokens of a pick that leave no room or no way to the end; then a known way is gone */

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
    g->mask = qn_zalloc_array(b, QN_GUIDE_OWNER, (size_t)g->n_words * 2, sizeof(*g->mask));
    qn_buf_init(&g->forced, b, QN_GUIDE_OWNER, SIZE_MAX);
    qn_buf_init(&g->text, b, QN_GUIDE_OWNER, SIZE_MAX);
    qn_buf_init(&g->way, b, QN_GUIDE_OWNER, SIZE_MAX);
    if (g->mask == NULL) {
        qn_guide_close(g);
        return NULL;
    }
    g->ahead = g->mask + g->n_words;
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
    if (f->rt != m->rt) {
        return qn_fail(err, QN_EINVAL, "format: of another runtime than the model");
    }
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
bool qn_guide_has_ended_by(const qn_guide *g, int32_t id)
{
    return qn_tokenizer_is_end(g->model->tokenizer, id) && qn_matcher_must_end(g->matcher);
}

void qn_guide_moved(qn_guide *g, int32_t id)
{
    if (qn_grammar_vocab_bytes(g->model->guide_vocab->grammar, id).len == 0) { /* tokenizers begin anew behind those */
        g->n_tail = 0;
        g->has_ended = qn_guide_has_ended_by(g, id);
        return;
    }
    if (g->n_tail == QN_GUIDE_TAIL) {
        g->n_tail--;
        memmove(g->tail, g->tail + 1, g->n_tail * sizeof(g->tail[0]));
    }
    g->tail[g->n_tail++] = id;
}

typedef struct pick {
    qn_chain *chain;
    const float *logits;
    int32_t id;
    float *logprob;  /* NULL: not asked for */
    qn_error limit;  /* of a token that the matcher had no room to go on with; code QN_OK: there was none */
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

static qn_status can_end(qn_guide *g, uint64_t n_left, bool *can, qn_error *err)
{
    qn_status status = qn_guide_can_end(g, n_left, can);
    return status == QN_OK ? QN_OK : qn_fail(err, status, "looking for a way to the end: %s", qn_status_text(status));
}

/* Whether the text can be ended within n_left tokens behind the one that was just taken. If not, or if that cannot be
 * found out, it is taken back. */
static qn_status leaves_way(qn_guide *g, const pick *p, uint64_t n_left, bool *does, qn_error *err)
{
    *does = qn_guide_has_ended_by(g, p->id);
    qn_status status = *does ? QN_OK : can_end(g, n_left, does, err);
    if (status != QN_OK || !*does) {
        qn_matcher_rollback(g->matcher, 1); /* one token is always remembered */
    }
    return status;
}

/* Moves behind the token that was picked, if the matcher has room for what follows and, unless n_left is 0, a way to
 * the end is left. */
static qn_status try_to_move(qn_guide *g, pick *p, uint64_t n_left, bool *moved, qn_error *err)
{
    qn_status status = qn_matcher_accept(g->matcher, p->id);
    *moved = status == QN_OK;
    if (status != QN_OK) {
        qn_error *why = status == QN_EFULL ? &p->limit : err;
        fail_by_limit(g, status, "going on with the token that was picked", why);
        return status == QN_EFULL ? QN_OK : status;
    }
    return n_left == 0 ? QN_OK : leaves_way(g, p, n_left - 1, moved, err);
}

/* Picks of the mask until the guide moved. Not moved: the mask has nothing more that can be picked (err says so), or
 * enough was tried. */
static qn_status take(qn_guide *g, pick *p, uint64_t n_left, bool *moved, qn_error *err)
{
    bool is_kept = false; /* the limit can be */
    *moved = false;
    for (int n = 0; n < MAX_REFUSALS; n++) {
        if (qn_chain_choose(p->chain, p->logits, g->mask, &p->id, p->logprob, err) != QN_OK) {
            return QN_OK;
        }
        QN_TRY(try_to_move(g, p, n_left, moved, err));
        if (!*moved && n_left != 0 && !is_kept) {
            QN_TRY(can_end(g, n_left, &is_kept, err));
            if (!is_kept) { /* nor is there a way from here: any token is as good */
                n_left = 0;
                QN_TRY(try_to_move(g, p, n_left, moved, err));
            }
        }
        if (*moved) {
            return QN_OK;
        }
        g->mask[p->id / 64] &= ~((uint64_t)1 << (p->id % 64));
    }
    return QN_OK;
}

/* Along a shortest text to the end, or that end. */
static qn_status take_way(qn_guide *g, pick *p, bool *moved, qn_error *err)
{
    QN_TRY(fill_mask(g, err));
    qn_status status = qn_guide_mask_way(g);
    if (status != QN_OK) {
        return qn_fail(err, status, "looking for a way to the end: %s", qn_status_text(status));
    }
    return take(g, p, 0, moved, err);
}

static qn_status pick_token(qn_guide *g, pick *p, uint64_t n_left, qn_error *err)
{
    bool moved;
    QN_TRY(fill_mask(g, err));
    QN_TRY(take(g, p, n_left, &moved, err));
    if (!moved) {
        QN_TRY(take_way(g, p, &moved, err));
    }
    if (!moved && n_left != 0) { /* bias bans the way, or nothing has room there: the text goes on as it would */
        QN_TRY(fill_mask(g, err));
        QN_TRY(take(g, p, 0, &moved, err));
    }
    if (moved) {
        return QN_OK;
    }
    return p->limit.code == QN_OK ? QN_EINVAL : qn_fail(err, p->limit.code, "%s", p->limit.what);
}

qn_status qn_guide_check_sampler(const qn_guide *g, const qn_sampler *s, qn_error *err)
{
    if (qn_chain_n_vocab(s->chain) != vocab_of(g->model)) {
        return qn_fail(err, QN_EINVAL, "sampler: of %lu tokens, the guide's model has %lu",
                       (unsigned long)qn_chain_n_vocab(s->chain), (unsigned long)vocab_of(g->model));
    }
    return QN_OK;
}

static qn_status check_pick(const qn_guide *g, const qn_sampler *s, qn_error *err)
{
    if (g->has_ended) {
        return qn_fail(err, QN_EINVAL, "guide: its text has ended");
    }
    return qn_guide_check_sampler(g, s, err);
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
    pick p = {.chain = s->chain, .logits = logits, .id = -1, .logprob = logprob != NULL ? &its_logprob : NULL};
    qn_error why;
    qn_status status = qn_chain_allow_masks(s->chain, &why);
    if (status == QN_OK) {
        status = pick_token(g, &p, n_left, &why);
    }
    if (status != QN_OK) {
        qn_fail(err, status, "%s", why.what);
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
