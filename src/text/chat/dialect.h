/* How a model's chat template marks reasoning, tool calls and the end of a turn: found by rendering small
 * conversations and looking at what changes, so that a new model needs no new code as long as its marks have a known
 * shape.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TEXT_CHAT_DIALECT_H
#define QN_TEXT_CHAT_DIALECT_H

#include "text/jinja/jinja.h"

typedef struct qn_dialect qn_dialect; /* immutable: any thread */

/* bos, eos: how those tokens are spelled ("" when there are none): templates print them.
 * Never fails for a template that renders anything: what cannot be told is plain content, and reason() says so. */
qn_status qn_dialect_open(const qn_jinja *j, qn_str bos, qn_str eos, qn_budget *b, qn_dialect **out, qn_error *err);
void qn_dialect_close(qn_dialect *d);

/* The marks as JSON, for `inspect`-like tools and tests: {"reasoning": {"open": ..., "close": ...},
 * "calls": [{"shape": ..., ...}], "end": [...], "notes": [...]}; "headers" when a turn is made of several messages. */
qn_status qn_dialect_describe(const qn_dialect *d, qn_buf *out);

/* True when the template has a way to show tools, reasoning. */
bool qn_dialect_has_calls(const qn_dialect *d);
bool qn_dialect_has_reasoning(const qn_dialect *d);

#endif
