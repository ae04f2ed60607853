/* Engines: opened, copied, and made to forget.
 * SPDX-License-Identifier: MIT */
#include "grammar/matcher_int.h"

static bool add_bottom(qn_engine *e)
{
    qn_frame bottom = {0};
    uint32_t none;
    return qn_vec_add(e->budget, &e->status, &e->frames, &bottom, QN_MAX_FRAMES, sizeof(bottom)) &&
           qn_config_make(e, &none, 0, false) == QN_DEAD && e->status == QN_OK;
}

static qn_status alloc_parts(qn_engine *e)
{
    const qn_grammar_vocab *v = e->vocab;
    size_t n_depths = (size_t)v->max_len + 2;
    e->n_loop_rows = e->rx.n_states + 1;
    e->chunks = qn_zalloc_array(e->budget, QN_RX_OWNER, QN_MAX_ROWS / QN_ROWS_A_CHUNK, sizeof(*e->chunks));
    e->loop_rows = qn_zalloc_array(e->budget, QN_RX_OWNER, e->n_loop_rows, sizeof(*e->loop_rows));
    e->loop_slices = qn_zalloc_array(e->budget, QN_RX_OWNER, e->n_loop_rows, sizeof(*e->loop_slices));
    e->loop_tables = qn_zalloc_array(e->budget, QN_RX_OWNER, e->n_loop_rows, sizeof(*e->loop_tables));
    e->walk_rows = qn_zalloc_array(e->budget, QN_RX_OWNER, n_depths, sizeof(*e->walk_rows));
    e->walk_configs = qn_zalloc_array(e->budget, QN_RX_OWNER, n_depths, sizeof(uint32_t));
    e->walk_states = qn_zalloc_array(e->budget, QN_RX_OWNER, n_depths, sizeof(uint32_t));
    e->walk_lo = qn_zalloc_array(e->budget, QN_RX_OWNER, n_depths, sizeof(uint32_t));
    e->walk_hi = qn_zalloc_array(e->budget, QN_RX_OWNER, n_depths, sizeof(uint32_t));
    e->step_slots = qn_zalloc_array(e->budget, QN_RX_OWNER, QN_STEP_SLOTS, sizeof(*e->step_slots));
    e->special_ids = qn_zalloc_array(e->budget, QN_RX_OWNER, (size_t)e->rx.n_specials + 1, sizeof(*e->special_ids));
    bool good = e->chunks != NULL && e->loop_rows != NULL && e->loop_slices != NULL && e->loop_tables != NULL && e->walk_rows != NULL &&
                e->walk_configs != NULL && e->walk_states != NULL && e->walk_lo != NULL && e->walk_hi != NULL &&
                e->step_slots != NULL && e->special_ids != NULL;
    return good ? QN_OK : qn_alloc_failure(e->budget, e->n_loop_rows * sizeof(*e->loop_rows));
}

/* Which token each special of the grammar is. */
static qn_status find_specials(qn_engine *e, qn_error *err)
{
    const qn_tokenizer *t = e->vocab->tokenizer;
    for (uint32_t i = 0; i < e->rx.n_specials; i++) {
        qn_span span = ((qn_span *)e->automaton->specials.items)[i];
        qn_str spelling = {(const char *)e->rx.text.items + span.start, span.end - span.start};
        int32_t found = -1;
        for (uint32_t id = 0; id < e->vocab->n_vocab && found < 0; id++) {
            qn_token_kind kind = qn_tokenizer_kind(t, (int32_t)id);
            bool is_special = kind == QN_TOKEN_CONTROL || kind == QN_TOKEN_USER || kind == QN_TOKEN_UNKNOWN;
            found = is_special && qn_str_eq(qn_tokenizer_piece(t, (int32_t)id), spelling) ? (int32_t)id : -1;
        }
        if (found < 0) {
            return qn_fail(err, QN_ENOTFOUND, "the vocabulary has no special token \"%.*s\"", QN_STR_ARG(spelling));
        }
        e->special_ids[i] = found;
    }
    return QN_OK;
}

static qn_engine *alloc_engine(const qn_automaton *a, const qn_grammar_vocab *v, qn_budget *b)
{
    qn_engine *e = qn_zalloc(b, QN_RX_OWNER, sizeof(*e));
    if (e != NULL) {
        e->automaton = a;
        e->vocab = v;
        e->vocab_serial = v->serial;
        e->budget = b;
        e->clip = UINT32_MAX;
        e->max_state_bytes = QN_MAX_STATE_BYTES;
    }
    return e;
}

qn_status qn_engine_open(const qn_automaton *a, const qn_grammar_vocab *v, qn_budget *b, qn_engine **out, qn_error *err)
{
    *out = NULL;
    qn_engine *e = alloc_engine(a, v, b);
    if (e == NULL) {
        return qn_alloc_failure(b, sizeof(*e));
    }
    qn_status status = qn_rx_copy(&a->rx, b, &e->rx);
    status = status != QN_OK ? status : alloc_parts(e);
    status = status != QN_OK ? status : find_specials(e, err);
    if (status == QN_OK && !add_bottom(e)) {
        status = e->status;
    }
    if (status != QN_OK) {
        qn_engine_close(e);
        return status;
    }
    *out = e;
    return QN_OK;
}

void qn_engine_drop_masks(qn_engine *e)
{
    for (uint32_t i = 0; i < e->results.n; i++) {
        qn_free(((qn_result **)e->results.items)[i]);
    }
    e->results.n = 0;
    e->result_bytes = 0;
    for (uint32_t i = 0; e->loop_tables != NULL && i < e->n_loop_rows; i++) {
        qn_loop_table *t = e->loop_tables[i];
        qn_free(t == NULL ? NULL : t->places);
        qn_free(t);
        e->loop_tables[i] = NULL;
    }
    e->table_bytes = 0;
    qn_free(e->result_table.slots);
    e->result_table = (qn_table){0};
}

static void drop_rows(qn_engine *e)
{
    for (uint32_t i = 0; i < e->n_chunks; i++) {
        qn_free(e->chunks[i]);
    }
    e->n_chunks = e->n_rows = 0;
}

void qn_engine_close(qn_engine *e)
{
    if (e == NULL) {
        return;
    }
    qn_engine_drop_masks(e);
    drop_rows(e);
    for (uint32_t i = 0; e->loop_rows != NULL && i < e->n_loop_rows; i++) {
        qn_free(e->loop_rows[i]);
    }
    void *all[] = {e->chunks, e->loop_rows, e->loop_slices, e->loop_tables, e->walk_rows, e->walk_configs, e->walk_states, e->walk_lo,
                   e->walk_hi, e->step_slots, e->special_ids, e->frames.items, e->configs.items, e->sets.items, e->frame_table.slots,
                   e->config_table.slots, e->steps.items, e->out.items, e->results.items, e->ids.items, e->exits.items};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        qn_free(all[i]);
    }
    qn_rx_close(&e->rx);
    qn_free(e);
}

uint64_t qn_engine_bytes(const qn_engine *e)
{
    return qn_rx_bytes(&e->rx) + e->result_bytes + e->table_bytes + (uint64_t)e->n_rows * 1024 +
           (uint64_t)e->frames.cap * sizeof(qn_frame) + (uint64_t)e->configs.cap * sizeof(qn_config) +
           ((uint64_t)e->sets.cap + e->frame_table.n_slots + e->config_table.n_slots) * sizeof(uint32_t);
}

static void close_parts(qn_rx_vec *frames, qn_rx_vec *configs, qn_rx_vec *sets, qn_table *of_frames, qn_table *of_configs)
{
    qn_free(frames->items);
    qn_free(configs->items);
    qn_free(sets->items);
    qn_free(of_frames->slots);
    qn_free(of_configs->slots);
}

/* Marks the frames of configs[0, n), and those below them. */
static void mark_frames(const qn_frame *old, uint32_t n_old, const qn_config *old_configs, const uint32_t *old_sets,
                        const uint32_t *configs, uint32_t n, uint32_t *places)
{
    for (uint32_t i = 0; i < n; i++) {
        const qn_config *c = &old_configs[configs[i]];
        for (uint32_t k = 0; k < c->n; k++) {
            places[old_sets[c->first + k]] = 1;
        }
    }
    for (uint32_t f = n_old; f-- > 1;) {
        if (places[f] != 0) {
            places[old[f].parent] = 1;
        }
    }
}

bool qn_engine_has_many_states(const qn_engine *e)
{
    return qn_rx_bytes(&e->rx) > qn_rx_bytes(&e->automaton->rx) + e->max_state_bytes;
}

/* Puts a pool in place of e's, which holds no states beside the grammar's but those of the marked frames. map[old number]
 * is the new one. The old pool is not closed: nothing is lost yet. */
static bool renew_states(qn_engine *e, const qn_frame *old, uint32_t n_old, const uint32_t *places, uint32_t *map)
{
    qn_rx_pool fresh;
    e->status = qn_rx_copy(&e->automaton->rx, e->budget, &fresh);
    if (e->status != QN_OK) {
        return false;
    }
    for (uint32_t f = 1; f < n_old; f++) {
        map[old[f].state] |= places[f] != 0;
    }
    e->status = qn_rx_carry(&e->rx, &fresh, e->automaton->rx.nodes.n, map, e->rx.nodes.n);
    if (e->status != QN_OK) {
        qn_rx_close(&fresh);
        return false;
    }
    e->rx = fresh;
    return true;
}

/* Makes the frames of configs[0, n) and what is below them again, out of `old` ones, and the configurations. Of a pool of
 * states that has grown large, only what they need goes on, in a fresh one. */
static bool remake(qn_engine *e, const qn_frame *old, uint32_t n_old, const qn_config *old_configs,
                   const uint32_t *old_sets, const uint32_t *configs, uint32_t n, uint32_t *fresh)
{
    uint32_t *places = qn_zalloc_array(e->budget, QN_RX_OWNER, n_old, sizeof(*places)); /* 1: wanted; then its number */
    uint32_t *map = qn_engine_has_many_states(e) ? qn_zalloc_array(e->budget, QN_RX_OWNER, e->rx.nodes.n, sizeof(*map)) : NULL;
    qn_rx_vec set = {0};
    if (places == NULL || (map == NULL && qn_engine_has_many_states(e))) {
        e->status = qn_alloc_failure(e->budget, (uint64_t)n_old * sizeof(*places));
        qn_free(places);
        qn_free(map);
        return false;
    }
    mark_frames(old, n_old, old_configs, old_sets, configs, n, places);
    bool good = (map == NULL || renew_states(e, old, n_old, places, map)) && add_bottom(e);
    places[0] = 0;
    for (uint32_t f = 1; f < n_old && good; f++) {
        if (places[f] != 0) {
            uint32_t state = map == NULL ? old[f].state : map[old[f].state];
            places[f] = qn_frame_make(e, state, old[f].lo, old[f].hi, places[old[f].parent]);
            good = e->status == QN_OK;
        }
    }
    for (uint32_t i = 0; i < n && good; i++) {
        const qn_config *c = &old_configs[configs[i]];
        set.n = 0;
        for (uint32_t k = 0; k < c->n; k++) {
            qn_vec_add(e->budget, &e->status, &set, &places[old_sets[c->first + k]], QN_MAX_FRAMES, sizeof(uint32_t));
        }
        fresh[i] = qn_config_make(e, set.items, set.n, c->may_end);
        good = e->status == QN_OK;
    }
    qn_free(places);
    qn_free(map);
    qn_free(set.items);
    return good;
}

qn_status qn_engine_forget(qn_engine *e, uint32_t *configs, uint32_t n)
{
    qn_rx_vec frames = e->frames, old_configs = e->configs, sets = e->sets;
    qn_table of_frames = e->frame_table, of_configs = e->config_table;
    qn_rx_pool states = e->rx;
    uint32_t fresh[QN_MAX_HISTORY + 1];
    e->frames = e->configs = e->sets = (qn_rx_vec){0};
    e->frame_table = e->config_table = (qn_table){0};
    e->status = QN_OK;
    if (!remake(e, frames.items, frames.n, old_configs.items, sets.items, configs, n, fresh)) {
        close_parts(&e->frames, &e->configs, &e->sets, &e->frame_table, &e->config_table);
        e->frames = frames;
        e->configs = old_configs;
        e->sets = sets;
        e->frame_table = of_frames;
        e->config_table = of_configs;
        if (e->rx.nodes.items != states.nodes.items) {
            qn_rx_close(&e->rx);
            e->rx = states;
        }
        return e->status;
    }
    if (e->rx.nodes.items != states.nodes.items) {
        qn_rx_close(&states);
    }
    close_parts(&frames, &old_configs, &sets, &of_frames, &of_configs);
    memcpy(configs, fresh, n * sizeof(*fresh));
    qn_engine_drop_masks(e);
    drop_rows(e);
    return QN_OK;
}

static bool copy_vec(qn_engine *to, qn_rx_vec *v, const qn_rx_vec *from, size_t item_bytes)
{
    if (from->n != 0) {
        if (!qn_vec_room(to->budget, &to->status, v, from->n, UINT32_MAX / 2, item_bytes)) {
            return false;
        }
        memcpy(v->items, from->items, (size_t)from->n * item_bytes);
        v->n = from->n;
    }
    return true;
}

static bool copy_table(qn_engine *to, qn_table *t, const qn_table *from)
{
    if (from->n_slots == 0) { /* no frame was needed yet */
        return true;
    }
    t->slots = qn_alloc(to->budget, QN_RX_OWNER, from->n_slots * sizeof(*t->slots));
    if (t->slots == NULL) {
        to->status = qn_alloc_failure(to->budget, from->n_slots * sizeof(*t->slots));
        return false;
    }
    memcpy(t->slots, from->slots, from->n_slots * sizeof(*t->slots));
    t->n_slots = from->n_slots;
    return true;
}

qn_status qn_engine_copy(const qn_engine *from, qn_engine **out)
{
    *out = NULL;
    qn_engine *e = alloc_engine(from->automaton, from->vocab, from->budget);
    if (e == NULL) {
        return qn_alloc_failure(from->budget, sizeof(*e));
    }
    e->status = qn_rx_copy(&from->rx, from->budget, &e->rx);
    e->status = e->status != QN_OK ? e->status : alloc_parts(e);
    bool good = e->status == QN_OK && copy_vec(e, &e->frames, &from->frames, sizeof(qn_frame)) &&
                copy_vec(e, &e->configs, &from->configs, sizeof(qn_config)) &&
                copy_vec(e, &e->sets, &from->sets, sizeof(uint32_t)) &&
                copy_table(e, &e->frame_table, &from->frame_table) &&
                copy_table(e, &e->config_table, &from->config_table);
    if (!good) {
        qn_status status = e->status;
        qn_engine_close(e);
        return status;
    }
    memcpy(e->special_ids, from->special_ids, e->rx.n_specials * sizeof(*e->special_ids));
    for (uint32_t i = 0; i < e->configs.n; i++) {
        qn_config_at(e, i)->row = 0;
    }
    *out = e;
    return QN_OK;
}
