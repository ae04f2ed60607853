/* The deterministic table. A state is the ordered list of threads that wait for the next character; what that
 * character is decides look-ahead too, so a match is noted on the way out of a state, before the character.
 * SPDX-License-Identifier: MIT */
#include "base/regex_int.h"

/* A table past one of these is given up: the pattern is simulated. The tokenizers' patterns need under 200 states. */
#define MAX_STATES 4096
#define MAX_ENTRIES (1u << 18)  /* of the table: 1 MiB */
#define MAX_WORK (1u << 24)     /* instructions visited while it is made: well under a second */
#define N_BUCKETS (2 * MAX_STATES)

typedef struct state {
    uint32_t i_pc, n;
    bool at_begin;
} state;

typedef struct maker {
    qn_regex *re;
    qn_budget *budget;
    uint16_t *pcs;
    size_t n_pcs, cap_pcs;
    state *states; /* number 0 is the dead state */
    size_t n_states, cap_states;
    uint32_t *buckets; /* state number, 0: free */
    size_t cap_rows;
    bool too_large;
} maker;

static uint64_t hash_threads(const qn_regex_threads *t, bool at_begin)
{
    uint64_t h = at_begin ? 0x9E3779B97F4A7C15u : 0;
    for (uint32_t i = 0; i < t->n; i++) {
        h = (h ^ t->pc[i]) * 0xD6E8FEB86659FD93u;
        h ^= h >> 32;
    }
    return h;
}

/* The number of the state with these threads, new ones included. False: no memory, or too_large. */
static bool state_of(maker *m, const qn_regex_threads *t, bool at_begin, uint32_t *number)
{
    if (t->n == 0) {
        *number = 0;
        return true;
    }
    size_t bucket = hash_threads(t, at_begin) % N_BUCKETS;
    for (; m->buckets[bucket] != 0; bucket = (bucket + 1) % N_BUCKETS) {
        const state *s = &m->states[m->buckets[bucket]];
        if (s->n == t->n && s->at_begin == at_begin && memcmp(m->pcs + s->i_pc, t->pc, t->n * sizeof(*t->pc)) == 0) {
            *number = m->buckets[bucket];
            return true;
        }
    }
    if (m->n_states == MAX_STATES || (m->n_states + 1) * m->re->n_classes > MAX_ENTRIES) {
        m->too_large = true;
        return false;
    }
    if (!qn_regex_grow(m->budget, (void **)&m->states, &m->cap_states, m->n_states, sizeof(*m->states))) {
        return false;
    }
    m->states[m->n_states] = (state){(uint32_t)m->n_pcs, t->n, at_begin};
    for (uint32_t i = 0; i < t->n; i++) {
        if (!qn_regex_grow(m->budget, (void **)&m->pcs, &m->cap_pcs, m->n_pcs, sizeof(*m->pcs))) {
            return false;
        }
        m->pcs[m->n_pcs++] = t->pc[i];
    }
    m->buckets[bucket] = (uint32_t)m->n_states;
    *number = (uint32_t)m->n_states++;
    return true;
}

/* Fills the row of state number s. */
static bool make_row(maker *m, uint32_t s, qn_regex_threads *now, qn_regex_threads *next)
{
    uint32_t n_classes = m->re->n_classes;
    if (!qn_regex_grow(m->budget, (void **)&m->re->table, &m->cap_rows, s, n_classes * sizeof(*m->re->table))) {
        return false;
    }
    now->n = m->states[s].n;
    if (now->n > 0) {
        memcpy(now->pc, m->pcs + m->states[s].i_pc, now->n * sizeof(*now->pc));
    }
    for (uint32_t c = 0; c < n_classes; c++) {
        size_t start;
        uint32_t to;
        bool match = qn_regex_step(m->re, now, m->states[s].at_begin, c, next, &start);
        if (!state_of(m, next, false, &to)) {
            return false;
        }
        m->re->table[s * n_classes + c] = (to * n_classes) << 1 | match;
    }
    return true;
}

static bool make_rows(maker *m, qn_regex_threads *now, qn_regex_threads *next)
{
    memset(now, 0, sizeof(*now));
    uint32_t begin, middle;
    qn_regex_threads *first = next;
    first->n = 1;
    first->pc[0] = 0;
    m->n_states = 1;
    m->states[0] = (state){0};
    if (!state_of(m, first, true, &begin) || !state_of(m, first, false, &middle)) {
        return false;
    }
    size_t work = 0;
    for (uint32_t s = 0; s < m->n_states; s++) {
        work += (size_t)m->re->n_insts * m->re->n_classes;
        m->too_large |= work > MAX_WORK;
        if (m->too_large || !make_row(m, s, now, next)) {
            return false;
        }
    }
    m->re->row_begin = begin * m->re->n_classes;
    m->re->row_middle = middle * m->re->n_classes;
    return true;
}

qn_status qn_regex_make_table(qn_regex *re, qn_budget *budget)
{
    maker m = {.re = re, .budget = budget};
    qn_regex_threads *threads = qn_zalloc_array(budget, QN_REGEX_OWNER, 2, sizeof(*threads));
    m.buckets = qn_zalloc_array(budget, QN_REGEX_OWNER, N_BUCKETS, sizeof(*m.buckets));
    bool made = threads != NULL && m.buckets != NULL &&
                qn_regex_grow(budget, (void **)&m.states, &m.cap_states, 0, sizeof(*m.states)) &&
                make_rows(&m, &threads[0], &threads[1]);
    qn_free(threads);
    qn_free(m.buckets);
    qn_free(m.states);
    qn_free(m.pcs);
    if (!made) {
        qn_free(re->table);
        re->table = NULL;
    }
    return made || m.too_large ? QN_OK : QN_ENOMEM;
}
