/* Opening SentencePiece BPE: scores, characters, and where a text may be cut.
 * SPDX-License-Identifier: MIT */
#include "text/tokenizer_spm.h"

#include "text/utf8.h"

/* Orders floats as unsigned numbers, the largest first. */
static uint32_t priority_of(float score)
{
    uint32_t bits;
    score += 0.0f; /* -0 becomes 0 */
    memcpy(&bits, &score, sizeof(bits));
    return ~(bits & UINT32_C(1) << 31 ? ~bits : bits | UINT32_C(1) << 31);
}

static qn_status load_scores(qn_tokenizer *t, qn_spm *m, const qn_gguf *g, qn_error *err)
{
    const qn_gguf_kv *kv;
    QN_TRY(qn_vocab_load_scores(t, g, &kv, err));
    m->priority = qn_zalloc_array(t->budget, QN_TOKENIZER_OWNER, t->n_vocab, sizeof(*m->priority));
    if (m->priority == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for %u scores", t->n_vocab);
    }
    for (uint32_t id = 0; id < t->n_vocab; id++) {
        float score;
        if (!qn_gguf_item_f32(kv, id, &score) || score != score) {
            return qn_fail(err, QN_EFORMAT, "tokenizer.ggml.scores: token %u has none", id);
        }
        m->priority[id] = priority_of(score);
    }
    return QN_OK;
}

/* Where pieces of a text may end: not inside a character, nor between bytes that stand beside each other in a token. */
static void find_borders(const qn_tokenizer *t, qn_spm *m)
{
    const uint8_t *space = (const uint8_t *)QN_SPM_SPACE;
    bool before_space[256] = {false}; /* some token has this byte and then a space */
    memset(m->border, QN_SPM_CUT, sizeof(m->border));
    for (uint32_t id = 0; id < t->n_vocab; id++) {
        qn_str piece = qn_piece(t, (int32_t)id);
        const uint8_t *u = (const uint8_t *)piece.data;
        for (size_t i = 1; i < piece.len && qn_is_plain(t->tokens[id]); i++) {
            m->border[u[i - 1]][u[i]] = 0;
            if (u[i] == space[0] && piece.len - i >= QN_SPM_SPACE_LEN && memcmp(u + i, space, QN_SPM_SPACE_LEN) == 0) {
                before_space[u[i - 1]] = true;
            }
        }
    }
    for (size_t byte = 0; byte < 256; byte++) {
        memset(m->border[byte] + 0x80, 0, 0x40);
        m->border[byte][' '] = before_space[byte] ? 0 : QN_SPM_CUT;
        m->border[byte][space[0]] |= m->spells_space ? QN_SPM_LOOK : 0;
    }
    memcpy(m->border[' '], m->border[space[QN_SPM_SPACE_LEN - 1]], sizeof(m->border[' ']));
}

/* The character that a piece is, or QN_CHARS_END. */
static uint32_t char_of(qn_str piece)
{
    uint32_t cp;
    bool is_char =
        piece.len > 0 && piece.len <= 3 && qn_utf8_next(piece.data, piece.len, &cp) == piece.len && cp < QN_CHARS_END;
    return is_char ? cp : QN_CHARS_END;
}

static qn_status load_chars(const qn_tokenizer *t, qn_spm *m, qn_error *err)
{
    for (uint32_t id = 0; id < t->n_vocab; id++) {
        qn_chars_announce(&m->chars, char_of(qn_piece(t, (int32_t)id)));
    }
    if (qn_chars_make_room(&m->chars, t->budget, QN_TOKENIZER_OWNER) != QN_OK) {
        return qn_fail(err, QN_ENOMEM, "no memory for characters");
    }
    for (uint32_t id = 0; id < t->n_vocab; id++) {
        qn_str piece = qn_piece(t, (int32_t)id);
        uint32_t cp = char_of(piece);
        if (cp < QN_CHARS_END) {
            qn_chars_set(&m->chars, cp, (uint32_t)qn_pieces_find(t, piece.data, piece.len)); /* none is QN_NO_ID */
        }
    }
    return QN_OK;
}

static qn_status load_flag(const qn_gguf *g, const char *key, bool *flag, qn_error *err)
{
    return qn_gguf_find(g, key) == NULL ? QN_OK : qn_gguf_get_bool(g, key, flag, err);
}

qn_status qn_spm_load(qn_tokenizer *t, const qn_gguf *g, qn_error *err)
{
    qn_spm *m = qn_zalloc(t->budget, QN_TOKENIZER_OWNER, sizeof(*m));
    if (m == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for a tokenizer");
    }
    t->state = m;
    QN_TRY(load_scores(t, m, g, err));
    QN_TRY(load_chars(t, m, err));
    if (qn_cache_open(&m->cache, t->n_vocab, t->pieces.seed, t->budget, QN_TOKENIZER_OWNER) != QN_OK) {
        return qn_fail(err, QN_ENOMEM, "no memory for a cache of words");
    }
    if (t->n_vocab >= QN_SPM_PAIRS && t->n_vocab < QN_SPM_PAIR_MAX_VOCAB) {
        m->pairs = qn_zalloc_array(t->budget, QN_TOKENIZER_OWNER, QN_SPM_PAIRS, sizeof(*m->pairs));
        if (m->pairs == NULL) {
            return qn_fail(err, QN_ENOMEM, "no memory for a cache of pairs");
        }
    }
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
        }
    }
    m->spells_space = t->byte_ids[0xE2] >= 0 && t->byte_ids[0x96] >= 0 && t->byte_ids[0x81] >= 0;
    find_borders(t, m);
    /* Without a token for a lone space the prefix could not be told from the text's own spaces. */
    m->prefix &= qn_pieces_find(t, QN_SPM_SPACE, QN_SPM_SPACE_LEN) != QN_NO_ID;
    return QN_OK;
}
