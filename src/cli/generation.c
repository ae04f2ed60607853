/* The loop that makes text. SPDX-License-Identifier: MIT */
#include "cli/generation.h"

#include "base/clock.h"
#include "cli/interrupt.h"

#define QN_GENERATION_JUMP 256 /* tokens that follow without a choice, at a time */

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
    qn_input_kv_options(o, &s);
    QN_TRY(qn_session_open(m, &s, &g->session, err));
    return qn_seq_open(g->session, &g->seq, err);
}

qn_status qn_generation_set_format(qn_generation *g, qn_format *f, qn_error *err)
{
    qn_guide_close(g->guide_start);
    g->guide_start = NULL;
    return f != NULL ? qn_guide_open(g->model, f, &g->guide_start, err) : QN_OK;
}

void qn_generation_close(qn_generation *g)
{
    qn_interrupt_target(NULL);
    qn_guide_close(g->guide_start);
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

static void end(qn_generation *g, qn_ending ending, bool *ended)
{
    g->ending = ending;
    *ended = true;
}

static void show(qn_generation *g, const char *bytes, size_t n, bool *ended)
{
    int answer = n > 0 ? g->show(g->ctx, bytes, n) : 0;
    if (answer != 0) {
        end(g, answer == QN_SHOW_WHOLE ? QN_ENDING_STOP : QN_ENDING_OUTPUT, ended);
    }
}

/* ---- tokens --------------------------------------------------------------------------------------- */

static size_t n_evaluated(const qn_generation *g)
{
    return qn_seq_length(g->seq) - g->i_made;
}

/* Tokens that may still be made; the last one of a text needs no place in the context. */
static uint64_t room(const qn_generation *g)
{
    uint64_t n_held = g->i_made + g->made.n, most = (uint64_t)g->n_ctx + 1;
    uint64_t left = most > n_held ? most - n_held : 0;
    if (g->n_predict >= 0 && (uint64_t)g->n_predict < g->made.n + left) {
        left = (uint64_t)g->n_predict - g->made.n;
    }
    return left;
}

/* The format has begun; NULL: it has not, or there is none. */
static qn_guide *active_guide(const qn_generation *g)
{
    return g->wait.mark == NULL ? g->guide : NULL;
}

static void note_first_token(qn_generation *g)
{
    if (g->timings.first_token_ns == 0) {
        g->timings.first_token_ns = qn_clock_ns() - g->begin_ns;
    }
}

/* A token of the text is known: shows it. *ended: the text ends with it. */
static qn_status add_token(qn_generation *g, int32_t id, bool *ended, qn_error *err)
{
    const char *bytes;
    size_t n_bytes;
    bool stopped;
    note_first_token(g);
    QN_TRY(qn_tokens_add(&g->made, id, err));
    QN_TRY(qn_stream_push(g->stream, id, &bytes, &n_bytes, &stopped, err));
    if (stopped) {
        g->is_whole = false;
        end(g, QN_ENDING_STOP, ended);
    }
    show(g, bytes, n_bytes, ended);
    return g->wait.mark != NULL ? qn_mark_wait_add(&g->wait, g->model, id, err) : QN_OK;
}

/* Picks a token. *ended: the text ends with it, or before it. */
static qn_status make_token(qn_generation *g, const float *logits, bool *ended, qn_error *err)
{
    int32_t id;
    qn_guide *guide = active_guide(g);
    qn_status status = guide == NULL ? qn_sampler_pick(g->sampler, logits, &id, NULL, err)
                                     : qn_guide_pick(guide, g->sampler, logits, room(g) + 1, &id, NULL, err);
    if (status == QN_EINVAL && guide != NULL && qn_guide_may_end(guide)) {
        end(g, QN_ENDING_STOP, ended); /* only the end was left, and --ignore-eos had banned it */
        return QN_OK;
    }
    QN_TRY(status);
    if (qn_token_is_end(g->model, id)) {
        note_first_token(g);
        end(g, QN_ENDING_STOP, ended);
        return QN_OK;
    }
    return add_token(g, id, ended, err);
}

/* Adds what the format leaves no choice about. *ended: that was all. */
static qn_status jump(qn_generation *g, bool *ended, qn_error *err)
{
    int32_t ids[QN_GENERATION_JUMP];
    uint64_t n_left = room(g);
    size_t n = 0, cap = n_left < QN_GENERATION_JUMP ? (size_t)n_left : QN_GENERATION_JUMP;
    qn_guide *guide = active_guide(g);
    if (guide == NULL) {
        return QN_OK;
    }
    if (cap > 0) {
        QN_TRY(qn_guide_jump(guide, g->sampler, n_left + 1, ids, cap, &n, err));
    }
    for (size_t i = 0; i < n && !*ended; i++) {
        QN_TRY(add_token(g, ids[i], ended, err));
        g->timings.n_jumped++;
    }
    if (!*ended && qn_guide_must_end(guide)) {
        end(g, QN_ENDING_STOP, ended);
    }
    return QN_OK;
}

/* ---- texts ---------------------------------------------------------------------------------------- */

static bool is_full(qn_generation *g)
{
    if (room(g) > 0) {
        return false;
    }
    bool by_count = g->n_predict >= 0 && g->made.n >= (uint64_t)g->n_predict;
    g->ending = by_count ? QN_ENDING_LENGTH : QN_ENDING_CONTEXT;
    return true;
}

static qn_status decode(qn_generation *g, const float *logits, qn_error *err)
{
    for (bool ended = false;;) {
        QN_TRY(jump(g, &ended, err));
        if (ended || is_stopped(g) || is_full(g)) {
            return QN_OK; /* nobody needs the logits after the last token */
        }
        size_t n_done = n_evaluated(g);
        if (n_done < g->made.n) { /* the token picked last, and those that were jumped over after it */
            QN_TRY(evaluate(g, g->made.ids + n_done, g->made.n - n_done, &logits, &ended, err));
            g->timings.n_decode += n_evaluated(g) - n_done;
        }
        if (!ended) {
            QN_TRY(make_token(g, logits, &ended, err));
        }
        if (ended) {
            return QN_OK;
        }
    }
}

static qn_status generate(qn_generation *g, const int32_t *prompt, size_t n, qn_error *err)
{
    const float *logits = NULL;
    bool ended = is_stopped(g);
    uint32_t n_before = qn_seq_length(g->seq);
    g->begin_ns = qn_clock_ns();
    if (!ended) {
        QN_TRY(evaluate(g, prompt, n, &logits, &ended, err));
    }
    uint64_t prefilled_ns = qn_clock_ns();
    g->i_made = qn_seq_length(g->seq);
    g->timings.prefill_ns = prefilled_ns - g->begin_ns;
    g->timings.n_prefill = g->i_made - n_before;
    if (!ended) {
        QN_TRY(decode(g, logits, err));
        g->timings.decode_ns = qn_clock_ns() - prefilled_ns;
    }
    if (g->ending == QN_ENDING_OUTPUT) {
        return QN_OK;
    }
    const char *bytes;
    size_t n_bytes;
    QN_TRY(qn_stream_finish(g->stream, &bytes, &n_bytes, err));
    show(g, bytes, n_bytes, &ended);
    return QN_OK;
}

/* Begins a text: what the last one left is gone. */
static qn_status open_text(qn_generation *g, qn_error *err)
{
    g->made.n = 0;
    g->ending = QN_ENDING_STOP;
    g->timings = (qn_timings){.load_ns = g->timings.load_ns};
    g->is_whole = g->guide_start != NULL;
    qn_mark_wait_begin(&g->wait, g->guide_start != NULL ? g->guide_after : NULL);
    if (g->guide_start != NULL) {
        QN_TRY(qn_guide_copy(g->guide_start, &g->guide, err));
    }
    return qn_stream_open(g->model, g->sampling->stops, g->sampling->n_stops, g->stream_flags, &g->stream, err);
}

static void close_text(qn_generation *g)
{
    g->is_whole = g->is_whole && active_guide(g) != NULL && qn_guide_may_end(g->guide);
    qn_stream_close(g->stream);
    qn_guide_close(g->guide);
    qn_mark_wait_end(&g->wait);
    g->stream = NULL;
    g->guide = NULL;
}

qn_status qn_generate(qn_generation *g, const int32_t *prompt, size_t n, qn_error *err)
{
    qn_status status = open_text(g, err);
    if (status == QN_OK) {
        qn_sampler_accept(g->sampler, prompt, n);
        qn_interrupt_target(g->session);
        status = generate(g, prompt, n, err);
        qn_interrupt_target(NULL);
    }
    close_text(g);
    return status;
}

/* ---- what is told --------------------------------------------------------------------------------- */

bool qn_generation_check_whole(const qn_generation *g, const char *verb)
{
    static const char *const why[] = {"a stop string or the model itself", "--n-predict", "the full context",
                                      "--time-limit"};
    bool by_person = g->ending == QN_ENDING_INTERRUPTED || g->ending == QN_ENDING_OUTPUT || g->n_predict == 0;
    if (g->guide_start == NULL || g->is_whole || by_person) {
        return true;
    }
    fprintf(stderr, "quern %s: the text is not whole: %s ended it before all that its format wants was written\n", verb,
            why[g->ending]);
    return false;
}

void qn_generation_json_whole(const qn_generation *g, qn_json_writer *w)
{
    qn_json_key(w, "whole");
    if (g->guide_start != NULL) {
        qn_json_bool(w, g->is_whole);
    } else {
        qn_json_null(w);
    }
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
