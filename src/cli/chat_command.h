/* What can be typed in `quern chat` beside messages: lines that begin with a slash. SPDX-License-Identifier: MIT */
#ifndef QN_CLI_CHAT_COMMAND_H
#define QN_CLI_CHAT_COMMAND_H

#include "cli/talk.h"

/* Totals of a chat. */
typedef struct qn_chat_stats {
    size_t n_answers;
    uint64_t n_prefill, n_reused, n_made; /* tokens */
} qn_chat_stats;

typedef enum qn_command { QN_COMMAND_DONE, QN_COMMAND_FAILED, QN_COMMAND_QUIT } qn_command;

/* Runs the line, which begins with a slash. What it says goes to standard error; so does an error. */
qn_command qn_chat_command(qn_talk *t, const qn_chat_stats *stats, const char *line);

#endif
