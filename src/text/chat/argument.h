/* What tools say about their parameters, and values without types of their own turned into JSON by it.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TEXT_CHAT_ARGUMENT_H
#define QN_TEXT_CHAT_ARGUMENT_H

#include "base/json.h"

enum {
    QN_TYPE_STRING = 1,
    QN_TYPE_NUMBER = 2, /* integers too */
    QN_TYPE_BOOLEAN = 4,
    QN_TYPE_NULL = 8,
    QN_TYPE_ARRAY = 16,
    QN_TYPE_OBJECT = 32,
};

/* A copy of the list of tools; *out is NULL when tools is NULL or no list. */
qn_status qn_tools_copy(const qn_json *tools, qn_budget *b, qn_json_doc **out, qn_error *err);
/* The function of that name, or NULL. OpenAI's wrapping {"type": "function", "function": {...}} may be absent. */
const qn_json *qn_tools_find(const qn_json_doc *tools, qn_str name);
/* The schema of a function's parameters; NULL: none. */
const qn_json *qn_tool_parameters(const qn_json *function);

/* The schema of a member of objects that fit `schema`, and of an item of arrays; NULL: it says nothing. */
const qn_json *qn_schema_member(const qn_json *schema, qn_str key);
const qn_json *qn_schema_item(const qn_json *schema);
/* Types that fit the schema: QN_TYPE_*; 0: any. */
unsigned qn_schema_types(const qn_json *schema);

/* Appends the value that `text` stands for. A string stays one when only strings fit; else what reads as JSON, or as
 * Python shows it, of a type that fits is that, and the rest is a string; so is what is more than max_depth containers
 * deep. quoted: strings are written as JSON. */
void qn_argument_write(qn_buf *out, qn_str text, unsigned types, bool quoted, unsigned max_depth);

#endif
