/* Routing rows to experts and gathering what they answer. The products are in exec_product.c.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/exec_int.h"

#include <string.h>

uint64_t qn_routing_fixed_bytes(uint32_t n_experts)
{
    return sizeof(uint32_t) * ((uint64_t)n_experts + 1);
}
uint64_t qn_routing_row_bytes(uint32_t n_used)
{
    return (2 * sizeof(uint32_t) + sizeof(float)) * (uint64_t)n_used;
}

qn_routing qn_job_routing(const qn_job *j, qn_blk routing)
{
    const qn_exec *ex = j->ex;
    uint64_t n_pairs = (uint64_t)ex->lim.n_rows * ex->n_used;
    qn_routing r;
    r.start = (uint32_t *)(void *)(ex->arena + ex->places[routing].offset);
    r.row = r.start + ex->n_experts + 1;
    r.pair_of = r.row + n_pairs;
    r.share = (float *)(void *)(r.pair_of + n_pairs);
    return r;
}

/* The n_used largest of p, largest first, ties to the lower index; writes their indexes and p. */
static void pick_largest(const float *p, uint32_t n, uint32_t n_used, uint32_t *index, float *share)
{
    for (uint32_t k = 0; k < n_used; k++) {
        uint32_t best = UINT32_MAX;
        for (uint32_t e = 0; e < n; e++) {
            bool taken = false;
            for (uint32_t t = 0; t < k; t++) {
                taken = taken || index[t] == e;
            }
            if (!taken && (best == UINT32_MAX || p[e] > p[best])) {
                best = e;
            }
        }
        index[k] = best;
        share[k] = p[best];
    }
}

void qn_cpu_run_route(qn_worker *w, const qn_cpu_op *op, qn_chunks *c)
{
    if (qn_chunks_take(c) != 0) { /* a few hundred numbers; not worth sharing out */
        return;
    }
    const qn_job *job = w->job;
    uint32_t n_rows = job->step->n_rows, n_used = op->plain.n_used, n_experts = op->plain.width;
    float *p = (float *)(void *)(w->scratch + w->ex->scratch_at);
    qn_routing r = qn_job_routing(job, op->out);
    memset(r.start, 0, sizeof(uint32_t) * (n_experts + 1));
    for (uint32_t i = 0; i < n_rows; i++) {
        float *share = r.share + (uint64_t)i * n_used;
        uint32_t *expert = r.pair_of + (uint64_t)i * n_used;
        w->k->softmax(qn_job_row(job, op->x, i), n_experts, p);
        pick_largest(p, n_experts, n_used, expert, share);
        float sum = 0.0f;
        for (uint32_t k = 0; k < n_used; k++) {
            r.start[expert[k] + 1]++;
            sum += share[k];
        }
        for (uint32_t k = 0; op->plain.renormalise && k < n_used; k++) {
            share[k] /= sum;
        }
    }
    for (uint32_t e = 0; e < n_experts; e++) {
        r.start[e + 1] += r.start[e];
    }
    /* Counting sort: start[e] walks to the end of e's pairs, then is shifted back by one expert. */
    for (uint32_t i = 0; i < n_rows * n_used; i++) {
        uint32_t e = r.pair_of[i];
        uint32_t at = r.start[e]++;
        r.row[at] = i / n_used;
        r.pair_of[i] = at;
    }
    memmove(r.start + 1, r.start, sizeof(uint32_t) * n_experts);
    r.start[0] = 0;
}

void qn_cpu_run_sum(qn_worker *w, const qn_cpu_op *op, qn_chunks *c)
{
    uint32_t n_used = w->ex->n_used;
    qn_routing r = qn_job_routing(w->job, op->routing);
    for (uint32_t i = qn_chunks_take(c); i < w->job->step->n_rows; i = qn_chunks_take(c)) {
        float *out = qn_job_row(w->job, op->out, i);
        for (uint32_t k = 0; k < n_used; k++) {
            uint64_t pair = (uint64_t)i * n_used + k;
            const float *x = qn_job_row(w->job, op->x, r.pair_of[pair]);
            if (k == 0) {
                w->k->scale(x, r.share[pair], op->width, out);
            } else {
                w->k->add_scaled(x, r.share[pair], op->width, out);
            }
        }
    }
}
