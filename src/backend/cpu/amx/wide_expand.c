/* Panels of integers to panels of bf16. A lane is a weight row, so scales need no shuffling.
 *
 * Quants below 128 become floats by being put into the mantissa of 128: 0x43000000 | q << 16 is 128 + q, and what is
 * too much goes into the constant that is added anyway. SPDX-License-Identifier: MIT */
#include "backend/cpu/amx/wide_int.h"

#include <immintrin.h>

#define QN_INLINE static inline __attribute__((always_inline))

/* Two k of 16 rows, side by side in each lane. */
QN_INLINE void store_pair(__m512 first, __m512 second, void *out)
{
    const __m512i pairs = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                                           21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    __m512i both = (__m512i)_mm512_cvtne2ps_pbh(second, first);
    _mm512_store_si512(out, _mm512_permutexvar_epi16(pairs, both));
}

/* 128 + the byte that stands in bits 16 to 23 of each lane. */
QN_INLINE __m512 plus_128(__m512i v)
{
    const __m512i mask = _mm512_set1_epi32(0xFF0000), magic = _mm512_set1_epi32(0x43000000);
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(v, mask, magic, 0xEA)); /* v & mask | magic */
}

/* Four k of 16 rows: d * q + m, with m less 128 * d. */
QN_INLINE void expand_step(__m512i v, __m512 d, __m512 m, qn_wide_tile *out, int i)
{
    __m512 a = _mm512_fmadd_ps(d, plus_128(_mm512_slli_epi32(v, 16)), m);
    __m512 b = _mm512_fmadd_ps(d, plus_128(_mm512_slli_epi32(v, 8)), m);
    __m512 c = _mm512_fmadd_ps(d, plus_128(v), m);
    __m512 e = _mm512_fmadd_ps(d, plus_128(_mm512_srli_epi32(v, 8)), m);
    store_pair(a, b, out->w[2 * i]);
    store_pair(c, e, out->w[2 * i + 1]);
}

void qn_wide_expand_u8(const void *panel, size_t n_tiles, qn_wide_tile *out)
{
    const qn_panel_u8 *t = panel;
    for (size_t b = 0; b < n_tiles; b++) {
        __m512 d = _mm512_load_ps(t[b].d), m = _mm512_fnmadd_ps(d, _mm512_set1_ps(128.0f), _mm512_load_ps(t[b].m));
        for (int i = 0; i < QN_PANEL_STEPS; i++) {
            expand_step(_mm512_load_si512(t[b].q[i]), d, m, &out[b], i);
        }
    }
}

/* Both halves of a tile, each with a d and an m of its own. */
QN_INLINE void expand_halves(const uint8_t q[QN_PANEL_STEPS][QN_PANEL_ROWS][4], const __m512 d[2], const __m512 m[2],
                             qn_wide_tile *out)
{
    for (int half = 0; half < 2; half++) {
        for (int i = half * QN_PANEL_STEPS / 2; i < (half + 1) * QN_PANEL_STEPS / 2; i++) {
            expand_step(_mm512_load_si512(q[i]), d[half], m[half], out, i);
        }
    }
}

void qn_wide_expand_m6(const void *panel, size_t n_tiles, qn_wide_tile *out)
{
    const qn_panel_m8 *t = panel;
    for (size_t b = 0; b < n_tiles; b++) {
        __m512i minima = _mm512_load_si512(t[b].min); /* two int16 a row */
        __m512 m0 = _mm512_cvtepi32_ps(_mm512_srai_epi32(_mm512_slli_epi32(minima, 16), 16));
        __m512 m1 = _mm512_cvtepi32_ps(_mm512_srai_epi32(minima, 16));
        __m512 d = _mm512_load_ps(t[b].d), m = _mm512_load_ps(t[b].m), less = _mm512_mul_ps(d, _mm512_set1_ps(-128.0f));
        const __m512 both_d[2] = {d, d}, both_m[2] = {_mm512_fmadd_ps(m, m0, less), _mm512_fmadd_ps(m, m1, less)};
        expand_halves(t[b].q, both_d, both_m, &out[b]);
    }
}

void qn_wide_expand_f5(const void *panel, size_t n_tiles, qn_wide_tile *out)
{
    const qn_panel_f8 *t = panel;
    for (size_t b = 0; b < n_tiles; b++) {
        const __m512 d[2] = {_mm512_load_ps(t[b].d[0]), _mm512_load_ps(t[b].d[1])};
        const __m512 offset = _mm512_set1_ps(-128.0f - 12.0f);
        const __m512 m[2] = {_mm512_mul_ps(d[0], offset), _mm512_mul_ps(d[1], offset)};
        expand_halves(t[b].q, d, m, &out[b]);
    }
}

/* d * sc * (q - offset), each half with an sc of its own. */
QN_INLINE void expand_h8(const void *panel, size_t n_tiles, float q_offset, qn_wide_tile *out)
{
    const qn_panel_h8 *t = panel;
    for (size_t b = 0; b < n_tiles; b++) {
        __m512i sc = _mm512_load_si512(t[b].sc); /* two int16 a row */
        __m512 d = _mm512_load_ps(t[b].d), offset = _mm512_set1_ps(-128.0f - q_offset);
        __m512 d1 = _mm512_mul_ps(d, _mm512_cvtepi32_ps(_mm512_srai_epi32(sc, 16)));
        __m512 d0 = _mm512_mul_ps(d, _mm512_cvtepi32_ps(_mm512_srai_epi32(_mm512_slli_epi32(sc, 16), 16)));
        __m512 m0 = _mm512_mul_ps(d0, offset), m1 = _mm512_mul_ps(d1, offset);
        for (int i = 0; i < QN_PANEL_STEPS / 2; i++) {
            expand_step(_mm512_load_si512(t[b].q[i]), d0, m0, &out[b], i);
        }
        for (int i = QN_PANEL_STEPS / 2; i < QN_PANEL_STEPS; i++) {
            expand_step(_mm512_load_si512(t[b].q[i]), d1, m1, &out[b], i);
        }
    }
}

void qn_wide_expand_h6(const void *panel, size_t n_tiles, qn_wide_tile *out)
{
    expand_h8(panel, n_tiles, 32.0f, out);
}

void qn_wide_expand_h7(const void *panel, size_t n_tiles, qn_wide_tile *out)
{
    expand_h8(panel, n_tiles, 64.0f, out);
}

/* The signed byte that stands in bits 24 to 31, times d. */
QN_INLINE __m512 signed_top(__m512i v, __m512 d)
{
    return _mm512_mul_ps(d, _mm512_cvtepi32_ps(_mm512_srai_epi32(v, 24)));
}

void qn_wide_expand_s8(const void *panel, size_t n_tiles, qn_wide_tile *out)
{
    const qn_panel_s8 *t = panel;
    for (size_t b = 0; b < n_tiles; b++) {
        __m512 d = _mm512_load_ps(t[b].d);
        for (int i = 0; i < QN_PANEL_STEPS; i++) {
            __m512i v = _mm512_load_si512(t[b].q[i]);
            store_pair(signed_top(_mm512_slli_epi32(v, 24), d), signed_top(_mm512_slli_epi32(v, 16), d),
                       out[b].w[2 * i]);
            store_pair(signed_top(_mm512_slli_epi32(v, 8), d), signed_top(v, d), out[b].w[2 * i + 1]);
        }
    }
}
