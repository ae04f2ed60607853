/* Intersections and complements: automata that are made whole. Where a length is among the operands of an intersection, it
 * stays a counter, and the others become its guard.
 * SPDX-License-Identifier: MIT */
#include "grammar/automaton_int.h"

typedef struct maker {
    const qn_gx_builder *b;
    qn_rx_pool *rx;
    const qn_rx *made; /* by expression, without calls */
} maker;

typedef struct operands { /* of an AND and those in it */
    qn_rx_vec all;        /* expressions */
    qn_rx round;          /* of the repetitions that set the bounds */
    uint32_t min, max;
    qn_rx guard;          /* all the others */
    bool is_counted;
} operands;

/* The expression behind rules that are nothing but another name. */
static uint32_t behind_names(const maker *c, uint32_t i)
{
    for (int n = 0; n < 16 && c->b->nodes[i].kind == QN_GX_RULE && c->b->rules[c->b->nodes[i].rule].is_defined; n++) {
        i = c->b->rules[c->b->nodes[i].rule].body;
    }
    return i;
}

static bool list_operands(maker *c, uint32_t i, operands *o, int depth)
{
    i = behind_names(c, i);
    const qn_gx_node *n = &c->b->nodes[i];
    if (n->kind == QN_GX_AND && depth < QN_GX_MAX_DEPTH) {
        uint32_t x = c->b->children[n->first], y = c->b->children[n->first + 1];
        return list_operands(c, x, o, depth + 1) && list_operands(c, y, o, depth + 1);
    }
    return qn_vec_add(c->rx->budget, &c->rx->status, &o->all, &i, QN_GX_MAX_NODES, sizeof(i));
}

/* The round of an operand that is a repetition whose rounds can be counted; NEVER: it is no such. */
static qn_rx round_of(maker *c, uint32_t i)
{
    const qn_gx_node *n = &c->b->nodes[i];
    qn_rx round = n->kind == QN_GX_REPEAT ? c->made[c->b->children[n->first]] : QN_RX_NEVER;
    return round != QN_RX_NEVER && qn_rx_loop_of(c->rx, round) != QN_RX_NEVER ? round : QN_RX_NEVER;
}

/* Parts the operands into repetitions of one kind of round, that of the tightest bound, and a guard. */
static void part_operands(maker *c, operands *o)
{
    const uint32_t *all = o->all.items;
    o->max = QN_GX_NO_MAX;
    o->guard = qn_rx_not(c->rx, QN_RX_NEVER);
    uint32_t tightest = QN_GX_NO_MAX;
    for (uint32_t k = 0; k < o->all.n && c->rx->status == QN_OK; k++) {
        qn_rx round = round_of(c, all[k]);
        if (round != QN_RX_NEVER && (!o->is_counted || c->b->nodes[all[k]].max < tightest)) {
            o->is_counted = true;
            o->round = round;
            tightest = c->b->nodes[all[k]].max;
        }
    }
    for (uint32_t k = 0; k < o->all.n && c->rx->status == QN_OK; k++) {
        const qn_gx_node *n = &c->b->nodes[all[k]];
        if (o->is_counted && round_of(c, all[k]) == o->round) {
            o->min = n->min > o->min ? n->min : o->min;
            o->max = n->max < o->max ? n->max : o->max;
        } else {
            o->guard = qn_rx_and(c->rx, o->guard, c->made[all[k]]);
        }
    }
}

qn_rx qn_make_automaton(const qn_gx_builder *b, qn_rx_pool *rx, const qn_rx *made, uint32_t i)
{
    maker c = {b, rx, made};
    operands o = {0};
    qn_rx x = QN_RX_NEVER;
    if (b->nodes[i].kind == QN_GX_AND && list_operands(&c, i, &o, 0)) {
        part_operands(&c, &o);
    }
    if (rx->status == QN_OK) {
        x = !o.is_counted ? qn_rx_determinise(rx, made[i])
            : o.min > o.max ? QN_RX_NEVER
                            : qn_rx_guarded(rx, o.guard, o.round, o.min, o.max);
    }
    qn_free(o.all.items);
    return x;
}
