/* Runs a plan phase by phase, with NaNs wherever the plan says that nothing lives: a result that does not change then
 * shows that lifetimes hold what they promise and that nothing is read before it was written.
 *
 * Holds exec.c itself, to reach what is static there; a program that includes this takes nothing from the object file.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TESTS_UNIT_BACKEND_POISON_H
#define QN_TESTS_UNIT_BACKEND_POISON_H

#include "test.h"

#include "backend/cpu/exec.c"

/* Fills with 0xFF (a NaN in every float format) all that no value made before `phase` and still needed owns. */
static void poison(qn_exec *ex, uint32_t phase)
{
    qn_pool_quiesce(ex->be->pool); /* a late thread's scratch is its own */
    uint8_t *kept = malloc(ex->arena_bytes + 1);
    assert_non_null(kept);
    memcpy(kept, ex->arena, ex->arena_bytes);
    memset(ex->arena, 0xFF, ex->arena_bytes);
    for (uint32_t i = 0; i < ex->n_blocks; i++) {
        const qn_block *b = &ex->places[i];
        if (b->first < phase && phase <= b->last && b->bytes != 0) {
            memcpy(ex->arena + b->offset, kept + b->offset, b->bytes);
        }
    }
    free(kept);
    memset(ex->thread_bytes, 0xFF, ex->n_threads * ex->thread_stride);
    memset(ex->partials, 0xFF, sizeof(float) * qn_cpu_partial_floats(ex));
}

static qn_status run_phases(qn_exec *ex, const qn_job *job)
{
    for (uint32_t i = job->op_begin, end; i < job->op_end; i = end) {
        for (end = i; end < job->op_end && ex->ops[end].phase == ex->ops[i].phase; end++) {
        }
        poison(ex, ex->ops[i].phase);
        qn_job part = *job;
        part.op_begin = i;
        part.op_end = end;
        QN_TRY(qn_cpu_run(ex, &part));
    }
    return QN_OK;
}

static qn_status run_body_poisoned(qn_exec *ex, const qn_step_rows *step, const atomic_bool *stop)
{
    qn_job job = {.step = step, .op_begin = 0, .op_end = ex->i_head, .stop = stop};
    memset(ex->angles, 0xFF, 2 * sizeof(float) * ex->max_pairs * ex->n_ropes * ex->lim.n_rows);
    return run_phases(ex, &job);
}

static qn_status run_head_poisoned(qn_exec *ex, const qn_step_rows *step, uint32_t first, uint32_t n, float *logits,
                                   const atomic_bool *stop)
{
    qn_job job = {.step = step, .op_begin = ex->i_head, .op_end = ex->n_ops, .out_first = first, .n_out = n,
                  .logits = logits, .stop = stop};
    return run_phases(ex, &job);
}

/* Makes every plan of be run that way from now on. */
static inline void poison_backend(qn_backend *be)
{
    static qn_backend_ops ops;
    ops = *be->ops;
    ops.run_body = run_body_poisoned;
    ops.run_head = run_head_poisoned;
    be->ops = &ops;
}

#endif
