/* Heads: what a node does with the next symbol. Made once for a node, from the heads of its parts.
 * SPDX-License-Identifier: MIT */
#include "grammar/regular_int.h"

#include <stdlib.h>

#define MAX_HEAD (1u << 24)

static bool add_run(qn_rx_pool *p, uint32_t lo, uint32_t hi, qn_rx to)
{
    qn_rx_run run = {(uint16_t)lo, (uint16_t)hi, to};
    return to == QN_RX_NEVER || qn_vec_add(p->budget, &p->status, &p->scratch_runs, &run, MAX_HEAD, sizeof(run));
}

static bool add_call(qn_rx_pool *p, qn_rx call, qn_rx rest)
{
    qn_rx_call one = {call, rest};
    return rest == QN_RX_NEVER || qn_vec_add(p->budget, &p->status, &p->scratch_calls, &one, MAX_HEAD, sizeof(one));
}

/* The head of x, with `rest` behind everything. */
static void add_head(qn_rx_pool *p, qn_rx x, qn_rx rest)
{
    qn_rx_head h = qn_rx_head_of(p, x);
    qn_rx_work(p, 1 + (uint64_t)h.n_runs + h.n_calls);
    for (uint32_t i = 0; i < h.n_runs && p->status == QN_OK; i++) {
        qn_rx_run r = qn_rx_runs(p)[h.first_run + i];
        add_run(p, r.lo, r.hi, qn_rx_cat(p, r.to, rest));
    }
    for (uint32_t i = 0; i < h.n_calls && p->status == QN_OK; i++) {
        qn_rx_call c = qn_rx_calls(p)[h.first_call + i];
        add_call(p, c.call, qn_rx_cat(p, c.rest, rest));
    }
}

static int by_lo(const void *x, const void *y)
{
    const qn_rx_run *a = x, *b = y;
    return a->lo < b->lo ? -1 : a->lo > b->lo ? 1 : a->to < b->to ? -1 : a->to > b->to;
}

static int by_call(const void *x, const void *y)
{
    const qn_rx_call *a = x, *b = y;
    return a->call < b->call ? -1 : a->call > b->call ? 1 : a->rest < b->rest ? -1 : a->rest > b->rest;
}

/* Puts [lo, hi] with its target behind the runs from `first` on, joined with the last one where it goes on. */
static void put_run(qn_rx_pool *p, uint32_t first, uint32_t lo, uint32_t hi, qn_rx to)
{
    qn_rx_run *last = p->runs.n > first ? &qn_rx_runs(p)[p->runs.n - 1] : NULL;
    bool over_border = lo == QN_RX_SPECIAL_SYMBOL;
    if (last != NULL && last->to == to && last->hi + 1u == lo && !over_border) {
        last->hi = (uint16_t)hi;
        return;
    }
    qn_rx_run run = {(uint16_t)lo, (uint16_t)hi, to};
    qn_vec_add(p->budget, &p->status, &p->runs, &run, MAX_HEAD, sizeof(run));
}

/* Sorted, disjoint runs out of the scratch: where several lie over each other, the target is any of theirs. */
static void settle_runs(qn_rx_pool *p, qn_rx_head *h)
{
    qn_rx_run *raw = p->scratch_runs.items;
    uint32_t n = p->scratch_runs.n;
    h->first_run = p->runs.n;
    if (n > 1) {
        qsort(raw, n, sizeof(*raw), by_lo);
    }
    qn_rx_vec targets = {0};
    uint32_t i = 0, n_open = 0, at = 0; /* raw[0, n_open) are open, kept in the part that was read already */
    while ((i < n || n_open != 0) && p->status == QN_OK) {
        if (n_open == 0) {
            at = raw[i].lo;
        }
        while (i < n && raw[i].lo == at) {
            raw[n_open++] = raw[i++];
        }
        uint32_t end = i < n ? raw[i].lo - 1u : UINT16_MAX;
        if (!qn_rx_work(p, n_open)) {
            break;
        }
        targets.n = 0;
        for (uint32_t k = 0; k < n_open; k++) {
            end = raw[k].hi < end ? raw[k].hi : end;
            if (!qn_vec_add(p->budget, &p->status, &targets, &raw[k].to, MAX_HEAD, sizeof(qn_rx))) {
                break;
            }
        }
        qn_rx to = targets.n == 1 ? *(qn_rx *)targets.items : qn_rx_alt(p, targets.items, targets.n);
        put_run(p, h->first_run, at, end, to);
        uint32_t n_kept = 0;
        for (uint32_t k = 0; k < n_open; k++) {
            if (raw[k].hi > end) {
                raw[n_kept++] = raw[k];
            }
        }
        n_open = n_kept;
        at = end + 1;
    }
    qn_free(targets.items);
    h->n_runs = p->runs.n - h->first_run;
}

static void settle_calls(qn_rx_pool *p, qn_rx_head *h)
{
    qn_rx_call *raw = p->scratch_calls.items;
    uint32_t n = p->scratch_calls.n;
    h->first_call = p->calls.n;
    if (n > 1) {
        qsort(raw, n, sizeof(*raw), by_call);
    }
    for (uint32_t i = 0; i < n && p->status == QN_OK;) {
        qn_rx_vec rests = {0};
        uint32_t k = i;
        for (; k < n && raw[k].call == raw[i].call; k++) {
            if (!qn_vec_add(p->budget, &p->status, &rests, &raw[k].rest, MAX_HEAD, sizeof(qn_rx))) {
                break;
            }
        }
        qn_rx_call one = {raw[i].call, qn_rx_alt(p, rests.items, rests.n)};
        qn_free(rests.items);
        qn_vec_add(p->budget, &p->status, &p->calls, &one, MAX_HEAD, sizeof(one));
        i = k;
    }
    h->n_calls = p->calls.n - h->first_call;
}

/* Makes the heads of the nodes that x's head is made of, before the scratch is used. */
static void prepare(qn_rx_pool *p, qn_rx x)
{
    qn_rx_node n = *qn_rx_at(p, x);
    if (n.kind == QN_RX_K_CAT) {
        for (;;) {
            qn_rx_head_of(p, n.a);
            if (!qn_rx_at(p, n.a)->is_null || p->status != QN_OK) {
                return;
            }
            if (qn_rx_at(p, n.b)->kind != QN_RX_K_CAT) {
                qn_rx_head_of(p, n.b);
                return;
            }
            n = *qn_rx_at(p, n.b);
        }
    }
    if (n.kind == QN_RX_K_ALT) {
        for (uint32_t i = 0; i < n.b && p->status == QN_OK; i++) {
            qn_rx_head_of(p, qn_rx_kids(p)[n.a + i]);
        }
    } else if (n.kind == QN_RX_K_REP || n.kind == QN_RX_K_NOT || n.kind == QN_RX_K_AND) {
        qn_rx_head_of(p, n.a);
        if (n.kind == QN_RX_K_AND) {
            qn_rx_head_of(p, n.b);
        }
    }
}

static void gather_and(qn_rx_pool *p, qn_rx_node n)
{
    qn_rx_head x = qn_rx_head_of(p, n.a), y = qn_rx_head_of(p, n.b);
    for (uint32_t i = 0, k = 0; i < x.n_runs && k < y.n_runs && p->status == QN_OK;) {
        qn_rx_run r = qn_rx_runs(p)[x.first_run + i], s = qn_rx_runs(p)[y.first_run + k];
        uint32_t lo = r.lo > s.lo ? r.lo : s.lo, hi = r.hi < s.hi ? r.hi : s.hi;
        if (lo <= hi) {
            add_run(p, lo, hi, qn_rx_and(p, r.to, s.to));
        }
        i += r.hi <= s.hi;
        k += s.hi <= r.hi;
    }
}

static void gather_not(qn_rx_pool *p, qn_rx_node n)
{
    qn_rx_head x = qn_rx_head_of(p, n.a);
    qn_rx all = qn_rx_not(p, QN_RX_NEVER);
    uint32_t at = 0;
    for (uint32_t i = 0; i < x.n_runs && p->status == QN_OK; i++) {
        qn_rx_run r = qn_rx_runs(p)[x.first_run + i];
        if (r.lo > at) {
            add_run(p, at, r.lo - 1u, all);
        }
        add_run(p, r.lo, r.hi, qn_rx_not(p, r.to));
        at = r.hi + 1u;
    }
    if (at < QN_RX_SPECIAL_SYMBOL) {
        add_run(p, at, QN_RX_SPECIAL_SYMBOL - 1, all);
    }
}

static void gather_cat(qn_rx_pool *p, qn_rx_node n)
{
    for (;;) {
        add_head(p, n.a, n.b);
        if (!qn_rx_at(p, n.a)->is_null || p->status != QN_OK) {
            return;
        }
        if (qn_rx_at(p, n.b)->kind != QN_RX_K_CAT) {
            add_head(p, n.b, QN_RX_EPS);
            return;
        }
        n = *qn_rx_at(p, n.b);
    }
}

static void gather(qn_rx_pool *p, qn_rx x)
{
    qn_rx_node n = *qn_rx_at(p, x);
    switch ((qn_rx_kind)n.kind) {
    case QN_RX_K_LIT: {
        unsigned char c = ((unsigned char *)p->text.items)[n.a];
        add_run(p, c, c, qn_rx_lit(p, n.a + 1, n.b - 1));
        break;
    }
    case QN_RX_K_CAT:
        gather_cat(p, n);
        break;
    case QN_RX_K_ALT:
        for (uint32_t i = 0; i < n.b && p->status == QN_OK; i++) {
            add_head(p, qn_rx_kids(p)[n.a + i], QN_RX_EPS);
        }
        break;
    case QN_RX_K_REP:
        add_head(p, n.a, qn_rx_rep(p, n.a, n.b == 0 ? 0 : n.b - 1, n.c == QN_GX_NO_MAX ? n.c : n.c - 1));
        break;
    case QN_RX_K_CALL:
    case QN_RX_K_LCALL:
        add_call(p, x, QN_RX_EPS);
        break;
    case QN_RX_K_AND:
        gather_and(p, n);
        break;
    case QN_RX_K_NOT:
        gather_not(p, n);
        break;
    case QN_RX_K_NEVER:
    case QN_RX_K_EPS:
    case QN_RX_K_SWITCH:
    case QN_RX_K_STATE:
    case QN_RX_K_LOOP:
    case QN_RX_K_GLOOP:
    case QN_RX_K_PAIR:
        break;
    }
}

qn_rx_head qn_rx_head_of(qn_rx_pool *p, qn_rx x)
{
    const qn_rx_node *n = qn_rx_at(p, x);
    if (p->status != QN_OK) {
        return (qn_rx_head){0};
    }
    if (n->head != 0) {
        return ((qn_rx_head *)p->heads.items)[n->head - 1];
    }
    if (n->kind == QN_RX_K_SWITCH) {
        return (qn_rx_head){.first_run = n->a, .n_runs = n->b};
    }
    if (n->kind == QN_RX_K_NEVER || n->kind == QN_RX_K_EPS || n->kind == QN_RX_K_GLOOP) {
        return (qn_rx_head){0};
    }
    prepare(p, x);
    p->scratch_runs.n = p->scratch_calls.n = 0;
    gather(p, x);
    qn_rx_head h = {0};
    settle_runs(p, &h);
    settle_calls(p, &h);
    if (!qn_vec_add(p->budget, &p->status, &p->heads, &h, MAX_HEAD, sizeof(h))) {
        return (qn_rx_head){0};
    }
    qn_rx_at(p, x)->head = p->heads.n;
    return h;
}

qn_rx qn_rx_step(qn_rx_pool *p, qn_rx x, uint32_t symbol)
{
    qn_rx_head h = qn_rx_head_of(p, x);
    const qn_rx_run *runs = qn_rx_runs(p) + h.first_run;
    uint32_t low = 0, high = h.n_runs;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (runs[middle].hi < symbol) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < h.n_runs && runs[low].lo <= symbol ? runs[low].to : QN_RX_NEVER;
}
