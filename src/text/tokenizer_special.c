/* Special tokens spelled in a text, through a tree of bytes. At each place the longest match counts, so a place costs at
 * most QN_MAX_SOUGHT_PIECE steps.
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
    qn_trie_item *items = NULL;
    size_t n = 0, n_special = 0;
    for (uint32_t id = 0; id < t->n_vocab; id++) {
        if (sort_of(t->tokens[id]) != 0) {
            QN_TRY(qn_vocab_check_sought(id, t->tokens[id].len, err));
            n_special++;
        }
    }
    if (n_special > 0 && (items = qn_zalloc_array(t->budget, QN_TOKENIZER_OWNER, n_special, sizeof(*items))) == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for %zu special tokens", n_special);
    }
    for (uint32_t id = 0; id < t->n_vocab; id++) {
        unsigned sort = sort_of(t->tokens[id]);
        qn_str piece = qn_piece(t, (int32_t)id);
        if (sort != 0 && piece.len > 0) {
            s->starts[(uint8_t)piece.data[0]] |= (uint8_t)sort;
            items[n++] = (qn_trie_item){piece.data, (uint32_t)piece.len, (int32_t)id};
        }
    }
    qn_status status = qn_trie_open(items, n, t->budget, &s->pieces);
    qn_free(items);
    if (status != QN_OK) {
        return qn_fail(err, status, "no memory for %zu special tokens", n_special);
    }
    note_starts(s);
    return QN_OK;
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
        node = qn_trie_step(&s->pieces, node, (uint8_t)text[i]);
        if (node == 0) {
            break;
        }
        int32_t id = s->pieces.nodes[node].id;
        if (id != QN_NO_ID && (sort_of(t->tokens[id]) & sorts) != 0) {
            found = id;
            *len = i + 1;
        }
    }
    return found;
}
