/* The NEON matrix product kernels by name, and the packer that both of ARM's kernel sets use; private to
 * backend/cpu/neon and neon_i8mm.
 *
 * Panels are tiles as mm_int.h has them, with two differences: all quants are signed and centred, so the tile of half
 * blocks needs no sums of the activations; and where smmla multiplies, eight neighbouring k of a row stay together
 * instead of four.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_NEON_MM_NEON_INT_H
#define QN_BACKEND_CPU_NEON_MM_NEON_INT_H

#include "backend/cpu/mm_int.h"
#include "backend/cpu/neon/unpack_int.h"

/* Columns of `few`. Not measured: those of AVX2. */
enum { QN_A8_FEW_MAX = 5, QN_F32_FEW_MAX = 8 };

#define QN_MM_DECLARE(T) extern const qn_mm qn_mm_##T##_neon;
QN_MM_PLAIN_TYPES(QN_MM_DECLARE)
#undef QN_MM_DECLARE
#define QN_MM_DECLARE(T, bytes, quants) extern const qn_mm qn_mm_##T##_neon;
QN_NEON_A8_FORMATS(QN_MM_DECLARE)
#undef QN_MM_DECLARE

/* qn_mm.panel for each kind of tile. */
typedef void qn_panel_fn(const void *panel, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, size_t n_cols,
                         float *y, size_t ldy);
qn_panel_fn qn_panel_scaled_neon, qn_panel_shifted_neon, qn_panel_halves_neon, qn_panel_f32_neon;

/* As qn_kernels.quantize_a8: the same bits as ref. */
void qn_quantize_a8_neon(const float *x, size_t n, void *out);

/* As qn_kernels.peak. */
uint64_t qn_peak_i8_neon(void), qn_peak_f32_neon(void);

enum { QN_PEAK_ROUNDS = 8000 };

/* Makes the compiler forget what it knows of a vector. */
#define QN_PEAK_HIDE_NEON(v) __asm__ volatile("" : "+w"(v))

QN_INLINE size_t qn_tile_bytes(qn_quants quants)
{
    return quants == QN_SCALED ? sizeof(qn_panel_s8) : quants == QN_HALVES ? sizeof(qn_panel_h8) : sizeof(qn_panel_u8);
}

QN_INLINE size_t qn_tile_at_d(qn_quants quants)
{
    return quants == QN_HALVES ? offsetof(qn_panel_h8, d) : offsetof(qn_panel_u8, d);
}

/* Four blocks of row r into as many tiles; `together` (4 or 8) neighbouring k of a row lie side by side. */
QN_INLINE void qn_pack_quad(const qn_quad *g, qn_quants quants, size_t together, size_t r, size_t n_blocks,
                            uint8_t *tiles)
{
    float d[4], m[4];
    int16_t sc[8];
    vst1q_f32(d, g->d);
    if (quants == QN_SHIFTED) {
        vst1q_f32(m, g->m);
    }
    if (quants == QN_HALVES) {
        vst1q_s16(sc, g->sc);
    }
    for (size_t b = 0; b < n_blocks; b++, tiles += qn_tile_bytes(quants)) {
        int8_t q[32];
        vst1q_s8(q, g->q[2 * b]);
        vst1q_s8(q + 16, g->q[2 * b + 1]);
        for (size_t k = 0; k < 32; k += together) {
            memcpy(tiles + k * QN_PANEL_ROWS + r * together, q + k, together);
        }
        memcpy(tiles + qn_tile_at_d(quants) + r * sizeof(float), &d[b], sizeof(float));
        if (quants == QN_SHIFTED) {
            memcpy(tiles + offsetof(qn_panel_u8, m) + r * sizeof(float), &m[b], sizeof(float));
        }
        if (quants == QN_HALVES) {
            memcpy(tiles + offsetof(qn_panel_h8, sc) + r * 2 * sizeof(int16_t), &sc[2 * b], 2 * sizeof(int16_t));
        }
    }
}

QN_INLINE void qn_a8_pack(qn_unpack_fn *unpack, size_t group_bytes, qn_quants quants, size_t together, const uint8_t *w,
                          size_t row_bytes, size_t n_rows, size_t n_k, void *panel)
{
    uint8_t *tiles = panel;
    if (n_rows < QN_PANEL_ROWS) {
        memset(panel, 0, n_k / 32 * qn_tile_bytes(quants));
    }
    for (size_t k = 0; k < n_k; k += 128) {
        const uint8_t *p = w + k / 256 * group_bytes;
        size_t n_blocks = n_k - k < 128 ? (n_k - k) / 32 : 4;
        for (size_t r = 0; r < n_rows; r++, p += row_bytes) {
            qn_quad g;
            qn_prefetch_ahead(p, group_bytes / 2);
            unpack(p, k / 128 % 2, n_blocks, &g);
            qn_pack_quad(&g, quants, together, r, n_blocks, tiles);
        }
        tiles += n_blocks * qn_tile_bytes(quants);
    }
}

#endif
