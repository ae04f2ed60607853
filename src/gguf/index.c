/* Names to positions: an open-addressing table under a keyed hash (SipHash-1-3).
 * SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/random.h"
#include "gguf/gguf_int.h"

_Static_assert(offsetof(qn_gguf_kv, key) == 0 && offsetof(qn_gguf_tensor, name) == 0,
               "the index reads the name at the start of an item");

static inline uint64_t rotate(uint64_t x, unsigned n)
{
    return x << n | x >> (64 - n);
}

static inline void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] = rotate(v[2], 32);
}

static uint64_t hash(const uint64_t key[2], qn_str s)
{
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
                     key[1] ^ 0x7465646279746573};
    for (size_t i = 0;; i += 8) {
        uint64_t word = 0;
        bool is_last = s.len - i < 8;
        memcpy(&word, s.data + i, is_last ? s.len - i : 8);
        if (is_last) {
            word |= (uint64_t)s.len << 56;
        }
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
        if (is_last) {
            break;
        }
    }
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++) {
        sip_round(v);
    }
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static qn_str name_of(const qn_gguf_index *x, size_t i)
{
    return *(const qn_str *)(const void *)(x->items + i * x->stride);
}

bool qn_gguf_index_init(qn_gguf_index *x, qn_budget *b, const void *items, size_t stride, size_t n)
{
    size_t n_slots = 8;
    while (n_slots < 2 * n) {
        n_slots *= 2;
    }
    *x = (qn_gguf_index){.items = items, .stride = stride, .mask = n_slots - 1};
    x->slots = qn_zalloc_array(b, QN_GGUF_OWNER, n_slots, sizeof(*x->slots));
    /* The time and the place of the table: whoever made the file knew neither. */
    qn_random r;
    qn_random_seed(&r, qn_clock_ns() ^ (uint64_t)(uintptr_t)x->slots << 20);
    x->key[0] = qn_random_u64(&r);
    x->key[1] = qn_random_u64(&r);
    return x->slots != NULL;
}

void qn_gguf_index_free(qn_gguf_index *x)
{
    qn_free(x->slots);
    x->slots = NULL;
}

/* The slot that holds the name, or the free one where it would go. */
static uint64_t slot_of(const qn_gguf_index *x, qn_str name)
{
    uint64_t i = hash(x->key, name) & x->mask;
    while (x->slots[i] != 0 && !qn_str_eq(name_of(x, x->slots[i] - 1), name)) {
        i = (i + 1) & x->mask;
    }
    return i;
}

bool qn_gguf_index_add(qn_gguf_index *x, size_t i)
{
    uint64_t slot = slot_of(x, name_of(x, i));
    if (x->slots[slot] != 0) {
        return false;
    }
    x->slots[slot] = (uint32_t)i + 1;
    return true;
}

size_t qn_gguf_index_find(const qn_gguf_index *x, qn_str name)
{
    return (size_t)x->slots[slot_of(x, name)] - 1; /* a free slot: 0 - 1 is QN_GGUF_NONE */
}
