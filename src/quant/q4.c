/* Q4_0 and Q4_1: 32 elements of 4 bits under one scale, without and with a minimum.
 * Byte j of the codes holds element j in its low half and element j + 16 in its high half.
 *
 *   Q4_0  f16 d | 16 bytes          x = d * (q - 8)
 *   Q4_1  f16 d | f16 m | 16 bytes  x = d * q + m
 *
 * SPDX-License-Identifier: MIT */
#include "quant/fit.h"

#define Q4_0_BYTES 18
#define Q4_1_BYTES 20

void qn_decode_q4_0(const void *src, float *dst, size_t n)
{
    const uint8_t *p = src;
    for (size_t i = 0; i < n; i += QN_QK, p += Q4_0_BYTES, dst += QN_QK) {
        float d = qn_load_f16(p);
        for (int j = 0; j < 16; j++) {
            dst[j] = d * (float)((p[2 + j] & 15) - 8);
            dst[j + 16] = d * (float)((p[2 + j] >> 4) - 8);
        }
    }
}

void qn_decode_q4_1(const void *src, float *dst, size_t n)
{
    const uint8_t *p = src;
    for (size_t i = 0; i < n; i += QN_QK, p += Q4_1_BYTES, dst += QN_QK) {
        float d = qn_load_f16(p);
        float m = qn_load_f16(p + 2);
        for (int j = 0; j < 16; j++) {
            dst[j] = d * (float)(p[4 + j] & 15) + m;
            dst[j + 16] = d * (float)(p[4 + j] >> 4) + m;
        }
    }
}

static inline uint8_t clip15(uint8_t q) { return q > 15 ? 15 : q; }

/* With importances the scale is searched for; without, the published definition is followed to the bit. */
static const qn_fit_form q4_0_form = {
    .n_sub = 1, .sub_len = 32, .level_min = -8, .level_max = 7, .scale_min = 1, .scale_max = 1};
static const qn_fit_form q4_1_form = {
    .n_sub = 1, .sub_len = 32, .level_max = 15, .scale_min = 1, .scale_max = 1, .min_max = 1};

static void encode_q4_0_weighted(const float *src, uint8_t *p, size_t n, const float *weights)
{
    for (size_t i = 0; i < n; i += QN_QK, p += Q4_0_BYTES) {
        qn_fit f;
        qn_fit_result r;
        qn_fit_open(&f, src + i, weights + i, QN_QK);
        qn_fit_symmetric(&f, &q4_0_form, &r);
        qn_store_u16(p, r.d);
        for (int j = 0; j < 16; j++) {
            p[2 + j] = (uint8_t)((r.q[j] + 8) | (r.q[j + 16] + 8) << 4);
        }
    }
}

static void encode_q4_1_weighted(const float *src, uint8_t *p, size_t n, const float *weights)
{
    for (size_t i = 0; i < n; i += QN_QK, p += Q4_1_BYTES) {
        qn_fit f;
        qn_fit_result r;
        qn_fit_open(&f, src + i, weights + i, QN_QK);
        qn_fit_affine(&f, &q4_1_form, &r);
        qn_store_u16(p, r.d);
        qn_store_u16(p + 2, r.dmin ^ 0x8000u); /* added here, subtracted there */
        for (int j = 0; j < 16; j++) {
            p[4 + j] = (uint8_t)(r.q[j] | r.q[j + 16] << 4);
        }
    }
}

void qn_encode_q4_0(const float *src, void *dst, size_t n, const float *weights)
{
    if (weights != NULL) {
        encode_q4_0_weighted(src, dst, n, weights);
        return;
    }
    uint8_t *p = dst;
    for (size_t i = 0; i < n; i += QN_QK, p += Q4_0_BYTES, src += QN_QK) {
        float d = qn_max_signed(src, QN_QK) / -8.0f;
        float id = qn_inverse(d);
        qn_store_f16(p, d);
        for (int j = 0; j < 16; j++) {
            uint8_t low = clip15(qn_trunc_u8(src[j] * id + 8.5f));
            uint8_t high = clip15(qn_trunc_u8(src[j + 16] * id + 8.5f));
            p[2 + j] = (uint8_t)(low | high << 4);
        }
    }
}

void qn_encode_q4_1(const float *src, void *dst, size_t n, const float *weights)
{
    if (weights != NULL) {
        encode_q4_1_weighted(src, dst, n, weights);
        return;
    }
    uint8_t *p = dst;
    for (size_t i = 0; i < n; i += QN_QK, p += Q4_1_BYTES, src += QN_QK) {
        float min, max;
        qn_min_max(src, QN_QK, &min, &max);
        float d = (max - min) / 15.0f;
        float id = qn_inverse(d);
        qn_store_f16(p, d);
        qn_store_f16(p + 2, min);
        for (int j = 0; j < 16; j++) {
            uint8_t low = clip15(qn_trunc_u8((src[j] - min) * id + 0.5f));
            uint8_t high = clip15(qn_trunc_u8((src[j + 16] - min) * id + 0.5f));
            p[4 + j] = (uint8_t)(low | high << 4);
        }
    }
}
