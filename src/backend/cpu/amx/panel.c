/* Packed panels times columns of A8 activations on AMX tiles.
 *
 * A panel's tile of 32 k by 16 rows, [k / 4][row][4], is what the tile unit wants as its second operand; 16 columns of
 * activations, 32 bytes each, are the first. One instruction then gives the 16 x 16 integer sums of a block, which
 * AVX-512 scales and adds to the running sums, 16 registers of 16 rows. The tile unit works ahead, by two blocks or
 * one, because the vectors cannot read what it stores before that has reached the cache.
 *
 * Blocks whose halves have scales of their own (h8) are multiplied half by half. Their packer makes the quants signed,
 * which the tile unit takes as they are.
 *
 * The sums are those of the AVX-512 kernels to the bit: integers are exact, and floats are added in the same order.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/amx/amx_int.h"

#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

#define QN_INLINE static inline __attribute__((always_inline))

enum { COLUMNS = 16, BLOCK = 32 };
/* Tile registers, as the instructions take them: literals. */
#define TILE_SUM_A 0
#define TILE_SUM_B 1
#define TILE_X 2
#define TILE_W 3
#define TILE_X_HALF 4
#define TILE_W_HALF 5

static void configure(size_t n_cols)
{
    qn_tile_config c = {.palette = 1};
    c.row_bytes[TILE_SUM_A] = c.row_bytes[TILE_SUM_B] = QN_PANEL_ROWS * sizeof(int32_t);
    c.n_rows[TILE_SUM_A] = c.n_rows[TILE_SUM_B] = (uint8_t)n_cols;
    c.row_bytes[TILE_X] = BLOCK;
    c.n_rows[TILE_X] = (uint8_t)n_cols;
    c.row_bytes[TILE_W] = QN_PANEL_ROWS * 4;
    c.n_rows[TILE_W] = QN_PANEL_STEPS;
    c.row_bytes[TILE_X_HALF] = BLOCK / 2;
    c.n_rows[TILE_X_HALF] = (uint8_t)n_cols;
    c.row_bytes[TILE_W_HALF] = QN_PANEL_ROWS * 4;
    c.n_rows[TILE_W_HALF] = QN_PANEL_STEPS / 2;
    qn_tile_configure(&c);
}

typedef int32_t sums[COLUMNS][QN_PANEL_ROWS];

/* The integer sums of one block, or one half, of all columns. */
#define MULTIPLY(tile_sum, tile_x, tile_w, dp, w, x, x_bytes, out) \
    do {                                                           \
        _tile_loadd(tile_w, (w), QN_PANEL_ROWS * 4);               \
        _tile_loadd(tile_x, (x), (x_bytes));                       \
        _tile_zero(tile_sum);                                      \
        dp(tile_sum, tile_x, tile_w);                              \
        _tile_stored(tile_sum, (out), QN_PANEL_ROWS * 4);          \
    } while (0)

/* The next column's place. In asm so that gcc does not keep a pointer for each column, which would not fit registers.
 */
QN_INLINE void step(const char **p, size_t x_bytes)
{
    __asm__("add %1, %0" : "+r"(*p) : "r"(x_bytes));
}

QN_INLINE __m512 broadcast(const char *p)
{
    return _mm512_set1_ps(*(const float *)(const void *)p);
}

/* acc += sum * (d * x.d) [+ m * x.s] for one block of every column. x_d, x_s: the first column's. */
QN_INLINE void add_block(const sums *sum, const float *scales, bool has_minima, const char *x_d, const char *x_s,
                         size_t x_bytes, __m512 acc[COLUMNS])
{
    __m512 d = _mm512_load_ps(scales), m = has_minima ? _mm512_load_ps(scales + QN_PANEL_ROWS) : d;
#pragma GCC unroll 16
    for (int c = 0; c < COLUMNS; c++, step(&x_d, x_bytes)) {
        __m512 v = _mm512_cvtepi32_ps(_mm512_load_si512((*sum)[c]));
        acc[c] = _mm512_fmadd_ps(v, _mm512_mul_ps(d, broadcast(x_d)), acc[c]);
        if (has_minima) {
            acc[c] = _mm512_fmadd_ps(m, broadcast(x_s), acc[c]);
            step(&x_s, x_bytes);
        }
    }
}

#define DEFINE_COLUMNS(name, tile_type, has_minima, dp)                                                               \
    QN_INLINE void name(const void *panel, size_t n_rows, size_t n_k, const char *x, size_t x_bytes, float *y,        \
                        size_t ldy)                                                                                   \
    {                                                                                                                 \
        const tile_type *t = panel;                                                                                   \
        size_t n_blocks = n_k / BLOCK;                                                                                \
        const char *x_d = (const char *)qn_a8_d(x, n_k), *x_s = (const char *)qn_a8_s(x, n_k);                        \
        _Alignas(64) sums sum[4];                                                                                     \
        __m512 acc[COLUMNS];                                                                                          \
        for (int c = 0; c < COLUMNS; c++) {                                                                           \
            acc[c] = _mm512_setzero_ps();                                                                             \
        }                                                                                                             \
        MULTIPLY(TILE_SUM_A, TILE_X, TILE_W, dp, t[0].q, x, x_bytes, sum[0]);                                         \
        if (n_blocks > 1) {                                                                                           \
            MULTIPLY(TILE_SUM_B, TILE_X, TILE_W, dp, t[1].q, x + BLOCK, x_bytes, sum[1]);                             \
        }                                                                                                             \
        for (size_t b = 0; b < n_blocks; b += 2, x_d += 2 * sizeof(float), x_s += 2 * sizeof(float)) {                \
            size_t next = b + 2;                                                                                      \
            if (next < n_blocks) {                                                                                    \
                MULTIPLY(TILE_SUM_A, TILE_X, TILE_W, dp, t[next].q, x + next * BLOCK, x_bytes, sum[next % 4]);        \
            }                                                                                                         \
            if (next + 1 < n_blocks) {                                                                                \
                MULTIPLY(TILE_SUM_B, TILE_X, TILE_W, dp, t[next + 1].q, x + (next + 1) * BLOCK, x_bytes,              \
                         sum[next % 4 + 1]);                                                                          \
            }                                                                                                         \
            add_block(&sum[b % 4], t[b].d, has_minima, x_d, x_s, x_bytes, acc);                                       \
            if (b + 1 < n_blocks) {                                                                                   \
                add_block(&sum[b % 4 + 1], t[b + 1].d, has_minima, x_d + sizeof(float), x_s + sizeof(float), x_bytes, \
                          acc);                                                                                       \
            }                                                                                                         \
        }                                                                                                             \
        for (int c = 0; c < COLUMNS; c++) {                                                                           \
            _mm512_mask_storeu_ps(y + (size_t)c * ldy, (__mmask16)((1u << n_rows) - 1), acc[c]);                      \
        }                                                                                                             \
    }

DEFINE_COLUMNS(columns_u8, qn_panel_u8, true, _tile_dpbsud)
DEFINE_COLUMNS(columns_s8, qn_panel_s8, false, _tile_dpbssd)

/* acc += (sum0 * d0 + sum1 * d1) * x.d for one block of n_cols columns, d0 and d1 being the scales of its halves. */
QN_INLINE void add_halves(const sums sum[2], const qn_panel_h8 *t, const char *x_d, size_t x_bytes, int n_cols,
                          __m512 acc[COLUMNS])
{
    __m512i sc = _mm512_load_si512(t->sc); /* two int16 a row */
    __m512 d = _mm512_load_ps(t->d);
    __m512 d1 = _mm512_mul_ps(d, _mm512_cvtepi32_ps(_mm512_srai_epi32(sc, 16)));
    __m512 d0 = _mm512_mul_ps(d, _mm512_cvtepi32_ps(_mm512_srai_epi32(_mm512_slli_epi32(sc, 16), 16)));
#pragma GCC unroll 16
    for (int c = 0; c < n_cols; c++, step(&x_d, x_bytes)) {
        __m512 s0 = _mm512_cvtepi32_ps(_mm512_load_si512(sum[0][c]));
        __m512 s1 = _mm512_cvtepi32_ps(_mm512_load_si512(sum[1][c]));
        __m512 both = _mm512_fmadd_ps(s0, d0, _mm512_mul_ps(s1, d1));
        acc[c] = _mm512_fmadd_ps(both, broadcast(x_d), acc[c]);
    }
}

QN_INLINE void multiply_halves(const qn_panel_h8 *t, const char *x, size_t x_bytes, sums sum[2])
{
    MULTIPLY(TILE_SUM_A, TILE_X_HALF, TILE_W_HALF, _tile_dpbssd, t->q, x, x_bytes, sum[0]);
    MULTIPLY(TILE_SUM_B, TILE_X_HALF, TILE_W_HALF, _tile_dpbssd, t->q[QN_PANEL_STEPS / 2], x + BLOCK / 2, x_bytes,
             sum[1]);
}

QN_INLINE void columns_h8(const void *panel, size_t n_rows, size_t n_k, const char *x, size_t x_bytes, int n_cols,
                          float *y, size_t ldy)
{
    const qn_panel_h8 *t = panel;
    const char *x_d = (const char *)qn_a8_d(x, n_k);
    size_t n_blocks = n_k / BLOCK;
    _Alignas(64) sums sum[2][2];
    __m512 acc[COLUMNS];
    for (int c = 0; c < n_cols; c++) {
        acc[c] = _mm512_setzero_ps();
    }
    multiply_halves(&t[0], x, x_bytes, sum[0]);
    for (size_t b = 0; b < n_blocks; b++, x_d += sizeof(float)) {
        if (b + 1 < n_blocks) {
            multiply_halves(&t[b + 1], x + (b + 1) * BLOCK, x_bytes, sum[(b + 1) % 2]);
        }
        add_halves(sum[b % 2], &t[b], x_d, x_bytes, n_cols, acc);
    }
    for (int c = 0; c < n_cols; c++) {
        _mm512_mask_storeu_ps(y + (size_t)c * ldy, (__mmask16)((1u << n_rows) - 1), acc[c]);
    }
}

void qn_panel_h8_amx(const void *panel, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, size_t n_cols,
                     float *y, size_t ldy)
{
    const char *xc = x;
    configure(COLUMNS);
    for (; n_cols >= COLUMNS; n_cols -= COLUMNS, y += COLUMNS * ldy, xc += COLUMNS * x_bytes) {
        columns_h8(panel, n_rows, n_k, xc, x_bytes, COLUMNS, y, ldy);
    }
    if (n_cols != 0) {
        configure(n_cols);
        columns_h8(panel, n_rows, n_k, xc, x_bytes, (int)n_cols, y, ldy);
    }
    _tile_release();
}

void qn_make_panel_signed(void *panel, size_t n_k, int offset)
{
    qn_panel_h8 *t = panel;
    for (size_t b = 0; b < n_k / BLOCK; b++) {
        for (int i = 0; i < QN_PANEL_STEPS; i++) {
            __m512i q = _mm512_load_si512(t[b].q[i]);
            _mm512_store_si512(t[b].q[i], _mm512_sub_epi8(q, _mm512_set1_epi8((char)offset)));
        }
    }
}

/* Columns that do not fill a tile go to `rest`, which gives the same bits. */
#define DEFINE_PANEL(name, columns, rest)                                                                           \
    void name(const void *panel, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, size_t n_cols, float *y, \
              size_t ldy)                                                                                           \
    {                                                                                                               \
        const char *xc = x;                                                                                         \
        if (n_cols >= COLUMNS) {                                                                                    \
            configure(COLUMNS);                                                                                     \
            for (; n_cols >= COLUMNS; n_cols -= COLUMNS, y += COLUMNS * ldy, xc += COLUMNS * x_bytes) {             \
                columns(panel, n_rows, n_k, xc, x_bytes, y, ldy);                                                   \
            }                                                                                                       \
            _tile_release(); /* else every switch of threads saves 8 KiB */                                         \
        }                                                                                                           \
        if (n_cols != 0) {                                                                                          \
            rest(panel, n_rows, n_k, xc, x_bytes, n_cols, y, ldy);                                                  \
        }                                                                                                           \
    }

DEFINE_PANEL(qn_panel_u8_amx, columns_u8, qn_panel_u8_avx512vnni)
DEFINE_PANEL(qn_panel_s8_amx, columns_s8, qn_panel_s8_avx512vnni)
