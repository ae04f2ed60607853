/* The types of keys and values: near to what floats give, the same to the bit after truncation and beside others, and
 * changed between two texts. SPDX-License-Identifier: MIT */
#include "support.h"

enum { N_TOKENS = 90, N_CTX = 96, PAGE = 8, Q4_FIRST = 32 /* tokens that are plain */ };

static const struct {
    qn_kv_type type;
    const char *name;
    double limit; /* of the distance to F32, as a part of the logits' deviation */
} types[] = {
    {QN_KV_F16, "f16", 0.003}, {QN_KV_BF16, "bf16", 0.04}, {QN_KV_Q8, "q8", 0.04},
    {QN_KV_Q4, "q4", 0.4},     {QN_KV_MIXED, "mixed", 0.04},
};

enum { N_TYPES = sizeof(types) / sizeof(types[0]) };

typedef float logits_of_text[N_TOKENS][QN_TINY_MIN_VOCAB];

/* Appends tokens [from, to) of text i_seq, at most `chunk` a step, and takes their logits. */
static void feed(qn_seq *q, uint32_t i_seq, uint32_t from, uint32_t to, uint32_t chunk, logits_of_text out)
{
    while (from < to) {
        int32_t tokens[N_TOKENS];
        qn_error err = {0};
        qn_step_item it = {.seq = q, .tokens = tokens, .n_tokens = to - from < chunk ? to - from : chunk,
                           .want = QN_WANT_ALL};
        for (uint32_t i = 0; i < it.n_tokens; i++) {
            tokens[i] = token_at(i_seq, from + i);
        }
        expect_ok(qn_step(q->session, &it, 1, &err), &err);
        assert_int_equal(it.status, QN_OK);
        for (uint32_t i = 0; i < it.n_tokens; i++) {
            memcpy(out[from + i], qn_session_logits(q->session, it.i_logits + i), sizeof(out[0]));
        }
        from += it.n_tokens;
    }
}

/* The root of the mean squared difference, as a part of that of b: a random model spreads an error as it likes. */
static double distance(logits_of_text a, logits_of_text b)
{
    double off = 0.0, sum = 0.0;
    for (uint32_t i = 0; i < N_TOKENS; i++) {
        for (uint32_t v = 0; v < QN_TINY_MIN_VOCAB; v++) {
            double d = (double)a[i][v] - b[i][v];
            assert_true(isfinite(a[i][v]) && isfinite(b[i][v]));
            off += d * d;
            sum += (double)b[i][v] * b[i][v];
        }
    }
    return sqrt(off / sum);
}

static qn_session_options options(qn_kv_type type)
{
    return (qn_session_options){
        .n_ctx = N_CTX, .n_batch = N_TOKENS, .n_seqs = 3, .n_logits = N_TOKENS, .page_tokens = PAGE, .kv_type = type};
}

static qn_session *open_with(qn_model *m, qn_kv_type type)
{
    qn_session_options o = options(type);
    return open_session(m, &o);
}

static void check_type(qn_model *m, size_t i_type, logits_of_text exact, const char *kind)
{
    static const uint32_t chunks[] = {N_TOKENS, 1, 7, PAGE, 33};
    logits_of_text *got = calloc(1, sizeof(*got));
    qn_session *s = open_with(m, types[i_type].type);
    for (size_t c = 0; c < sizeof(chunks) / sizeof(chunks[0]); c++) {
        qn_seq *q = open_seq(s);
        feed(q, 0, 0, N_TOKENS, chunks[c], *got);
        double d = distance(*got, exact);
        if (d > types[i_type].limit || d == 0.0) {
            fail_msg("%s, %s, steps of %u: %g from f32", kind, types[i_type].name, chunks[c], d);
        }
        qn_seq_close(q);
    }
    qn_session_close(s);
    free(got);
}

static void test_near_to_floats(void **state)
{
    (void)state;
    const char *isa;
    for (size_t i_isa = 0; next_isa(&i_isa, &isa);) {
        qn_runtime *rt = open_runtime(isa, 2);
        for (size_t kind = 0; kind < QN_TINY_N_KINDS; kind++) {
            qn_tiny_spec spec = qn_tiny_spec_of(qn_tiny_kinds[kind]);
            if (spec.n_experts != 0) {
                continue; /* the least difference may choose another expert */
            }
            logits_of_text *exact = calloc(1, sizeof(*exact));
            qn_model *m = open_tiny(rt, &spec);
            qn_session *s = open_with(m, QN_KV_F32);
            qn_seq *q = open_seq(s);
            feed(q, 0, 0, N_TOKENS, N_TOKENS, *exact);
            qn_session_close(s);
            for (size_t t = 0; t < N_TYPES; t++) {
                check_type(m, t, *exact, qn_tiny_kinds[kind]);
            }
            qn_model_close(m);
            free(exact);
        }
        qn_runtime_close(rt);
    }
}

/* The newest tokens are taken as plain numbers, whether they stand in the same step or in one before. */
static void test_steps_do_not_matter(void **state)
{
    (void)state;
    static const uint32_t chunks[] = {1, 2, 3, 7, PAGE, 33};
    qn_runtime *rt = open_runtime("ref", 2);
    logits_of_text *want = calloc(1, sizeof(*want)), *got = calloc(1, sizeof(*got));
    for (size_t kind = 0; kind < QN_TINY_N_KINDS; kind++) {
        qn_tiny_spec spec = qn_tiny_spec_of(qn_tiny_kinds[kind]);
        qn_model *m = open_tiny(rt, &spec);
        for (size_t t = 0; t < N_TYPES; t++) {
            qn_session *s = open_with(m, types[t].type);
            feed(open_seq(s), 0, 0, N_TOKENS, N_TOKENS, *want);
            qn_session_close(s);
            for (size_t c = 0; c < sizeof(chunks) / sizeof(chunks[0]); c++) {
                s = open_with(m, types[t].type);
                feed(open_seq(s), 0, 0, N_TOKENS, chunks[c], *got);
                double d = distance(*got, *want);
                if (d > 1e-3) {
                    fail_msg("%s, %s, steps of %u: %g from one step", qn_tiny_kinds[kind], types[t].name, chunks[c], d);
                }
                qn_session_close(s);
            }
        }
        qn_model_close(m);
    }
    qn_runtime_close(rt);
    free(want);
    free(got);
}

/* Pages that held NaNs, a neighbour that grows in the same pages' memory, tokens taken back at a page's border, inside a
 * page and inside the first: what follows is the same to the bit, or near where Q4 has its newest tokens as codes now. */
static void test_truncation_and_neighbours(void **state)
{
    (void)state;
    static const uint32_t keeps[] = {64, 61, 40, 9, 8, 5, 0};
    qn_runtime *rt = open_runtime("ref", 2);
    qn_tiny_spec spec = qn_tiny_spec_of("llama");
    qn_model *m = open_tiny(rt, &spec);
    logits_of_text *alone = calloc(1, sizeof(*alone)), *got = calloc(1, sizeof(*got)), *other = calloc(1, sizeof(*other));
    for (size_t t = 0; t < N_TYPES; t++) {
        qn_random rnd;
        qn_random_seed(&rnd, 77);
        qn_session *s = open_with(m, types[t].type);
        feed(open_seq(s), 0, 0, N_TOKENS, 1, *alone);
        qn_session_close(s);
        s = open_with(m, types[t].type);
        qn_seq_close(spoil_pages(s, &rnd));
        qn_seq *q = open_seq(s), *neighbour = open_seq(s);
        for (size_t i = 0; i < sizeof(keeps) / sizeof(keeps[0]); i++) {
            feed(q, 0, qn_seq_length(q), N_TOKENS, 1, *got);
            feed(neighbour, 1, qn_seq_length(neighbour), 10 * (uint32_t)(i + 1), 3, *other);
            double d = distance(*got, *alone);
            bool is_same = types[t].type != QN_KV_Q4 || i == 0 || keeps[i - 1] <= Q4_FIRST;
            if (d > (is_same ? 0.0 : 0.1)) {
                fail_msg("%s after a truncation: %g from what it was", types[t].name, d);
            }
            expect_ok(qn_seq_truncate(q, keeps[i], NULL), NULL);
            memset(*got + keeps[i], 0, sizeof((*got)[0]) * (N_TOKENS - keeps[i]));
            feed(q, 2, keeps[i], N_TOKENS, 1, *other); /* another text in the same places */
            expect_ok(qn_seq_truncate(q, keeps[i], NULL), NULL);
        }
        qn_session_close(s);
    }
    qn_model_close(m);
    qn_runtime_close(rt);
    free(alone);
    free(got);
    free(other);
}

/* A session that has changed its type gives what one opened with it gives. */
static void test_set_type(void **state)
{
    (void)state;
    qn_runtime *rt = open_runtime("ref", 1);
    qn_tiny_spec spec = qn_tiny_spec_of("gemma3");
    qn_model *m = open_tiny(rt, &spec);
    logits_of_text *want = calloc(1, sizeof(*want)), *got = calloc(1, sizeof(*got));
    qn_session *s = open_with(m, QN_KV_F32);
    qn_seq *q = open_seq(s);
    qn_error err = {0};
    for (size_t round = 0; round < 2 * N_TYPES; round++) {
        size_t t = round * 3 % N_TYPES;
        feed(q, 0, 0, 20, 20, *got);
        assert_int_equal(qn_kv_set_type(s, types[t].type, 0, &err), QN_EINVAL);
        assert_non_null(strstr(err.what, "20 tokens"));
        expect_ok(qn_seq_truncate(q, 0, NULL), NULL);
        expect_ok(qn_kv_set_type(s, types[t].type, 0, &err), &err);
        feed(q, 0, 0, N_TOKENS, 13, *got);
        qn_session *fresh = open_with(m, types[t].type);
        feed(open_seq(fresh), 0, 0, N_TOKENS, 13, *want);
        assert_memory_equal(*got, *want, sizeof(*got));
        qn_session_options now, of_fresh;
        qn_session_get_options(s, &now);
        qn_session_get_options(fresh, &of_fresh);
        assert_memory_equal(&now, &of_fresh, sizeof(now));
        qn_session_close(fresh);
        expect_ok(qn_seq_truncate(q, 0, NULL), NULL);
    }
    assert_int_equal(qn_kv_set_type(s, (qn_kv_type)6, 0, &err), QN_EINVAL);
    assert_int_equal(qn_kv_set_type(NULL, QN_KV_Q8, 0, &err), QN_EINVAL);
    qn_session_close(s);
    qn_model_close(m);
    qn_runtime_close(rt);
    free(want);
    free(got);
}

/* Of MIXED the first tokens are those of F16: while there are no others the memory is that of F16. */
static void test_first_tokens_of_mixed(void **state)
{
    (void)state;
    qn_runtime *rt = open_runtime("ref", 1);
    qn_tiny_spec spec = qn_tiny_spec_of("llama");
    qn_model *m = open_tiny(rt, &spec);
    qn_session *s = open_with(m, QN_KV_MIXED);
    qn_session_options all_first, some_first, none_first;
    qn_session_get_options(s, &all_first);
    qn_session_get_options(s, &none_first);
    qn_session *plain = open_with(m, QN_KV_F16);
    qn_session_get_options(plain, &none_first);
    assert_int_equal(all_first.kv_bytes, none_first.kv_bytes);
    expect_ok(qn_kv_set_type(s, QN_KV_MIXED, 9, NULL), NULL); /* two pages of 8, of 12 */
    qn_session_get_options(s, &some_first);
    const qn_kv_group *g = &s->layout.groups[0];
    assert_int_equal(some_first.kv_bytes, 3 * (2 * g->page_bytes + 10 * g->code_bytes));
    assert_true(some_first.kv_bytes < all_first.kv_bytes);
    qn_session_options o = options(QN_KV_MIXED);
    o.kv_mixed_tokens = 16;
    qn_session *asked = open_session(m, &o);
    qn_session_get_options(asked, &o);
    assert_int_equal(o.kv_bytes, some_first.kv_bytes);
    assert_int_equal(o.kv_mixed_rest, QN_KV_Q8);
    qn_session_close(asked);
    o = options(QN_KV_MIXED);
    o.kv_mixed_tokens = 16;
    o.kv_mixed_rest = QN_KV_Q4;
    asked = open_session(m, &o);
    qn_session_get_options(asked, &o);
    assert_true(o.kv_bytes < some_first.kv_bytes);
    qn_session_close(asked);
    expect_ok(qn_kv_set_type(s, QN_KV_Q8, 9, NULL), NULL);
    qn_session_get_options(s, &none_first);
    assert_int_equal(none_first.kv_bytes, 3 * 12 * g->code_bytes);
    qn_session_close(s);
    qn_session_close(plain);
    qn_model_close(m);
    qn_runtime_close(rt);
}

/* Whatever allocation fails, the session goes on with the type that it had. */
static void test_no_memory_to_change(void **state)
{
    (void)state;
    qn_runtime *rt = open_runtime("ref", 1);
    qn_tiny_spec spec = qn_tiny_spec_of("llama");
    qn_model *m = open_tiny(rt, &spec);
    logits_of_text *want = calloc(1, sizeof(*want)), *got = calloc(1, sizeof(*got));
    qn_session *s = open_with(m, QN_KV_Q8);
    qn_seq *q = open_seq(s);
    feed(q, 0, 0, N_TOKENS, 40, *want);
    expect_ok(qn_seq_truncate(q, 0, NULL), NULL);
    qn_status status = QN_ENOMEM;
    uint64_t n = 1;
    for (; n < 20 && status != QN_OK; n++) {
        qn_alloc_fail_at(n);
        status = qn_kv_set_type(s, QN_KV_Q4, 0, NULL);
        qn_alloc_fail_at(0);
        if (status != QN_OK) {
            assert_int_equal(status, QN_ENOMEM);
            feed(q, 0, 0, N_TOKENS, 40, *got);
            assert_memory_equal(*got, *want, sizeof(*got));
            expect_ok(qn_seq_truncate(q, 0, NULL), NULL);
        }
    }
    assert_int_equal(status, QN_OK);
    assert_true(n > 3);
    feed(q, 0, 0, N_TOKENS, 40, *got);
    assert_true(distance(*got, *want) > 0.0);
    qn_session_close(s);
    qn_model_close(m);
    qn_runtime_close(rt);
    free(want);
    free(got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_near_to_floats),       cmocka_unit_test(test_steps_do_not_matter),
        cmocka_unit_test(test_truncation_and_neighbours),
        cmocka_unit_test(test_set_type),             cmocka_unit_test(test_first_tokens_of_mixed),
        cmocka_unit_test(test_no_memory_to_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
