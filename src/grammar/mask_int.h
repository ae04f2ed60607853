/* Masks: which tokens a configuration allows, put together from results: what a walk of the vocabulary found.
 * SPDX-License-Identifier: MIT */
#ifndef QN_GRAMMAR_MASK_INT_H
#define QN_GRAMMAR_MASK_INT_H

#include "grammar/matcher_int.h"

typedef enum qn_walk_kind {
    QN_WALK_CONFIG, /* all tokens, from configuration a */
    QN_WALK_LOOP,   /* all tokens, from frame a, between two rounds of a loop; b: its frames are all that can follow */
    QN_WALK_ON,     /* the tokens behind the exits of result a, from configuration b */
} qn_walk_kind;

struct qn_result {
    uint32_t kind, a, b;
    uint32_t i_trie;        /* where exits are: 0 the whole vocabulary, else slice i_trie - 1's rest */
    uint32_t slice, level;  /* this mask of slice - 1 belongs to it; 0: none */
    uint32_t n_ids, n_exits;
    bool is_dense;    /* the ids are a mask */
    uint32_t items[]; /* ids (or a mask), then exits: nodes behind which the text goes on below the bottom */
};

static inline const qn_trie *qn_result_trie(const qn_grammar_vocab *v, uint32_t i_trie)
{
    return i_trie == 0 ? &v->all : &v->slices[i_trie - 1].rest;
}

/* mask.c: sets the bits of all tokens that may come next. */
qn_status qn_mask_fill(qn_engine *e, uint32_t config, uint64_t *bits);

/* mask_walk.c: collects ids and exits in e->ids and e->exits. */
void qn_walk_begin(qn_engine *e);
/* Nodes [begin, end) of a trie, siblings and what is below them, from a configuration. */
void qn_walk(qn_engine *e, const qn_trie *t, uint32_t begin, uint32_t end, uint32_t config);
void qn_walk_root(qn_engine *e, const qn_trie *t, uint32_t config);
/* What follows a loop takes node i, whose parent is a place between two rounds. */
void qn_walk_behind(qn_engine *e, const qn_trie *t, uint32_t i, uint32_t behind);
void qn_walk_loop(qn_engine *e, const qn_trie *t, uint32_t begin, uint32_t end, uint32_t frame);

/* mask_table.c: all tokens from frame f (whose number is `frame`) between two rounds of a loop, which `behind` follows;
 * sets facts' slice, level and tree. facts->b: behind is all that can follow. */
void qn_walk_between(qn_engine *e, qn_frame f, uint32_t frame, uint32_t behind, qn_result *facts);

/* mask_loop.c: for a state between two rounds, the largest slice whose characters all are rounds from there on, and from
 * the states that they lead to. */
qn_loop_slice_found qn_loop_slice(qn_engine *e, uint32_t state);
/* The table of a loop without a guard for one of the slices; NULL after a failure. */
const qn_loop_table *qn_loop_table_of(qn_engine *e, uint32_t state, const qn_slice *s);
/* The states behind each byte, of a loop's state; NULL after a failure. */
const uint32_t *qn_loop_row(qn_engine *e, uint32_t state);

#endif
