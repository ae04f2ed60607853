/* Arguments that are missing or make no sense: QN_EINVAL with the argument's name, and everything works afterwards.
 * SPDX-License-Identifier: MIT */
#include "support.h"

static void expect_named(qn_status status, const qn_error *err, const char *name)
{
    if (status != QN_EINVAL || err->code != QN_EINVAL || strncmp(err->what, name, strlen(name)) != 0) {
        fail_msg("%s: %s '%s'", name, qn_status_name(status), err->what);
    }
}

#define EXPECT_NAMED(name, call)                                                                                       \
    do {                                                                                                               \
        qn_error err = {0};                                                                                            \
        expect_named((call), &err, name);                                                                              \
    } while (0)

static void test_opening(void **state)
{
    (void)state;
    qn_runtime *rt = open_runtime("ref", 1);
    qn_model *m = NULL;
    EXPECT_NAMED("out: NULL", qn_runtime_open(NULL, NULL, &err));
    EXPECT_NAMED("path: NULL", qn_model_open(rt, NULL, NULL, &m, &err));
    EXPECT_NAMED("rt: NULL", qn_model_open(NULL, "x", NULL, &m, &err));
    EXPECT_NAMED("out: NULL", qn_model_open(rt, "x", NULL, NULL, &err));
    assert_int_equal(qn_model_open(rt, NULL, NULL, &m, NULL), QN_EINVAL);
    assert_null(m);
    qn_tiny_spec spec = qn_tiny_spec_of("llama");
    m = open_tiny(rt, &spec);
    qn_session *s = NULL;
    EXPECT_NAMED("m: NULL", qn_session_open(NULL, NULL, &s, &err));
    EXPECT_NAMED("out: NULL", qn_session_open(m, NULL, NULL, &err));
    EXPECT_NAMED("per_second: NULL", qn_model_peak(m, 1, 1, NULL, &err));
    qn_model_close(m);
    qn_runtime_close(rt);
}

static void test_texts(void **state)
{
    (void)state;
    qn_runtime *rt = open_runtime("ref", 1);
    qn_tiny_spec spec = qn_tiny_spec_of("llama");
    qn_model *m = open_tiny(rt, &spec);
    int32_t ids[8];
    char text[8];
    size_t n = 7;
    EXPECT_NAMED("text: NULL", qn_tokenize(m, NULL, 3, 0, ids, 8, &n, &err));
    EXPECT_NAMED("ids: NULL", qn_tokenize(m, "abc", 3, 0, NULL, 8, &n, &err));
    EXPECT_NAMED("n_ids: NULL", qn_tokenize(m, "abc", 3, 0, ids, 8, NULL, &err));
    EXPECT_NAMED("m: NULL", qn_tokenize(NULL, "abc", 3, 0, ids, 8, &n, &err));
    EXPECT_NAMED("ids: NULL", qn_detokenize(m, NULL, 3, 0, text, 8, &n, &err));
    EXPECT_NAMED("text: NULL", qn_detokenize(m, ids, 0, 0, NULL, 8, &n, &err));
    EXPECT_NAMED("n_bytes: NULL", qn_detokenize(m, ids, 0, 0, text, 8, NULL, &err));
    assert_int_equal(n, 7);
    assert_int_equal(qn_tokenize(m, NULL, 0, 0, NULL, 0, &n, NULL), QN_OK); /* nothing is fine */
    assert_int_equal(n, 0);
    assert_int_equal(qn_tokenize(m, "abc", 3, 0, NULL, 0, &n, NULL), QN_ERANGE); /* asking for the count */
    assert_true(n > 0);

    qn_stream *st = NULL;
    const char *const stops[] = {"a", NULL, "b"};
    EXPECT_NAMED("stops[1]: NULL", qn_stream_open(m, stops, 3, 0, &st, &err));
    EXPECT_NAMED("stops: NULL", qn_stream_open(m, NULL, 3, 0, &st, &err));
    EXPECT_NAMED("out: NULL", qn_stream_open(m, stops, 1, 0, NULL, &err));
    assert_null(st);
    assert_int_equal(qn_stream_open(m, NULL, 0, 0, &st, NULL), QN_OK);
    const char *shown;
    bool stopped;
    EXPECT_NAMED("text: NULL", qn_stream_push(st, 5, NULL, &n, &stopped, &err));
    EXPECT_NAMED("n_bytes: NULL", qn_stream_push(st, 5, &shown, NULL, &stopped, &err));
    EXPECT_NAMED("stopped: NULL", qn_stream_push(st, 5, &shown, &n, NULL, &err));
    EXPECT_NAMED("text: NULL", qn_stream_finish(st, NULL, &n, &err));
    assert_int_equal(qn_stream_push(st, 5, &shown, &n, &stopped, NULL), QN_OK);
    qn_stream_close(st);
    qn_model_close(m);
    qn_runtime_close(rt);
}

static int count_rows(void *ctx, uint32_t i_row, const float *logits)
{
    (void)i_row;
    (void)logits;
    ++*(int *)ctx;
    return 0;
}

static void test_steps(void **state)
{
    (void)state;
    qn_runtime *rt = open_runtime("ref", 1);
    qn_tiny_spec spec = qn_tiny_spec_of("llama");
    qn_model *m = open_tiny(rt, &spec);
    qn_session *s = open_session(m, &(qn_session_options){.n_ctx = 32, .n_batch = 8, .n_seqs = 2});
    qn_seq *a = open_seq(s), *b = open_seq(s);
    const int32_t tokens[3] = {4, 5, 6};
    int n_rows = 0;
    EXPECT_NAMED("items: NULL", qn_step(s, NULL, 1, &err));
    EXPECT_NAMED("s: NULL", qn_step(NULL, NULL, 0, &err));
    assert_int_equal(qn_step(s, NULL, 0, NULL), QN_OK);
    EXPECT_NAMED("tokens: NULL", qn_seq_eval(a, NULL, 3, NULL, &err));
    EXPECT_NAMED("q: NULL", qn_seq_eval(NULL, tokens, 3, NULL, &err));
    EXPECT_NAMED("tokens: NULL", qn_seq_eval_each(a, NULL, 3, count_rows, &n_rows, &err));
    EXPECT_NAMED("fn: NULL", qn_seq_eval_each(a, tokens, 3, NULL, NULL, &err));
    EXPECT_NAMED("q: NULL", qn_seq_truncate(NULL, 0, &err));
    EXPECT_NAMED("out: NULL", qn_seq_open(s, NULL, &err));
    EXPECT_NAMED("text: NULL", qn_session_plan_text(s, NULL, 100, &(size_t){0}, &err));

    /* A faulty item is left out, the other runs. */
    for (int i = 0; i < 3; i++) {
        qn_step_item items[2] = {{.seq = a, .tokens = tokens, .n_tokens = 3, .want = QN_WANT_LAST},
                                 {.seq = b, .tokens = tokens, .n_tokens = 2}};
        qn_error err = {0};
        items[0].want = i == 0 ? (qn_want)7 : i == 1 ? (qn_want)-1 : QN_WANT_LAST;
        items[0].tokens = i == 2 ? NULL : tokens;
        assert_int_equal(qn_step(s, items, 2, &err), QN_OK);
        assert_int_equal(items[1].status, QN_OK);
        expect_named(items[0].status, &err, i == 0 ? "want: 7" : i == 1 ? "want: -1" : "tokens: NULL");
    }
    assert_int_equal(qn_seq_length(a), 0);
    assert_int_equal(qn_seq_length(b), 6);
    assert_int_equal(n_rows, 0);
    assert_int_equal(qn_seq_eval_each(a, tokens, 3, count_rows, &n_rows, NULL), QN_OK);
    assert_int_equal(n_rows, 3);
    qn_session_close(s);
    qn_model_close(m);
    qn_runtime_close(rt);
}

static void test_samplers(void **state)
{
    (void)state;
    qn_runtime *rt = open_runtime("ref", 1);
    qn_tiny_spec spec = qn_tiny_spec_of("llama");
    qn_model *m = open_tiny(rt, &spec);
    qn_sampler *usual = NULL, *told = NULL;
    qn_sampler_options o;
    float logits[QN_TINY_MIN_VOCAB];
    int32_t id, other;
    EXPECT_NAMED("m: NULL", qn_sampler_open(NULL, NULL, &usual, &err));
    EXPECT_NAMED("out: NULL", qn_sampler_open(m, NULL, NULL, &err));
    o = (qn_sampler_options){.temperature = 1, .top_p = 1, .typical_p = 1, .repeat_penalty = 1, .n_bias = 2};
    EXPECT_NAMED("bias: NULL", qn_sampler_open(m, &o, &told, &err));

    qn_sampler_options_init(&o);
    assert_int_equal(qn_sampler_open(m, NULL, &usual, NULL), QN_OK);
    assert_int_equal(qn_sampler_open(m, &o, &told, NULL), QN_OK);
    for (uint32_t i = 0; i < QN_TINY_MIN_VOCAB; i++) {
        logits[i] = (float)(i * 37 % 101) / 20.0f;
    }
    EXPECT_NAMED("logits: NULL", qn_sampler_pick(usual, NULL, &id, NULL, &err));
    EXPECT_NAMED("id: NULL", qn_sampler_pick(usual, logits, NULL, NULL, &err));
    EXPECT_NAMED("s: NULL", qn_sampler_pick(NULL, logits, &id, NULL, &err));
    for (int i = 0; i < 50; i++) {
        assert_int_equal(qn_sampler_pick(usual, logits, &id, NULL, NULL), QN_OK);
        assert_int_equal(qn_sampler_pick(told, logits, &other, NULL, NULL), QN_OK);
        assert_int_equal(id, other);
    }
    qn_sampler_close(usual);
    qn_sampler_close(told);

    int32_t ids[QN_TINY_MIN_VOCAB + 3];
    float logprobs[QN_TINY_MIN_VOCAB + 3];
    qn_logprobs_top(m, logits, QN_TINY_MIN_VOCAB + 3, ids, logprobs);
    assert_true(ids[QN_TINY_MIN_VOCAB - 1] >= 0 && isfinite(logprobs[QN_TINY_MIN_VOCAB - 1]));
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(ids[QN_TINY_MIN_VOCAB + i], -1);
        assert_true(logprobs[QN_TINY_MIN_VOCAB + i] == -INFINITY);
    }
    qn_model_close(m);
    qn_runtime_close(rt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opening),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_samplers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
