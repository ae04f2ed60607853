/* IQ1_S and IQ1_M: groups of 8 elements of -1, 0 or 1 from a code book of 2048, all moved up or down by an eighth.
 *
 *   IQ1_S  f16 d | 32 bytes: low bits of book indices | 8 times u16: four times 3 high bits, 3 bits of scale, 1 bit:
 *          move down; for each 32 elements
 *   IQ1_M  32 bytes: low bits of book indices | 16 bytes: two times (3 high bits, 1 bit: move down) | 4 times u16: four
 *          scales of 3 bits, one for each 16 elements, and on top 4 bits of the half d, the lowest first
 *
 *   x = d * (2 * scale + 1) * (value +- 0.125)
 *
 * SPDX-License-Identifier: MIT */
#include "quant/quant_int.h"

#define S_BYTES 50
#define S_HIGH 34
#define M_BYTES 56
#define M_HIGH 32
#define M_SCALES 48
#define DELTA 0.125f

static inline void group(float scale, unsigned entry, bool down, float *dst)
{
    float delta = down ? -DELTA : DELTA;
    for (int j = 0; j < 8; j++) {
        dst[j] = scale * ((float)((int)(entry >> (2 * j) & 3) - 1) + delta);
    }
}

void qn_decode_iq1_s(const void *src, float *dst, size_t n)
{
    const uint8_t *p = src;
    for (size_t i = 0; i < n; i += QN_QK_K, p += S_BYTES) {
        float d = qn_load_f16(p);
        for (int g = 0; g < 32; g++, dst += 8) {
            unsigned high = qn_load_u16(p + S_HIGH + g / 4 * 2);
            float scale = d * (float)(2 * (high >> 12 & 7) + 1);
            unsigned index = p[2 + g] | (high >> (g % 4 * 3) & 7) << 8;
            group(scale, qn_iq1_grid[index], (high & 0x8000u) != 0, dst);
        }
    }
}

void qn_decode_iq1_m(const void *src, float *dst, size_t n)
{
    const uint8_t *p = src;
    for (size_t i = 0; i < n; i += QN_QK_K, p += M_BYTES) {
        unsigned half = 0;
        for (int k = 0; k < 4; k++) {
            half |= (unsigned)(qn_load_u16(p + M_SCALES + 2 * k) >> 12) << (4 * k);
        }
        float d = qn_f16_to_f32((uint16_t)half);
        for (int g = 0; g < 32; g++, dst += 8) {
            unsigned scale3 = qn_load_u16(p + M_SCALES + g / 8 * 2) >> (g / 2 % 4 * 3) & 7u;
            unsigned high = p[M_HIGH + g / 2] >> (g % 2 * 4);
            unsigned index = p[g] | (high & 7) << 8;
            group(d * (float)(2 * scale3 + 1), qn_iq1_grid[index], (high & 8) != 0, dst);
        }
    }
}
