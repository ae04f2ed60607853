/* The inside of byte-level BPE: its merges, and the characters that are merged beforehand.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TEXT_TOKENIZER_BPE_H
#define QN_TEXT_TOKENIZER_BPE_H

#include "base/unicode.h"
#include "text/tokenizer_cache.h"
#include "text/tokenizer_chars.h"
#include "text/tokenizer_merge.h"

#define QN_BPE_NEVER 255    /* a level above every rank's */
#define QN_BPE_ALPHABET 324 /* U+0000 to U+0143: where the characters for bytes lie */

typedef struct qn_bpe_merge {
    int32_t left, right; /* left QN_NO_ID: a free slot */
    int32_t id;
    uint32_t rank;
} qn_bpe_merge;

typedef struct qn_bpe {
    qn_pre *pre;
    qn_bpe_merge *merges; /* by the pair, open addressing, at most two thirds full */
    uint32_t mask;
    uint64_t seed;
    qn_filter filter;      /* of the merges */
    char spelling[256][2]; /* UTF-8 of the character for a byte */
    uint8_t spelling_len[256];
    int16_t bytes[QN_BPE_ALPHABET]; /* byte of a character, or -1 */
    bool lacks_bytes;               /* some byte has no token */
    qn_chars chars;                 /* id | level << 24 (tokenizer_bpe_chars.c) */
    uint8_t (*near)[256];           /* [byte][byte before it]: the level that a character at that border stays below */
    qn_cache cache;
    qn_filter long_words; /* of tokens too long for the cache: their length and some of their bytes */
} qn_bpe;

/* What qn_bpe.long_words knows of a word, n >= 3. */
static inline uint64_t qn_bpe_outline(const qn_bpe *m, const uint8_t first[3], uint8_t last, size_t n)
{
    uint64_t outline = (uint64_t)n << 32 | (uint64_t)first[0] << 24 | (uint64_t)first[1] << 16 | first[2] << 8 | last;
    return qn_mix(outline ^ m->seed, 0x9FB21C651E98DF25u);
}

static inline uint64_t qn_bpe_hash(const qn_bpe *m, int32_t left, int32_t right)
{
    uint64_t pair = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    return qn_mix(pair ^ m->seed, 0x9FB21C651E98DF25u);
}

/* The merge of a pair with that hash, or the free slot where it would go. */
static inline qn_bpe_merge *qn_bpe_find(const qn_bpe *m, int32_t left, int32_t right, uint64_t h)
{
    for (uint32_t i = (uint32_t)h & m->mask;; i = (i + 1) & m->mask) {
        qn_bpe_merge *at = &m->merges[i];
        if (at->left == QN_NO_ID || (at->left == left && at->right == right)) {
            return at;
        }
    }
}

/* tokenizer_bpe_load.c */
qn_status qn_bpe_load(qn_tokenizer *t, const qn_gguf *g, qn_error *err);

/* tokenizer_bpe_chars.c: what is gathered while the merges are read. */
typedef struct qn_bpe_chars {
    uint32_t *first_use; /* per token of one character: the rank of the first merge that it is part of */
} qn_bpe_chars;

/* The first bytes, at most `max`, that a spelling stands for, and how many; -1: one of its characters stands for none.
 */
int qn_bpe_bytes(const qn_bpe *m, qn_str spelling, uint8_t *bytes, int max);
int qn_bpe_last_byte(const qn_bpe *m, qn_str spelling); /* or -1 */

qn_status qn_bpe_chars_begin(qn_bpe_chars *c, qn_tokenizer *t, qn_bpe *m);
/* A merge: the spellings, left and right, with the tokens, and its rank. */
void qn_bpe_chars_note(qn_bpe_chars *c, qn_bpe *m, qn_str left, qn_str right, const int32_t id[2], uint32_t rank);
/* Fills m->chars; frees what begin() took. */
qn_status qn_bpe_chars_end(qn_bpe_chars *c, qn_tokenizer *t, qn_bpe *m);

#endif
