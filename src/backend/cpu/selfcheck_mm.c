/* The self-check of matrix products: random blocks of one weight type, the product of each kernel against decoded
 * weights in double. SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "backend/cpu/selfcheck_int.h"
#include "base/alloc.h"

enum {
    MAX_BLOCK_LEN = 256,
    MAX_K = 256 + MAX_BLOCK_LEN,
    N_ROWS = 17, /* a whole panel of 16 and a part, or a part of a larger one */
    N_COLS = 5,
    POOL_LEN = 8 * MAX_BLOCK_LEN,
    N_TRIES = 64, /* random bytes for a block until they make sense */
};

typedef struct product {
    float w[N_ROWS * MAX_K];                             /* decoded */
    float x[N_COLS * MAX_K];                             /* what the kernel sees, as floats */
    float y[N_COLS * N_ROWS], decoded[MAX_K];            /* results of a kernel */
    double want[N_COLS * N_ROWS], size[N_COLS * N_ROWS]; /* the product, and the sum of its terms' magnitudes */
    _Alignas(64) uint8_t x_act[N_COLS * MAX_K * sizeof(float)];
    uint8_t pool[POOL_LEN * sizeof(double)];
    _Alignas(64) uint8_t rows[N_ROWS * MAX_K * sizeof(double)]; /* no type takes more per element */
} product;

/* Most scales of random blocks are absurd; a block whose largest weight is near 1 neither drowns the others nor
 * vanishes beside them. */
static bool is_sane(const float *w, size_t n)
{
    float max = 0.0F;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(w[i])) {
            return false;
        }
        max = fabsf(w[i]) > max ? fabsf(w[i]) : max;
    }
    return max > 1e-3F && max < 1e3F;
}

/* A block of a type that has no encoder: random bytes that decode to something sane, else zeros. */
static void random_block(qn_self_check *c, const qn_type_info *info, uint8_t *block)
{
    float w[MAX_BLOCK_LEN];
    for (int i = 0; i < N_TRIES; i++) {
        for (size_t j = 0; j < info->block_bytes; j++) {
            block[j] = (uint8_t)qn_random_u64(&c->random);
        }
        info->decode(block, w, info->block_len);
        if (is_sane(w, info->block_len)) {
            return;
        }
    }
    memset(block, 0, info->block_bytes);
}

/* Rows are put together from a pool of blocks, because some encoders are slow; no two rows are alike. */
static void make_weights(qn_self_check *c, const qn_type_info *info, size_t n_k, size_t row_bytes, product *p)
{
    size_t n_pool = POOL_LEN / info->block_len;
    size_t block_bytes = info->block_bytes;
    if (info->encode != NULL) {
        qn_self_check_fill(c, p->w, POOL_LEN);
        info->encode(p->w, p->pool, POOL_LEN, NULL);
    } else {
        for (size_t b = 0; b < n_pool; b++) {
            random_block(c, info, p->pool + b * block_bytes);
        }
    }
    for (size_t r = 0; r < N_ROWS; r++) {
        uint8_t *row = p->rows + r * row_bytes;
        for (size_t b = 0; b < n_k / info->block_len; b++) {
            memcpy(row + b * block_bytes, p->pool + (r + b * (1 + r / 8)) % n_pool * block_bytes, block_bytes);
        }
        info->decode(row, p->w + r * n_k, n_k);
    }
}

/* Activations in the kernel's format, and the floats that they stand for. Returns the distance of columns in bytes. */
static size_t make_activations(qn_self_check *c, qn_act act, size_t n_k, product *p)
{
    qn_self_check_fill(c, p->x, N_COLS * n_k);
    if (act == QN_ACT_F32) {
        memcpy(p->x_act, p->x, N_COLS * n_k * sizeof(float));
        return n_k * sizeof(float);
    }
    for (size_t i = 0; i < N_COLS; i++) {
        uint8_t *row = p->x_act + i * qn_a8_bytes(n_k);
        float *x = p->x + i * n_k;
        c->ref->quantize_a8(x, n_k, row);
        for (size_t k = 0; k < n_k; k++) {
            x[k] = qn_a8_d(row, n_k)[k / 32] * (float)qn_a8_q(row)[k];
        }
    }
    return qn_a8_bytes(n_k);
}

static void judge(size_t n_k, product *p)
{
    for (size_t col = 0; col < N_COLS; col++) {
        for (size_t r = 0; r < N_ROWS; r++) {
            double sum = 0.0;
            double size = 0.0;
            for (size_t k = 0; k < n_k; k++) {
                double term = (double)p->w[r * n_k + k] * p->x[col * n_k + k];
                sum += term;
                size += fabs(term);
            }
            p->want[col * N_ROWS + r] = sum;
            p->size[col * N_ROWS + r] = size;
        }
    }
}

/* Columns [0, n_cols) of y. Formats with offsets subtract large parts of a sum from one another: 1e-5 of the sum of
 * magnitudes covers that, while one wrong element of 512 shows as 1e-3. */
static qn_status compare(qn_self_check *c, const char *kernel, const char *type, size_t n_cols, const product *p)
{
    for (size_t i = 0; i < n_cols * N_ROWS; i++) {
        QN_TRY(qn_self_check_value(c, kernel, type, i, p->y[i], p->want[i], 1e-5 * p->size[i]));
    }
    return QN_OK;
}

static qn_status check_panels(qn_self_check *c, const qn_mm *mm, const char *type, size_t n_k, size_t row_bytes,
                              size_t x_bytes, product *p)
{
    void *panel = qn_alloc(NULL, "self-check", mm->panel_bytes(n_k));
    if (panel == NULL) {
        return qn_fail(c->err, QN_ENOMEM, "self-check: no memory for %zu bytes", mm->panel_bytes(n_k));
    }
    for (size_t r = 0; r < N_ROWS; r += mm->panel_rows) {
        size_t n_rows = N_ROWS - r < mm->panel_rows ? N_ROWS - r : mm->panel_rows;
        mm->pack(p->rows + r * row_bytes, row_bytes, n_rows, n_k, panel);
        mm->panel(panel, n_rows, n_k, p->x_act, x_bytes, N_COLS, p->y + r, N_ROWS);
    }
    qn_free(panel);
    return compare(c, "mm.panel", type, N_COLS, p);
}

/* Weights and activations are rounded to bf16: a term is off by some 2^-9 of it in the root mean square, independently
 * of the others. 12 times the step of that random walk leaves an element that is wrong altogether visible in sums of
 * 512. */
static qn_status check_wide(qn_self_check *c, const qn_mm *mm, const char *type, size_t n_k, size_t row_bytes,
                            product *p)
{
    size_t n_x = QN_WIDE_GROUP * qn_wide_bytes(n_k);
    char *memory = qn_zalloc(NULL, "self-check", n_x + c->k->wide_scratch);
    if (memory == NULL) {
        return qn_fail(c->err, QN_ENOMEM, "self-check: no memory for %zu bytes", n_x + c->k->wide_scratch);
    }
    for (size_t i = 0; i < N_COLS; i++) {
        c->k->wide_store(p->x + i * n_k, n_k, memory, i);
    }
    mm->wide(p->rows, row_bytes, N_ROWS, n_k, memory, N_COLS, p->y, N_ROWS, memory + n_x);
    qn_free(memory);
    for (size_t i = 0; i < N_COLS * N_ROWS; i++) {
        const float *w = p->w + i % N_ROWS * n_k, *x = p->x + i / N_ROWS * n_k;
        double squares = 0.0;
        for (size_t k = 0; k < n_k; k++) {
            squares += (double)w[k] * w[k] * x[k] * x[k];
        }
        double tolerance = 12.0 * 0x1p-9 * sqrt(squares) + 1e-5 * p->size[i];
        QN_TRY(qn_self_check_value(c, "mm.wide", type, i, p->y[i], p->want[i], tolerance));
    }
    return QN_OK;
}

static qn_status check_type(qn_self_check *c, qn_type t, product *p)
{
    const qn_type_info *info = qn_type_find(t);
    const qn_mm *mm = &c->k->mm[t];
    size_t n_k = 256 + info->block_len; /* more than one block of any type, and no round number where blocks allow */
    size_t row_bytes = n_k / info->block_len * info->block_bytes;
    make_weights(c, info, n_k, row_bytes, p);
    size_t x_bytes = make_activations(c, mm->act, n_k, p);
    judge(n_k, p);

    if (c->k->decode_row[t] != NULL) {
        for (size_t r = 0; r < N_ROWS; r++) {
            c->k->decode_row[t](p->rows + r * row_bytes, p->decoded, n_k);
            QN_TRY(qn_self_check_compare(c, "decode_row", info->name, p->decoded, p->w + r * n_k, n_k, 1e-6, 0.0));
        }
    }
    memset(p->y, 0, sizeof(p->y));
    mm->one(p->rows, row_bytes, N_ROWS, n_k, p->x_act, p->y);
    QN_TRY(compare(c, "mm.one", info->name, 1, p));
    size_t n_few = mm->few_max < N_COLS ? mm->few_max : N_COLS;
    memset(p->y, 0, sizeof(p->y));
    mm->few(p->rows, row_bytes, N_ROWS, n_k, p->x_act, x_bytes, n_few, p->y, N_ROWS);
    QN_TRY(compare(c, "mm.few", info->name, n_few, p));
    if (mm->panel_rows == 0) {
        return QN_OK;
    }
    memset(p->y, 0, sizeof(p->y));
    QN_TRY(check_panels(c, mm, info->name, n_k, row_bytes, x_bytes, p));
    return mm->wide == NULL ? QN_OK : check_wide(c, mm, info->name, n_k, row_bytes, p);
}

qn_status qn_self_check_products(qn_self_check *c, qn_type type)
{
    const qn_type_info *info = qn_type_find(type);
    if (info == NULL || info->decode == NULL || info->block_len > MAX_BLOCK_LEN) {
        return QN_OK;
    }
    product *p = qn_alloc(NULL, "self-check", sizeof(*p));
    if (p == NULL) {
        return qn_fail(c->err, QN_ENOMEM, "self-check: no memory for %zu bytes", sizeof(*p));
    }
    qn_status status = check_type(c, type, p);
    qn_free(p);
    return status;
}
