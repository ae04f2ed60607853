/* Tests of qn_step() and the calls over it: faults of one item leave the others alone, stops and full caches leave
 * sequences as they were. SPDX-License-Identifier: MIT */
#include "support.h"

#include <pthread.h>

enum { N_VOCAB = QN_TINY_MIN_VOCAB };

typedef struct world {
    qn_runtime *rt;
    qn_model *m;
    qn_session *s;
} world;

static world open_world(const char *kind, uint32_t n_threads, const qn_session_options *o)
{
    world w;
    qn_tiny_spec spec = qn_tiny_spec_of(kind);
    w.rt = open_runtime("ref", n_threads);
    w.m = open_tiny(w.rt, &spec);
    w.s = open_session(w.m, o);
    return w;
}

static void close_world(world *w)
{
    qn_session_close(w->s);
    qn_model_close(w->m);
    qn_runtime_close(w->rt);
}

/* n tokens of sequence i_seq from its position on; the last row's logits. */
static void feed(qn_seq *q, uint32_t i_seq, uint32_t n, float *logits)
{
    const float *l = NULL;
    qn_error err = {0};
    int32_t tokens[256];
    for (uint32_t k = 0; k < n; k++) {
        tokens[k] = token_at(i_seq, qn_seq_length(q) + k);
    }
    expect_ok(qn_seq_eval(q, tokens, n, &l, &err), &err);
    if (logits != NULL) {
        memcpy(logits, l, sizeof(float) * N_VOCAB);
    }
}

/* What feed() gives at the end of a fresh sequence of n tokens. */
static void expect_at(qn_session *s, uint32_t i_seq, uint32_t n, float *logits)
{
    qn_seq *q = open_seq(s);
    feed(q, i_seq, n - 1, NULL);
    feed(q, i_seq, 1, logits);
    qn_seq_close(q);
}

static void test_faulty_items_are_left_out(void **state)
{
    (void)state;
    world w = open_world("llama", 2, &(qn_session_options){.n_ctx = 64, .n_seqs = 9, .n_batch = 200, .n_logits = 9});
    float want[N_VOCAB];
    expect_at(w.s, 0, 11, want);
    qn_seq *good = open_seq(w.s), *low = open_seq(w.s), *high = open_seq(w.s), *full = open_seq(w.s);
    qn_seq *empty = open_seq(w.s), *closed = open_seq(w.s), *twice = open_seq(w.s);
    qn_seq_close(closed);
    feed(good, 0, 10, NULL);
    feed(low, 1, 5, NULL);
    feed(full, 2, 60, NULL);
    const int32_t next = token_at(0, 10), bad_low[] = {4, -1}, bad_high[] = {4, 5, N_VOCAB}, five[5] = {1, 2, 3, 4, 5};
    qn_step_item items[] = {
        {.seq = low, .tokens = bad_low, .n_tokens = 2, .want = QN_WANT_LAST},
        {.seq = high, .tokens = bad_high, .n_tokens = 3},
        {.seq = full, .tokens = five, .n_tokens = 5},
        {.seq = twice, .tokens = five, .n_tokens = 2, .want = QN_WANT_LAST},
        {.seq = good, .tokens = &next, .n_tokens = 1, .want = QN_WANT_LAST},
        {.seq = empty, .tokens = five, .n_tokens = 0},
        {.seq = closed, .tokens = five, .n_tokens = 1},
        {.seq = NULL, .tokens = five, .n_tokens = 1},
        {.seq = twice, .tokens = five, .n_tokens = 3},
    };
    static const qn_status statuses[] = {QN_ERANGE, QN_ERANGE, QN_ERANGE, QN_OK,    QN_OK,
                                         QN_EINVAL, QN_EINVAL, QN_EINVAL, QN_EINVAL};
    qn_error err = {0};
    assert_int_equal(qn_step(w.s, items, 9, &err), QN_OK);
    assert_int_equal(err.code, QN_ERANGE); /* of the first fault */
    assert_string_equal(err.what, "tokens[1]: -1 is outside the vocabulary of 288");
    for (size_t i = 0; i < 9; i++) {
        assert_int_equal(items[i].status, statuses[i]);
    }
    assert_int_equal(qn_seq_length(good), 11);
    assert_int_equal(qn_seq_length(low), 5);
    assert_int_equal(qn_seq_length(high), 0);
    assert_int_equal(qn_seq_length(full), 60);
    assert_int_equal(qn_seq_length(twice), 2);
    assert_int_equal(items[4].i_logits, 1);
    assert_memory_equal(qn_session_logits(w.s, 1), want, sizeof(want));
    assert_null(qn_session_logits(w.s, 2));

    /* those that failed go on as if nothing had been */
    float got[N_VOCAB];
    feed(low, 1, 6, got);
    expect_at(w.s, 1, 11, want);
    assert_memory_equal(got, want, sizeof(want));
    feed(full, 2, 4, got);
    expect_at(w.s, 2, 64, want);
    assert_memory_equal(got, want, sizeof(want));

    /* all faulty, or none at all: a step that does nothing */
    qn_step_item bad = {.seq = full, .tokens = five, .n_tokens = 1, .want = QN_WANT_LAST};
    assert_int_equal(qn_step(w.s, &bad, 1, &err), QN_OK);
    assert_int_equal(bad.status, QN_ERANGE);
    assert_string_equal(err.what, "1 tokens after 64 do not fit in the context of 64");
    assert_null(qn_session_logits(w.s, 0));
    assert_int_equal(qn_step(w.s, NULL, 0, NULL), QN_OK);
    close_world(&w);
}

static void test_steps_that_are_too_large(void **state)
{
    (void)state;
    world w = open_world("qwen3", 1, &(qn_session_options){.n_ctx = 64, .n_seqs = 2, .n_batch = 8, .n_logits = 3});
    qn_seq *a = open_seq(w.s), *b = open_seq(w.s);
    int32_t tokens[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    qn_error err = {0};
    qn_step_item items[3] = {{.seq = a, .tokens = tokens, .n_tokens = 5, .want = QN_WANT_LAST},
                             {.seq = b, .tokens = tokens, .n_tokens = 4}};
    assert_int_equal(qn_step(w.s, items, 2, &err), QN_EINVAL);
    assert_string_equal(err.what, "a step of 9 rows of 2 sequences; the session takes 8 and 2");
    items[1].n_tokens = UINT32_MAX;
    assert_int_equal(qn_step(w.s, items, 2, &err), QN_EINVAL);
    items[1].n_tokens = 3;
    items[1].want = QN_WANT_ALL;
    assert_int_equal(qn_step(w.s, items, 2, &err), QN_EINVAL);
    assert_string_equal(err.what, "a step with 4 rows of logits; the session keeps 3");
    items[1].n_tokens = 2;
    items[2] = (qn_step_item){.seq = b, .tokens = tokens, .n_tokens = 1};
    assert_int_equal(qn_step(w.s, items, 3, &err), QN_EINVAL);
    assert_int_equal(qn_seq_length(a), 0);
    assert_int_equal(qn_step(w.s, items, 2, &err), QN_OK);
    assert_int_equal(items[1].i_logits, 1);
    assert_non_null(qn_session_logits(w.s, 2));
    assert_null(qn_session_logits(w.s, 3));
    assert_int_equal(qn_seq_length(a), 5);
    assert_int_equal(qn_seq_length(b), 2);
    close_world(&w);
}

static void test_a_sequence_of_another_session(void **state)
{
    (void)state;
    world w = open_world("llama", 1, &(qn_session_options){.n_ctx = 64});
    qn_session *other = open_session(w.m, &(qn_session_options){.n_ctx = 64});
    qn_seq *q = open_seq(other);
    const int32_t token = 5;
    qn_step_item it = {.seq = q, .tokens = &token, .n_tokens = 1};
    assert_int_equal(qn_step(w.s, &it, 1, NULL), QN_OK);
    assert_int_equal(it.status, QN_EINVAL);
    assert_int_equal(qn_seq_length(q), 0);
    qn_session_close(other);
    close_world(&w);
}

static int save_row(void *ctx, uint32_t i_row, const float *logits)
{
    float (*rows)[N_VOCAB] = ctx;
    memcpy(rows[i_row], logits, sizeof(rows[0]));
    return 0;
}

static int stop_at_row_3(void *ctx, uint32_t i_row, const float *logits)
{
    (void)logits;
    *(uint32_t *)ctx = i_row;
    return i_row == 3;
}

static void test_eval_in_pieces(void **state)
{
    (void)state;
    world w = open_world("gemma3", 2, &(qn_session_options){.n_ctx = 64, .n_seqs = 3, .n_batch = 16, .n_logits = 5});
    qn_seq *a = open_seq(w.s), *b = open_seq(w.s);
    static float rows[16][N_VOCAB];
    float logits[N_VOCAB];
    int32_t tokens[65];
    qn_error err = {0};
    for (uint32_t k = 0; k < 65; k++) {
        tokens[k] = token_at(0, k);
    }
    /* 16 rows of logits through a buffer of 5 */
    assert_int_equal(qn_seq_eval_each(a, tokens, 16, save_row, rows, &err), QN_OK);
    assert_int_equal(qn_seq_length(a), 16);
    for (uint32_t k = 0; k < 16; k++) {
        feed(b, 0, 1, logits);
        for (uint32_t v = 0; v < N_VOCAB; v++) {
            assert_true(fabsf(logits[v] - rows[k][v]) < 1e-4f);
        }
    }
    assert_int_equal(qn_seq_eval_each(a, tokens, 17, save_row, rows, &err), QN_EINVAL);
    assert_int_equal(qn_seq_eval_each(a, tokens, 0, save_row, rows, &err), QN_EINVAL);
    uint32_t last = 0;
    assert_int_equal(qn_seq_eval_each(a, tokens, 9, stop_at_row_3, &last, &err), QN_EABORTED);
    assert_int_equal(last, 3);
    assert_int_equal(qn_seq_length(a), 16);
    assert_null(qn_session_logits(w.s, 0));
    int32_t bad = N_VOCAB;
    assert_int_equal(qn_seq_eval_each(a, &bad, 1, save_row, rows, &err), QN_ERANGE);

    /* any number of tokens in one call, up to the context */
    assert_int_equal(qn_seq_eval(b, tokens, 49, NULL, &err), QN_ERANGE);
    assert_string_equal(err.what, "49 tokens after 16 do not fit in the context of 64");
    assert_int_equal(qn_seq_eval(b, tokens, SIZE_MAX, NULL, &err), QN_ERANGE);
    assert_int_equal(qn_seq_eval(b, tokens, 0, NULL, &err), QN_EINVAL);
    assert_int_equal(qn_seq_eval(b, tokens + 16, 48, NULL, &err), QN_OK);
    assert_int_equal(qn_seq_length(b), 64);
    assert_int_equal(qn_seq_eval(b, tokens, 1, NULL, &err), QN_ERANGE);
    close_world(&w);
}

static void test_truncation_and_windows(void **state)
{
    (void)state;
    static const char *const kinds[] = {"llama", "mistral", "gemma2", "gemma3"};
    for (size_t i = 0; i < 4; i++) {
        world w = open_world(kinds[i], 2, &(qn_session_options){.n_ctx = 200, .n_seqs = 2, .n_batch = 32,
                                                                .page_tokens = 8});
        float want[N_VOCAB], got[N_VOCAB];
        qn_error err = {0};
        qn_seq *q = open_seq(w.s);
        expect_at(w.s, 0, 90, want);
        feed(q, 0, 70, NULL);
        feed(q, 0, 20, NULL);
        /* other tokens than at first, then back and on with the right ones */
        assert_int_equal(qn_seq_truncate(q, 89, &err), QN_OK);
        const int32_t wrong = 7;
        assert_int_equal(qn_seq_eval(q, &wrong, 1, NULL, &err), QN_OK);
        assert_int_equal(qn_seq_truncate(q, 89, &err), QN_OK);
        feed(q, 0, 1, got);
        assert_memory_equal(got, want, sizeof(want));

        assert_int_equal(qn_seq_truncate(q, 91, &err), QN_ERANGE);
        qn_status status = qn_seq_truncate(q, 40, &err);
        assert_int_equal(status, i == 0 ? QN_OK : QN_ERANGE);
        assert_int_equal(qn_seq_length(q), i == 0 ? 40 : 90);
        assert_int_equal(qn_seq_truncate(q, 0, &err), QN_OK);
        feed(q, 0, 89, NULL);
        feed(q, 0, 1, got);
        assert_memory_equal(got, want, sizeof(want));
        /* pages behind windows are gone: 200 tokens hold no more than the window, the step and two parts of pages */
        feed(q, 0, 110, NULL);
        for (uint32_t g = 0; g < w.s->layout.n_groups; g++) {
            uint32_t window = w.s->layout.groups[g].window;
            uint32_t held = q->kv.end[g] - q->kv.first[g];
            assert_true(window == 0 ? held == 25 : held <= window / 8 + 2);
        }
        close_world(&w);
    }
}

static void test_a_full_cache(void **state)
{
    (void)state;
    world w = open_world("llama", 2, &(qn_session_options){.n_ctx = 64, .n_seqs = 1, .page_tokens = 8});
    uint64_t page_bytes = w.s->layout.groups[0].page_bytes;
    float want[N_VOCAB], got[N_VOCAB];
    expect_at(w.s, 1, 17, want);
    qn_session_close(w.s);
    w.s = open_session(w.m, &(qn_session_options){.n_ctx = 64, .n_seqs = 3, .page_tokens = 8, .kv_bytes = 6 * page_bytes});
    qn_seq *a = open_seq(w.s), *b = open_seq(w.s), *c = open_seq(w.s);
    feed(a, 0, 24, NULL);
    feed(b, 1, 16, NULL);
    int32_t tokens[32] = {0}, next = token_at(1, 16);
    qn_error err = {0};
    qn_step_item items[] = {{.seq = a, .tokens = tokens, .n_tokens = 9},
                            {.seq = b, .tokens = &next, .n_tokens = 1, .want = QN_WANT_LAST},
                            {.seq = c, .tokens = tokens, .n_tokens = 1}};
    assert_int_equal(qn_step(w.s, items, 3, &err), QN_OK);
    assert_int_equal(items[0].status, QN_EFULL);
    assert_int_equal(err.code, QN_EFULL);
    assert_int_equal(items[1].status, QN_OK);
    assert_int_equal(items[2].status, QN_EFULL);
    assert_memory_equal(qn_session_logits(w.s, 0), want, sizeof(want));
    assert_int_equal(qn_seq_length(a), 24);
    assert_int_equal(qn_seq_length(c), 0);
    /* pages of the one serve the others when it goes */
    qn_seq_close(a);
    assert_int_equal(qn_step(w.s, items, 1, NULL), QN_OK);
    assert_int_equal(items[0].status, QN_EINVAL);
    feed(c, 1, 16, NULL);
    feed(c, 1, 1, got);
    assert_memory_equal(got, want, sizeof(want));
    /* a long evaluation that does not fit ends with an error and leaves what it has done */
    assert_int_equal(qn_seq_eval(b, tokens, 32, NULL, &err), QN_EFULL);
    qn_seq_close(b);
    qn_seq_close(c);
    assert_int_equal(qn_kv_pages_in_use(w.s->kv), 0);
    a = open_seq(w.s);
    feed(a, 0, 48, NULL);
    assert_int_equal(qn_seq_eval(a, tokens, 1, NULL, &err), QN_EFULL);
    close_world(&w);
}

typedef struct stopper {
    qn_session *s;
    atomic_bool done;
} stopper;

static void *stop_often(void *arg)
{
    stopper *st = arg;
    while (!atomic_load(&st->done)) {
        qn_session_abort(st->s);
        usleep(50);
    }
    return NULL;
}

static void test_stops(void **state)
{
    (void)state;
    for (uint32_t n_threads = 1; n_threads <= 3; n_threads += 2) {
        world w = open_world("llama-moe", n_threads, &(qn_session_options){.n_ctx = 128, .n_seqs = 3, .page_tokens = 8});
        float want[N_VOCAB], got[N_VOCAB];
        expect_at(w.s, 0, 61, want);
        qn_seq *q = open_seq(w.s), *other = open_seq(w.s);
        feed(q, 0, 40, NULL);
        feed(other, 1, 3, NULL);
        int32_t tokens[20];
        for (uint32_t k = 0; k < 20; k++) {
            tokens[k] = token_at(0, 40 + k);
        }
        /* before a step: that step ends, the next one runs */
        qn_error err = {0};
        qn_step_item items[] = {{.seq = q, .tokens = tokens, .n_tokens = 20},
                                {.seq = other, .tokens = tokens, .n_tokens = 1}};
        uint64_t in_use = qn_kv_pages_in_use(w.s->kv);
        qn_session_abort(w.s);
        assert_int_equal(qn_step(w.s, items, 2, &err), QN_EABORTED);
        assert_int_equal(err.code, QN_EABORTED);
        assert_int_equal(qn_seq_length(q), 40);
        assert_int_equal(qn_seq_length(other), 3);
        assert_int_equal(qn_kv_pages_in_use(w.s->kv), in_use);
        assert_null(qn_session_logits(w.s, 0));

        /* in the middle of steps, from another thread, again and again */
        stopper st = {.s = w.s};
        pthread_t thread;
        int n_stopped = 0;
        assert_int_equal(pthread_create(&thread, NULL, stop_often, &st), 0);
        for (int i = 0; i < 300; i++) {
            qn_status status = qn_step(w.s, items, 1, &err);
            if (status == QN_OK) {
                assert_int_equal(qn_seq_length(q), 60);
                assert_int_equal(qn_seq_truncate(q, 40, NULL), QN_OK);
            } else {
                assert_int_equal(status, QN_EABORTED);
                assert_int_equal(qn_seq_length(q), 40);
                n_stopped++;
            }
        }
        atomic_store(&st.done, true);
        pthread_join(thread, NULL);
        assert_true(n_stopped > 0);
        qn_status last = qn_step(w.s, items, 1, &err); /* a stop may still be due */
        if (last == QN_EABORTED) {
            expect_ok(qn_step(w.s, items, 1, &err), &err);
        }
        feed(q, 0, 1, got);
        assert_memory_equal(got, want, sizeof(want));
        close_world(&w);
    }
}

static void test_sequences(void **state)
{
    (void)state;
    world w = open_world("llama", 1, &(qn_session_options){.n_ctx = 64, .n_seqs = 2});
    qn_seq *a = open_seq(w.s), *b = open_seq(w.s), *c = NULL;
    qn_error err = {0};
    assert_int_equal(qn_seq_open(w.s, &c, &err), QN_EFULL);
    assert_string_equal(err.what, "all 2 sequences are open");
    assert_null(c);
    feed(b, 0, 30, NULL);
    qn_seq_close(b);
    qn_seq_close(NULL);
    c = open_seq(w.s);
    assert_int_equal(qn_seq_length(c), 0);
    assert_int_equal(qn_seq_length(a), 0);
    close_world(&w);
}

static void test_options(void **state)
{
    (void)state;
    world w = open_world("llama", 2, NULL);
    qn_session_options o;
    qn_session_get_options(w.s, &o);
    assert_int_equal(o.n_ctx, 256);
    assert_int_equal(o.n_batch, 256); /* 512, but no step can have more rows than the context */
    assert_int_equal(o.n_seqs, 1);
    assert_int_equal(o.n_logits, 1);
    assert_int_equal(o.page_tokens, 32);
    assert_int_equal(o.n_threads, 2);
    assert_int_equal(o.kv_type, QN_KV_F16);
    assert_int_equal(o.kv_bytes, 8 * w.s->layout.groups[0].page_bytes);
    static const struct {
        qn_session_options o;
        const char *name;
    } bad[] = {
        {{.n_ctx = UINT32_MAX}, "n_ctx"},       {{.n_seqs = 5000}, "n_seqs"},       {{.n_batch = 70000}, "n_batch"},
        {{.page_tokens = 12}, "page_tokens"},   {{.page_tokens = 264}, "page_tokens"}, {{.n_threads = 3}, "n_threads"},
        {{.kv_type = (qn_kv_type)7}, "kv_type"}, {{.kv_mixed_tokens = 100}, "kv_mixed_tokens"},
        {{.kv_mixed_rest = QN_KV_MIXED}, "kv_mixed_rest"}, {{.n_batch = 8, .n_logits = 9}, "n_logits"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        qn_session *s = NULL;
        qn_error err = {0};
        assert_int_equal(qn_session_open(w.m, &bad[i].o, &s, &err), QN_EINVAL);
        assert_null(s);
        if (strstr(err.what, bad[i].name) == NULL) {
            fail_msg("'%s' does not name %s", err.what, bad[i].name);
        }
    }
    /* what is above every use by far is shortened to what can be used */
    qn_session *s = open_session(w.m, &(qn_session_options){.n_ctx = 20, .n_batch = 512, .n_logits = 512,
                                                            .kv_bytes = UINT64_MAX});
    qn_session_get_options(s, &o);
    assert_int_equal(o.n_batch, 20);
    assert_int_equal(o.n_logits, 20);
    assert_int_equal(o.kv_bytes, s->layout.groups[0].page_bytes);
    qn_seq *q = open_seq(s);
    feed(q, 0, 20, NULL);
    qn_session_close(s);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faulty_items_are_left_out),
        cmocka_unit_test(test_steps_that_are_too_large),
        cmocka_unit_test(test_a_sequence_of_another_session),
        cmocka_unit_test(test_eval_in_pieces),
        cmocka_unit_test(test_truncation_and_windows),
        cmocka_unit_test(test_a_full_cache),
        cmocka_unit_test(test_stops),
        cmocka_unit_test(test_sequences),
        cmocka_unit_test(test_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
