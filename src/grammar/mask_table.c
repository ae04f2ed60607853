/* Tokens from a place between two rounds of a loop: those of a slice at once, as far as the counters allow them; then those
 * outside of it, by the loop's table or by a walk.
 * SPDX-License-Identifier: MIT */
#include "grammar/mask_int.h"

static bool may_share(qn_engine *e, const qn_slice *s, uint32_t behind)
{
    uint64_t first[4];
    qn_config_first(e, behind, first);
    for (unsigned c = 0; c < 256; c++) {
        if (s->has_byte[c] && (first[c / 64] >> (c % 64) & 1) != 0) {
            return true;
        }
    }
    return false;
}

static void add_id(qn_engine *e, uint32_t id)
{
    qn_vec_add(e->budget, &e->status, &e->ids, &id, UINT32_MAX / 8, sizeof(id));
}

/* Node i of the slice's rest comes after n_rounds of the loop: what follows the loop may take it. */
static void try_behind(qn_engine *e, qn_frame f, const qn_slice *s, uint32_t i, uint32_t n_rounds, uint32_t behind)
{
    if (n_rounds >= f.lo && n_rounds <= f.hi && n_rounds != 0 && e->status == QN_OK) {
        qn_walk_behind(e, &s->rest, i, behind);
    }
}

/* The tokens outside the slice, by the loop's table: those within the loop, then those that go on behind it. */
static void walk_table(qn_engine *e, qn_frame f, const qn_slice *s, uint32_t behind)
{
    const qn_loop_table *table = qn_loop_table_of(e, f.state, s);
    if (table == NULL) {
        return;
    }
    for (uint32_t i = 0; i < table->n_within; i++) {
        if (table->places[i].n_rounds <= f.hi) {
            add_id(e, table->places[i].node);
        }
    }
    for (uint32_t i = 0; i < s->n_parts && !s->has_odd; i++) {
        if (s->parts[i].n_chars <= f.hi) {
            add_id(e, s->parts[i].i);
        }
    }
    uint64_t first[4];
    qn_config_first(e, behind, first);
    for (unsigned c = 0; c < 256; c++) {
        if ((first[c / 64] >> (c % 64) & 1) == 0) {
            continue;
        }
        for (uint32_t i = table->first[c]; i < table->first[c + 1]; i++) {
            try_behind(e, f, s, table->places[i].node, table->places[i].n_rounds, behind);
        }
        for (uint32_t i = s->first_border[c]; i < s->first_border[c + 1] && !s->has_odd; i++) {
            try_behind(e, f, s, s->borders[i].i, s->borders[i].n_chars, behind);
        }
    }
}

/* Whether a token's bytes are taken by the loop, which has a way to its end after them. */
static bool stays_alive(qn_engine *e, qn_frame f, qn_str bytes)
{
    for (size_t i = 0; i < bytes.len; i++) {
        const uint32_t *row = f.hi == 0 && qn_rx_at(&e->rx, f.state)->b != 0 ? NULL : qn_loop_row(e, f.state);
        f.state = row == NULL ? QN_RX_NEVER : row[(unsigned char)bytes.data[i]];
        if (f.state == QN_RX_NEVER) {
            return false;
        }
        if (qn_rx_at(&e->rx, f.state)->b != 0) {
            f.lo -= f.lo != 0;
            f.hi -= f.hi != QN_GX_NO_MAX;
        }
        if (!qn_loop_is_alive(e, f.state, f.lo, f.hi)) {
            return false;
        }
    }
    return true;
}

/* Tokens of the slice that are longer than its mask of this level: all up to `sure` characters; up to `most`, those that
 * turn out to have a way to an end. */
static void add_longer(qn_engine *e, qn_frame f, const qn_slice *s, uint32_t level, uint32_t sure, uint32_t most)
{
    uint32_t top = most < QN_SLICE_LEVELS ? most : QN_SLICE_LEVELS;
    for (uint32_t w = 0; top > level && w < e->vocab->n_words; w++) {
        for (uint64_t left = s->masks[top][w] & ~s->masks[level][w]; left != 0; left &= left - 1) {
            uint32_t id = w * 64 + (uint32_t)__builtin_ctzll(left);
            if (stays_alive(e, f, qn_vocab_bytes(e->vocab, (int32_t)id))) {
                add_id(e, id);
            }
        }
    }
    for (uint32_t i = 0; i < s->n_long && s->long_chars[i] <= most; i++) {
        if (s->long_chars[i] <= sure || stays_alive(e, f, qn_vocab_bytes(e->vocab, (int32_t)s->long_ids[i]))) {
            add_id(e, s->long_ids[i]);
        }
    }
}

void qn_walk_between(qn_engine *e, qn_frame f, uint32_t frame, uint32_t behind, qn_result *facts)
{
    bool is_open = f.hi == QN_GX_NO_MAX, is_guarded = qn_rx_loops(&e->rx)[qn_rx_at(&e->rx, f.state)->a].is_guarded;
    qn_loop_slice_found known = facts->b != 0 ? qn_loop_slice(e, f.state) : (qn_loop_slice_found){1, 0};
    const qn_slice *s = known.found < 2 ? NULL : &e->vocab->slices[known.found - 2];
    /* Tokens of so many characters surely have a way to an end; the guard may ask for some rounds more. */
    uint32_t sure = known.spare == UINT32_MAX || f.hi <= known.spare ? 0 : is_open ? f.hi : f.hi - known.spare;
    bool shares = s != NULL && may_share(e, s, behind);
    if (sure == 0 || (shares && !is_open)) {
        s = NULL; /* where it shares, a token of the slice may begin within the loop and end behind it */
    }
    if (s != NULL) {
        facts->slice = facts->i_trie = known.found - 1;
        facts->level = is_open ? 0 : sure < QN_SLICE_LEVELS ? sure : QN_SLICE_LEVELS;
    }
    if (s != NULL && !is_open) {
        add_longer(e, f, s, facts->level, sure, f.hi);
    }
    const qn_trie *t = qn_result_trie(e->vocab, facts->i_trie);
    if (s != NULL && !shares && !is_guarded) {
        walk_table(e, f, s, behind);
    } else {
        qn_walk_loop(e, t, 0, t->n, frame);
    }
}
