/* quern eval perplexity: how well the model predicts a text.
 *
 * The text is cut into chunks of --ctx-size tokens, each read with an empty memory and with BOS in place of its first
 * token when the model begins texts with BOS. The second half of a chunk is scored, so that every scored token has at
 * least half a chunk before it; perplexity is exp of the mean negative log-likelihood. This is how llama.cpp's tool
 * of that name counts, so that the numbers may be compared.
 *
 * With --kl-against a second session, the base, reads the same tokens in the same steps with another type of keys and
 * values, and every scored token is compared with what the base predicts for it.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "cli/eval_score.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/report.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define NO_BASE 6 /* the word of --kl-against behind those of the types */
#define BASE_ROW_BYTES ((size_t)64 << 20) /* of a step's logits, which wait for those to be compared with them */

typedef struct eval {
    const qn_options *options;
    qn_opened opened;
    qn_model_info info;
    qn_session *session;
    qn_seq *seq;
    qn_buf text;
    qn_tokens tokens;
    uint32_t n_ctx, n_batch;
    uint32_t n_step; /* rows of a step whose logits count */
    size_t n_chunks, n_chunks_done;
    const int32_t *chunk;
    uint32_t i_base;        /* place in the chunk of the first row of the running call */
    qn_sample nll;
    qn_session *base_session; /* NULL: nothing to compare with */
    qn_seq *base;
    float *base_rows; /* the base's logits of the running step */
    qn_divergence divergence;
    uint64_t begin_ns;
    bool json;
} eval;

/* Standard error of the perplexity: that of the mean, carried through exp(). */
static double deviation(const qn_sample *nll)
{
    return qn_sample_error(nll) * exp(qn_sample_mean(nll));
}

static bool is_scored(const eval *e, uint32_t i)
{
    return i >= e->n_ctx / 2 && i + 1 < e->n_ctx;
}

static int score_row(void *ctx, uint32_t i_row, const float *logits)
{
    eval *e = ctx;
    uint32_t i = e->i_base + i_row;
    if (is_scored(e, i)) {
        qn_sample_add(&e->nll, qn_score_surprise(logits, e->info.n_vocab, e->chunk[i + 1]));
        if (e->base != NULL) {
            const float *base = e->base_rows + (size_t)i_row * e->info.n_vocab;
            qn_divergence_add(&e->divergence, base, logits, e->info.n_vocab, e->chunk[i + 1]);
        }
    }
    return 0;
}

static int keep_row(void *ctx, uint32_t i_row, const float *logits)
{
    eval *e = ctx;
    memcpy(e->base_rows + (size_t)i_row * e->info.n_vocab, logits, sizeof(float) * e->info.n_vocab);
    return 0;
}

static qn_status read_silently(eval *e, const int32_t *ids, uint32_t n, qn_error *err)
{
    if (e->base != NULL) {
        QN_TRY(qn_seq_eval(e->base, ids, n, NULL, err));
    }
    return qn_seq_eval(e->seq, ids, n, NULL, err);
}

static qn_status score_chunk(eval *e, qn_error *err)
{
    int32_t bos = e->info.bos;
    uint32_t n_silent = e->n_ctx / 2; /* read without logits */
    QN_TRY(qn_seq_truncate(e->seq, 0, err));
    if (e->base != NULL) {
        QN_TRY(qn_seq_truncate(e->base, 0, err));
    }
    uint32_t i = 0;
    if (e->info.adds_bos && bos >= 0) {
        QN_TRY(read_silently(e, &bos, 1, err));
        i = 1;
    }
    if (n_silent > i) {
        QN_TRY(read_silently(e, e->chunk + i, n_silent - i, err));
        i = n_silent;
    }
    while (i < e->n_ctx - 1) { /* the last token predicts what no chunk holds */
        uint32_t n = e->n_ctx - 1 - i < e->n_step ? e->n_ctx - 1 - i : e->n_step;
        e->i_base = i;
        if (e->base != NULL) {
            QN_TRY(qn_seq_eval_each(e->base, e->chunk + i, n, keep_row, e, err));
        }
        QN_TRY(qn_seq_eval_each(e->seq, e->chunk + i, n, score_row, e, err));
        i += n;
    }
    return QN_OK;
}

/* A number that is none would end as "null" in a table of results, or pass for a score. */
static qn_status check_finite(const eval *e, qn_error *err)
{
    double mean = qn_sample_mean(&e->nll);
    return isfinite(exp(mean)) && isfinite(deviation(&e->nll)) &&
                   (e->base == NULL || isfinite(qn_sample_mean(&e->divergence.kl)))
               ? QN_OK
               : qn_fail(err, QN_ERANGE,
                         "the perplexity is not a finite number (mean negative log-likelihood %g in chunk %zu of %zu): "
                         "the model's logits or weights are damaged",
                         mean, e->n_chunks_done + 1, e->n_chunks);
}

/* To standard error, so that standard output holds the result alone. */
static void show_progress(const eval *e, bool on_terminal)
{
    double seconds = (double)(qn_clock_ns() - e->begin_ns) / 1e9;
    double left = seconds / (double)e->n_chunks_done * (double)(e->n_chunks - e->n_chunks_done);
    fprintf(stderr, "%s%zu/%zu  perplexity %.4f +/- %.4f  %.0f s left%s", on_terminal ? "\r" : "", e->n_chunks_done,
            e->n_chunks, exp(qn_sample_mean(&e->nll)), deviation(&e->nll), left, on_terminal ? "   " : "\n");
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

static qn_status open_session(const eval *e, qn_kv_type type, qn_session **session, qn_seq **seq, qn_error *err)
{
    qn_session_options s;
    qn_session_options_init(&s);
    s.n_ctx = e->n_ctx;
    s.n_batch = e->n_batch;
    qn_input_kv_options(e->options, &s);
    s.kv_type = type;
    QN_TRY(qn_session_open(e->opened.model, &s, session, err));
    return qn_seq_open(*session, seq, err);
}

static qn_status prepare_base(eval *e, qn_kv_type type, qn_error *err)
{
    size_t row_bytes = e->info.n_vocab * sizeof(float); /* as the model has rows of so many numbers, it fits */
    size_t most = BASE_ROW_BYTES / row_bytes > 1 ? BASE_ROW_BYTES / row_bytes : 1;
    e->n_step = e->n_batch < most ? e->n_batch : (uint32_t)most;
    e->base_rows = qn_alloc(NULL, "eval", e->n_step * row_bytes);
    if (e->base_rows == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for %u rows of %u logits", e->n_step, e->info.n_vocab);
    }
    return open_session(e, type, &e->base_session, &e->base, err);
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
    qn_kv_type type = (qn_kv_type)qn_options_int(o, QN_OPTION_ID_KV_TYPE); /* choices stand in its order */
    QN_TRY(open_session(e, type, &e->session, &e->seq, err));
    e->n_step = e->n_batch;
    int64_t base_type = qn_options_int(o, QN_OPTION_ID_KL_AGAINST);
    return base_type == NO_BASE ? QN_OK : prepare_base(e, (qn_kv_type)base_type, err);
}

static const char *base_name(const eval *e)
{
    static const char *const names[] = {"f16", "f32", "bf16", "q8", "q4", "mixed", "none"};
    return names[qn_options_int(e->options, QN_OPTION_ID_KL_AGAINST)];
}

/* By how much of itself the perplexity is above the base's, and the standard error of that. */
static double loss(const eval *e)
{
    return expm1(qn_sample_mean(&e->divergence.excess));
}

static double loss_error(const eval *e)
{
    return qn_sample_error(&e->divergence.excess) * (1 + loss(e));
}

static double same_best(const eval *e)
{
    return (double)e->divergence.n_same_best / (double)e->nll.n;
}

static bool print_text(const eval *e)
{
    const qn_divergence *d = &e->divergence;
    printf("perplexity %.4f +/- %.4f (%llu tokens scored in %zu chunks of %u)\n", exp(qn_sample_mean(&e->nll)),
           deviation(&e->nll), (unsigned long long)e->nll.n, e->n_chunks, (unsigned)e->n_ctx);
    if (e->base != NULL) {
        printf("against %s: perplexity %.4f, %+.2f %% +/- %.2f %%; KL divergence %.6f +/- %.6f, largest %.3f; "
               "best token the same in %.2f %%\n",
               base_name(e), exp(qn_sample_mean(&d->base_nll)), loss(e) * 100, loss_error(e) * 100,
               qn_sample_mean(&d->kl), qn_sample_error(&d->kl), d->largest_kl, same_best(e) * 100);
    }
    return qn_report_flush();
}

static void add_number(qn_json_writer *w, const char *key, double x)
{
    qn_json_key(w, key);
    qn_json_f64(w, x);
}

static void add_count(qn_json_writer *w, const char *key, uint64_t n)
{
    qn_json_key(w, key);
    qn_json_u64(w, n);
}

static void add_base(const eval *e, qn_json_writer *w)
{
    const qn_divergence *d = &e->divergence;
    qn_json_key(w, "against");
    qn_json_begin_object(w);
    qn_json_key(w, "kv_type");
    qn_json_cstring(w, base_name(e));
    add_number(w, "perplexity", exp(qn_sample_mean(&d->base_nll)));
    add_number(w, "loss", loss(e));
    add_number(w, "loss_error", loss_error(e));
    add_number(w, "kl", qn_sample_mean(&d->kl));
    add_number(w, "kl_error", qn_sample_error(&d->kl));
    add_number(w, "kl_largest", d->largest_kl);
    add_number(w, "same_best", same_best(e));
    qn_json_end_object(w);
}

static bool print_json(const eval *e)
{
    qn_buf out;
    qn_json_writer w;
    qn_buf_init(&out, NULL, QN_INPUT_OWNER, QN_INPUT_MAX_BYTES);
    qn_json_writer_init(&w, &out);
    qn_json_begin_object(&w);
    add_number(&w, "perplexity", exp(qn_sample_mean(&e->nll)));
    add_number(&w, "error", deviation(&e->nll));
    add_number(&w, "mean_nll", qn_sample_mean(&e->nll));
    add_count(&w, "tokens", e->nll.n);
    add_count(&w, "chunks", e->n_chunks);
    add_count(&w, "context", e->n_ctx);
    if (e->base != NULL) {
        add_base(e, &w);
    }
    add_number(&w, "seconds", (double)(qn_clock_ns() - e->begin_ns) / 1e9);
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
        code = (e.json ? print_json(&e) : print_text(&e)) ? QN_EXIT_DONE : QN_EXIT_FAILED;
    }
    qn_interrupt_target(NULL);
    qn_seq_close(e.seq);
    qn_session_close(e.session);
    qn_seq_close(e.base);
    qn_session_close(e.base_session);
    qn_free(e.base_rows);
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
