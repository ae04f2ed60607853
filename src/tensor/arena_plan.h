/* Placing blocks with known lifetimes in one arena, so that blocks that live at the same time never overlap.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TENSOR_ARENA_PLAN_H
#define QN_TENSOR_ARENA_PLAN_H

#include "base/alloc.h"

#define QN_ARENA_ALIGN 64 /* a cache line, and the widest vector */

typedef struct qn_block {
    uint64_t bytes;
    uint32_t first, last; /* ops between which it must keep its contents, both included */
    uint64_t offset;      /* out; a multiple of QN_ARENA_ALIGN */
} qn_block;

/* Sets every offset and *total. Largest first, each at the lowest offset that is free during its whole life; for the
 * few hundred values of a model that is within some per cent of the best and takes microseconds.
 * QN_ENOMEM; QN_ERANGE: the sum of sizes does not fit in 64 bits. */
qn_status qn_arena_plan(qn_block *blocks, uint32_t n_blocks, qn_budget *b, uint64_t *total, qn_error *err);

/* True when no two blocks that live at the same time overlap: what a plan promises. */
bool qn_arena_plan_ok(const qn_block *blocks, uint32_t n_blocks);

#endif
