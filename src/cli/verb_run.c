/* quern run: continues a text. SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "cli/cli.h"
#include "cli/format_option.h"
#include "cli/generation.h"
#include "cli/interrupt.h"
#include "cli/run_chat.h"

#include <stdlib.h>
#include <unistd.h>

typedef struct run {
    const qn_options *options;
    qn_opened opened;
    qn_format *format; /* NULL: any text will do */
    qn_model_info info;
    qn_sampling sampling;
    qn_generation generation;
    qn_buf prompt_text, text; /* text: what JSON will hold */
    qn_tokens prompt;
    bool json, broken_output;
    bool wrong_usage; /* the error is about what the user typed */
    bool open_line;   /* standard output does not end with a newline */
} run;

/* ---- preparation -------------------------------------------------------------------------------- */

static qn_status usage(run *r, qn_status status)
{
    r->wrong_usage = status == QN_EINVAL;
    return status;
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

static int show(void *ctx, const char *bytes, size_t n)
{
    run *r = ctx;
    if (r->json) {
        qn_buf_add(&r->text, bytes, n);
    } else if (n > 0) {
        fwrite(bytes, 1, n, stdout);
        r->open_line = bytes[n - 1] != '\n';
        r->broken_output |= !qn_report_flush();
    }
    return r->broken_output ? -1 : 0;
}

static qn_status prepare(run *r, qn_error *err)
{
    uint64_t begin_ns = qn_clock_ns();
    uint32_t n_ctx = 0, n_threads = (uint32_t)qn_options_int(r->options, QN_OPTION_ID_THREADS);
    QN_TRY(qn_open_runtime(n_threads, &r->opened, err));
    QN_TRY(usage(r, qn_format_option_open(r->options, r->opened.runtime, &r->format, err)));
    QN_TRY(qn_open_model(r->options, n_threads, false, &r->opened, err));
    qn_model_get_info(r->opened.model, &r->info);
    QN_TRY(usage(r, qn_sampling_check(&r->sampling, r->info.n_vocab, err)));
    QN_TRY(tokenize_prompt(r, err));
    int64_t n_predict = qn_options_int(r->options, QN_OPTION_ID_N_PREDICT);
    QN_TRY(qn_generation_context("run", qn_options_int(r->options, QN_OPTION_ID_CTX_SIZE), r->prompt.n, n_predict,
                                 &r->info, &n_ctx, err));
    QN_TRY(qn_generation_open(&r->generation, r->opened.model, &r->sampling, n_ctx, err));
    QN_TRY(usage(r, qn_format_option_set(&r->generation, r->format, err)));
    r->generation.n_predict = n_predict;
    r->generation.show = show;
    r->generation.ctx = r;
    r->generation.timings.load_ns = qn_clock_ns() - begin_ns;
    return QN_OK;
}

/* ---- results ------------------------------------------------------------------------------------ */

static bool print_json(run *r)
{
    const qn_generation *g = &r->generation;
    qn_buf out;
    qn_json_writer w;
    qn_buf_init(&out, NULL, QN_INPUT_OWNER, QN_INPUT_MAX_BYTES);
    qn_json_writer_init(&w, &out);
    qn_json_begin_object(&w);
    qn_json_key(&w, "text");
    qn_json_string(&w, qn_buf_view(&r->text));
    qn_json_key(&w, "tokens");
    qn_json_begin_array(&w);
    for (size_t i = 0; i < g->made.n; i++) {
        qn_json_i64(&w, g->made.ids[i]);
    }
    qn_json_end_array(&w);
    qn_json_key(&w, "finish_reason");
    qn_json_cstring(&w, qn_ending_name(g->ending));
    qn_generation_json_whole(g, &w);
    qn_json_key(&w, "prompt_tokens");
    qn_json_u64(&w, r->prompt.n);
    qn_json_key(&w, "seed");
    qn_json_u64(&w, r->sampling.seed);
    qn_json_key(&w, "timings");
    qn_timings_json(&g->timings, &w);
    qn_json_end_object(&w);
    bool ok = r->text.status == QN_OK && qn_report_json(&out);
    qn_buf_free(&out);
    return ok;
}

static void print_details(const run *r)
{
    fprintf(stderr, "%s, %u layers, %u threads, kernels %s, context %u, seed %llu, ended by: %s\n",
            r->info.architecture, (unsigned)r->info.n_layers, (unsigned)qn_runtime_threads(r->opened.runtime),
            qn_runtime_isa(r->opened.runtime), (unsigned)r->generation.n_ctx, (unsigned long long)r->sampling.seed,
            qn_ending_name(r->generation.ending));
    const char *owner;
    uint64_t bytes;
    char text[QN_REPORT_BYTES_TEXT];
    for (size_t i = 0; qn_runtime_memory(r->opened.runtime, i, &owner, &bytes); i++) {
        fprintf(stderr, "memory of %-12s %s\n", owner, qn_report_bytes(bytes, text));
    }
}

/* Standard error may go where standard output goes: what follows begins on a line of its own. Standard output holds
 * the text alone, unless a person reads it. */
static void end_line(run *r)
{
    if (r->open_line) {
        fputc('\n', isatty(STDOUT_FILENO) ? stdout : stderr);
        qn_report_flush();
    }
    r->open_line = false;
}

static int finish(run *r)
{
    const qn_generation *g = &r->generation;
    if (r->broken_output) {
        return QN_EXIT_FAILED;
    }
    if (r->json) {
        if (!print_json(r)) {
            return QN_EXIT_FAILED;
        }
    } else {
        end_line(r);
        if (g->ending == QN_ENDING_CONTEXT) {
            qn_generation_tell_full(g, "run", &r->info);
        }
        qn_timings_print(&g->timings);
    }
    if (qn_options_flag(r->options, QN_OPTION_ID_VERBOSE)) {
        print_details(r);
    }
    if (g->ending == QN_ENDING_INTERRUPTED) {
        return QN_EXIT_INTERRUPTED;
    }
    return qn_generation_check_whole(g, "run") ? QN_EXIT_DONE : QN_EXIT_FAILED;
}

static void run_close(run *r)
{
    qn_generation_close(&r->generation);
    qn_sampling_free(&r->sampling);
    qn_format_close(r->format);
    qn_close_model(&r->opened);
    qn_tokens_free(&r->prompt);
    qn_buf_free(&r->text);
    qn_buf_free(&r->prompt_text);
}

/* Options that only a conversation has a use for. */
static qn_status refuse_chat_options(const qn_options *o, qn_error *err)
{
    static const qn_option_id ids[] = {QN_OPTION_ID_SYSTEM, QN_OPTION_ID_TEMPLATE, QN_OPTION_ID_TEMPLATE_NAME,
                                       QN_OPTION_ID_TOOLS, QN_OPTION_ID_TOOL_CHOICE};
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        if (qn_options_text(o, ids[i]) != NULL) {
            return qn_fail(err, QN_EINVAL, "--%s needs --chat", qn_option_table[ids[i]].name);
        }
    }
    return QN_OK;
}

static qn_status run_all(run *r, qn_error *err)
{
    const qn_options *o = r->options;
    QN_TRY(usage(r, refuse_chat_options(o, err)));
    QN_TRY(usage(r, qn_sampling_read(&r->sampling, o, err)));
    QN_TRY(usage(r, qn_input_text(o, &r->prompt_text, err)));
    qn_interrupt_watch();
    QN_TRY(prepare(r, err));
    bool echo = !r->json && !qn_options_flag(o, QN_OPTION_ID_NO_DISPLAY_PROMPT) && r->generation.n_predict != 0;
    if (echo) {
        show(r, r->prompt_text.data, r->prompt_text.len);
    }
    if (r->broken_output) {
        return QN_OK;
    }
    double time_limit = qn_options_real(o, QN_OPTION_ID_TIME_LIMIT);
    if (time_limit > 0) {
        qn_deadline_start(time_limit);
    }
    return qn_generate(&r->generation, r->prompt.ids, r->prompt.n, err);
}

int qn_verb_run(const qn_options *o)
{
    if (qn_options_flag(o, QN_OPTION_ID_CHAT)) {
        return qn_run_chat(o);
    }
    run r = {.options = o, .json = qn_options_flag(o, QN_OPTION_ID_JSON)};
    qn_buf_init(&r.text, NULL, QN_INPUT_OWNER, QN_INPUT_MAX_BYTES);
    qn_buf_init(&r.prompt_text, NULL, QN_INPUT_OWNER, QN_INPUT_MAX_BYTES);
    qn_error err;
    qn_status status = run_all(&r, &err);
    int code;
    if (status == QN_OK) {
        code = finish(&r);
    } else {
        end_line(&r);
        code = r.wrong_usage ? qn_report_usage("run", &err) : qn_report_failure("run", &err);
    }
    run_close(&r);
    return code;
}
