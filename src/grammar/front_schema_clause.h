/* A conjunction of schemas while it is being multiplied out. Private to src/grammar/front_schema_clause.c and
 * front_schema_fails.c.
 * SPDX-License-Identifier: MIT */
#ifndef QN_GRAMMAR_FRONT_SCHEMA_CLAUSE_H
#define QN_GRAMMAR_FRONT_SCHEMA_CLAUSE_H

#include "grammar/front_schema_int.h"

#define QN_CLAUSE_MAX_LITERALS 512 /* of one clause */

typedef enum qn_ask_kind {
    QN_ASK_HOLDS,
    QN_ASK_FAILS,
    QN_ASK_ANY,
    QN_ASK_ONE,
    QN_ASK_IF,
    QN_ASK_DEPENDS,
    QN_ASK_LITERAL
} qn_ask_kind;

typedef struct qn_ask {
    qn_ask_kind kind;
    const qn_json *v; /* the schema; QN_ASK_ANY, QN_ASK_ONE: the schema that has the list */
    const qn_json *list;
    qn_schema_literal literal;
    const struct qn_ask *next, *from;
} qn_ask;

typedef struct qn_expansion {
    qn_sx *s;
    unsigned types, depth;
    qn_schema_literal literals[QN_CLAUSE_MAX_LITERALS];
    size_t n_literals, n_clauses;
    qn_schema_clause *first, **last;
} qn_expansion;

/* Takes in what t says, and all behind it. */
qn_status qn_clause_expand(qn_expansion *x, const qn_ask *t);
/* Goes on with `t` under more constraints, and takes them back. */
qn_status qn_clause_narrowed(qn_expansion *x, unsigned types, const qn_schema_literal *literal, const qn_ask *t);
/* One more entry, in front of `next`; NULL: no memory. */
qn_ask *qn_clause_ask(qn_expansion *x, qn_ask_kind kind, const qn_json *v, const qn_json *list, const qn_ask *from,
                      const qn_ask *next);
/* The entry's schema has `if`, which holds with the rest of it, or (is_negated) does not. */
qn_status qn_clause_expand_if(qn_expansion *x, const qn_ask *t, bool is_negated);
/* ---- front_schema_fails.c ---- */
qn_status qn_clause_expand_fails(qn_expansion *x, const qn_ask *t);

/* ---- front_schema_fails_member.c ---- */

/* The ways for additionalProperties (or else patternProperties) of the entry's schema, whose value is v, to fail.
 * *is_known false: what members there are is not known, and nothing was done. */
qn_status qn_clause_fail_members(qn_expansion *x, const qn_ask *t, bool is_additional, const qn_json *v,
                                 bool *is_known);

#define QN_CLAUSE_ADD(head, kind_, v_, list_, from_)                        \
    do {                                                                    \
        (head) = qn_clause_ask(x, (kind_), (v_), (list_), (from_), (head)); \
        if ((head) == NULL) {                                               \
            return qn_sx_no_memory(x->s);                                   \
        }                                                                   \
    } while (0)

#endif
