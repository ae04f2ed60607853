/* What the machine can do at best, beside what was measured. SPDX-License-Identifier: MIT */
#include "cli/bench_limits.h"

#include "cli/bench_probe.h"

#include <string.h>

/* The limits of n_threads threads, measured once. */
static qn_status limits_of(qn_bench_report *r, qn_runtime *rt, uint32_t n_threads, uint64_t read_bytes,
                           const qn_bench_limits **out, qn_error *err)
{
    for (size_t i = 0; i < r->n_limits; i++) {
        if (r->limits[i].threads == n_threads) {
            *out = &r->limits[i];
            return QN_OK;
        }
    }
    qn_bench_limits *all = qn_realloc(NULL, QN_INPUT_OWNER, r->limits, (r->n_limits + 1) * sizeof(*all));
    if (all == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for the limits");
    }
    r->limits = all;
    qn_bench_limits *l = &all[r->n_limits++];
    *l = (qn_bench_limits){.threads = n_threads};
    QN_TRY(qn_probe_read_bandwidth(n_threads, read_bytes, &l->read_bytes, err));
    for (qn_peaks p; l->n_peaks < QN_BENCH_MAX_PEAKS && qn_runtime_peaks(rt, l->n_sets, n_threads, &p, NULL) == QN_OK;
         l->n_sets++) {
        if (p.i8 > 0 || p.bf16 > 0 || p.f32 > 0) {
            l->peaks[l->n_peaks++] = p;
        }
    }
    *out = l;
    return QN_OK;
}

qn_status qn_bench_compare_with_limits(qn_bench_report *r, qn_runtime *rt, const qn_model *m, uint64_t read_per_token,
                                       qn_error *err)
{
    for (size_t i = 0; i < r->n; i++) {
        qn_bench_result *b = &r->results[i];
        const qn_bench_limits *l = NULL;
        double peak;
        QN_TRY(limits_of(r, rt, b->threads, read_per_token, &l, err));
        b->read_share = b->read_bytes / l->read_bytes;
        uint32_t rows = b->n_gen > 0 ? b->n_seqs : b->n_prompt < r->n_batch ? b->n_prompt : r->n_batch;
        if (b->mul_adds > 0 && qn_model_peak(m, rows, b->threads, &peak, NULL) == QN_OK) {
            b->peak_share = b->mul_adds / peak;
        }
    }
    return QN_OK;
}
