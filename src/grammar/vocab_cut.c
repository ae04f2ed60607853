/* Texts spelled with a vocabulary's tokens, and the tokens that begin as a text does.
 * SPDX-License-Identifier: MIT */
#include "grammar/vocab_int.h"

#include "base/checked.h"

#define OWNER "grammar"

typedef struct reach { /* how a place in the text is reached */
    uint32_t n_tokens; /* UINT32_MAX: not at all */
    int32_t last;
} reach;

/* The root's child, or that of a node, for a byte; UINT32_MAX: there is none. */
static uint32_t child_of_root(const qn_trie *t, uint8_t byte)
{
    return t->child[byte] == 0 ? UINT32_MAX : t->child[byte] - 1;
}

static uint32_t child_of(const qn_trie *t, uint32_t node, uint8_t byte)
{
    for (uint32_t i = node + 1; i < t->nodes[node].next; i = t->nodes[i].next) {
        if (t->nodes[i].byte == byte) {
            return i;
        }
    }
    return UINT32_MAX;
}

qn_str qn_grammar_vocab_bytes(const qn_grammar_vocab *v, int32_t id)
{
    return qn_vocab_bytes(v, id);
}

bool qn_grammar_vocab_has_longer(const qn_grammar_vocab *v, qn_str text)
{
    const qn_trie *t = &v->all;
    uint32_t node = text.len == 0 ? UINT32_MAX : child_of_root(t, (uint8_t)text.data[0]);
    for (size_t i = 1; i < text.len && node != UINT32_MAX; i++) {
        node = child_of(t, node, (uint8_t)text.data[i]);
    }
    return node == UINT32_MAX ? text.len == 0 && t->n != 0 : t->nodes[node].next > node + 1;
}

/* What is reached from place i by one token. */
static void go_on(const qn_grammar_vocab *v, qn_str text, size_t i, reach *at)
{
    const qn_trie *t = &v->all;
    uint32_t node = child_of_root(t, (uint8_t)text.data[i]);
    for (size_t end = i + 1; node != UINT32_MAX; end++) {
        int32_t id = qn_trie_token(t, node);
        if (id >= 0 && at[i].n_tokens + 1 < at[end].n_tokens) {
            at[end] = (reach){at[i].n_tokens + 1, id};
        }
        node = end < text.len ? child_of(t, node, (uint8_t)text.data[end]) : UINT32_MAX;
    }
}

static int32_t first_of(const qn_grammar_vocab *v, const reach *at, size_t n_bytes)
{
    int32_t first = -1;
    for (size_t end = n_bytes; end > 0; end -= qn_vocab_bytes(v, first).len) {
        first = at[end].last;
    }
    return first;
}

qn_status qn_grammar_vocab_cut(const qn_grammar_vocab *v, qn_str text, int32_t *first, uint32_t *n_tokens)
{
    size_t n_places;
    if (!qn_add_size(text.len, 1, &n_places) || text.len >= UINT32_MAX) {
        return QN_EFULL;
    }
    reach *at = qn_zalloc_array(v->budget, OWNER, n_places, sizeof(*at));
    if (at == NULL) {
        return qn_alloc_failure(v->budget, (uint64_t)n_places * sizeof(*at));
    }
    for (size_t i = 1; i <= text.len; i++) {
        at[i].n_tokens = UINT32_MAX;
    }
    for (size_t i = 0; i < text.len; i++) {
        if (at[i].n_tokens != UINT32_MAX) {
            go_on(v, text, i, at);
        }
    }
    uint32_t n = at[text.len].n_tokens;
    if (n != UINT32_MAX) {
        *first = first_of(v, at, text.len);
        *n_tokens = n;
    }
    qn_free(at);
    return n != UINT32_MAX ? QN_OK : QN_ENOTFOUND;
}
