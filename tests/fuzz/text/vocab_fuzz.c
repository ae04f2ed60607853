/* Any bytes as a GGUF file: its vocabulary opens or is refused, and an opened one encodes and decodes without harm.
 * SPDX-License-Identifier: MIT */
#include "text/tokenizer.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every id that encoding gives must be one of the vocabulary. */
static void use(const qn_tokenizer *t, unsigned flags)
{
    static const char text[] = " hello <tool>\xE2\x96\x81<|end|>aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n\xFF 12345's "
                               "Cafe\u0301 [MASK],\u4E2D\u6587";
    enum { CAP = 1100 * sizeof(text) }; /* a map of characters may make 1024 bytes of one */
    static int32_t ids[CAP];
    size_t n_ids = 0;
    if (qn_tokenizer_encode(t, text, sizeof(text) - 1, flags, ids, CAP, &n_ids, NULL) != QN_OK) {
        abort();
    }
    for (size_t i = 0; i < n_ids; i++) {
        if (ids[i] < 0 || (uint32_t)ids[i] >= qn_tokenizer_n_vocab(t)) {
            abort();
        }
    }
    qn_buf out;
    qn_buf_init(&out, NULL, "fuzz", 1 << 24);
    qn_status s = qn_tokenizer_decode(t, ids, n_ids, flags, &out, NULL);
    if (s != QN_OK && s != QN_EFULL) {
        abort();
    }
    qn_buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    qn_gguf *g = NULL;
    qn_tokenizer *t = NULL;
    if (qn_gguf_open_memory(data, size, NULL, &g, NULL) != QN_OK) {
        return 0;
    }
    if (qn_tokenizer_open(g, NULL, &t, NULL) == QN_OK) {
        use(t, 0);
        use(t, QN_TEXT_ADD_SPECIAL | QN_TEXT_PARSE_SPECIAL);
        qn_tokenizer_close(t);
    }
    qn_gguf_close(g);
    return 0;
}
