/* The public calls. Text is cut at the special tokens that it spells; the algorithm encodes what is between.
 * SPDX-License-Identifier: MIT */
#include "text/tokenizer_int.h"

static const qn_tokenizer_ops *const algorithms[] = {&qn_tokenizer_bpe, &qn_tokenizer_spm, &qn_tokenizer_wpm,
                                                   &qn_tokenizer_unigram, &qn_tokenizer_rwkv, &qn_tokenizer_gemma,
                                                   &qn_tokenizer_plamo};

/* Model "gpt2" is byte-level BPE, but for some kinds. */
static const qn_tokenizer_ops *by_kind(const qn_tokenizer_ops *ops, const qn_gguf *g)
{
    qn_str kind;
    bool spelled = ops == &qn_tokenizer_bpe && qn_gguf_get_str(g, "tokenizer.ggml.pre", &kind, NULL) == QN_OK &&
                   qn_pre_kind_is_spelled(kind);
    return spelled ? &qn_tokenizer_gemma : ops;
}

static qn_status find_algorithm(qn_tokenizer *t, const qn_gguf *g, qn_error *err)
{
    qn_str model;
    QN_TRY(qn_gguf_get_str(g, "tokenizer.ggml.model", &model, err));
    for (size_t i = 0; i < sizeof(algorithms) / sizeof(algorithms[0]); i++) {
        if (qn_str_is(model, algorithms[i]->model)) {
            t->ops = by_kind(algorithms[i], g);
            t->adds_bos = t->ops->adds_bos;
            t->adds_eos = t->ops->adds_eos;
            return QN_OK;
        }
    }
    if (qn_str_is(model, "none") || qn_str_is(model, "no_vocab")) {
        return qn_fail(err, QN_ENOTFOUND, "tokenizer.ggml.model: the file has no vocabulary");
    }
    return qn_fail(err, QN_EUNSUPPORTED, "tokenizer.ggml.model: %.*s", QN_STR_ARG(model));
}

static qn_status load(qn_tokenizer *t, const qn_gguf *g, qn_error *err)
{
    QN_TRY(find_algorithm(t, g, err));
    QN_TRY(qn_vocab_load(t, g, err));
    if (t->ops->settle != NULL) {
        t->ops->settle(t);
    }
    QN_TRY(qn_pieces_load(t, err));
    QN_TRY(qn_specials_load(t, err));
    for (size_t i = 0; i < 256; i++) {
        t->byte_ids[i] = QN_NO_ID;
    }
    QN_TRY(t->ops->load(t, g, err));
    if (!t->ops->normalizes) {
        QN_TRY(qn_normal_load(t, g, err));
    }
    return qn_vocab_load_special(t, g, err);
}

qn_status qn_tokenizer_open(const qn_gguf *g, qn_budget *b, qn_tokenizer **out, qn_error *err)
{
    qn_tokenizer *t = qn_zalloc(b, QN_TOKENIZER_OWNER, sizeof(*t));
    if (t == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for a tokenizer");
    }
    t->budget = b;
    qn_status s = load(t, g, err);
    if (s != QN_OK) {
        qn_tokenizer_close(t);
        return s;
    }
    *out = t;
    return QN_OK;
}

void qn_tokenizer_close(qn_tokenizer *t)
{
    if (t == NULL) {
        return;
    }
    if (t->state != NULL) {
        t->ops->unload(t);
    }
    qn_trie_free(&t->specials.pieces);
    qn_free(t->pieces.slots);
    qn_filter_close(&t->pieces.filter);
    qn_free(t->whole);
    qn_free(t->tokens);
    qn_free(t);
}

uint32_t qn_tokenizer_n_vocab(const qn_tokenizer *t) { return t->n_vocab; }
int32_t qn_tokenizer_bos(const qn_tokenizer *t) { return t->bos; }
int32_t qn_tokenizer_eos(const qn_tokenizer *t) { return t->eos; }
bool qn_tokenizer_adds_bos(const qn_tokenizer *t) { return t->adds_bos; }
bool qn_tokenizer_adds_eos(const qn_tokenizer *t) { return t->adds_eos; }

static bool has_id(const qn_tokenizer *t, int32_t id) { return id >= 0 && (uint32_t)id < t->n_vocab; }

bool qn_tokenizer_is_end(const qn_tokenizer *t, int32_t id)
{
    return has_id(t, id) && (t->tokens[id].flags & QN_TOKEN_END) != 0;
}

qn_token_kind qn_tokenizer_kind(const qn_tokenizer *t, int32_t id)
{
    return has_id(t, id) ? (qn_token_kind)t->tokens[id].kind : QN_TOKEN_UNUSED;
}

qn_str qn_tokenizer_piece(const qn_tokenizer *t, int32_t id)
{
    return has_id(t, id) ? qn_piece(t, id) : (qn_str){NULL, 0};
}

/* Where control tokens are not looked for, and how far a walk from left to right has come in it. */
typedef struct shield {
    const qn_span *spans;
    size_t n, i; /* i: of the first span that ends behind the current place */
} shield;

/* How many bytes from `at` on a control token may have. */
static size_t unshielded(shield *s, size_t at, size_t n)
{
    while (s->i < s->n && s->spans[s->i].end <= at) {
        s->i++;
    }
    if (s->i == s->n) {
        return n - at;
    }
    return s->spans[s->i].start > at ? s->spans[s->i].start - at : 0;
}

/* The longest special token at text[at], or QN_NO_ID. */
static int32_t match_special(const qn_tokenizer *t, const char *text, size_t at, size_t n, unsigned sorts, shield *s,
                             size_t *len)
{
    size_t open = (sorts & QN_SPECIAL_OTHER) != 0 ? unshielded(s, at, n) : n - at;
    if (open == n - at) {
        return qn_specials_match(t, text + at, n - at, sorts, len);
    }
    size_t len_user = 0, len_open = 0;
    int32_t user = qn_specials_match(t, text + at, n - at, QN_SPECIAL_USER, &len_user);
    int32_t other = open > 0 ? qn_specials_match(t, text + at, open, sorts, &len_open) : QN_NO_ID;
    if (other == QN_NO_ID || (user != QN_NO_ID && len_user > len_open)) {
        *len = len_user;
        return user;
    }
    *len = len_open;
    return other;
}

/* Encodes text between special tokens. */
static qn_status encode_plain(qn_encode_run *run, const char *text, size_t n, bool opens)
{
    QN_TRY(qn_normal_text(run, &text, &n));
    return n > 0 ? run->t->ops->encode(run, text, n, opens) : QN_OK;
}

static qn_status encode_fragments(qn_encode_run *run, const char *text, size_t n, unsigned sorts, shield *shielded)
{
    const qn_tokenizer *t = run->t;
    size_t begin = 0, at = 0; /* text[begin, at) is plain */
    bool opens = true;
    while ((at = qn_specials_next(t, text, at, n, sorts)) < n) {
        size_t len = 0;
        int32_t id = match_special(t, text, at, n, sorts, shielded, &len);
        if (id == QN_NO_ID) {
            at++;
            continue;
        }
        if (at > begin) {
            run->closes = t->tokens[id].kind != QN_TOKEN_USER;
            QN_TRY(encode_plain(run, text + begin, at - begin, opens));
        }
        qn_emit(run, id);
        at += len;
        begin = at;
        opens = t->tokens[id].kind != QN_TOKEN_USER;
    }
    run->closes = true;
    return n > begin ? encode_plain(run, text + begin, n - begin, opens) : QN_OK;
}

qn_status qn_tokenizer_encode_spans(const qn_tokenizer *t, const char *text, size_t n_bytes, const qn_span *spans,
                                    size_t n_spans, unsigned flags, int32_t *ids, size_t cap, size_t *n_ids,
                                    qn_error *err)
{
    if (n_bytes > QN_MAX_TEXT) {
        return qn_fail(err, QN_EINVAL, "a text of %zu bytes, more than %u", n_bytes, QN_MAX_TEXT);
    }
    qn_encode_run run = {.t = t, .ids = ids, .cap = cap};
    qn_buf_init(&run.text, t->budget, QN_TOKENIZER_OWNER, SIZE_MAX / 2);
    qn_buf_init(&run.normal, t->budget, QN_TOKENIZER_OWNER, 2 * (size_t)QN_MAX_TEXT);
    unsigned sorts = QN_SPECIAL_USER | ((flags & QN_TEXT_PARSE_SPECIAL) != 0 ? QN_SPECIAL_OTHER : 0);
    if ((flags & QN_TEXT_ADD_SPECIAL) != 0 && t->adds_bos) {
        qn_emit(&run, t->bos);
    }
    qn_status s = encode_fragments(&run, text, n_bytes, sorts, &(shield){.spans = spans, .n = n_spans});
    if ((flags & QN_TEXT_ADD_SPECIAL) != 0 && t->adds_eos) {
        qn_emit(&run, t->eos);
    }
    qn_free(run.symbols);
    qn_free(run.heap);
    qn_buf_free(&run.text);
    qn_buf_free(&run.normal);
    if (s != QN_OK) {
        return qn_fail(err, s, "no memory to encode a text of %zu bytes", n_bytes);
    }
    *n_ids = run.n;
    return run.n <= cap ? QN_OK : qn_fail(err, QN_ERANGE, "%zu tokens, but room for %zu", run.n, cap);
}

qn_status qn_tokenizer_encode(const qn_tokenizer *t, const char *text, size_t n_bytes, unsigned flags, int32_t *ids,
                              size_t cap, size_t *n_ids, qn_error *err)
{
    return qn_tokenizer_encode_spans(t, text, n_bytes, NULL, 0, flags, ids, cap, n_ids, err);
}

static void decode_token(const qn_tokenizer *t, int32_t id, unsigned flags, bool opens, qn_buf *out)
{
    uint8_t kind = t->tokens[id].kind;
    qn_str piece = qn_piece(t, id);
    if (kind == QN_TOKEN_BYTE) {
        qn_buf_add_char(out, (char)qn_vocab_byte(piece));
    } else if (kind == QN_TOKEN_USER || (qn_is_hidden(kind) && (flags & QN_TEXT_PARSE_SPECIAL) != 0)) {
        qn_buf_add(out, piece.data, piece.len);
    } else if (!qn_is_hidden(kind)) {
        t->ops->decode(t, piece, opens, out);
    }
}

static qn_status check_id(const qn_tokenizer *t, int32_t id, qn_error *err)
{
    return has_id(t, id) ? QN_OK : qn_fail(err, QN_ERANGE, "token %d, but there are %u", id, t->n_vocab);
}

static qn_status check_out(const qn_buf *out, qn_error *err)
{
    return out->status == QN_OK ? QN_OK : qn_fail(err, out->status, "no room for the text of the tokens");
}

qn_status qn_tokenizer_decode_token(const qn_tokenizer *t, int32_t id, unsigned flags, bool at_start, qn_buf *out,
                                    qn_error *err)
{
    QN_TRY(check_id(t, id, err));
    decode_token(t, id, flags, at_start, out);
    return check_out(out, err);
}

qn_status qn_tokenizer_decode(const qn_tokenizer *t, const int32_t *ids, size_t n_ids, unsigned flags, qn_buf *out,
                              qn_error *err)
{
    bool opens = true; /* as in encoding: at the start, and behind a control token that stands in the text */
    for (size_t i = 0; i < n_ids; i++) {
        QN_TRY(check_id(t, ids[i], err));
        decode_token(t, ids[i], flags, opens, out);
        bool hidden = qn_is_hidden(t->tokens[ids[i]].kind);
        opens = hidden && ((flags & QN_TEXT_PARSE_SPECIAL) != 0 || opens);
    }
    return check_out(out, err);
}
