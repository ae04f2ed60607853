/* What must be known of rules before and after their bodies are put together: whether they match anything, and whether
 * they begin with themselves.
 * SPDX-License-Identifier: MIT */
#include "grammar/automaton_int.h"

#define MAX_WORK (1u << 28) /* nodes looked at in all rounds; well below a second */

static uint32_t shortest_of(const qn_gx_builder *b, uint32_t i, const uint32_t *of_node, const uint32_t *of_rule)
{
    const qn_gx_node *n = &b->nodes[i];
    const qn_gx *kids = qn_gx_parts(b, n);
    uint32_t least = 0;
    switch ((qn_gx_kind)n->kind) {
    case QN_GX_NEVER:
        return UINT32_MAX;
    case QN_GX_BYTES:
        return n->n;
    case QN_GX_CLASS:
        least = UINT32_MAX;
        for (uint32_t k = 0; k < n->n; k++) {
            uint32_t c = b->ranges[n->first + k].first, len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
            least = len < least ? len : least;
        }
        return least;
    case QN_GX_SPECIAL:
        return 1;
    case QN_GX_CAT:
        for (uint32_t k = 0; k < n->n; k++) {
            least = qn_len_add(least, of_node[kids[k]]);
        }
        return least;
    case QN_GX_ALT:
        least = UINT32_MAX;
        for (uint32_t k = 0; k < n->n; k++) {
            least = of_node[kids[k]] < least ? of_node[kids[k]] : least;
        }
        return least;
    case QN_GX_REPEAT:
        return n->min == 0 ? 0 : of_node[kids[0]] == UINT32_MAX ? UINT32_MAX : qn_len_mul(of_node[kids[0]], n->min);
    case QN_GX_RULE:
        return of_rule[n->rule];
    case QN_GX_AND:
    case QN_GX_NOT:
        break; /* known, or nobody asks */
    }
    return UINT32_MAX;
}

qn_status qn_rules_measure(const qn_gx_builder *b, const qn_rx_pool *rx, const bool *has_known, const qn_rx *known,
                           qn_budget *budget, uint32_t *min_len, qn_error *err)
{
    uint32_t *of_node = qn_zalloc_array(budget, QN_RX_OWNER, (size_t)b->n_nodes + 1, sizeof(*of_node));
    if (of_node == NULL) {
        return qn_alloc_failure(budget, ((uint64_t)b->n_nodes + 1) * sizeof(*of_node));
    }
    for (uint32_t r = 0; r < b->n_rules; r++) {
        min_len[r] = UINT32_MAX;
    }
    uint64_t work = 0;
    bool changed = true;
    while (changed && work < MAX_WORK) {
        changed = false;
        for (uint32_t i = 0; i < b->n_nodes; i++) {
            of_node[i] = has_known[i] ? qn_rx_at(rx, known[i])->min_len : shortest_of(b, i, of_node, min_len);
            work += 1 + b->nodes[i].n / 16;
        }
        for (uint32_t r = 0; r < b->n_rules; r++) {
            if (b->rules[r].is_defined && of_node[b->rules[r].body] < min_len[r]) {
                min_len[r] = of_node[b->rules[r].body];
                changed = true;
            }
        }
        work += b->n_rules;
    }
    qn_free(of_node);
    return changed ? qn_fail(err, QN_EFULL, "rules are nested too deeply: %u rules, %u expressions", b->n_rules, b->n_nodes)
                   : QN_OK;
}

/* ---- left recursion: a rule whose text may begin with that of a rule which begins with it ---- */

typedef struct visit {
    uint32_t rule, i_call;
} visit;

static const char *name_of(const qn_gx_builder *b, uint32_t rule)
{
    return rule < b->n_rules ? b->rules[rule].name.data : "a repetition"; /* rules that loops made come last */
}

qn_status qn_rules_check_left(qn_rx_pool *rx, const qn_gx_builder *b, qn_error *err)
{
    enum { NEW, OPEN, DONE };
    uint8_t *marks = qn_zalloc_array(rx->budget, QN_RX_OWNER, (size_t)rx->rules.n + 1, 1);
    qn_rx_vec path = {0};
    qn_status status = marks == NULL ? qn_alloc_failure(rx->budget, rx->rules.n) : QN_OK;
    for (uint32_t r = 0; r < rx->rules.n && status == QN_OK; r++) {
        if (marks[r] != NEW || qn_rx_rules(rx)[r].start == QN_RX_NEVER) {
            continue;
        }
        visit first = {r, 0};
        qn_vec_add(rx->budget, &rx->status, &path, &first, QN_RX_MAX_NODES, sizeof(first));
        marks[r] = OPEN;
        while (path.n != 0 && rx->status == QN_OK && status == QN_OK) {
            visit *top = (visit *)path.items + path.n - 1;
            qn_rx_head h = qn_rx_head_of(rx, qn_rx_rules(rx)[top->rule].start);
            if (top->i_call >= h.n_calls) {
                marks[top->rule] = DONE;
                path.n--;
                continue;
            }
            const qn_rx_node *call = qn_rx_at(rx, qn_rx_calls(rx)[h.first_call + top->i_call++].call);
            if (call->kind == QN_RX_K_LCALL) {
                call = qn_rx_at(rx, call->a); /* a loop over a rule begins with that rule; others with bytes */
            }
            if (call->kind == QN_RX_K_LOOP) {
                continue;
            }
            visit next = {call->a, 0};
            if (marks[next.rule] == OPEN) {
                status = qn_fail(err, QN_EFORMAT, "rule \"%s\" begins with itself (left recursion)",
                                 name_of(b, next.rule < b->n_rules ? next.rule : top->rule));
            } else if (marks[next.rule] == NEW) {
                marks[next.rule] = OPEN;
                qn_vec_add(rx->budget, &rx->status, &path, &next, QN_RX_MAX_NODES, sizeof(next));
            }
        }
        status = status != QN_OK ? status : rx->status;
    }
    qn_free(path.items);
    qn_free(marks);
    return status;
}

uint32_t qn_gx_rule_of(const qn_gx_builder *b, uint32_t expression)
{
    bool *is_seen = qn_zalloc_array(b->budget, QN_RX_OWNER, (size_t)b->n_nodes + 1, sizeof(*is_seen));
    qn_rx_vec todo = {0};
    qn_status status = is_seen == NULL ? QN_ENOMEM : QN_OK;
    uint32_t found = UINT32_MAX;
    for (uint32_t r = 0; r < b->n_rules && found == UINT32_MAX && status == QN_OK; r++) {
        if (b->rules[r].is_defined) {
            qn_vec_add(b->budget, &status, &todo, &b->rules[r].body, QN_GX_MAX_NODES * 8, sizeof(qn_gx));
        }
        while (todo.n != 0 && status == QN_OK) {
            uint32_t at = ((uint32_t *)todo.items)[--todo.n];
            const qn_gx *parts = is_seen[at] ? NULL : qn_gx_parts(b, &b->nodes[at]);
            is_seen[at] = true;
            found = at == expression ? r : found;
            for (uint32_t k = 0; parts != NULL && k < b->nodes[at].n; k++) {
                qn_vec_add(b->budget, &status, &todo, &parts[k], QN_GX_MAX_NODES * 8, sizeof(qn_gx));
            }
        }
    }
    qn_free(todo.items);
    qn_free(is_seen);
    return found;
}
