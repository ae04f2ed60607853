/* Text through small vocabularies of every kind: counting alone gives the same count, ids decode, and where the
 * vocabulary keeps texts they come back (in NFC, where it wants that).
 * SPDX-License-Identifier: MIT */
#include "../../unit/text/small_charsmap.h"
#include "../../unit/text/small_gemma.h"
#include "../../unit/text/small_vocab.h"
#include "base/unicode_norm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef enum promise { SAME_TEXT, SAME_IN_NFC, SAME_BUT_MARKS, WORDS_ONLY } promise;

static void plain_keys(qn_gguf_writer *w, void *ctx)
{
    (void)ctx;
    qn_gguf_set_bool(w, "tokenizer.ggml.add_space_prefix", false);
}

/* A map that makes text longer, shorter, and of spaces. */
static void map_keys(qn_gguf_writer *w, void *ctx)
{
    static const small_rule rules[] = {
        {"\x01", ""}, {"\t", " "}, {"A", "a"}, {"BB", " c "}, {"C", "hello hello hello"}, {"e\u0301", "\u00E9"}};
    static small_charsmap map;
    (void)ctx;
    qn_small_charsmap(&map, rules, sizeof(rules) / sizeof(rules[0]));
    qn_gguf_set_bool(w, "tokenizer.ggml.remove_extra_whitespaces", true);
    qn_gguf_set_array(w, "tokenizer.ggml.precompiled_charsmap", QN_GGUF_U8, map.bytes, map.n);
}

static void make_bpe(small_vocab *v, const char *pre)
{
    qn_small_bpe(v);
    v->pre = pre;
}

static void make_gpt2(small_vocab *v)
{
    make_bpe(v, "gpt-2");
}
static void make_llama_bpe(small_vocab *v)
{
    make_bpe(v, "llama-bpe");
}
static void make_deepseek(small_vocab *v)
{
    make_bpe(v, "deepseek-coder");
}
static void make_qwen2(small_vocab *v)
{
    make_bpe(v, "qwen2");
}

static void make_unigram(small_vocab *v)
{
    qn_small_unigram(v, false);
    v->edit = plain_keys;
}

static void make_mapped_unigram(small_vocab *v)
{
    qn_small_unigram(v, true);
    v->edit = map_keys;
}

static const struct {
    void (*make)(small_vocab *v);
    promise promise;
} kinds[] = {
    {make_gpt2, SAME_TEXT},           {make_llama_bpe, SAME_TEXT},       {make_deepseek, SAME_TEXT},
    {make_qwen2, SAME_IN_NFC},        {qn_small_spm, SAME_TEXT},         {qn_small_wpm, WORDS_ONLY},
    {make_unigram, WORDS_ONLY},       {make_mapped_unigram, WORDS_ONLY}, {qn_small_rwkv, SAME_TEXT},
    {qn_small_plamo, SAME_BUT_MARKS}, {qn_small_gemma, SAME_TEXT},
};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static qn_tokenizer *opened[N_KINDS]; /* opened when first wanted, closed at the end */
static qn_gguf *files[N_KINDS];
static uint8_t *bytes[N_KINDS];

static void close_vocabs(void)
{
    for (unsigned i = 0; i < N_KINDS; i++) {
        qn_tokenizer_close(opened[i]);
        qn_gguf_close(files[i]);
        qn_free(bytes[i]);
    }
}

static const qn_tokenizer *open_vocab(unsigned i)
{
    if (opened[i] == NULL) {
        static small_vocab v;
        size_t n;
        kinds[i].make(&v);
        bytes[i] = qn_small_write(&v, &n);
        if (qn_gguf_open_memory(bytes[i], n, NULL, &files[i], NULL) != QN_OK ||
            qn_tokenizer_open(files[i], NULL, &opened[i], NULL) != QN_OK) {
            abort();
        }
    }
    return opened[i];
}

/* The same bytes, or the same when both are in NFC: parts of a text between special tokens are normalised by
 * themselves. */
static bool is_kept(qn_str text, qn_str back, promise promise)
{
    if (promise == WORDS_ONLY || (promise == SAME_BUT_MARKS && memmem(text.data, text.len, "\uFEFF", 3) != NULL)) {
        return true;
    }
    if (promise != SAME_IN_NFC) {
        return qn_str_eq(text, back);
    }
    qn_buf forms[2];
    for (size_t i = 0; i < 2; i++) {
        qn_str s = i == 0 ? text : back;
        qn_buf_init(&forms[i], NULL, "fuzz", SIZE_MAX / 2);
        qn_norm_add(QN_NORM_NFC, s.data, s.len, &forms[i]);
    }
    bool same = qn_str_eq(qn_buf_view(&forms[0]), qn_buf_view(&forms[1]));
    qn_buf_free(&forms[0]);
    qn_buf_free(&forms[1]);
    return same;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool registered;
    if (!registered) {
        registered = atexit(close_vocabs) == 0;
    }
    if (size == 0) {
        return 0;
    }
    unsigned kind = data[0] % N_KINDS, flags = data[0] / N_KINDS % 2 == 0 ? 0 : QN_TEXT_PARSE_SPECIAL;
    const qn_tokenizer *t = open_vocab(kind);
    const char *text = (const char *)data + 1;
    size_t n = size - 1, cap = 32 * n + 8, n_ids = 0, n_counted = 0; /* one of the maps' characters becomes 17 */
    int32_t *ids = malloc(cap * sizeof(*ids));
    if (ids == NULL || qn_tokenizer_encode(t, text, n, flags, ids, cap, &n_ids, NULL) != QN_OK) {
        abort();
    }
    qn_tokenizer_encode(t, text, n, flags, NULL, 0, &n_counted, NULL);
    qn_buf out;
    qn_buf_init(&out, NULL, "fuzz", SIZE_MAX / 2);
    if (qn_tokenizer_decode(t, ids, n_ids, flags, &out, NULL) != QN_OK || n_counted != n_ids ||
        !is_kept((qn_str){text, n}, qn_buf_view(&out), kinds[kind].promise)) {
        abort();
    }
    qn_buf_free(&out);
    free(ids);
    return 0;
}
