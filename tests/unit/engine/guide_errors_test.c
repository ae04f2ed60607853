/* Guides with wrong arguments, and without memory.
 * SPDX-License-Identifier: MIT */
#include "guide_rig.h"

static void test_errors(void **state)
{
    (void)state;
    place p = open_place();
    qn_format *f = NULL;
    qn_guide *g = NULL, *copy = NULL;
    qn_error err = {0};
    int32_t id = -7, ids[4];
    size_t n_ids;
    float *logits = calloc(p.n_vocab, sizeof(*logits));
    assert_non_null(logits);
    expect_ok(qn_format_open(p.rt, QN_FORMAT_CHOICE, "[\"a\"]", 5, NULL, &f, &err), &err);
    assert_int_equal(qn_guide_open(NULL, f, &g, &err), QN_EINVAL);
    assert_int_equal(qn_guide_open(p.m, NULL, &g, &err), QN_EINVAL);
    assert_int_equal(qn_guide_open(p.m, f, NULL, &err), QN_EINVAL);
    expect_ok(qn_guide_open(p.m, f, &g, &err), &err);
    qn_sampler *s = open_sampler(&p, 0, 1);
    assert_int_equal(qn_guide_copy(NULL, &copy, &err), QN_EINVAL);
    assert_int_equal(qn_guide_copy(g, NULL, &err), QN_EINVAL);
    assert_int_equal(qn_guide_pick(NULL, s, logits, 0, &id, NULL, &err), QN_EINVAL);
    assert_int_equal(qn_guide_pick(g, NULL, logits, 0, &id, NULL, &err), QN_EINVAL);
    assert_int_equal(qn_guide_pick(g, s, NULL, 0, &id, NULL, &err), QN_EINVAL);
    assert_int_equal(qn_guide_pick(g, s, logits, 0, NULL, NULL, &err), QN_EINVAL);
    assert_int_equal(qn_guide_jump(NULL, s, 0, ids, 4, &n_ids, &err), QN_EINVAL);
    assert_int_equal(qn_guide_jump(g, s, 0, NULL, 4, &n_ids, &err), QN_EINVAL);
    assert_int_equal(qn_guide_jump(g, s, 0, ids, 4, NULL, &err), QN_EINVAL);
    assert_int_equal(id, -7);

    for (uint32_t i = 0; i < p.n_vocab; i++) {
        logits[i] = -INFINITY;
    }
    assert_int_equal(qn_guide_pick(g, s, logits, 0, &id, NULL, &err), QN_EINVAL);
    assert_non_null(strstr(err.what, "may come next are banned or have no finite logit"));
    for (uint32_t i = 0; i < p.n_vocab; i++) {
        logits[i] = 0;
    }
    expect_ok(qn_guide_pick(g, s, logits, 0, &id, NULL, &err), &err); /* the guide is where it was */
    assert_true(qn_guide_may_end(g) && qn_guide_must_end(g));
    expect_ok(qn_guide_pick(g, s, logits, 0, &id, NULL, &err), &err);
    assert_true(qn_token_is_end(p.m, id));
    assert_int_equal(qn_guide_pick(g, s, logits, 0, &id, NULL, &err), QN_EINVAL);
    assert_non_null(strstr(err.what, "has ended"));
    n_ids = 9;
    expect_ok(qn_guide_jump(g, s, 0, ids, 4, &n_ids, &err), &err);
    assert_int_equal(n_ids, 0);
    qn_guide_close(g);
    qn_guide_close(NULL);
    qn_format_close(f);

    /* A special token that the model lacks; a sampler of another vocabulary. */
    static const char grammar[] = "root ::= <|call|> \"a\"";
    if (qn_format_open(p.rt, QN_FORMAT_GRAMMAR, grammar, strlen(grammar), NULL, &f, &err) == QN_OK) {
        assert_int_equal(qn_guide_open(p.m, f, &g, &err), QN_ENOTFOUND);
        assert_int_equal(err.code, QN_ENOTFOUND);
        assert_non_null(strstr(err.what, "<|call|>"));
        qn_format_close(f);
    }
    qn_tiny_spec spec = qn_tiny_spec_of("llama");
    spec.n_vocab += 16;
    qn_model *larger = open_tiny(p.rt, &spec);
    qn_sampler *odd = NULL;
    expect_ok(qn_sampler_open(larger, NULL, &odd, &err), &err);
    g = open_guide(&p, QN_FORMAT_CHOICE, "[\"a\"]");
    assert_int_equal(qn_guide_pick(g, odd, logits, 0, &id, NULL, &err), QN_EINVAL);
    assert_non_null(strstr(err.what, "sampler"));
    err = (qn_error){0};
    assert_int_equal(qn_guide_jump(g, odd, 0, ids, 4, &n_ids, &err), QN_EINVAL);
    assert_non_null(strstr(err.what, "sampler"));
    qn_guide_close(g);
    qn_sampler_close(odd);
    qn_model_close(larger);
    qn_sampler_close(s);
    free(logits);
    close_place(&p);
}

static void test_format_of_another_runtime(void **state)
{
    (void)state;
    place p = open_place();
    qn_runtime *other = open_runtime("ref", 1);
    qn_format *f = NULL;
    qn_guide *g = NULL;
    qn_error err = {0};
    expect_ok(qn_format_open(other, QN_FORMAT_CHOICE, "[\"a\"]", 5, NULL, &f, &err), &err);
    assert_int_equal(qn_guide_open(p.m, f, &g, &err), QN_EINVAL);
    assert_non_null(strstr(err.what, "format"));
    assert_null(g);
    qn_format_close(f);
    qn_runtime_close(other);
    close_place(&p);
}

static qn_status go_to_the_end(qn_guide *g, qn_sampler *s, const float *logits, qn_error *err)
{
    int32_t ids[8];
    size_t n;
    for (uint64_t n_left = 24; n_left > 0 && !qn_guide_must_end(g); n_left -= 1 + n) {
        QN_TRY(qn_guide_jump(g, s, n_left, ids, 8, &n, err));
        QN_TRY(qn_guide_pick(g, s, logits, n_left - n, ids, NULL, err));
    }
    assert_true(qn_guide_must_end(g));
    return QN_OK;
}

static qn_status guide_and_copy(const place *p, qn_format *f, qn_sampler *s, const float *logits, qn_error *err)
{
    qn_guide *g = NULL, *copy = NULL;
    qn_status status = qn_guide_open(p->m, f, &g, err);
    assert_int_equal(status == QN_OK, g != NULL);
    if (status == QN_OK) {
        status = qn_guide_copy(g, &copy, err);
        assert_int_equal(status == QN_OK, copy != NULL);
    }
    if (status == QN_OK) {
        status = go_to_the_end(g, s, logits, err);
    }
    if (status == QN_OK) {
        status = go_to_the_end(copy, s, logits, err);
    }
    qn_guide_close(g);
    qn_guide_close(copy);
    return status;
}

/* All but the model, which every round shares: its vocabulary is prepared anew until that succeeds. */
static qn_status run(const place *p, const float *logits, qn_error *err)
{
    static const char source[] = "\"abcd\" [a-c]* \"efg\" [x-z]{2,8} <s>";
    char grammar[64];
    snprintf(grammar, sizeof(grammar), "root ::= %s", source);
    qn_format *f = NULL;
    qn_sampler *s = NULL;
    const qn_sampler_options o = {.temperature = 1, .top_p = 1, .typical_p = 1, .repeat_penalty = 1};
    qn_status status = qn_format_open(p->rt, QN_FORMAT_GRAMMAR, grammar, strlen(grammar), NULL, &f, err);
    if (status == QN_OK) {
        status = qn_sampler_open(p->m, &o, &s, err);
    }
    if (status == QN_OK) {
        status = guide_and_copy(p, f, s, logits, err);
    }
    qn_sampler_close(s);
    qn_format_close(f);
    qn_format_cache_clear(p->rt->formats);
    return status;
}

static void test_the_nth_allocation_fails(void **state)
{
    (void)state;
    qn_error err = {0};
    uint64_t n_refused = 0;
    place p = open_place(), q = open_place();
    float *logits = calloc(p.n_vocab, sizeof(*logits));
    assert_non_null(logits);
    uint64_t before = qn_alloc_count();
    expect_ok(run(&p, logits, &err), &err);
    uint64_t n_allocations = qn_alloc_count() - before, live = 0;
    for (uint64_t n = 1; n <= n_allocations; n++) {
        err = (qn_error){0};
        qn_alloc_fail_at(n);
        qn_status status = run(&q, logits, &err);
        qn_alloc_fail_at(0);
        n_refused += status != QN_OK;
        if (status != QN_OK && (status != QN_ENOMEM || err.code != QN_ENOMEM || err.what[0] == '\0')) {
            fail_msg("allocation %u of %u: %s, '%s'", (unsigned)n, (unsigned)n_allocations, qn_status_name(status),
                     err.what);
        }
        if (q.m->guide_vocab->grammar != NULL) { /* it stays; from then on nothing more does */
            live = live == 0 ? qn_alloc_live() : live;
            assert_int_equal(qn_alloc_live(), live);
        }
    }
    assert_true(n_refused > 40 && live != 0);
    expect_ok(run(&q, logits, &err), &err);
    free(logits);
    close_place(&p);
    close_place(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_format_of_another_runtime),
        cmocka_unit_test(test_the_nth_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
