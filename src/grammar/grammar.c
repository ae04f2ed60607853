/* A grammar: its automaton, and the engines of matchers that were closed, kept for the next ones because of what they
 * found out.
 * SPDX-License-Identifier: MIT */
#include "grammar/grammar.h"
#include "grammar/matcher_int.h"

#define MAX_IDLE 4
#define MAX_IDLE_BYTES (16u << 20) /* of one; a larger one is not kept */

struct qn_grammar {
    qn_budget *budget;
    qn_automaton automaton;
    _Atomic(qn_engine *) idle[MAX_IDLE]; /* taken and given by exchange: no lock, no waiting */
    atomic_uint_fast64_t idle_bytes;     /* of those; for a moment, of one more */
};

qn_status qn_grammar_open(const qn_gx_builder *b, qn_budget *budget, qn_grammar **out, qn_error *err)
{
    *out = NULL;
    qn_grammar *g = qn_zalloc(budget, QN_RX_OWNER, sizeof(*g));
    if (g == NULL) {
        return qn_fail(err, qn_alloc_failure(budget, sizeof(*g)), "compiling the grammar: no memory");
    }
    g->budget = budget;
    qn_status status = qn_automaton_open(b, budget, &g->automaton, err);
    if (status != QN_OK) {
        qn_free(g);
        return status;
    }
    *out = g;
    return QN_OK;
}

void qn_grammar_close(qn_grammar *g)
{
    if (g == NULL) {
        return;
    }
    for (int i = 0; i < MAX_IDLE; i++) {
        qn_engine_close(atomic_load(&g->idle[i]));
    }
    qn_automaton_close(&g->automaton);
    qn_free(g);
}

void qn_grammar_get_size(const qn_grammar *g, qn_grammar_size *out)
{
    const qn_rx_pool *rx = &g->automaton.rx;
    *out = (qn_grammar_size){.n_rules = rx->rules.n, .n_states = rx->nodes.n, .n_edges = rx->runs.n + rx->calls.n,
                             .bytes = qn_rx_bytes(rx)};
}

const qn_automaton *qn_grammar_automaton(const qn_grammar *g) { return &g->automaton; }

qn_status qn_grammar_take_engine(qn_grammar *g, const qn_grammar_vocab *v, qn_engine **out, qn_error *err)
{
    for (int i = 0; i < MAX_IDLE; i++) {
        qn_engine *e = atomic_exchange(&g->idle[i], NULL);
        atomic_fetch_sub(&g->idle_bytes, e == NULL ? 0 : qn_engine_bytes(e));
        if (e != NULL && e->vocab_serial == v->serial) {
            *out = e;
            return QN_OK;
        }
        qn_engine_close(e); /* of another vocabulary, which may be gone */
    }
    return qn_engine_open(&g->automaton, v, g->budget, out, err);
}

void qn_grammar_give_engine(qn_grammar *g, qn_engine *e)
{
    uint64_t bytes = e == NULL ? 0 : qn_engine_bytes(e);
    atomic_fetch_add(&g->idle_bytes, bytes); /* before anybody can take it */
    for (int i = 0; i < MAX_IDLE && e != NULL && bytes <= MAX_IDLE_BYTES; i++) {
        qn_engine *none = NULL;
        if (atomic_compare_exchange_strong(&g->idle[i], &none, e)) {
            return;
        }
    }
    atomic_fetch_sub(&g->idle_bytes, bytes);
    qn_engine_close(e);
}

uint64_t qn_grammar_idle_bytes(const qn_grammar *g) { return atomic_load(&g->idle_bytes); }
