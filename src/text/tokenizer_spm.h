/* The inside of SentencePiece BPE.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TEXT_TOKENIZER_SPM_H
#define QN_TEXT_TOKENIZER_SPM_H

#include "text/tokenizer_cache.h"
#include "text/tokenizer_chars.h"

#define QN_SPM_SPACE "\xE2\x96\x81" /* U+2581 */
#define QN_SPM_SPACE_LEN 3

typedef struct qn_spm {
    uint32_t *priority;       /* per token: less for a better score */
    bool prefix;              /* a space goes before a text */
    bool spells_space;        /* U+2581 in a text can be told from a space: its bytes have tokens */
    uint8_t border[256][256]; /* [byte][the next]: QN_SPM_*; a space in the text is one byte here */
    qn_chars chars;           /* tokens of one character, of the plane that qn_chars covers */
    qn_cache cache;
    _Atomic uint64_t *pairs; /* QN_SPM_PAIRS that were met last, with what they make: PAIR_* */
} qn_spm;

enum {
    QN_SPM_CUT = 1,  /* no token has these bytes beside each other, so no merge crosses this border of two characters */
    QN_SPM_LOOK = 2, /* a U+2581 of the text's own may begin here, which no piece may hold */
};

/* An entry: two tokens and the one that they become, 21 bits each, and a one at the top. */
#define QN_SPM_PAIRS (1u << 14)
#define QN_SPM_PAIR_BITS 21
#define QN_SPM_PAIR_ID ((UINT64_C(1) << QN_SPM_PAIR_BITS) - 1)
#define QN_SPM_PAIR_NOTHING QN_SPM_PAIR_ID /* they become none */
#define QN_SPM_PAIR_MAX_VOCAB QN_SPM_PAIR_ID

/* tokenizer_spm_load.c */
qn_status qn_spm_load(qn_tokenizer *t, const qn_gguf *g, qn_error *err);

#endif
