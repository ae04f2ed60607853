/* The compute pool: one per process. A job runs the same function on n threads, the caller being thread 0; between
 * jobs the workers spin shortly, then park. Jobs of several callers take turns. A pool of one starts no thread.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BASE_POOL_H
#define QN_BASE_POOL_H

#include "base/status.h"

#include <stdatomic.h>

#define QN_POOL_MAX_THREADS 512 /* more than any one machine we know; bounds the worker table */

typedef struct qn_pool qn_pool;

/* n_threads 0: qn_pool_default_threads(). */
qn_status qn_pool_open(uint32_t n_threads, qn_pool **out, qn_error *err);
void qn_pool_close(qn_pool *p);
uint32_t qn_pool_threads(const qn_pool *p);

/* Cores that this process may use: affinity mask, capped by the cgroup quota (v1 and v2, rounded up); >= 1. */
uint32_t qn_pool_default_threads(void);

typedef void qn_pool_fn(void *ctx, uint32_t i_thread, uint32_t n_threads);

/* Runs fn on min(n_threads, pool size) threads (0: all); returns when every one has returned. Everything
 * that the caller wrote before is seen by fn; everything that fn wrote is seen by the caller after.
 * Must not be called from inside a job. Allocates nothing. */
void qn_pool_run(qn_pool *p, uint32_t n_threads, qn_pool_fn *fn, void *ctx);

/* Inside fn: waits until all threads of the job have come here. Orders memory as qn_pool_run() does. */
void qn_pool_barrier(qn_pool *p);

/* A shared counter from which threads take chunks; on a cache line of its own. */
typedef struct qn_chunks {
    _Alignas(64) atomic_uint next;
} qn_chunks;

static inline void qn_chunks_reset(qn_chunks *c) { atomic_store_explicit(&c->next, 0, memory_order_relaxed); }
/* The next chunk number. relaxed: the barrier that ends the op publishes the results. */
static inline uint32_t qn_chunks_take(qn_chunks *c)
{
    return atomic_fetch_add_explicit(&c->next, 1, memory_order_relaxed);
}

#endif
