/* quern eval perplexity: how well the model predicts a text.
 *
 * The text is cut into chunks of --ctx-size tokens, each read with an empty memory and with BOS in place of its first
 * token when the model begins texts with BOS. The second half of a chunk is scored, so that every scored token has at
 * least half a chunk before it; perplexity is exp of the mean negative log-likelihood. This is how llama.cpp's tool
 * of that name counts, so that the numbers may be compared.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/report.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct eval {
    const qn_options *options;
    qn_opened opened;
    qn_model_info info;
    qn_session *session;
    qn_seq *seq;
    qn_buf text;
    qn_tokens tokens;
    uint32_t n_ctx, n_batch;
    size_t n_chunks, n_chunks_done;
    const int32_t *chunk;
    uint32_t i_base;        /* place in the chunk of the first row of the running call */
    double sum, sum_square; /* of the negative log-likelihoods */
    uint64_t n_scored;
    uint64_t begin_ns;
    bool json;
} eval;

static double mean(const eval *e)
{
    return e->sum / (double)e->n_scored;
}

/* Standard error of the perplexity: that of the mean, carried through exp(). */
static double deviation(const eval *e)
{
    double n = (double)e->n_scored;
    double variance = (e->sum_square - e->sum * e->sum / n) / (n - 1);
    return e->n_scored < 2 ? 0 : sqrt(fmax(variance, 0) / n) * exp(mean(e));
}

/* Sums four at a time: a fixed order all the same, and the additions need not wait for one another. */
static double negative_log_likelihood(const float *logits, uint32_t n, int32_t id)
{
    float max = -INFINITY;
    for (uint32_t i = 0; i < n; i++) {
        max = logits[i] > max ? logits[i] : max;
    }
    double sum[4] = {0};
    for (uint32_t i = 0; i < n; i++) {
        sum[i % 4] += (double)expf(logits[i] - max);
    }
    return (double)max + log(sum[0] + sum[1] + sum[2] + sum[3]) - (double)logits[id];
}

static int score_row(void *ctx, uint32_t i_row, const float *logits)
{
    eval *e = ctx;
    uint32_t i = e->i_base + i_row;
    if (i >= e->n_ctx / 2 && i + 1 < e->n_ctx) {
        double nll = negative_log_likelihood(logits, e->info.n_vocab, e->chunk[i + 1]);
        e->sum += nll;
        e->sum_square += nll * nll;
        e->n_scored++;
    }
    return 0;
}

static qn_status score_chunk(eval *e, qn_error *err)
{
    int32_t bos = e->info.bos;
    uint32_t n_silent = e->n_ctx / 2; /* read without logits */
    QN_TRY(qn_seq_truncate(e->seq, 0, err));
    uint32_t i = 0;
    if (e->info.adds_bos && bos >= 0) {
        QN_TRY(qn_seq_eval(e->seq, &bos, 1, NULL, err));
        i = 1;
    }
    if (n_silent > i) {
        QN_TRY(qn_seq_eval(e->seq, e->chunk + i, n_silent - i, NULL, err));
        i = n_silent;
    }
    while (i < e->n_ctx - 1) { /* the last token predicts what no chunk holds */
        uint32_t n = e->n_ctx - 1 - i < e->n_batch ? e->n_ctx - 1 - i : e->n_batch;
        e->i_base = i;
        QN_TRY(qn_seq_eval_each(e->seq, e->chunk + i, n, score_row, e, err));
        i += n;
    }
    return QN_OK;
}

/* A number that is none would end as "null" in a table of results, or pass for a score. */
static qn_status check_finite(const eval *e, qn_error *err)
{
    return isfinite(e->sum) && isfinite(exp(mean(e))) && isfinite(deviation(e))
               ? QN_OK
               : qn_fail(err, QN_ERANGE,
                         "the perplexity is not a finite number (mean negative log-likelihood %g in chunk %zu of %zu): "
                         "the model's logits or weights are damaged",
                         mean(e), e->n_chunks_done + 1, e->n_chunks);
}

/* To standard error, so that standard output holds the result alone. */
static void show_progress(const eval *e, bool on_terminal)
{
    double seconds = (double)(qn_clock_ns() - e->begin_ns) / 1e9;
    double left = seconds / (double)e->n_chunks_done * (double)(e->n_chunks - e->n_chunks_done);
    fprintf(stderr, "%s%zu/%zu  perplexity %.4f +/- %.4f  %.0f s left%s", on_terminal ? "\r" : "", e->n_chunks_done,
            e->n_chunks, exp(mean(e)), deviation(e), left, on_terminal ? "   " : "\n");
}

static qn_status score_text(eval *e, qn_error *err)
{
    bool on_terminal = isatty(STDERR_FILENO);
    bool quiet = !on_terminal && !qn_options_flag(e->options, QN_OPTION_ID_VERBOSE);
    qn_status status = QN_OK;
    e->begin_ns = qn_clock_ns();
    while (status == QN_OK && e->n_chunks_done < e->n_chunks) {
        e->chunk = e->tokens.ids + e->n_chunks_done * e->n_ctx;
        status = qn_interrupted() ? qn_fail(err, QN_EABORTED, "interrupted") : score_chunk(e, err);
        if (status == QN_OK) {
            status = check_finite(e, err);
        }
        if (status == QN_OK) {
            e->n_chunks_done++;
        }
        if (status == QN_OK && !quiet) {
            show_progress(e, on_terminal);
        }
    }
    if (on_terminal) {
        fputc('\n', stderr);
    }
    return status;
}

static qn_status prepare(eval *e, qn_error *err)
{
    const qn_options *o = e->options;
    QN_TRY(qn_input_file(qn_options_text(o, QN_OPTION_ID_FILE), &e->text, err));
    QN_TRY(qn_open_model(o, (uint32_t)qn_options_int(o, QN_OPTION_ID_THREADS), false, &e->opened, err));
    qn_model_get_info(e->opened.model, &e->info);
    QN_TRY(qn_input_tokenize(e->opened.model, qn_buf_view(&e->text), QN_TEXT_ADD_SPECIAL, &e->tokens, err));
    e->n_ctx = (uint32_t)qn_options_int(o, QN_OPTION_ID_EVAL_CTX_SIZE);
    e->n_chunks = e->tokens.n / e->n_ctx;
    if (e->n_chunks == 0) {
        return qn_fail(err, QN_EINVAL, "the text has %zu tokens, less than one chunk of %lu", e->tokens.n,
                       (unsigned long)e->n_ctx);
    }
    size_t n_asked = (size_t)qn_options_int(o, QN_OPTION_ID_CHUNKS);
    e->n_chunks = n_asked > 0 && n_asked < e->n_chunks ? n_asked : e->n_chunks;
    uint32_t n_batch = (uint32_t)qn_options_int(o, QN_OPTION_ID_BATCH_SIZE);
    e->n_batch = n_batch < e->n_ctx ? n_batch : e->n_ctx;
    qn_session_options s;
    qn_session_options_init(&s);
    s.n_ctx = e->n_ctx;
    s.n_batch = e->n_batch;
    s.kv_type = (qn_kv_type)qn_options_int(o, QN_OPTION_ID_KV_TYPE); /* choices stand in its order */
    QN_TRY(qn_session_open(e->opened.model, &s, &e->session, err));
    return qn_seq_open(e->session, &e->seq, err);
}

static bool print_result(const eval *e)
{
    if (!e->json) {
        printf("perplexity %.4f +/- %.4f (%llu tokens scored in %zu chunks of %u)\n", exp(mean(e)), deviation(e),
               (unsigned long long)e->n_scored, e->n_chunks, (unsigned)e->n_ctx);
        return true;
    }
    qn_buf out;
    qn_json_writer w;
    qn_buf_init(&out, NULL, QN_INPUT_OWNER, QN_INPUT_MAX_BYTES);
    qn_json_writer_init(&w, &out);
    qn_json_begin_object(&w);
    qn_json_key(&w, "perplexity");
    qn_json_f64(&w, exp(mean(e)));
    qn_json_key(&w, "error");
    qn_json_f64(&w, deviation(e));
    qn_json_key(&w, "mean_nll");
    qn_json_f64(&w, mean(e));
    qn_json_key(&w, "tokens");
    qn_json_u64(&w, e->n_scored);
    qn_json_key(&w, "chunks");
    qn_json_u64(&w, e->n_chunks);
    qn_json_key(&w, "context");
    qn_json_u64(&w, e->n_ctx);
    qn_json_key(&w, "seconds");
    qn_json_f64(&w, (double)(qn_clock_ns() - e->begin_ns) / 1e9);
    qn_json_end_object(&w);
    bool ok = qn_report_json(&out);
    qn_buf_free(&out);
    return ok;
}

static int eval_perplexity(const qn_options *o)
{
    eval e = {.options = o, .json = qn_options_flag(o, QN_OPTION_ID_JSON)};
    qn_buf_init(&e.text, NULL, QN_INPUT_OWNER, QN_INPUT_MAX_BYTES);
    qn_error err;
    qn_interrupt_watch();
    qn_status status = prepare(&e, &err);
    if (status == QN_OK) {
        qn_interrupt_target(e.session);
        status = score_text(&e, &err);
    }
    int code;
    if (status == QN_EABORTED && qn_interrupted()) {
        code = QN_EXIT_INTERRUPTED;
    } else if (status != QN_OK) {
        code = qn_report_failure("eval", &err);
    } else {
        code = print_result(&e) ? QN_EXIT_DONE : QN_EXIT_FAILED;
    }
    qn_interrupt_target(NULL);
    qn_seq_close(e.seq);
    qn_session_close(e.session);
    qn_close_model(&e.opened);
    qn_tokens_free(&e.tokens);
    qn_buf_free(&e.text);
    return code;
}

int qn_verb_eval(const qn_options *o)
{
    size_t n_rest;
    const char *const *rest = qn_options_rest(o, &n_rest);
    qn_error err;
    if (n_rest == 0 || strcmp(rest[0], "perplexity") != 0) {
        qn_fail(&err, QN_EINVAL, "say what to measure: perplexity");
        return qn_report_usage("eval", &err);
    }
    if (qn_options_text(o, QN_OPTION_ID_FILE) == NULL) {
        qn_fail(&err, QN_EINVAL, "--file is needed: the text to predict");
        return qn_report_usage("eval", &err);
    }
    return eval_perplexity(o);
}
