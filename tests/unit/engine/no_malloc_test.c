/* After the first token nothing allocates: not the steps, whatever their shape, not sampling, not the text stream.
 * SPDX-License-Identifier: MIT */
#include "support.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif

#if defined(IS_SANITIZED) || !defined(__GLIBC__)

static void test_nothing_allocates_after_the_first_token(void **state)
{
    (void)state;
    QN_TEST_SKIP("malloc cannot be counted under a sanitizer, or without glibc");
}

#else

#include "malloc_count.h"

enum { N_SEQS = 3, N_VOCAB = QN_TINY_MIN_VOCAB };

typedef struct world {
    qn_model *m;
    qn_session *s;
    qn_seq *q[N_SEQS];
    qn_sampler *greedy, *all;
    qn_stream *stream;
} world;

static void open_samplers(world *w)
{
    qn_sampler_options o;
    const qn_logit_bias bias[] = {{5, 1.0f}, {9, -100.0f}};
    qn_sampler_options_init(&o);
    o.temperature = 0.0f;
    assert_int_equal(qn_sampler_open(w->m, &o, &w->greedy, NULL), QN_OK);
    qn_sampler_options_init(&o);
    o.typical_p = 0.9f;
    o.repeat_penalty = 1.1f;
    o.frequency_penalty = 0.1f;
    o.presence_penalty = 0.1f;
    o.bias = bias;
    o.n_bias = 2;
    assert_int_equal(qn_sampler_open(w->m, &o, &w->all, NULL), QN_OK);
}

/* Everything that happens to a token on its way out. */
static void finish_token(world *w, const float *logits)
{
    int32_t id;
    float logprob, top_logprobs[5];
    int32_t top_ids[5];
    const char *text;
    size_t n_bytes;
    bool stopped;
    assert_int_equal(qn_sampler_pick(w->greedy, logits, &id, &logprob, NULL), QN_OK);
    assert_int_equal(qn_sampler_pick(w->all, logits, &id, &logprob, NULL), QN_OK);
    qn_logprobs_top(w->m, logits, 5, top_ids, top_logprobs);
    assert_int_equal(qn_stream_push(w->stream, id, &text, &n_bytes, &stopped, NULL), QN_OK);
}

static void run(world *w, const uint32_t n[N_SEQS], qn_want want)
{
    static int32_t tokens[N_SEQS][128];
    qn_step_item items[N_SEQS];
    uint32_t n_items = 0;
    for (uint32_t i = 0; i < N_SEQS; i++) {
        for (uint32_t k = 0; k < n[i]; k++) {
            tokens[i][k] = token_at(i, qn_seq_length(w->q[i]) + k);
        }
        if (n[i] != 0) {
            items[n_items++] = (qn_step_item){.seq = w->q[i], .tokens = tokens[i], .n_tokens = n[i], .want = want};
        }
    }
    assert_int_equal(qn_step(w->s, items, n_items, NULL), QN_OK);
    for (uint32_t i = 0; i < n_items; i++) {
        assert_int_equal(items[i].status, QN_OK);
        if (want != QN_WANT_NONE) {
            finish_token(w, qn_session_logits(w->s, items[i].i_logits));
        }
    }
}

static int see_row(void *ctx, uint32_t i_row, const float *logits)
{
    (void)i_row;
    finish_token(ctx, logits);
    return 0;
}

static void check_kind(const char *isa, const char *kind, qn_type type)
{
    static const char *const stops[] = {"#zz", "the end"};
    world w;
    qn_runtime *rt = open_runtime(isa, 2);
    qn_tiny_spec spec = qn_tiny_spec_of(kind);
    spec.type = type;
    w.m = open_tiny(rt, &spec);
    w.s = open_session(w.m, &(qn_session_options){.n_ctx = 200, .n_seqs = N_SEQS, .n_batch = 96, .n_logits = 8,
                                                  .page_tokens = 8});
    for (uint32_t i = 0; i < N_SEQS; i++) {
        w.q[i] = open_seq(w.s);
    }
    open_samplers(&w);
    assert_int_equal(qn_stream_open(w.m, stops, 2, 0, &w.stream, NULL), QN_OK);
    run(&w, (uint32_t[]){1, 0, 0}, QN_WANT_LAST); /* the first token */

    const char *text;
    size_t n_bytes;
    bool stopped;
    uint64_t before = qn_malloc_count(), ours = qn_alloc_count();
    run(&w, (uint32_t[]){0, 70, 0}, QN_WANT_LAST);
    run(&w, (uint32_t[]){1, 1, 40}, QN_WANT_LAST);
    run(&w, (uint32_t[]){2, 3, 3}, QN_WANT_ALL);
    for (int i = 0; i < 20; i++) {
        run(&w, (uint32_t[]){1, 1, 1}, QN_WANT_LAST);
    }
    run(&w, (uint32_t[]){90, 1, 0}, QN_WANT_NONE);
    for (int32_t id = 0; id < N_VOCAB; id++) { /* the longest token last */
        assert_int_equal(qn_stream_push(w.stream, id, &text, &n_bytes, &stopped, NULL), QN_OK);
    }
    int32_t tokens[20] = {3, 4, 5};
    assert_int_equal(qn_seq_eval_each(w.q[2], tokens, 20, see_row, &w, NULL), QN_OK);
    assert_int_equal(qn_seq_truncate(w.q[1], 0, NULL), QN_OK);
    const float *logits;
    assert_int_equal(qn_seq_eval(w.q[1], tokens, 20, &logits, NULL), QN_OK);
    qn_sampler_accept(w.all, tokens, 20);
    tokens[0] = -1; /* a fault that is told about */
    qn_error err;
    assert_int_equal(qn_seq_eval(w.q[1], tokens, 1, &logits, &err), QN_ERANGE);
    assert_int_equal(qn_stream_finish(w.stream, &text, &n_bytes, NULL), QN_OK);
    uint64_t after = qn_malloc_count(), ours_after = qn_alloc_count();
    assert_int_equal(ours_after - ours, 0);
    assert_int_equal(after - before, 0);

    qn_stream_close(w.stream);
    qn_sampler_close(w.greedy);
    qn_sampler_close(w.all);
    qn_session_close(w.s);
    qn_model_close(w.m);
    qn_runtime_close(rt);
}

static void test_nothing_allocates_after_the_first_token(void **state)
{
    (void)state;
    uint64_t before = qn_malloc_count();
    void *volatile p = malloc(1);
    free(p);
    assert_int_equal(qn_malloc_count() - before, 1); /* the counter counts */
    const char *isa;
    for (size_t i = 0; next_isa(&i, &isa);) {
        check_kind(isa, "llama", QN_TYPE_F32);
        check_kind(isa, "llama-moe", QN_TYPE_Q8_0);
        check_kind(isa, "gemma3", QN_TYPE_Q4_0);
    }
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_allocates_after_the_first_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
