/* Opening byte-level BPE: the alphabet that spells bytes, and the list of merges.
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

qn_status qn_bpe_load(qn_tokenizer *t, const qn_gguf *g, qn_error *err)
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
