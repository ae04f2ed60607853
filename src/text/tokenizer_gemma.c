/* Model "gemma4": BPE by a list of merges, over characters. The vocabulary spells what it holds as it is, but for a
 * space, which is U+2581; what is left without a token is spelled in byte tokens. So are the vocabularies of some kinds
 * that come as model "gpt2" (qn_pre_kind_is_spelled).
 *
 * Nothing cuts a text into words. The piece that merges is cut all the same before a space where that changes nothing:
 * where no token has a space behind the byte that stands before it.
 *
 * As in tokenizer_spm.c a U+2581 in the text itself becomes byte tokens, so that decoding gives back every text.
 *
 * SPDX-License-Identifier: MIT */
#include "base/unicode.h"
#include "text/tokenizer_merge.h"

#define KEY_MERGES "tokenizer.ggml.merges"
#define MAX_MERGES (1u << 24) /* the largest known list has about 600,000 */

typedef struct merge {
    int32_t left, right; /* left QN_NO_ID: a free slot */
    int32_t id;
    uint32_t rank;
} merge;

typedef struct gemma {
    merge *merges; /* by the pair, open addressing, at most half full */
    uint32_t mask;
    qn_filter filter;       /* of the merges */
    bool spells_space;      /* U+2581 in a text can be told from a space: its bytes have tokens */
    bool before_space[256]; /* some token has this byte and then a space */
} gemma;

static uint64_t hash_pair(const qn_tokenizer *t, int32_t left, int32_t right)
{
    uint64_t pair = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    return qn_mix(pair ^ t->pieces.seed, 0x9FB21C651E98DF25u);
}

/* The merge of a pair with that hash, or the free slot where it would go. */
static merge *find_slot(const gemma *m, int32_t left, int32_t right, uint64_t h)
{
    for (uint32_t i = (uint32_t)h & m->mask;; i = (i + 1) & m->mask) {
        merge *at = &m->merges[i];
        if (at->left == QN_NO_ID || (at->left == left && at->right == right)) {
            return at;
        }
    }
}

/* A line "left right"; left may begin with a space but has none else. Merges of tokens that the vocabulary lacks, or
 * that would make a special token, are passed over. Of two equal ones the first counts. */
static void add_merge(const qn_tokenizer *t, gemma *m, qn_str line, uint32_t rank, char *joined)
{
    const char *space = line.len > 1 ? memchr(line.data + 1, ' ', line.len - 1) : NULL;
    if (space == NULL || line.len - 1 > t->pieces.longest) {
        return;
    }
    size_t n_left = (size_t)(space - line.data), n_right = line.len - n_left - 1;
    memcpy(joined, line.data, n_left);
    memcpy(joined + n_left, space + 1, n_right);
    int32_t left = qn_pieces_find(t, joined, n_left), right = qn_pieces_find(t, joined + n_left, n_right);
    int32_t id = qn_pieces_find(t, joined, n_left + n_right);
    if (left == QN_NO_ID || right == QN_NO_ID || id == QN_NO_ID) {
        return;
    }
    uint64_t h = hash_pair(t, left, right);
    merge *at = find_slot(m, left, right, h);
    if (at->left == QN_NO_ID) {
        *at = (merge){left, right, id, rank};
        qn_filter_add(&m->filter, h);
    }
}

static qn_status load_merges(qn_tokenizer *t, gemma *m, const qn_gguf *g, qn_error *err)
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
    char *joined = qn_alloc(t->budget, QN_TOKENIZER_OWNER, (size_t)t->pieces.longest + 1);
    if (m->merges == NULL || joined == NULL || qn_filter_open(&m->filter, kv->n_items, t->budget) != QN_OK) {
        qn_free(joined);
        return qn_fail(err, QN_ENOMEM, "no memory for %zu merges", (size_t)kv->n_items);
    }
    m->mask = (uint32_t)(n_slots - 1);
    for (size_t i = 0; i < n_slots; i++) {
        m->merges[i].left = QN_NO_ID;
    }
    qn_gguf_iter it = {0};
    qn_str line;
    for (uint32_t rank = 0; qn_gguf_next_str(kv, &it, &line); rank++) {
        add_merge(t, m, line, rank, joined);
    }
    qn_free(joined);
    return QN_OK;
}

/* Notes behind which bytes tokens have a space. */
static void note_spaces(gemma *m, qn_str piece)
{
    for (size_t i = 1; i + QN_SPACE_LEN <= piece.len; i++) {
        if (memcmp(piece.data + i, QN_SPACE, QN_SPACE_LEN) == 0) {
            m->before_space[(uint8_t)piece.data[i - 1]] = true;
        }
    }
}

static void unload(qn_tokenizer *t)
{
    gemma *m = t->state;
    qn_free(m->merges);
    qn_filter_close(&m->filter);
    qn_free(m);
}

static bool is_spaces(qn_str piece)
{
    for (size_t i = 0; i + QN_SPACE_LEN <= piece.len; i += QN_SPACE_LEN) {
        if (memcmp(piece.data + i, QN_SPACE, QN_SPACE_LEN) != 0) {
            return false;
        }
    }
    return piece.len > 0 && piece.len % QN_SPACE_LEN == 0;
}

/* Converters differ in what they make of byte tokens and of runs of spaces. */
static void settle(qn_tokenizer *t)
{
    for (uint32_t id = 0; id < t->n_vocab; id++) {
        qn_token *token = &t->tokens[id];
        if (token->kind == QN_TOKEN_NORMAL && qn_vocab_byte(qn_piece(t, (int32_t)id)) >= 0) {
            token->kind = QN_TOKEN_BYTE;
        } else if (token->kind == QN_TOKEN_USER && is_spaces(qn_piece(t, (int32_t)id))) {
            token->kind = QN_TOKEN_NORMAL;
        }
    }
}

static qn_status load(qn_tokenizer *t, const qn_gguf *g, qn_error *err)
{
    gemma *m = qn_zalloc(t->budget, QN_TOKENIZER_OWNER, sizeof(*m));
    if (m == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for a tokenizer");
    }
    t->state = m;
    for (uint32_t id = 0; id < t->n_vocab; id++) {
        qn_str piece = qn_piece(t, (int32_t)id);
        if (t->tokens[id].kind == QN_TOKEN_BYTE) {
            int byte = qn_vocab_byte(piece);
            if (byte >= 0 && t->byte_ids[byte] == QN_NO_ID) {
                t->byte_ids[byte] = (int32_t)id;
            }
        } else if (qn_is_plain(t->tokens[id])) {
            note_spaces(m, piece);
        }
    }
    m->spells_space = t->byte_ids[0xE2] >= 0 && t->byte_ids[0x96] >= 0 && t->byte_ids[0x81] >= 0;
    return load_merges(t, m, g, err);
}

static inline bool may_merge(const qn_tokenizer *t, const char *text, qn_pair pair, uint64_t *hash)
{
    (void)text;
    *hash = hash_pair(t, pair.left, pair.right);
    return qn_filter_has(&((const gemma *)t->state)->filter, *hash);
}

static inline bool find(const qn_tokenizer *t, const char *text, qn_pair pair, uint64_t hash, uint32_t *priority,
                        int32_t *id)
{
    (void)text;
    if (pair.left == QN_NO_ID) { /* the mark of a free slot */
        return false;
    }
    const merge *at = find_slot(t->state, pair.left, pair.right, hash);
    *priority = at->rank;
    *id = at->id;
    return at->left != QN_NO_ID;
}

static void fill(const qn_tokenizer *t, const char *text, uint32_t n, uint32_t at, qn_window *w)
{
    uint32_t n_symbols = 0, cp;
    while (at < n && n_symbols < QN_WINDOW) {
        uint32_t len = (uint32_t)qn_unicode_decode(text + at, n - at, &cp);
        w->id[n_symbols] = qn_pieces_find(t, text + at, len);
        w->start[n_symbols++] = at;
        at += len;
    }
    w->start[n_symbols] = at;
    w->n = n_symbols;
}

static void emit_byte(qn_encode_run *run, uint8_t byte)
{
    int32_t id = run->t->byte_ids[byte];
    id = id == QN_NO_ID ? run->t->unknown : id;
    if (id != QN_NO_ID) {
        qn_emit(run, id);
    }
}

/* A symbol that is no token becomes its bytes. A space is the text's byte 0x20, not the three of U+2581. */
static void emit(qn_encode_run *run, const char *text, int32_t id, uint32_t start, uint32_t end)
{
    if (id != QN_NO_ID) {
        qn_emit(run, id);
    } else if (end - start == QN_SPACE_LEN && memcmp(text + start, QN_SPACE, QN_SPACE_LEN) == 0) {
        emit_byte(run, ' ');
    } else {
        for (uint32_t i = start; i < end; i++) {
            emit_byte(run, (uint8_t)text[i]);
        }
    }
}

static void merge_window(const qn_tokenizer *t, const char *text, qn_window *w)
{
    qn_merge_window(t, text, w, may_merge, find);
}

static const struct qn_merge_rules rules = {fill, may_merge, find, merge_window, emit};

static qn_status flush(qn_encode_run *run)
{
    QN_TRY(run->text.status);
    if (run->text.len > 0) {
        QN_TRY(qn_merge_piece(run, run->text.data, (uint32_t)run->text.len, &rules));
        qn_buf_clear(&run->text);
    }
    return QN_OK;
}

static qn_status encode(qn_encode_run *run, const char *text, size_t n, bool opens)
{
    const gemma *m = run->t->state;
    (void)opens;
    for (size_t at = 0; at < n;) {
        if (text[at] == ' ') {
            if (run->text.len > 0 && !m->before_space[(uint8_t)run->text.data[run->text.len - 1]]) {
                QN_TRY(flush(run));
            }
            qn_buf_add(&run->text, QN_SPACE, QN_SPACE_LEN);
            at++;
        } else if (m->spells_space && n - at >= QN_SPACE_LEN && memcmp(text + at, QN_SPACE, QN_SPACE_LEN) == 0) {
            QN_TRY(flush(run));
            for (size_t i = 0; i < QN_SPACE_LEN; i++) {
                emit_byte(run, (uint8_t)QN_SPACE[i]);
            }
            at += QN_SPACE_LEN;
        } else {
            size_t start = at;
            do {
                at++;
            } while (at < n && text[at] != ' ' && text[at] != QN_SPACE[0]);
            qn_buf_add(&run->text, text + start, at - start);
        }
    }
    return flush(run);
}

static void decode(const qn_tokenizer *t, qn_str piece, bool opens, qn_buf *out)
{
    (void)t;
    (void)opens;
    const char *at = piece.data, *end = piece.data + piece.len, *space;
    while ((space = memmem(at, (size_t)(end - at), QN_SPACE, QN_SPACE_LEN)) != NULL) {
        qn_buf_add(out, at, (size_t)(space - at));
        qn_buf_add_char(out, ' ');
        at = space + QN_SPACE_LEN;
    }
    qn_buf_add(out, at, (size_t)(end - at));
}

const qn_tokenizer_ops qn_tokenizer_gemma = {
    .model = "gemma4",
    .bos = QN_NO_ID,
    .eos = QN_NO_ID,
    .unknown = QN_NO_ID,
    .adds_bos = true,
    .settle = settle,
    .load = load,
    .unload = unload,
    .encode = encode,
    .decode = decode,
};
