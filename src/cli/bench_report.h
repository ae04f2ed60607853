/* Results of a benchmark, as table, JSON or CSV. SPDX-License-Identifier: MIT */
#ifndef QN_CLI_BENCH_REPORT_H
#define QN_CLI_BENCH_REPORT_H

#include "cli/bench_profile.h"
#include "cli/input.h"

typedef struct qn_bench_result {
    const char *test; /* "prefill", "decode", "mixed" */
    uint32_t n_prompt, n_gen, n_seqs, depth, threads;
    double median, min, max; /* tokens per second, prompt and made ones together */
    double read_bytes;       /* weights read per second, at the median; 0: unknown, or once for many tokens */
    double read_share;       /* of what the machine can read; 0: unknown */
    double mul_adds;         /* a second, at the median; 0: unknown */
    double peak_share;       /* of what the machine can multiply and add; 0: unknown */
    qn_bench_profile profile;
} qn_bench_result;

#define QN_BENCH_MAX_PEAKS 8 /* kernel sets that one machine has */

/* Of the machine, with so many threads. */
typedef struct qn_bench_limits {
    uint32_t threads;
    double read_bytes; /* a second */
    size_t n_sets, n_peaks;
    qn_peaks peaks[QN_BENCH_MAX_PEAKS];
} qn_bench_limits;

typedef struct qn_bench_report {
    qn_model_info info;
    const char *model_path, *isa;
    uint32_t n_batch, n_repetitions;
    uint64_t peak_memory; /* of the process, by the end of the tests */
    qn_bench_result *results;
    size_t n, cap;
    qn_bench_limits *limits;
    size_t n_limits;
} qn_bench_report;

qn_status qn_bench_report_add(qn_bench_report *r, const qn_bench_result *result, qn_error *err);
void qn_bench_report_close(qn_bench_report *r);

/* Sorts rates[0, n), n >= 1, and sets median, min and max from it. */
void qn_bench_summarize(double *rates, size_t n, qn_bench_result *out);

/* To standard output. False: it could not be written. */
bool qn_bench_print_table(const qn_bench_report *r);
bool qn_bench_print_csv(const qn_bench_report *r);
bool qn_bench_print_json(const qn_bench_report *r);

#endif
