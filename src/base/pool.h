/* The compute pool: one per process, and the one way in which threads share work.
 *
 * A job is a row of passes. The threads of a pass take its chunks of work; there is no barrier, and nobody waits for a
 * thread as such, only for what a thread holds. A thread that the system has taken off its processor and that holds
 * nothing delays nobody: it goes on later where the job has got to by then, or finds it over.
 *
 * Who may touch what, when. A thread runs a job's function inside the section of a pass. As long as some thread is
 * inside, the pass is not over, and neither is the job. What the job shares (its ctx and all that it leads to) may be
 * touched inside only, and what is written there is seen by all in later passes, and by the caller after the job. A
 * function may leave its section to work on memory of its own thread, and on memory that nobody changes, and enter
 * again to hand over what it has made; that fails when others have ended the pass meanwhile. So such memory can be in
 * use after the job: qn_pool_quiesce() before it is freed.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BASE_POOL_H
#define QN_BASE_POOL_H

#include "base/status.h"

#include <stdatomic.h>

#define QN_POOL_MAX_THREADS 512  /* more than any one machine we know; bounds the table of threads */
#define QN_POOL_MAX_PASSES 65535 /* of one job; what a word has room for */

typedef struct qn_pool qn_pool;

/* n_threads 0: qn_pool_default_threads(). */
qn_status qn_pool_open(uint32_t n_threads, qn_pool **out, qn_error *err);
void qn_pool_close(qn_pool *p);
uint32_t qn_pool_threads(const qn_pool *p);

/* Cores that this process may use: affinity mask, capped by the cgroup quota (v1 and v2, rounded up); >= 1. */
uint32_t qn_pool_default_threads(void);

/* One thread's part in a job. The first three are for the job's function, the rest is the pool's. */
typedef struct qn_lane {
    uint32_t i_thread, n_threads; /* the caller is thread 0 */
    uint32_t i_pass;
    struct qn_pool *pool;
    uint64_t tick;
} qn_lane;

typedef enum qn_pass_end {
    QN_PASS_DONE, /* inside: every chunk is taken, and what was worked out outside is handed over */
    QN_PASS_STOP, /* inside: the job shall end with this pass */
    QN_PASS_OVER  /* outside: qn_lane_enter() or qn_lane_wait() said that the pass is over */
} qn_pass_end;

/* Called inside the section of pass lane->i_pass. Not every thread comes to every pass, and one may come when all
 * chunks are taken already; none comes twice. */
typedef qn_pass_end qn_pool_fn(void *ctx, qn_lane *lane);

/* Runs n_passes passes on at most min(n_threads, pool size) threads (0: all); returns when they are over: true, or
 * false when a thread said QN_PASS_STOP. Callers take turns. Everything that the caller wrote before is seen by fn;
 * everything that fn wrote inside is seen by the caller after. Not from inside a job. Allocates nothing. */
bool qn_pool_run(qn_pool *p, uint32_t n_threads, uint32_t n_passes, qn_pool_fn *fn, void *ctx);

/* From fn: leaves the section; from then on nothing that the job shares may be touched. */
void qn_lane_leave(qn_lane *l);
/* From fn, outside: false: the pass is over, nothing is to be handed over any more. */
bool qn_lane_enter(qn_lane *l);
/* From fn, outside: waits up to ns for the others to end the pass; true: it is over. */
bool qn_lane_wait(const qn_lane *l, uint64_t ns);

/* Waits for the job that runs and then until no thread is inside a job's function any more. Not from inside a job. */
void qn_pool_quiesce(qn_pool *p);

/* A shared counter from which threads take chunks; wants a cache line of its own. */
typedef struct qn_chunks {
    atomic_uint next;
} qn_chunks;

static inline void qn_chunks_reset(qn_chunks *c)
{
    atomic_store_explicit(&c->next, 0, memory_order_relaxed);
}
/* The next chunk number. relaxed: the end of the pass publishes the results. */
static inline uint32_t qn_chunks_take(qn_chunks *c)
{
    return atomic_fetch_add_explicit(&c->next, 1, memory_order_relaxed);
}

#endif
