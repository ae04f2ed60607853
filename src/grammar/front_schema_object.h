/* An object of a schema while its expression is being put together. Private to src/grammar/front_schema_object.c,
 * front_schema_names.c and front_schema_members.c.
 * SPDX-License-Identifier: MIT */
#ifndef QN_GRAMMAR_FRONT_SCHEMA_OBJECT_H
#define QN_GRAMMAR_FRONT_SCHEMA_OBJECT_H

#include "grammar/front_schema_int.h"

/* Patterns of patternProperties of one object; each combination of them that a name can fit is a kind of name. */
#define QN_SCHEMA_MAX_PATTERNS 16

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
        const qn_json *schema; /* of what fits it */
    } patterns[QN_SCHEMA_MAX_PATTERNS];
    uint32_t n_patterns;
    uint32_t min, max;
    const qn_json *min_schema, *max_schema; /* that say so */
    bool has_names;                         /* propertyNames lists all names, and each is a member */
    bool has_free;
    qn_gx free; /* a member whose name is not declared */
    qn_schema_item *items;
    size_t n_items, cap_items;
} qn_schema_object;

/* The member of that name, found or added. */
qn_status qn_schema_member_named(qn_schema_object *o, qn_str name, qn_schema_member **out);
/* One more schema for the value of a member; *fits becomes false when it lets nothing through. */
qn_status qn_schema_add_item(qn_schema_object *o, const qn_json *schema, bool is_negated, bool *fits);
/* Collects what all literals say of the value of a member; name NULL: one that is not declared, and fits those
 * patterns. */
qn_status qn_schema_member_items(qn_schema_object *o, const qn_str *name, unsigned bits, bool *fits);
qn_gx qn_schema_key_value(qn_schema_object *o, qn_gx key, qn_gx value);

/* ---- front_schema_names.c ---- */

/* Where propertyNames lists the names that there may be (enum, const), adds them as members; sets o->has_names. */
qn_status qn_schema_listed_names(qn_schema_object *o);
/* Sets o->free and o->has_free. */
qn_status qn_schema_free_members(qn_schema_object *o);

/* ---- front_schema_members.c ---- */

/* Members without counts; *may_be_empty: nothing must be there. */
qn_gx qn_schema_members(qn_schema_object *o, bool *may_be_empty);
/* With minProperties and maxProperties: a rule for what may follow when members before the i-th are done and n of them
 * were written, from the last backwards. n_required of the members must be there. */
qn_status qn_schema_counted_members(qn_schema_object *o, uint32_t n_required, qn_gx *out);

#endif
