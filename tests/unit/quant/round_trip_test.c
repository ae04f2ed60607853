/* What holds for every type: bounds on the error, defined behaviour on any bytes and any floats, no alignment asked.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include <float.h>
#include <math.h>

#include "base/random.h"
#include "quant/quant.h"

#define N 1024

/* Root of the mean squared error over the root of the mean square, that normal numbers stay below. */
static const struct {
    qn_type type;
    double error;
} bounds[] = {
    {QN_TYPE_F16, 3e-4},   {QN_TYPE_BF16, 3e-3},  {QN_TYPE_Q4_0, 0.10},  {QN_TYPE_Q4_1, 0.09},   {QN_TYPE_Q5_0, 0.05},
    {QN_TYPE_Q5_1, 0.045}, {QN_TYPE_Q8_0, 0.007}, {QN_TYPE_Q8_1, 0.007}, {QN_TYPE_Q2_K, 0.28},   {QN_TYPE_Q3_K, 0.15},
    {QN_TYPE_Q4_K, 0.075}, {QN_TYPE_Q5_K, 0.038}, {QN_TYPE_Q6_K, 0.02},  {QN_TYPE_Q8_K, 0.0095}, {QN_TYPE_IQ4_NL, 0.08},
    {QN_TYPE_IQ4_XS, 0.08}, {QN_TYPE_MXFP4, 0.14}, {QN_TYPE_TQ1_0, 0.95}, {QN_TYPE_TQ2_0, 0.95},
};

/* A row at an odd address, in blocks of exactly the right size, so that a sanitizer sees one byte too many. */
static void *odd_blocks(qn_type type, size_t n, uint8_t **base)
{
    uint64_t n_bytes;
    assert_true(qn_type_row_bytes(type, n, &n_bytes));
    *base = malloc(n_bytes + 1);
    assert_non_null(*base);
    memset(*base, 0xa5, n_bytes + 1); /* an encoder must not rely on what was there */
    return *base + 1;
}

static void round_trip(qn_type type, const float *x, size_t n, const float *weights, float *back)
{
    uint8_t *base;
    void *blocks = odd_blocks(type, n, &base);
    assert_int_equal(qn_encode_row(type, x, blocks, n, weights, NULL), QN_OK);
    assert_int_equal(qn_decode_row(type, blocks, back, n, NULL), QN_OK);
    free(base);
}

static void fill_normal(float *x, size_t n, uint64_t seed)
{
    qn_random r;
    qn_random_seed(&r, seed);
    for (size_t i = 0; i < n; i++) {
        x[i] = qn_random_normal(&r);
    }
}

static double relative_error(const float *x, const float *back, const float *weights, size_t n)
{
    double error = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        double w = weights != NULL ? (double)weights[i] : 1.0;
        double e = (double)back[i] - (double)x[i];
        error += w * e * e;
        square += w * (double)x[i] * (double)x[i];
    }
    return sqrt(error / square);
}

static void normal_numbers_come_back_within_bounds(void **state)
{
    (void)state;
    float x[N], back[N], scaled[N];
    fill_normal(x, N, 1);
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        /* The scale of the row does not matter as long as halves hold it. */
        static const float scales[] = {1.0f, 0.02f, 300.0f};
        for (size_t k = 0; k < sizeof scales / sizeof scales[0]; k++) {
            for (size_t j = 0; j < N; j++) {
                scaled[j] = x[j] * scales[k];
            }
            round_trip(bounds[i].type, scaled, N, NULL, back);
            double error = relative_error(scaled, back, NULL, N);
            if (!(error < bounds[i].error)) {
                fail_msg("%s at scale %g: error %g", qn_type_name(bounds[i].type), (double)scales[k], error);
            }
        }
    }
}

static void zeros_stay_zeros(void **state)
{
    (void)state;
    for (uint32_t id = 0; id < QN_TYPE_COUNT; id++) {
        const qn_type_info *t = qn_type_find(id);
        if (t == NULL || t->encode == NULL) {
            continue;
        }
        for (int minus = 0; minus < 2; minus++) {
            float x[256], back[256];
            for (int i = 0; i < 256; i++) {
                x[i] = minus != 0 ? -0.0f : 0.0f;
            }
            round_trip((qn_type)id, x, 256, NULL, back);
            for (int i = 0; i < 256; i++) {
                assert_true(back[i] == 0.0f);
            }
        }
    }
}

static void a_constant_row_comes_back(void **state)
{
    (void)state;
    static const float values[] = {1.0f, -1.0f, 0.1f, -2.5f, 1000.0f};
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
            float x[256], back[256];
            for (int j = 0; j < 256; j++) {
                x[j] = values[k];
            }
            round_trip(bounds[i].type, x, 256, NULL, back);
            for (int j = 0; j < 256; j++) {
                float share = back[j] / values[k];
                if (!(share > 0.7f && share < 1.3f)) {
                    fail_msg("%s: %g became %g", qn_type_name(bounds[i].type), (double)values[k], (double)back[j]);
                }
            }
        }
    }
}

/* A row that a format can hold exactly comes back exactly from the searches, too. */
static void whole_levels_are_found_again(void **state)
{
    (void)state;
    static const struct {
        qn_type type;
        int least, n_levels;
        float scale;
    } cases[] = {
        {QN_TYPE_Q2_K, 0, 4, 1.0f},    {QN_TYPE_Q3_K, -4, 8, 0.5f},    {QN_TYPE_Q4_K, 0, 16, 0.25f},
        {QN_TYPE_Q5_K, 0, 32, 0.125f}, {QN_TYPE_Q6_K, -32, 64, 0.25f},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        float x[256], back[256];
        for (int j = 0; j < 256; j++) {
            x[j] = cases[i].scale * (float)(cases[i].least + j * 5 % cases[i].n_levels);
        }
        round_trip(cases[i].type, x, 256, NULL, back);
        double error = relative_error(x, back, NULL, 256);
        if (!(error < 1e-3)) { /* a half's last bit */
            fail_msg("%s: error %g", qn_type_name(cases[i].type), error);
        }
    }
}

static void importances_move_the_error_to_where_it_matters_less(void **state)
{
    (void)state;
    static const qn_type types[] = {QN_TYPE_Q4_0, QN_TYPE_Q4_1, QN_TYPE_Q5_0, QN_TYPE_Q5_1, QN_TYPE_Q2_K,
                                    QN_TYPE_Q3_K, QN_TYPE_Q4_K, QN_TYPE_Q5_K, QN_TYPE_Q6_K, QN_TYPE_IQ4_NL,
                                    QN_TYPE_IQ4_XS};
    float x[N], weights[N], plain[N], weighted[N];
    fill_normal(x, N, 3);
    for (size_t i = 0; i < N; i++) {
        weights[i] = i % 5 == 0 ? 100.0f : 1.0f;
    }
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        round_trip(types[i], x, N, NULL, plain);
        round_trip(types[i], x, N, weights, weighted);
        double before = relative_error(x, plain, weights, N);
        double after = relative_error(x, weighted, weights, N);
        if (!(after < 0.95 * before)) {
            fail_msg("%s: weighted error %g, was %g", qn_type_name(types[i]), after, before);
        }
    }
}

static void useless_importances_count_as_equal(void **state)
{
    (void)state;
    float x[256], weights[256], plain[256], weighted[256];
    fill_normal(x, 256, 4);
    static const float useless[] = {0.0f, -1.0f, NAN, INFINITY, 1e-45f, FLT_MAX};
    for (size_t k = 0; k < sizeof useless / sizeof useless[0]; k++) {
        for (int i = 0; i < 256; i++) {
            weights[i] = useless[k];
        }
        round_trip(QN_TYPE_Q4_K, x, 256, NULL, plain);
        round_trip(QN_TYPE_Q4_K, x, 256, weights, weighted);
        assert_true(relative_error(x, weighted, NULL, 256) < 1.01 * relative_error(x, plain, NULL, 256));
        round_trip(QN_TYPE_IQ4_XS, x, 256, weights, weighted);
        assert_true(relative_error(x, weighted, NULL, 256) < 0.08);
    }
}

static void any_bytes_decode(void **state)
{
    (void)state;
    qn_random r;
    qn_random_seed(&r, 5);
    for (uint32_t id = 0; id < QN_TYPE_COUNT; id++) {
        const qn_type_info *t = qn_type_find(id);
        if (t == NULL) {
            continue;
        }
        for (int round = 0; round < 40; round++) {
            uint8_t *base;
            size_t n = 256;
            uint64_t n_bytes;
            uint8_t *blocks = odd_blocks((qn_type)id, n, &base);
            assert_true(qn_type_row_bytes(id, n, &n_bytes));
            for (uint64_t i = 0; i < n_bytes; i++) {
                blocks[i] = (uint8_t)(round == 0 ? 0xff : round == 1 ? 0x7f : qn_random_u64(&r));
            }
            float *x = malloc((n + 1) * sizeof *x);
            assert_non_null(x);
            x[n] = 42.0f;
            assert_int_equal(qn_decode_row((qn_type)id, blocks, x, n, NULL), QN_OK);
            assert_true(x[n] == 42.0f);
            /* The same bytes at another address give the same floats. */
            uint8_t *copy = malloc(n_bytes);
            float *again = malloc(n * sizeof *again);
            assert_non_null(copy);
            assert_non_null(again);
            memcpy(copy, blocks, n_bytes);
            assert_int_equal(qn_decode_row((qn_type)id, copy, again, n, NULL), QN_OK);
            assert_memory_equal(x, again, n * sizeof *again);
            free(copy);
            free(again);
            free(x);
            free(base);
        }
    }
}

/* Nothing is promised about the result but that it is one, and that it does not reach over into other blocks. */
static void ugly_floats_encode(void **state)
{
    (void)state;
    static const float ugly[] = {NAN, INFINITY, -INFINITY, FLT_MAX, -FLT_MAX, 1e30f, FLT_MIN, 1e-40f, -1e-45f, 0.0f,
                                 -0.0f};
    const size_t n_ugly = sizeof ugly / sizeof ugly[0];
    qn_random r;
    qn_random_seed(&r, 6);
    for (uint32_t id = 0; id < QN_TYPE_COUNT; id++) {
        const qn_type_info *t = qn_type_find(id);
        if (t == NULL || t->encode == NULL) {
            continue;
        }
        for (size_t round = 0; round < 8 * n_ugly; round++) {
            float x[768], weights[768], back[768], clean[768];
            fill_normal(x, 768, round);
            for (int i = 0; i < 768; i++) {
                weights[i] = (float)qn_random_unit(&r);
            }
            const float *use = round % 2 == 1 ? weights : NULL;
            round_trip((qn_type)id, x, 768, use, clean);
            for (int i = 256; i < 512; i++) {
                bool all = round < 2 * n_ugly;
                bool one = round < 4 * n_ugly && i == 300;
                bool some = round >= 4 * n_ugly && qn_random_below(&r, 3) == 0;
                if (all || one) {
                    x[i] = ugly[round / 2 % n_ugly];
                } else if (some) {
                    x[i] = ugly[qn_random_below(&r, n_ugly)];
                    weights[i] = ugly[qn_random_below(&r, n_ugly)];
                }
            }
            round_trip((qn_type)id, x, 768, use, back);
            assert_memory_equal(back, clean, 256 * sizeof back[0]);
            assert_memory_equal(back + 512, clean + 512, 256 * sizeof back[0]);
        }
    }
}

/* The searches keep finite rows finite, however large: a scale past a half's range is held to the largest half. */
static void searches_never_make_infinities(void **state)
{
    (void)state;
    static const qn_type types[] = {QN_TYPE_Q2_K, QN_TYPE_Q3_K, QN_TYPE_Q4_K, QN_TYPE_Q5_K, QN_TYPE_Q6_K,
                                    QN_TYPE_IQ4_NL, QN_TYPE_IQ4_XS};
    static const float sizes[] = {FLT_MAX / 8, 1e30f, 1e9f, 1e6f, 1e-6f, 1e-20f, 1e-38f, 1e-44f};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            float x[256], back[256];
            fill_normal(x, 256, 7);
            for (int j = 0; j < 256; j++) {
                x[j] *= sizes[k];
            }
            round_trip(types[i], x, 256, NULL, back);
            for (int j = 0; j < 256; j++) {
                assert_true(isfinite(back[j]));
                /* of the right sign, or nothing */
                assert_true((double)back[j] * (double)x[j] >= 0 || fabsf(back[j]) <= fabsf(sizes[k]));
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normal_numbers_come_back_within_bounds),
        cmocka_unit_test(zeros_stay_zeros),
        cmocka_unit_test(a_constant_row_comes_back),
        cmocka_unit_test(whole_levels_are_found_again),
        cmocka_unit_test(importances_move_the_error_to_where_it_matters_less),
        cmocka_unit_test(useless_importances_count_as_equal),
        cmocka_unit_test(any_bytes_decode),
        cmocka_unit_test(ugly_floats_encode),
        cmocka_unit_test(searches_never_make_infinities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
