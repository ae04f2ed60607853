/* IQ3_XXS and IQ3_S: groups of 4 elements from a code book of magnitudes, with signs apart for each 8.
 *
 *   IQ3_XXS  f16 d | 64 bytes: book indices | 8 times u32: four 7-bit sign indices, scale on top
 *            x = d * (0.5 + scale) / 2 * magnitude, one scale for each 32 elements
 *   IQ3_S    f16 d | 64 bytes: low bits of book indices | 8 bytes: their high bits | 32 bytes of signs | 4 bytes of
 *            scales;  x = d * (1 + 2 * scale) * magnitude, one scale of 4 bits for each 32 elements
 *
 * SPDX-License-Identifier: MIT */
#include "quant/quant_int.h"

#define XXS_BYTES 98
#define XXS_TAILS 66
#define S_BYTES 110
#define S_HIGH 66
#define S_SIGNS 74
#define S_SCALES 106

static const float xxs_magnitudes[8] = {4, 12, 20, 28, 36, 44, 52, 62};
static const float s_magnitudes[8] = {1, 3, 5, 7, 9, 11, 13, 15};

/* 8 elements: two entries of the book. */
static inline void group(float scale, const float *magnitudes, unsigned first, unsigned second, unsigned signs,
                         float *dst)
{
    unsigned entries = first | second << 16;
    for (int j = 0; j < 8; j++) {
        dst[j] = scale * magnitudes[entries >> (4 * j) & 7] * qn_iq_sign(signs >> j);
    }
}

void qn_decode_iq3_xxs(const void *src, float *dst, size_t n)
{
    const uint8_t *p = src;
    for (size_t i = 0; i < n; i += QN_QK_K, p += XXS_BYTES) {
        float d = qn_load_f16(p);
        for (int g = 0; g < 32; g++, dst += 8) {
            const uint8_t *q = p + 2 + 2 * g;
            uint32_t tail = qn_load_u32(p + XXS_TAILS + g / 4 * 4);
            float scale = d * (0.5f + (float)(tail >> 28)) * 0.5f;
            group(scale, xxs_magnitudes, qn_iq3_xxs_grid[q[0]], qn_iq3_xxs_grid[q[1]],
                  qn_iq_signs(tail >> (g % 4 * 7) & 127), dst);
        }
    }
}

void qn_decode_iq3_s(const void *src, float *dst, size_t n)
{
    const uint8_t *p = src;
    for (size_t i = 0; i < n; i += QN_QK_K, p += S_BYTES) {
        float d = qn_load_f16(p);
        for (int g = 0; g < 32; g++, dst += 8) {
            const uint8_t *q = p + 2 + 2 * g;
            unsigned high = p[S_HIGH + g / 4] >> (g % 4 * 2);
            float scale = d * (float)(1 + 2 * (p[S_SCALES + g / 8] >> (g / 4 % 2 * 4) & 15));
            group(scale, s_magnitudes, qn_iq3_s_grid[q[0] | (high & 1) << 8], qn_iq3_s_grid[q[1] | (high & 2) << 7],
                  p[S_SIGNS + g], dst);
        }
    }
}
