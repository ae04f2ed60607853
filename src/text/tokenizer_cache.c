/* Words and their ids. See tokenizer_cache.h.
 * SPDX-License-Identifier: MIT */
#include "text/tokenizer_cache.h"

#include "text/tokenizer_int.h"

#define MIN_ENTRIES 16
#define MAX_ENTRIES (1u << 15) /* 1 MiB */
#define TOKENS_PER_ENTRY 8

qn_status qn_cache_open(qn_cache *c, size_t n_vocab, uint64_t seed, qn_budget *b, const char *owner)
{
    size_t n = MIN_ENTRIES;
    while (n < MAX_ENTRIES && n * TOKENS_PER_ENTRY < n_vocab) {
        n *= 2;
    }
    c->entries = qn_zalloc_array(b, owner, n, sizeof(*c->entries));
    c->mask = (uint32_t)(n - 1) & ~1u;
    c->seed = seed;
    return c->entries != NULL ? QN_OK : QN_ENOMEM;
}

void qn_cache_close(qn_cache *c)
{
    qn_free(c->entries);
    c->entries = NULL;
}

/* n bytes, 1 to 8, as a number, the first in the lowest place. */
static uint64_t load(const char *s, size_t n)
{
    const uint8_t *u = (const uint8_t *)s;
    uint64_t v = 0;
    if (n == 8) {
        for (unsigned i = 0; i < 8; i++) {
            v |= (uint64_t)u[i] << 8 * i;
        }
        return v;
    }
    if (n >= 4) { /* two words that may overlap, and so hold every byte */
        uint64_t low = 0, high = 0;
        for (unsigned i = 0; i < 4; i++) {
            low |= (uint64_t)u[i] << 8 * i;
            high |= (uint64_t)u[n - 4 + i] << 8 * i;
        }
        return low | high << 8 * (n - 4);
    }
    return (uint64_t)u[0] | (uint64_t)u[n / 2] << 8 * (n / 2) | (uint64_t)u[n - 1] << 8 * (n - 1);
}

qn_cache_key qn_cache_key_of(const qn_cache *c, const char *word, size_t n)
{
    qn_cache_key key = {.word = {load(word, n < 8 ? n : 8), (uint64_t)n << 56}};
    if (n > 8) {
        key.word[1] |= load(word + n - 8, 8) >> (128 - 8 * n);
    }
    uint64_t h = qn_mix(key.word[0] ^ c->seed, key.word[1] ^ 0x9FB21C651E98DF25u);
    key.entry = &c->entries[(uint32_t)(h >> 32) & c->mask];
    return key;
}

static inline bool get(qn_cache_entry *e, const qn_cache_key *key, int32_t ids[QN_CACHE_IDS])
{
    uint64_t last = atomic_load_explicit(&e->last, memory_order_acquire);
    uint64_t word[2] = {atomic_load_explicit(&e->key[0], memory_order_relaxed),
                        atomic_load_explicit(&e->key[1], memory_order_relaxed)};
    if (((word[0] ^ key->word[0]) | (word[1] ^ key->word[1])) != 0 || (last >> 32 & 1) != 0) {
        return false;
    }
    uint64_t first = atomic_load_explicit(&e->first, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire); /* what was read before is older than the version read next */
    ids[0] = (int32_t)(uint32_t)first;
    ids[1] = (int32_t)(uint32_t)(first >> 32);
    ids[2] = (int32_t)(uint32_t)last;
    return atomic_load_explicit(&e->last, memory_order_relaxed) == last;
}

bool qn_cache_get(const qn_cache_key *key, int32_t ids[QN_CACHE_IDS])
{
    return get(key->entry, key, ids) || get(key->entry + 1, key, ids);
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
    atomic_thread_fence(memory_order_release); /* who sees one of the stores below sees the odd version too */
    uint32_t id[QN_CACHE_IDS];
    for (size_t i = 0; i < QN_CACHE_IDS; i++) {
        id[i] = (uint32_t)(i < n ? ids[i] : QN_NO_ID);
    }
    atomic_store_explicit(&e->key[0], key->word[0], memory_order_relaxed);
    atomic_store_explicit(&e->key[1], key->word[1], memory_order_relaxed);
    atomic_store_explicit(&e->first, (uint64_t)id[1] << 32 | id[0], memory_order_relaxed);
    atomic_store_explicit(&e->last, ((odd >> 32) + 1) << 32 | id[2], memory_order_release);
}
