/* A small vocabulary of characters with merges, for tests and fuzzers.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TESTS_SMALL_GEMMA_H
#define QN_TESTS_SMALL_GEMMA_H

#include "small_vocab.h"

/* BPE over characters: <unk> 0, <s> 1, </s> 2, <0x00>..<0xFF> from 3 on, then pieces; <tool> (user) last. */
static inline void qn_small_gemma(small_vocab *v)
{
    static const char *const merges[] = {"\u2581 \u2581", "l l",   "h e", "ll o", "\u2581 he", "he llo",
                                         "\u2581he llo",  "\n \n", "b c", "a b",  "ab bc"};
    static const char *const words[] = {
        "\u2581",       "a",  "b",  "c",   "h",        "e",     "l",           "o",    "w",  "\n", "\u00E9",
        "\u2581\u2581", "ll", "he", "llo", "\u2581he", "hello", "\u2581hello", "\n\n", "bc", "ab", "abbc"};
    *v = (small_vocab){.model = "gemma4", .n_kinds = -1};
    qn_small_add(v, "<unk>", QN_TOKEN_UNKNOWN, 0);
    qn_small_add(v, "<s>", QN_TOKEN_CONTROL, 0);
    qn_small_add(v, "</s>", QN_TOKEN_CONTROL, 0);
    for (uint32_t byte = 0; byte < 256; byte++) {
        snprintf(v->text[byte], sizeof(v->text[byte]), "<0x%02X>", byte);
        qn_small_add(v, v->text[byte], QN_TOKEN_BYTE, 0);
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        qn_small_add(v, words[i], QN_TOKEN_NORMAL, 0);
    }
    for (size_t i = 0; i < sizeof(merges) / sizeof(merges[0]); i++) {
        v->merges[v->n_merges++] = qn_str_of(merges[i]);
    }
    qn_small_add(v, "<tool>", QN_TOKEN_USER, 0);
}

#endif
