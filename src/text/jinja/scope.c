/* Which variable each name of a template means. The rules are those of the code that jinja2 writes: a name that is set
 * somewhere in a scope is that scope's own from its start, holding what an outer scope has; a name that is only read
 * belongs to the scope that has it, else it is looked up among the variables of the rendering when the scope is
 * entered. Branches of an if are part of the scope around them; loops, macros, blocks and with open one of their own.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/node.h"

typedef struct frame { /* where code stands */
    qn_tree *tree;
    qn_scope *scope;
    bool top;  /* at the top level of the template, branches included */
    bool soft; /* inside a branch: filters and tests that are not known fail only when they run */
} frame;

static qn_status resolve(const frame *f, qn_node *n);

static qn_status resolve_kids(const frame *f, qn_node *n, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        QN_TRY(resolve(f, n->kids[i]));
    }
    return QN_OK;
}

static qn_status resolve_name(const frame *f, qn_node *n)
{
    const qn_scope *where;
    qn_symbol *sym = qn_scope_find(f->scope, n->name, &where);
    if (sym == NULL) { /* arguments of a set block's filter, which jinja2 forgets */
        QN_TRY(qn_scope_load(f->tree, f->scope, n->name));
        sym = qn_scope_find(f->scope, n->name, &where);
    }
    n->cell = sym->cell;
    n->hops = (uint16_t)(f->scope->func->depth - where->func->depth);
    n->exports = f->top && n->op != QN_USE_LOAD;
    return QN_OK;
}

/* A scope inside f's, in the same function unless func says otherwise. */
static qn_status inner(const frame *f, qn_func *func, frame *out)
{
    *out = (frame){.tree = f->tree, .scope = qn_scope_new(f->tree, f->scope, func != NULL ? func : f->scope->func)};
    return out->scope == NULL ? f->tree->err->code : QN_OK;
}

static qn_status new_func(const frame *f, qn_func **out)
{
    *out = qn_func_new(f->tree, f->scope->func);
    return *out == NULL ? f->tree->err->code : QN_OK;
}

static qn_status resolve_loop_test(const frame *f, qn_node *n, qn_loop_code *code)
{
    frame test;
    qn_func *func;
    QN_TRY(new_func(f, &func));
    QN_TRY(inner(f, func, &test));
    code->test_scope = test.scope;
    QN_TRY(qn_scope_names_params(f->tree, test.scope, n->kids[5]));
    QN_TRY(qn_scope_names(f->tree, test.scope, n->kids[4]));
    return resolve_kids(&test, n, 4, 6);
}

static qn_status resolve_for(const frame *f, qn_node *n)
{
    static const char *const names[] = {"loop"};
    frame body, other;
    qn_func *func = NULL;
    qn_search s;
    bool has_scoped = false;
    const qn_node *wrong = qn_scope_loop_store(n, &has_scoped);
    if (wrong != NULL) {
        return qn_tree_fail(f->tree, wrong->line, "Can't assign to special loop variable in for-loop target");
    }
    qn_loop_code *code = qn_tree_alloc(f->tree, sizeof(*code));
    if (code == NULL) {
        return f->tree->err->code;
    }
    code->loop_cell = QN_NO_CELL;
    QN_TRY(qn_scope_search(f->tree, names, 1, n->kids[2], &s));
    if (n->op != 0) {
        QN_TRY(new_func(f, &func));
    }
    QN_TRY(inner(f, func, &body));
    QN_TRY(inner(f, func, &other));
    if (n->op != 0 || s.found != 0 || has_scoped) {
        QN_TRY(qn_scope_param(f->tree, body.scope, s.names[0], &code->loop_cell));
    }
    QN_TRY(qn_scope_names_params(f->tree, body.scope, n->kids[0]));
    QN_TRY(qn_scope_names(f->tree, body.scope, n->kids[2]));
    QN_TRY(qn_scope_names(f->tree, other.scope, n->kids[3]));
    if (n->kids[4] != NULL) {
        QN_TRY(resolve_loop_test(f, n, code));
    }
    QN_TRY(resolve(f, n->kids[1]));
    QN_TRY(resolve(&body, n->kids[0]));
    QN_TRY(resolve(&body, n->kids[2]));
    n->u.s.scope = body.scope;
    n->u.s.scope2 = other.scope;
    n->u.s.func = func;
    n->u.s.loop = code;
    return resolve(&other, n->kids[3]);
}

/* Which of the names that a macro is given unasked its body reads. */
static qn_status special_params(const frame *f, const frame *body, const qn_node *n, uint32_t first)
{
    static const char *const names[] = {"caller", "kwargs", "varargs"};
    qn_func *func = body->scope->func;
    uint32_t n_defaults = n->n_kids - 1 - first - n->n_args;
    bool has_param[3] = {false, false, false};
    qn_search s;
    QN_TRY(qn_scope_search(f->tree, names, 3, n->kids[n->n_kids - 1], &s));
    for (uint32_t i = 0; i < n->n_args; i++) {
        for (unsigned k = 0; k < 3; k++) {
            has_param[k] = has_param[k] || n->kids[first + i]->name == s.names[k];
        }
        if (n->kids[first + i]->name == s.names[0] && (s.found & 1) != 0 && i < n->n_args - n_defaults) {
            return qn_tree_fail(f->tree, n->line,
                                "When defining macros or call blocks the special \"caller\" argument "
                                "must be omitted or be given a default.");
        }
    }
    func->wants_caller = (s.found & 1) != 0;
    func->wants_kwargs = (s.found & 2) != 0 && !has_param[1];
    func->wants_varargs = (s.found & 4) != 0 && !has_param[2];
    if (func->wants_caller) {
        QN_TRY(qn_scope_param(f->tree, body->scope, s.names[0], &func->caller));
    }
    if (func->wants_kwargs) {
        QN_TRY(qn_scope_param(f->tree, body->scope, s.names[1], &func->kwargs));
    }
    return func->wants_varargs ? qn_scope_param(f->tree, body->scope, s.names[2], &func->varargs) : QN_OK;
}

/* A macro or the body of a call: n's kids from first are parameters, defaults and body. */
static qn_status resolve_macro(const frame *f, qn_node *n, uint32_t first)
{
    frame body;
    qn_func *func;
    QN_TRY(new_func(f, &func));
    QN_TRY(inner(f, func, &body));
    QN_TRY(qn_scope_names_kids(f->tree, body.scope, n, first, n->n_kids));
    QN_TRY(special_params(f, &body, n, first));
    func->params = qn_tree_alloc(f->tree, (n->n_args + 1) * sizeof(*func->params));
    if (func->params == NULL) {
        return f->tree->err->code;
    }
    QN_TRY(resolve_kids(&body, n, first, n->n_kids));
    for (uint32_t i = 0; i < n->n_args; i++) {
        func->params[i] = n->kids[first + i]->cell;
    }
    n->u.s.scope = body.scope;
    n->u.s.func = func;
    if (n->kind == QN_N_MACRO) {
        return resolve_name(f, n), n->exports = f->top, QN_OK;
    }
    return QN_OK;
}

static qn_status resolve_block(const frame *f, qn_node *n)
{
    static const char *const names[] = {"self", "super"};
    qn_search s;
    qn_node *word = (qn_node *)(uintptr_t)n->name;
    if (word->exports) { /* on a word it says that a block has the name */
        return qn_tree_fail(f->tree, n->line, "block '%.*s' defined twice", QN_STR_ARG(word->u.text));
    }
    word->exports = true;
    frame body = {.tree = f->tree};
    n->u.s.scope2 = f->scope;
    n->u.s.next_block = f->tree->blocks_named;
    f->tree->blocks_named = n;
    n->u.s.func = qn_func_new(f->tree, NULL);
    if (n->u.s.func == NULL || (body.scope = qn_scope_new(f->tree, NULL, n->u.s.func)) == NULL) {
        return f->tree->err->code;
    }
    n->u.s.scope = body.scope;
    QN_TRY(qn_scope_search(f->tree, names, 2, n->kids[0], &s));
    if ((s.found & 1) != 0) {
        n->u.s.func->wants_kwargs = true;
        QN_TRY(qn_scope_param(f->tree, body.scope, s.names[0], &n->u.s.func->kwargs));
    }
    if ((s.found & 2) != 0) {
        n->u.s.func->wants_caller = true;
        QN_TRY(qn_scope_param(f->tree, body.scope, s.names[1], &n->u.s.func->caller));
    }
    QN_TRY(qn_scope_names(f->tree, body.scope, n->kids[0]));
    return resolve(&body, n->kids[0]);
}

/* Statements whose body is a scope inside the current one; some of their kids belong outside. */
static qn_status resolve_scoped(const frame *f, qn_node *n)
{
    frame body;
    QN_TRY(inner(f, NULL, &body));
    n->u.s.scope = body.scope;
    switch (n->kind) {
    case QN_N_WITH:
        QN_TRY(qn_scope_names_kids(f->tree, body.scope, n, 0, n->n_args));
        QN_TRY(qn_scope_names(f->tree, body.scope, n->kids[2 * n->n_args]));
        QN_TRY(resolve_kids(f, n, n->n_args, 2 * n->n_args));
        QN_TRY(resolve_kids(&body, n, 0, n->n_args));
        return resolve(&body, n->kids[2 * n->n_args]);
    case QN_N_SETBLOCK:
        QN_TRY(qn_scope_names(f->tree, body.scope, n->kids[2]));
        QN_TRY(resolve(f, n->kids[0]));
        return resolve_kids(&body, n, 1, 3);
    default:
        QN_TRY(qn_scope_names_kids(f->tree, body.scope, n, 0, n->n_kids));
        return resolve_kids(&body, n, 0, n->n_kids);
    }
}

static qn_status resolve(const frame *f, qn_node *n)
{
    if (n == NULL) {
        return QN_OK;
    }
    frame soft = *f;
    soft.soft = true;
    switch (n->kind) {
    case QN_N_NAME:
    case QN_N_NSREF:
        return resolve_name(f, n);
    case QN_N_FILTER:
    case QN_N_TEST:
        if (!f->soft && (n->kind == QN_N_FILTER ? n->u.filter == NULL : n->u.test == NULL)) {
            return qn_tree_fail(f->tree, n->line, "No %s named '%.*s'.", n->kind == QN_N_FILTER ? "filter" : "test",
                                QN_STR_ARG(n->name->u.text));
        }
        return resolve_kids(f, n, 0, n->n_kids);
    case QN_N_COND:
    case QN_N_IF:
        return resolve_kids(&soft, n, 0, n->n_kids);
    case QN_N_FOR:
        return resolve_for(f, n);
    case QN_N_MACRO:
        return resolve_macro(f, n, 0);
    case QN_N_CALLBLOCK:
        QN_TRY(resolve(f, n->kids[0]));
        return resolve_macro(f, n, 1);
    case QN_N_BLOCK:
        return resolve_block(f, n);
    case QN_N_WITH:
    case QN_N_SETBLOCK:
    case QN_N_FILTERBLOCK:
    case QN_N_AUTOESCAPE:
        return resolve_scoped(f, n);
    case QN_N_EXTENDS:
        if (!f->top) {
            return qn_tree_fail(f->tree, n->line, "cannot use extend from a non top-level scope");
        }
        return resolve_kids(f, n, 0, n->n_kids);
    case QN_N_IMPORT:
        QN_TRY(resolve(f, n->kids[0]));
        return resolve_name(f, n);
    default:
        return resolve_kids(f, n, 0, n->n_kids);
    }
}

qn_status qn_scope_resolve(qn_tree *t, qn_node *body, qn_scope **top)
{
    static const char *const names[] = {"self"};
    qn_search s;
    qn_func *func = qn_func_new(t, NULL);
    frame f = {.tree = t, .scope = func == NULL ? NULL : qn_scope_new(t, NULL, func), .top = true};
    if (f.scope == NULL) {
        return t->err->code;
    }
    *top = f.scope;
    QN_TRY(qn_scope_search(f.tree, names, 1, body, &s));
    if (s.found != 0) {
        func->wants_kwargs = true; /* the cell of `self` */
        QN_TRY(qn_scope_param(t, f.scope, s.names[0], &func->kwargs));
    }
    QN_TRY(qn_scope_names(t, f.scope, body));
    return resolve(&f, body);
}
