/* What the reader of answers makes of a schema: the types by which it tells what a text between marks stands for. Its
 * own words, under other names, since the front end of schemas has the same. SPDX-License-Identifier: MIT */
#ifndef QN_GRAMMAR_FRONT_CALLS_TYPES_H
#define QN_GRAMMAR_FRONT_CALLS_TYPES_H

#include "base/json.h"

enum {
    QN_READ_STRING = 1,
    QN_READ_NUMBER = 2,
    QN_READ_BOOL = 4,
    QN_READ_NULL = 8,
    QN_READ_ARRAY = 16,
    QN_READ_OBJECT = 32,
};

unsigned qn_read_types(const qn_json *schema); /* 0: any */
/* The schema that it finds for a member of objects, an item of arrays; NULL: none. */
const qn_json *qn_read_member(const qn_json *schema, qn_str name);
const qn_json *qn_read_item(const qn_json *schema);

#endif
