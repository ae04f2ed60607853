/* Puts masks together: for each frame that may take the next byte, what its walk found, and then, frame by frame down
 * the stack, what was found for tokens that go on below.
 * SPDX-License-Identifier: MIT */
#include "grammar/mask_int.h"

#define MAX_RESULTS (1u << 20)
#define MAX_LIST 1500        /* ids; more are kept as a mask */
#define MAX_FRAMES_JOINED 64 /* that are looked through for what can follow a loop */

/* ---- results ---- */

static uint32_t hash_key(uint32_t kind, uint32_t a, uint32_t b)
{
    uint32_t h = (kind * 31 + a) * 0x9e3779b1u;
    h = (h ^ h >> 15 ^ b) * 0x85ebca6bu;
    return h ^ h >> 13;
}

static const qn_result *result_at(const qn_engine *e, uint32_t i) { return ((qn_result **)e->results.items)[i]; }

static bool grow_table(qn_engine *e)
{
    qn_table *t = &e->result_table;
    if ((e->results.n + 1) * 2 <= t->n_slots) {
        return true;
    }
    uint32_t n_slots = t->n_slots == 0 ? 256 : t->n_slots * 2;
    uint32_t *slots = qn_zalloc_array(e->budget, QN_RX_OWNER, n_slots, sizeof(*slots));
    if (slots == NULL) {
        e->status = qn_alloc_failure(e->budget, (uint64_t)n_slots * sizeof(*slots));
        return false;
    }
    for (uint32_t i = 0; i < e->results.n; i++) {
        const qn_result *r = result_at(e, i);
        uint32_t s = hash_key(r->kind, r->a, r->b) & (n_slots - 1);
        while (slots[s] != 0) {
            s = (s + 1) & (n_slots - 1);
        }
        slots[s] = i + 1;
    }
    qn_free(t->slots);
    *t = (qn_table){slots, n_slots};
    return true;
}

/* The number of a result + 1; 0: not there, and *slot is where it would be. */
static uint32_t find_result(const qn_engine *e, uint32_t kind, uint32_t a, uint32_t b, uint32_t *slot)
{
    const qn_table *t = &e->result_table;
    uint32_t s = hash_key(kind, a, b) & (t->n_slots - 1);
    for (; t->slots[s] != 0; s = (s + 1) & (t->n_slots - 1)) {
        const qn_result *r = result_at(e, t->slots[s] - 1);
        if (r->kind == kind && r->a == a && r->b == b) {
            break;
        }
    }
    *slot = s;
    return t->slots[s];
}

/* Keeps what the walk collected. */
static qn_result *keep(qn_engine *e, const qn_result *facts, uint32_t slot)
{
    bool is_dense = e->ids.n > MAX_LIST;
    uint32_t n_words = e->vocab->n_words * 2; /* of 32 bits */
    uint32_t n_first = is_dense ? n_words : e->ids.n;
    size_t bytes = sizeof(qn_result) + ((size_t)n_first + e->exits.n) * sizeof(uint32_t);
    qn_result *r = e->status == QN_OK ? qn_alloc(e->budget, QN_RX_OWNER, bytes) : NULL;
    if (r == NULL) {
        e->status = e->status != QN_OK ? e->status : qn_alloc_failure(e->budget, bytes);
        return NULL;
    }
    *r = *facts;
    r->n_ids = e->ids.n;
    r->n_exits = e->exits.n;
    r->is_dense = is_dense;
    const uint32_t *ids = e->ids.items;
    if (is_dense) {
        memset(r->items, 0, n_words * sizeof(uint32_t));
        for (uint32_t i = 0; i < e->ids.n; i++) {
            uint64_t word;
            char *place = (char *)r->items + ids[i] / 64 * sizeof(word);
            memcpy(&word, place, sizeof(word));
            word |= (uint64_t)1 << (ids[i] % 64);
            memcpy(place, &word, sizeof(word));
        }
    } else if (n_first != 0) {
        memcpy(r->items, ids, n_first * sizeof(uint32_t));
    }
    if (e->exits.n != 0) {
        memcpy(r->items + n_first, e->exits.items, e->exits.n * sizeof(uint32_t));
    }
    if (!qn_vec_add(e->budget, &e->status, &e->results, &r, MAX_RESULTS, sizeof(r))) {
        qn_free(r);
        return NULL;
    }
    e->result_bytes += bytes;
    e->result_table.slots[slot] = e->results.n;
    return r;
}

static const uint32_t *exits_of(const qn_engine *e, const qn_result *r)
{
    return r->items + (r->is_dense ? e->vocab->n_words * 2 : r->n_ids);
}

/* bits |= mask; or bits = mask, when nothing was written to them yet. */
static void apply_mask(uint64_t *restrict bits, const void *restrict mask, uint32_t n_words, bool is_fresh)
{
    if (is_fresh) {
        memcpy(bits, mask, n_words * sizeof(*bits));
        return;
    }
    uint32_t i = 0;
    for (; i + 4 <= n_words; i += 4) { /* four words at once, so that they become a vector */
        uint64_t part[4];
        memcpy(part, (const char *)mask + i * sizeof(*bits), sizeof(part));
        bits[i] |= part[0];
        bits[i + 1] |= part[1];
        bits[i + 2] |= part[2];
        bits[i + 3] |= part[3];
    }
    for (; i < n_words; i++) {
        uint64_t word;
        memcpy(&word, (const char *)mask + i * sizeof(*bits), sizeof(word));
        bits[i] |= word;
    }
}

static void apply(const qn_engine *e, const qn_result *r, uint64_t *bits, bool *is_fresh)
{
    uint32_t n_words = e->vocab->n_words;
    if (r->slice != 0) {
        apply_mask(bits, e->vocab->slices[r->slice - 1].masks[0], n_words, *is_fresh);
        *is_fresh = false;
    }
    if (r->is_dense) {
        apply_mask(bits, r->items, n_words, *is_fresh);
        *is_fresh = false;
        return;
    }
    if (*is_fresh) {
        memset(bits, 0, n_words * sizeof(*bits));
        *is_fresh = false;
    }
    for (uint32_t i = 0; i < r->n_ids; i++) {
        bits[r->items[i] / 64] |= (uint64_t)1 << (r->items[i] % 64);
    }
}

/* ---- walks whose results are kept; each gives the result's number, or UINT32_MAX after a failure ---- */

static uint32_t walk_config(qn_engine *e, uint32_t config)
{
    uint32_t slot;
    if (e->status != QN_OK || !grow_table(e)) {
        return UINT32_MAX;
    }
    uint32_t found = find_result(e, QN_WALK_CONFIG, config, 0, &slot);
    if (found != 0) {
        return found - 1;
    }
    qn_walk_begin(e);
    qn_result facts = {.kind = QN_WALK_CONFIG, .a = config};
    facts.slice = facts.i_trie = qn_slice_of_config(e, config);
    qn_walk_root(e, qn_result_trie(e->vocab, facts.i_trie), config);
    return keep(e, &facts, slot) == NULL ? UINT32_MAX : e->results.n - 1;
}

static uint32_t walk_on(qn_engine *e, uint32_t result, uint32_t config)
{
    uint32_t slot;
    if (e->status != QN_OK || !grow_table(e)) {
        return UINT32_MAX;
    }
    uint32_t found = find_result(e, QN_WALK_ON, result, config, &slot);
    if (found != 0) {
        return found - 1;
    }
    const qn_result *r = result_at(e, result);
    const uint32_t *exits = exits_of(e, r);
    const qn_trie *t = qn_result_trie(e->vocab, r->i_trie);
    bool goes_on = qn_config_at(e, config)->may_end;
    qn_walk_begin(e);
    for (uint32_t i = 0; i < r->n_exits && e->status == QN_OK; i++) {
        if (goes_on) {
            qn_vec_add(e->budget, &e->status, &e->exits, &exits[i], UINT32_MAX / 8, sizeof(uint32_t));
        }
        qn_walk(e, t, exits[i] + 1, t->nodes[exits[i]].next, config);
    }
    qn_result facts = {.kind = QN_WALK_ON, .a = result, .b = config, .i_trie = r->i_trie};
    return keep(e, &facts, slot) == NULL ? UINT32_MAX : e->results.n - 1;
}

/* frame: the plan's, with all that can follow its loop below it, if is_whole. */
static uint32_t walk_loop(qn_engine *e, const qn_loop_plan *plan, uint32_t frame, uint32_t behind, bool is_whole)
{
    uint32_t slot, key = plan->use.slice * 2 + is_whole;
    if (e->status != QN_OK || !grow_table(e)) {
        return UINT32_MAX;
    }
    uint32_t found = find_result(e, QN_WALK_LOOP, frame, key, &slot);
    if (found != 0) {
        return found - 1;
    }
    qn_walk_begin(e);
    qn_result facts = {.kind = QN_WALK_LOOP, .a = frame, .b = key, .i_trie = plan->use.slice};
    qn_walk_between(e, plan, frame, behind);
    return keep(e, &facts, slot) == NULL ? UINT32_MAX : e->results.n - 1;
}

/* ---- frames ---- */

/* The frames below f, as many as are needed to know what can follow its loop: the uppermost of them, cut off at *below. */
static uint32_t join_frames(qn_engine *e, qn_frame f, uint32_t *behind, uint32_t *below)
{
    uint32_t chain[MAX_FRAMES_JOINED], n = 0, under = 0;
    *behind = QN_DEAD;
    for (uint32_t p = f.parent; p != 0 && n < MAX_FRAMES_JOINED && e->status == QN_OK;) {
        chain[n++] = p;
        under = 0;
        for (uint32_t i = n; i-- > 1;) {
            qn_frame at = *qn_frame_at(e, chain[i]);
            qn_clip(e, at.state, &at.lo, &at.hi);
            under = qn_frame_make(e, at.state, at.lo, at.hi, under);
        }
        qn_frame first = *qn_frame_at(e, f.parent);
        *behind = qn_config_enter(e, first.state, first.lo, first.hi, under, true);
        qn_clip(e, first.state, &first.lo, &first.hi);
        under = qn_frame_make(e, first.state, first.lo, first.hi, under);
        p = qn_frame_at(e, p)->parent;
        *below = p;
        if (!qn_config_at(e, *behind)->may_end) {
            break;
        }
    }
    return under;
}

static uint32_t walk_frame(qn_engine *e, qn_frame f, uint32_t *below, qn_slice_use *use)
{
    *below = f.parent;
    *use = (qn_slice_use){0};
    qn_clip(e, f.state, &f.lo, &f.hi);
    if (qn_rx_at(&e->rx, f.state)->kind == QN_RX_K_LOOP) {
        uint32_t behind, under = join_frames(e, f, &behind, below);
        bool is_whole = *below == 0 || (e->status == QN_OK && !qn_config_at(e, behind)->may_end);
        if (e->status != QN_OK) {
            return UINT32_MAX;
        }
        qn_loop_plan plan = qn_loop_plan_of(e, f, behind, is_whole);
        *use = plan.use;
        uint32_t joined = qn_frame_make(e, plan.frame.state, plan.frame.lo, plan.frame.hi, under);
        return walk_loop(e, &plan, joined, behind, is_whole);
    }
    uint32_t alone = qn_frame_make(e, f.state, f.lo, f.hi, 0);
    return walk_config(e, qn_config_make(e, &alone, 1, false));
}

static void apply_slice(qn_engine *e, const qn_slice_use *u, uint64_t *bits, bool *is_fresh)
{
    if (u->slice == 0) {
        return;
    }
    const qn_slice *s = &e->vocab->slices[u->slice - 1];
    uint32_t level = u->sure == QN_ANY_LEVEL ? 0 : u->sure < QN_SLICE_LEVELS ? u->sure : QN_SLICE_LEVELS;
    apply_mask(bits, s->masks[level], e->vocab->n_words, *is_fresh);
    *is_fresh = false;
    if (u->sure != QN_ANY_LEVEL) {
        qn_slice_add_longer(e, u, bits);
    }
}

static bool mask_frame(qn_engine *e, qn_frame f, uint64_t *bits, bool *is_fresh)
{
    uint32_t below;
    qn_slice_use use;
    uint32_t result = walk_frame(e, f, &below, &use);
    bool found = use.slice != 0;
    if (e->status == QN_OK) {
        apply_slice(e, &use, bits, is_fresh);
    }
    while (e->status == QN_OK) {
        const qn_result *r = result_at(e, result);
        apply(e, r, bits, is_fresh);
        found |= r->n_ids != 0 || r->slice != 0;
        if (below == 0 || r->n_exits == 0) {
            break;
        }
        qn_frame at = *qn_frame_at(e, below);
        uint32_t config = qn_config_enter(e, at.state, at.lo, at.hi, 0, true);
        result = walk_on(e, result, config);
        below = at.parent;
    }
    return found;
}

static bool mask_specials(qn_engine *e, qn_frame f, uint64_t *bits)
{
    bool found = false;
    qn_rx_head h = qn_rx_head_of(&e->rx, f.state);
    for (uint32_t i = h.n_runs; i-- > 0;) {
        qn_rx_run r = qn_rx_runs(&e->rx)[h.first_run + i];
        for (uint32_t s = r.lo; s <= r.hi && s >= QN_RX_SPECIAL_SYMBOL; s++) {
            uint32_t id = (uint32_t)e->special_ids[s - QN_RX_SPECIAL_SYMBOL];
            bits[id / 64] |= (uint64_t)1 << (id % 64);
            found = true;
        }
    }
    return found;
}

qn_status qn_mask_fill(qn_engine *e, uint32_t config, uint64_t *bits)
{
    const qn_grammar_vocab *v = e->vocab;
    qn_config c = *qn_config_at(e, config);
    e->clip = v->max_len + 1;
    e->work = e->n_nodes = 0;
    bool found = c.may_end && v->n_ends != 0, is_fresh = true;
    for (uint32_t i = 0; i < c.n && e->status == QN_OK; i++) {
        qn_frame f = *qn_frame_at(e, ((uint32_t *)e->sets.items)[c.first + i]);
        found |= mask_frame(e, f, bits, &is_fresh);
    }
    if (is_fresh) {
        memset(bits, 0, v->n_words * sizeof(*bits));
    }
    for (uint32_t i = 0; e->rx.n_specials != 0 && i < c.n && e->status == QN_OK; i++) {
        found |= mask_specials(e, *qn_frame_at(e, ((uint32_t *)e->sets.items)[c.first + i]), bits);
    }
    for (uint32_t i = 0; c.may_end && i < v->n_ends; i++) {
        bits[v->ends[i] / 64] |= (uint64_t)1 << (v->ends[i] % 64);
    }
    e->clip = UINT32_MAX;
    e->status = e->status != QN_OK ? e->status : e->rx.status;
    return e->status != QN_OK ? e->status : found ? QN_OK : QN_ENOTFOUND;
}
