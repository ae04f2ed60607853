/* What the matrix product kernels of all instruction sets share: their fillers, the list of types, and how packed
 * panels lie in memory. Private to backend/cpu.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_MM_INT_H
#define QN_BACKEND_CPU_MM_INT_H

#include "backend/cpu/kernels.h"

/* Each sets mm[], quantize_a8 and decode_row[]; ref sets them all, the others what they are better at. */
void qn_fill_mm_ref(qn_kernels *k);
void qn_fill_mm_avx2(qn_kernels *k);
void qn_fill_mm_avx512vnni(qn_kernels *k);

/* X(type) for every type of the table. */
#define QN_MM_PLAIN_TYPES(X) X(F32) X(F16) X(BF16)
/* Those that have products with A8 activations, by the tiles of their panels: h6 and h7 are h8 with an offset of 32 and
 * of 64, m6 is m8, f5 is f8. */
#define QN_MM_U8_TYPES(X) \
    X(Q4_0) X(Q4_1) X(Q5_0) X(Q5_1) X(Q4_K) X(Q5_K) X(TQ1_0) X(TQ2_0) X(Q1_0) X(IQ2_XXS) X(IQ3_XXS) X(IQ3_S) X(IQ1_S) \
    X(MXFP4)
#define QN_MM_S8_TYPES(X) X(Q8_0) X(Q8_1) X(Q8_K) X(IQ4_NL) X(IQ4_XS)
#define QN_MM_H6_TYPES(X) X(Q6_K) X(IQ1_M) X(Q3_K)
#define QN_MM_H7_TYPES(X) X(IQ2_XS) X(IQ2_S)
#define QN_MM_M6_TYPES(X) X(Q2_K)
#define QN_MM_F5_TYPES(X) X(NVFP4)
#define QN_MM_A8_TYPES(X)                                                   \
    QN_MM_U8_TYPES(X) QN_MM_S8_TYPES(X) QN_MM_H6_TYPES(X) QN_MM_H7_TYPES(X) \
    QN_MM_M6_TYPES(X) QN_MM_F5_TYPES(X)
#define QN_MM_OTHER_TYPES(X) X(I8) X(I16) X(I32) X(I64) X(F64)

/* Elements that kernels decode at a time: a whole number of blocks of every type. */
#define QN_MM_CHUNK 256

/* Panels: 16 weight rows side by side, so that a vector's lanes are rows and a product needs no horizontal sums.
 * Four neighbouring k of a row stay together, because that is what one lane of an int8 dot product eats (maddubs here,
 * VNNI and AMX tiles alike). A panel is an array of n_k / 32 of one of the tiles below; rows that are missing are
 * zeros. A8's quantities of the same 32 k are written q, d, s, h. */
#define QN_PANEL_ROWS 16
#define QN_PANEL_STEPS 8 /* groups of four k in a tile */

/* w = d * q + m, q in [0, 15] or [0, 31]: sum of w * x = d * x.d * (q . x.q) + m * x.s. */
typedef struct qn_panel_u8 {
    uint8_t q[QN_PANEL_STEPS][QN_PANEL_ROWS][4]; /* [j][r][i]: element 4 j + i of row r */
    float d[QN_PANEL_ROWS];
    float m[QN_PANEL_ROWS];
} qn_panel_u8;

/* w = d * q, q in [-128, 127]. */
typedef struct qn_panel_s8 {
    int8_t q[QN_PANEL_STEPS][QN_PANEL_ROWS][4];
    float d[QN_PANEL_ROWS];
} qn_panel_s8;

/* w = d * sc[half] * (q - offset), offset 32 and q in [0, 63], or 64 and [0, 127]: the sum over a half is
 * d * x.d * sc * (q . x.q - offset * x.h). */
typedef struct qn_panel_h8 {
    uint8_t q[QN_PANEL_STEPS][QN_PANEL_ROWS][4];
    int16_t sc[QN_PANEL_ROWS][2];
    float d[QN_PANEL_ROWS];
} qn_panel_h8;

/* w = d * q + m * min[half], q in [0, 63]: the sum is x.d * (d * (q . x.q) + m * (min . x.h)). */
typedef struct qn_panel_m8 {
    uint8_t q[QN_PANEL_STEPS][QN_PANEL_ROWS][4];
    int16_t min[QN_PANEL_ROWS][2];
    float d[QN_PANEL_ROWS];
    float m[QN_PANEL_ROWS];
} qn_panel_m8;

/* w = d[half] * (q - 12), q in [0, 31]. */
typedef struct qn_panel_f8 {
    uint8_t q[QN_PANEL_STEPS][QN_PANEL_ROWS][4];
    float d[2][QN_PANEL_ROWS];
} qn_panel_f8;

/* Weights as floats: panel[k * QN_PANEL_ROWS + r]. */

/* AVX2's kernels, whose packers the sets above it build on. */
#define QN_MM_DECLARE_AVX2(T) extern const qn_mm qn_mm_##T##_avx2;
QN_MM_A8_TYPES(QN_MM_DECLARE_AVX2)
#undef QN_MM_DECLARE_AVX2

/* Code books, an entry's bytes being its elements: IQ1 plus 1, IQ2 and IQ3_XXS plus 64, of IQ3_S the half, plus 7.5. */
extern const uint64_t qn_iq1_book[2048], qn_iq2_xxs_book[256], qn_iq2_xs_book[512], qn_iq2_s_book[1024];
extern const uint32_t qn_iq3_xxs_book[256], qn_iq3_s_book[512];

_Static_assert(sizeof(qn_panel_u8) % 64 == 0 && sizeof(qn_panel_s8) % 64 == 0 && sizeof(qn_panel_h8) % 64 == 0 &&
                   sizeof(qn_panel_m8) % 64 == 0 && sizeof(qn_panel_f8) % 64 == 0,
               "tiles keep the panel's alignment");

#endif
