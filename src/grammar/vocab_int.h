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
    uint32_t rank;  /* its tokens, if any, are ids[rank, rank of the node after it) */
    uint16_t depth; /* bytes from the root, which is no node: >= 1 */
    uint16_t kinds; /* of the characters below it, where it lies between two */
    uint8_t byte;
    uint8_t height; /* characters of the longest token below it; QN_NO_HEIGHT: not known, or within a character */
} qn_trie_node;

#define QN_NO_HEIGHT 255u

typedef struct qn_trie {
    qn_trie_node *nodes; /* n, and one more behind them */
    int32_t *ids;        /* by bytes */
    uint32_t n;
    uint32_t child[256]; /* of the root: index + 1; 0: none */
} qn_trie;

/* The first token that ends at a node; -1: none. */
static inline int32_t qn_trie_token(const qn_trie *t, uint32_t node)
{
    return t->nodes[node].rank < t->nodes[node + 1].rank ? t->ids[t->nodes[node].rank] : -1;
}

typedef struct qn_slice_place { /* a node of a slice's rest, or a token; and characters of the slice before it */
    uint32_t i, n_chars;
} qn_slice_place;

typedef struct qn_slice {
    uint16_t kinds;
    bool has_byte[256]; /* bytes that its tokens are made of */
    uint32_t n_tokens, n_long;
    uint32_t n_up_to[QN_SLICE_LEVELS + 1]; /* [k]: tokens of at most k characters */
    uint32_t max_border;                   /* characters before the last of borders and parts */
    uint64_t *masks[QN_SLICE_LEVELS + 1]; /* [k]: tokens of at most k characters; [0]: all */
    uint32_t *long_ids;                   /* tokens of more characters than there are levels, the shortest first */
    uint16_t *long_chars;
    qn_trie rest; /* the tokens that are not in it */
    /* Where the rest leaves the slice: borders[first_border[c], first_border[c + 1]) are the nodes of byte c that are no
     * beginning of one of its characters, behind nothing but whole ones. parts: tokens that end within a character, that
     * one counted. has_odd: there are tokens that break a character off and go on, for which this does not tell all. */
    qn_slice_place *borders, *parts;
    uint32_t first_border[257], n_parts;
    bool has_odd;
} qn_slice;

struct qn_grammar_vocab {
    const qn_tokenizer *tokenizer;
    qn_budget *budget;
    uint64_t serial; /* no two vocabularies of a process have the same */
    uint32_t n_vocab, n_words;
    uint32_t max_len; /* bytes of the longest token that is offered */
    char *text;       /* all tokens' bytes */
    uint32_t *first;  /* n_vocab + 1 places in text */
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

/* vocab_trie.c. sorted: ids of the tokens that have bytes, by bytes. */
qn_status qn_trie_build(qn_grammar_vocab *v, const int32_t *sorted, uint32_t n, qn_trie *out);
void qn_trie_close(qn_trie *t);
/* vocab_slice.c */
qn_status qn_slices_build(qn_grammar_vocab *v, const int32_t *sorted, uint32_t n);
void qn_slices_close(qn_grammar_vocab *v);
/* vocab_border.c */
qn_status qn_slice_find_borders(const qn_grammar_vocab *v, qn_slice *s);

/* Where a text of whole characters may stand: between two (0), or within one; and which bytes go on from there. */
enum { QN_UTF8_BETWEEN, QN_UTF8_LAST, QN_UTF8_TWO, QN_UTF8_THREE, QN_UTF8_E0, QN_UTF8_ED, QN_UTF8_F0, QN_UTF8_F4 };

typedef struct qn_utf8_range {
    uint8_t first, last, next; /* next: where the byte leads to */
} qn_utf8_range;

extern const qn_utf8_range qn_utf8_within[8]; /* by place; not of QN_UTF8_BETWEEN */
/* The place behind a byte from 0xc2 to 0xf4 that begins a character. */
int qn_utf8_after_lead(unsigned char c);
/* The place behind any byte; -1: no text goes on so. */
int qn_utf8_after(int place, unsigned char c);

/* The set of kinds in a text; *n_chars counts its characters. */
uint16_t qn_kinds_of(qn_str text, uint32_t *n_chars);
uint16_t qn_kind_of_ascii(unsigned char c);

#endif
