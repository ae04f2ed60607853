/* Q5_0 and Q5_1: 32 elements of 5 bits under one scale, without and with a minimum.
 * Low bits lie as in Q4_0; the fifth bit of element j is bit j of a 32-bit word.
 *
 *   Q5_0  f16 d | u32 high | 16 bytes          x = d * (q - 16)
 *   Q5_1  f16 d | f16 m | u32 high | 16 bytes  x = d * q + m
 *
 * SPDX-License-Identifier: MIT */
#include "quant/fit.h"

#define Q5_0_BYTES 22
#define Q5_1_BYTES 24

/* The codes of a block; p points at the word of fifth bits. */
static inline void unpack(const uint8_t *p, uint8_t q[QN_QK])
{
    uint32_t high = qn_load_u32(p);
    for (int j = 0; j < 16; j++) {
        q[j] = (uint8_t)((p[4 + j] & 15) | (high >> j & 1u) << 4);
        q[j + 16] = (uint8_t)(p[4 + j] >> 4 | (high >> (j + 16) & 1u) << 4);
    }
}

static inline void pack(const uint8_t q[QN_QK], uint8_t *p)
{
    uint32_t high = 0;
    for (int j = 0; j < QN_QK; j++) {
        high |= (uint32_t)(q[j] >> 4) << j;
    }
    qn_store_u32(p, high);
    for (int j = 0; j < 16; j++) {
        p[4 + j] = (uint8_t)((q[j] & 15) | (q[j + 16] & 15) << 4);
    }
}

void qn_decode_q5_0(const void *src, float *dst, size_t n)
{
    const uint8_t *p = src;
    for (size_t i = 0; i < n; i += QN_QK, p += Q5_0_BYTES, dst += QN_QK) {
        float d = qn_load_f16(p);
        uint8_t q[QN_QK];
        unpack(p + 2, q);
        for (int j = 0; j < QN_QK; j++) {
            dst[j] = d * (float)(q[j] - 16);
        }
    }
}

void qn_decode_q5_1(const void *src, float *dst, size_t n)
{
    const uint8_t *p = src;
    for (size_t i = 0; i < n; i += QN_QK, p += Q5_1_BYTES, dst += QN_QK) {
        float d = qn_load_f16(p);
        float m = qn_load_f16(p + 2);
        uint8_t q[QN_QK];
        unpack(p + 4, q);
        for (int j = 0; j < QN_QK; j++) {
            dst[j] = d * (float)q[j] + m;
        }
    }
}

static inline uint8_t clip31(uint8_t q) { return q > 31 ? 31 : q; }

/* With importances the scale is searched for; without, the published definition is followed to the bit. */
static const qn_fit_form q5_0_form = {
    .n_sub = 1, .sub_len = 32, .level_min = -16, .level_max = 15, .scale_min = 1, .scale_max = 1};
static const qn_fit_form q5_1_form = {
    .n_sub = 1, .sub_len = 32, .level_max = 31, .scale_min = 1, .scale_max = 1, .min_max = 1};

static void encode_q5_0_weighted(const float *src, uint8_t *p, size_t n, const float *weights)
{
    for (size_t i = 0; i < n; i += QN_QK, p += Q5_0_BYTES) {
        qn_fit f;
        qn_fit_result r;
        uint8_t q[QN_QK];
        qn_fit_open(&f, src + i, weights + i, QN_QK);
        qn_fit_symmetric(&f, &q5_0_form, &r);
        for (int j = 0; j < QN_QK; j++) {
            q[j] = (uint8_t)(r.q[j] + 16);
        }
        qn_store_u16(p, r.d);
        pack(q, p + 2);
    }
}

static void encode_q5_1_weighted(const float *src, uint8_t *p, size_t n, const float *weights)
{
    for (size_t i = 0; i < n; i += QN_QK, p += Q5_1_BYTES) {
        qn_fit f;
        qn_fit_result r;
        uint8_t q[QN_QK];
        qn_fit_open(&f, src + i, weights + i, QN_QK);
        qn_fit_affine(&f, &q5_1_form, &r);
        for (int j = 0; j < QN_QK; j++) {
            q[j] = (uint8_t)r.q[j];
        }
        qn_store_u16(p, r.d);
        qn_store_u16(p + 2, r.dmin ^ 0x8000u); /* added here, subtracted there */
        pack(q, p + 4);
    }
}

void qn_encode_q5_0(const float *src, void *dst, size_t n, const float *weights)
{
    if (weights != NULL) {
        encode_q5_0_weighted(src, dst, n, weights);
        return;
    }
    uint8_t *p = dst;
    for (size_t i = 0; i < n; i += QN_QK, p += Q5_0_BYTES, src += QN_QK) {
        float d = qn_max_signed(src, QN_QK) / -16.0f;
        float id = qn_inverse(d);
        uint8_t q[QN_QK];
        for (int j = 0; j < QN_QK; j++) {
            q[j] = clip31(qn_trunc_u8(src[j] * id + 16.5f));
        }
        qn_store_f16(p, d);
        pack(q, p + 2);
    }
}

void qn_encode_q5_1(const float *src, void *dst, size_t n, const float *weights)
{
    if (weights != NULL) {
        encode_q5_1_weighted(src, dst, n, weights);
        return;
    }
    uint8_t *p = dst;
    for (size_t i = 0; i < n; i += QN_QK, p += Q5_1_BYTES, src += QN_QK) {
        float min, max;
        qn_min_max(src, QN_QK, &min, &max);
        float d = (max - min) / 31.0f;
        float id = qn_inverse(d);
        uint8_t q[QN_QK];
        for (int j = 0; j < QN_QK; j++) {
            q[j] = clip31(qn_trunc_u8((src[j] - min) * id + 0.5f));
        }
        qn_store_f16(p, d);
        qn_store_f16(p + 2, min);
        pack(q, p + 4);
    }
}
