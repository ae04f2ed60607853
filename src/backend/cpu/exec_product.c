/* Products of weights with activations: cutting them into chunks of weight rows, choosing the kernel by the number of
 * columns, and doing what follows the product while the results are still in the cache.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/exec_int.h"

#define CHUNK_BYTES (32u * 1024) /* of weights: long enough to hide the take of a chunk, short enough to balance */
#define CHUNK_MAX_ROWS 256u
#define CHUNKS_PER_THREAD 4u

/* The columns of one call: where its activations and results are. */
typedef struct columns {
    const void *x;
    size_t x_bytes; /* stride */
    uint32_t n;
} columns;

static uint32_t round_up(uint32_t a, uint32_t to) { return (a + to - 1) / to * to; }

static bool uses_panel(const qn_mm *mm, uint32_t n_cols) { return mm->panel_rows != 0 && n_cols > mm->few_max; }

/* Weight rows of a chunk. Results do not depend on it (the kernels promise that), so it may depend on the threads. */
static uint32_t chunk_rows(const qn_worker *w, const qn_weight *m, uint32_t n_cols)
{
    const qn_mm *mm = &w->k->mm[m->type];
    if (uses_panel(mm, n_cols)) {
        return mm->panel_rows;
    }
    uint32_t by_bytes = (uint32_t)(CHUNK_BYTES / m->row_bytes) + 1;
    uint32_t by_threads = m->n_out / (CHUNKS_PER_THREAD * w->n_threads) + 1;
    uint32_t rows = by_bytes < by_threads ? by_bytes : by_threads;
    return round_up(rows < CHUNK_MAX_ROWS ? rows : CHUNK_MAX_ROWS, 8);
}

/* y[c * ldy + r] for rows [r0, r0 + n_rows) of a matrix. */
static void multiply(const qn_worker *w, const qn_weight *m, const uint8_t *data, uint32_t r0, uint32_t n_rows,
                     const columns *x, float *y, size_t ldy)
{
    const qn_mm *mm = &w->k->mm[m->type];
    const uint8_t *rows = data + (uint64_t)r0 * m->row_bytes;
    if (x->n == 1) {
        mm->one(rows, m->row_bytes, n_rows, m->n_in, x->x, y);
    } else if (uses_panel(mm, x->n)) {
        void *panel = w->scratch + w->ex->scratch_at;
        mm->pack(rows, m->row_bytes, n_rows, m->n_in, panel);
        mm->panel(panel, n_rows, m->n_in, x->x, x->x_bytes, x->n, y, ldy);
    } else {
        for (uint32_t c = 0; c < x->n; c += mm->few_max) {
            uint32_t n = x->n - c < mm->few_max ? x->n - c : mm->few_max;
            mm->few(rows, m->row_bytes, n_rows, m->n_in, (const uint8_t *)x->x + c * x->x_bytes, x->x_bytes, n,
                    y + c * ldy, ldy);
        }
    }
}

static size_t panel_bytes(const qn_exec *ex, const qn_weight *m)
{
    const qn_mm *mm = &ex->kernels->mm[m->type];
    return mm->panel_rows == 0 ? 0 : mm->panel_bytes(m->n_in);
}

uint64_t qn_cpu_product_scratch(const qn_exec *ex, const qn_cpu_op *op)
{
    uint64_t panel = 0;
    uint32_t rows = CHUNK_MAX_ROWS;
    uint64_t n_cols = op->rows == QN_ROWS_OUT ? ex->lim.n_out : ex->lim.n_rows;
    for (uint32_t i = 0; i < op->n_products; i++) {
        uint64_t bytes = panel_bytes(ex, op->products[i].w);
        panel = bytes > panel ? bytes : panel;
    }
    if (!op->pair) {
        return panel;
    }
    /* gate and up of a chunk: CHUNK_MAX_ROWS of few columns, or panel_rows of all */
    uint64_t floats = 0;
    for (uint32_t i = 0; i < 2; i++) {
        const qn_mm *mm = &ex->kernels->mm[op->products[i].w->type];
        uint64_t few = mm->panel_rows == 0 ? n_cols : mm->few_max;
        uint64_t a = (uint64_t)rows * few, b = (uint64_t)mm->panel_rows * n_cols;
        floats += a > b ? a : b;
    }
    return panel + 2 * sizeof(float) * floats + 128;
}

static columns product_input(const qn_worker *w, const qn_cpu_op *op, const qn_weight *m)
{
    bool a8 = w->k->mm[m->type].act == QN_ACT_A8;
    columns x = {.n = qn_job_rows(w->job, op->rows)};
    if (w->is_private) {
        uint32_t stride = (op->width + 15) / 16 * 16;
        x.x = w->scratch + (a8 ? w->ex->private_a8 : w->ex->private_x);
        x.x_bytes = a8 ? qn_a8_bytes(op->width) : stride * sizeof(float);
        const qn_cpu_op *rows = op - 1; /* the joined op that ran just before; it may make one form only */
        if ((a8 ? rows->a8 : rows->out) != QN_NONE) {
            return x;
        }
    }
    qn_blk b = a8 ? op->a8 : op->x;
    x.x = qn_job_row(w->job, b, 0);
    x.x_bytes = w->ex->blocks[b].row_bytes;
    return x;
}

/* bias, scale, softcap, residual on rows [r0, r0 + n) of each column of product i. */
static void finish(const qn_worker *w, const qn_cpu_op *op, uint32_t i, uint32_t r0, uint32_t n, uint32_t n_cols)
{
    const qn_cpu_product *p = &op->products[i];
    const qn_kernels *k = w->k;
    if (p->bias == NULL && op->scale == 1.0f && op->softcap == 0.0f && op->residual == QN_NONE) {
        return;
    }
    const float *bias = p->bias == NULL ? NULL : (const float *)(const void *)p->bias->data + r0;
    for (uint32_t c = 0; c < n_cols; c++) {
        float *y = (float *)qn_job_row(w->job, p->out, c) + r0;
        if (bias != NULL) {
            k->add(y, bias, n, y);
        }
        if (op->scale != 1.0f) {
            k->scale(y, op->scale, n, y);
        }
        if (op->softcap != 0.0f) {
            k->softcap(y, op->softcap, n, y);
        }
        if (op->residual != QN_NONE) {
            k->add((const float *)qn_job_row(w->job, op->residual, c) + r0, y, n, y);
        }
    }
}

static void run_pair_chunk(const qn_worker *w, const qn_cpu_op *op, const columns x[2], uint32_t r0, uint32_t n)
{
    const qn_weight *gate_w = op->products[0].w, *up_w = op->products[1].w;
    size_t panel = panel_bytes(w->ex, gate_w), other = panel_bytes(w->ex, up_w);
    float *gate = (float *)(void *)(w->scratch + w->ex->scratch_at + (panel > other ? panel : other));
    uint32_t ld = round_up(n, 8);
    float *up = gate + (uint64_t)ld * x[0].n;
    multiply(w, gate_w, gate_w->data, r0, n, &x[0], gate, ld);
    multiply(w, up_w, up_w->data, r0, n, &x[1], up, ld);
    const float *gate_bias = op->products[0].bias == NULL ? NULL : (const float *)(const void *)op->products[0].bias->data;
    const float *up_bias = op->products[1].bias == NULL ? NULL : (const float *)(const void *)op->products[1].bias->data;
    for (uint32_t c = 0; c < x[0].n; c++) {
        float *g = gate + (uint64_t)c * ld, *u = up + (uint64_t)c * ld;
        if (gate_bias != NULL) {
            w->k->add(g, gate_bias + r0, n, g);
        }
        if (up_bias != NULL) {
            w->k->add(u, up_bias + r0, n, u);
        }
        float *y = (float *)qn_job_row(w->job, op->products[0].out, c) + r0;
        (op->act == QN_SILU ? w->k->silu_mul : w->k->gelu_mul)(g, u, n, y);
    }
}

static void run_pair(qn_worker *w, const qn_cpu_op *op, qn_chunks *c)
{
    const qn_weight *gate = op->products[0].w, *up = op->products[1].w;
    const columns x[2] = {product_input(w, op, gate), product_input(w, op, up)};
    uint32_t rows = chunk_rows(w, gate, x[0].n), up_rows = chunk_rows(w, up, x[1].n);
    rows = rows < up_rows ? rows : up_rows;
    for (uint32_t r0 = qn_chunks_take(c) * rows; r0 < gate->n_out; r0 = qn_chunks_take(c) * rows) {
        run_pair_chunk(w, op, x, r0, gate->n_out - r0 < rows ? gate->n_out - r0 : rows);
    }
}

void qn_cpu_run_product(qn_worker *w, const qn_cpu_op *op, qn_chunks *c)
{
    if (op->pair) {
        run_pair(w, op, c);
        return;
    }
    columns x[QN_CPU_MAX_PRODUCTS];
    uint32_t rows[QN_CPU_MAX_PRODUCTS], n_chunks[QN_CPU_MAX_PRODUCTS];
    for (uint32_t i = 0; i < op->n_products; i++) {
        const qn_weight *m = op->products[i].w;
        x[i] = product_input(w, op, m);
        rows[i] = chunk_rows(w, m, x[i].n);
        n_chunks[i] = (m->n_out + rows[i] - 1) / rows[i];
    }
    uint32_t i = 0, before = 0; /* chunks of the products before the i-th */
    for (uint32_t chunk = qn_chunks_take(c);; chunk = qn_chunks_take(c)) {
        while (i < op->n_products && chunk - before >= n_chunks[i]) {
            before += n_chunks[i++];
        }
        if (i == op->n_products) {
            return;
        }
        const qn_cpu_product *p = &op->products[i];
        uint32_t r0 = (chunk - before) * rows[i];
        uint32_t n = p->w->n_out - r0 < rows[i] ? p->w->n_out - r0 : rows[i];
        size_t ldy = w->ex->blocks[p->out].row_bytes / sizeof(float);
        multiply(w, p->w, p->w->data, r0, n, &x[i], (float *)qn_job_row(w->job, p->out, 0) + r0, ldy);
        finish(w, op, i, r0, n, x[i].n);
    }
}

void qn_cpu_run_expert(qn_worker *w, const qn_cpu_op *op, qn_chunks *c)
{
    const qn_cpu_product *p = &op->products[0];
    const qn_weight *m = p->w;
    const qn_routing routing = qn_job_routing(w->job, op->routing);
    qn_blk in = w->k->mm[m->type].act == QN_ACT_A8 ? op->a8 : op->x;
    size_t ldy = w->ex->blocks[p->out].row_bytes / sizeof(float);
    uint32_t before = 0;
    uint32_t chunk = qn_chunks_take(c);
    for (uint32_t e = 0; e < m->n_mats; e++) {
        uint32_t first = routing.start[e], n_cols = routing.start[e + 1] - first;
        if (n_cols == 0) {
            continue;
        }
        columns x = {qn_job_row(w->job, in, first), w->ex->blocks[in].row_bytes, n_cols};
        uint32_t rows = chunk_rows(w, m, n_cols), n_chunks = (m->n_out + rows - 1) / rows;
        const uint8_t *data = m->data + (uint64_t)e * m->n_out * m->row_bytes;
        for (; chunk - before < n_chunks; chunk = qn_chunks_take(c)) {
            uint32_t r0 = (chunk - before) * rows;
            uint32_t n = m->n_out - r0 < rows ? m->n_out - r0 : rows;
            multiply(w, m, data, r0, n, &x, (float *)qn_job_row(w->job, p->out, first) + r0, ldy);
        }
        before += n_chunks;
    }
}
