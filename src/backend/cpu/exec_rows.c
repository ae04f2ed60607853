/* Ops that work row by row: embedding, residual add with norms, quantising, and plain ops that nothing swallowed.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/exec_int.h"

#include <math.h>
#include <string.h>

void qn_cpu_run_angles(qn_worker *w, const qn_cpu_op *op, qn_chunks *c)
{
    (void)op;
    qn_exec *ex = w->ex;
    const qn_step_rows *step = w->job->step;
    for (uint32_t i = qn_chunks_take(c); i < step->n_rows; i = qn_chunks_take(c)) {
        float pos = (float)step->pos[i];
        for (uint32_t r = 0; r < ex->n_ropes; r++) {
            const qn_rope *rope = ex->ropes[r];
            float *cosv = ex->angles + ((uint64_t)r * ex->lim.n_rows + i) * 2 * ex->max_pairs;
            float *sinv = cosv + ex->max_pairs;
            for (uint32_t p = 0; p < rope->n_pairs; p++) {
                float angle = pos * rope->inv_freq[p];
                cosv[p] = cosf(angle) * rope->mscale;
                sinv[p] = sinf(angle) * rope->mscale;
            }
        }
    }
}

void qn_cpu_run_embed(qn_worker *w, const qn_cpu_op *op, qn_chunks *c)
{
    const qn_weight *m = op->products[0].w;
    const qn_step_rows *step = w->job->step;
    for (uint32_t i = qn_chunks_take(c); i < step->n_rows; i = qn_chunks_take(c)) {
        float *out = qn_job_row(w->job, op->out, i);
        w->k->decode_row[m->type](m->data + (uint64_t)step->token[i] * m->row_bytes, out, m->n_in);
        if (op->scale != 1.0f) {
            w->k->scale(out, op->scale, m->n_in, out);
        }
    }
}

/* The row that row i of op reads. */
static uint32_t source_row(const qn_worker *w, const qn_cpu_op *op, uint32_t i)
{
    if (op->x_rows == op->rows) {
        return i;
    }
    if (op->rows == QN_ROWS_OUT) {
        return w->job->step->out_rows[w->job->out_first + i];
    }
    return qn_job_routing(w->job, op->routing).row[i];
}

#define NOT_WIDE UINT32_MAX

/* One row: sum = x + norm(y) -> sum_out; norm -> out; quantised -> a8, or, when i_wide is one, as that row of the block
 * at a8. Any out may be NULL; tmp: width floats. */
static void do_row(const qn_kernels *k, const qn_cpu_op *op, const float *x, const float *y, float *sum_out, float *out,
                   void *a8, uint32_t i_wide, float *tmp)
{
    size_t n = op->width;
    if (y != NULL) {
        float *sum = sum_out != NULL ? sum_out : tmp;
        if (op->y_norm != NULL) {
            k->rms_norm(y, (const float *)(const void *)op->y_norm->data, n, op->y_eps, tmp);
            y = tmp;
        }
        k->add(x, y, n, sum);
        x = sum;
    }
    if (op->norm != NULL) {
        float *normed = out != NULL ? out : tmp;
        k->rms_norm(x, (const float *)(const void *)op->norm->data, n, op->eps, normed);
        x = normed;
    } else if (out != NULL) {
        memcpy(out, x, n * sizeof(float));
    }
    if (a8 != NULL && i_wide != NOT_WIDE) {
        k->wide_store(x, n, a8, i_wide);
    } else if (a8 != NULL) {
        k->quantize_a8(x, n, a8);
    }
}

void qn_cpu_run_joined(const qn_worker *w, const qn_cpu_op *op)
{
    uint32_t n = qn_job_rows(w->job, op->rows);
    uint32_t stride = (op->width + 15) / 16 * 16;
    float *floats = (float *)(void *)(w->scratch + w->ex->private_x);
    uint8_t *a8 = w->scratch + w->ex->private_a8;
    bool leaves_sum = op->sum != QN_NONE && (w->n_threads == 1 || atomic_exchange(&w->pass->is_summed, 1) == 0);
    for (uint32_t i = 0; i < n; i++) {
        const float *x = qn_job_row(w->job, op->x, source_row(w, op, i));
        const float *y = op->y == QN_NONE ? NULL : qn_job_row(w->job, op->y, i);
        float *out = floats + (uint64_t)i * stride;
        float *tmp = floats + (uint64_t)(QN_CPU_JOIN_ROWS + i) * stride;
        float *sum = leaves_sum ? qn_job_row(w->job, op->sum, i) : NULL;
        do_row(w->k, op, x, y, sum, op->out != QN_NONE ? out : NULL,
               op->a8 != QN_NONE ? a8 + i * qn_a8_bytes(op->width) : NULL, NOT_WIDE, tmp);
    }
}

void qn_cpu_run_rows(qn_worker *w, const qn_cpu_op *op, qn_chunks *c)
{
    uint32_t n = qn_job_rows(w->job, op->rows);
    float *tmp = (float *)(void *)(w->scratch + w->ex->private_x);
    bool wide = qn_job_is_wide(w->job, op->rows);
    for (uint32_t i = qn_chunks_take(c); i < n; i = qn_chunks_take(c)) {
        do_row(w->k, op, qn_job_row(w->job, op->x, source_row(w, op, i)),
               op->y == QN_NONE ? NULL : qn_job_row(w->job, op->y, i),
               op->sum == QN_NONE ? NULL : qn_job_row(w->job, op->sum, i),
               op->out == QN_NONE ? NULL : qn_job_row(w->job, op->out, i),
               op->a8 == QN_NONE ? NULL : qn_job_row(w->job, op->a8, wide ? 0 : i), wide ? i : NOT_WIDE, tmp);
    }
}

static void map_row(const qn_worker *w, const qn_cpu_op *op, uint32_t i)
{
    const qn_kernels *k = w->k;
    const qn_op *p = &op->plain;
    const float *x = qn_job_row(w->job, op->x, i);
    const float *y = op->y == QN_NONE ? NULL : qn_job_row(w->job, op->y, i);
    float *out = qn_job_row(w->job, op->out, i);
    size_t n = op->width;
    switch (p->kind) {
    case QN_OP_NORM:
        for (size_t at = 0; at < n; at += p->width) {
            k->rms_norm(x + at, (const float *)(const void *)p->w->data, p->width, p->f, out + at);
        }
        break;
    case QN_OP_BIAS:
        k->add(x, (const float *)(const void *)p->w->data, n, out);
        break;
    case QN_OP_ADD:
        k->add(x, y, n, out);
        break;
    case QN_OP_SCALE:
        k->scale(x, p->f, n, out);
        break;
    case QN_OP_SOFTCAP:
        k->softcap(x, p->f, n, out);
        break;
    case QN_OP_ACT_MUL:
        (p->act == QN_SILU ? k->silu_mul : k->gelu_mul)(x, y, n, out);
        break;
    case QN_OP_ROPE: {
        const float *cosv = qn_exec_angles(w->ex, op->q_prep.i_angles, i);
        memcpy(out, x, n * sizeof(float));
        for (size_t at = 0; at < n; at += p->width) {
            k->rope(out + at, p->rope->n_pairs, cosv, cosv + w->ex->max_pairs,
                    p->rope->neox ? QN_ROPE_NEOX : QN_ROPE_NORMAL);
        }
        break;
    }
    default: /* fuse.c gives every other kind an op of its own */
        break;
    }
}

void qn_cpu_run_map(qn_worker *w, const qn_cpu_op *op, qn_chunks *c)
{
    uint32_t n = qn_job_rows(w->job, op->rows);
    for (uint32_t i = qn_chunks_take(c); i < n; i = qn_chunks_take(c)) {
        map_row(w, op, i);
    }
}
