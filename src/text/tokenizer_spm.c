/* Model "llama": SentencePiece BPE. A space is spelled U+2581 in the vocabulary; characters merge by the score of what
 * they become, best first; what is left without a token is spelled in byte tokens.
 *
 * Pre-tokenizer: none, whatever tokenizer.ggml.pre says. The text is cut all the same where that changes nothing: where
 * no token has the two bytes beside each other, as most have no letter before a mark of punctuation or a space.
 *
 * Departures from SentencePiece, both so that decoding gives back every text: a U+2581 in the text itself becomes
 * byte tokens and not a space, and control, unknown and byte tokens are never the result of a merge.
 *
 * SPDX-License-Identifier: MIT */
#include "text/tokenizer_spm.h"

#include "base/unicode.h"
#include "text/tokenizer_merge.h"

static void unload(qn_tokenizer *t)
{
    qn_spm *m = t->state;
    qn_free(m->priority);
    qn_chars_free(&m->chars);
    qn_cache_close(&m->cache);
    qn_free(m->pairs);
    qn_free(m);
}

static inline bool may_merge(const qn_tokenizer *t, const char *text, qn_pair pair, uint64_t *hash)
{
    *hash = qn_pieces_hash(t, text + pair.start, pair.end - pair.start);
    return qn_filter_has(&t->pieces.filter, *hash);
}

static int32_t find_pair(const qn_tokenizer *t, const char *text, qn_pair pair, uint64_t hash)
{
    const qn_spm *m = t->state;
    uint32_t n = pair.end - pair.start;
    if (m->pairs == NULL || (pair.left | pair.right) < 0) { /* QN_NO_ID is negative */
        return qn_pieces_find_hashed(t, text + pair.start, n, hash);
    }
    uint64_t key = UINT64_C(1) << 63 | (uint64_t)(uint32_t)pair.left << 2 * QN_SPM_PAIR_BITS |
                   (uint64_t)(uint32_t)pair.right << QN_SPM_PAIR_BITS;
    _Atomic uint64_t *entry = &m->pairs[hash >> 40 & (QN_SPM_PAIRS - 1)];
    uint64_t known = atomic_load_explicit(entry, memory_order_relaxed);
    if ((known & ~QN_SPM_PAIR_ID) != key) {
        int32_t id = qn_pieces_find_hashed(t, text + pair.start, n, hash);
        known = key | (id == QN_NO_ID ? QN_SPM_PAIR_NOTHING : (uint64_t)(uint32_t)id);
        atomic_store_explicit(entry, known, memory_order_relaxed);
    }
    return (known & QN_SPM_PAIR_ID) == QN_SPM_PAIR_NOTHING ? QN_NO_ID : (int32_t)(known & QN_SPM_PAIR_ID);
}

static inline bool find(const qn_tokenizer *t, const char *text, qn_pair pair, uint64_t hash, uint32_t *priority,
                        int32_t *id)
{
    *id = find_pair(t, text, pair, hash);
    if (*id == QN_NO_ID) {
        return false;
    }
    *priority = ((const qn_spm *)t->state)->priority[*id];
    return true;
}

static void fill(const qn_tokenizer *t, const char *text, uint32_t n, uint32_t at, qn_window *w)
{
    const qn_spm *m = t->state;
    uint32_t n_symbols = 0, cp;
    while (at < n && n_symbols < QN_WINDOW) {
        const uint8_t *u = (const uint8_t *)text + at;
        uint32_t len = 3;
        if (u[0] > 0xE0 && u[0] < 0xF0 && u[0] != 0xED && n - at >= 3 && (u[1] & 0xC0) == 0x80 &&
            (u[2] & 0xC0) == 0x80) {
            cp = (uint32_t)(u[0] & 0x0F) << 12 | (uint32_t)(u[1] & 0x3F) << 6 | (u[2] & 0x3F); /* most are such */
        } else {
            len = (uint32_t)qn_unicode_decode(text + at, n - at, &cp);
        }
        w->id[n_symbols] = cp < QN_CHARS_END ? (int32_t)qn_chars_get(&m->chars, cp) : qn_pieces_find(t, text + at, len);
        w->start[n_symbols++] = at;
        at += len;
    }
    w->start[n_symbols] = at;
    w->n = n_symbols;
}

static void merge_window(const qn_tokenizer *t, const char *text, qn_window *w);
static void emit(qn_encode_run *run, const char *text, int32_t id, uint32_t start, uint32_t end);

static const struct qn_merge_rules rules = {fill, may_merge, find, merge_window, emit};

static void merge_window(const qn_tokenizer *t, const char *text, qn_window *w)
{
    qn_merge_window(t, text, w, may_merge, find);
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
    if (n == QN_SPM_SPACE_LEN && memcmp(s, QN_SPM_SPACE, QN_SPM_SPACE_LEN) == 0) {
        emit_byte(run, ' ');
        return;
    }
    for (size_t i = 0; i < n; i++) {
        emit_byte(run, (uint8_t)s[i]);
    }
}

static void emit(qn_encode_run *run, const char *text, int32_t id, uint32_t start, uint32_t end)
{
    if (id != QN_NO_ID) {
        qn_emit(run, id);
    } else {
        emit_bytes(run, text + start, end - start);
    }
}

/* A piece of the text, with a space before it that the text does not have when `prefix` is set. */
static qn_status encode_spelled(qn_encode_run *run, const char *text, size_t n, bool prefix)
{
    char near[QN_SPM_SPACE_LEN + 128 + QN_SPM_SPACE_LEN];
    bool inner = n > 1 && memchr(text + 1, ' ', n - 1) != NULL;
    size_t n_spaces = (size_t)prefix + (n > 0 && text[0] == ' ');
    if (!inner && n_spaces == 0) {
        return qn_merge_piece(run, text, (uint32_t)n, &rules);
    }
    if (!inner && n_spaces == 1 && n <= 128) { /* most pieces: one space, then none */
        size_t skip = prefix ? 0 : 1;
        memcpy(near, QN_SPM_SPACE, QN_SPM_SPACE_LEN);
        if (n > skip) {
            memcpy(near + QN_SPM_SPACE_LEN, text + skip, n - skip);
        }
        return qn_merge_piece(run, near, (uint32_t)(QN_SPM_SPACE_LEN + n - skip), &rules);
    }
    qn_buf *out = &run->text;
    qn_buf_clear(out);
    if (prefix) {
        qn_buf_add(out, QN_SPM_SPACE, QN_SPM_SPACE_LEN);
    }
    for (size_t at = 0; at < n;) {
        const char *space = memchr(text + at, ' ', n - at);
        size_t end = space == NULL ? n : (size_t)(space - text);
        qn_buf_add(out, text + at, end - at);
        if (end < n) {
            qn_buf_add(out, QN_SPM_SPACE, QN_SPM_SPACE_LEN);
        }
        at = end + 1;
    }
    QN_TRY(out->status);
    return qn_merge_piece(run, out->data, (uint32_t)out->len, &rules);
}

static qn_status encode_cached(qn_encode_run *run, const char *text, size_t n)
{
    const qn_spm *m = run->t->state;
    int32_t ids[QN_CACHE_IDS];
    if (n > QN_CACHE_WORD) {
        return encode_spelled(run, text, n, false);
    }
    qn_cache_key key = qn_cache_key_of(&m->cache, run->plain, run->plain_end, text, n);
    if (qn_cache_get(&key, ids)) {
        qn_emit(run, ids[0]); /* most words have one */
        for (size_t i = 1; i < QN_CACHE_IDS && ids[i] != QN_NO_ID; i++) {
            qn_emit(run, ids[i]);
        }
        return QN_OK;
    }
    size_t n_before = run->n;
    QN_TRY(encode_spelled(run, text, n, false));
    if (run->n <= run->cap && run->n > n_before && run->n - n_before <= QN_CACHE_IDS) {
        qn_cache_put(&key, run->ids + n_before, run->n - n_before);
    }
    return QN_OK;
}

static bool is_own_space(const char *text, size_t n)
{
    return n >= QN_SPM_SPACE_LEN && memcmp(text, QN_SPM_SPACE, QN_SPM_SPACE_LEN) == 0;
}

/* The length of the piece at text[at], n > at: up to where no merge can go on, or a U+2581 of the text's own. */
static size_t piece_len(const qn_spm *m, const char *text, size_t n, size_t at)
{
    const uint8_t *u = (const uint8_t *)text;
    size_t i = at + 1;
    for (; i < n; i++) {
        uint8_t border = m->border[u[i - 1]][u[i]];
        if (border != 0 &&
            ((border & QN_SPM_CUT) != 0 || ((border & QN_SPM_LOOK) != 0 && is_own_space(text + i, n - i)))) {
            break;
        }
    }
    return i - at;
}

static qn_status encode(qn_encode_run *run, const char *text, size_t n, bool opens)
{
    const qn_spm *m = run->t->state;
    bool prefix = opens && m->prefix;
    run->plain = text;
    run->plain_end = text + n;
    for (size_t at = 0; at < n;) {
        if (m->spells_space && is_own_space(text + at, n - at)) {
            if (prefix) {
                QN_TRY(encode_spelled(run, NULL, 0, true));
            }
            for (size_t i = 0; i < QN_SPM_SPACE_LEN; i++) {
                emit_byte(run, (uint8_t)QN_SPM_SPACE[i]);
            }
            at += QN_SPM_SPACE_LEN;
        } else {
            size_t len = piece_len(m, text, n, at);
            if (prefix && text[at] == ' ' && (m->border[' '][' '] & QN_SPM_CUT) != 0) {
                QN_TRY(encode_spelled(run, NULL, 0, true));
                prefix = false;
            }
            QN_TRY(prefix ? encode_spelled(run, text + at, len, true) : encode_cached(run, text + at, len));
            at += len;
        }
        prefix = false;
    }
    return QN_OK;
}

static void decode(const qn_tokenizer *t, qn_str piece, bool opens, qn_buf *out)
{
    const qn_spm *m = t->state;
    const char *at = piece.data, *end = piece.data + piece.len;
    if (opens && m->prefix && piece.len >= QN_SPM_SPACE_LEN && memcmp(at, QN_SPM_SPACE, QN_SPM_SPACE_LEN) == 0) {
        at += QN_SPM_SPACE_LEN;
    }
    const char *space;
    while ((space = memmem(at, (size_t)(end - at), QN_SPM_SPACE, QN_SPM_SPACE_LEN)) != NULL) {
        qn_buf_add(out, at, (size_t)(space - at));
        qn_buf_add_char(out, ' ');
        at = space + QN_SPM_SPACE_LEN;
    }
    qn_buf_add(out, at, (size_t)(end - at));
}

const qn_tokenizer_ops qn_tokenizer_spm = {
    .model = "llama",
    .bos = 1,
    .eos = 2,
    .unknown = 0,
    .adds_bos = true,
    .load = qn_spm_load,
    .unload = unload,
    .encode = encode,
    .decode = decode,
};
