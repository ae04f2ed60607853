/* Helpers that AVX2 kernels share; private to backend/cpu/avx2.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_AVX2_SIMD_INT_H
#define QN_BACKEND_CPU_AVX2_SIMD_INT_H

#include <immintrin.h>
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

/* Bytes that kernels which stream weights prefetch ahead: covers the latency of memory, and page boundaries, where
 * the hardware's prefetcher stops. */
enum { QN_PREFETCH_AHEAD = 2048 };

QN_INLINE uint16_t qn_get_u16(const void *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

QN_INLINE uint32_t qn_get_u32(const void *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

QN_INLINE int32_t qn_get_i32(const void *p)
{
    int32_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

QN_INLINE __m128i qn_load_128(const void *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}
QN_INLINE __m256i qn_load_256(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}
QN_INLINE void qn_store_256(void *p, __m256i v)
{
    _mm256_storeu_si256((__m256i *)p, v);
}

/* Touches the lines of [p + QN_PREFETCH_AHEAD, + n); an address that is not mapped is no fault. */
QN_INLINE void qn_prefetch_ahead(const void *p, size_t n)
{
    for (size_t i = 0; i < n; i += 64) {
        _mm_prefetch((const char *)((uintptr_t)p + QN_PREFETCH_AHEAD + i), _MM_HINT_T0);
    }
}

/* Sum of the lanes, always in the same order. */
QN_INLINE float qn_sum_ps(__m256 v)
{
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    s = _mm_add_ss(s, _mm_shuffle_ps(s, s, 1));
    return _mm_cvtss_f32(s);
}

/* 8x8 of 32 bits: lane j of row i goes to lane i of row j. */
QN_INLINE void qn_transpose_8x8(__m256i v[8])
{
    __m256i a[8], b[8];
    for (int i = 0; i < 8; i += 2) {
        a[i] = _mm256_unpacklo_epi32(v[i], v[i + 1]);
        a[i + 1] = _mm256_unpackhi_epi32(v[i], v[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        b[i] = _mm256_unpacklo_epi64(a[i], a[i + 2]);
        b[i + 1] = _mm256_unpackhi_epi64(a[i], a[i + 2]);
        b[i + 2] = _mm256_unpacklo_epi64(a[i + 1], a[i + 3]);
        b[i + 3] = _mm256_unpackhi_epi64(a[i + 1], a[i + 3]);
    }
    for (int i = 0; i < 4; i++) {
        v[i] = _mm256_permute2x128_si256(b[i], b[i + 4], 0x20);
        v[i + 4] = _mm256_permute2x128_si256(b[i], b[i + 4], 0x31);
    }
}

/* Columns of qn_mm: the c-th row of activations. */
QN_INLINE const void *qn_column(const void *x, size_t x_bytes, size_t c)
{
    return (const char *)x + c * x_bytes;
}

#endif
