/* Compiles expressions and rules to the nodes of an automaton, in three steps: AND and NOT become automata of their own;
 * rules that match nothing are found; bodies are put together, without what matches nothing, so that from every state
 * there is a way to an end.
 * SPDX-License-Identifier: MIT */
#include "grammar/automaton_int.h"

#define MAX_COPIES 64  /* a repetition of more rounds is counted */
#define FEW_COPIES 8   /* so is one of characters that has more rounds than this */
#define WIDE_CHOICE 24 /* bytes: a repetition over so many is shared by all that have it */

typedef struct compiler {
    const qn_gx_builder *b;
    qn_budget *budget;
    qn_automaton *a;
    qn_rx_pool *rx; /* a's */
    qn_error *err;
    qn_rx *made[2];     /* [0]: by expression; [1]: for operands of AND and NOT, without calls */
    uint8_t *marks[2];  /* NEW, OPEN, DONE */
    uint8_t *rule_marks;
    bool *has_known;
    uint32_t *min_len;
    uint32_t last_rule; /* opened for an operand */
    uint32_t now;       /* expression that is made */
    qn_rx_vec todo;
} compiler;

enum { NEW, OPEN, DONE };

static qn_rx make_special(compiler *c, const qn_gx_node *n)
{
    uint32_t i = 0;
    qn_span *held = c->a->specials.items;
    const char *text = c->b->text;
    while (i < c->a->specials.n && (held[i].end - held[i].start != n->n ||
                                    memcmp(text + held[i].start, text + n->first, n->n) != 0)) {
        i++;
    }
    qn_span span = {n->first, n->first + (size_t)n->n};
    if (i == c->a->specials.n &&
        !qn_vec_add(c->budget, &c->rx->status, &c->a->specials, &span, QN_RX_MAX_SPECIALS, sizeof(span))) {
        return QN_RX_NEVER;
    }
    uint16_t symbol = (uint16_t)(QN_RX_SPECIAL_SYMBOL + i);
    return qn_rx_switch(c->rx, &(qn_rx_run){symbol, symbol, QN_RX_EPS}, 1);
}

static bool is_wide(qn_rx_pool *rx, qn_rx x)
{
    qn_rx_head h = qn_rx_head_of(rx, x);
    uint32_t n = 0;
    for (uint32_t i = 0; i < h.n_runs; i++) {
        qn_rx_run r = qn_rx_runs(rx)[h.first_run + i];
        n += r.hi - r.lo + 1u;
    }
    return n >= WIDE_CHOICE;
}

static qn_rx loop_by_rule(qn_rx_pool *rx, qn_rx x, uint32_t min, uint32_t max)
{
    qn_rx_rule rule = {x, qn_rx_at(rx, x)->min_len};
    for (uint32_t i = rx->rules.n; i-- > 0 && i + 64 > rx->rules.n;) { /* one of the last may be the same */
        if (qn_rx_rules(rx)[i].start == x) {
            return qn_rx_loop_call(rx, qn_rx_gloop(rx, i), min, max);
        }
    }
    if (!qn_vec_add(rx->budget, &rx->status, &rx->rules, &rule, QN_RX_MAX_NODES, sizeof(rule))) {
        return QN_RX_NEVER;
    }
    return qn_rx_loop_call(rx, qn_rx_gloop(rx, rx->rules.n - 1), min, max);
}

static qn_rx make_repeat(compiler *c, qn_rx x, uint32_t min, uint32_t max, bool is_plain)
{
    bool is_open = max == QN_GX_NO_MAX;
    if (is_plain || x == QN_RX_EPS || x == QN_RX_NEVER || c->rx->status != QN_OK || (max <= FEW_COPIES && !is_open)) {
        return qn_rx_rep(c->rx, x, min, max);
    }
    if (!is_open || min > FEW_COPIES || is_wide(c->rx, x)) {
        qn_rx loop = qn_rx_loop_of(c->rx, x);
        if (loop != QN_RX_NEVER) {
            return qn_rx_loop_call(c->rx, loop, min, max);
        }
    }
    return (is_open ? min : max) <= MAX_COPIES ? qn_rx_rep(c->rx, x, min, max) : loop_by_rule(c->rx, x, min, max);
}

static qn_rx make_rule(compiler *c, uint32_t rule)
{
    qn_rx start = qn_rx_rules(c->rx)[rule].start;
    if (c->rule_marks[rule] == DONE && qn_rx_is_small(c->rx, start)) {
        return start;
    }
    return qn_rx_rule_call(c->rx, rule);
}

static qn_rx make_cat(compiler *c, const qn_gx *kids, uint32_t n, const qn_rx *made)
{
    qn_rx x = QN_RX_EPS;
    for (uint32_t i = n; i-- > 0 && c->rx->status == QN_OK;) {
        x = qn_rx_cat(c->rx, made[kids[i]], x);
    }
    return x;
}

static qn_rx make_alt(compiler *c, const qn_gx *kids, uint32_t n, const qn_rx *made)
{
    qn_rx_vec all = {0};
    for (uint32_t i = 0; i < n; i++) {
        qn_vec_add(c->budget, &c->rx->status, &all, &made[kids[i]], QN_RX_MAX_NODES, sizeof(qn_rx));
    }
    qn_rx x = qn_rx_words(c->rx, all.items, all.n);
    qn_free(all.items);
    return x;
}

/* The node of expression i, whose parts are made. */
static qn_rx make(compiler *c, uint32_t i, int way)
{
    const qn_gx_node *n = &c->b->nodes[i];
    const qn_gx *kids = qn_gx_parts(c->b, n);
    const qn_rx *made = c->made[way];
    qn_rx_pool *rx = c->rx;
    switch ((qn_gx_kind)n->kind) {
    case QN_GX_NEVER:
        break;
    case QN_GX_BYTES:
        return qn_rx_lit(rx, n->first, n->n);
    case QN_GX_CLASS:
        return qn_rx_class(rx, c->b->ranges + n->first, n->n);
    case QN_GX_CAT:
        return make_cat(c, kids, n->n, made);
    case QN_GX_ALT:
        return make_alt(c, kids, n->n, made);
    case QN_GX_REPEAT:
        return make_repeat(c, made[kids[0]], n->min, n->max, way == 1);
    case QN_GX_RULE:
        return way == 1 ? made[c->b->rules[n->rule].body] : make_rule(c, n->rule);
    case QN_GX_AND:
        return qn_rx_and(rx, made[kids[0]], made[kids[1]]);
    case QN_GX_NOT:
        return qn_rx_and(rx, qn_rx_not(rx, made[kids[0]]), qn_rx_rep(rx, qn_rx_any_char(rx), 0, QN_GX_NO_MAX));
    case QN_GX_SPECIAL:
        return make_special(c, n);
    }
    return QN_RX_NEVER;
}

static bool push(compiler *c, uint32_t i)
{
    return qn_vec_add(c->budget, &c->rx->status, &c->todo, &i, QN_GX_MAX_NODES * 8, sizeof(i));
}

static qn_status refuse_recursion(compiler *c)
{
    return qn_fail(c->err, QN_EUNSUPPORTED, "rule \"%s\" recurs, so it has no place in an intersection or a complement",
                   c->b->rules[c->last_rule].name.data);
}

/* Of an entry of todo: the body of this rule is made; all that this expression needs is made. */
#define FINISH 0x80000000u
#define MAKE 0x40000000u

/* Opens expression i: what it needs goes on the stack above it. */
static qn_status open_parts(compiler *c, uint32_t i, int way)
{
    const qn_gx_node *n = &c->b->nodes[i];
    bool is_rule = n->kind == QN_GX_RULE;
    if (is_rule && !c->b->rules[n->rule].is_defined) {
        return qn_fail(c->err, QN_EFORMAT, "rule \"%s\" is not defined", c->b->rules[n->rule].name.data);
    }
    if (way == 1 && n->kind == QN_GX_SPECIAL) {
        return qn_fail(c->err, QN_EUNSUPPORTED, "a special token in an intersection or a complement");
    }
    if (way == 1 && is_rule) {
        c->last_rule = n->rule;
        if (c->marks[1][c->b->rules[n->rule].body] == OPEN) { /* an expression is open while its parts are made */
            return refuse_recursion(c);
        }
        push(c, c->b->rules[n->rule].body);
    } else if (is_rule && c->rule_marks[n->rule] == NEW) {
        c->rule_marks[n->rule] = OPEN;
        push(c, n->rule | FINISH);
        push(c, c->b->rules[n->rule].body);
    }
    const qn_gx *kids = qn_gx_parts(c->b, n);
    for (uint32_t k = 0; kids != NULL && k < n->n; k++) {
        uint32_t kid = kids[k];
        if (way == 1 && c->marks[1][kid] == OPEN) {
            return refuse_recursion(c);
        }
        push(c, kid);
    }
    return c->rx->status;
}

/* Makes expression i and all it needs. */
static qn_status make_all(compiler *c, uint32_t i, int way)
{
    c->todo.n = 0;
    push(c, i);
    while (c->todo.n != 0 && c->rx->status == QN_OK) {
        uint32_t at = ((uint32_t *)c->todo.items)[--c->todo.n];
        if ((at & FINISH) != 0) {
            at &= ~FINISH;
            if (c->marks[0][c->b->rules[at].body] == DONE) { /* else it is the body of another rule too, and open */
                qn_rx_rules(c->rx)[at].start = c->made[0][c->b->rules[at].body];
                c->rule_marks[at] = DONE;
            }
        } else if ((at & MAKE) != 0) {
            at &= ~MAKE;
            c->now = at;
            c->made[way][at] = make(c, at, way);
            c->marks[way][at] = DONE;
        } else if (c->marks[way][at] == NEW) {
            c->marks[way][at] = OPEN;
            push(c, at | MAKE);
            QN_TRY(open_parts(c, at, way));
        }
    }
    return c->rx->status;
}

/* Finds the AND and NOT that are used and not part of another such, and makes them. */
static qn_status make_automata(compiler *c)
{
    bool *is_seen = qn_zalloc_array(c->budget, QN_RX_OWNER, (size_t)c->b->n_nodes + 1, sizeof(*is_seen));
    qn_rx_vec path = {0};
    qn_status status = is_seen == NULL ? qn_alloc_failure(c->budget, c->b->n_nodes) : QN_OK;
    if (status == QN_OK) {
        qn_vec_add(c->budget, &c->rx->status, &path, &c->b->rules[c->b->root].body, QN_GX_MAX_NODES, sizeof(qn_gx));
    }
    while (path.n != 0 && status == QN_OK) {
        uint32_t i = ((uint32_t *)path.items)[--path.n];
        const qn_gx_node *n = &c->b->nodes[i];
        uint32_t n_parts = n->kind == QN_GX_RULE ? c->b->rules[n->rule].is_defined
                                                 : n->kind == QN_GX_CAT || n->kind == QN_GX_ALT || n->kind == QN_GX_REPEAT
                                                       ? n->n
                                                       : 0;
        if (is_seen[i]) {
            continue;
        }
        is_seen[i] = true;
        for (uint32_t k = 0; k < n_parts; k++) {
            qn_gx part = n->kind == QN_GX_RULE ? c->b->rules[n->rule].body : c->b->children[n->first + k];
            if (!is_seen[part]) {
                qn_vec_add(c->budget, &c->rx->status, &path, &part, QN_GX_MAX_NODES * 8, sizeof(part));
            }
        }
        if (n->kind == QN_GX_AND || n->kind == QN_GX_NOT) {
            status = make_all(c, i, 1);
            c->now = i;
            c->made[0][i] = status == QN_OK ? qn_make_automaton(c->b, c->rx, c->made[1], i) : QN_RX_NEVER;
            c->marks[0][i] = DONE;
            c->has_known[i] = true;
        }
        status = status != QN_OK ? status : c->rx->status;
    }
    qn_free(path.items);
    qn_free(is_seen);
    return status;
}

static qn_status check_builder(const qn_gx_builder *b, qn_error *err)
{
    if (b->status != QN_OK) {
        return qn_fail(err, b->status, "the grammar is too large: %s", qn_status_text(b->status));
    }
    if (b->root >= b->n_rules) {
        return qn_fail(err, QN_EFORMAT, "the grammar has no root rule");
    }
    if (!b->rules[b->root].is_defined) {
        return qn_fail(err, QN_EFORMAT, "rule \"%s\" is not defined", b->rules[b->root].name.data);
    }
    return QN_OK;
}

static qn_status start(compiler *c)
{
    size_t n = (size_t)c->b->n_nodes + 1, n_rules = (size_t)c->b->n_rules + 1;
    for (int way = 0; way < 2; way++) {
        c->made[way] = qn_zalloc_array(c->budget, QN_RX_OWNER, n, sizeof(qn_rx));
        c->marks[way] = qn_zalloc_array(c->budget, QN_RX_OWNER, n, 1);
    }
    c->has_known = qn_zalloc_array(c->budget, QN_RX_OWNER, n, sizeof(bool));
    c->rule_marks = qn_zalloc_array(c->budget, QN_RX_OWNER, n_rules, 1);
    c->min_len = qn_zalloc_array(c->budget, QN_RX_OWNER, n_rules, sizeof(uint32_t));
    if (c->made[0] == NULL || c->made[1] == NULL || c->marks[0] == NULL || c->marks[1] == NULL || c->has_known == NULL ||
        c->rule_marks == NULL || c->min_len == NULL) {
        return qn_alloc_failure(c->budget, n * 12);
    }
    qn_rx_pool *rx = c->rx;
    if (c->b->n_text != 0) {
        if (!qn_vec_room(c->budget, &rx->status, &rx->text, c->b->n_text, UINT32_MAX / 2, 1)) {
            return rx->status;
        }
        memcpy(rx->text.items, c->b->text, c->b->n_text);
        rx->text.n = c->b->n_text;
    }
    return QN_OK;
}

static qn_status compile(compiler *c)
{
    QN_TRY(start(c));
    QN_TRY(make_automata(c));
    QN_TRY(qn_rules_measure(c->b, c->rx, c->has_known, c->made[0], c->budget, c->min_len, c->err));
    for (uint32_t r = 0; r < c->b->n_rules; r++) {
        qn_rx_rule rule = {QN_RX_NEVER, c->min_len[r]};
        qn_vec_add(c->budget, &c->rx->status, &c->rx->rules, &rule, QN_RX_MAX_NODES, sizeof(rule));
    }
    QN_TRY(c->rx->status);
    uint32_t root = c->a->root = c->b->root;
    c->rule_marks[root] = OPEN;
    QN_TRY(make_all(c, c->b->rules[root].body, 0));
    for (uint32_t r = 0; r < c->b->n_rules; r++) {
        if (c->rule_marks[r] != NEW) {
            qn_rx_rules(c->rx)[r].start = c->made[0][c->b->rules[r].body];
        }
    }
    c->rx->n_specials = c->a->specials.n;
    if (qn_rx_rules(c->rx)[root].start == QN_RX_NEVER) {
        return qn_fail(c->err, QN_EFORMAT, "the grammar matches nothing (rule \"%s\")", c->b->rules[root].name.data);
    }
    return qn_rules_check_left(c->rx, c->b, c->err);
}

/* What did not fit, in words: the rule, and what was too large of it. */
static qn_status tell_limit(const compiler *c)
{
    uint32_t rule = qn_gx_rule_of(c->b, c->now);
    const char *limit = c->rx->limit != NULL ? c->rx->limit : "it needs too many states, or ways from one to another";
    return rule < c->b->n_rules ? qn_fail(c->err, QN_EFULL, "rule \"%s\" is too large: %s", c->b->rules[rule].name.data, limit)
                                : qn_fail(c->err, QN_EFULL, "the grammar is too large: %s", limit);
}

qn_status qn_automaton_open(const qn_gx_builder *b, qn_budget *budget, qn_automaton *out, qn_error *err)
{
    *out = (qn_automaton){0};
    if (err != NULL) {
        err->what[0] = '\0';
    }
    QN_TRY(check_builder(b, err));
    compiler c = {.b = b, .budget = budget, .a = out, .rx = &out->rx, .err = err};
    qn_status status = qn_rx_open(&out->rx, budget);
    status = status != QN_OK ? status : compile(&c);
    if (status == QN_EFULL && err != NULL && err->what[0] == '\0') {
        tell_limit(&c);
    }
    for (int way = 0; way < 2; way++) {
        qn_free(c.made[way]);
        qn_free(c.marks[way]);
    }
    qn_free(c.has_known);
    qn_free(c.rule_marks);
    qn_free(c.min_len);
    qn_free(c.todo.items);
    if (status != QN_OK) {
        qn_automaton_close(out);
        if (err != NULL && err->what[0] == '\0') {
            qn_fail(err, status, "compiling the grammar: %s", qn_status_text(status));
        }
    }
    return status;
}

void qn_automaton_close(qn_automaton *a)
{
    qn_rx_close(&a->rx);
    qn_free(a->specials.items);
    a->specials = (qn_rx_vec){0};
}
