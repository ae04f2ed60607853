/* Model "plamo2": of all ways to spell a text in pieces the one with the best sum of scores is taken, in whole units of
 * a ten-thousandth; of equally good ones the one whose pieces are longer at the beginning. A character that no piece
 * spells better costs 1000 and becomes its bytes. For each place of the text, from its end, the best way on is kept.
 *
 * Text is taken as it is, but a byte order mark at its beginning, which is left out. A byte that is no UTF-8 is its
 * byte token.
 *
 * SPDX-License-Identifier: MIT */
#include "base/checked.h"
#include "text/tokenizer_int.h"
#include "text/tokenizer_trie.h"
#include "text/utf8.h"

#include <math.h>

#define UNITS 1e4
#define WORST_SCORE 20000000.0 /* units; a token that is as bad is never taken */
#define UNKNOWN_COST 10000000  /* units, for a character in bytes */
#define MARK "\xEF\xBB\xBF"    /* U+FEFF */
#define MARK_LEN 3

typedef struct plamo {
    qn_trie pieces; /* of normal tokens */
    int32_t *costs; /* units, per token; the best is the least */
} plamo;

typedef struct place {
    int64_t cost; /* from here to the end of the text */
    uint32_t len; /* of the piece that begins here; 0: no character begins here */
    int32_t id;   /* of it; QN_NO_ID: bytes */
} place;

static void unload(qn_tokenizer *t)
{
    plamo *m = t->state;
    qn_trie_free(&m->pieces);
    qn_free(m->costs);
    qn_free(m);
}

/* False: it is no number. */
static bool read_cost(const qn_gguf_kv *scores, uint32_t id, double *cost)
{
    float score;
    if (!qn_gguf_item_f32(scores, id, &score) || !isfinite(score)) {
        return false;
    }
    *cost = -round((double)score * UNITS);
    return true;
}

static qn_status load_pieces(qn_tokenizer *t, plamo *m, const qn_gguf_kv *scores, qn_trie_item *items, qn_error *err)
{
    size_t n = 0;
    for (uint32_t id = 0; id < t->n_vocab; id++) {
        qn_str piece = qn_piece(t, (int32_t)id);
        double cost;
        if (!read_cost(scores, id, &cost)) {
            return qn_fail(err, QN_EFORMAT, "tokenizer.ggml.scores: token %u has none", id);
        }
        if (t->tokens[id].kind == QN_TOKEN_BYTE) {
            t->byte_ids[qn_vocab_byte(piece) & 0xFF] = (int32_t)id;
        } else if (t->tokens[id].kind == QN_TOKEN_NORMAL && cost < WORST_SCORE && cost > -WORST_SCORE) {
            QN_TRY(qn_vocab_check_sought(id, piece.len, err));
            m->costs[id] = (int32_t)cost;
            items[n++] = (qn_trie_item){piece.data, (uint32_t)piece.len, (int32_t)id};
        }
    }
    for (size_t byte = 0; byte < 256; byte++) {
        if (t->byte_ids[byte] == QN_NO_ID) {
            return qn_fail(err, QN_EFORMAT, "tokenizer.ggml.tokens: no token for the byte 0x%02zX", byte);
        }
    }
    qn_status s = qn_trie_open(items, n, t->budget, &m->pieces);
    return s == QN_OK ? QN_OK : qn_fail(err, s, "no memory for %u pieces", t->n_vocab);
}

static qn_status load(qn_tokenizer *t, const qn_gguf *g, qn_error *err)
{
    plamo *m = qn_zalloc(t->budget, QN_TOKENIZER_OWNER, sizeof(*m));
    if (m == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for a tokenizer");
    }
    t->state = m;
    const qn_gguf_kv *scores;
    QN_TRY(qn_vocab_load_scores(t, g, &scores, err));
    m->costs = qn_zalloc_array(t->budget, QN_TOKENIZER_OWNER, t->n_vocab, sizeof(*m->costs));
    qn_trie_item *items = qn_zalloc_array(t->budget, QN_TOKENIZER_OWNER, t->n_vocab, sizeof(*items));
    qn_status s = m->costs != NULL && items != NULL ? load_pieces(t, m, scores, items, err)
                                                    : qn_fail(err, QN_ENOMEM, "no memory for %u pieces", t->n_vocab);
    qn_free(items);
    return s;
}

/* The best way on from text[at], where a character of `len` bytes begins. */
static void choose(const plamo *m, place *places, const char *text, uint32_t n, uint32_t at, uint32_t len)
{
    place best = {places[at + len].cost + UNKNOWN_COST, len, QN_NO_ID};
    uint32_t node = 0;
    for (uint32_t end = at; end < n && (node = qn_trie_step(&m->pieces, node, (uint8_t)text[end])) != 0;) {
        int32_t id = m->pieces.nodes[node].id;
        end++;
        if (id != QN_NO_ID && (end == n || places[end].len > 0) && places[end].cost + m->costs[id] <= best.cost) {
            best = (place){places[end].cost + m->costs[id], end - at, id};
        }
    }
    places[at] = best;
}

static qn_status encode(qn_encode_run *run, const char *text, size_t n, bool opens)
{
    const qn_tokenizer *t = run->t;
    size_t bytes;
    if (opens && n >= MARK_LEN && memcmp(text, MARK, MARK_LEN) == 0) {
        text += MARK_LEN;
        n -= MARK_LEN;
    }
    place *places = qn_mul_size(n + 1, sizeof(*places), &bytes) ? qn_alloc(t->budget, QN_TOKENIZER_OWNER, bytes) : NULL;
    if (places == NULL) {
        return QN_ENOMEM;
    }
    uint32_t cp;
    for (size_t at = 0, len; at < n; at += len) { /* where characters begin, marked for the walk from the end */
        len = qn_utf8_next(text + at, n - at, &cp);
        places[at].len = (uint32_t)len;
        for (size_t i = 1; i < len; i++) {
            places[at + i].len = 0;
        }
    }
    places[n] = (place){0, 0, QN_NO_ID};
    for (size_t at = n; at-- > 0;) {
        if (places[at].len > 0) {
            choose(t->state, places, text, (uint32_t)n, (uint32_t)at, places[at].len);
        }
    }
    for (size_t at = 0; at < n; at += places[at].len) {
        if (places[at].id != QN_NO_ID) {
            qn_emit(run, places[at].id);
            continue;
        }
        for (uint32_t i = 0; i < places[at].len; i++) {
            qn_emit(run, t->byte_ids[(uint8_t)text[at + i]]);
        }
    }
    qn_free(places);
    return QN_OK;
}

static void decode(const qn_tokenizer *t, qn_str piece, bool opens, qn_buf *out)
{
    (void)t;
    (void)opens;
    qn_buf_add(out, piece.data, piece.len);
}

const qn_tokenizer_ops qn_tokenizer_plamo = {
    .model = "plamo2",
    .bos = 1,
    .eos = 2,
    .unknown = 0,
    .load = load,
    .unload = unload,
    .encode = encode,
    .decode = decode,
};
