/* Penalties against a version that counts the window anew each time. SPDX-License-Identifier: MIT */
#include "support.h"

enum { N_VOCAB = 20 };

static void plain_penalties(const qn_sampler_options *o, const int32_t *history, size_t n, float *x)
{
    size_t begin = n > o->penalty_last_n ? n - o->penalty_last_n : 0;
    for (int32_t id = 0; id < N_VOCAB; id++) {
        int count = 0;
        for (size_t i = begin; i < n; i++) {
            count += history[i] == id;
        }
        if (count > 0) {
            double v = x[id] > 0 ? x[id] / (double)o->repeat_penalty : x[id] * (double)o->repeat_penalty;
            x[id] = (float)(v - count * (double)o->frequency_penalty - (double)o->presence_penalty);
        }
    }
}

static void match_a_recount(void **state)
{
    (void)state;
    qn_random r;
    qn_random_seed(&r, 6);
    const uint32_t windows[] = {1, 2, 7, 64, 1000};
    for (size_t i_window = 0; i_window < 5; i_window++) {
        qn_sampler_options o = test_plain_options();
        o.penalty_last_n = windows[i_window];
        o.repeat_penalty = 1.3f;
        o.frequency_penalty = 0.2f;
        o.presence_penalty = -0.1f;
        qn_penalties p;
        assert_int_equal(qn_penalties_open(&o, N_VOCAB, NULL, &p, NULL), QN_OK);
        int32_t history[200];
        for (size_t n = 0; n < 200; n++) {
            float *x = test_logits(&r, N_VOCAB, 3);
            float want[N_VOCAB];
            memcpy(want, x, sizeof(want));
            plain_penalties(&o, history, n, want);
            qn_penalties_apply(&p, x);
            assert_memory_equal(x, want, sizeof(want));
            free(x);
            history[n] = (int32_t)qn_random_below(&r, N_VOCAB);
            qn_penalties_accept(&p, history[n]);
        }
        qn_penalties_close(&p);
    }
}

static void never_ban_and_never_revive(void **state)
{
    (void)state;
    qn_sampler_options o = test_plain_options();
    o.penalty_last_n = 4;
    o.repeat_penalty = FLT_MAX;
    o.frequency_penalty = FLT_MAX;
    o.presence_penalty = -FLT_MAX;
    qn_penalties p;
    assert_int_equal(qn_penalties_open(&o, 3, NULL, &p, NULL), QN_OK);
    for (int32_t id = 0; id < 3; id++) {
        qn_penalties_accept(&p, id);
    }
    float x[] = {-5, NAN, -INFINITY};
    qn_penalties_apply(&p, x);
    assert_true(isfinite(x[0]));
    assert_true(isnan(x[1]));
    assert_true(x[2] == -INFINITY);
    qn_penalties_close(&p);
}

static void foreign_ids_are_passed_over(void **state)
{
    (void)state;
    qn_sampler_options o = test_plain_options();
    o.temperature = 0;
    o.penalty_last_n = 8;
    o.presence_penalty = 10;
    qn_chain *c = test_chain(&o, 3);
    const int32_t ids[] = {-1, 3, INT32_MAX, INT32_MIN};
    qn_chain_accept(c, ids, 4);
    const float x[] = {3, 2, 1};
    assert_int_equal(test_pick(c, x), 0);
    assert_int_equal(test_pick(c, x), 1); /* what was picked is remembered */
    assert_int_equal(test_pick(c, x), 2);
    qn_chain_close(c);
}

static void the_prompt_counts(void **state)
{
    (void)state;
    qn_sampler_options o = test_plain_options();
    o.temperature = 0;
    o.penalty_last_n = 2;
    o.repeat_penalty = 2;
    qn_chain *c = test_chain(&o, 3);
    const int32_t prompt[] = {0, 2, 2}; /* 0 has left the window */
    qn_chain_accept(c, prompt, 3);
    const float x[] = {2.5f, 1, 4};
    assert_int_equal(test_pick(c, x), 0);
    qn_chain_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(match_a_recount),
        cmocka_unit_test(never_ban_and_never_revive),
        cmocka_unit_test(foreign_ids_are_passed_over),
        cmocka_unit_test(the_prompt_counts),
    };
    return cmocka_run_group_tests_name("penalties", tests, NULL, NULL);
}
