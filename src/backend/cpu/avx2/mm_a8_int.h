/* Bodies of the products with A8 activations, written once for all block formats: a format gives an unpacker of eight
 * blocks of 32 (a group; for K formats a super-block) and the width of its quants, and gets `one`, `few` and `pack`.
 *
 * `one` and `few` give the same bits for the same row and column.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_AVX2_MM_A8_INT_H
#define QN_BACKEND_CPU_AVX2_MM_A8_INT_H

#include "backend/cpu/avx2/mm_avx2_int.h"

/* Eight blocks of 32 elements in their natural order. The quants' kind decides the meaning of the rest. */
typedef struct qn_group {
    __m256i q[8];
    __m256 d;   /* scale of each block */
    __m256 m;   /* U4, U5, U7: what is added to d * q; M6: what minima are scaled by; F5: the second halves' d */
    __m256i sc; /* H6, H7: int16 scales of the 16 half blocks; M6: their minima */
} qn_group;

typedef enum qn_quants {
    QN_U4, /* unsigned, up to 15: 16 products of a block's 32 may be summed in 16 bits: 15 * 127 * 16 < 2^15 */
    QN_U5, /* unsigned, up to 31: 8 products: 31 * 127 * 8 < 2^15 */
    QN_U7, /* unsigned, up to 127: 2 products: 127 * 127 * 2 < 2^15 */
    QN_H6, /* unsigned, up to 63, offset 32, scales of half blocks: 4 products: 63 * 127 * 4 < 2^15 */
    QN_H7, /* unsigned, up to 127, offset 64, scales of half blocks: 2 products */
    QN_S8, /* signed: 2 products: 128 * 127 * 2 < 2^15 */
    QN_M6, /* unsigned, up to 63, minima of half blocks: 4 products */
    QN_F5, /* unsigned, up to 31, offset 12, d of half blocks: 8 products */
} qn_quants;

QN_INLINE bool qn_has_minima(qn_quants quants)
{
    return quants == QN_U4 || quants == QN_U5 || quants == QN_U7;
}

QN_INLINE bool qn_has_halves(qn_quants quants)
{
    return quants == QN_H6 || quants == QN_H7;
}

/* n_blocks <= 8, and 8 for K formats; blocks from n_blocks on become zeros and are not read. */
typedef void qn_unpack_fn(const uint8_t *p, size_t n_blocks, qn_group *g);

/* What stands in for blocks behind a row's end. */
QN_INLINE const uint8_t *qn_block_or_zeros(const uint8_t *p, size_t block_bytes, size_t i, size_t n_blocks)
{
    static const uint8_t zeros[64];
    return i < n_blocks ? p + i * block_bytes : zeros;
}

/* Eight halves to floats: the d of blocks whose first field it is. */
QN_INLINE __m256 qn_gather_f16(const uint8_t *const b[8])
{
    __m128i h = _mm_cvtsi32_si128(qn_get_u16(b[0]));
    h = _mm_insert_epi16(h, qn_get_u16(b[1]), 1);
    h = _mm_insert_epi16(h, qn_get_u16(b[2]), 2);
    h = _mm_insert_epi16(h, qn_get_u16(b[3]), 3);
    h = _mm_insert_epi16(h, qn_get_u16(b[4]), 4);
    h = _mm_insert_epi16(h, qn_get_u16(b[5]), 5);
    h = _mm_insert_epi16(h, qn_get_u16(b[6]), 6);
    h = _mm_insert_epi16(h, qn_get_u16(b[7]), 7);
    return _mm256_cvtph_ps(h);
}

/* Dwords at the start of four blocks. Inserted one by one: from a list of initialisers gcc builds them on the stack. */
QN_INLINE __m128i qn_gather_u32(const uint8_t *const b[4])
{
    __m128i v = _mm_cvtsi32_si128(qn_get_i32(b[0]));
    v = _mm_insert_epi32(v, qn_get_i32(b[1]), 1);
    v = _mm_insert_epi32(v, qn_get_i32(b[2]), 2);
    return _mm_insert_epi32(v, qn_get_i32(b[3]), 3);
}

/* Eight pairs of halves to floats: d and m of blocks that begin with both. */
QN_INLINE void qn_gather_f16_pairs(const uint8_t *const b[8], __m256 *d, __m256 *m)
{
    const __m128i sort = _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
    __m128i low = _mm_shuffle_epi8(qn_gather_u32(b), sort), high = _mm_shuffle_epi8(qn_gather_u32(b + 4), sort);
    *d = _mm256_cvtph_ps(_mm_unpacklo_epi64(low, high));
    *m = _mm256_cvtph_ps(_mm_unpackhi_epi64(low, high));
}

/* Byte i of the result is 0xFF where bit i is set. */
QN_INLINE __m256i qn_bits_to_bytes(int32_t bits)
{
    const __m256i spread = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i bit = _mm256_set1_epi64x((long long)0x8040201008040201);
    __m256i v = _mm256_shuffle_epi8(_mm256_set1_epi32(bits), spread);
    return _mm256_cmpeq_epi8(_mm256_and_si256(v, bit), bit);
}

/* ---- sums of eight blocks ---- */

QN_INLINE __m256i qn_add(__m256i a, __m256i b, bool is_32)
{
    return is_32 ? _mm256_add_epi32(a, b) : _mm256_add_epi16(a, b);
}

/* In each half: the sum of a's two quarters, then that of b's. The blend runs on ports that shuffles do not need. */
QN_INLINE __m256i qn_fold_64(__m256i a, __m256i b, bool is_32)
{
    return qn_add(_mm256_blend_epi32(a, b, 0xCC), _mm256_alignr_epi8(b, a, 8), is_32);
}

/* In each half: the sums of a's two pairs of dwords, then those of b's. */
QN_INLINE __m256i qn_fold_32(__m256i a, __m256i b, bool is_32)
{
    __m256 fa = _mm256_castsi256_ps(a), fb = _mm256_castsi256_ps(b);
    return qn_add(_mm256_castps_si256(_mm256_shuffle_ps(fa, fb, 0x88)),
                  _mm256_castps_si256(_mm256_shuffle_ps(fa, fb, 0xDD)), is_32);
}

/* The sum of a's halves, then that of b's. */
QN_INLINE __m256i qn_fold_128(__m256i a, __m256i b, bool is_32)
{
    return qn_add(_mm256_blend_epi32(a, b, 0xF0), _mm256_permute2x128_si256(a, b, 0x21), is_32);
}

QN_INLINE __m256i qn_pairs_to_32(__m256i v)
{
    return _mm256_madd_epi16(v, _mm256_set1_epi16(1));
}

/* p: products of eight blocks, as 16 words for U4, U5 and M6, else as 8 dwords. Lane i of the result: block i's sum.
 * Words become dwords as late as their range allows. */
QN_INLINE __m256i qn_sum_blocks(const __m256i p[8], qn_quants quants)
{
    if (quants == QN_M6) {
        __m256i v[4];
        for (int i = 0; i < 4; i++) {
            v[i] = qn_pairs_to_32(qn_fold_64(p[2 * i], p[2 * i + 1], false));
        }
        return qn_fold_128(qn_fold_32(v[0], v[1], true), qn_fold_32(v[2], v[3], true), true);
    }
    bool is_32 = quants != QN_U4 && quants != QN_U5;
    __m256i a = qn_fold_32(qn_fold_64(p[0], p[1], is_32), qn_fold_64(p[2], p[3], is_32), is_32);
    __m256i b = qn_fold_32(qn_fold_64(p[4], p[5], is_32), qn_fold_64(p[6], p[7], is_32), is_32);
    if (quants == QN_U4) {
        return qn_pairs_to_32(qn_fold_128(a, b, false));
    }
    if (quants == QN_U5) {
        return qn_fold_128(qn_pairs_to_32(a), qn_pairs_to_32(b), true);
    }
    return qn_fold_128(a, b, true);
}

/* Selects from scales sorted as [even halves | odd halves] those of block i, for the words of either half. */
QN_INLINE __m256i qn_pick_halves(__m256i sorted, int i)
{
    return _mm256_shuffle_epi8(sorted, _mm256_set1_epi16((short)((2 * i + 1) << 8 | 2 * i)));
}

/* Products of the group's quants with one column's: q . x.q of each block; for H6 and H7 the scaled and centred sum. */
QN_INLINE __m256i qn_group_dot(const qn_group *g, const int8_t *q, const int16_t *h, qn_quants quants)
{
    __m256i p[8];
    if (qn_has_halves(quants)) {
        const __m256i split = _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15, 0, 1, 4, 5, 8, 9,
                                               12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
        __m256i sorted = _mm256_permute4x64_epi64(_mm256_shuffle_epi8(g->sc, split), 0xD8);
        for (int i = 0; i < 8; i++) {
            __m256i t = _mm256_maddubs_epi16(g->q[i], qn_load_256(q + 32 * i));
            p[i] = _mm256_madd_epi16(t, qn_pick_halves(sorted, i));
        }
        __m256i offset = _mm256_madd_epi16(g->sc, qn_load_256(h));
        return _mm256_sub_epi32(qn_sum_blocks(p, quants), _mm256_slli_epi32(offset, quants == QN_H6 ? 5 : 6));
    }
    for (int i = 0; i < 8; i++) {
        __m256i x = qn_load_256(q + 32 * i);
        if (quants == QN_S8) {
            p[i] = qn_pairs_to_32(_mm256_maddubs_epi16(_mm256_abs_epi8(g->q[i]), _mm256_sign_epi8(x, g->q[i])));
        } else {
            p[i] = _mm256_maddubs_epi16(g->q[i], x);
            p[i] = quants == QN_U7 ? qn_pairs_to_32(p[i]) : p[i];
        }
    }
    return qn_sum_blocks(p, quants);
}

/* F5: the sums of halves, centred and scaled. */
QN_INLINE __m256 qn_group_add_halves(const qn_group *g, const int8_t *q, const int16_t *h, __m256 x_d, __m256 acc)
{
    __m256i p[8], x_h = qn_load_256(h);
    for (int i = 0; i < 8; i++) {
        p[i] = _mm256_maddubs_epi16(g->q[i], qn_load_256(q + 32 * i));
    }
    /* in the low lane of each: the first halves of four blocks */
    __m256i a = qn_pairs_to_32(qn_fold_32(qn_fold_64(p[0], p[1], false), qn_fold_64(p[2], p[3], false), false));
    __m256i b = qn_pairs_to_32(qn_fold_32(qn_fold_64(p[4], p[5], false), qn_fold_64(p[6], p[7], false), false));
    __m256i first = _mm256_permute2x128_si256(a, b, 0x20), second = _mm256_permute2x128_si256(a, b, 0x31);
    first = _mm256_sub_epi32(first, _mm256_madd_epi16(x_h, _mm256_set1_epi32(12)));
    second = _mm256_sub_epi32(second, _mm256_madd_epi16(x_h, _mm256_set1_epi32(12 << 16)));
    acc = _mm256_fmadd_ps(_mm256_cvtepi32_ps(first), _mm256_mul_ps(g->d, x_d), acc);
    return _mm256_fmadd_ps(_mm256_cvtepi32_ps(second), _mm256_mul_ps(g->m, x_d), acc);
}

QN_INLINE __m256 qn_group_add(const qn_group *g, const void *x, size_t n_k, size_t k, qn_quants quants, __m256 acc)
{
    const float *d = qn_a8_d(x, n_k) + k / 32;
    const float *s = qn_a8_s(x, n_k) + k / 32;
    const int16_t *h = qn_a8_h(x, n_k) + k / 16;
    if (quants == QN_F5) {
        return qn_group_add_halves(g, qn_a8_q(x) + k, h, _mm256_loadu_ps(d), acc);
    }
    __m256i dot = qn_group_dot(g, qn_a8_q(x) + k, h, quants);
    acc = _mm256_fmadd_ps(_mm256_cvtepi32_ps(dot), _mm256_mul_ps(g->d, _mm256_loadu_ps(d)), acc);
    if (qn_has_minima(quants)) {
        acc = _mm256_fmadd_ps(g->m, _mm256_loadu_ps(s), acc);
    } else if (quants == QN_M6) {
        __m256 minima = _mm256_cvtepi32_ps(_mm256_madd_epi16(g->sc, qn_load_256(h)));
        acc = _mm256_fmadd_ps(minima, _mm256_mul_ps(g->m, _mm256_loadu_ps(d)), acc);
    }
    return acc;
}

/* ---- rows in place: one and few ---- */

QN_INLINE void qn_a8_rows(qn_unpack_fn *unpack, size_t group_bytes, qn_quants quants, const uint8_t *w,
                          size_t row_bytes, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, size_t n_cols,
                          float *y, size_t ldy)
{
    for (size_t r = 0; r < n_rows; r++) {
        const uint8_t *p = w + r * row_bytes;
        __m256 acc[QN_A8_FEW_MAX];
        for (size_t c = 0; c < n_cols; c++) {
            acc[c] = _mm256_setzero_ps();
        }
        qn_group g;
        size_t k = 0;
        for (; k + 256 <= n_k; k += 256, p += group_bytes) {
            qn_prefetch_ahead(p, group_bytes);
            unpack(p, 8, &g);
            for (size_t c = 0; c < n_cols; c++) {
                acc[c] = qn_group_add(&g, qn_column(x, x_bytes, c), n_k, k, quants, acc[c]);
            }
        }
        if (k < n_k) {
            unpack(p, (n_k - k) / 32, &g);
            for (size_t c = 0; c < n_cols; c++) {
                acc[c] = qn_group_add(&g, qn_column(x, x_bytes, c), n_k, k, quants, acc[c]);
            }
        }
        for (size_t c = 0; c < n_cols; c++) {
            y[c * ldy + r] = qn_sum_ps(acc[c]);
        }
    }
}

/* ---- panels ---- */

/* A group of 16 rows, on its way into tiles. */
typedef struct qn_group_rows {
    __m256i q[QN_PANEL_ROWS][8];
    __m256i d[QN_PANEL_ROWS]; /* floats and pairs of words alike travel as dwords */
    __m256i m[QN_PANEL_ROWS];
    __m256i sc[QN_PANEL_ROWS];
} qn_group_rows;

/* Dword `i` of eight rows' vectors, for i in [0, n), goes to out + i * stride. */
QN_INLINE void qn_pack_dwords(const __m256i *rows, size_t row_step, uint8_t *out, size_t stride, size_t n)
{
    __m256i v[8];
    for (size_t i = 0; i < 8; i++) {
        v[i] = rows[i * row_step];
    }
    qn_transpose_8x8(v);
    for (size_t i = 0; i < n; i++) {
        qn_store_256(out + i * stride, v[i]);
    }
}

QN_INLINE size_t qn_tile_bytes(qn_quants quants)
{
    return quants == QN_S8          ? sizeof(qn_panel_s8)
           : quants == QN_M6        ? sizeof(qn_panel_m8)
           : qn_has_halves(quants) ? sizeof(qn_panel_h8)
                                    : sizeof(qn_panel_u8);
}

QN_INLINE void qn_pack_group(const qn_group_rows *rows, size_t n_blocks, qn_quants quants, uint8_t *tiles)
{
    size_t tile_bytes = qn_tile_bytes(quants);
    bool has_sc = qn_has_halves(quants) || quants == QN_M6, has_m = quants != QN_S8 && !qn_has_halves(quants);
    size_t at_sc = offsetof(qn_panel_h8, sc), at_d = at_sc + (has_sc ? 4 * QN_PANEL_ROWS : 0);
    for (size_t r = 0; r < QN_PANEL_ROWS; r += 8) {
        for (size_t b = 0; b < n_blocks; b++) {
            qn_pack_dwords(&rows->q[r][b], 8, tiles + b * tile_bytes + 4 * r, 4 * QN_PANEL_ROWS, QN_PANEL_STEPS);
        }
        qn_pack_dwords(&rows->d[r], 1, tiles + at_d + 4 * r, tile_bytes, n_blocks);
        if (has_sc) {
            qn_pack_dwords(&rows->sc[r], 1, tiles + at_sc + 4 * r, tile_bytes, n_blocks);
        }
        if (has_m) {
            qn_pack_dwords(&rows->m[r], 1, tiles + at_d + 4 * (QN_PANEL_ROWS + r), tile_bytes, n_blocks);
        }
    }
}

QN_INLINE void qn_a8_pack(qn_unpack_fn *unpack, size_t group_bytes, qn_quants quants, const uint8_t *w,
                          size_t row_bytes, size_t n_rows, size_t n_k, void *panel)
{
    uint8_t *tiles = panel;
    qn_group_rows rows;
    memset(&rows, 0, sizeof(rows));
    for (size_t k = 0; k < n_k; k += 256, w += group_bytes) {
        size_t n_blocks = n_k - k < 256 ? (n_k - k) / 32 : 8;
        for (size_t r = 0; r < n_rows; r++) {
            qn_group g;
            qn_prefetch_ahead(w + r * row_bytes, group_bytes);
            unpack(w + r * row_bytes, n_blocks, &g);
            for (int i = 0; i < 8; i++) {
                rows.q[r][i] = g.q[i];
            }
            rows.d[r] = _mm256_castps_si256(g.d);
            if (qn_has_halves(quants) || quants == QN_M6) {
                rows.sc[r] = g.sc;
            }
            if (quants != QN_S8 && !qn_has_halves(quants)) {
                rows.m[r] = _mm256_castps_si256(g.m);
            }
        }
        qn_pack_group(&rows, n_blocks, quants, tiles);
        tiles += n_blocks * qn_tile_bytes(quants);
    }
}

/* Defines the table row qn_mm_<T>_avx2 of a format. */
#define QN_MM_A8_DEFINE(T, unpack, group_bytes, quants, panel_fn)                                                     \
    static void one_##T(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x, float *y)       \
    {                                                                                                                 \
        qn_a8_rows(unpack, group_bytes, quants, w, row_bytes, n_rows, n_k, x, 0, 1, y, 0);                            \
    }                                                                                                                 \
    static void few_##T(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, \
                        size_t n_cols, float *y, size_t ldy)                                                          \
    {                                                                                                                 \
        qn_a8_rows(unpack, group_bytes, quants, w, row_bytes, n_rows, n_k, x, x_bytes, n_cols, y, ldy);               \
    }                                                                                                                 \
    static size_t panel_bytes_##T(size_t n_k)                                                                         \
    {                                                                                                                 \
        return n_k / 32 * qn_tile_bytes(quants);                                                                      \
    }                                                                                                                 \
    static void pack_##T(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, void *panel)                  \
    {                                                                                                                 \
        qn_a8_pack(unpack, group_bytes, quants, w, row_bytes, n_rows, n_k, panel);                                    \
    }                                                                                                                 \
    const qn_mm qn_mm_##T##_avx2 = {                                                                                  \
        .act = QN_ACT_A8,                                                                                             \
        .few_max = QN_A8_FEW_MAX,                                                                                     \
        .panel_rows = QN_PANEL_ROWS,                                                                                  \
        .one = one_##T,                                                                                               \
        .few = few_##T,                                                                                               \
        .panel_bytes = panel_bytes_##T,                                                                               \
        .pack = pack_##T,                                                                                             \
        .panel = panel_fn,                                                                                            \
    }

#endif
