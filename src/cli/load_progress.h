/* How far the reading of a model has come, on a terminal. SPDX-License-Identifier: MIT */
#ifndef QN_CLI_LOAD_PROGRESS_H
#define QN_CLI_LOAD_PROGRESS_H

#include "quern/quern.h"

/* Sets o->progress where standard error is a terminal: one line that says how far it is, gone at the end. */
void qn_load_progress_show(qn_model_options *o);

#endif
