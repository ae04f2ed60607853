/* From plain ops to the CPU's fused ones.
 *
 * What is folded, for a usual layer (9 passes become 5 or 6):
 *   add [+ norm of the summand] + norm + quantise        -> ROWS, joined with the product that follows
 *   q, k, v (or gate, up) of one input + bias             -> PRODUCT
 *   gate, up, act(gate) * up                              -> PRODUCT with pair
 *   product + residual add, scale, softcap                -> PRODUCT
 *   norm of heads, rope of q and k, KV write, attention   -> ATTENTION
 *   pick + norm                                           -> ROWS that reads the wanted rows
 * Whatever does not match stays a MAP op, so any graph runs. SPDX-License-Identifier: MIT */
#include "backend/cpu/fuse_int.h"

#define QN_FUSE_WINDOW 16 /* ops that products of one input may stand apart; q, k, v with biases and norms take 9 */

static qn_status emit_embed(qn_fuse *f, uint32_t i_op)
{
    const qn_op *op = &f->g->ops[i_op];
    qn_cpu_op e = qn_fuse_blank(QN_CPU_EMBED, QN_ROWS_STEP);
    e.products[0].w = op->w;
    e.width = op->w->n_in;
    qn_val out = op->out;
    uint32_t i_user;
    const qn_op *user = qn_fuse_only_user(f, out, i_op, &i_user);
    if (user != NULL && user->kind == QN_OP_SCALE) {
        e.scale = user->f;
        f->done[i_user] = true;
        out = user->out;
    }
    if (f->ex->kernels->decode_row[op->w->type] == NULL) {
        return f->status = qn_fail(f->err, QN_EUNSUPPORTED, "tensor '%.*s': no way to read rows of type %s",
                                   QN_STR_ARG(op->w->name), qn_type_name(op->w->type));
    }
    e.out = qn_fuse_f32(f, out);
    return qn_fuse_push(f, &e);
}

/* Adds norm op i_norm as the end of row op r, and gives the result the forms that its users want. */
static void end_rows_with_norm(qn_fuse *f, qn_cpu_op *r, uint32_t i_norm)
{
    const qn_op *norm = &f->g->ops[i_norm];
    bool floats, a8;
    qn_fuse_forms(f, norm->out, &floats, &a8);
    r->norm = norm->w;
    r->eps = norm->f;
    r->out = floats ? qn_fuse_f32(f, norm->out) : QN_NONE;
    r->a8 = a8 ? qn_fuse_a8(f, norm->out, r->rows) : QN_NONE;
    f->done[i_norm] = true;
}

static bool is_row_norm(const qn_fuse *f, const qn_op *op)
{
    return op->kind == QN_OP_NORM && op->width == f->g->values[op->x].width;
}

static qn_status emit_add(qn_fuse *f, uint32_t i_op)
{
    const qn_op *op = &f->g->ops[i_op];
    qn_cpu_op r = qn_fuse_blank(QN_CPU_ROWS, f->g->values[op->out].rows);
    r.x_rows = r.rows;
    r.width = f->g->values[op->out].width;
    qn_val x = op->x, y = op->y;
    int32_t i_post = f->y_norm[i_op];
    if (i_post >= 0) {
        const qn_op *post = &f->g->ops[i_post];
        if (post->out == x) { /* the normalised operand is always y */
            x = op->y;
        }
        y = post->x;
        r.y_norm = post->w;
        r.y_eps = post->f;
    }
    r.x = qn_fuse_f32(f, x);
    r.y = qn_fuse_f32(f, y);
    r.sum = qn_fuse_f32(f, op->out);
    if (i_op + 1 < f->g->n_ops) {
        const qn_op *next = &f->g->ops[i_op + 1];
        if (is_row_norm(f, next) && next->x == op->out) {
            end_rows_with_norm(f, &r, i_op + 1);
        }
    }
    return qn_fuse_push(f, &r);
}

static qn_status emit_norm(qn_fuse *f, uint32_t i_op)
{
    const qn_op *op = &f->g->ops[i_op];
    uint32_t i_user;
    const qn_op *user = qn_fuse_only_user(f, op->out, i_op, &i_user);
    if (user != NULL && user->kind == QN_OP_ADD && f->y_norm[i_user] < 0) {
        qn_val other = user->x == op->out ? user->y : user->x;
        if (qn_fuse_is_ready(f, other)) {
            f->y_norm[i_user] = (int32_t)i_op;
            return QN_OK;
        }
    }
    qn_cpu_op r = qn_fuse_blank(QN_CPU_ROWS, f->g->values[op->out].rows);
    r.width = f->g->values[op->x].width;
    r.x = qn_fuse_f32(f, op->x);
    end_rows_with_norm(f, &r, i_op);
    return qn_fuse_push(f, &r);
}

static qn_status emit_pick(qn_fuse *f, uint32_t i_op)
{
    const qn_op *op = &f->g->ops[i_op];
    f->ex->i_head = f->ex->n_ops;
    qn_cpu_op r = qn_fuse_blank(QN_CPU_ROWS, QN_ROWS_OUT);
    r.x_rows = QN_ROWS_STEP;
    r.width = f->g->values[op->x].width;
    r.x = qn_fuse_f32(f, op->x);
    uint32_t i_user;
    const qn_op *user = qn_fuse_only_user(f, op->out, i_op, &i_user);
    if (user != NULL && is_row_norm(f, user)) {
        end_rows_with_norm(f, &r, i_user);
    } else {
        r.out = qn_fuse_f32(f, op->out);
    }
    return qn_fuse_push(f, &r);
}

/* Makes sure that the input of a product is there in the forms that its weights read. */
static qn_status product_input(qn_fuse *f, qn_val x, bool a8, qn_blk *x_block, qn_blk *a8_blk)
{
    if (a8 && f->a8[x] == QN_NONE) {
        qn_cpu_op r = qn_fuse_blank(QN_CPU_ROWS, f->g->values[x].rows);
        r.width = f->g->values[x].width;
        r.x = qn_fuse_f32(f, x);
        r.a8 = qn_fuse_a8(f, x, r.rows);
        QN_TRY(qn_fuse_push(f, &r));
    }
    *x_block = f->f32[x];
    *a8_blk = f->a8[x];
    return QN_OK;
}

/* Follows what is done to a product alone: bias, then (when alone in its op) scale, softcap, residual. */
static qn_val fold_epilogue(qn_fuse *f, qn_cpu_op *p, uint32_t i_product, qn_val v, uint32_t from, bool alone)
{
    uint32_t i_user;
    for (const qn_op *user = qn_fuse_only_user(f, v, from, &i_user); user != NULL && !f->done[i_user];
         user = qn_fuse_only_user(f, v, from, &i_user)) {
        qn_cpu_product *prod = &p->products[i_product];
        bool plain = p->scale == 1.0f && p->softcap == 0.0f && p->residual == QN_NONE;
        if (user->kind == QN_OP_BIAS && prod->bias == NULL && plain) {
            prod->bias = user->w;
        } else if (alone && user->kind == QN_OP_SCALE && plain) {
            p->scale = user->f;
        } else if (alone && user->kind == QN_OP_SOFTCAP && p->softcap == 0.0f && p->residual == QN_NONE) {
            p->softcap = user->f;
        } else if (alone && user->kind == QN_OP_ADD && p->residual == QN_NONE) {
            qn_val other = user->x == v ? user->y : user->x;
            if (other == v || !qn_fuse_is_ready(f, other)) {
                break;
            }
            p->residual = f->f32[other];
        } else {
            break;
        }
        f->done[i_user] = true;
        v = user->out;
    }
    return v;
}

static qn_status emit_product(qn_fuse *f, uint32_t i_op)
{
    const qn_op *op = &f->g->ops[i_op];
    qn_cpu_op p = qn_fuse_blank(QN_CPU_PRODUCT, f->g->values[op->x].rows);
    p.width = f->g->values[op->x].width;
    qn_val outs[QN_CPU_MAX_PRODUCTS];
    bool a8 = false;
    for (uint32_t i = i_op; i < f->g->n_ops && i < i_op + QN_FUSE_WINDOW && p.n_products < QN_CPU_MAX_PRODUCTS; i++) {
        const qn_op *other = &f->g->ops[i];
        if (other->kind != QN_OP_MUL_MAT || other->x != op->x || f->done[i]) {
            continue;
        }
        if (f->ex->kernels->mm[other->w->type].one == NULL) {
            return f->status = qn_fail(f->err, QN_EUNSUPPORTED, "tensor '%.*s': no product for type %s",
                                       QN_STR_ARG(other->w->name), qn_type_name(other->w->type));
        }
        a8 = a8 || qn_fuse_wants_a8(f, other->w);
        outs[p.n_products] = other->out;
        p.products[p.n_products++].w = other->w;
        f->done[i] = true;
    }
    QN_TRY(product_input(f, op->x, a8, &p.x, &p.a8));
    for (uint32_t i = 0; i < p.n_products; i++) {
        outs[i] = fold_epilogue(f, &p, i, outs[i], i_op, p.n_products == 1);
    }
    uint32_t i_user;
    const qn_op *user = p.n_products == 2 ? qn_fuse_only_user(f, outs[0], i_op, &i_user) : NULL;
    if (user != NULL && user->kind == QN_OP_ACT_MUL && user->x == outs[0] && user->y == outs[1] &&
        f->n_uses[outs[1]] == 1) {
        p.pair = true;
        p.act = user->act;
        f->done[i_user] = true;
        p.products[0].out = p.products[1].out = qn_fuse_f32(f, user->out);
    } else {
        for (uint32_t i = 0; i < p.n_products; i++) {
            p.products[i].out = qn_fuse_f32(f, outs[i]);
        }
    }
    return qn_fuse_push(f, &p);
}

static qn_status emit_map(qn_fuse *f, uint32_t i_op)
{
    const qn_op *op = &f->g->ops[i_op];
    qn_cpu_op m = qn_fuse_blank(QN_CPU_MAP, f->g->values[op->out].rows);
    m.plain = *op;
    m.width = f->g->values[op->x].width;
    m.x = qn_fuse_f32(f, op->x);
    m.y = op->y == QN_NONE ? QN_NONE : qn_fuse_f32(f, op->y);
    if (op->kind == QN_OP_ROPE) {
        QN_TRY(qn_fuse_rope(f, op->rope, &m.q_prep.i_angles));
    }
    m.out = qn_fuse_f32(f, op->out);
    return qn_fuse_push(f, &m);
}

static qn_status emit(qn_fuse *f, uint32_t i_op, const qn_fuse_attention *attention)
{
    const qn_op *op = &f->g->ops[i_op];
    switch (op->kind) {
    case QN_OP_EMBED:
        return emit_embed(f, i_op);
    case QN_OP_ADD:
        return emit_add(f, i_op);
    case QN_OP_NORM:
        return is_row_norm(f, op) ? emit_norm(f, i_op) : emit_map(f, i_op);
    case QN_OP_PICK:
        return emit_pick(f, i_op);
    case QN_OP_MUL_MAT:
        return emit_product(f, i_op);
    case QN_OP_ATTENTION:
        return qn_fuse_emit_attention(f, i_op, attention);
    case QN_OP_ROUTE:
        return qn_fuse_emit_route(f, i_op);
    case QN_OP_MUL_EXPERT:
        return qn_fuse_emit_expert(f, i_op);
    case QN_OP_SUM_EXPERT:
        return qn_fuse_emit_sum(f, i_op);
    case QN_OP_KV_WRITE: /* folded into its attention */
        return f->status = qn_fail(f->err, QN_EINTERNAL, "a KV write without attention after it");
    default:
        return emit_map(f, i_op);
    }
}

/* From how many rows on blocks are in wide order: one form for all that read them, so all products must have it. */
static uint32_t wide_min_of(const qn_fuse *f)
{
    const qn_kernels *k = f->ex->kernels;
    bool have_all = k->wide_min != 0;
    for (uint32_t i = 0; i < f->g->n_ops && have_all; i++) {
        const qn_op *op = &f->g->ops[i];
        have_all = op->kind != QN_OP_MUL_MAT || !qn_fuse_wants_a8(f, op->w) || k->mm[op->w->type].wide != NULL;
    }
    return have_all ? k->wide_min : 0;
}

static qn_status fuse_all(qn_fuse *f)
{
    const qn_graph *g = f->g;
    f->ex->wide_min = wide_min_of(f);
    qn_cpu_op angles = qn_fuse_blank(QN_CPU_ANGLES, QN_ROWS_STEP);
    QN_TRY(qn_fuse_push(f, &angles));
    for (uint32_t i = 0; i < g->n_values; i++) {
        f->f32[i] = f->a8[i] = QN_NONE;
    }
    for (uint32_t i = 0; i < g->n_ops; i++) {
        f->y_norm[i] = -1;
        if (g->ops[i].out != QN_NONE) {
            f->def[g->ops[i].out] = (int32_t)i;
        }
        if (g->ops[i].x != QN_NONE) {
            f->n_uses[g->ops[i].x]++;
        }
        if (g->ops[i].y != QN_NONE) {
            f->n_uses[g->ops[i].y]++;
        }
    }
    qn_fuse_attention *inputs = qn_zalloc_array(f->ex->be->budget, "plan", g->n_ops, sizeof(*inputs));
    if (inputs == NULL) {
        return qn_fail(f->err, QN_ENOMEM, "no memory for the plan");
    }
    for (uint32_t i = 0; i < g->n_ops && f->status == QN_OK; i++) {
        if (g->ops[i].kind == QN_OP_ATTENTION) {
            qn_fuse_fold_attention(f, i, &inputs[i]);
        }
    }
    for (uint32_t i = 0; i < g->n_ops && f->status == QN_OK; i++) {
        if (!f->done[i]) {
            emit(f, i, &inputs[i]);
        }
    }
    qn_free(inputs);
    QN_TRY(f->status);
    const qn_cpu_op *last = &f->ex->ops[f->ex->n_ops - 1];
    if (f->ex->i_head == 0 || last->kind != QN_CPU_PRODUCT || last->n_products != 1) {
        return qn_fail(f->err, QN_EINTERNAL, "the op list does not end with logits of picked rows");
    }
    f->ex->blocks[last->products[0].out].external = true;
    return qn_fuse_lifetimes(f);
}

qn_status qn_cpu_fuse(qn_exec *ex, const qn_graph *g, qn_error *err)
{
    qn_budget *b = ex->be->budget;
    qn_fuse f = {.ex = ex, .g = g, .err = err};
    ex->n_experts = g->n_experts;
    ex->n_used = g->n_used;
    f.done = qn_zalloc_array(b, "plan", g->n_ops, sizeof(*f.done));
    f.y_norm = qn_zalloc_array(b, "plan", g->n_ops, sizeof(*f.y_norm));
    f.def = qn_zalloc_array(b, "plan", g->n_values, sizeof(*f.def));
    f.n_uses = qn_zalloc_array(b, "plan", g->n_values, sizeof(*f.n_uses));
    f.f32 = qn_zalloc_array(b, "plan", g->n_values, sizeof(*f.f32));
    f.a8 = qn_zalloc_array(b, "plan", g->n_values, sizeof(*f.a8));
    qn_status status;
    if (f.done == NULL || f.y_norm == NULL || f.def == NULL || f.n_uses == NULL || f.f32 == NULL || f.a8 == NULL) {
        status = qn_fail(err, QN_ENOMEM, "no memory for the plan");
    } else {
        status = fuse_all(&f);
    }
    qn_free(f.done);
    qn_free(f.y_norm);
    qn_free(f.def);
    qn_free(f.n_uses);
    qn_free(f.f32);
    qn_free(f.a8);
    return status;
}
