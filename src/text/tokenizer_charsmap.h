/* The normaliser of a SentencePiece model: a compiled map from sequences of bytes to replacements.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TEXT_TOKENIZER_CHARSMAP_H
#define QN_TEXT_TOKENIZER_CHARSMAP_H

#include "gguf/gguf.h"

typedef struct qn_charsmap {
    uint32_t *units; /* a double array: each unit is a node of a tree of bytes, or the value below one; NULL: no map */
    uint32_t n_units;
    char *strings;      /* replacements, each ended by a NUL */
    uint32_t n_strings; /* bytes */
} qn_charsmap;

/* Copies the map out of the file, where nothing about it is trusted. A missing key, or an empty array, is an empty
 * map. QN_EFORMAT, QN_ENOMEM. */
qn_status qn_charsmap_open(const qn_gguf *g, const char *key, qn_budget *b, qn_charsmap *m, qn_error *err);
void qn_charsmap_free(qn_charsmap *m);

/* The longest sequence at s[0, n) that has a replacement: its length, and *to is set. 0: none. */
size_t qn_charsmap_match(const qn_charsmap *m, const char *s, size_t n, qn_str *to);

#endif
