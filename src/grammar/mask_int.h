/* Masks: which tokens a configuration allows, put together from results: what a walk of the vocabulary found.
 * SPDX-License-Identifier: MIT */
#ifndef QN_GRAMMAR_MASK_INT_H
#define QN_GRAMMAR_MASK_INT_H

#include "grammar/matcher_int.h"

typedef enum qn_walk_kind {
    QN_WALK_CONFIG, /* all tokens, from configuration a */
    QN_WALK_LOOP,   /* all tokens outside slice b / 2 (number + 1), from frame a of a loop; b % 2: its frames are all that
                       can follow */
    QN_WALK_ON,     /* the tokens behind the exits of result a, from configuration b */
} qn_walk_kind;

/* Tokens of a slice that a frame of a loop takes: all of up to `sure` characters; up to `most`, those that lead to an end. */
typedef struct qn_slice_use {
    uint32_t slice; /* number + 1; 0: none */
    uint32_t sure, most;
    qn_frame frame;
} qn_slice_use;

struct qn_result {
    uint32_t kind, a, b;
    uint32_t i_trie;        /* where exits are: 0 the whole vocabulary, else slice i_trie - 1's rest */
    uint32_t slice;         /* all tokens of slice - 1 belong to it; 0: none */
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
/* Counts nodes that were looked at: QN_EFULL (e->status) where a mask takes too long. */
void qn_walk_count(qn_engine *e, uint32_t n_nodes);
void qn_walk_add(qn_engine *e, uint32_t id);
void qn_walk_add_below(qn_engine *e, const qn_trie *t, uint32_t i); /* all tokens below a node */
/* Nodes [begin, end) of a trie, siblings and what is below them, from a configuration. */
void qn_walk(qn_engine *e, const qn_trie *t, uint32_t begin, uint32_t end, uint32_t config);
void qn_walk_root(qn_engine *e, const qn_trie *t, uint32_t config);
/* What follows a loop takes node i, whose parent is a place where the loop may end. */
void qn_walk_behind(qn_engine *e, const qn_trie *t, uint32_t i, uint32_t behind);
/* Whether a frame of the configuration is within the loop that has this state. */
bool qn_loop_is_within(const qn_engine *e, uint32_t state, uint32_t config);
void qn_walk_loop(qn_engine *e, const qn_trie *t, uint32_t begin, uint32_t end, uint32_t frame);

/* mask_slice.c: the largest slice (number + 1; 0: none) whose tokens a configuration takes all; the one that saves most,
 * with all its tokens or the shorter ones, from a state of a loop. */
uint32_t qn_slice_of_config(qn_engine *e, uint32_t config);
qn_slice_fit qn_slice_of_loop(qn_engine *e, uint32_t state);
/* Rounds that must be allowed from a state of a loop on for all tokens below node i to be taken, and to lead to an end,
 * surely. UINT32_MAX: not known. *n_left: of how many more states the slice may be looked for. */
uint32_t qn_below_needs(qn_engine *e, const qn_trie *t, uint32_t i, uint32_t state, uint32_t *n_left);

/* mask_loop.c */

/* The states behind each byte, of a loop's state; NULL after a failure. */
uint32_t *qn_loop_row(qn_engine *e, uint32_t state);
/* The table of a loop's state for what is outside of the slice that fits it (NULL: none); NULL after a failure. */
const qn_loop_table *qn_loop_table_of(qn_engine *e, uint32_t state, const qn_slice *s);
/* All tokens outside s by the table, with the counters of f, whose number is `frame`. */
void qn_walk_table(qn_engine *e, uint32_t frame, const qn_loop_table *table, const qn_slice *s, uint32_t behind);

/* mask_table.c */

/* How the mask of a loop's frame is found: tokens of a slice at once, the others by the table (NULL: by a walk), with
 * these counters, which may be more general than the frame's. */
typedef struct qn_loop_plan {
    qn_slice_use use;
    qn_frame frame;
    const qn_loop_table *table;
} qn_loop_plan;

/* behind: what can follow the loop; is_whole: all that can. */
qn_loop_plan qn_loop_plan_of(qn_engine *e, qn_frame f, uint32_t behind, bool is_whole);
/* The tokens outside the plan's slice; frame is the number of the plan's. */
void qn_walk_between(qn_engine *e, const qn_loop_plan *plan, uint32_t frame, uint32_t behind);
/* The slice's tokens of more than `sure` characters that turn out to have a way to an end. */
void qn_slice_add_longer(qn_engine *e, const qn_slice_use *u, uint64_t *bits);

#endif
