/* Packed panels times columns of A8 activations. A step of a tile, 16 rows of 4 k, is just one register, and vpdpbusd
 * multiplies it with 4 activations that all lanes share; so a tile is 8 instructions a column and no sum is horizontal.
 * A column's arithmetic is the same whichever columns are beside it.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx512vnni/mm_int512.h"
#include "backend/cpu/avx512vnni/simd_int.h"

/* 8 weights, 8 sums of floats and 8 of integers stay in the 32 registers. */
enum { COLUMNS = 8 };

typedef enum tile_kind { TILE_U8, TILE_S8, TILE_H6, TILE_H7 } tile_kind;

typedef struct column {
    const int8_t *q;
    const float *d, *s;
    const int16_t *h;
} column;

QN_INLINE size_t tile_bytes(tile_kind kind)
{
    return kind == TILE_U8 ? sizeof(qn_panel_u8) : kind == TILE_S8 ? sizeof(qn_panel_s8) : sizeof(qn_panel_h8);
}

/* Steps [first, first + n) of the tile against column x at k; start is what the sum begins with. */
QN_INLINE __m512i dot_steps(const __m512i w[QN_PANEL_STEPS], const int8_t *q, int first, int n, __m512i start)
{
    QN_UNROLL
    for (int i = 0; i < n; i++) {
        start = _mm512_dpbusd_epi32(start, w[first + i], _mm512_set1_epi32(qn_get_i32(q + 4 * (first + i))));
    }
    return start;
}

/* Signed weights become unsigned by adding 128, and their sums start at -128 times the activations' sum. */
QN_INLINE void load_steps(const void *tile, tile_kind kind, __m512i w[QN_PANEL_STEPS])
{
    QN_UNROLL
    for (int i = 0; i < QN_PANEL_STEPS; i++) {
        w[i] = _mm512_load_si512((const char *)tile + 64 * i);
        if (kind == TILE_S8) {
            w[i] = _mm512_xor_si512(w[i], _mm512_set1_epi8((char)0x80));
        }
    }
}

QN_INLINE __m512 tile_u8(const __m512i w[QN_PANEL_STEPS], __m512 d, __m512 m, const column *x, size_t k, __m512 acc)
{
    __m512 sum = _mm512_cvtepi32_ps(dot_steps(w, x->q + k, 0, QN_PANEL_STEPS, _mm512_setzero_si512()));
    acc = _mm512_fmadd_ps(sum, _mm512_mul_ps(d, _mm512_set1_ps(x->d[k / 32])), acc);
    return _mm512_fmadd_ps(m, _mm512_set1_ps(x->s[k / 32]), acc);
}

QN_INLINE __m512 tile_s8(const __m512i w[QN_PANEL_STEPS], __m512 d, const column *x, size_t k, __m512 acc)
{
    const int16_t *h = x->h + k / 16;
    __m512i start = _mm512_set1_epi32(-128 * (h[0] + h[1]));
    __m512 sum = _mm512_cvtepi32_ps(dot_steps(w, x->q + k, 0, QN_PANEL_STEPS, start));
    return _mm512_fmadd_ps(sum, _mm512_mul_ps(d, _mm512_set1_ps(x->d[k / 32])), acc);
}

/* d0, d1: scales of the two halves. */
QN_INLINE __m512 tile_h8(const __m512i w[QN_PANEL_STEPS], __m512 d0, __m512 d1, const column *x, size_t k, int offset,
                         __m512 acc)
{
    const int16_t *h = x->h + k / 16;
    const int half = QN_PANEL_STEPS / 2;
    __m512 s0 = _mm512_cvtepi32_ps(dot_steps(w, x->q + k, 0, half, _mm512_set1_epi32(-offset * h[0])));
    __m512 s1 = _mm512_cvtepi32_ps(dot_steps(w, x->q + k, half, half, _mm512_set1_epi32(-offset * h[1])));
    __m512 both = _mm512_fmadd_ps(s0, d0, _mm512_mul_ps(s1, d1));
    return _mm512_fmadd_ps(both, _mm512_set1_ps(x->d[k / 32]), acc);
}

QN_INLINE void columns(const void *panel, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, int n_cols,
                       tile_kind kind, float *y, size_t ldy)
{
    const bool has_halves = kind == TILE_H6 || kind == TILE_H7;
    const uint8_t *tile = panel;
    column col[COLUMNS];
    __m512 acc[COLUMNS];
    QN_UNROLL
    for (int c = 0; c < n_cols; c++) {
        const void *xc = (const char *)x + (size_t)c * x_bytes;
        col[c] = (column){qn_a8_q(xc), qn_a8_d(xc, n_k), qn_a8_s(xc, n_k), qn_a8_h(xc, n_k)};
        acc[c] = _mm512_setzero_ps();
    }
    for (size_t k = 0; k < n_k; k += 32, tile += tile_bytes(kind)) {
        __m512i w[QN_PANEL_STEPS];
        load_steps(tile, kind, w);
        const float *scales = (const float *)(const void *)(tile + 64 * QN_PANEL_STEPS);
        __m512 d = _mm512_load_ps(has_halves ? scales + QN_PANEL_ROWS : scales), m = d, d1 = d;
        if (kind == TILE_U8) {
            m = _mm512_load_ps(scales + QN_PANEL_ROWS);
        } else if (has_halves) {
            __m512i sc = _mm512_load_si512(scales); /* two int16 a row */
            d1 = _mm512_mul_ps(d, _mm512_cvtepi32_ps(_mm512_srai_epi32(sc, 16)));
            d = _mm512_mul_ps(d, _mm512_cvtepi32_ps(_mm512_srai_epi32(_mm512_slli_epi32(sc, 16), 16)));
        }
        QN_UNROLL
        for (int c = 0; c < n_cols; c++) {
            if (kind == TILE_U8) {
                acc[c] = tile_u8(w, d, m, &col[c], k, acc[c]);
            } else if (kind == TILE_S8) {
                acc[c] = tile_s8(w, d, &col[c], k, acc[c]);
            } else {
                acc[c] = tile_h8(w, d, d1, &col[c], k, kind == TILE_H6 ? 32 : 64, acc[c]);
            }
        }
    }
    QN_UNROLL
    for (int c = 0; c < n_cols; c++) {
        _mm512_mask_storeu_ps(y + (size_t)c * ldy, qn_first_lanes(n_rows), acc[c]);
    }
}

QN_INLINE void panel_of(const void *panel, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, size_t n_cols,
                        tile_kind kind, float *y, size_t ldy)
{
    const char *xc = x;
    for (; n_cols >= COLUMNS; n_cols -= COLUMNS, y += COLUMNS * ldy, xc += COLUMNS * x_bytes) {
        columns(panel, n_rows, n_k, xc, x_bytes, COLUMNS, kind, y, ldy);
    }
    for (; n_cols >= 2; n_cols -= 2, y += 2 * ldy, xc += 2 * x_bytes) {
        columns(panel, n_rows, n_k, xc, x_bytes, 2, kind, y, ldy);
    }
    if (n_cols != 0) {
        columns(panel, n_rows, n_k, xc, x_bytes, 1, kind, y, ldy);
    }
}

#define DEFINE(name, kind)                                                                                         \
    void qn_panel_##name##_avx512vnni(const void *panel, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, \
                                      size_t n_cols, float *y, size_t ldy)                                         \
    {                                                                                                              \
        panel_of(panel, n_rows, n_k, x, x_bytes, n_cols, kind, y, ldy);                                            \
    }

DEFINE(u8, TILE_U8)
DEFINE(s8, TILE_S8)
DEFINE(h6, TILE_H6)
DEFINE(h7, TILE_H7)
