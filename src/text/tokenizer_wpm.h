/* What the two halves of the WordPiece tokenizer share.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TEXT_TOKENIZER_WPM_H
#define QN_TEXT_TOKENIZER_WPM_H

#include "text/tokenizer_int.h"
#include "text/tokenizer_trie.h"

typedef struct qn_wpm {
    qn_trie begins, goes_on; /* pieces at the beginning of a word and behind it */
    bool lowercase, strips_accents;
} qn_wpm;

/* Cuts a text into words and encodes each. */
qn_status qn_wpm_words(qn_encode_run *run, const char *text, size_t n);
/* Emits the pieces of a word, or the unknown token. */
void qn_wpm_encode_word(qn_encode_run *run, const char *word, size_t n, size_t n_chars);

#endif
