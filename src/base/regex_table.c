/* The deterministic table. A state is the ordered list of threads that wait for the next character; what that
 * character is decides look-ahead too, so a match is noted on the way out of a state, before the character.
 * SPDX-License-Identifier: MIT */
#include "base/regex_int.h"

/* A table past one of these is given up: the pattern is simulated. The tokenizers' patterns need under 200 states. */
#define MAX_STATES 4096
#define MAX_ENTRIES (1u << 19) /* of the table: 2 MiB */
#define MAX_WORK (1u << 24)    /* instructions visited while it is made: well under a second */
#define N_BUCKETS (2 * MAX_STATES)

typedef struct state {
    uint32_t i_pc, n;
    bool at_begin;
} state;

typedef struct maker {
    qn_regex *re;
    qn_budget *budget;
    size_t row_entries; /* one for each ASCII character, then one for each class */
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
    if (m->n_states == MAX_STATES || (m->n_states + 1) * m->row_entries > MAX_ENTRIES) {
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
    if (!qn_regex_grow(m->budget, (void **)&m->re->table, &m->cap_rows, s, m->row_entries * sizeof(*m->re->table))) {
        return false;
    }
    uint32_t *row = m->re->table + s * m->row_entries;
    now->n = m->states[s].n;
    if (now->n > 0) {
        memcpy(now->pc, m->pcs + m->states[s].i_pc, now->n * sizeof(*now->pc));
    }
    for (uint32_t c = 0; c < m->re->n_classes; c++) {
        size_t start;
        uint32_t to;
        bool match = qn_regex_step(m->re, now, m->states[s].at_begin, c, next, &start);
        if (!state_of(m, next, false, &to)) {
            return false;
        }
        row[QN_REGEX_ASCII + c] = (to * (uint32_t)m->row_entries) << 1 | match;
    }
    for (uint32_t i = 0; i < QN_REGEX_ASCII; i++) {
        row[i] = row[QN_REGEX_ASCII + m->re->ascii[i]];
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
    m->re->row_begin = begin * (uint32_t)m->row_entries;
    m->re->row_middle = middle * (uint32_t)m->row_entries;
    return true;
}

/* The first byte of a character; it is the same for 64 of them or more. */
static uint8_t lead_of(uint32_t cp)
{
    return (uint8_t)(cp < 0x80 ? cp : cp < 0x800 ? 0xC0 | cp >> 6 : cp < 0x10000 ? 0xE0 | cp >> 12 : 0xF0 | cp >> 18);
}

/* Fills re->starts from the table. A byte from 0x80 on may be invalid where it stands. */
static void find_starts(qn_regex *re)
{
    const uint32_t *row = re->table + re->row_middle, *of_class = row + QN_REGEX_ASCII;
    for (uint32_t byte = 0; byte < 256; byte++) {
        re->starts[byte] = (byte < QN_REGEX_ASCII ? row[byte] : of_class[re->invalid]) != 0;
    }
    uint16_t barren = UINT16_MAX; /* a row of classes that start nothing: long stretches of blocks share one */
    for (uint32_t block = 1; block < QN_CLASS_BLOCKS; block++) {
        uint32_t first = block * QN_CLASS_BLOCK;
        const uint8_t *classes = re->rows + (size_t)re->blocks[block] * QN_CLASS_BLOCK;
        bool any = false;
        for (uint32_t i = 0; i < QN_CLASS_BLOCK && re->blocks[block] != barren; i++) {
            bool may = of_class[classes[i]] != 0;
            re->starts[lead_of(first + i)] |= may;
            any |= may;
            i |= may ? 63 : 0; /* on to where the first byte may be another one */
        }
        barren = any ? barren : re->blocks[block];
    }
}

qn_status qn_regex_make_table(qn_regex *re, qn_budget *budget)
{
    maker m = {.re = re, .budget = budget, .row_entries = QN_REGEX_ASCII + re->n_classes};
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
    } else {
        find_starts(re);
    }
    return made || m.too_large ? QN_OK : QN_ENOMEM;
}
