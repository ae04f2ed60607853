/* Turns of a conversation. SPDX-License-Identifier: MIT */
#include "cli/talk.h"

#include "base/clock.h"
#include "cli/format_option.h"
#include "cli/talk_format.h"

#include <stdlib.h>

#define QN_TALK_OWNER "talk"

void qn_talk_init(qn_talk *t, const char *verb, const qn_options *o)
{
    *t = (qn_talk){.verb = verb, .options = o};
    qn_terminal_init(&t->out, stdout);
    qn_terminal_init(&t->notes, stderr);
    qn_transcript_init(&t->transcript);
    qn_buf_init(&t->reasoning_end, NULL, QN_TALK_OWNER, QN_INPUT_MAX_TEMPLATE);
    qn_answer_view_init(&t->view, &t->out, &t->notes);
}

static qn_status usage(qn_talk *t, qn_status status)
{
    t->wrong_usage = status == QN_EINVAL;
    return status;
}

static qn_status read_tools(qn_talk *t, const char *path, qn_error *err)
{
    qn_buf text;
    qn_error why;
    qn_buf_init(&text, NULL, QN_TALK_OWNER, QN_INPUT_MAX_CONVERSATION);
    qn_status status = qn_input_file(path, &text, &why);
    if (status == QN_OK) {
        qn_input_drop_mark(&text);
        status = qn_transcript_set_tools(&t->transcript, qn_buf_view(&text), &why);
        status = status == QN_OK ? QN_OK : qn_fail(&why, status, "%s: %s", path, why.what);
    }
    if (status != QN_OK) { /* a file that can be read and holds something else is wrong usage */
        status = status == QN_EFORMAT || status == QN_EFULL ? QN_EINVAL : status;
        qn_fail(err, status, "--tools: %s", why.what);
    }
    qn_buf_free(&text);
    return status;
}

qn_status qn_talk_load(qn_talk *t, qn_error *err)
{
    const qn_options *o = t->options;
    const char *system = qn_options_text(o, QN_OPTION_ID_SYSTEM), *tools = qn_options_text(o, QN_OPTION_ID_TOOLS);
    uint32_t n_threads = (uint32_t)qn_options_int(o, QN_OPTION_ID_THREADS);
    uint64_t begin_ns = qn_clock_ns();
    QN_TRY(usage(t, qn_sampling_read(&t->sampling, o, err)));
    QN_TRY(qn_open_runtime(n_threads, &t->opened, err));
    QN_TRY(usage(t, qn_format_option_open(o, t->opened.runtime, &t->format, err)));
    if (tools != NULL) {
        QN_TRY(usage(t, read_tools(t, tools, err)));
    }
    QN_TRY(usage(t, qn_talk_format_check(t, err)));
    if (system != NULL) {
        QN_TRY(qn_transcript_set_system(&t->transcript, qn_str_of(system), err));
    }
    QN_TRY(qn_open_model(o, n_threads, false, &t->opened, err));
    qn_model_get_info(t->opened.model, &t->info);
    QN_TRY(usage(t, qn_sampling_check(&t->sampling, t->info.n_vocab, err)));
    QN_TRY(usage(t, qn_open_chat(o, &t->opened, &t->chat, err)));
    QN_TRY(usage(t, qn_talk_format_marks(t, err)));
    t->generation.timings.load_ns = qn_clock_ns() - begin_ns;
    return QN_OK;
}

qn_status qn_talk_open(qn_talk *t, uint32_t n_ctx, int64_t n_predict, qn_error *err)
{
    uint64_t begin_ns = qn_clock_ns();
    QN_TRY(qn_generation_open(&t->generation, t->opened.model, &t->sampling, n_ctx, err));
    t->generation.n_predict = n_predict;
    t->generation.stream_flags = QN_TEXT_PARSE_SPECIAL; /* marks of reasoning and calls are often special tokens */
    t->generation.show = qn_answer_view_show;
    t->generation.ctx = &t->view;
    QN_TRY(usage(t, qn_format_option_set(&t->generation, t->format, err)));
    t->generation.timings.load_ns += qn_clock_ns() - begin_ns;
    return QN_OK;
}

void qn_talk_close(qn_talk *t)
{
    qn_answer_view_free(&t->view);
    qn_prompt_close(t->rendered);
    qn_generation_close(&t->generation);
    qn_sampling_free(&t->sampling);
    qn_format_close(t->format);
    qn_buf_free(&t->reasoning_end);
    qn_chat_close(t->chat);
    qn_close_model(&t->opened);
    qn_transcript_free(&t->transcript);
    qn_tokens_free(&t->prompt);
    qn_tokens_free(&t->kept);
}

static qn_status render(const qn_talk *t, qn_prompt **out, qn_error *err)
{
    qn_buf json;
    qn_buf_init(&json, NULL, QN_TALK_OWNER, QN_INPUT_MAX_BYTES);
    qn_transcript_write(&t->transcript, true, &json);
    qn_status status = json.status == QN_OK
                           ? qn_input_render(t->options, t->chat, qn_buf_view(&json), NULL, out, err)
                           : qn_fail(err, json.status, "no memory for the conversation");
    qn_buf_free(&json);
    return status;
}

/* A template that shows tools makes another text without them. */
static void look_for_tools(qn_talk *t)
{
    qn_buf tools = t->transcript.tools;
    qn_prompt *without;
    if (t->saw_tools || tools.len == 0 || qn_str_is(qn_buf_view(&tools), "[]")) {
        return;
    }
    t->saw_tools = true;
    t->transcript.tools = (qn_buf){0};
    qn_status status = render(t, &without, NULL);
    t->transcript.tools = tools;
    if (status != QN_OK) {
        return;
    }
    size_t n, n_without;
    const char *text = qn_prompt_text(t->rendered, &n), *text_without = qn_prompt_text(without, &n_without);
    if (n == n_without && memcmp(text, text_without, n) == 0) {
        fprintf(stderr, "quern %s: warning: the chat template shows no tools: the model does not learn of them\n",
                t->verb);
    }
    qn_prompt_close(without);
}

qn_status qn_talk_render(qn_talk *t, qn_error *err)
{
    qn_prompt_close(t->rendered);
    t->rendered = NULL;
    qn_status status = render(t, &t->rendered, err);
    if (status == QN_OK) {
        look_for_tools(t);
    }
    size_t n_bytes = 1;
    if (status == QN_OK) {
        qn_prompt_text(t->rendered, &n_bytes);
    }
    if (n_bytes == 0) {
        status = qn_fail(err, QN_EFORMAT, "the chat template makes nothing out of this conversation");
    }
    if (status == QN_OK) {
        status = qn_input_tokenize_prompt(t->opened.model, t->rendered, &t->prompt, err);
    }
    return status;
}

/* ---- answers ------------------------------------------------------------------------------------- */

/* Leaves in the sequence what the prompt begins with, but never all of it: the last token's logits are needed. */
static qn_status reuse(qn_talk *t, qn_error *err)
{
    size_t n = 0, most = t->kept.n < t->prompt.n - 1 ? t->kept.n : t->prompt.n - 1;
    while (n < most && t->kept.ids[n] == t->prompt.ids[n]) {
        n++;
    }
    if (qn_seq_truncate(t->generation.seq, (uint32_t)n, NULL) != QN_OK) {
        n = 0; /* a sliding window has given that part up */
        QN_TRY(qn_seq_truncate(t->generation.seq, 0, err));
    }
    t->kept.n = n;
    t->n_reused = n;
    return QN_OK;
}

static qn_status note_kept(qn_talk *t, qn_error *err)
{
    uint32_t n = qn_seq_length(t->generation.seq);
    for (size_t i = t->kept.n; i < n; i++) {
        size_t i_made = i - t->prompt.n;
        QN_TRY(qn_tokens_add(&t->kept, i < t->prompt.n ? t->prompt.ids[i] : t->generation.made.ids[i_made], err));
    }
    return QN_OK;
}

static qn_status append_answer(qn_talk *t, qn_error *err)
{
    qn_buf message;
    qn_buf_init(&message, NULL, QN_TALK_OWNER, QN_INPUT_MAX_BYTES);
    qn_answer_view_message(&t->view, &message);
    qn_status status = message.status == QN_OK ? qn_transcript_add_json(&t->transcript, qn_buf_view(&message), err)
                                               : qn_fail(err, message.status, "no memory for the answer");
    qn_buf_free(&message);
    return status;
}

qn_status qn_talk_answer(qn_talk *t, qn_error *err)
{
    if (t->prompt.n > t->generation.n_ctx) {
        return qn_fail(err, QN_ERANGE, "the conversation has %zu tokens, the context holds %u", t->prompt.n,
                       (unsigned)t->generation.n_ctx);
    }
    qn_str tools = t->tool_choice == QN_TOOLS_NONE ? QN_STR("") : qn_buf_view(&t->transcript.tools);
    QN_TRY(qn_talk_format_choose(t, err));
    QN_TRY(qn_answer_view_begin(&t->view, t->chat, t->rendered, tools, err));
    QN_TRY(reuse(t, err));
    qn_status status = qn_generate(&t->generation, t->prompt.ids + t->n_reused, t->prompt.n - t->n_reused, err);
    qn_status ended = qn_answer_view_end(&t->view, status == QN_OK ? err : NULL);
    QN_TRY(note_kept(t, status == QN_OK && ended == QN_OK ? err : NULL));
    QN_TRY(status);
    QN_TRY(ended);
    bool has_ended = t->generation.ending == QN_ENDING_STOP; /* then nothing is an answer, too */
    return t->generation.made.n > 0 || has_ended ? append_answer(t, err) : QN_OK;
}
