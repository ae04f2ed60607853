/* Memory that runs out: at the n-th allocation for every n, and at every budget. Each call then ends with a status, and
 * nothing is left behind. SPDX-License-Identifier: MIT */
#include "support.h"

typedef struct scenario {
    const char *path;
    uint64_t memory_bytes;
    uint32_t n_threads;
} scenario;

static qn_status sample_and_stream(const qn_model *m, const float *logits, qn_error *err)
{
    static const char *const stops[] = {"end", "###"};
    const qn_logit_bias bias = {3, 1.0f};
    qn_sampler *sampler = NULL;
    qn_stream *stream = NULL;
    qn_sampler_options o;
    qn_sampler_options_init(&o);
    o.repeat_penalty = 1.2f;
    o.bias = &bias;
    o.n_bias = 1;
    qn_status status = qn_sampler_open(m, &o, &sampler, err);
    if (status == QN_OK) {
        status = qn_stream_open(m, stops, 2, 0, &stream, err);
    }
    int32_t id = 0;
    if (status == QN_OK) {
        status = qn_sampler_pick(sampler, logits, &id, NULL, err);
    }
    if (status == QN_OK) {
        const char *text;
        size_t n_bytes;
        bool stopped;
        status = qn_stream_push(stream, id, &text, &n_bytes, &stopped, err);
    }
    qn_stream_close(stream);
    qn_sampler_close(sampler);
    return status;
}

static qn_status generate(qn_model *m, qn_session *s, qn_error *err)
{
    char text[64];
    int32_t ids[64];
    size_t n_ids, n_bytes;
    qn_seq *q, *other;
    const float *logits;
    QN_TRY(qn_seq_open(s, &q, err));
    QN_TRY(qn_seq_open(s, &other, err));
    QN_TRY(qn_tokenize(m, "a story", 7, QN_TEXT_ADD_SPECIAL, ids, 64, &n_ids, err));
    QN_TRY(qn_detokenize(m, ids, n_ids, 0, text, sizeof(text), &n_bytes, err));
    QN_TRY(qn_seq_eval(q, ids, n_ids, &logits, err));
    for (int i = 0; i < 3; i++) {
        qn_step_item items[] = {{.seq = q, .tokens = ids, .n_tokens = 1, .want = QN_WANT_LAST},
                                {.seq = other, .tokens = ids, .n_tokens = 5}};
        QN_TRY(qn_step(s, items, 2, err));
        QN_TRY(items[0].status);
        QN_TRY(items[1].status);
        logits = qn_session_logits(s, 0);
    }
    QN_TRY(sample_and_stream(m, logits, err));
    static char plan[1 << 16];
    return qn_session_plan_text(s, plan, sizeof(plan), &n_bytes, err);
}

static void check_accounts(const qn_runtime *rt, uint64_t limit)
{
    const char *owner;
    uint64_t bytes, sum = 0;
    for (size_t i = 0; qn_runtime_memory(rt, i, &owner, &bytes); i++) {
        assert_non_null(owner);
        sum += bytes;
    }
    assert_int_equal(sum, qn_runtime_memory_used(rt));
    assert_true(qn_runtime_memory_peak(rt) >= qn_runtime_memory_used(rt));
    assert_true(limit == 0 || qn_runtime_memory_peak(rt) <= limit);
}

/* Everything from the runtime on; what is left at the end must be as it was at the start. */
static qn_status run(const scenario *sc, qn_error *err)
{
    uint64_t live = qn_alloc_live();
    qn_runtime *rt = NULL;
    qn_model *m = NULL;
    qn_session *s = NULL;
    qn_runtime_options ro = {.memory_bytes = sc->memory_bytes, .n_threads = sc->n_threads, .isa = "ref"};
    qn_status status = qn_runtime_open(&ro, &rt, err);
    uint64_t used = rt != NULL ? qn_runtime_memory_used(rt) : 0;
    if (status == QN_OK) {
        status = qn_model_open(rt, sc->path, NULL, &m, err);
        assert_int_equal(status == QN_OK, m != NULL);
    }
    if (status == QN_OK) {
        qn_session_options so = {.n_ctx = 64, .n_seqs = 2, .n_batch = 16, .page_tokens = 8};
        status = qn_session_open(m, &so, &s, err);
        assert_int_equal(status == QN_OK, s != NULL);
    }
    if (status == QN_OK) {
        status = generate(m, s, err);
    }
    if (rt != NULL) {
        check_accounts(rt, sc->memory_bytes);
    }
    qn_session_close(s);
    qn_model_close(m);
    if (rt != NULL) {
        assert_int_equal(qn_runtime_memory_used(rt), used);
    }
    qn_runtime_close(rt);
    assert_int_equal(qn_alloc_live(), live);
    return status;
}

static void test_the_nth_allocation_fails(void **state)
{
    (void)state;
    static const char *const kinds[] = {"llama-moe", "gemma3"};
    for (size_t kind = 0; kind < 2; kind++) {
        char path[4096];
        qn_error err = {0};
        qn_tiny_spec spec = qn_tiny_spec_of(kinds[kind]);
        qn_tiny_file(&spec, path);
        scenario sc = {.path = path, .n_threads = 2};
        uint64_t before = qn_alloc_count();
        expect_ok(run(&sc, &err), &err);
        uint64_t n_allocations = qn_alloc_count() - before;
        assert_true(n_allocations > 60);
        for (uint64_t n = 1; n <= n_allocations; n++) {
            err = (qn_error){0};
            qn_alloc_fail_at(n);
            qn_status status = run(&sc, &err);
            qn_alloc_fail_at(0);
            if (status != QN_ENOMEM || err.code != QN_ENOMEM || err.what[0] == '\0') {
                fail_msg("allocation %u of %u: %s, '%s'", (unsigned)n, (unsigned)n_allocations, qn_status_name(status),
                         err.what);
            }
        }
        qn_alloc_fail_at(n_allocations + 1);
        expect_ok(run(&sc, &err), &err);
        qn_alloc_fail_at(0);
        unlink(path);
    }
}

static void test_every_budget(void **state)
{
    (void)state;
    char path[4096];
    qn_error err = {0};
    qn_tiny_spec spec = qn_tiny_spec_of("mistral");
    qn_tiny_file(&spec, path);
    scenario sc = {.path = path, .n_threads = 1};
    uint64_t limit = 1;
    uint32_t n_refused = 0;
    for (qn_status status = QN_EBUDGET; status != QN_OK; limit += 1 + limit / 50) {
        char ceiling[64];
        unsigned long long bytes;
        sc.memory_bytes = limit;
        err = (qn_error){0};
        status = run(&sc, &err);
        if (status == QN_OK) {
            continue;
        }
        n_refused++;
        snprintf(ceiling, sizeof(ceiling), "more would pass the ceiling of %llu", (unsigned long long)limit);
        const char *told = strrchr(err.what, ':');
        if (status != QN_EBUDGET || err.code != QN_EBUDGET || strstr(err.what, ceiling) == NULL || told == NULL ||
            sscanf(told, ": %llu bytes", &bytes) != 1 || bytes == 0) {
            fail_msg("%llu bytes: %s '%s'", (unsigned long long)limit, qn_status_name(status), err.what);
        }
        assert_true(limit < UINT64_C(1) << 30);
    }
    assert_true(n_refused > 100);
    unlink(path);
}

static void test_a_session_too_large_for_the_budget(void **state)
{
    (void)state;
    char path[4096];
    qn_runtime *rt = NULL;
    qn_model *m = NULL;
    qn_session *s = NULL;
    qn_error err = {0};
    qn_tiny_spec spec = qn_tiny_spec_of("llama");
    qn_tiny_file(&spec, path);
    expect_ok(qn_runtime_open(&(qn_runtime_options){.memory_bytes = 8 << 20, .n_threads = 1}, &rt, &err), &err);
    expect_ok(qn_model_open(rt, path, NULL, &m, &err), &err);
    uint64_t used = qn_runtime_memory_used(rt);
    assert_int_equal(qn_session_open(m, &(qn_session_options){.n_ctx = 1 << 20}, &s, &err), QN_EBUDGET);
    assert_non_null(strstr(err.what, "134217728 bytes of KV cache")); /* 2 layers x (K, V) x 2 heads x 8 x 2 bytes */
    assert_non_null(strstr(err.what, "ceiling of 8388608"));
    assert_int_equal(qn_runtime_memory_used(rt), used);
    assert_int_equal(qn_session_open(m, &(qn_session_options){.n_batch = 65536, .n_ctx = 65536, .kv_bytes = 4096}, &s, &err),
                     QN_EBUDGET);
    assert_int_equal(qn_session_open(m, &(qn_session_options){.n_batch = 8000, .n_ctx = 8000, .n_logits = 8000,
                                                              .kv_bytes = 4096}, &s, &err), QN_EBUDGET);
    assert_null(s);
    assert_int_equal(qn_runtime_memory_used(rt), used);
    expect_ok(qn_session_open(m, &(qn_session_options){.n_ctx = 512}, &s, &err), &err);
    qn_session_close(s);
    qn_model_close(m);
    qn_runtime_close(rt);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_nth_allocation_fails),
        cmocka_unit_test(test_every_budget),
        cmocka_unit_test(test_a_session_too_large_for_the_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
