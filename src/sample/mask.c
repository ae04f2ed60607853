/* Masks over the vocabulary: which tokens may be picked at all. Few of them become candidates straight from the bits; many
 * become a copy of the logits without the others.
 * SPDX-License-Identifier: MIT */
#include "sample/sample_int.h"

#include <assert.h>
#include <string.h>

uint32_t qn_mask_count(const uint64_t *mask, uint32_t n_vocab)
{
    uint32_t n = 0;
    for (uint32_t w = 0; w < QN_MASK_WORDS(n_vocab); w++) {
        n += (uint32_t)__builtin_popcountll(mask[w]);
    }
    return n;
}

void qn_mask_list(const uint64_t *mask, const float *logits, uint32_t n_vocab, qn_candidates *c)
{
    c->n = 0;
    for (uint32_t w = 0; w < QN_MASK_WORDS(n_vocab); w++) {
        for (uint64_t left = mask[w]; left != 0; left &= left - 1) {
            uint32_t id = w * 64 + (uint32_t)__builtin_ctzll(left);
            if (isfinite(logits[id])) {
                assert(id < n_vocab && c->n < c->cap);
                c->item[c->n++] = (qn_candidate){.id = (int32_t)id, .logit = logits[id]};
            }
        }
    }
}

/* n <= 64 logits under one word: all are taken over and those that are masked put out, or the other way round, whichever
 * touches fewer. */
static void copy_word(uint64_t word, const float *logits, uint32_t n, float *out)
{
    bool is_sparse = __builtin_popcountll(word) < 32;
    if (is_sparse) {
        for (uint32_t i = 0; i < n; i++) {
            out[i] = -INFINITY;
        }
        for (uint64_t left = word; left != 0; left &= left - 1) {
            out[__builtin_ctzll(left)] = logits[__builtin_ctzll(left)];
        }
        return;
    }
    memcpy(out, logits, n * sizeof(*out));
    uint64_t all = n == 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1;
    for (uint64_t left = ~word & all; left != 0; left &= left - 1) {
        out[__builtin_ctzll(left)] = -INFINITY;
    }
}

void qn_mask_copy(const uint64_t *mask, const float *logits, uint32_t n_vocab, float *out)
{
    for (uint32_t w = 0; w < QN_MASK_WORDS(n_vocab); w++) {
        uint32_t first = w * 64;
        copy_word(mask[w], logits + first, n_vocab - first < 64 ? n_vocab - first : 64, out + first);
    }
}
