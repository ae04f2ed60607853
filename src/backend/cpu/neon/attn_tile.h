/* The two products of attention over a KV page: a few query rows times a few registers of tokens (or dimensions).
 * n_rows, n_vecs and type are constants wherever these are expanded, so that all sums live in registers.
 * Every sum is one chain of fused multiply-adds in order of d (scores) or t (values), whatever the tile's shape:
 * a row's bits do not depend on the rows beside it. Private to backend/cpu/neon.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_NEON_ATTN_TILE_H
#define QN_BACKEND_CPU_NEON_ATTN_TILE_H

#include <math.h>

#include "backend/cpu/neon/simd_int.h"
#include "quant/quant.h"

/* 6 rows x 4 registers of sums leave 8 of the 32 for operands. */
enum { QN_ATTN_ROWS = 6, QN_ATTN_VECS = 8 };

QN_INLINE float32x4_t qn_kv_load4(const void *data, size_t i, qn_type type)
{
    if (type == QN_TYPE_F16) {
        return qn_load4_f16((const uint16_t *)data + i);
    }
    if (type == QN_TYPE_BF16) {
        return qn_load4_bf16((const uint16_t *)data + i);
    }
    return vld1q_f32((const float *)data + i);
}

QN_INLINE float qn_kv_load1(const void *data, size_t i, qn_type type)
{
    if (type == QN_TYPE_F16) {
        return qn_get_f16((const uint16_t *)data + i);
    }
    if (type == QN_TYPE_BF16) {
        return qn_bf16_to_f32(((const uint16_t *)data)[i]);
    }
    return ((const float *)data)[i];
}

/* s[r * s_stride + t] = sum over d of q[r][d] * k[d * k_stride + t], t in [t0, t0 + 4 * n_vecs). */
QN_INLINE void qn_score_tile(size_t n_rows, size_t n_vecs, qn_type type, const float *const *q, size_t head_dim,
                             const void *k, size_t k_stride, size_t t0, float *s, size_t s_stride)
{
    float32x4_t sum[QN_ATTN_ROWS][QN_ATTN_VECS];
    QN_UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        QN_UNROLL
        for (size_t v = 0; v < n_vecs; v++) {
            sum[r][v] = vdupq_n_f32(0.0F);
        }
    }
    for (size_t d = 0; d < head_dim; d++) {
        float32x4_t kd[QN_ATTN_VECS];
        QN_UNROLL
        for (size_t v = 0; v < n_vecs; v++) {
            kd[v] = qn_kv_load4(k, d * k_stride + t0 + 4 * v, type);
        }
        QN_UNROLL
        for (size_t r = 0; r < n_rows; r++) {
            QN_UNROLL
            for (size_t v = 0; v < n_vecs; v++) {
                sum[r][v] = vfmaq_n_f32(sum[r][v], kd[v], q[r][d]);
            }
        }
    }
    QN_UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        QN_UNROLL
        for (size_t v = 0; v < n_vecs; v++) {
            vst1q_f32(s + r * s_stride + t0 + 4 * v, sum[r][v]);
        }
    }
}

/* acc[r][j] = acc[r][j] * keep[r] + sum over t in [t0, t1) of p[r * p_stride + t] * v[t * v_dim + j],
 * j in [j0, j0 + 4 * n_vecs). */
QN_INLINE void qn_value_tile(size_t n_rows, size_t n_vecs, qn_type type, const float *p, size_t p_stride,
                             const float *keep, const void *v, size_t v_dim, size_t t0, size_t t1, size_t j0,
                             float *const *acc)
{
    float32x4_t sum[QN_ATTN_ROWS][QN_ATTN_VECS];
    QN_UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        QN_UNROLL
        for (size_t i = 0; i < n_vecs; i++) {
            sum[r][i] = vmulq_n_f32(vld1q_f32(acc[r] + j0 + 4 * i), keep[r]);
        }
    }
    for (size_t t = t0; t < t1; t++) {
        float32x4_t vt[QN_ATTN_VECS];
        QN_UNROLL
        for (size_t i = 0; i < n_vecs; i++) {
            vt[i] = qn_kv_load4(v, t * v_dim + j0 + 4 * i, type);
        }
        QN_UNROLL
        for (size_t r = 0; r < n_rows; r++) {
            QN_UNROLL
            for (size_t i = 0; i < n_vecs; i++) {
                sum[r][i] = vfmaq_n_f32(sum[r][i], vt[i], p[r * p_stride + t]);
            }
        }
    }
    QN_UNROLL
    for (size_t r = 0; r < n_rows; r++) {
        QN_UNROLL
        for (size_t i = 0; i < n_vecs; i++) {
            vst1q_f32(acc[r] + j0 + 4 * i, sum[r][i]);
        }
    }
}

/* Registers of sums per row: some 8 to 24 in all hide the latency of a multiply-add. */
QN_INLINE size_t qn_tile_vecs(size_t n_rows)
{
    return n_rows == 1 ? 8 : 4;
}

/* Scores of the tokens [t0, t1), both multiples of 4. */
QN_INLINE void qn_score_rows(size_t n_rows, qn_type type, const float *const *q, size_t head_dim, const void *k,
                             size_t k_stride, size_t t0, size_t t1, float *s)
{
    const size_t wide = qn_tile_vecs(n_rows);
    size_t t = t0;
    for (; t + 4 * wide <= t1; t += 4 * wide) {
        qn_score_tile(n_rows, wide, type, q, head_dim, k, k_stride, t, s, k_stride);
    }
    for (; t < t1; t += 4) {
        qn_score_tile(n_rows, 1, type, q, head_dim, k, k_stride, t, s, k_stride);
    }
}

QN_INLINE void qn_value_rows(size_t n_rows, qn_type type, const float *p, size_t p_stride, const float *keep,
                             const void *v, size_t v_dim, size_t t0, size_t t1, float *const *acc)
{
    const size_t wide = qn_tile_vecs(n_rows);
    size_t j = 0;
    for (; j + 4 * wide <= v_dim; j += 4 * wide) {
        qn_value_tile(n_rows, wide, type, p, p_stride, keep, v, v_dim, t0, t1, j, acc);
    }
    for (; j + 4 <= v_dim; j += 4) {
        qn_value_tile(n_rows, 1, type, p, p_stride, keep, v, v_dim, t0, t1, j, acc);
    }
    for (; j < v_dim; j++) {
        for (size_t r = 0; r < n_rows; r++) {
            float sum = acc[r][j] * keep[r];
            for (size_t t = t0; t < t1; t++) {
                sum = fmaf(p[r * p_stride + t], qn_kv_load1(v, t * v_dim + j, type), sum);
            }
            acc[r][j] = sum;
        }
    }
}

#endif
