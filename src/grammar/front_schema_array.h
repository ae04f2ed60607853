/* An array of a schema while its expression is being put together. Private to src/grammar/front_schema_array.c,
 * front_schema_unique.c and front_schema_contains.c.
 * SPDX-License-Identifier: MIT */
#ifndef QN_GRAMMAR_FRONT_SCHEMA_ARRAY_H
#define QN_GRAMMAR_FRONT_SCHEMA_ARRAY_H

#include "grammar/front_schema_int.h"

#define QN_SCHEMA_MAX_FIRST 100 /* prefixItems; each is two levels of expressions */

typedef struct qn_schema_array {
    qn_sx *s;
    const qn_schema_clause *c;
    uint32_t min, max, n_first;
    bool has_contains;
    qn_schema_item contains;
    const qn_json *contains_schema; /* that asks for it */
    const char *contains_keyword;
    uint32_t min_contains, max_contains;
    const qn_json *unique; /* the schema that asks for it; NULL: none */
    qn_schema_item *items; /* work space of one item's conjunction; room for one more */
} qn_schema_array;

/* The conjunction of what the literals ask of item i; false: nothing fits there. */
bool qn_schema_array_item(qn_schema_array *a, uint32_t i, size_t *n);
/* min to max items of one kind with commas between them, and one before when `follows`. */
qn_gx qn_schema_array_run(qn_schema_array *a, qn_gx item, uint32_t min, uint32_t max, bool follows);
qn_gx qn_schema_array_brackets(qn_schema_array *a, qn_gx inside);

/* ---- front_schema_unique.c: values that may not repeat ---- */

qn_status qn_schema_unique_items(qn_schema_array *a, qn_gx *out);

/* ---- front_schema_contains.c: items of a kind that must occur ---- */

qn_status qn_schema_array_contains(qn_schema_array *a, qn_gx *out);

#endif
