/* Products with A8 activations on AMX tiles.
 *
 * A panel's tile of 32 k by 16 rows, [k / 4][row][4], is what the tile unit wants as its second operand; up to 16
 * columns of activations, 32 bytes each, are the first. One instruction then gives the integer sums of a block for 16
 * rows and all columns, which AVX-512 scales and adds to the running sums. The tile unit works ahead, by two blocks,
 * because the vectors cannot read what it stores before that has reached the cache.
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

enum { COLUMNS = 16, BLOCK = 32, AHEAD = 2 /* blocks */ };

/* Tile registers, as the instructions take them: literals. The rest are columns that do not fill 16. */
#define TILE_SUM_A 0
#define TILE_SUM_B 1
#define TILE_X 2
#define TILE_W 3
#define TILE_REST_A 4
#define TILE_REST_B 5
#define TILE_REST_X 6

typedef enum tile_kind { TILE_U8, TILE_S8, TILE_H8 } tile_kind;

static void configure(size_t n_rest, tile_kind kind)
{
    int halves = kind == TILE_H8 ? 2 : 1;
    qn_tile_config c = {.palette = 1};
    n_rest = n_rest == 0 ? 1 : n_rest;
    for (int i = 0; i < 2; i++) {
        c.row_bytes[TILE_SUM_A + i] = c.row_bytes[TILE_REST_A + i] = QN_PANEL_ROWS * sizeof(int32_t);
        c.n_rows[TILE_SUM_A + i] = COLUMNS;
        c.n_rows[TILE_REST_A + i] = (uint8_t)n_rest;
    }
    c.row_bytes[TILE_X] = c.row_bytes[TILE_REST_X] = (uint16_t)(BLOCK / halves);
    c.n_rows[TILE_X] = COLUMNS;
    c.n_rows[TILE_REST_X] = (uint8_t)n_rest;
    c.row_bytes[TILE_W] = QN_PANEL_ROWS * 4;
    c.n_rows[TILE_W] = (uint8_t)(QN_PANEL_STEPS / halves);
    qn_tile_configure(&c);
}

/* 16 rows of each column: running sums, and what the tile unit leaves of a block or of its halves. */
typedef float row_sums[QN_PANEL_ROWS];
typedef int32_t products[2][COLUMNS][QN_PANEL_ROWS];

/* Columns of activations, at a block. */
typedef struct activations {
    const char *q, *d, *s;
    size_t stride;
} activations;

QN_INLINE activations activations_at(const void *x, size_t x_bytes, size_t n_k, size_t k)
{
    return (activations){
        .q = (const char *)(qn_a8_q(x) + k),
        .d = (const char *)(qn_a8_d(x, n_k) + k / BLOCK),
        .s = (const char *)(qn_a8_s(x, n_k) + k / BLOCK),
        .stride = x_bytes,
    };
}

QN_INLINE size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

QN_INLINE size_t tile_bytes(tile_kind kind)
{
    return kind == TILE_S8 ? sizeof(qn_panel_s8) : sizeof(qn_panel_u8);
}

#define MULTIPLY(sum, tile_x, dp, w, x, stride, out) \
    do {                                             \
        _tile_loadd(TILE_W, (w), QN_PANEL_ROWS * 4); \
        _tile_loadd(tile_x, (x), (stride));          \
        _tile_zero(sum);                             \
        dp(sum, tile_x, TILE_W);                     \
        _tile_stored(sum, (out), QN_PANEL_ROWS * 4); \
    } while (0)

/* Two accumulators take turns. */
#define MULTIPLY_COLUMNS(turn, is_full, dp, w, x, stride, out)         \
    do {                                                               \
        if (is_full) {                                                 \
            if ((turn) % 2 == 0) {                                     \
                MULTIPLY(TILE_SUM_A, TILE_X, dp, w, x, stride, out);   \
            } else {                                                   \
                MULTIPLY(TILE_SUM_B, TILE_X, dp, w, x, stride, out);   \
            }                                                          \
        } else if ((turn) % 2 == 0) {                                  \
            MULTIPLY(TILE_REST_A, TILE_REST_X, dp, w, x, stride, out); \
        } else {                                                       \
            MULTIPLY(TILE_REST_B, TILE_REST_X, dp, w, x, stride, out); \
        }                                                              \
    } while (0)

/* The integer sums of one block. */
QN_INLINE void multiply(const uint8_t *w, const char *x, size_t stride, int turn, bool is_full, tile_kind kind,
                        products out)
{
    if (kind == TILE_U8) {
        MULTIPLY_COLUMNS(turn, is_full, _tile_dpbsud, w, x, stride, out[0]);
    } else if (kind == TILE_S8) {
        MULTIPLY_COLUMNS(turn, is_full, _tile_dpbssd, w, x, stride, out[0]);
    } else {
        MULTIPLY_COLUMNS(0, is_full, _tile_dpbssd, w, x, stride, out[0]);
        MULTIPLY_COLUMNS(1, is_full, _tile_dpbssd, w + 32 * QN_PANEL_STEPS, x + BLOCK / 2, stride, out[1]);
    }
}

/* The next column's place. In asm so that gcc does not keep a pointer for each column, which would not fit registers.
 */
QN_INLINE void step(const char **p, size_t stride)
{
    __asm__("add %1, %0" : "+r"(*p) : "r"(stride));
}

QN_INLINE __m512 broadcast(const char *p)
{
    float v;
    memcpy(&v, p, sizeof(v));
    return _mm512_set1_ps(v);
}

/* Scales the sums of one block and adds them to acc. x_d, x_s: the first column's. */
QN_INLINE void add_block(const products p, const uint8_t *tile, const char *x_d, const char *x_s, size_t stride,
                         size_t n_cols, tile_kind kind, __m512 acc[COLUMNS])
{
    const float *scales = (const float *)(const void *)(tile + 64 * QN_PANEL_STEPS);
    __m512 d = _mm512_load_ps(scales), second = kind == TILE_S8 ? d : _mm512_load_ps(scales + QN_PANEL_ROWS);
#pragma GCC unroll 16
    for (size_t c = 0; c < n_cols; c++, step(&x_d, stride)) {
        __m512 v = _mm512_cvtepi32_ps(_mm512_load_si512(p[0][c]));
        if (kind == TILE_H8) {
            __m512 v1 = _mm512_cvtepi32_ps(_mm512_load_si512(p[1][c]));
            acc[c] = _mm512_fmadd_ps(_mm512_fmadd_ps(v, d, _mm512_mul_ps(v1, second)), broadcast(x_d), acc[c]);
        } else {
            acc[c] = _mm512_fmadd_ps(v, _mm512_mul_ps(d, broadcast(x_d)), acc[c]);
        }
        if (kind == TILE_U8) {
            acc[c] = _mm512_fmadd_ps(second, broadcast(x_s), acc[c]);
            step(&x_s, stride);
        }
    }
}

/* Adds n_blocks tiles times n_cols columns to sums, which has room for all COLUMNS. fetch: two rows
 * of it a block. */
QN_INLINE void columns(const uint8_t *tile, size_t n_blocks, activations x, size_t n_cols, bool is_full, tile_kind kind,
                       row_sums *sums, const qn_fetch *fetch)
{
    _Alignas(64) products p[2 * AHEAD];
    __m512 acc[COLUMNS];
#pragma GCC unroll 16
    for (size_t c = 0; c < COLUMNS; c++) {
        acc[c] = _mm512_load_ps(sums[c]);
    }
    const uint8_t *ahead = tile;
    for (size_t b = 0; b < n_blocks + AHEAD; b += AHEAD) {
#pragma GCC unroll 2
        for (size_t i = 0; i < AHEAD; i++) {
            if (b + i < n_blocks) {
                qn_fetch_some(fetch, 2 * (b + i), 2);
                multiply(ahead, x.q, x.stride, (int)i, is_full, kind, p[(b + i) % (2 * AHEAD)]);
                ahead += tile_bytes(kind);
                x.q += BLOCK;
            }
        }
#pragma GCC unroll 2
        for (size_t i = 0; i < AHEAD; i++) {
            if (b + i >= AHEAD && b + i < n_blocks + AHEAD) {
                add_block(p[(b + i - AHEAD) % (2 * AHEAD)], tile, x.d, x.s, x.stride, n_cols, kind, acc);
                tile += tile_bytes(kind);
                x.d += sizeof(float);
                x.s += sizeof(float);
            }
        }
    }
#pragma GCC unroll 16
    for (size_t c = 0; c < n_cols; c++) {
        _mm512_store_ps(sums[c], acc[c]);
    }
}

QN_INLINE void all_columns(const uint8_t *tiles, size_t n_blocks, activations x, size_t n_cols, tile_kind kind,
                           row_sums *sums, const qn_fetch *fetch)
{
    const qn_fetch nothing = {.n_rows = 0};
    for (; n_cols >= COLUMNS; n_cols -= COLUMNS, sums += COLUMNS) {
        columns(tiles, n_blocks, x, COLUMNS, true, kind, sums, fetch);
        fetch = &nothing;
        x.q += COLUMNS * x.stride;
        x.d += COLUMNS * x.stride;
        x.s += COLUMNS * x.stride;
    }
    if (n_cols == COLUMNS / 2) {
        columns(tiles, n_blocks, x, COLUMNS / 2, false, kind, sums, fetch);
    } else if (n_cols != 0) {
        columns(tiles, n_blocks, x, n_cols, false, kind, sums, fetch);
    }
}

QN_INLINE void store_sums(row_sums *sums, size_t n_rows, size_t n_cols, float *y, size_t ldy)
{
    for (size_t c = 0; c < n_cols; c++) {
        _mm512_mask_storeu_ps(y + c * ldy, (__mmask16)((1u << n_rows) - 1), _mm512_load_ps(sums[c]));
    }
}

QN_INLINE void panel_of(const void *panel, size_t n_rows, size_t n_k, const char *x, size_t x_bytes, size_t n_cols,
                        tile_kind kind, float *y, size_t ldy)
{
    configure(n_cols % COLUMNS, kind);
    for (size_t c = 0; c < n_cols; c += COLUMNS) {
        _Alignas(64) row_sums sums[COLUMNS];
        const qn_fetch nothing = {.n_rows = 0};
        size_t n = least(n_cols - c, COLUMNS);
        memset(sums, 0, sizeof(sums));
        all_columns(panel, n_k / BLOCK, activations_at(x + c * x_bytes, x_bytes, n_k, 0), n, kind, sums, &nothing);
        store_sums(sums, n_rows, n, y + c * ldy, ldy);
    }
    _tile_release(); /* else every switch of threads saves 8 KiB */
}

QN_INLINE void several_of(const qn_slices *w, size_t n_rows, size_t n_k, const char *x, size_t x_bytes, size_t n_cols,
                          tile_kind kind, float *y, size_t ldy)
{
    configure(n_cols % COLUMNS, kind);
    for (size_t r = 0; r < n_rows; r += QN_PANEL_ROWS) {
        _Alignas(64) uint8_t tiles[QN_SLICE / BLOCK * sizeof(qn_panel_u8)];
        _Alignas(64) row_sums sums[QN_SEVERAL_MAX];
        size_t n = least(n_rows - r, QN_PANEL_ROWS);
        memset(sums, 0, (n_cols + COLUMNS - 1) / COLUMNS * COLUMNS * sizeof(row_sums));
        for (size_t k = 0; k < n_k; k += QN_SLICE) {
            size_t n_here = least(n_k - k, QN_SLICE);
            qn_fetch fetch = qn_fetch_behind(w, r, k, n_rows, n_k);
            w->pack(qn_slice(w, r, k), w->row_bytes, n, n_here, tiles);
            all_columns(tiles, n_here / BLOCK, activations_at(x, x_bytes, n_k, k), n_cols, kind, sums, &fetch);
            qn_fetch_some(&fetch, 2 * (n_here / BLOCK), QN_PANEL_ROWS);
        }
        store_sums(sums, n, n_cols, y + r, ldy);
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
        qn_panel_hf *out = (qn_panel_hf *)(void *)&t[b];
        __m512i sc = _mm512_load_si512(t[b].sc); /* two int16 a row */
        __m512 d = _mm512_load_ps(t[b].d), first = _mm512_cvtepi32_ps(_mm512_srai_epi32(_mm512_slli_epi32(sc, 16), 16));
        _mm512_store_ps(out->d[0], _mm512_mul_ps(d, first));
        _mm512_store_ps(out->d[1], _mm512_mul_ps(d, _mm512_cvtepi32_ps(_mm512_srai_epi32(sc, 16))));
    }
}

#define DEFINE(name, kind)                                                                                     \
    void qn_panel_##name##_amx(const void *panel, size_t n_rows, size_t n_k, const void *x, size_t x_bytes,    \
                               size_t n_cols, float *y, size_t ldy)                                            \
    {                                                                                                          \
        panel_of(panel, n_rows, n_k, x, x_bytes, n_cols, kind, y, ldy);                                        \
    }                                                                                                          \
    void qn_several_##name##_amx(const qn_slices *w, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, \
                                 size_t n_cols, float *y, size_t ldy)                                          \
    {                                                                                                          \
        several_of(w, n_rows, n_k, x, x_bytes, n_cols, kind, y, ldy);                                          \
    }

DEFINE(u8, TILE_U8)
DEFINE(s8, TILE_S8)
DEFINE(h8, TILE_H8)
