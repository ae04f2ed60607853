/* Q3_K: 16 sub-blocks of 16 elements of 3 bits, each with a signed scale of 6 bits.
 *
 *   32 bytes of high bits | 64 bytes of low bits | 12 bytes of scales | f16 d
 *   x = d * (scale - 32) * (q - 4)
 *
 * Low bits lie as in Q2_K; the high bit of element t * 32 + j is bit t of byte j.
 * The low 4 bits of scale s are in byte s % 8 (low half for s < 8), its high 2 bits in byte 8 + s % 4 at 2 * (s / 4).
 * SPDX-License-Identifier: MIT */
#include "quant/fit.h"

#define BYTES 110
#define LOW 32
#define SCALES 96
#define D 108

static inline int scale_of(const uint8_t *packed, int s)
{
    int low = packed[s % 8] >> (s / 8 * 4) & 15;
    int high = packed[8 + s % 4] >> (s / 4 * 2) & 3;
    return (low | high << 4) - 32;
}

void qn_decode_q3_k(const void *src, float *dst, size_t n)
{
    const uint8_t *p = src;
    for (size_t i = 0; i < n; i += QN_QK_K, p += BYTES) {
        float d = qn_load_f16(p + D);
        for (int s = 0; s < 16; s++, dst += 16) {
            float scale = d * (float)scale_of(p + SCALES, s);
            const uint8_t *low = p + LOW + s / 8 * 32 + s % 2 * 16;
            const uint8_t *high = p + s % 2 * 16;
            int shift = s / 2 % 4 * 2;
            int bit = s / 2;
            for (int j = 0; j < 16; j++) {
                int q = (low[j] >> shift & 3) | (high[j] >> bit & 1) << 2;
                dst[j] = scale * (float)(q - 4);
            }
        }
    }
}

static const qn_fit_form form = {
    .n_sub = 16, .sub_len = 16, .level_min = -4, .level_max = 3, .scale_min = -32, .scale_max = 31};

void qn_encode_q3_k(const float *src, void *dst, size_t n, const float *weights)
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
            int scale = r.scale[s] + 32;
            p[SCALES + s % 8] |= (uint8_t)((scale & 15) << (s / 8 * 4));
            p[SCALES + 8 + s % 4] |= (uint8_t)(scale >> 4 << (s / 4 * 2));
            uint8_t *low = p + LOW + s / 8 * 32 + s % 2 * 16;
            uint8_t *high = p + s % 2 * 16;
            for (int j = 0; j < 16; j++) {
                int q = r.q[16 * s + j] + 4;
                low[j] |= (uint8_t)((q & 3) << (s / 2 % 4 * 2));
                high[j] |= (uint8_t)(q >> 2 << (s / 2));
            }
        }
    }
}
