/* What the tests of kernels share: every usable kernel set in turn, buffers that end where they should, closeness.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TESTS_UNIT_BACKEND_KERNEL_SUPPORT_H
#define QN_TESTS_UNIT_BACKEND_KERNEL_SUPPORT_H

#include "test.h"

#include <math.h>

#include "backend/cpu/table.h"
#include "base/random.h"

/* for (size_t i = 0; next_set(&i, &k);) */
static inline bool next_set(size_t *i, qn_kernels *k)
{
    const char *isa;
    bool usable;
    while (qn_kernels_known(*i, &isa, &usable)) {
        (*i)++;
        if (usable) {
            assert_int_equal(qn_kernels_select(isa, k, NULL), QN_OK);
            return true;
        }
    }
    return false;
}

/* n floats that begin `shift` floats after an aligned address and end where the block ends, so that the sanitizer sees
 * the first float read beyond. row_free() takes what row_new() gave. */
typedef struct row {
    float *block, *x;
    size_t n;
} row;

static inline row row_new(size_t n, size_t shift)
{
    row r = {.n = n};
    r.block = malloc((n + shift) * sizeof(float) + (n + shift == 0));
    assert_non_null(r.block);
    r.x = r.block + shift;
    return r;
}

static inline row row_copy(const row *from, size_t shift)
{
    row r = row_new(from->n, shift);
    memcpy(r.x, from->x, from->n * sizeof(float));
    return r;
}

static inline row row_normal(size_t n, size_t shift, float scale, qn_random *rnd)
{
    row r = row_new(n, shift);
    for (size_t i = 0; i < n; i++) {
        r.x[i] = scale * qn_random_normal(rnd);
    }
    return r;
}

static inline void row_free(row *r)
{
    free(r->block);
}

/* NaN is close to NaN, an infinity to itself; a want beyond float's range, to the infinity. */
static inline bool is_close(double got, double want, double rel, double abs)
{
    if (isnan(want) || isnan(got)) {
        return isnan(want) && isnan(got);
    }
    if (isinf(got) || isinf(want)) {
        return got == want || (isinf(got) && fabs(want) > 3.4028234e38 && (got > 0) == (want > 0));
    }
    return fabs(got - want) <= rel * fabs(want) + abs;
}

#define assert_close(got, want, rel, abs, what, isa, i)                                                   \
    do {                                                                                                  \
        if (!is_close(got, want, rel, abs)) {                                                             \
            fail_msg("%s of %s, element %zu: got %.9g, want %.9g", what, isa, (size_t)(i), (double)(got), \
                     (double)(want));                                                                     \
        }                                                                                                 \
    } while (0)

#endif
