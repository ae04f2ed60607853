/* What the files of the CPU's fusion share. Private to backend/cpu. SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_FUSE_INT_H
#define QN_BACKEND_CPU_FUSE_INT_H

#include "backend/cpu/exec_int.h"

typedef struct qn_fuse {
    qn_exec *ex;
    const qn_graph *g;
    bool *done;       /* per op: folded into another */
    int32_t *def;     /* per value: the op that makes it */
    uint32_t *n_uses; /* per value */
    qn_blk *f32, *a8; /* per value: its block, once there is one */
    int32_t *y_norm;  /* per ADD op: the norm folded into its second operand, or -1 */
    qn_error *err;
    qn_status status;
} qn_fuse;

/* Values whose producers attention swallows are remembered here until the op is emitted. */
typedef struct qn_fuse_attention {
    qn_val q, k, v;
    qn_cpu_head_prep q_prep, k_prep;
} qn_fuse_attention;

/* ---- fuse_parts.c: ops and blocks being made, and questions about the op list ---------------------- */

/* An op of this kind with nothing set, and appending one. */
qn_cpu_op qn_fuse_blank(qn_cpu_op_kind kind, qn_rows rows);
qn_status qn_fuse_push(qn_fuse *f, const qn_cpu_op *op);

/* A new block of rows of row_bytes and, once, fixed bytes. QN_NONE: no memory; the status says so. */
qn_blk qn_fuse_block(qn_fuse *f, const char *name, const char *suffix, qn_rows rows, uint64_t row_bytes,
                     uint64_t fixed);
/* The block of value v as floats, or quantised; made when there is none yet. */
qn_blk qn_fuse_f32(qn_fuse *f, qn_val v);
qn_blk qn_fuse_a8(qn_fuse *f, qn_val v, qn_rows rows);

bool qn_fuse_wants_a8(const qn_fuse *f, const qn_weight *w);
/* The only op that reads v, looking from op `from` on; NULL: there are none or several. */
const qn_op *qn_fuse_only_user(const qn_fuse *f, qn_val v, uint32_t from, uint32_t *i_user);
/* In which forms the users of v read it. MUL_EXPERT quantises for itself, pair by pair. */
void qn_fuse_forms(const qn_fuse *f, qn_val v, bool *floats, bool *a8);
/* A value that some earlier, emitted op has made. */
bool qn_fuse_is_ready(const qn_fuse *f, qn_val v);
/* The index of r among the exec's rotary settings. r NULL: nothing is done. */
qn_status qn_fuse_rope(qn_fuse *f, const qn_rope *r, uint32_t *i_rope);

/* ---- fuse_attention.c, fuse_expert.c, fuse_life.c ---------------------------------------------------- */

/* Marks what the attention op i_op swallows, before anything is emitted. */
qn_status qn_fuse_fold_attention(qn_fuse *f, uint32_t i_op, qn_fuse_attention *in);
qn_status qn_fuse_emit_attention(qn_fuse *f, uint32_t i_op, const qn_fuse_attention *in);

qn_status qn_fuse_emit_route(qn_fuse *f, uint32_t i_op);
qn_status qn_fuse_emit_expert(qn_fuse *f, uint32_t i_op);
qn_status qn_fuse_emit_sum(qn_fuse *f, uint32_t i_op);

/* Joins row ops with the products they feed, numbers the phases, and gives every block its size and life. */
qn_status qn_fuse_lifetimes(qn_fuse *f);

#endif
