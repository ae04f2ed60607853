/* Model "t5": the unigram model of SentencePiece. Of all ways to spell a text in pieces the one with the best sum of
 * scores is taken: for each place in the text, from left to right, the best way to get there is kept. A character that
 * no piece spells costs 10 more than the worst piece and becomes the unknown token, neighbours together one, or, in
 * vocabularies that have them, its byte tokens.
 *
 * The text is cut where every way to spell it must pass: before a space, unless some piece has a space behind the byte
 * that stands before it. The sum goes on over the cut, in the precision of the reference: rounding decides between ways
 * that are nearly as good.
 *
 * SPDX-License-Identifier: MIT */
#include "text/tokenizer_unigram.h"

#include "base/checked.h"

#include <float.h>

#define UNKNOWN_PENALTY 10.0f
#define NOWHERE UINT32_MAX

typedef struct place { /* between two bytes of a part of the text */
    float score;       /* of the best way that leads here */
    uint32_t start;    /* where its last piece begins; NOWHERE: no way leads here */
    int32_t id;        /* of that piece; QN_NO_ID: an unknown character */
} place;

typedef struct lattice {
    place *places;
    size_t cap;
    float score;        /* of the text so far */
    bool after_unknown; /* the last token is the unknown one */
} lattice;

static void unload(qn_tokenizer *t)
{
    qn_unigram *m = t->state;
    qn_trie_free(&m->pieces);
    qn_charsmap_free(&m->map);
    qn_free(m->scores);
    qn_free(m);
}

static qn_status load_scores(qn_tokenizer *t, qn_unigram *m, const qn_gguf *g, qn_error *err)
{
    const qn_gguf_kv *kv;
    QN_TRY(qn_vocab_load_scores(t, g, &kv, err));
    m->scores = qn_zalloc_array(t->budget, QN_TOKENIZER_OWNER, t->n_vocab, sizeof(*m->scores));
    if (m->scores == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for %u scores", t->n_vocab);
    }
    float least = FLT_MAX;
    for (uint32_t id = 0; id < t->n_vocab; id++) {
        float score;
        if (!qn_gguf_item_f32(kv, id, &score) || !(score >= -FLT_MAX && score <= FLT_MAX)) {
            return qn_fail(err, QN_EFORMAT, "tokenizer.ggml.scores: token %u has none", id);
        }
        m->scores[id] = score;
        least = t->tokens[id].kind == QN_TOKEN_NORMAL && score < least ? score : least;
    }
    m->unknown = least - UNKNOWN_PENALTY;
    return QN_OK;
}

static void note_spaces(qn_unigram *m, qn_str piece)
{
    const char *at = piece.data, *end = piece.data + piece.len;
    while ((at = memmem(at, (size_t)(end - at), QN_SPACE, QN_SPACE_LEN)) != NULL) {
        if (at > piece.data) {
            m->before_space[(uint8_t)at[-1]] = true;
        }
        at += QN_SPACE_LEN;
    }
}

static qn_status load_pieces(qn_tokenizer *t, qn_unigram *m, qn_error *err)
{
    for (uint32_t id = 0; id < t->n_vocab; id++) {
        if (t->tokens[id].kind == QN_TOKEN_NORMAL) {
            QN_TRY(qn_vocab_check_sought(id, t->tokens[id].len, err));
        }
    }
    qn_trie_item *items = qn_zalloc_array(t->budget, QN_TOKENIZER_OWNER, t->n_vocab, sizeof(*items));
    if (items == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for %u pieces", t->n_vocab);
    }
    size_t n = 0;
    for (uint32_t id = 0; id < t->n_vocab; id++) {
        qn_str piece = qn_piece(t, (int32_t)id);
        int byte = t->tokens[id].kind == QN_TOKEN_BYTE ? qn_vocab_byte(piece) : -1;
        if (byte >= 0 && t->byte_ids[byte] == QN_NO_ID) {
            t->byte_ids[byte] = (int32_t)id;
            m->has_bytes = true;
        } else if (t->tokens[id].kind == QN_TOKEN_NORMAL) {
            note_spaces(m, piece);
            items[n++] = (qn_trie_item){piece.data, (uint32_t)piece.len, (int32_t)id};
        }
    }
    qn_status s = qn_trie_open(items, n, t->budget, &m->pieces);
    qn_free(items);
    return s == QN_OK ? QN_OK : qn_fail(err, s, "no memory for %u pieces", t->n_vocab);
}

static qn_status load(qn_tokenizer *t, const qn_gguf *g, qn_error *err)
{
    qn_unigram *m = qn_zalloc(t->budget, QN_TOKENIZER_OWNER, sizeof(*m));
    if (m == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for a tokenizer");
    }
    t->state = m;
    m->prefix = true;
    QN_TRY(qn_vocab_load_flag(g, "tokenizer.ggml.add_space_prefix", &m->prefix, err));
    QN_TRY(qn_vocab_load_flag(g, "tokenizer.ggml.remove_extra_whitespaces", &m->squeezes, err));
    QN_TRY(load_scores(t, m, g, err));
    QN_TRY(load_pieces(t, m, err));
    return qn_charsmap_open(g, "tokenizer.ggml.precompiled_charsmap", t->budget, &m->map, err);
}

/* Bytes of the character that begins with this one, as far as that one can tell. */
static uint32_t char_len(uint8_t lead)
{
    return lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

/* Room for the places of n bytes, with no way to any but the first. */
static qn_status clear(qn_encode_run *run, lattice *l, uint32_t n)
{
    if (n >= l->cap) {
        size_t cap = (size_t)n + n / 2 + 64, bytes;
        place *places = qn_mul_size(cap, sizeof(*places), &bytes)
                            ? qn_realloc(run->t->budget, QN_TOKENIZER_OWNER, l->places, bytes)
                            : NULL;
        if (places == NULL) {
            return QN_ENOMEM;
        }
        l->places = places;
        l->cap = cap;
    }
    for (uint32_t i = 0; i <= n; i++) {
        l->places[i].start = NOWHERE;
    }
    l->places[0] = (place){.score = l->score, .start = 0};
    return QN_OK;
}

static void offer(place *to, float score, uint32_t start, int32_t id)
{
    if (to->start == NOWHERE || score > to->score) {
        *to = (place){score, start, id};
    }
}

static void fill(const qn_unigram *m, place *places, const char *s, uint32_t n)
{
    for (uint32_t start = 0; start < n;) {
        float here = places[start].score;
        uint32_t len = char_len((uint8_t)s[start]), node = 0;
        bool is_spelled = false; /* the character is a piece */
        len = len < n - start ? len : n - start;
        for (uint32_t end = start; end < n && (node = qn_trie_step(&m->pieces, node, (uint8_t)s[end])) != 0;) {
            int32_t id = m->pieces.nodes[node].id;
            end++;
            if (id != QN_NO_ID) {
                offer(&places[end], m->scores[id] + here, start, id);
                is_spelled |= end - start == len;
            }
        }
        if (!is_spelled) {
            offer(&places[start + len], m->unknown + here, start, QN_NO_ID);
        }
        start += len;
    }
}

static void emit_unknown(qn_encode_run *run, lattice *l, const char *s, uint32_t n)
{
    const qn_tokenizer *t = run->t;
    bool has_bytes = ((const qn_unigram *)t->state)->has_bytes;
    for (uint32_t i = 0; i < (has_bytes ? n : 1); i++) {
        int32_t id = has_bytes ? t->byte_ids[(uint8_t)s[i]] : QN_NO_ID;
        if (id == QN_NO_ID && !l->after_unknown) {
            id = t->unknown;
        }
        if (id != QN_NO_ID) {
            qn_emit(run, id);
        }
    }
    l->after_unknown = !has_bytes;
}

/* Spells a part of the text, n >= 1. */
static qn_status encode_part(qn_encode_run *run, lattice *l, const char *s, uint32_t n)
{
    QN_TRY(clear(run, l, n));
    place *places = l->places;
    fill(run->t->state, places, s, n);
    l->score = places[n].score;
    /* The best way is known from its end; turned round, each place tells where the piece that begins there ends. */
    uint32_t end = n, after = NOWHERE;
    while (end != 0) {
        uint32_t start = places[end].start;
        places[end].start = after;
        after = end;
        end = start;
    }
    for (uint32_t at = 0; after != NOWHERE; at = after, after = places[at].start) {
        if (places[after].id == QN_NO_ID) {
            emit_unknown(run, l, s + at, after - at);
        } else {
            qn_emit(run, places[after].id);
            l->after_unknown = false;
        }
    }
    return QN_OK;
}

static qn_status encode(qn_encode_run *run, const char *text, size_t n, bool opens)
{
    const qn_unigram *m = run->t->state;
    lattice l = {0};
    qn_status status = QN_OK;
    qn_buf_clear(&run->text);
    QN_TRY(qn_unigram_normalize(m, text, n, opens, run->closes, &run->text));
    if (run->text.len == 0) {
        return QN_OK; /* all of it was squeezed or mapped away */
    }
    const char *s = run->text.data, *end = s + run->text.len;
    while (status == QN_OK && s < end) {
        const char *cut = s + 1;
        while ((cut = memmem(cut, (size_t)(end - cut), QN_SPACE, QN_SPACE_LEN)) != NULL &&
               m->before_space[(uint8_t)cut[-1]]) {
            cut++;
        }
        cut = cut == NULL ? end : cut;
        status = encode_part(run, &l, s, (uint32_t)(cut - s));
        s = cut;
    }
    qn_free(l.places);
    return status;
}

static void decode(const qn_tokenizer *t, qn_str piece, bool opens, qn_buf *out)
{
    const qn_unigram *m = t->state;
    const char *at = piece.data, *end = piece.data + piece.len, *space;
    if (opens && m->prefix && piece.len >= QN_SPACE_LEN && memcmp(at, QN_SPACE, QN_SPACE_LEN) == 0) {
        at += QN_SPACE_LEN;
    }
    while ((space = memmem(at, (size_t)(end - at), QN_SPACE, QN_SPACE_LEN)) != NULL) {
        qn_buf_add(out, at, (size_t)(space - at));
        qn_buf_add_char(out, ' ');
        at = space + QN_SPACE_LEN;
    }
    qn_buf_add(out, at, (size_t)(end - at));
}

const qn_tokenizer_ops qn_tokenizer_unigram = {
    .model = "t5",
    .bos = QN_NO_ID,
    .eos = 1,
    .unknown = 2,
    .adds_eos = true,
    .load = load,
    .unload = unload,
    .encode = encode,
    .decode = decode,
};
