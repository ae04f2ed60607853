/* What the files of the JSON schema front end share.
 *
 * A schema is never looked at alone: what is compiled is a conjunction, a list of schemas (each perhaps negated) that
 * must all hold. front_schema_clause.c resolves references, allOf, anyOf, oneOf, not, if and dependencies, and turns a
 * conjunction into clauses: alternatives of plain constraints that must all hold. Each type of value then writes the
 * expression of a clause in its own file. Every conjunction becomes one rule; the same one is never built twice, which
 * is also what ends recursion.
 *
 * Private to src/grammar/front_schema*.c, and to front_calls*.c, which have schemas inside of something else.
 * SPDX-License-Identifier: MIT */
#ifndef QN_GRAMMAR_FRONT_SCHEMA_INT_H
#define QN_GRAMMAR_FRONT_SCHEMA_INT_H

#include "grammar/front_int.h"

/* Types as bits. An integer is a number, and one written 1.0 is an integer. */
enum {
    QN_ST_NULL = 1,
    QN_ST_BOOL = 2,
    QN_ST_STRING = 4,
    QN_ST_INTEGER = 8,
    QN_ST_FRACTION = 16, /* a number that is not an integer */
    QN_ST_ARRAY = 32,
    QN_ST_OBJECT = 64,
    QN_ST_NUMBER = QN_ST_INTEGER | QN_ST_FRACTION,
    QN_ST_ALL = 127
};

typedef enum qn_schema_keyword {
    QN_SK_UNKNOWN,
    QN_SK_ANNOTATION,
    QN_SK_REFUSED,
    QN_SK_TYPE,
    QN_SK_ENUM,
    QN_SK_CONST,
    QN_SK_MINIMUM,
    QN_SK_MAXIMUM,
    QN_SK_EXCLUSIVE_MINIMUM,
    QN_SK_EXCLUSIVE_MAXIMUM,
    QN_SK_MULTIPLE_OF,
    QN_SK_MIN_LENGTH,
    QN_SK_MAX_LENGTH,
    QN_SK_PATTERN,
    QN_SK_FORMAT,
    QN_SK_ITEMS,
    QN_SK_PREFIX_ITEMS,
    QN_SK_ADDITIONAL_ITEMS,
    QN_SK_MIN_ITEMS,
    QN_SK_MAX_ITEMS,
    QN_SK_UNIQUE_ITEMS,
    QN_SK_CONTAINS,
    QN_SK_MIN_CONTAINS,
    QN_SK_MAX_CONTAINS,
    QN_SK_PROPERTIES,
    QN_SK_PATTERN_PROPERTIES,
    QN_SK_ADDITIONAL_PROPERTIES,
    QN_SK_PROPERTY_NAMES,
    QN_SK_REQUIRED,
    QN_SK_MIN_PROPERTIES,
    QN_SK_MAX_PROPERTIES,
    QN_SK_DEPENDENCIES,
    QN_SK_DEPENDENT_REQUIRED,
    QN_SK_DEPENDENT_SCHEMAS,
    QN_SK_REF,
    QN_SK_ALL_OF,
    QN_SK_ANY_OF,
    QN_SK_ONE_OF,
    QN_SK_NOT,
    QN_SK_IF,
    QN_SK_THEN,
    QN_SK_ELSE
} qn_schema_keyword;

/* A schema that must hold, or must not. */
typedef struct qn_schema_item {
    const qn_json *schema;
    bool is_negated;
} qn_schema_item;

/* A constraint of a clause: all plain keywords of a schema, or (is_negated) that one keyword of it does not hold. Of
 * `properties` and `required` it is the i-th entry; for `required` and dependencies `name` says which. */
typedef struct qn_schema_literal {
    const qn_json *schema;
    bool is_negated;
    qn_schema_keyword keyword; /* when negated */
    const qn_json *value;      /* of that keyword; of `properties` the entry's schema */
    qn_str name;               /* the property's name */
} qn_schema_literal;

typedef struct qn_schema_clause {
    unsigned types;
    const qn_schema_literal *literals;
    size_t n_literals;
    struct qn_schema_clause *next;
} qn_schema_clause;

typedef struct qn_schema_rule {
    const qn_schema_item *items;
    size_t n_items;
    uint64_t hash;
    uint32_t rule;
} qn_schema_rule;

typedef struct qn_schema_resource {
    const qn_json *schema;
    qn_str uri; /* without a fragment; empty: of a document that has no name */
} qn_schema_resource;

typedef struct qn_schema_place { /* of an anchor, or of a $ref */
    const qn_json *schema;
    qn_str name;
    uint32_t i_resource;
} qn_schema_place;

typedef struct qn_schema_arena qn_schema_arena;

/* Spellings beside JSON's. */
typedef struct qn_sx_spelling {
    bool is_raw;      /* characters of strings stand for themselves; the caller sets the quote */
    bool has_bare_keys; /* keys have no quotes: only names that need none */
    bool is_loose;    /* True, False and None may stand for JSON's words */
    qn_str shut;      /* no string may have this text; empty: any text */
    qn_gx shut_text;  /* texts with something that a reader takes for it */
} qn_sx_spelling;

typedef struct qn_sx {
    qn_gx_builder *b;
    const qn_json *root;
    const qn_schema_options *o;
    qn_error *err;
    bool is_draft7;
    qn_schema_arena *arena;
    uint64_t n_steps;  /* of everything that could grow out of hand */
    struct qn_schema_pairs *pairs; /* of all lists of oneOf that were looked at */
    const qn_json *at; /* the schema that is being built, for errors that have no closer place */

    qn_schema_rule *rules; /* in the order in which they are built; the first n_built are */
    uint32_t n_rules, cap_rules, n_built;
    uint32_t *table; /* hash table: index + 1 */
    uint32_t table_size;

    qn_schema_resource *resources;
    uint32_t n_resources, cap_resources;
    qn_schema_place *anchors, *refs;
    uint32_t n_anchors, cap_anchors, n_refs, cap_refs;

    qn_gx blank, comma, colon, json_char, any_char, any_text, number;
    qn_gx quote;                          /* around strings */
    qn_sx_spelling spelling;
    const struct qn_sx_members *members;  /* how objects write their members; NULL: as JSON does */
    qn_gx formats[QN_FRONT_N_FORMATS]; /* inside quotes; each is built once, when it is needed */
    bool has_format[QN_FRONT_N_FORMATS];
} qn_sx;

/* Members that are written as calls have them. While it is set in a qn_sx, every object that is built uses it. */
typedef struct qn_sx_members {
    qn_gx open, comma, close;
    /* A member with all that belongs to it; its value satisfies items[0, n). */
    qn_status (*write)(void *ctx, qn_str name, const qn_schema_item *items, size_t n, qn_gx *out);
    void *ctx;
} qn_sx_members;

/* ---- front_schema.c ---- */

void *qn_sx_alloc(qn_sx *s, size_t bytes); /* lives as long as s; NULL: no memory */
/* Room for one more in an array of s's arena. */
qn_status qn_sx_grow(qn_sx *s, void **items, uint32_t n, uint32_t *cap, size_t size);
/* Counts work; QN_EFULL above the limit. */
qn_status qn_sx_step(qn_sx *s, uint64_t n);
/* "schema, at <path to schema>/<keyword>: <text>" */
qn_status qn_sx_fail(qn_sx *s, qn_status code, const qn_json *schema, const char *keyword, const char *what);
qn_status qn_sx_no_memory(qn_sx *s);
/* One translation: s is set up for the document `root`; values are asked for; qn_sx_finish() builds all that these
 * need; qn_sx_close() frees what is not b's, whatever failed. */
qn_status qn_sx_open(qn_sx *s, qn_gx_builder *b, const qn_json *root, const qn_schema_options *o, qn_error *err);
qn_status qn_sx_finish(qn_sx *s);
void qn_sx_close(qn_sx *s);
/* Values of these types that satisfy a conjunction; NEVER when there are none. */
qn_status qn_sx_typed(qn_sx *s, const qn_schema_item *items, size_t n, unsigned types, qn_gx *out);
/* A reference to the rule of a conjunction. Items are copied. */
qn_status qn_sx_value(qn_sx *s, const qn_schema_item *items, size_t n, qn_gx *out);

qn_schema_keyword qn_sx_keyword(qn_str name);
/* Why a keyword is refused by its name alone in this dialect; NULL: it is not. */
const char *qn_sx_refusal(const qn_sx *s, qn_str name, const qn_json *value);
/* The dialect that a document's $schema names; *is_draft7 stays when there is none. One that nobody here knows may mean
 * anything. */
qn_status qn_sx_dialect(qn_sx *s, const qn_json *schema, bool *is_draft7);
/* A keyword's value as a count; *found false: absent. */
qn_status qn_sx_count(qn_sx *s, const qn_json *schema, const char *keyword, uint32_t *n, bool *found);

/* ---- front_schema_spell.c ---- */

/* Values are spelled in another way from now on; before any is asked for. */
void qn_sx_respell(qn_sx *s, const qn_sx_spelling *spelling, qn_gx quote);
/* A known text as it stands inside a string's quotes, and a member's name with what is around it. QN_EUNSUPPORTED: it
 * cannot be spelled. */
qn_status qn_sx_text(qn_sx *s, qn_str text, qn_gx *out);
qn_status qn_sx_key(qn_sx *s, qn_str name, qn_gx *out);
/* A name that a rule makes, as qn_sx_key() has it. */
qn_gx qn_sx_key_of(qn_sx *s, qn_gx name);
/* Names that may be spelled: all, or those without anything that needs quotes. */
qn_gx qn_sx_names(qn_sx *s, bool is_plain);
qn_gx qn_sx_word(qn_sx *s, const char *word); /* null, true, false */

/* ---- front_schema_ref.c ---- */

/* Finds all $id, anchors and $ref of the document. */
qn_status qn_sx_index(qn_sx *s);
qn_status qn_sx_resolve(qn_sx *s, const qn_json *schema, const qn_json **target);

/* ---- front_schema_clause.c ---- */

qn_status qn_sx_clauses(qn_sx *s, const qn_schema_item *items, size_t n, unsigned types, qn_schema_clause **out);
/* ---- front_schema_disjoint.c ---- */

/* Which pairs of a list of schemas (oneOf) no value can satisfy both of, given what their parent says of types and
 * required properties: pairs[i * n + k]; false: not seen to be so. Found once for each list. */
qn_status qn_sx_disjoint_pairs(qn_sx *s, const qn_json *list, const qn_json *parent, const bool **pairs);

/* ---- front_schema_shape.c ---- */

/* The types that type, enum and const of one schema leave. */
unsigned qn_sx_types_left(const qn_json *schema);
/* Malformed and refused keywords of one schema. */
qn_status qn_sx_check(qn_sx *s, const qn_json *schema);
unsigned qn_sx_types_of(const qn_json *type); /* of the value of `type`; 0: malformed */

/* ---- one file for each kind of value ---- */

/* The expression of c's values of that kind; NEVER when there is none. */
qn_status qn_sx_number(qn_sx *s, const qn_schema_clause *c, qn_gx *out);
qn_status qn_sx_string(qn_sx *s, const qn_schema_clause *c, qn_gx *out);
qn_status qn_sx_string_content(qn_sx *s, const qn_schema_clause *c, bool is_key, qn_gx *out); /* without the quotes */
qn_status qn_sx_array(qn_sx *s, const qn_schema_clause *c, qn_gx *out);
qn_status qn_sx_object(qn_sx *s, const qn_schema_clause *c, qn_gx *out);

/* ---- front_schema_empty.c ---- */

/* QN_EFORMAT: no value satisfies the schema that was built, as far as that is seen without an automaton. */
qn_status qn_sx_check_empty(qn_sx *s);

/* ---- front_schema_format.c ---- */

#define QN_SX_NO_FORMAT "this format is not enforced; a pattern would be, or leave it out"

/* Formats that are written more narrowly than they are defined (no xn-- labels, no year 0): a pattern that all texts of
 * the format fit. What does not fit it is surely none; NULL: the format is exact. */
const char *qn_sx_loose_format(qn_str name);
/* The pattern of a format that front_format.c does not know; NULL: there is none. */
const char *qn_sx_other_format(qn_str name);
/* A format of numbers: its bounds, or NULL for both. */
bool qn_sx_number_format(qn_str name, const char **low, const char **high);

/* ---- front_schema_value.c: known values ---- */

/* *values is set to a list that holds all values of the clause, when it has one (enum or const). */
bool qn_sx_listed(qn_sx *s, const qn_schema_clause *c, const qn_json **values, size_t *n, bool *is_const);
qn_status qn_sx_literal(qn_sx *s, const qn_json *value, qn_gx *out);
/* By value: 0.5 may be written 0.50, with max_zeros zeros more than it needs, and 1 (unless that is 0) as 1.0 and so
 * many zeros. */
qn_status qn_sx_number_literal(qn_sx *s, qn_str source, uint32_t max_zeros, qn_gx *out);
bool qn_sx_equal(qn_sx *s, const qn_json *x, const qn_json *y);
unsigned qn_sx_type_of(const qn_json *value);

/* ---- front_schema_check.c ---- */

/* Whether a known value satisfies a schema, a clause, a keyword. */
qn_status qn_sx_holds(qn_sx *s, const qn_json *schema, const qn_json *value, unsigned depth, bool *holds);
qn_status qn_sx_clause_holds(qn_sx *s, const qn_schema_clause *c, const qn_json *value, bool *holds);
qn_status qn_sx_pattern_holds(qn_sx *s, const qn_json *schema, const char *keyword, qn_str pattern, qn_str text,
                              bool *holds);

/* ---- front_schema_check_text.c ---- */

qn_status qn_sx_string_holds(qn_sx *s, const qn_json *schema, qn_schema_keyword k, const qn_json *v, qn_str text,
                             bool *holds);
/* n against a limit of the schema. */
bool qn_sx_count_holds(const qn_json *limit, bool is_max, size_t n);

/* ---- front_decimal.c ---- */

/* A number by its digits: value = sign 0.d1d2d3.. * 10^point. d1 and the last digit are not zero; no digits: zero. */
typedef struct qn_decimal {
    bool is_negative;
    const char *digits;
    uint32_t n;
    int32_t point;
} qn_decimal;

#define QN_DECIMAL_MAX 400 /* digits of a bound, zeros up to the point too: as far as a double reaches */

/* Digits are put into the arena. False: no memory, or an exponent that is out of reach. */
bool qn_decimal_read(qn_sx *s, qn_str text, qn_decimal *out);
int qn_decimal_compare(const qn_decimal *x, const qn_decimal *y);
bool qn_decimal_is_integer(const qn_decimal *x);
/* Whether x is a whole number of times y. *is_known false: y is not above zero or has more than 18 digits. */
bool qn_decimal_is_multiple(const qn_decimal *x, const qn_decimal *y, bool *is_known);
/* Spelled without an exponent. False: too long. */
bool qn_decimal_write(const qn_decimal *x, qn_buf *out);
/* Numbers without an exponent, minus included, that are above x or below it. */
qn_gx qn_decimal_bound(qn_gx_builder *b, const qn_decimal *x, bool is_lower, bool is_exclusive, bool integers_only);

#endif
