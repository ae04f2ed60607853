/* quern run --chat. SPDX-License-Identifier: MIT */
#ifndef QN_CLI_RUN_CHAT_H
#define QN_CLI_RUN_CHAT_H

#include "cli/options.h"

/* Answers the text as one message; returns the exit code. */
int qn_run_chat(const qn_options *o);

#endif
