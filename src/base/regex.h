/* Regular expressions in time linear in the text, whatever the pattern: no backtracking. A pattern is compiled to a
 * program over classes of code points, and the program to a deterministic table when that stays small; a larger one
 * is simulated. Which of the two ran cannot be told from the answer.
 *
 * Meaning: the leftmost match, and at its start the one that a backtracking matcher would find first (alternatives
 * in order, greedy repeats long, lazy ones short). Text is UTF-8; a byte that is no part of a valid character stands
 * for U+FFFD.
 *
 * Patterns: characters, `.` (not \n; with (?s) too), classes, \d \w \s \D \W \S, \p{L} \p{Lu} \pL \P{..} (general
 * categories), \r \n \t \f \v \xHH \x{H} \uHHHH, groups, alternatives, * + ? {n} {n,} {n,m} and the lazy forms,
 * ^ $ (ends of the text), (?i) (?i:..) (simple case folding), and look-ahead at one character: (?=x) (?!x) with x one
 * character or class. Groups do not capture. Everything else (back references, look-behind, longer look-ahead,
 * possessive and atomic groups, \b) is QN_EUNSUPPORTED.
 *
 * SPDX-License-Identifier: MIT */
#ifndef QN_BASE_REGEX_H
#define QN_BASE_REGEX_H

#include "base/alloc.h"
#include "base/str.h"

#define QN_REGEX_MAX_PATTERN 16384 /* bytes; the longest pattern of a known tokenizer has about 1000 */
#define QN_REGEX_MAX_REPEAT 1000   /* n and m of {n,m}; copies are what they cost */
#define QN_REGEX_MAX_PROGRAM 2048  /* instructions; bounds the work for one character, and the stack of a search */
#define QN_REGEX_MAX_DEPTH 64      /* groups in groups; bounds the recursion of the compiler */
#define QN_REGEX_MAX_CLASSES 255   /* code points that the pattern does not tell apart are one class; one byte each */

typedef struct qn_regex qn_regex; /* immutable: any thread may use it */

/* QN_EFORMAT: not a pattern; QN_EUNSUPPORTED: a construct from the list above, or past a limit. err has the byte. */
qn_status qn_regex_open(qn_str pattern, qn_budget *b, qn_regex **out, qn_error *err);
void qn_regex_close(qn_regex *re); /* NULL is allowed */

/* The match that begins at text[at], at <= n: *end is one past its last byte (at itself: an empty match). */
bool qn_regex_match(const qn_regex *re, const char *text, size_t n, size_t at, size_t *end);

/* The leftmost match that begins at `from` or after it. Steps over whole characters. Time is linear in n - from for
 * one call; `^` and look-ahead see the whole of text[0, n). */
bool qn_regex_find(const qn_regex *re, const char *text, size_t n, size_t from, size_t *start, size_t *end);

/* True when the pattern runs by table. */
bool qn_regex_is_table(const qn_regex *re);

#endif
