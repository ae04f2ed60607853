/* From a spelling to its token: a hash table over strings that stay in the file.
 * SPDX-License-Identifier: MIT */
#include "text/tokenizer_int.h"

#include "base/clock.h"

#define FILTER_BITS 6 /* for each hash, at least */

qn_status qn_filter_open(qn_filter *f, size_t n, qn_budget *b)
{
    size_t n_words = 1;
    while (n_words * 64 < n * FILTER_BITS) {
        n_words *= 2;
    }
    f->words = qn_zalloc_array(b, QN_TOKENIZER_OWNER, n_words, sizeof(*f->words));
    f->mask = (uint32_t)(n_words - 1);
    return f->words != NULL ? QN_OK : QN_ENOMEM;
}

void qn_filter_close(qn_filter *f)
{
    qn_free(f->words);
    f->words = NULL;
}

uint64_t qn_pieces_hash_odd(const qn_tokenizer *t, const char *s, size_t n)
{
    uint64_t h = t->pieces.seed ^ n, tail = 0;
    for (; n > 8; s += 8, n -= 8) {
        h = qn_mix(h ^ qn_load64(s), 0x9FB21C651E98DF25u);
    }
    if (n >= 4) { /* two words that may overlap, and so hold every byte */
        uint32_t first, last;
        memcpy(&first, s, 4);
        memcpy(&last, s + n - 4, 4);
        tail = (uint64_t)first << 32 | last;
    } else if (n > 0) {
        tail = (uint64_t)(uint8_t)s[0] << 16 | (uint64_t)(uint8_t)s[n / 2] << 8 | (uint8_t)s[n - 1];
    }
    return qn_mix(h ^ tail, 0xD6E8FEB86659FD93u);
}

/* The slot of s, or the free one where it would go. */
static qn_piece_slot *find_slot(const qn_tokenizer *t, const char *s, size_t n, uint64_t h)
{
    for (uint32_t i = (uint32_t)h & t->pieces.mask;; i = (i + 1) & t->pieces.mask) {
        qn_piece_slot *slot = &t->pieces.slots[i];
        if (slot->id == QN_NO_ID) {
            return slot;
        }
        if (slot->tag == (uint32_t)(h >> 32) && qn_str_eq(qn_piece(t, slot->id), (qn_str){s, n})) {
            return slot;
        }
    }
}

qn_status qn_pieces_load(qn_tokenizer *t, qn_error *err)
{
    size_t n_slots = 16; /* at most half of them are used, so a search always ends at a free one */
    while (n_slots < 2 * (size_t)t->n_vocab) {
        n_slots *= 2;
    }
    t->pieces.slots = qn_zalloc_array(t->budget, QN_TOKENIZER_OWNER, n_slots, sizeof(*t->pieces.slots));
    if (t->pieces.slots == NULL || qn_filter_open(&t->pieces.filter, t->n_vocab, t->budget) != QN_OK) {
        return qn_fail(err, QN_ENOMEM, "no memory for %zu pieces", n_slots / 2);
    }
    for (size_t i = 0; i < n_slots; i++) {
        t->pieces.slots[i].id = QN_NO_ID;
    }
    t->pieces.mask = (uint32_t)(n_slots - 1);
    t->pieces.seed = qn_mix(qn_clock_ns() ^ (uintptr_t)t, 0x2545F4914F6CDD1Du);
    for (uint32_t id = 0; id < t->n_vocab; id++) {
        qn_str piece = qn_piece(t, (int32_t)id);
        if (piece.len == 0 || !qn_is_plain(t->tokens[id])) {
            continue;
        }
        uint64_t h = qn_pieces_hash(t, piece.data, piece.len);
        qn_piece_slot *slot = find_slot(t, piece.data, piece.len, h);
        if (slot->id == QN_NO_ID) { /* of equal spellings the first counts, as real files have them */
            *slot = (qn_piece_slot){(uint32_t)(h >> 32), (int32_t)id};
            qn_filter_add(&t->pieces.filter, h);
        }
        t->pieces.longest = piece.len > t->pieces.longest ? (uint32_t)piece.len : t->pieces.longest;
    }
    return QN_OK;
}

int32_t qn_pieces_find_hashed(const qn_tokenizer *t, const char *s, size_t n, uint64_t h)
{
    return n == 0 || n > t->pieces.longest ? QN_NO_ID : find_slot(t, s, n, h)->id;
}

int32_t qn_pieces_find(const qn_tokenizer *t, const char *s, size_t n)
{
    if (n == 0 || n > t->pieces.longest) {
        return QN_NO_ID;
    }
    uint64_t h = qn_pieces_hash(t, s, n);
    return qn_filter_has(&t->pieces.filter, h) ? find_slot(t, s, n, h)->id : QN_NO_ID;
}

void qn_pieces_prefetch(const qn_tokenizer *t, uint64_t h, unsigned step)
{
    const qn_piece_slot *slot = &t->pieces.slots[(uint32_t)h & t->pieces.mask];
    if (step == 0) {
        __builtin_prefetch(slot);
    } else if (slot->id != QN_NO_ID && slot->tag == (uint32_t)(h >> 32)) {
        __builtin_prefetch(step == 1 ? (const void *)&t->tokens[slot->id] : t->strings + t->tokens[slot->id].offset);
    }
}
