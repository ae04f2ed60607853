/* From what users write to expressions. Every failure names a place: line and column (GBNF), a JSON path and keyword
 * (schemas), a byte (patterns). Nothing that cannot be enforced is let through. Time and size are bounded.
 * SPDX-License-Identifier: MIT */
#ifndef QN_GRAMMAR_FRONT_H
#define QN_GRAMMAR_FRONT_H

#include "base/json.h"
#include "grammar/expr.h"

typedef struct qn_schema_options {
    bool strict;             /* OpenAI's strict mode: objects are closed and all their members required, else refused */
    uint32_t max_whitespace; /* blanks between tokens at most; 0: compact JSON */
    /* Of the texts that the schema allows, those that a careful writer makes: a value, a key or a whole number that is
     * known is spelled in one way, without needless escapes and zeros; and an object that names members has no others,
     * unless the schema says what others may be. */
    bool plain;
} qn_schema_options;

/* Each sets b->root. QN_EFORMAT: malformed; QN_EUNSUPPORTED: a keyword or construct that is not enforced; QN_EFULL. */
qn_status qn_front_gbnf(qn_gx_builder *b, qn_str source, qn_error *err);
qn_status qn_front_schema(qn_gx_builder *b, const qn_json *schema, const qn_schema_options *o, qn_error *err);
qn_status qn_front_regex(qn_gx_builder *b, qn_str pattern, qn_error *err); /* the whole text matches */
qn_status qn_front_choice(qn_gx_builder *b, const qn_str *choices, size_t n, qn_error *err);
/* The same from JSON text: a schema, and a list of strings. Where it is not JSON, err has line and column. */
qn_status qn_front_schema_text(qn_gx_builder *b, qn_str source, const qn_schema_options *o, qn_error *err);
qn_status qn_front_choice_text(qn_gx_builder *b, qn_str source, qn_error *err);

/* A pattern as an expression: of the whole text, or of a text that holds a match somewhere unless ^ and $ tie it (as
 * JSON schema means it). as_json: inside the quotes of a JSON string, where characters may be escaped. */
qn_status qn_front_pattern(qn_gx_builder *b, qn_str pattern, bool search, bool as_json, qn_gx *out, qn_error *err);

#endif
