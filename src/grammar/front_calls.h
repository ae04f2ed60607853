/* "Content, then one of these tool calls" as a grammar: what the reader of a dialect (text/chat/answer.h) takes for
 * calls of known tools, with arguments that their schemas allow, in the form that the template writes.
 *
 * Free text (content, reasoning) is any text in which no mark stands that would begin a call or end the turn, for the
 * reader or for the template. What ends a call is known, so after the last one only the end remains.
 * SPDX-License-Identifier: MIT */
#ifndef QN_GRAMMAR_FRONT_CALLS_H
#define QN_GRAMMAR_FRONT_CALLS_H

#include "base/json.h"
#include "grammar/expr.h"
#include "text/chat/dialect_syntax.h"

#define QN_CALLS_MAX_TOOLS 1024 /* OpenAI takes 128; gateways that join many servers' tools have some hundreds */

typedef enum qn_calls_choice {
    QN_CALLS_AUTO,     /* content, then perhaps calls */
    QN_CALLS_REQUIRED, /* calls, perhaps after reasoning */
    QN_CALLS_NONE,     /* content */
} qn_calls_choice;

/* A special token of the vocabulary: in marks it is that token, not text. */
typedef struct qn_calls_special {
    qn_str text;
    bool ends; /* a generation: nothing can follow it */
} qn_calls_special;

typedef struct qn_front_calls_options {
    const qn_dialect_view *dialect;
    qn_answer_start start;
    const qn_json *tools; /* OpenAI's list; {"type": "function", "function": {...}} may be the inner object alone */
    qn_calls_choice choice;
    qn_str name;   /* the only function that may be called; empty: any */
    bool one_call; /* at most one */
    bool strict;   /* as in qn_schema_options, for every tool; one may ask for it by its own "strict" */
    const qn_calls_special *specials;
    size_t n_specials;
} qn_front_calls_options;

/* Sets b->root. QN_EFORMAT: malformed tools (err says which); QN_EUNSUPPORTED: the dialect has no calls, or in a form
 * that is not enforced, or a tool asks for what is not; QN_ENOTFOUND: no tool has the name; QN_EFULL. */
qn_status qn_front_calls(qn_gx_builder *b, const qn_front_calls_options *o, qn_error *err);

#endif
