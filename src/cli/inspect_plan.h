/* quern inspect --plan. SPDX-License-Identifier: MIT */
#ifndef QN_CLI_INSPECT_PLAN_H
#define QN_CLI_INSPECT_PLAN_H

#include "cli/cli.h"

/* Prints what a session would run, for the context of -c and the usual batch. Returns an exit code. */
int qn_inspect_plan(const qn_options *o, const char *path);

#endif
