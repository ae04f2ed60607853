/* Alternatives of many texts as a tree of their beginnings, so that a state is not a list of all that may follow.
 * SPDX-License-Identifier: MIT */
#include "grammar/regular_int.h"

#include <stdlib.h>

#define FEW_WORDS 8 /* fewer literals stay a list; sequences always share, for what they begin with may be a call */
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

/* ---- sequences: those that begin with the same part ---- */

typedef struct sequence {
    qn_rx first, rest;
} sequence;

static int by_first(const void *x, const void *y)
{
    const sequence *a = x, *b = y;
    return a->first != b->first ? (a->first < b->first ? -1 : 1) : a->rest < b->rest ? -1 : a->rest > b->rest;
}

static sequence sequence_of(const qn_rx_pool *p, qn_rx x)
{
    const qn_rx_node *n = qn_rx_at(p, x);
    return n->kind == QN_RX_K_CAT ? (sequence){n->a, n->b} : (sequence){x, QN_RX_EPS};
}

static qn_rx share_first(qn_rx_pool *p, sequence *all, uint32_t n, int depth)
{
    qn_rx_vec ways = {0};
    qsort(all, n, sizeof(*all), by_first);
    qn_rx_work(p, n);
    for (uint32_t i = 0; i < n && p->status == QN_OK;) {
        uint32_t k = i + 1;
        while (k < n && all[k].first == all[i].first && depth < MAX_DEPTH) {
            k++;
        }
        qn_rx first = all[i].first, rest = all[i].rest;
        if (k > i + 1) { /* what they share goes before; only where they part does this go deeper */
            for (bool same = true; same;) {
                for (uint32_t j = i; j < k; j++) {
                    all[j] = sequence_of(p, all[j].rest);
                    same = same && all[j].first == all[i].first && all[j].first != QN_RX_EPS;
                }
                first = same ? qn_rx_cat(p, first, all[i].first) : first;
                same = same && qn_rx_work(p, k - i);
            }
            rest = share_first(p, all + i, k - i, depth + 1);
        }
        qn_rx way = qn_rx_cat(p, first, rest);
        qn_vec_add(p->budget, &p->status, &ways, &way, QN_RX_MAX_NODES, sizeof(way));
        i = k;
    }
    qn_rx x = qn_rx_alt(p, ways.items, ways.n);
    qn_free(ways.items);
    return x;
}

qn_rx qn_rx_words(qn_rx_pool *p, const qn_rx *kids, uint32_t n)
{
    if (p->status != QN_OK) {
        return QN_RX_NEVER;
    }
    qn_rx_vec words = {0}, others = {0};
    for (uint32_t i = 0; i < n; i++) {
        const qn_rx_node *x = qn_rx_at(p, kids[i]);
        if (x->kind == QN_RX_K_LIT && n >= FEW_WORDS) {
            word w = {(const char *)p->text.items + x->a, x->a, x->b};
            qn_vec_add(p->budget, &p->status, &words, &w, QN_RX_MAX_NODES, sizeof(w));
        } else {
            sequence s = sequence_of(p, kids[i]);
            qn_vec_add(p->budget, &p->status, &others, &s, QN_RX_MAX_NODES, sizeof(s));
        }
    }
    if (words.n > 1) {
        qsort(words.items, words.n, sizeof(word), by_bytes);
    }
    qn_rx both[2] = {tree_of(p, words.items, words.n, 0, 0), QN_RX_NEVER};
    both[1] = others.n == 0 ? QN_RX_NEVER : share_first(p, others.items, others.n, 0);
    qn_free(words.items);
    qn_free(others.items);
    return qn_rx_alt(p, both, 2);
}
