/* Bodies of one-column and few-column products over rows in place, written once for all block formats: a format gives
 * an unpacker of eight blocks of 32, and gets `one` and `few`.
 *
 * Two blocks share a register. Products of a block's bytes are summed by fours in vpdpbusd, turned to floats, scaled by
 * their block's scale and added, lane by lane; lanes are added up once a row. So no sum inside a block is horizontal.
 * `one` and `few` give the same bits for the same row and column.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_AVX512VNNI_MM_ROWS_INT_H
#define QN_BACKEND_CPU_AVX512VNNI_MM_ROWS_INT_H

#include "backend/cpu/avx512vnni/mm_int512.h"
#include "backend/cpu/avx512vnni/simd_int.h"

/* Columns of `few`; with more, unpacking a panel pays for itself. */
enum { QN_ROWS_FEW_MAX = 4 };

/* How the scales of eight blocks reach the lanes of their products. */
typedef enum qn_spread {
    QN_SPREAD_BLOCKS,   /* a block's eight lanes share its scale */
    QN_SPREAD_QUARTERS, /* the last four lanes hold products 16 times too large: nibbles left where they were */
    QN_SPREAD_HALVES    /* each half of a block has a scale of its own */
} qn_spread;

/* Eight blocks: w = d * q + m, q unsigned. HALVES: d and m of the 16 halves instead. */
typedef struct qn_rows_group {
    __m512i q[4]; /* two blocks each */
    __m256 d;     /* what a lane of products is scaled by */
    __m256 m;
    __m512 half_d, half_m;
} qn_rows_group;

/* n_blocks <= 8 (8 for K formats); what lies behind them is not read, and their d and m become 0. */
typedef void qn_rows_unpack_fn(const uint8_t *p, size_t n_blocks, qn_rows_group *g);

/* The scales of register i's lanes. scales: of eight blocks; of eight blocks and then a 16th of those; of 16 halves. */
QN_INLINE __m512 qn_spread_scales(__m512 scales, int i, qn_spread spread)
{
    const __m512i blocks = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
    const __m512i quarters = _mm512_setr_epi32(0, 0, 0, 0, 8, 8, 8, 8, 1, 1, 1, 1, 9, 9, 9, 9);
    const __m512i halves = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    __m512i lane = spread == QN_SPREAD_BLOCKS ? blocks : spread == QN_SPREAD_QUARTERS ? quarters : halves;
    int step = spread == QN_SPREAD_HALVES ? 4 : 2;
    return _mm512_permutexvar_ps(_mm512_add_epi32(lane, _mm512_set1_epi32(step * i)), scales);
}

/* The running sums of one row and column. */
typedef struct qn_rows_sum {
    __m512 products; /* lane by lane */
    __m512 minima;   /* one lane a block, or a half */
} qn_rows_sum;

QN_INLINE void qn_rows_add(const qn_rows_group *g, const void *x, size_t n_k, size_t k, size_t n_blocks,
                           qn_spread spread, qn_rows_sum *sum)
{
    const int8_t *q = qn_a8_q(x) + k;
    __m256 d = _mm256_loadu_ps(qn_a8_d(x, n_k) + k / 32);
    __m512 scales;
    if (spread == QN_SPREAD_HALVES) {
        const __m512i twice = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
        __m512 xd = _mm512_permutexvar_ps(twice, _mm512_castps256_ps512(d));
        __m256i h = _mm256_loadu_si256((const __m256i *)(const void *)(qn_a8_h(x, n_k) + k / 16));
        __m512 xs = _mm512_mul_ps(xd, _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(h)));
        scales = _mm512_mul_ps(g->half_d, xd);
        sum->minima = _mm512_fmadd_ps(g->half_m, xs, sum->minima);
    } else {
        __m256 s = _mm256_loadu_ps(qn_a8_s(x, n_k) + k / 32), wx = _mm256_mul_ps(g->d, d);
        scales = _mm512_castps256_ps512(wx);
        if (spread == QN_SPREAD_QUARTERS) {
            scales = _mm512_insertf32x8(scales, _mm256_mul_ps(wx, _mm256_set1_ps(1.0f / 16.0f)), 1);
        }
        sum->minima = _mm512_zextps256_ps512(_mm256_fmadd_ps(g->m, s, _mm512_castps512_ps256(sum->minima)));
    }
    QN_UNROLL
    for (int i = 0; i < 4; i++) {
        if (2 * (size_t)i >= n_blocks) {
            break;
        }
        __m512i p = _mm512_dpbusd_epi32(_mm512_setzero_si512(), g->q[i], _mm512_loadu_si512(q + 64 * i));
        sum->products = _mm512_fmadd_ps(_mm512_cvtepi32_ps(p), qn_spread_scales(scales, i, spread), sum->products);
    }
}

QN_INLINE void qn_rows_product(qn_rows_unpack_fn *unpack, size_t group_bytes, qn_spread spread, const uint8_t *w,
                               size_t row_bytes, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, int n_cols,
                               float *y, size_t ldy)
{
    for (size_t r = 0; r < n_rows; r++) {
        const uint8_t *p = w + r * row_bytes;
        qn_rows_sum sum[QN_ROWS_FEW_MAX];
        for (int c = 0; c < n_cols; c++) {
            sum[c].products = sum[c].minima = _mm512_setzero_ps();
        }
        qn_rows_group g;
        size_t k = 0;
        for (; k + 256 <= n_k; k += 256, p += group_bytes) {
            qn_prefetch_weights(p, group_bytes);
            unpack(p, 8, &g);
            for (int c = 0; c < n_cols; c++) {
                qn_rows_add(&g, (const char *)x + (size_t)c * x_bytes, n_k, k, 8, spread, &sum[c]);
            }
        }
        if (k < n_k) {
            size_t n_blocks = (n_k - k) / 32;
            qn_prefetch_weights(p, group_bytes);
            unpack(p, n_blocks, &g);
            for (int c = 0; c < n_cols; c++) {
                qn_rows_add(&g, (const char *)x + (size_t)c * x_bytes, n_k, k, n_blocks, spread, &sum[c]);
            }
        }
        for (int c = 0; c < n_cols; c++) {
            y[(size_t)c * ldy + r] = _mm512_reduce_add_ps(_mm512_add_ps(sum[c].products, sum[c].minima));
        }
    }
}

/* Defines qn_one_<T>_avx512vnni and qn_few_<T>_avx512vnni. */
#define QN_ROWS_DEFINE(T, unpack, group_bytes, spread)                                                         \
    void qn_one_##T##_avx512vnni(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x, \
                                 float *y)                                                                     \
    {                                                                                                          \
        qn_rows_product(unpack, group_bytes, spread, w, row_bytes, n_rows, n_k, x, 0, 1, y, 0);                \
    }                                                                                                          \
    void qn_few_##T##_avx512vnni(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x, \
                                 size_t x_bytes, size_t n_cols, float *y, size_t ldy)                          \
    {                                                                                                          \
        switch (n_cols) {                                                                                      \
        case 1:                                                                                                \
            qn_rows_product(unpack, group_bytes, spread, w, row_bytes, n_rows, n_k, x, x_bytes, 1, y, ldy);    \
            break;                                                                                             \
        case 2:                                                                                                \
            qn_rows_product(unpack, group_bytes, spread, w, row_bytes, n_rows, n_k, x, x_bytes, 2, y, ldy);    \
            break;                                                                                             \
        case 3:                                                                                                \
            qn_rows_product(unpack, group_bytes, spread, w, row_bytes, n_rows, n_k, x, x_bytes, 3, y, ldy);    \
            break;                                                                                             \
        default:                                                                                               \
            qn_rows_product(unpack, group_bytes, spread, w, row_bytes, n_rows, n_k, x, x_bytes, 4, y, ldy);    \
            break;                                                                                             \
        }                                                                                                      \
    }

/* ---- loading ---- */

/* 16 bytes at a twice, then 16 at b twice. */
QN_INLINE __m512i qn_twice_each(const uint8_t *a, const uint8_t *b)
{
    __m512i v = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)a));
    return _mm512_mask_broadcast_i32x4(v, 0xFF00, _mm_loadu_si128((const __m128i *)(const void *)b));
}

/* 64 bytes at p + at of a group of n_blocks blocks; bytes behind the last block are zeros and are not read. */
QN_INLINE __m512i qn_load_part(const uint8_t *p, size_t at, size_t n_blocks, size_t block_bytes)
{
    if (n_blocks == 8) {
        return _mm512_loadu_si512(p + at);
    }
    size_t end = n_blocks * block_bytes, n = end > at ? end - at : 0;
    return _mm512_maskz_loadu_epi8(n >= 64 ? ~(__mmask64)0 : ((__mmask64)1 << n) - 1, p + at);
}

#endif
