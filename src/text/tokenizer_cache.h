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

#include "text/tokenizer_int.h"

#define QN_CACHE_WORD 15 /* bytes of the longest word kept */
#define QN_CACHE_IDS 3   /* of a word */

typedef struct qn_cache_entry {
    _Alignas(
        32) _Atomic uint64_t key[2]; /* the word, zeros, and its length in the last byte: a free entry is no word */
    _Atomic uint64_t first;          /* two ids, the first in the low half; QN_NO_ID: none */
    _Atomic uint64_t last;           /* the third, and the version in the high half */
} qn_cache_entry;

typedef struct qn_cache {
    qn_cache_entry *entries;
    uint32_t n_pairs; /* of entries */
    uint64_t seed;
} qn_cache;

typedef struct qn_cache_key {
    uint64_t word[2];
    qn_cache_entry *entry; /* the first of the two */
} qn_cache_key;

/* About six bytes for each of n_vocab tokens. */
qn_status qn_cache_open(qn_cache *c, size_t n_vocab, uint64_t seed, qn_budget *b, const char *owner);
void qn_cache_close(qn_cache *c);

/* Eight bytes as a number, the first in the lowest place. */
static inline uint64_t qn_cache_load(const char *s)
{
    uint64_t v;
    memcpy(&v, s, sizeof(v));
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? v : __builtin_bswap64(v);
}

/* Where a word is looked for, 1 <= n <= QN_CACHE_WORD. It lies in [begin, end), all of which may be read. */
static inline qn_cache_key qn_cache_key_of(const qn_cache *c, const char *begin, const char *end, const char *word,
                                           size_t n)
{
    qn_cache_key key = {.word = {0, (uint64_t)n << 56}};
    if (n >= 8) {
        key.word[0] = qn_cache_load(word);
        key.word[1] |= n > 8 ? qn_cache_load(word + n - 8) >> (128 - 8 * n) : 0;
    } else if (end - word >= 8) {
        key.word[0] = qn_cache_load(word) & ((UINT64_C(1) << 8 * n) - 1);
    } else if (word + n - begin >= 8) {
        key.word[0] = qn_cache_load(word + n - 8) >> (64 - 8 * n);
    } else {
        for (size_t i = 0; i < n; i++) {
            key.word[0] |= (uint64_t)(uint8_t)word[i] << 8 * i;
        }
    }
    uint64_t h = qn_mix(key.word[0] ^ c->seed, key.word[1] ^ 0x9FB21C651E98DF25u); /* whose top byte is no length */
    key.entry = &c->entries[2 * ((h >> 32) * c->n_pairs >> 32)];
    return key;
}

/* One of the two entries: the ids, if it holds the word. */
static inline bool qn_cache_get_from(qn_cache_entry *e, const qn_cache_key *key, int32_t ids[QN_CACHE_IDS])
{
    /* Each load is done before the next: who reads what a writer stored reads the version that it stored before. */
    uint64_t last = atomic_load_explicit(&e->last, memory_order_acquire);
    uint64_t word[2] = {atomic_load_explicit(&e->key[0], memory_order_acquire),
                        atomic_load_explicit(&e->key[1], memory_order_acquire)};
    if (((word[0] ^ key->word[0]) | (word[1] ^ key->word[1])) != 0 || (last >> 32 & 1) != 0) {
        return false;
    }
    uint64_t first = atomic_load_explicit(&e->first, memory_order_acquire);
    ids[0] = (int32_t)(uint32_t)first;
    ids[1] = (int32_t)(uint32_t)(first >> 32);
    ids[2] = (int32_t)(uint32_t)last;
    return atomic_load_explicit(&e->last, memory_order_relaxed) == last;
}

/* The ids of the word, in order; unused ones are QN_NO_ID. False: it is not there. */
static inline bool qn_cache_get(const qn_cache_key *key, int32_t ids[QN_CACHE_IDS])
{
    return qn_cache_get_from(key->entry, key, ids) || qn_cache_get_from(key->entry + 1, key, ids);
}

/* Puts the word there; 1 <= n <= QN_CACHE_IDS. */
void qn_cache_put(const qn_cache_key *key, const int32_t *ids, size_t n);

#endif
