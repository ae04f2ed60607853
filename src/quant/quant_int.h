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

qn_decode_fn qn_decode_f32, qn_decode_f16, qn_decode_bf16, qn_decode_f64;
qn_decode_fn qn_decode_i8, qn_decode_i16, qn_decode_i32, qn_decode_i64;
qn_encode_fn qn_encode_f32, qn_encode_f16, qn_encode_bf16;

#endif
