/* Products of a great many columns: weights unpacked to bf16 once, activations in bf16, sums in the tiles' floats.
 *
 * 32 columns by 32 weight rows are four tiles of sums; a step of 32 k loads two tiles of either side and multiplies
 * four times. Nothing is scaled afterwards: scales are in the weights. The first operand's rows are columns of
 * activations, so results land where they belong.
 *
 * Every sum is taken in the same order however rows and columns are cut: k by k within a block of QN_WIDE_K, then block
 * by block.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/amx/amx_int.h"
#include "backend/cpu/amx/wide_int.h"

#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

#define QN_INLINE static inline __attribute__((always_inline))

enum { TILE = 16, STEP = 32, ROW_BYTES = 64, TILE_BYTES = TILE * ROW_BYTES };
/* Tile registers, as the instructions take them: literals. SUM_<columns><rows>. */
#define SUM_00 0
#define SUM_01 1
#define SUM_10 2
#define SUM_11 3
#define X_0 4
#define X_1 5
#define W_0 6
#define W_1 7

/* For n_cols columns, 1 to 32: the first 16 and the others. */
static void configure(size_t n_cols)
{
    uint8_t n_0 = (uint8_t)(n_cols < TILE ? n_cols : TILE), n_1 = (uint8_t)(n_cols > TILE ? n_cols - TILE : 1);
    const uint8_t rows[8] = {n_0, n_0, n_1, n_1, n_0, n_1, TILE, TILE};
    qn_tile_config c = {.palette = 1};
    for (int i = 0; i < 8; i++) {
        c.row_bytes[i] = ROW_BYTES;
        c.n_rows[i] = rows[i];
    }
    qn_tile_configure(&c);
}

/* Up to 32 columns against the panels of one block of k. */
typedef struct work {
    const char *x, *x_high; /* the first 16 columns, and the others */
    size_t n_steps, n_cols;
    const char *next; /* where the columns after these begin, to be fetched in the meantime */
    size_t group_bytes;
    float *y;
    size_t ldy;
    bool add; /* to what y holds */
} work;

enum { FETCH_BYTES = 512 }; /* each step: half a tile, so that four pairs of panels fetch both groups of columns */

/* Against one or two panels. two_x: more than 16 columns. */
QN_INLINE void multiply(const work *t, const qn_wide_tile *w0, const qn_wide_tile *w1, bool two_x, bool two_w)
{
    size_t stride = t->ldy * sizeof(float);
    float *y = t->y, *y_high = y + TILE * t->ldy;
    const char *x = t->x, *x_high = t->x_high, *next = t->next;
    if (t->add) {
        _tile_loadd(SUM_00, y, stride);
        if (two_w) {
            _tile_loadd(SUM_01, y + TILE, stride);
        }
        if (two_x) {
            _tile_loadd(SUM_10, y_high, stride);
        }
        if (two_x && two_w) {
            _tile_loadd(SUM_11, y_high + TILE, stride);
        }
    } else {
        _tile_zero(SUM_00);
        _tile_zero(SUM_01);
        _tile_zero(SUM_10);
        _tile_zero(SUM_11);
    }
    for (size_t i = 0; i < t->n_steps; i++, x += TILE_BYTES, x_high += TILE_BYTES, next += FETCH_BYTES) {
        for (size_t at = 0; at < FETCH_BYTES; at += 64) {
            _mm_prefetch(next + at, _MM_HINT_T1);
        }
        _tile_loadd(X_0, x, ROW_BYTES);
        _tile_loadd(W_0, w0[i].w, ROW_BYTES);
        _tile_dpbf16ps(SUM_00, X_0, W_0);
        if (two_w) {
            _tile_loadd(W_1, w1[i].w, ROW_BYTES);
            _tile_dpbf16ps(SUM_01, X_0, W_1);
        }
        if (two_x) {
            _tile_loadd(X_1, x_high, ROW_BYTES);
            _tile_dpbf16ps(SUM_10, X_1, W_0);
        }
        if (two_x && two_w) {
            _tile_dpbf16ps(SUM_11, X_1, W_1);
        }
    }
    _tile_stored(SUM_00, y, stride);
    if (two_w) {
        _tile_stored(SUM_01, y + TILE, stride);
    }
    if (two_x) {
        _tile_stored(SUM_10, y_high, stride);
    }
    if (two_x && two_w) {
        _tile_stored(SUM_11, y_high + TILE, stride);
    }
}

static void multiply_two(const work *t, const qn_wide_tile *w)
{
    if (t->n_cols > TILE) {
        multiply(t, w, w + t->n_steps, true, true);
    } else {
        multiply(t, w, w + t->n_steps, false, true);
    }
}

static void multiply_one(const work *t, const qn_wide_tile *w)
{
    if (t->n_cols > TILE) {
        multiply(t, w, w, true, false);
    } else {
        multiply(t, w, w, false, false);
    }
}

/* A panel of fewer rows: through memory of full width. */
static void multiply_rest(const work *t, const qn_wide_tile *w, size_t n_rows)
{
    _Alignas(64) float part[2 * TILE * TILE] = {0};
    for (size_t c = 0; c < t->n_cols && t->add; c++) {
        memcpy(part + c * TILE, t->y + c * t->ldy, n_rows * sizeof(float));
    }
    work through = *t;
    through.y = part;
    through.ldy = TILE;
    multiply_one(&through, w);
    for (size_t c = 0; c < t->n_cols; c++) {
        memcpy(t->y + c * t->ldy, part + c * TILE, n_rows * sizeof(float));
    }
}

/* All panels of one block of k; the tiles are set for t's columns. */
static void multiply_panels(work t, const qn_wide_tile *w, size_t n_rows)
{
    const char *groups = t.next;
    size_t r = 0;
    for (; r + 2 * TILE <= n_rows; r += 2 * TILE, w += 2 * t.n_steps) {
        size_t i_pair = r / (2 * TILE);
        t.next = groups + i_pair / 2 % 2 * t.group_bytes + i_pair % 2 * (FETCH_BYTES * t.n_steps);
        multiply_two(&t, w);
        t.y += 2 * TILE;
    }
    for (; r + TILE <= n_rows; r += TILE, w += t.n_steps) {
        multiply_one(&t, w);
        t.y += TILE;
    }
    if (r < n_rows) {
        multiply_rest(&t, w, n_rows - r);
    }
}

/* Scratch: QN_WIDE_ROWS rows of a block as bf16, then a panel of it as integers. */
enum { WEIGHT_BYTES = QN_WIDE_ROWS * QN_WIDE_K * 2, PANEL_BYTES = QN_WIDE_K / 32 * sizeof(qn_panel_m8) };
_Static_assert(sizeof(qn_panel_u8) <= sizeof(qn_panel_m8) && sizeof(qn_panel_s8) <= sizeof(qn_panel_m8) &&
                   sizeof(qn_panel_h8) <= sizeof(qn_panel_m8) && sizeof(qn_panel_f8) <= sizeof(qn_panel_m8),
               "room for a panel of any kind");

size_t qn_wide_scratch(void)
{
    return WEIGHT_BYTES + PANEL_BYTES;
}

/* Rows of w, n elements each, as bf16. */
static void unpack(const qn_wide_source *source, const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n,
                   void *scratch)
{
    qn_wide_tile *tiles = scratch;
    void *panel = (char *)scratch + WEIGHT_BYTES;
    for (size_t r = 0; r < n_rows; r += QN_PANEL_ROWS, tiles += n / STEP) {
        size_t n_panel = n_rows - r < QN_PANEL_ROWS ? n_rows - r : QN_PANEL_ROWS;
        source->pack(w + r * row_bytes, row_bytes, n_panel, n, panel);
        source->expand(panel, n / STEP, tiles);
    }
}

void qn_wide_product(const qn_wide_source *source, const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k,
                     const void *x, size_t n_cols, float *y, size_t ldy, void *scratch)
{
    const qn_type_info *info = qn_type_find(source->type);
    size_t group_bytes = n_k / STEP * TILE_BYTES; /* of 16 columns */
    for (size_t k = 0; k < n_k; k += QN_WIDE_K) {
        size_t n = n_k - k < QN_WIDE_K ? n_k - k : QN_WIDE_K;
        unpack(source, w + k / info->block_len * info->block_bytes, row_bytes, n_rows, n, scratch);
        configure(2 * TILE);
        for (size_t c = 0; c < n_cols; c += 2 * TILE) {
            const char *xc = (const char *)x + c / TILE * group_bytes + k / STEP * TILE_BYTES;
            size_t left = n_cols - c;
            work t = {.x = xc,
                      .x_high = xc + group_bytes,
                      .next = left > 2 * TILE ? xc + 2 * group_bytes : xc,
                      .group_bytes = group_bytes,
                      .n_steps = n / STEP,
                      .n_cols = left < 2 * TILE ? left : 2 * TILE,
                      .y = y + c * ldy,
                      .ldy = ldy,
                      .add = k > 0};
            if (left < 2 * TILE) {
                configure(left);
            }
            multiply_panels(t, scratch, n_rows);
        }
        _tile_release(); /* else every switch of threads saves 8 KiB */
    }
}

void qn_wide_store_amx(const float *x, size_t n, void *out, size_t i_row)
{
    char *at = (char *)out + i_row / TILE * (n / STEP * TILE_BYTES) + i_row % TILE * ROW_BYTES;
    for (size_t k = 0; k < n; k += STEP, at += TILE_BYTES) {
        __m512bh v = _mm512_cvtne2ps_pbh(_mm512_loadu_ps(x + k + 16), _mm512_loadu_ps(x + k));
        _mm512_storeu_si512(at, (__m512i)v);
    }
}
