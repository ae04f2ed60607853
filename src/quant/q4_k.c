/* Q4_K and Q5_K: 8 sub-blocks of 32 elements of 4 or 5 bits, each with a scale and a minimum of 6 bits.
 *
 *   Q4_K  f16 d | f16 dmin | 12 bytes of scales and minima | 128 bytes of codes
 *   Q5_K  f16 d | f16 dmin | 12 bytes of scales and minima | 32 bytes of fifth bits | 128 bytes of codes
 *   x = d * scale * q - dmin * minimum
 *
 * Byte g * 32 + j of the codes holds element g * 64 + j in its low half and element g * 64 + 32 + j in its high half;
 * the fifth bit of element s * 32 + j is bit s of byte j.
 * SPDX-License-Identifier: MIT */
#include "quant/fit.h"

#define Q4_K_BYTES 144
#define Q5_K_BYTES 176
#define DMIN 2
#define SCALES 4
#define Q4_K_CODES 16
#define Q5_K_FIFTH 16
#define Q5_K_CODES 48

void qn_decode_q4_k(const void *src, float *dst, size_t n)
{
    const uint8_t *p = src;
    for (size_t i = 0; i < n; i += QN_QK_K, p += Q4_K_BYTES) {
        float d = qn_load_f16(p);
        float dmin = qn_load_f16(p + DMIN);
        for (int s = 0; s < 8; s++, dst += 32) {
            uint8_t scale6, min6;
            qn_k4_scale_min(p + SCALES, s, &scale6, &min6);
            float scale = d * (float)scale6;
            float min = dmin * (float)min6;
            const uint8_t *q = p + Q4_K_CODES + s / 2 * 32;
            int shift = s % 2 * 4;
            for (int j = 0; j < 32; j++) {
                dst[j] = scale * (float)(q[j] >> shift & 15) - min;
            }
        }
    }
}

void qn_decode_q5_k(const void *src, float *dst, size_t n)
{
    const uint8_t *p = src;
    for (size_t i = 0; i < n; i += QN_QK_K, p += Q5_K_BYTES) {
        float d = qn_load_f16(p);
        float dmin = qn_load_f16(p + DMIN);
        const uint8_t *fifth = p + Q5_K_FIFTH;
        for (int s = 0; s < 8; s++, dst += 32) {
            uint8_t scale6, min6;
            qn_k4_scale_min(p + SCALES, s, &scale6, &min6);
            float scale = d * (float)scale6;
            float min = dmin * (float)min6;
            const uint8_t *q = p + Q5_K_CODES + s / 2 * 32;
            int shift = s % 2 * 4;
            for (int j = 0; j < 32; j++) {
                dst[j] = scale * (float)((q[j] >> shift & 15) | (fifth[j] >> s & 1) << 4) - min;
            }
        }
    }
}

static void pack_scales(const qn_fit_result *r, uint8_t *packed)
{
    for (int j = 0; j < 4; j++) {
        packed[j] = (uint8_t)(r->scale[j] | r->scale[j + 4] >> 4 << 6);
        packed[j + 4] = (uint8_t)(r->min[j] | r->min[j + 4] >> 4 << 6);
        packed[j + 8] = (uint8_t)((r->scale[j + 4] & 15) | (r->min[j + 4] & 15) << 4);
    }
}

static void pack_nibbles(const int8_t *q, uint8_t *codes)
{
    for (int g = 0; g < 4; g++, q += 64, codes += 32) {
        for (int j = 0; j < 32; j++) {
            codes[j] = (uint8_t)((q[j] & 15) | (q[j + 32] & 15) << 4);
        }
    }
}

static const qn_fit_form q4_k_form = {
    .n_sub = 8, .sub_len = 32, .level_max = 15, .scale_max = 63, .min_max = 63};
static const qn_fit_form q5_k_form = {
    .n_sub = 8, .sub_len = 32, .level_max = 31, .scale_max = 63, .min_max = 63};

void qn_encode_q4_k(const float *src, void *dst, size_t n, const float *weights)
{
    uint8_t *p = dst;
    for (size_t i = 0; i < n; i += QN_QK_K, p += Q4_K_BYTES) {
        qn_fit f;
        qn_fit_result r;
        qn_fit_open(&f, src + i, weights != NULL ? weights + i : NULL, QN_QK_K);
        qn_fit_affine(&f, &q4_k_form, &r);
        qn_store_u16(p, r.d);
        qn_store_u16(p + DMIN, r.dmin);
        pack_scales(&r, p + SCALES);
        pack_nibbles(r.q, p + Q4_K_CODES);
    }
}

void qn_encode_q5_k(const float *src, void *dst, size_t n, const float *weights)
{
    uint8_t *p = dst;
    for (size_t i = 0; i < n; i += QN_QK_K, p += Q5_K_BYTES) {
        qn_fit f;
        qn_fit_result r;
        qn_fit_open(&f, src + i, weights != NULL ? weights + i : NULL, QN_QK_K);
        qn_fit_affine(&f, &q5_k_form, &r);
        qn_store_u16(p, r.d);
        qn_store_u16(p + DMIN, r.dmin);
        pack_scales(&r, p + SCALES);
        memset(p + Q5_K_FIFTH, 0, Q5_K_CODES - Q5_K_FIFTH);
        for (int j = 0; j < QN_QK_K; j++) {
            p[Q5_K_FIFTH + j % 32] |= (uint8_t)(r.q[j] >> 4 << (j / 32));
        }
        pack_nibbles(r.q, p + Q5_K_CODES);
    }
}
