/* quern.h's calls for text, sampling and streams: thin over text and sample. SPDX-License-Identifier: MIT */
#include "engine/engine_int.h"

#include "sample/sampler.h"
#include "text/stream.h"

#include <math.h>

#define MAX_TOKEN_TEXT (1u << 20) /* bytes that one token may become; the longest known have under 512 */

qn_status qn_tokenize(const qn_model *m, const char *text, size_t n_bytes, unsigned flags, int32_t *ids, size_t cap,
                      size_t *n_ids, qn_error *err)
{
    QN_NEED(m, err);
    QN_NEED_IF(n_bytes != 0, text, err);
    QN_NEED_IF(cap != 0, ids, err);
    QN_NEED(n_ids, err);
    qn_status status = qn_tokenizer_encode(m->tokenizer, text, n_bytes, flags, ids, cap, n_ids, err);
    return qn_blame_ceiling(m->rt->budget, status, err);
}

qn_status qn_detokenize(const qn_model *m, const int32_t *ids, size_t n_ids, unsigned flags, char *text, size_t cap,
                        size_t *n_bytes, qn_error *err)
{
    qn_buf out;
    QN_NEED(m, err);
    QN_NEED_IF(n_ids != 0, ids, err);
    QN_NEED_IF(cap != 0, text, err);
    QN_NEED(n_bytes, err);
    qn_buf_init(&out, m->rt->budget, "text", SIZE_MAX);
    qn_status status = qn_tokenizer_decode(m->tokenizer, ids, n_ids, flags, &out, err);
    if (status == QN_OK) {
        *n_bytes = out.len;
        if (out.len > cap) {
            status = qn_fail(err, QN_ERANGE, "the text has %zu bytes, the buffer %zu", out.len, cap);
        } else if (out.len != 0) {
            memcpy(text, out.data, out.len);
        }
    }
    qn_buf_free(&out);
    return qn_blame_ceiling(m->rt->budget, status, err);
}

bool qn_token_is_end(const qn_model *m, int32_t id)
{
    return qn_tokenizer_is_end(m->tokenizer, id);
}

/* ---- samplers --------------------------------------------------------------------------------------- */

static uint32_t vocab_of(const qn_model *m)
{
    return m->net != NULL ? m->net->n_vocab : qn_tokenizer_n_vocab(m->tokenizer);
}

qn_status qn_sampler_open(const qn_model *m, const qn_sampler_options *o, qn_sampler **out, qn_error *err)
{
    qn_sampler_options usual;
    QN_NEED(m, err);
    QN_NEED(out, err);
    qn_budget *b = m->rt->budget;
    qn_sampler *s = qn_zalloc(b, "sampler", sizeof(*s));
    if (s == NULL) {
        return qn_blame_ceiling(b, qn_fail(err, QN_ENOMEM, "no memory for the sampler"), err);
    }
    qn_sampler_options_init(&usual);
    qn_status status = qn_chain_open(o != NULL ? o : &usual, vocab_of(m), b, &s->chain, err);
    if (status != QN_OK) {
        qn_free(s);
        return qn_blame_ceiling(b, status, err);
    }
    *out = s;
    return QN_OK;
}

void qn_sampler_close(qn_sampler *s)
{
    if (s != NULL) {
        qn_chain_close(s->chain);
        qn_free(s);
    }
}

qn_status qn_sampler_pick(qn_sampler *s, const float *logits, int32_t *id, float *logprob, qn_error *err)
{
    QN_NEED(s, err);
    QN_NEED(logits, err);
    QN_NEED(id, err);
    return qn_chain_pick(s->chain, logits, id, logprob, err);
}

void qn_sampler_accept(qn_sampler *s, const int32_t *ids, size_t n_ids)
{
    qn_chain_accept(s->chain, ids, n_ids);
}

void qn_logprobs_top(const qn_model *m, const float *logits, size_t n, int32_t *ids, float *logprobs)
{
    uint32_t n_vocab = vocab_of(m);
    size_t n_known = n < n_vocab ? n : n_vocab;
    qn_top_logprobs(logits, n_vocab, n_known, ids, logprobs);
    for (size_t i = n_known; i < n; i++) {
        ids[i] = -1;
        logprobs[i] = -INFINITY;
    }
}

/* ---- streams ---------------------------------------------------------------------------------------- */

struct qn_stream {
    const qn_model *model;
    unsigned flags; /* QN_TEXT_PARSE_SPECIAL or 0 */
    qn_text_stream *text;
    qn_buf bytes, out;
};

/* Grows a buffer to take n bytes, so that streaming asks for no memory. */
static qn_status reserve(qn_buf *b, size_t n)
{
    for (size_t left = n; left > 0;) {
        static const char filler[256];
        size_t now = left < sizeof(filler) ? left : sizeof(filler);
        qn_buf_add(b, filler, now);
        left -= now;
    }
    qn_status status = b->status;
    qn_buf_clear(b);
    return status;
}

/* What one token and a text held back before it can become: an invalid byte is shown as a character of three. */
static qn_status reserve_buffers(qn_stream *st, const qn_str *stops, size_t n_stops, qn_error *err)
{
    size_t held = 4; /* an unfinished character */
    for (size_t i = 0; i < n_stops; i++) {
        held = stops[i].len > held ? stops[i].len : held;
    }
    size_t piece = st->model->longest_piece;
    if (reserve(&st->bytes, piece) != QN_OK || reserve(&st->out, 3 * (piece + held)) != QN_OK) {
        return qn_fail(err, QN_ENOMEM, "no memory for the text of a token");
    }
    return QN_OK;
}

static qn_status open_text_stream(qn_stream *st, const char *const *stops, size_t n_stops, qn_error *err)
{
    qn_str views[QN_STREAM_MAX_STOPS] = {0};
    if (n_stops > QN_STREAM_MAX_STOPS) {
        return qn_fail(err, QN_EINVAL, "stop: %zu strings, at most %d", n_stops, QN_STREAM_MAX_STOPS);
    }
    QN_NEED_IF(n_stops != 0, stops, err);
    for (size_t i = 0; i < n_stops; i++) {
        if (stops[i] == NULL) {
            return qn_fail(err, QN_EINVAL, "stops[%zu]: NULL", i);
        }
        views[i] = qn_str_of(stops[i]);
    }
    QN_TRY(qn_text_stream_open(views, n_stops, st->model->rt->budget, &st->text, err));
    return reserve_buffers(st, views, n_stops, err);
}

qn_status qn_stream_open(const qn_model *m, const char *const *stops, size_t n_stops, unsigned flags, qn_stream **out,
                         qn_error *err)
{
    QN_NEED(m, err);
    QN_NEED(out, err);
    qn_budget *b = m->rt->budget;
    qn_stream *st = qn_zalloc(b, "stream", sizeof(*st));
    if (st == NULL) {
        return qn_blame_ceiling(b, qn_fail(err, QN_ENOMEM, "no memory for the stream"), err);
    }
    st->model = m;
    st->flags = flags & QN_TEXT_PARSE_SPECIAL;
    qn_buf_init(&st->bytes, b, "stream", MAX_TOKEN_TEXT);
    /* invalid bytes may treble in length; held-back text comes on top */
    qn_buf_init(&st->out, b, "stream", 3 * MAX_TOKEN_TEXT + QN_STREAM_MAX_STOP_BYTES);
    qn_status status = open_text_stream(st, stops, n_stops, err);
    if (status != QN_OK) {
        qn_stream_close(st);
        return qn_blame_ceiling(b, status, err);
    }
    *out = st;
    return QN_OK;
}

void qn_stream_close(qn_stream *st)
{
    if (st != NULL) {
        qn_text_stream_close(st->text);
        qn_buf_free(&st->bytes);
        qn_buf_free(&st->out);
        qn_free(st);
    }
}

static qn_status give(qn_stream *st, qn_status status, const char **text, size_t *n_bytes, qn_error *err)
{
    if (status == QN_OK) {
        status = st->out.status;
    }
    if (status != QN_OK) {
        return qn_fail(err, status, "the text of a token does not fit in the stream");
    }
    *text = st->out.data;
    *n_bytes = st->out.len;
    return QN_OK;
}

qn_status qn_stream_push(qn_stream *st, int32_t id, const char **text, size_t *n_bytes, bool *stopped, qn_error *err)
{
    QN_NEED(st, err);
    QN_NEED(text, err);
    QN_NEED(n_bytes, err);
    QN_NEED(stopped, err);
    qn_buf_clear(&st->bytes);
    qn_buf_clear(&st->out);
    const qn_tokenizer *t = st->model->tokenizer;
    unsigned flags = qn_tokenizer_is_end(t, id) ? 0 : st->flags;
    QN_TRY(qn_tokenizer_decode_token(t, id, flags, false, &st->bytes, err));
    return give(st, qn_text_stream_push(st->text, st->bytes.data, st->bytes.len, &st->out, stopped), text, n_bytes,
                err);
}

qn_status qn_stream_finish(qn_stream *st, const char **text, size_t *n_bytes, qn_error *err)
{
    QN_NEED(st, err);
    QN_NEED(text, err);
    QN_NEED(n_bytes, err);
    qn_buf_clear(&st->out);
    return give(st, qn_text_stream_finish(st->text, &st->out), text, n_bytes, err);
}
