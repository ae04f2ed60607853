/* Arithmetic on sizes that come from outside: false means that the result does not fit and *out is not set.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BASE_CHECKED_H
#define QN_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool qn_add_size(size_t a, size_t b, size_t *out) { return !__builtin_add_overflow(a, b, out); }
static inline bool qn_mul_size(size_t a, size_t b, size_t *out) { return !__builtin_mul_overflow(a, b, out); }
static inline bool qn_add_u64(uint64_t a, uint64_t b, uint64_t *out) { return !__builtin_add_overflow(a, b, out); }
static inline bool qn_mul_u64(uint64_t a, uint64_t b, uint64_t *out) { return !__builtin_mul_overflow(a, b, out); }

/* a rounded up to a multiple of the power of two `to`. */
static inline bool qn_round_up_u64(uint64_t a, uint64_t to, uint64_t *out)
{
    uint64_t sum;
    if (!qn_add_u64(a, to - 1, &sum)) {
        return false;
    }
    *out = sum & ~(to - 1);
    return true;
}

#endif
