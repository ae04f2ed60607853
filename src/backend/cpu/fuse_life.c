/* Joining row ops with products, and the lives of blocks. SPDX-License-Identifier: MIT */
#include "backend/cpu/fuse_int.h"

static void visit_blocks(qn_cpu_op *op, void (*fn)(void *ctx, qn_blk b), void *ctx)
{
    qn_blk all[9 + QN_CPU_MAX_PRODUCTS] = {op->x,       op->y,        op->out, op->a8, op->sum,
                                           op->routing, op->residual, op->q,   op->k};
    uint32_t n = 9;
    for (uint32_t i = 0; i < op->n_products; i++) {
        all[n++] = op->products[i].out;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (all[i] != QN_NONE) {
            fn(ctx, all[i]);
        }
    }
    if (op->v != QN_NONE) {
        fn(ctx, op->v);
    }
}

typedef struct users {
    qn_blk b;
    uint32_t n;
} users;

static void count_user(void *ctx, qn_blk b)
{
    users *u = ctx;
    u->n += b == u->b;
}

/* True when no op but i and i + 1 touches b. */
static bool only_next(qn_exec *ex, uint32_t i, qn_blk b)
{
    users u = {.b = b};
    for (uint32_t k = 0; b != QN_NONE && k < ex->n_ops; k++) {
        if (k != i && k != i + 1) {
            visit_blocks(&ex->ops[k], count_user, &u);
        }
    }
    return u.n == 0;
}

/* True when p's input is made by r and nothing else of r's results is read by p: only the input has a private copy. */
static bool feeds(const qn_cpu_op *r, const qn_cpu_op *p)
{
    bool makes_x = r->out != QN_NONE && p->x == r->out, makes_a8 = r->a8 != QN_NONE && p->a8 == r->a8;
    bool reads_more = p->residual != QN_NONE && (p->residual == r->sum || p->residual == r->out);
    return (makes_x || makes_a8) && (makes_x || r->out == QN_NONE) && (makes_a8 || r->a8 == QN_NONE) && !reads_more;
}

static void join_rows(qn_exec *ex)
{
    for (uint32_t i = 0; i + 1 < ex->n_ops; i++) {
        qn_cpu_op *r = &ex->ops[i], *p = &ex->ops[i + 1];
        if (r->kind == QN_CPU_ROWS && p->kind == QN_CPU_PRODUCT && r->routing == QN_NONE && i + 1 != ex->i_head &&
            feeds(r, p)) {
            r->joined = only_next(ex, i, r->out) && only_next(ex, i, r->a8);
        }
    }
}

typedef struct living {
    qn_exec *ex;
    uint32_t phase;
} living;

static void mark_alive(void *ctx, qn_blk b)
{
    living *l = ctx;
    qn_block *p = &l->ex->places[b];
    p->first = l->phase < p->first ? l->phase : p->first;
    p->last = l->phase > p->last ? l->phase : p->last;
}

qn_status qn_fuse_lifetimes(qn_fuse *f)
{
    qn_exec *ex = f->ex;
    join_rows(ex);
    ex->places = qn_zalloc_array(ex->be->budget, "plan", ex->n_blocks, sizeof(*ex->places));
    if (ex->places == NULL) {
        return qn_fail(f->err, QN_ENOMEM, "no memory for the plan");
    }
    for (uint32_t i = 0; i < ex->n_blocks; i++) {
        ex->places[i].first = UINT32_MAX;
    }
    living l = {.ex = ex};
    uint32_t head_phase = 0;
    for (uint32_t i = 0; i < ex->n_ops; i++) {
        l.phase += i > 0 && !ex->ops[i - 1].joined;
        head_phase = i == ex->i_head ? l.phase : head_phase;
        ex->ops[i].phase = l.phase;
        visit_blocks(&ex->ops[i], mark_alive, &l);
    }
    const uint32_t max_rows[QN_ROWS_KINDS] = {ex->lim.n_rows, ex->lim.n_rows * ex->n_used, ex->lim.n_out};
    for (uint32_t i = 0; i < ex->n_blocks; i++) {
        const qn_cpu_block *b = &ex->blocks[i];
        qn_block *p = &ex->places[i];
        p->bytes = b->external || p->first == UINT32_MAX ? 0 : b->row_bytes * max_rows[b->rows] + b->fixed_bytes;
        if (p->first < head_phase && p->last >= head_phase) {
            p->last = l.phase; /* the head may run several times on what the body left */
        }
    }
    return QN_OK;
}
