/* The most that the tile unit can multiply and add: four tiles of sums, operands that stay in tiles.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/amx/amx_int.h"
#include "backend/cpu/peak_int.h"

#include <immintrin.h>

enum { TILE = 16, TILE_BYTES_OF_ROW = 64, ROUNDS = QN_PEAK_ROUNDS / 8 };

static void open_tiles(void)
{
    qn_tile_config c = {.palette = 1};
    for (int i = 0; i < 8; i++) {
        c.row_bytes[i] = TILE_BYTES_OF_ROW;
        c.n_rows[i] = TILE;
    }
    qn_tile_configure(&c);
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    _tile_zero(4);
    _tile_zero(5);
}

uint64_t qn_peak_i8_amx(void)
{
    open_tiles();
    for (int i = 0; i < ROUNDS; i++) {
        _tile_dpbssd(0, 4, 5);
        _tile_dpbssd(1, 4, 5);
        _tile_dpbssd(2, 4, 5);
        _tile_dpbssd(3, 4, 5);
    }
    _tile_release();
    return (uint64_t)ROUNDS * 4 * TILE * TILE * 64;
}

uint64_t qn_peak_bf16_amx(void)
{
    open_tiles();
    for (int i = 0; i < ROUNDS; i++) {
        _tile_dpbf16ps(0, 4, 5);
        _tile_dpbf16ps(1, 4, 5);
        _tile_dpbf16ps(2, 4, 5);
        _tile_dpbf16ps(3, 4, 5);
    }
    _tile_release();
    return (uint64_t)ROUNDS * 4 * TILE * TILE * 32;
}
