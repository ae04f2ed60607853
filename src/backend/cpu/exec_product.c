/* Products of weights with activations: cutting them into chunks of weight rows, choosing the kernel by the number of
 * columns, and doing what follows the product while the results are still in the cache.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/exec_product_int.h"

#define MAX_PANELS 4u   /* of one chunk: what follows a product runs over rows of 64 results, not of 16 */
#define LEAST_CHUNKS 8u /* for each thread, before panels are put together */

qn_row_cuts qn_cut_in_place(uint32_t n_rows, uint32_t n_threads, uint32_t max_rows)
{
    qn_row_cuts c = {.n_rows = n_rows};
    static const uint32_t eighths[QN_CUT_LEVELS] = {4, 2, 1, 1};
    uint32_t before = 0;
    for (uint32_t i = 0; i < QN_CUT_LEVELS; i++) {
        c.first[i] = (uint32_t)((uint64_t)n_rows * before / 8);
        before += eighths[i];
        uint32_t n = (uint32_t)((uint64_t)n_rows * before / 8) - c.first[i];
        uint32_t each = n / n_threads + (n % n_threads != 0);
        uint32_t most = n / 8 + (n % 8 != 0); /* that are not empty */
        c.n[i] = n_threads * (each / max_rows + (each % max_rows != 0));
        c.n[i] = c.n[i] < most ? c.n[i] : most;
        c.n_chunks += c.n[i];
    }
    return c;
}

uint32_t qn_cut_first_row(const qn_row_cuts *c, uint32_t i)
{
    if (i >= c->n_chunks) {
        return c->n_rows;
    }
    uint32_t level = 0;
    while (i >= c->n[level]) {
        i -= c->n[level++];
    }
    uint32_t end = level + 1 < QN_CUT_LEVELS ? c->first[level + 1] : c->n_rows;
    return (c->first[level] + (uint32_t)((uint64_t)(end - c->first[level]) * i / c->n[level])) / 8 * 8;
}

/* Columns at most for which rows are walked in place. */
static uint32_t in_place_max(const qn_mm *mm)
{
    return mm->few_max > mm->several_max ? mm->few_max : mm->several_max;
}

static bool uses_panel(const qn_mm *mm, uint32_t n_cols)
{
    return mm->panel_rows != 0 && n_cols > in_place_max(mm);
}

/* How the rows of a matrix are cut into chunks that threads take. Results do not depend on it (the kernels promise
 * that), so it may depend on the number of threads. Panels: a few each; in place: see qn_cut_in_place(). */
typedef struct cutting {
    qn_row_cuts in_place;
    uint32_t n_rows, panel_rows; /* panel_rows: of all panels of a chunk; 0: in place */
    uint32_t n_chunks;
} cutting;

static cutting cut_rows(const qn_worker *w, const qn_weight *m, const qn_columns *x)
{
    const qn_mm *mm = &w->k->mm[m->type];
    cutting c = {.n_rows = m->n_out};
    if (x->is_wide || uses_panel(mm, x->n)) {
        c.panel_rows = x->is_wide ? w->k->wide_rows : MAX_PANELS * mm->panel_rows;
        while (c.panel_rows > 2 * mm->panel_rows && m->n_out / c.panel_rows < LEAST_CHUNKS * w->n_threads) {
            c.panel_rows /= 2;
        }
        c.n_chunks = (m->n_out + c.panel_rows - 1) / c.panel_rows;
    } else {
        c.in_place = qn_cut_in_place(m->n_out, w->n_threads, UINT32_MAX);
        c.n_chunks = c.in_place.n_chunks;
    }
    return c;
}

/* The first row of chunk i; n_rows for i = n_chunks. */
static uint32_t first_row(const cutting *c, uint32_t i)
{
    if (c->panel_rows == 0) {
        return qn_cut_first_row(&c->in_place, i);
    }
    return i < c->n_chunks ? i * c->panel_rows : c->n_rows;
}

void qn_cpu_multiply(const qn_worker *w, const qn_weight *m, const uint8_t *data, uint32_t r0, uint32_t n_rows,
                     const qn_columns *x, float *y, size_t ldy)
{
    const qn_mm *mm = &w->k->mm[m->type];
    const uint8_t *rows = data + (uint64_t)r0 * m->row_bytes;
    if (x->is_wide) {
        mm->wide(rows, m->row_bytes, n_rows, m->n_in, x->x, x->n, y, ldy, w->scratch + w->ex->scratch_at);
    } else if (x->n == 1) {
        mm->one(rows, m->row_bytes, n_rows, m->n_in, x->x, y);
    } else if (uses_panel(mm, x->n)) {
        void *panel = w->scratch + w->ex->scratch_at;
        for (uint32_t r = 0; r < n_rows; r += mm->panel_rows) {
            uint32_t n = n_rows - r < mm->panel_rows ? n_rows - r : mm->panel_rows;
            mm->pack(rows + (uint64_t)r * m->row_bytes, m->row_bytes, n, m->n_in, panel);
            mm->panel(panel, n, m->n_in, x->x, x->x_bytes, x->n, y + r, ldy);
        }
    } else if (x->n > mm->few_max && x->n <= mm->several_max) {
        mm->several(rows, m->row_bytes, n_rows, m->n_in, x->x, x->x_bytes, x->n, y, ldy);
    } else {
        for (uint32_t c = 0; c < x->n; c += mm->few_max) {
            uint32_t n = x->n - c < mm->few_max ? x->n - c : mm->few_max;
            mm->few(rows, m->row_bytes, n_rows, m->n_in, (const uint8_t *)x->x + c * x->x_bytes, x->x_bytes, n,
                    y + c * ldy, ldy);
        }
    }
}

/* Room for unpacked weights, of a panel or of a wide product. */
static size_t panel_bytes(const qn_exec *ex, const qn_weight *m)
{
    const qn_mm *mm = &ex->kernels->mm[m->type];
    size_t panel = mm->panel_rows == 0 ? 0 : mm->panel_bytes(m->n_in);
    size_t wide = ex->wide_min == 0 ? 0 : ex->kernels->wide_scratch;
    return panel > wide ? panel : wide;
}

uint64_t qn_cpu_product_scratch(const qn_exec *ex, const qn_cpu_op *op)
{
    uint64_t panel = 0, pair = 0;
    uint64_t n_cols = op->rows == QN_ROWS_OUT ? ex->lim.n_out : ex->lim.n_rows;
    for (uint32_t i = 0; i < op->n_products; i++) {
        uint64_t bytes = panel_bytes(ex, op->products[i].w);
        panel = bytes > panel ? bytes : panel;
    }
    /* gate and up: QN_PAIR_MAX_ROWS of few columns, or the rows of a chunk of panels for all */
    for (uint32_t i = 0; op->pair && i < 2; i++) {
        const qn_mm *mm = &ex->kernels->mm[op->products[i].w->type];
        uint64_t few = mm->panel_rows == 0 ? n_cols : in_place_max(mm);
        uint64_t rows = (uint64_t)MAX_PANELS * mm->panel_rows;
        if (ex->wide_min != 0 && ex->kernels->wide_rows > rows) {
            rows = ex->kernels->wide_rows;
        }
        uint64_t a = (uint64_t)QN_PAIR_MAX_ROWS * few, b = rows * n_cols;
        pair += sizeof(float) * (a > b ? a : b);
    }
    return panel + pair + 128;
}

static qn_columns block_input(const qn_worker *w, const qn_cpu_op *op, const qn_weight *m)
{
    bool a8 = w->k->mm[m->type].act == QN_ACT_A8;
    qn_blk b = a8 ? op->a8 : op->x;
    return (qn_columns){.x = qn_job_row(w->job, b, 0),
                        .x_bytes = w->ex->blocks[b].row_bytes,
                        .n = qn_job_rows(w->job, op->rows),
                        .is_wide = a8 && qn_job_is_wide(w->job, op->rows)};
}

void qn_cpu_after_product(const qn_worker *w, const qn_cpu_op *op, uint32_t i, uint32_t r0, uint32_t n, uint32_t n_cols,
                          float *y, size_t ldy)
{
    const qn_cpu_product *p = &op->products[i];
    const qn_kernels *k = w->k;
    if (p->bias == NULL && op->scale == 1.0f && op->softcap == 0.0f) {
        return;
    }
    const float *bias = p->bias == NULL ? NULL : (const float *)(const void *)p->bias->data + r0;
    for (uint32_t c = 0; c < n_cols; c++, y += ldy) {
        if (bias != NULL) {
            k->add(y, bias, n, y);
        }
        if (op->scale != 1.0f) {
            k->scale(y, op->scale, n, y);
        }
        if (op->softcap != 0.0f) {
            k->softcap(y, op->softcap, n, y);
        }
    }
}

void qn_cpu_multiply_pair(const qn_worker *w, const qn_cpu_op *op, const qn_columns x[2], uint32_t r0, uint32_t n,
                          float *y, size_t ldy)
{
    const qn_weight *gate_w = op->products[0].w, *up_w = op->products[1].w;
    size_t panel = panel_bytes(w->ex, gate_w), other = panel_bytes(w->ex, up_w);
    float *gate = (float *)(void *)(w->scratch + w->ex->scratch_at + (panel > other ? panel : other));
    uint32_t ld = (n + 7) / 8 * 8;
    float *up = gate + (uint64_t)ld * x[0].n;
    qn_cpu_multiply(w, gate_w, gate_w->data, r0, n, &x[0], gate, ld);
    qn_cpu_multiply(w, up_w, up_w->data, r0, n, &x[1], up, ld);
    const float *gate_bias =
        op->products[0].bias == NULL ? NULL : (const float *)(const void *)op->products[0].bias->data;
    const float *up_bias =
        op->products[1].bias == NULL ? NULL : (const float *)(const void *)op->products[1].bias->data;
    for (uint32_t c = 0; c < x[0].n; c++) {
        float *g = gate + (uint64_t)c * ld, *u = up + (uint64_t)c * ld;
        if (gate_bias != NULL) {
            w->k->add(g, gate_bias + r0, n, g);
        }
        if (up_bias != NULL) {
            w->k->add(u, up_bias + r0, n, u);
        }
        (op->act == QN_SILU ? w->k->silu_mul : w->k->gelu_mul)(g, u, n, y + c * ldy);
    }
}

static void run_pair(qn_worker *w, const qn_cpu_op *op, const qn_columns x[2], qn_chunks *c)
{
    qn_blk out = op->products[0].out;
    size_t ldy = w->ex->blocks[out].row_bytes / sizeof(float);
    cutting cut = cut_rows(w, op->products[0].w, &x[0]), up_cut = cut_rows(w, op->products[1].w, &x[1]);
    cut = cut.panel_rows != 0 ? cut : up_cut; /* when one has panels, both must have results of a panel's size */
    for (uint32_t i = qn_chunks_take(c); i < cut.n_chunks; i = qn_chunks_take(c)) {
        uint32_t end = first_row(&cut, i + 1);
        for (uint32_t r0 = first_row(&cut, i), n; r0 < end; r0 += n) {
            n = end - r0 < QN_PAIR_MAX_ROWS ? end - r0 : QN_PAIR_MAX_ROWS;
            qn_cpu_multiply_pair(w, op, x, r0, n, (float *)qn_job_row(w->job, out, 0) + r0, ldy);
        }
    }
}

/* Rows [r0, r0 + n) of product i, straight to its block. */
static void run_rows(const qn_worker *w, const qn_cpu_op *op, uint32_t i, const qn_columns *x, uint32_t r0, uint32_t n)
{
    const qn_cpu_product *p = &op->products[i];
    size_t ldy = w->ex->blocks[p->out].row_bytes / sizeof(float);
    float *y = (float *)qn_job_row(w->job, p->out, 0) + r0;
    qn_cpu_multiply(w, p->w, p->w->data, r0, n, x, y, ldy);
    qn_cpu_after_product(w, op, i, r0, n, x->n, y, ldy);
    for (uint32_t c = 0; c < x->n && op->residual != QN_NONE; c++, y += ldy) {
        w->k->add((const float *)qn_job_row(w->job, op->residual, c) + r0, y, n, y);
    }
}

static void run_products(qn_worker *w, const qn_cpu_op *op, const qn_columns *x, qn_chunks *c)
{
    cutting cut[QN_CPU_MAX_PRODUCTS];
    for (uint32_t i = 0; i < op->n_products; i++) {
        cut[i] = cut_rows(w, op->products[i].w, &x[i]);
    }
    uint32_t i = 0, before = 0; /* chunks of the products before the i-th */
    for (uint32_t chunk = qn_chunks_take(c);; chunk = qn_chunks_take(c)) {
        while (i < op->n_products && chunk - before >= cut[i].n_chunks) {
            before += cut[i++].n_chunks;
        }
        if (i == op->n_products) {
            return;
        }
        uint32_t r0 = first_row(&cut[i], chunk - before), n = first_row(&cut[i], chunk - before + 1) - r0;
        if (n != 0) {
            run_rows(w, op, i, &x[i], r0, n);
        }
    }
}

qn_pass_end qn_cpu_run_product(qn_worker *w, const qn_cpu_op *op, qn_chunks *c)
{
    qn_columns x[QN_CPU_MAX_PRODUCTS];
    bool few = qn_job_rows(w->job, op->rows) <= QN_CPU_JOIN_ROWS;
    if (w->is_joined) {
        qn_cpu_run_joined(w, op - 1);
    }
    for (uint32_t i = 0; i < op->n_products; i++) {
        const qn_mm *mm = w->k->mm;
        if (i > 0 && mm[op->products[i].w->type].act == mm[op->products[i - 1].w->type].act) {
            x[i] = x[i - 1];
            continue;
        }
        x[i] = block_input(w, op, op->products[i].w);
        if (few && (w->is_joined || w->n_threads > 1)) {
            qn_cpu_make_private(w, op, op->products[i].w, &x[i]);
        }
    }
    if (few && w->n_threads > 1 && op->cuts.n_chunks != 0) {
        return qn_cpu_run_private(w, op, x);
    }
    if (op->pair) {
        run_pair(w, op, x, c);
    } else {
        run_products(w, op, x, c);
    }
    return QN_PASS_DONE;
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
        qn_columns x = {qn_job_row(w->job, in, first), w->ex->blocks[in].row_bytes, n_cols, false};
        cutting cut = cut_rows(w, m, &x);
        const uint8_t *data = m->data + (uint64_t)e * m->n_out * m->row_bytes;
        for (; chunk - before < cut.n_chunks; chunk = qn_chunks_take(c)) {
            uint32_t r0 = first_row(&cut, chunk - before), n = first_row(&cut, chunk - before + 1) - r0;
            if (n != 0) {
                qn_cpu_multiply(w, m, data, r0, n, &x, (float *)qn_job_row(w->job, p->out, first) + r0, ldy);
            }
        }
        before += cut.n_chunks;
    }
}
