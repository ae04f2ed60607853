/* Block formats: one table that says, for every type a GGUF file may name, its size and how to decode and encode it.
 * The functions here are the reference: plain C, compiled without contraction, bit for bit what the format's
 * published definition gives. Fast kernels live in backend/. */
#ifndef QN_QUANT_QUANT_H
#define QN_QUANT_QUANT_H

#include "base/status.h"

/* Values are the ids that GGUF files use. */
typedef enum qn_type {
    QN_TYPE_F32 = 0,
    QN_TYPE_F16 = 1,
    QN_TYPE_Q4_0 = 2,
    QN_TYPE_Q4_1 = 3,
    QN_TYPE_Q5_0 = 6,
    QN_TYPE_Q5_1 = 7,
    QN_TYPE_Q8_0 = 8,
    QN_TYPE_Q8_1 = 9,
    QN_TYPE_Q2_K = 10,
    QN_TYPE_Q3_K = 11,
    QN_TYPE_Q4_K = 12,
    QN_TYPE_Q5_K = 13,
    QN_TYPE_Q6_K = 14,
    QN_TYPE_Q8_K = 15,
    QN_TYPE_IQ2_XXS = 16,
    QN_TYPE_IQ2_XS = 17,
    QN_TYPE_IQ3_XXS = 18,
    QN_TYPE_IQ1_S = 19,
    QN_TYPE_IQ4_NL = 20,
    QN_TYPE_IQ3_S = 21,
    QN_TYPE_IQ2_S = 22,
    QN_TYPE_IQ4_XS = 23,
    QN_TYPE_I8 = 24,
    QN_TYPE_I16 = 25,
    QN_TYPE_I32 = 26,
    QN_TYPE_I64 = 27,
    QN_TYPE_F64 = 28,
    QN_TYPE_IQ1_M = 29,
    QN_TYPE_BF16 = 30,
    QN_TYPE_TQ1_0 = 34,
    QN_TYPE_TQ2_0 = 35,
    QN_TYPE_MXFP4 = 39,
    QN_TYPE_NVFP4 = 40,
    QN_TYPE_Q1_0 = 41,
    QN_TYPE_COUNT = 42 /* table size; ids between are holes */
} qn_type;

/* src: n / block_len whole blocks; dst: n floats. No alignment is asked of src. Any bytes are a legal block. */
typedef void qn_decode_fn(const void *src, float *dst, size_t n);
/* dst: n / block_len whole blocks at any address. weights: n importances >= 0, or NULL. With NULL, types whose encoding
 * is published follow it to the bit; the others (Q2_K to Q6_K, IQ4) make the squared error small, all elements alike. A
 * type that has no use for weights ignores them. NaN and infinities in src give some block, nothing worse. */
typedef void qn_encode_fn(const float *src, void *dst, size_t n, const float *weights);

typedef struct qn_type_info {
    const char *name;     /* "Q4_K" */
    uint32_t block_len;   /* elements of a block */
    uint32_t block_bytes; /* bytes of a block */
    qn_decode_fn *decode; /* NULL: sized and named only */
    qn_encode_fn *encode; /* NULL: no encoder */
} qn_type_info;

/* NULL: no such type. */
const qn_type_info *qn_type_find(uint32_t id);
const qn_type_info *qn_type_find_name(const char *name, qn_type *id); /* ignores case */
const char *qn_type_name(uint32_t id);                                  /* "?" for an unknown one */

/* Bytes of a row of n elements. False: unknown type, n is not a multiple of the block, or overflow. */
bool qn_type_row_bytes(uint32_t id, uint64_t n, uint64_t *bytes);

/* QN_EUNSUPPORTED: the type has no decoder (encoder). QN_EINVAL: n is not a multiple of its block. */
qn_status qn_decode_row(qn_type t, const void *src, float *dst, size_t n, qn_error *err);
qn_status qn_encode_row(qn_type t, const float *src, void *dst, size_t n, const float *weights,
                        qn_error *err);

/* IEEE half and bfloat16, round to nearest even, NaN stays NaN; plain C. */
float qn_f16_to_f32(uint16_t h);
uint16_t qn_f32_to_f16(float f);
float qn_bf16_to_f32(uint16_t b);
uint16_t qn_f32_to_bf16(float f);

#endif
