/* Reading a file ahead, so that its pages are in the system's cache when somebody wants them.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BASE_FETCH_H
#define QN_BASE_FETCH_H

#include "base/status.h"

/* Begins to read the file, on a thread that runs only where no other wants to, and ends by itself. Returns a ticket for
 * qn_fetch_stop(); 0: nothing was begun, since the file takes more than half of the machine's memory (it could drive
 * out what is in use), or too many are fetched already, or it cannot be opened. It is only a hint. Any thread. */
uint64_t qn_fetch_start(const char *path);
/* It ends soon; does not wait for that. 0 is allowed, and one that has ended. */
void qn_fetch_stop(uint64_t ticket);
/* Tests: how many are being fetched now. */
uint32_t qn_fetch_count(void);

#endif
