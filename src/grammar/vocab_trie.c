/* Trees of tokens by their bytes, in one array; each node knows what kinds of characters lie below it, so that a walk may
 * take them at once.
 * SPDX-License-Identifier: MIT */
#include "grammar/vocab_int.h"

#include "base/checked.h"

#define OWNER "grammar"
#define NO_PLACE 8 /* no text of whole characters leads here */

static uint32_t shared_bytes(qn_str a, qn_str b)
{
    uint32_t n = (uint32_t)(a.len < b.len ? a.len : b.len), i = 0;
    while (i < n && a.data[i] == b.data[i]) {
        i++;
    }
    return i;
}

static void add_nodes(const qn_grammar_vocab *v, uint32_t n, qn_trie *out)
{
    uint32_t path[QN_TRIE_MAX_LEN + 1]; /* path[d]: the open node of depth d */
    uint32_t depth = 0;
    qn_str before = {"", 0};
    for (uint32_t i = 0; i < n; i++) {
        qn_str s = qn_vocab_bytes(v, out->ids[i]);
        uint32_t same = shared_bytes(before, s);
        if (same == s.len && same == before.len) { /* the same bytes as the token before: one more of that node */
            continue;
        }
        for (; depth > same; depth--) {
            out->nodes[path[depth]].next = out->n;
        }
        while (depth < s.len) {
            unsigned char c = (unsigned char)s.data[depth++];
            out->child[c] = depth == 1 ? out->n + 1 : out->child[c];
            out->nodes[out->n] = (qn_trie_node){.rank = i, .depth = (uint16_t)depth, .byte = c};
            path[depth] = out->n++;
        }
        before = s;
    }
    for (; depth > 0; depth--) {
        out->nodes[path[depth]].next = out->n;
    }
    out->nodes[out->n] = (qn_trie_node){.next = out->n + 1, .rank = n};
}

/* The kinds and the height of what is below each node, from the last one to the first. */
static void look_below(qn_trie *t, const uint8_t *places)
{
    for (uint32_t i = t->n; i-- > 0;) {
        qn_trie_node *n = &t->nodes[i];
        uint32_t height = 0;
        for (uint32_t c = i + 1; c < n->next; c = t->nodes[c].next) {
            const qn_trie_node *child = &t->nodes[c];
            bool is_between = places[c] == QN_UTF8_BETWEEN, ends_here = t->nodes[c + 1].rank != child->rank;
            uint16_t own = places[c] == NO_PLACE ? QN_CHAR_PART
                           : is_between          ? (child->byte < 0x80 ? qn_kind_of_ascii(child->byte) : QN_CHAR_WIDE)
                           : ends_here           ? QN_CHAR_PART
                                                 : 0;
            n->kinds |= own | child->kinds;
            uint32_t of_child = child->height + (uint32_t)is_between;
            height = of_child > height ? of_child : height;
        }
        n->height = (uint8_t)(height < QN_NO_HEIGHT ? height : QN_NO_HEIGHT);
    }
    for (uint32_t i = 0; i < t->n; i++) {
        t->nodes[i].height = places[i] == QN_UTF8_BETWEEN ? t->nodes[i].height : QN_NO_HEIGHT;
    }
}

static void find_places(const qn_trie *t, uint8_t *places)
{
    uint8_t by_depth[QN_TRIE_MAX_LEN + 1] = {QN_UTF8_BETWEEN};
    for (uint32_t i = 0; i < t->n; i++) {
        const qn_trie_node *n = &t->nodes[i];
        int before = by_depth[n->depth - 1], place = before == NO_PLACE ? -1 : qn_utf8_after(before, n->byte);
        places[i] = by_depth[n->depth] = (uint8_t)(place < 0 ? NO_PLACE : place);
    }
}

qn_status qn_trie_build(qn_grammar_vocab *v, const int32_t *sorted, uint32_t n, qn_trie *out)
{
    uint64_t n_nodes = 1;
    for (uint32_t i = 0; i < n; i++) {
        qn_str s = qn_vocab_bytes(v, sorted[i]);
        n_nodes += s.len - (i == 0 ? 0 : shared_bytes(qn_vocab_bytes(v, sorted[i - 1]), s));
    }
    bool fits = n_nodes < UINT32_MAX / 2;
    out->nodes = fits ? qn_alloc(v->budget, OWNER, n_nodes * sizeof(*out->nodes)) : NULL;
    out->ids = qn_zalloc_array(v->budget, OWNER, (size_t)n + 1, sizeof(*out->ids));
    uint8_t *places = fits ? qn_zalloc_array(v->budget, OWNER, n_nodes, 1) : NULL;
    if (out->nodes == NULL || out->ids == NULL || places == NULL) {
        qn_free(places);
        return qn_alloc_failure(v->budget, n_nodes * sizeof(*out->nodes));
    }
    if (n != 0) {
        memcpy(out->ids, sorted, n * sizeof(*sorted));
    }
    add_nodes(v, n, out);
    find_places(out, places);
    look_below(out, places);
    qn_free(places);
    return QN_OK;
}

void qn_trie_close(qn_trie *t)
{
    qn_free(t->nodes);
    qn_free(t->ids);
}
