/* Schemas that no value satisfies, and the part that is to blame. What takes an automaton to see (a pattern that meets
 * no other) is not seen here; the automaton's compiler refuses it.
 *
 * A node's children come before it, so that one walk over all nodes tells what may match something once it is known of
 * rules; walks are repeated until they tell no more.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_schema_int.h"

#define MAX_WALKS 200u
#define MAX_WORK (1u << 25) /* nodes looked at, far below a second; above it nothing is said */

typedef struct emptiness {
    const qn_gx_builder *b;
    bool *node_matches, *rule_matches;
} emptiness;

static bool any_matches(const emptiness *e, const qn_gx_node *n, bool all)
{
    for (uint32_t i = 0; i < n->n; i++) {
        if (e->node_matches[e->b->children[n->first + i]] != all) {
            return !all;
        }
    }
    return all;
}

static bool may_match(const emptiness *e, const qn_gx_node *n)
{
    switch ((qn_gx_kind)n->kind) {
    case QN_GX_NEVER:
        return false;
    case QN_GX_CLASS:
        return n->n != 0;
    case QN_GX_CAT:
    case QN_GX_AND:
        return any_matches(e, n, true);
    case QN_GX_ALT:
        return any_matches(e, n, false);
    case QN_GX_REPEAT:
        return n->min == 0 || e->node_matches[e->b->children[n->first]];
    case QN_GX_RULE:
        return e->rule_matches[n->rule];
    case QN_GX_BYTES:
    case QN_GX_NOT:
    case QN_GX_SPECIAL:
        break;
    }
    return true;
}

/* False: it took too long. */
static bool walk_until_known(const emptiness *e)
{
    const qn_gx_builder *b = e->b;
    bool is_new = true;
    for (uint32_t k = 0; is_new; k++) {
        if (k == MAX_WALKS || (uint64_t)k * b->n_nodes > MAX_WORK) {
            return false;
        }
        for (uint32_t i = 0; i < b->n_nodes; i++) {
            e->node_matches[i] = may_match(e, &b->nodes[i]);
        }
        is_new = false;
        for (uint32_t i = 0; i < b->n_rules; i++) {
            bool matches = e->node_matches[b->rules[i].body];
            is_new = is_new || matches != e->rule_matches[i];
            e->rule_matches[i] = matches;
        }
    }
    return true;
}

/* The child because of which a node matches nothing. */
static qn_gx blamed_child(const emptiness *e, const qn_gx_node *n)
{
    uint32_t i = 0;
    while (i + 1 < n->n && e->node_matches[e->b->children[n->first + i]]) {
        i++;
    }
    return e->b->children[n->first + i];
}

/* From the root to what matches nothing by itself; the last schema on the way. */
static const qn_json *blamed(qn_sx *s, const emptiness *e)
{
    const qn_json *schema = s->root;
    uint32_t rule = s->b->root;
    qn_gx x = s->b->rules[rule].body;
    for (uint32_t n = 0; n < s->b->n_nodes; n++) {
        const qn_gx_node *node = &s->b->nodes[x];
        bool has_child =
            node->kind == QN_GX_CAT || node->kind == QN_GX_ALT || node->kind == QN_GX_AND || node->kind == QN_GX_REPEAT;
        if (node->kind == QN_GX_RULE) {
            rule = node->rule;
            x = s->b->rules[rule].body;
            for (uint32_t i = 0; i < s->n_rules; i++) {
                bool is_it = s->rules[i].rule == rule && s->rules[i].n_items != 0;
                schema = is_it ? s->rules[i].items[0].schema : schema;
            }
        } else if (has_child && node->n != 0) {
            x = blamed_child(e, node);
        } else {
            break;
        }
    }
    return schema;
}

qn_status qn_sx_check_empty(qn_sx *s)
{
    const qn_gx_builder *b = s->b;
    emptiness e = {.b = b};
    e.node_matches = qn_alloc(b->budget, "grammar", (size_t)b->n_nodes + b->n_rules + 1);
    if (e.node_matches == NULL) {
        return qn_sx_no_memory(s);
    }
    e.rule_matches = e.node_matches + b->n_nodes;
    memset(e.node_matches, 0, (size_t)b->n_nodes + b->n_rules + 1);
    qn_status status = QN_OK;
    if (walk_until_known(&e) && !e.rule_matches[b->root]) {
        status = qn_sx_fail(s, QN_EFORMAT, blamed(s, &e), "", "no value satisfies this schema");
    }
    qn_free(e.node_matches);
    return status;
}
