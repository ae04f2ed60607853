/* What the reader of answers makes of a schema. SPDX-License-Identifier: MIT */
#include "grammar/front_calls_types.h"

#include "text/chat/argument.h"

_Static_assert((int)QN_READ_STRING == (int)QN_TYPE_STRING && (int)QN_READ_NUMBER == (int)QN_TYPE_NUMBER &&
                   (int)QN_READ_BOOL == (int)QN_TYPE_BOOLEAN && (int)QN_READ_NULL == (int)QN_TYPE_NULL &&
                   (int)QN_READ_ARRAY == (int)QN_TYPE_ARRAY && (int)QN_READ_OBJECT == (int)QN_TYPE_OBJECT,
               "types have one number for those who read and those who write");

unsigned qn_read_types(const qn_json *schema)
{
    return qn_schema_types(schema);
}

const qn_json *qn_read_member(const qn_json *schema, qn_str name)
{
    return qn_schema_member(schema, name);
}

const qn_json *qn_read_item(const qn_json *schema)
{
    return qn_schema_item(schema);
}
