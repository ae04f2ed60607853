/* Products of few rows: each chunk is computed outside of any section, from private input into private results, and
 * handed over by whoever has them first. A thread that finds nothing left to take, and waits longer than its own last
 * chunk took, computes one that another thread has not handed over yet: so a thread that lost its processor in the
 * middle of a chunk costs the others no more than that chunk.
 *
 * The rows of all products of an op are cut as if they stood one after the other, each product's number rounded up to
 * ROW_STEP. SPDX-License-Identifier: MIT */
#include "backend/cpu/exec_product_int.h"

#include "base/clock.h"

#include <string.h>

#define ROW_STEP 8u         /* cuts are at multiples of it */
#define OVERTAKE_ROWS 128u  /* after so many rows one who overtakes looks whether it is still needed */
#define MIN_WAIT_NS 5000u   /* before overtaking: for threads that had no chunk of their own */
#define MAX_WAIT_NS 200000u /* when a chunk took longer than that, its thread was probably off its processor */
#define MAX_CHUNKS (64u * QN_CPU_DONE_WORDS)

typedef struct private_run {
    const qn_worker *w;
    const qn_cpu_op *op;
    const qn_columns *x;
    float *y; /* column c at c * QN_PRIVATE_LD */
} private_run;

/* Rows [r0, r0 + n) of product i, which the results hold from `at` on. */
typedef struct piece {
    uint32_t i, r0, n, at;
} piece;

static uint32_t rows_of(const qn_cpu_op *op, uint32_t i)
{
    return (op->products[i].w->n_out + ROW_STEP - 1) / ROW_STEP * ROW_STEP;
}

static uint32_t n_parts(const qn_cpu_op *op)
{
    return op->pair ? 1 : op->n_products;
}

void qn_cpu_cut_private(const qn_exec *ex, qn_cpu_op *op)
{
    uint64_t n_rows = 0;
    for (uint32_t i = 0; i < n_parts(op); i++) {
        n_rows += rows_of(op, i);
    }
    uint32_t n_threads = ex->n_threads < MAX_CHUNKS / QN_CUT_LEVELS ? ex->n_threads : MAX_CHUNKS / QN_CUT_LEVELS;
    op->cuts = (qn_row_cuts){0};
    if (n_rows <= (uint64_t)MAX_CHUNKS * QN_PRIVATE_ROWS) {
        op->cuts = qn_cut_in_place((uint32_t)n_rows, n_threads, QN_PRIVATE_ROWS);
    }
    if (op->cuts.n_chunks > MAX_CHUNKS) {
        op->cuts = (qn_row_cuts){0};
    }
}

void qn_cpu_make_private(const qn_worker *w, const qn_cpu_op *op, const qn_weight *m, qn_columns *x)
{
    bool a8 = w->k->mm[m->type].act == QN_ACT_A8;
    const qn_cpu_op *joined = op - 1; /* it may make one form only */
    bool is_there = w->is_joined && (a8 ? joined->a8 : joined->out) != QN_NONE;
    uint8_t *copy = w->scratch + (a8 ? w->ex->private_a8 : w->ex->private_x);
    size_t bytes = a8 ? qn_a8_bytes(op->width) : sizeof(float) * ((op->width + 15) / 16 * 16);
    for (uint32_t c = 0; c < x->n && !is_there; c++) {
        memcpy(copy + c * bytes, (const uint8_t *)x->x + c * x->x_bytes, a8 ? bytes : sizeof(float) * op->width);
    }
    x->x = copy;
    x->x_bytes = bytes;
}

/* The next piece of rows [*from, end) of the chunk that begins at `base`; false: there is none. */
static bool next_piece(const qn_cpu_op *op, uint32_t base, uint32_t *from, uint32_t end, piece *p)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < n_parts(op) && *from < end; first += rows_of(op, i++)) {
        if (*from >= first + rows_of(op, i)) {
            continue;
        }
        uint32_t last = end < first + rows_of(op, i) ? end - first : rows_of(op, i);
        uint32_t n_out = op->products[i].w->n_out;
        *p = (piece){.i = i, .r0 = *from - first, .at = *from - base};
        *from = first + last;
        p->n = (last < n_out ? last : n_out) - p->r0;
        return true;
    }
    return false;
}

/* Outside. Rows [from, end) of the chunk that begins at `base`. */
static void compute(const private_run *r, uint32_t base, uint32_t from, uint32_t end)
{
    const qn_worker *w = r->w;
    const qn_cpu_op *op = r->op;
    piece p;
    while (next_piece(op, base, &from, end, &p)) {
        if (op->pair) {
            for (uint32_t i = 0, n; i < p.n; i += n) {
                n = p.n - i < QN_PAIR_MAX_ROWS ? p.n - i : QN_PAIR_MAX_ROWS;
                qn_cpu_multiply_pair(w, op, r->x, p.r0 + i, n, r->y + p.at + i, QN_PRIVATE_LD);
            }
            continue;
        }
        const qn_weight *m = op->products[p.i].w;
        qn_cpu_multiply(w, m, m->data, p.r0, p.n, &r->x[p.i], r->y + p.at, QN_PRIVATE_LD);
        qn_cpu_after_product(w, op, p.i, p.r0, p.n, r->x[p.i].n, r->y + p.at, QN_PRIVATE_LD);
    }
}

static bool is_handed_over(const private_run *r, uint32_t chunk)
{
    return (atomic_load_explicit(&r->w->pass->done[chunk / 64], memory_order_relaxed) >> chunk % 64 & 1) != 0;
}

/* Inside. */
static bool are_all_handed_over(const private_run *r)
{
    for (uint32_t i = 0, n = r->op->cuts.n_chunks; i * 64 < n; i++) {
        uint64_t all = n - i * 64 >= 64 ? UINT64_MAX : (UINT64_C(1) << (n - i * 64)) - 1;
        if (atomic_load_explicit(&r->w->pass->done[i], memory_order_relaxed) != all) {
            return false;
        }
    }
    return true;
}

/* Inside. The first one to come with a chunk writes it to its block, with the residual added. */
static void hand_over(const private_run *r, uint32_t chunk)
{
    const qn_cpu_op *op = r->op;
    const qn_job *job = r->w->job;
    uint64_t bit = UINT64_C(1) << chunk % 64;
    /* relaxed: the end of the pass publishes the results; and it ends when this thread has left, not before. */
    if ((atomic_fetch_or_explicit(&r->w->pass->done[chunk / 64], bit, memory_order_relaxed) & bit) != 0) {
        return;
    }
    uint32_t base = qn_cut_first_row(&op->cuts, chunk), from = base, end = qn_cut_first_row(&op->cuts, chunk + 1);
    piece p;
    while (next_piece(op, base, &from, end, &p)) {
        for (uint32_t c = 0; c < r->x[0].n; c++) {
            const float *y = r->y + c * QN_PRIVATE_LD + p.at;
            float *out = (float *)qn_job_row(job, op->products[p.i].out, c) + p.r0;
            if (op->residual != QN_NONE) {
                r->w->k->add((const float *)qn_job_row(job, op->residual, c) + p.r0, y, p.n, out);
            } else {
                memcpy(out, y, sizeof(float) * p.n);
            }
        }
    }
}

/* Outside. A chunk that nobody has handed over; threads look in different places. */
static uint32_t find_late_chunk(const private_run *r)
{
    uint32_t n = r->op->cuts.n_chunks;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t chunk = (n - 1 - i + r->w->lane->i_thread) % n;
        if (!is_handed_over(r, chunk)) {
            return chunk;
        }
    }
    return n;
}

/* Outside. True: the whole chunk is there, and nobody else had it before. */
static bool overtake(const private_run *r, uint32_t chunk)
{
    uint32_t base = qn_cut_first_row(&r->op->cuts, chunk), end = qn_cut_first_row(&r->op->cuts, chunk + 1);
    for (uint32_t from = base, to; from < end && !is_handed_over(r, chunk); from = to) {
        to = end - from < OVERTAKE_ROWS ? end : from + OVERTAKE_ROWS;
        compute(r, base, from, to);
    }
    return !is_handed_over(r, chunk);
}

/* Inside, with no chunk left to take. */
static qn_pass_end finish_others(const private_run *r, uint64_t wait_ns)
{
    qn_lane *lane = r->w->lane;
    while (!are_all_handed_over(r)) {
        qn_lane_leave(lane);
        if (qn_lane_wait(lane, wait_ns)) {
            return QN_PASS_OVER;
        }
        wait_ns = 0; /* once only: a thread is late with one chunk at most */
        uint32_t chunk = find_late_chunk(r);
        bool is_mine = chunk < r->op->cuts.n_chunks && overtake(r, chunk);
        if (!qn_lane_enter(lane)) {
            return QN_PASS_OVER;
        }
        if (is_mine) {
            hand_over(r, chunk);
        }
    }
    return QN_PASS_DONE;
}

qn_pass_end qn_cpu_run_private(qn_worker *w, const qn_cpu_op *op, const qn_columns *x)
{
    private_run r = {w, op, x, (float *)(void *)(w->scratch + w->ex->private_y)};
    uint64_t before = qn_clock_ns(), wait_ns = MIN_WAIT_NS;
    for (uint32_t i; (i = qn_chunks_take(&w->pass->chunks)) < op->cuts.n_chunks;) {
        uint32_t base = qn_cut_first_row(&op->cuts, i);
        qn_lane_leave(w->lane);
        compute(&r, base, base, qn_cut_first_row(&op->cuts, i + 1));
        if (!qn_lane_enter(w->lane)) {
            return QN_PASS_OVER;
        }
        hand_over(&r, i);
        uint64_t now = qn_clock_ns();
        wait_ns = now - before < MAX_WAIT_NS ? now - before : MAX_WAIT_NS;
        before = now;
    }
    return finish_others(&r, wait_ns < MIN_WAIT_NS ? MIN_WAIT_NS : wait_ns);
}
