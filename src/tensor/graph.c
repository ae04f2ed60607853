/* Building the op list: each function checks its shapes and appends one op. SPDX-License-Identifier: MIT */
#include "tensor/graph.h"

#include <stdio.h>

static const char *const op_names[] = {
    [QN_OP_EMBED] = "embed",
    [QN_OP_NORM] = "norm",
    [QN_OP_MUL_MAT] = "mul_mat",
    [QN_OP_BIAS] = "bias",
    [QN_OP_ADD] = "add",
    [QN_OP_SCALE] = "scale",
    [QN_OP_SOFTCAP] = "softcap",
    [QN_OP_ACT_MUL] = "act_mul",
    [QN_OP_ROPE] = "rope",
    [QN_OP_KV_WRITE] = "kv_write",
    [QN_OP_ATTENTION] = "attention",
    [QN_OP_ROUTE] = "route",
    [QN_OP_MUL_EXPERT] = "mul_expert",
    [QN_OP_SUM_EXPERT] = "sum_expert",
    [QN_OP_PICK] = "pick",
};

const char *qn_op_kind_name(qn_op_kind k)
{
    return op_names[k];
}

void qn_graph_init(qn_graph *g, qn_budget *b, const qn_kv_layout *kv)
{
    *g = (qn_graph){.budget = b, .kv = kv, .i_block = -1};
}

void qn_graph_free(qn_graph *g)
{
    qn_free(g->ops);
    qn_free(g->values);
    g->ops = NULL;
    g->values = NULL;
    g->n_ops = g->n_values = g->cap_ops = g->cap_values = 0;
}

qn_status qn_graph_status(const qn_graph *g, qn_error *err)
{
    if (g->status != QN_OK && err != NULL) {
        *err = g->error;
    }
    return g->status;
}

static bool grow(qn_graph *g, void **array, uint32_t n, uint32_t *cap, size_t item_bytes)
{
    if (n < *cap) {
        return true;
    }
    if (n >= QN_GRAPH_MAX_OPS) {
        g->status = qn_fail(&g->error, QN_ERANGE, "the model needs more than %d ops", QN_GRAPH_MAX_OPS);
        return false;
    }
    uint32_t wanted = *cap == 0 ? 256 : *cap * 2;
    void *p = qn_realloc(g->budget, "graph", *array, wanted * item_bytes);
    if (p == NULL) {
        g->status = qn_fail(&g->error, QN_ENOMEM, "no memory for the op list");
        return false;
    }
    *array = p;
    *cap = wanted;
    return true;
}

static qn_val new_value(qn_graph *g, const char *name, uint32_t width, qn_rows rows)
{
    if (g->status != QN_OK || !grow(g, (void **)&g->values, g->n_values, &g->cap_values, sizeof(qn_value))) {
        return QN_NONE;
    }
    qn_value *v = &g->values[g->n_values];
    *v = (qn_value){.width = width, .rows = rows};
    if (g->i_block >= 0) {
        snprintf(v->name, sizeof(v->name), "blk.%d.%s", g->i_block, name);
    } else {
        snprintf(v->name, sizeof(v->name), "%s", name);
    }
    return (qn_val)g->n_values++;
}

/* Appends op with a new output value; returns that value. */
static qn_val emit(qn_graph *g, const char *name, uint32_t width, qn_rows rows, qn_op op)
{
    op.out = new_value(g, name, width, rows);
    if (op.out == QN_NONE || !grow(g, (void **)&g->ops, g->n_ops, &g->cap_ops, sizeof(qn_op))) {
        return QN_NONE;
    }
    g->ops[g->n_ops++] = op;
    return op.out;
}

/* True when the graph is sound and x is a value of it. */
static bool ready(qn_graph *g, qn_val x)
{
    if (g->status == QN_OK && (x < 0 || (uint32_t)x >= g->n_values)) {
        g->status = qn_fail(&g->error, QN_EINTERNAL, "an op without an input");
    }
    return g->status == QN_OK;
}

static qn_val mismatch(qn_graph *g, const char *name, const qn_weight *w, uint32_t width)
{
    if (w != NULL) {
        g->status = qn_fail(&g->error, QN_EFORMAT, "tensor '%.*s': %u x %u does not fit %u inputs of %s",
                            QN_STR_ARG(w->name), w->n_in, w->n_out, width, name);
    } else {
        g->status = qn_fail(&g->error, QN_EFORMAT, "%s: widths do not match (%u)", name, width);
    }
    return QN_NONE;
}

qn_val qn_graph_embed(qn_graph *g, const char *name, const qn_weight *w)
{
    if (g->status != QN_OK) {
        return QN_NONE;
    }
    return emit(g, name, w->n_in, QN_ROWS_STEP, (qn_op){.kind = QN_OP_EMBED, .x = QN_NONE, .y = QN_NONE, .w = w});
}

qn_val qn_graph_norm_heads(qn_graph *g, const char *name, qn_val x, const qn_weight *w, float eps, uint32_t head_dim)
{
    if (!ready(g, x)) {
        return QN_NONE;
    }
    const qn_value *v = &g->values[x];
    if (w->n_in != head_dim || w->n_out != 1 || head_dim == 0 || v->width % head_dim != 0) {
        return mismatch(g, name, w, v->width);
    }
    return emit(g, name, v->width, v->rows,
                (qn_op){.kind = QN_OP_NORM, .x = x, .y = QN_NONE, .w = w, .f = eps, .width = head_dim});
}

qn_val qn_graph_norm(qn_graph *g, const char *name, qn_val x, const qn_weight *w, float eps)
{
    return ready(g, x) ? qn_graph_norm_heads(g, name, x, w, eps, g->values[x].width) : QN_NONE;
}

qn_val qn_graph_mul_mat(qn_graph *g, const char *name, const qn_weight *w, qn_val x)
{
    if (!ready(g, x)) {
        return QN_NONE;
    }
    const qn_value *v = &g->values[x];
    if (w->n_in != v->width || w->n_mats != 1) {
        return mismatch(g, name, w, v->width);
    }
    return emit(g, name, w->n_out, v->rows, (qn_op){.kind = QN_OP_MUL_MAT, .x = x, .y = QN_NONE, .w = w});
}

qn_val qn_graph_bias(qn_graph *g, const char *name, qn_val x, const qn_weight *w)
{
    if (!ready(g, x) || w == NULL) {
        return x;
    }
    const qn_value *v = &g->values[x];
    if (w->n_in != v->width || w->n_out != 1) {
        return mismatch(g, name, w, v->width);
    }
    return emit(g, name, v->width, v->rows, (qn_op){.kind = QN_OP_BIAS, .x = x, .y = QN_NONE, .w = w});
}

static qn_val emit_pair(qn_graph *g, const char *name, qn_val x, qn_val y, qn_op op)
{
    if (!ready(g, x) || !ready(g, y)) {
        return QN_NONE;
    }
    const qn_value *v = &g->values[x];
    if (v->width != g->values[y].width || v->rows != g->values[y].rows) {
        return mismatch(g, name, NULL, v->width);
    }
    op.x = x;
    op.y = y;
    return emit(g, name, v->width, v->rows, op);
}

qn_val qn_graph_add(qn_graph *g, const char *name, qn_val x, qn_val y)
{
    return emit_pair(g, name, x, y, (qn_op){.kind = QN_OP_ADD});
}

qn_val qn_graph_act_mul(qn_graph *g, const char *name, qn_act_kind act, qn_val gate, qn_val up)
{
    return emit_pair(g, name, gate, up, (qn_op){.kind = QN_OP_ACT_MUL, .act = act});
}

static qn_val emit_map(qn_graph *g, const char *name, qn_val x, qn_op op)
{
    if (!ready(g, x)) {
        return QN_NONE;
    }
    op.x = x;
    op.y = QN_NONE;
    return emit(g, name, g->values[x].width, g->values[x].rows, op);
}

qn_val qn_graph_scale(qn_graph *g, const char *name, qn_val x, float f)
{
    return f == 1.0f ? x : emit_map(g, name, x, (qn_op){.kind = QN_OP_SCALE, .f = f});
}

qn_val qn_graph_softcap(qn_graph *g, const char *name, qn_val x, float cap)
{
    return cap == 0.0f ? x : emit_map(g, name, x, (qn_op){.kind = QN_OP_SOFTCAP, .f = cap});
}

qn_val qn_graph_rope(qn_graph *g, const char *name, qn_val x, const qn_rope *r, uint32_t head_dim)
{
    if (!ready(g, x)) {
        return QN_NONE;
    }
    if (head_dim == 0 || g->values[x].width % head_dim != 0 || r->n_pairs > head_dim / 2) {
        return mismatch(g, name, NULL, g->values[x].width);
    }
    return emit_map(g, name, x, (qn_op){.kind = QN_OP_ROPE, .rope = r, .width = head_dim});
}

void qn_graph_kv_write(qn_graph *g, uint32_t i_layer, qn_val k, qn_val v)
{
    if (!ready(g, k) || !ready(g, v)) {
        return;
    }
    const qn_kv_layer *l = &g->kv->layers[i_layer];
    if (g->values[k].width != l->n_heads * l->head_dim || g->values[v].width != l->n_heads * l->v_dim) {
        mismatch(g, "kv_write", NULL, g->values[k].width);
        return;
    }
    if (grow(g, (void **)&g->ops, g->n_ops, &g->cap_ops, sizeof(qn_op))) {
        g->ops[g->n_ops++] =
            (qn_op){.kind = QN_OP_KV_WRITE, .x = k, .y = v, .out = QN_NONE, .attention = {.i_layer = i_layer}};
    }
}

qn_val qn_graph_attention(qn_graph *g, const char *name, qn_val q, const qn_attention *a)
{
    if (!ready(g, q)) {
        return QN_NONE;
    }
    const qn_kv_layer *l = &g->kv->layers[a->i_layer];
    if (l->n_heads == 0 || a->n_heads % l->n_heads != 0 || g->values[q].width != a->n_heads * l->head_dim) {
        return mismatch(g, name, NULL, g->values[q].width);
    }
    return emit(g, name, a->n_heads * l->v_dim, QN_ROWS_STEP,
                (qn_op){.kind = QN_OP_ATTENTION, .x = q, .y = QN_NONE, .attention = *a});
}

qn_val qn_graph_route(qn_graph *g, const char *name, qn_val logits, uint32_t n_used, bool renormalise)
{
    if (!ready(g, logits)) {
        return QN_NONE;
    }
    uint32_t n_experts = g->values[logits].width;
    if (n_used == 0 || n_used > n_experts) {
        return mismatch(g, name, NULL, n_experts);
    }
    g->n_experts = n_experts > g->n_experts ? n_experts : g->n_experts;
    g->n_used = n_used > g->n_used ? n_used : g->n_used;
    return emit(g, name, n_used, QN_ROWS_STEP,
                (qn_op){.kind = QN_OP_ROUTE,
                        .x = logits,
                        .y = QN_NONE,
                        .n_used = n_used,
                        .width = n_experts,
                        .renormalise = renormalise});
}

qn_val qn_graph_mul_expert(qn_graph *g, const char *name, const qn_weight *w, qn_val x, qn_val routing)
{
    if (!ready(g, x) || !ready(g, routing)) {
        return QN_NONE;
    }
    if (w->n_in != g->values[x].width) {
        return mismatch(g, name, w, g->values[x].width);
    }
    return emit(g, name, w->n_out, QN_ROWS_EXPERT, (qn_op){.kind = QN_OP_MUL_EXPERT, .x = x, .y = routing, .w = w});
}

qn_val qn_graph_sum_expert(qn_graph *g, const char *name, qn_val x, qn_val routing)
{
    if (!ready(g, x) || !ready(g, routing)) {
        return QN_NONE;
    }
    return emit(g, name, g->values[x].width, QN_ROWS_STEP, (qn_op){.kind = QN_OP_SUM_EXPERT, .x = x, .y = routing});
}

qn_val qn_graph_pick(qn_graph *g, const char *name, qn_val x)
{
    if (!ready(g, x)) {
        return QN_NONE;
    }
    return emit(g, name, g->values[x].width, QN_ROWS_OUT, (qn_op){.kind = QN_OP_PICK, .x = x, .y = QN_NONE});
}
