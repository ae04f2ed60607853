/* Q3_K: 16 sub-blocks of 16 elements of 3 bits, each with a signed scale of 6 bits.
 *
 *   32 bytes of high bits | 64 bytes of low bits | 12 bytes of scales | f16 d
 *   x = d * (scale - 32) * (q - 4)
 *
 * Low bits lie as in Q2_K; the high bit of element t * 32 + j is bit t of byte j.
 * The low 4 bits of scale s are in byte s % 8 (low half for s < 8), its high 2 bits in byte 8 + s % 4 at 2 * (s / 4).
 * SPDX-License-Identifier: MIT */
#include "quant/quant_int.h"

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
