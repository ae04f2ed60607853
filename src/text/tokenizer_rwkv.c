/* Model "rwkv": the longest token at each place of the text, bytes as they are. The file spells bytes that are no
 * printable ASCII with a backslash: \t, \n, \r, \xHH, and any other character for itself.
 *
 * SPDX-License-Identifier: MIT */
#include "text/tokenizer_int.h"
#include "text/tokenizer_trie.h"

typedef struct rwkv {
    qn_trie pieces; /* of normal tokens, as the bytes that they stand for */
} rwkv;

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The byte that s[0, n), n >= 1, begins with; *len is set to what spells it. A backslash that begins nothing is one. */
static char next_byte(const char *s, size_t n, size_t *len)
{
    *len = 1;
    if (s[0] != '\\' || n < 2) {
        return s[0];
    }
    *len = 2;
    switch (s[1]) {
    case 't':
        return '\t';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 'x':
        break;
    default:
        return s[1];
    }
    if (n >= 4 && hex_digit(s[2]) >= 0 && hex_digit(s[3]) >= 0) {
        *len = 4;
        return (char)(hex_digit(s[2]) * 16 + hex_digit(s[3]));
    }
    *len = 1;
    return '\\';
}

static void unload(qn_tokenizer *t)
{
    rwkv *m = t->state;
    qn_trie_free(&m->pieces);
    qn_free(m);
}

/* Puts the spelled-out bytes of all normal tokens into room, which is as large as their spellings together. */
static qn_status build(const qn_tokenizer *t, qn_trie_item *items, char *room, qn_trie *pieces, qn_error *err)
{
    size_t n_items = 0;
    for (uint32_t id = 0; id < t->n_vocab; id++) {
        if (t->tokens[id].kind != QN_TOKEN_NORMAL) {
            continue;
        }
        qn_str piece = qn_piece(t, (int32_t)id);
        char *start = room;
        for (size_t at = 0, len; at < piece.len; at += len) {
            *room++ = next_byte(piece.data + at, piece.len - at, &len);
        }
        QN_TRY(qn_vocab_check_sought(id, (size_t)(room - start), err));
        items[n_items++] = (qn_trie_item){start, (uint32_t)(room - start), (int32_t)id};
    }
    qn_status s = qn_trie_open(items, n_items, t->budget, pieces);
    return s == QN_OK ? QN_OK : qn_fail(err, s, "no memory for %u pieces", t->n_vocab);
}

static qn_status load(qn_tokenizer *t, const qn_gguf *g, qn_error *err)
{
    (void)g;
    rwkv *m = qn_zalloc(t->budget, QN_TOKENIZER_OWNER, sizeof(*m));
    if (m == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for a tokenizer");
    }
    t->state = m;
    size_t n_bytes = 0;
    for (uint32_t id = 0; id < t->n_vocab; id++) {
        n_bytes += t->tokens[id].len;
    }
    qn_trie_item *items = qn_zalloc_array(t->budget, QN_TOKENIZER_OWNER, t->n_vocab, sizeof(*items));
    char *room = qn_alloc(t->budget, QN_TOKENIZER_OWNER, n_bytes);
    qn_status s = items == NULL || room == NULL ? qn_fail(err, QN_ENOMEM, "no memory for %u pieces", t->n_vocab)
                                                : build(t, items, room, &m->pieces, err);
    qn_free(items);
    qn_free(room);
    QN_TRY(s);
    for (size_t byte = 0; byte < 256; byte++) {
        uint32_t node = qn_trie_step(&m->pieces, 0, (uint8_t)byte);
        t->byte_ids[byte] = node == 0 ? QN_NO_ID : m->pieces.nodes[node].id;
    }
    return QN_OK;
}

static qn_status encode(qn_encode_run *run, const char *text, size_t n, bool opens)
{
    const qn_trie *pieces = &((const rwkv *)run->t->state)->pieces;
    (void)opens;
    for (size_t at = 0; at < n;) {
        int32_t found = run->t->unknown; /* a byte that no token begins with */
        size_t len = 1;
        uint32_t node = 0;
        for (size_t i = at; i < n && (node = qn_trie_step(pieces, node, (uint8_t)text[i])) != 0; i++) {
            if (pieces->nodes[node].id != QN_NO_ID) {
                found = pieces->nodes[node].id;
                len = i + 1 - at;
            }
        }
        if (found != QN_NO_ID) {
            qn_emit(run, found);
        }
        at += len;
    }
    return QN_OK;
}

static void decode(const qn_tokenizer *t, qn_str piece, bool opens, qn_buf *out)
{
    (void)t;
    (void)opens;
    for (size_t at = 0, len; at < piece.len; at += len) {
        qn_buf_add_char(out, next_byte(piece.data + at, piece.len - at, &len));
    }
}

const qn_tokenizer_ops qn_tokenizer_rwkv = {
    .model = "rwkv",
    .bos = QN_NO_ID,
    .eos = QN_NO_ID,
    .unknown = QN_NO_ID,
    .load = load,
    .unload = unload,
    .encode = encode,
    .decode = decode,
};
