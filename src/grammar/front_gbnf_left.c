/* Left recursion: a rule whose text begins with that same rule would be opened without end. The automaton refuses it
 * too; this knows the place. SPDX-License-Identifier: MIT */
#include "grammar/front_gbnf.h"

#define MAX_WORK 50000000u /* nodes looked at while it is found out what may be empty; then the automaton decides */

typedef struct search {
    qn_gbnf *g;
    bool *is_empty;  /* of each expression: it matches the empty text */
    uint8_t *marks;  /* of each rule */
    uint32_t *path;  /* rules that are open, */
    uint32_t *edges; /* the rules that they begin with, in a stack */
    uint32_t n_edges, cap_edges;
    uint32_t *n_left; /* where those of each open rule end, in edges */
    bool is_full;
} search;

enum { NEW, OPEN, DONE };

static bool can_be_empty(const search *s, uint32_t i)
{
    const qn_gx_builder *b = s->g->b;
    const qn_gx_node *n = &b->nodes[i];
    bool all = true, any = false;
    switch ((qn_gx_kind)n->kind) {
    case QN_GX_BYTES:
        return n->n == 0;
    case QN_GX_RULE:
        return s->is_empty[b->rules[n->rule].body];
    case QN_GX_CAT:
    case QN_GX_ALT:
    case QN_GX_REPEAT:
        for (uint32_t k = 0; k < n->n; k++) {
            bool is = s->is_empty[b->children[n->first + k]];
            all = all && is;
            any = any || is;
        }
        return n->kind == QN_GX_CAT ? all : n->kind == QN_GX_ALT ? any : n->min == 0 || any;
    default:
        return false;
    }
}

/* False: not known within the limit. */
static bool find_empty(search *s)
{
    uint64_t work = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < s->g->b->n_nodes; i++) {
            bool is = !s->is_empty[i] && can_be_empty(s, i);
            s->is_empty[i] = s->is_empty[i] || is;
            changed = changed || is;
            work += 1 + s->g->b->nodes[i].n / 8;
        }
        if (work > MAX_WORK) {
            return false;
        }
    }
    return true;
}

static void add_edge(search *s, uint32_t rule)
{
    if (s->n_edges == s->cap_edges) {
        uint32_t cap = s->cap_edges == 0 ? 64 : s->cap_edges * 2;
        uint32_t *moved = qn_realloc(s->g->b->budget, "grammar", s->edges, cap * sizeof(*moved));
        if (moved == NULL) {
            s->is_full = true;
            return;
        }
        s->edges = moved;
        s->cap_edges = cap;
    }
    s->edges[s->n_edges++] = rule;
}

/* The rules that a text of x may begin with; recursion is as deep as groups are. */
static void add_left(search *s, qn_gx x)
{
    const qn_gx_builder *b = s->g->b;
    const qn_gx_node *n = &b->nodes[x];
    if (n->kind == QN_GX_RULE) {
        add_edge(s, n->rule);
        return;
    }
    if (n->kind != QN_GX_CAT && n->kind != QN_GX_ALT && n->kind != QN_GX_REPEAT) {
        return;
    }
    for (uint32_t k = 0; k < n->n; k++) {
        add_left(s, b->children[n->first + k]);
        if (n->kind == QN_GX_CAT && !s->is_empty[b->children[n->first + k]]) {
            return;
        }
    }
}

static void open_rule(search *s, uint32_t depth, uint32_t rule)
{
    s->marks[rule] = OPEN;
    s->path[depth] = rule;
    s->n_left[depth] = s->n_edges;
    add_left(s, s->g->b->rules[rule].body);
}

static qn_status walk(search *s, uint32_t first)
{
    uint32_t depth = 0;
    open_rule(s, 0, first);
    while (!s->is_full) {
        if (s->n_edges == s->n_left[depth]) {
            s->marks[s->path[depth]] = DONE;
            if (depth-- == 0) {
                return QN_OK;
            }
            continue;
        }
        uint32_t rule = s->edges[--s->n_edges];
        if (s->marks[rule] == OPEN) {
            return qn_gbnf_fail_at(s->g, QN_EFORMAT, s->g->first_use[rule],
                                   "left recursion: this rule begins with itself:", s->g->b->rules[rule].name);
        }
        if (s->marks[rule] == NEW) {
            open_rule(s, ++depth, rule);
        }
    }
    return qn_fail(s->g->err, QN_ENOMEM, "no memory for a grammar");
}

qn_status qn_gbnf_check_left(qn_gbnf *g)
{
    qn_gx_builder *b = g->b;
    search s = {.g = g};
    s.is_empty = qn_zalloc(b->budget, "grammar", b->n_nodes + 1);
    s.marks = qn_zalloc(b->budget, "grammar", b->n_rules);
    s.path = qn_zalloc_array(b->budget, "grammar", b->n_rules, sizeof(*s.path));
    s.n_left = qn_zalloc_array(b->budget, "grammar", b->n_rules, sizeof(*s.n_left));
    qn_status status = QN_OK;
    if (s.is_empty == NULL || s.marks == NULL || s.path == NULL || s.n_left == NULL) {
        status = qn_fail(g->err, QN_ENOMEM, "no memory for a grammar");
    } else if (find_empty(&s)) {
        for (uint32_t r = 0; r < b->n_rules && status == QN_OK; r++) {
            status = s.marks[r] == NEW ? walk(&s, r) : QN_OK;
        }
    }
    qn_free(s.is_empty);
    qn_free(s.marks);
    qn_free(s.path);
    qn_free(s.n_left);
    qn_free(s.edges);
    return status;
}
