/* Model "llama": SentencePiece BPE. A space is spelled U+2581 in the vocabulary; characters merge by the score of what
 * they become, best first; what is left without a token is spelled in byte tokens.
 *
 * Pre-tokenizer: none, whatever tokenizer.ggml.pre says. The piece that merges is cut all the same before a space where
 * that changes nothing: where no token has a space behind the byte that stands before it.
 *
 * Departures from SentencePiece, both so that decoding gives back every text: a U+2581 in the text itself becomes
 * byte tokens and not a space, and control, unknown and byte tokens are never the result of a merge.
 *
 * SPDX-License-Identifier: MIT */
#include "text/tokenizer_int.h"

#include "text/utf8.h"

#define SPACE "\xE2\x96\x81" /* U+2581 */
#define SPACE_LEN 3

typedef struct spm {
    uint32_t *priority;      /* per token: less for a better score */
    bool prefix;             /* a space goes before a text */
    bool spells_space;       /* U+2581 in a text can be told from a space: its bytes have tokens */
    bool before_space[256];  /* some token has this byte and then a space */
} spm;

/* Orders floats as unsigned numbers, the largest first. */
static uint32_t priority_of(float score)
{
    uint32_t bits;
    score += 0.0f; /* -0 becomes 0 */
    memcpy(&bits, &score, sizeof(bits));
    return ~(bits & UINT32_C(1) << 31 ? ~bits : bits | UINT32_C(1) << 31);
}

static qn_status load_scores(qn_tokenizer *t, spm *m, const qn_gguf *g, qn_error *err)
{
    const char *key = "tokenizer.ggml.scores";
    const qn_gguf_kv *kv = qn_gguf_find(g, key);
    if (kv == NULL || kv->type != QN_GGUF_ARRAY || kv->n_items < t->n_vocab) {
        return qn_fail(err, QN_EFORMAT, "%s: not one number for each of %u tokens", key, t->n_vocab);
    }
    m->priority = qn_zalloc_array(t->budget, QN_TOKENIZER_OWNER, t->n_vocab, sizeof(*m->priority));
    if (m->priority == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for %u scores", t->n_vocab);
    }
    for (uint32_t id = 0; id < t->n_vocab; id++) {
        float score;
        if (!qn_gguf_item_f32(kv, id, &score) || score != score) {
            return qn_fail(err, QN_EFORMAT, "%s: token %u has none", key, id);
        }
        m->priority[id] = priority_of(score);
    }
    return QN_OK;
}

static void note_spaces(spm *m, qn_str piece)
{
    const char *at = piece.data, *end = piece.data + piece.len;
    while ((at = memmem(at, (size_t)(end - at), SPACE, SPACE_LEN)) != NULL) {
        if (at > piece.data) {
            m->before_space[(uint8_t)at[-1]] = true;
        }
        at += SPACE_LEN;
    }
}

static qn_status load_flag(const qn_gguf *g, const char *key, bool *flag, qn_error *err)
{
    return qn_gguf_find(g, key) == NULL ? QN_OK : qn_gguf_get_bool(g, key, flag, err);
}

static void unload(qn_tokenizer *t)
{
    spm *m = t->state;
    qn_free(m->priority);
    qn_free(m);
}

static qn_status load(qn_tokenizer *t, const qn_gguf *g, qn_error *err)
{
    spm *m = qn_zalloc(t->budget, QN_TOKENIZER_OWNER, sizeof(*m));
    if (m == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for a tokenizer");
    }
    t->state = m;
    QN_TRY(load_scores(t, m, g, err));
    bool squeezes = false;
    m->prefix = true;
    QN_TRY(load_flag(g, "tokenizer.ggml.add_space_prefix", &m->prefix, err));
    QN_TRY(load_flag(g, "tokenizer.ggml.remove_extra_whitespaces", &squeezes, err));
    if (squeezes) {
        return qn_fail(err, QN_EUNSUPPORTED, "tokenizer.ggml.remove_extra_whitespaces: true");
    }
    for (uint32_t id = 0; id < t->n_vocab; id++) {
        qn_str piece = qn_piece(t, (int32_t)id);
        if (t->tokens[id].kind == QN_TOKEN_BYTE) {
            int byte = qn_vocab_byte(piece);
            if (byte >= 0 && t->byte_ids[byte] == QN_NO_ID) {
                t->byte_ids[byte] = (int32_t)id;
            }
        } else if (qn_is_plain(t->tokens[id])) {
            note_spaces(m, piece);
        }
    }
    m->spells_space = t->byte_ids[0xE2] >= 0 && t->byte_ids[0x96] >= 0 && t->byte_ids[0x81] >= 0;
    /* Without a token for a lone space the prefix could not be told from the text's own spaces. */
    m->prefix &= qn_pieces_find(t, SPACE, SPACE_LEN) != QN_NO_ID;
    return QN_OK;
}

static bool look_up(const qn_tokenizer *t, const char *text, const qn_symbol *left, const qn_symbol *right,
                    uint32_t end, uint32_t *priority, int32_t *id)
{
    (void)right;
    *id = qn_pieces_find(t, text + left->start, end - left->start);
    if (*id == QN_NO_ID) {
        return false;
    }
    *priority = ((const spm *)t->state)->priority[*id];
    return true;
}

static void emit_byte(qn_encode_run *run, uint8_t byte)
{
    int32_t id = run->t->byte_ids[byte];
    id = id == QN_NO_ID ? run->t->unknown : id;
    if (id != QN_NO_ID) {
        qn_emit(run, id);
    }
}

/* A symbol that is no token: its bytes. A space is the text's byte 0x20, not the three of U+2581. */
static void emit_bytes(qn_encode_run *run, const char *s, size_t n)
{
    if (n == SPACE_LEN && memcmp(s, SPACE, SPACE_LEN) == 0) {
        emit_byte(run, ' ');
        return;
    }
    for (size_t i = 0; i < n; i++) {
        emit_byte(run, (uint8_t)s[i]);
    }
}

/* Encodes what is in run->text. */
static qn_status encode_piece(qn_encode_run *run)
{
    const qn_tokenizer *t = run->t;
    const char *s = run->text.data;
    uint32_t n = (uint32_t)run->text.len, n_symbols = 0;
    int32_t whole = qn_pieces_find(t, s, n);
    unsigned known = whole == QN_NO_ID ? QN_WHOLE_NO : atomic_load_explicit(&t->whole[whole], memory_order_relaxed);
    if (known == QN_WHOLE_YES) {
        qn_emit(run, whole);
        return QN_OK;
    }
    QN_TRY(qn_merge_reserve(run, n));
    for (uint32_t at = 0; at < n;) {
        uint32_t cp, len = (uint32_t)qn_utf8_next(s + at, n - at, &cp);
        run->symbols[n_symbols++] = (qn_symbol){.id = qn_pieces_find(t, s + at, len), .start = at};
        at += len;
    }
    QN_TRY(qn_merge(run, s, n, &n_symbols, look_up));
    if (known == QN_WHOLE_UNKNOWN) {
        bool same = n_symbols == 1 && run->symbols[0].id == whole;
        atomic_store_explicit(&t->whole[whole], same ? QN_WHOLE_YES : QN_WHOLE_NO, memory_order_relaxed);
    }
    for (uint32_t i = 0; i < n_symbols; i++) {
        uint32_t start = run->symbols[i].start, end = i + 1 < n_symbols ? run->symbols[i + 1].start : n;
        if (run->symbols[i].id != QN_NO_ID) {
            qn_emit(run, run->symbols[i].id);
        } else {
            emit_bytes(run, s + start, end - start);
        }
    }
    return QN_OK;
}

static qn_status flush(qn_encode_run *run)
{
    QN_TRY(run->text.status);
    if (run->text.len > 0) {
        QN_TRY(encode_piece(run));
        qn_buf_clear(&run->text);
    }
    return QN_OK;
}

static qn_status encode(qn_encode_run *run, const char *text, size_t n, bool opens)
{
    const spm *m = run->t->state;
    if (opens && m->prefix) {
        qn_buf_add(&run->text, SPACE, SPACE_LEN);
    }
    for (size_t at = 0; at < n;) {
        if (text[at] == ' ') {
            if (run->text.len > 0 && !m->before_space[(uint8_t)run->text.data[run->text.len - 1]]) {
                QN_TRY(flush(run));
            }
            qn_buf_add(&run->text, SPACE, SPACE_LEN);
            at++;
        } else if (n - at >= SPACE_LEN && memcmp(text + at, SPACE, SPACE_LEN) == 0 && m->spells_space) {
            QN_TRY(flush(run));
            for (size_t i = 0; i < SPACE_LEN; i++) {
                emit_byte(run, (uint8_t)SPACE[i]);
            }
            at += SPACE_LEN;
        } else {
            size_t start = at;
            do {
                at++;
            } while (at < n && text[at] != ' ' && text[at] != SPACE[0]);
            qn_buf_add(&run->text, text + start, at - start);
        }
    }
    return flush(run);
}

static void decode(const qn_tokenizer *t, qn_str piece, bool opens, qn_buf *out)
{
    const spm *m = t->state;
    const char *at = piece.data, *end = piece.data + piece.len;
    if (opens && m->prefix && piece.len >= SPACE_LEN && memcmp(at, SPACE, SPACE_LEN) == 0) {
        at += SPACE_LEN;
    }
    const char *space;
    while ((space = memmem(at, (size_t)(end - at), SPACE, SPACE_LEN)) != NULL) {
        qn_buf_add(out, at, (size_t)(space - at));
        qn_buf_add_char(out, ' ');
        at = space + SPACE_LEN;
    }
    qn_buf_add(out, at, (size_t)(end - at));
}

const qn_tokenizer_ops qn_tokenizer_spm = {
    .model = "llama",
    .bos = 1,
    .eos = 2,
    .unknown = 0,
    .adds_bos = true,
    .load = load,
    .unload = unload,
    .encode = encode,
    .decode = decode,
};
