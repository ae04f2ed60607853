/* What the machine can do at best, and what share of it each test reached. SPDX-License-Identifier: MIT */
#ifndef QN_CLI_BENCH_LIMITS_H
#define QN_CLI_BENCH_LIMITS_H

#include "cli/bench_report.h"

/* Measures the limits for each number of threads among the results, into r, and sets the results' shares.
 * read_per_token: bytes of weights; 0: unknown. Run it after the tests, so that the block that is read counts neither as
 * their memory nor as their work. What cannot be measured is left out. */
qn_status qn_bench_compare_with_limits(qn_bench_report *r, qn_runtime *rt, const qn_model *m, uint64_t read_per_token,
                                       qn_error *err);

#endif
