/* A view of bytes that somebody else owns: not NUL-terminated, may hold any byte.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BASE_STR_H
#define QN_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct qn_str {
    const char *data;
    size_t len; /* bytes */
} qn_str;

/* A part [start, end) of a text, in bytes. */
typedef struct qn_span {
    size_t start, end;
} qn_span;

#define QN_STR(literal) ((qn_str){(literal), sizeof(literal) - 1})
/* For printf: "%.*s", QN_STR_ARG(s). Cuts at 96 bytes, enough to name a field. */
#define QN_STR_ARG(s) (int)((s).len > 96 ? 96 : (s).len), (s).data

static inline qn_str qn_str_of(const char *c) { return (qn_str){c, strlen(c)}; }

static inline bool qn_str_eq(qn_str a, qn_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

static inline bool qn_str_is(qn_str a, const char *c) { return qn_str_eq(a, qn_str_of(c)); }

#endif
