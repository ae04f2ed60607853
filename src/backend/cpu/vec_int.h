/* What the files of one instruction set offer its filler: the row kernels, RoPE, the KV store and attention.
 * Contracts are those of the kernel table. SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_VEC_INT_H
#define QN_BACKEND_CPU_VEC_INT_H

#include "backend/cpu/kernels.h"

#define QN_VEC_KERNELS(isa)                                                                                \
    void qn_rms_norm_##isa(const float *x, const float *w, size_t n, float eps, float *y);                 \
    void qn_add_##isa(const float *a, const float *b, size_t n, float *y);                                 \
    void qn_mul_##isa(const float *a, const float *b, size_t n, float *y);                                 \
    void qn_scale_##isa(const float *x, float f, size_t n, float *y);                                      \
    void qn_add_scaled_##isa(const float *x, float f, size_t n, float *y);                                 \
    void qn_softcap_##isa(const float *x, float cap, size_t n, float *y);                                  \
    void qn_silu_mul_##isa(const float *gate, const float *up, size_t n, float *y);                        \
    void qn_gelu_mul_##isa(const float *gate, const float *up, size_t n, float *y);                        \
    void qn_softmax_##isa(const float *x, size_t n, float *y);                                             \
    void qn_rope_##isa(float *x, size_t n_pairs, const float *cosv, const float *sinv, qn_rope_kind kind); \
    void qn_kv_store_##isa(const float *x, size_t n, qn_type type, void *dst, size_t dst_stride);          \
    void qn_attn_page_##isa(const qn_attn_page *a);                                                        \
    void qn_rotate_##isa(float *x, size_t n);                                                              \
    qn_kv_scale qn_kv_encode_##isa(const float *x, size_t n, uint32_t code_bits, uint8_t *codes);          \
    void qn_attn_prepare_##isa(const float *q, size_t head_dim, void *out);

QN_VEC_KERNELS(ref)
QN_VEC_KERNELS(avx2)
QN_VEC_KERNELS(neon)

#endif
