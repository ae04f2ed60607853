/* From plain ops to the CPU's fused ones.
 *
 * What is folded, for a usual layer (9 barriers become 5 or 6):
 *   add [+ norm of the summand] + norm + quantise        -> ROWS, joined with the product that follows
 *   q, k, v (or gate, up) of one input + bias             -> PRODUCT
 *   gate, up, act(gate) * up                              -> PRODUCT with pair
 *   product + residual add, scale, softcap                -> PRODUCT
 *   norm of heads, rope of q and k, KV write, attention   -> ATTENTION
 *   pick + norm                                           -> ROWS that reads the wanted rows
 * Whatever does not match stays a MAP op, so any graph runs. SPDX-License-Identifier: MIT */
#include "backend/cpu/exec_int.h"

#include <stdio.h>

#define QN_FUSE_WINDOW 16 /* ops that products of one input may stand apart; q, k, v with biases and norms take 9 */

typedef struct fuse {
    qn_exec *ex;
    const qn_graph *g;
    bool *done;        /* per op: folded into another */
    int32_t *def;      /* per value: the op that makes it */
    uint32_t *n_uses;  /* per value */
    qn_blk *f32, *a8;  /* per value: its block, once there is one */
    int32_t *y_norm;   /* per ADD op: the norm folded into its second operand, or -1 */
    qn_error *err;
    qn_status status;
} fuse;

static qn_status push_op(fuse *f, const qn_cpu_op *op)
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

static qn_cpu_op blank(qn_cpu_op_kind kind, qn_rows rows)
{
    return (qn_cpu_op){.kind = kind, .rows = rows, .x_rows = rows, .x = QN_NONE, .y = QN_NONE, .out = QN_NONE,
                       .a8 = QN_NONE, .sum = QN_NONE, .routing = QN_NONE, .residual = QN_NONE, .q = QN_NONE,
                       .k = QN_NONE, .v = QN_NONE, .scale = 1.0f};
}

static qn_blk new_block(fuse *f, const char *name, const char *suffix, qn_rows rows, uint64_t row_bytes, uint64_t fixed)
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

static qn_blk f32_block(fuse *f, qn_val v)
{
    if (f->f32[v] == QN_NONE) {
        const qn_value *val = &f->g->values[v];
        f->f32[v] = new_block(f, val->name, "", val->rows, sizeof(float) * (uint64_t)val->width, 0);
    }
    return f->f32[v];
}

static qn_blk a8_block(fuse *f, qn_val v, qn_rows rows)
{
    if (f->a8[v] == QN_NONE) {
        const qn_value *val = &f->g->values[v];
        f->a8[v] = new_block(f, val->name, ".a8", rows, qn_a8_bytes(val->width), 0);
    }
    return f->a8[v];
}

static bool wants_a8(const fuse *f, const qn_weight *w) { return f->ex->kernels->mm[w->type].act == QN_ACT_A8; }

/* The only op that reads v, or NULL. */
static const qn_op *only_user(const fuse *f, qn_val v, uint32_t from, uint32_t *i_user)
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

/* In which forms the users of v read it. MUL_EXPERT quantises for itself, pair by pair. */
static void forms_of(const fuse *f, qn_val v, bool *floats, bool *a8)
{
    *floats = *a8 = false;
    for (uint32_t i = 0; i < f->g->n_ops; i++) {
        const qn_op *op = &f->g->ops[i];
        if (op->x != v && op->y != v) {
            continue;
        }
        if (op->kind == QN_OP_MUL_MAT && wants_a8(f, op->w)) {
            *a8 = true;
        } else {
            *floats = true;
        }
    }
}

/* A value that some earlier, emitted op has made. */
static bool is_ready(const fuse *f, qn_val v) { return f->f32[v] != QN_NONE; }

/* ---- folding around attention, decided first ------------------------------------------------------ */

/* Follows v back over what can be done to its heads just before attention. Keys are prepared where they stand, so the
 * value that remains must have no other reader; queries are prepared in a copy. */
static qn_val fold_head_prep(fuse *f, qn_val v, uint32_t head_dim, bool in_place, qn_cpu_head_prep *prep)
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

static qn_status add_rope(fuse *f, const qn_rope *r, uint32_t *i_rope)
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

/* Values whose producers attention swallows are remembered here until the op is emitted. */
typedef struct attention_inputs {
    qn_val q, k, v;
    qn_cpu_head_prep q_prep, k_prep;
} attention_inputs;

static const qn_op *kv_write_of(const fuse *f, uint32_t i_attention, uint32_t *i_write)
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

static qn_status fold_attention(fuse *f, uint32_t i_op, attention_inputs *in)
{
    const qn_op *op = &f->g->ops[i_op];
    uint32_t i_write = 0;
    const qn_op *write = kv_write_of(f, i_op, &i_write);
    if (write == NULL || f->done[i_write]) {
        return f->status = qn_fail(f->err, QN_EINTERNAL, "attention without a KV write of its own before it");
    }
    const qn_kv_layer *l = &f->ex->kv->layers[op->attention.i_layer];
    *in = (attention_inputs){.v = write->y};
    in->q = fold_head_prep(f, op->x, l->head_dim, false, &in->q_prep);
    in->k = fold_head_prep(f, write->x, l->head_dim, true, &in->k_prep);
    f->done[i_write] = true;
    QN_TRY(add_rope(f, in->q_prep.rope, &in->q_prep.i_angles));
    return add_rope(f, in->k_prep.rope, &in->k_prep.i_angles);
}

/* ---- emitting ------------------------------------------------------------------------------------- */

static qn_status emit_embed(fuse *f, uint32_t i_op)
{
    const qn_op *op = &f->g->ops[i_op];
    qn_cpu_op e = blank(QN_CPU_EMBED, QN_ROWS_STEP);
    e.products[0].w = op->w;
    e.width = op->w->n_in;
    qn_val out = op->out;
    uint32_t i_user;
    const qn_op *user = only_user(f, out, i_op, &i_user);
    if (user != NULL && user->kind == QN_OP_SCALE) {
        e.scale = user->f;
        f->done[i_user] = true;
        out = user->out;
    }
    if (f->ex->kernels->decode_row[op->w->type] == NULL) {
        return f->status = qn_fail(f->err, QN_EUNSUPPORTED, "tensor '%.*s': no way to read rows of type %s",
                                   QN_STR_ARG(op->w->name), qn_type_name(op->w->type));
    }
    e.out = f32_block(f, out);
    return push_op(f, &e);
}

/* Adds norm op i_norm as the end of row op r, and gives the result the forms that its users want. */
static void end_rows_with_norm(fuse *f, qn_cpu_op *r, uint32_t i_norm)
{
    const qn_op *norm = &f->g->ops[i_norm];
    bool floats, a8;
    forms_of(f, norm->out, &floats, &a8);
    r->norm = norm->w;
    r->eps = norm->f;
    r->out = floats ? f32_block(f, norm->out) : QN_NONE;
    r->a8 = a8 ? a8_block(f, norm->out, r->rows) : QN_NONE;
    f->done[i_norm] = true;
}

static bool is_row_norm(const fuse *f, const qn_op *op)
{
    return op->kind == QN_OP_NORM && op->width == f->g->values[op->x].width;
}

static qn_status emit_add(fuse *f, uint32_t i_op)
{
    const qn_op *op = &f->g->ops[i_op];
    qn_cpu_op r = blank(QN_CPU_ROWS, f->g->values[op->out].rows);
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
    r.x = f32_block(f, x);
    r.y = f32_block(f, y);
    r.sum = f32_block(f, op->out);
    if (i_op + 1 < f->g->n_ops) {
        const qn_op *next = &f->g->ops[i_op + 1];
        if (is_row_norm(f, next) && next->x == op->out) {
            end_rows_with_norm(f, &r, i_op + 1);
        }
    }
    return push_op(f, &r);
}

static qn_status emit_norm(fuse *f, uint32_t i_op)
{
    const qn_op *op = &f->g->ops[i_op];
    uint32_t i_user;
    const qn_op *user = only_user(f, op->out, i_op, &i_user);
    if (user != NULL && user->kind == QN_OP_ADD && f->y_norm[i_user] < 0) {
        qn_val other = user->x == op->out ? user->y : user->x;
        if (is_ready(f, other)) {
            f->y_norm[i_user] = (int32_t)i_op;
            return QN_OK;
        }
    }
    qn_cpu_op r = blank(QN_CPU_ROWS, f->g->values[op->out].rows);
    r.width = f->g->values[op->x].width;
    r.x = f32_block(f, op->x);
    end_rows_with_norm(f, &r, i_op);
    return push_op(f, &r);
}

static qn_status emit_pick(fuse *f, uint32_t i_op)
{
    const qn_op *op = &f->g->ops[i_op];
    f->ex->i_head = f->ex->n_ops;
    qn_cpu_op r = blank(QN_CPU_ROWS, QN_ROWS_OUT);
    r.x_rows = QN_ROWS_STEP;
    r.width = f->g->values[op->x].width;
    r.x = f32_block(f, op->x);
    uint32_t i_user;
    const qn_op *user = only_user(f, op->out, i_op, &i_user);
    if (user != NULL && is_row_norm(f, user)) {
        end_rows_with_norm(f, &r, i_user);
    } else {
        r.out = f32_block(f, op->out);
    }
    return push_op(f, &r);
}

/* Makes sure that the input of a product is there in the forms that its weights read. */
static qn_status product_input(fuse *f, qn_val x, bool a8, qn_blk *x_block, qn_blk *a8_blk)
{
    if (a8 && f->a8[x] == QN_NONE) {
        qn_cpu_op r = blank(QN_CPU_ROWS, f->g->values[x].rows);
        r.width = f->g->values[x].width;
        r.x = f32_block(f, x);
        r.a8 = a8_block(f, x, r.rows);
        QN_TRY(push_op(f, &r));
    }
    *x_block = f->f32[x];
    *a8_blk = f->a8[x];
    return QN_OK;
}

/* Follows what is done to a product alone: bias, then (when alone in its op) scale, softcap, residual. */
static qn_val fold_epilogue(fuse *f, qn_cpu_op *p, uint32_t i_product, qn_val v, uint32_t from, bool alone)
{
    uint32_t i_user;
    for (const qn_op *user = only_user(f, v, from, &i_user); user != NULL && !f->done[i_user];
         user = only_user(f, v, from, &i_user)) {
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
            if (other == v || !is_ready(f, other)) {
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

static qn_status emit_product(fuse *f, uint32_t i_op)
{
    const qn_op *op = &f->g->ops[i_op];
    qn_cpu_op p = blank(QN_CPU_PRODUCT, f->g->values[op->x].rows);
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
        a8 = a8 || wants_a8(f, other->w);
        outs[p.n_products] = other->out;
        p.products[p.n_products++].w = other->w;
        f->done[i] = true;
    }
    QN_TRY(product_input(f, op->x, a8, &p.x, &p.a8));
    for (uint32_t i = 0; i < p.n_products; i++) {
        outs[i] = fold_epilogue(f, &p, i, outs[i], i_op, p.n_products == 1);
    }
    uint32_t i_user;
    const qn_op *user = p.n_products == 2 ? only_user(f, outs[0], i_op, &i_user) : NULL;
    if (user != NULL && user->kind == QN_OP_ACT_MUL && user->x == outs[0] && user->y == outs[1] &&
        f->n_uses[outs[1]] == 1) {
        p.pair = true;
        p.act = user->act;
        f->done[i_user] = true;
        p.products[0].out = p.products[1].out = f32_block(f, user->out);
    } else {
        for (uint32_t i = 0; i < p.n_products; i++) {
            p.products[i].out = f32_block(f, outs[i]);
        }
    }
    return push_op(f, &p);
}

static qn_status emit_attention(fuse *f, uint32_t i_op, const attention_inputs *in)
{
    const qn_op *op = &f->g->ops[i_op];
    qn_cpu_op a = blank(QN_CPU_ATTENTION, QN_ROWS_STEP);
    a.attention = op->attention;
    a.q = f32_block(f, in->q);
    a.k = f32_block(f, in->k);
    a.v = f32_block(f, in->v);
    a.q_prep = in->q_prep;
    a.k_prep = in->k_prep;
    a.out = f32_block(f, op->out);
    a.width = f->g->values[op->out].width;
    return push_op(f, &a);
}

static qn_status emit_map(fuse *f, uint32_t i_op)
{
    const qn_op *op = &f->g->ops[i_op];
    qn_cpu_op m = blank(QN_CPU_MAP, f->g->values[op->out].rows);
    m.plain = *op;
    m.width = f->g->values[op->x].width;
    m.x = f32_block(f, op->x);
    m.y = op->y == QN_NONE ? QN_NONE : f32_block(f, op->y);
    if (op->kind == QN_OP_ROPE) {
        QN_TRY(add_rope(f, op->rope, &m.q_prep.i_angles));
    }
    m.out = f32_block(f, op->out);
    return push_op(f, &m);
}

static qn_status emit_route(fuse *f, uint32_t i_op)
{
    const qn_op *op = &f->g->ops[i_op];
    if (op->width != f->g->n_experts || op->n_used != f->g->n_used) {
        return f->status = qn_fail(f->err, QN_EUNSUPPORTED, "layers with different numbers of experts");
    }
    qn_cpu_op r = blank(QN_CPU_ROUTE, QN_ROWS_STEP);
    r.plain = *op;
    r.width = op->width;
    r.x = f32_block(f, op->x);
    r.out = new_block(f, f->g->values[op->out].name, "", QN_ROWS_STEP, qn_routing_row_bytes(op->n_used),
                      qn_routing_fixed_bytes(op->width));
    f->f32[op->out] = r.out;
    return push_op(f, &r);
}

static qn_status emit_expert(fuse *f, uint32_t i_op)
{
    const qn_op *op = &f->g->ops[i_op];
    const qn_value *x = &f->g->values[op->x];
    if (f->ex->kernels->mm[op->w->type].one == NULL) {
        return f->status = qn_fail(f->err, QN_EUNSUPPORTED, "tensor '%.*s': no product for type %s",
                                   QN_STR_ARG(op->w->name), qn_type_name(op->w->type));
    }
    qn_cpu_op e = blank(QN_CPU_EXPERT, QN_ROWS_EXPERT);
    e.width = x->width;
    e.products[0].w = op->w;
    e.n_products = 1;
    e.routing = f->f32[op->y];
    qn_cpu_op r = blank(QN_CPU_ROWS, QN_ROWS_EXPERT); /* each pair's input, in the order of the pairs */
    r.width = x->width;
    r.x = f32_block(f, op->x);
    r.x_rows = x->rows;
    r.routing = e.routing;
    if (wants_a8(f, op->w)) {
        e.a8 = r.a8 = new_block(f, x->name, ".pairs.a8", QN_ROWS_EXPERT, qn_a8_bytes(x->width), 0);
    } else if (x->rows == QN_ROWS_EXPERT) {
        e.x = r.x;
    } else {
        e.x = r.out = new_block(f, x->name, ".pairs", QN_ROWS_EXPERT, sizeof(float) * (uint64_t)x->width, 0);
    }
    if (r.out != QN_NONE || r.a8 != QN_NONE) {
        QN_TRY(push_op(f, &r));
    }
    e.products[0].out = f32_block(f, op->out);
    return push_op(f, &e);
}

static qn_status emit_sum(fuse *f, uint32_t i_op)
{
    const qn_op *op = &f->g->ops[i_op];
    qn_cpu_op s = blank(QN_CPU_SUM, QN_ROWS_STEP);
    s.width = f->g->values[op->out].width;
    s.x = f32_block(f, op->x);
    s.routing = f->f32[op->y];
    s.out = f32_block(f, op->out);
    return push_op(f, &s);
}

static qn_status emit(fuse *f, uint32_t i_op, const attention_inputs *attention)
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
        return emit_attention(f, i_op, attention);
    case QN_OP_ROUTE:
        return emit_route(f, i_op);
    case QN_OP_MUL_EXPERT:
        return emit_expert(f, i_op);
    case QN_OP_SUM_EXPERT:
        return emit_sum(f, i_op);
    case QN_OP_KV_WRITE: /* folded into its attention */
        return f->status = qn_fail(f->err, QN_EINTERNAL, "a KV write without attention after it");
    default:
        return emit_map(f, i_op);
    }
}

/* ---- joining and lifetimes ------------------------------------------------------------------------ */

static void visit_blocks(qn_cpu_op *op, void (*fn)(void *ctx, qn_blk b), void *ctx)
{
    qn_blk all[9 + QN_CPU_MAX_PRODUCTS] = {op->x, op->y,        op->out, op->a8, op->sum,
                                           op->routing, op->residual, op->q,   op->k};
    uint32_t n = 9;
    for (uint32_t i = 0; i < op->n_products; i++) {
        all[n++] = op->products[i].out;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (all[i] != QN_NONE) {
            fn(ctx, all[i]);
        }
    }
    if (op->v != QN_NONE) {
        fn(ctx, op->v);
    }
}

typedef struct users {
    qn_blk b;
    uint32_t n;
} users;

static void count_user(void *ctx, qn_blk b)
{
    users *u = ctx;
    u->n += b == u->b;
}

/* True when no op but i and i + 1 touches b. */
static bool only_next(qn_exec *ex, uint32_t i, qn_blk b)
{
    users u = {.b = b};
    for (uint32_t k = 0; b != QN_NONE && k < ex->n_ops; k++) {
        if (k != i && k != i + 1) {
            visit_blocks(&ex->ops[k], count_user, &u);
        }
    }
    return u.n == 0;
}

/* True when p's input is made by r and nothing else of r's results is read by p: only the input has a private copy. */
static bool feeds(const qn_cpu_op *r, const qn_cpu_op *p)
{
    bool makes_x = r->out != QN_NONE && p->x == r->out, makes_a8 = r->a8 != QN_NONE && p->a8 == r->a8;
    bool reads_more = p->residual != QN_NONE && (p->residual == r->sum || p->residual == r->out);
    return (makes_x || makes_a8) && (makes_x || r->out == QN_NONE) && (makes_a8 || r->a8 == QN_NONE) && !reads_more;
}

static void join_rows(qn_exec *ex)
{
    for (uint32_t i = 0; i + 1 < ex->n_ops; i++) {
        qn_cpu_op *r = &ex->ops[i], *p = &ex->ops[i + 1];
        if (r->kind == QN_CPU_ROWS && p->kind == QN_CPU_PRODUCT && r->routing == QN_NONE && i + 1 != ex->i_head &&
            feeds(r, p)) {
            r->joined = only_next(ex, i, r->out) && only_next(ex, i, r->a8);
        }
    }
}

typedef struct living {
    qn_exec *ex;
    uint32_t phase;
} living;

static void mark_alive(void *ctx, qn_blk b)
{
    living *l = ctx;
    qn_block *p = &l->ex->places[b];
    p->first = l->phase < p->first ? l->phase : p->first;
    p->last = l->phase > p->last ? l->phase : p->last;
}

static qn_status set_lifetimes(fuse *f)
{
    qn_exec *ex = f->ex;
    ex->places = qn_zalloc_array(ex->be->budget, "plan", ex->n_blocks, sizeof(*ex->places));
    if (ex->places == NULL) {
        return qn_fail(f->err, QN_ENOMEM, "no memory for the plan");
    }
    for (uint32_t i = 0; i < ex->n_blocks; i++) {
        ex->places[i].first = UINT32_MAX;
    }
    living l = {.ex = ex};
    uint32_t head_phase = 0;
    for (uint32_t i = 0; i < ex->n_ops; i++) {
        l.phase += i > 0 && !ex->ops[i - 1].joined;
        head_phase = i == ex->i_head ? l.phase : head_phase;
        ex->ops[i].phase = l.phase;
        visit_blocks(&ex->ops[i], mark_alive, &l);
    }
    const uint32_t max_rows[QN_ROWS_KINDS] = {ex->lim.n_rows, ex->lim.n_rows * ex->n_used, ex->lim.n_out};
    for (uint32_t i = 0; i < ex->n_blocks; i++) {
        const qn_cpu_block *b = &ex->blocks[i];
        qn_block *p = &ex->places[i];
        p->bytes = b->external || p->first == UINT32_MAX ? 0 : b->row_bytes * max_rows[b->rows] + b->fixed_bytes;
        if (p->first < head_phase && p->last >= head_phase) {
            p->last = l.phase; /* the head may run several times on what the body left */
        }
    }
    return QN_OK;
}

static qn_status fuse_all(fuse *f)
{
    const qn_graph *g = f->g;
    qn_cpu_op angles = blank(QN_CPU_ANGLES, QN_ROWS_STEP);
    QN_TRY(push_op(f, &angles));
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
    attention_inputs *inputs = qn_zalloc_array(f->ex->be->budget, "plan", g->n_ops, sizeof(*inputs));
    if (inputs == NULL) {
        return qn_fail(f->err, QN_ENOMEM, "no memory for the plan");
    }
    for (uint32_t i = 0; i < g->n_ops && f->status == QN_OK; i++) {
        if (g->ops[i].kind == QN_OP_ATTENTION) {
            fold_attention(f, i, &inputs[i]);
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
    join_rows(f->ex);
    return set_lifetimes(f);
}

qn_status qn_cpu_fuse(qn_exec *ex, const qn_graph *g, qn_error *err)
{
    qn_budget *b = ex->be->budget;
    fuse f = {.ex = ex, .g = g, .err = err};
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
