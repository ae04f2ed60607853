/* The judge of plans: walks an op list as it was built, op by op and row by row in doubles, with no fusion, threads or
 * pages. SPDX-License-Identifier: MIT */
#ifndef QN_TESTS_UNIT_BACKEND_GRAPH_JUDGE_H
#define QN_TESTS_UNIT_BACKEND_GRAPH_JUDGE_H

#include "test.h"

#include "backend/backend.h"

#include <math.h>

enum { JUDGE_MAX_SEQS = 4, JUDGE_MAX_POS = 1200 };

typedef struct judge {
    const qn_graph *g;
    const qn_step_rows *step;
    double **value;      /* per value: rows of its width; pairs stand as [row][k] */
    uint32_t **expert;   /* per value that is a routing: [row][k] */
    /* Keys and values of each layer and sequence, by position. */
    double *k[8][JUDGE_MAX_SEQS], *v[8][JUDGE_MAX_SEQS];
    const uint32_t *seq_of; /* which sequence (of k and v) the step's i-th is */
    float *w;               /* the op's weight, decoded */
    size_t cap_w;
} judge;

static uint32_t judge_rows(const judge *j, qn_rows rows)
{
    return rows == QN_ROWS_STEP ? j->step->n_rows : rows == QN_ROWS_OUT ? j->step->n_out : j->step->n_rows * j->g->n_used;
}

static void judge_decode(judge *j, const qn_weight *w)
{
    size_t n = (size_t)w->n_in * w->n_out * w->n_mats;
    if (n > j->cap_w) {
        j->w = realloc(j->w, n * sizeof(float));
        assert_non_null(j->w);
        j->cap_w = n;
    }
    assert_int_equal(qn_decode_row(w->type, w->data, j->w, n, NULL), QN_OK);
}

static void judge_product(const judge *j, const qn_weight *w, uint32_t mat, const double *x, double *y)
{
    const float *row = j->w + (size_t)mat * w->n_out * w->n_in;
    for (uint32_t r = 0; r < w->n_out; r++, row += w->n_in) {
        y[r] = 0.0;
        for (uint32_t i = 0; i < w->n_in; i++) {
            y[r] += (double)row[i] * x[i];
        }
    }
}

static void judge_norm(const qn_op *op, const double *x, uint32_t width, double *y)
{
    const float *w = (const float *)(const void *)op->w->data;
    for (uint32_t at = 0; at < width; at += op->width) {
        double sum = 0.0;
        for (uint32_t i = 0; i < op->width; i++) {
            sum += x[at + i] * x[at + i];
        }
        for (uint32_t i = 0; i < op->width; i++) {
            y[at + i] = x[at + i] / sqrt(sum / op->width + (double)op->f) * w[i];
        }
    }
}

static void judge_rope(const qn_op *op, const double *x, uint32_t width, uint32_t pos, double *y)
{
    const qn_rope *r = op->rope;
    memcpy(y, x, width * sizeof(*y));
    for (uint32_t at = 0; at < width; at += op->width) {
        for (uint32_t i = 0; i < r->n_pairs; i++) {
            float angle = (float)pos * r->inv_freq[i];
            uint32_t a = at + (r->neox ? i : 2 * i), b = at + (r->neox ? i + r->n_pairs : 2 * i + 1);
            double c = cos((double)angle) * (double)r->mscale, s = sin((double)angle) * (double)r->mscale;
            y[a] = x[a] * c - x[b] * s;
            y[b] = x[a] * s + x[b] * c;
        }
    }
}

static double judge_act(qn_act_kind act, double x)
{
    if (act == QN_SILU) {
        return x / (1.0 + exp(-x));
    }
    return 0.5 * x * (1.0 + tanh(sqrt(2.0 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
}

static void judge_attention(const judge *j, const qn_op *op, uint32_t i_row)
{
    const qn_attention *a = &op->attention;
    const qn_kv_layer *l = &j->g->kv->layers[a->i_layer];
    uint32_t pos = j->step->pos[i_row], i_seq = j->seq_of[j->step->seq[i_row]];
    uint32_t first = l->window != 0 && pos + 1 > l->window ? pos + 1 - l->window : 0;
    double *score = malloc(sizeof(double) * (pos + 1));
    for (uint32_t h = 0; h < a->n_heads; h++) {
        uint32_t kv_head = h / (a->n_heads / l->n_heads);
        const double *q = j->value[op->x] + ((uint64_t)i_row * a->n_heads + h) * l->head_dim;
        double *out = j->value[op->out] + ((uint64_t)i_row * a->n_heads + h) * l->v_dim;
        double most = -INFINITY, sum = 0.0;
        for (uint32_t p = first; p <= pos; p++) {
            const double *k = j->k[a->i_layer][i_seq] + ((uint64_t)p * l->n_heads + kv_head) * l->head_dim;
            score[p] = 0.0;
            for (uint32_t i = 0; i < l->head_dim; i++) {
                score[p] += q[i] * k[i];
            }
            score[p] *= (double)a->scale;
            score[p] = a->softcap != 0.0f ? (double)a->softcap * tanh(score[p] / (double)a->softcap) : score[p];
            most = score[p] > most ? score[p] : most;
        }
        memset(out, 0, sizeof(double) * l->v_dim);
        for (uint32_t p = first; p <= pos; p++) {
            const double *v = j->v[a->i_layer][i_seq] + ((uint64_t)p * l->n_heads + kv_head) * l->v_dim;
            double f = exp(score[p] - most);
            sum += f;
            for (uint32_t i = 0; i < l->v_dim; i++) {
                out[i] += f * v[i];
            }
        }
        for (uint32_t i = 0; i < l->v_dim; i++) {
            out[i] /= sum;
        }
    }
    free(score);
}

static void judge_route(const judge *j, const qn_op *op, uint32_t i_row)
{
    const double *x = j->value[op->x] + (uint64_t)i_row * op->width;
    double *share = j->value[op->out] + (uint64_t)i_row * op->n_used, sum = 0.0;
    uint32_t *expert = j->expert[op->out] + (uint64_t)i_row * op->n_used;
    for (uint32_t k = 0; k < op->n_used; k++) {
        uint32_t best = UINT32_MAX;
        for (uint32_t e = 0; e < op->width; e++) {
            bool taken = false;
            for (uint32_t t = 0; t < k; t++) {
                taken = taken || expert[t] == e;
            }
            best = !taken && (best == UINT32_MAX || x[e] > x[best]) ? e : best;
        }
        expert[k] = best;
    }
    for (uint32_t e = 0; e < op->width; e++) {
        sum += exp(x[e] - x[expert[0]]);
    }
    double chosen = 0.0;
    for (uint32_t k = 0; k < op->n_used; k++) {
        share[k] = exp(x[expert[k]] - x[expert[0]]) / sum;
        chosen += share[k];
    }
    for (uint32_t k = 0; op->renormalise && k < op->n_used; k++) {
        share[k] /= chosen;
    }
}

/* One row (or pair) of one op. */
static void judge_row(judge *j, const qn_op *op, uint32_t i)
{
    const qn_graph *g = j->g;
    uint32_t width = op->out == QN_NONE ? 0 : g->values[op->out].width, n_used = g->n_used;
    double *out = op->out == QN_NONE ? NULL : j->value[op->out] + (uint64_t)i * width;
    const double *x = op->x == QN_NONE ? NULL : j->value[op->x] + (uint64_t)i * g->values[op->x].width;
    const double *y = op->y == QN_NONE ? NULL : j->value[op->y] + (uint64_t)i * g->values[op->y].width;
    switch (op->kind) {
    case QN_OP_EMBED:
        for (uint32_t k = 0; k < width; k++) {
            out[k] = (double)j->w[(size_t)j->step->token[i] * width + k];
        }
        break;
    case QN_OP_NORM:
        judge_norm(op, x, width, out);
        break;
    case QN_OP_MUL_MAT:
        judge_product(j, op->w, 0, x, out);
        break;
    case QN_OP_BIAS:
        for (uint32_t k = 0; k < width; k++) {
            out[k] = x[k] + (double)((const float *)(const void *)op->w->data)[k];
        }
        break;
    case QN_OP_ADD:
        for (uint32_t k = 0; k < width; k++) {
            out[k] = x[k] + y[k];
        }
        break;
    case QN_OP_SCALE:
        for (uint32_t k = 0; k < width; k++) {
            out[k] = x[k] * (double)op->f;
        }
        break;
    case QN_OP_SOFTCAP:
        for (uint32_t k = 0; k < width; k++) {
            out[k] = (double)op->f * tanh(x[k] / (double)op->f);
        }
        break;
    case QN_OP_ACT_MUL:
        for (uint32_t k = 0; k < width; k++) {
            out[k] = judge_act(op->act, x[k]) * y[k];
        }
        break;
    case QN_OP_ROPE:
        judge_rope(op, x, width, j->step->pos[i], out);
        break;
    case QN_OP_KV_WRITE: {
        const qn_kv_layer *l = &g->kv->layers[op->attention.i_layer];
        uint32_t pos = j->step->pos[i], i_seq = j->seq_of[j->step->seq[i]];
        uint64_t k_width = (uint64_t)l->n_heads * l->head_dim, v_width = (uint64_t)l->n_heads * l->v_dim;
        memcpy(j->k[op->attention.i_layer][i_seq] + pos * k_width, x, sizeof(double) * k_width);
        memcpy(j->v[op->attention.i_layer][i_seq] + pos * v_width, y, sizeof(double) * v_width);
        break;
    }
    case QN_OP_ATTENTION:
        judge_attention(j, op, i);
        break;
    case QN_OP_ROUTE:
        judge_route(j, op, i);
        break;
    case QN_OP_MUL_EXPERT: {
        uint32_t row = i / n_used;
        bool pairs = g->values[op->x].rows == QN_ROWS_EXPERT;
        x = j->value[op->x] + (uint64_t)(pairs ? i : row) * g->values[op->x].width;
        judge_product(j, op->w, j->expert[op->y][i], x, out);
        break;
    }
    case QN_OP_SUM_EXPERT:
        for (uint32_t k = 0; k < width; k++) {
            out[k] = 0.0;
            for (uint32_t e = 0; e < n_used; e++) {
                uint64_t pair = (uint64_t)i * n_used + e;
                out[k] += j->value[op->y][pair] * j->value[op->x][pair * width + k];
            }
        }
        break;
    case QN_OP_PICK:
        memcpy(out, j->value[op->x] + (uint64_t)j->step->out_rows[i] * width, sizeof(double) * width);
        break;
    }
}

/* Runs a step; the logits are then value[last]. */
static inline const double *judge_step(judge *j, const qn_step_rows *step, const uint32_t *seq_of)
{
    j->step = step;
    j->seq_of = seq_of;
    const qn_graph *g = j->g;
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const qn_op *op = &g->ops[i];
        qn_rows rows = op->out == QN_NONE ? QN_ROWS_STEP : g->values[op->out].rows;
        if (op->w != NULL) {
            judge_decode(j, op->w);
        }
        for (uint32_t r = 0; r < judge_rows(j, rows); r++) {
            judge_row(j, op, r);
        }
    }
    return j->value[g->n_values - 1];
}

static inline void judge_open(judge *j, const qn_graph *g, uint32_t max_rows)
{
    *j = (judge){.g = g};
    j->value = calloc(g->n_values, sizeof(*j->value));
    j->expert = calloc(g->n_values, sizeof(*j->expert));
    for (uint32_t i = 0; i < g->n_values; i++) {
        uint64_t rows = (uint64_t)max_rows * (g->values[i].rows == QN_ROWS_EXPERT ? g->n_used : 1);
        j->value[i] = calloc(rows * g->values[i].width, sizeof(double));
        j->expert[i] = calloc((uint64_t)max_rows * (g->n_used + 1), sizeof(uint32_t));
    }
    for (uint32_t l = 0; l < g->kv->n_layers; l++) {
        const qn_kv_layer *layer = &g->kv->layers[l];
        for (uint32_t s = 0; s < JUDGE_MAX_SEQS; s++) {
            j->k[l][s] = calloc((size_t)JUDGE_MAX_POS * layer->n_heads * layer->head_dim, sizeof(double));
            j->v[l][s] = calloc((size_t)JUDGE_MAX_POS * layer->n_heads * layer->v_dim, sizeof(double));
        }
    }
}

static inline void judge_close(judge *j)
{
    for (uint32_t i = 0; i < j->g->n_values; i++) {
        free(j->value[i]);
        free(j->expert[i]);
    }
    for (uint32_t l = 0; l < j->g->kv->n_layers; l++) {
        for (uint32_t s = 0; s < JUDGE_MAX_SEQS; s++) {
            free(j->k[l][s]);
            free(j->v[l][s]);
        }
    }
    free(j->value);
    free(j->expert);
    free(j->w);
}

#endif
