/* A compiled op as a line of text, for `inspect --plan`. SPDX-License-Identifier: MIT */
#include "backend/cpu/exec_int.h"

static const char *const kind_names[] = {
    [QN_CPU_ANGLES] = "angles",   [QN_CPU_EMBED] = "embed",         [QN_CPU_ROWS] = "rows",
    [QN_CPU_PRODUCT] = "product", [QN_CPU_ATTENTION] = "attention", [QN_CPU_MAP] = "map",
    [QN_CPU_ROUTE] = "route",     [QN_CPU_EXPERT] = "expert",       [QN_CPU_SUM] = "sum",
};

const char *qn_cpu_op_kind_name(qn_cpu_op_kind kind)
{
    return kind_names[kind];
}

static const char *name_of(const qn_exec *ex, qn_blk b)
{
    return ex->blocks[b].name;
}

static void describe_rows(const qn_exec *ex, const qn_cpu_op *op, qn_buf *out)
{
    qn_buf_printf(out, " %s", name_of(ex, op->x));
    if (op->x_rows != op->rows) {
        qn_buf_add_str(out, op->rows == QN_ROWS_OUT ? "[wanted rows]" : "[rows of pairs]");
    }
    if (op->y != QN_NONE) {
        qn_buf_printf(out, op->y_norm != NULL ? " + norm(%s)" : " + %s", name_of(ex, op->y));
    }
    if (op->sum != QN_NONE) {
        qn_buf_printf(out, " -> %s", name_of(ex, op->sum));
    }
    qn_buf_add_str(out, op->norm != NULL ? ", norm" : "");
    if (op->out != QN_NONE) {
        qn_buf_printf(out, " -> %s", name_of(ex, op->out));
    }
    if (op->a8 != QN_NONE) {
        qn_buf_printf(out, " -> %s", name_of(ex, op->a8));
    }
    qn_buf_add_str(out, op->joined ? " (joined with the next for few rows)" : "");
}

static void describe_product(const qn_exec *ex, const qn_cpu_op *op, qn_buf *out)
{
    for (uint32_t i = 0; i < op->n_products; i++) {
        const qn_cpu_product *p = &op->products[i];
        qn_buf_printf(out, "%s %.*s:%s%s", i == 0 ? "" : ",", QN_STR_ARG(p->w->name), qn_type_name(p->w->type),
                      p->bias != NULL ? " + bias" : "");
    }
    if (op->pair) {
        qn_buf_printf(out, ", %s(first) * second", op->act == QN_SILU ? "silu" : "gelu");
    }
    if (op->residual != QN_NONE) {
        qn_buf_printf(out, ", + %s", name_of(ex, op->residual));
    }
    if (op->softcap != 0.0f) {
        qn_buf_printf(out, ", softcap %g", (double)op->softcap);
    }
    for (uint32_t i = 0; i < (op->pair ? 1 : op->n_products); i++) {
        qn_buf_printf(out, " -> %s", name_of(ex, op->products[i].out));
    }
}

static void describe_attention(const qn_exec *ex, const qn_cpu_op *op, qn_buf *out)
{
    const qn_kv_layer *l = &ex->kv->layers[op->attention.i_layer];
    qn_buf_printf(out, " %s x %s, %s: %u heads of %u over %u, %s%s%s", name_of(ex, op->q), name_of(ex, op->k),
                  name_of(ex, op->v), op->attention.n_heads, l->head_dim, l->n_heads, qn_type_name(ex->kv->type),
                  op->q_prep.norm != NULL ? ", norm" : "", op->q_prep.rope != NULL ? ", rope" : "");
    if (ex->kv->bits != 0) {
        qn_buf_printf(out, ", codes of %u bits after %u pages", ex->kv->bits, qn_kv_plain_pages(ex->kv, l->window));
    }
    if (l->window != 0) {
        qn_buf_printf(out, ", window %u", l->window);
    }
    qn_buf_printf(out, " -> %s", name_of(ex, op->out));
}

void qn_cpu_describe(const qn_exec *ex, uint32_t i, qn_buf *out)
{
    const qn_cpu_op *op = &ex->ops[i];
    qn_buf_printf(out, "%4u phase %4u %-9s", i, op->phase, kind_names[op->kind]);
    switch (op->kind) {
    case QN_CPU_ROWS:
        describe_rows(ex, op, out);
        break;
    case QN_CPU_PRODUCT:
    case QN_CPU_EXPERT:
        describe_product(ex, op, out);
        break;
    case QN_CPU_ATTENTION:
        describe_attention(ex, op, out);
        break;
    case QN_CPU_MAP:
    case QN_CPU_ROUTE:
    case QN_CPU_SUM:
    case QN_CPU_EMBED:
        qn_buf_printf(out, " %s%s%s -> %s", op->kind == QN_CPU_MAP ? qn_op_kind_name(op->plain.kind) : "",
                      op->x == QN_NONE ? "" : " ", op->x == QN_NONE ? "" : name_of(ex, op->x), name_of(ex, op->out));
        break;
    case QN_CPU_ANGLES:
        qn_buf_printf(out, " %u rotary settings, up to %u pairs", ex->n_ropes, ex->max_pairs);
        break;
    }
}
