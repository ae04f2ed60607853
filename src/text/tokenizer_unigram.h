/* What the two halves of the unigram tokenizer share.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TEXT_TOKENIZER_UNIGRAM_H
#define QN_TEXT_TOKENIZER_UNIGRAM_H

#include "text/tokenizer_charsmap.h"
#include "text/tokenizer_int.h"
#include "text/tokenizer_trie.h"

typedef struct qn_unigram {
    qn_trie pieces;         /* of normal tokens */
    float *scores;          /* per token */
    float unknown;          /* the score of a character that no token spells */
    bool prefix;            /* a space goes before a text */
    bool squeezes;          /* runs of spaces become one, those at either end none */
    bool has_bytes;         /* unknown characters are spelled in byte tokens */
    bool before_space[256]; /* some token has this byte and then a space: the text is not cut between the two */
    qn_charsmap map;
} qn_unigram;

/* Appends the normal form of text[0, n) to out: mapped, spaces spelled U+2581. opens and closes: nothing, or a control
 * token, is before or behind it. */
qn_status qn_unigram_normalize(const qn_unigram *m, const char *text, size_t n, bool opens, bool closes, qn_buf *out);

#endif
