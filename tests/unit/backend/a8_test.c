/* Activations to A8: the format that kernels.h states, the same bits from every instruction set.
 * SPDX-License-Identifier: MIT */
#include "mm_support.h"

/* The format as kernels.h states it, block by block. */
static void check_a8(const float *x, size_t n, const void *a8)
{
    size_t np = qn_a8_padded(n);
    const int8_t *q = qn_a8_q(a8);
    for (size_t b = 0; b < np / 32; b++) {
        float max = 0;
        int sum[2] = {0, 0};
        for (size_t i = 32 * b; i < 32 * b + 32; i++) {
            max = fmaxf(max, i < n ? fabsf(x[i]) : 0.0f);
            sum[i % 32 / 16] += q[i];
        }
        bool is_zero = !isfinite(127.0f / max);
        float d = is_zero ? 0.0f : max / 127.0f;
        assert_true(qn_a8_d(a8, n)[b] == d);
        assert_true(qn_a8_s(a8, n)[b] == d * (float)(sum[0] + sum[1]));
        assert_int_equal(qn_a8_h(a8, n)[2 * b], sum[0]);
        assert_int_equal(qn_a8_h(a8, n)[2 * b + 1], sum[1]);
        for (size_t i = 32 * b; i < 32 * b + 32; i++) {
            assert_int_equal(q[i], i < n && !is_zero ? (int)rintf(x[i] * (127.0f / max)) : 0);
            assert_in_range(q[i] + 127, 0, 254);
        }
    }
    for (size_t i = np / 32 * 44; i < qn_a8_bytes(n); i++) {
        assert_int_equal(((const uint8_t *)a8)[i], 0);
    }
}

/* kind 0: normal; 1: ugly; 2: ties (the maximum is 127, the others are halves); 3: around the least scale whose inverse
 * is finite; 4: as large as floats get. */
static void fill_row(qn_random *rng, float *x, size_t n, int kind)
{
    random_floats(rng, x, n, kind > 0);
    for (size_t i = 0; i < n; i++) {
        if (kind == 2) {
            x[i] = i % 32 == 0 ? -127.0f : (float)(int)qn_random_below(rng, 254) - 126.5f;
        } else if (kind == 3) {
            x[i] *= 0x1p-120f;
        } else if (kind == 4) {
            x[i] = qn_random_below(rng, 2) == 0 ? FLT_MAX : -x[i];
        }
    }
}

/* Every set gives the bits of ref, and those are the format's. */
static void test_format(void **state)
{
    (void)state;
    qn_kernels ref, k;
    assert_int_equal(qn_kernels_select("ref", &ref, NULL), QN_OK);
    for (size_t i = 0; next_set(&i, &k);) {
        qn_random rng;
        qn_random_seed(&rng, 8);
        for (size_t n = 1; n <= 600; n += n < 70 ? 1 : 53) {
            float *x = exact(n * sizeof(float));
            uint8_t *want = exact(qn_a8_bytes(n)), *got = exact(qn_a8_bytes(n));
            for (int kind = 0; kind < 5; kind++) {
                fill_row(&rng, x, n, kind);
                memset(want, 0xA5, qn_a8_bytes(n));
                ref.quantize_a8(x, n, want);
                check_a8(x, n, want);
                memset(got, 0x5A, qn_a8_bytes(n));
                k.quantize_a8(x, n, got);
                assert_memory_equal(got, want, qn_a8_bytes(n));
            }
            free(x);
            free(want);
            free(got);
        }
    }
}

/* Blocks with a NaN or an infinity: d and s are NaN, quants zero; neighbours are as ever. */
static void test_not_finite(void **state)
{
    (void)state;
    enum { N = 96 };
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    qn_kernels k;
    for (size_t i = 0; next_set(&i, &k);) {
        for (size_t i_bad = 0; i_bad < sizeof(bad) / sizeof(bad[0]); i_bad++) {
            float x[N];
            uint8_t *a8 = exact(qn_a8_bytes(N));
            for (size_t j = 0; j < N; j++) {
                x[j] = (float)j;
            }
            x[32 + 13 * i_bad] = bad[i_bad];
            k.quantize_a8(x, N, a8);
            assert_true(isnan(qn_a8_d(a8, N)[1]) && isnan(qn_a8_s(a8, N)[1]));
            for (size_t j = 32; j < 64; j++) {
                assert_int_equal(qn_a8_q(a8)[j], 0);
                assert_int_equal(qn_a8_h(a8, N)[j / 16], 0);
            }
            assert_true(qn_a8_d(a8, N)[0] == 31.0f / 127.0f && qn_a8_d(a8, N)[2] == 95.0f / 127.0f);
            free(a8);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
