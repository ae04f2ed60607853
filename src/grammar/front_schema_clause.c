/* Conjunctions of schemas to clauses: references followed, allOf joined, anyOf, oneOf, if and dependencies multiplied
 * out, and negations driven inwards until they stand before single keywords.
 *
 * The work is a list of what is still to be taken in, walked with one call per entry; a choice walks the rest of the
 * list once for each of its alternatives. An entry knows which one it came from: meeting itself there is a schema that
 * consists of itself.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_schema_clause.h"

#define MAX_CLAUSES 1024 /* of one value */
#define MAX_DEPTH 1000   /* entries of one list; about 200 bytes of stack each */

/* ---- expanding ---- */

static qn_status finish_clause(qn_expansion *x)
{
    qn_sx *s = x->s;
    if (++x->n_clauses > MAX_CLAUSES) {
        return qn_sx_fail(s, QN_EFULL, s->at, "", "more than 1024 combinations of alternatives for one value");
    }
    qn_schema_clause *c = qn_sx_alloc(s, sizeof(*c));
    qn_schema_literal *literals = qn_sx_alloc(s, (x->n_literals + 1) * sizeof(*literals));
    if (c == NULL || literals == NULL) {
        return qn_sx_no_memory(s);
    }
    if (x->n_literals != 0) {
        memcpy(literals, x->literals, x->n_literals * sizeof(*literals));
    }
    *c = (qn_schema_clause){.types = x->types, .literals = literals, .n_literals = x->n_literals};
    *x->last = c;
    x->last = &c->next;
    return QN_OK;
}

qn_status qn_clause_narrowed(qn_expansion *x, unsigned types, const qn_schema_literal *literal, const qn_ask *t)
{
    unsigned before = x->types;
    x->types &= types;
    if (x->types == 0) {
        x->types = before;
        return QN_OK;
    }
    if (literal != NULL) {
        if (x->n_literals == QN_CLAUSE_MAX_LITERALS) {
            return qn_sx_fail(x->s, QN_EFULL, x->s->at, "", "more than 512 schemas hold for one value");
        }
        x->literals[x->n_literals++] = *literal;
    }
    qn_status status = qn_clause_expand(x, t);
    x->n_literals -= literal != NULL;
    x->types = before;
    return status;
}

qn_ask *qn_clause_ask(qn_expansion *x, qn_ask_kind kind, const qn_json *v, const qn_json *list, const qn_ask *from,
                      const qn_ask *next)
{
    qn_ask *t = qn_sx_alloc(x->s, sizeof(*t));
    if (t != NULL) {
        *t = (qn_ask){.kind = kind, .v = v, .list = list, .from = from, .next = next};
    }
    return t;
}

static bool has_literal(const qn_expansion *x, const qn_json *schema)
{
    for (size_t i = 0; i < x->n_literals; i++) {
        if (x->literals[i].schema == schema && !x->literals[i].is_negated) {
            return true;
        }
    }
    return false;
}

/* What the keywords of a schema that must hold add to the list. Choices go behind everything that is certain, so that
 * what contradicts it ends early. */
static qn_status add_parts(qn_expansion *x, const qn_ask *t, const qn_ask **head)
{
    const qn_json *v = t->v, *list;
    const qn_ask *rest = t->next;
    if ((list = qn_json_find(v, "dependencies")) != NULL) {
        QN_CLAUSE_ADD(rest, QN_ASK_DEPENDS, v, list, t);
    }
    if ((list = qn_json_find(v, "dependentRequired")) != NULL) {
        QN_CLAUSE_ADD(rest, QN_ASK_DEPENDS, v, list, t);
    }
    if ((list = qn_json_find(v, "dependentSchemas")) != NULL) {
        QN_CLAUSE_ADD(rest, QN_ASK_DEPENDS, v, list, t);
    }
    if (qn_json_find(v, "if") != NULL && (qn_json_find(v, "then") != NULL || qn_json_find(v, "else") != NULL)) {
        QN_CLAUSE_ADD(rest, QN_ASK_IF, v, NULL, t);
    }
    if ((list = qn_json_find(v, "not")) != NULL) {
        QN_CLAUSE_ADD(rest, QN_ASK_FAILS, list, NULL, t);
    }
    if ((list = qn_json_find(v, "oneOf")) != NULL) {
        QN_CLAUSE_ADD(rest, QN_ASK_ONE, v, list, t);
    }
    if ((list = qn_json_find(v, "anyOf")) != NULL) {
        QN_CLAUSE_ADD(rest, QN_ASK_ANY, v, list, t);
    }
    if ((list = qn_json_find(v, "allOf")) != NULL) {
        for (size_t i = qn_json_count(list); i > 0; i--) {
            QN_CLAUSE_ADD(rest, QN_ASK_HOLDS, qn_json_at(list, i - 1), NULL, t);
        }
    }
    *head = rest;
    return QN_OK;
}

static qn_status expand_holds(qn_expansion *x, const qn_ask *t)
{
    qn_sx *s = x->s;
    const qn_json *v = t->v, *ref = qn_json_find(v, "$ref");
    if (qn_json_kind_of(v) == QN_JSON_BOOL) {
        if (s->o->strict && qn_json_as_bool(v)) {
            return qn_sx_fail(s, QN_EUNSUPPORTED, v, "", "must have a type in strict mode");
        }
        return qn_json_as_bool(v) ? qn_clause_expand(x, t->next) : QN_OK;
    }
    if (qn_json_kind_of(v) != QN_JSON_OBJECT) {
        return qn_sx_fail(s, QN_EFORMAT, v, "", "not a schema, which is an object, true or false");
    }
    if (has_literal(x, v)) {
        return qn_clause_expand(x, t->next);
    }
    const qn_ask *head = t->next;
    qn_schema_literal literal = {.schema = v};
    if (ref == NULL || !s->is_draft7) {
        QN_TRY(qn_sx_check(s, v));
        QN_TRY(add_parts(x, t, &head));
    }
    if (ref != NULL) {
        const qn_json *target;
        if (qn_json_kind_of(ref) != QN_JSON_STRING) {
            return qn_sx_fail(s, QN_EFORMAT, v, "$ref", "malformed: must be a string");
        }
        QN_TRY(qn_sx_resolve(s, v, &target));
        QN_CLAUSE_ADD(head, QN_ASK_HOLDS, target, NULL, t);
        if (s->is_draft7) {
            return qn_clause_expand(x, head);
        }
    }
    return qn_clause_narrowed(x, qn_sx_types_left(v), &literal, head);
}

static qn_status expand_any(qn_expansion *x, const qn_ask *t)
{
    for (size_t i = 0; i < qn_json_count(t->list); i++) {
        const qn_ask *head = t->next;
        QN_CLAUSE_ADD(head, QN_ASK_HOLDS, qn_json_at(t->list, i), NULL, t);
        QN_TRY(qn_clause_expand(x, head));
    }
    return QN_OK;
}

static qn_status expand_one(qn_expansion *x, const qn_ask *t)
{
    size_t n = qn_json_count(t->list);
    const bool *are_disjoint;
    QN_TRY(qn_sx_disjoint_pairs(x->s, t->list, t->v, &are_disjoint));
    for (size_t i = 0; i < n; i++) {
        const qn_ask *head = t->next;
        const qn_json *mine = qn_json_at(t->list, i);
        QN_TRY(qn_sx_step(x->s, n / 16));
        for (size_t k = 0; k < n; k++) {
            if (!are_disjoint[i * n + k]) {
                QN_CLAUSE_ADD(head, QN_ASK_FAILS, qn_json_at(t->list, k), NULL, t);
            }
        }
        QN_CLAUSE_ADD(head, QN_ASK_HOLDS, mine, NULL, t);
        QN_TRY(qn_clause_expand(x, head));
    }
    return QN_OK;
}

qn_status qn_clause_expand_if(qn_expansion *x, const qn_ask *t, bool is_negated)
{
    const char *const names[] = {"then", "else"};
    for (size_t i = 0; i < 2; i++) {
        const qn_ask *head = t->next;
        const qn_json *then = qn_json_find(t->v, names[i]);
        if (then != NULL) {
            QN_CLAUSE_ADD(head, is_negated ? QN_ASK_FAILS : QN_ASK_HOLDS, then, NULL, t);
        } else if (is_negated) {
            continue;
        }
        QN_CLAUSE_ADD(head, i == 0 ? QN_ASK_HOLDS : QN_ASK_FAILS, qn_json_find(t->v, "if"), NULL, t);
        QN_TRY(qn_clause_expand(x, head));
    }
    return QN_OK;
}

/* A property of the object must be there, or must not. */
static qn_ask *property_todo(qn_expansion *x, const qn_ask *t, const qn_json *schema, qn_str name, bool is_there,
                             const qn_ask *next)
{
    qn_ask *p = qn_clause_ask(x, QN_ASK_LITERAL, schema, NULL, t, next);
    if (p != NULL) {
        p->literal = (qn_schema_literal){.schema = schema,
                                         .is_negated = true,
                                         .keyword = is_there ? QN_SK_PROPERTIES : QN_SK_REQUIRED,
                                         .name = name};
    }
    return p;
}

/* The i-th entry of a list of dependencies, then the ones behind it. */
static qn_status expand_depends(qn_expansion *x, const qn_ask *t)
{
    size_t i = t->literal.name.len; /* entries that are done */
    if (i == qn_json_count(t->list)) {
        return qn_clause_expand(x, t->next);
    }
    qn_ask *others = qn_clause_ask(x, QN_ASK_DEPENDS, t->v, t->list, t->from, t->next);
    if (others == NULL) {
        return qn_sx_no_memory(x->s);
    }
    others->literal.name = (qn_str){NULL, i + 1};
    qn_str name = qn_json_key_at(t->list, i);
    const qn_json *d = qn_json_at(t->list, i);
    unsigned not_object = QN_ST_ALL & ~(unsigned)QN_ST_OBJECT;
    QN_TRY(qn_clause_narrowed(x, not_object, NULL, others)); /* any other type */
    const qn_ask *absent = property_todo(x, t, t->v, name, false, others);
    const qn_ask *present = others;
    if (qn_json_kind_of(d) == QN_JSON_ARRAY) {
        for (size_t k = qn_json_count(d); k > 0 && present != NULL; k--) {
            present = property_todo(x, t, t->v, qn_json_as_str(qn_json_at(d, k - 1)), true, present);
        }
    } else {
        QN_CLAUSE_ADD(present, QN_ASK_HOLDS, d, NULL, t);
    }
    present = present != NULL ? property_todo(x, t, t->v, name, true, present) : NULL;
    if (absent == NULL || present == NULL) {
        return qn_sx_no_memory(x->s);
    }
    QN_TRY(qn_clause_narrowed(x, QN_ST_OBJECT, NULL, absent));
    return qn_clause_narrowed(x, QN_ST_OBJECT, NULL, present);
}

qn_status qn_clause_expand(qn_expansion *x, const qn_ask *t)
{
    if (t == NULL) {
        return finish_clause(x);
    }
    QN_TRY(qn_sx_step(x->s, 1));
    uint64_t n_from = 0;
    for (const qn_ask *from = t->from; from != NULL && (t->kind == QN_ASK_HOLDS || t->kind == QN_ASK_FAILS);
         from = from->from) {
        n_from++;
        if (from->kind == t->kind && from->v == t->v) {
            return qn_sx_fail(x->s, QN_EFORMAT, t->v, "",
                              "this schema consists of itself: it refers back to itself for the same value");
        }
    }
    QN_TRY(qn_sx_step(x->s, n_from / 8));
    if (++x->depth > MAX_DEPTH) {
        return qn_sx_fail(x->s, QN_EFULL, x->s->at, "", "more than 1000 schemas combine for one value");
    }
    qn_status status = QN_OK;
    switch (t->kind) {
    case QN_ASK_HOLDS:
        status = expand_holds(x, t);
        break;
    case QN_ASK_FAILS:
        status = qn_clause_expand_fails(x, t);
        break;
    case QN_ASK_ANY:
        status = expand_any(x, t);
        break;
    case QN_ASK_ONE:
        status = expand_one(x, t);
        break;
    case QN_ASK_IF:
        status = qn_clause_expand_if(x, t, false);
        break;
    case QN_ASK_DEPENDS:
        status = expand_depends(x, t);
        break;
    case QN_ASK_LITERAL:
        status = qn_clause_narrowed(x, QN_ST_ALL, &t->literal, t->next);
        break;
    }
    x->depth--;
    return status;
}

static qn_status start(qn_expansion *x, const qn_schema_item *items, size_t n)
{
    const qn_ask *head = NULL;
    for (size_t i = n; i > 0; i--) {
        QN_CLAUSE_ADD(head, items[i - 1].is_negated ? QN_ASK_FAILS : QN_ASK_HOLDS, items[i - 1].schema, NULL, NULL);
    }
    return qn_clause_expand(x, head);
}

qn_status qn_sx_clauses(qn_sx *s, const qn_schema_item *items, size_t n, unsigned types, qn_schema_clause **out)
{
    qn_expansion *x = qn_alloc(s->b->budget, "grammar", sizeof(*x));
    if (x == NULL) {
        return qn_sx_no_memory(s);
    }
    *x = (qn_expansion){.s = s, .types = types};
    x->last = &x->first;
    qn_status status = start(x, items, n);
    *out = x->first;
    qn_free(x);
    return status;
}
