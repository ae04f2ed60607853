/* Picks under a mask: the same as picks from logits of which the masked ones are gone. SPDX-License-Identifier: MIT */
#include "support.h"

enum { N = 3001, N_WORDS = (N + 63) / 64 }; /* the last word is not full, and many is more than QN_MASK_FEW */

static void random_mask(qn_random *r, uint64_t *mask, double share)
{
    memset(mask, 0, N_WORDS * sizeof(*mask));
    for (uint32_t i = 0; i < N; i++) {
        /* Whole words too: they are copied in another way. */
        bool is_set = i / 64 % 5 == 1 ? share > 0.3 : qn_random_unit(r) < share;
        mask[i / 64] |= (uint64_t)is_set << (i % 64);
    }
    mask[7] |= 4; /* never empty */
}

static void put_out(float *logits, const uint64_t *mask)
{
    for (uint32_t i = 0; i < N; i++) {
        logits[i] = mask[i / 64] >> (i % 64) & 1 ? logits[i] : -INFINITY;
    }
}

static qn_sampler_options random_options(qn_random *r, qn_logit_bias *bias)
{
    qn_sampler_options o = test_plain_options();
    o.temperature = qn_random_below(r, 4) == 0 ? 0 : 0.2f + (float)qn_random_unit(r) * 2;
    o.top_k = qn_random_below(r, 2) == 0 ? 0 : 1 + (uint32_t)qn_random_below(r, 60);
    o.top_p = qn_random_below(r, 2) == 0 ? 1 : 0.7f;
    o.min_p = qn_random_below(r, 2) == 0 ? 0 : 0.1f;
    o.typical_p = qn_random_below(r, 3) == 0 ? 0.6f : 1;
    if (qn_random_below(r, 2) == 0) {
        o.penalty_last_n = 20;
        o.repeat_penalty = 1.3f;
        o.frequency_penalty = 0.4f;
        o.presence_penalty = -0.1f;
    }
    static const float biases[] = {-200, -INFINITY, -5, 0, 0.5f, 5, 99, 100};
    o.bias = bias;
    o.n_bias = qn_random_below(r, 3) == 0 ? 0 : 40;
    bool may_force = qn_random_below(r, 3) == 0;
    for (size_t i = 0; i < o.n_bias; i++) {
        bias[i] = (qn_logit_bias){(int32_t)qn_random_below(r, N), biases[qn_random_below(r, may_force ? 8 : 7)]};
    }
    o.seed = qn_random_u64(r);
    return o;
}

static void same_as_without_the_others(void **state)
{
    (void)state;
    static const double shares[] = {0.0005, 0.02, 0.3, 0.5, 0.95, 1};
    uint32_t n_picked = 0, n_none = 0;
    qn_random r;
    qn_random_seed(&r, 11);
    for (int round = 0; round < 160; round++) {
        uint64_t mask[N_WORDS];
        qn_logit_bias bias[40];
        qn_sampler_options o = random_options(&r, bias);
        qn_chain *masked = test_chain(&o, N), *plain = test_chain(&o, N);
        assert_int_equal(qn_chain_allow_masks(masked, NULL), QN_OK);
        for (int i = 0; i < 12; i++) {
            float *logits = round % 2 == 0 ? test_logits(&r, N, 3) : test_tied_logits(&r, N, 9);
            logits[qn_random_below(&r, N)] = NAN;
            logits[qn_random_below(&r, N)] = INFINITY;
            random_mask(&r, mask, shares[qn_random_below(&r, 6)]);
            int32_t a = -1, b = -1;
            float logprob = 0, its = 0;
            qn_status status = qn_chain_choose(masked, logits, mask, &a, &logprob, NULL);
            double log_sum = qn_log_sum_exp(logits, N);
            its = status == QN_OK ? logits[a] : 0;
            put_out(logits, mask);
            assert_int_equal(qn_chain_pick(plain, logits, &b, NULL, NULL), status);
            assert_int_equal(a, b);
            if (status == QN_OK) {
                assert_true(mask[a / 64] >> (a % 64) & 1);
                assert_true(fabs((double)logprob - ((double)its - log_sum)) < 1e-4);
                qn_chain_accept(masked, &a, 1);
                n_picked++;
            } else {
                n_none++;
            }
            free(logits);
        }
        qn_chain_close(masked);
        qn_chain_close(plain);
    }
    assert_true(n_picked > 1000);
    assert_true(n_none < 200);
}

static void the_mask_wins_over_forced_bias(void **state)
{
    (void)state;
    const qn_logit_bias bias[] = {{3, 100}, {70, 200}, {71, -100}};
    float logits[128] = {0};
    uint64_t mask[2] = {1 << 5, 0};
    for (int greedy = 0; greedy < 2; greedy++) {
        qn_sampler_options o = test_plain_options();
        o.temperature = greedy ? 0 : 1;
        o.bias = bias;
        o.n_bias = 3;
        qn_chain *c = test_chain(&o, 128);
        qn_error err;
        int32_t id = -1;
        mask[0] = 1 << 5;
        mask[1] = 0;
        assert_int_equal(qn_chain_allow_masks(c, NULL), QN_OK);
        assert_int_equal(qn_chain_choose(c, logits, mask, &id, NULL, NULL), QN_OK);
        assert_int_equal(id, 5);
        mask[1] = 1 << 6 | 1 << 7; /* a forced one and a banned one */
        assert_int_equal(qn_chain_choose(c, logits, mask, &id, NULL, NULL), QN_OK);
        assert_int_equal(id, 70);
        mask[0] = 0;
        mask[1] = 1 << 7;
        assert_int_equal(qn_chain_choose(c, logits, mask, &id, NULL, &err), QN_EINVAL);
        assert_non_null(strstr(err.what, "may come next are banned"));
        assert_int_equal(id, 70);
        qn_chain_close(c);
    }
}

/* What is chosen is remembered only when it is accepted. */
static void a_choice_is_not_remembered(void **state)
{
    (void)state;
    qn_sampler_options o = test_plain_options();
    o.temperature = 0;
    o.penalty_last_n = 8;
    o.presence_penalty = 2;
    qn_chain *c = test_chain(&o, 64);
    float logits[64] = {[9] = 2, [20] = 1};
    const uint64_t mask = 1 << 9 | 1 << 20;
    int32_t id = -1;
    assert_int_equal(qn_chain_allow_masks(c, NULL), QN_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(qn_chain_choose(c, logits, &mask, &id, NULL, NULL), QN_OK);
        assert_int_equal(id, 9);
    }
    qn_chain_accept(c, &id, 1);
    assert_int_equal(qn_chain_choose(c, logits, &mask, &id, NULL, NULL), QN_OK);
    assert_int_equal(id, 20);
    qn_chain_close(c);
}

static void masks_allocate_once(void **state)
{
    (void)state;
    qn_random r;
    qn_random_seed(&r, 5);
    qn_budget *b;
    assert_int_equal(qn_budget_open(0, &b), QN_OK);
    for (int greedy = 0; greedy < 2; greedy++) {
        qn_sampler_options o = test_plain_options();
        o.temperature = greedy ? 0 : 1;
        o.top_k = 40;
        qn_chain *c = NULL;
        assert_int_equal(qn_chain_open(&o, N, b, &c, NULL), QN_OK);
        for (uint64_t n = 1; n <= 2; n++) { /* where memory is wanting, masks may be asked for again */
            qn_error err = {0};
            qn_alloc_fail_at(n);
            qn_status status = qn_chain_allow_masks(c, &err);
            qn_alloc_fail_at(0);
            assert_true(status == QN_ENOMEM || n > 1);
            assert_int_equal(err.code, status);
        }
        assert_int_equal(qn_chain_allow_masks(c, NULL), QN_OK);
        uint64_t count = qn_alloc_count();
        assert_int_equal(qn_chain_allow_masks(c, NULL), QN_OK);
        float *logits = test_logits(&r, N, 1);
        for (int i = 0; i < 20; i++) {
            uint64_t mask[N_WORDS];
            int32_t id;
            random_mask(&r, mask, i % 2 == 0 ? 0.01 : 0.8);
            assert_int_equal(qn_chain_choose(c, logits, mask, &id, NULL, NULL), QN_OK);
        }
        assert_int_equal(qn_alloc_count(), count);
        free(logits);
        qn_chain_close(c);
    }
    assert_int_equal(qn_budget_used(b), 0);
    qn_budget_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_without_the_others),
        cmocka_unit_test(the_mask_wins_over_forced_bias),
        cmocka_unit_test(a_choice_is_not_remembered),
        cmocka_unit_test(masks_allocate_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
