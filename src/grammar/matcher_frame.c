/* Frames and configurations: made once each, and stepped by a byte.
 * SPDX-License-Identifier: MIT */
#include "grammar/matcher_int.h"

#include <stdlib.h>

#define MAX_CONFIGS (1u << 22)
#define MAX_SETS (1u << 25)
#define FEW_ITEMS 16 /* of a step, looked through one by one */
#define FEW_FRAMES 64 /* that are compared with each other */
#define MAX_COMPARED 6 /* of each, and those below */

static uint32_t mix(uint32_t h, uint32_t v)
{
    h = (h ^ v) * 0x9e3779b1u;
    return h ^ h >> 15;
}

static uint32_t hash_frame(const qn_frame *f) { return mix(mix(mix(mix(7, f->state), f->lo), f->hi), f->parent); }

static uint32_t hash_set(const uint32_t *frames, uint32_t n, bool may_end)
{
    uint32_t h = may_end ? 3 : 5;
    for (uint32_t i = 0; i < n; i++) {
        h = mix(h, frames[i]);
    }
    return h;
}

static uint32_t hash_of(const qn_engine *e, const qn_table *t, uint32_t i)
{
    if (t == &e->frame_table) {
        return hash_frame(qn_frame_at(e, i));
    }
    const qn_config *c = qn_config_at(e, i);
    return hash_set(qn_config_frames(e, i), c->n, c->may_end);
}

/* Room in t for one more than the n that it holds. */
static bool table_room(qn_engine *e, qn_table *t, uint32_t n)
{
    if ((n + 1) * 2 <= t->n_slots) {
        return true;
    }
    uint32_t n_slots = t->n_slots == 0 ? 256 : t->n_slots * 2;
    uint32_t *slots = qn_zalloc_array(e->budget, QN_RX_OWNER, n_slots, sizeof(*slots));
    if (slots == NULL) {
        e->status = qn_alloc_failure(e->budget, (uint64_t)n_slots * sizeof(*slots));
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t s = hash_of(e, t, i) & (n_slots - 1);
        while (slots[s] != 0) {
            s = (s + 1) & (n_slots - 1);
        }
        slots[s] = i + 1;
    }
    qn_free(t->slots);
    *t = (qn_table){slots, n_slots};
    return true;
}

/* The parent of a frame, without those that are the same: any number of rounds behind any number of them is no more than
 * that. Else stacks would grow with the text where a loop's round ends with the loop. */
static uint32_t below_star(const qn_engine *e, uint32_t state, uint32_t lo, uint32_t hi, uint32_t parent)
{
    const qn_rx_node *x = qn_rx_at(&e->rx, state);
    bool is_loop = x->kind == QN_RX_K_GLOOP || (x->kind == QN_RX_K_LOOP && x->b != 0);
    bool is_star = is_loop ? lo == 0 && hi == QN_GX_NO_MAX : x->kind == QN_RX_K_REP && x->b == 0 && x->c == QN_GX_NO_MAX;
    const qn_frame *below = qn_frame_at(e, parent);
    while (is_star && parent != 0 && below->state == state && below->lo == lo && below->hi == hi) {
        parent = below->parent;
        below = qn_frame_at(e, parent);
    }
    return parent;
}

uint32_t qn_frame_make(qn_engine *e, uint32_t state, uint32_t lo, uint32_t hi, uint32_t parent)
{
    parent = below_star(e, state, lo, hi, parent);
    if (e->status != QN_OK || !table_room(e, &e->frame_table, e->frames.n)) {
        return 0;
    }
    qn_frame f = {state, lo, hi, parent, 0, QN_NOT_ASKED};
    uint32_t s = hash_frame(&f) & (e->frame_table.n_slots - 1);
    for (; e->frame_table.slots[s] != 0; s = (s + 1) & (e->frame_table.n_slots - 1)) {
        const qn_frame *held = qn_frame_at(e, e->frame_table.slots[s] - 1);
        if (held->state == state && held->lo == lo && held->hi == hi && held->parent == parent) {
            return e->frame_table.slots[s] - 1;
        }
    }
    const qn_frame *below = qn_frame_at(e, parent);
    f.depth = below->depth + 1;
    if (f.depth > QN_MAX_STACK_DEPTH) {
        qn_engine_full(e, "rules are open within rules too deeply");
        return 0;
    }
    if (!qn_vec_add(e->budget, &e->status, &e->frames, &f, QN_MAX_FRAMES, sizeof(f))) {
        return 0;
    }
    e->frame_table.slots[s] = e->frames.n;
    return e->frames.n - 1;
}

static int by_number(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return a < b ? -1 : a > b;
}

uint32_t qn_config_make(qn_engine *e, uint32_t *frames, uint32_t n, bool may_end)
{
    if (n > 1) {
        qsort(frames, n, sizeof(*frames), by_number);
        uint32_t n_kept = 1;
        for (uint32_t i = 1; i < n; i++) {
            if (frames[i] != frames[n_kept - 1]) {
                frames[n_kept++] = frames[i];
            }
        }
        n = n_kept;
    }
    if (n > QN_MAX_STACKS) {
        qn_engine_full(e, QN_TOO_MANY_WAYS);
    }
    if (e->status != QN_OK || !table_room(e, &e->config_table, e->configs.n)) {
        return QN_DEAD;
    }
    uint32_t s = hash_set(frames, n, may_end) & (e->config_table.n_slots - 1);
    for (; e->config_table.slots[s] != 0; s = (s + 1) & (e->config_table.n_slots - 1)) {
        uint32_t i = e->config_table.slots[s] - 1;
        const qn_config *held = qn_config_at(e, i);
        if (held->n == n && held->may_end == may_end &&
            (n == 0 || memcmp(qn_config_frames(e, i), frames, n * sizeof(*frames)) == 0)) {
            return i;
        }
    }
    qn_config c = {e->sets.n, n, 0, may_end};
    if (!qn_vec_room(e->budget, &e->status, &e->sets, n, MAX_SETS, sizeof(*frames)) ||
        !qn_vec_add(e->budget, &e->status, &e->configs, &c, MAX_CONFIGS, sizeof(c))) {
        return QN_DEAD;
    }
    if (n != 0) {
        memcpy((uint32_t *)e->sets.items + e->sets.n, frames, n * sizeof(*frames));
        e->sets.n += n;
    }
    e->config_table.slots[s] = e->configs.n;
    return e->configs.n - 1;
}

/* ---- steps ---- */

static void begin_step(qn_engine *e)
{
    e->steps.n = e->out.n = 0;
    e->out_end = false;
    if (++e->n_step == 0) { /* after 2^32 steps: none of the old marks may look new */
        memset(e->step_slots, 0, QN_STEP_SLOTS * sizeof(*e->step_slots));
        e->n_step = 1;
    }
}

static bool same_item(const qn_frame_item *a, const qn_frame_item *b)
{
    return a->state == b->state && a->parent == b->parent && a->lo == b->lo && a->hi == b->hi && a->pops == b->pops;
}

/* Whether an item equals one of this step; else, when there are many, it is noted under its number. */
static bool find_item(qn_engine *e, const qn_frame_item *item)
{
    const qn_frame_item *held = e->steps.items;
    uint32_t n = e->steps.n;
    if (n < FEW_ITEMS) {
        for (uint32_t i = 0; i < n; i++) {
            if (same_item(&held[i], item)) {
                return true;
            }
        }
        return false;
    }
    for (uint32_t i = n == FEW_ITEMS ? 0 : n; i <= n; i++) { /* the first time, those before too */
        const qn_frame_item *one = i == n ? item : &held[i];
        uint32_t s = mix(mix(mix(mix(one->pops, one->state), one->lo), one->hi), one->parent) & (QN_STEP_SLOTS - 1);
        for (; e->step_slots[s] >> 32 == e->n_step; s = (s + 1) & (QN_STEP_SLOTS - 1)) {
            if (i == n && same_item(&held[(uint32_t)e->step_slots[s]], item)) {
                return true;
            }
        }
        e->step_slots[s] = (uint64_t)e->n_step << 32 | i;
    }
    return false;
}

static void add_item(qn_engine *e, uint32_t state, uint32_t lo, uint32_t hi, uint32_t parent, bool pops)
{
    qn_clip(e, state, &lo, &hi);
    parent = below_star(e, state, lo, hi, parent);
    qn_frame_item item = {state, lo, hi, parent, pops};
    if (e->steps.n < QN_MAX_STEPS && find_item(e, &item)) {
        return;
    }
    if (e->steps.n == QN_MAX_STEPS) {
        qn_engine_full(e, QN_TOO_MANY_WAYS);
    }
    qn_vec_add(e->budget, &e->status, &e->steps, &item, QN_MAX_STEPS, sizeof(item));
    e->work++;
}

/* Calls of a state: each callee lies on a frame that holds what remains; none where nothing remains. */
static void add_calls(qn_engine *e, qn_rx_head h, uint32_t parent)
{
    for (uint32_t i = 0; i < h.n_calls && e->status == QN_OK; i++) {
        qn_rx_call c = qn_rx_calls(&e->rx)[h.first_call + i];
        const qn_rx_node *call = qn_rx_at(&e->rx, c.call);
        bool is_rule = call->kind == QN_RX_K_CALL;
        uint32_t start = is_rule ? qn_rx_rules(&e->rx)[call->a].start : call->a;
        uint32_t lo = is_rule ? 0 : call->b, hi = is_rule ? 0 : call->c;
        uint32_t below = c.rest == QN_RX_EPS ? parent : qn_frame_make(e, c.rest, 0, 0, parent);
        add_item(e, start, lo, hi, below, false);
    }
}

static void run_item(qn_engine *e, qn_frame_item it)
{
    const qn_rx_node *x = qn_rx_at(&e->rx, it.state);
    bool is_null = x->is_null;
    if (x->kind == QN_RX_K_GLOOP) {
        qn_rx_rule body = qn_rx_rules(&e->rx)[x->a];
        is_null = it.lo == 0 || body.min_len == 0;
        if (it.hi != 0) {
            uint32_t below = it.hi == 1 ? it.parent
                                        : qn_frame_make(e, it.state, it.lo == 0 ? 0 : it.lo - 1,
                                                        it.hi == QN_GX_NO_MAX ? it.hi : it.hi - 1, it.parent);
            add_item(e, body.start, 0, 0, below, false);
        }
    } else {
        bool is_between = x->kind == QN_RX_K_LOOP && x->b != 0;
        is_null = is_null && (!is_between || it.lo == 0);
        qn_rx_head h = qn_rx_head_of(&e->rx, it.state);
        if (h.n_runs != 0 && (!is_between || qn_loop_is_alive(e, it.state, it.lo == 0 ? 1 : it.lo, it.hi))) {
            uint32_t f = qn_frame_make(e, it.state, it.lo, it.hi, it.parent);
            qn_vec_add(e->budget, &e->status, &e->out, &f, QN_MAX_STEPS, sizeof(f));
        }
        add_calls(e, h, it.parent);
    }
    if (it.pops && is_null) {
        if (it.parent == 0) {
            e->out_end = true;
        } else {
            qn_frame below = *qn_frame_at(e, it.parent);
            add_item(e, below.state, below.lo, below.hi, below.parent, true);
        }
    }
}

/* Whether frame x allows all that y does, as nothing but counters sets them apart, theirs or those of frames below. */
static bool subsumes(const qn_engine *e, uint32_t x, uint32_t y)
{
    for (int depth = 0; depth < MAX_COMPARED && x != y; depth++) {
        const qn_frame *f = qn_frame_at(e, x), *g = qn_frame_at(e, y);
        if (f->state != g->state || f->lo > g->lo || f->hi < g->hi) {
            return false;
        }
        x = f->parent;
        y = g->parent;
    }
    return x == y;
}

/* Takes out frames that others subsume: loops that began at different places of a text. */
static void drop_subsumed(qn_engine *e)
{
    uint32_t *out = e->out.items, n = e->out.n, n_kept = 0;
    bool is_needed[FEW_FRAMES];
    if (n < 2 || n > FEW_FRAMES) {
        return;
    }
    e->work += n * n / 16;
    for (uint32_t i = 0; i < n; i++) {
        is_needed[i] = true;
        for (uint32_t k = 0; k < n && is_needed[i]; k++) {
            is_needed[i] = out[k] == out[i] || !subsumes(e, out[k], out[i]);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        out[n_kept] = out[i];
        n_kept += is_needed[i];
    }
    e->out.n = n_kept;
}

static uint32_t finish_step(qn_engine *e)
{
    for (uint32_t i = 0; i < e->steps.n && e->status == QN_OK; i++) {
        run_item(e, ((qn_frame_item *)e->steps.items)[i]);
    }
    e->status = e->status != QN_OK ? e->status : e->rx.status;
    if (e->work > QN_MAX_WORK) {
        qn_engine_full(e, QN_TOO_MANY_WAYS);
    }
    if (e->status != QN_OK) {
        return QN_DEAD;
    }
    drop_subsumed(e);
    return qn_config_make(e, e->out.items, e->out.n, e->out_end);
}

uint32_t qn_config_enter(qn_engine *e, uint32_t state, uint32_t lo, uint32_t hi, uint32_t parent, bool pops)
{
    begin_step(e);
    add_item(e, state, lo, hi, parent, pops);
    return finish_step(e);
}

uint32_t qn_config_step(qn_engine *e, uint32_t config, uint32_t symbol)
{
    begin_step(e);
    uint32_t n = qn_config_at(e, config)->n;
    for (uint32_t i = 0; i < n && e->status == QN_OK; i++) {
        qn_frame f = *qn_frame_at(e, qn_config_frames(e, config)[i]);
        uint32_t to = qn_rx_step(&e->rx, f.state, symbol);
        e->work++;
        if (to == QN_RX_NEVER) {
            continue;
        }
        qn_count_round(e, to, &f.lo, &f.hi);
        if (qn_rx_at(&e->rx, to)->kind == QN_RX_K_LOOP && !qn_loop_is_alive(e, to, f.lo, f.hi)) {
            continue;
        }
        add_item(e, to, f.lo, f.hi, f.parent, true);
    }
    return finish_step(e);
}

uint32_t *qn_config_row(qn_engine *e, uint32_t config)
{
    qn_config *c = qn_config_at(e, config);
    if (c->row != 0) {
        return e->chunks[(c->row - 1) / QN_ROWS_A_CHUNK] + (c->row - 1) % QN_ROWS_A_CHUNK * 256;
    }
    if (e->n_rows >= QN_MAX_ROWS) {
        return NULL;
    }
    if (e->n_rows == e->n_chunks * QN_ROWS_A_CHUNK) {
        uint32_t *chunk = qn_alloc(e->budget, QN_RX_OWNER, QN_ROWS_A_CHUNK * 256 * sizeof(*chunk));
        if (chunk == NULL) {
            e->status = qn_alloc_failure(e->budget, QN_ROWS_A_CHUNK * 256 * sizeof(*chunk));
            return NULL;
        }
        e->chunks[e->n_chunks++] = chunk;
    }
    uint32_t *row = e->chunks[e->n_rows / QN_ROWS_A_CHUNK] + e->n_rows % QN_ROWS_A_CHUNK * 256;
    c->row = ++e->n_rows;
    uint64_t first[4];
    qn_config_first(e, config, first);
    for (uint32_t i = 0; i < 256; i++) {
        row[i] = (first[i / 64] >> (i % 64) & 1) != 0 ? QN_NO_CONFIG : QN_DEAD;
    }
    return row;
}

uint32_t qn_config_next(qn_engine *e, uint32_t config, uint8_t byte)
{
    uint32_t *row = qn_config_row(e, config);
    if (row == NULL) {
        return e->status != QN_OK ? QN_DEAD : qn_config_step(e, config, byte);
    }
    if (row[byte] == QN_NO_CONFIG) {
        uint32_t to = qn_config_step(e, config, byte);
        if (e->status != QN_OK) {
            return QN_DEAD;
        }
        row[byte] = to;
    }
    return row[byte];
}

void qn_config_first(qn_engine *e, uint32_t config, uint64_t bytes[4])
{
    memset(bytes, 0, 4 * sizeof(*bytes));
    for (uint32_t i = 0; i < qn_config_at(e, config)->n; i++) {
        qn_rx_head h = qn_rx_head_of(&e->rx, qn_frame_at(e, qn_config_frames(e, config)[i])->state);
        for (uint32_t k = 0; k < h.n_runs; k++) {
            qn_rx_run r = qn_rx_runs(&e->rx)[h.first_run + k];
            for (uint32_t c = r.lo; c <= r.hi && c < 256; c++) {
                bytes[c / 64] |= (uint64_t)1 << (c % 64);
            }
        }
    }
}
