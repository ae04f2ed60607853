/* Packed panels of signed weights times columns of A8 activations, w = d * q: 16 rows by up to 4 columns in registers.
 *
 * maddubs wants one side unsigned, so a weight's sign has to go to the activation. Instead of psignb, which competes
 * with the multiplications for two ports, the bits of x are flipped where q is negative: -q * ~x = q * x + q. What that
 * adds, the sum of a row's negative q, is known when the panel is packed, and the row's sum starts at its opposite.
 * A column's arithmetic is the same whichever columns are beside it.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx2/mm_a8_int.h"

enum { N_VECTORS = QN_PANEL_VECTORS, COLUMNS = 4 };

/* Made of a qn_panel_s8. Range of a word: 128 * 128 * 2 = 2^15, and only with a minus before it. */
typedef struct tile {
    uint8_t magnitude[QN_PANEL_STEPS][QN_PANEL_ROWS][4];
    int8_t flip[QN_PANEL_STEPS][QN_PANEL_ROWS][4]; /* all bits set where q < 0 */
    float d[QN_PANEL_ROWS];
    int32_t start[QN_PANEL_ROWS]; /* of a row's sum */
} tile;

size_t qn_panel_x8_bytes(size_t n_k)
{
    return n_k / 32 * sizeof(tile);
}

static void expand_tile(const qn_panel_s8 *from, tile *to)
{
    for (int v = 0; v < N_VECTORS; v++) {
        __m256i sum = _mm256_setzero_si256();
        for (int step = 0; step < QN_PANEL_STEPS; step++) {
            __m256i q = qn_load_256(from->q[step][8 * v]);
            __m256i flip = _mm256_cmpgt_epi8(_mm256_setzero_si256(), q), magnitude = _mm256_abs_epi8(q);
            sum = _mm256_sub_epi16(sum, _mm256_maddubs_epi16(magnitude, flip));
            qn_store_256(to->magnitude[step][8 * v], magnitude);
            qn_store_256(to->flip[step][8 * v], flip);
        }
        qn_store_256(to->start + 8 * v, qn_pairs_to_32(sum));
        _mm256_store_ps(to->d + 8 * v, _mm256_load_ps(from->d + 8 * v));
    }
}

void qn_panel_x8_expand(void *panel, size_t n_k)
{
    const qn_panel_s8 *from = panel;
    tile *to = panel;
    for (size_t b = n_k / 32; b-- > 0;) { /* from the end, so that nothing is overwritten before it is read */
        qn_panel_s8 t = from[b];
        expand_tile(&t, &to[b]);
    }
}

/* Both vectors of rows times n_cols columns over one block. The empty statement pins the order of additions. */
QN_INLINE void dot(const tile *t, const int8_t *const x[COLUMNS], size_t k, int n_cols,
                   __m256i sum[N_VECTORS][COLUMNS])
{
    for (int c = 0; c < n_cols; c++) {
        for (int v = 0; v < N_VECTORS; v++) {
            sum[v][c] = qn_load_256(t->start + 8 * v);
        }
    }
    QN_UNROLL
    for (int step = 0; step < QN_PANEL_STEPS; step++) {
        __m256i magnitude[N_VECTORS], flip[N_VECTORS];
        for (int v = 0; v < N_VECTORS; v++) {
            magnitude[v] = qn_load_256(t->magnitude[step][8 * v]);
            flip[v] = qn_load_256(t->flip[step][8 * v]);
        }
        for (int c = 0; c < n_cols; c++) {
            __m256i xv = _mm256_set1_epi32(qn_get_i32(x[c] + k + 4 * (size_t)step));
            for (int v = 0; v < N_VECTORS; v++) {
                __m256i p = _mm256_maddubs_epi16(magnitude[v], _mm256_xor_si256(xv, flip[v]));
                sum[v][c] = _mm256_add_epi32(sum[v][c], qn_pairs_to_32(p));
                __asm__("" : "+x"(sum[v][c]));
            }
        }
    }
}

QN_INLINE void columns(const tile *t, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, int n_cols, float *y,
                       size_t ldy)
{
    const int8_t *q[COLUMNS];
    const float *d[COLUMNS];
    __m256 acc[COLUMNS][N_VECTORS];
    for (int c = 0; c < n_cols; c++) {
        q[c] = qn_a8_q(qn_column(x, x_bytes, (size_t)c));
        d[c] = qn_a8_d(qn_column(x, x_bytes, (size_t)c), n_k);
        acc[c][0] = acc[c][1] = _mm256_setzero_ps();
    }
    for (size_t k = 0; k < n_k; k += 32, t++) {
        __m256i sum[N_VECTORS][COLUMNS];
        dot(t, q, k, n_cols, sum);
        for (int c = 0; c < n_cols; c++) {
            __m256 xd = _mm256_broadcast_ss(d[c] + k / 32);
            for (int v = 0; v < N_VECTORS; v++) {
                __m256 scale = _mm256_mul_ps(_mm256_load_ps(t->d + 8 * v), xd);
                acc[c][v] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum[v][c]), scale, acc[c][v]);
            }
        }
    }
    for (int c = 0; c < n_cols; c++) {
        qn_store_panel_rows(y + (size_t)c * ldy, acc[c], n_rows);
    }
}

void qn_panel_x8_avx2(const void *panel, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, size_t n_cols,
                      float *y, size_t ldy)
{
    for (; n_cols >= COLUMNS; n_cols -= COLUMNS, y += COLUMNS * ldy) {
        columns(panel, n_rows, n_k, x, x_bytes, COLUMNS, y, ldy);
        x = qn_column(x, x_bytes, COLUMNS);
    }
    switch (n_cols) {
    case 3:
        columns(panel, n_rows, n_k, x, x_bytes, 3, y, ldy);
        break;
    case 2:
        columns(panel, n_rows, n_k, x, x_bytes, 2, y, ldy);
        break;
    case 1:
        columns(panel, n_rows, n_k, x, x_bytes, 1, y, ldy);
        break;
    default:
        break;
    }
}
