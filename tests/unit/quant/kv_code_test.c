/* Tests of quant/kv_code.h: how near the codes are, where they go, and that neighbours keep theirs.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include <math.h>

#include "base/random.h"
#include "quant/kv_code.h"

enum { MAX_N = 70, MAX_TOKENS = 32 };

static double half_step(qn_kv_scale s, uint32_t code_bits)
{
    /* scale and min are halves, so the ends of the range may lie beyond the codes by a part in 2048 of it (256
     * where halves lack three bits), and by the step of the smallest of them */
    double codes = (double)(1u << code_bits), parts = code_bits == 8 ? 2048 : 256;
    return s.scale * (0.5 + codes / parts) + fabs((double)s.min) / 2048 + ldexp(1.0 + codes, code_bits == 8 ? -25 : -22);
}

static void test_numbers_are_near(void **state)
{
    (void)state;
    static const uint32_t bits[] = {4, 5, 8};
    qn_random rnd;
    qn_random_seed(&rnd, 7);
    for (uint32_t i = 0; i < 3000; i++) {
        float x[MAX_N];
        uint8_t codes[MAX_N];
        uint32_t n = 1 + i % MAX_N, b = bits[i % 3];
        float size = powf(10.0F, (float)(i % 7) - 3.0F), shift = i % 5 == 0 ? 3.0F * size : 0.0F;
        for (uint32_t k = 0; k < n; k++) {
            x[k] = shift + size * qn_random_normal(&rnd);
        }
        qn_kv_scale s = qn_kv_encode(x, n, b, codes);
        for (uint32_t k = 0; k < n; k++) {
            assert_true(codes[k] < 1u << b);
            assert_true(fabs(s.min + (double)s.scale * codes[k] - x[k]) <= half_step(s, b));
        }
        if (b != 8) {
            double z = (s.min / s.scale - qn_kv_packed_first(b)) / qn_kv_packed_step(b);
            assert_true(s.scale == 0.0F || (z == floor(z) && z >= 0.0 && z <= 15.0));
        }
    }
}

static void test_what_is_not_finite(void **state)
{
    (void)state;
    static const float bad[] = {NAN, INFINITY, -INFINITY, 1e30F};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        for (uint32_t b = 4; b <= 8; b += 4) {
            float x[5] = {1.0F, 2.0F, bad[i], 3.0F, -1.0F};
            uint8_t codes[5] = {9, 9, 9, 9, 9};
            qn_kv_scale s = qn_kv_encode(x, 5, b, codes);
            assert_true(isnan(s.scale) && isnan(s.min));
            assert_int_equal(codes[2], 0);
        }
    }
    float zeros[3] = {0.0F, 0.0F, 0.0F};
    uint8_t codes[3];
    for (uint32_t b = 4; b <= 8; b += 4) {
        qn_kv_scale s = qn_kv_encode(zeros, 3, b, codes);
        assert_true(s.scale == 0.0F && s.min == 0.0F);
    }
}

/* Tokens are put in any order and some twice, as after a truncation; every number comes back as it was put last, and
 * nothing behind the block is touched. */
static void test_places(void **state)
{
    (void)state;
    static const uint32_t pages[] = {8, 16, 24, 32};
    qn_random rnd;
    qn_random_seed(&rnd, 8);
    for (uint32_t i = 0; i < 400; i++) {
        uint32_t n = 1 + i % MAX_N, pt = pages[i % 4], bits = i / 2 % 2 == 0 ? 8 : 4;
        bool is_k = i % 3 != 0;
        uint32_t code_bits = is_k ? qn_kv_k_bits(bits) : bits;
        uint64_t bytes = is_k ? qn_kv_k_bytes(bits, n, pt) : qn_kv_v_bytes(bits, n, pt);
        uint8_t *block = malloc(bytes + 16), codes[MAX_TOKENS][MAX_N] = {{0}};
        qn_kv_scale scales[MAX_TOKENS] = {{0}};
        bool put[MAX_TOKENS] = {false};
        assert_non_null(block);
        memset(block, 0xA5, bytes + 16);
        for (uint32_t k = 0; k < 2 * pt; k++) {
            uint32_t t = (uint32_t)qn_random_below(&rnd, pt);
            float x[MAX_N];
            for (uint32_t d = 0; d < n; d++) {
                x[d] = qn_random_normal(&rnd);
            }
            put[t] = true;
            scales[t] = qn_kv_encode(x, n, code_bits, codes[t]);
            (is_k ? qn_kv_put_k : qn_kv_put_v)(codes[t], scales[t], bits, n, pt, t, block);
        }
        for (uint32_t t = 0; t < pt; t++) {
            for (uint32_t d = 0; d < n && put[t]; d++) {
                double want = scales[t].min + (double)scales[t].scale * codes[t][d];
                double got = (is_k ? qn_kv_get_k : qn_kv_get_v)(block, bits, n, pt, t, d);
                assert_true(fabs(got - want) <= 1e-6 * fabs(want) + 1e-9);
            }
        }
        for (uint32_t k = 0; k < 16; k++) {
            assert_int_equal(block[bytes + k], 0xA5);
        }
        free(block);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_are_near),
        cmocka_unit_test(test_what_is_not_finite),
        cmocka_unit_test(test_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
