/* The AVX-512 VNNI matrix product kernels by name; private to backend/cpu/avx512vnni. SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_AVX512VNNI_MM_INT512_H
#define QN_BACKEND_CPU_AVX512VNNI_MM_INT512_H

#include "backend/cpu/mm_int.h"

/* qn_mm.panel over the tiles that the AVX2 packers make. */
typedef void qn_panel512_fn(const void *panel, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, size_t n_cols,
                            float *y, size_t ldy);
qn_panel512_fn qn_panel_u8_avx512vnni, qn_panel_s8_avx512vnni, qn_panel_h6_avx512vnni, qn_panel_h7_avx512vnni;
qn_panel512_fn qn_panel_m6_avx512vnni, qn_panel_f5_avx512vnni;
qn_panel512_fn qn_panel_f32_avx512vnni;

/* An h8 tile for AMX: w = d[half] * q, q signed. */
typedef struct qn_panel_hf {
    int8_t q[QN_PANEL_STEPS][QN_PANEL_ROWS][4];
    float d[2][QN_PANEL_ROWS];
} qn_panel_hf;
_Static_assert(sizeof(qn_panel_hf) == sizeof(qn_panel_h8), "made in place of it");

/* Weights whose rows are unpacked a slice at a time, into tiles of QN_SLICE k. */
enum { QN_SLICE = 256, QN_SEVERAL_MAX = 32 };
typedef void qn_pack512_fn(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, void *panel);
typedef struct qn_slices {
    const uint8_t *w;
    size_t row_bytes, slice_bytes;
    qn_pack512_fn *pack;
} qn_slices;
typedef void qn_several512_fn(const qn_slices *w, size_t n_rows, size_t n_k, const void *x, size_t x_bytes,
                              size_t n_cols, float *y, size_t ldy);
qn_several512_fn qn_several_u8_avx512vnni, qn_several_s8_avx512vnni, qn_several_h6_avx512vnni, qn_several_h7_avx512vnni;
qn_several512_fn qn_several_m6_avx512vnni, qn_several_f5_avx512vnni;

static inline const uint8_t *qn_slice(const qn_slices *w, size_t r, size_t k)
{
    return w->w + r * w->row_bytes + k / QN_SLICE * w->slice_bytes;
}

/* Rows whose slices will be wanted soon. They are asked for a few at a time, between other work: the first cache waits
 * for little at once, and a burst would hold up everything behind it. */
typedef struct qn_fetch {
    const uint8_t *at;
    size_t row_bytes, slice_bytes, n_rows;
} qn_fetch;

/* What comes two slices behind (r, k), 16 rows each. */
static inline qn_fetch qn_fetch_behind(const qn_slices *w, size_t r, size_t k, size_t n_rows, size_t n_k)
{
    k += 2 * QN_SLICE;
    for (; k >= n_k; k -= (n_k + QN_SLICE - 1) / QN_SLICE * QN_SLICE) {
        r += QN_PANEL_ROWS;
        if (r >= n_rows) {
            return (qn_fetch){.n_rows = 0};
        }
    }
    size_t n = n_rows - r < QN_PANEL_ROWS ? n_rows - r : QN_PANEL_ROWS;
    return (qn_fetch){qn_slice(w, r, k), w->row_bytes, w->slice_bytes, n};
}

static inline void qn_fetch_some(const qn_fetch *f, size_t first, size_t n)
{
    for (size_t i = first; i < first + n && i < f->n_rows; i++) {
        for (size_t at = 0; at < f->slice_bytes; at += 64) {
            __builtin_prefetch(f->at + i * f->row_bytes + at);
        }
    }
}

/* qn_mm.pack of the types that do it with 16 rows at once; others keep AVX2's. */
qn_pack512_fn qn_pack_Q4_0_avx512vnni, qn_pack_Q4_1_avx512vnni, qn_pack_Q5_0_avx512vnni, qn_pack_Q5_1_avx512vnni,
    qn_pack_Q8_0_avx512vnni;
qn_pack512_fn qn_pack_Q4_K_avx512vnni, qn_pack_Q5_K_avx512vnni, qn_pack_Q6_K_avx512vnni;
qn_pack512_fn qn_pack_Q6_K_signed_avx512vnni; /* qn_panel_hf */
qn_pack512_fn *qn_packer_avx512vnni(qn_type type, qn_pack512_fn *avx2);
qn_slices qn_slices_of(qn_type type, qn_pack512_fn *pack, const uint8_t *w, size_t row_bytes);

/* The types that have qn_mm.one and qn_mm.few of their own here; others keep those of AVX2. */
#define QN_ROWS_TYPES(X)                                                                                          \
    X(Q4_0)                                                                                                       \
    X(Q4_1) X(Q5_0) X(Q5_1) X(Q8_0) X(Q4_K) X(Q5_K) X(Q6_K) X(IQ4_NL) X(IQ4_XS) X(MXFP4) X(Q3_K) X(Q2_K) X(NVFP4) \
        X(TQ1_0) X(TQ2_0) X(Q1_0) X(Q8_K) X(IQ2_XXS) X(IQ2_XS) X(IQ2_S) X(IQ3_XXS) X(IQ3_S) X(IQ1_S) X(IQ1_M)

#define QN_ROWS_DECLARE(T)                                                                                     \
    void qn_one_##T##_avx512vnni(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x, \
                                 float *y);                                                                    \
    void qn_few_##T##_avx512vnni(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x, \
                                 size_t x_bytes, size_t n_cols, float *y, size_t ldy);
QN_ROWS_TYPES(QN_ROWS_DECLARE)
#undef QN_ROWS_DECLARE

#endif
