/* Characters of two and three bytes whose bytes need not be merged one by one: in a text of such characters that is
 * half of the work or more.
 *
 * The bytes of a character become its token before anything else touches them, and taking them for the token at once
 * changes nothing that follows, if
 *
 *   - the bytes by themselves merge to the token; let R be the last rank that this takes;
 *   - every merge that the token is part of has a rank above R: as long as its bytes are not merged, a merge that is
 *     earlier than that is going on, and no merge of the token could have come before;
 *   - no merge with a rank below R joins the last bytes of the character to what stands behind it, or the first ones to
 *     what stands before.
 *
 * The last is looked up in the text at hand, by the bytes on both sides of the border: near[][] has the least rank of
 * the merges that could be meant. A character that fails is left in bytes, which is always right. Ranks are compared by
 * levels, about eight for each doubling.
 *
 * SPDX-License-Identifier: MIT */
#include "text/tokenizer_bpe.h"

/* Monotone, and 0 only for rank 0. */
static uint8_t level_of(uint32_t rank)
{
    if (rank < 8) {
        return (uint8_t)rank;
    }
    uint32_t top = 31 - (uint32_t)__builtin_clz(rank); /* of 24 bits at most */
    return (uint8_t)((top - 2) * 8 + (rank >> (top - 3) & 7));
}

int qn_bpe_bytes(const qn_bpe *m, qn_str spelling, uint8_t *bytes, int max)
{
    int n = 0;
    for (size_t i = 0; i < spelling.len && n < max; n++) {
        uint32_t cp;
        i += qn_unicode_decode(spelling.data + i, spelling.len - i, &cp);
        if (cp >= QN_BPE_ALPHABET || m->bytes[cp] < 0) {
            return -1;
        }
        bytes[n] = (uint8_t)m->bytes[cp];
    }
    return n;
}

int qn_bpe_last_byte(const qn_bpe *m, qn_str spelling)
{
    size_t len = spelling.len > 1 && (uint8_t)spelling.data[spelling.len - 1] >= 0x80 ? 2 : 1;
    uint8_t byte;
    return qn_bpe_bytes(m, (qn_str){spelling.data + spelling.len - len, len}, &byte, 1) == 1 ? byte : -1;
}

static bool is_continuation(uint8_t byte)
{
    return (byte & 0xC0) == 0x80;
}

/* Whether the bytes, n of them, are the end of a character without its first byte. */
static bool is_tail(const uint8_t *bytes, int n)
{
    for (int i = 0; i < n; i++) {
        if (!is_continuation(bytes[i])) {
            return false;
        }
    }
    return n >= 1 && n <= 2;
}

/* Whether they are the beginning of a character without its last byte. */
static bool is_head(const uint8_t *bytes, int n)
{
    int need = bytes[0] >= 0xE0 ? 3 : 2;
    return bytes[0] >= 0xC2 && n >= 1 && n < need && (n == 1 || is_continuation(bytes[1]));
}

qn_status qn_bpe_chars_begin(qn_bpe_chars *c, qn_tokenizer *t, qn_bpe *m)
{
    c->first_use = qn_alloc(t->budget, QN_TOKENIZER_OWNER, t->n_vocab * sizeof(*c->first_use));
    m->near = qn_alloc(t->budget, QN_TOKENIZER_OWNER, 256 * sizeof(*m->near));
    if (c->first_use == NULL || m->near == NULL) {
        qn_free(c->first_use);
        return QN_ENOMEM;
    }
    memset(c->first_use, 0xFF, t->n_vocab * sizeof(*c->first_use));
    for (unsigned byte = 0; byte < 256; byte++) { /* no character ends where the next byte goes on with it */
        memset(m->near[byte], is_continuation((uint8_t)byte) ? 0 : QN_BPE_NEVER, sizeof(m->near[byte]));
    }
    return QN_OK;
}

void qn_bpe_chars_note(qn_bpe_chars *c, qn_bpe *m, qn_str left, qn_str right, const int32_t id[2], uint32_t rank)
{
    const qn_str text[2] = {left, right};
    bool short_ones = false; /* one of them may be a part of a character: at most two bytes, all above 0x7F */
    for (int k = 0; k < 2; k++) {
        if ((uint8_t)text[k].data[0] >= 0x80 && text[k].len <= 6) {
            c->first_use[id[k]] = rank < c->first_use[id[k]] ? rank : c->first_use[id[k]];
            short_ones |= text[k].len <= 4;
        }
    }
    if (!short_ones) {
        return;
    }
    uint8_t l[3], r[3];
    int n_left = qn_bpe_bytes(m, left, l, 3), n_right = qn_bpe_bytes(m, right, r, 3), last = qn_bpe_last_byte(m, left);
    if (n_left < 1 || n_right < 1 || last < 0 || is_continuation(r[0])) {
        return;
    }
    if (is_tail(l, n_left) || is_head(r, n_right)) {
        uint8_t level = level_of(rank), *least = &m->near[r[0]][last];
        *least = level < *least ? level : *least;
    }
}

/* The last rank that it takes to merge the bytes of a character to `id`, or UINT32_MAX. */
static uint32_t rank_of(const qn_tokenizer *t, const qn_bpe *m, const uint8_t *bytes, int n, int32_t id)
{
    int32_t ids[3] = {QN_NO_ID, QN_NO_ID, QN_NO_ID};
    uint32_t rank = 0;
    for (int i = 0; i < n; i++) {
        ids[i] = t->byte_ids[bytes[i]];
    }
    for (; n > 1; n--) {
        const qn_bpe_merge *best = NULL;
        int at = 0;
        for (int i = 0; i + 1 < n; i++) {
            const qn_bpe_merge *pair = qn_bpe_find(m, ids[i], ids[i + 1], qn_bpe_hash(m, ids[i], ids[i + 1]));
            if (pair->left != QN_NO_ID && (best == NULL || pair->rank < best->rank)) {
                best = pair;
                at = i;
            }
        }
        if (best == NULL) {
            return UINT32_MAX;
        }
        rank = best->rank > rank ? best->rank : rank;
        ids[at] = best->id;
        ids[at + 1] = ids[2];
    }
    return ids[0] == id ? rank : UINT32_MAX;
}

/* The character that a token is, of two or three bytes in the plane of qn_chars; or QN_CHARS_NONE. */
static uint32_t char_of(const qn_tokenizer *t, const qn_bpe *m, uint32_t id, uint8_t bytes[3], int *n)
{
    qn_str piece = qn_piece(t, (int32_t)id);
    uint32_t cp;
    if ((piece.len != 4 && piece.len != 6) || !qn_is_plain(t->tokens[id]) || (uint8_t)piece.data[0] < 0x80) {
        return QN_CHARS_NONE;
    }
    *n = qn_bpe_bytes(m, piece, bytes, 3);
    bool is_char = *n >= 2 && qn_unicode_decode((const char *)bytes, (size_t)*n, &cp) == (size_t)*n &&
                   piece.len == 2 * (size_t)*n && cp < QN_CHARS_END;
    return is_char ? cp : QN_CHARS_NONE;
}

qn_status qn_bpe_chars_end(qn_bpe_chars *c, qn_tokenizer *t, qn_bpe *m)
{
    uint8_t bytes[3];
    int n;
    for (uint32_t id = 0; id < t->n_vocab; id++) {
        qn_chars_announce(&m->chars, char_of(t, m, id, bytes, &n));
    }
    qn_status s = qn_chars_make_room(&m->chars, t->budget, QN_TOKENIZER_OWNER);
    for (uint32_t id = 0; id < t->n_vocab && s == QN_OK; id++) {
        uint32_t cp = char_of(t, m, id, bytes, &n);
        uint32_t rank = cp == QN_CHARS_NONE ? UINT32_MAX : rank_of(t, m, bytes, n, (int32_t)id);
        if (rank < c->first_use[id]) {
            qn_chars_set(&m->chars, cp, (uint32_t)level_of(rank) << 24 | id);
        }
    }
    qn_free(c->first_use);
    return s;
}
