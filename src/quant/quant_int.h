/* Private to quant: block geometry, byte access and the list of decoders and encoders.
 * Blocks come from files and may start at any address, so every field is read and written by offset, never through a
 * struct. SPDX-License-Identifier: MIT */
#ifndef QN_QUANT_QUANT_INT_H
#define QN_QUANT_QUANT_INT_H

#include <string.h>

#include "quant/quant.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "block fields are little-endian and are read in place"
#endif

#define QN_QK 32    /* elements of a plain block */
#define QN_QK_K 256 /* elements of a super-block */

static inline uint16_t qn_load_u16(const uint8_t *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint32_t qn_load_u32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline float qn_load_f32(const uint8_t *p)
{
    float v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline float qn_load_f16(const uint8_t *p) { return qn_f16_to_f32(qn_load_u16(p)); }

static inline void qn_store_u16(uint8_t *p, uint16_t v) { memcpy(p, &v, sizeof v); }
static inline void qn_store_u32(uint8_t *p, uint32_t v) { memcpy(p, &v, sizeof v); }
static inline void qn_store_f32(uint8_t *p, float v) { memcpy(p, &v, sizeof v); }

/* Stores f as a half and returns the value that a decoder will see. */
static inline float qn_store_f16(uint8_t *p, float f)
{
    uint16_t h = qn_f32_to_f16(f);
    qn_store_u16(p, h);
    return qn_f16_to_f32(h);
}

/* Nearest whole number, halves away from zero, for x well inside int32; anything else, NaN too, gives 0, which is what
 * the published definitions come to where they divide by a scale that is too small to invert. */
static inline int32_t qn_round_away(float x)
{
    if (!(x > -0x1p30f && x < 0x1p30f)) {
        return 0;
    }
    int32_t i = (int32_t)x;
    float rest = x - (float)i;
    return i + (rest >= 0.5f) - (rest <= -0.5f);
}

/* The whole part of x as a byte, for x well inside int32; anything else gives 0, as above. */
static inline uint8_t qn_trunc_u8(float x) { return x > -0x1p30f && x < 0x1p30f ? (uint8_t)(int32_t)x : 0; }

static inline float qn_inverse(float d) { return d == 0.0f ? 0.0f : 1.0f / d; }

/* Largest |x|, the first such element if signed, least and greatest of n elements. NaN never wins. */
float qn_max_abs(const float *x, size_t n);
float qn_max_signed(const float *x, size_t n);
void qn_min_max(const float *x, size_t n, float *min, float *max);

/* Bit 7 of an IQ2 or IQ3 sign index is the parity of the other seven: an even number of signs is negative. */
static inline uint8_t qn_iq_signs(uint32_t index7)
{
    return (uint8_t)(index7 | (uint32_t)__builtin_parity(index7) << 7);
}

/* -1 for a set bit, else 1. The bits are as good as random: a branch would guess badly. */
static inline float qn_iq_sign(unsigned bit) { return 1.0f - 2.0f * (float)(bit & 1u); }

extern const uint16_t qn_iq1_grid[2048], qn_iq2_xxs_grid[256], qn_iq2_xs_grid[512], qn_iq2_s_grid[1024];
extern const uint16_t qn_iq3_xxs_grid[256], qn_iq3_s_grid[512];
extern const int8_t qn_iq4_values[16];

/* Scale and minimum of sub-block j (0 to 7) in the 12 packed bytes of Q4_K and Q5_K. */
static inline void qn_k4_scale_min(const uint8_t *packed, int j, uint8_t *scale, uint8_t *min)
{
    if (j < 4) {
        *scale = packed[j] & 63;
        *min = packed[j + 4] & 63;
    } else {
        *scale = (uint8_t)((packed[j + 4] & 15) | (packed[j - 4] >> 6) << 4);
        *min = (uint8_t)(packed[j + 4] >> 4 | (packed[j] >> 6) << 4);
    }
}

qn_decode_fn qn_decode_f32, qn_decode_f16, qn_decode_bf16, qn_decode_f64;
qn_decode_fn qn_decode_i8, qn_decode_i16, qn_decode_i32, qn_decode_i64;
qn_decode_fn qn_decode_q4_0, qn_decode_q4_1, qn_decode_q5_0, qn_decode_q5_1, qn_decode_q8_0, qn_decode_q8_1;
qn_decode_fn qn_decode_q2_k, qn_decode_q3_k, qn_decode_q4_k, qn_decode_q5_k, qn_decode_q6_k, qn_decode_q8_k;
qn_decode_fn qn_decode_iq1_s, qn_decode_iq1_m, qn_decode_iq2_xxs, qn_decode_iq2_xs, qn_decode_iq2_s;
qn_decode_fn qn_decode_iq3_xxs, qn_decode_iq3_s, qn_decode_iq4_nl, qn_decode_iq4_xs;
qn_decode_fn qn_decode_tq1_0, qn_decode_tq2_0, qn_decode_mxfp4, qn_decode_nvfp4, qn_decode_q1_0;

qn_encode_fn qn_encode_f32, qn_encode_f16, qn_encode_bf16;
qn_encode_fn qn_encode_q4_0, qn_encode_q4_1, qn_encode_q5_0, qn_encode_q5_1, qn_encode_q8_0, qn_encode_q8_1;
qn_encode_fn qn_encode_q2_k, qn_encode_q3_k, qn_encode_q4_k, qn_encode_q5_k, qn_encode_q6_k, qn_encode_iq4_nl;
qn_encode_fn qn_encode_iq4_xs, qn_encode_q8_k, qn_encode_tq1_0, qn_encode_tq2_0, qn_encode_mxfp4;

#endif
