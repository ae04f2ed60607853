/* Alternatives of many literals as a tree of their beginnings, so that a state is not a list of all that may follow.
 * SPDX-License-Identifier: MIT */
#include "grammar/regular_int.h"

#include <stdlib.h>

#define FEW_WORDS 8
#define MAX_DEPTH 64 /* of beginnings in beginnings; the rest stays a list */

typedef struct word {
    const char *bytes;
    uint32_t first, len; /* in the pool's text */
} word;

static int by_bytes(const void *x, const void *y)
{
    const word *a = x, *b = y;
    int order = memcmp(a->bytes, b->bytes, a->len < b->len ? a->len : b->len);
    return order != 0 ? order : a->len < b->len ? -1 : a->len > b->len;
}

/* words[0, n), sorted, all with the same `at` bytes before; what remains of them behind those. */
static qn_rx tree_of(qn_rx_pool *p, const word *words, uint32_t n, uint32_t at, int depth)
{
    qn_rx_vec ways = {0};
    for (uint32_t i = 0; i < n && p->status == QN_OK;) {
        uint32_t k = i + 1;
        bool ends = words[i].len == at;
        while (k < n && !ends && words[k].bytes[at] == words[i].bytes[at] && depth < MAX_DEPTH) {
            k++;
        }
        qn_rx way = QN_RX_EPS;
        if (k == i + 1) {
            way = qn_rx_lit(p, words[i].first + at, words[i].len - at);
        } else {
            uint32_t same = at + 1; /* sorted: what the first and the last share, all do */
            while (same < words[i].len && same < words[k - 1].len && words[i].bytes[same] == words[k - 1].bytes[same]) {
                same++;
            }
            way = qn_rx_cat(p, qn_rx_lit(p, words[i].first + at, same - at), tree_of(p, words + i, k - i, same, depth + 1));
        }
        qn_vec_add(p->budget, &p->status, &ways, &way, QN_RX_MAX_NODES, sizeof(way));
        i = k;
    }
    qn_rx all = qn_rx_alt(p, ways.items, ways.n);
    qn_free(ways.items);
    return all;
}

qn_rx qn_rx_words(qn_rx_pool *p, const qn_rx *kids, uint32_t n)
{
    if (n < FEW_WORDS || p->status != QN_OK) {
        return qn_rx_alt(p, kids, n);
    }
    qn_rx_vec words = {0}, others = {0};
    for (uint32_t i = 0; i < n; i++) {
        const qn_rx_node *x = qn_rx_at(p, kids[i]);
        word w = {(const char *)p->text.items + x->a, x->a, x->b};
        if (x->kind == QN_RX_K_LIT) {
            qn_vec_add(p->budget, &p->status, &words, &w, QN_RX_MAX_NODES, sizeof(w));
        } else {
            qn_vec_add(p->budget, &p->status, &others, &kids[i], QN_RX_MAX_NODES, sizeof(qn_rx));
        }
    }
    if (words.n > 1) {
        qsort(words.items, words.n, sizeof(word), by_bytes);
    }
    qn_rx tree = tree_of(p, words.items, words.n, 0, 0);
    qn_vec_add(p->budget, &p->status, &others, &tree, QN_RX_MAX_NODES, sizeof(tree));
    qn_rx all = qn_rx_alt(p, others.items, others.n);
    qn_free(words.items);
    qn_free(others.items);
    return all;
}
