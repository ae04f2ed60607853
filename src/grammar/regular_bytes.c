/* The fewest bytes to the end of a guarded loop, by state and number of rounds: a table with one column for each number,
 * each made out of the one before, until the columns grow by the same again and again.
 *
 * They do so for good when, over a cycle of columns and one more, each state's number has grown by one and the same
 * amount, and no state's by more than that of a state that can come after it: what was the best way on then remains the
 * best, and no other one ever catches up.
 * SPDX-License-Identifier: MIT */
#include "grammar/regular_int.h"

#define NONE UINT32_MAX
#define EDGES_A_PART 16 /* edges that take as long as what qn_rx_work() counts */
#define MAX_CELLS (1u << 25)
#define ENOUGH_CELLS (1u << 22) /* with so many and no end in sight, growth is guessed upwards */
#define ENOUGH_WORK (1u << 26)  /* edges looked at; the same */

typedef struct measure {
    qn_rx_pool *p;
    qn_rx start; /* states are start, start + 1, ... */
    uint32_t n;
    uint32_t *firsts; /* edges of state i: tos[firsts[i], firsts[i + 1]) */
    qn_rx_vec tos;
    qn_rx_vec cells; /* cells[k * n + i]: state i, k rounds */
    uint32_t n_columns;
    uint32_t *growth; /* by state, in a cycle */
    uint64_t work;
} measure;

static const uint32_t *column(const measure *m, uint32_t k) { return (uint32_t *)m->cells.items + (size_t)k * m->n; }

static bool is_between(const measure *m, uint32_t i) { return qn_rx_at(m->p, m->start + i)->b != 0; }

static bool list_edges(measure *m)
{
    for (uint32_t i = 0; i < m->n && m->p->status == QN_OK; i++) {
        qn_rx_head h = qn_rx_head_of(m->p, m->start + i);
        for (uint32_t k = 0; k < h.n_runs; k++) {
            uint32_t to = qn_rx_runs(m->p)[h.first_run + k].to - m->start;
            qn_vec_add(m->p->budget, &m->p->status, &m->tos, &to, MAX_CELLS, sizeof(to));
        }
        m->firsts[i + 1] = m->tos.n;
    }
    return m->p->status == QN_OK;
}

/* Within a round the number stays, so that a column takes some passes. */
static bool add_column(measure *m)
{
    if (!qn_vec_room(m->p->budget, &m->p->status, &m->cells, m->n, MAX_CELLS, sizeof(uint32_t))) {
        return false;
    }
    uint32_t *now = (uint32_t *)m->cells.items + m->cells.n;
    const uint32_t *before = m->n_columns == 0 ? NULL : now - m->n, *tos = m->tos.items;
    for (uint32_t i = 0; i < m->n; i++) {
        bool is_end = before == NULL && is_between(m, i) && qn_rx_at(m->p, m->start + i)->is_null;
        now[i] = is_end ? 0 : NONE;
    }
    for (bool changed = before != NULL; changed;) {
        uint64_t work = m->work;
        changed = false;
        for (uint32_t i = m->n; i-- > 0;) {
            uint32_t least = NONE;
            for (uint32_t k = m->firsts[i]; k < m->firsts[i + 1]; k++) {
                uint32_t behind = is_between(m, tos[k]) ? before[tos[k]] : now[tos[k]];
                least = behind < least ? behind : least;
            }
            m->work += m->firsts[i + 1] - m->firsts[i] + 1;
            if (least < NONE - 1 && least + 1 < now[i]) {
                now[i] = least + 1;
                changed = true;
            }
        }
        if (!qn_rx_work(m->p, (m->work - work) / EDGES_A_PART)) {
            return false;
        }
    }
    m->cells.n += m->n;
    m->n_columns++;
    return true;
}

/* Whether columns grow for good in cycles of so many; fills growth. */
static bool repeats(measure *m, uint32_t cycle)
{
    for (uint32_t i = 0; i < m->n; i++) {
        m->growth[i] = NONE;
        for (uint32_t k = m->n_columns - 1 - cycle; k < m->n_columns; k++) {
            uint32_t now = column(m, k)[i], before = column(m, k - cycle)[i];
            if (now == NONE && before == NONE) {
                continue;
            }
            if (now == NONE || before == NONE || now < before || (m->growth[i] != NONE && m->growth[i] != now - before)) {
                return false;
            }
            m->growth[i] = now - before;
        }
    }
    const uint32_t *tos = m->tos.items;
    for (uint32_t i = 0; i < m->n; i++) {
        for (uint32_t k = m->firsts[i]; k < m->firsts[i + 1]; k++) {
            if (m->growth[i] != NONE && m->growth[tos[k]] != NONE && m->growth[i] > m->growth[tos[k]]) {
                return false;
            }
        }
    }
    return true;
}

/* The same growth for all, large enough that no state's next column is beyond it: then what the table says of far
 * columns is too much perhaps, yet each has a byte that makes it less. */
static void guess_growth(measure *m, uint32_t cycle)
{
    const uint32_t *now = column(m, m->n_columns - 1), *before = column(m, m->n_columns - 1 - cycle);
    uint32_t most = 1;
    for (uint32_t i = 0; i < m->n; i++) {
        bool grows = now[i] != NONE && before[i] != NONE && now[i] > before[i];
        most = grows && now[i] - before[i] > most ? now[i] - before[i] : most;
    }
    for (uint32_t i = 0; i < m->n; i++) {
        m->growth[i] = most;
    }
}

static bool store(measure *m, qn_rx_loop *l)
{
    uint32_t n_cells = m->n * (l->n_columns + 1);
    qn_rx_vec *all = &m->p->loop_bytes;
    if (!qn_vec_room(m->p->budget, &m->p->status, all, n_cells, 1u << 28, sizeof(uint32_t))) {
        return false;
    }
    l->first_bytes = all->n;
    uint32_t *at = (uint32_t *)all->items + all->n;
    for (uint32_t i = 0; i < m->n; i++) {
        for (uint32_t k = 0; k < l->n_columns; k++) {
            *at++ = column(m, k)[i];
        }
        *at++ = m->growth[i];
    }
    all->n += n_cells;
    return true;
}

/* Columns for up to `max` rounds, or until they repeat. */
static bool fill(measure *m, qn_rx_loop *l, uint32_t max)
{
    /* From here on, whether there is a way at all repeats with the period. */
    uint32_t first = l->n_lengths - l->period, cycle = 0;
    uint64_t wanted = (uint64_t)first + 2 * (uint64_t)l->period + 1;
    while (cycle == 0) {
        bool is_whole = l->period == 0 || wanted > max;
        wanted = is_whole ? (uint64_t)max + 1 : wanted;
        while (m->n_columns < wanted) {
            if (!add_column(m)) {
                return false;
            }
        }
        if (is_whole) {
            break;
        }
        for (uint32_t c = l->period; cycle == 0 && first + 2 * (uint64_t)c + 1 <= m->n_columns; c += l->period) {
            cycle = repeats(m, c) ? c : 0;
        }
        if (cycle == 0 && (m->work > ENOUGH_WORK || m->cells.n > ENOUGH_CELLS)) {
            cycle = l->period;
            guess_growth(m, cycle);
            break;
        }
        wanted += cycle != 0 ? 0 : wanted - first;
    }
    l->n_columns = m->n_columns;
    l->cycle = cycle;
    return store(m, l);
}

bool qn_rx_measure_loop(qn_rx_pool *p, uint32_t i_loop, uint32_t n_states, uint32_t max)
{
    qn_rx_loop l = qn_rx_loops(p)[i_loop];
    measure m = {.p = p, .start = l.start, .n = n_states};
    m.firsts = qn_zalloc_array(p->budget, QN_RX_OWNER, (size_t)m.n + 1, sizeof(*m.firsts));
    m.growth = qn_zalloc_array(p->budget, QN_RX_OWNER, m.n, sizeof(*m.growth));
    if (m.firsts == NULL || m.growth == NULL) {
        p->status = qn_alloc_failure(p->budget, ((uint64_t)m.n + 1) * sizeof(*m.firsts));
    } else if (list_edges(&m) && fill(&m, &l, max)) {
        qn_rx_loops(p)[i_loop] = l;
    }
    qn_free(m.firsts);
    qn_free(m.growth);
    qn_free(m.tos.items);
    qn_free(m.cells.items);
    return p->status == QN_OK;
}

uint64_t qn_rx_loop_bytes(const qn_rx_pool *p, qn_rx state, uint32_t lo, uint32_t hi)
{
    const qn_rx_node *x = qn_rx_at(p, state);
    const qn_rx_loop *l = &qn_rx_loops(p)[x->a];
    const uint32_t *of_it =
        (const uint32_t *)p->loop_bytes.items + l->first_bytes + (size_t)(x->c - l->first_state) * (l->n_columns + 1);
    uint64_t best = UINT64_MAX, end = (uint64_t)(lo < l->n_columns ? l->n_columns : lo) + l->cycle;
    for (uint64_t k = lo; k <= hi && k < end && k < best; k++) { /* no round is shorter than a byte */
        uint64_t n_cycles = k < l->n_columns ? 0 : (k - l->n_columns) / l->cycle + 1;
        uint64_t bytes = of_it[k - n_cycles * l->cycle];
        bytes = bytes == NONE ? UINT64_MAX : bytes + n_cycles * of_it[l->n_columns];
        best = bytes < best ? bytes : best;
    }
    return best;
}
