/* Where a test's time went, by kind of op. SPDX-License-Identifier: MIT */
#ifndef QN_CLI_BENCH_PROFILE_H
#define QN_CLI_BENCH_PROFILE_H

#include "cli/report.h"

#define QN_BENCH_MAX_PROFILE 40 /* kinds of ops, and waiting; as many as a session may list */

typedef struct qn_bench_profile {
    qn_profile_entry entries[QN_BENCH_MAX_PROFILE]; /* most time first */
    size_t n;
} qn_bench_profile;

/* What s measured; n is 0 when it was opened without. */
void qn_bench_profile_read(const qn_session *s, qn_bench_profile *out);
/* A block of lines, or the member "profile" of the open object. Nothing for an empty profile. */
void qn_bench_profile_print(const qn_bench_profile *p);
void qn_bench_profile_json(qn_json_writer *w, const qn_bench_profile *p);

#endif
