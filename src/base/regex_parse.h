/* What the two files of the pattern's parser share.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BASE_REGEX_PARSE_H
#define QN_BASE_REGEX_PARSE_H

#include "base/regex_int.h"

typedef struct qn_regex_parser {
    qn_regex_build *b;
    size_t i; /* next byte of the pattern */
    unsigned depth;
    bool fold, dot_all; /* (?i) and (?s), to the end of the group */
} qn_regex_parser;

static inline bool qn_parse_more(const qn_regex_parser *p) { return p->i < p->b->pattern.len; }
static inline char qn_parse_peek(const qn_regex_parser *p) /* NUL at the end */
{
    return qn_parse_more(p) ? p->b->pattern.data[p->i] : '\0';
}

static inline bool qn_parse_looking_at(const qn_regex_parser *p, const char *s)
{
    size_t n = strlen(s);
    return p->b->pattern.len - p->i >= n && memcmp(p->b->pattern.data + p->i, s, n) == 0;
}

static inline bool qn_parse_take(qn_regex_parser *p, const char *s)
{
    if (!qn_parse_looking_at(p, s)) {
        return false;
    }
    p->i += strlen(s);
    return true;
}

/* err becomes "pattern, byte <at>: <what>". */
qn_status qn_parse_fail(qn_regex_parser *p, qn_status code, size_t at, const char *what);
qn_status qn_parse_new_node(qn_regex_parser *p, qn_regex_node_kind kind, uint32_t *node);
/* A node for the work set. */
qn_status qn_parse_set_node(qn_regex_parser *p, qn_regex_node_kind kind, uint32_t *node);

qn_status qn_parse_next_char(qn_regex_parser *p, uint32_t *cp);
/* After a backslash: one character in *cp, or a class added to the work set with *cp = UINT32_MAX. */
qn_status qn_parse_escape(qn_regex_parser *p, uint32_t *cp);
/* A node for that character or for the class that is in the work set. */
qn_status qn_parse_char(qn_regex_parser *p, uint32_t cp, uint32_t *node);
/* After an opening bracket. */
qn_status qn_parse_class(qn_regex_parser *p, uint32_t *node);

#endif
