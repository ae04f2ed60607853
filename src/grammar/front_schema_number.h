/* Parts of numbers. Private to src/grammar/front_schema_number.c, front_schema_digits.c
 * and front_schema_multiple.c.
 * SPDX-License-Identifier: MIT */
#ifndef QN_GRAMMAR_FRONT_SCHEMA_NUMBER_H
#define QN_GRAMMAR_FRONT_SCHEMA_NUMBER_H

#include "grammar/front_schema_int.h"

#define QN_SCHEMA_MAX_DIVISOR 10000 /* without powers of ten; a rule for each remainder */
#define QN_SCHEMA_MAX_NOT 4
#define QN_SCHEMA_NUMBER_CHARS 80 /* 128 bits have 39 digits; what tells a double from all others has fewer */

typedef struct qn_schema_multiples {
    const qn_json *schema; /* for errors; it has multipleOf */
    int64_t divisor;       /* 0: none */
    int64_t not_multiple_of[QN_SCHEMA_MAX_NOT];
    size_t n_not;
    int64_t modulus; /* a multiple of all of these */
    bool has_low, has_high;
    int64_t low, high; /* below 10^18 in size */
} qn_schema_multiples;

/* Numbers of that kind, without zeros behind a point. No rule of theirs may stand below AND or NOT. */
qn_status qn_schema_write_multiples(qn_sx *s, const qn_schema_multiples *m, qn_gx *out);

/* ---- front_schema_digits.c: regular expressions ---- */

/* k with m dividing 10^k, up to 4; 0: there is none. */
uint32_t qn_schema_decimal_places(int64_t m);
/* Multiples of an m that has decimal places, 0 or more, without zeros behind a point. */
qn_gx qn_schema_last_digits(qn_sx *s, int64_t m);
/* Multiples of a fraction of up to four digits that goes into a power of ten: what stands behind the point decides. How
 * many digits stand before it is not looked at. False: d is no such number. */
bool qn_schema_fraction_multiples(qn_sx *s, const qn_decimal *d, qn_gx *out);
/* The multiples of m from low to high, one by one, without zeros behind a point. */
qn_status qn_schema_multiples_between(qn_sx *s, int64_t m, int64_t low, int64_t high, qn_gx *out);
/* Those of all that have at most QN_SCHEMA_NUMBER_CHARS characters, and as many more as the bounds (or NULL) have
 * digits; whole: without a point. Numbers must end: no digit is forbidden behind another one, and a model that has begun
 * with zeros may never stop. */
qn_gx qn_schema_limit_number(qn_gx_builder *b, const qn_decimal *lower, const qn_decimal *upper, bool whole,
                             qn_gx all);

#endif
