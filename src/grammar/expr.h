/* Grammars as they are put together by the front ends (GBNF, JSON schema, regular expressions, choices, tool calls) and
 * read by the compiler of the automaton: expressions over characters and bytes, and rules that may refer to each other.
 *
 * A builder checks sizes as it grows; errors stick in it, so that a front end may build many nodes and ask once.
 *
 * SPDX-License-Identifier: MIT */
#ifndef QN_GRAMMAR_EXPR_H
#define QN_GRAMMAR_EXPR_H

#include "base/alloc.h"
#include "base/str.h"

#define QN_GX_MAX_NODES (1u << 20)
#define QN_GX_MAX_DEPTH 512 /* of expressions in expressions, rules apart; bounds the recursion of what walks them */
#define QN_GX_NO_MAX UINT32_MAX

typedef uint32_t qn_gx; /* an expression; valid in its builder */

typedef enum qn_gx_kind {
    QN_GX_NEVER,   /* matches nothing */
    QN_GX_BYTES,   /* these bytes; none: the empty text */
    QN_GX_CLASS,   /* one character (as UTF-8) of a set of code points */
    QN_GX_CAT,
    QN_GX_ALT,
    QN_GX_REPEAT,  /* child, min to max times; large bounds on an expression of bounded length are counters */
    QN_GX_RULE,    /* the body of a rule */
    QN_GX_AND,     /* texts that both match. Regular operands only: rules in them must not recur */
    QN_GX_NOT,     /* texts that do not match. Regular operand only */
    QN_GX_SPECIAL, /* one special token, by its spelling: never produced by ordinary text */
} qn_gx_kind;

typedef struct qn_gx_range {
    uint32_t first, last; /* code points, without surrogates */
} qn_gx_range;

typedef struct qn_gx_node {
    uint8_t kind;
    uint32_t first, n; /* children[first, first + n), ranges[...] of a class, text[...] of bytes and special */
    uint32_t min, max; /* repeat */
    uint32_t rule;     /* rule */
} qn_gx_node;

typedef struct qn_gx_rule {
    qn_str name;  /* for error texts; kept by the builder */
    qn_gx body;
    bool is_defined;
} qn_gx_rule;

typedef struct qn_gx_builder {
    qn_budget *budget;
    qn_status status;    /* sticks: QN_ENOMEM, QN_EBUDGET, QN_EFULL */
    qn_gx_node *nodes;
    uint32_t n_nodes, cap_nodes;
    qn_gx *children;
    uint32_t n_children, cap_children;
    qn_gx_range *ranges;
    uint32_t n_ranges, cap_ranges;
    char *text;
    uint32_t n_text, cap_text;
    qn_gx_rule *rules;
    uint32_t n_rules, cap_rules;
    uint32_t root; /* rule that a text must match; set by the front end */
} qn_gx_builder;

void qn_gx_init(qn_gx_builder *b, qn_budget *budget);
void qn_gx_free(qn_gx_builder *b);

qn_gx qn_gx_never(qn_gx_builder *b);
qn_gx qn_gx_bytes(qn_gx_builder *b, qn_str bytes);
qn_gx qn_gx_class(qn_gx_builder *b, const qn_gx_range *ranges, uint32_t n); /* any order; overlaps allowed */
qn_gx qn_gx_cat(qn_gx_builder *b, const qn_gx *parts, uint32_t n);
qn_gx qn_gx_alt(qn_gx_builder *b, const qn_gx *parts, uint32_t n);
qn_gx qn_gx_repeat(qn_gx_builder *b, qn_gx x, uint32_t min, uint32_t max);
qn_gx qn_gx_and(qn_gx_builder *b, qn_gx x, qn_gx y);
qn_gx qn_gx_not(qn_gx_builder *b, qn_gx x);
qn_gx qn_gx_special(qn_gx_builder *b, qn_str spelling);
/* A rule without a body yet, and its body. */
uint32_t qn_gx_rule_new(qn_gx_builder *b, qn_str name);
void qn_gx_rule_define(qn_gx_builder *b, uint32_t rule, qn_gx body);
qn_gx qn_gx_rule_ref(qn_gx_builder *b, uint32_t rule);

#endif
