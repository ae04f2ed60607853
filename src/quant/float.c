/* Plain numbers: half and bfloat16 conversions, and the rows that hold one number an element.
 * SPDX-License-Identifier: MIT */
#include "quant/quant_int.h"

static inline float f32_from_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline uint32_t f32_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

float qn_f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16;
    uint32_t mantissa = h & 0x3ffu;
    uint32_t bits;
    switch (h & 0x7c00u) {
    case 0x7c00u: /* infinity, or NaN, which comes out quiet */
        bits = 0x7f800000u | mantissa << 13 | (mantissa != 0 ? 0x400000u : 0u);
        break;
    case 0: /* subnormal: a whole number of 2^-24, exact and normal as a float */
        bits = f32_bits((float)mantissa * 0x1p-24f);
        break;
    default:
        bits = ((uint32_t)(h & 0x7fffu) << 13) + (112u << 23);
        break;
    }
    return f32_from_bits(sign | bits);
}

uint16_t qn_f32_to_f16(float f)
{
    uint32_t bits = f32_bits(f);
    uint32_t sign = (bits >> 16) & 0x8000u;
    uint32_t x = bits & 0x7fffffffu;
    if (x > 0x7f800000u) {
        return (uint16_t)(sign | 0x7e00u | ((x >> 13) & 0x3ffu));
    }
    if (x >= 0x477ff000u) { /* 65520, half way to what would be 65536 */
        return (uint16_t)(sign | 0x7c00u);
    }
    if (x >= 0x38800000u) { /* 2^-14, the least normal half */
        uint32_t r = x - (112u << 23);
        return (uint16_t)(sign | (r + 0xfffu + ((r >> 13) & 1u)) >> 13);
    }
    if (x < 0x33000000u) { /* below 2^-25, half of the least subnormal */
        return (uint16_t)sign;
    }
    uint32_t shift = 126u - (x >> 23); /* 14 to 24 */
    uint32_t mantissa = (x & 0x7fffffu) | 0x800000u;
    uint32_t r = mantissa >> shift;
    uint32_t rest = mantissa & ((1u << shift) - 1u);
    uint32_t half = 1u << (shift - 1u);
    if (rest > half || (rest == half && (r & 1u) != 0)) {
        r++;
    }
    return (uint16_t)(sign | r);
}

float qn_bf16_to_f32(uint16_t b) { return f32_from_bits((uint32_t)b << 16); }

uint16_t qn_f32_to_bf16(float f)
{
    uint32_t bits = f32_bits(f);
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return (uint16_t)(bits >> 16 | 0x40u);
    }
    return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

void qn_decode_f32(const void *src, float *dst, size_t n)
{
    if (n > 0) {
        memcpy(dst, src, n * sizeof *dst);
    }
}

void qn_encode_f32(const float *src, void *dst, size_t n, const float *weights)
{
    (void)weights;
    if (n > 0) {
        memcpy(dst, src, n * sizeof *src);
    }
}

void qn_decode_f16(const void *src, float *dst, size_t n)
{
    const uint8_t *p = src;
    for (size_t i = 0; i < n; i++) {
        dst[i] = qn_load_f16(p + 2 * i);
    }
}

void qn_encode_f16(const float *src, void *dst, size_t n, const float *weights)
{
    (void)weights;
    uint8_t *p = dst;
    for (size_t i = 0; i < n; i++) {
        qn_store_u16(p + 2 * i, qn_f32_to_f16(src[i]));
    }
}

void qn_decode_bf16(const void *src, float *dst, size_t n)
{
    const uint8_t *p = src;
    for (size_t i = 0; i < n; i++) {
        dst[i] = qn_bf16_to_f32(qn_load_u16(p + 2 * i));
    }
}

void qn_encode_bf16(const float *src, void *dst, size_t n, const float *weights)
{
    (void)weights;
    uint8_t *p = dst;
    for (size_t i = 0; i < n; i++) {
        qn_store_u16(p + 2 * i, qn_f32_to_bf16(src[i]));
    }
}

/* Wider numbers round to the nearest float. */
#define DEFINE_DECODE(name, ctype)                                                                 \
    void qn_decode_##name(const void *src, float *dst, size_t n)                                   \
    {                                                                                              \
        const uint8_t *p = src;                                                                    \
        for (size_t i = 0; i < n; i++) {                                                           \
            ctype v;                                                                               \
            memcpy(&v, p + i * sizeof v, sizeof v);                                                \
            dst[i] = (float)v;                                                                     \
        }                                                                                          \
    }

DEFINE_DECODE(i8, int8_t)
DEFINE_DECODE(i16, int16_t)
DEFINE_DECODE(i32, int32_t)
DEFINE_DECODE(i64, int64_t)
DEFINE_DECODE(f64, double)
