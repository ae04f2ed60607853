/* Model "gpt2": byte-level BPE. The text is cut into words (tokenizer_pre.c); in each, the pair of neighbours that
 * stands first in the list of merges is joined, until none is left.
 *
 * The vocabulary spells bytes as characters: the printable ones of Latin-1 as themselves, the others, in order, as the
 * characters from U+0100 on. Spellings of control and user-defined tokens are plain text.
 *
 * A byte that has no token of its own (some vocabularies lack bytes that no UTF-8 text holds, some even control
 * characters) is left out and its neighbours meet, as in the tokenizers that such models were made with: nothing in the
 * vocabulary could stand for it.
 *
 * SPDX-License-Identifier: MIT */
#include "text/tokenizer_bpe.h"

#include "text/utf8.h"

static void unload(qn_tokenizer *t)
{
    qn_bpe *m = t->state;
    qn_pre_close(m->pre);
    qn_free(m->merges);
    qn_filter_close(&m->filter);
    qn_filter_close(&m->long_words);
    qn_free(m->near);
    qn_chars_free(&m->chars);
    qn_cache_close(&m->cache);
    qn_free(m);
}

static inline bool may_merge(const qn_tokenizer *t, const char *text, qn_pair pair, uint64_t *hash)
{
    const qn_bpe *m = t->state;
    (void)text;
    *hash = qn_bpe_hash(m, pair.left, pair.right);
    return qn_filter_has(&m->filter, *hash);
}

static inline bool find(const qn_tokenizer *t, const char *text, qn_pair pair, uint64_t hash, uint32_t *priority,
                        int32_t *id)
{
    (void)text;
    const qn_bpe_merge *at = qn_bpe_find(t->state, pair.left, pair.right, hash);
    *priority = at->rank;
    *id = at->id;
    return at->left != QN_NO_ID;
}

/* The length of the character at text[at], a byte above 0x7F, and what qn_bpe.chars has on it; or 1 and nothing. */
static inline uint32_t char_at(const qn_bpe *m, const char *text, uint32_t n, uint32_t at, uint32_t *known)
{
    const uint8_t *u = (const uint8_t *)text + at;
    uint32_t cp, len = 3;
    if (u[0] > 0xE0 && u[0] < 0xF0 && n - at >= 3 && (u[1] & 0xC0) == 0x80 && (u[2] & 0xC0) == 0x80) {
        cp = (uint32_t)(u[0] & 0x0F) << 12 | (uint32_t)(u[1] & 0x3F) << 6 | (u[2] & 0x3F); /* surrogates have nothing */
    } else {
        len = (uint32_t)qn_unicode_decode(text + at, n - at, &cp);
    }
    *known = cp < QN_CHARS_END ? qn_chars_get(&m->chars, cp) : QN_CHARS_NONE;
    return *known == QN_CHARS_NONE ? 1 : len;
}

static void fill(const qn_tokenizer *t, const char *text, uint32_t n, uint32_t at, qn_window *w)
{
    const qn_bpe *m = t->state;
    uint32_t n_symbols = 0, known;
    while (at < n && n_symbols < QN_WINDOW) {
        uint8_t first = (uint8_t)text[at];
        w->start[n_symbols] = at;
        w->id[n_symbols] = t->byte_ids[first];
        if (first < 0x80) {
            at++;
        } else {
            uint32_t end = at + char_at(m, text, n, at, &known), level = known >> 24;
            bool whole = level < QN_BPE_NEVER && (at == 0 || level < m->near[first][(uint8_t)text[at - 1]]) &&
                         (end >= n || level < m->near[(uint8_t)text[end]][(uint8_t)text[end - 1]]);
            w->id[n_symbols] = whole ? (int32_t)(known & 0xFFFFFF) : w->id[n_symbols];
            at = whole ? end : at + 1;
        }
        n_symbols++;
    }
    w->start[n_symbols] = at;
    w->n = n_symbols;
}

static void merge_window(const qn_tokenizer *t, const char *text, qn_window *w);

static void emit(qn_encode_run *run, const char *text, int32_t id, uint32_t start, uint32_t end)
{
    (void)text;
    (void)start;
    (void)end;
    if (id != QN_NO_ID) {
        qn_emit(run, id);
    }
}

static const struct qn_merge_rules rules = {fill, may_merge, find, merge_window, emit};

static void merge_window(const qn_tokenizer *t, const char *text, qn_window *w)
{
    qn_merge_window(t, text, w, may_merge, find);
}

/* The token that is spelled like the word, or QN_NO_ID. */
static qn_status find_whole(qn_encode_run *run, const char *word, size_t n, int32_t *id)
{
    const qn_bpe *m = run->t->state;
    char near[512], *spelled = near;
    *id = QN_NO_ID;
    if (n > run->t->pieces.longest ||
        (n > QN_CACHE_WORD &&
         !qn_filter_has(&m->long_words, qn_bpe_outline(m, (const uint8_t *)word, (uint8_t)word[n - 1], n)))) {
        return QN_OK;
    }
    if (n > sizeof(near) / 2) {
        qn_buf_clear(&run->text);
        for (size_t i = 0; i < n; i++) {
            qn_buf_add(&run->text, m->spelling[(uint8_t)word[i]], m->spelling_len[(uint8_t)word[i]]);
        }
        QN_TRY(run->text.status);
        *id = qn_pieces_find(run->t, run->text.data, run->text.len);
        return QN_OK;
    }
    for (size_t i = 0; i < n; i++) { /* two bytes are written always, the second to be overwritten if it is none */
        memcpy(spelled, m->spelling[(uint8_t)word[i]], 2);
        spelled += m->spelling_len[(uint8_t)word[i]];
    }
    *id = qn_pieces_find(run->t, near, (size_t)(spelled - near));
    return QN_OK;
}

/* A word that is no token, or may not come out as the one that it is (`known`). */
static qn_status merge_word(qn_encode_run *run, const char *word, uint32_t n, int32_t whole, unsigned known)
{
    const qn_tokenizer *t = run->t;
    qn_window w;
    fill(t, word, n, 0, &w);
    if (w.start[w.n] < n) {
        return qn_merge_long(run, word, n, &rules);
    }
    merge_window(t, word, &w);
    if (known == QN_WHOLE_UNKNOWN) {
        bool same = w.n == 1 && w.id[0] == whole;
        atomic_store_explicit(&t->whole[whole], same ? QN_WHOLE_YES : QN_WHOLE_NO, memory_order_relaxed);
    }
    for (uint32_t i = 0; i < w.n; i++) {
        emit(run, word, w.id[i], 0, 0);
    }
    return QN_OK;
}

/* The same without the bytes that have no token. */
static qn_status merge_sayable(qn_encode_run *run, const char *word, uint32_t n, int32_t whole, unsigned known)
{
    const qn_tokenizer *t = run->t;
    uint32_t n_kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        n_kept += t->byte_ids[(uint8_t)word[i]] != QN_NO_ID;
    }
    if (n_kept == n || n_kept == 0) {
        return n_kept == 0 ? QN_OK : merge_word(run, word, n, whole, known);
    }
    char *kept = qn_alloc(t->budget, QN_TOKENIZER_OWNER, n_kept);
    if (kept == NULL) {
        return QN_ENOMEM;
    }
    n_kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (t->byte_ids[(uint8_t)word[i]] != QN_NO_ID) {
            kept[n_kept++] = word[i];
        }
    }
    qn_status s = merge_word(run, kept, n_kept, whole, known);
    qn_free(kept);
    return s;
}

static qn_status encode_new_word(qn_encode_run *run, const char *word, size_t n)
{
    const qn_tokenizer *t = run->t;
    const qn_bpe *m = t->state;
    int32_t whole;
    QN_TRY(find_whole(run, word, n, &whole));
    unsigned known = whole == QN_NO_ID               ? QN_WHOLE_NO
                     : qn_pre_ignores_merges(m->pre) ? QN_WHOLE_YES
                                                     : atomic_load_explicit(&t->whole[whole], memory_order_relaxed);
    if (known == QN_WHOLE_YES) {
        qn_emit(run, whole);
        return QN_OK;
    }
    return m->lacks_bytes ? merge_sayable(run, word, (uint32_t)n, whole, known)
                          : merge_word(run, word, (uint32_t)n, whole, known);
}

static qn_status encode_word(void *ctx, const char *word, size_t n)
{
    qn_encode_run *run = ctx;
    const qn_bpe *m = run->t->state;
    if (n > QN_CACHE_WORD) {
        return encode_new_word(run, word, n);
    }
    int32_t ids[QN_CACHE_IDS];
    qn_cache_key key = qn_cache_key_of(&m->cache, run->plain, run->plain_end, word, n);
    if (qn_cache_get(&key, ids)) {
        qn_emit(run, ids[0]); /* most words have one */
        for (size_t i = 1; i < QN_CACHE_IDS && ids[i] != QN_NO_ID; i++) {
            qn_emit(run, ids[i]);
        }
        return QN_OK;
    }
    size_t n_before = run->n;
    QN_TRY(encode_new_word(run, word, n));
    if (run->n <= run->cap && run->n > n_before && run->n - n_before <= QN_CACHE_IDS) {
        qn_cache_put(&key, run->ids + n_before, run->n - n_before);
    }
    return QN_OK;
}

static qn_status encode(qn_encode_run *run, const char *text, size_t n, bool opens)
{
    (void)opens;
    run->plain = text;
    run->plain_end = text + n;
    return qn_pre_split(((const qn_bpe *)run->t->state)->pre, text, n, encode_word, run);
}

static void decode(const qn_tokenizer *t, qn_str piece, bool opens, qn_buf *out)
{
    const qn_bpe *m = t->state;
    (void)opens;
    for (size_t i = 0; i < piece.len;) {
        uint32_t cp;
        size_t len = qn_utf8_next(piece.data + i, piece.len - i, &cp);
        if (cp < QN_BPE_ALPHABET && m->bytes[cp] >= 0) {
            qn_buf_add_char(out, (char)m->bytes[cp]);
        } else {
            qn_buf_add(out, piece.data + i, len); /* not a character for a byte: it stands for itself */
        }
        i += len;
    }
}

const qn_tokenizer_ops qn_tokenizer_bpe = {
    .model = "gpt2",
    .bos = QN_NO_ID,
    .eos = QN_NO_ID,
    .unknown = QN_NO_ID,
    .adds_bos = false,
    .load = qn_bpe_load,
    .unload = unload,
    .encode = encode,
    .decode = decode,
};
