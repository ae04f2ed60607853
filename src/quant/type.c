/* The type table and what reads it.
 * SPDX-License-Identifier: MIT */
#include <strings.h>

#include "base/checked.h"
#include "quant/quant_int.h"

static const qn_type_info types[QN_TYPE_COUNT] = {
    /* name, elements and bytes of a block, decode, encode */
    [QN_TYPE_F32] = {"F32", 1, 4, qn_decode_f32, qn_encode_f32},
    [QN_TYPE_F16] = {"F16", 1, 2, qn_decode_f16, qn_encode_f16},
    [QN_TYPE_Q4_0] = {"Q4_0", 32, 18, qn_decode_q4_0, qn_encode_q4_0},
    [QN_TYPE_Q4_1] = {"Q4_1", 32, 20, qn_decode_q4_1, qn_encode_q4_1},
    [QN_TYPE_Q5_0] = {"Q5_0", 32, 22, qn_decode_q5_0, qn_encode_q5_0},
    [QN_TYPE_Q5_1] = {"Q5_1", 32, 24, qn_decode_q5_1, qn_encode_q5_1},
    [QN_TYPE_Q8_0] = {"Q8_0", 32, 34, qn_decode_q8_0, qn_encode_q8_0},
    [QN_TYPE_Q8_1] = {"Q8_1", 32, 40, qn_decode_q8_1, qn_encode_q8_1},
    [QN_TYPE_Q2_K] = {"Q2_K", 256, 84, qn_decode_q2_k, qn_encode_q2_k},
    [QN_TYPE_Q3_K] = {"Q3_K", 256, 110, qn_decode_q3_k, qn_encode_q3_k},
    [QN_TYPE_Q4_K] = {"Q4_K", 256, 144, qn_decode_q4_k, qn_encode_q4_k},
    [QN_TYPE_Q5_K] = {"Q5_K", 256, 176, qn_decode_q5_k, qn_encode_q5_k},
    [QN_TYPE_Q6_K] = {"Q6_K", 256, 210, qn_decode_q6_k, qn_encode_q6_k},
    [QN_TYPE_Q8_K] = {"Q8_K", 256, 292, qn_decode_q8_k, qn_encode_q8_k},
    [QN_TYPE_IQ2_XXS] = {"IQ2_XXS", 256, 66, qn_decode_iq2_xxs, NULL},
    [QN_TYPE_IQ2_XS] = {"IQ2_XS", 256, 74, qn_decode_iq2_xs, NULL},
    [QN_TYPE_IQ3_XXS] = {"IQ3_XXS", 256, 98, qn_decode_iq3_xxs, NULL},
    [QN_TYPE_IQ1_S] = {"IQ1_S", 256, 50, qn_decode_iq1_s, NULL},
    [QN_TYPE_IQ4_NL] = {"IQ4_NL", 32, 18, qn_decode_iq4_nl, qn_encode_iq4_nl},
    [QN_TYPE_IQ3_S] = {"IQ3_S", 256, 110, qn_decode_iq3_s, NULL},
    [QN_TYPE_IQ2_S] = {"IQ2_S", 256, 82, qn_decode_iq2_s, NULL},
    [QN_TYPE_IQ4_XS] = {"IQ4_XS", 256, 136, qn_decode_iq4_xs, qn_encode_iq4_xs},
    [QN_TYPE_I8] = {"I8", 1, 1, qn_decode_i8, NULL},
    [QN_TYPE_I16] = {"I16", 1, 2, qn_decode_i16, NULL},
    [QN_TYPE_I32] = {"I32", 1, 4, qn_decode_i32, NULL},
    [QN_TYPE_I64] = {"I64", 1, 8, qn_decode_i64, NULL},
    [QN_TYPE_F64] = {"F64", 1, 8, qn_decode_f64, NULL},
    [QN_TYPE_IQ1_M] = {"IQ1_M", 256, 56, qn_decode_iq1_m, NULL},
    [QN_TYPE_BF16] = {"BF16", 1, 2, qn_decode_bf16, qn_encode_bf16},
    [QN_TYPE_TQ1_0] = {"TQ1_0", 256, 54, qn_decode_tq1_0, qn_encode_tq1_0},
    [QN_TYPE_TQ2_0] = {"TQ2_0", 256, 66, qn_decode_tq2_0, qn_encode_tq2_0},
    [QN_TYPE_MXFP4] = {"MXFP4", 32, 17, qn_decode_mxfp4, qn_encode_mxfp4},
    [QN_TYPE_NVFP4] = {"NVFP4", 64, 36, qn_decode_nvfp4, NULL},
    [QN_TYPE_Q1_0] = {"Q1_0", 128, 18, qn_decode_q1_0, NULL},
};

const qn_type_info *qn_type_find(uint32_t id)
{
    return id < QN_TYPE_COUNT && types[id].name != NULL ? &types[id] : NULL;
}

const qn_type_info *qn_type_find_name(const char *name, qn_type *id)
{
    for (uint32_t i = 0; name != NULL && i < QN_TYPE_COUNT; i++) {
        if (types[i].name != NULL && strcasecmp(types[i].name, name) == 0) {
            if (id != NULL) {
                *id = (qn_type)i;
            }
            return &types[i];
        }
    }
    return NULL;
}

const char *qn_type_name(uint32_t id)
{
    const qn_type_info *t = qn_type_find(id);
    return t != NULL ? t->name : "?";
}

bool qn_type_row_bytes(uint32_t id, uint64_t n, uint64_t *bytes)
{
    const qn_type_info *t = qn_type_find(id);
    return t != NULL && n % t->block_len == 0 && qn_mul_u64(n / t->block_len, t->block_bytes, bytes);
}

/* What decoding and encoding refuse alike: an unknown type, a part of a block. */
static qn_status check_row(uint32_t id, size_t n, const qn_type_info **out, qn_error *err)
{
    const qn_type_info *t = qn_type_find(id);
    if (t == NULL) {
        return qn_fail(err, QN_EUNSUPPORTED, "tensor type %u is unknown", id);
    }
    if (n % t->block_len != 0) {
        return qn_fail(err, QN_EINVAL, "%zu elements are no whole number of %s blocks of %u", n, t->name, t->block_len);
    }
    *out = t;
    return QN_OK;
}

qn_status qn_decode_row(qn_type t, const void *src, float *dst, size_t n, qn_error *err)
{
    const qn_type_info *info = NULL;
    QN_TRY(check_row((uint32_t)t, n, &info, err));
    if (info->decode == NULL) {
        return qn_fail(err, QN_EUNSUPPORTED, "tensor type %s has no decoder", info->name);
    }
    info->decode(src, dst, n);
    return QN_OK;
}

qn_status qn_encode_row(qn_type t, const float *src, void *dst, size_t n, const float *weights, qn_error *err)
{
    const qn_type_info *info = NULL;
    QN_TRY(check_row((uint32_t)t, n, &info, err));
    if (info->encode == NULL) {
        return qn_fail(err, QN_EUNSUPPORTED, "tensor type %s has no encoder", info->name);
    }
    info->encode(src, dst, n, weights);
    return QN_OK;
}
