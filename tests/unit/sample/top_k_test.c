/* qn_sample_top_k and the top of the log-probabilities against a plain sort. SPDX-License-Identifier: MIT */
#include "support.h"

static void matches_sort_for_every_k(void **state)
{
    (void)state;
    qn_random r;
    qn_random_seed(&r, 1);
    for (uint32_t n = 1; n <= 40; n++) {
        for (int tied = 0; tied < 2; tied++) {
            float *x = tied ? test_tied_logits(&r, n, 4) : test_logits(&r, n, 3);
            int32_t *want = test_order(x, n);
            int32_t ids[40];
            for (uint32_t k = 1; k <= n; k++) {
                qn_sample_top_k(x, n, k, ids);
                assert_memory_equal(ids, want, k * sizeof(*ids));
            }
            free(want);
            free(x);
        }
    }
}

static void puts_what_is_not_finite_last(void **state)
{
    (void)state;
    const float x[] = {NAN, 1, INFINITY, -3, -INFINITY, 2, NAN};
    const int32_t want[] = {5, 1, 3, 0, 2, 4, 6};
    int32_t ids[7];
    for (uint32_t k = 1; k <= 7; k++) {
        qn_sample_top_k(x, 7, k, ids);
        assert_memory_equal(ids, want, k * sizeof(*ids));
    }
}

static void logprobs_are_those_of_softmax(void **state)
{
    (void)state;
    qn_random r;
    qn_random_seed(&r, 2);
    enum { N = 300 };
    float *x = test_logits(&r, N, 5);
    double *p = test_softmax(x, N);
    int32_t *want = test_order(x, N);
    int32_t ids[N];
    float logprobs[N];
    qn_top_logprobs(x, N, N, ids, logprobs);
    double sum = 0;
    for (int i = 0; i < N; i++) {
        assert_int_equal(ids[i], want[i]);
        assert_true(fabs(logprobs[i] - log(p[ids[i]])) < 1e-5);
        sum += exp((double)logprobs[i]);
    }
    assert_true(fabs(sum - 1) < 1e-5);
    free(want);
    free(p);
    free(x);
}

static void logprobs_of_ugly_logits(void **state)
{
    (void)state;
    const float mixed[] = {NAN, 0, INFINITY, 0};
    int32_t ids[4];
    float logprobs[4];
    qn_top_logprobs(mixed, 4, 4, ids, logprobs);
    assert_int_equal(ids[0], 1);
    assert_int_equal(ids[1], 3);
    assert_true(fabsf(logprobs[0] + logf(2)) < 1e-6f);
    assert_true(logprobs[2] == -INFINITY && logprobs[3] == -INFINITY);

    const float none[] = {NAN, -INFINITY};
    assert_true(qn_log_sum_exp(none, 2) == -INFINITY);
    qn_top_logprobs(none, 2, 2, ids, logprobs);
    assert_true(logprobs[0] == -INFINITY && logprobs[1] == -INFINITY);

    const float huge[] = {FLT_MAX, -FLT_MAX};
    assert_true(qn_log_sum_exp(huge, 2) == (double)FLT_MAX);
    qn_top_logprobs(huge, 2, 0, ids, logprobs); /* n 0 writes nothing */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_sort_for_every_k),
        cmocka_unit_test(puts_what_is_not_finite_last),
        cmocka_unit_test(logprobs_are_those_of_softmax),
        cmocka_unit_test(logprobs_of_ugly_logits),
    };
    return cmocka_run_group_tests_name("top_k", tests, NULL, NULL);
}
