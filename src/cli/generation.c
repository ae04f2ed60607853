/* The loop that makes text. SPDX-License-Identifier: MIT */
#include "cli/generation.h"

#include "base/clock.h"
#include "cli/interrupt.h"

const char *qn_ending_name(qn_ending e)
{
    static const char *const names[] = {"stop", "length", "context", "time", "interrupted", "output"};
    return names[e];
}

static void warn_beyond_training(const char *verb, uint64_t n_ctx, const qn_model_info *info)
{
    if (n_ctx > info->n_ctx_train) {
        fprintf(stderr, "quern %s: the model was trained for %u tokens; beyond them the text may be poor\n", verb,
                (unsigned)info->n_ctx_train);
    }
}

qn_status qn_generation_context(const char *verb, int64_t asked, size_t n_prompt, int64_t n_predict,
                                const qn_model_info *info, uint32_t *out, qn_error *err)
{
    uint64_t n_ctx = (uint64_t)asked;
    if (asked == 0) {
        uint64_t roomy = n_prompt * 2 > 4096 ? n_prompt * 2 : 4096;
        uint64_t needed = n_predict >= 0 ? n_prompt + (uint64_t)n_predict : roomy;
        n_ctx = needed < info->n_ctx_train ? needed : info->n_ctx_train;
    }
    if (n_prompt > n_ctx) {
        return qn_fail(err, QN_ERANGE, "the prompt has %zu tokens, the context holds %llu: raise --ctx-size", n_prompt,
                       (unsigned long long)n_ctx);
    }
    warn_beyond_training(verb, n_ctx, info);
    *out = (uint32_t)n_ctx;
    return QN_OK;
}

qn_status qn_generation_open(qn_generation *g, qn_model *m, qn_sampling *sampling, uint32_t n_ctx, qn_error *err)
{
    const qn_options *o = sampling->options;
    qn_session_options s;
    g->model = m;
    g->sampling = sampling;
    g->n_ctx = n_ctx;
    QN_TRY(qn_sampling_open(sampling, m, &g->sampler, err));
    qn_session_options_init(&s);
    s.n_ctx = n_ctx;
    s.n_batch = (uint32_t)qn_options_int(o, QN_OPTION_ID_BATCH_SIZE);
    s.kv_type = qn_options_int(o, QN_OPTION_ID_KV_TYPE) == 1 ? QN_KV_F32 : QN_KV_F16;
    QN_TRY(qn_session_open(m, &s, &g->session, err));
    return qn_seq_open(g->session, &g->seq, err);
}

void qn_generation_close(qn_generation *g)
{
    qn_interrupt_target(NULL);
    qn_seq_close(g->seq);
    qn_session_close(g->session);
    qn_sampler_close(g->sampler);
    qn_tokens_free(&g->made);
}

/* True: a signal or the deadline has ended the text. */
static bool is_stopped(qn_generation *g)
{
    if (qn_interrupted()) {
        g->ending = QN_ENDING_INTERRUPTED;
        return true;
    }
    if (qn_deadline_passed()) {
        g->ending = QN_ENDING_TIME;
        return true;
    }
    return false;
}

/* QN_OK with *ended set when the evaluation was stopped on request. A request that came too late for the text before
 * this one stops a step too; then it is used up, and the rest goes on. */
static qn_status evaluate(qn_generation *g, const int32_t *ids, size_t n, const float **logits, bool *ended,
                          qn_error *err)
{
    uint32_t begin = qn_seq_length(g->seq);
    for (;;) {
        uint32_t n_done = qn_seq_length(g->seq) - begin;
        qn_status status = qn_seq_eval(g->seq, ids + n_done, n - n_done, logits, err);
        if (status != QN_EABORTED) {
            return status;
        }
        if (is_stopped(g)) {
            *ended = true;
            return QN_OK;
        }
    }
}

static void show(qn_generation *g, const char *bytes, size_t n, bool *ended)
{
    int answer = n > 0 ? g->show(g->ctx, bytes, n) : 0;
    if (answer != 0) {
        g->ending = answer == QN_SHOW_WHOLE ? QN_ENDING_STOP : QN_ENDING_OUTPUT;
        *ended = true;
    }
}

/* Picks a token and shows it. *ended: the text ends with it, or before it. */
static qn_status make_token(qn_generation *g, qn_stream *stream, const float *logits, bool *ended, qn_error *err)
{
    int32_t id;
    QN_TRY(qn_sampler_pick(g->sampler, logits, &id, NULL, err));
    if (g->made.n == 0) {
        g->timings.first_token_ns = qn_clock_ns() - g->begin_ns;
    }
    if (qn_token_is_end(g->model, id)) {
        g->ending = QN_ENDING_STOP;
        *ended = true;
        return QN_OK;
    }
    QN_TRY(qn_tokens_add(&g->made, id, err));
    const char *bytes;
    size_t n_bytes;
    bool stopped;
    QN_TRY(qn_stream_push(stream, id, &bytes, &n_bytes, &stopped, err));
    if (stopped) {
        g->ending = QN_ENDING_STOP;
        *ended = true;
    }
    show(g, bytes, n_bytes, ended);
    return QN_OK;
}

static qn_status decode(qn_generation *g, qn_stream *stream, const float *logits, qn_error *err)
{
    for (bool ended = false; !ended;) {
        if (is_stopped(g)) {
            break;
        }
        if (g->n_predict >= 0 && g->made.n >= (uint64_t)g->n_predict) {
            g->ending = QN_ENDING_LENGTH;
            break;
        }
        QN_TRY(make_token(g, stream, logits, &ended, err));
        if (ended || (g->n_predict >= 0 && g->made.n == (uint64_t)g->n_predict)) {
            continue; /* nobody needs the logits after the last token */
        }
        if (qn_seq_length(g->seq) >= g->n_ctx) {
            g->ending = QN_ENDING_CONTEXT;
            break;
        }
        QN_TRY(evaluate(g, &g->made.ids[g->made.n - 1], 1, &logits, &ended, err));
        g->timings.n_decode += !ended;
    }
    return QN_OK;
}

static qn_status generate(qn_generation *g, qn_stream *stream, const int32_t *prompt, size_t n, qn_error *err)
{
    const float *logits = NULL;
    bool ended = is_stopped(g);
    uint32_t n_before = qn_seq_length(g->seq);
    g->begin_ns = qn_clock_ns();
    if (!ended) {
        QN_TRY(evaluate(g, prompt, n, &logits, &ended, err));
    }
    uint64_t prefilled_ns = qn_clock_ns();
    g->timings.prefill_ns = prefilled_ns - g->begin_ns;
    g->timings.n_prefill = qn_seq_length(g->seq) - n_before;
    if (!ended) {
        QN_TRY(decode(g, stream, logits, err));
        g->timings.decode_ns = qn_clock_ns() - prefilled_ns;
    }
    if (g->ending == QN_ENDING_OUTPUT) {
        return QN_OK;
    }
    const char *bytes;
    size_t n_bytes;
    QN_TRY(qn_stream_finish(stream, &bytes, &n_bytes, err));
    show(g, bytes, n_bytes, &ended);
    return QN_OK;
}

qn_status qn_generate(qn_generation *g, const int32_t *prompt, size_t n, qn_error *err)
{
    qn_stream *stream;
    QN_TRY(qn_stream_open(g->model, g->sampling->stops, g->sampling->n_stops, g->stream_flags, &stream, err));
    g->made.n = 0;
    g->ending = QN_ENDING_STOP;
    g->timings = (qn_timings){.load_ns = g->timings.load_ns};
    qn_sampler_accept(g->sampler, prompt, n);
    qn_interrupt_target(g->session);
    qn_status status = generate(g, stream, prompt, n, err);
    qn_interrupt_target(NULL);
    qn_stream_close(stream);
    return status;
}

void qn_generation_tell_full(const qn_generation *g, const char *verb, const qn_model_info *info)
{
    fprintf(stderr, "quern %s: the text ends here because the context is full: it holds %u tokens. ", verb,
            (unsigned)g->n_ctx);
    if (g->n_ctx < info->n_ctx_train) {
        fprintf(stderr, "Raise --ctx-size (the model was trained for %u).\n", (unsigned)info->n_ctx_train);
    } else {
        fprintf(stderr, "The model was trained for no more; with --ctx-size it can be tried.\n");
    }
}
