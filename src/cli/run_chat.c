/* quern run --chat: one message, one answer. SPDX-License-Identifier: MIT */
#include "cli/run_chat.h"

#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/talk.h"

static qn_status prepare(qn_talk *t, qn_str message, qn_error *err)
{
    const qn_options *o = t->options;
    int64_t n_predict = qn_options_int(o, QN_OPTION_ID_N_PREDICT);
    uint32_t n_ctx = 0;
    QN_TRY(qn_talk_load(t, err));
    QN_TRY(qn_transcript_add(&t->transcript, "user", message, err));
    QN_TRY(qn_talk_render(t, err));
    QN_TRY(qn_generation_context("run", qn_options_int(o, QN_OPTION_ID_CTX_SIZE), t->prompt.n, n_predict, &t->info,
                                 &n_ctx, err));
    return qn_talk_open(t, n_ctx, n_predict, err);
}

/* What follows the answer on standard error begins on a line of its own, also where both go to one place; standard
 * output holds the answer alone, unless a person reads it. */
static void end_line(qn_talk *t)
{
    if (t->out.open_line && !t->out.is_terminal) {
        fputc('\n', stderr);
    } else {
        qn_terminal_end_line(&t->out);
    }
    qn_terminal_end_line(&t->notes);
}

static int finish(qn_talk *t)
{
    const qn_generation *g = &t->generation;
    if (t->view.broken_output) {
        return QN_EXIT_FAILED;
    }
    if (qn_options_flag(t->options, QN_OPTION_ID_JSON)) {
        if (!qn_talk_print_json(t)) {
            return QN_EXIT_FAILED;
        }
    } else {
        end_line(t);
        if (g->ending == QN_ENDING_CONTEXT) {
            qn_generation_tell_full(g, "run", &t->info);
        }
        qn_timings_print(&g->timings);
    }
    if (g->ending == QN_ENDING_INTERRUPTED) {
        return QN_EXIT_INTERRUPTED;
    }
    return qn_generation_check_whole(g, "run") ? QN_EXIT_DONE : QN_EXIT_FAILED;
}

static qn_status answer(qn_talk *t, qn_buf *message, qn_error *err)
{
    qn_status status = qn_input_text(t->options, message, err);
    if (status != QN_OK) {
        t->wrong_usage = status == QN_EINVAL;
        return status;
    }
    qn_interrupt_watch();
    QN_TRY(prepare(t, qn_buf_view(message), err));
    double time_limit = qn_options_real(t->options, QN_OPTION_ID_TIME_LIMIT);
    if (time_limit > 0) {
        qn_deadline_start(time_limit);
    }
    return qn_talk_answer(t, err);
}

int qn_run_chat(const qn_options *o)
{
    qn_talk t;
    qn_buf message;
    qn_error err;
    qn_talk_init(&t, "run", o);
    if (qn_options_flag(o, QN_OPTION_ID_JSON)) {
        t.view.out = NULL;
    }
    qn_buf_init(&message, NULL, QN_INPUT_OWNER, QN_INPUT_MAX_BYTES);
    qn_status status = answer(&t, &message, &err);
    int code;
    if (status == QN_OK) {
        code = finish(&t);
    } else {
        end_line(&t);
        code = t.wrong_usage ? qn_report_usage("run", &err) : qn_report_failure("run", &err);
    }
    qn_buf_free(&message);
    qn_talk_close(&t);
    return code;
}
