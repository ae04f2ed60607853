/* The memory that running a model takes, part by part. SPDX-License-Identifier: MIT */
#ifndef QN_CLI_INSPECT_MEMORY_H
#define QN_CLI_INSPECT_MEMORY_H

#include "base/json.h"
#include "cli/options.h"

#include "quern/quern.h"

#define QN_INSPECT_MAX_PARTS 64 /* more than the library has owners */

typedef struct qn_memory_plan {
    bool known;
    qn_error why; /* unless it is known */
    qn_session_options options;
    uint32_t n_threads;
    bool is_mapped; /* the file */
    struct {
        char name[32];
        uint64_t bytes;
    } parts[QN_INSPECT_MAX_PARTS];
    size_t n_parts;
    uint64_t peak_bytes; /* of the process, when all contexts are full: all parts */
} qn_memory_plan;

/* Options of a session as those of the verb say; n_ctx: of a sequence. */
void qn_inspect_session_options(const qn_options *o, uint32_t n_ctx, qn_session_options *out);

/* What `run` would hold at most with this model and these options. rt and m are as `run` would open them, but m is
 * mapped in any case: the file is not read for this. */
void qn_inspect_memory(qn_runtime *rt, qn_model *m, const qn_options *o, const qn_session_options *s,
                       qn_memory_plan *out);

void qn_inspect_memory_print(const qn_memory_plan *p);
/* An object, or null when it is not known. */
void qn_inspect_memory_json(const qn_memory_plan *p, qn_json_writer *w);

#endif
