/* quern chat: a conversation with the model. SPDX-License-Identifier: MIT */
#include "cli/chat_command.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/line_input.h"

#include <ctype.h>

#define QN_CHAT_DEFAULT_CTX 8192 /* memory for keys and values grows with it; the help text names it */

typedef struct chat {
    qn_talk talk;
    qn_line_input *lines;
    bool is_interactive, json;
    bool has_failed; /* some turn or command has; without a person to see it, the exit code tells */
    qn_chat_stats stats;
} chat;

static qn_status open_all(chat *c, qn_error *err)
{
    const qn_options *o = c->talk.options;
    QN_TRY(qn_talk_load(&c->talk, err));
    int64_t n_predict = qn_options_int(o, QN_OPTION_ID_CHAT_N_PREDICT);
    int64_t asked = qn_options_int(o, QN_OPTION_ID_CHAT_CTX_SIZE);
    uint32_t trained = c->talk.info.n_ctx_train, n_ctx = 0;
    asked = asked > 0 ? asked : trained < QN_CHAT_DEFAULT_CTX ? trained : QN_CHAT_DEFAULT_CTX;
    QN_TRY(qn_generation_context("chat", asked, 0, n_predict, &c->talk.info, &n_ctx, err));
    QN_TRY(qn_talk_open(&c->talk, n_ctx, n_predict, err));
    QN_TRY(qn_line_open(c->talk.out.has_styles, &c->lines, err));
    c->is_interactive = qn_line_is_interactive(c->lines);
    return QN_OK;
}

static void greet(const chat *c)
{
    const qn_model_info *info = &c->talk.info;
    qn_str name = qn_str_of(info->name[0] != '\0' ? info->name : info->architecture);
    fputs("Talking with ", stderr);
    qn_report_escaped(stderr, name, 80);
    fprintf(stderr, ", a context of %u tokens.\n/help lists the commands. Ctrl-C stops an answer, Ctrl-D ends.\n",
            (unsigned)c->talk.generation.n_ctx);
}

/* ---- turns --------------------------------------------------------------------------------------- */

/* Why an answer ended, where that is not the model's own end. */
static void tell_ending(chat *c)
{
    const qn_generation *g = &c->talk.generation;
    switch (g->ending) {
    case QN_ENDING_CONTEXT:
        c->has_failed = true;
        fprintf(stderr,
                "quern chat: the answer is cut: the conversation has %zu tokens, the context holds %u. /reset forgets "
                "the messages; a larger -c holds more.\n",
                c->talk.prompt.n + g->made.n, (unsigned)g->n_ctx);
        break;
    case QN_ENDING_LENGTH:
        fprintf(stderr, "[cut after %zu tokens, see --n-predict%s]\n", g->made.n,
                g->made.n > 0 ? "" : "; the message is taken back");
        break;
    case QN_ENDING_INTERRUPTED:
        fputs(g->made.n > 0 ? "[stopped]\n" : "[stopped; the message is taken back]\n", stderr);
        break;
    default:
        if (c->talk.view.is_cut) {
            fprintf(stderr, "[the answer ended inside %s]\n", c->talk.view.in_call ? "a tool call" : "its reasoning");
        }
    }
}

static void report(chat *c, const qn_error *err)
{
    qn_terminal_end_line(&c->talk.out);
    c->has_failed = true;
    if (err->code == QN_ERANGE) {
        fprintf(stderr, "quern chat: %s. /reset forgets the messages; a larger -c holds more.\n", err->what);
    } else {
        qn_report_failure("chat", err);
    }
}

/* A message that gets no answer is taken back, so that the conversation can go on. */
static void turn(chat *c, qn_str message)
{
    qn_talk *t = &c->talk;
    qn_error err;
    if (qn_transcript_add(&t->transcript, "user", message, &err) != QN_OK) {
        report(c, &err);
        return;
    }
    size_t n_asked = t->transcript.n;
    qn_status status = qn_talk_render(t, &err);
    if (status == QN_OK) {
        status = qn_talk_answer(t, &err);
    }
    if (t->transcript.n == n_asked) {
        qn_transcript_drop_last(&t->transcript);
    }
    if (status != QN_OK) {
        report(c, &err);
        return;
    }
    qn_terminal_end_line(&t->out);
    qn_terminal_end_line(&t->notes);
    c->stats.n_answers++;
    c->stats.n_prefill += t->generation.timings.n_prefill;
    c->stats.n_reused += t->n_reused;
    c->stats.n_made += t->generation.made.n;
    if (c->json && !qn_talk_print_json(t)) {
        t->view.broken_output = true;
    }
    tell_ending(c);
    c->has_failed |= !qn_generation_check_whole(&t->generation, "chat");
}

static bool is_blank(const qn_buf *b)
{
    for (size_t i = 0; i < b->len; i++) {
        if (!isspace((unsigned char)b->data[i])) {
            return false;
        }
    }
    return true;
}

/* False: the chat ends. */
static bool take_message(chat *c, const qn_buf *text)
{
    qn_str message = qn_buf_view(text);
    if (is_blank(text)) {
        return true;
    }
    if (text->data[0] == '/' && (text->len == 1 || text->data[1] != '/')) {
        qn_command result = qn_chat_command(&c->talk, &c->stats, text->data);
        c->has_failed |= result == QN_COMMAND_FAILED;
        return result != QN_COMMAND_QUIT;
    }
    if (text->data[0] == '/') { /* the second of two slashes */
        message.data++;
        message.len--;
    }
    turn(c, message);
    return !c->talk.view.broken_output && (c->is_interactive || !qn_interrupted());
}

static int talk(chat *c, qn_error *err)
{
    qn_buf text;
    bool goes_on = true;
    int code = QN_EXIT_DONE;
    qn_buf_init(&text, NULL, QN_INPUT_OWNER, QN_LINE_MAX_BYTES);
    while (goes_on) {
        qn_interrupt_forget();
        switch (qn_message_read(c->lines, "> ", ". ", &text, err)) {
        case QN_LINE_READ:
            goes_on = take_message(c, &text);
            break;
        case QN_LINE_INTERRUPTED:
            fputs("\n(Ctrl-D or /quit ends.)\n", stderr);
            break;
        case QN_LINE_END:
            goes_on = false;
            fputs(c->is_interactive ? "\n" : "", stderr);
            break;
        case QN_LINE_FAILED:
            goes_on = false;
            code = qn_report_failure("chat", err);
            break;
        }
    }
    qn_buf_free(&text);
    if (!c->is_interactive && qn_interrupted()) {
        return QN_EXIT_INTERRUPTED;
    }
    bool failed = c->talk.view.broken_output || (c->has_failed && !c->is_interactive);
    return failed ? QN_EXIT_FAILED : code;
}

int qn_verb_chat(const qn_options *o)
{
    chat c = {0};
    qn_error err;
    int code;
    qn_talk_init(&c.talk, "chat", o);
    c.json = qn_options_flag(o, QN_OPTION_ID_JSON);
    if (c.json) {
        c.talk.view.out = NULL;
    }
    qn_status status = open_all(&c, &err);
    if (status == QN_OK) {
        if (c.is_interactive) {
            qn_interrupt_watch_all();
            greet(&c);
        } else {
            qn_interrupt_watch();
        }
        code = talk(&c, &err);
    } else {
        code = c.talk.wrong_usage ? qn_report_usage("chat", &err) : qn_report_failure("chat", &err);
    }
    qn_line_close(c.lines);
    qn_talk_close(&c.talk);
    return code;
}
