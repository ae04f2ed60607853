/* The op list that an architecture builder emits: plain maths, one op a line, no notion of threads, formats or fusion.
 *
 * A value is a matrix of `width` floats by a number of rows that is known only when a step runs (qn_rows). Builders
 * call the functions below from top to bottom; an error (shapes that do not fit, no memory) sticks to the graph, later
 * calls do nothing, and qn_graph_status() tells at the end. SPDX-License-Identifier: MIT */
#ifndef QN_TENSOR_GRAPH_H
#define QN_TENSOR_GRAPH_H

#include "base/alloc.h"
#include "tensor/kv_layout.h"
#include "tensor/weight.h"

typedef int32_t qn_val; /* a value's index; QN_NONE: none */
#define QN_NONE (-1)
#define QN_GRAPH_MAX_OPS 65536 /* about 30 ops a layer, 1024 layers at most */

typedef enum qn_rows {
    QN_ROWS_STEP,   /* one for each row of the step */
    QN_ROWS_EXPERT, /* n_experts_used for each row of the step, sorted by expert */
    QN_ROWS_OUT,    /* one for each row whose logits are wanted */
    QN_ROWS_KINDS
} qn_rows;

typedef enum qn_op_kind {
    QN_OP_EMBED,      /* out = w[token] */
    QN_OP_NORM,       /* out = x / rms(x) * w, over runs of `width` elements (a head, or the whole row) */
    QN_OP_MUL_MAT,    /* out = w x */
    QN_OP_BIAS,       /* out = x + w */
    QN_OP_ADD,        /* out = x + y */
    QN_OP_SCALE,      /* out = f x */
    QN_OP_SOFTCAP,    /* out = f tanh(x / f) */
    QN_OP_ACT_MUL,    /* out = act(x) y */
    QN_OP_ROPE,       /* out = x with every head of `width` elements turned by its position */
    QN_OP_KV_WRITE,   /* keys x and values y into the layer's pages */
    QN_OP_ATTENTION,  /* out = attention of queries x over the layer's pages */
    QN_OP_ROUTE,      /* out = the n_used experts of highest logit x and their shares */
    QN_OP_MUL_EXPERT, /* out = w[expert] x, for every (row, expert) of routing y */
    QN_OP_SUM_EXPERT, /* out = sum over a row's experts of share * x, shares from routing y */
    QN_OP_PICK        /* out = rows of x whose logits are wanted; what follows is the head */
} qn_op_kind;

typedef enum qn_act_kind { QN_SILU, QN_GELU_TANH } qn_act_kind;

typedef struct qn_rope {
    bool neox;             /* pairs (i, i + n_pairs); else (2i, 2i + 1) */
    uint32_t n_pairs;      /* at most half a head; the rest of a head is left alone */
    float mscale;          /* factor on cos and sin (YaRN); 1 else */
    const float *inv_freq; /* n_pairs: angle = position * inv_freq[i]; any scaling is in here already */
} qn_rope;

typedef struct qn_attention {
    uint32_t i_layer; /* of the KV layout */
    uint32_t n_heads; /* query heads, a multiple of the layer's KV heads */
    float scale;      /* on q . k */
    float softcap;    /* on scores; 0: none */
} qn_attention;

typedef struct qn_op {
    qn_op_kind kind;
    qn_val x, y, out;
    const qn_weight *w;
    const qn_rope *rope;
    qn_attention attention;
    qn_act_kind act;
    float f; /* eps, factor or cap */
    uint32_t width;
    uint32_t n_used;  /* ROUTE */
    bool renormalise; /* ROUTE: softmax over the chosen ones alone */
} qn_op;

typedef struct qn_value {
    char name[28]; /* "blk.12.q" */
    uint32_t width;
    qn_rows rows;
} qn_value;

typedef struct qn_graph {
    qn_budget *budget;
    qn_op *ops;
    qn_value *values;
    uint32_t n_ops, n_values, cap_ops, cap_values;
    uint32_t n_experts, n_used; /* of the widest ROUTE; 0: none */
    const qn_kv_layout *kv;
    int32_t i_block; /* names values "blk.<i>."; -1 outside layers */
    qn_status status;
    qn_error error;
} qn_graph;

void qn_graph_init(qn_graph *g, qn_budget *b, const qn_kv_layout *kv);
void qn_graph_free(qn_graph *g);
qn_status qn_graph_status(const qn_graph *g, qn_error *err);

qn_val qn_graph_embed(qn_graph *g, const char *name, const qn_weight *w);
qn_val qn_graph_norm(qn_graph *g, const char *name, qn_val x, const qn_weight *w, float eps);
/* Every head of head_dim elements by itself; w has head_dim elements. */
qn_val qn_graph_norm_heads(qn_graph *g, const char *name, qn_val x, const qn_weight *w, float eps, uint32_t head_dim);
qn_val qn_graph_mul_mat(qn_graph *g, const char *name, const qn_weight *w, qn_val x);
qn_val qn_graph_bias(qn_graph *g, const char *name, qn_val x, const qn_weight *w); /* w NULL: x itself */
qn_val qn_graph_add(qn_graph *g, const char *name, qn_val x, qn_val y);
qn_val qn_graph_scale(qn_graph *g, const char *name, qn_val x, float f);     /* f 1: x itself */
qn_val qn_graph_softcap(qn_graph *g, const char *name, qn_val x, float cap); /* cap 0: x itself */
qn_val qn_graph_act_mul(qn_graph *g, const char *name, qn_act_kind act, qn_val gate, qn_val up);
qn_val qn_graph_rope(qn_graph *g, const char *name, qn_val x, const qn_rope *r, uint32_t head_dim);
void qn_graph_kv_write(qn_graph *g, uint32_t i_layer, qn_val k, qn_val v);
/* Comes after qn_graph_kv_write() of the same layer. */
qn_val qn_graph_attention(qn_graph *g, const char *name, qn_val q, const qn_attention *a);
qn_val qn_graph_route(qn_graph *g, const char *name, qn_val logits, uint32_t n_used, bool renormalise);
qn_val qn_graph_mul_expert(qn_graph *g, const char *name, const qn_weight *w, qn_val x, qn_val routing);
qn_val qn_graph_sum_expert(qn_graph *g, const char *name, qn_val x, qn_val routing);
qn_val qn_graph_pick(qn_graph *g, const char *name, qn_val x);

const char *qn_op_kind_name(qn_op_kind k);

#endif
