/* Q6_K: 16 sub-blocks of 16 elements of 6 bits, each with a signed scale of 8 bits.
 *
 *   128 bytes of low bits | 64 bytes of high bits | 16 bytes of scales | f16 d
 *   x = d * scale * (q - 32)
 *
 * Element h * 128 + t * 32 + j has its low 4 bits in byte h * 64 + t % 2 * 32 + j (high half for t > 1) and its high
 * 2 bits at 2 * t of byte h * 32 + j.
 * SPDX-License-Identifier: MIT */
#include "quant/quant_int.h"

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
