/* Helpers that NEON kernels share; private to backend/cpu/neon and neon_i8mm.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_NEON_SIMD_INT_H
#define QN_BACKEND_CPU_NEON_SIMD_INT_H

#include <arm_neon.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Kernel bodies are written once and take their variants as constant arguments, functions included: they must be
 * inlined for that to cost nothing. */
#define QN_INLINE static inline __attribute__((always_inline))

/* Before a loop of constant length that is to be laid out flat however long its body is. */
#if defined(__clang__)
#define QN_UNROLL _Pragma("clang loop unroll(full)")
#else
#define QN_UNROLL _Pragma("GCC unroll 16")
#endif

/* Bytes that kernels which stream weights prefetch ahead. */
enum { QN_PREFETCH_AHEAD = 2048 };

/* Touches the lines of [p + QN_PREFETCH_AHEAD, + n); an address that is not mapped is no fault. */
QN_INLINE void qn_prefetch_ahead(const void *p, size_t n)
{
    for (size_t i = 0; i < n; i += 64) {
        __builtin_prefetch((const void *)((uintptr_t)p + QN_PREFETCH_AHEAD + i));
    }
}

QN_INLINE uint32_t qn_get_u32(const void *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

QN_INLINE float qn_get_f16(const void *p)
{
    __fp16 h;
    memcpy(&h, p, sizeof(h));
    return h;
}

/* Four elements from wherever they lie. */
QN_INLINE float32x4_t qn_load4_f16(const void *p)
{
    return vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(p)));
}

QN_INLINE float32x4_t qn_load4_bf16(const void *p)
{
    return vreinterpretq_f32_u32(vshll_n_u16(vreinterpret_u16_u8(vld1_u8(p)), 16));
}

QN_INLINE float32x4_t qn_load4_f32(const void *p)
{
    return vreinterpretq_f32_u8(vld1q_u8(p));
}

/* Four lanes, or the n < 4 at the end of a row; the other lanes are 0. */
QN_INLINE float32x4_t qn_load_upto(const float *p, size_t n)
{
    if (n >= 4) {
        return vld1q_f32(p);
    }
    float part[4] = {0};
    memcpy(part, p, n * sizeof(*p));
    return vld1q_f32(part);
}

QN_INLINE void qn_store_upto(float *p, size_t n, float32x4_t v)
{
    if (n >= 4) {
        vst1q_f32(p, v);
        return;
    }
    float part[4];
    vst1q_f32(part, v);
    memcpy(p, part, n * sizeof(*p));
}

/* All bits set in lanes that stand for [i, i + 4) and lie in [lo, hi). */
QN_INLINE uint32x4_t qn_lanes_within(size_t i, size_t lo, size_t hi)
{
    static const uint32_t steps[4] = {0, 1, 2, 3};
    uint32x4_t at = vaddq_u32(vdupq_n_u32((uint32_t)i), vld1q_u32(steps));
    return vandq_u32(vcgeq_u32(at, vdupq_n_u32((uint32_t)lo)), vcltq_u32(at, vdupq_n_u32((uint32_t)hi)));
}

QN_INLINE float32x4_t qn_keep_lanes(float32x4_t v, uint32x4_t lanes)
{
    return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(v), lanes));
}

/* Byte i % 8 of each half: 16 where bit i of p's two bytes is set. */
QN_INLINE uint8x16_t qn_bits_to_16(const uint8_t *p)
{
    const uint8x16_t mask = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
    uint8x16_t spread = vcombine_u8(vdup_n_u8(p[0]), vdup_n_u8(p[1]));
    return vandq_u8(vtstq_u8(spread, mask), vdupq_n_u8(16));
}

/* Sum of the lanes, always in the same order. */
QN_INLINE float qn_sum_f32(float32x4_t v)
{
    return vaddvq_f32(v);
}

/* Columns of qn_mm: the c-th row of activations. */
QN_INLINE const void *qn_column(const void *x, size_t x_bytes, size_t c)
{
    return (const char *)x + c * x_bytes;
}

#endif
