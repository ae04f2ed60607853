/* Walks of the vocabulary's tree: by configurations, and, within a loop over characters, by the loop's own states with
 * its counters beside them, so that nothing has to be made for each count.
 * SPDX-License-Identifier: MIT */
#include "grammar/mask_int.h"

#define MAX_FOUND (1u << 26)
#define MAX_LOOPS 8 /* of a configuration, that are asked whether they take all */
#define MAX_FITS 8  /* states of a loop that slices are looked for in a walk */

static uint32_t no_way[256]; /* a row of dead ends; nobody writes to it */

void qn_walk_count(qn_engine *e, uint32_t n_nodes)
{
    e->n_nodes += n_nodes;
    if (e->n_nodes / QN_NODES_A_FRAME + e->work > QN_MAX_WORK) {
        qn_engine_full(e, QN_TOO_MANY_WAYS);
    }
}

void qn_walk_begin(qn_engine *e) { e->ids.n = e->exits.n = e->n_forks = 0; }

static void add_number(qn_engine *e, qn_rx_vec *v, uint32_t number)
{
    if (v->n < v->cap || qn_vec_room(e->budget, &e->status, v, 1, MAX_FOUND, sizeof(number))) {
        ((uint32_t *)v->items)[v->n++] = number;
    }
}

void qn_walk_add(qn_engine *e, uint32_t id) { add_number(e, &e->ids, id); }

/* ids[first, end) of a tree. */
static inline void add_range(qn_engine *e, const qn_trie *t, uint32_t first, uint32_t end)
{
    uint32_t n = end - first;
    if (n == 1 && e->ids.n < e->ids.cap) {
        ((int32_t *)e->ids.items)[e->ids.n++] = t->ids[first];
    } else if (n != 0 && qn_vec_room(e->budget, &e->status, &e->ids, n, MAX_FOUND, sizeof(int32_t))) {
        memcpy((int32_t *)e->ids.items + e->ids.n, t->ids + first, n * sizeof(int32_t));
        e->ids.n += n;
    }
}

static inline void add_tokens(qn_engine *e, const qn_trie *t, const qn_trie_node *n)
{
    add_range(e, t, n->rank, n[1].rank);
}

void qn_walk_add_below(qn_engine *e, const qn_trie *t, uint32_t i)
{
    add_range(e, t, t->nodes[i + 1].rank, t->nodes[t->nodes[i].next].rank);
}

/* The frame of a configuration that is within a loop and nothing else; 0: it is not. */
static uint32_t only_loop(const qn_engine *e, uint32_t config)
{
    const qn_config *c = qn_config_at(e, config);
    if (c->n != 1) {
        return 0;
    }
    uint32_t f = qn_config_frames(e, config)[0];
    return qn_rx_at(&e->rx, qn_frame_at(e, f)->state)->kind == QN_RX_K_LOOP ? f : 0;
}

static bool takes_below(qn_engine *e, const qn_trie *t, uint32_t i, uint32_t state, uint32_t hi, uint32_t *n_fits)
{
    uint32_t needed = qn_below_needs(e, t, i, state, n_fits);
    return needed != UINT32_MAX && needed <= hi;
}

/* Whether a loop of the configuration takes all that is below node i: what its other frames do does not matter then. */
static bool config_takes_below(qn_engine *e, const qn_trie *t, uint32_t i, uint32_t config, uint32_t *n_fits)
{
    bool found = false;
    const qn_config *c = qn_config_at(e, config);
    for (uint32_t k = 0; k < c->n && k < MAX_LOOPS && t->nodes[i].height != QN_NO_HEIGHT && !found; k++) {
        qn_frame f = *qn_frame_at(e, qn_config_frames(e, config)[k]);
        found = qn_rx_at(&e->rx, f.state)->kind == QN_RX_K_LOOP && takes_below(e, t, i, f.state, f.hi, n_fits);
    }
    return found;
}

/* The walk by configurations. is_joint: also where one is a loop and nothing else. */
static void walk_configs(qn_engine *e, const qn_trie *t, uint32_t begin, uint32_t end, uint32_t config, bool is_joint)
{
    uint32_t loop;
    const qn_trie_node *nodes = t->nodes;
    uint32_t base = nodes[begin].depth - 1u, n_fits = MAX_FITS;
    e->walk_configs[base] = config;
    e->walk_rows[base] = qn_config_row(e, config);
    uint32_t n_nodes = 0;
    for (uint32_t i = begin; i < end; n_nodes++) {
        const qn_trie_node *n = &nodes[i];
        uint32_t *row = e->walk_rows[n->depth - 1];
        uint32_t to = row == NULL ? QN_NO_CONFIG : row[n->byte];
        if (to == QN_NO_CONFIG) {
            to = qn_config_next(e, e->walk_configs[n->depth - 1], n->byte);
            if (e->status != QN_OK) {
                return;
            }
        }
        if (to == QN_DEAD) {
            i = n->next;
            continue;
        }
        add_tokens(e, t, n);
        if (n->next == i + 1) {
            i++;
            continue;
        }
        const qn_config *c = qn_config_at(e, to);
        if (c->may_end) {
            add_number(e, &e->exits, i);
        }
        if (c->n == 0) {
            i = n->next;
            continue;
        }
        if (c->n == 1 && !is_joint && (loop = only_loop(e, to)) != 0) {
            qn_walk_loop(e, t, i + 1, n->next, loop);
            i = n->next;
            continue;
        }
        if ((c->n > 1 || is_joint) && config_takes_below(e, t, i, to, &n_fits)) {
            qn_walk_add_below(e, t, i);
            i = n->next;
            continue;
        }
        e->walk_configs[n->depth] = to;
        e->walk_rows[n->depth] = qn_config_row(e, to);
        i++;
    }
    qn_walk_count(e, n_nodes);
}

void qn_walk(qn_engine *e, const qn_trie *t, uint32_t begin, uint32_t end, uint32_t config)
{
    if (begin >= end || e->status != QN_OK) {
        return;
    }
    uint32_t loop = only_loop(e, config);
    if (loop != 0) {
        qn_walk_loop(e, t, begin, end, loop);
    } else {
        walk_configs(e, t, begin, end, config, false);
    }
}

bool qn_loop_is_within(const qn_engine *e, uint32_t state, uint32_t config)
{
    uint32_t loop = qn_rx_at(&e->rx, state)->a;
    for (uint32_t i = 0; i < qn_config_at(e, config)->n; i++) {
        const qn_rx_node *x = qn_rx_at(&e->rx, qn_frame_at(e, qn_config_frames(e, config)[i])->state);
        if (x->kind == QN_RX_K_LOOP && x->a == loop) {
            return true;
        }
    }
    return false;
}

/* Whether a round of the loop begins with one of these bytes. */
static bool begins_with(qn_engine *e, uint32_t state, const uint64_t bytes[4])
{
    qn_rx_head h = qn_rx_head_of(&e->rx, qn_rx_loops(&e->rx)[qn_rx_at(&e->rx, state)->a].round);
    for (uint32_t i = 0; i < h.n_runs; i++) {
        qn_rx_run r = qn_rx_runs(&e->rx)[h.first_run + i];
        for (uint32_t c = r.lo; c <= r.hi && c < 256; c++) {
            if ((bytes[c / 64] >> (c % 64) & 1) != 0) {
                return true;
            }
        }
    }
    return false;
}

void qn_walk_root(qn_engine *e, const qn_trie *t, uint32_t config)
{
    uint64_t first[4];
    qn_config_first(e, config, first);
    for (uint32_t w = 0; w < 4; w++) {
        for (uint64_t left = first[w]; left != 0; left &= left - 1) {
            uint32_t child = t->child[w * 64 + (uint32_t)__builtin_ctzll(left)];
            if (child != 0) {
                qn_walk(e, t, child - 1, t->nodes[child - 1].next, config);
            }
        }
    }
}

void qn_walk_behind(qn_engine *e, const qn_trie *t, uint32_t i, uint32_t behind)
{
    const qn_trie_node *n = &t->nodes[i];
    uint32_t to = qn_config_next(e, behind, n->byte);
    if (to == QN_DEAD) {
        return;
    }
    add_tokens(e, t, n);
    if (n->next != i + 1) {
        if (qn_config_at(e, to)->may_end) {
            add_number(e, &e->exits, i);
        }
        if (qn_config_at(e, to)->n != 0) {
            e->n_forks++;
            qn_walk(e, t, i + 1, n->next, to);
            e->n_forks--;
        }
    }
}

/* What a walk keeps at a depth: the loop's state, its row (of dead ends where no round is left), and the counters. */
static inline void enter(qn_engine *e, uint32_t depth, uint32_t state, uint32_t lo, uint32_t hi)
{
    e->walk_states[depth] = state;
    e->walk_lo[depth] = lo;
    e->walk_hi[depth] = hi;
    e->walk_rows[depth] = hi == 0 && qn_rx_at(&e->rx, state)->b != 0 ? no_way : qn_loop_row(e, state);
}

void qn_walk_loop(qn_engine *e, const qn_trie *t, uint32_t begin, uint32_t end, uint32_t frame)
{
    qn_frame f = *qn_frame_at(e, frame);
    bool is_guarded = qn_rx_loops(&e->rx)[qn_rx_at(&e->rx, f.state)->a].is_guarded;
    uint32_t behind = QN_DEAD;
    uint64_t first[4] = {0}; /* bytes that may follow the loop */
    if (f.parent != 0) {
        qn_frame below = *qn_frame_at(e, f.parent);
        behind = qn_config_enter(e, below.state, below.lo, below.hi, below.parent, true);
        qn_config_first(e, behind, first);
    }
    if (begin >= end || e->status != QN_OK) {
        return;
    }
    /* A loop that may begin again where it ends would be walked again at each such place, and within those again. */
    if (qn_loop_is_within(e, f.state, behind) || (e->n_forks != 0 && begins_with(e, f.state, first))) {
        uint32_t config = qn_config_make(e, &frame, 1, false);
        if (e->status == QN_OK) {
            walk_configs(e, t, begin, end, config, true);
        }
        return;
    }
    bool exits_here = f.parent == 0 || qn_config_at(e, behind)->may_end;
    const qn_trie_node *nodes = t->nodes;
    uint32_t n_fits = MAX_FITS;
    if (begin != 0 && nodes[begin - 1].next == end && takes_below(e, t, begin - 1, f.state, f.hi, &n_fits)) {
        qn_walk_add_below(e, t, begin - 1);
        return;
    }
    uint32_t base = nodes[begin].depth - 1u;
    enter(e, base, f.state, f.lo, f.hi);
    uint32_t n_nodes = 0;
    for (uint32_t i = begin; i < end && e->status == QN_OK; n_nodes++) {
        const qn_trie_node *n = &nodes[i];
        uint32_t d = n->depth - 1u, lo = e->walk_lo[d], hi = e->walk_hi[d], to = e->walk_rows[d][n->byte];
        if ((first[n->byte / 64] >> (n->byte % 64) & 1) != 0 && lo == 0 && d > base) {
            const qn_rx_node *at = qn_rx_at(&e->rx, e->walk_states[d]);
            if (at->b != 0 && at->is_null) { /* the loop is through */
                qn_walk_behind(e, t, i, behind);
            }
        }
        if (to == QN_RX_NEVER) {
            i = n->next;
            continue;
        }
        const qn_rx_node *x = qn_rx_at(&e->rx, to);
        if (x->b != 0) {
            lo -= lo != 0;
            hi -= hi != QN_GX_NO_MAX;
        }
        if (is_guarded && !qn_loop_is_alive(e, to, lo, hi)) {
            i = n->next;
            continue;
        }
        add_tokens(e, t, n);
        if (n->next != i + 1) {
            if (takes_below(e, t, i, to, hi, &n_fits)) { /* all that is below is taken: who else may does not matter */
                qn_walk_add_below(e, t, i);
                i = n->next;
                continue;
            }
            if (exits_here && x->b != 0 && lo == 0 && x->is_null) {
                add_number(e, &e->exits, i);
            }
            enter(e, d + 1, to, lo, hi);
        }
        i++;
    }
    qn_walk_count(e, n_nodes);
    e->status = e->status != QN_OK ? e->status : e->rx.status;
}
