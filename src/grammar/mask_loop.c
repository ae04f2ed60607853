/* Loops: their states as tables of bytes, and what they make of the tokens outside a slice, found once for each state and
 * good for any counters.
 * SPDX-License-Identifier: MIT */
#include "grammar/mask_int.h"

#define MAX_PLACES (1u << 24)
#define MAX_FITS 8    /* states that slices are looked for, of one table */
#define MAX_HEIGHT 32 /* what lies below a node is taken at once up to here, so that few rounds suffice for it */

uint32_t *qn_loop_row(qn_engine *e, uint32_t state)
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

typedef struct collection {
    qn_rx_vec within_loop, below, behind; /* qn_loop_place */
    uint32_t n_fits;                      /* of how many more states slices may be looked for */
} collection;

static void add_place(qn_engine *e, qn_rx_vec *v, qn_loop_place p)
{
    if (v->n < v->cap || qn_vec_room(e->budget, &e->status, v, 1, MAX_PLACES, sizeof(p))) {
        ((qn_loop_place *)v->items)[v->n++] = p;
    }
}

/* Rounds that a loop needs at least which is in this state behind so many that are through. */
static uint32_t rounds_in_all(const qn_engine *e, uint32_t state, uint32_t n_rounds, uint32_t lo)
{
    return qn_len_add(n_rounds, qn_rx_rounds(&e->rx, state, lo > n_rounds ? lo - n_rounds : 0));
}

/* Walks nodes [begin, end) of a tree by the loop's states alone, from one of them on, n_rounds before it. Nodes behind a
 * whole number of rounds count where the loop might end, but for those at the beginning. */
static void collect(qn_engine *e, uint32_t start, const qn_trie *t, uint32_t begin, uint32_t end, uint32_t n_rounds,
                    collection *out)
{
    uint32_t *states = e->walk_states, *rounds = e->walk_lo, **rows = e->walk_rows;
    uint32_t base = begin < end ? t->nodes[begin].depth - 1u : 0;
    states[base] = start;
    rounds[base] = n_rounds;
    rows[base] = qn_loop_row(e, start);
    uint32_t n_nodes = 0;
    for (uint32_t i = begin; i < end && e->status == QN_OK; n_nodes++) {
        const qn_trie_node *n = &t->nodes[i];
        uint32_t d = n->depth - 1u, to = rows[d][n->byte];
        const qn_rx_node *x = qn_rx_at(&e->rx, states[d]);
        if (x->b != 0 && x->is_null && d != base) {
            add_place(e, &out->behind, (qn_loop_place){i, states[d], rounds[d], rounds[d]});
        }
        if (to == QN_RX_NEVER) {
            i = n->next;
            continue;
        }
        uint32_t through = rounds[d] + (qn_rx_at(&e->rx, to)->b != 0);
        uint32_t needed = n->rank == n[1].rank ? 0 : rounds_in_all(e, to, through, 0);
        for (uint32_t k = n->rank; k < n[1].rank; k++) {
            add_place(e, &out->within_loop, (qn_loop_place){(uint32_t)t->ids[k], to, through, needed});
        }
        if (n->next == i + 1) {
            i++;
            continue;
        }
        uint32_t below = n->height > MAX_HEIGHT ? UINT32_MAX : qn_below_needs(e, t, i, to, &out->n_fits);
        if (below != UINT32_MAX) {
            add_place(e, &out->below, (qn_loop_place){i, to, through, qn_len_add(through, below)});
            i = n->next;
            continue;
        }
        states[d + 1] = to;
        rounds[d + 1] = through;
        rows[d + 1] = qn_loop_row(e, to);
        i++;
    }
    qn_walk_count(e, n_nodes);
}

/* The same for the whole rest of a slice, whose borders are known: only what the loop takes beyond them is walked. */
static void collect_borders(qn_engine *e, uint32_t start, const qn_slice *s, collection *out)
{
    const uint32_t *row = qn_loop_row(e, start);
    for (unsigned c = 0; row != NULL && c < 256; c++) {
        for (uint32_t i = s->first_border[c]; row[c] != QN_RX_NEVER && i < s->first_border[c + 1]; i++) {
            qn_slice_place b = s->borders[i];
            collect(e, start, &s->rest, b.i, s->rest.nodes[b.i].next, b.n_chars, out);
        }
    }
}

static void fill_table(const qn_trie *t, const collection *from, qn_loop_table *table)
{
    qn_loop_place *places = table->places;
    table->n_within = from->within_loop.n;
    table->n_below = from->below.n;
    if (table->n_within != 0) {
        memcpy(places, from->within_loop.items, table->n_within * sizeof(*places));
    }
    if (table->n_below != 0) {
        memcpy(places + table->n_within, from->below.items, table->n_below * sizeof(*places));
    }
    const qn_loop_place *raw = from->behind.items;
    for (uint32_t i = 0; i < from->behind.n; i++) {
        table->first[t->nodes[raw[i].node].byte + 1]++;
    }
    table->first[0] = table->n_within + table->n_below;
    for (unsigned c = 0; c < 256; c++) {
        table->first[c + 1] += table->first[c];
    }
    uint32_t fill[256];
    memcpy(fill, table->first, sizeof(fill));
    for (uint32_t i = 0; i < from->behind.n; i++) {
        places[fill[t->nodes[raw[i].node].byte]++] = raw[i];
    }
    for (uint32_t i = 0; i < table->first[256]; i++) {
        uint32_t needed = places[i].needed;
        bool is_below = i >= table->n_within && i < table->n_within + table->n_below;
        table->most = needed > table->most ? needed : table->most;
        table->most_below = is_below && needed > table->most_below ? needed : table->most_below;
        if (needed < 256) {
            table->has_needed[needed / 64] |= (uint64_t)1 << (needed % 64);
        }
    }
}

static qn_loop_table *make_table(qn_engine *e, const qn_trie *t, const collection *from)
{
    qn_loop_table *table = qn_zalloc(e->budget, QN_RX_OWNER, sizeof(*table));
    size_t n = (size_t)from->within_loop.n + from->below.n + from->behind.n + 1;
    qn_loop_place *places = qn_alloc(e->budget, QN_RX_OWNER, n * sizeof(*places));
    if (table == NULL || places == NULL) {
        e->status = qn_alloc_failure(e->budget, n * sizeof(*places));
        qn_free(table);
        qn_free(places);
        return NULL;
    }
    e->table_bytes += sizeof(*table) + n * sizeof(*places);
    table->places = places;
    fill_table(t, from, table);
    return table;
}

const qn_loop_table *qn_loop_table_of(qn_engine *e, uint32_t state, const qn_slice *s)
{
    uint32_t number = qn_rx_at(&e->rx, state)->c;
    if (e->loop_tables[number] == NULL) {
        const qn_slice_fit *fit = &e->loop_slices[number];
        bool is_guarded = qn_rx_loops(&e->rx)[qn_rx_at(&e->rx, state)->a].is_guarded;
        bool is_bordered = s != NULL && !is_guarded && fit->is_plain && fit->level == QN_ANY_LEVEL && !s->has_odd;
        collection found = {.n_fits = MAX_FITS};
        const qn_trie *t = s == NULL ? &e->vocab->all : &s->rest;
        if (is_bordered) {
            collect_borders(e, state, s, &found);
        } else if (qn_loop_row(e, state) != NULL) {
            collect(e, state, t, 0, t->n, 0, &found);
        }
        qn_loop_table *made = e->status == QN_OK ? make_table(e, t, &found) : NULL;
        if (made != NULL) {
            made->is_bordered = is_bordered;
            made->most = is_bordered && s->max_border > made->most ? s->max_border : made->most;
        }
        e->loop_tables[number] = made;
        qn_free(found.within_loop.items);
        qn_free(found.below.items);
        qn_free(found.behind.items);
    }
    return e->loop_tables[number];
}

/* Whether a token that ends within the loop does so with a way to its end. */
static bool is_allowed(const qn_engine *e, qn_frame f, bool is_guarded, const qn_loop_place *p)
{
    return (is_guarded && f.lo != 0 ? rounds_in_all(e, p->state, p->n_rounds, f.lo) : p->needed) <= f.hi;
}

/* Node i of the tree comes after n_rounds of the loop: what follows the loop may take it. */
static void try_behind(qn_engine *e, qn_frame f, const qn_trie *t, uint32_t i, uint32_t n_rounds, uint32_t behind)
{
    if (n_rounds >= f.lo && n_rounds <= f.hi && n_rounds != 0 && e->status == QN_OK) {
        qn_walk_behind(e, t, i, behind);
    }
}

/* What lies below nodes: all of it where so many rounds are allowed, else a walk tells. */
static void add_below(qn_engine *e, qn_frame f, const qn_loop_table *table, const qn_trie *t)
{
    for (uint32_t i = table->n_within; i < table->n_within + table->n_below && e->status == QN_OK; i++) {
        qn_loop_place p = table->places[i];
        if (p.needed <= f.hi) {
            qn_walk_add_below(e, t, p.node);
        } else if (p.n_rounds <= f.hi) {
            uint32_t lo = f.lo > p.n_rounds ? f.lo - p.n_rounds : 0, hi = f.hi - p.n_rounds;
            uint32_t there = qn_frame_make(e, p.state, lo, hi, f.parent);
            qn_walk_loop(e, t, p.node + 1, t->nodes[p.node].next, there);
        }
    }
}

void qn_walk_table(qn_engine *e, uint32_t frame, const qn_loop_table *table, const qn_slice *s, uint32_t behind)
{
    qn_frame f = *qn_frame_at(e, frame);
    const qn_trie *t = s == NULL ? &e->vocab->all : &s->rest;
    bool is_guarded = qn_rx_loops(&e->rx)[qn_rx_at(&e->rx, f.state)->a].is_guarded;
    for (uint32_t i = 0; i < table->n_within; i++) {
        if (is_allowed(e, f, is_guarded, &table->places[i])) {
            qn_walk_add(e, table->places[i].node);
        }
    }
    add_below(e, f, table, t);
    for (uint32_t i = 0; table->is_bordered && i < s->n_parts; i++) {
        if (s->parts[i].n_chars <= f.hi) {
            qn_walk_add(e, s->parts[i].i);
        }
    }
    qn_walk_count(e, table->n_within);
    uint64_t first[4];
    qn_config_first(e, behind, first);
    for (unsigned c = 0; c < 256; c++) {
        if ((first[c / 64] >> (c % 64) & 1) == 0) {
            continue;
        }
        for (uint32_t i = table->first[c]; i < table->first[c + 1]; i++) {
            try_behind(e, f, t, table->places[i].node, table->places[i].n_rounds, behind);
        }
        for (uint32_t i = s == NULL ? 0 : s->first_border[c]; table->is_bordered && i < s->first_border[c + 1]; i++) {
            try_behind(e, f, t, s->borders[i].i, s->borders[i].n_chars, behind);
        }
    }
}
