/* What a matcher works with: stacks of frames, sets of them (configurations), and what was found out about these.
 *
 * A frame is a state, the counters of the loop it belongs to, and the frame that goes on when it is through; frame 0 is
 * the bottom. A configuration is the set of frames that may take the next byte, and whether the text may end. Frames
 * and configurations are equal when their numbers are.
 *
 * Masks work on short stacks: frames over a bottom that stands for whatever lies below. What is found for them holds
 * wherever the same frames lie on top; tokens that go below the bottom are followed on the next frames down.
 *
 * Invariants: (1) a frame's parent has a smaller number; (2) from every frame there is a way to its end; (3) an engine
 * belongs to one matcher, or lies idle in its grammar.
 * SPDX-License-Identifier: MIT */
#ifndef QN_GRAMMAR_MATCHER_INT_H
#define QN_GRAMMAR_MATCHER_INT_H

#include "grammar/automaton_int.h"
#include "grammar/vocab_int.h"

#include <stdatomic.h>

#define QN_MAX_STACKS 512          /* frames of a configuration: bounds the work of a byte */
#define QN_MAX_STEPS 4096          /* frames looked at for a byte */
#define QN_STEP_SLOTS (QN_MAX_STEPS * 2)
#define QN_MAX_STACK_DEPTH (1u << 16)
#define QN_MAX_HISTORY 64          /* tokens that can be taken back */
#define QN_ROWS_A_CHUNK 64
#define QN_MAX_ROWS 16384u         /* 16 MiB; beyond them steps are made without being kept */
#define QN_MAX_FRAMES (1u << 22)
#define QN_MAX_WORK (1u << 20)     /* frames looked at for a mask: less than half a second */
#define QN_NODES_A_FRAME 8         /* nodes of the vocabulary's tree that take as long as a frame */
#define QN_MAX_ENGINE_BYTES (48u << 20) /* an engine that holds more forgets what it can */
#define QN_MAX_STATE_BYTES (48u << 20)  /* states beside the grammar's own: more, and those not needed are forgotten */
#define QN_TOO_MANY_WAYS "the grammar allows too many ways to read this text; rules that overlap less would do"
#define QN_NO_CONFIG UINT32_MAX
#define QN_NOT_ASKED UINT64_MAX
#define QN_DEAD 0u /* the configuration without frames, where the text may not end */

typedef struct qn_frame {
    uint32_t state, lo, hi, parent; /* rounds that the loop needs and allows from here */
    uint32_t depth;
    uint64_t min_left; /* bytes to the end of this frame and those below; QN_NOT_ASKED: see matcher_end.c */
} qn_frame;

typedef struct qn_config {
    uint32_t first, n; /* frames: engine.sets[first, first + n), sorted */
    uint32_t row;      /* number of its row + 1; 0: none */
    bool may_end;
} qn_config;

/* What the walk of some part of the vocabulary gave; see mask_int.h. */
typedef struct qn_result qn_result;

typedef struct qn_table { /* open addressing, of numbers + 1 */
    uint32_t *slots;
    uint32_t n_slots;
} qn_table;

typedef struct qn_frame_item {
    uint32_t state, lo, hi, parent;
    bool pops; /* came here by a byte or from above: may be through at once */
} qn_frame_item;

typedef struct qn_loop_place { /* a node of a tree, or a token, and where the loop is behind it */
    uint32_t node, state;
    uint32_t n_rounds; /* that are through */
    uint32_t needed;   /* rounds from the beginning to the next end; for nodes: n_rounds */
} qn_loop_place;

/* What a loop, from one of its states on, makes of the tokens outside a slice (or of all), whatever its counters and what
 * follows it. Where is_bordered, the slice's own borders and parts belong to it too. */
typedef struct qn_loop_table {
    bool is_bordered;
    uint32_t n_within, n_below;
    uint32_t most, most_below; /* of all `needed`, and of those of the n_below nodes */
    uint64_t has_needed[4];    /* the numbers that are among them, as far as they are below 256 */
    uint32_t first[257]; /* places[first[c], first[c + 1]): nodes of byte c where the loop might end */
    /* Before those: n_within tokens that end within the loop; then n_below nodes, of which all that is below them does,
     * where so many rounds are allowed. */
    qn_loop_place *places;
} qn_loop_table;

/* How far a slice's tokens go from a state: all of up to `level` characters have a way to an end, with `spare` more rounds
 * than they take. */
typedef struct qn_slice_fit {
    bool is_known;
    bool is_plain;  /* each character is a round */
    bool has_rounds; /* some characters end a round */
    uint32_t slice; /* number + 1; 0: none */
    uint32_t level; /* QN_ANY_LEVEL: of any length */
    uint32_t spare;
} qn_slice_fit;

#define QN_ANY_LEVEL UINT32_MAX

typedef struct qn_engine {
    const qn_automaton *automaton;
    const qn_grammar_vocab *vocab;
    uint64_t vocab_serial;
    qn_budget *budget;
    qn_status status; /* of the call that is going on */
    const char *limit; /* of a QN_EFULL: what was too large; NULL: see rx.limit */
    qn_rx_pool rx;
    uint64_t max_state_bytes;
    int32_t *special_ids; /* by symbol - QN_RX_SPECIAL_SYMBOL */
    uint32_t clip;        /* counters above it are as good as this: no token is longer. UINT32_MAX: exact */
    uint32_t n_forks;     /* walks of what is behind loops that are going on, one within another */
    uint64_t work, n_nodes; /* frames, and nodes of the vocabulary's tree, that were looked at in this call */
    qn_rx_vec frames, configs, sets;
    qn_table frame_table, config_table;
    uint32_t **chunks; /* rows: the configuration behind each byte, QN_NO_CONFIG: not known */
    uint32_t n_chunks, n_rows;
    qn_rx_vec steps, out; /* of one step: items, frames that came out */
    uint64_t *step_slots; /* hash table of items when they are many: number of the step, then of the item */
    uint32_t n_step;
    bool out_end;
    /* masks */
    qn_rx_vec results; /* qn_result * */
    qn_table result_table;
    uint64_t result_bytes;
    uint32_t **loop_rows; /* by the number of a loop's state; NULL: not made */
    uint32_t n_loop_rows;
    qn_slice_fit *loop_slices;   /* by the same */
    qn_loop_table **loop_tables; /* by the same */
    uint64_t table_bytes;
    qn_rx_vec ids, exits; /* of one walk */
    uint32_t **walk_rows;                    /* by depth */
    uint32_t *walk_configs, *walk_states, *walk_lo, *walk_hi;
} qn_engine;

struct qn_matcher {
    qn_grammar *grammar;
    const qn_grammar_vocab *vocab;
    qn_budget *budget;
    qn_engine *engine;
    uint32_t history[QN_MAX_HISTORY + 1]; /* configurations, the last one is now */
    bool ended[QN_MAX_HISTORY + 1];       /* an end token was taken */
    uint32_t n_history;
};

static inline void qn_engine_full(qn_engine *e, const char *limit)
{
    if (e->status == QN_OK) {
        e->status = QN_EFULL;
        e->limit = limit;
    }
}

static inline const qn_frame *qn_frame_at(const qn_engine *e, uint32_t f) { return (const qn_frame *)e->frames.items + f; }
static inline qn_config *qn_config_at(const qn_engine *e, uint32_t c) { return (qn_config *)e->configs.items + c; }
static inline const uint32_t *qn_config_frames(const qn_engine *e, uint32_t c)
{
    return (const uint32_t *)e->sets.items + qn_config_at(e, c)->first;
}

static inline uint32_t qn_matcher_now(const qn_matcher *m) { return m->history[m->n_history - 1]; }
static inline bool qn_matcher_has_ended(const qn_matcher *m) { return m->ended[m->n_history - 1]; }

/* Every call begins here: what an earlier call ran out of may be there now. */
static inline void qn_matcher_begin(qn_matcher *m)
{
    qn_engine *e = m->engine;
    e->status = e->rx.status = QN_OK;
    e->limit = e->rx.limit = NULL;
    e->work = e->n_nodes = e->rx.work = 0;
    e->clip = UINT32_MAX;
}

/* grammar.c: the engines that lie idle. */
qn_status qn_grammar_take_engine(qn_grammar *g, const qn_grammar_vocab *v, qn_engine **out, qn_error *err);
void qn_grammar_give_engine(qn_grammar *g, qn_engine *e);
const qn_automaton *qn_grammar_automaton(const qn_grammar *g);

/* matcher_engine.c */
qn_status qn_engine_open(const qn_automaton *a, const qn_grammar_vocab *v, qn_budget *b, qn_engine **out, qn_error *err);
/* The same states and frames; nothing that was found out about masks. */
qn_status qn_engine_copy(const qn_engine *from, qn_engine **out);
void qn_engine_close(qn_engine *e);
bool qn_engine_has_many_states(const qn_engine *e);
/* Forgets all but the frames of configs[0, n), which get new numbers; and, where there are many, all states that these do
 * not need. QN_ENOMEM: nothing changed. */
qn_status qn_engine_forget(qn_engine *e, uint32_t *configs, uint32_t n);
uint64_t qn_engine_bytes(const qn_engine *e);
void qn_engine_drop_masks(qn_engine *e);

/* matcher_frame.c. All give QN_DEAD or 0 after a failure (e->status). */
uint32_t qn_frame_make(qn_engine *e, uint32_t state, uint32_t lo, uint32_t hi, uint32_t parent);
uint32_t qn_config_make(qn_engine *e, uint32_t *frames, uint32_t n, bool may_end); /* sorts frames */
/* The configuration of a state that was just reached. pops: it may be through at once. */
uint32_t qn_config_enter(qn_engine *e, uint32_t state, uint32_t lo, uint32_t hi, uint32_t parent, bool pops);
uint32_t qn_config_step(qn_engine *e, uint32_t config, uint32_t symbol);
/* The same by a row that keeps the answer. Bytes only. */
uint32_t qn_config_next(qn_engine *e, uint32_t config, uint8_t byte);
/* The row of a configuration, made if there is room; NULL: no room. */
uint32_t *qn_config_row(qn_engine *e, uint32_t config);
/* The bytes that may come next. */
void qn_config_first(qn_engine *e, uint32_t config, uint64_t bytes[4]);

/* Whether a loop's state, with its counters, has a way to its end. */
static inline bool qn_loop_is_alive(const qn_engine *e, uint32_t state, uint32_t lo, uint32_t hi)
{
    uint32_t needed = qn_rx_rounds(&e->rx, state, lo);
    return needed <= hi && needed != UINT32_MAX;
}

/* Counts the round that is through, if one is, where a symbol led to this state. */
static inline void qn_count_round(const qn_engine *e, uint32_t to, uint32_t *lo, uint32_t *hi)
{
    const qn_rx_node *x = qn_rx_at(&e->rx, to);
    bool is_through = x->kind == QN_RX_K_LOOP && x->b != 0;
    *lo -= is_through && *lo != 0;
    *hi -= is_through && *hi != QN_GX_NO_MAX;
}

/* Counters as far as they matter for a token. A guard may need many rounds to its end, or certain numbers of them. */
static inline void qn_clip(const qn_engine *e, uint32_t state, uint32_t *lo, uint32_t *hi)
{
    const qn_rx_node *x = qn_rx_at(&e->rx, state);
    if (e->clip == UINT32_MAX) {
        return;
    }
    if (x->kind == QN_RX_K_LOOP && qn_rx_loops(&e->rx)[x->a].is_guarded) {
        bool is_far = *lo == 0 && *hi >= e->clip + 2 * qn_rx_loops(&e->rx)[x->a].n_lengths;
        *hi = is_far ? QN_GX_NO_MAX : *hi;
        return;
    }
    *hi = *hi >= e->clip ? QN_GX_NO_MAX : *hi;
    *lo = *lo > e->clip ? e->clip : *lo;
}

#endif
