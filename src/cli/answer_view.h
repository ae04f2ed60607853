/* An answer of the model as it comes: shown in its parts, and gathered as a message. SPDX-License-Identifier: MIT */
#ifndef QN_CLI_ANSWER_VIEW_H
#define QN_CLI_ANSWER_VIEW_H

#include "base/json.h"
#include "cli/terminal.h"

typedef struct qn_answer_view {
    /* Where it is shown. On a terminal all parts are, in their styles. Anywhere else standard output gets the content
     * alone, so that scripts can use it, and notes the rest. NULL: nothing is shown. */
    qn_terminal *out, *notes;

    qn_answer_reader *reader;
    qn_buf content, reasoning;
    qn_buf calls;               /* JSON list of OpenAI's tool calls, without its brackets */
    qn_buf name, id, arguments; /* of the call that is being read */
    uint32_t n_calls;           /* whole ones */
    bool in_call, is_cut;       /* is_cut: it ended inside reasoning or a call */
    bool broken_output;
    qn_error failure; /* of the reader while text was shown */
} qn_answer_view;

void qn_answer_view_init(qn_answer_view *v, qn_terminal *out, qn_terminal *notes);
void qn_answer_view_free(qn_answer_view *v);

/* A new answer, to p. tools: JSON list, or empty: then nothing is a call. */
qn_status qn_answer_view_begin(qn_answer_view *v, const qn_chat *c, const qn_prompt *p, qn_str tools, qn_error *err);

/* A qn_show_fn with a qn_answer_view; its own failures are told by qn_answer_view_end(). */
int qn_answer_view_show(void *view, const char *bytes, size_t n_bytes);

/* The answer is over. */
qn_status qn_answer_view_end(qn_answer_view *v, qn_error *err);

/* Appends the message: {"role": "assistant", "content": ..., and reasoning_content and tool_calls, if there are any}.
 */
void qn_answer_view_message(const qn_answer_view *v, qn_buf *out);

#endif
