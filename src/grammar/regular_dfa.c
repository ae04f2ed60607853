/* Automata that are made whole: for AND and NOT, so that what cannot end is known and gone before any text is read; and
 * for the rounds of loops with counters.
 * SPDX-License-Identifier: MIT */
#include "grammar/regular_int.h"

#define MAX_STATES 20000u      /* of one AND or NOT */
#define MAX_LOOPS 4096u        /* searched one by one */
#define MAX_ROUND_STATES 1024u /* of the round of a loop */

typedef struct exploration {
    qn_rx_vec found; /* nodes, in the order in which they were met */
    uint32_t *numbers, n_numbers; /* hash table: number in found + 1 by node */
} exploration;

static void close_exploration(exploration *e)
{
    qn_free(e->found.items);
    qn_free(e->numbers);
}

static uint32_t *slot_of(const exploration *e, qn_rx x)
{
    uint32_t s = (x * 0x9e3779b9u) & (e->n_numbers - 1);
    while (e->numbers[s] != 0 && ((qn_rx *)e->found.items)[e->numbers[s] - 1] != x) {
        s = (s + 1) & (e->n_numbers - 1);
    }
    return &e->numbers[s];
}

static bool note(qn_rx_pool *p, exploration *e, qn_rx x, uint32_t limit)
{
    if ((e->found.n + 1) * 2 > e->n_numbers) {
        uint32_t n = e->n_numbers == 0 ? 64 : e->n_numbers * 2;
        uint32_t *fresh = qn_zalloc_array(p->budget, QN_RX_OWNER, n, sizeof(*fresh));
        if (fresh == NULL) {
            p->status = qn_alloc_failure(p->budget, (uint64_t)n * sizeof(*fresh));
            return false;
        }
        qn_free(e->numbers);
        e->numbers = fresh;
        e->n_numbers = n;
        for (uint32_t i = 0; i < e->found.n; i++) {
            *slot_of(e, ((qn_rx *)e->found.items)[i]) = i + 1;
        }
    }
    uint32_t *slot = slot_of(e, x);
    if (*slot == 0) {
        if (!qn_vec_add(p->budget, &p->status, &e->found, &x, limit, sizeof(x))) {
            return false;
        }
        *slot = e->found.n;
    }
    return true;
}

/* All nodes that x can become. With `ends_stop`, one that may end here must not go on, and none becomes x again: else
 * false, status unchanged. */
static bool explore(qn_rx_pool *p, qn_rx x, uint32_t limit, bool ends_stop, exploration *e)
{
    *e = (exploration){0};
    if (!note(p, e, x, limit)) {
        return false;
    }
    for (uint32_t i = 0; i < e->found.n; i++) {
        qn_rx at = ((qn_rx *)e->found.items)[i];
        qn_rx_head h = qn_rx_head_of(p, at);
        if (p->status != QN_OK || h.n_calls != 0 || (ends_stop && qn_rx_at(p, at)->is_null && h.n_runs != 0)) {
            return false;
        }
        for (uint32_t k = 0; k < h.n_runs; k++) {
            qn_rx to = qn_rx_runs(p)[h.first_run + k].to;
            if ((ends_stop && to == x) || !note(p, e, to, limit)) {
                return false;
            }
        }
    }
    return true;
}

/* least[i]: bytes from found[i] to an end. Backwards in rounds, each of which is one byte longer. */
static bool measure(qn_rx_pool *p, const exploration *e, uint32_t *least)
{
    const qn_rx *found = e->found.items;
    for (uint32_t i = 0; i < e->found.n; i++) {
        least[i] = qn_rx_at(p, found[i])->is_null ? 0 : UINT32_MAX;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = e->found.n; i-- > 0;) {
            qn_rx_head h = qn_rx_head_of(p, found[i]);
            for (uint32_t k = 0; k < h.n_runs; k++) {
                uint32_t behind = least[*slot_of(e, qn_rx_runs(p)[h.first_run + k].to) - 1];
                if (behind < UINT32_MAX && behind + 1 < least[i]) {
                    least[i] = behind + 1;
                    changed = true;
                }
            }
        }
    }
    return p->status == QN_OK;
}

/* Gives states[i] the head of found[i], without targets that never end. */
static bool join_states(qn_rx_pool *p, const exploration *e, const uint32_t *least, const qn_rx *states)
{
    qn_rx_vec runs = {0};
    for (uint32_t i = 0; i < e->found.n; i++) {
        if (least[i] == UINT32_MAX) {
            continue;
        }
        runs.n = 0;
        qn_rx_head h = qn_rx_head_of(p, ((qn_rx *)e->found.items)[i]);
        for (uint32_t k = 0; k < h.n_runs; k++) {
            qn_rx_run r = qn_rx_runs(p)[h.first_run + k];
            uint32_t to = *slot_of(e, r.to) - 1;
            if (least[to] != UINT32_MAX) {
                r.to = states[to];
                qn_vec_add(p->budget, &p->status, &runs, &r, 1u << 16, sizeof(r));
            }
        }
        qn_rx_set_head(p, states[i], runs.items, runs.n);
    }
    qn_free(runs.items);
    return p->status == QN_OK;
}

qn_rx qn_rx_determinise(qn_rx_pool *p, qn_rx x)
{
    exploration e;
    qn_rx made = QN_RX_NEVER;
    uint32_t *least = NULL;
    qn_rx *states = NULL;
    bool had_room = p->status == QN_OK;
    if (explore(p, x, MAX_STATES, false, &e)) {
        least = qn_zalloc_array(p->budget, QN_RX_OWNER, e.found.n, sizeof(*least));
        states = qn_zalloc_array(p->budget, QN_RX_OWNER, e.found.n, sizeof(*states));
        if (least == NULL || states == NULL) {
            p->status = qn_alloc_failure(p->budget, (uint64_t)e.found.n * sizeof(*states));
        } else if (measure(p, &e, least)) {
            for (uint32_t i = 0; i < e.found.n; i++) {
                if (least[i] != UINT32_MAX) {
                    states[i] = qn_rx_state(p, QN_RX_K_STATE, 0, 0, least[i] == 0, least[i]);
                }
            }
            made = p->status == QN_OK && join_states(p, &e, least, states) ? states[0] : QN_RX_NEVER;
        }
    }
    if (had_room && p->status == QN_EFULL && p->limit == NULL) {
        p->limit = "an intersection or a complement of it needs too many states; smaller counts in its patterns would do";
    }
    qn_free(least);
    qn_free(states);
    close_exploration(&e);
    return made;
}

/* A loop's states: one between two rounds, and one for each place within a round. */
static qn_rx make_loop(qn_rx_pool *p, const exploration *e, qn_rx x)
{
    uint32_t n = e->found.n, i_loop = p->loops.n;
    qn_rx *states = qn_zalloc_array(p->budget, QN_RX_OWNER, n, sizeof(*states));
    uint32_t *least = qn_zalloc_array(p->budget, QN_RX_OWNER, n, sizeof(*least));
    qn_rx made = QN_RX_NEVER;
    qn_rx_loop loop = {.round = x};
    if (states == NULL || least == NULL) {
        p->status = qn_alloc_failure(p->budget, (uint64_t)n * sizeof(*states));
    } else if (qn_vec_add(p->budget, &p->status, &p->loops, &loop, QN_RX_MAX_NODES, sizeof(loop))) {
        loop.start = qn_rx_state(p, QN_RX_K_LOOP, i_loop, 1, true, 0);
        for (uint32_t i = 0; i < n && p->status == QN_OK; i++) {
            qn_rx_node at = *qn_rx_at(p, ((qn_rx *)e->found.items)[i]);
            states[i] = i == 0 || at.is_null ? loop.start : qn_rx_state(p, QN_RX_K_LOOP, i_loop, 0, false, at.min_len);
            /* A place behind a round is the same as the one before it, which has a head already. */
            least[i] = i != 0 && at.is_null ? UINT32_MAX : 1;
        }
        qn_rx_vec runs = {0};
        for (uint32_t i = 0; i < n && p->status == QN_OK; i++) {
            qn_rx_head h = qn_rx_head_of(p, ((qn_rx *)e->found.items)[i]);
            runs.n = 0;
            for (uint32_t k = 0; k < h.n_runs; k++) {
                qn_rx_run r = qn_rx_runs(p)[h.first_run + k];
                r.to = states[*slot_of(e, r.to) - 1];
                qn_vec_add(p->budget, &p->status, &runs, &r, 1u << 16, sizeof(r));
            }
            if (least[i] != UINT32_MAX) {
                qn_rx_set_head(p, states[i], runs.items, runs.n);
            }
        }
        qn_free(runs.items);
        qn_rx_loops(p)[i_loop].start = loop.start;
        made = p->status == QN_OK ? loop.start : QN_RX_NEVER;
    }
    qn_free(states);
    qn_free(least);
    return made;
}

qn_rx qn_rx_loop_of(qn_rx_pool *p, qn_rx x)
{
    for (uint32_t i = 0; i < p->loops.n; i++) {
        if (qn_rx_loops(p)[i].round == x && !qn_rx_loops(p)[i].is_guarded) {
            return qn_rx_loops(p)[i].start;
        }
    }
    exploration e;
    qn_rx made = QN_RX_NEVER;
    if (p->status == QN_OK && !qn_rx_at(p, x)->is_null && p->loops.n < MAX_LOOPS) {
        if (explore(p, x, MAX_ROUND_STATES, true, &e)) {
            made = make_loop(p, &e, x);
        } else if (p->status == QN_EFULL) {
            p->status = QN_OK; /* a round of that many states is no character: it is counted in another way */
        }
        close_exploration(&e);
    }
    return made;
}
