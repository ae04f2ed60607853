/* Words and their ids. See tokenizer_cache.h.
 * SPDX-License-Identifier: MIT */
#include "text/tokenizer_cache.h"

#define MIN_PAIRS 8
#define MAX_PAIRS (1u << 14) /* 1 MiB */
#define TOKENS_PER_PAIR 10

qn_status qn_cache_open(qn_cache *c, size_t n_vocab, uint64_t seed, qn_budget *b, const char *owner)
{
    size_t n = n_vocab / TOKENS_PER_PAIR;
    n = n < MIN_PAIRS ? MIN_PAIRS : n > MAX_PAIRS ? MAX_PAIRS : n;
    c->entries = qn_zalloc_array(b, owner, 2 * n, sizeof(*c->entries));
    c->n_pairs = (uint32_t)n;
    c->seed = seed;
    return c->entries != NULL ? QN_OK : QN_ENOMEM;
}

void qn_cache_close(qn_cache *c)
{
    qn_free(c->entries);
    c->entries = NULL;
}

void qn_cache_put(const qn_cache_key *key, const int32_t *ids, size_t n)
{
    qn_cache_entry *e = key->entry;
    uint64_t last = atomic_load_explicit(&e->last, memory_order_relaxed);
    uint64_t other = atomic_load_explicit(&e[1].last, memory_order_relaxed);
    if (other >> 32 < last >> 32) {
        e++;
        last = other;
    }
    uint64_t odd = last | UINT64_C(1) << 32;
    if (last == odd ||
        !atomic_compare_exchange_strong_explicit(&e->last, &last, odd, memory_order_relaxed, memory_order_relaxed)) {
        return;
    }
    uint32_t id[QN_CACHE_IDS];
    for (size_t i = 0; i < QN_CACHE_IDS; i++) {
        id[i] = (uint32_t)(i < n ? ids[i] : QN_NO_ID);
    }
    /* Release: who sees one of these sees the odd version too. */
    atomic_store_explicit(&e->key[0], key->word[0], memory_order_release);
    atomic_store_explicit(&e->key[1], key->word[1], memory_order_release);
    atomic_store_explicit(&e->first, (uint64_t)id[1] << 32 | id[0], memory_order_release);
    atomic_store_explicit(&e->last, ((odd >> 32) + 1) << 32 | id[2], memory_order_release);
}
