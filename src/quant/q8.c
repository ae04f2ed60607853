/* Q8_0, Q8_1 and Q8_K: signed bytes under one scale. The last two carry sums for products with types that have a
 * minimum; they are made for activations, so decoding looks at scale and codes alone.
 *
 *   Q8_0  f16 d | 32 bytes                    x = d * q
 *   Q8_1  f32 d | f32 s | 32 bytes            x = d * q, s = d * (sum of q)
 *   Q8_K  f32 d | 256 bytes | 16 times i16 h  x = d * q, h[j] = sum of q over elements 16 j to 16 j + 15
 *
 * Everywhere d = max|x| / 127 and q = x / d, halves away from zero.
 * SPDX-License-Identifier: MIT */
#include "quant/quant_int.h"

#define Q8_0_BYTES 34
#define Q8_1_BYTES 40
#define Q8_K_BYTES 292

static inline void scale_bytes(const uint8_t *q, float d, float *dst, int n)
{
    for (int j = 0; j < n; j++) {
        dst[j] = d * (float)(int8_t)q[j];
    }
}

/* Writes the codes of n elements and returns the scale. */
static inline float encode_bytes(const float *src, uint8_t *q, int n)
{
    float d = qn_max_abs(src, (size_t)n) / 127.0f;
    float id = qn_inverse(d);
    for (int j = 0; j < n; j++) {
        q[j] = (uint8_t)qn_round_away(src[j] * id);
    }
    return d;
}

static inline int sum_bytes(const uint8_t *q, int n)
{
    int sum = 0;
    for (int j = 0; j < n; j++) {
        sum += (int8_t)q[j];
    }
    return sum;
}

void qn_decode_q8_0(const void *src, float *dst, size_t n)
{
    const uint8_t *p = src;
    for (size_t i = 0; i < n; i += QN_QK, p += Q8_0_BYTES) {
        scale_bytes(p + 2, qn_load_f16(p), dst + i, QN_QK);
    }
}

void qn_decode_q8_1(const void *src, float *dst, size_t n)
{
    const uint8_t *p = src;
    for (size_t i = 0; i < n; i += QN_QK, p += Q8_1_BYTES) {
        scale_bytes(p + 8, qn_load_f32(p), dst + i, QN_QK);
    }
}

void qn_decode_q8_k(const void *src, float *dst, size_t n)
{
    const uint8_t *p = src;
    for (size_t i = 0; i < n; i += QN_QK_K, p += Q8_K_BYTES) {
        scale_bytes(p + 4, qn_load_f32(p), dst + i, QN_QK_K);
    }
}

void qn_encode_q8_0(const float *src, void *dst, size_t n, const float *weights)
{
    (void)weights;
    uint8_t *p = dst;
    for (size_t i = 0; i < n; i += QN_QK, p += Q8_0_BYTES) {
        qn_store_f16(p, encode_bytes(src + i, p + 2, QN_QK));
    }
}

void qn_encode_q8_1(const float *src, void *dst, size_t n, const float *weights)
{
    (void)weights;
    uint8_t *p = dst;
    for (size_t i = 0; i < n; i += QN_QK, p += Q8_1_BYTES) {
        float d = encode_bytes(src + i, p + 8, QN_QK);
        qn_store_f32(p, d);
        qn_store_f32(p + 4, d * (float)sum_bytes(p + 8, QN_QK));
    }
}

void qn_encode_q8_k(const float *src, void *dst, size_t n, const float *weights)
{
    (void)weights;
    uint8_t *p = dst;
    for (size_t i = 0; i < n; i += QN_QK_K, p += Q8_K_BYTES) {
        qn_store_f32(p, encode_bytes(src + i, p + 4, QN_QK_K));
        for (int j = 0; j < QN_QK_K / 16; j++) {
            qn_store_u16(p + 4 + QN_QK_K + 2 * j, (uint16_t)sum_bytes(p + 4 + 16 * j, 16));
        }
    }
}
