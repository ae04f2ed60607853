/* Packed panels times columns of A8 activations on AMX tiles.
 *
 * A panel's tile of 32 k by 16 rows, [k / 4][row][4], is what the tile unit wants as its second operand; 16 columns of
 * activations, 32 bytes each, are the first. One instruction then gives the 16 x 16 integer sums of a block, which
 * AVX-512 scales and adds to the running sums, 16 registers of 16 rows. Two result tiles take turns, so that the tile
 * unit works on a block while the vectors finish the one before.
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

typedef struct tile_config { /* as the processor reads it */
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t n_rows[16];
} tile_config;

static void configure(size_t n_cols)
{
    tile_config c = {.palette = 1};
    c.row_bytes[TILE_SUM_A] = c.row_bytes[TILE_SUM_B] = QN_PANEL_ROWS * sizeof(int32_t);
    c.n_rows[TILE_SUM_A] = c.n_rows[TILE_SUM_B] = (uint8_t)n_cols;
    c.row_bytes[TILE_X] = BLOCK;
    c.n_rows[TILE_X] = (uint8_t)n_cols;
    c.row_bytes[TILE_W] = QN_PANEL_ROWS * 4;
    c.n_rows[TILE_W] = QN_PANEL_STEPS;
    /* In asm because gcc 12's intrinsic declares only a part of the structure as read. */
    __asm__ volatile("ldtilecfg %0" : : "m"(c));
}

typedef int32_t sums[COLUMNS][QN_PANEL_ROWS];

/* The integer sums of one block of all columns. */
#define MULTIPLY(tile_sum, dp, w, x, x_bytes, out)              \
    do {                                                        \
        _tile_loadd(TILE_W, (w), QN_PANEL_ROWS * 4);            \
        _tile_loadd(TILE_X, (x), (x_bytes));                    \
        _tile_zero(tile_sum);                                   \
        dp(tile_sum, TILE_X, TILE_W);                           \
        _tile_stored(tile_sum, (out), QN_PANEL_ROWS * 4);       \
    } while (0)

/* acc += sum * (d * x.d) [+ m * x.s] for block i of every column. x: the columns' first row of activations. */
QN_INLINE void add_block(const sums *sum, const float *scales, bool has_minima, const char *x, size_t x_bytes,
                         size_t at_d, size_t at_s, int n_cols, __m512 acc[COLUMNS])
{
    __m512 d = _mm512_load_ps(scales), m = has_minima ? _mm512_load_ps(scales + QN_PANEL_ROWS) : d;
#pragma GCC unroll 16
    for (int c = 0; c < n_cols; c++) {
        const char *row = x + (size_t)c * x_bytes;
        __m512 v = _mm512_cvtepi32_ps(_mm512_load_si512((*sum)[c]));
        acc[c] = _mm512_fmadd_ps(v, _mm512_mul_ps(d, _mm512_set1_ps(*(const float *)(const void *)(row + at_d))), acc[c]);
        if (has_minima) {
            acc[c] = _mm512_fmadd_ps(m, _mm512_set1_ps(*(const float *)(const void *)(row + at_s)), acc[c]);
        }
    }
}

#define DEFINE_COLUMNS(name, tile_type, has_minima, dp)                                                              \
    QN_INLINE void name(const void *panel, size_t n_rows, size_t n_k, const char *x, size_t x_bytes, int n_cols,     \
                        float *y, size_t ldy)                                                                        \
    {                                                                                                                \
        const tile_type *t = panel;                                                                                  \
        size_t n_blocks = n_k / BLOCK, at_d = qn_a8_padded(n_k), at_s = at_d + qn_a8_padded(n_k) / 8;                \
        _Alignas(64) sums sum[2];                                                                                    \
        __m512 acc[COLUMNS];                                                                                         \
        for (int c = 0; c < n_cols; c++) {                                                                           \
            acc[c] = _mm512_setzero_ps();                                                                            \
        }                                                                                                            \
        MULTIPLY(TILE_SUM_A, dp, t[0].q, x, x_bytes, sum[0]);                                                        \
        for (size_t b = 0; b < n_blocks; b++) {                                                                      \
            if (b + 1 < n_blocks && b % 2 == 0) {                                                                    \
                MULTIPLY(TILE_SUM_B, dp, t[b + 1].q, x + (b + 1) * BLOCK, x_bytes, sum[1]);                          \
            } else if (b + 1 < n_blocks) {                                                                           \
                MULTIPLY(TILE_SUM_A, dp, t[b + 1].q, x + (b + 1) * BLOCK, x_bytes, sum[0]);                          \
            }                                                                                                        \
            add_block(&sum[b % 2], t[b].d, has_minima, x, x_bytes, at_d + b * sizeof(float),                         \
                      at_s + b * sizeof(float), n_cols, acc);                                                        \
        }                                                                                                            \
        for (int c = 0; c < n_cols; c++) {                                                                           \
            _mm512_mask_storeu_ps(y + (size_t)c * ldy, (__mmask16)((1u << n_rows) - 1), acc[c]);                     \
        }                                                                                                            \
    }

DEFINE_COLUMNS(columns_u8, qn_panel_u8, true, _tile_dpbsud)
DEFINE_COLUMNS(columns_s8, qn_panel_s8, false, _tile_dpbssd)

/* Columns that do not fill a tile go to `rest`, which gives the same bits. */
#define DEFINE_PANEL(name, columns, rest)                                                                          \
    void name(const void *panel, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, size_t n_cols, float *y, \
              size_t ldy)                                                                                          \
    {                                                                                                              \
        const char *xc = x;                                                                                        \
        if (n_cols >= COLUMNS) {                                                                                   \
            configure(COLUMNS);                                                                                    \
            for (; n_cols >= COLUMNS; n_cols -= COLUMNS, y += COLUMNS * ldy, xc += COLUMNS * x_bytes) {            \
                columns(panel, n_rows, n_k, xc, x_bytes, COLUMNS, y, ldy);                                         \
            }                                                                                                      \
            _tile_release(); /* else every switch of threads saves 8 KiB */                                        \
        }                                                                                                          \
        if (n_cols != 0) {                                                                                         \
            rest(panel, n_rows, n_k, xc, x_bytes, n_cols, y, ldy);                                                 \
        }                                                                                                          \
    }

DEFINE_PANEL(qn_panel_u8_amx, columns_u8, qn_panel_u8_avx512vnni)
DEFINE_PANEL(qn_panel_s8_amx, columns_s8, qn_panel_s8_avx512vnni)
