/* Time, bytes and multiply-adds by kind of op. SPDX-License-Identifier: MIT */
#include "backend/cpu/exec_profile.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

#define MAX_SLOTS 32 /* kinds and types in one model; what finds no slot goes into the last */

/* Nanoseconds of one thread, by slot. Written by that thread alone, also when it is late. */
typedef struct lane_times {
    _Alignas(64) _Atomic uint64_t ns[MAX_SLOTS];
} lane_times;

struct qn_cpu_profile {
    lane_times *lanes;
    uint32_t n_lanes, n_slots;
    uint64_t wall_ns;
    qn_profile_entry slots[MAX_SLOTS]; /* their ns is not used */
    uint8_t slot_of[];                 /* each op */
};

static void name_slot(const qn_cpu_op *op, char *name, size_t n)
{
    if (op->kind == QN_CPU_PRODUCT || op->kind == QN_CPU_EXPERT) {
        snprintf(name, n, "%s %s", qn_cpu_op_kind_name(op->kind), qn_type_name(op->products[0].w->type));
    } else {
        snprintf(name, n, "%s", qn_cpu_op_kind_name(op->kind));
    }
}

static uint8_t slot_named(qn_cpu_profile *p, const char *name)
{
    for (uint32_t i = 0; i < p->n_slots; i++) {
        if (strcmp(p->slots[i].name, name) == 0) {
            return (uint8_t)i;
        }
    }
    if (p->n_slots == MAX_SLOTS) {
        return MAX_SLOTS - 1;
    }
    snprintf(p->slots[p->n_slots].name, sizeof(p->slots[0].name), "%s", name);
    return (uint8_t)p->n_slots++;
}

qn_cpu_profile *qn_cpu_profile_new(const qn_exec *ex)
{
    size_t lanes_at = (sizeof(qn_cpu_profile) + ex->n_ops + 63) / 64 * 64;
    qn_cpu_profile *p = qn_zalloc(ex->be->budget, "plan", lanes_at + ex->n_threads * sizeof(lane_times));
    if (p == NULL) {
        return NULL;
    }
    p->lanes = (lane_times *)(void *)((char *)p + lanes_at);
    p->n_lanes = ex->n_threads;
    for (uint32_t i = 0; i < ex->n_ops; i++) {
        /* A joined op's time is in the pass of the product after it. */
        const qn_cpu_op *op = &ex->ops[i];
        char name[sizeof(p->slots[0].name)];
        name_slot(op, name, sizeof(name));
        p->slot_of[i] = slot_named(p, name);
    }
    return p;
}

void qn_cpu_profile_add(qn_cpu_profile *p, uint32_t i_op, uint32_t i_thread, uint64_t begin_ns)
{
    _Atomic uint64_t *ns = &p->lanes[i_thread].ns[p->slot_of[i_op]];
    uint64_t now = atomic_load_explicit(ns, memory_order_relaxed);
    atomic_store_explicit(ns, now + qn_clock_ns() - begin_ns, memory_order_relaxed);
}

/* Weights once, whatever the rows; of experts those that can have been in use. */
static void count_product(const qn_job *job, const qn_cpu_op *op, qn_profile_entry *e)
{
    uint64_t rows = qn_job_rows(job, op->rows);
    for (uint32_t i = 0; i < op->n_products; i++) {
        const qn_weight *w = op->products[i].w;
        uint64_t mats = op->kind != QN_CPU_EXPERT ? 1 : w->n_mats < rows ? w->n_mats : rows;
        e->bytes += mats * w->n_out * w->row_bytes;
        e->mul_adds += rows * w->n_out * w->n_in;
    }
}

static uint64_t bytes_per_token(const qn_kv_layout *kv, const qn_kv_layer *l)
{
    uint64_t bits = kv->bits != 0 ? kv->bits : 8 * qn_kv_item_bytes(kv->type);
    return (uint64_t)l->n_heads * (l->head_dim + l->v_dim) * bits / 8;
}

/* Tokens that a row sees; their keys and values are read once for all rows of a sequence. */
static void count_attention(const qn_job *job, const qn_cpu_op *op, qn_profile_entry *e)
{
    const qn_kv_layout *kv = job->ex->kv;
    const qn_kv_layer *l = &kv->layers[op->attention.i_layer];
    uint64_t seen = 0, read = 0;
    for (uint32_t s = 0; s < job->step->n_seqs; s++) {
        const qn_step_seq *seq = &job->step->seqs[s];
        for (uint64_t pos = seq->pos0; pos < (uint64_t)seq->pos0 + seq->n_rows; pos++) {
            seen += l->window != 0 && pos + 1 > l->window ? l->window : pos + 1;
        }
        uint64_t end = (uint64_t)seq->pos0 + seq->n_rows, most = (uint64_t)l->window + seq->n_rows;
        read += l->window != 0 && end > most ? most : end;
    }
    e->bytes += read * bytes_per_token(kv, l);
    e->mul_adds += seen * op->attention.n_heads * (l->head_dim + l->v_dim);
}

void qn_cpu_profile_job(qn_cpu_profile *p, const qn_job *job, uint64_t begin_ns)
{
    p->wall_ns += qn_clock_ns() - begin_ns;
    for (uint32_t i = job->op_begin; i < job->op_end; i++) {
        const qn_cpu_op *op = &job->ex->ops[i];
        qn_profile_entry *e = &p->slots[p->slot_of[i]];
        e->calls++;
        if (op->kind == QN_CPU_PRODUCT || op->kind == QN_CPU_EXPERT) {
            count_product(job, op, e);
        } else if (op->kind == QN_CPU_ATTENTION) {
            count_attention(job, op, e);
        } else {
            e->bytes += qn_job_rows(job, op->rows) * (uint64_t)op->width * 2 * sizeof(float);
        }
    }
}

static uint64_t slot_ns(const qn_cpu_profile *p, uint32_t i_slot)
{
    uint64_t ns = 0;
    for (uint32_t t = 0; t < p->n_lanes; t++) {
        ns += atomic_load_explicit(&p->lanes[t].ns[i_slot], memory_order_relaxed);
    }
    return ns;
}

bool qn_cpu_profile_get(const qn_exec *ex, uint32_t i, qn_profile_entry *out)
{
    const qn_cpu_profile *p = ex->profile;
    if (p == NULL || i > p->n_slots) {
        return false;
    }
    if (i < p->n_slots) {
        *out = p->slots[i];
        out->ns = slot_ns(p, i);
        return true;
    }
    uint64_t all = p->wall_ns * p->n_lanes, busy = 0;
    for (uint32_t k = 0; k < p->n_slots; k++) {
        busy += slot_ns(p, k);
    }
    *out = (qn_profile_entry){.name = "wait", .ns = all > busy ? all - busy : 0};
    return true;
}

void qn_cpu_profile_reset(qn_exec *ex)
{
    qn_cpu_profile *p = ex->profile;
    if (p == NULL) {
        return;
    }
    p->wall_ns = 0;
    for (uint32_t i = 0; i < p->n_slots; i++) {
        p->slots[i].calls = p->slots[i].bytes = p->slots[i].mul_adds = 0;
        for (uint32_t t = 0; t < p->n_lanes; t++) {
            atomic_store_explicit(&p->lanes[t].ns[i], 0, memory_order_relaxed);
        }
    }
}
