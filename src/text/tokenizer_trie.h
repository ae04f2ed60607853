/* A tree of bytes over the spellings of tokens, for algorithms that look for all tokens that begin at a place of a
 * text. The children of a node lie beside each other, sorted. SPDX-License-Identifier: MIT */
#ifndef QN_TEXT_TOKENIZER_TRIE_H
#define QN_TEXT_TOKENIZER_TRIE_H

#include "base/alloc.h"

#include <stddef.h>
#include <stdint.h>

typedef struct qn_trie_node {
    uint32_t children;   /* index of the first */
    int32_t id;          /* of the token that ends here, or -1 */
    uint16_t n_children; /* up to 256 */
    uint8_t label;
} qn_trie_node;

typedef struct qn_trie {
    qn_trie_node *nodes; /* 0 is the root */
    size_t n, cap;
    uint32_t first[256]; /* the root's children by label; 0: none */
    qn_budget *budget;
} qn_trie;

typedef struct qn_trie_item {
    const char *spelling;
    uint32_t len; /* bytes; an item of none is left out */
    int32_t id;
} qn_trie_item;

/* Builds a tree; of equal spellings the first counts. Reorders items. Time and memory are linear in the bytes of all
 * spellings. On failure (QN_ENOMEM; QN_EFORMAT: more than 2^32 nodes) t is empty and may be freed. */
qn_status qn_trie_open(qn_trie_item *items, size_t n, qn_budget *b, qn_trie *t);
void qn_trie_free(qn_trie *t);

/* The child of node `at` by a byte, or 0: there is none. */
static inline uint32_t qn_trie_step(const qn_trie *t, uint32_t at, uint8_t byte)
{
    if (at == 0) {
        return t->first[byte];
    }
    uint32_t low = t->nodes[at].children, n = t->nodes[at].n_children;
    const qn_trie_node *nodes = t->nodes;
    while (n > 4) { /* halving, as long as that saves something */
        uint32_t half = n / 2;
        low += nodes[low + half].label <= byte ? half : 0;
        n -= half;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (nodes[low + i].label == byte) {
            return low + i;
        }
    }
    return 0;
}

#endif
