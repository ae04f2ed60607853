/* Logit bias: added, banned, forced, refused. SPDX-License-Identifier: MIT */
#include "support.h"

static qn_status open_with(const qn_logit_bias *entry, size_t n, qn_error *err)
{
    qn_sampler_options o = test_plain_options();
    o.bias = entry;
    o.n_bias = n;
    qn_chain *c = NULL;
    qn_status status = qn_chain_open(&o, 100, NULL, &c, err);
    qn_chain_close(c);
    return status;
}

static void refuses_bad_entries(void **state)
{
    (void)state;
    const qn_logit_bias bad[] = {{999999999, 5}, {-3, 1},           {100, 1},       {INT32_MIN, 0},
                                 {INT32_MAX, 0}, {12, (float)1e39}, {12, INFINITY}, {12, NAN}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const qn_logit_bias entries[] = {{1, 1}, bad[i]};
        qn_error err;
        assert_int_equal(open_with(entries, 2, &err), QN_EINVAL);
        assert_non_null(strstr(err.what, "bias"));
    }
    qn_error err;
    assert_int_equal(open_with(NULL, 1, &err), QN_EINVAL);
    const qn_logit_bias good[] = {{99, FLT_MAX}, {0, -FLT_MAX}, {5, -INFINITY}, {0, FLT_MAX}};
    assert_int_equal(open_with(good, 4, &err), QN_OK);
}

static void adds_and_merges(void **state)
{
    (void)state;
    const qn_logit_bias entries[] = {{3, 1.5f}, {1, -2}, {3, 0.25f}};
    qn_bias bias;
    assert_int_equal(qn_bias_open(entries, 3, 5, NULL, &bias, NULL), QN_OK);
    assert_int_equal(bias.n, 2);
    float x[] = {0, 1, 2, 3, NAN};
    qn_bias_apply(&bias, x, 5);
    assert_true(x[0] == 0 && x[1] == -1 && x[2] == 2 && x[3] == 4.75f && isnan(x[4]));
    qn_bias_close(&bias);
}

static void bans_whatever_the_logit(void **state)
{
    (void)state;
    const float bans[] = {-100, -1000, -INFINITY};
    for (int i = 0; i < 3; i++) {
        /* The second entry must not bring the token back. */
        const qn_logit_bias entries[] = {{2, bans[i]}, {2, i == 2 ? FLT_MAX : 0}};
        qn_sampler_options o = test_plain_options();
        o.temperature = i == 1 ? 0 : 1;
        o.bias = entries;
        o.n_bias = 2;
        qn_chain *c = test_chain(&o, 4);
        const float x[] = {0, 0, 500, 0}; /* more than any sum with -100 could hide */
        for (int n = 0; n < 50; n++) {
            assert_int_not_equal(test_pick(c, x), 2);
        }
        qn_chain_close(c);
    }
}

static void forces_whatever_the_logits(void **state)
{
    (void)state;
    const qn_logit_bias entries[] = {{3, 100}, {1, 100}, {0, 99}};
    qn_sampler_options o = test_plain_options();
    o.bias = entries;
    o.n_bias = 3;
    qn_chain *c = test_chain(&o, 4);
    const float x[] = {900, -300, 900, -300};
    const double half[] = {0, 0.5, 0, 0.5};
    test_shares(c, x, half, 4, 1000);
    const float masked[] = {-5, NAN, 0, -INFINITY}; /* nothing forced is possible: the others stay */
    for (int i = 0; i < 20; i++) {
        assert_int_equal(test_pick(c, masked), 0);
    }
    qn_chain_close(c);
}

static void forcing_wins_over_top_k_and_greedy(void **state)
{
    (void)state;
    const qn_logit_bias entries[] = {{7, 100}};
    for (int greedy = 0; greedy < 2; greedy++) {
        qn_sampler_options o = test_plain_options();
        o.temperature = greedy ? 0 : 1;
        o.top_k = 2;
        o.bias = entries;
        o.n_bias = 1;
        qn_chain *c = test_chain(&o, 9);
        const float x[] = {250, 250, 250, 0, 0, 0, 0, -250, 250};
        assert_int_equal(test_pick(c, x), 7);
        qn_chain_close(c);
    }
}

static void all_banned_is_an_error(void **state)
{
    (void)state;
    const qn_logit_bias entries[] = {{0, -INFINITY}, {1, -100}};
    for (int greedy = 0; greedy < 2; greedy++) {
        qn_sampler_options o = test_plain_options();
        o.temperature = greedy ? 0 : 1;
        o.bias = entries;
        o.n_bias = 2;
        qn_chain *c = test_chain(&o, 2);
        const float x[] = {1, 2};
        int32_t id = 77;
        float logprob = 5;
        assert_int_equal(qn_chain_pick(c, x, &id, &logprob, NULL), QN_EINVAL);
        assert_int_equal(id, 77);
        assert_true(logprob == 5);
        qn_chain_close(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_bad_entries),
        cmocka_unit_test(adds_and_merges),
        cmocka_unit_test(bans_whatever_the_logit),
        cmocka_unit_test(forces_whatever_the_logits),
        cmocka_unit_test(forcing_wins_over_top_k_and_greedy),
        cmocka_unit_test(all_banned_is_an_error),
    };
    return cmocka_run_group_tests_name("bias", tests, NULL, NULL);
}
