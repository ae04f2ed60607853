/* The reader of GBNF. Private to src/grammar/front_gbnf*.c.
 * SPDX-License-Identifier: MIT */
#ifndef QN_GRAMMAR_FRONT_GBNF_H
#define QN_GRAMMAR_FRONT_GBNF_H

#include "grammar/front_int.h"

#define QN_GBNF_MAX_SOURCE (8u << 20)

typedef struct qn_gbnf {
    qn_gx_builder *b;
    qn_str source;
    size_t i; /* next byte */
    unsigned depth;
    qn_gx *parts; /* a stack */
    uint32_t n_parts, cap_parts;
    size_t *first_use; /* of each rule: the byte of its definition, or of its first use while it has none */
    uint32_t n_uses, cap_uses;
    qn_error *err;
} qn_gbnf;

typedef struct qn_gbnf_item {
    qn_gx x;
    uint64_t weight; /* as in patterns; rules count 1 */
} qn_gbnf_item;

/* "grammar, line <l>, column <c>: <what> <name>", for the byte `at`. */
qn_status qn_gbnf_fail_at(qn_gbnf *g, qn_status code, size_t at, const char *what, qn_str name);
qn_status qn_gbnf_fail(qn_gbnf *g, size_t at, const char *what); /* QN_EFORMAT, no name */
char qn_gbnf_peek(const qn_gbnf *g);                             /* NUL at the end */
bool qn_gbnf_take(qn_gbnf *g, const char *s);

/* ---- front_gbnf_chars.c: after the opening quote or bracket ---- */

qn_status qn_gbnf_literal(qn_gbnf *g, qn_gbnf_item *out);
qn_status qn_gbnf_class(qn_gbnf *g, qn_gbnf_item *out);

/* ---- front_gbnf_left.c ---- */

/* A rule that begins with itself is an error that names it and its place. */
qn_status qn_gbnf_check_left(qn_gbnf *g);

#endif
