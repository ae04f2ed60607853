/* What the processor can multiply and add at best, for the benchmark to compare with. SPDX-License-Identifier: MIT */
#include "engine/engine_int.h"

#include "base/clock.h"

#define PROBE_NS 30000000ull /* long enough for the clock and the frequency to settle */

typedef struct probe {
    uint64_t (*loop)(void);
    atomic_uint_fast64_t n;
} probe;

static qn_pass_end run_probe(void *ctx, qn_lane *lane)
{
    (void)lane;
    probe *p = ctx;
    uint64_t n = 0;
    for (uint64_t end = qn_clock_ns() + PROBE_NS; qn_clock_ns() < end;) {
        n += p->loop();
    }
    atomic_fetch_add(&p->n, n);
    return QN_PASS_DONE;
}

/* A second; 0: there is no loop. */
static double measure(qn_pool *pool, const qn_kernels *k, qn_peak_kind kind, uint32_t n_threads)
{
    probe p = {.loop = k->peak[kind]};
    if (p.loop == NULL) {
        return 0;
    }
    uint64_t begin = qn_clock_ns();
    qn_pool_run(pool, n_threads, 1, run_probe, &p);
    return (double)atomic_load(&p.n) * 1e9 / (double)(qn_clock_ns() - begin);
}

qn_status qn_model_peak(const qn_model *m, uint32_t n_rows, uint32_t n_threads, double *per_second, qn_error *err)
{
    uint32_t n_in;
    QN_NEED(m, err);
    QN_NEED(per_second, err);
    if (m->net == NULL) {
        return qn_fail(err, QN_EINVAL, "the model was opened with vocab_only");
    }
    const qn_kernels *k = &m->rt->kernels;
    const qn_mm *mm = &k->mm[qn_net_main_type(m->net, &n_in)];
    bool is_wide = mm->wide != NULL && n_rows >= k->wide_min;
    qn_peak_kind kind = mm->act == QN_ACT_F32 ? QN_PEAK_F32 : is_wide ? QN_PEAK_BF16 : QN_PEAK_I8;
    *per_second = measure(m->rt->pool, k, kind, n_threads);
    return *per_second > 0 ? QN_OK
                           : qn_fail(err, QN_EUNSUPPORTED, "kernel set '%s' has no loop that measures it", k->isa);
}

qn_status qn_runtime_peaks(qn_runtime *rt, size_t i, uint32_t n_threads, qn_peaks *out, qn_error *err)
{
    QN_NEED(rt, err);
    QN_NEED(out, err);
    const char *isa;
    bool usable;
    for (size_t k = 0; qn_kernels_known(k, &isa, &usable); k++) {
        if (!usable || i-- > 0) {
            continue;
        }
        qn_kernels own = {0}, below = {0};
        const char *previous;
        QN_TRY(qn_kernels_select(isa, &own, err));
        if (k > 0 && qn_kernels_known(k - 1, &previous, &usable) && usable) {
            QN_TRY(qn_kernels_select(previous, &below, err));
        }
        double peaks[QN_PEAK_KINDS];
        for (int kind = 0; kind < QN_PEAK_KINDS; kind++) {
            bool inherited = own.peak[kind] == below.peak[kind];
            peaks[kind] = inherited ? 0 : measure(rt->pool, &own, (qn_peak_kind)kind, n_threads);
        }
        *out = (qn_peaks){isa, peaks[QN_PEAK_I8], peaks[QN_PEAK_BF16], peaks[QN_PEAK_F32]};
        return QN_OK;
    }
    return qn_fail(err, QN_ENOTFOUND, "the machine has no more kernel sets");
}
