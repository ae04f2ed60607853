/* Memory bandwidth, measured by summing a large block. SPDX-License-Identifier: MIT */
#include "cli/bench_probe.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/pool.h"

#include <string.h>

#define QN_PROBE_MIN_BYTES ((size_t)1 << 20)
#define QN_PROBE_MAX_BYTES \
    ((size_t)1 << 30) /* beyond the last cache of any machine we know, size makes no difference */
#define QN_PROBE_RUNS 9
#define QN_PROBE_AHEAD 4096 /* bytes: as far as prefetching still helps a plain loop */

#define QN_PROBE_PARTS 8 /* for each thread: long enough to stream, short enough to level what threads are apart */

typedef struct probe {
    qn_chunks chunks;
    uint64_t *words;
    size_t n_words;
    uint32_t n_parts;
    uint64_t sums[QN_POOL_MAX_THREADS];
} probe;

/* The next part that nobody has taken; false: there is none. */
static bool take_part(probe *p, size_t *begin, size_t *end)
{
    size_t n = p->n_words / p->n_parts / 8 * 8, i = qn_chunks_take(&p->chunks);
    *begin = n * i;
    *end = *begin + n;
    return i < p->n_parts;
}

static qn_pass_end fill(void *ctx, qn_lane *lane)
{
    (void)lane;
    probe *p = ctx;
    size_t begin, end;
    while (take_part(p, &begin, &end)) {
        memset(p->words + begin, 1, (end - begin) * sizeof(*p->words));
    }
    return QN_PASS_DONE;
}

static uint64_t sum_of(const probe *p, size_t begin, size_t end)
{
    uint64_t s[8] = {0}; /* independent sums, so that the additions do not wait for one another */
    for (size_t i = begin; i < end; i += 8) {
        __builtin_prefetch((const char *)(p->words + i) + QN_PROBE_AHEAD);
        for (size_t k = 0; k < 8; k++) {
            s[k] += p->words[i + k];
        }
    }
    return s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7];
}

static qn_pass_end sum(void *ctx, qn_lane *lane)
{
    probe *p = ctx;
    size_t begin, end;
    while (take_part(p, &begin, &end)) {
        p->sums[lane->i_thread] += sum_of(p, begin, end);
    }
    return QN_PASS_DONE;
}

qn_status qn_probe_read_bandwidth(uint32_t n_threads, uint64_t block_bytes, double *bytes_per_second, qn_error *err)
{
    size_t n_bytes = block_bytes < QN_PROBE_MIN_BYTES   ? QN_PROBE_MIN_BYTES
                     : block_bytes > QN_PROBE_MAX_BYTES ? QN_PROBE_MAX_BYTES
                                                        : (size_t)block_bytes;
    qn_pool *pool;
    QN_TRY(qn_pool_open(n_threads, &pool, err));
    static probe p;
    p.n_words = n_bytes / sizeof(*p.words);
    p.words = qn_alloc(NULL, "probe", n_bytes);
    if (p.words == NULL) {
        qn_pool_close(pool);
        return qn_fail(err, QN_ENOMEM, "no memory to measure the bandwidth");
    }
    p.n_parts = n_threads * QN_PROBE_PARTS;
    qn_chunks_reset(&p.chunks);
    qn_pool_run(pool, 0, 1, fill, &p);
    uint64_t best_ns = UINT64_MAX;
    for (int i = 0; i < QN_PROBE_RUNS; i++) {
        uint64_t begin_ns = qn_clock_ns();
        qn_chunks_reset(&p.chunks);
        qn_pool_run(pool, 0, 1, sum, &p);
        uint64_t ns = qn_clock_ns() - begin_ns;
        best_ns = ns < best_ns ? ns : best_ns;
    }
    *bytes_per_second = (double)n_bytes * 1e9 / (double)(best_ns > 0 ? best_ns : 1);
    qn_free(p.words);
    qn_pool_close(pool);
    return QN_OK;
}
