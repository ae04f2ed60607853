/* Special tokens spelled in a text: a tree of bytes, its edges in one hash table. At each place the longest match
 * counts, so the cost of a place is at most QN_MAX_SPECIAL_PIECE.
 *
 * A GGUF file does not carry the lstrip and rstrip of added tokens; none is applied.
 *
 * SPDX-License-Identifier: MIT */
#include "text/tokenizer_int.h"

static unsigned sort_of(qn_token token)
{
    switch (token.kind) {
    case QN_TOKEN_USER:
        return QN_SPECIAL_USER;
    case QN_TOKEN_CONTROL:
    case QN_TOKEN_UNKNOWN:
        return QN_SPECIAL_OTHER;
    default:
        return 0;
    }
}

/* The edge from node by byte, or the free slot where it would go. */
static qn_special_edge *find_edge(const qn_specials *s, uint32_t node, uint8_t byte)
{
    uint32_t key = node << 8 | byte;
    uint32_t i = (uint32_t)(qn_mix(key, 0x9E3779B97F4A7C15u) >> 20) & s->mask;
    while (s->edges[i].to != 0 && s->edges[i].key != key) {
        i = (i + 1) & s->mask;
    }
    return &s->edges[i];
}

static void insert(qn_specials *s, qn_str piece, int32_t id, unsigned sort)
{
    uint32_t node = 0;
    s->starts[(uint8_t)piece.data[0]] |= (uint8_t)sort;
    for (size_t i = 0; i < piece.len; i++) {
        qn_special_edge *edge = find_edge(s, node, (uint8_t)piece.data[i]);
        if (edge->to == 0) {
            *edge = (qn_special_edge){node << 8 | (uint8_t)piece.data[i], s->n_nodes};
            s->ends[s->n_nodes++] = QN_NO_ID;
        }
        node = edge->to;
    }
    if (s->ends[node] == QN_NO_ID) {
        s->ends[node] = id;
    }
}

static void note_starts(qn_specials *s)
{
    for (unsigned sorts = 0; sorts < 4; sorts++) {
        s->only[sorts] = QN_START_NONE;
        for (int16_t byte = 0; byte < 256; byte++) {
            if ((s->starts[byte] & sorts) != 0) {
                s->only[sorts] = s->only[sorts] == QN_START_NONE ? byte : QN_START_SEVERAL;
            }
        }
    }
}

qn_status qn_specials_load(qn_tokenizer *t, qn_error *err)
{
    qn_specials *s = &t->specials;
    size_t n_bytes = 0;
    for (uint32_t id = 0; id < t->n_vocab; id++) {
        if (sort_of(t->tokens[id]) != 0) {
            if (t->tokens[id].len > QN_MAX_SPECIAL_PIECE) {
                return qn_fail(err, QN_EFORMAT, "tokenizer.ggml.tokens: special token %u has more than %d bytes", id,
                               QN_MAX_SPECIAL_PIECE);
            }
            n_bytes += t->tokens[id].len;
        }
    }
    size_t n_slots = 16;
    while (n_slots < 2 * n_bytes) {
        n_slots *= 2;
    }
    if (n_bytes >= UINT32_C(1) << 24) { /* a node and a byte share 32 bits */
        return qn_fail(err, QN_EFORMAT, "tokenizer.ggml.tokens: special tokens of %zu bytes", n_bytes);
    }
    s->edges = qn_zalloc_array(t->budget, QN_TOKENIZER_OWNER, n_slots, sizeof(*s->edges));
    s->ends = qn_zalloc_array(t->budget, QN_TOKENIZER_OWNER, n_bytes + 1, sizeof(*s->ends));
    if (s->edges == NULL || s->ends == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for special tokens of %zu bytes", n_bytes);
    }
    s->mask = (uint32_t)(n_slots - 1);
    s->ends[0] = QN_NO_ID;
    s->n_nodes = 1;
    for (uint32_t id = 0; id < t->n_vocab; id++) {
        unsigned sort = sort_of(t->tokens[id]);
        if (sort != 0 && t->tokens[id].len > 0) {
            insert(s, qn_piece(t, (int32_t)id), (int32_t)id, sort);
        }
    }
    note_starts(s);
    return QN_OK;
}

void qn_specials_free(qn_specials *s)
{
    qn_free(s->edges);
    qn_free(s->ends);
}

size_t qn_specials_next(const qn_tokenizer *t, const char *text, size_t at, size_t n, unsigned sorts)
{
    const qn_specials *s = &t->specials;
    if (s->only[sorts] == QN_START_NONE || at >= n) {
        return n;
    }
    if (s->only[sorts] != QN_START_SEVERAL) {
        const char *found = memchr(text + at, s->only[sorts], n - at);
        return found == NULL ? n : (size_t)(found - text);
    }
    const uint8_t *starts = s->starts, *u = (const uint8_t *)text;
    while (n - at >= 4 && ((starts[u[at]] | starts[u[at + 1]] | starts[u[at + 2]] | starts[u[at + 3]]) & sorts) == 0) {
        at += 4;
    }
    while (at < n && (starts[u[at]] & sorts) == 0) {
        at++;
    }
    return at;
}

int32_t qn_specials_match(const qn_tokenizer *t, const char *text, size_t n, unsigned sorts, size_t *len)
{
    const qn_specials *s = &t->specials;
    int32_t found = QN_NO_ID;
    uint32_t node = 0;
    if ((s->starts[(uint8_t)text[0]] & sorts) == 0) {
        return QN_NO_ID;
    }
    for (size_t i = 0; i < n; i++) {
        node = find_edge(s, node, (uint8_t)text[i])->to;
        if (node == 0) {
            break;
        }
        int32_t id = s->ends[node];
        if (id != QN_NO_ID && (sort_of(t->tokens[id]) & sorts) != 0) {
            found = id;
            *len = i + 1;
        }
    }
    return found;
}
