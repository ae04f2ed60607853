/* Small vocabularies made in memory with the GGUF writer, for the tests and fuzzers of the tokenizers.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TESTS_SMALL_VOCAB_H
#define QN_TESTS_SMALL_VOCAB_H

#include "text/tokenizer.h"
#include "text/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL_VOCAB_CAP 512

/* What a file will hold; tests change it before qn_small_write(). */
typedef struct small_vocab {
    const char *model, *pre; /* pre NULL: no key */
    qn_str tokens[SMALL_VOCAB_CAP];
    int32_t kinds[SMALL_VOCAB_CAP];
    float scores[SMALL_VOCAB_CAP];
    uint32_t n;
    qn_str merges[64];
    uint32_t n_merges;
    int n_kinds, n_scores; /* entries written; -1: one for each token, 0: no key */
    char text[256][8]; /* the spellings of the bytes */
    /* Changes what is written: called last. */
    void (*edit)(qn_gguf_writer *w, void *ctx);
    void *ctx;
} small_vocab;

static inline int32_t qn_small_add(small_vocab *v, const char *token, int32_t kind, float score)
{
    v->tokens[v->n] = qn_str_of(token);
    v->kinds[v->n] = kind;
    v->scores[v->n] = score;
    return (int32_t)v->n++;
}

/* Byte-level BPE: <|end|> 0 (control), <tool> 1 (user), bytes from 2 on, then words. */
static inline void qn_small_bpe(small_vocab *v)
{
    static const char *const words[] = {"he", "ll", "llo", "hello", "\u0120w", "or", "ld", "orld", "\u0120world",
                                        "ab", "bc", "abc", "\u0120\u0120", "aa", "aaaa"};
    static const char *const merges[] = {"h e", "l l", "ll o", "he llo", "\u0120 w", "o r", "l d", "or ld",
                                         "\u0120w orld", "b c", "a b", "ab c", "\u0120 \u0120", "a a", "aa aa"};
    *v = (small_vocab){.model = "gpt2", .pre = "gpt-2", .n_kinds = -1};
    qn_small_add(v, "<|end|>", QN_TOKEN_CONTROL, 0);
    qn_small_add(v, "<tool>", QN_TOKEN_USER, 0);
    uint32_t next = 0x100;
    for (uint32_t byte = 0; byte < 256; byte++) {
        bool printable = (byte > ' ' && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
        v->text[byte][qn_utf8_put(printable ? byte : next++, v->text[byte])] = '\0';
        qn_small_add(v, v->text[byte], QN_TOKEN_NORMAL, 0);
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        qn_small_add(v, words[i], QN_TOKEN_NORMAL, 0);
    }
    for (size_t i = 0; i < sizeof(merges) / sizeof(merges[0]); i++) {
        v->merges[v->n_merges++] = qn_str_of(merges[i]);
    }
}

/* SentencePiece: <unk> 0, <s> 1, </s> 2, <0x00>..<0xFF> from 3 on, then pieces with scores; <tool> (user) last. */
static inline void qn_small_spm(small_vocab *v)
{
    static const char *const words[] = {"\u2581", "a", "b", "c", "h", "e", "l", "o", "w", "\u00E9", "he", "ll", "ab",
                                        "bc", "llo", "\u2581\u2581", "\u2581he", "hello", "\u2581hello", "aa", "aaaa"};
    *v = (small_vocab){.model = "llama", .n_kinds = -1, .n_scores = -1};
    qn_small_add(v, "<unk>", QN_TOKEN_UNKNOWN, 0);
    qn_small_add(v, "<s>", QN_TOKEN_CONTROL, 0);
    qn_small_add(v, "</s>", QN_TOKEN_CONTROL, 0);
    for (uint32_t byte = 0; byte < 256; byte++) {
        snprintf(v->text[byte], sizeof(v->text[byte]), "<0x%02X>", byte);
        qn_small_add(v, v->text[byte], QN_TOKEN_BYTE, 0);
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        /* Longer pieces later in the list and better; "ab" and "bc" alike, so that their place decides. */
        float score = strcmp(words[i], "bc") == 0 ? -20.0f + 12.0f : -20.0f + (float)i;
        qn_small_add(v, words[i], QN_TOKEN_NORMAL, score);
    }
    qn_small_add(v, "<tool>", QN_TOKEN_USER, 0);
}

/* The file's bytes, for qn_free(). */
static inline uint8_t *qn_small_write(const small_vocab *v, size_t *n_bytes)
{
    qn_gguf_writer *w = NULL;
    uint8_t *bytes = NULL;
    if (qn_gguf_writer_open(NULL, 32, &w, NULL) != QN_OK) {
        abort();
    }
    qn_gguf_set_str(w, "tokenizer.ggml.model", qn_str_of(v->model));
    if (v->pre != NULL) {
        qn_gguf_set_str(w, "tokenizer.ggml.pre", qn_str_of(v->pre));
    }
    qn_gguf_set_strs(w, "tokenizer.ggml.tokens", v->tokens, v->n);
    if (v->n_kinds != 0) {
        uint64_t n = v->n_kinds < 0 ? v->n : (uint64_t)v->n_kinds;
        qn_gguf_set_array(w, "tokenizer.ggml.token_type", QN_GGUF_I32, v->kinds, n);
    }
    if (v->n_scores != 0) {
        uint64_t n = v->n_scores < 0 ? v->n : (uint64_t)v->n_scores;
        qn_gguf_set_array(w, "tokenizer.ggml.scores", QN_GGUF_F32, v->scores, n);
    }
    if (v->n_merges > 0) {
        qn_gguf_set_strs(w, "tokenizer.ggml.merges", v->merges, v->n_merges);
    }
    if (v->edit != NULL) {
        v->edit(w, v->ctx);
    }
    if (qn_gguf_write_memory(w, &bytes, n_bytes, NULL) != QN_OK) {
        abort();
    }
    qn_gguf_writer_close(w);
    return bytes;
}

#endif
