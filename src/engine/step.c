/* The ragged step: from items to rows, run, and back; and the one-sequence calls over it.
 * SPDX-License-Identifier: MIT */
#include "engine/engine_int.h"

static qn_status check_tokens(const qn_session *s, const int32_t *tokens, size_t n_tokens, qn_error *err)
{
    uint32_t n_vocab = s->model->net->n_vocab;
    QN_NEED(tokens, err);
    for (size_t i = 0; i < n_tokens; i++) {
        if (tokens[i] < 0 || (uint32_t)tokens[i] >= n_vocab) {
            return qn_fail(err, QN_ERANGE, "tokens[%zu]: %d is outside the vocabulary of %u", i, tokens[i], n_vocab);
        }
    }
    return QN_OK;
}

/* Why an item cannot run, QN_OK when it can; pages are reserved then. */
static qn_status admit(qn_session *s, qn_step_item *it, qn_error *err)
{
    qn_seq *q = it->seq;
    if (q == NULL || !q->is_open || q->session != s) {
        return qn_fail(err, QN_EINVAL, "seq: not an open sequence of this session");
    }
    if (q->in_step) {
        return qn_fail(err, QN_EINVAL, "seq: stands in two items of one step");
    }
    if (it->n_tokens == 0) {
        return qn_fail(err, QN_EINVAL, "n_tokens: 0");
    }
    if (it->n_tokens > s->opt.n_ctx - q->kv.length) {
        return qn_fail(err, QN_ERANGE, "%u tokens after %u do not fit in the context of %u", it->n_tokens, q->kv.length,
                       s->opt.n_ctx);
    }
    if (it->want != QN_WANT_NONE && it->want != QN_WANT_LAST && it->want != QN_WANT_ALL) {
        return qn_fail(err, QN_EINVAL, "want: %d is not known", (int)it->want);
    }
    QN_TRY(check_tokens(s, it->tokens, it->n_tokens, err));
    return qn_kv_seq_reserve(s->kv, &q->kv, it->n_tokens, err);
}

static void add_rows(qn_session *s, qn_step_item *it)
{
    qn_step_rows *r = &s->rows;
    qn_seq *q = it->seq;
    q->in_step = true;
    qn_step_seq *seq = &s->step_seqs[r->n_seqs];
    *seq = (qn_step_seq){.first_row = r->n_rows, .n_rows = it->n_tokens, .pos0 = q->kv.length, .means = q->kv.means,
                         .recent = q->kv.recent, .n_recent = q->kv.n_recent};
    for (uint32_t g = 0; g < s->layout.n_groups; g++) {
        seq->pages[g] = q->kv.pages[g];
    }
    it->i_logits = r->n_out;
    for (uint32_t i = 0; i < it->n_tokens; i++) {
        uint32_t row = r->n_rows + i;
        s->token[row] = it->tokens[i];
        s->pos[row] = q->kv.length + i;
        s->row_seq[row] = r->n_seqs;
        if (it->want == QN_WANT_ALL || (it->want == QN_WANT_LAST && i == it->n_tokens - 1)) {
            s->out_rows[r->n_out++] = row;
        }
    }
    s->step_items[r->n_seqs++] = it;
    r->n_rows += it->n_tokens;
}

/* Turns items into rows. The first fault goes to err. */
static void build_rows(qn_session *s, qn_step_item *items, size_t n_items, qn_error *err)
{
    s->rows = (qn_step_rows){
        .token = s->token, .pos = s->pos, .seq = s->row_seq, .seqs = s->step_seqs, .out_rows = s->out_rows};
    bool told = false;
    for (size_t i = 0; i < n_items; i++) {
        items[i].i_logits = 0;
        items[i].status = admit(s, &items[i], told ? NULL : err);
        if (items[i].status == QN_OK) {
            add_rows(s, &items[i]);
        } else {
            told = true;
        }
    }
}

/* Ends the step: with QN_OK its tokens count, else it is as if it had not been. */
static qn_status end_step(qn_session *s, qn_status status, qn_error *err)
{
    if (status == QN_OK && qn_gguf_damaged(s->model->gguf)) {
        status = qn_fail(err, QN_EDAMAGED, "%s: the model file was cut short while in use", s->model->file);
    } else if (status == QN_EABORTED) {
        atomic_store(&s->stop, false);
        qn_fail(err, QN_EABORTED, "the step was stopped on request");
    }
    for (uint32_t i = 0; i < s->rows.n_seqs; i++) {
        qn_step_item *it = s->step_items[i];
        it->seq->in_step = false;
        if (status == QN_OK) {
            qn_kv_seq_commit(s->kv, &it->seq->kv, it->n_tokens);
        } else {
            qn_kv_seq_cancel(s->kv, &it->seq->kv);
        }
    }
    s->n_logits = status == QN_OK ? s->n_logits : 0;
    return status;
}

static qn_status run_body(qn_session *s)
{
    s->n_logits = 0;
    return s->rows.n_rows == 0 ? QN_OK : s->model->rt->cpu->ops->run_body(s->exec, &s->rows, &s->stop);
}

static qn_status run_head(qn_session *s, uint32_t first, uint32_t n)
{
    return s->model->rt->cpu->ops->run_head(s->exec, &s->rows, first, n, s->logits, &s->stop);
}

static uint64_t wanted_rows(const qn_step_item *it)
{
    return it->want == QN_WANT_ALL ? it->n_tokens : it->want == QN_WANT_LAST;
}

static qn_status check_size(const qn_session *s, const qn_step_item *items, size_t n_items, qn_error *err)
{
    uint64_t n_rows = 0, n_out = 0;
    for (size_t i = 0; i < n_items; i++) {
        n_rows += items[i].n_tokens;
        n_out += wanted_rows(&items[i]);
    }
    if (n_rows > s->opt.n_batch || n_items > s->opt.n_seqs) {
        return qn_fail(err, QN_EINVAL, "a step of %llu rows of %zu sequences; the session takes %u and %u",
                       (unsigned long long)n_rows, n_items, s->opt.n_batch, s->opt.n_seqs);
    }
    if (n_out > s->opt.n_logits) {
        return qn_fail(err, QN_EINVAL, "a step with %llu rows of logits; the session keeps %u",
                       (unsigned long long)n_out, s->opt.n_logits);
    }
    return QN_OK;
}

qn_status qn_step(qn_session *s, qn_step_item *items, size_t n_items, qn_error *err)
{
    QN_NEED(s, err);
    QN_NEED_IF(n_items != 0, items, err);
    QN_TRY(check_size(s, items, n_items, err));
    build_rows(s, items, n_items, err);
    qn_status status = run_body(s);
    if (status == QN_OK && s->rows.n_out != 0) {
        status = run_head(s, 0, s->rows.n_out);
        s->n_logits = s->rows.n_out;
    }
    return end_step(s, status, err);
}

const float *qn_session_logits(const qn_session *s, uint32_t i)
{
    return i < s->n_logits ? s->logits + (uint64_t)i * s->model->net->n_vocab : NULL;
}

static qn_status hand_out_logits(qn_session *s, qn_logits_fn *fn, void *ctx)
{
    for (uint32_t first = 0; first < s->rows.n_out; first += s->opt.n_logits) {
        uint32_t left = s->rows.n_out - first, n = left < s->opt.n_logits ? left : s->opt.n_logits;
        QN_TRY(run_head(s, first, n));
        for (uint32_t i = 0; i < n; i++) {
            if (fn(ctx, first + i, s->logits + (uint64_t)i * s->model->net->n_vocab) != 0) {
                return QN_EABORTED;
            }
        }
    }
    return QN_OK;
}

qn_status qn_seq_eval_each(qn_seq *q, const int32_t *tokens, uint32_t n_tokens, qn_logits_fn *fn, void *ctx,
                           qn_error *err)
{
    QN_NEED(q, err);
    QN_NEED(fn, err);
    qn_session *s = q->session;
    if (n_tokens > s->opt.n_batch) {
        return qn_fail(err, QN_EINVAL, "a step of %u rows; the session takes %u", n_tokens, s->opt.n_batch);
    }
    qn_step_item it = {.seq = q, .tokens = tokens, .n_tokens = n_tokens, .want = QN_WANT_ALL};
    build_rows(s, &it, 1, err);
    QN_TRY(it.status);
    qn_status status = run_body(s);
    if (status == QN_OK) {
        status = hand_out_logits(s, fn, ctx);
    }
    return end_step(s, status, err);
}

qn_status qn_seq_eval(qn_seq *q, const int32_t *tokens, size_t n_tokens, const float **logits, qn_error *err)
{
    QN_NEED(q, err);
    qn_session *s = q->session;
    if (n_tokens == 0) {
        return qn_fail(err, QN_EINVAL, "n_tokens: 0");
    }
    if (n_tokens > s->opt.n_ctx - q->kv.length) {
        return qn_fail(err, QN_ERANGE, "%zu tokens after %u do not fit in the context of %u", n_tokens, q->kv.length,
                       s->opt.n_ctx);
    }
    QN_TRY(check_tokens(s, tokens, n_tokens, err)); /* all of them before any runs */
    for (size_t at = 0; at < n_tokens;) {
        uint32_t n = n_tokens - at < s->opt.n_batch ? (uint32_t)(n_tokens - at) : s->opt.n_batch;
        qn_step_item it = {.seq = q, .tokens = tokens + at, .n_tokens = n};
        it.want = at + n == n_tokens ? QN_WANT_LAST : QN_WANT_NONE;
        QN_TRY(qn_step(s, &it, 1, err));
        QN_TRY(it.status);
        at += n;
    }
    if (logits != NULL) {
        *logits = qn_session_logits(s, 0);
    }
    return QN_OK;
}

void qn_session_abort(qn_session *s)
{
    atomic_store(&s->stop, true);
}
