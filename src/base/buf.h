/* A growing byte buffer with a ceiling. Errors stick: after one, appends do nothing and status stays set, so a
 * caller may append many times and check once. Not thread-safe.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BASE_BUF_H
#define QN_BASE_BUF_H

#include "base/alloc.h"
#include "base/str.h"

typedef struct qn_buf {
    char *data; /* len bytes, then a NUL that is not counted; NULL while empty */
    size_t len, cap, max;
    qn_budget *budget;
    const char *owner;
    qn_status status; /* QN_OK, QN_ENOMEM, QN_EFULL (max reached) */
} qn_buf;

void qn_buf_init(qn_buf *b, qn_budget *budget, const char *owner, size_t max_bytes);
void qn_buf_free(qn_buf *b); /* leaves an empty, usable buffer */
void qn_buf_clear(qn_buf *b); /* len 0, status QN_OK, memory kept */
void qn_buf_add(qn_buf *b, const void *bytes, size_t n);
void qn_buf_add_str(qn_buf *b, const char *s);
void qn_buf_add_char(qn_buf *b, char c);
void qn_buf_printf(qn_buf *b, const char *fmt, ...) QN_PRINTF(2, 3);
qn_str qn_buf_view(const qn_buf *b);

#endif
