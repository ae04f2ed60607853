/* Carries nodes from one pool to another that began as a copy of the same: what a matcher still needs of an old pool
 * goes on in a fresh one.
 * SPDX-License-Identifier: MIT */
#include "grammar/regular_int.h"

/* Marks the parts of node i, which have smaller numbers. */
static void mark_parts(const qn_rx_pool *from, uint32_t i, uint32_t *map)
{
    const qn_rx_node *x = qn_rx_at(from, i);
    switch ((qn_rx_kind)x->kind) {
    case QN_RX_K_SWITCH:
        for (uint32_t k = 0; k < x->b; k++) {
            map[qn_rx_runs(from)[x->a + k].to] = 1;
        }
        break;
    case QN_RX_K_ALT:
        for (uint32_t k = 0; k < x->b; k++) {
            map[qn_rx_kids(from)[x->a + k]] = 1;
        }
        break;
    case QN_RX_K_CAT:
        map[x->a] = map[x->b] = 1;
        break;
    case QN_RX_K_REP:
    case QN_RX_K_LCALL:
        map[x->a] = 1;
        break;
    default:
        break;
    }
}

static qn_rx carry_switch(const qn_rx_pool *from, qn_rx_pool *to, const qn_rx_node *x, const uint32_t *map)
{
    qn_rx_vec runs = {0};
    for (uint32_t k = 0; k < x->b; k++) {
        qn_rx_run r = qn_rx_runs(from)[x->a + k];
        r.to = map[r.to];
        qn_vec_add(to->budget, &to->status, &runs, &r, QN_RX_MAX_POOL, sizeof(r));
    }
    qn_rx made = to->status == QN_OK ? qn_rx_switch(to, runs.items, runs.n) : QN_RX_NEVER;
    qn_free(runs.items);
    return made;
}

static qn_rx carry_alt(const qn_rx_pool *from, qn_rx_pool *to, const qn_rx_node *x, const uint32_t *map)
{
    qn_rx_vec kids = {0};
    for (uint32_t k = 0; k < x->b; k++) {
        qn_vec_add(to->budget, &to->status, &kids, &map[qn_rx_kids(from)[x->a + k]], QN_RX_MAX_POOL, sizeof(qn_rx));
    }
    qn_rx made = to->status == QN_OK ? qn_rx_alt(to, kids.items, kids.n) : QN_RX_NEVER;
    qn_free(kids.items);
    return made;
}

static qn_rx carry_one(const qn_rx_pool *from, qn_rx_pool *to, uint32_t i, const uint32_t *map)
{
    const qn_rx_node *x = qn_rx_at(from, i);
    switch ((qn_rx_kind)x->kind) {
    case QN_RX_K_SWITCH:
        return carry_switch(from, to, x, map);
    case QN_RX_K_ALT:
        return carry_alt(from, to, x, map);
    case QN_RX_K_LIT: /* texts do not grow after compiling */
        return qn_rx_lit(to, x->a, x->b);
    case QN_RX_K_CAT:
        return qn_rx_cat(to, map[x->a], map[x->b]);
    case QN_RX_K_REP:
        return qn_rx_rep(to, map[x->a], x->b, x->c);
    case QN_RX_K_CALL:
        return qn_rx_rule_call(to, x->a);
    case QN_RX_K_LCALL:
        return qn_rx_loop_call(to, map[x->a], x->b, x->c);
    default:
        to->status = to->status != QN_OK ? to->status : QN_EUNSUPPORTED;
        return QN_RX_NEVER;
    }
}

qn_status qn_rx_carry(const qn_rx_pool *from, qn_rx_pool *to, uint32_t n_same, uint32_t *map, uint32_t n)
{
    for (uint32_t i = n; i-- > n_same;) {
        if (map[i] != 0) {
            mark_parts(from, i, map);
        }
    }
    for (uint32_t i = 0; i < n && to->status == QN_OK; i++) {
        map[i] = i < n_same ? i : map[i] == 0 ? QN_RX_NEVER : carry_one(from, to, i, map);
        to->work = 0;
    }
    return to->status;
}
