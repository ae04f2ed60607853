/* One interface for every device: a backend compiles an op list into a plan with fixed memory and runs steps on it.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_BACKEND_H
#define QN_BACKEND_BACKEND_H

#include "base/buf.h"
#include "base/pool.h"
#include "tensor/arena_plan.h"
#include "tensor/graph.h"
#include "tensor/step.h"

#include <stdatomic.h>

typedef struct qn_backend qn_backend;
typedef struct qn_exec qn_exec; /* a compiled op list with its arena; one step at a time */

/* The largest step that a plan has to take. */
typedef struct qn_exec_limits {
    uint32_t n_rows, n_seqs, n_ctx;
    uint32_t n_out;     /* rows that one call of run_head takes */
    uint32_t n_threads; /* 0: all of the pool */
    bool profile;
} qn_exec_limits;

typedef struct qn_backend_ops {
    const char *name;

    /* Fuses, plans and reserves everything that steps need. The graph is read only during the call; the weights, ropes
     * and the KV layout that it names must outlive the plan. QN_ENOMEM, QN_EBUDGET, QN_EUNSUPPORTED (names op or type).
     */
    qn_status (*compile)(qn_backend *be, const qn_graph *g, const qn_exec_limits *lim, qn_exec **out, qn_error *err);
    void (*exec_free)(qn_exec *ex); /* NULL is allowed */

    /* Runs the op list up to QN_OP_PICK. Allocates nothing. QN_EABORTED: *stop was set; the KV pages of this step's
     * positions hold anything, everything else is as before. */
    qn_status (*run_body)(qn_exec *ex, const qn_step_rows *step, const atomic_bool *stop);
    /* After run_body() of the same step: the logits of out rows [first, first + n), n <= limits.n_out, row after row.
     */
    qn_status (*run_head)(qn_exec *ex, const qn_step_rows *step, uint32_t first, uint32_t n, float *logits,
                          const atomic_bool *stop);

    /* What was planned: one line an op, and the blocks of the arena with their names. For people and tests. */
    uint32_t (*n_ops)(const qn_exec *ex);
    void (*describe_op)(const qn_exec *ex, uint32_t i, qn_buf *out);
    uint32_t (*n_blocks)(const qn_exec *ex);
    const qn_block *(*block)(const qn_exec *ex, uint32_t i, const char **name);
    uint64_t (*arena_bytes)(const qn_exec *ex);

    /* With limits.profile: as qn_session_profile() and qn_session_profile_reset(), not while a step runs. */
    bool (*profile)(const qn_exec *ex, uint32_t i, qn_profile_entry *out);
    void (*profile_reset)(qn_exec *ex);

    void (*close)(qn_backend *be);
} qn_backend_ops;

struct qn_backend {
    const qn_backend_ops *ops;
};

#endif
