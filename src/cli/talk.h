/* A conversation with the model: its transcript goes through the template into the sequence, and the answer comes back
 * as a message. What a prompt has in common with the one before is not evaluated again. SPDX-License-Identifier: MIT */
#ifndef QN_CLI_TALK_H
#define QN_CLI_TALK_H

#include "cli/answer_view.h"
#include "cli/generation.h"
#include "cli/transcript.h"

typedef struct qn_talk {
    const char *verb; /* for what is said on standard error */
    const qn_options *options;
    qn_opened opened;
    qn_model_info info;
    qn_chat *chat;
    qn_sampling sampling;
    qn_generation generation;
    qn_transcript transcript;
    qn_format *format;    /* of every answer; NULL: any text will do */
    qn_buf reasoning_end; /* the mark behind which it begins when the prompt has opened reasoning */
    qn_tool_choice tool_choice;
    const char *tool_name;  /* the one function that must be called, or NULL */
    bool said_free_calls;   /* that calls are not checked as they are made */
    qn_terminal out, notes; /* standard output, standard error */
    qn_answer_view view;

    qn_prompt *rendered; /* of the transcript, by qn_talk_render() */
    qn_tokens prompt;
    qn_tokens kept;   /* what the sequence holds */
    size_t n_reused;  /* tokens of the last prompt that it held already */
    bool saw_tools;   /* it was looked whether the template shows tools */
    bool wrong_usage; /* the last error is about what the user typed */
} qn_talk;

void qn_talk_init(qn_talk *t, const char *verb, const qn_options *o);
/* Checks the options, loads the model and its template, and begins a transcript with --system and --tools. */
qn_status qn_talk_load(qn_talk *t, qn_error *err);
/* Then the session. */
qn_status qn_talk_open(qn_talk *t, uint32_t n_ctx, int64_t n_predict, qn_error *err);
void qn_talk_close(qn_talk *t);

/* The transcript, up to where an answer begins, as text and tokens. Warns, once, when there are tools and the template
 * shows none of them. */
qn_status qn_talk_render(qn_talk *t, qn_error *err);

/* Makes the answer to what was rendered; shows it as it comes, and appends it to the transcript unless it was stopped
 * before anything was made. t->generation tells how it ended. QN_ERANGE: the prompt does not fit; err has both counts.
 */
qn_status qn_talk_answer(qn_talk *t, qn_error *err);

/* The last answer as one line of JSON on standard output, with what is known about it. False: it cannot be written. */
bool qn_talk_print_json(const qn_talk *t);

#endif
