/* The AVX-512 VNNI matrix product kernels by name; private to backend/cpu/avx512vnni. SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_AVX512VNNI_MM_INT512_H
#define QN_BACKEND_CPU_AVX512VNNI_MM_INT512_H

#include "backend/cpu/mm_int.h"

/* qn_mm.panel over the tiles that the AVX2 packers make. */
typedef void qn_panel512_fn(const void *panel, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, size_t n_cols,
                            float *y, size_t ldy);
qn_panel512_fn qn_panel_u8_avx512vnni, qn_panel_s8_avx512vnni, qn_panel_h6_avx512vnni, qn_panel_h7_avx512vnni;

/* The types that have qn_mm.one and qn_mm.few of their own here; others keep those of AVX2. */
#define QN_ROWS_TYPES(X) X(Q4_0) X(Q4_1) X(Q5_0) X(Q5_1) X(Q8_0) X(Q4_K) X(Q5_K) X(Q6_K) X(IQ4_NL) X(IQ4_XS)

#define QN_ROWS_DECLARE(T)                                                                                     \
    void qn_one_##T##_avx512vnni(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x, \
                                 float *y);                                                                    \
    void qn_few_##T##_avx512vnni(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x, \
                                 size_t x_bytes, size_t n_cols, float *y, size_t ldy);
QN_ROWS_TYPES(QN_ROWS_DECLARE)
#undef QN_ROWS_DECLARE

#endif
