/* Which rules' bodies are small enough to be put in place of calls.
 * SPDX-License-Identifier: MIT */
#include "grammar/automaton_int.h"

#define MAX_INLINE 12 /* nodes */
#define MAX_COPIES 8  /* of what is repeated */
#define MAX_BYTES 32  /* of a literal */
#define MAX_RUNS 8    /* of a character */

/* Whether x is small enough to stand wherever its rule is called; *left is what it may still cost. */
static bool is_small(const qn_rx_pool *rx, qn_rx x, uint32_t *left)
{
    const qn_rx_node *n = qn_rx_at(rx, x);
    if (*left == 0) {
        return false;
    }
    --*left;
    switch ((qn_rx_kind)n->kind) {
    case QN_RX_K_NEVER:
    case QN_RX_K_EPS:
        return true;
    case QN_RX_K_LIT:
        return n->b <= MAX_BYTES;
    case QN_RX_K_SWITCH:
        for (uint32_t i = 0; i < n->b; i++) {
            if (qn_rx_runs(rx)[n->a + i].to != QN_RX_EPS) {
                return false;
            }
        }
        return n->b <= MAX_RUNS;
    case QN_RX_K_CAT:
        return is_small(rx, n->a, left) && is_small(rx, n->b, left);
    case QN_RX_K_ALT:
        for (uint32_t i = 0; i < n->b; i++) {
            if (!is_small(rx, qn_rx_kids(rx)[n->a + i], left)) {
                return false;
            }
        }
        return true;
    case QN_RX_K_REP:
        return n->c <= MAX_COPIES && is_small(rx, n->a, left);
    default:
        return false;
    }
}

bool qn_rx_is_small(const qn_rx_pool *rx, qn_rx x)
{
    uint32_t left = MAX_INLINE;
    return is_small(rx, x, &left);
}
