/* tokenizer.ggml.*: what every kind of vocabulary has. Nothing in the file is trusted: an error names its key.
 * SPDX-License-Identifier: MIT */
#include "text/tokenizer_int.h"

#define KEY_TOKENS "tokenizer.ggml.tokens"
#define KEY_SCORES "tokenizer.ggml.scores"
#define KEY_TYPES "tokenizer.ggml.token_type"
#define MAX_VOCAB (1u << 24) /* tokens; the largest known vocabulary has 262144 */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int qn_vocab_byte(qn_str piece)
{
    if (piece.len != 6 || memcmp(piece.data, "<0x", 3) != 0 || piece.data[5] != '>') {
        return -1;
    }
    int high = hex_digit(piece.data[3]), low = hex_digit(piece.data[4]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

static qn_status load_strings(qn_tokenizer *t, const qn_gguf_kv *kv, qn_error *err)
{
    if (kv->raw_bytes > UINT32_MAX) {
        return qn_fail(err, QN_EFORMAT, KEY_TOKENS ": more than 4 GiB of spellings");
    }
    qn_gguf_iter it = {0};
    qn_str s;
    t->strings = (const char *)kv->raw;
    for (uint32_t id = 0; id < t->n_vocab; id++) {
        if (!qn_gguf_next_str(kv, &it, &s)) {
            return qn_fail(err, QN_EFORMAT, KEY_TOKENS ": token %u cannot be read", id);
        }
        if (s.len > QN_MAX_PIECE) {
            return qn_fail(err, QN_EFORMAT, KEY_TOKENS ": token %u has more than %d bytes", id, QN_MAX_PIECE);
        }
        t->tokens[id] = (qn_token){(uint32_t)(s.data - t->strings), (uint16_t)s.len, QN_TOKEN_NORMAL, 0};
    }
    return QN_OK;
}

qn_status qn_vocab_load_array(const qn_tokenizer *t, const qn_gguf *g, const char *key, const qn_gguf_kv **array,
                              qn_error *err)
{
    const qn_gguf_kv *kv = qn_gguf_find(g, key);
    if (kv != NULL && kv->type != QN_GGUF_ARRAY) {
        return qn_fail(err, QN_EFORMAT, "%s: not an array", key);
    }
    if (kv != NULL && kv->n_items != t->n_vocab) {
        return qn_fail(err, QN_EFORMAT, "%s: %llu items, but " KEY_TOKENS " has %u", key,
                       (unsigned long long)kv->n_items, t->n_vocab);
    }
    *array = kv;
    return QN_OK;
}

qn_status qn_vocab_load_scores(const qn_tokenizer *t, const qn_gguf *g, const qn_gguf_kv **scores, qn_error *err)
{
    QN_TRY(qn_vocab_load_array(t, g, KEY_SCORES, scores, err));
    return *scores != NULL ? QN_OK : qn_fail(err, QN_EFORMAT, KEY_SCORES ": missing");
}

qn_status qn_vocab_check_sought(uint32_t id, size_t len, qn_error *err)
{
    return len <= QN_MAX_SOUGHT_PIECE
               ? QN_OK
               : qn_fail(err, QN_EFORMAT, KEY_TOKENS ": token %u has %zu bytes; %d is the most for one of its sort", id,
                         len, QN_MAX_SOUGHT_PIECE);
}

static qn_status load_kinds(qn_tokenizer *t, const qn_gguf *g, qn_error *err)
{
    const qn_gguf_kv *kv;
    QN_TRY(qn_vocab_load_array(t, g, KEY_TYPES, &kv, err));
    if (kv == NULL) {
        return QN_OK; /* old files: every token is a normal one */
    }
    for (uint32_t id = 0; id < t->n_vocab; id++) {
        int64_t kind;
        if (!qn_gguf_item_i64(kv, id, &kind) || kind < QN_TOKEN_NORMAL || kind > QN_TOKEN_BYTE) {
            return qn_fail(err, QN_EFORMAT, KEY_TYPES ": no such type, token %u", id);
        }
        if (kind == QN_TOKEN_BYTE && qn_vocab_byte(qn_piece(t, (int32_t)id)) < 0) {
            return qn_fail(err, QN_EFORMAT, KEY_TYPES ": token %u is a byte but not spelled <0xXX>", id);
        }
        t->tokens[id].kind = (uint8_t)kind;
    }
    return QN_OK;
}

qn_status qn_vocab_load(qn_tokenizer *t, const qn_gguf *g, qn_error *err)
{
    const qn_gguf_kv *kv = qn_gguf_find(g, KEY_TOKENS);
    if (kv == NULL) {
        return qn_fail(err, QN_ENOTFOUND, KEY_TOKENS ": the file has no vocabulary");
    }
    if (kv->type != QN_GGUF_ARRAY || kv->item_type != QN_GGUF_STRING || kv->n_items == 0 || kv->n_items > MAX_VOCAB) {
        return qn_fail(err, QN_EFORMAT, KEY_TOKENS ": not an array of 1 to %u strings", MAX_VOCAB);
    }
    t->n_vocab = (uint32_t)kv->n_items;
    t->tokens = qn_zalloc_array(t->budget, QN_TOKENIZER_OWNER, t->n_vocab, sizeof(*t->tokens));
    t->whole = qn_zalloc_array(t->budget, QN_TOKENIZER_OWNER, t->n_vocab, sizeof(*t->whole));
    if (t->tokens == NULL || t->whole == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for a vocabulary of %u tokens", t->n_vocab);
    }
    QN_TRY(load_strings(t, kv, err));
    QN_TRY(qn_vocab_load_array(t, g, KEY_SCORES, &kv, err)); /* also where no algorithm reads them */
    return load_kinds(t, g, err);
}

/* A special id. 4294967295 and -1 mean none. When the file is silent it is the default, provided that this token is a
 * special one. */
static qn_status load_id(const qn_tokenizer *t, const qn_gguf *g, const char *key, int32_t fallback, int32_t *id,
                         qn_error *err)
{
    uint32_t v;
    int32_t negative;
    const qn_gguf_kv *kv = qn_gguf_find(g, key);
    if (kv == NULL) {
        bool fits = fallback >= 0 && (uint32_t)fallback < t->n_vocab && qn_is_hidden(t->tokens[fallback].kind);
        *id = fits ? fallback : QN_NO_ID;
        return QN_OK;
    }
    if (qn_gguf_get_i32(g, key, &negative, NULL) == QN_OK && negative == -1) {
        *id = QN_NO_ID;
        return QN_OK;
    }
    QN_TRY(qn_gguf_get_u32(g, key, &v, err));
    if (v != UINT32_MAX && v >= t->n_vocab) {
        return qn_fail(err, QN_EFORMAT, "%s: %u, but there are %u tokens", key, v, t->n_vocab);
    }
    *id = v == UINT32_MAX ? QN_NO_ID : (int32_t)v;
    return QN_OK;
}

/* BOS or EOS: the token under a key of the algorithm's own, else under the usual one, else the default. */
static qn_status load_end(const qn_tokenizer *t, const qn_gguf *g, const char *own_key, const char *key,
                          int32_t fallback, int32_t *id, qn_error *err)
{
    const char *from = own_key != NULL && qn_gguf_find(g, own_key) != NULL ? own_key : key;
    return load_id(t, g, from, fallback, id, err);
}

qn_status qn_vocab_load_flag(const qn_gguf *g, const char *key, bool *flag, qn_error *err)
{
    return qn_gguf_find(g, key) == NULL ? QN_OK : qn_gguf_get_bool(g, key, flag, err);
}

/* Whether encoding adds a special token. Wanting one that the vocabulary lacks is an error if the file says so. */
static qn_status load_adds(const qn_gguf *g, const char *key, int32_t id, bool fallback, bool *adds, qn_error *err)
{
    *adds = fallback && id != QN_NO_ID;
    if (qn_gguf_find(g, key) == NULL) {
        return QN_OK;
    }
    QN_TRY(qn_gguf_get_bool(g, key, adds, err));
    if (*adds && id == QN_NO_ID) {
        return qn_fail(err, QN_EFORMAT, "%s: true, but the vocabulary has no such token", key);
    }
    return QN_OK;
}

/* Spellings of special tokens that end a turn or a text, whatever the file's keys say. */
static const char *const end_spellings[] = {
    "</s>", "<eos>", "[EOS]", "<|endoftext|>", "<|end_of_text|>", "<|im_end|>", "<|end|>", "<|eot_id|>", "<|eom_id|>",
    "<|eot|>", "<|EOT|>", "<EOT>", "_<EOT>", "[EOT]", "<end_of_turn>", "<turn|>", "<|END_OF_TURN_TOKEN|>",
    "<|return|>", "<|call|>", "<end_of_utterance>",
    "<\uFF5Cend\u2581of\u2581sentence\uFF5C>",
};

static bool is_end_spelling(qn_str piece)
{
    for (size_t i = 0; i < sizeof(end_spellings) / sizeof(end_spellings[0]); i++) {
        if (qn_str_is(piece, end_spellings[i])) {
            return true;
        }
    }
    return false;
}

static void find_ends(qn_tokenizer *t)
{
    int32_t end = QN_NO_ID;
    bool has_return = false, has_call = false;
    for (uint32_t id = 0; id < t->n_vocab; id++) {
        if (t->tokens[id].kind != QN_TOKEN_CONTROL && t->tokens[id].kind != QN_TOKEN_USER) {
            continue;
        }
        qn_str piece = qn_piece(t, (int32_t)id);
        if (is_end_spelling(piece)) {
            t->tokens[id].flags |= QN_TOKEN_END;
        }
        has_return |= qn_str_is(piece, "<|return|>");
        has_call |= qn_str_is(piece, "<|call|>");
        end = qn_str_is(piece, "<|end|>") ? (int32_t)id : end;
    }
    if (has_return && has_call && end != QN_NO_ID) {
        t->tokens[end].flags &= (uint8_t)~QN_TOKEN_END; /* there it closes one message of several in a turn */
    }
}

qn_status qn_vocab_load_special(qn_tokenizer *t, const qn_gguf *g, qn_error *err)
{
    static const char *const end_keys[] = {"tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"};
    const qn_tokenizer_ops *ops = t->ops;
    QN_TRY(load_end(t, g, ops->bos_key, "tokenizer.ggml.bos_token_id", ops->bos, &t->bos, err));
    QN_TRY(load_end(t, g, ops->eos_key, "tokenizer.ggml.eos_token_id", ops->eos, &t->eos, err));
    QN_TRY(load_id(t, g, "tokenizer.ggml.unknown_token_id", t->ops->unknown, &t->unknown, err));
    QN_TRY(load_adds(g, "tokenizer.ggml.add_bos_token", t->bos, t->adds_bos, &t->adds_bos, err));
    QN_TRY(load_adds(g, "tokenizer.ggml.add_eos_token", t->eos, t->adds_eos, &t->adds_eos, err));
    find_ends(t);
    for (size_t i = 0; i < sizeof(end_keys) / sizeof(end_keys[0]); i++) {
        int32_t id;
        QN_TRY(load_id(t, g, end_keys[i], QN_NO_ID, &id, err));
        if (id != QN_NO_ID) {
            t->tokens[id].flags |= QN_TOKEN_END;
        }
    }
    if (t->eos != QN_NO_ID) {
        t->tokens[t->eos].flags |= QN_TOKEN_END;
    }
    return QN_OK;
}
