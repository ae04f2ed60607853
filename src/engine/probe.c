/* What the kernels could reach at best on this machine, for the benchmark to compare with. SPDX-License-Identifier: MIT
 */
#include "engine/engine_int.h"

#include "base/clock.h"

#define PROBE_NS 50000000ull /* long enough for the clock and the frequency to settle */
#define PROBE_COLUMNS 32u    /* with PROBE_K: activations and a panel stay in the innermost caches */
#define PROBE_K 1024u        /* a multiple of every block */

typedef struct probe {
    const qn_mm *mm;
    size_t n_k, x_bytes;
    uint8_t *memory; /* of all threads */
    size_t stride, at_panel, at_y;
    atomic_uint_fast64_t n_calls;
} probe;

/* Zeros serve: these kernels take the same time for any values. */
static void run_probe(void *ctx, uint32_t i_thread, uint32_t n_threads)
{
    (void)n_threads;
    probe *p = ctx;
    uint8_t *mine = p->memory + i_thread * p->stride;
    float *y = (float *)(void *)(mine + p->at_y);
    uint64_t n = 0;
    for (uint64_t end = qn_clock_ns() + PROBE_NS; qn_clock_ns() < end; n++) {
        p->mm->panel(mine + p->at_panel, p->mm->panel_rows, p->n_k, mine, p->x_bytes, PROBE_COLUMNS, y,
                     p->mm->panel_rows);
    }
    atomic_fetch_add(&p->n_calls, n);
}

static size_t round64(size_t n)
{
    return (n + 63) / 64 * 64;
}

qn_status qn_model_kernel_peak(const qn_model *m, uint32_t n_threads, double *per_second, qn_error *err)
{
    uint32_t n_in;
    QN_NEED(m, err);
    QN_NEED(per_second, err);
    if (m->net == NULL) {
        return qn_fail(err, QN_EINVAL, "the model was opened with vocab_only");
    }
    const qn_mm *mm = &m->rt->kernels.mm[qn_net_main_type(m->net, &n_in)];
    if (mm->panel_rows == 0) {
        return qn_fail(err, QN_EUNSUPPORTED, "kernel set '%s' has no kernel for many columns", m->rt->kernels.isa);
    }
    n_threads = n_threads == 0 ? qn_pool_threads(m->rt->pool) : n_threads;
    probe p = {.mm = mm, .n_k = PROBE_K};
    p.x_bytes = mm->act == QN_ACT_A8 ? qn_a8_bytes(p.n_k) : p.n_k * sizeof(float);
    p.at_panel = round64(PROBE_COLUMNS * p.x_bytes);
    p.at_y = p.at_panel + round64(mm->panel_bytes(p.n_k));
    p.stride = p.at_y + round64(PROBE_COLUMNS * mm->panel_rows * sizeof(float));
    p.memory = qn_zalloc_array(m->rt->budget, "probe", n_threads, p.stride);
    if (p.memory == NULL) {
        qn_status status = qn_fail(err, QN_ENOMEM, "no memory to measure %u threads", n_threads);
        return qn_blame_ceiling(m->rt->budget, status, err);
    }
    uint64_t begin = qn_clock_ns();
    qn_pool_run(m->rt->pool, n_threads, run_probe, &p);
    double seconds = (double)(qn_clock_ns() - begin) * 1e-9;
    double per_call = (double)p.n_k * mm->panel_rows * PROBE_COLUMNS;
    *per_second = (double)atomic_load(&p.n_calls) * per_call / seconds;
    qn_free(p.memory);
    return QN_OK;
}
