/* The whole chain: options, order, distributions, determinism, memory. SPDX-License-Identifier: MIT */
#include "support.h"

static void refuses_bad_options(void **state)
{
    (void)state;
    const float bad_temperature[] = {NAN, INFINITY, -INFINITY, -1, -1e-20f};
    const float bad_share[] = {NAN, INFINITY, -0.1f, 1.0001f, 2};
    const float bad_penalty[] = {NAN, INFINITY, -INFINITY};
    const float bad_repeat[] = {NAN, INFINITY, 0, -1};
    const struct {
        const char *name;
        size_t offset;
        const float *values;
        size_t n;
    } cases[] = {
        {"temperature", offsetof(qn_sampler_options, temperature), bad_temperature, 5},
        {"top_p", offsetof(qn_sampler_options, top_p), bad_share, 5},
        {"min_p", offsetof(qn_sampler_options, min_p), bad_share, 5},
        {"typical_p", offsetof(qn_sampler_options, typical_p), bad_share, 5},
        {"repeat_penalty", offsetof(qn_sampler_options, repeat_penalty), bad_repeat, 4},
        {"frequency_penalty", offsetof(qn_sampler_options, frequency_penalty), bad_penalty, 3},
        {"presence_penalty", offsetof(qn_sampler_options, presence_penalty), bad_penalty, 3},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (size_t j = 0; j < cases[i].n; j++) {
            qn_sampler_options o = test_plain_options();
            memcpy((char *)&o + cases[i].offset, &cases[i].values[j], sizeof(float));
            qn_chain *c = NULL;
            qn_error err;
            assert_int_equal(qn_chain_open(&o, 10, NULL, &c, &err), QN_EINVAL);
            assert_null(c);
            assert_int_equal(strncmp(err.what, cases[i].name, strlen(cases[i].name)), 0);
        }
    }
    qn_sampler_options o = test_plain_options();
    qn_chain *c = NULL;
    qn_error err;
    o.penalty_last_n = UINT32_MAX;
    assert_int_equal(qn_chain_open(&o, 10, NULL, &c, &err), QN_EINVAL);
    assert_non_null(strstr(err.what, "penalty_last_n"));
    o.penalty_last_n = 0;
    assert_int_equal(qn_chain_open(&o, 0, NULL, &c, &err), QN_EINVAL);
}

static void greedy_takes_the_lower_id_of_a_tie(void **state)
{
    (void)state;
    qn_sampler_options o = test_plain_options();
    o.temperature = 0;
    qn_chain *c = test_chain(&o, 6);
    const float x[] = {NAN, 1, 3, INFINITY, 3, -INFINITY};
    float logprob = 0;
    int32_t id = -1;
    assert_int_equal(qn_chain_pick(c, x, &id, &logprob, NULL), QN_OK);
    assert_int_equal(id, 2);
    assert_true(fabs(logprob - (3 - log(2 * exp(3) + exp(1)))) < 1e-6);
    const float none[] = {NAN, -INFINITY, NAN, INFINITY, NAN, NAN};
    qn_error err;
    assert_int_equal(qn_chain_pick(c, none, &id, &logprob, &err), QN_EINVAL);
    qn_chain_close(c);
}

static void draws_by_softmax(void **state)
{
    (void)state;
    qn_random r;
    qn_random_seed(&r, 7);
    enum { N = 12 };
    const float temperatures[] = {0.5f, 1, 2};
    for (int i = 0; i < 3; i++) {
        float *x = test_logits(&r, N, 1.5f);
        float scaled[N];
        for (int j = 0; j < N; j++) {
            scaled[j] = x[j] / temperatures[i];
        }
        double *p = test_softmax(scaled, N);
        qn_sampler_options o = test_plain_options();
        o.temperature = temperatures[i];
        o.seed = (uint64_t)i;
        qn_chain *c = test_chain(&o, N);
        test_shares(c, x, p, N, 20000);
        qn_chain_close(c);
        free(p);
        free(x);
    }
}

/* top-k 5, then top-p 0.8 of what is left, then min-p 0.2, then temperature 2. */
static void stages_run_in_order(void **state)
{
    (void)state;
    const double p[] = {0.05, 0.3, 0.1, 0.25, 0.08, 0.02, 0.2}; /* best five: 0.3 0.25 0.2 0.1 0.08 */
    float x[7];
    for (int i = 0; i < 7; i++) {
        x[i] = (float)log(p[i]);
    }
    /* 0.8 of 0.93 is 0.744: 0.3 + 0.25 + 0.2 reach it. Of these, 0.7 * 0.3 = 0.21 leaves two. */
    double want[7] = {0};
    double sum = sqrt(0.3) + sqrt(0.25);
    want[1] = sqrt(0.3) / sum;
    want[3] = sqrt(0.25) / sum;
    qn_sampler_options o = test_plain_options();
    o.top_k = 5;
    o.top_p = 0.8f;
    o.min_p = 0.7f;
    o.temperature = 2;
    qn_chain *c = test_chain(&o, 7);
    test_shares(c, x, want, 7, 20000);
    qn_chain_close(c);
}

static void same_seed_same_text(void **state)
{
    (void)state;
    qn_random r;
    qn_random_seed(&r, 8);
    enum { N = 5000 };
    float *x = test_logits(&r, N, 2);
    qn_sampler_options o = test_plain_options();
    o.top_p = 0.9f;
    o.seed = 42;
    qn_chain *a = test_chain(&o, N), *b = test_chain(&o, N);
    o.seed = 43;
    qn_chain *other = test_chain(&o, N);
    int n_different = 0;
    for (int i = 0; i < 200; i++) {
        int32_t id = test_pick(a, x);
        assert_int_equal(test_pick(b, x), id);
        n_different += test_pick(other, x) != id;
    }
    assert_true(n_different > 50);
    qn_chain_close(a);
    qn_chain_close(b);
    qn_chain_close(other);
    free(x);
}

/* What top_k larger than the vocabulary, and 0, have in common: nothing is cut. */
static void top_k_beyond_the_vocabulary_is_off(void **state)
{
    (void)state;
    const float x[] = {0, 0, 0, 0};
    const double p[] = {0.25, 0.25, 0.25, 0.25};
    const uint32_t ks[] = {0, 4, 5, UINT32_MAX};
    for (int i = 0; i < 4; i++) {
        qn_sampler_options o = test_plain_options();
        o.top_k = ks[i];
        qn_chain *c = test_chain(&o, 4);
        test_shares(c, x, p, 4, 4000);
        qn_chain_close(c);
    }
}

static qn_sampler_options everything_on(void)
{
    static const qn_logit_bias bias[] = {{1, 2}, {2, -INFINITY}};
    qn_sampler_options o = test_plain_options();
    o.top_k = 40;
    o.top_p = 0.95f;
    o.min_p = 0.05f;
    o.typical_p = 0.9f;
    o.repeat_penalty = 1.1f;
    o.penalty_last_n = 64;
    o.bias = bias;
    o.n_bias = 2;
    return o;
}

static void picks_allocate_nothing_and_leave_the_logits(void **state)
{
    (void)state;
    qn_random r;
    qn_random_seed(&r, 9);
    enum { N = 1000 };
    float *x = test_logits(&r, N, 3);
    float *copy = malloc(N * sizeof(*copy));
    assert_non_null(copy);
    memcpy(copy, x, N * sizeof(*copy));
    qn_sampler_options o = everything_on();
    qn_budget *budget = NULL;
    assert_int_equal(qn_budget_open(0, &budget), QN_OK);
    qn_chain *c = NULL;
    assert_int_equal(qn_chain_open(&o, N, budget, &c, NULL), QN_OK);
    uint64_t n_before = qn_alloc_count();
    for (int i = 0; i < 100; i++) {
        int32_t id = test_pick(c, x);
        assert_true(id >= 0 && id < N && id != 2);
    }
    assert_int_equal(qn_alloc_count(), n_before);
    assert_memory_equal(copy, x, N * sizeof(*copy));
    const char *owner = NULL;
    uint64_t bytes = 0;
    assert_true(qn_budget_owner(budget, 0, &owner, &bytes));
    assert_string_equal(owner, "sampler");
    qn_chain_close(c);
    assert_int_equal(qn_budget_used(budget), 0);
    qn_budget_close(budget);
    free(copy);
    free(x);
}

static void every_failed_allocation_is_clean(void **state)
{
    (void)state;
    qn_sampler_options o = everything_on();
    uint64_t n_live = qn_alloc_live();
    for (uint64_t n = 1;; n++) {
        qn_chain *c = NULL;
        qn_error err;
        qn_alloc_fail_at(n);
        qn_status status = qn_chain_open(&o, 1000, NULL, &c, &err);
        qn_alloc_fail_at(0);
        if (status == QN_OK) {
            assert_true(n > 5);
            qn_chain_close(c);
            break;
        }
        assert_int_equal(status, QN_ENOMEM);
        assert_null(c);
        assert_int_equal(qn_alloc_live(), n_live);
    }
    assert_int_equal(qn_alloc_live(), n_live);
    qn_chain_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_bad_options),
        cmocka_unit_test(greedy_takes_the_lower_id_of_a_tie),
        cmocka_unit_test(draws_by_softmax),
        cmocka_unit_test(stages_run_in_order),
        cmocka_unit_test(same_seed_same_text),
        cmocka_unit_test(top_k_beyond_the_vocabulary_is_off),
        cmocka_unit_test(picks_allocate_nothing_and_leave_the_logits),
        cmocka_unit_test(every_failed_allocation_is_clean),
    };
    return cmocka_run_group_tests_name("chain", tests, NULL, NULL);
}
