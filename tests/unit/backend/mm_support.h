/* Operands of matrix products, in buffers of the exact size, so that a sanitizer sees a read outside.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TESTS_UNIT_BACKEND_MM_SUPPORT_H
#define QN_TESTS_UNIT_BACKEND_MM_SUPPORT_H

#include "kernel_support.h"

#include <float.h>

#include "backend/cpu/mm_int.h"

enum { MAX_COLS = 23, MAX_ROWS = 19 };

static inline void *exact(size_t n_bytes)
{
    void *p = NULL;
    assert_int_equal(posix_memalign(&p, 64, n_bytes), 0);
    return p;
}

/* Where the half-precision scales of a block lie, for the types whose kernels read them themselves. */
static const struct scales {
    qn_type type;
    int n;
    size_t at[2];
} scales[] = {
    {QN_TYPE_F16, 1, {0}},     {QN_TYPE_Q4_0, 1, {0}},    {QN_TYPE_Q4_1, 2, {0, 2}},   {QN_TYPE_Q5_0, 1, {0}},
    {QN_TYPE_Q5_1, 2, {0, 2}}, {QN_TYPE_Q8_0, 1, {0}},    {QN_TYPE_Q4_K, 2, {0, 2}},   {QN_TYPE_Q5_K, 2, {0, 2}},
    {QN_TYPE_Q6_K, 1, {208}},  {QN_TYPE_TQ1_0, 1, {52}},  {QN_TYPE_TQ2_0, 1, {64}},    {QN_TYPE_Q1_0, 1, {0}},
    {QN_TYPE_IQ1_S, 1, {0}},   {QN_TYPE_IQ2_XXS, 1, {0}}, {QN_TYPE_IQ2_XS, 1, {0}},    {QN_TYPE_IQ2_S, 1, {0}},
    {QN_TYPE_IQ3_XXS, 1, {0}}, {QN_TYPE_IQ3_S, 1, {0}},   {QN_TYPE_Q2_K, 2, {80, 82}}, {QN_TYPE_Q3_K, 1, {108}},
    {QN_TYPE_IQ4_NL, 1, {0}},  {QN_TYPE_IQ4_XS, 1, {0}},
};

static inline const struct scales *find_scales(qn_type type)
{
    for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
        if (scales[i].type == type) {
            return &scales[i];
        }
    }
    return NULL;
}

static inline bool decodes_sanely(const qn_type_info *info, const uint8_t *block)
{
    float w[QN_MM_CHUNK];
    float max = 0;
    info->decode(block, w, info->block_len);
    for (size_t i = 0; i < info->block_len; i++) {
        if (!isfinite(w[i])) {
            return false;
        }
        max = fmaxf(max, fabsf(w[i]));
    }
    return max > 1e-3f && max < 1e3f;
}

static inline void random_bytes(qn_random *rng, uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        p[i] = (uint8_t)qn_random_below(rng, 256);
    }
}

/* One block whose values are finite. ugly: scales of zero, subnormal or large, quants all at one end. */
static inline void random_block(qn_random *rng, qn_type type, bool ugly, uint8_t *p)
{
    const qn_type_info *info = qn_type_find((uint32_t)type);
    const struct scales *sc = find_scales(type);
    float f = qn_random_normal(rng);
    double f64 = (double)f;
    switch (type) {
    case QN_TYPE_F32:
        f = ugly && qn_random_below(rng, 4) == 0 ? FLT_MIN / 8 : f;
        memcpy(p, &f, sizeof(f));
        return;
    case QN_TYPE_F64:
        memcpy(p, &f64, sizeof(f64));
        return;
    case QN_TYPE_I8:
    case QN_TYPE_I16:
    case QN_TYPE_I32:
    case QN_TYPE_I64:
        memset(p, f < 0 ? 0xFF : 0, info->block_bytes);
        p[0] = (uint8_t)(int)f;
        return;
    default:
        break;
    }
    if (sc == NULL) {
        do {
            random_bytes(rng, p, info->block_bytes);
        } while (!decodes_sanely(info, p));
        return;
    }
    random_bytes(rng, p, info->block_bytes);
    uint64_t kind = ugly ? qn_random_below(rng, 4) : 0;
    if (kind == 1) {
        memset(p, 0xFF, info->block_bytes);
    } else if (kind == 2) { /* Q8_0: -128; nibbles: 0 and 8 */
        memset(p, 0x80, info->block_bytes);
    }
    static const uint16_t ugly_scales[] = {0, 0x8000, 1, 0x03ff, 0x0400, 0xbc00, 0x5640}; /* 0x5640: 100 */
    for (int i = 0; i < sc->n; i++) {
        uint16_t h = qn_f32_to_f16(qn_random_normal(rng));
        if (kind != 0) {
            h = ugly_scales[qn_random_below(rng, sizeof(ugly_scales) / sizeof(ugly_scales[0]))];
        }
        memcpy(p + sc->at[i], &h, sizeof(h));
    }
}

typedef struct operands {
    qn_type type;
    size_t n_rows, n_cols, n_k, row_bytes, x_bytes;
    uint8_t *w_base; /* starts at an odd address: files promise no alignment of rows */
    const uint8_t *w;
    float *w_exact; /* n_rows x n_k */
    float *x_floats;
    void *x;         /* what the kernel reads */
    double *x_exact; /* n_cols x n_k */
    float *reach;    /* per row: the largest term that a weight is made of, see tolerance() */
} operands;

/* n floats. ugly: blocks of zeros, of subnormals, with an outlier, and of one value, which is the one that drives the
 * sums of a kernel's narrow integers to their limits. */
static inline void random_floats(qn_random *rng, float *x, size_t n, bool ugly)
{
    for (size_t i = 0; i < n; i++) {
        x[i] = qn_random_normal(rng);
    }
    for (size_t i = 0; ugly && i < n; i += 32) {
        size_t n_here = n - i < 32 ? n - i : 32;
        uint64_t kind = qn_random_below(rng, 5);
        for (size_t j = 0; j < n_here; j++) {
            float v = kind == 3 ? x[i] : x[i + j];
            x[i + j] = v * (kind == 0 ? 0.0f : kind == 1 ? 1e-40f : 1.0f);
        }
        x[i] *= kind == 2 ? 1000.0f : 1.0f;
    }
}

static inline void make_columns(qn_random *rng, const qn_kernels *k, operands *o, bool ugly)
{
    qn_act act = k->mm[o->type].act;
    o->x_bytes = act == QN_ACT_A8 ? qn_a8_bytes(o->n_k) : (o->n_k * sizeof(float) + 63) / 64 * 64;
    size_t last_bytes = act == QN_ACT_A8 ? o->x_bytes : o->n_k * sizeof(float);
    o->x = exact((o->n_cols - 1) * o->x_bytes + last_bytes);
    o->x_exact = exact(o->n_cols * o->n_k * sizeof(double));
    o->x_floats = exact(o->n_k * sizeof(float));
    for (size_t c = 0; c < o->n_cols; c++) {
        char *xc = (char *)o->x + c * o->x_bytes;
        random_floats(rng, o->x_floats, o->n_k, ugly);
        if (act == QN_ACT_A8) {
            k->quantize_a8(o->x_floats, o->n_k, xc);
        } else {
            memcpy(xc, o->x_floats, o->n_k * sizeof(float));
        }
        for (size_t i = 0; i < o->n_k; i++) {
            o->x_exact[c * o->n_k + i] = act == QN_ACT_A8 ? (double)qn_a8_d(xc, o->n_k)[i / 32] * (double)qn_a8_q(xc)[i]
                                                          : (double)o->x_floats[i];
        }
    }
}

static inline void make_operands(qn_random *rng, const qn_kernels *k, qn_type type, size_t n_rows, size_t n_k,
                                 bool ugly, operands *o)
{
    const qn_type_info *info = qn_type_find((uint32_t)type);
    *o = (operands){.type = type, .n_rows = n_rows, .n_cols = MAX_COLS, .n_k = n_k};
    size_t used = n_k / info->block_len * info->block_bytes;
    o->row_bytes = used + (ugly ? 2 : 0);
    o->w_base = exact(1 + (n_rows - 1) * o->row_bytes + used);
    o->w_exact = exact(n_rows * n_k * sizeof(float));
    o->reach = exact(n_rows * sizeof(float));
    uint8_t *w = o->w_base + 1;
    for (size_t r = 0; r < n_rows; r++) {
        for (size_t b = 0; b < n_k / info->block_len; b++) {
            random_block(rng, type, ugly, w + r * o->row_bytes + b * info->block_bytes);
        }
        info->decode(w + r * o->row_bytes, o->w_exact + r * n_k, n_k);
        o->reach[r] = 0;
        for (size_t i = 0; i < n_k; i++) {
            o->reach[r] = fmaxf(o->reach[r], fabsf(o->w_exact[r * n_k + i]));
        }
        const struct scales *sc = info->block_len > 1 ? find_scales(type) : NULL;
        for (size_t b = 0; sc != NULL && b < n_k / info->block_len; b++) {
            for (int i = 0; i < sc->n; i++) {
                uint16_t h;
                memcpy(&h, w + r * o->row_bytes + b * info->block_bytes + sc->at[i], sizeof(h));
                o->reach[r] = fmaxf(o->reach[r], 32.0f * fabsf(qn_f16_to_f32(h)));
            }
        }
    }
    o->w = w;
    make_columns(rng, k, o, ugly);
}

static inline void free_operands(operands *o)
{
    free(o->w_base);
    free(o->w_exact);
    free(o->reach);
    free(o->x_floats);
    free(o->x);
    free(o->x_exact);
}

#endif
