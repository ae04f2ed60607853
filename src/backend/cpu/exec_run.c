/* Running a step: its passes, laid out before it begins, and one pass on one thread. SPDX-License-Identifier: MIT */
#include "backend/cpu/exec_profile.h"

#include "base/clock.h"

static bool is_joined(const qn_job *job, const qn_cpu_op *op)
{
    return op->joined && qn_job_rows(job, op->rows) <= QN_CPU_JOIN_ROWS;
}

static void reset_pass(qn_cpu_pass *pass, uint32_t i_op, uint32_t part)
{
    pass->i_op = i_op;
    pass->part = part;
    qn_chunks_reset(&pass->chunks);
    atomic_store_explicit(&pass->is_summed, 0, memory_order_relaxed);
    for (uint32_t i = 0; i < QN_CPU_DONE_WORDS; i++) {
        atomic_store_explicit(&pass->done[i], 0, memory_order_relaxed);
    }
}

/* Lays out the passes of a job; returns their number. */
static uint32_t plan_passes(qn_exec *ex, const qn_job *job)
{
    uint32_t n = 0;
    for (uint32_t i = job->op_begin; i < job->op_end; i++) {
        const qn_cpu_op *op = &ex->ops[i];
        if (is_joined(job, op)) {
            continue;
        }
        uint32_t parts = op->kind == QN_CPU_ATTENTION ? qn_cpu_attention_parts(ex, op, job->step) : 1;
        for (uint32_t part = 0; part < QN_CPU_PASSES; part++) {
            if ((parts >> part & 1) != 0) {
                reset_pass(&ex->passes[n++], i, part);
            }
        }
    }
    return n;
}

static qn_pass_end run_op(qn_worker *w, const qn_cpu_op *op)
{
    qn_chunks *c = &w->pass->chunks;
    switch (op->kind) {
    case QN_CPU_ANGLES:
        qn_cpu_run_angles(w, op, c);
        break;
    case QN_CPU_EMBED:
        qn_cpu_run_embed(w, op, c);
        break;
    case QN_CPU_ROWS:
        qn_cpu_run_rows(w, op, c);
        break;
    case QN_CPU_PRODUCT:
        return qn_cpu_run_product(w, op, c);
    case QN_CPU_ATTENTION:
        qn_cpu_run_attention(w, op, w->pass->part, c);
        break;
    case QN_CPU_MAP:
        qn_cpu_run_map(w, op, c);
        break;
    case QN_CPU_ROUTE:
        qn_cpu_run_route(w, op, c);
        break;
    case QN_CPU_EXPERT:
        qn_cpu_run_expert(w, op, c);
        break;
    case QN_CPU_SUM:
        qn_cpu_run_sum(w, op, c);
        break;
    }
    return QN_PASS_DONE;
}

/* A pass begins and ends on a thread here and nowhere else. */
static qn_pass_end run_pass(void *ctx, qn_lane *lane)
{
    const qn_job *job = ctx;
    qn_exec *ex = job->ex;
    if (atomic_load_explicit(job->stop, memory_order_relaxed)) {
        return QN_PASS_STOP;
    }
    qn_cpu_pass *pass = &ex->passes[lane->i_pass];
    const qn_cpu_op *op = &ex->ops[pass->i_op];
    qn_worker w = {.job = job,
                   .ex = ex,
                   .k = ex->kernels,
                   .lane = lane,
                   .pass = pass,
                   .n_threads = lane->n_threads,
                   .scratch = ex->thread_bytes + lane->i_thread * ex->thread_stride,
                   .is_joined = pass->i_op > job->op_begin && is_joined(job, op - 1)};
    qn_cpu_profile *profile = ex->profile;
    if (profile == NULL) {
        return run_op(&w, op);
    }
    /* Afterwards this thread may be outside: nothing of the job may be read any more. */
    uint32_t i_op = pass->i_op, i_thread = lane->i_thread;
    uint64_t begin_ns = qn_clock_ns();
    qn_pass_end end = run_op(&w, op);
    qn_cpu_profile_add(profile, i_op, i_thread, begin_ns);
    return end;
}

qn_status qn_cpu_run(qn_exec *ex, qn_job *job)
{
    job->ex = ex;
    uint64_t begin_ns = ex->profile != NULL ? qn_clock_ns() : 0;
    bool done = qn_pool_run(ex->be->pool, ex->n_threads, plan_passes(ex, job), run_pass, job);
    if (ex->profile != NULL) {
        qn_cpu_profile_job(ex->profile, job, begin_ns);
    }
    return done ? QN_OK : QN_EABORTED;
}
