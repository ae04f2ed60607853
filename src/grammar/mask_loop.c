/* Loops over characters: their states as tables, and the slices of the vocabulary that they take as a whole.
 * SPDX-License-Identifier: MIT */
#include "grammar/mask_int.h"

#define MAX_REACHED 4096 /* places that a slice's characters may lead to; more are not looked at */
#define MAX_PLACES (1u << 26)

const uint32_t *qn_loop_row(qn_engine *e, uint32_t state)
{
    uint32_t number = qn_rx_at(&e->rx, state)->c;
    if (e->loop_rows[number] != NULL) {
        return e->loop_rows[number];
    }
    uint32_t *row = qn_zalloc_array(e->budget, QN_RX_OWNER, 256, sizeof(*row));
    if (row == NULL) {
        e->status = qn_alloc_failure(e->budget, 256 * sizeof(*row));
        return NULL;
    }
    qn_rx_head h = qn_rx_head_of(&e->rx, state);
    for (uint32_t i = 0; i < h.n_runs; i++) {
        qn_rx_run r = qn_rx_runs(&e->rx)[h.first_run + i];
        for (uint32_t c = r.lo; c <= r.hi && c < 256; c++) {
            row[c] = r.to;
        }
    }
    return e->loop_rows[number] = row;
}

typedef struct place {
    uint32_t state;
    int at;
} place;

typedef struct search {
    qn_rx_vec places;
    uint8_t *marks; /* by number of a state: a bit for each place in a character at which it was met */
} search;

/* A place reached; false: it is no good, or there are too many. */
static bool reach(qn_engine *e, search *s, uint32_t state, int at)
{
    const qn_rx_node *x = qn_rx_at(&e->rx, state);
    if (state == QN_RX_NEVER || (x->b != 0) != (at == QN_UTF8_BETWEEN)) {
        return false;
    }
    if ((s->marks[x->c] >> at & 1) != 0) {
        return true;
    }
    place p = {state, at};
    s->marks[x->c] |= (uint8_t)(1u << at);
    return s->places.n < MAX_REACHED && qn_vec_add(e->budget, &e->status, &s->places, &p, MAX_REACHED, sizeof(p));
}

static void forget_places(const qn_engine *e, search *s)
{
    for (uint32_t i = 0; i < s->places.n; i++) {
        s->marks[qn_rx_at(&e->rx, ((place *)s->places.items)[i].state)->c] = 0;
    }
    s->places.n = 0;
}

/* Whether all texts of characters of these kinds stay within the loop; collects the states that they lead to. */
static bool stays(qn_engine *e, uint32_t state, uint16_t kinds, search *s)
{
    forget_places(e, s);
    bool good = reach(e, s, state, QN_UTF8_BETWEEN);
    for (uint32_t i = 0; i < s->places.n && good; i++) {
        place p = ((place *)s->places.items)[i];
        const uint32_t *row = qn_loop_row(e, p.state);
        if (row == NULL) {
            return false;
        }
        if (p.at != QN_UTF8_BETWEEN) {
            for (unsigned c = qn_utf8_within[p.at].first; c <= qn_utf8_within[p.at].last && good; c++) {
                good = reach(e, s, row[c], qn_utf8_within[p.at].next);
            }
            continue;
        }
        for (unsigned c = 0; c < 0x80 && good; c++) {
            good = (kinds & qn_kind_of_ascii((unsigned char)c)) == 0 || reach(e, s, row[c], QN_UTF8_BETWEEN);
        }
        for (unsigned c = 0xc2; c <= 0xf4 && good && (kinds & QN_CHAR_WIDE) != 0; c++) {
            good = reach(e, s, row[c], qn_utf8_after_lead((unsigned char)c));
        }
    }
    return good;
}

/* What was found holds for all states that were met on the way. */
static void note_slice(qn_engine *e, const qn_rx_vec *places, uint32_t slice)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < places->n; i++) {
        place p = ((place *)places->items)[i];
        uint32_t needed = p.at == QN_UTF8_BETWEEN ? qn_rx_free_rounds(&e->rx, p.state) : 0;
        most = needed > most ? needed : most;
    }
    for (uint32_t i = 0; i < places->n; i++) {
        uint32_t number = qn_rx_at(&e->rx, ((place *)places->items)[i].state)->c;
        if (((place *)places->items)[i].at == QN_UTF8_BETWEEN && (i == 0 || e->loop_slices[number].found == 0)) {
            e->loop_slices[number] = (qn_loop_slice_found){slice + 1, most};
        }
    }
}

qn_loop_slice_found qn_loop_slice(qn_engine *e, uint32_t state)
{
    qn_loop_slice_found *known = &e->loop_slices[qn_rx_at(&e->rx, state)->c];
    if (known->found != 0) {
        return *known;
    }
    search found = {.marks = qn_zalloc_array(e->budget, QN_RX_OWNER, e->n_loop_rows, 1)};
    if (found.marks == NULL) {
        e->status = qn_alloc_failure(e->budget, e->n_loop_rows);
        return (qn_loop_slice_found){1, UINT32_MAX};
    }
    uint32_t best = 0;
    for (uint32_t i = 0; i < e->vocab->n_slices && e->status == QN_OK; i++) {
        const qn_slice *s = &e->vocab->slices[i];
        if ((best == 0 || s->n_tokens > e->vocab->slices[best - 1].n_tokens) && stays(e, state, s->kinds, &found) &&
            e->status == QN_OK) {
            best = i + 1;
            note_slice(e, &found.places, best);
        }
    }
    qn_free(found.places.items);
    qn_free(found.marks);
    if (best == 0 && e->status == QN_OK) {
        *known = (qn_loop_slice_found){1, UINT32_MAX};
    }
    return *known;
}

/* ---- tables ---- */


/* Walks nodes [begin, end) of a trie by the loop's states alone, from a place between two rounds on, n_rounds of them
 * before it. within_loop: tokens; behind: nodes after whole rounds, but for those at the beginning. */
static void collect(qn_engine *e, uint32_t start, const qn_trie *t, uint32_t begin, uint32_t end, uint32_t n_rounds,
                    qn_rx_vec *within_loop, qn_rx_vec *behind)
{
    uint32_t *states = e->walk_states, *rounds = e->walk_lo, base = t->nodes[begin].depth - 1u;
    states[base] = start;
    rounds[base] = n_rounds;
    for (uint32_t i = begin; i < end && e->status == QN_OK;) {
        const qn_trie_node *n = &t->nodes[i];
        uint32_t d = n->depth - 1u, state = states[d];
        bool is_between = state == start;
        if (is_between && d != base) {
            qn_loop_place p = {i, rounds[d]};
            qn_vec_add(e->budget, &e->status, behind, &p, MAX_PLACES, sizeof(p));
        }
        const uint32_t *row = qn_loop_row(e, state);
        uint32_t to = row == NULL ? QN_RX_NEVER : row[n->byte];
        if (to == QN_RX_NEVER) {
            i = n->next;
            continue;
        }
        /* A round counts from its first byte on: a token that ends within one needs it too. */
        uint32_t begun = rounds[d] + (is_between ? 1u : 0u);
        for (int32_t id = n->token; id >= 0; id = n->has_more ? e->vocab->same[id] : -1) {
            qn_loop_place p = {(uint32_t)id, begun};
            qn_vec_add(e->budget, &e->status, within_loop, &p, MAX_PLACES, sizeof(p));
        }
        states[d + 1] = to;
        rounds[d + 1] = begun;
        i++;
    }
}

/* The same for the whole rest of a slice, whose borders are known: only what the loop takes beyond them is walked. */
static void collect_borders(qn_engine *e, uint32_t start, const qn_slice *s, qn_rx_vec *within_loop, qn_rx_vec *behind)
{
    const uint32_t *row = qn_loop_row(e, start);
    for (unsigned c = 0; row != NULL && c < 256; c++) {
        for (uint32_t i = s->first_border[c]; row[c] != QN_RX_NEVER && i < s->first_border[c + 1]; i++) {
            qn_slice_place b = s->borders[i];
            collect(e, start, &s->rest, b.i, s->rest.nodes[b.i].next, b.n_chars, within_loop, behind);
        }
    }
}

static qn_loop_table *make_table(qn_engine *e, const qn_trie *t, const qn_rx_vec *within_loop, const qn_rx_vec *behind)
{
    qn_loop_table *table = qn_zalloc(e->budget, QN_RX_OWNER, sizeof(*table));
    size_t n = (size_t)within_loop->n + behind->n + 1;
    qn_loop_place *places = qn_zalloc_array(e->budget, QN_RX_OWNER, n, sizeof(*places));
    if (table == NULL || places == NULL) {
        e->status = qn_alloc_failure(e->budget, n * sizeof(*places));
        qn_free(table);
        qn_free(places);
        return NULL;
    }
    table->places = places;
    table->n_within = within_loop->n;
    if (within_loop->n != 0) {
        memcpy(places, within_loop->items, within_loop->n * sizeof(*places));
    }
    const qn_loop_place *raw = behind->items;
    for (uint32_t i = 0; i < behind->n; i++) {
        table->first[t->nodes[raw[i].node].byte + 1]++;
    }
    table->first[0] = within_loop->n;
    for (unsigned c = 0; c < 256; c++) {
        table->first[c + 1] += table->first[c];
    }
    uint32_t fill[256];
    memcpy(fill, table->first, sizeof(fill));
    for (uint32_t i = 0; i < behind->n; i++) {
        places[fill[t->nodes[raw[i].node].byte]++] = raw[i];
    }
    return table;
}

const qn_loop_table *qn_loop_table_of(qn_engine *e, uint32_t state, const qn_slice *s)
{
    uint32_t number = qn_rx_at(&e->rx, state)->c;
    if (e->loop_tables[number] == NULL) {
        qn_rx_vec within_loop = {0}, behind = {0};
        if (s->has_odd) {
            collect(e, state, &s->rest, 0, s->rest.n, 0, &within_loop, &behind);
        } else {
            collect_borders(e, state, s, &within_loop, &behind);
        }
        e->loop_tables[number] = e->status == QN_OK ? make_table(e, &s->rest, &within_loop, &behind) : NULL;
        qn_free(within_loop.items);
        qn_free(behind.items);
    }
    return e->loop_tables[number];
}
