/* Ops and blocks while they are made, and questions about the op list. SPDX-License-Identifier: MIT */
#include "backend/cpu/fuse_int.h"

#include <stdio.h>

qn_status qn_fuse_push(qn_fuse *f, const qn_cpu_op *op)
{
    qn_exec *ex = f->ex;
    if (ex->n_ops == ex->cap_ops) {
        uint32_t cap = ex->cap_ops == 0 ? 128 : ex->cap_ops * 2;
        qn_cpu_op *p = qn_realloc(ex->be->budget, "plan", ex->ops, cap * sizeof(*p));
        if (p == NULL) {
            return f->status = qn_fail(f->err, QN_ENOMEM, "no memory for the plan");
        }
        ex->ops = p;
        ex->cap_ops = cap;
    }
    ex->ops[ex->n_ops++] = *op;
    return QN_OK;
}

qn_cpu_op qn_fuse_blank(qn_cpu_op_kind kind, qn_rows rows)
{
    return (qn_cpu_op){.kind = kind,
                       .rows = rows,
                       .x_rows = rows,
                       .x = QN_NONE,
                       .y = QN_NONE,
                       .out = QN_NONE,
                       .a8 = QN_NONE,
                       .sum = QN_NONE,
                       .routing = QN_NONE,
                       .residual = QN_NONE,
                       .q = QN_NONE,
                       .k = QN_NONE,
                       .v = QN_NONE,
                       .scale = 1.0f};
}

qn_blk qn_fuse_block(qn_fuse *f, const char *name, const char *suffix, qn_rows rows, uint64_t row_bytes, uint64_t fixed)
{
    qn_exec *ex = f->ex;
    if (f->status != QN_OK) {
        return QN_NONE;
    }
    if (ex->n_blocks == ex->cap_blocks) {
        uint32_t cap = ex->cap_blocks == 0 ? 128 : ex->cap_blocks * 2;
        qn_cpu_block *p = qn_realloc(ex->be->budget, "plan", ex->blocks, cap * sizeof(*p));
        if (p == NULL) {
            f->status = qn_fail(f->err, QN_ENOMEM, "no memory for the plan");
            return QN_NONE;
        }
        ex->blocks = p;
        ex->cap_blocks = cap;
    }
    qn_cpu_block *b = &ex->blocks[ex->n_blocks];
    *b = (qn_cpu_block){.rows = rows, .row_bytes = row_bytes, .fixed_bytes = fixed};
    snprintf(b->name, sizeof(b->name), "%s%s", name, suffix);
    return (qn_blk)ex->n_blocks++;
}

qn_blk qn_fuse_f32(qn_fuse *f, qn_val v)
{
    if (f->f32[v] == QN_NONE) {
        const qn_value *val = &f->g->values[v];
        f->f32[v] = qn_fuse_block(f, val->name, "", val->rows, sizeof(float) * (uint64_t)val->width, 0);
    }
    return f->f32[v];
}

qn_blk qn_fuse_a8(qn_fuse *f, qn_val v, qn_rows rows)
{
    if (f->a8[v] == QN_NONE) {
        const qn_value *val = &f->g->values[v];
        uint64_t a8 = qn_a8_bytes(val->width), wide = qn_wide_bytes(val->width);
        bool may_be_wide = f->ex->wide_min != 0 && rows != QN_ROWS_EXPERT;
        f->a8[v] = qn_fuse_block(f, val->name, ".a8", rows, may_be_wide && wide > a8 ? wide : a8,
                                 may_be_wide ? wide * (QN_WIDE_GROUP - 1) : 0);
    }
    return f->a8[v];
}

bool qn_fuse_wants_a8(const qn_fuse *f, const qn_weight *w)
{
    return f->ex->kernels->mm[w->type].act == QN_ACT_A8;
}

const qn_op *qn_fuse_only_user(const qn_fuse *f, qn_val v, uint32_t from, uint32_t *i_user)
{
    if (f->n_uses[v] != 1) {
        return NULL;
    }
    for (uint32_t i = from; i < f->g->n_ops; i++) {
        if (f->g->ops[i].x == v || f->g->ops[i].y == v) {
            *i_user = i;
            return &f->g->ops[i];
        }
    }
    return NULL;
}

void qn_fuse_forms(const qn_fuse *f, qn_val v, bool *floats, bool *a8)
{
    *floats = *a8 = false;
    for (uint32_t i = 0; i < f->g->n_ops; i++) {
        const qn_op *op = &f->g->ops[i];
        if (op->x != v && op->y != v) {
            continue;
        }
        if (op->kind == QN_OP_MUL_MAT && qn_fuse_wants_a8(f, op->w)) {
            *a8 = true;
        } else {
            *floats = true;
        }
    }
}

bool qn_fuse_is_ready(const qn_fuse *f, qn_val v)
{
    return f->f32[v] != QN_NONE;
}

qn_status qn_fuse_rope(qn_fuse *f, const qn_rope *r, uint32_t *i_rope)
{
    qn_exec *ex = f->ex;
    if (r == NULL) {
        return QN_OK;
    }
    for (uint32_t i = 0; i < ex->n_ropes; i++) {
        if (ex->ropes[i] == r) {
            *i_rope = i;
            return QN_OK;
        }
    }
    if (ex->n_ropes == QN_CPU_MAX_ROPES) {
        return f->status = qn_fail(f->err, QN_EUNSUPPORTED, "more than %d rotary settings", QN_CPU_MAX_ROPES);
    }
    *i_rope = ex->n_ropes;
    ex->ropes[ex->n_ropes++] = r;
    ex->max_pairs = r->n_pairs > ex->max_pairs ? r->n_pairs : ex->max_pairs;
    return QN_OK;
}
