/* A compiled grammar: nodes for its rules' bodies, from which the states of the automaton are made as texts need them.
 * Immutable once made; what works with it has a pool of its own that starts as a copy.
 * SPDX-License-Identifier: MIT */
#ifndef QN_GRAMMAR_AUTOMATON_INT_H
#define QN_GRAMMAR_AUTOMATON_INT_H

#include "grammar/regular_int.h"

typedef struct qn_automaton {
    qn_rx_pool rx;
    uint32_t root;       /* rule */
    qn_rx_vec specials;  /* qn_span: the spellings of special tokens, in rx.text */
} qn_automaton;

/* The parts of an expression; NULL: it is of a kind without parts. */
static inline const qn_gx *qn_gx_parts(const qn_gx_builder *b, const qn_gx_node *n)
{
    bool has = n->kind == QN_GX_CAT || n->kind == QN_GX_ALT || n->kind == QN_GX_REPEAT || n->kind == QN_GX_AND ||
               n->kind == QN_GX_NOT;
    return has && n->n != 0 ? b->children + n->first : NULL;
}

/* Contract as for qn_grammar_open(). */
qn_status qn_automaton_open(const qn_gx_builder *b, qn_budget *budget, qn_automaton *out, qn_error *err);
void qn_automaton_close(qn_automaton *a);

/* automaton_and.c: an AND or NOT, as states that are all made. made: the nodes of the expressions in it, without calls. */
qn_rx qn_make_automaton(const qn_gx_builder *b, qn_rx_pool *rx, const qn_rx *made, uint32_t i);

/* automaton_small.c: whether x may stand wherever its rule is called. */
bool qn_rx_is_small(const qn_rx_pool *rx, qn_rx x);

/* automaton_check.c: for each rule of b, the bytes of its shortest text (UINT32_MAX: it matches nothing); known[i] is
 * the node of an expression i that was made already, NEVER when it was not and has_known[i] is unset. */
qn_status qn_rules_measure(const qn_gx_builder *b, const qn_rx_pool *rx, const bool *has_known, const qn_rx *known,
                           qn_budget *budget, uint32_t *min_len, qn_error *err);
/* The rule that an expression stands in; UINT32_MAX: none, or no memory to find out. */
uint32_t qn_gx_rule_of(const qn_gx_builder *b, uint32_t expression);
/* QN_EFORMAT: a rule begins with itself; name(ctx, rule) names it. */
qn_status qn_rules_check_left(qn_rx_pool *rx, const qn_gx_builder *b, qn_error *err);

#endif
