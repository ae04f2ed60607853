/* Tests of base/alloc.h.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/alloc.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static qn_budget *open_budget(uint64_t limit)
{
    qn_budget *b = NULL;
    assert_int_equal(qn_budget_open(limit, &b), QN_OK);
    return b;
}

static bool all_zero(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] != 0) {
            return false;
        }
    }
    return true;
}

static void test_blocks(void **state)
{
    (void)state;
    uint64_t live = qn_alloc_live(), count = qn_alloc_count();
    static const size_t sizes[] = {0, 1, 63, 64, 65, 4096, MIB - 1, MIB, 3 * MIB + 5};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        unsigned char *p = qn_alloc(NULL, "test", sizes[i]);
        unsigned char *z = qn_zalloc(NULL, "test", sizes[i]);
        assert_non_null(p);
        assert_non_null(z);
        assert_int_equal((uintptr_t)p % 64, 0);
        assert_int_equal((uintptr_t)z % 64, 0);
        assert_true(all_zero(z, sizes[i]));
        memset(p, 0xFF, sizes[i]);
        memset(z, 0xFF, sizes[i]);
        assert_int_equal(qn_alloc_live(), live + 2);
        qn_free(p);
        qn_free(z);
    }
    qn_free(NULL);
    assert_int_equal(qn_alloc_live(), live);
    assert_int_equal(qn_alloc_count(), count + 2 * sizeof(sizes) / sizeof(sizes[0]));
}

static void test_impossible_sizes(void **state)
{
    (void)state;
    uint64_t live = qn_alloc_live();
    assert_null(qn_alloc(NULL, "test", SIZE_MAX));
    assert_null(qn_alloc(NULL, "test", SIZE_MAX - 64));
    assert_null(qn_zalloc(NULL, "test", PTRDIFF_MAX));
    assert_null(qn_zalloc_array(NULL, "test", SIZE_MAX / 2, 3));
    assert_null(qn_zalloc_array(NULL, "test", (size_t)1 << 32, (size_t)1 << 32));
    void *p = qn_alloc(NULL, "test", 8);
    assert_null(qn_realloc(NULL, "test", p, SIZE_MAX - 1));
    qn_free(p);
    assert_int_equal(qn_alloc_live(), live);
}

static void test_zalloc_array(void **state)
{
    (void)state;
    unsigned char *p = qn_zalloc_array(NULL, "test", 100, 24);
    assert_non_null(p);
    assert_true(all_zero(p, 2400));
    qn_free(p);
    p = qn_zalloc_array(NULL, "test", 0, 24);
    assert_non_null(p);
    qn_free(p);
}

static void test_realloc_moves(void **state)
{
    (void)state;
    qn_budget *b = open_budget(0), *other = open_budget(0);
    unsigned char *p = qn_realloc(b, "first", NULL, 10);
    assert_non_null(p);
    uint64_t beside = qn_budget_used(b) - 10;
    memcpy(p, "0123456789", 10);
    /* Budget and owner stay those of the block. */
    p = qn_realloc(other, "second", p, 5000);
    assert_non_null(p);
    assert_memory_equal(p, "0123456789", 10);
    assert_int_equal(qn_budget_used(other), 0);
    assert_int_equal(qn_budget_used(b), 5000 + beside);
    memset(p + 10, 'x', 4990);
    p = qn_realloc(other, "second", p, 4);
    assert_memory_equal(p, "0123", 4);
    assert_int_equal(qn_budget_used(b), 4 + beside);
    const char *name = NULL;
    uint64_t bytes = 0;
    assert_true(qn_budget_owner(b, 0, &name, &bytes));
    assert_string_equal(name, "first");
    assert_int_equal(bytes, 4 + beside);
    qn_free(p);

    p = qn_zalloc(b, "big", 2 * MIB);
    p[2 * MIB - 1] = 7;
    p = qn_realloc(b, "big", p, 3 * MIB);
    assert_int_equal(p[2 * MIB - 1], 7);
    qn_free(p);
    qn_budget_close(b);
    qn_budget_close(other);
}

static void test_untouched_zeros_take_no_memory(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    QN_TEST_SKIP("sanitizers keep their own books of memory");
#else
    size_t n_bytes = 64 * MIB, page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *p = qn_zalloc(NULL, "test", n_bytes);
    assert_non_null(p);
    p[n_bytes / 2] = 1;
    unsigned char *start = p - (uintptr_t)p % page;
    size_t n_pages = n_bytes / page, n_resident = 0;
    unsigned char *resident = calloc(n_pages, 1);
    assert_int_equal(mincore(start, n_pages * page, (void *)resident), 0);
    for (size_t i = 0; i < n_pages; i++) {
        n_resident += resident[i] & 1;
    }
    free(resident);
    assert_true(n_resident >= 1);
    assert_true(n_resident * page <= 8 * MIB); /* two huge pages at most, and some slack */
    qn_free(p);
#endif
}

static void test_limit(void **state)
{
    (void)state;
    qn_budget *b = open_budget(10000);
    void *p = qn_alloc(b, "kv", 6000);
    assert_non_null(p);
    assert_true(qn_budget_used(b) >= 6000 && qn_budget_used(b) < 6200);
    assert_null(qn_alloc(b, "kv", 6000));
    assert_null(qn_zalloc(b, "kv", 2 * MIB));
    assert_int_equal(qn_budget_charge(b, "weights", 5000), QN_EBUDGET);
    uint64_t rest = 10000 - qn_budget_used(b);
    assert_int_equal(qn_budget_charge(b, "weights", rest + 1), QN_EBUDGET);
    assert_int_equal(qn_budget_charge(b, "weights", rest), QN_OK);
    assert_int_equal(qn_budget_used(b), 10000);
    assert_int_equal(qn_budget_charge(b, "weights", UINT64_MAX), QN_EBUDGET);
    assert_null(qn_alloc(b, "kv", 0));
    qn_budget_release(b, "weights", rest);
    void *q = qn_alloc(b, "kv", 1000);
    assert_non_null(q);
    qn_free(q);
    qn_free(p);
    assert_int_equal(qn_budget_used(b), 0);
    assert_int_equal(qn_budget_peak(b), 10000);
    qn_budget_close(b);
    qn_budget_close(NULL);
}

static void test_refusals_are_told_once(void **state)
{
    (void)state;
    uint64_t bytes = 0, limit = 0;
    qn_budget *b = open_budget(10000), *other = open_budget(0);
    assert_false(qn_budget_refusal(b, &bytes, &limit));
    assert_null(qn_alloc(b, "kv", 20000));
    assert_false(qn_budget_refusal(other, &bytes, &limit));
    assert_true(qn_budget_refusal(b, &bytes, &limit));
    assert_int_equal(bytes, 20000);
    assert_int_equal(limit, 10000);
    assert_false(qn_budget_refusal(b, &bytes, &limit));

    assert_int_equal(qn_budget_charge(b, "weights", 10001), QN_EBUDGET);
    assert_true(qn_budget_refusal(b, &bytes, &limit));
    assert_int_equal(bytes, 10001);

    assert_null(qn_alloc(b, "kv", 20000));
    qn_alloc_fail_at(1);
    assert_null(qn_alloc(b, "kv", 10)); /* not the ceiling's fault */
    assert_false(qn_budget_refusal(b, &bytes, &limit));
    assert_false(qn_budget_refusal(NULL, &bytes, &limit));
    qn_budget_close(b);
    qn_budget_close(other);
}

static void test_no_limit_still_counts(void **state)
{
    (void)state;
    qn_budget *b = open_budget(0);
    assert_int_equal(qn_budget_charge(b, "weights", UINT64_MAX), QN_OK);
    assert_int_equal(qn_budget_charge(b, "weights", 1), QN_EBUDGET);
    assert_null(qn_alloc(b, "kv", 1));
    qn_budget_release(b, "weights", UINT64_MAX);
    qn_budget_close(b);
    assert_int_equal(qn_budget_charge(NULL, "weights", 5), QN_OK);
    qn_budget_release(NULL, "weights", 5);
}

static void test_what_the_system_refuses_is_not_charged(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    QN_TEST_SKIP("sanitizers end the process instead");
#else
    qn_budget *b = open_budget(0);
    uint64_t live = qn_alloc_live();
    assert_null(qn_zalloc(b, "kv", (size_t)1 << 60)); /* more than any machine's addresses */
    assert_null(qn_alloc(b, "kv", (size_t)1 << 60));
    assert_int_equal(qn_budget_used(b), 0);
    assert_int_equal(qn_alloc_live(), live);
    qn_budget_close(b);
#endif
}

static void test_owners(void **state)
{
    (void)state;
    qn_budget *b = open_budget(0);
    const char *name = NULL;
    uint64_t bytes = 0;
    assert_false(qn_budget_owner(b, 0, &name, &bytes));
    char names[70][16], again[16] = "n3";
    for (int i = 0; i < 70; i++) {
        snprintf(names[i], sizeof(names[i]), "n%d", i);
        assert_int_equal(qn_budget_charge(b, names[i], 100 + (uint64_t)i), QN_OK);
    }
    /* The same name at another address is the same owner. */
    assert_int_equal(qn_budget_charge(b, again, 1000), QN_OK);
    for (size_t i = 0; i < 64; i++) {
        assert_true(qn_budget_owner(b, i, &name, &bytes));
        assert_string_equal(name, names[i]);
        assert_int_equal(bytes, 100 + i + (i == 3 ? 1000 : 0));
    }
    assert_true(qn_budget_owner(b, 64, &name, &bytes));
    assert_string_equal(name, "other");
    assert_int_equal(bytes, 164 + 165 + 166 + 167 + 168 + 169);
    assert_false(qn_budget_owner(b, 65, &name, &bytes));
    qn_budget_release(b, "n3", 1000);
    for (int i = 0; i < 70; i++) {
        qn_budget_release(b, names[i], 100 + (uint64_t)i);
    }
    assert_int_equal(qn_budget_used(b), 0);
    assert_true(qn_budget_owner(b, 3, &name, &bytes));
    assert_int_equal(bytes, 0);
    qn_budget_close(b);
}

static void test_fail_at(void **state)
{
    (void)state;
    uint64_t live = qn_alloc_live();
    qn_alloc_fail_at(2);
    void *a = qn_alloc(NULL, "test", 1);
    assert_non_null(a);
    assert_null(qn_zalloc(NULL, "test", 2 * MIB));
    void *c = qn_alloc(NULL, "test", 1); /* once only */
    assert_non_null(c);
    qn_alloc_fail_at(1);
    assert_null(qn_realloc(NULL, "test", a, 100));
    qn_alloc_fail_at(1);
    assert_null(qn_zalloc_array(NULL, "test", 1, 1));
    qn_budget *b = NULL;
    qn_alloc_fail_at(1);
    assert_int_equal(qn_budget_open(0, &b), QN_ENOMEM);
    assert_null(b);
    qn_alloc_fail_at(1);
    qn_alloc_fail_at(0);
    void *d = qn_alloc(NULL, "test", 1);
    assert_non_null(d);
    qn_free(a);
    qn_free(c);
    qn_free(d);
    assert_int_equal(qn_alloc_live(), live);
}

static void test_debug_builds_notice_misuse(void **state)
{
    (void)state;
#if defined(NDEBUG) || defined(__SANITIZE_ADDRESS__)
    QN_TEST_SKIP("only debug builds without the address sanitizer have canaries");
#else
    enum { WRITE_AFTER, RELEASE_TOO_MUCH, CLOSE_IN_USE, N_CASES };
    for (int i = 0; i < N_CASES; i++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            signal(SIGABRT, SIG_DFL);
            assert_non_null(freopen("/dev/null", "w", stderr));
            qn_budget *b = open_budget(0);
            unsigned char *volatile p = qn_alloc(b, "test", 100);
            if (i == WRITE_AFTER) {
                p[100] = 1;
                qn_free(p);
            } else if (i == RELEASE_TOO_MUCH) {
                qn_budget_release(b, "test", 1000);
            } else {
                qn_budget_close(b);
            }
            _exit(0);
        }
        int status = 0;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    }
#endif
}

/* ---- many threads, one budget ---- */

enum { N_THREADS = 4, N_ROUNDS = 2000, LIMIT = 20000 };

typedef struct stress {
    qn_budget *budget;
    int i_thread;
    bool bad;
} stress;

static void *stress_main(void *arg)
{
    stress *s = arg;
    static const char *const owners[] = {"a", "b", "c", "d", "e", "f"};
    for (int i = 0; i < N_ROUNDS; i++) {
        size_t n = (size_t)(i * 37 + s->i_thread * 101) % 4000;
        unsigned char *p = qn_alloc(s->budget, owners[(i + s->i_thread) % 6], n);
        if (p != NULL) {
            memset(p, s->i_thread, n);
            s->bad |= n > 0 && p[n - 1] != s->i_thread;
        }
        s->bad |= qn_budget_used(s->budget) > LIMIT;
        if (qn_budget_charge(s->budget, "map", 3000) == QN_OK) {
            qn_budget_release(s->budget, "map", 3000);
        }
        qn_free(p);
    }
    return NULL;
}

static void test_many_threads(void **state)
{
    (void)state;
    uint64_t live = qn_alloc_live();
    qn_budget *b = open_budget(LIMIT);
    stress s[N_THREADS];
    pthread_t threads[N_THREADS];
    for (int i = 0; i < N_THREADS; i++) {
        s[i] = (stress){.budget = b, .i_thread = i};
        assert_int_equal(pthread_create(&threads[i], NULL, stress_main, &s[i]), 0);
    }
    for (int i = 0; i < N_THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_false(s[i].bad);
    }
    assert_int_equal(qn_budget_used(b), 0);
    assert_true(qn_budget_peak(b) > 0 && qn_budget_peak(b) <= LIMIT);
    /* Each name got one slot, whoever came first. */
    const char *name = NULL;
    uint64_t bytes = 0, n_owners = 0;
    while (qn_budget_owner(b, n_owners, &name, &bytes)) {
        assert_int_equal(bytes, 0);
        n_owners++;
    }
    assert_int_equal(n_owners, 7);
    qn_budget_close(b);
    assert_int_equal(qn_alloc_live(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_impossible_sizes),
        cmocka_unit_test(test_zalloc_array),
        cmocka_unit_test(test_realloc_moves),
        cmocka_unit_test(test_untouched_zeros_take_no_memory),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_refusals_are_told_once),
        cmocka_unit_test(test_no_limit_still_counts),
        cmocka_unit_test(test_what_the_system_refuses_is_not_charged),
        cmocka_unit_test(test_owners),
        cmocka_unit_test(test_fail_at),
        cmocka_unit_test(test_debug_builds_notice_misuse),
        cmocka_unit_test(test_many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
