/* Guarded loops: a number of rounds whose text a guard matches as well, such as a string with a pattern and a length.
 * Counters stay out of the states: a state is a place in the guard and a place in a round. Which numbers of rounds lead
 * from a state to an end is found out here: the sets of states from which k rounds do, for k = 0, 1, 2, ... until a set
 * comes back.
 * SPDX-License-Identifier: MIT */
#include "grammar/regular_int.h"

#define MAX_STATES 8192u
#define MAX_LENGTHS 4096u
#define MAX_CELLS (1u << 24)  /* of the table of states and numbers of rounds */
#define MAX_WORK (1u << 28)   /* edges looked at */
#define EDGES_A_PART 16       /* edges that take as long as what qn_rx_work() counts */

typedef struct edge {
    uint16_t lo, hi;
    uint32_t to;
} edge;

typedef struct maker {
    qn_rx_pool *p;
    qn_rx x;
    qn_rx_vec pairs;        /* nodes */
    qn_rx_vec edges, firsts; /* firsts[i]: where the edges of pair i begin */
    uint32_t *slots, n_slots;
    uint8_t *sets; /* sets[k * pairs.n + i]: k rounds lead from pair i to an end */
    uint32_t n_sets, period;
} maker;

static uint32_t *slot_of(const maker *m, qn_rx pair)
{
    uint32_t s = (pair * 0x9e3779b9u) & (m->n_slots - 1);
    while (m->slots[s] != 0 && ((qn_rx *)m->pairs.items)[m->slots[s] - 1] != pair) {
        s = (s + 1) & (m->n_slots - 1);
    }
    return &m->slots[s];
}

/* The number of a pair, found or made. */
static uint32_t number_of(maker *m, qn_rx guard, qn_rx round)
{
    qn_rx pair = qn_rx_pair(m->p, guard, round);
    uint32_t *slot = slot_of(m, pair);
    if (*slot == 0 && qn_vec_add(m->p->budget, &m->p->status, &m->pairs, &pair, MAX_STATES, sizeof(pair))) {
        *slot = m->pairs.n;
    }
    return *slot == 0 ? 0 : *slot - 1;
}

static void add_edges(maker *m, qn_rx_node pair)
{
    qn_rx_pool *p = m->p;
    qn_rx_head g = qn_rx_head_of(p, pair.a), x = qn_rx_head_of(p, pair.b);
    for (uint32_t i = 0, k = 0; i < g.n_runs && k < x.n_runs && p->status == QN_OK;) {
        qn_rx_run r = qn_rx_runs(p)[g.first_run + i], s = qn_rx_runs(p)[x.first_run + k];
        edge e = {r.lo > s.lo ? r.lo : s.lo, r.hi < s.hi ? r.hi : s.hi, 0};
        if (e.lo <= e.hi) {
            e.to = number_of(m, r.to, qn_rx_at(p, s.to)->is_null ? m->x : s.to);
            qn_vec_add(p->budget, &p->status, &m->edges, &e, MAX_CELLS, sizeof(e));
        }
        i += r.hi <= s.hi;
        k += s.hi <= r.hi;
    }
}

static bool explore(maker *m, qn_rx guard)
{
    qn_rx_pool *p = m->p;
    m->n_slots = MAX_STATES * 2;
    m->slots = qn_zalloc_array(p->budget, QN_RX_OWNER, m->n_slots, sizeof(*m->slots));
    if (m->slots == NULL) {
        p->status = qn_alloc_failure(p->budget, m->n_slots * sizeof(*m->slots));
        return false;
    }
    number_of(m, guard, m->x);
    for (uint32_t i = 0; i <= m->pairs.n && p->status == QN_OK; i++) {
        qn_vec_add(p->budget, &p->status, &m->firsts, &m->edges.n, MAX_STATES + 1, sizeof(uint32_t));
        if (i < m->pairs.n) {
            add_edges(m, *qn_rx_at(p, ((qn_rx *)m->pairs.items)[i]));
        }
    }
    return p->status == QN_OK;
}

static bool is_between(const maker *m, uint32_t i) { return qn_rx_at(m->p, ((qn_rx *)m->pairs.items)[i])->b == m->x; }

/* One more set, out of the one before. Within a round the number stays, so that takes some passes. */
static bool next_set(maker *m, uint64_t *work)
{
    uint32_t n = m->pairs.n;
    uint8_t *set = m->sets + (size_t)m->n_sets * n;
    const uint8_t *before = set - n;
    const uint32_t *firsts = m->firsts.items;
    const edge *edges = m->edges.items;
    for (bool changed = true; changed && *work < MAX_WORK;) {
        changed = false;
        for (uint32_t i = n; i-- > 0;) {
            bool leads = set[i];
            for (uint32_t k = firsts[i]; k < firsts[i + 1] && !leads; k++) {
                leads = is_between(m, edges[k].to) ? before[edges[k].to] : set[edges[k].to];
            }
            *work += firsts[i + 1] - firsts[i] + 1;
            changed |= leads && !set[i];
            set[i] = leads;
        }
    }
    m->n_sets++;
    return *work < MAX_WORK;
}

/* All sets up to one that was there before, or of as many rounds as may be. */
static bool make_sets(maker *m, uint32_t max)
{
    qn_rx_pool *p = m->p;
    uint32_t n = m->pairs.n, cap = MAX_CELLS / n < MAX_LENGTHS ? MAX_CELLS / n : MAX_LENGTHS;
    bool is_open = max >= cap;
    cap = is_open ? cap : max + 1;
    m->sets = qn_zalloc_array(p->budget, QN_RX_OWNER, cap, n); /* pages that are not reached take no memory */
    if (m->sets == NULL) {
        p->status = qn_alloc_failure(p->budget, (uint64_t)cap * n);
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        m->sets[i] = is_between(m, i) && qn_rx_at(p, qn_rx_at(p, ((qn_rx *)m->pairs.items)[i])->a)->is_null;
    }
    m->n_sets = 1;
    uint64_t work = 0;
    while (m->n_sets < cap) {
        uint64_t before = work;
        /* The work of all guards of a grammar together is bounded too. */
        if (!next_set(m, &work) || !qn_rx_work(p, (work - before) / EDGES_A_PART)) {
            qn_rx_full(p, "a length beside a pattern takes too long; a simpler pattern, or a smaller bound, would do");
            return false;
        }
        const uint8_t *last = m->sets + (size_t)(m->n_sets - 1) * n;
        for (uint32_t k = m->n_sets - 1; k-- > 0;) {
            if (memcmp(m->sets + (size_t)k * n, last, n) == 0) {
                m->n_sets--;
                m->period = m->n_sets - k;
                return true;
            }
        }
        work += (uint64_t)m->n_sets * 8;
    }
    if (is_open) { /* longer texts would be judged by what is not known */
        qn_rx_full(p, "the lengths that a pattern allows never repeat; a smaller bound of the length would do");
    }
    return !is_open;
}

/* The table of lengths of the states that lead to an end at all. */
static void fill_lengths(maker *m, const qn_rx *states, uint16_t *lengths)
{
    uint32_t n = m->pairs.n, i_state = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (states[i] == QN_RX_NEVER) {
            continue;
        }
        uint16_t *of_it = lengths + (size_t)i_state++ * m->n_sets;
        uint32_t least = QN_RX_NO_LENGTH;
        for (uint32_t k = m->n_sets - m->period; k < m->n_sets && least == QN_RX_NO_LENGTH; k++) {
            least = m->sets[(size_t)k * n + i] ? k + m->period : least;
        }
        for (uint32_t k = m->n_sets; k-- > 0;) {
            least = m->sets[(size_t)k * n + i] ? k : least;
            of_it[k] = (uint16_t)least;
        }
    }
}

static void join_states(maker *m, const qn_rx *states)
{
    qn_rx_vec runs = {0};
    const uint32_t *firsts = m->firsts.items;
    for (uint32_t i = 0; i < m->pairs.n; i++) {
        runs.n = 0;
        for (uint32_t k = firsts[i]; k < firsts[i + 1] && states[i] != QN_RX_NEVER; k++) {
            edge e = ((edge *)m->edges.items)[k];
            qn_rx_run r = {e.lo, e.hi, states[e.to]};
            if (r.to != QN_RX_NEVER) {
                qn_vec_add(m->p->budget, &m->p->status, &runs, &r, 1u << 16, sizeof(r));
            }
        }
        if (states[i] != QN_RX_NEVER) {
            qn_rx_set_head(m->p, states[i], runs.items, runs.n);
        }
    }
    qn_free(runs.items);
}

static qn_rx make_states(maker *m, qn_rx *states, uint32_t max)
{
    qn_rx_pool *p = m->p;
    uint32_t n = m->pairs.n, n_alive = 0;
    qn_rx_loop loop = {.round = m->x, .is_guarded = true, .first_state = p->n_states + 1, .first_length = p->lengths.n,
                       .n_lengths = m->n_sets, .period = m->period};
    for (uint32_t i = 0; i < n; i++) {
        bool leads = false;
        for (uint32_t k = 0; k < m->n_sets && !leads; k++) {
            leads = m->sets[(size_t)k * n + i];
        }
        if (leads) {
            qn_rx_node pair = *qn_rx_at(p, ((qn_rx *)m->pairs.items)[i]);
            bool between = is_between(m, i);
            states[i] = qn_rx_state(p, QN_RX_K_LOOP, p->loops.n, between, between && qn_rx_at(p, pair.a)->is_null,
                                    between ? 0 : qn_rx_at(p, pair.b)->min_len);
            n_alive++;
        }
    }
    if (p->status != QN_OK || states[0] == QN_RX_NEVER) {
        return QN_RX_NEVER;
    }
    loop.start = states[0];
    if (!qn_vec_room(p->budget, &p->status, &p->lengths, n_alive * m->n_sets, 1u << 28, sizeof(uint16_t)) ||
        !qn_vec_add(p->budget, &p->status, &p->loops, &loop, QN_RX_MAX_NODES, sizeof(loop))) {
        return QN_RX_NEVER;
    }
    fill_lengths(m, states, (uint16_t *)p->lengths.items + p->lengths.n);
    p->lengths.n += n_alive * m->n_sets;
    join_states(m, states);
    bool is_good = p->status == QN_OK && qn_rx_measure_loop(p, p->loops.n - 1, n_alive, max);
    return is_good ? loop.start : QN_RX_NEVER;
}

qn_rx qn_rx_guarded(qn_rx_pool *p, qn_rx guard, qn_rx x, uint32_t min, uint32_t max)
{
    maker m = {.p = p, .x = x};
    qn_rx start = QN_RX_NEVER;
    bool is_explored = p->status == QN_OK && explore(&m, guard);
    if (!is_explored && p->status == QN_EFULL && p->limit == NULL) {
        p->limit = "a length beside a pattern needs too many states; a simpler pattern would do";
    }
    if (is_explored && make_sets(&m, max)) {
        qn_rx *states = qn_zalloc_array(p->budget, QN_RX_OWNER, m.pairs.n, sizeof(*states));
        if (states == NULL) {
            p->status = qn_alloc_failure(p->budget, m.pairs.n * sizeof(*states));
        } else {
            start = make_states(&m, states, max);
        }
        qn_free(states);
    }
    qn_free(m.pairs.items);
    qn_free(m.edges.items);
    qn_free(m.firsts.items);
    qn_free(m.slots);
    qn_free(m.sets);
    if (start == QN_RX_NEVER) {
        return QN_RX_NEVER;
    }
    return max == 0 ? (min == 0 && qn_rx_at(p, start)->is_null ? QN_RX_EPS : QN_RX_NEVER)
                    : qn_rx_loop_call(p, start, min, max);
}

uint32_t qn_rx_rounds(const qn_rx_pool *p, qn_rx state, uint32_t least)
{
    const qn_rx_node *x = qn_rx_at(p, state);
    const qn_rx_loop *l = &qn_rx_loops(p)[x->a];
    if (!l->is_guarded) {
        return x->b == 0 && least == 0 ? 1 : least;
    }
    const uint16_t *of_it = (const uint16_t *)p->lengths.items + l->first_length + (x->c - l->first_state) * l->n_lengths;
    if (least < l->n_lengths) {
        return of_it[least] == QN_RX_NO_LENGTH ? UINT32_MAX : of_it[least];
    }
    if (l->period == 0) {
        return UINT32_MAX;
    }
    uint32_t first = l->n_lengths - l->period, same = first + (least - first) % l->period;
    return of_it[same] == QN_RX_NO_LENGTH ? UINT32_MAX : qn_len_add(least - same, of_it[same]);
}

uint32_t qn_rx_free_rounds(const qn_rx_pool *p, qn_rx state)
{
    const qn_rx_node *x = qn_rx_at(p, state);
    const qn_rx_loop *l = &qn_rx_loops(p)[x->a];
    if (!l->is_guarded) {
        return x->b == 0 ? 1 : 0;
    }
    const uint16_t *of_it = (const uint16_t *)p->lengths.items + l->first_length + (x->c - l->first_state) * l->n_lengths;
    uint32_t k = l->n_lengths;
    while (k > 0 && of_it[k - 1] == k - 1) {
        k--;
    }
    return l->period == 0 || k > l->n_lengths - l->period ? UINT32_MAX : k;
}
