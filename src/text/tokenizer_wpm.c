/* Model "bert": WordPiece. Words (tokenizer_wpm_words.c) are spelled in the longest pieces, from left to right; a word
 * that cannot be spelled so, or that is over-long, is one unknown token.
 *
 * In the file a piece that begins a word has a U+2581 before it and one that goes on has nothing ("##" in the models'
 * own files). So the two are told apart by the U+2581; a lone one can only be a piece that goes on.
 *
 * SPDX-License-Identifier: MIT */
#include "text/tokenizer_wpm.h"

#define MAX_WORD_CHARS 100 /* of a word that is looked up, as the models' own tokenizers have it */

static void unload(qn_tokenizer *t)
{
    qn_wpm *m = t->state;
    qn_trie_free(&m->begins);
    qn_trie_free(&m->goes_on);
    qn_free(m);
}

/* One tree: of pieces that begin a word, without their mark, or of those that go on. */
static qn_status load_pieces(qn_tokenizer *t, bool begins, qn_trie *trie, qn_error *err)
{
    qn_trie_item *items = qn_zalloc_array(t->budget, QN_TOKENIZER_OWNER, t->n_vocab, sizeof(*items));
    size_t n = 0;
    qn_status s = items == NULL ? QN_ENOMEM : QN_OK;
    for (uint32_t id = 0; id < t->n_vocab && s == QN_OK; id++) {
        qn_str piece = qn_piece(t, (int32_t)id);
        bool marked = piece.len > QN_SPACE_LEN && memcmp(piece.data, QN_SPACE, QN_SPACE_LEN) == 0;
        if (marked == begins && piece.len > 0 && qn_is_plain(t->tokens[id])) {
            size_t skipped = marked ? QN_SPACE_LEN : 0;
            items[n++] = (qn_trie_item){piece.data + skipped, (uint32_t)(piece.len - skipped), (int32_t)id};
        }
    }
    s = s == QN_OK ? qn_trie_open(items, n, t->budget, trie) : s;
    qn_free(items);
    return s == QN_OK ? QN_OK : qn_fail(err, s, "no memory for a vocabulary of %u tokens", t->n_vocab);
}

static qn_status load(qn_tokenizer *t, const qn_gguf *g, qn_error *err)
{
    qn_wpm *m = qn_zalloc(t->budget, QN_TOKENIZER_OWNER, sizeof(*m));
    if (m == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for a tokenizer");
    }
    t->state = m;
    m->lowercase = true;
    QN_TRY(qn_vocab_load_flag(g, "tokenizer.ggml.normalizer.lowercase", &m->lowercase, err));
    m->strips_accents = m->lowercase;
    QN_TRY(qn_vocab_load_flag(g, "tokenizer.ggml.normalizer.strip_accents", &m->strips_accents, err));
    QN_TRY(load_pieces(t, true, &m->begins, err));
    return load_pieces(t, false, &m->goes_on, err);
}

/* The longest piece at s[0, n), or QN_NO_ID. */
static int32_t match(const qn_trie *trie, const char *s, size_t n, size_t *len)
{
    int32_t found = QN_NO_ID;
    uint32_t node = 0;
    for (size_t i = 0; i < n; i++) {
        node = qn_trie_step(trie, node, (uint8_t)s[i]);
        if (node == 0) {
            break;
        }
        if (trie->nodes[node].id != QN_NO_ID) {
            found = trie->nodes[node].id;
            *len = i + 1;
        }
    }
    return found;
}

void qn_wpm_encode_word(qn_encode_run *run, const char *word, size_t n, size_t n_chars)
{
    const qn_wpm *m = run->t->state;
    size_t before = run->n, len = 0;
    const qn_trie *trie = &m->begins;
    for (size_t at = 0; at < n; at += len) {
        int32_t id = n_chars > MAX_WORD_CHARS ? QN_NO_ID : match(trie, word + at, n - at, &len);
        if (id == QN_NO_ID) {
            run->n = before; /* what was emitted for this word is taken back */
            if (run->t->unknown != QN_NO_ID) {
                qn_emit(run, run->t->unknown);
            }
            return;
        }
        qn_emit(run, id);
        trie = &m->goes_on;
    }
}

static qn_status encode(qn_encode_run *run, const char *text, size_t n, bool opens)
{
    (void)opens;
    return qn_wpm_words(run, text, n);
}

/* A word after another one is set off by a space: what was between them in the text is not known any more. */
static void decode(const qn_tokenizer *t, qn_str piece, bool opens, qn_buf *out)
{
    (void)t;
    if (piece.len > QN_SPACE_LEN && memcmp(piece.data, QN_SPACE, QN_SPACE_LEN) == 0) {
        qn_buf_add(out, " ", opens ? 0 : 1);
        piece.data += QN_SPACE_LEN;
        piece.len -= QN_SPACE_LEN;
    }
    qn_buf_add(out, piece.data, piece.len);
}

const qn_tokenizer_ops qn_tokenizer_wpm = {
    .model = "bert",
    .bos_key = "tokenizer.ggml.cls_token_id",
    .eos_key = "tokenizer.ggml.seperator_token_id", /* spelled so in the files */
    .bos = 101,
    .eos = 102,
    .unknown = 100,
    .adds_bos = true,
    .adds_eos = true,
    .normalizes = true,
    .load = load,
    .unload = unload,
    .encode = encode,
    .decode = decode,
};
