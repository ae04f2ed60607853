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

static inline void qn_small_wpm_keys(qn_gguf_writer *w, void *ctx)
{
    (void)ctx;
    qn_gguf_set_u32(w, "tokenizer.ggml.unknown_token_id", 1);
    qn_gguf_set_u32(w, "tokenizer.ggml.cls_token_id", 2);
    qn_gguf_set_u32(w, "tokenizer.ggml.seperator_token_id", 3);
    qn_gguf_set_u32(w, "tokenizer.ggml.mask_token_id", 4);
}

/* WordPiece: [PAD] 0, [UNK] 1, [CLS] 2, [SEP] 3, [MASK] 4 (all control), then pieces. */
static inline void qn_small_wpm(small_vocab *v)
{
    static const char *const special[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
    static const char *const words[] = {"\u2581a", "\u2581b", "a", "b", "\u2581he", "llo", "l", "lo", "\u2581hello",
                                        "\u2581caf\u00E9", "\u2581cafe", "s", "\u2581,", "\u2581.", "\u2581[",
                                        "\u2581\u4E2D", "\u2581\u6587", "\u2581\u00DF", "\u2581\u03C3", "\u2581Hello"};
    *v = (small_vocab){.model = "bert", .n_kinds = -1, .edit = qn_small_wpm_keys};
    for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
        qn_small_add(v, special[i], QN_TOKEN_CONTROL, 0);
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        qn_small_add(v, words[i], QN_TOKEN_NORMAL, 0);
    }
}

/* Unigram: <pad> 0, </s> 1 (control), <unk> 2, then pieces with scores, <tool> (user) behind them; with_bytes: byte
 * tokens last. */
static inline void qn_small_unigram(small_vocab *v, bool with_bytes)
{
    static const struct {
        const char *piece;
        float score;
    } words[] = {{"\u2581", -2.0f}, {"a", -4.0f},    {"b", -4.5f},  {"ab", -6.0f},        {"abc", -9.0f},
                 {"c", -5.0f},      {"bc", -5.25f}, {"he", -5.0f}, {"\u2581hello", -6.5f}, {"l", -5.5f},
                 {"o", -5.5f},      {"llo", -7.0f}, {"\u00E9", -8.0f}, {"\u4E2D\u6587", -7.5f}, {"\u4E2D", -8.5f}};
    *v = (small_vocab){.model = "t5", .n_kinds = -1, .n_scores = -1};
    qn_small_add(v, "<pad>", QN_TOKEN_CONTROL, 0);
    qn_small_add(v, "</s>", QN_TOKEN_CONTROL, 0);
    qn_small_add(v, "<unk>", QN_TOKEN_UNKNOWN, 0);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        qn_small_add(v, words[i].piece, QN_TOKEN_NORMAL, words[i].score);
    }
    qn_small_add(v, "<tool>", QN_TOKEN_USER, 0);
    for (uint32_t byte = 0; with_bytes && byte < 256; byte++) {
        snprintf(v->text[byte], sizeof(v->text[byte]), "<0x%02X>", byte);
        qn_small_add(v, v->text[byte], QN_TOKEN_BYTE, 0);
    }
}

/* RWKV: <s> 0 (control), the bytes from 1 on as the file spells them, then words. */
static inline void qn_small_rwkv(small_vocab *v)
{
    static const char *const words[] = {"he", "hello", "lo w", "\\n\\n", "\\r\\n", "\\xc3\\xa9", "it\\'s", "\\\\n",
                                        "\xE4\xB8\xAD", "\\t\\t"};
    *v = (small_vocab){.model = "rwkv", .n_kinds = -1};
    qn_small_add(v, "<s>", QN_TOKEN_CONTROL, 0);
    for (uint32_t byte = 0; byte < 256; byte++) {
        const char *letter = byte == '\t' ? "t" : byte == '\n' ? "n" : byte == '\r' ? "r" : byte == '\\' ? "\\" : NULL;
        if (letter != NULL) {
            snprintf(v->text[byte], sizeof(v->text[byte]), "\\%s", letter);
        } else if (byte < ' ' || byte >= 0x7F) {
            snprintf(v->text[byte], sizeof(v->text[byte]), "\\x%02x", byte);
        } else {
            v->text[byte][0] = (char)byte;
        }
        qn_small_add(v, v->text[byte], QN_TOKEN_NORMAL, 0);
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        qn_small_add(v, words[i], QN_TOKEN_NORMAL, 0);
    }
    qn_small_add(v, "[PAD]", QN_TOKEN_UNUSED, 0);
}

/* PLaMo: <|plamo:unk|> 0, bos 1, eos 2, byte tokens from 3 on, then pieces with scores. */
static inline void qn_small_plamo(small_vocab *v)
{
    static const struct {
        const char *piece;
        float score;
    } words[] = {{"a", -4.0f},  {"b", -4.5f},     {"ab", -6.0f}, {"abc", -9.0f},  {"c", -5.0f},
                 {"bc", -4.0f}, {"hello", -6.5f}, {" ", -2.0f},  {"\u00E9", -8.0f}, {"ba", -8.5f}};
    *v = (small_vocab){.model = "plamo2", .n_kinds = -1, .n_scores = -1};
    qn_small_add(v, "<|plamo:unk|>", QN_TOKEN_UNKNOWN, 0);
    qn_small_add(v, "<|plamo:bos|>", QN_TOKEN_CONTROL, 0);
    qn_small_add(v, "<|plamo:eos|>", QN_TOKEN_CONTROL, 0);
    for (uint32_t byte = 0; byte < 256; byte++) {
        snprintf(v->text[byte], sizeof(v->text[byte]), "<0x%02X>", byte);
        qn_small_add(v, v->text[byte], QN_TOKEN_BYTE, 0);
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        qn_small_add(v, words[i].piece, QN_TOKEN_NORMAL, words[i].score);
    }
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
