/* quern run: continues a text. SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "cli/cli.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/report.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* Why the text ends. */
typedef enum ending { ENDING_STOP, ENDING_LENGTH, ENDING_CONTEXT, ENDING_TIME, ENDING_INTERRUPTED } ending;

static const char *const ending_names[] = {"stop", "length", "context", "time", "interrupted"};

typedef struct run {
    const qn_options *options;
    qn_opened opened;
    qn_model_info info;
    qn_session *session;
    qn_seq *seq;
    qn_sampler *sampler;
    qn_stream *stream;
    qn_buf prompt_text, text; /* text: what JSON will hold */
    qn_tokens prompt, made;
    qn_logit_bias *bias;
    size_t n_bias;
    uint64_t seed;
    uint32_t n_ctx;
    qn_timings timings;
    uint64_t begin_ns; /* when the prompt's first token went in */
    ending ending;
    bool json, broken_output;
} run;

/* ---- preparation -------------------------------------------------------------------------------- */

static qn_status parse_bias(const char *text, qn_logit_bias *out, qn_error *err)
{
    char id[32];
    size_t n_id = strcspn(text, "=");
    int64_t id_value;
    double bias;
    snprintf(id, sizeof(id), "%.*s", n_id < sizeof(id) ? (int)n_id : 0, text);
    if (text[n_id] == '=' && qn_parse_int(id, 0, INT32_MAX, &id_value)) {
        if (strcmp(text + n_id + 1, "-inf") == 0) {
            *out = (qn_logit_bias){(int32_t)id_value, -INFINITY};
            return QN_OK;
        }
        if (qn_parse_real(text + n_id + 1, -1e9, 1e9, &bias)) {
            *out = (qn_logit_bias){(int32_t)id_value, (float)bias};
            return QN_OK;
        }
    }
    return qn_fail(err, QN_EINVAL, "--logit-bias: '%s' is not ID=B with a token id and a number", text);
}

/* What only the user can have got wrong; seen before a model is loaded. */
static qn_status check_usage(run *r, qn_error *err)
{
    size_t n;
    const char *const *stops = qn_options_texts(r->options, QN_OPTION_ID_STOP, &n);
    for (size_t i = 0; i < n; i++) {
        if (stops[i][0] == '\0') {
            return qn_fail(err, QN_EINVAL, "--stop: an empty text");
        }
    }
    const char *const *texts = qn_options_texts(r->options, QN_OPTION_ID_LOGIT_BIAS, &n);
    r->bias = qn_zalloc_array(NULL, QN_INPUT_OWNER, n, sizeof(*r->bias));
    if (r->bias == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for %zu logit biases", n);
    }
    for (; r->n_bias < n; r->n_bias++) {
        QN_TRY(parse_bias(texts[r->n_bias], &r->bias[r->n_bias], err));
    }
    return QN_OK;
}

/* --ignore-eos: a ban on every token that ends a text. */
static qn_status ban_ends(run *r, qn_error *err)
{
    for (int32_t id = 0; id < (int32_t)r->info.n_vocab; id++) {
        if (!qn_token_is_end(r->opened.model, id)) {
            continue;
        }
        qn_logit_bias *bias = qn_realloc(NULL, QN_INPUT_OWNER, r->bias, (r->n_bias + 1) * sizeof(*bias));
        if (bias == NULL) {
            return qn_fail(err, QN_ENOMEM, "no memory for %zu logit biases", r->n_bias + 1);
        }
        r->bias = bias;
        r->bias[r->n_bias++] = (qn_logit_bias){id, -INFINITY};
    }
    return QN_OK;
}

static qn_status open_sampler(run *r, qn_error *err)
{
    const qn_options *o = r->options;
    int64_t seed = qn_options_int(o, QN_OPTION_ID_SEED);
    /* Within what JSON readers hold exactly, so that the seed reported can be used again. */
    r->seed = seed >= 0 ? (uint64_t)seed : (qn_clock_ns() ^ (uint64_t)getpid() << 32) & ((1ull << 53) - 1);
    if (qn_options_flag(o, QN_OPTION_ID_IGNORE_EOS)) {
        QN_TRY(ban_ends(r, err));
    }
    qn_sampler_options s;
    qn_sampler_options_init(&s);
    s.temperature = (float)qn_options_real(o, QN_OPTION_ID_TEMP);
    s.top_k = (uint32_t)qn_options_int(o, QN_OPTION_ID_TOP_K);
    s.top_p = (float)qn_options_real(o, QN_OPTION_ID_TOP_P);
    s.min_p = (float)qn_options_real(o, QN_OPTION_ID_MIN_P);
    s.typical_p = (float)qn_options_real(o, QN_OPTION_ID_TYPICAL);
    s.repeat_penalty = (float)qn_options_real(o, QN_OPTION_ID_REPEAT_PENALTY);
    s.frequency_penalty = (float)qn_options_real(o, QN_OPTION_ID_FREQUENCY_PENALTY);
    s.presence_penalty = (float)qn_options_real(o, QN_OPTION_ID_PRESENCE_PENALTY);
    s.penalty_last_n = (uint32_t)qn_options_int(o, QN_OPTION_ID_REPEAT_LAST_N);
    s.seed = r->seed;
    s.bias = r->bias;
    s.n_bias = r->n_bias;
    QN_TRY(qn_sampler_open(r->opened.model, &s, &r->sampler, err));
    qn_sampler_accept(r->sampler, r->prompt.ids, r->prompt.n);
    return QN_OK;
}

static qn_status tokenize_prompt(run *r, qn_error *err)
{
    QN_TRY(qn_input_tokenize(r->opened.model, qn_buf_view(&r->prompt_text), QN_TEXT_ADD_SPECIAL | QN_TEXT_PARSE_SPECIAL,
                             &r->prompt, err));
    if (r->prompt.n > 0) {
        return QN_OK;
    }
    if (r->info.bos < 0) {
        return qn_fail(err, QN_EINVAL, "the prompt is empty, and this vocabulary has no BOS token to begin with");
    }
    return qn_tokens_add(&r->prompt, r->info.bos, err);
}

static qn_status choose_context(run *r, qn_error *err)
{
    int64_t asked = qn_options_int(r->options, QN_OPTION_ID_CTX_SIZE);
    int64_t n_predict = qn_options_int(r->options, QN_OPTION_ID_N_PREDICT);
    uint64_t n_prompt = r->prompt.n;
    uint64_t n_ctx = (uint64_t)asked;
    if (asked == 0) {
        uint64_t needed = n_predict >= 0 ? n_prompt + (uint64_t)n_predict : n_prompt * 2 > 4096 ? n_prompt * 2 : 4096;
        n_ctx = needed < r->info.n_ctx_train ? needed : r->info.n_ctx_train;
    }
    if (n_prompt > n_ctx) {
        return qn_fail(err, QN_ERANGE, "the prompt has %llu tokens, the context holds %llu: raise --ctx-size",
                       (unsigned long long)n_prompt, (unsigned long long)n_ctx);
    }
    if (asked > 0 && n_ctx > r->info.n_ctx_train) {
        fprintf(stderr, "quern run: the model was trained for %u tokens; beyond them the text may be poor\n",
                (unsigned)r->info.n_ctx_train);
    }
    r->n_ctx = (uint32_t)n_ctx;
    return QN_OK;
}

static qn_status prepare(run *r, qn_error *err)
{
    uint64_t begin_ns = qn_clock_ns();
    QN_TRY(
        qn_open_model(r->options, (uint32_t)qn_options_int(r->options, QN_OPTION_ID_THREADS), false, &r->opened, err));
    qn_model_get_info(r->opened.model, &r->info);
    QN_TRY(tokenize_prompt(r, err));
    QN_TRY(choose_context(r, err));
    QN_TRY(open_sampler(r, err));
    size_t n_stops;
    const char *const *stops = qn_options_texts(r->options, QN_OPTION_ID_STOP, &n_stops);
    QN_TRY(qn_stream_open(r->opened.model, stops, n_stops, &r->stream, err));
    qn_session_options s;
    qn_session_options_init(&s);
    s.n_ctx = r->n_ctx;
    s.n_batch = (uint32_t)qn_options_int(r->options, QN_OPTION_ID_BATCH_SIZE);
    s.kv_type = qn_options_int(r->options, QN_OPTION_ID_KV_TYPE) == 1 ? QN_KV_F32 : QN_KV_F16;
    QN_TRY(qn_session_open(r->opened.model, &s, &r->session, err));
    QN_TRY(qn_seq_open(r->session, &r->seq, err));
    r->timings.load_ns = qn_clock_ns() - begin_ns;
    return QN_OK;
}

/* ---- generation --------------------------------------------------------------------------------- */

static void show(run *r, const char *bytes, size_t n)
{
    if (r->json) {
        qn_buf_add(&r->text, bytes, n);
    } else if (n > 0) {
        fwrite(bytes, 1, n, stdout);
        r->broken_output |= !qn_report_flush();
    }
}

/* True: a signal or the deadline has ended the text. */
static bool is_stopped(run *r)
{
    if (qn_interrupted()) {
        r->ending = ENDING_INTERRUPTED;
        return true;
    }
    if (qn_deadline_passed()) {
        r->ending = ENDING_TIME;
        return true;
    }
    return false;
}

/* QN_OK with *ended set when the evaluation was stopped on request. */
static qn_status evaluate(run *r, const int32_t *ids, size_t n, const float **logits, bool *ended, qn_error *err)
{
    qn_status status = qn_seq_eval(r->seq, ids, n, logits, err);
    if (status == QN_EABORTED && is_stopped(r)) {
        *ended = true;
        return QN_OK;
    }
    return status;
}

/* Picks a token and shows it. *ended: the text ends with it, or before it. */
static qn_status make_token(run *r, const float *logits, bool *ended, qn_error *err)
{
    int32_t id;
    QN_TRY(qn_sampler_pick(r->sampler, logits, &id, NULL, err));
    if (r->made.n == 0) {
        r->timings.first_token_ns = qn_clock_ns() - r->begin_ns;
    }
    if (qn_token_is_end(r->opened.model, id)) {
        r->ending = ENDING_STOP;
        *ended = true;
        return QN_OK;
    }
    QN_TRY(qn_tokens_add(&r->made, id, err));
    const char *bytes;
    size_t n_bytes;
    bool stopped;
    QN_TRY(qn_stream_push(r->stream, id, &bytes, &n_bytes, &stopped, err));
    show(r, bytes, n_bytes);
    if (stopped) {
        r->ending = ENDING_STOP;
        *ended = true;
    }
    return QN_OK;
}

static qn_status decode(run *r, const float *logits, qn_error *err)
{
    int64_t n_predict = qn_options_int(r->options, QN_OPTION_ID_N_PREDICT);
    for (bool ended = false; !ended && !r->broken_output;) {
        if (is_stopped(r)) {
            break;
        }
        if (n_predict >= 0 && r->made.n >= (uint64_t)n_predict) {
            r->ending = ENDING_LENGTH;
            break;
        }
        QN_TRY(make_token(r, logits, &ended, err));
        if (ended || (n_predict >= 0 && r->made.n == (uint64_t)n_predict)) {
            continue; /* nobody needs the logits after the last token */
        }
        if (qn_seq_length(r->seq) >= r->n_ctx) {
            r->ending = ENDING_CONTEXT;
            break;
        }
        QN_TRY(evaluate(r, &r->made.ids[r->made.n - 1], 1, &logits, &ended, err));
        r->timings.n_decode += !ended;
    }
    return QN_OK;
}

static qn_status generate(run *r, qn_error *err)
{
    const float *logits = NULL;
    bool ended = false;
    double time_limit = qn_options_real(r->options, QN_OPTION_ID_TIME_LIMIT);
    qn_interrupt_target(r->session);
    if (time_limit > 0) {
        qn_deadline_start(time_limit);
    }
    r->begin_ns = qn_clock_ns();
    QN_TRY(evaluate(r, r->prompt.ids, r->prompt.n, &logits, &ended, err));
    uint64_t prefilled_ns = qn_clock_ns();
    r->timings.prefill_ns = prefilled_ns - r->begin_ns;
    r->timings.n_prefill = qn_seq_length(r->seq);
    if (!ended) {
        QN_TRY(decode(r, logits, err));
        r->timings.decode_ns = qn_clock_ns() - prefilled_ns;
    }
    const char *bytes;
    size_t n_bytes;
    QN_TRY(qn_stream_finish(r->stream, &bytes, &n_bytes, err));
    show(r, bytes, n_bytes);
    return QN_OK;
}

/* ---- results ------------------------------------------------------------------------------------ */

static bool print_json(run *r)
{
    qn_buf out;
    qn_json_writer w;
    qn_buf_init(&out, NULL, QN_INPUT_OWNER, QN_INPUT_MAX_BYTES);
    qn_json_writer_init(&w, &out);
    qn_json_begin_object(&w);
    qn_json_key(&w, "text");
    qn_json_string(&w, qn_buf_view(&r->text));
    qn_json_key(&w, "tokens");
    qn_json_begin_array(&w);
    for (size_t i = 0; i < r->made.n; i++) {
        qn_json_i64(&w, r->made.ids[i]);
    }
    qn_json_end_array(&w);
    qn_json_key(&w, "finish_reason");
    qn_json_cstring(&w, ending_names[r->ending]);
    qn_json_key(&w, "prompt_tokens");
    qn_json_u64(&w, r->prompt.n);
    qn_json_key(&w, "seed");
    qn_json_u64(&w, r->seed);
    qn_json_key(&w, "timings");
    qn_timings_json(&r->timings, &w);
    qn_json_end_object(&w);
    bool ok = r->text.status == QN_OK && qn_report_json(&out);
    qn_buf_free(&out);
    return ok;
}

static void print_details(const run *r)
{
    fprintf(stderr, "%s, %u layers, %u threads, kernels %s, context %u, seed %llu, ended by: %s\n",
            r->info.architecture, (unsigned)r->info.n_layers, (unsigned)qn_runtime_threads(r->opened.runtime),
            qn_runtime_isa(r->opened.runtime), (unsigned)r->n_ctx, (unsigned long long)r->seed,
            ending_names[r->ending]);
    const char *owner;
    uint64_t bytes;
    char text[QN_REPORT_BYTES_TEXT];
    for (size_t i = 0; qn_runtime_memory(r->opened.runtime, i, &owner, &bytes); i++) {
        fprintf(stderr, "memory of %-12s %s\n", owner, qn_report_bytes(bytes, text));
    }
}

static int finish(run *r)
{
    if (r->broken_output) {
        return QN_EXIT_FAILED;
    }
    if (r->json) {
        if (!print_json(r)) {
            return QN_EXIT_FAILED;
        }
    } else {
        if (isatty(STDOUT_FILENO)) {
            putchar('\n');
            qn_report_flush();
        }
        qn_timings_print(&r->timings);
    }
    if (qn_options_flag(r->options, QN_OPTION_ID_VERBOSE)) {
        print_details(r);
    }
    return r->ending == ENDING_INTERRUPTED ? QN_EXIT_INTERRUPTED : QN_EXIT_DONE;
}

static void run_close(run *r)
{
    qn_interrupt_target(NULL);
    qn_seq_close(r->seq);
    qn_session_close(r->session);
    qn_stream_close(r->stream);
    qn_sampler_close(r->sampler);
    qn_close_model(&r->opened);
    qn_tokens_free(&r->prompt);
    qn_tokens_free(&r->made);
    qn_free(r->bias);
    qn_buf_free(&r->text);
    qn_buf_free(&r->prompt_text);
}

int qn_verb_run(const qn_options *o)
{
    run r = {.options = o, .json = qn_options_flag(o, QN_OPTION_ID_JSON)};
    qn_buf_init(&r.text, NULL, QN_INPUT_OWNER, QN_INPUT_MAX_BYTES);
    qn_buf_init(&r.prompt_text, NULL, QN_INPUT_OWNER, QN_INPUT_MAX_BYTES);
    qn_error err;
    qn_status status = check_usage(&r, &err);
    if (status == QN_OK) {
        status = qn_input_text(o, &r.prompt_text, &err);
    }
    bool wrong_usage = status == QN_EINVAL;
    if (status == QN_OK) {
        qn_interrupt_watch();
        status = prepare(&r, &err);
    }
    if (status == QN_OK) {
        bool echo = !r.json && !qn_options_flag(o, QN_OPTION_ID_NO_DISPLAY_PROMPT) &&
                    qn_options_int(o, QN_OPTION_ID_N_PREDICT) != 0;
        if (echo) {
            show(&r, r.prompt_text.data, r.prompt_text.len);
        }
        status = generate(&r, &err);
    }
    int code;
    if (status == QN_OK) {
        code = finish(&r);
    } else {
        code = wrong_usage ? qn_report_usage("run", &err) : qn_report_failure("run", &err);
    }
    run_close(&r);
    return code;
}
