/* Waiting for a mark in a text that comes token by token. SPDX-License-Identifier: MIT */
#ifndef QN_CLI_MARK_WAIT_H
#define QN_CLI_MARK_WAIT_H

#include "base/buf.h"
#include "quern/quern.h"

typedef struct qn_mark_wait {
    const char *mark; /* NULL: nothing is waited for */
    qn_buf tail;      /* the end of the text, in which the mark may have begun */
} qn_mark_wait;

/* mark must stay; NULL or "": nothing is waited for. */
void qn_mark_wait_begin(qn_mark_wait *w, const char *mark);
void qn_mark_wait_end(qn_mark_wait *w);

/* Adds a token of m, with special ones spelled out. With the one that completes the mark the waiting is over.
 * QN_EUNSUPPORTED: that token has more than blanks behind the mark. */
qn_status qn_mark_wait_add(qn_mark_wait *w, const qn_model *m, int32_t id, qn_error *err);

#endif
