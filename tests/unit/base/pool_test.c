/* Tests of base/pool.h: who runs, what is seen by whom, late threads, stops, several callers.
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
    pthread_t thread[QN_POOL_MAX_THREADS];
    bool is_out_of_order[QN_POOL_MAX_THREADS];
    uint32_t next_pass[QN_POOL_MAX_THREADS];
} visits;

static qn_pass_end visit(void *ctx, qn_lane *l)
{
    visits *v = ctx;
    uint32_t i = l->i_thread;
    v->n_threads[i] = l->n_threads;
    v->thread[i] = pthread_self();
    v->n_visits[i]++;
    v->is_out_of_order[i] |= l->i_pass < v->next_pass[i];
    v->next_pass[i] = l->i_pass + 1;
    return QN_PASS_DONE;
}

static void test_each_thread_comes_once_to_a_pass_at_most(void **state)
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
            assert_true(qn_pool_run(p, asked, 20, visit, &v));
            for (uint32_t i = 0; i < QN_POOL_MAX_THREADS; i++) {
                assert_true(v.n_visits[i] <= (i < n ? 20 : 0));
                assert_int_equal(v.n_threads[i], v.n_visits[i] > 0 ? n : 0);
                assert_true(v.n_visits[i] == 0 || (i == 0) == (pthread_equal(v.thread[i], pthread_self()) != 0));
                assert_false(v.is_out_of_order[i]);
            }
        }
        assert_true(qn_pool_run(p, 0, 0, visit, NULL));
        qn_pool_close(p);
    }
    qn_pool_close(NULL);
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
    assert_true(qn_pool_run(p, 0, 3, visit, &v));
    assert_true(qn_pool_run(p, QN_POOL_MAX_THREADS - 1, 3, visit, &v));
    qn_pool_quiesce(p);
    qn_pool_close(p);
}

/* ---- passes with chunks ---- */

enum { N_CELLS = 13, N_PASSES = 60, MAX_T = 8 };

/* A chunk of a pass reads what all chunks of the pass before wrote: two rows of cells in turn. */
typedef struct relay {
    qn_chunks chunks[N_PASSES];
    uint64_t cells[2][N_CELLS];
    uint64_t job;
    atomic_uint n_bad;
} relay;

static uint64_t cell_value(uint64_t job, uint32_t pass, uint32_t cell)
{
    return (job * N_PASSES + pass) * N_CELLS + cell;
}

static qn_pass_end relay_pass(void *ctx, qn_lane *l)
{
    relay *r = ctx;
    uint32_t pass = l->i_pass;
    for (uint32_t i; (i = qn_chunks_take(&r->chunks[pass])) < N_CELLS;) {
        for (uint32_t k = 0; k < N_CELLS && pass > 0; k++) {
            if (r->cells[(pass - 1) & 1][k] != cell_value(r->job, pass - 1, k)) {
                atomic_fetch_add(&r->n_bad, 1);
            }
        }
        r->cells[pass & 1][i] = cell_value(r->job, pass, i);
    }
    return QN_PASS_DONE;
}

static void run_relay(qn_pool *p, relay *r, uint32_t n_threads)
{
    uint32_t n_passes = 1 + (uint32_t)(r->job++ * 7 % N_PASSES);
    for (uint32_t i = 0; i < n_passes; i++) {
        qn_chunks_reset(&r->chunks[i]);
    }
    assert_true(qn_pool_run(p, n_threads, n_passes, relay_pass, r));
    for (uint32_t k = 0; k < N_CELLS; k++) {
        assert_true(r->cells[(n_passes - 1) & 1][k] == cell_value(r->job, n_passes - 1, k));
    }
}

static void test_passes_see_what_was_before(void **state)
{
    (void)state;
    for (uint32_t size = 1; size <= MAX_T; size += size < 4 ? 1 : 4) {
        static relay r;
        memset(&r, 0, sizeof(r));
        qn_pool *p = open_pool(size);
        for (uint32_t i = 0; i < (size <= 2 ? 1000 : 100); i++) {
            run_relay(p, &r, i % (size + 1));
        }
        assert_int_equal(atomic_load(&r.n_bad), 0);
        qn_pool_close(p);
    }
}

/* ---- ending early ---- */

typedef struct stopper {
    uint32_t stop_at;
    atomic_uint last;
} stopper;

static qn_pass_end stop_at_pass(void *ctx, qn_lane *l)
{
    stopper *s = ctx;
    atomic_store(&s->last, l->i_pass);
    return l->i_pass == s->stop_at ? QN_PASS_STOP : QN_PASS_DONE;
}

static void test_a_job_can_be_stopped(void **state)
{
    (void)state;
    for (uint32_t size = 1; size <= 3; size++) {
        qn_pool *p = open_pool(size);
        for (uint32_t i = 0; i < 6; i++) {
            stopper s = {.stop_at = i};
            assert_int_equal(qn_pool_run(p, 0, 5, stop_at_pass, &s), i == 5);
            assert_int_equal(atomic_load(&s.last), i < 5 ? i : 4);
        }
        qn_pool_close(p);
    }
}

/* ---- late threads ---- */

/* Thread 0 lets the first pass begin only when another thread is where the test wants it. */
typedef struct late {
    atomic_bool is_there, go_on;
    atomic_uint n_over, n_entered;
    uint64_t written; /* plain: ordered by the section */
} late;

static void wait_for(atomic_bool *flag)
{
    while (!atomic_load(flag)) {
        usleep(100);
    }
}

static qn_pass_end wait_outside(void *ctx, qn_lane *l)
{
    late *t = ctx;
    if (l->i_thread == 0) {
        wait_for(&t->is_there);
        return QN_PASS_DONE;
    }
    qn_lane_leave(l);
    atomic_store(&t->is_there, true);
    wait_for(&t->go_on);
    if (qn_lane_enter(l)) {
        atomic_fetch_add(&t->n_entered, 1);
        return QN_PASS_DONE;
    }
    atomic_fetch_add(&t->n_over, 1);
    return QN_PASS_OVER;
}

static qn_pass_end add_up(void *ctx, qn_lane *l)
{
    (void)l;
    atomic_fetch_add((atomic_uint *)ctx, 1);
    return QN_PASS_DONE;
}

static void *let_go(void *arg)
{
    usleep(20000);
    atomic_store((atomic_bool *)arg, true);
    return NULL;
}

static void test_nobody_waits_for_a_thread_outside(void **state)
{
    (void)state;
    for (int quiesce = 0; quiesce < 2; quiesce++) {
        qn_pool *p = open_pool(2);
        static late t;
        memset(&t, 0, sizeof(t));
        /* The job ends, and others after it, while the worker is still out. */
        assert_true(qn_pool_run(p, 0, 1, wait_outside, &t));
        for (uint32_t i = 0; i < 50; i++) {
            atomic_uint n = 0;
            assert_true(qn_pool_run(p, 0, 4, add_up, &n));
            assert_int_equal(atomic_load(&n), 4);
        }
        assert_int_equal(atomic_load(&t.n_over), 0);
        pthread_t other;
        assert_int_equal(pthread_create(&other, NULL, let_go, &t.go_on), 0);
        if (quiesce != 0) {
            qn_pool_quiesce(p);
            assert_int_equal(atomic_load(&t.n_over), 1);
        }
        qn_pool_close(p);
        assert_int_equal(atomic_load(&t.n_over), 1);
        assert_int_equal(atomic_load(&t.n_entered), 0);
        pthread_join(other, NULL);
    }
}

static qn_pass_end wait_inside(void *ctx, qn_lane *l)
{
    late *t = ctx;
    if (l->i_pass == 1) {
        return t->written == 7 ? QN_PASS_DONE : QN_PASS_STOP;
    }
    if (l->i_thread == 0) {
        wait_for(&t->is_there);
        return QN_PASS_DONE;
    }
    /* Out and in again as long as the pass is open. */
    qn_lane_leave(l);
    bool over = qn_lane_wait(l, 1000) || !qn_lane_enter(l);
    if (!over) {
        atomic_store(&t->is_there, true);
        usleep(3000);
        t->written = 7;
    }
    return over ? QN_PASS_OVER : QN_PASS_DONE;
}

static void test_all_wait_for_a_thread_inside(void **state)
{
    (void)state;
    qn_pool *p = open_pool(2);
    for (int i = 0; i < 20; i++) {
        static late t;
        memset(&t, 0, sizeof(t));
        assert_true(qn_pool_run(p, 0, 2, wait_inside, &t));
        assert_int_equal(t.written, 7);
    }
    qn_pool_close(p);
}

/* Threads that go out with a chunk and come back late, in a job that does not wait for them: each chunk is handed over
 * once, by the one that took it or by one that made it up for it. */
typedef struct errand {
    qn_chunks chunks;
    atomic_uint is_done[N_CELLS];
    uint32_t cells[N_CELLS];
} errand;

static bool hand_over(errand *e, uint32_t i)
{
    if (atomic_exchange(&e->is_done[i], 1) == 0) {
        e->cells[i]++;
        return true;
    }
    return false;
}

static qn_pass_end run_errands(void *ctx, qn_lane *l)
{
    errand *e = ctx;
    for (uint32_t i; (i = qn_chunks_take(&e->chunks)) < N_CELLS;) {
        qn_lane_leave(l);
        if (l->i_thread != 0 && i % 3 != 0) {
            usleep(200 * (i + l->i_thread));
        }
        if (!qn_lane_enter(l)) {
            return QN_PASS_OVER;
        }
        hand_over(e, i);
    }
    for (uint32_t i = 0; i < N_CELLS; i++) {
        hand_over(e, i);
    }
    return QN_PASS_DONE;
}

static void test_chunks_are_handed_over_once(void **state)
{
    (void)state;
    qn_pool *p = open_pool(4);
    for (int round = 0; round < 200; round++) {
        static errand e; /* outlives late threads, which look at nothing of it outside */
        qn_chunks_reset(&e.chunks);
        for (int i = 0; i < N_CELLS; i++) {
            atomic_store_explicit(&e.is_done[i], 0, memory_order_relaxed);
            e.cells[i] = 0;
        }
        assert_true(qn_pool_run(p, 0, 1, run_errands, &e));
        for (int i = 0; i < N_CELLS; i++) {
            assert_int_equal(e.cells[i], 1);
        }
    }
    qn_pool_close(p);
}

/* ---- several callers ---- */

typedef struct shared_work {
    qn_pool *pool;
    uint64_t total; /* plain: jobs take turns, so thread 0 of each may add */
    atomic_int n_inside;
    atomic_bool overlap;
} shared_work;

static qn_pass_end add_one(void *ctx, qn_lane *l)
{
    shared_work *w = ctx;
    if (l->i_thread == 0) {
        if (atomic_fetch_add(&w->n_inside, 1) != 0) {
            atomic_store(&w->overlap, true);
        }
        w->total++;
        atomic_fetch_sub(&w->n_inside, 1);
    }
    return QN_PASS_DONE;
}

/* Workers let thread 0 end the pass, which else might come too late to do its work. */
static qn_pass_end add_alone(void *ctx, qn_lane *l)
{
    if (l->i_thread == 0) {
        return add_one(ctx, l);
    }
    qn_lane_leave(l);
    while (!qn_lane_wait(l, 1000000)) {
    }
    return QN_PASS_OVER;
}

static void *caller_main(void *arg)
{
    shared_work *w = arg;
    for (uint32_t i = 0; i < 1000; i++) {
        qn_pool_run(w->pool, 1 + i % 3, 1, add_alone, w);
        if (i % 100 == 0) {
            qn_pool_quiesce(w->pool);
        }
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
        qn_pool_run(p, 0, 5, visit, &v);
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
            qn_pool_run(p, 2, 5, visit, &v);
        }
        qn_pool_close(p);
    }
}

typedef struct signals {
    atomic_uint n_there, n_good;
} signals;

static qn_pass_end look_at_signals(void *ctx, qn_lane *l)
{
    signals *s = ctx;
    sigset_t set;
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    bool good = l->i_thread == 0 || (sigismember(&set, SIGINT) == 1 && sigismember(&set, SIGBUS) == 0);
    atomic_fetch_add(&s->n_good, good);
    atomic_fetch_add(&s->n_there, 1);
    while (atomic_load(&s->n_there) < l->n_threads) { /* so that all come, which else they need not */
        usleep(100);
    }
    return QN_PASS_DONE;
}

static void test_workers_leave_signals_to_others(void **state)
{
    (void)state;
    qn_pool *p = open_pool(3);
    signals s = {0};
    assert_true(qn_pool_run(p, 0, 1, look_at_signals, &s));
    assert_int_equal(atomic_load(&s.n_good), 3);
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
        cmocka_unit_test(test_each_thread_comes_once_to_a_pass_at_most),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_passes_see_what_was_before),
        cmocka_unit_test(test_a_job_can_be_stopped),
        cmocka_unit_test(test_nobody_waits_for_a_thread_outside),
        cmocka_unit_test(test_all_wait_for_a_thread_inside),
        cmocka_unit_test(test_chunks_are_handed_over_once),
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
