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

#define KEY_MERGES "tokenizer.ggml.merges"
#define MAX_MERGES (1u << 24) /* the largest known list has about 600,000 */

static void fill_alphabet(qn_bpe *m)
{
    uint32_t next = 0x100;
    for (size_t i = 0; i < QN_BPE_ALPHABET; i++) {
        m->bytes[i] = -1;
    }
    for (uint32_t byte = 0; byte < 256; byte++) {
        bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
        uint32_t cp = printable ? byte : next++;
        char s[4] = {0};
        m->bytes[cp] = (int16_t)byte;
        m->spelling_len[byte] = (uint8_t)qn_utf8_put(cp, s);
        memcpy(m->spelling[byte], s, sizeof(m->spelling[byte]));
    }
}

/* A line "left right" on its way into the table: the spellings of both and of what they become. */
typedef struct pending {
    qn_str text[3];
    uint64_t hash[3];
    int32_t id[3];
    uint64_t pair;
} pending;

#define BATCH 32   /* lines whose look-ups wait for memory together: loading is all cache misses */
#define JOINED 256 /* bytes kept for each line; a longer one has its batch to itself */

/* Left may begin with a space but has none else. False: not two spellings. */
static bool parse_line(const qn_tokenizer *t, qn_str line, char *joined, pending *p)
{
    const char *space = line.len > 1 ? memchr(line.data + 1, ' ', line.len - 1) : NULL;
    if (space == NULL || line.len - 1 > t->pieces.longest) {
        return false;
    }
    size_t n_left = (size_t)(space - line.data), n_right = line.len - n_left - 1;
    memcpy(joined, line.data, n_left);
    memcpy(joined + n_left, space + 1, n_right);
    p->text[0] = (qn_str){line.data, n_left};
    p->text[1] = (qn_str){space + 1, n_right};
    p->text[2] = (qn_str){joined, n_left + n_right};
    return true;
}

/* Merges of tokens that the vocabulary lacks, or that would make a special token, are passed over: real files have
 * the former. Of two equal ones the first counts. */
static void add_batch(const qn_tokenizer *t, qn_bpe *m, pending *batch, size_t n, const uint32_t *ranks,
                      qn_bpe_chars *chars)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < 3; k++) {
            batch[i].hash[k] = qn_pieces_hash(t, batch[i].text[k].data, batch[i].text[k].len);
            qn_pieces_prefetch(t, batch[i].hash[k], 0);
        }
    }
    for (unsigned step = 1; step <= 2; step++) {
        for (size_t i = 0; i < 3 * n; i++) {
            qn_pieces_prefetch(t, batch[i / 3].hash[i % 3], step);
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < 3; k++) {
            batch[i].id[k] = qn_pieces_find_hashed(t, batch[i].text[k].data, batch[i].text[k].len, batch[i].hash[k]);
        }
        batch[i].pair = qn_bpe_hash(m, batch[i].id[0], batch[i].id[1]);
        __builtin_prefetch(&m->merges[(uint32_t)batch[i].pair & m->mask], 1);
    }
    for (size_t i = 0; i < n; i++) {
        const int32_t *id = batch[i].id;
        if (id[0] != QN_NO_ID && id[1] != QN_NO_ID && id[2] != QN_NO_ID) {
            qn_bpe_merge *at = qn_bpe_find(m, id[0], id[1], batch[i].pair);
            if (at->left == QN_NO_ID) {
                *at = (qn_bpe_merge){id[0], id[1], id[2], ranks[i]};
                qn_filter_add(&m->filter, batch[i].pair);
                qn_bpe_chars_note(chars, m, batch[i].text[0], batch[i].text[1], id, ranks[i]);
            }
        }
    }
}

static void add_merges(const qn_tokenizer *t, qn_bpe *m, const qn_gguf_kv *kv, char *room, qn_bpe_chars *chars)
{
    pending batch[BATCH];
    uint32_t ranks[BATCH];
    size_t n = 0;
    qn_gguf_iter it = {0};
    qn_str line;
    for (uint32_t rank = 0; qn_gguf_next_str(kv, &it, &line); rank++) {
        bool is_long = line.len > JOINED;
        if (n == BATCH || (is_long && n > 0)) {
            add_batch(t, m, batch, n, ranks, chars);
            n = 0;
        }
        if (parse_line(t, line, room + n * JOINED, &batch[n])) {
            ranks[n++] = rank;
        }
        if (is_long) {
            add_batch(t, m, batch, n, ranks, chars);
            n = 0;
        }
    }
    add_batch(t, m, batch, n, ranks, chars);
}

static qn_status load_merges(qn_tokenizer *t, qn_bpe *m, const qn_gguf *g, qn_error *err)
{
    const qn_gguf_kv *kv = qn_gguf_find(g, KEY_MERGES);
    if (kv == NULL || kv->type != QN_GGUF_ARRAY || kv->item_type != QN_GGUF_STRING || kv->n_items > MAX_MERGES) {
        return qn_fail(err, QN_EFORMAT, KEY_MERGES ": not an array of up to %u strings", MAX_MERGES);
    }
    size_t n_slots = 16;
    while (2 * n_slots < 3 * kv->n_items) {
        n_slots *= 2;
    }
    m->merges = qn_alloc(t->budget, QN_TOKENIZER_OWNER, n_slots * sizeof(*m->merges));
    char *room = qn_alloc(t->budget, QN_TOKENIZER_OWNER, BATCH * JOINED + t->pieces.longest);
    if (m->merges == NULL || room == NULL || qn_filter_open(&m->filter, kv->n_items, t->budget) != QN_OK) {
        qn_free(room);
        return qn_fail(err, QN_ENOMEM, "no memory for %zu merges", (size_t)kv->n_items);
    }
    m->mask = (uint32_t)(n_slots - 1);
    for (size_t i = 0; i < n_slots; i++) {
        m->merges[i].left = QN_NO_ID;
    }
    qn_bpe_chars chars;
    qn_status s = qn_bpe_chars_begin(&chars, t, m);
    if (s == QN_OK) {
        add_merges(t, m, kv, room, &chars);
        s = qn_bpe_chars_end(&chars, t, m);
    }
    qn_free(room);
    return s == QN_OK ? QN_OK : qn_fail(err, s, "no memory for characters");
}

static qn_status load_long_words(qn_tokenizer *t, qn_bpe *m, qn_error *err)
{
    if (qn_filter_open(&m->long_words, t->n_vocab / 4 + 1, t->budget) != QN_OK) {
        return qn_fail(err, QN_ENOMEM, "no memory for long words");
    }
    for (uint32_t id = 0; id < t->n_vocab; id++) {
        qn_str piece = qn_piece(t, (int32_t)id);
        uint8_t first[3];
        if (piece.len <= QN_CACHE_WORD || qn_bpe_bytes(m, piece, first, 3) != 3 || qn_bpe_last_byte(m, piece) < 0) {
            continue; /* a spelling has no fewer bytes than what it stands for */
        }
        size_t n = 0;
        for (size_t i = 0; i < piece.len; i++) {
            n += ((uint8_t)piece.data[i] & 0xC0) != 0x80;
        }
        qn_filter_add(&m->long_words, qn_bpe_outline(m, first, (uint8_t)qn_bpe_last_byte(m, piece), n));
    }
    return QN_OK;
}

static qn_status load(qn_tokenizer *t, const qn_gguf *g, qn_error *err)
{
    qn_bpe *m = qn_zalloc(t->budget, QN_TOKENIZER_OWNER, sizeof(*m));
    if (m == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for a tokenizer");
    }
    t->state = m;
    fill_alphabet(m);
    qn_str kind = {NULL, 0};
    if (qn_gguf_find(g, "tokenizer.ggml.pre") != NULL) {
        QN_TRY(qn_gguf_get_str(g, "tokenizer.ggml.pre", &kind, err));
    }
    QN_TRY(qn_pre_open(kind, t->budget, &m->pre, err));
    if (qn_cache_open(&m->cache, t->n_vocab, t->pieces.seed, t->budget, QN_TOKENIZER_OWNER) != QN_OK) {
        return qn_fail(err, QN_ENOMEM, "no memory for a cache of words");
    }
    t->adds_bos = qn_pre_adds_bos(m->pre);
    t->is_nfc = qn_pre_kind_is_nfc(kind);
    for (size_t byte = 0; byte < 256; byte++) {
        t->byte_ids[byte] = qn_pieces_find(t, m->spelling[byte], m->spelling_len[byte]);
    }
    for (size_t byte = 0; byte < 256; byte++) {
        m->lacks_bytes |= t->byte_ids[byte] == QN_NO_ID;
    }
    m->seed = t->pieces.seed;
    QN_TRY(load_long_words(t, m, err));
    return load_merges(t, m, g, err);
}

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

static inline bool find(const qn_tokenizer *t, const char *text, qn_pair pair, uint64_t hash, uint32_t *priority, int32_t *id)
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
    unsigned known = whole == QN_NO_ID                  ? QN_WHOLE_NO
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
    .load = load,
    .unload = unload,
    .encode = encode,
    .decode = decode,
};
