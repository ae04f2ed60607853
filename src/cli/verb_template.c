/* quern template: the text that a chat template makes of a conversation. SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "cli/input.h"
#include "cli/report.h"

#include <unistd.h>

typedef struct job {
    const qn_options *options;
    qn_opened opened; /* without a model where the template is a file's and no model was named */
    qn_chat *chat;
    qn_prompt *prompt;
    qn_buf input;
    bool wrong_usage;
} job;

static qn_status usage(job *j, qn_status status)
{
    j->wrong_usage = status == QN_EINVAL;
    return status;
}

static qn_status open_model(job *j, qn_error *err)
{
    const qn_options *o = j->options;
    bool needs_none =
        qn_options_text(o, QN_OPTION_ID_TEMPLATE) != NULL && qn_options_text(o, QN_OPTION_ID_MODEL) == NULL;
    if (!needs_none) {
        return qn_open_model(o, 1, true, &j->opened, err);
    }
    return qn_open_runtime(1, &j->opened, err);
}

static qn_status render(job *j, qn_error *err)
{
    const char *path = qn_options_text(j->options, QN_OPTION_ID_INPUT);
    if (path == NULL) {
        return usage(j, qn_fail(err, QN_EINVAL, "--input is needed: a file with the conversation"));
    }
    QN_TRY(qn_input_file(path, &j->input, err));
    QN_TRY(open_model(j, err));
    QN_TRY(usage(j, qn_open_chat(j->options, &j->opened, &j->chat, err)));
    return qn_input_render(j->options, j->chat, qn_buf_view(&j->input), path, &j->prompt, err);
}

static qn_status json_tokens(const job *j, qn_json_writer *w, qn_error *err)
{
    qn_tokens tokens = {0};
    qn_status status = qn_input_tokenize_prompt(j->opened.model, j->prompt, &tokens, err);
    qn_json_begin_array(w);
    for (size_t i = 0; status == QN_OK && i < tokens.n; i++) {
        qn_json_i64(w, tokens.ids[i]);
    }
    qn_json_end_array(w);
    qn_tokens_free(&tokens);
    return status;
}

/* The text; its tokens, where there is a model; and what is known of the template's marks. */
static qn_status print_json(const job *j, qn_error *err)
{
    qn_buf out;
    qn_json_writer w;
    qn_str text;
    qn_status status = QN_OK;
    text.data = qn_prompt_text(j->prompt, &text.len);
    qn_buf_init(&out, NULL, QN_INPUT_OWNER, QN_INPUT_MAX_BYTES);
    qn_json_writer_init(&w, &out);
    qn_json_begin_object(&w);
    qn_json_key(&w, "text");
    qn_json_string(&w, text);
    qn_json_key(&w, "tokens");
    if (j->opened.model != NULL) {
        status = json_tokens(j, &w, err);
    } else {
        qn_json_null(&w);
    }
    qn_json_key(&w, "template");
    qn_json_raw(&w, qn_str_of(qn_chat_describe(j->chat)));
    qn_json_end_object(&w);
    if (status == QN_OK && !qn_report_json(&out)) {
        status = qn_fail(err, QN_EIO, "standard output: cannot be written");
    }
    qn_buf_free(&out);
    return status;
}

static qn_status print_text(const job *j, qn_error *err)
{
    size_t n;
    const char *text = qn_prompt_text(j->prompt, &n);
    fwrite(text, 1, n, stdout);
    if (n > 0 && text[n - 1] != '\n' && isatty(STDOUT_FILENO)) {
        putchar('\n');
    }
    return qn_report_flush() ? QN_OK : qn_fail(err, QN_EIO, "standard output: cannot be written");
}

int qn_verb_template(const qn_options *o)
{
    job j = {.options = o};
    qn_error err;
    qn_buf_init(&j.input, NULL, QN_INPUT_OWNER, QN_INPUT_MAX_CONVERSATION);
    qn_status status = render(&j, &err);
    if (status == QN_OK) {
        status = qn_options_flag(o, QN_OPTION_ID_JSON) ? print_json(&j, &err) : print_text(&j, &err);
    }
    int code = QN_EXIT_DONE;
    if (status != QN_OK) {
        code = j.wrong_usage ? qn_report_usage("template", &err) : qn_report_failure("template", &err);
    }
    qn_prompt_close(j.prompt);
    qn_chat_close(j.chat);
    qn_close_model(&j.opened);
    qn_buf_free(&j.input);
    return code;
}
