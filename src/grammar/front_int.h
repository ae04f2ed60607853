/* What the front ends share: sets of code points, characters as they are spelled in a JSON string, and a slow matcher
 * that says whether a regular expression matches one text. Private to src/grammar/front_*.c.
 * SPDX-License-Identifier: MIT */
#ifndef QN_GRAMMAR_FRONT_INT_H
#define QN_GRAMMAR_FRONT_INT_H

#include "grammar/front.h"

#define QN_FRONT_LAST 0x10FFFFu
/* Characters that a text of bounded counts may be made of, when the counts are written out: `(a{1000}){1000}` has a
 * million. Stops bombs; the longest bounded strings of real schemas are a tenth of it. */
#define QN_FRONT_MAX_WEIGHT 200000u

/* ---- sets of code points (front_chars.c) ---- */

typedef struct qn_ranges {
    qn_gx_range *items;
    uint32_t n, cap;
    qn_budget *budget;
    qn_status status; /* sticks */
} qn_ranges;

void qn_ranges_free(qn_ranges *r);
void qn_ranges_add(qn_ranges *r, uint32_t first, uint32_t last);
/* Sorts, joins, and takes surrogates out. */
void qn_ranges_normalise(qn_ranges *r);
void qn_ranges_invert(qn_ranges *r);

/* One character of a set. as_json: as it may be spelled inside the quotes of a JSON string: printable ASCII raw, `"`
 * and `\` by either escape, control characters by theirs, what is not ASCII raw or as \uXXXX. One spelling less than
 * JSON has (an 'a' as \u0061), so that text that is known can be forced and NOT stays true of values. */
qn_gx qn_front_class(qn_gx_builder *b, qn_ranges *r, bool as_json);
/* Any character, as qn_front_class spells it. */
qn_gx qn_front_any(qn_gx_builder *b, bool as_json);
/* Any character of a JSON string in every spelling there is. */
qn_gx qn_front_json_char(qn_gx_builder *b);
/* A text, as qn_front_class spells its characters. */
qn_gx qn_front_literal(qn_gx_builder *b, qn_str text, bool as_json);

/* QN_OK, or what stuck in the builder with a text for the user. */
qn_status qn_front_status(const qn_gx_builder *b, qn_error *err);

/* ---- the slow matcher (front_match.c) ---- */

#define QN_FRONT_MAX_MATCH 65536 /* bytes of a text that is matched */

/* Whether x matches all of text. QN_EFULL: too long, or too deep; QN_EUNSUPPORTED: a special token in it. */
qn_status qn_front_match(const qn_gx_builder *b, qn_gx x, qn_str text, bool *matches);

/* ---- front_format.c ---- */

/* A text of that format. QN_ENOTFOUND: none is known by that name. */
qn_status qn_front_format(qn_gx_builder *b, qn_str name, bool as_json, qn_gx *out, qn_error *err);
#define QN_FRONT_N_FORMATS 13
/* Its number below QN_FRONT_N_FORMATS; -1: unknown. */
int qn_front_format_index(qn_str name);

/* ---- patterns (front_pattern.c, front_pattern_class.c) ---- */

typedef struct qn_pattern_parser {
    qn_gx_builder *b;
    qn_str pattern;
    size_t i; /* next byte */
    unsigned depth;
    bool as_json;
    qn_error *err;
    struct qn_pattern_part *parts; /* a stack */
    size_t n_parts, cap_parts;
} qn_pattern_parser;

qn_status qn_pattern_fail(qn_pattern_parser *p, qn_status code, size_t at, const char *what);
bool qn_pattern_take(qn_pattern_parser *p, const char *s);
/* After a backslash: adds a character or a class to r. */
qn_status qn_pattern_escape(qn_pattern_parser *p, bool in_class, qn_ranges *r, uint32_t *cp);
/* After an opening bracket, up to and with the closing one. */
qn_status qn_pattern_class(qn_pattern_parser *p, qn_ranges *r);
/* The next character as it stands. */
qn_status qn_pattern_char(qn_pattern_parser *p, uint32_t *cp);

#endif
