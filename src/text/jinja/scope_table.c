/* The names of one scope: where their values live and what they hold when the scope is entered.
 *
 * A cell is a place in the activation of a function, and scopes of one level of a function share the cells of their
 * names, as the local variables do in the code that jinja2 writes.
 *
 * SPDX-License-Identifier: MIT */
#include "text/jinja/node.h"

typedef struct cells { /* of a function: (level, name) to cell */
    uint64_t *keys;
    uint32_t *cells;
    uint32_t n_slots;
} cells;

static uint32_t mix(uint64_t key)
{
    return (uint32_t)((key * 0x9E3779B97F4A7C15u) >> 32);
}

static bool grow_cells(qn_tree *t, cells *c)
{
    cells old = *c;
    c->n_slots = old.n_slots == 0 ? 16 : old.n_slots * 2;
    c->keys = qn_tree_alloc(t, c->n_slots * sizeof(*c->keys));
    c->cells = qn_tree_alloc(t, c->n_slots * sizeof(*c->cells));
    if (c->keys == NULL || c->cells == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < old.n_slots; i++) {
        if (old.keys[i] != 0) {
            uint32_t at = mix(old.keys[i]) & (c->n_slots - 1);
            while (c->keys[at] != 0) {
                at = (at + 1) & (c->n_slots - 1);
            }
            c->keys[at] = old.keys[i];
            c->cells[at] = old.cells[i];
        }
    }
    return true;
}

static qn_status cell_of(qn_tree *t, const qn_scope *scope, const qn_node *name, uint32_t *out)
{
    qn_func *f = scope->func;
    cells *c = f->cells;
    if ((f->n_cells + 1) * 2 > c->n_slots && !grow_cells(t, c)) {
        return t->err->code;
    }
    uint64_t key = (uint64_t)(scope->level + 1) << 32 | name->cell;
    uint32_t at = mix(key) & (c->n_slots - 1);
    while (c->keys[at] != 0 && c->keys[at] != key) {
        at = (at + 1) & (c->n_slots - 1);
    }
    if (c->keys[at] == 0) {
        c->keys[at] = key;
        c->cells[at] = f->n_cells++;
    }
    *out = c->cells[at];
    return QN_OK;
}

qn_func *qn_func_new(qn_tree *t, qn_func *parent)
{
    qn_func *f = qn_tree_alloc(t, sizeof(*f));
    if (f == NULL || (f->cells = qn_tree_alloc(t, sizeof(cells))) == NULL) {
        return NULL;
    }
    f->parent = parent;
    f->index = t->n_funcs++;
    if (parent != NULL) {
        f->depth = parent->depth + 1;
        parent->has_inner = true;
    }
    return f;
}

qn_scope *qn_scope_new(qn_tree *t, qn_scope *parent, qn_func *func)
{
    qn_scope *s = qn_tree_alloc(t, sizeof(*s));
    if (s == NULL) {
        return NULL;
    }
    s->parent = parent;
    s->func = func;
    s->level = parent == NULL ? 0 : parent->level + 1;
    return s;
}

/* The slot of name, which is free (0) when the scope does not have it. n_slots > 0. */
static uint32_t *slot_of(const qn_scope *s, const qn_node *name)
{
    uint32_t at = mix(name->cell) & (s->n_slots - 1);
    while (s->slots[at] != 0 && s->symbols[s->slots[at] - 1].name != name) {
        at = (at + 1) & (s->n_slots - 1);
    }
    return &s->slots[at];
}

static qn_symbol *own(const qn_scope *s, const qn_node *name)
{
    uint32_t i = s->n_slots == 0 ? 0 : *slot_of(s, name);
    return i == 0 ? NULL : &s->symbols[i - 1];
}

qn_symbol *qn_scope_find(const qn_scope *scope, const qn_node *name, const qn_scope **where)
{
    for (; scope != NULL; scope = scope->parent) {
        qn_symbol *sym = own(scope, name);
        if (sym != NULL) {
            *where = scope;
            return sym;
        }
    }
    return NULL;
}

static bool grow_symbols(qn_tree *t, qn_scope *s)
{
    uint32_t cap = s->cap == 0 ? 8 : s->cap * 2;
    qn_symbol *symbols = qn_tree_alloc(t, cap * sizeof(*symbols));
    uint32_t *slots = qn_tree_alloc(t, 2 * cap * sizeof(*slots));
    if (symbols == NULL || slots == NULL) {
        return false;
    }
    if (s->n > 0) {
        memcpy(symbols, s->symbols, s->n * sizeof(*symbols));
    }
    s->symbols = symbols;
    s->slots = slots;
    s->cap = cap;
    s->n_slots = 2 * cap;
    for (uint32_t i = 0; i < s->n; i++) {
        *slot_of(s, symbols[i].name) = i + 1;
    }
    return true;
}

/* The scope's own symbol of that name, made when there is none. */
static qn_status define(qn_tree *t, qn_scope *s, const qn_node *name, qn_load load, qn_symbol **out)
{
    qn_symbol *sym = own(s, name);
    if (sym == NULL) {
        if (s->n == s->cap && !grow_symbols(t, s)) {
            return t->err->code;
        }
        *slot_of(s, name) = s->n + 1;
        sym = &s->symbols[s->n++];
        sym->name = name;
        QN_TRY(cell_of(t, s, name, &sym->cell));
    }
    sym->load = (uint8_t)load;
    *out = sym;
    return QN_OK;
}

qn_status qn_scope_load(qn_tree *t, qn_scope *scope, const qn_node *name)
{
    const qn_scope *where;
    qn_symbol *sym;
    return qn_scope_find(scope, name, &where) != NULL ? QN_OK : define(t, scope, name, QN_LOAD_RESOLVE, &sym);
}

/* What an outer scope has under the name becomes the value on entry; else as said. */
static void alias_or(const qn_scope *s, qn_symbol *sym, qn_load otherwise)
{
    const qn_scope *where;
    const qn_symbol *outer = qn_scope_find(s->parent, sym->name, &where);
    sym->load = (uint8_t)(outer != NULL ? QN_LOAD_ALIAS : otherwise);
    if (outer != NULL) {
        sym->from_hops = s->func->depth - where->func->depth;
        sym->from_cell = outer->cell;
    }
}

/* Remembers a store for the end of the if around it. */
static qn_status note(qn_tree *t, qn_scope *s, const qn_symbol *sym)
{
    if (s->n_journal == s->cap_journal) {
        uint32_t cap = s->cap_journal == 0 ? 8 : s->cap_journal * 2;
        uint32_t *journal = qn_tree_alloc(t, cap * sizeof(*journal));
        if (journal == NULL) {
            return t->err->code;
        }
        if (s->n_journal > 0) {
            memcpy(journal, s->journal, s->n_journal * sizeof(*journal));
        }
        s->journal = journal;
        s->cap_journal = cap;
    }
    s->journal[s->n_journal++] = (uint32_t)(sym - s->symbols);
    return QN_OK;
}

qn_status qn_scope_store(qn_tree *t, qn_scope *scope, const qn_node *name)
{
    qn_symbol *sym = own(scope, name);
    if (sym == NULL) {
        QN_TRY(define(t, scope, name, QN_LOAD_UNDEFINED, &sym));
        alias_or(scope, sym, QN_LOAD_UNDEFINED);
    }
    if (!sym->stored && scope->n_ifs > 0) {
        QN_TRY(note(t, scope, sym));
    }
    sym->stored = true;
    return QN_OK;
}

qn_status qn_scope_param(qn_tree *t, qn_scope *scope, const qn_node *name, uint32_t *cell)
{
    qn_symbol *sym;
    QN_TRY(define(t, scope, name, QN_LOAD_PARAM, &sym));
    sym->stored = true;
    if (cell != NULL) {
        *cell = sym->cell;
    }
    return QN_OK;
}

uint32_t qn_scope_if_begin(qn_scope *scope)
{
    scope->n_ifs++;
    return scope->n_journal;
}

void qn_scope_if_end(qn_scope *scope, uint32_t mark)
{
    for (uint32_t i = mark; i < scope->n_journal; i++) {
        alias_or(scope, &scope->symbols[scope->journal[i]], QN_LOAD_RESOLVE);
    }
    if (--scope->n_ifs == 0) {
        scope->n_journal = 0; /* else the outer if settles them too */
    }
}
