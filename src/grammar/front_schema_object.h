/* An object of a schema while its expression is being put together. Private to src/grammar/front_schema_object.c and
 * front_schema_members.c.
 * SPDX-License-Identifier: MIT */
#ifndef QN_GRAMMAR_FRONT_SCHEMA_OBJECT_H
#define QN_GRAMMAR_FRONT_SCHEMA_OBJECT_H

#include "grammar/front_schema_int.h"

/* Patterns of patternProperties of one object; each combination of them is a kind of name. */
#define QN_SCHEMA_MAX_PATTERNS 4

typedef struct qn_schema_member {
    qn_str name;
    bool is_required, is_forbidden;
    qn_gx x; /* "name": value */
} qn_schema_member;

typedef struct qn_schema_object {
    qn_sx *s;
    const qn_schema_clause *c;
    qn_schema_member *members;
    uint32_t n_members, cap_members;
    struct {
        qn_str text;
        const qn_json *schema; /* that has it */
    } patterns[QN_SCHEMA_MAX_PATTERNS];
    uint32_t n_patterns;
    uint32_t min, max;
    const qn_json *min_schema; /* that says so */
    bool has_free;
    qn_gx free; /* a member whose name is not declared */
    qn_schema_item *items;
    size_t n_items, cap_items;
} qn_schema_object;

/* Members without counts; *may_be_empty: nothing must be there. */
qn_gx qn_schema_members(qn_schema_object *o, bool *may_be_empty);
/* With minProperties and maxProperties: a rule for what may follow when members before the i-th are done and n of them
 * were written, from the last backwards. n_required of the members must be there. */
qn_status qn_schema_counted_members(qn_schema_object *o, uint32_t n_required, qn_gx *out);

#endif
