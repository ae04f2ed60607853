/* Values as Python shows them, or as looser languages write them, turned into JSON one byte at a time: 'text', "text",
 * True, None, [1, 2], (1, 2), {'a': 1}, {a:1}, a=1. Words that are none of JSON's become strings.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TEXT_CHAT_LITERAL_H
#define QN_TEXT_CHAT_LITERAL_H

#include "base/str.h"

#include <stdint.h>

#define QN_LITERAL_DEPTH 64 /* nesting; bounds the memory */
#define QN_LITERAL_WORD 256 /* bytes of a number, word or bare key */

typedef enum qn_literal_step {
    QN_LITERAL_MORE,
    QN_LITERAL_DONE, /* the byte ended the value */
    QN_LITERAL_BAD,  /* the byte cannot stand here; it was not taken */
} qn_literal_step;

typedef struct qn_literal {
    uint8_t state, depth; /* private */
    char closers[QN_LITERAL_DEPTH];
    qn_str quote;
    size_t n_quote;
    char delimiter; /* of the string; 0: quote */
    bool is_key;
    bool members; /* the outermost brackets hold members */
    bool comma;   /* one has come, and what it separates has not */
    uint8_t n_hex;
    uint32_t code;
    uint32_t high; /* first half of a surrogate pair that the second half has not followed yet; 0: none */
    char word[QN_LITERAL_WORD];
    size_t n_word;
    char out[8 * QN_LITERAL_WORD]; /* JSON that the last byte completed, whatever the step was */
    size_t n_out;
} qn_literal;

#define QN_LITERAL_QUOTE 64 /* bytes of a quote mark; a longer one is none */

/* Begins before a value. quote: what stands around strings beside ' and "; may be empty. Half a surrogate pair that
 * stands alone in a string comes out as U+FFFD. */
void qn_literal_init(qn_literal *l, qn_str quote);
/* Begins inside an object, after `(` or `{`; `close` ends it. The first `out` is the object's `{`. */
void qn_literal_init_members(qn_literal *l, qn_str quote, char close);
qn_literal_step qn_literal_push(qn_literal *l, char c);
/* The last byte has not become JSON yet, nor is it whitespace: it is part of a word, say. */
bool qn_literal_pending(const qn_literal *l);
/* The text is over: completes a number or word. False: the value is not whole. */
bool qn_literal_finish(qn_literal *l);

/* Writes c as it stands between the quotes of a JSON string; returns the bytes: 1 to 6. */
size_t qn_literal_escape(char c, char out[6]);

#endif
