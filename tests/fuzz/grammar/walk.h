/* What the fuzzers of the front ends share: an expression that was built is compiled, walked at random by its masks,
 * and what comes out must match by the slow matcher. SPDX-License-Identifier: MIT */
#ifndef QN_FUZZ_GRAMMAR_WALK_H
#define QN_FUZZ_GRAMMAR_WALK_H

#include "../../unit/text/small_vocab.h"
#include "base/random.h"
#include "grammar/front_int.h"
#include "grammar/grammar.h"
#include "text/tokenizer_int.h"

static struct {
    uint8_t *file;
    qn_gguf *gguf;
    qn_tokenizer *tokenizer;
    qn_grammar_vocab *vocab;
} walk_vocab;

static inline void walk_must(bool good)
{
    if (!good) {
        abort();
    }
}

static inline void walk_close(void)
{
    qn_grammar_vocab_close(walk_vocab.vocab);
    qn_tokenizer_close(walk_vocab.tokenizer);
    qn_gguf_close(walk_vocab.gguf);
    qn_free(walk_vocab.file);
}

static inline void walk_keys(qn_gguf_writer *w, void *ctx)
{
    (void)ctx;
    qn_gguf_set_u32(w, "tokenizer.ggml.eos_token_id", 0);
}

static inline void walk_open(void)
{
    static small_vocab small;
    size_t n;
    if (walk_vocab.vocab != NULL) {
        return;
    }
    qn_small_bpe(&small);
    small.edit = walk_keys;
    walk_vocab.file = qn_small_write(&small, &n);
    walk_must(qn_gguf_open_memory(walk_vocab.file, n, NULL, &walk_vocab.gguf, NULL) == QN_OK);
    walk_must(qn_tokenizer_open(walk_vocab.gguf, NULL, &walk_vocab.tokenizer, NULL) == QN_OK);
    walk_must(qn_grammar_vocab_open(walk_vocab.tokenizer, NULL, &walk_vocab.vocab, NULL) == QN_OK);
    walk_must(atexit(walk_close) == 0);
}

/* The end of a text that the matcher allows to end here. Not told in time, or special tokens: nothing is known. */
static inline void walk_check(qn_gx_builder *b, const qn_buf *text)
{
    bool matches = true;
    qn_status status = qn_front_match(b, qn_gx_rule_ref(b, b->root), qn_buf_view(text), &matches);
    walk_must(status == QN_OK || status == QN_EFULL || status == QN_EUNSUPPORTED);
    walk_must(matches);
}

static inline void walk_grammar(qn_gx_builder *b, qn_grammar *g, uint64_t seed)
{
    enum { WORDS = SMALL_VOCAB_CAP / 64, MAX_TOKENS = 30 };
    uint64_t bits[WORDS];
    uint32_t n_vocab = qn_tokenizer_n_vocab(walk_vocab.tokenizer);
    qn_matcher *m;
    qn_buf text;
    qn_random random;
    for (uint32_t i = 0; i < b->n_nodes; i++) {
        if (b->nodes[i].kind == QN_GX_SPECIAL) { /* the small vocabulary has no such token, so nothing could follow */
            return;
        }
    }
    qn_buf_init(&text, NULL, "fuzz", 1u << 16);
    qn_random_seed(&random, seed);
    walk_must(qn_matcher_open(g, walk_vocab.vocab, NULL, &m, NULL) == QN_OK);
    for (unsigned n = 0; n < MAX_TOKENS && qn_matcher_mask(m, bits) == QN_OK; n++) {
        uint32_t n_allowed = 0;
        int32_t id = -1;
        for (uint32_t i = 0; i < n_vocab; i++) {
            if ((bits[i / 64] >> i % 64 & 1) != 0 && qn_random_below(&random, ++n_allowed) == 0) {
                id = (int32_t)i;
            }
        }
        walk_must(id >= 0 && (bits[0] & 1) == qn_matcher_may_end(m));
        if (qn_matcher_may_end(m)) {
            walk_check(b, &text);
        }
        if (id <= 1) { /* the end, or a special token */
            break;
        }
        walk_must(qn_tokenizer_decode_token(walk_vocab.tokenizer, id, 0, false, &text, NULL) == QN_OK);
        qn_status status = qn_matcher_accept(m, id);
        walk_must(status == QN_OK || status == QN_EFULL);
        if (status != QN_OK) {
            break;
        }
    }
    qn_matcher_close(m);
    qn_buf_free(&text);
}

/* After a front end returned `status`: compiles and walks, or asks for an error's text. Frees b. */
static inline void walk(qn_gx_builder *b, qn_status status, const qn_error *front_err, uint64_t seed)
{
    qn_grammar *g = NULL;
    qn_error err = {0};
    walk_must(status == QN_OK || front_err->what[0] != '\0');
    if (status == QN_OK) {
        status = qn_grammar_open(b, NULL, &g, &err);
        walk_must(status == QN_OK || err.what[0] != '\0');
        if (status == QN_OK) {
            walk_grammar(b, g, seed);
            qn_grammar_close(g);
        }
    }
    qn_gx_free(b);
}

#endif
