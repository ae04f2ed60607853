/* What a session needs is what it then holds; and models that are read into memory, or locked there.
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

typedef struct parts {
    uint64_t sum, file, kv;
    unsigned n;
} parts;

static void on_part(void *ctx, const char *part, uint64_t bytes)
{
    parts *p = ctx;
    assert_true(bytes > 0);
    p->n++;
    p->sum += bytes;
    p->file += strcmp(part, "model file") == 0 ? bytes : 0;
    p->kv += strcmp(part, "kv") == 0 ? bytes : 0;
}

/* Opens what was asked for, with all its sequences, and holds the runtime's account against the need. */
static void expect_need_is_met(qn_model *m, const qn_session_options *o, bool is_mapped)
{
    parts p = {0};
    uint64_t need = 0, before = qn_budget_used(m->rt->budget), live = qn_alloc_live();
    qn_error err = {0};
    expect_ok(qn_session_memory_need(m, o, on_part, &p, &need, &err), &err);
    assert_int_equal(qn_budget_used(m->rt->budget), before);
    assert_int_equal(qn_alloc_live(), live);
    assert_int_equal(p.sum, need);
    assert_true(p.n > 5 && p.kv > 0);
    qn_session *s = open_session(m, o);
    for (uint32_t i = 0; i < s->opt.n_seqs; i++) {
        open_seq(s);
    }
    assert_int_equal(qn_budget_used(m->rt->budget) + (is_mapped ? p.file : 0), need);
    qn_session_close(s);
    uint64_t again = 0;
    assert_int_equal(qn_session_memory_need(m, o, NULL, NULL, &again, NULL), QN_OK);
    assert_int_equal(again, need);
}

static void test_need_is_what_is_held(void **state)
{
    (void)state;
    static const qn_session_options options[] = {
        {0},
        {.n_ctx = 8},
        {.n_ctx = 4096, .n_batch = 64, .kv_type = QN_KV_Q8},
        {.n_ctx = 1000, .n_seqs = 7, .n_logits = 3, .kv_type = QN_KV_Q4},
        {.n_ctx = 2048, .n_seqs = 2, .page_tokens = 64, .kv_type = QN_KV_MIXED, .n_threads = 1},
        {.n_ctx = 2048, .kv_bytes = 200000},
        {.n_ctx = 64, .kv_bytes = 1u << 30}, /* more than can be used */
        {.n_ctx = 64, .kv_bytes = UINT64_MAX},
    };
    qn_runtime *rt = open_runtime(NULL, 2);
    for (size_t k = 0; k < QN_TINY_N_KINDS; k++) {
        qn_tiny_spec spec = qn_tiny_spec_of(qn_tiny_kinds[k]);
        qn_model *m = open_tiny(rt, &spec);
        for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
            expect_need_is_met(m, &options[i], true);
        }
        expect_need_is_met(m, NULL, true);
        qn_model_close(m);
    }
    qn_runtime_close(rt);
}

static void test_need_of_what_nothing_could_hold(void **state)
{
    (void)state;
    qn_runtime *rt = open_runtime(NULL, 1);
    qn_tiny_spec spec = qn_tiny_spec_of("llama");
    qn_model *m = open_tiny(rt, &spec);
    uint64_t need = 0;
    qn_error err = {0};
    /* The pages of it are not reserved, so that a machine may ask what it has not got. */
    qn_session_options o = {.n_ctx = 1u << 24, .n_seqs = 64, .n_batch = 8};
    expect_ok(qn_session_memory_need(m, &o, NULL, NULL, &need, &err), &err);
    assert_true(need > (uint64_t)64 << 30);
    assert_true(qn_budget_peak(rt->budget) < need / 4);
    o.page_tokens = 7;
    assert_int_equal(qn_session_memory_need(m, &o, NULL, NULL, &need, &err), QN_EINVAL);
    assert_int_equal(qn_session_memory_need(NULL, &o, NULL, NULL, &need, &err), QN_EINVAL);
    assert_int_equal(qn_session_memory_need(m, NULL, NULL, NULL, NULL, &err), QN_EINVAL);
    qn_model_close(m);
    qn_runtime_close(rt);
}

static void test_need_without_memory(void **state)
{
    (void)state;
    qn_runtime *rt = open_runtime(NULL, 1);
    qn_tiny_spec spec = qn_tiny_spec_of("gemma3");
    qn_model *m = open_tiny(rt, &spec);
    qn_status status = QN_ENOMEM;
    uint64_t live = qn_alloc_live(), need = 0, n = 0;
    while (status == QN_ENOMEM) {
        qn_alloc_fail_at(++n);
        status = qn_session_memory_need(m, &(qn_session_options){.n_seqs = 2}, NULL, NULL, &need, NULL);
        qn_alloc_fail_at(0);
        assert_int_equal(qn_alloc_live(), live);
    }
    assert_int_equal(status, QN_OK);
    assert_true(n > 10);
    qn_model_close(m);
    qn_runtime_close(rt);
}

/* ---- read into memory, locked ---- */

static qn_status open_file(qn_runtime *rt, const char *path, const qn_model_options *o, qn_model **m, qn_error *err)
{
    *m = NULL;
    *err = (qn_error){0};
    return qn_model_open(rt, path, o, m, err);
}

static void logits_of(qn_model *m, float *logits, uint32_t n_vocab)
{
    static const int32_t tokens[] = {4, 9, 16, 25, 36, 49, 64, 81, 100, 121};
    qn_session *s = open_session(m, NULL);
    const float *l;
    qn_error err = {0};
    expect_ok(qn_seq_eval(open_seq(s), tokens, 10, &l, &err), &err);
    memcpy(logits, l, sizeof(float) * n_vocab);
    qn_session_close(s);
}

static int count_progress(void *ctx, uint64_t n_done, uint64_t n_bytes)
{
    assert_true(n_done <= n_bytes);
    ++*(unsigned *)ctx;
    return 0;
}

static int stop(void *ctx, uint64_t n_done, uint64_t n_bytes)
{
    (void)ctx;
    (void)n_done;
    (void)n_bytes;
    return 1;
}

static void test_reads_into_memory(void **state)
{
    (void)state;
    enum { N_VOCAB = QN_TINY_MIN_VOCAB };
    char path[4096];
    float mapped[N_VOCAB], read[N_VOCAB];
    qn_runtime *rt = open_runtime(NULL, 2);
    qn_tiny_spec spec = qn_tiny_spec_of("qwen2");
    qn_tiny_file(&spec, path);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    qn_error err;
    qn_model *m;
    expect_ok(open_file(rt, path, NULL, &m, &err), &err);
    logits_of(m, mapped, N_VOCAB);
    uint64_t mapped_bytes = qn_runtime_memory_used(rt);
    qn_model_close(m);

    unsigned n_calls = 0;
    qn_model_options o;
    qn_model_options_init(&o);
    o.no_mmap = true;
    o.mlock = true; /* some pages are allowed everywhere */
    o.progress = count_progress;
    o.progress_ctx = &n_calls;
    expect_ok(open_file(rt, path, &o, &m, &err), &err);
    assert_true(n_calls > 0);
    /* The block and what the allocator adds, which sanitizers change. */
    uint64_t more_bytes = qn_runtime_memory_used(rt) - mapped_bytes;
    assert_in_range(more_bytes, (uint64_t)st.st_size, (uint64_t)st.st_size + 4096);
    assert_int_equal(truncate(path, 10), 0); /* nobody looks at the file any more */
    logits_of(m, read, N_VOCAB);
    assert_memory_equal(mapped, read, sizeof(mapped));
    expect_need_is_met(m, NULL, false);
    qn_model_close(m);
    assert_int_equal(open_file(rt, path, &o, &m, &err), QN_EFORMAT);
    unlink(path);

    qn_tiny_file(&spec, path);
    o.progress = stop;
    assert_int_equal(open_file(rt, path, &o, &m, &err), QN_EABORTED);
    o.vocab_only = true; /* then nothing is read that way */
    expect_ok(open_file(rt, path, &o, &m, &err), &err);
    qn_model_close(m);
    qn_runtime_close(rt);
    unlink(path);
}

static void test_memory_read_into_is_the_runtimes(void **state)
{
    (void)state;
    char path[4096];
    qn_tiny_spec spec = qn_tiny_spec_of("llama");
    qn_tiny_file(&spec, path);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    qn_runtime *rt = NULL;
    qn_error err = {0};
    qn_runtime_options ro = {.n_threads = 1};
    expect_ok(qn_runtime_open(&ro, &rt, &err), &err);
    uint64_t base = qn_runtime_memory_used(rt);
    qn_runtime_close(rt);
    ro.memory_bytes = base + (uint64_t)st.st_size; /* not enough for the model beside it */
    expect_ok(qn_runtime_open(&ro, &rt, &err), &err);
    qn_model *m;
    assert_int_equal(open_file(rt, path, &(qn_model_options){.no_mmap = true}, &m, &err), QN_EBUDGET);
    assert_non_null(strstr(err.what, "would pass the ceiling"));
    qn_runtime_close(rt);
    unlink(path);
}

/* In a child, without the privileges and with a limit of nothing. Sanitizers make mlock() do nothing. */
static void test_mlock_names_the_limit(void **state)
{
    (void)state;
    char path[4096];
    qn_tiny_spec spec = qn_tiny_spec_of("llama");
    qn_tiny_file(&spec, path);
    assert_int_equal(chmod(path, 0644), 0);
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        const struct rlimit none = {0, 0};
        if (setrlimit(RLIMIT_MEMLOCK, &none) != 0 || (geteuid() == 0 && setuid(65534) != 0) || mlock(path, 1) == 0) {
            _exit(2);
        }
        qn_runtime *rt = open_runtime(NULL, 1);
        qn_model *m;
        qn_error err;
        qn_status status = open_file(rt, path, &(qn_model_options){.mlock = true}, &m, &err);
        bool is_named = strstr(err.what, "RLIMIT_MEMLOCK") != NULL && strstr(err.what, ".gguf: mlock: ") != NULL;
        _exit(status == QN_EFULL && is_named ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    unlink(path);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 2) {
        QN_TEST_SKIP("the limit of locked memory cannot be lowered here");
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_need_is_what_is_held),
        cmocka_unit_test(test_need_of_what_nothing_could_hold),
        cmocka_unit_test(test_need_without_memory),
        cmocka_unit_test(test_reads_into_memory),
        cmocka_unit_test(test_memory_read_into_is_the_runtimes),
        cmocka_unit_test(test_mlock_names_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
