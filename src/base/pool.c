/* The compute pool.
 *
 * `now` is one word that says where the job stands: a tick that counts passes and jobs, how many passes are left, and
 * whether the pass is closed. Beside it each thread has a word `at` on a cache line of its own: at rest, outside (in a
 * job's function, but in no section), or the tick whose section it is in.
 *
 *   open --[close: a thread inside saw that nothing is left to take]--> closed
 *        --[advance: it is closed and no thread is at its tick]--> the next tick, open; without passes left: idle
 *
 * (1) Entering is: write at = tick, then read now; unless that tick is still open, leave. Advancing is: see it closed,
 * then read every at. All of these are sequentially consistent, so either the one who enters sees it closed, or the one
 * who advances sees that it is inside. (2) Whoever leaves looks whether the tick is closed and tries to advance. Of
 * those who leave a closed tick the last finds no other inside, so it never stays closed; a thread that failed to enter
 * counts as one that leaves. (3) The fields of the job are read inside only, and now never moves on from a tick that
 * somebody is inside of; so in an idle tick they are the caller's. (4) A tick comes again after 2^46 of them, which
 * takes decades: a thread that slept in between cannot take the new one for the old.
 *
 * A gate is a word that threads wait on until it changes: they spin for a while, then sleep. There are two: the job
 * gate opens for the workers when a job is there, now for the threads of a job when a tick is over.
 * SPDX-License-Identifier: MIT */
#include "base/pool.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/os.h"

#include <assert.h>

/* now: tick, passes left (0: idle), stop, closed */
#define NOW_CLOSED UINT64_C(1)
#define NOW_STOP UINT64_C(2) /* closed: no pass shall follow; idle: the job ended so */
#define LEFT_SHIFT 2
#define LEFT_MASK UINT64_C(0xffff)
#define TICK_SHIFT 18

/* at, where it is no tick; the first tick is 2 */
#define AT_REST UINT64_C(0)
#define AT_OUTSIDE UINT64_C(1)
#define FIRST_TICK UINT64_C(2)

/* The job gate's number is job << 10 | n_threads: a worker that is not needed learns so from it alone. */
#define COUNT_BITS 10
#define COUNT_MASK ((UINT64_C(1) << COUNT_BITS) - 1)
#define COUNT_STOP COUNT_MASK /* instead of a count: the workers end */

#define SPIN_NS 40000 /* about what a sleep and a wake-up cost; longer gains little and burns a core */

_Static_assert(QN_POOL_MAX_THREADS < COUNT_STOP, "a count must fit beside the job number");
_Static_assert(QN_POOL_MAX_PASSES <= LEFT_MASK, "the passes must fit beside the tick");

typedef struct gate {
    _Alignas(64) _Atomic uint64_t value;
    _Alignas(64) atomic_uint n_asleep; /* threads that sleep, or are about to */
    atomic_uint n_wakes;               /* the word they sleep on */
} gate;

typedef struct slot {
    _Alignas(64) _Atomic uint64_t at;
    /* Of workers only. */
    qn_pool *pool;
    uint32_t i_thread;
    qn_os_thread thread;
} slot;

struct qn_pool {
    gate job, now;
    _Alignas(64) atomic_uint n_quiescing; /* threads that wait for all slots to be at rest */
    atomic_uint n_rests;                  /* the word they sleep on */

    /* Of the job: see (3). */
    _Alignas(64) qn_pool_fn *fn;
    void *ctx;
    uint32_t n_job_threads, n_passes;

    uint64_t n_jobs;
    qn_os_mutex turn; /* held by the caller whose job runs */
    uint32_t n_threads;
    bool crowded; /* more threads than cores */
    slot slots[];
};

static _Thread_local bool inside_job QN_UNUSED; /* for an assert: a job that starts a job would wait for ever */

/* ---- waiting ---- */

/* With more threads than cores, a thread that spins may keep from its core the one that it waits for. */
static void relax(const qn_pool *p)
{
    if (p->crowded) {
        qn_os_yield();
        return;
    }
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Spins until g's number, shifted, is not `seen`, for at most ns; returns the number. Acquires what was written before
 * the number was set. */
static uint64_t gate_spin(const qn_pool *p, gate *g, unsigned shift, uint64_t seen, uint64_t ns)
{
    uint64_t value = atomic_load_explicit(&g->value, memory_order_acquire);
    if (value >> shift != seen) {
        return value;
    }
    uint64_t end = qn_clock_ns() + ns;
    do {
        for (int i = 0; i < 16; i++) {
            relax(p);
            value = atomic_load_explicit(&g->value, memory_order_acquire);
            if (value >> shift != seen) {
                return value;
            }
        }
    } while (qn_clock_ns() < end);
    return value;
}

/* Waits until g's number, shifted, is not `seen`; returns the new number. */
static uint64_t gate_wait(const qn_pool *p, gate *g, unsigned shift, uint64_t seen)
{
    uint64_t value = gate_spin(p, g, shift, seen, SPIN_NS);
    if (value >> shift != seen) {
        return value;
    }
    /* All sequentially consistent: either who changes the number sees us in n_asleep, or we see the new one. n_wakes is
     * read before the number, so a wake-up that comes in between makes the sleep return at once. */
    atomic_fetch_add(&g->n_asleep, 1);
    for (;;) {
        unsigned n_wakes = atomic_load(&g->n_wakes);
        value = atomic_load(&g->value);
        if (value >> shift != seen) {
            break;
        }
        qn_os_park(&g->n_wakes, n_wakes);
    }
    atomic_fetch_sub(&g->n_asleep, 1);
    return value;
}

/* After the number was changed. */
static void gate_wake(gate *g)
{
    if (atomic_load(&g->n_asleep) != 0) {
        atomic_fetch_add(&g->n_wakes, 1);
        qn_os_unpark_all(&g->n_wakes);
    }
}

/* ---- sections ---- */

static uint64_t passes_left(uint64_t now)
{
    return now >> LEFT_SHIFT & LEFT_MASK;
}

static uint64_t make_now(uint64_t tick, uint64_t left)
{
    return tick << TICK_SHIFT | left << LEFT_SHIFT;
}

static bool is_anyone_at(qn_pool *p, uint64_t tick)
{
    for (uint32_t i = 0; i < p->n_threads; i++) {
        if (atomic_load(&p->slots[i].at) == tick) {
            return true;
        }
    }
    return false;
}

/* Writes where a thread is; from AT_REST on it is in no job's function. */
static void set_at(qn_pool *p, uint32_t i_thread, uint64_t at)
{
    atomic_store(&p->slots[i_thread].at, at);
    if (at == AT_REST && atomic_load(&p->n_quiescing) != 0) {
        atomic_fetch_add(&p->n_rests, 1);
        qn_os_unpark_all(&p->n_rests);
    }
}

/* Leaves the section of `tick` for `at`, and goes on to the next tick when that was the last thing to wait for. */
static void leave(qn_pool *p, uint32_t i_thread, uint64_t tick, uint64_t at)
{
    set_at(p, i_thread, at);
    uint64_t now = atomic_load(&p->now.value);
    if (now >> TICK_SHIFT != tick || (now & NOW_CLOSED) == 0 || is_anyone_at(p, tick)) {
        return;
    }
    uint64_t stop = now & NOW_STOP;
    uint64_t next = make_now(tick + 1, stop != 0 ? 0 : passes_left(now) - 1) | stop;
    if (atomic_compare_exchange_strong(&p->now.value, &now, next)) {
        gate_wake(&p->now);
    }
}

static bool enter(qn_pool *p, uint32_t i_thread, uint64_t tick, uint64_t or_at)
{
    atomic_store(&p->slots[i_thread].at, tick);
    uint64_t now = atomic_load(&p->now.value);
    if (now >> TICK_SHIFT == tick && (now & NOW_CLOSED) == 0) {
        return true;
    }
    leave(p, i_thread, tick, or_at);
    return false;
}

/* From inside of the tick that is now. */
static void close_tick(qn_pool *p, uint64_t flags)
{
    uint64_t now = atomic_load(&p->now.value);
    while ((now & NOW_CLOSED) == 0 && !atomic_compare_exchange_weak(&p->now.value, &now, now | NOW_CLOSED | flags)) {
    }
}

void qn_lane_leave(qn_lane *l)
{
    if (l->n_threads > 1) {
        leave(l->pool, l->i_thread, l->tick, AT_OUTSIDE);
    }
}

bool qn_lane_enter(qn_lane *l)
{
    return l->n_threads == 1 || enter(l->pool, l->i_thread, l->tick, AT_OUTSIDE);
}

bool qn_lane_wait(const qn_lane *l, uint64_t ns)
{
    return l->n_threads > 1 && gate_spin(l->pool, &l->pool->now, TICK_SHIFT, l->tick, ns) >> TICK_SHIFT != l->tick;
}

/* ---- threads ---- */

/* Works on the job that is there until none is, or one that does not need this thread; returns what now said last. */
static uint64_t work(qn_pool *p, uint32_t i_thread)
{
    qn_lane l = {.i_thread = i_thread, .pool = p};
    uint64_t now = atomic_load(&p->now.value);
    while (passes_left(now) != 0) {
        l.tick = now >> TICK_SHIFT;
        if (enter(p, i_thread, l.tick, AT_REST)) {
            l.n_threads = p->n_job_threads;
            if (i_thread >= l.n_threads) {
                leave(p, i_thread, l.tick, AT_REST);
                return now;
            }
            l.i_pass = p->n_passes - (uint32_t)passes_left(now);
            qn_pass_end end = p->fn(p->ctx, &l);
            if (end == QN_PASS_OVER) {
                set_at(p, i_thread, AT_REST);
            } else {
                close_tick(p, end == QN_PASS_STOP ? NOW_STOP : 0);
                leave(p, i_thread, l.tick, AT_REST);
            }
        }
        now = gate_wait(p, &p->now, TICK_SHIFT, l.tick);
    }
    return now;
}

static void *worker_main(void *arg)
{
    const slot *s = arg;
    qn_pool *p = s->pool;
    inside_job = true;
    uint64_t seen = 0;
    for (;;) {
        seen = gate_wait(p, &p->job, 0, seen);
        uint64_t count = seen & COUNT_MASK;
        if (count == COUNT_STOP) {
            return NULL;
        }
        if (s->i_thread < count) {
            work(p, s->i_thread);
        }
    }
}

static void open_job_gate(qn_pool *p, uint64_t count)
{
    atomic_store(&p->job.value, ++p->n_jobs << COUNT_BITS | count);
    gate_wake(&p->job);
}

/* Ends workers 1 to n. */
static void stop_workers(qn_pool *p, uint32_t n)
{
    open_job_gate(p, COUNT_STOP);
    for (uint32_t i = 1; i <= n; i++) {
        qn_os_thread_join(p->slots[i].thread);
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
    qn_pool *p = qn_zalloc(NULL, "pool", sizeof(*p) + n_threads * sizeof(p->slots[0]));
    if (p == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for a pool of %u threads", n_threads);
    }
    p->n_threads = n_threads;
    p->crowded = n_threads > n_cores;
    atomic_store(&p->now.value, make_now(FIRST_TICK, 0));
    qn_os_mutex_init(&p->turn);
    for (uint32_t i = 1; i < n_threads; i++) {
        slot *s = &p->slots[i];
        s->pool = p;
        s->i_thread = i;
        if (!qn_os_thread_start(&s->thread, worker_main, s)) {
            stop_workers(p, i - 1);
            qn_os_mutex_destroy(&p->turn);
            qn_free(p);
            return qn_fail(err, QN_EIO, "cannot start thread %u of %u", i + 1, n_threads);
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

static bool run_alone(uint32_t n_passes, qn_pool_fn *fn, void *ctx)
{
    qn_lane l = {.n_threads = 1};
    for (; l.i_pass < n_passes; l.i_pass++) {
        if (fn(ctx, &l) == QN_PASS_STOP) {
            return false;
        }
    }
    return true;
}

bool qn_pool_run(qn_pool *p, uint32_t n_threads, uint32_t n_passes, qn_pool_fn *fn, void *ctx)
{
    assert(!inside_job);
    assert(n_passes <= QN_POOL_MAX_PASSES);
    uint32_t n = n_threads == 0 || n_threads > p->n_threads ? p->n_threads : n_threads;
    bool done = true;
    qn_os_mutex_lock(&p->turn);
    inside_job = true;
    if (n == 1) {
        done = run_alone(n_passes, fn, ctx);
    } else if (n_passes > 0) {
        p->fn = fn;
        p->ctx = ctx;
        p->n_job_threads = n;
        p->n_passes = n_passes;
        uint64_t tick = (atomic_load_explicit(&p->now.value, memory_order_relaxed) >> TICK_SHIFT) + 1;
        atomic_store(&p->now.value, make_now(tick, n_passes)); /* idle until now: nobody else writes it */
        open_job_gate(p, n);
        done = (work(p, 0) & NOW_STOP) == 0;
    }
    inside_job = false;
    qn_os_mutex_unlock(&p->turn);
    return done;
}

void qn_pool_quiesce(qn_pool *p)
{
    assert(!inside_job);
    qn_os_mutex_lock(&p->turn);
    /* Sequentially consistent, as in gate_wait(): a thread that comes to rest sees us, or we see it at rest. */
    atomic_fetch_add(&p->n_quiescing, 1);
    for (uint32_t i = 1; i < p->n_threads; i++) {
        for (;;) {
            unsigned n_rests = atomic_load(&p->n_rests);
            if (atomic_load(&p->slots[i].at) == AT_REST) {
                break;
            }
            qn_os_park(&p->n_rests, n_rests);
        }
    }
    atomic_fetch_sub(&p->n_quiescing, 1);
    qn_os_mutex_unlock(&p->turn);
}
