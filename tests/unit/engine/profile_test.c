/* What a session's profile counts. SPDX-License-Identifier: MIT */
#include "support.h"

enum { N_ROWS = 40, N_STEPS = 3 };

static void run_steps(qn_session *s)
{
    qn_seq *q = open_seq(s);
    const float *logits = NULL;
    qn_error err;
    int32_t tokens[N_ROWS];
    for (uint32_t i = 0; i < N_ROWS; i++) {
        tokens[i] = token_at(0, i);
    }
    for (int i = 0; i < N_STEPS; i++) {
        expect_ok(qn_seq_eval(q, tokens, N_ROWS, &logits, &err), &err);
    }
    qn_seq_close(q);
}

static void check_profile(qn_session *s, const qn_model_info *info)
{
    uint64_t product_mul_adds = 0, attention = 0;
    qn_profile_entry e = {0};
    size_t n = 0;
    for (; qn_session_profile(s, n, &e); n++) {
        bool is_product = strncmp(e.name, "product", 7) == 0;
        product_mul_adds += is_product ? e.mul_adds : 0;
        attention += strcmp(e.name, "attention") == 0 ? e.mul_adds : 0;
        assert_true(e.calls > 0 || strcmp(e.name, "wait") == 0 || strcmp(e.name, "rows") == 0);
        assert_true(!is_product || (e.ns > 0 && e.bytes > 0));
    }
    assert_true(n > 3 && attention > 0);
    assert_string_equal(e.name, "wait");
    assert_int_equal(product_mul_adds, N_STEPS * (N_ROWS * info->body_weights + info->head_weights));
}

static void test_profile(void **state)
{
    (void)state;
    for (uint32_t n_threads = 1; n_threads <= 2; n_threads++) {
        qn_runtime *rt = open_runtime(NULL, n_threads);
        qn_tiny_spec spec = qn_tiny_spec_of("qwen3");
        qn_model *m = open_tiny(rt, &spec);
        qn_model_info info;
        qn_model_get_info(m, &info);
        qn_session *s = open_session(m, &(qn_session_options){.n_ctx = N_ROWS * N_STEPS, .profile = true});
        run_steps(s);
        check_profile(s, &info);
        qn_session_profile_reset(s);
        qn_profile_entry e;
        for (size_t i = 0; qn_session_profile(s, i, &e); i++) {
            assert_true(e.calls == 0 && e.ns == 0 && e.bytes == 0 && e.mul_adds == 0);
        }
        run_steps(s);
        check_profile(s, &info);
        qn_session_close(s);
        qn_model_close(m);
        qn_runtime_close(rt);
    }
}

static void test_nobody_asked(void **state)
{
    (void)state;
    qn_runtime *rt = open_runtime(NULL, 1);
    qn_tiny_spec spec = qn_tiny_spec_of("qwen3");
    qn_model *m = open_tiny(rt, &spec);
    qn_session *s = open_session(m, NULL);
    qn_profile_entry e;
    run_steps(s);
    assert_false(qn_session_profile(s, 0, &e));
    assert_false(qn_session_profile(NULL, 0, &e));
    assert_false(qn_session_profile(s, 0, NULL));
    qn_session_profile_reset(s);
    qn_session_profile_reset(NULL);
    qn_session_close(s);
    qn_model_close(m);
    qn_runtime_close(rt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_profile), cmocka_unit_test(test_nobody_asked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
