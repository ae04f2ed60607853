/* Tokens from a state of a loop: those of a slice at once, as far as the counters allow them; then those outside of it,
 * by the loop's table or by a walk.
 * SPDX-License-Identifier: MIT */
#include "grammar/mask_int.h"

#define FEW_CHARS 8   /* a slice that is sure for fewer saves nothing, */
#define FEW_LENGTHS 2 /* but where it is for all lengths but so many */

static bool may_share(const qn_slice *s, const uint64_t first[4])
{
    for (unsigned c = 0; c < 256; c++) {
        if (s->has_byte[c] && (first[c / 64] >> (c % 64) & 1) != 0) {
            return true;
        }
    }
    return false;
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
        qn_count_round(e, f.state, &f.lo, &f.hi);
        if (!qn_loop_is_alive(e, f.state, f.lo, f.hi)) {
            return false;
        }
    }
    return true;
}

static void set_bit(uint64_t *bits, uint32_t id) { bits[id / 64] |= (uint64_t)1 << (id % 64); }

void qn_slice_add_longer(qn_engine *e, const qn_slice_use *u, uint64_t *bits)
{
    const qn_slice *s = &e->vocab->slices[u->slice - 1];
    uint32_t top = u->most < QN_SLICE_LEVELS ? u->most : QN_SLICE_LEVELS;
    for (uint32_t w = 0; top > u->sure && w < e->vocab->n_words; w++) {
        for (uint64_t left = s->masks[top][w] & ~s->masks[u->sure][w]; left != 0; left &= left - 1) {
            uint32_t id = w * 64 + (uint32_t)__builtin_ctzll(left);
            if (stays_alive(e, u->frame, qn_vocab_bytes(e->vocab, (int32_t)id))) {
                set_bit(bits, id);
            }
        }
    }
    for (uint32_t i = 0; i < s->n_long && s->long_chars[i] <= u->most; i++) {
        if (s->long_chars[i] <= u->sure || stays_alive(e, u->frame, qn_vocab_bytes(e->vocab, (int32_t)s->long_ids[i]))) {
            set_bit(bits, s->long_ids[i]);
        }
    }
}

/* The slice that frame f takes, as far as its counters let it. */
static qn_slice_use use_of(const qn_slice_fit *fit, qn_frame f)
{
    qn_slice_use none = {0}, u = {.slice = fit->slice, .sure = QN_ANY_LEVEL, .most = QN_ANY_LEVEL, .frame = f};
    if (fit->slice == 0 || fit->spare == UINT32_MAX || f.hi < fit->spare) {
        return none;
    }
    if (f.hi != QN_GX_NO_MAX && fit->has_rounds) {
        u.sure = f.hi - fit->spare;
        u.most = fit->is_plain && fit->level == QN_ANY_LEVEL ? f.hi : u.most;
    }
    u.sure = u.sure < fit->level ? u.sure : fit->level;
    bool saves = u.sure >= FEW_CHARS || u.most <= u.sure + FEW_LENGTHS;
    return u.sure != 0 && saves ? u : none;
}

/* A number of rounds for which a table says the same as for hi, and for others too. */
static uint32_t same_as(const qn_loop_table *table, uint32_t hi)
{
    if (table->most <= hi) {
        return QN_GX_NO_MAX;
    }
    /* Borders and parts have numbers of their own; what is below nodes is walked where it is not taken at once. */
    uint32_t low = hi;
    while (!table->is_bordered && hi < 256 && table->most_below <= hi && low > 0 &&
           (table->has_needed[low / 64] >> (low % 64) & 1) == 0) {
        low--;
    }
    return low;
}

qn_loop_plan qn_loop_plan_of(qn_engine *e, qn_frame f, uint32_t behind, bool is_whole)
{
    qn_loop_plan plan = {.frame = f};
    uint64_t first[4];
    qn_config_first(e, behind, first);
    qn_slice_fit fit = is_whole ? qn_slice_of_loop(e, f.state) : (qn_slice_fit){0};
    plan.use = use_of(&fit, f);
    const qn_slice *s = plan.use.slice == 0 ? NULL : &e->vocab->slices[plan.use.slice - 1];
    if (s != NULL && may_share(s, first)) {
        /* A token of the slice may begin within the loop and end behind it, unless the loop takes all of it. */
        plan.use = plan.use.sure == QN_ANY_LEVEL ? plan.use : (qn_slice_use){0};
        return plan;
    }
    if (!is_whole || (s == NULL && fit.slice != 0) || qn_loop_is_within(e, f.state, behind)) {
        return plan;
    }
    const qn_loop_table *table = qn_loop_table_of(e, f.state, s);
    if (table == NULL) {
        return plan;
    }
    plan.table = table;
    bool is_guarded = qn_rx_loops(&e->rx)[qn_rx_at(&e->rx, f.state)->a].is_guarded;
    if (f.lo == 0 || !is_guarded) {
        plan.frame.hi = same_as(table, f.hi);
        plan.frame.lo = f.lo > table->most ? table->most + 1 : f.lo;
    }
    return plan;
}

void qn_walk_between(qn_engine *e, const qn_loop_plan *plan, uint32_t frame, uint32_t behind)
{
    const qn_slice *s = plan->use.slice == 0 ? NULL : &e->vocab->slices[plan->use.slice - 1];
    const qn_trie *t = s == NULL ? &e->vocab->all : &s->rest;
    if (plan->table != NULL) {
        qn_walk_table(e, frame, plan->table, s, behind);
    } else {
        qn_walk_loop(e, t, 0, t->n, frame);
    }
}
