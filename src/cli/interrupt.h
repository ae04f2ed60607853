/* Stopping a generation from outside: Ctrl-C, and a time limit. SPDX-License-Identifier: MIT */
#ifndef QN_CLI_INTERRUPT_H
#define QN_CLI_INTERRUPT_H

#include "quern/quern.h"

/* From now on the first Ctrl-C stops the target's step and is remembered; without a target it ends the process with
 * 130 at once. A second one kills. */
void qn_interrupt_watch(void);

/* The same for a program that goes on: every Ctrl-C stops the target's step, if there is one, and is remembered until
 * it is forgotten; poll() ends with EINTR. Changes of the window's size are remembered too,
 * and that the process goes on after it was stopped. */
void qn_interrupt_watch_all(void);

bool qn_interrupted(void);
void qn_interrupt_forget(void);

/* True once after the window has changed its size; after the process was stopped and goes on. */
bool qn_interrupt_resized(void);
bool qn_interrupt_resumed(void);

/* The session whose steps Ctrl-C and the deadline stop; NULL: none. Set it to NULL before closing the session. */
void qn_interrupt_target(qn_session *s);

/* The target's step is stopped `seconds` from now, once. */
void qn_deadline_start(double seconds);
bool qn_deadline_passed(void);

#endif
