/* Q4_K and Q5_K: 8 sub-blocks of 32 elements of 4 or 5 bits, each with a scale and a minimum of 6 bits.
 *
 *   Q4_K  f16 d | f16 dmin | 12 bytes of scales and minima | 128 bytes of codes
 *   Q5_K  f16 d | f16 dmin | 12 bytes of scales and minima | 32 bytes of fifth bits | 128 bytes of codes
 *   x = d * scale * q - dmin * minimum
 *
 * Byte g * 32 + j of the codes holds element g * 64 + j in its low half and element g * 64 + 32 + j in its high half;
 * the fifth bit of element s * 32 + j is bit s of byte j.
 * SPDX-License-Identifier: MIT */
#include "quant/quant_int.h"

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
