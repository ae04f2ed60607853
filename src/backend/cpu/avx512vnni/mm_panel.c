/* Packed panels times columns of A8 activations. A step of a tile, 16 rows of 4 k, is just one register, and vpdpbusd
 * multiplies it with 4 activations that all lanes share; so a tile is 8 instructions a column and no sum is horizontal.
 * A column's arithmetic is the same whichever columns are beside it.
 *
 * For several columns a slice of 256 k is unpacked and multiplied at once: it never leaves the first cache, and what
 * comes next is fetched from memory meanwhile. The sums wait in an array between slices.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx512vnni/mm_int512.h"
#include "backend/cpu/avx512vnni/simd_int.h"

/* 8 weights, 8 sums of floats and 8 of integers stay in the 32 registers. */
enum { COLUMNS = 8 };

typedef enum tile_kind { TILE_U8, TILE_S8, TILE_H6, TILE_H7, TILE_M6, TILE_F5 } tile_kind;

/* Columns of activations: the first one's quantities of the block where its tiles begin. */
typedef struct activations {
    const char *q, *d, *s, *h;
    size_t stride;
} activations;

/* Running sums: 16 rows of each column. */
typedef float row_sums[QN_PANEL_ROWS];

QN_INLINE activations activations_at(const void *x, size_t x_bytes, size_t n_k, size_t k)
{
    return (activations){
        .q = (const char *)(qn_a8_q(x) + k),
        .d = (const char *)(qn_a8_d(x, n_k) + k / 32),
        .s = (const char *)(qn_a8_s(x, n_k) + k / 32),
        .h = (const char *)(qn_a8_h(x, n_k) + k / 16),
        .stride = x_bytes,
    };
}

QN_INLINE __m512 broadcast_f32(const char *p)
{
    float v;
    memcpy(&v, p, sizeof(v));
    return _mm512_set1_ps(v);
}

QN_INLINE size_t tile_bytes(tile_kind kind)
{
    return kind == TILE_U8   ? sizeof(qn_panel_u8)
           : kind == TILE_S8 ? sizeof(qn_panel_s8)
           : kind == TILE_M6 ? sizeof(qn_panel_m8)
           : kind == TILE_F5 ? sizeof(qn_panel_f8)
                             : sizeof(qn_panel_h8);
}

/* Steps [first, first + n) of a tile against a column's q; start is what the sum begins with. */
QN_INLINE __m512i dot_steps(const __m512i w[QN_PANEL_STEPS], const char *q, int first, int n, __m512i start)
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

/* -(first * h[0] + second * h[1]) in every lane. */
QN_INLINE __m512i minus_h(const char *h, int first, int second)
{
    __m512i factors = _mm512_set1_epi32((int32_t)((uint32_t)-second << 16 | ((uint32_t)-first & 0xFFFF)));
    return _mm512_madd_epi16(_mm512_set1_epi32(qn_get_i32(h)), factors);
}

/* What a tile's integer sums are scaled by. */
typedef struct tile_scales {
    __m512 d, d1;   /* of the tile, or of its halves */
    __m512 m;       /* U8: minima; M6: what they are scaled by */
    __m512i minima; /* M6: of the halves, two int16 a row */
} tile_scales;

QN_INLINE tile_scales load_scales(const float *p, tile_kind kind)
{
    tile_scales s = {.d = _mm512_load_ps(p)};
    s.d1 = s.m = s.d;
    s.minima = _mm512_setzero_si512();
    if (kind == TILE_U8) {
        s.m = _mm512_load_ps(p + QN_PANEL_ROWS);
    } else if (kind == TILE_F5) {
        s.d1 = _mm512_load_ps(p + QN_PANEL_ROWS);
    } else if (kind == TILE_M6) {
        s.minima = _mm512_load_si512(p);
        s.d = _mm512_load_ps(p + QN_PANEL_ROWS);
        s.m = _mm512_load_ps(p + 2 * QN_PANEL_ROWS);
    } else if (kind == TILE_H6 || kind == TILE_H7) {
        __m512i sc = _mm512_load_si512(p); /* two int16 a row */
        __m512 d = _mm512_load_ps(p + QN_PANEL_ROWS);
        s.d1 = _mm512_mul_ps(d, _mm512_cvtepi32_ps(_mm512_srai_epi32(sc, 16)));
        s.d = _mm512_mul_ps(d, _mm512_cvtepi32_ps(_mm512_srai_epi32(_mm512_slli_epi32(sc, 16), 16)));
    }
    return s;
}

/* One tile times one column. */
QN_INLINE __m512 add_tile(const __m512i w[QN_PANEL_STEPS], const tile_scales *s, tile_kind kind, const activations *x,
                          size_t at, __m512 acc)
{
    const char *q = x->q + at, *h = x->h + at;
    const int half = QN_PANEL_STEPS / 2, offset = kind == TILE_F5 ? 12 : kind == TILE_H6 ? 32 : 64;
    __m512 x_d = broadcast_f32(x->d + at);
    if (kind == TILE_H6 || kind == TILE_H7 || kind == TILE_F5) {
        __m512 s0 = _mm512_cvtepi32_ps(dot_steps(w, q, 0, half, minus_h(h, offset, 0)));
        __m512 s1 = _mm512_cvtepi32_ps(dot_steps(w, q, half, half, minus_h(h, 0, offset)));
        return _mm512_fmadd_ps(_mm512_fmadd_ps(s0, s->d, _mm512_mul_ps(s1, s->d1)), x_d, acc);
    }
    __m512i start = kind == TILE_S8 ? minus_h(h, 128, 128) : _mm512_setzero_si512();
    __m512 sum = _mm512_cvtepi32_ps(dot_steps(w, q, 0, QN_PANEL_STEPS, start));
    if (kind == TILE_M6) {
        __m512i minima = _mm512_madd_epi16(s->minima, _mm512_set1_epi32(qn_get_i32(h)));
        __m512 both = _mm512_fmadd_ps(sum, s->d, _mm512_mul_ps(_mm512_cvtepi32_ps(minima), s->m));
        return _mm512_fmadd_ps(both, x_d, acc);
    }
    acc = _mm512_fmadd_ps(sum, _mm512_mul_ps(s->d, x_d), acc);
    return kind == TILE_U8 ? _mm512_fmadd_ps(s->m, broadcast_f32(x->s + at), acc) : acc;
}

/* Adds n_blocks tiles times n_cols columns to sums. fetch: two rows of it a block. */
QN_INLINE void columns(const uint8_t *tile, size_t n_blocks, activations x, int n_cols, tile_kind kind, row_sums *sums,
                       const qn_fetch *fetch)
{
    __m512 acc[COLUMNS];
    QN_UNROLL
    for (int c = 0; c < n_cols; c++) {
        acc[c] = _mm512_loadu_ps(sums[c]);
    }
    for (size_t b = 0; b < n_blocks; b++, tile += tile_bytes(kind)) {
        __m512i w[QN_PANEL_STEPS];
        qn_fetch_some(fetch, 2 * b, 2);
        load_steps(tile, kind, w);
        tile_scales scales = load_scales((const float *)(const void *)(tile + 64 * QN_PANEL_STEPS), kind);
        QN_UNROLL
        for (int c = 0; c < n_cols; c++) {
            acc[c] = add_tile(w, &scales, kind, &x, (size_t)c * x.stride, acc[c]);
        }
        x.q += 32;
        x.d += sizeof(float);
        x.s += sizeof(float);
        x.h += 2 * sizeof(int16_t);
    }
    QN_UNROLL
    for (int c = 0; c < n_cols; c++) {
        _mm512_storeu_ps(sums[c], acc[c]);
    }
}

QN_INLINE void all_columns(const void *tiles, size_t n_blocks, activations x, size_t n_cols, tile_kind kind,
                           row_sums *sums, const qn_fetch *fetch)
{
    const qn_fetch nothing = {.n_rows = 0};
    size_t c = 0;
#define COLUMNS_OF(n)                                                                \
    for (; n_cols - c >= (n); c += (n)) {                                            \
        columns(tiles, n_blocks, x, (n), kind, sums + c, c == 0 ? fetch : &nothing); \
        x.q += (n)*x.stride;                                                         \
        x.d += (n)*x.stride;                                                         \
        x.s += (n)*x.stride;                                                         \
        x.h += (n)*x.stride;                                                         \
    }
    COLUMNS_OF(COLUMNS)
    COLUMNS_OF(4)
    COLUMNS_OF(2)
    COLUMNS_OF(1)
#undef COLUMNS_OF
}

QN_INLINE void store_sums(row_sums *sums, size_t n_rows, size_t n_cols, float *y, size_t ldy)
{
    for (size_t c = 0; c < n_cols; c++) {
        _mm512_mask_storeu_ps(y + c * ldy, qn_first_lanes(n_rows), _mm512_loadu_ps(sums[c]));
    }
}

/* ---- panels ---- */

QN_INLINE void panel_of(const void *panel, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, size_t n_cols,
                        tile_kind kind, float *y, size_t ldy)
{
    for (size_t c = 0; c < n_cols; c += COLUMNS) {
        _Alignas(64) row_sums sums[COLUMNS] = {{0}};
        const qn_fetch nothing = {.n_rows = 0};
        size_t n = n_cols - c < COLUMNS ? n_cols - c : COLUMNS;
        const char *xc = (const char *)x + c * x_bytes;
        all_columns(panel, n_k / 32, activations_at(xc, x_bytes, n_k, 0), n, kind, sums, &nothing);
        store_sums(sums, n_rows, n, y + c * ldy, ldy);
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
DEFINE(m6, TILE_M6)
DEFINE(f5, TILE_F5)

/* ---- several columns, rows in place ---- */

QN_INLINE void several_of(const qn_slices *w, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, size_t n_cols,
                          tile_kind kind, float *y, size_t ldy)
{
    for (size_t r = 0; r < n_rows; r += QN_PANEL_ROWS) {
        _Alignas(64) uint8_t tiles[8 * sizeof(qn_panel_m8)];
        _Alignas(64) row_sums sums[QN_SEVERAL_MAX];
        size_t n = n_rows - r < QN_PANEL_ROWS ? n_rows - r : QN_PANEL_ROWS;
        memset(sums, 0, n_cols * sizeof(sums[0]));
        for (size_t k = 0; k < n_k; k += QN_SLICE) {
            size_t n_here = n_k - k < QN_SLICE ? n_k - k : QN_SLICE;
            qn_fetch fetch = qn_fetch_behind(w, r, k, n_rows, n_k);
            w->pack(qn_slice(w, r, k), w->row_bytes, n, n_here, tiles);
            all_columns(tiles, n_here / 32, activations_at(x, x_bytes, n_k, k), n_cols, kind, sums, &fetch);
            qn_fetch_some(&fetch, 2 * (n_here / 32), QN_PANEL_ROWS);
        }
        store_sums(sums, n, n_cols, y + r, ldy);
    }
}

#define DEFINE_SEVERAL(name, kind)                                                                                    \
    void qn_several_##name##_avx512vnni(const qn_slices *w, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, \
                                        size_t n_cols, float *y, size_t ldy)                                          \
    {                                                                                                                 \
        several_of(w, n_rows, n_k, x, x_bytes, n_cols, kind, y, ldy);                                                 \
    }

DEFINE_SEVERAL(u8, TILE_U8)
DEFINE_SEVERAL(s8, TILE_S8)
DEFINE_SEVERAL(h6, TILE_H6)
DEFINE_SEVERAL(h7, TILE_H7)
DEFINE_SEVERAL(m6, TILE_M6)
DEFINE_SEVERAL(f5, TILE_F5)
