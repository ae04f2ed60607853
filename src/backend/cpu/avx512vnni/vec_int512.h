/* The AVX-512 row kernels, RoPE and attention by name; private to backend/cpu/avx512vnni. Contracts are those of the
 * kernel table. SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_AVX512VNNI_VEC_INT512_H
#define QN_BACKEND_CPU_AVX512VNNI_VEC_INT512_H

#include "backend/cpu/kernels.h"

void qn_quantize_a8_avx512vnni(const float *x, size_t n, void *out);
void qn_rms_norm_avx512vnni(const float *x, const float *w, size_t n, float eps, float *y);
void qn_add_avx512vnni(const float *a, const float *b, size_t n, float *y);
void qn_mul_avx512vnni(const float *a, const float *b, size_t n, float *y);
void qn_scale_avx512vnni(const float *x, float f, size_t n, float *y);
void qn_add_scaled_avx512vnni(const float *x, float f, size_t n, float *y);
void qn_softcap_avx512vnni(const float *x, float cap, size_t n, float *y);
void qn_silu_mul_avx512vnni(const float *gate, const float *up, size_t n, float *y);
void qn_gelu_mul_avx512vnni(const float *gate, const float *up, size_t n, float *y);
void qn_softmax_avx512vnni(const float *x, size_t n, float *y);
void qn_rope_avx512vnni(float *x, size_t n_pairs, const float *cosv, const float *sinv, qn_rope_kind kind);
void qn_attn_page_avx512vnni(const qn_attn_page *a);
void qn_attn_prepare_avx512vnni(const float *q, size_t head_dim, void *out);

#endif
