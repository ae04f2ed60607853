/* Stopping a generation from outside: Ctrl-C, and a time limit. SPDX-License-Identifier: MIT */
#ifndef QN_CLI_INTERRUPT_H
#define QN_CLI_INTERRUPT_H

#include "quern/quern.h"

/* From now on the first Ctrl-C stops the target's step and is remembered; without a target it ends the process with
 * 130 at once. A second one kills. */
void qn_interrupt_watch(void);
bool qn_interrupted(void);

/* The session whose steps Ctrl-C and the deadline stop; NULL: none. Set it to NULL before closing the session. */
void qn_interrupt_target(qn_session *s);

/* The target's step is stopped `seconds` from now, once. */
void qn_deadline_start(double seconds);
bool qn_deadline_passed(void);

#endif
