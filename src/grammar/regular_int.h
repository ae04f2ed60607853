/* Expressions as the automaton sees them: nodes that are equal when their numbers are, and what a node does with the
 * next byte (its head). A node is a state of the automaton; the states that follow are made when they are first asked
 * for. One pool belongs to one owner at a time.
 *
 * The head of a node: runs of symbols, sorted and disjoint, each with the node that remains behind them; and calls of
 * rules and loops, each with the node that remains when the callee is through. A callee that matches the empty text is
 * seen here already: what follows it is part of the head too.
 * SPDX-License-Identifier: MIT */
#ifndef QN_GRAMMAR_REGULAR_INT_H
#define QN_GRAMMAR_REGULAR_INT_H

#include "base/alloc.h"
#include "base/checked.h"
#include "grammar/expr.h"

#define QN_RX_OWNER "grammar"
#define QN_RX_MAX_WORK (1u << 22) /* parts of nodes that were handled: well below a second */
#define QN_RX_MAX_NODES (1u << 22) /* about 200 MB with all that belongs to them */
#define QN_RX_MAX_POOL (1u << 26)  /* other items */
#define QN_RX_MAX_DEPTH 2048       /* of nodes on the left side of nodes: bounds the recursion of qn_rx_head() */
#define QN_RX_NEVER 0u             /* numbers of two nodes that every pool has */
#define QN_RX_EPS 1u
#define QN_RX_SPECIAL_SYMBOL 256u /* symbols: bytes, then special tokens */
#define QN_RX_MAX_SPECIALS 4096u

typedef uint32_t qn_rx;

typedef enum qn_rx_kind {
    QN_RX_K_NEVER,
    QN_RX_K_EPS,
    QN_RX_K_SWITCH, /* runs[a, a + b) */
    QN_RX_K_LIT,    /* text[a, a + b), b >= 1 */
    QN_RX_K_CAT,    /* a then b; a is no CAT */
    QN_RX_K_ALT,    /* kids[a, a + b), sorted */
    QN_RX_K_REP,    /* a, b to c times */
    QN_RX_K_CALL,   /* rule a */
    QN_RX_K_LCALL,  /* the loop that starts at node a, b to c times */
    QN_RX_K_STATE,  /* a state of an automaton made beforehand; its head is set */
    QN_RX_K_LOOP,   /* a state of loop a (b: between two rounds, where the counters of a frame say what is open) */
    QN_RX_K_PAIR,   /* only while a guarded loop is made: a guard and a place in a round */
    QN_RX_K_GLOOP,  /* a loop whose round is a call of rule a */
    QN_RX_K_AND,    /* only while states are made of them: a and b */
    QN_RX_K_NOT,    /* texts of any bytes that a does not match */
} qn_rx_kind;

typedef struct qn_rx_node {
    uint8_t kind;
    bool is_null;    /* matches the empty text; for LOOP and GLOOP the counters decide too */
    uint16_t depth;
    uint32_t a, b, c;
    uint32_t min_len; /* bytes of the shortest match, saturating */
    uint32_t head;    /* number of its head + 1; 0: not asked for yet */
} qn_rx_node;

typedef struct qn_rx_run {
    uint16_t lo, hi;
    qn_rx to;
} qn_rx_run;

typedef struct qn_rx_call {
    qn_rx call; /* a CALL or LCALL node */
    qn_rx rest;
} qn_rx_call;

typedef struct qn_rx_head {
    uint32_t first_run, n_runs, first_call, n_calls;
} qn_rx_head;

typedef struct qn_rx_vec { /* a pool of items that only grows */
    void *items;
    uint32_t n, cap;
} qn_rx_vec;

typedef struct qn_rx_rule { /* what nodes must know of the rules that they call */
    qn_rx start;
    uint32_t min_len; /* UINT32_MAX: matches nothing */
} qn_rx_rule;

/* A loop over rounds. A guarded one matches only texts that its guard matches too (a pattern, beside a length): from each
 * of its states only some numbers of rounds lead to an end. Which ones, repeats from n_lengths - period on. */
typedef struct qn_rx_loop {
    qn_rx start; /* the state between two rounds before the first */
    qn_rx round; /* what a round matches */
    bool is_guarded;
    uint32_t first_state; /* number (c) of its first state; the others follow */
    uint32_t first_length, n_lengths, period; /* lengths[first_length + i * n_lengths + k]: state i, least number >= k */
    /* loop_bytes[first_bytes + i * (n_columns + 1) + k]: state i, bytes of exactly k rounds to an end; beyond the columns
     * they grow with each cycle by what stands behind those. cycle 0: there are no more rounds. */
    uint32_t first_bytes, n_columns, cycle;
} qn_rx_loop;

#define QN_RX_NO_LENGTH UINT16_MAX

typedef struct qn_rx_pool {
    qn_budget *budget;
    qn_status status; /* sticks: QN_ENOMEM, QN_EBUDGET, QN_EFULL */
    const char *limit; /* of the last QN_EFULL: what was too large, and what would do; NULL: not known */
    qn_rx_vec nodes, runs, kids, heads, calls, text, rules, loops, lengths;
    qn_rx_vec loop_bytes; /* of guarded loops; a copy of the pool has none */
    uint32_t *slots; /* hash table of nodes; 0: free (NEVER is not looked up) */
    uint32_t n_slots;
    uint32_t n_states; /* STATE and LOOP nodes */
    uint32_t n_specials;
    uint64_t work; /* since the owner set it to 0: bounds the time of a call */
    qn_rx_vec scratch_runs, scratch_calls, scratch_kids, scratch_spine; /* of one call */
} qn_rx_pool;

static inline qn_rx_node *qn_rx_at(const qn_rx_pool *p, qn_rx x) { return (qn_rx_node *)p->nodes.items + x; }
static inline qn_rx_run *qn_rx_runs(const qn_rx_pool *p) { return p->runs.items; }
static inline qn_rx *qn_rx_kids(const qn_rx_pool *p) { return p->kids.items; }
static inline qn_rx_call *qn_rx_calls(const qn_rx_pool *p) { return p->calls.items; }
static inline qn_rx_rule *qn_rx_rules(const qn_rx_pool *p) { return p->rules.items; }
static inline qn_rx_loop *qn_rx_loops(const qn_rx_pool *p) { return p->loops.items; }

static inline void qn_rx_full(qn_rx_pool *p, const char *limit)
{
    if (p->status == QN_OK) {
        p->status = QN_EFULL;
        p->limit = limit;
    }
}

/* Counts n parts handled; false: there were too many (QN_EFULL). */
static inline bool qn_rx_work(qn_rx_pool *p, uint64_t n)
{
    p->work += n;
    if (p->work > QN_RX_MAX_WORK) {
        qn_rx_full(p, "putting its alternatives together takes too long; fewer of them that begin alike would do");
    }
    return p->status == QN_OK;
}

/* Saturating sum and product of lengths; UINT32_MAX means "none". */
static inline uint32_t qn_len_add(uint32_t a, uint32_t b) { return a > UINT32_MAX - b ? UINT32_MAX : a + b; }

static inline uint32_t qn_len_mul(uint32_t a, uint32_t n)
{
    uint64_t all = (uint64_t)a * n;
    return n == 0 ? 0 : all > UINT32_MAX ? UINT32_MAX : (uint32_t)all;
}

/* Room for n more items, at most `limit` in all. False: *status says why (it sticks). */
bool qn_vec_room(qn_budget *b, qn_status *status, qn_rx_vec *v, uint32_t n, uint32_t limit, size_t item_bytes);
/* Appends one item. */
static inline bool qn_vec_add(qn_budget *b, qn_status *status, qn_rx_vec *v, const void *item, uint32_t limit,
                              size_t item_bytes)
{
    if ((v->n >= v->cap || *status != QN_OK) && !qn_vec_room(b, status, v, 1, limit, item_bytes)) {
        return false;
    }
    memcpy((char *)v->items + (size_t)v->n * item_bytes, item, item_bytes);
    v->n++;
    return true;
}

/* Room for n more items of one of the pool's own. */
static inline bool qn_rx_room(qn_rx_pool *p, qn_rx_vec *v, uint32_t n, size_t item_bytes)
{
    return qn_vec_room(p->budget, &p->status, v, n, QN_RX_MAX_POOL, item_bytes);
}

qn_status qn_rx_open(qn_rx_pool *p, qn_budget *b);
qn_status qn_rx_copy(const qn_rx_pool *from, qn_budget *b, qn_rx_pool *to); /* the same numbers */
void qn_rx_close(qn_rx_pool *p);
uint64_t qn_rx_bytes(const qn_rx_pool *p);

/* regular_node.c: the node that equals x. *is_new: it was not there, and now owns x's part of a pool. */
qn_rx qn_rx_intern(qn_rx_pool *p, const qn_rx_node *x, bool *is_new);
/* regular_carry.c: map[i], for i below n, is what nodes[i] of `from` is in `to`, which begins with the same n_same nodes;
 * only for those whose map[i] was set, and what they are made of. QN_EUNSUPPORTED: a node that is made while compiling. */
qn_status qn_rx_carry(const qn_rx_pool *from, qn_rx_pool *to, uint32_t n_same, uint32_t *map, uint32_t n);

/* regular_make.c: makers. After a failure (p->status) they return NEVER. */
qn_rx qn_rx_switch(qn_rx_pool *p, const qn_rx_run *runs, uint32_t n); /* sorted, disjoint */
qn_rx qn_rx_lit(qn_rx_pool *p, uint32_t first, uint32_t n);          /* text[first, first + n) */
qn_rx qn_rx_cat(qn_rx_pool *p, qn_rx a, qn_rx b);
qn_rx qn_rx_alt(qn_rx_pool *p, const qn_rx *kids, uint32_t n);
qn_rx qn_rx_rep(qn_rx_pool *p, qn_rx x, uint32_t min, uint32_t max);
qn_rx qn_rx_rule_call(qn_rx_pool *p, uint32_t rule);
qn_rx qn_rx_loop_call(qn_rx_pool *p, qn_rx start, uint32_t min, uint32_t max);
qn_rx qn_rx_gloop(qn_rx_pool *p, uint32_t rule);
qn_rx qn_rx_pair(qn_rx_pool *p, qn_rx guard, qn_rx round);
qn_rx qn_rx_and(qn_rx_pool *p, qn_rx a, qn_rx b);
qn_rx qn_rx_not(qn_rx_pool *p, qn_rx a);
/* A node of its own, whose head is set afterwards. */
qn_rx qn_rx_state(qn_rx_pool *p, qn_rx_kind kind, uint32_t a, uint32_t b, bool is_null, uint32_t min_len);
void qn_rx_set_head(qn_rx_pool *p, qn_rx x, const qn_rx_run *runs, uint32_t n);

/* regular_class.c: one character of a set, sorted and disjoint. */
qn_rx qn_rx_class(qn_rx_pool *p, const qn_gx_range *ranges, uint32_t n);
qn_rx qn_rx_any_char(qn_rx_pool *p);

/* regular_words.c: the same as qn_rx_alt(); literals among many share their beginnings. */
qn_rx qn_rx_words(qn_rx_pool *p, const qn_rx *kids, uint32_t n);

/* regular_head.c: the head of x; all zero after a failure. Indexes stay valid, pointers do not. */
qn_rx_head qn_rx_head_of(qn_rx_pool *p, qn_rx x);
/* What remains of x behind a symbol; NEVER: it cannot come. */
qn_rx qn_rx_step(qn_rx_pool *p, qn_rx x, uint32_t symbol);

/* regular_dfa.c: x (with AND and NOT in it) as states that are all made now. QN_EFULL: too many. */
qn_rx qn_rx_determinise(qn_rx_pool *p, qn_rx x);
/* A loop over x, made or found; NEVER (status unchanged): a round of x could go on where it might end. */
qn_rx qn_rx_loop_of(qn_rx_pool *p, qn_rx x);

/* regular_guard.c: min to max rounds of x (for which qn_rx_loop_of() found a loop), as a text that guard matches. */
qn_rx qn_rx_guarded(qn_rx_pool *p, qn_rx guard, qn_rx x, uint32_t min, uint32_t max);
/* The least number of rounds, from a state of a loop on and not below `least`, that leads to an end; the round that is
 * going on counts. UINT32_MAX: there is none. */
uint32_t qn_rx_rounds(const qn_rx_pool *p, qn_rx state, uint32_t least);
/* regular_bytes.c: fills in the bytes of a guarded loop, whose states are made; false: p->status says why. */
bool qn_rx_measure_loop(qn_rx_pool *p, uint32_t i_loop, uint32_t n_states, uint32_t max);
/* The fewest bytes from a state of a guarded loop to its end, with lo to hi rounds, the one that is going on counted; an
 * upper bound beyond thousands of rounds of a loop whose ways do not settle. UINT64_MAX: there is no way. */
uint64_t qn_rx_loop_bytes(const qn_rx_pool *p, qn_rx state, uint32_t lo, uint32_t hi);
/* The number from which on all numbers of rounds lead to an end; UINT32_MAX: there is none. */
uint32_t qn_rx_free_rounds(const qn_rx_pool *p, qn_rx state);

#endif
