/* IQ2_XXS, IQ2_XS and IQ2_S: groups of 8 elements from a code book of magnitudes, with signs apart.
 * In all three x = d * (0.5 + scale) / 4 * magnitude, with a scale of 4 bits.
 *
 *   IQ2_XXS  f16 d | 8 times (4 bytes: book indices | u32: four 7-bit sign indices, scale on top)
 *            one scale for each 32 elements
 *   IQ2_XS   f16 d | 32 times u16: 9-bit book index, 7-bit sign index on top | 8 bytes of scales
 *            one scale for each 16 elements, two in a byte, the lower half first
 *   IQ2_S    f16 d | 32 bytes: low bits of book indices | 32 bytes of signs | 8 bytes: four times 2 high bits of book
 *            indices | 8 bytes of scales, as in IQ2_XS
 *
 * SPDX-License-Identifier: MIT */
#include "quant/quant_int.h"

#define XXS_BYTES 66
#define XS_BYTES 74
#define XS_SCALES 66
#define S_BYTES 82
#define S_SIGNS 34
#define S_HIGH 66
#define S_SCALES 74

static const float magnitudes[4] = {8, 25, 43, 0}; /* the books use the first three */

static inline void group(float scale, unsigned entry, unsigned signs, float *dst)
{
    for (int j = 0; j < 8; j++) {
        dst[j] = scale * magnitudes[entry >> (2 * j) & 3] * qn_iq_sign(signs >> j);
    }
}

static inline float scale_of(float d, unsigned scale4) { return d * (0.5f + (float)scale4) * 0.25f; }

void qn_decode_iq2_xxs(const void *src, float *dst, size_t n)
{
    const uint8_t *p = src;
    for (size_t i = 0; i < n; i += QN_QK_K, p += XXS_BYTES) {
        float d = qn_load_f16(p);
        for (const uint8_t *q = p + 2; q < p + XXS_BYTES; q += 8) {
            uint32_t tail = qn_load_u32(q + 4);
            float scale = scale_of(d, tail >> 28);
            for (int g = 0; g < 4; g++, dst += 8) {
                group(scale, qn_iq2_xxs_grid[q[g]], qn_iq_signs(tail >> (7 * g) & 127), dst);
            }
        }
    }
}

void qn_decode_iq2_xs(const void *src, float *dst, size_t n)
{
    const uint8_t *p = src;
    for (size_t i = 0; i < n; i += QN_QK_K, p += XS_BYTES) {
        float d = qn_load_f16(p);
        for (int g = 0; g < 32; g++, dst += 8) {
            unsigned q = qn_load_u16(p + 2 + 2 * g);
            float scale = scale_of(d, p[XS_SCALES + g / 4] >> (g / 2 % 2 * 4) & 15);
            group(scale, qn_iq2_xs_grid[q & 511], qn_iq_signs(q >> 9), dst);
        }
    }
}

void qn_decode_iq2_s(const void *src, float *dst, size_t n)
{
    const uint8_t *p = src;
    for (size_t i = 0; i < n; i += QN_QK_K, p += S_BYTES) {
        float d = qn_load_f16(p);
        for (int g = 0; g < 32; g++, dst += 8) {
            unsigned index = p[2 + g] | (p[S_HIGH + g / 4] >> (g % 4 * 2) & 3u) << 8;
            float scale = scale_of(d, p[S_SCALES + g / 4] >> (g / 2 % 2 * 4) & 15);
            group(scale, qn_iq2_s_grid[index], p[S_SIGNS + g], dst);
        }
    }
}
