/* Arena planning. SPDX-License-Identifier: MIT */
#include "tensor/arena_plan.h"

#include "base/checked.h"

#include <stdlib.h>

typedef struct placing {
    const qn_block *blocks; /* for the comparison functions, which take no context */
    uint32_t i_block;
} placing;

static int larger_first(const void *a, const void *b)
{
    const placing *pa = a, *pb = b;
    uint64_t x = pa->blocks[pa->i_block].bytes, y = pb->blocks[pb->i_block].bytes;
    if (x != y) {
        return x < y ? 1 : -1;
    }
    return pa->i_block < pb->i_block ? -1 : 1;
}

static bool live_together(const qn_block *a, const qn_block *b)
{
    return a->first <= b->last && b->first <= a->last;
}

static bool overlap(const qn_block *a, const qn_block *b)
{
    return a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

/* The lowest offset for block p[n] among the placed ones p[0, n), which are kept sorted by offset. */
static uint64_t lowest_gap(const qn_block *blocks, const uint32_t *placed, uint32_t n, const qn_block *block)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        const qn_block *other = &blocks[placed[i]];
        if (!live_together(block, other)) {
            continue;
        }
        if (at + block->bytes <= other->offset) {
            return at;
        }
        if (other->offset + other->bytes > at) {
            at = other->offset + other->bytes;
        }
    }
    return at;
}

qn_status qn_arena_plan(qn_block *blocks, uint32_t n_blocks, qn_budget *b, uint64_t *total, qn_error *err)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n_blocks; i++) {
        if (!qn_round_up_u64(blocks[i].bytes, QN_ARENA_ALIGN, &blocks[i].bytes) ||
            !qn_add_u64(sum, blocks[i].bytes, &sum)) {
            return qn_fail(err, QN_ERANGE, "the working memory does not fit in 64 bits");
        }
    }
    placing *order = qn_zalloc_array(b, "plan", n_blocks + 1u, sizeof(*order));
    uint32_t *placed = qn_zalloc_array(b, "plan", n_blocks + 1u, sizeof(*placed));
    if (order == NULL || placed == NULL) {
        qn_free(order);
        qn_free(placed);
        return qn_fail(err, QN_ENOMEM, "no memory to plan %u values", n_blocks);
    }
    for (uint32_t i = 0; i < n_blocks; i++) {
        order[i] = (placing){.blocks = blocks, .i_block = i};
    }
    qsort(order, n_blocks, sizeof(*order), larger_first);
    *total = 0;
    for (uint32_t n = 0; n < n_blocks; n++) {
        qn_block *block = &blocks[order[n].i_block];
        block->offset = lowest_gap(blocks, placed, n, block);
        uint32_t at = n;
        while (at > 0 && blocks[placed[at - 1]].offset > block->offset) {
            placed[at] = placed[at - 1];
            at--;
        }
        placed[at] = order[n].i_block;
        if (block->offset + block->bytes > *total) {
            *total = block->offset + block->bytes;
        }
    }
    qn_free(order);
    qn_free(placed);
    return QN_OK;
}

bool qn_arena_plan_ok(const qn_block *blocks, uint32_t n_blocks)
{
    for (uint32_t i = 0; i < n_blocks; i++) {
        for (uint32_t k = i + 1; k < n_blocks; k++) {
            if (blocks[i].bytes != 0 && blocks[k].bytes != 0 && live_together(&blocks[i], &blocks[k]) &&
                overlap(&blocks[i], &blocks[k])) {
                return false;
            }
        }
    }
    return true;
}
