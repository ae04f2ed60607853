/* Tests of base/pool.h: who runs, what is seen by whom, many small jobs, barriers, several callers.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/alloc.h"
#include "base/os.h"
#include "base/pool.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static qn_pool *open_pool(uint32_t n_threads)
{
    qn_pool *p = NULL;
    qn_error err = {0};
    assert_int_equal(qn_pool_open(n_threads, &p, &err), QN_OK);
    return p;
}

/* Plain memory on purpose: the pool alone must order it. */
typedef struct visits {
    uint32_t n_threads[QN_POOL_MAX_THREADS];
    uint32_t n_visits[QN_POOL_MAX_THREADS];
} visits;

static void visit(void *ctx, uint32_t i_thread, uint32_t n_threads)
{
    visits *v = ctx;
    v->n_threads[i_thread] = n_threads;
    v->n_visits[i_thread]++;
}

static void test_each_thread_runs_once(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 2, 3, 4, 7};
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        qn_pool *p = open_pool(sizes[s]);
        assert_int_equal(qn_pool_threads(p), sizes[s]);
        for (uint32_t asked = 0; asked <= sizes[s] + 2; asked++) {
            static visits v;
            memset(&v, 0, sizeof(v));
            uint32_t n = asked == 0 || asked > sizes[s] ? sizes[s] : asked;
            qn_pool_run(p, asked, visit, &v);
            for (uint32_t i = 0; i < QN_POOL_MAX_THREADS; i++) {
                assert_int_equal(v.n_visits[i], i < n);
                assert_int_equal(v.n_threads[i], i < n ? n : 0);
            }
        }
        qn_pool_close(p);
    }
    qn_pool_close(NULL);
}

static void note_thread(void *ctx, uint32_t i_thread, uint32_t n_threads)
{
    (void)n_threads;
    ((pthread_t *)ctx)[i_thread] = pthread_self();
}

static void test_the_caller_is_thread_0(void **state)
{
    (void)state;
    qn_pool *p = open_pool(3);
    pthread_t first[3], second[3];
    qn_pool_run(p, 0, note_thread, first);
    qn_pool_run(p, 0, note_thread, second);
    assert_true(pthread_equal(first[0], pthread_self()));
    for (int i = 1; i < 3; i++) {
        assert_false(pthread_equal(first[i], first[0]));
        assert_true(pthread_equal(first[i], second[i]));
    }
    qn_pool_close(p);
}

static void test_sizes(void **state)
{
    (void)state;
    qn_pool *p = NULL;
    qn_error err = {0};
    assert_int_equal(qn_pool_open(QN_POOL_MAX_THREADS + 1, &p, &err), QN_EINVAL);
    assert_non_null(strstr(err.what, "513"));
    assert_int_equal(qn_pool_open(UINT32_MAX, &p, NULL), QN_EINVAL);
    assert_null(p);
    p = open_pool(0);
    assert_int_equal(qn_pool_threads(p), qn_pool_default_threads());
    qn_pool_close(p);
    p = open_pool(QN_POOL_MAX_THREADS);
    static visits v;
    memset(&v, 0, sizeof(v));
    qn_pool_run(p, 0, visit, &v);
    qn_pool_run(p, QN_POOL_MAX_THREADS - 1, visit, &v);
    for (uint32_t i = 0; i < QN_POOL_MAX_THREADS; i++) {
        assert_int_equal(v.n_visits[i], i < QN_POOL_MAX_THREADS - 1 ? 2 : 1);
    }
    qn_pool_close(p);
}

/* Chains of jobs of changing width; each job checks all that the one before wrote. */
typedef struct chain {
    uint64_t cells[QN_POOL_MAX_THREADS];
    uint64_t round;
    bool bad;
    bool bad_in[QN_POOL_MAX_THREADS];
} chain;

static void chain_step(void *ctx, uint32_t i_thread, uint32_t n_threads)
{
    chain *c = ctx;
    (void)n_threads;
    c->bad_in[i_thread] |= c->cells[i_thread] >= c->round;
    c->cells[i_thread] = c->round;
}

static void run_chain(qn_pool *p, uint32_t n_rounds)
{
    static chain c;
    memset(&c, 0, sizeof(c));
    uint32_t size = qn_pool_threads(p);
    for (uint32_t i = 1; i <= n_rounds; i++) {
        uint32_t n = 1 + (i * 2654435761u >> 16) % size;
        c.round = i;
        qn_pool_run(p, n, chain_step, &c);
        for (uint32_t t = 0; t < n; t++) {
            c.bad |= c.cells[t] != i || c.bad_in[t];
        }
    }
    assert_false(c.bad);
}

static void test_many_small_jobs(void **state)
{
    (void)state;
    qn_pool *p = open_pool(2); /* may spin */
    run_chain(p, 20000);
    qn_pool_close(p);
    p = open_pool(8); /* more threads than cores on small machines: only sleeps */
    run_chain(p, 3000);
    qn_pool_close(p);
}

/* ---- barriers ---- */

enum { N_STEPS = 200, MAX_T = 8 };

typedef struct relay {
    qn_pool *pool;
    uint32_t cells[2][MAX_T * 16];
    bool bad[MAX_T * 16];
} relay;

/* Each step reads what all the others wrote in the step before: with one barrier a step and two buffers in turn. */
static void relay_steps(void *ctx, uint32_t i_thread, uint32_t n_threads)
{
    relay *r = ctx;
    for (uint32_t step = 1; step <= N_STEPS; step++) {
        r->cells[step & 1][i_thread * 16] = step * 1000 + i_thread;
        qn_pool_barrier(r->pool);
        for (uint32_t t = 0; t < n_threads; t++) {
            r->bad[i_thread * 16] |= r->cells[step & 1][t * 16] != step * 1000 + t;
        }
    }
}

static void test_barriers(void **state)
{
    (void)state;
    for (uint32_t size = 1; size <= MAX_T; size += size < 4 ? 1 : 4) {
        static relay r;
        memset(&r, 0, sizeof(r));
        r.pool = open_pool(size);
        for (uint32_t n = 1; n <= size; n++) {
            for (int again = 0; again < 3; again++) {
                qn_pool_run(r.pool, n, relay_steps, &r);
            }
        }
        for (uint32_t t = 0; t < size; t++) {
            assert_false(r.bad[t * 16]);
        }
        qn_pool_close(r.pool);
    }
}

/* ---- chunks ---- */

typedef struct chunked {
    qn_chunks chunks;
    qn_pool *pool;
    uint8_t taken[1000];
    uint64_t sums[MAX_T];
} chunked;

static void take_chunks(void *ctx, uint32_t i_thread, uint32_t n_threads)
{
    chunked *c = ctx;
    for (uint32_t i; (i = qn_chunks_take(&c->chunks)) < 1000;) {
        c->taken[i]++;
    }
    qn_pool_barrier(c->pool);
    /* All chunks are done, and seen by all. */
    for (uint32_t i = 0; i < 1000; i++) {
        c->sums[i_thread] += c->taken[i];
    }
    (void)n_threads;
}

static void test_chunks_are_taken_once(void **state)
{
    (void)state;
    static chunked c;
    c.pool = open_pool(4);
    for (int round = 0; round < 20; round++) {
        memset(c.taken, 0, sizeof(c.taken));
        memset(c.sums, 0, sizeof(c.sums));
        qn_chunks_reset(&c.chunks);
        qn_pool_run(c.pool, 0, take_chunks, &c);
        for (int i = 0; i < 1000; i++) {
            assert_int_equal(c.taken[i], 1);
        }
        for (int t = 0; t < 4; t++) {
            assert_int_equal(c.sums[t], 1000);
        }
    }
    assert_int_equal(_Alignof(qn_chunks), 64);
    qn_pool_close(c.pool);
}

/* ---- several callers ---- */

typedef struct shared_work {
    qn_pool *pool;
    uint64_t total; /* plain: jobs take turns, so thread 0 of each may add */
    atomic_int n_inside;
    atomic_bool overlap;
} shared_work;

static void add_one(void *ctx, uint32_t i_thread, uint32_t n_threads)
{
    shared_work *w = ctx;
    (void)n_threads;
    if (i_thread == 0) {
        if (atomic_fetch_add(&w->n_inside, 1) != 0) {
            atomic_store(&w->overlap, true);
        }
        w->total++;
        atomic_fetch_sub(&w->n_inside, 1);
    }
    qn_pool_barrier(w->pool);
}

static void *caller_main(void *arg)
{
    shared_work *w = arg;
    for (uint32_t i = 0; i < 1000; i++) {
        qn_pool_run(w->pool, 1 + i % 3, add_one, w);
    }
    return NULL;
}

static void test_callers_take_turns(void **state)
{
    (void)state;
    for (uint32_t size = 1; size <= 3; size += 2) {
        shared_work w = {.pool = open_pool(size)};
        pthread_t callers[4];
        for (int i = 0; i < 4; i++) {
            assert_int_equal(pthread_create(&callers[i], NULL, caller_main, &w), 0);
        }
        for (int i = 0; i < 4; i++) {
            pthread_join(callers[i], NULL);
        }
        assert_int_equal(w.total, 4000);
        assert_false(atomic_load(&w.overlap));
        qn_pool_close(w.pool);
    }
}

/* ---- the rest ---- */

static void test_run_allocates_nothing(void **state)
{
    (void)state;
    qn_pool *p = open_pool(3);
    static visits v;
    uint64_t count = qn_alloc_count();
    for (int i = 0; i < 100; i++) {
        qn_pool_run(p, 0, visit, &v);
    }
    assert_int_equal(qn_alloc_count(), count);
    qn_pool_close(p);
}

static void test_no_memory(void **state)
{
    (void)state;
    uint64_t live = qn_alloc_live();
    qn_pool *p = NULL;
    qn_status status = QN_ENOMEM;
    uint64_t n = 0;
    while (status == QN_ENOMEM) {
        qn_error err = {0};
        qn_alloc_fail_at(++n);
        status = qn_pool_open(3, &p, &err);
        qn_alloc_fail_at(0);
        assert_int_equal(err.code, status);
        assert_int_equal(qn_alloc_live(), live + (status == QN_OK));
    }
    assert_int_equal(status, QN_OK);
    assert_true(n > 1);
    qn_pool_close(p);
    assert_int_equal(qn_alloc_live(), live);
}

/* In a child that has no room for the stacks of 100 threads. */
static void test_no_threads(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    QN_TEST_SKIP("sanitizers need more addresses than a limit leaves");
#else
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct rlimit limit = {.rlim_cur = 64u << 20, .rlim_max = 64u << 20};
        qn_pool *p = NULL;
        qn_error err = {0};
        uint64_t live = qn_alloc_live();
        bool is_limited = setrlimit(RLIMIT_AS, &limit) == 0 && mmap(NULL, 2 * limit.rlim_cur, PROT_READ,
                                                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
        if (!is_limited) {
            _exit(2);
        }
        bool good = qn_pool_open(100, &p, &err) == QN_EIO && p == NULL &&
                    strstr(err.what, "of 100") != NULL && qn_alloc_live() == live;
        /* The ones that had started have ended and given their stacks back. */
        good = good && qn_pool_open(3, &p, &err) == QN_OK;
        qn_pool_close(p);
        _exit(good ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {
        QN_TEST_SKIP("no limit of addresses is in force here (qemu's user mode has none)");
    }
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
#endif
}

static void test_open_and_close(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        qn_pool *p = open_pool(4);
        if (i % 2 == 0) {
            static visits v;
            qn_pool_run(p, 2, visit, &v);
        }
        qn_pool_close(p);
    }
}

static void look_at_signals(void *ctx, uint32_t i_thread, uint32_t n_threads)
{
    (void)n_threads;
    sigset_t set;
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    ((bool *)ctx)[i_thread] = sigismember(&set, SIGINT) == 1 && sigismember(&set, SIGBUS) == 0;
}

static void test_workers_leave_signals_to_others(void **state)
{
    (void)state;
    qn_pool *p = open_pool(3);
    bool good[3];
    qn_pool_run(p, 0, look_at_signals, good);
    assert_true(good[1] && good[2]);
    sigset_t set;
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    assert_int_equal(sigismember(&set, SIGINT), 0);
    qn_pool_close(p);
}

typedef struct ping {
    atomic_uint word;
    atomic_int n_woken;
} ping;

static void *sleep_on_word(void *arg)
{
    ping *p = arg;
    while (atomic_load(&p->word) == 0) {
        qn_os_park(&p->word, 0);
    }
    atomic_fetch_add(&p->n_woken, 1);
    return NULL;
}

static void test_park(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        ping p = {0};
        qn_os_park(&p.word, 1); /* not the value: returns at once */
        pthread_t threads[3];
        for (int i = 0; i < 3; i++) {
            assert_int_equal(pthread_create(&threads[i], NULL, sleep_on_word, &p), 0);
        }
        atomic_store(&p.word, 1);
        qn_os_unpark_all(&p.word);
        for (int i = 0; i < 3; i++) {
            pthread_join(threads[i], NULL);
        }
        assert_int_equal(atomic_load(&p.n_woken), 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_thread_runs_once),
        cmocka_unit_test(test_the_caller_is_thread_0),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_many_small_jobs),
        cmocka_unit_test(test_barriers),
        cmocka_unit_test(test_chunks_are_taken_once),
        cmocka_unit_test(test_callers_take_turns),
        cmocka_unit_test(test_run_allocates_nothing),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_no_threads),
        cmocka_unit_test(test_open_and_close),
        cmocka_unit_test(test_workers_leave_signals_to_others),
        cmocka_unit_test(test_park),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
