/* Text through small vocabularies: every text comes back, and counting alone gives the same count.
 * SPDX-License-Identifier: MIT */
#include "../../unit/text/small_vocab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define N_VOCABS 4

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
    static const char *const pres[N_VOCABS] = {"gpt-2", "llama-bpe", "deepseek-coder", NULL};
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
    size_t n = size - 1, cap = n + 8, n_ids = 0, n_counted = 0;
    int32_t *ids = malloc(cap * sizeof(*ids));
    if (ids == NULL || qn_tokenizer_encode(t, text, n, flags, ids, cap, &n_ids, NULL) != QN_OK) {
        abort();
    }
    qn_tokenizer_encode(t, text, n, flags, NULL, 0, &n_counted, NULL);
    qn_buf out;
    qn_buf_init(&out, NULL, "fuzz", SIZE_MAX / 2);
    if (qn_tokenizer_decode(t, ids, n_ids, flags, &out, NULL) != QN_OK || n_counted != n_ids || out.len != n ||
        (n > 0 && memcmp(out.data, text, n) != 0)) {
        abort();
    }
    qn_buf_free(&out);
    free(ids);
    return 0;
}
