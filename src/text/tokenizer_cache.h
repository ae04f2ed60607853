/* Words and their ids, those met last: texts repeat themselves. The tokenizer's threads share it.
 *
 * An entry is half a cache line that holds a short word, its ids and a version, all of them atomic. A writer makes the
 * version odd before it changes the entry and even after; a reader that does not see the same even version before and
 * after takes the entry for another word's, and a writer that finds it odd lets it be. So nobody waits.
 *
 * A word has its place in one of two entries that share a cache line, by a hash that a text cannot foresee. A new word
 * goes where less has been written so far, so the two take turns. A text whose words are all new costs one look and
 * one entry written for each.
 *
 * SPDX-License-Identifier: MIT */
#ifndef QN_TEXT_TOKENIZER_CACHE_H
#define QN_TEXT_TOKENIZER_CACHE_H

#include "base/alloc.h"

#include <stdatomic.h>

#define QN_CACHE_WORD 15 /* bytes of the longest word kept */
#define QN_CACHE_IDS 3   /* of a word */

typedef struct qn_cache_entry {
    _Alignas(32) _Atomic uint64_t key[2]; /* the word, zeros, and its length in the last byte: a free entry is no word */
    _Atomic uint64_t first;               /* two ids, the first in the low half; QN_NO_ID: none */
    _Atomic uint64_t last;                /* the third, and the version in the high half */
} qn_cache_entry;

typedef struct qn_cache {
    qn_cache_entry *entries;
    uint32_t mask; /* entries - 1, without the last bit */
    uint64_t seed;
} qn_cache;

typedef struct qn_cache_key {
    uint64_t word[2];
    qn_cache_entry *entry; /* the first of the two */
} qn_cache_key;

/* About four bytes for each of n_vocab tokens. */
qn_status qn_cache_open(qn_cache *c, size_t n_vocab, uint64_t seed, qn_budget *b, const char *owner);
void qn_cache_close(qn_cache *c);

/* Where a word is looked for, 1 <= n <= QN_CACHE_WORD. */
qn_cache_key qn_cache_key_of(const qn_cache *c, const char *word, size_t n);
/* The ids of the word, in order; unused ones are -1. False: it is not there. */
bool qn_cache_get(const qn_cache_key *key, int32_t ids[QN_CACHE_IDS]);
/* Puts it there; 1 <= n <= QN_CACHE_IDS. */
void qn_cache_put(const qn_cache_key *key, const int32_t *ids, size_t n);

#endif
