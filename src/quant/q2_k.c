/* Q2_K: 16 sub-blocks of 16 elements of 2 bits, each with a scale and a minimum of 4 bits.
 *
 *   16 bytes: scale (low half) and minimum of a sub-block | 64 bytes of codes | f16 d | f16 dmin
 *   x = d * scale * q - dmin * minimum
 *
 * Element h * 128 + t * 32 + j is bits 2 t, 2 t + 1 of byte h * 32 + j of the codes.
 * SPDX-License-Identifier: MIT */
#include "quant/quant_int.h"

#define BYTES 84
#define CODES 16
#define D 80
#define DMIN 82

void qn_decode_q2_k(const void *src, float *dst, size_t n)
{
    const uint8_t *p = src;
    for (size_t i = 0; i < n; i += QN_QK_K, p += BYTES) {
        float d = qn_load_f16(p + D);
        float dmin = qn_load_f16(p + DMIN);
        for (int s = 0; s < 16; s++, dst += 16) {
            float scale = d * (float)(p[s] & 15);
            float min = dmin * (float)(p[s] >> 4);
            const uint8_t *q = p + CODES + s / 8 * 32 + s % 2 * 16;
            int shift = s / 2 % 4 * 2;
            for (int j = 0; j < 16; j++) {
                dst[j] = scale * (float)(q[j] >> shift & 3) - min;
            }
        }
    }
}
