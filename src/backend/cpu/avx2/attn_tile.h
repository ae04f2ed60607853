/* The two products of attention over a KV page: a few query rows times a few registers of tokens (or dimensions).
 * n_rows, n_vecs and type are constants wherever these are expanded, so that all sums live in registers.
 * Every sum is one chain of fused multiply-adds in order of d (scores) or t (values), whatever the tile's shape:
 * a row's bits do not depend on the rows beside it. SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_AVX2_ATTN_TILE_H
#define QN_BACKEND_CPU_AVX2_ATTN_TILE_H

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "quant/quant.h"

#define QN_ATTN_ROWS 6 /* 6 rows x 2 registers of sums leave 4 of the 16 for operands */
#define QN_TILE static inline __attribute__((always_inline))

#if defined(__clang__)
#define QN_UNROLL _Pragma("clang loop unroll(full)")
#else
#define QN_UNROLL _Pragma("GCC unroll 8")
#endif

QN_TILE __m256 qn_kv_load8(const void *data, size_t i, qn_type type)
{
    if (type == QN_TYPE_F16) {
        return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)((const uint16_t *)data + i)));
    }
    if (type == QN_TYPE_BF16) {
        __m128i halves = _mm_loadu_si128((const __m128i *)(const void *)((const uint16_t *)data + i));
        return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
    }
    return _mm256_loadu_ps((const float *)data + i);
}

QN_TILE float qn_kv_load1(const void *data, size_t i, qn_type type)
{
    if (type == QN_TYPE_F16) {
        return _cvtsh_ss(((const uint16_t *)data)[i]);
    }
    if (type == QN_TYPE_BF16) {
        return _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128((int)((uint32_t)((const uint16_t *)data)[i] << 16))));
    }
    return ((const float *)data)[i];
}

/* s[r * s_stride + t] = sum over d of q[r][d] * k[d * k_stride + t], t in [t0, t0 + 8 * n_vecs). */
QN_TILE void qn_score_tile(size_t n_rows, size_t n_vecs, qn_type type, const float *const *q, size_t head_dim,
                           const void *k, size_t k_stride, size_t t0, float *s, size_t s_stride)
{
    __m256 sum[QN_ATTN_ROWS][8];
    QN_UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        QN_UNROLL
        for (size_t v = 0; v < n_vecs; v++) {
            sum[r][v] = _mm256_setzero_ps();
        }
    }
    for (size_t d = 0; d < head_dim; d++) {
        __m256 kd[8];
        QN_UNROLL
        for (size_t v = 0; v < n_vecs; v++) {
            kd[v] = qn_kv_load8(k, d * k_stride + t0 + 8 * v, type);
        }
        QN_UNROLL
        for (size_t r = 0; r < n_rows; r++) {
            __m256 qd = _mm256_broadcast_ss(q[r] + d);
            QN_UNROLL
            for (size_t v = 0; v < n_vecs; v++) {
                sum[r][v] = _mm256_fmadd_ps(qd, kd[v], sum[r][v]);
            }
        }
    }
    QN_UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        QN_UNROLL
        for (size_t v = 0; v < n_vecs; v++) {
            _mm256_storeu_ps(s + r * s_stride + t0 + 8 * v, sum[r][v]);
        }
    }
}

/* acc[r][j] = acc[r][j] * keep[r] + sum over t in [t0, t1) of p[r * p_stride + t] * v[t * v_dim + j],
 * j in [j0, j0 + 8 * n_vecs). */
QN_TILE void qn_value_tile(size_t n_rows, size_t n_vecs, qn_type type, const float *p, size_t p_stride, const float *keep,
                           const void *v, size_t v_dim, size_t t0, size_t t1, size_t j0, float *const *acc)
{
    __m256 sum[QN_ATTN_ROWS][8];
    QN_UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        __m256 kept = _mm256_broadcast_ss(keep + r);
        QN_UNROLL
        for (size_t i = 0; i < n_vecs; i++) {
            sum[r][i] = _mm256_mul_ps(_mm256_loadu_ps(acc[r] + j0 + 8 * i), kept);
        }
    }
    for (size_t t = t0; t < t1; t++) {
        __m256 vt[8];
        QN_UNROLL
        for (size_t i = 0; i < n_vecs; i++) {
            vt[i] = qn_kv_load8(v, t * v_dim + j0 + 8 * i, type);
        }
        QN_UNROLL
        for (size_t r = 0; r < n_rows; r++) {
            __m256 pt = _mm256_broadcast_ss(p + r * p_stride + t);
            QN_UNROLL
            for (size_t i = 0; i < n_vecs; i++) {
                sum[r][i] = _mm256_fmadd_ps(pt, vt[i], sum[r][i]);
            }
        }
    }
    QN_UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        QN_UNROLL
        for (size_t i = 0; i < n_vecs; i++) {
            _mm256_storeu_ps(acc[r] + j0 + 8 * i, sum[r][i]);
        }
    }
}

/* Registers of sums per row: about 8 to 12 in all hide the latency of a multiply-add. */
QN_TILE size_t qn_tile_vecs(size_t n_rows)
{
    return n_rows == 1 ? 8 : n_rows <= 3 ? 4 : 2;
}

/* Scores of the tokens [t0, t1), both multiples of 8. */
QN_TILE void qn_score_rows(size_t n_rows, qn_type type, const float *const *q, size_t head_dim, const void *k,
                           size_t k_stride, size_t t0, size_t t1, float *s)
{
    const size_t wide = qn_tile_vecs(n_rows);
    size_t t = t0;
    for (; t + 8 * wide <= t1; t += 8 * wide) {
        qn_score_tile(n_rows, wide, type, q, head_dim, k, k_stride, t, s, k_stride);
    }
    for (; t + 16 <= t1 && wide > 2; t += 16) {
        qn_score_tile(n_rows, 2, type, q, head_dim, k, k_stride, t, s, k_stride);
    }
    for (; t < t1; t += 8) {
        qn_score_tile(n_rows, 1, type, q, head_dim, k, k_stride, t, s, k_stride);
    }
}

QN_TILE void qn_value_rows(size_t n_rows, qn_type type, const float *p, size_t p_stride, const float *keep, const void *v,
                           size_t v_dim, size_t t0, size_t t1, float *const *acc)
{
    const size_t wide = qn_tile_vecs(n_rows);
    size_t j = 0;
    for (; j + 8 * wide <= v_dim; j += 8 * wide) {
        qn_value_tile(n_rows, wide, type, p, p_stride, keep, v, v_dim, t0, t1, j, acc);
    }
    for (; j + 16 <= v_dim && wide > 2; j += 16) {
        qn_value_tile(n_rows, 2, type, p, p_stride, keep, v, v_dim, t0, t1, j, acc);
    }
    for (; j + 8 <= v_dim; j += 8) {
        qn_value_tile(n_rows, 1, type, p, p_stride, keep, v, v_dim, t0, t1, j, acc);
    }
    for (; j < v_dim; j++) {
        for (size_t r = 0; r < n_rows; r++) {
            __m128 sum = _mm_set_ss(acc[r][j] * keep[r]);
            for (size_t t = t0; t < t1; t++) {
                __m128 vt = _mm_set_ss(qn_kv_load1(v, t * v_dim + j, type));
                sum = _mm_fmadd_ss(_mm_set_ss(p[r * p_stride + t]), vt, sum);
            }
            acc[r][j] = _mm_cvtss_f32(sum);
        }
    }
}

#endif
