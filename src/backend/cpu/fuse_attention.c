/* Attention and what it swallows: head norms and rope of queries and keys, and the KV write.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/fuse_int.h"

/* Follows v back over what can be done to its heads just before attention. Keys are prepared where they stand, so the
 * value that remains must have no other reader; queries are prepared in a copy. */
static qn_val fold_head_prep(qn_fuse *f, qn_val v, uint32_t head_dim, bool in_place, qn_cpu_head_prep *prep)
{
    const qn_op *op = &f->g->ops[f->def[v]];
    if (op->kind == QN_OP_ROPE && op->width == head_dim && f->n_uses[v] == 1 && (!in_place || f->n_uses[op->x] == 1)) {
        prep->rope = op->rope;
        f->done[f->def[v]] = true;
        v = op->x;
        op = &f->g->ops[f->def[v]];
    }
    if (op->kind == QN_OP_NORM && op->width == head_dim && f->n_uses[v] == 1 && f->g->values[v].width != head_dim &&
        (!in_place || f->n_uses[op->x] == 1)) {
        prep->norm = op->w;
        prep->eps = op->f;
        f->done[f->def[v]] = true;
        v = op->x;
    }
    return v;
}

static const qn_op *kv_write_of(const qn_fuse *f, uint32_t i_attention, uint32_t *i_write)
{
    for (uint32_t i = i_attention; i-- > 0;) {
        const qn_op *op = &f->g->ops[i];
        if (op->kind == QN_OP_KV_WRITE && op->attention.i_layer == f->g->ops[i_attention].attention.i_layer) {
            *i_write = i;
            return op;
        }
    }
    return NULL;
}

qn_status qn_fuse_fold_attention(qn_fuse *f, uint32_t i_op, qn_fuse_attention *in)
{
    const qn_op *op = &f->g->ops[i_op];
    uint32_t i_write = 0;
    const qn_op *write = kv_write_of(f, i_op, &i_write);
    if (write == NULL || f->done[i_write]) {
        return f->status = qn_fail(f->err, QN_EINTERNAL, "attention without a KV write of its own before it");
    }
    const qn_kv_layer *l = &f->ex->kv->layers[op->attention.i_layer];
    *in = (qn_fuse_attention){.v = write->y};
    in->q = fold_head_prep(f, op->x, l->head_dim, false, &in->q_prep);
    in->k = fold_head_prep(f, write->x, l->head_dim, true, &in->k_prep);
    f->done[i_write] = true;
    QN_TRY(qn_fuse_rope(f, in->q_prep.rope, &in->q_prep.i_angles));
    return qn_fuse_rope(f, in->k_prep.rope, &in->k_prep.i_angles);
}

qn_status qn_fuse_emit_attention(qn_fuse *f, uint32_t i_op, const qn_fuse_attention *in)
{
    const qn_op *op = &f->g->ops[i_op];
    qn_cpu_op a = qn_fuse_blank(QN_CPU_ATTENTION, QN_ROWS_STEP);
    a.attention = op->attention;
    a.q = qn_fuse_f32(f, in->q);
    a.k = qn_fuse_f32(f, in->k);
    a.v = qn_fuse_f32(f, in->v);
    a.q_prep = in->q_prep;
    a.k_prep = in->k_prep;
    a.out = qn_fuse_f32(f, op->out);
    a.width = f->g->values[op->out].width;
    return qn_fuse_push(f, &a);
}
