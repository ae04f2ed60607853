/* Packed panels times columns of A8 activations: 16 rows by up to 4 columns in registers, no horizontal sums.
 * A column's arithmetic is the same whichever columns are beside it.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx2/mm_a8_int.h"

enum { N_VECTORS = QN_PANEL_VECTORS, COLUMNS = 4 };

/* What a tile's integer sums are scaled by, and where a column stands. */
typedef struct column {
    const int8_t *q;
    const float *d, *s;
    const int16_t *h;
} column;

/* The empty statement pins the order of additions: left alone, gcc sums products as a tree, which needs more registers
 * than there are. */
QN_INLINE void accumulate(__m256i *sum, __m256i v, bool is_first, bool is_32)
{
    *sum = is_first ? v : qn_add(*sum, v, is_32);
    __asm__("" : "+x"(*sum));
}

QN_INLINE __m256i four_elements(const column *x, size_t k)
{
    return _mm256_set1_epi32(qn_get_i32(x->q + k));
}

/* Both vectors of rows times n_cols columns over one block: integer sums of 32 bits. */
QN_INLINE void dot_u8(const qn_panel_u8 *t, const column *x, size_t k, int n_cols, qn_quants quants,
                      __m256i sum[N_VECTORS][COLUMNS])
{
    /* of steps whose sums fit words */
    int n_chunks = quants == QN_U4 ? 1 : quants == QN_U5 ? 2 : quants == QN_M6 ? 4 : QN_PANEL_STEPS;
    for (int chunk = 0; chunk < n_chunks; chunk++) {
        __m256i words[N_VECTORS][COLUMNS];
        int n_steps = QN_PANEL_STEPS / n_chunks;
        QN_UNROLL
        for (int i = 0; i < n_steps; i++) {
            int step = chunk * n_steps + i;
            for (int c = 0; c < n_cols; c++) {
                __m256i xv = four_elements(&x[c], k + 4 * (size_t)step);
                for (int v = 0; v < N_VECTORS; v++) {
                    __m256i p = _mm256_maddubs_epi16(qn_load_256(t->q[step][8 * v]), xv);
                    accumulate(&words[v][c], p, i == 0, false);
                }
            }
        }
        for (int c = 0; c < n_cols; c++) {
            for (int v = 0; v < N_VECTORS; v++) {
                accumulate(&sum[v][c], qn_pairs_to_32(words[v][c]), chunk == 0, true);
            }
        }
    }
}

QN_INLINE void dot_s8(const qn_panel_s8 *t, const column *x, size_t k, int n_cols, __m256i sum[N_VECTORS][COLUMNS])
{
    QN_UNROLL
    for (int step = 0; step < QN_PANEL_STEPS; step++) {
        for (int v = 0; v < N_VECTORS; v++) {
            __m256i w = qn_load_256(t->q[step][8 * v]);
            __m256i magnitude = _mm256_abs_epi8(w);
            for (int c = 0; c < n_cols; c++) {
                __m256i xv = _mm256_sign_epi8(four_elements(&x[c], k + 4 * (size_t)step), w);
                accumulate(&sum[v][c], qn_pairs_to_32(_mm256_maddubs_epi16(magnitude, xv)), step == 0, true);
            }
        }
    }
}

/* Scaled by the half blocks' scales, and centred. */
QN_INLINE void dot_h8(const qn_panel_h8 *t, const column *x, size_t k, int n_cols, qn_quants quants,
                      __m256i sum[N_VECTORS][COLUMNS])
{
    for (int v = 0; v < N_VECTORS; v++) {
        __m256i sc = qn_load_256(t->sc[8 * v]);
        __m256i offset = _mm256_slli_epi16(sc, quants == QN_H6 ? 5 : 6);
        for (int c = 0; c < n_cols; c++) {
            __m256i h = _mm256_set1_epi32(qn_get_i32(x[c].h + k / 16));
            sum[v][c] = _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_madd_epi16(offset, h));
        }
    }
    QN_UNROLL
    for (int pair = 0; pair < QN_PANEL_STEPS / 2; pair++) {
        for (int v = 0; v < N_VECTORS; v++) {
            __m256i both = qn_load_256(t->sc[8 * v]);
            __m256i sc = pair < 2
                             ? _mm256_shuffle_epi8(both, _mm256_set_epi64x(0x0d0c0d0c09080908, 0x0504050401000100,
                                                                           0x0d0c0d0c09080908, 0x0504050401000100))
                             : _mm256_shuffle_epi8(both, _mm256_set_epi64x(0x0f0e0f0e0b0a0b0a, 0x0706070603020302,
                                                                           0x0f0e0f0e0b0a0b0a, 0x0706070603020302));
            __m256i w0 = qn_load_256(t->q[2 * pair][8 * v]), w1 = qn_load_256(t->q[2 * pair + 1][8 * v]);
            for (int c = 0; c < n_cols; c++) {
                __m256i p0 = _mm256_maddubs_epi16(w0, four_elements(&x[c], k + 8 * (size_t)pair));
                __m256i p1 = _mm256_maddubs_epi16(w1, four_elements(&x[c], k + 8 * (size_t)pair + 4));
                if (quants == QN_H6) {
                    accumulate(&sum[v][c], _mm256_madd_epi16(_mm256_add_epi16(p0, p1), sc), false, true);
                } else {
                    accumulate(&sum[v][c], _mm256_madd_epi16(p0, sc), false, true);
                    accumulate(&sum[v][c], _mm256_madd_epi16(p1, sc), false, true);
                }
            }
        }
    }
}

/* Minima of half blocks: min[0] * x.h[0] + min[1] * x.h[1], scaled. */
QN_INLINE void add_minima(const qn_panel_m8 *t, const column *x, size_t k, int n_cols, __m256 acc[COLUMNS][N_VECTORS])
{
    for (int c = 0; c < n_cols; c++) {
        __m256 xd = _mm256_broadcast_ss(x[c].d + k / 32);
        __m256i h = _mm256_set1_epi32(qn_get_i32(x[c].h + k / 16));
        for (int v = 0; v < N_VECTORS; v++) {
            __m256 minima = _mm256_cvtepi32_ps(_mm256_madd_epi16(qn_load_256(t->min[8 * v]), h));
            acc[c][v] = _mm256_fmadd_ps(minima, _mm256_mul_ps(_mm256_load_ps(t->m + 8 * v), xd), acc[c][v]);
        }
    }
}

/* Halves with scales of their own. The words of a row's sum begin with -12 times the half's activations in one of the
 * two: no more than 12 * 127 * 16 < 2^15, and neither is the sum in the end. */
QN_INLINE void add_halves(const qn_panel_f8 *t, const column *x, size_t k, int n_cols, __m256 acc[COLUMNS][N_VECTORS])
{
    const int n_steps = QN_PANEL_STEPS / 2;
    for (int half = 0; half < 2; half++) {
        __m256i words[N_VECTORS][COLUMNS];
        for (int c = 0; c < n_cols; c++) {
            __m256i h = _mm256_set1_epi32(qn_get_i32(x[c].h + k / 16));
            h = _mm256_mullo_epi16(h, _mm256_set1_epi16(-12));
            words[0][c] = half == 0 ? _mm256_and_si256(h, _mm256_set1_epi32(0xFFFF)) : _mm256_srli_epi32(h, 16);
            words[1][c] = words[0][c];
        }
        QN_UNROLL
        for (int i = 0; i < n_steps; i++) {
            int step = half * n_steps + i;
            for (int c = 0; c < n_cols; c++) {
                __m256i xv = four_elements(&x[c], k + 4 * (size_t)step);
                for (int v = 0; v < N_VECTORS; v++) {
                    __m256i p = _mm256_maddubs_epi16(qn_load_256(t->q[step][8 * v]), xv);
                    accumulate(&words[v][c], p, false, false);
                }
            }
        }
        for (int c = 0; c < n_cols; c++) {
            __m256 xd = _mm256_broadcast_ss(x[c].d + k / 32);
            for (int v = 0; v < N_VECTORS; v++) {
                __m256 sum = _mm256_cvtepi32_ps(qn_pairs_to_32(words[v][c]));
                acc[c][v] = _mm256_fmadd_ps(sum, _mm256_mul_ps(_mm256_load_ps(t->d[half] + 8 * v), xd), acc[c][v]);
            }
        }
    }
}

QN_INLINE void columns(const void *panel, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, int n_cols,
                       qn_quants quants, float *y, size_t ldy)
{
    const uint8_t *tile = panel;
    column col[COLUMNS];
    __m256 acc[COLUMNS][N_VECTORS];
    for (int c = 0; c < n_cols; c++) {
        const void *xc = qn_column(x, x_bytes, (size_t)c);
        col[c] = (column){qn_a8_q(xc), qn_a8_d(xc, n_k), qn_a8_s(xc, n_k), qn_a8_h(xc, n_k)};
        acc[c][0] = acc[c][1] = _mm256_setzero_ps();
    }
    for (size_t k = 0; k < n_k; k += 32, tile += qn_tile_bytes(quants)) {
        __m256i sum[N_VECTORS][COLUMNS];
        const float *d, *m = NULL;
        if (quants == QN_F5) {
            add_halves((const void *)tile, col, k, n_cols, acc);
            continue;
        }
        if (quants == QN_M6) {
            const qn_panel_m8 *t = (const void *)tile;
            dot_u8((const void *)t->q, col, k, n_cols, quants, sum);
            add_minima(t, col, k, n_cols, acc);
            d = t->d;
        } else if (quants == QN_S8) {
            const qn_panel_s8 *t = (const void *)tile;
            dot_s8(t, col, k, n_cols, sum);
            d = t->d;
        } else if (qn_has_halves(quants)) {
            const qn_panel_h8 *t = (const void *)tile;
            dot_h8(t, col, k, n_cols, quants, sum);
            d = t->d;
        } else {
            const qn_panel_u8 *t = (const void *)tile;
            dot_u8(t, col, k, n_cols, quants, sum);
            d = t->d;
            m = t->m;
        }
        for (int c = 0; c < n_cols; c++) {
            __m256 xd = _mm256_broadcast_ss(col[c].d + k / 32), xs = _mm256_broadcast_ss(col[c].s + k / 32);
            for (int v = 0; v < N_VECTORS; v++) {
                __m256 scale = _mm256_mul_ps(_mm256_load_ps(d + 8 * v), xd);
                acc[c][v] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum[v][c]), scale, acc[c][v]);
                if (m != NULL) {
                    acc[c][v] = _mm256_fmadd_ps(_mm256_load_ps(m + 8 * v), xs, acc[c][v]);
                }
            }
        }
    }
    for (int c = 0; c < n_cols; c++) {
        qn_store_panel_rows(y + (size_t)c * ldy, acc[c], n_rows);
    }
}

QN_INLINE void panel_a8(const void *panel, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, size_t n_cols,
                        qn_quants quants, float *y, size_t ldy)
{
    for (; n_cols >= COLUMNS; n_cols -= COLUMNS, y += COLUMNS * ldy) {
        columns(panel, n_rows, n_k, x, x_bytes, COLUMNS, quants, y, ldy);
        x = qn_column(x, x_bytes, COLUMNS);
    }
    switch (n_cols) {
    case 3:
        columns(panel, n_rows, n_k, x, x_bytes, 3, quants, y, ldy);
        break;
    case 2:
        columns(panel, n_rows, n_k, x, x_bytes, 2, quants, y, ldy);
        break;
    case 1:
        columns(panel, n_rows, n_k, x, x_bytes, 1, quants, y, ldy);
        break;
    default:
        break;
    }
}

#define DEFINE(name, quants)                                                                                 \
    void qn_panel_##name##_avx2(const void *panel, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, \
                                size_t n_cols, float *y, size_t ldy)                                         \
    {                                                                                                        \
        panel_a8(panel, n_rows, n_k, x, x_bytes, n_cols, quants, y, ldy);                                    \
    }

DEFINE(u4, QN_U4)
DEFINE(u5, QN_U5)
DEFINE(u7, QN_U7)
DEFINE(h6, QN_H6)
DEFINE(h7, QN_H7)
DEFINE(s8, QN_S8)
DEFINE(m6, QN_M6)
DEFINE(f5, QN_F5)
