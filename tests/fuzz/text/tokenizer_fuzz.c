/* Text through small vocabularies: every text comes back (in NFC, where the vocabulary wants that), and counting alone
 * gives the same count.
 * SPDX-License-Identifier: MIT */
#include "../../unit/text/small_vocab.h"
#include "base/unicode_norm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define N_VOCABS 5
#define NFC_VOCAB 3

static qn_tokenizer *opened[N_VOCABS]; /* opened when first wanted, closed at the end */
static qn_gguf *files[N_VOCABS];
static uint8_t *bytes[N_VOCABS];

static void close_vocabs(void)
{
    for (unsigned i = 0; i < N_VOCABS; i++) {
        qn_tokenizer_close(opened[i]);
        qn_gguf_close(files[i]);
        qn_free(bytes[i]);
    }
}

static const qn_tokenizer *open_vocab(unsigned i)
{
    static const char *const pres[N_VOCABS] = {"gpt-2", "llama-bpe", "deepseek-coder", "qwen2", NULL};
    if (opened[i] == NULL) {
        small_vocab v;
        size_t n;
        pres[i] == NULL ? qn_small_spm(&v) : qn_small_bpe(&v);
        v.pre = pres[i];
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
static bool is_same(qn_str a, qn_str b, bool in_nfc)
{
    if (!in_nfc) {
        return qn_str_eq(a, b);
    }
    qn_buf forms[2];
    for (size_t i = 0; i < 2; i++) {
        qn_buf_init(&forms[i], NULL, "fuzz", SIZE_MAX / 2);
        qn_norm_add(QN_NORM_NFC, i == 0 ? a.data : b.data, i == 0 ? a.len : b.len, &forms[i]);
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
    const qn_tokenizer *t = open_vocab(data[0] % N_VOCABS);
    unsigned flags = data[0] / N_VOCABS % 2 == 0 ? 0 : QN_TEXT_PARSE_SPECIAL;
    const char *text = (const char *)data + 1;
    size_t n = size - 1, cap = 3 * n + 8, n_ids = 0, n_counted = 0; /* NFC may be three times as long */
    int32_t *ids = malloc(cap * sizeof(*ids));
    if (ids == NULL || qn_tokenizer_encode(t, text, n, flags, ids, cap, &n_ids, NULL) != QN_OK) {
        abort();
    }
    qn_tokenizer_encode(t, text, n, flags, NULL, 0, &n_counted, NULL);
    qn_buf out;
    qn_buf_init(&out, NULL, "fuzz", SIZE_MAX / 2);
    if (qn_tokenizer_decode(t, ids, n_ids, flags, &out, NULL) != QN_OK || n_counted != n_ids ||
        !is_same(qn_buf_view(&out), (qn_str){text, n}, data[0] % N_VOCABS == NFC_VOCAB)) {
        abort();
    }
    qn_buf_free(&out);
    free(ids);
    return 0;
}
