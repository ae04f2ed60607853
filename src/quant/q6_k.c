/* Q6_K: 16 sub-blocks of 16 elements of 6 bits, each with a signed scale of 8 bits.
 *
 *   128 bytes of low bits | 64 bytes of high bits | 16 bytes of scales | f16 d
 *   x = d * scale * (q - 32)
 *
 * Element h * 128 + t * 32 + j has its low 4 bits in byte h * 64 + t % 2 * 32 + j (high half for t > 1) and its high
 * 2 bits at 2 * t of byte h * 32 + j.
 * SPDX-License-Identifier: MIT */
#include "quant/fit.h"

#define BYTES 210
#define HIGH 128
#define SCALES 192
#define D 208

void qn_decode_q6_k(const void *src, float *dst, size_t n)
{
    const uint8_t *p = src;
    for (size_t i = 0; i < n; i += QN_QK_K, p += BYTES) {
        float d = qn_load_f16(p + D);
        for (int s = 0; s < 16; s++, dst += 16) {
            float scale = d * (float)(int8_t)p[SCALES + s];
            int h = s / 8, t = s / 2 % 4;
            const uint8_t *low = p + h * 64 + t % 2 * 32 + s % 2 * 16;
            const uint8_t *high = p + HIGH + h * 32 + s % 2 * 16;
            for (int j = 0; j < 16; j++) {
                int q = (low[j] >> (t / 2 * 4) & 15) | (high[j] >> (2 * t) & 3) << 4;
                dst[j] = scale * (float)(q - 32);
            }
        }
    }
}

static const qn_fit_form form = {
    .n_sub = 16, .sub_len = 16, .level_min = -32, .level_max = 31, .scale_min = -128, .scale_max = 127};

void qn_encode_q6_k(const float *src, void *dst, size_t n, const float *weights)
{
    uint8_t *p = dst;
    for (size_t i = 0; i < n; i += QN_QK_K, p += BYTES) {
        qn_fit f;
        qn_fit_result r;
        qn_fit_open(&f, src + i, weights != NULL ? weights + i : NULL, QN_QK_K);
        qn_fit_symmetric(&f, &form, &r);
        memset(p, 0, BYTES);
        qn_store_u16(p + D, r.d);
        for (int s = 0; s < 16; s++) {
            p[SCALES + s] = (uint8_t)r.scale[s];
            int h = s / 8, t = s / 2 % 4;
            uint8_t *low = p + h * 64 + t % 2 * 32 + s % 2 * 16;
            uint8_t *high = p + HIGH + h * 32 + s % 2 * 16;
            for (int j = 0; j < 16; j++) {
                int q = r.q[16 * s + j] + 32;
                low[j] |= (uint8_t)((q & 15) << (t / 2 * 4));
                high[j] |= (uint8_t)(q >> 4 << (2 * t));
            }
        }
    }
}
