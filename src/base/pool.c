/* The compute pool.
 *
 * A gate is a number that threads wait on until it changes: they spin for a while, then sleep. There are three: the job
 * gate opens for the workers when a job is there, the done gate for the caller when the last worker has finished, the
 * barrier gate for the threads of a job when the last of them has arrived.
 *
 * The job gate's number is job << 10 | n_threads. A worker that is not needed learns so from the number alone and
 * reads nothing else: the fields of the job belong to the caller again as soon as the needed ones have finished. A
 * worker that is needed cannot miss its job, because the caller waits for it.
 * SPDX-License-Identifier: MIT */
#include "base/pool.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/os.h"

#include <assert.h>

#define COUNT_BITS 10
#define COUNT_MASK ((UINT64_C(1) << COUNT_BITS) - 1)
#define COUNT_STOP COUNT_MASK /* instead of a count: the workers end */
#define SPIN_NS 40000         /* about what a sleep and a wake-up cost; longer gains little and burns a core */

_Static_assert(QN_POOL_MAX_THREADS < COUNT_STOP, "a count must fit beside the job number");

typedef struct gate {
    _Alignas(64) _Atomic uint64_t value;
    _Alignas(64) atomic_uint n_asleep; /* threads that sleep, or are about to */
    atomic_uint n_wakes;               /* the word they sleep on */
} gate;

typedef struct worker {
    qn_pool *pool;
    uint32_t i_thread;
    qn_os_thread thread;
} worker;

struct qn_pool {
    gate job, done, barrier;
    _Alignas(64) atomic_uint n_running; /* workers that have not finished the job */
    _Alignas(64) atomic_uint n_arrived; /* threads that wait at the barrier */

    /* Written by the caller before it opens the job gate. */
    _Alignas(64) qn_pool_fn *fn;
    void *ctx;
    uint32_t n_job_threads;
    uint64_t n_jobs;

    qn_os_mutex turn; /* held by the caller whose job runs; guards all above */
    uint32_t n_threads;
    uint64_t spin_ns;
    worker workers[]; /* of threads 1 to n_threads - 1 */
};

static _Thread_local bool inside_job QN_UNUSED; /* for an assert: a job that starts a job would wait for ever */

/* ---- gates ---- */

static inline void cpu_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Waits until g's number is not `seen`; returns the new one. Acquires what was written before gate_set(). */
static uint64_t gate_wait(gate *g, uint64_t seen, uint64_t spin_ns)
{
    uint64_t value = atomic_load_explicit(&g->value, memory_order_acquire);
    if (value != seen) {
        return value;
    }
    if (spin_ns > 0) {
        uint64_t end = qn_clock_ns() + spin_ns;
        do {
            for (int i = 0; i < 32; i++) {
                cpu_relax();
                value = atomic_load_explicit(&g->value, memory_order_acquire);
                if (value != seen) {
                    return value;
                }
            }
        } while (qn_clock_ns() < end);
    }
    /* All sequentially consistent: either gate_set() sees us in n_asleep, or we see its number. n_wakes is read before
     * the number, so a wake-up that comes in between makes the sleep return at once. */
    atomic_fetch_add(&g->n_asleep, 1);
    for (;;) {
        unsigned n_wakes = atomic_load(&g->n_wakes);
        value = atomic_load(&g->value);
        if (value != seen) {
            break;
        }
        qn_os_park(&g->n_wakes, n_wakes);
    }
    atomic_fetch_sub(&g->n_asleep, 1);
    return value;
}

static void gate_set(gate *g, uint64_t value)
{
    atomic_store(&g->value, value);
    if (atomic_load(&g->n_asleep) != 0) {
        atomic_fetch_add(&g->n_wakes, 1);
        qn_os_unpark_all(&g->n_wakes);
    }
}

/* ---- workers ---- */

static void *worker_main(void *arg)
{
    const worker *w = arg;
    qn_pool *p = w->pool;
    inside_job = true;
    uint64_t seen = 0;
    for (;;) {
        seen = gate_wait(&p->job, seen, p->spin_ns);
        uint64_t count = seen & COUNT_MASK;
        if (count == COUNT_STOP) {
            return NULL;
        }
        if (w->i_thread >= count) {
            continue;
        }
        p->fn(p->ctx, w->i_thread, (uint32_t)count);
        /* The last one passes on to the caller what all have written: each acquires from those before it. */
        uint64_t job = seen >> COUNT_BITS;
        if (atomic_fetch_sub_explicit(&p->n_running, 1, memory_order_acq_rel) == 1) {
            gate_set(&p->done, job);
        }
    }
}

/* Ends the first n workers. */
static void stop_workers(qn_pool *p, uint32_t n)
{
    gate_set(&p->job, (p->n_jobs + 1) << COUNT_BITS | COUNT_STOP);
    for (uint32_t i = 0; i < n; i++) {
        qn_os_thread_join(p->workers[i].thread);
    }
}

/* ---- the pool ---- */

uint32_t qn_pool_default_threads(void)
{
    uint32_t n = qn_os_cores();
    return n < QN_POOL_MAX_THREADS ? n : QN_POOL_MAX_THREADS;
}

qn_status qn_pool_open(uint32_t n_threads, qn_pool **out, qn_error *err)
{
    uint32_t n_cores = qn_pool_default_threads();
    if (n_threads == 0) {
        n_threads = n_cores;
    }
    if (n_threads > QN_POOL_MAX_THREADS) {
        return qn_fail(err, QN_EINVAL, "n_threads: %u is above %d", n_threads, QN_POOL_MAX_THREADS);
    }
    uint32_t n_workers = n_threads - 1;
    qn_pool *p = qn_zalloc(NULL, "pool", sizeof(*p) + n_workers * sizeof(p->workers[0]));
    if (p == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for a pool of %u threads", n_threads);
    }
    p->n_threads = n_threads;
    p->n_job_threads = 1;
    /* With more threads than cores a spinning thread keeps from its core the one that it waits for. */
    p->spin_ns = n_threads <= n_cores ? SPIN_NS : 0;
    qn_os_mutex_init(&p->turn);
    for (uint32_t i = 0; i < n_workers; i++) {
        p->workers[i].pool = p;
        p->workers[i].i_thread = i + 1;
        if (!qn_os_thread_start(&p->workers[i].thread, worker_main, &p->workers[i])) {
            stop_workers(p, i);
            qn_os_mutex_destroy(&p->turn);
            qn_free(p);
            return qn_fail(err, QN_EIO, "cannot start thread %u of %u", i + 2, n_threads);
        }
    }
    *out = p;
    return QN_OK;
}

void qn_pool_close(qn_pool *p)
{
    if (p == NULL) {
        return;
    }
    stop_workers(p, p->n_threads - 1);
    qn_os_mutex_destroy(&p->turn);
    qn_free(p);
}

uint32_t qn_pool_threads(const qn_pool *p)
{
    return p->n_threads;
}

void qn_pool_run(qn_pool *p, uint32_t n_threads, qn_pool_fn *fn, void *ctx)
{
    assert(!inside_job);
    uint32_t n = n_threads == 0 || n_threads > p->n_threads ? p->n_threads : n_threads;
    qn_os_mutex_lock(&p->turn);
    inside_job = true;
    p->n_job_threads = n;
    if (n == 1) {
        fn(ctx, 0, 1);
    } else {
        uint64_t job = ++p->n_jobs;
        p->fn = fn;
        p->ctx = ctx;
        /* relaxed: the gate publishes it with the rest. */
        atomic_store_explicit(&p->n_running, n - 1, memory_order_relaxed);
        gate_set(&p->job, job << COUNT_BITS | n);
        fn(ctx, 0, n);
        gate_wait(&p->done, job - 1, p->spin_ns);
    }
    inside_job = false;
    qn_os_mutex_unlock(&p->turn);
}

void qn_pool_barrier(qn_pool *p)
{
    uint32_t n = p->n_job_threads;
    if (n == 1) {
        return;
    }
    /* It cannot change before this thread has arrived. */
    uint64_t round = atomic_load_explicit(&p->barrier.value, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&p->n_arrived, 1, memory_order_acq_rel) == n - 1) {
        atomic_store_explicit(&p->n_arrived, 0, memory_order_relaxed); /* the gate publishes it */
        gate_set(&p->barrier, round + 1);
    } else {
        gate_wait(&p->barrier, round, p->spin_ns);
    }
}
