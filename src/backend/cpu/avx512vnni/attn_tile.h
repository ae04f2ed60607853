/* The two products of attention over a KV page: a few query rows times a few registers of tokens (or dimensions).
 * n_rows, n_vecs and type are constants wherever these are expanded, so that all sums live in registers.
 * Every sum is one chain of fused multiply-adds in order of d (scores) or t (values), whatever the tile's shape:
 * a row's bits do not depend on the rows beside it. SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_AVX512VNNI_ATTN_TILE_H
#define QN_BACKEND_CPU_AVX512VNNI_ATTN_TILE_H

#include "backend/cpu/avx512vnni/simd_int.h"
#include "quant/quant.h"

/* 8 rows x 2 registers of sums: twice what hides the latency of a multiply-add, so that one broadcast serves two. */
#define QN_ATTN_ROWS 8
#define QN_ATTN_VECS 4 /* at most */

/* The lanes of m (all of them where m is a constant 0xFFFF, at no cost) from element i of a page on. */
QN_INLINE __m512 qn_kv_load16(const void *data, size_t i, __mmask16 m, qn_type type)
{
    if (type == QN_TYPE_F16) {
        return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(m, (const uint16_t *)data + i));
    }
    if (type == QN_TYPE_BF16) {
        __m512i wide = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(m, (const uint16_t *)data + i));
        return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
    }
    return _mm512_maskz_loadu_ps(m, (const float *)data + i);
}

/* s[r * k_stride + t] = sum over d of q[r * q_stride + d] * k[d * k_stride + t], t in [t0, t0 + 16 * n_vecs), of which
 * lanes outside m are neither read nor written. */
QN_INLINE void qn_score_tile(size_t n_rows, size_t n_vecs, qn_type type, __mmask16 m, const float *q, size_t q_stride,
                             size_t head_dim, const void *k, size_t k_stride, size_t t0, float *s)
{
    __m512 sum[QN_ATTN_ROWS][QN_ATTN_VECS];
    QN_UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        QN_UNROLL
        for (size_t v = 0; v < n_vecs; v++) {
            sum[r][v] = _mm512_setzero_ps();
        }
    }
    for (size_t d = 0; d < head_dim; d++) {
        __m512 kd[QN_ATTN_VECS];
        QN_UNROLL
        for (size_t v = 0; v < n_vecs; v++) {
            kd[v] = qn_kv_load16(k, d * k_stride + t0 + 16 * v, m, type);
        }
        QN_UNROLL
        for (size_t r = 0; r < n_rows; r++) {
            __m512 qd = _mm512_set1_ps(q[r * q_stride + d]);
            QN_UNROLL
            for (size_t v = 0; v < n_vecs; v++) {
                sum[r][v] = _mm512_fmadd_ps(qd, kd[v], sum[r][v]);
            }
        }
    }
    QN_UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        QN_UNROLL
        for (size_t v = 0; v < n_vecs; v++) {
            _mm512_mask_storeu_ps(s + r * k_stride + t0 + 16 * v, m, sum[r][v]);
        }
    }
}

/* acc[r * v_dim + j] = acc[r * v_dim + j] * keep[r] + sum over t in [t0, t1) of p[r * p_stride + t] *
 * v[t * v_dim + j], j in [j0, j0 + 16 * n_vecs), of which lanes outside m are neither read nor written. */
QN_INLINE void qn_value_tile(size_t n_rows, size_t n_vecs, qn_type type, __mmask16 m, const float *p, size_t p_stride,
                             const float *keep, const void *v, size_t v_dim, size_t t0, size_t t1, size_t j0,
                             float *acc)
{
    __m512 sum[QN_ATTN_ROWS][QN_ATTN_VECS];
    QN_UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        __m512 kept = _mm512_set1_ps(keep[r]);
        QN_UNROLL
        for (size_t i = 0; i < n_vecs; i++) {
            sum[r][i] = _mm512_mul_ps(_mm512_maskz_loadu_ps(m, acc + r * v_dim + j0 + 16 * i), kept);
        }
    }
    for (size_t t = t0; t < t1; t++) {
        __m512 vt[QN_ATTN_VECS];
        QN_UNROLL
        for (size_t i = 0; i < n_vecs; i++) {
            vt[i] = qn_kv_load16(v, t * v_dim + j0 + 16 * i, m, type);
        }
        QN_UNROLL
        for (size_t r = 0; r < n_rows; r++) {
            __m512 pt = _mm512_set1_ps(p[r * p_stride + t]);
            QN_UNROLL
            for (size_t i = 0; i < n_vecs; i++) {
                sum[r][i] = _mm512_fmadd_ps(pt, vt[i], sum[r][i]);
            }
        }
    }
    QN_UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        QN_UNROLL
        for (size_t i = 0; i < n_vecs; i++) {
            _mm512_mask_storeu_ps(acc + r * v_dim + j0 + 16 * i, m, sum[r][i]);
        }
    }
}

/* Registers of sums per row: at most 24 of the 32 in all. */
QN_INLINE size_t qn_tile_vecs(size_t n_rows)
{
    return n_rows <= 6 ? 4 : 2;
}

/* Scores of the tokens [t0, t1): t0 a multiple of 16, t1 of 16 or the page's end. */
QN_INLINE void qn_score_rows(size_t n_rows, qn_type type, const float *q, size_t q_stride, size_t head_dim, const void *k,
                             size_t k_stride, size_t t0, size_t t1, float *s)
{
    const size_t wide = qn_tile_vecs(n_rows);
    size_t t = t0;
    for (; t + 16 * wide <= t1; t += 16 * wide) {
        qn_score_tile(n_rows, wide, type, 0xFFFF, q, q_stride, head_dim, k, k_stride, t, s);
    }
    for (; t + 32 <= t1 && wide > 2; t += 32) {
        qn_score_tile(n_rows, 2, type, 0xFFFF, q, q_stride, head_dim, k, k_stride, t, s);
    }
    for (; t < t1; t += 16) {
        __mmask16 m = qn_first_lanes(t1 - t < 16 ? t1 - t : 16);
        qn_score_tile(n_rows, 1, type, m, q, q_stride, head_dim, k, k_stride, t, s);
    }
}

QN_INLINE void qn_value_rows(size_t n_rows, qn_type type, const float *p, size_t p_stride, const float *keep,
                             const void *v, size_t v_dim, size_t t0, size_t t1, float *acc)
{
    const size_t wide = qn_tile_vecs(n_rows);
    size_t j = 0;
    for (; j + 16 * wide <= v_dim; j += 16 * wide) {
        qn_value_tile(n_rows, wide, type, 0xFFFF, p, p_stride, keep, v, v_dim, t0, t1, j, acc);
    }
    for (; j + 32 <= v_dim && wide > 2; j += 32) {
        qn_value_tile(n_rows, 2, type, 0xFFFF, p, p_stride, keep, v, v_dim, t0, t1, j, acc);
    }
    for (; j < v_dim; j += 16) {
        __mmask16 m = qn_first_lanes(v_dim - j < 16 ? v_dim - j : 16);
        qn_value_tile(n_rows, 1, type, m, p, p_stride, keep, v, v_dim, t0, t1, j, acc);
    }
}

#endif
