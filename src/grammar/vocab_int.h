/* The vocabulary as grammars see it: its tokens' bytes as a tree, and slices: sets of tokens that consist of characters
 * of common kinds only, so that a state which stays where it is on all of these takes them at once.
 * SPDX-License-Identifier: MIT */
#ifndef QN_GRAMMAR_VOCAB_INT_H
#define QN_GRAMMAR_VOCAB_INT_H

#include "grammar/grammar.h"

#define QN_TRIE_MAX_LEN 1024 /* longer tokens are never offered: bounds what a walk keeps */
#define QN_SLICE_LEVELS 16   /* masks of tokens of at most so many characters; longer ones are listed */
#define QN_MAX_SLICES 16

/* Kinds of characters; a token has the set of those that are in it. */
enum {
    QN_CHAR_LOWER = 1u << 0, QN_CHAR_UPPER = 1u << 1, QN_CHAR_DIGIT = 1u << 2, QN_CHAR_BLANK = 1u << 3,
    QN_CHAR_UNDERSCORE = 1u << 4, QN_CHAR_DASH = 1u << 5, QN_CHAR_DOT = 1u << 6, QN_CHAR_SLASH = 1u << 7,
    QN_CHAR_SIGN = 1u << 8, /* the rest of ASCII that can be seen */
    QN_CHAR_QUOTE = 1u << 9, QN_CHAR_BACKSLASH = 1u << 10, QN_CHAR_NEWLINE = 1u << 11, QN_CHAR_TAB = 1u << 12,
    QN_CHAR_CONTROL = 1u << 13, QN_CHAR_WIDE = 1u << 14, /* all beyond ASCII */
    QN_CHAR_PART = 1u << 15, /* bytes that are no whole character */
};

typedef struct qn_trie_node { /* in depth-first order; children of node i start at i + 1 and end before its next */
    uint32_t next;
    int32_t token;  /* -1: none ends here */
    uint16_t depth; /* bytes from the root, which is no node: >= 1 */
    uint8_t byte;
    bool has_more; /* other tokens have the same bytes: qn_grammar_vocab.same */
} qn_trie_node;

typedef struct qn_trie {
    qn_trie_node *nodes;
    uint32_t n;
    uint32_t child[256]; /* of the root: index + 1; 0: none */
} qn_trie;

typedef struct qn_slice {
    uint16_t kinds;
    bool has_byte[256]; /* bytes that its tokens are made of */
    uint32_t n_tokens, n_long;
    uint64_t *masks[QN_SLICE_LEVELS + 1]; /* [k]: tokens of at most k characters; [0]: all */
    uint32_t *long_ids;                   /* tokens of more characters than there are levels, the shortest first */
    uint16_t *long_chars;
    qn_trie rest; /* the tokens that are not in it */
} qn_slice;

struct qn_grammar_vocab {
    const qn_tokenizer *tokenizer;
    qn_budget *budget;
    uint64_t serial; /* no two vocabularies of a process have the same */
    uint32_t n_vocab, n_words;
    uint32_t max_len; /* bytes of the longest token that is offered */
    char *text;       /* all tokens' bytes */
    uint32_t *first;  /* n_vocab + 1 places in text */
    int32_t *same;    /* the next token with the same bytes; -1: none */
    int32_t *ends;
    uint32_t n_ends;
    qn_trie all;
    qn_slice slices[QN_MAX_SLICES];
    uint32_t n_slices;
};

static inline qn_str qn_vocab_bytes(const qn_grammar_vocab *v, int32_t id)
{
    return (qn_str){v->text + v->first[id], v->first[id + 1] - v->first[id]};
}

/* vocab_slice.c. sorted: ids of the tokens that have bytes, by bytes. */
qn_status qn_trie_build(qn_grammar_vocab *v, const int32_t *sorted, uint32_t n, qn_trie *out);
qn_status qn_slices_build(qn_grammar_vocab *v, const int32_t *sorted, uint32_t n);
void qn_slices_close(qn_grammar_vocab *v);
/* The set of kinds in a text; *n_chars counts its characters. */
uint16_t qn_kinds_of(qn_str text, uint32_t *n_chars);
uint16_t qn_kind_of_ascii(unsigned char c);

#endif
