/* A conversation as templates expect it: JSON from outside, with what clients write differently put right, so that
 * every template sees the same form. Absent "tools" and "documents" are null, an absent "add_generation_prompt" is
 * false, as transformers passes them. Nothing else is changed: a template that asks for anything else finds it as it was
 * given. SPDX-License-Identifier: MIT */
#ifndef QN_TEXT_CHAT_CONVERSATION_H
#define QN_TEXT_CHAT_CONVERSATION_H

#include "base/json.h"
#include "text/jinja/jinja.h"

typedef struct qn_conversation qn_conversation; /* immutable */

typedef enum qn_arguments {
    QN_ARGUMENTS_PARSED,  /* "arguments" of tool calls that are a string of JSON become what it spells */
    QN_ARGUMENTS_GIVEN,   /* they stay as they are */
    QN_ARGUMENTS_SPELLED, /* and those that are no string become one of JSON */
} qn_arguments;

typedef struct qn_conversation_options {
    qn_str bos, eos; /* what bos_token and eos_token are, unless the JSON has them; empty: nothing is added */
    qn_arguments arguments;
    bool filled_contents; /* a "content" that is null or absent is "" */
} qn_conversation_options;

#define QN_CONVERSATION_MAX_BYTES ((size_t)64 << 20) /* of JSON; a million tokens have some 5 MiB */
#define QN_CONVERSATION_MAX_NODES ((size_t)1 << 21)  /* of the tree; bounds its memory at some 150 MiB */

/* Copies what it keeps; o may be NULL. "messages", if there, is a list of objects. A blank string of arguments spells
 * no arguments. QN_EFORMAT: err has line and column, or says which message is wrong; QN_EFULL: a limit. */
qn_status qn_conversation_open(qn_str json, const qn_conversation_options *o, qn_budget *b, qn_conversation **out,
                               qn_error *err);
void qn_conversation_close(qn_conversation *c);

const qn_json *qn_conversation_vars(const qn_conversation *c);

/* True: some message has a "content" that is null or absent. */
bool qn_conversation_has_gaps(const qn_conversation *c);

/* Whether the template of j wants "arguments" as text: it cannot show them otherwise, or shows them as Python would.
 * Found by rendering a call in both ways; false when neither tells. QN_ENOMEM, QN_EBUDGET. */
qn_status qn_conversation_probe(const qn_jinja *j, const qn_conversation_options *o, qn_budget *b, bool *text_arguments,
                                qn_error *err);

/* Any JSON by itself, such as a list of tools: qn_conversation_vars() gives it. */
qn_status qn_conversation_open_value(qn_str json, qn_budget *b, qn_conversation **out, qn_error *err);

#endif
