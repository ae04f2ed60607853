/* Products of experts, their routing before and their sum after. SPDX-License-Identifier: MIT */
#include "backend/cpu/fuse_int.h"

qn_status qn_fuse_emit_route(qn_fuse *f, uint32_t i_op)
{
    const qn_op *op = &f->g->ops[i_op];
    if (op->width != f->g->n_experts || op->n_used != f->g->n_used) {
        return f->status = qn_fail(f->err, QN_EUNSUPPORTED, "layers with different numbers of experts");
    }
    qn_cpu_op r = qn_fuse_blank(QN_CPU_ROUTE, QN_ROWS_STEP);
    r.plain = *op;
    r.width = op->width;
    r.x = qn_fuse_f32(f, op->x);
    r.out = qn_fuse_block(f, f->g->values[op->out].name, "", QN_ROWS_STEP, qn_routing_row_bytes(op->n_used),
                          qn_routing_fixed_bytes(op->width));
    f->f32[op->out] = r.out;
    return qn_fuse_push(f, &r);
}

qn_status qn_fuse_emit_expert(qn_fuse *f, uint32_t i_op)
{
    const qn_op *op = &f->g->ops[i_op];
    const qn_value *x = &f->g->values[op->x];
    if (f->ex->kernels->mm[op->w->type].one == NULL) {
        return f->status = qn_fail(f->err, QN_EUNSUPPORTED, "tensor '%.*s': no product for type %s",
                                   QN_STR_ARG(op->w->name), qn_type_name(op->w->type));
    }
    qn_cpu_op e = qn_fuse_blank(QN_CPU_EXPERT, QN_ROWS_EXPERT);
    e.width = x->width;
    e.products[0].w = op->w;
    e.n_products = 1;
    e.routing = f->f32[op->y];
    qn_cpu_op r = qn_fuse_blank(QN_CPU_ROWS, QN_ROWS_EXPERT); /* each pair's input, in the order of the pairs */
    r.width = x->width;
    r.x = qn_fuse_f32(f, op->x);
    r.x_rows = x->rows;
    r.routing = e.routing;
    if (qn_fuse_wants_a8(f, op->w)) {
        e.a8 = r.a8 = qn_fuse_block(f, x->name, ".pairs.a8", QN_ROWS_EXPERT, qn_a8_bytes(x->width), 0);
    } else if (x->rows == QN_ROWS_EXPERT) {
        e.x = r.x;
    } else {
        e.x = r.out = qn_fuse_block(f, x->name, ".pairs", QN_ROWS_EXPERT, sizeof(float) * (uint64_t)x->width, 0);
    }
    if (r.out != QN_NONE || r.a8 != QN_NONE) {
        QN_TRY(qn_fuse_push(f, &r));
    }
    e.products[0].out = qn_fuse_f32(f, op->out);
    return qn_fuse_push(f, &e);
}

qn_status qn_fuse_emit_sum(qn_fuse *f, uint32_t i_op)
{
    const qn_op *op = &f->g->ops[i_op];
    qn_cpu_op s = qn_fuse_blank(QN_CPU_SUM, QN_ROWS_STEP);
    s.width = f->g->values[op->out].width;
    s.x = qn_fuse_f32(f, op->x);
    s.routing = f->f32[op->y];
    s.out = qn_fuse_f32(f, op->out);
    return qn_fuse_push(f, &s);
}
