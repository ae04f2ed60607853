/* Makers of nodes, each in its simplest form.
 * SPDX-License-Identifier: MIT */
#include "grammar/regular_int.h"

#include <stdlib.h>

static qn_rx intern_plain(qn_rx_pool *p, qn_rx_node x)
{
    bool is_new;
    return qn_rx_intern(p, &x, &is_new);
}

qn_rx qn_rx_switch(qn_rx_pool *p, const qn_rx_run *runs, uint32_t n)
{
    if (n == 0 || !qn_rx_room(p, &p->runs, n, sizeof(*runs))) {
        return QN_RX_NEVER;
    }
    qn_rx_node x = {.kind = QN_RX_K_SWITCH, .a = p->runs.n, .b = n, .min_len = UINT32_MAX};
    memcpy(qn_rx_runs(p) + p->runs.n, runs, n * sizeof(*runs));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t rest = qn_len_add(1, qn_rx_at(p, runs[i].to)->min_len);
        x.min_len = rest < x.min_len ? rest : x.min_len;
    }
    p->runs.n += n;
    bool is_new;
    qn_rx made = qn_rx_intern(p, &x, &is_new);
    p->runs.n -= is_new ? 0 : n;
    return made;
}

qn_rx qn_rx_lit(qn_rx_pool *p, uint32_t first, uint32_t n)
{
    return n == 0 ? QN_RX_EPS : intern_plain(p, (qn_rx_node){.kind = QN_RX_K_LIT, .a = first, .b = n, .min_len = n});
}

static qn_rx cat_two(qn_rx_pool *p, qn_rx a, qn_rx b)
{
    if (a == QN_RX_NEVER || b == QN_RX_NEVER || p->status != QN_OK) {
        return QN_RX_NEVER;
    }
    if (a == QN_RX_EPS || b == QN_RX_EPS) {
        return a == QN_RX_EPS ? b : a;
    }
    const qn_rx_node *x = qn_rx_at(p, a), *y = qn_rx_at(p, b);
    uint16_t depth = x->depth + 1 > y->depth ? x->depth + 1 : y->depth;
    return intern_plain(p, (qn_rx_node){.kind = QN_RX_K_CAT, .a = a, .b = b, .is_null = x->is_null && y->is_null,
                                        .depth = depth, .min_len = qn_len_add(x->min_len, y->min_len)});
}

qn_rx qn_rx_cat(qn_rx_pool *p, qn_rx a, qn_rx b)
{
    if (p->status != QN_OK || qn_rx_at(p, a)->kind != QN_RX_K_CAT || b == QN_RX_EPS) {
        return cat_two(p, a, b);
    }
    qn_rx_vec *spine = &p->scratch_spine;
    spine->n = 0;
    for (; qn_rx_at(p, a)->kind == QN_RX_K_CAT; a = qn_rx_at(p, a)->b) {
        if (!qn_vec_add(p->budget, &p->status, spine, &qn_rx_at(p, a)->a, QN_RX_MAX_POOL, sizeof(qn_rx))) {
            return QN_RX_NEVER;
        }
    }
    qn_rx_work(p, spine->n);
    b = cat_two(p, a, b);
    for (uint32_t i = spine->n; i-- > 0;) {
        b = cat_two(p, ((qn_rx *)spine->items)[i], b);
    }
    return b;
}

static int by_number(const void *x, const void *y)
{
    qn_rx a = *(const qn_rx *)x, b = *(const qn_rx *)y;
    return a < b ? -1 : a > b;
}

/* The kids of an ALT: without those of ALTs in them, sorted, each once, and no empty text beside one that matches it. */
static uint32_t tidy_kids(qn_rx_pool *p, const qn_rx *kids, uint32_t n)
{
    qn_rx_vec *out = &p->scratch_kids;
    out->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        const qn_rx_node *x = qn_rx_at(p, kids[i]);
        uint32_t n_of_it = x->kind == QN_RX_K_ALT ? x->b : kids[i] == QN_RX_NEVER ? 0 : 1;
        if (!qn_rx_work(p, n_of_it) || !qn_rx_room(p, out, n_of_it, sizeof(qn_rx))) {
            return 0;
        }
        if (n_of_it != 0) {
            memcpy((qn_rx *)out->items + out->n, x->kind == QN_RX_K_ALT ? qn_rx_kids(p) + x->a : &kids[i],
                   n_of_it * sizeof(qn_rx));
        }
        out->n += n_of_it;
    }
    qn_rx *own = out->items;
    if (out->n > 1) {
        qsort(own, out->n, sizeof(*own), by_number);
    }
    uint32_t n_kept = 0;
    bool other_is_null = false;
    for (uint32_t i = 0; i < out->n; i++) {
        if (n_kept == 0 || own[n_kept - 1] != own[i]) {
            own[n_kept++] = own[i];
            other_is_null |= own[i] != QN_RX_EPS && qn_rx_at(p, own[i])->is_null;
        }
    }
    if (n_kept > 1 && own[0] == QN_RX_EPS && other_is_null) {
        memmove(own, own + 1, --n_kept * sizeof(*own));
    }
    return n_kept;
}

qn_rx qn_rx_alt(qn_rx_pool *p, const qn_rx *kids, uint32_t n)
{
    uint32_t n_kept = p->status == QN_OK ? tidy_kids(p, kids, n) : 0;
    const qn_rx *own = p->scratch_kids.items;
    if (p->status != QN_OK || n_kept < 2) {
        return p->status != QN_OK || n_kept == 0 ? QN_RX_NEVER : own[0];
    }
    if (!qn_rx_room(p, &p->kids, n_kept, sizeof(*own))) {
        return QN_RX_NEVER;
    }
    qn_rx_node x = {.kind = QN_RX_K_ALT, .a = p->kids.n, .b = n_kept, .min_len = UINT32_MAX};
    memcpy(qn_rx_kids(p) + p->kids.n, own, n_kept * sizeof(*own));
    for (uint32_t i = 0; i < n_kept; i++) {
        const qn_rx_node *kid = qn_rx_at(p, own[i]);
        x.is_null |= kid->is_null;
        x.min_len = kid->min_len < x.min_len ? kid->min_len : x.min_len;
        x.depth = kid->depth + 1 > x.depth ? kid->depth + 1 : x.depth;
    }
    p->kids.n += n_kept;
    bool is_new;
    qn_rx made = qn_rx_intern(p, &x, &is_new);
    p->kids.n -= is_new ? 0 : n_kept;
    return made;
}

qn_rx qn_rx_rep(qn_rx_pool *p, qn_rx x, uint32_t min, uint32_t max)
{
    if (p->status != QN_OK) {
        return QN_RX_NEVER;
    }
    if (max == 0 || x == QN_RX_EPS || (x == QN_RX_NEVER && min == 0)) {
        return QN_RX_EPS;
    }
    if (x == QN_RX_NEVER || (min == 1 && max == 1)) {
        return x;
    }
    const qn_rx_node *y = qn_rx_at(p, x);
    min = y->is_null ? 0 : min;
    return intern_plain(p, (qn_rx_node){.kind = QN_RX_K_REP, .a = x, .b = min, .c = max, .is_null = min == 0,
                                        .depth = y->depth + 1, .min_len = qn_len_mul(y->min_len, min)});
}

qn_rx qn_rx_rule_call(qn_rx_pool *p, uint32_t rule)
{
    uint32_t min_len = qn_rx_rules(p)[rule].min_len;
    return min_len == UINT32_MAX ? QN_RX_NEVER
                                 : intern_plain(p, (qn_rx_node){.kind = QN_RX_K_CALL, .a = rule, .min_len = min_len,
                                                                .is_null = min_len == 0});
}

qn_rx qn_rx_loop_call(qn_rx_pool *p, qn_rx start, uint32_t min, uint32_t max)
{
    if (p->status != QN_OK || max == 0) {
        return p->status != QN_OK ? QN_RX_NEVER : QN_RX_EPS;
    }
    const qn_rx_node *x = qn_rx_at(p, start);
    bool is_loop = x->kind == QN_RX_K_LOOP;
    uint32_t of_one = is_loop ? qn_rx_at(p, qn_rx_loops(p)[x->a].round)->min_len : qn_rx_rules(p)[x->a].min_len;
    if (of_one == UINT32_MAX) {
        return min == 0 ? QN_RX_EPS : QN_RX_NEVER;
    }
    min = of_one == 0 ? 0 : min;
    uint32_t least = is_loop ? qn_rx_rounds(p, start, min) : min;
    if (least > max || least == UINT32_MAX) {
        return QN_RX_NEVER;
    }
    uint32_t min_len = qn_len_mul(of_one, least);
    if (is_loop && qn_rx_loops(p)[x->a].is_guarded) {
        uint64_t bytes = qn_rx_loop_bytes(p, start, min, max);
        min_len = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
    }
    return intern_plain(p, (qn_rx_node){.kind = QN_RX_K_LCALL, .a = start, .b = min, .c = max, .is_null = least == 0,
                                        .min_len = min_len});
}

qn_rx qn_rx_pair(qn_rx_pool *p, qn_rx guard, qn_rx round)
{
    return intern_plain(p, (qn_rx_node){.kind = QN_RX_K_PAIR, .a = guard, .b = round});
}

qn_rx qn_rx_gloop(qn_rx_pool *p, uint32_t rule)
{
    return intern_plain(p, (qn_rx_node){.kind = QN_RX_K_GLOOP, .a = rule});
}

qn_rx qn_rx_not(qn_rx_pool *p, qn_rx a)
{
    if (p->status != QN_OK) {
        return QN_RX_NEVER;
    }
    const qn_rx_node *x = qn_rx_at(p, a);
    if (x->kind == QN_RX_K_NOT) {
        return x->a;
    }
    return intern_plain(p, (qn_rx_node){.kind = QN_RX_K_NOT, .a = a, .is_null = !x->is_null, .depth = x->depth + 1,
                                        .min_len = x->is_null ? 1 : 0});
}

qn_rx qn_rx_and(qn_rx_pool *p, qn_rx a, qn_rx b)
{
    if (p->status != QN_OK || a == QN_RX_NEVER || b == QN_RX_NEVER) {
        return QN_RX_NEVER;
    }
    if (a > b) {
        qn_rx larger = a;
        a = b;
        b = larger;
    }
    const qn_rx_node *x = qn_rx_at(p, a), *y = qn_rx_at(p, b);
    bool x_is_all = x->kind == QN_RX_K_NOT && x->a == QN_RX_NEVER, y_is_all = y->kind == QN_RX_K_NOT && y->a == QN_RX_NEVER;
    if (a == b || x_is_all || y_is_all) {
        return x_is_all ? b : a;
    }
    return intern_plain(p, (qn_rx_node){.kind = QN_RX_K_AND, .a = a, .b = b, .is_null = x->is_null && y->is_null,
                                        .depth = 1 + (x->depth > y->depth ? x->depth : y->depth),
                                        .min_len = x->min_len > y->min_len ? x->min_len : y->min_len});
}

qn_rx qn_rx_state(qn_rx_pool *p, qn_rx_kind kind, uint32_t a, uint32_t b, bool is_null, uint32_t min_len)
{
    return intern_plain(p, (qn_rx_node){.kind = (uint8_t)kind, .a = a, .b = b, .c = ++p->n_states, .is_null = is_null,
                                        .min_len = min_len});
}

void qn_rx_set_head(qn_rx_pool *p, qn_rx x, const qn_rx_run *runs, uint32_t n)
{
    if (!qn_rx_room(p, &p->runs, n, sizeof(*runs)) || !qn_rx_room(p, &p->heads, 1, sizeof(qn_rx_head))) {
        return;
    }
    if (n != 0) {
        memcpy(qn_rx_runs(p) + p->runs.n, runs, n * sizeof(*runs));
    }
    ((qn_rx_head *)p->heads.items)[p->heads.n++] = (qn_rx_head){.first_run = p->runs.n, .n_runs = n};
    p->runs.n += n;
    qn_rx_at(p, x)->head = p->heads.n;
}
