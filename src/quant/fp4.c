/* MXFP4 and NVFP4: 4-bit floats (sign, 2 bits of exponent, 1 of mantissa) under a scale of 8 bits.
 *
 *   MXFP4  u8 e | 16 bytes      32 elements; x = 2^(e - 128) * value; byte j: elements j (low half) and j + 16
 *   NVFP4  4 times u8 e | 32 bytes   64 elements, a scale for each 16; x = ue4m3(e) / 2 * value; byte 8 g + j:
 *                                    elements 16 g + j (low half) and 16 g + j + 8
 *
 * The values below are doubled to be whole, hence the halves in the scales.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "quant/quant_int.h"

#define MXFP4_BYTES 17
#define NVFP4_BYTES 36
#define NVFP4_LEN 64

static const int8_t values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/* 2^(e - 128); the two least are subnormal. */
static float e8m0_half(uint8_t e)
{
    uint32_t bits = e < 2 ? 0x200000u << e : (uint32_t)(e - 1) << 23;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Half of an unsigned float of 4 bits of exponent and 3 of mantissa. The code of NaN counts as 0; bit 7 is ignored. */
static float ue4m3_half(uint8_t e)
{
    if (e == 0x7f) {
        return 0.0f;
    }
    int exponent = e >> 3 & 15;
    int mantissa = e & 7;
    return exponent == 0 ? ldexpf((float)mantissa, -10) : ldexpf((float)(8 + mantissa), exponent - 11);
}

void qn_decode_mxfp4(const void *src, float *dst, size_t n)
{
    const uint8_t *p = src;
    for (size_t i = 0; i < n; i += QN_QK, p += MXFP4_BYTES, dst += QN_QK) {
        float d = e8m0_half(p[0]);
        for (int j = 0; j < 16; j++) {
            dst[j] = d * (float)values[p[1 + j] & 15];
            dst[j + 16] = d * (float)values[p[1 + j] >> 4];
        }
    }
}

void qn_decode_nvfp4(const void *src, float *dst, size_t n)
{
    const uint8_t *p = src;
    for (size_t i = 0; i < n; i += NVFP4_LEN, p += NVFP4_BYTES) {
        for (int g = 0; g < 4; g++, dst += 16) {
            float d = ue4m3_half(p[g]);
            for (int j = 0; j < 8; j++) {
                uint8_t q = p[4 + 8 * g + j];
                dst[j] = d * (float)values[q & 15];
                dst[j + 8] = d * (float)values[q >> 4];
            }
        }
    }
}

/* The code whose value is nearest to x; of two as near, the lower code. */
static uint8_t nearest(float x, float d)
{
    uint8_t best = 0;
    float least = INFINITY;
    for (uint8_t k = 0; k < 16; k++) {
        float error = fabsf(d * (float)values[k] - x);
        if (error < least) {
            least = error;
            best = k;
        }
    }
    return best;
}

void qn_encode_mxfp4(const float *src, void *dst, size_t n, const float *weights)
{
    (void)weights;
    uint8_t *p = dst;
    for (size_t i = 0; i < n; i += QN_QK, p += MXFP4_BYTES, src += QN_QK) {
        float max = qn_max_abs(src, QN_QK);
        uint8_t e = 0;
        if (max > 0.0f && max < INFINITY) {
            /* The definition takes the logarithm as a float, which rounds up just below a power of two. Below 2^-125
             * it goes under 0 and wraps to a scale so large that every element becomes 0. */
            e = (uint8_t)((int)floorf((float)log2((double)max)) + 125);
        }
        float d = e8m0_half(e);
        p[0] = e;
        for (int j = 0; j < 16; j++) {
            p[1 + j] = (uint8_t)(nearest(src[j], d) | nearest(src[j + 16], d) << 4);
        }
    }
}
