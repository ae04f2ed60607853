/* What the machine can do at best, to compare the engine with. SPDX-License-Identifier: MIT */
#ifndef QN_CLI_BENCH_PROBE_H
#define QN_CLI_BENCH_PROBE_H

#include "base/status.h"

/* Bytes per second that n_threads threads together read from memory, each running through its own part of a block
 * that no cache holds: the best of a few runs. n_threads >= 1. */
qn_status qn_probe_read_bandwidth(uint32_t n_threads, double *bytes_per_second, qn_error *err);

#endif
