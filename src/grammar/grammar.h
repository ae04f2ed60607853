/* Grammars at work: compiled once, shared by any number of sequences, each with a matcher that says which tokens may
 * come next.
 * SPDX-License-Identifier: MIT */
#ifndef QN_GRAMMAR_GRAMMAR_H
#define QN_GRAMMAR_GRAMMAR_H

#include "base/buf.h"
#include "grammar/expr.h"
#include "text/tokenizer.h"

/* ---- the vocabulary, prepared once a load (a tree of its tokens' bytes, sets of common kinds of tokens) ---- */

typedef struct qn_grammar_vocab qn_grammar_vocab; /* immutable: any thread */

/* t must outlive it. Takes well under a second for 256k tokens. */
qn_status qn_grammar_vocab_open(const qn_tokenizer *t, qn_budget *b, qn_grammar_vocab **out, qn_error *err);
void qn_grammar_vocab_close(qn_grammar_vocab *v);
/* The bytes of a token as grammars see it; none: it is no ordinary text. id is one of the vocabulary. */
qn_str qn_grammar_vocab_bytes(const qn_grammar_vocab *v, int32_t id);
/* Whether some token begins with text and is longer. */
bool qn_grammar_vocab_has_longer(const qn_grammar_vocab *v, qn_str text);
/* The fewest tokens that spell text, and the first of them (-1: text is empty). QN_ENOTFOUND: none do. */
qn_status qn_grammar_vocab_cut(const qn_grammar_vocab *v, qn_str text, int32_t *first, uint32_t *n_tokens);

/* ---- the automaton ---- */

typedef struct qn_grammar qn_grammar; /* any thread may use it; what is found out on the way is shared safely */

typedef struct qn_grammar_size {
    uint32_t n_rules, n_states, n_edges;
    uint64_t bytes;
} qn_grammar_size;

/* Compiles b (which may be freed afterwards). QN_EFORMAT: an undefined rule, left recursion (err names the rule), a
 * grammar that matches nothing; QN_EUNSUPPORTED: AND or NOT of something not regular; QN_EFULL: too large. */
qn_status qn_grammar_open(const qn_gx_builder *b, qn_budget *budget, qn_grammar **out, qn_error *err);
void qn_grammar_close(qn_grammar *g);
void qn_grammar_get_size(const qn_grammar *g, qn_grammar_size *out);
/* What matchers that were closed left behind for the next ones, beside the size. */
uint64_t qn_grammar_idle_bytes(const qn_grammar *g);

/* ---- one sequence ---- */

typedef struct qn_matcher qn_matcher;

/* g and v must outlive it. */
qn_status qn_matcher_open(qn_grammar *g, const qn_grammar_vocab *v, qn_budget *b, qn_matcher **out, qn_error *err);
void qn_matcher_close(qn_matcher *m);
qn_status qn_matcher_copy(const qn_matcher *m, qn_matcher **out, qn_error *err);

/* One bit a token, (n_vocab + 63) / 64 words: set when the token may come next. End tokens are set when the text may
 * end here. Never empty: a state without a way on is only reached by accepting what the mask forbade. */
qn_status qn_matcher_mask(qn_matcher *m, uint64_t *bits);
/* Advances by a token. QN_EINVAL: the grammar forbids it; the matcher is unchanged. */
qn_status qn_matcher_accept(qn_matcher *m, int32_t id);
/* The same for bytes; *n_taken tells how far they went when not all did. */
qn_status qn_matcher_accept_bytes(qn_matcher *m, const char *bytes, size_t n, size_t *n_taken);
/* Appends the bytes that must follow here, whatever is chosen; perhaps none. The matcher does not move. */
qn_status qn_matcher_forced(qn_matcher *m, qn_buf *out);
/* After QN_EFULL: what was too large for the limits of a call, and what would do; "" else. It never means that the text
 * is forbidden. */
const char *qn_matcher_limit(const qn_matcher *m);
bool qn_matcher_may_end(const qn_matcher *m);
bool qn_matcher_must_end(const qn_matcher *m); /* nothing but the end may come */
/* Bytes of the shortest text that ends it from here; a special token on the way counts as one. While it is not 0, some
 * byte (or special token) may come behind which it is less; so with n tokens left, a vocabulary that has every byte as a
 * token can end the text in time when this is at most n. Exact, but for patterns beside a length of thousands of
 * characters more, where it may be too much, never too little. UINT64_MAX: 4 GiB or more. Takes microseconds. */
uint64_t qn_matcher_shortest_end(const qn_matcher *m);
/* Appends the bytes of such a text, of all the first in the order of bytes; from within a character, they begin with its
 * remaining bytes. The matcher does not move. QN_EUNSUPPORTED: behind what was appended, a special token must come,
 * which is in the mask there; QN_ERANGE: more than 64 KiB; QN_EFULL: it would take too long, or too large a text;
 * nothing was appended then. */
qn_status qn_matcher_shortest_text(qn_matcher *m, qn_buf *out);
/* Goes back by n tokens that were accepted; QN_ERANGE: more than are remembered (64). */
qn_status qn_matcher_rollback(qn_matcher *m, uint32_t n);

#endif
