/* What the CPU backend makes of an op list: fused ops over the blocks of one arena. Private to backend/cpu.
 *
 * Invariants
 *  (1) A step is a row of passes (base/pool.h), each with chunks that threads take: one pass an op, up to QN_CPU_PASSES
 * for attention. No pass begins before the one ahead of it is over. (2) A ROWS op with `joined` set and few rows has no
 * pass: every thread that comes to the product behind it computes it for itself, into private memory; both have the
 * same phase, and lifetimes of blocks are counted in phases. (3) Blocks, KV pages and the step's arguments are touched
 * inside the section of a pass only; each element of a block is written by one thread in a phase and read only in later
 * ones, or by that thread. (4) Outside, a thread reads the plan, weights and what it copied, and writes its own scratch
 * (exec_private.c); so a thread may be at it after the step, and the plan outlives that by qn_pool_quiesce(). (5) How
 * rows are cut into chunks never changes a result: kernels promise that for products, and everything else works on
 * whole rows or heads; so it does not matter who computes a chunk, nor how often.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_EXEC_INT_H
#define QN_BACKEND_CPU_EXEC_INT_H

#include "backend/cpu/cpu.h"

typedef int32_t qn_blk; /* a block of the arena; QN_NONE: none */

#define QN_CPU_JOIN_ROWS 2    /* up to so many rows, repeating a row op on each thread beats a pass of its own */
#define QN_CPU_MAX_PRODUCTS 3 /* of one op: q, k, v */
#define QN_CPU_PASSES 4       /* of one op, each with chunks of its own: attention writes (2), attends, combines */
#define QN_PRIVATE_ROWS 1024  /* of a chunk whose results are private first: bounds them, and what overtaking costs */
#define QN_PRIVATE_LD (QN_PRIVATE_ROWS + 16)
#define QN_CPU_DONE_WORDS 6     /* of 64 chunks each: what fits into the line of a pass */
#define QN_CPU_TILE_ROWS 32     /* query rows (times heads that share K) of one attention item */
#define QN_CPU_MAX_SPLITS 32    /* parts of one decode row's pages; bounds the partial results */
#define QN_CPU_SPLIT_TOKENS 512 /* a part is at least so long; a multiple of any page size */

typedef enum qn_cpu_op_kind {
    QN_CPU_ANGLES,    /* cos and sin of every row's position, for each rope in use */
    QN_CPU_EMBED,     /* rows of the embedding matrix, times f */
    QN_CPU_ROWS,      /* [sum = x + norm(y)] -> [norm] -> floats and/or A8, row by row */
    QN_CPU_PRODUCT,   /* up to three products of one input, with what follows them */
    QN_CPU_ATTENTION, /* [norm, turn] k -> pages, [norm, turn] q, attention */
    QN_CPU_MAP,       /* a plain op by itself */
    QN_CPU_ROUTE,
    QN_CPU_EXPERT,
    QN_CPU_SUM
} qn_cpu_op_kind;

/* Rows of a block are one for each row of the step, of the (row, expert) pairs, or of the wanted logits. */
typedef struct qn_cpu_block {
    char name[32];
    qn_rows rows;
    uint64_t row_bytes, fixed_bytes; /* bytes = rows * row_bytes + fixed_bytes */
    bool external;                   /* the caller's logits */
} qn_cpu_block;

typedef struct qn_cpu_head_prep { /* what happens to a head before attention */
    const qn_weight *norm;        /* NULL: none */
    float eps;
    const qn_rope *rope; /* NULL: none */
    uint32_t i_angles;   /* index of rope among the exec's ropes */
} qn_cpu_head_prep;

typedef struct qn_cpu_product {
    const qn_weight *w, *bias;
    qn_blk out;
} qn_cpu_product;

/* How rows that are walked in place are cut: long runs keep the memory streaming, short ones at the end level out what
 * the threads are apart; so for each thread a half of its share, then a quarter, an eighth and an eighth. */
#define QN_CUT_LEVELS 4

typedef struct qn_row_cuts {
    uint32_t n_rows, n_chunks;
    uint32_t first[QN_CUT_LEVELS], n[QN_CUT_LEVELS]; /* of each level: its first row, its chunks */
} qn_row_cuts;

/* Chunks of no more than max_rows, give or take 8; they begin at multiples of 8. */
qn_row_cuts qn_cut_in_place(uint32_t n_rows, uint32_t n_threads, uint32_t max_rows);
/* The first row of chunk i; n_rows for i = n_chunks. */
uint32_t qn_cut_first_row(const qn_row_cuts *c, uint32_t i);

typedef struct qn_cpu_op {
    qn_cpu_op_kind kind;
    uint32_t phase;
    qn_rows rows;   /* what its rows are */
    uint32_t width; /* of an input row, in floats */
    bool joined;    /* ROWS: see invariant (1) */

    qn_blk x, y, out; /* PRODUCT: x floats and a8 the same input quantised, as the weights want it */
    qn_blk a8;        /* ROWS: out too; PRODUCT, EXPERT: in */
    qn_blk sum;       /* ROWS: where x + norm(y) goes */
    qn_rows x_rows;   /* ROWS: when it differs from rows, row r reads the row that r stands for */
    qn_blk routing;   /* ROWS over pairs, EXPERT, SUM */
    const qn_weight *norm, *y_norm;
    float eps, y_eps;

    qn_cpu_product products[QN_CPU_MAX_PRODUCTS];
    uint32_t n_products;
    qn_row_cuts cuts; /* PRODUCT of few rows: of all products' rows; no chunks: not done that way */
    bool pair;        /* PRODUCT: out = act(products[0]) * products[1] */
    qn_act_kind act;
    qn_blk residual;      /* PRODUCT: added to products[0] */
    float scale, softcap; /* on products[0]; 1 and 0: none. EMBED: scale too */

    qn_attention attention;
    qn_blk q, k, v;
    qn_cpu_head_prep q_prep, k_prep;

    qn_op plain; /* MAP, ROUTE */
} qn_cpu_op;

typedef struct qn_cpu_backend {
    qn_backend base;
    const qn_kernels *kernels;
    qn_pool *pool;
    qn_budget *budget;
} qn_cpu_backend;

/* A pass of the step that runs: on a cache line of its own. */
typedef struct qn_cpu_pass {
    _Alignas(64) qn_chunks chunks;
    atomic_uint is_summed; /* a joined op's sum: who sets it first writes it */
    uint32_t i_op, part;   /* part: of attention. Written before the step; read inside */
    /* Products of few rows: a bit for each chunk that is handed over. Outside they are hints, for they may be those of
     * the next step by then. */
    _Atomic uint64_t done[QN_CPU_DONE_WORDS];
} qn_cpu_pass;

typedef struct qn_cpu_profile qn_cpu_profile; /* exec_profile.h */

#define QN_CPU_MAX_ROPES 8 /* distinct rotary settings in one model; two is the most we know */

struct qn_exec {
    qn_cpu_backend *be;
    const qn_kernels *kernels;
    const qn_kv_layout *kv;
    qn_exec_limits lim;
    uint32_t n_threads;
    qn_cpu_profile *profile; /* NULL: nobody asked */

    qn_cpu_op *ops;
    uint32_t n_ops, cap_ops, i_head; /* ops[i_head] is the first of the head */
    qn_cpu_block *blocks;
    qn_block *places;
    uint32_t n_blocks, cap_blocks;
    uint32_t n_experts, n_used;
    uint32_t wide_min; /* the kernels', when they have `wide` for all weights; else 0 */

    const qn_rope *ropes[QN_CPU_MAX_ROPES];
    uint32_t n_ropes, max_pairs;

    uint8_t *arena;
    uint64_t arena_bytes;
    float *angles;         /* [rope][row][cos then sin][max_pairs] */
    uint8_t *thread_bytes; /* scratch of all threads */
    uint64_t thread_stride;
    uint64_t private_x, private_a8; /* offsets in a thread's scratch: a joined row as floats, and quantised */
    uint64_t private_y;             /* and the results of a chunk */
    uint64_t scratch_at;            /* offset of the rest */
    float *partials;                /* attention of split rows */
    qn_cpu_pass *passes;            /* of the step that runs; room for QN_CPU_PASSES of each op */
};

/* One step, as the threads see it. */
typedef struct qn_job {
    qn_exec *ex;
    const qn_step_rows *step;
    uint32_t op_begin, op_end;
    uint32_t out_first, n_out;
    float *logits;
    const atomic_bool *stop;
} qn_job;

/* One thread in one pass. */
typedef struct qn_worker {
    const qn_job *job; /* inside only */
    qn_exec *ex;
    const qn_kernels *k;
    qn_lane *lane;
    qn_cpu_pass *pass;
    uint32_t n_threads;
    uint8_t *scratch;
    bool is_joined; /* a product whose input the op before it makes, which has no pass of its own */
} qn_worker;

static inline uint32_t qn_job_rows(const qn_job *j, qn_rows rows)
{
    switch (rows) {
    case QN_ROWS_STEP:
        return j->step->n_rows;
    case QN_ROWS_EXPERT:
        return j->step->n_rows * j->ex->n_used;
    default:
        return j->n_out;
    }
}

/* Whether A8 blocks of these rows hold wide order in this step: then products go through qn_mm.wide. Experts have too
 * few rows each. */
static inline bool qn_job_is_wide(const qn_job *j, qn_rows rows)
{
    uint32_t least = j->ex->wide_min;
    return least != 0 && rows != QN_ROWS_EXPERT && qn_job_rows(j, rows) >= least;
}

/* Row i of a block. */
static inline void *qn_job_row(const qn_job *j, qn_blk b, uint32_t i)
{
    const qn_exec *ex = j->ex;
    uint8_t *base = ex->blocks[b].external ? (uint8_t *)j->logits : ex->arena + ex->places[b].offset;
    return base + (uint64_t)i * ex->blocks[b].row_bytes;
}

static inline const float *qn_exec_angles(const qn_exec *ex, uint32_t i_rope, uint32_t i_row)
{
    return ex->angles + ((uint64_t)i_rope * ex->lim.n_rows + i_row) * 2 * ex->max_pairs;
}

/* The routing of a step: pairs (row, expert) sorted by expert. */
typedef struct qn_routing {
    uint32_t *start;   /* n_experts + 1: first pair of each expert */
    uint32_t *row;     /* of pair i */
    uint32_t *pair_of; /* [row][k]: where a row's k-th expert stands */
    float *share;      /* [row][k] */
} qn_routing;

qn_routing qn_job_routing(const qn_job *j, qn_blk routing);
uint64_t qn_routing_fixed_bytes(uint32_t n_experts);
uint64_t qn_routing_row_bytes(uint32_t n_used);

/* fuse.c: fills ops, blocks and lifetimes. */
qn_status qn_cpu_fuse(qn_exec *ex, const qn_graph *g, qn_error *err);

/* One pass on one thread: takes chunks until none is left. */
void qn_cpu_run_angles(qn_worker *w, const qn_cpu_op *op, qn_chunks *c);
void qn_cpu_run_embed(qn_worker *w, const qn_cpu_op *op, qn_chunks *c);
void qn_cpu_run_rows(qn_worker *w, const qn_cpu_op *op, qn_chunks *c);
void qn_cpu_run_attention(qn_worker *w, const qn_cpu_op *op, uint32_t part, qn_chunks *c);
void qn_cpu_run_map(qn_worker *w, const qn_cpu_op *op, qn_chunks *c);
void qn_cpu_run_route(qn_worker *w, const qn_cpu_op *op, qn_chunks *c);
void qn_cpu_run_expert(qn_worker *w, const qn_cpu_op *op, qn_chunks *c);
void qn_cpu_run_sum(qn_worker *w, const qn_cpu_op *op, qn_chunks *c);
qn_pass_end qn_cpu_run_product(qn_worker *w, const qn_cpu_op *op, qn_chunks *c);

/* A joined op: its rows in private memory, and once its sum where later ops find it. */
void qn_cpu_run_joined(const qn_worker *w, const qn_cpu_op *op);

/* exec_private.c: fills op->cuts of a product. */
void qn_cpu_cut_private(const qn_exec *ex, qn_cpu_op *op);

/* Of attention's QN_CPU_PASSES parts those that a step has, as bits. */
uint32_t qn_cpu_attention_parts(const qn_exec *ex, const qn_cpu_op *op, const qn_step_rows *step);

/* exec_run.c: the ops [op_begin, op_end) of a step. QN_EABORTED: *stop was set. */
qn_status qn_cpu_run(qn_exec *ex, qn_job *job);

/* Scratch that the ops above need on each thread, beyond the private rows. */
uint64_t qn_cpu_product_scratch(const qn_exec *ex, const qn_cpu_op *op);
uint64_t qn_cpu_attention_scratch(const qn_exec *ex, const qn_cpu_op *op);
uint64_t qn_cpu_partial_floats(const qn_exec *ex);

void qn_cpu_describe(const qn_exec *ex, uint32_t i, qn_buf *out);
const char *qn_cpu_op_kind_name(qn_cpu_op_kind kind);

#endif
