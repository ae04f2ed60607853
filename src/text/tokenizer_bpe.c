/* Model "gpt2": byte-level BPE. The text is cut into words (tokenizer_pre.c); in each, the pair of neighbours that
 * stands first in the list of merges is joined, until none is left.
 *
 * The vocabulary spells bytes as characters: the printable ones of Latin-1 as themselves, the others, in order, as the
 * characters from U+0100 on. Spellings of control and user-defined tokens are plain text.
 *
 * A byte that has no token of its own (some vocabularies lack bytes that no UTF-8 text holds, some even control
 * characters) keeps its neighbours from merging and is then left out, as in the reference: nothing in the vocabulary
 * could stand for it.
 *
 * SPDX-License-Identifier: MIT */
#include "text/tokenizer_int.h"

#include "text/utf8.h"

#define KEY_MERGES "tokenizer.ggml.merges"
#define MAX_MERGES (1u << 24) /* the largest known list has about 600,000 */
#define FILTER_BITS 8         /* of the filter for each slot of the table: at most one bit in 16 is set */
#define N_ALPHABET 324        /* U+0000 to U+0143: where the characters for bytes lie */

typedef struct merge {
    int32_t left, right; /* left QN_NO_ID: a free slot */
    int32_t id;
    uint32_t rank;
} merge;

typedef struct bpe {
    qn_pre *pre;
    merge *merges; /* by the pair, open addressing, at most half full */
    uint32_t mask;
    uint64_t seed;
    uint64_t *filter; /* a bit for each merge, by hash: most pairs of neighbours merge to nothing, and it is small */
    uint32_t filter_mask; /* bits - 1 */
    char spelling[256][2]; /* UTF-8 of the character for a byte */
    uint8_t spelling_len[256];
    int16_t bytes[N_ALPHABET]; /* byte of a character, or -1 */
} bpe;

static void fill_alphabet(bpe *m)
{
    uint32_t next = 0x100;
    for (size_t i = 0; i < N_ALPHABET; i++) {
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

static uint64_t hash_pair(const bpe *m, int32_t left, int32_t right)
{
    uint64_t pair = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    return qn_mix(pair ^ m->seed, 0x9FB21C651E98DF25u);
}

static bool may_merge(const bpe *m, uint64_t h)
{
    uint32_t bit = (uint32_t)(h >> 32) & m->filter_mask;
    return m->filter[bit / 64] >> bit % 64 & 1;
}

/* The merge of a pair with that hash, or the free slot where it would go. */
static merge *find_merge(const bpe *m, int32_t left, int32_t right, uint64_t h)
{
    for (uint32_t i = (uint32_t)h & m->mask;; i = (i + 1) & m->mask) {
        merge *at = &m->merges[i];
        if (at->left == QN_NO_ID || (at->left == left && at->right == right)) {
            return at;
        }
    }
}

/* NULL: the two do not merge. */
static const merge *look_up_pair(const bpe *m, int32_t left, int32_t right)
{
    uint64_t h = hash_pair(m, left, right);
    if (!may_merge(m, h)) {
        return NULL;
    }
    const merge *at = find_merge(m, left, right, h);
    return at->left == QN_NO_ID ? NULL : at;
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
static void add_batch(const qn_tokenizer *t, bpe *m, pending *batch, size_t n, const uint32_t *ranks)
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
        batch[i].pair = hash_pair(m, batch[i].id[0], batch[i].id[1]);
        __builtin_prefetch(&m->merges[(uint32_t)batch[i].pair & m->mask], 1);
    }
    for (size_t i = 0; i < n; i++) {
        const int32_t *id = batch[i].id;
        if (id[0] != QN_NO_ID && id[1] != QN_NO_ID && id[2] != QN_NO_ID) {
            merge *at = find_merge(m, id[0], id[1], batch[i].pair);
            if (at->left == QN_NO_ID) {
                uint32_t bit = (uint32_t)(batch[i].pair >> 32) & m->filter_mask;
                *at = (merge){id[0], id[1], id[2], ranks[i]};
                m->filter[bit / 64] |= UINT64_C(1) << bit % 64;
            }
        }
    }
}

static void add_merges(const qn_tokenizer *t, bpe *m, const qn_gguf_kv *kv, char *room)
{
    pending batch[BATCH];
    uint32_t ranks[BATCH];
    size_t n = 0;
    qn_gguf_iter it = {0};
    qn_str line;
    for (uint32_t rank = 0; qn_gguf_next_str(kv, &it, &line); rank++) {
        bool is_long = line.len > JOINED;
        if (n == BATCH || (is_long && n > 0)) {
            add_batch(t, m, batch, n, ranks);
            n = 0;
        }
        if (parse_line(t, line, room + n * JOINED, &batch[n])) {
            ranks[n++] = rank;
        }
        if (is_long) {
            add_batch(t, m, batch, n, ranks);
            n = 0;
        }
    }
    add_batch(t, m, batch, n, ranks);
}

static qn_status load_merges(qn_tokenizer *t, bpe *m, const qn_gguf *g, qn_error *err)
{
    const qn_gguf_kv *kv = qn_gguf_find(g, KEY_MERGES);
    if (kv == NULL || kv->type != QN_GGUF_ARRAY || kv->item_type != QN_GGUF_STRING || kv->n_items > MAX_MERGES) {
        return qn_fail(err, QN_EFORMAT, KEY_MERGES ": not an array of up to %u strings", MAX_MERGES);
    }
    size_t n_slots = 16;
    while (n_slots < 2 * kv->n_items) {
        n_slots *= 2;
    }
    m->merges = qn_alloc(t->budget, QN_TOKENIZER_OWNER, n_slots * sizeof(*m->merges));
    m->filter = qn_zalloc_array(t->budget, QN_TOKENIZER_OWNER, n_slots * FILTER_BITS / 64, sizeof(*m->filter));
    char *room = qn_alloc(t->budget, QN_TOKENIZER_OWNER, BATCH * JOINED + t->pieces.longest);
    if (m->merges == NULL || m->filter == NULL || room == NULL) {
        qn_free(room);
        return qn_fail(err, QN_ENOMEM, "no memory for %zu merges", n_slots / 2);
    }
    m->mask = (uint32_t)(n_slots - 1);
    m->filter_mask = (uint32_t)(n_slots * FILTER_BITS - 1);
    m->seed = t->pieces.seed;
    for (size_t i = 0; i < n_slots; i++) {
        m->merges[i].left = QN_NO_ID;
    }
    add_merges(t, m, kv, room);
    qn_free(room);
    return QN_OK;
}

static qn_status load(qn_tokenizer *t, const qn_gguf *g, qn_error *err)
{
    bpe *m = qn_zalloc(t->budget, QN_TOKENIZER_OWNER, sizeof(*m));
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
    t->adds_bos = qn_pre_adds_bos(m->pre);
    t->is_nfc = qn_pre_kind_is_nfc(kind);
    for (size_t byte = 0; byte < 256; byte++) {
        t->byte_ids[byte] = qn_pieces_find(t, m->spelling[byte], m->spelling_len[byte]);
    }
    return load_merges(t, m, g, err);
}

static void unload(qn_tokenizer *t)
{
    bpe *m = t->state;
    qn_pre_close(m->pre);
    qn_free(m->merges);
    qn_free(m->filter);
    qn_free(m);
}

static bool look_up(const qn_tokenizer *t, const char *text, const qn_symbol *left, const qn_symbol *right,
                    uint32_t end, uint32_t *priority, int32_t *id)
{
    (void)text;
    (void)end;
    const merge *at = look_up_pair(t->state, left->id, right->id);
    if (at == NULL) {
        return false;
    }
    *priority = at->rank;
    *id = at->id;
    return true;
}

/* The token that is spelled like the word, or QN_NO_ID. */
static qn_status find_whole(qn_encode_run *run, const char *word, size_t n, int32_t *id)
{
    const bpe *m = run->t->state;
    char near[512], *spelled = near;
    *id = QN_NO_ID;
    if (n > run->t->pieces.longest) {
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

static qn_status encode_word(void *ctx, const char *word, size_t n)
{
    qn_encode_run *run = ctx;
    const qn_tokenizer *t = run->t;
    const bpe *m = t->state;
    int32_t whole;
    QN_TRY(find_whole(run, word, n, &whole));
    unsigned known = whole == QN_NO_ID                  ? QN_WHOLE_NO
                     : qn_pre_ignores_merges(m->pre) ? QN_WHOLE_YES
                                                     : atomic_load_explicit(&t->whole[whole], memory_order_relaxed);
    if (known == QN_WHOLE_YES) {
        qn_emit(run, whole);
        return QN_OK;
    }
    QN_TRY(qn_merge_reserve(run, n));
    uint32_t n_symbols = (uint32_t)n;
    for (size_t i = 0; i < n; i++) {
        run->symbols[i] = (qn_symbol){.id = t->byte_ids[(uint8_t)word[i]], .start = (uint32_t)i};
    }
    QN_TRY(qn_merge(run, word, (uint32_t)n, &n_symbols, look_up));
    if (known == QN_WHOLE_UNKNOWN) {
        bool same = n_symbols == 1 && run->symbols[0].id == whole;
        atomic_store_explicit(&t->whole[whole], same ? QN_WHOLE_YES : QN_WHOLE_NO, memory_order_relaxed);
    }
    for (uint32_t i = 0; i < n_symbols; i++) {
        if (run->symbols[i].id != QN_NO_ID) {
            qn_emit(run, run->symbols[i].id);
        }
    }
    return QN_OK;
}

static qn_status encode(qn_encode_run *run, const char *text, size_t n, bool opens)
{
    (void)opens;
    return qn_pre_split(((const bpe *)run->t->state)->pre, text, n, encode_word, run);
}

static void decode(const qn_tokenizer *t, qn_str piece, bool opens, qn_buf *out)
{
    const bpe *m = t->state;
    (void)opens;
    for (size_t i = 0; i < piece.len;) {
        uint32_t cp;
        size_t len = qn_utf8_next(piece.data + i, piece.len - i, &cp);
        if (cp < N_ALPHABET && m->bytes[cp] >= 0) {
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
