/* What the machine can do at best, to compare the engine with. SPDX-License-Identifier: MIT */
#ifndef QN_CLI_BENCH_PROBE_H
#define QN_CLI_BENCH_PROBE_H

#include "base/status.h"

/* Bytes per second that n_threads threads together read from a block of block_bytes (1 MiB to 1 GiB; the nearest
 * serves), taking parts of it: the best of a few runs. Of the size of a model's weights, so that a cache that holds the
 * one holds the other. n_threads >= 1. */
qn_status qn_probe_read_bandwidth(uint32_t n_threads, uint64_t block_bytes, double *bytes_per_second, qn_error *err);

#endif
