/* Helpers that the AVX-512 kernels share; private to backend/cpu/avx512vnni. SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_AVX512VNNI_SIMD_INT_H
#define QN_BACKEND_CPU_AVX512VNNI_SIMD_INT_H

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bodies take their variants as constant arguments and must be inlined for that to cost nothing. */
#define QN_INLINE static inline __attribute__((always_inline))

/* Before a loop of constant length that is to be laid out flat. */
#if defined(__clang__)
#define QN_UNROLL _Pragma("clang loop unroll(full)")
#else
#define QN_UNROLL _Pragma("GCC unroll 32")
#endif

QN_INLINE int32_t qn_get_i32(const void *p)
{
    int32_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

/* Bytes that kernels which stream weights prefetch ahead: covers the latency of memory, and page boundaries, where the
 * hardware's prefetcher stops. */
enum { QN_PREFETCH_BYTES = 6144 };

/* Touches the lines of [p + QN_PREFETCH_BYTES, + n); an address that is not mapped is no fault. */
QN_INLINE void qn_prefetch_weights(const void *p, size_t n)
{
    for (size_t i = 0; i < n; i += 64) {
        _mm_prefetch((const char *)((uintptr_t)p + QN_PREFETCH_BYTES + i), _MM_HINT_T0);
    }
}

/* The first n lanes of 16, n <= 16. */
QN_INLINE __mmask16 qn_first_lanes(size_t n) { return (__mmask16)((1u << n) - 1); }

#endif
