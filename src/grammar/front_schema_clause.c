/* Conjunctions of schemas to clauses: references followed, allOf joined, anyOf, oneOf, if and dependencies multiplied
 * out, and negations driven inwards until they stand before single keywords.
 *
 * The work is a list of what is still to be taken in, walked with one call per entry; a choice walks the rest of the
 * list once for each of its alternatives. An entry knows which one it came from: meeting itself there is a schema that
 * consists of itself.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_schema_int.h"

#define MAX_CLAUSES 1024 /* of one value */
#define MAX_LITERALS 512 /* of one clause */
#define MAX_DEPTH 1000   /* entries of one list; about 200 bytes of stack each */

typedef enum todo_kind { HOLDS, FAILS, ANY, ONE, IF, DEPENDS, LITERAL } todo_kind;

typedef struct todo {
    todo_kind kind;
    const qn_json *v; /* the schema; ANY, ONE: the schema that has the list */
    const qn_json *list;
    qn_schema_literal literal;
    const struct todo *next, *from;
} todo;

typedef struct expansion {
    qn_sx *s;
    unsigned types, depth;
    qn_schema_literal literals[MAX_LITERALS];
    size_t n_literals, n_clauses;
    qn_schema_clause *first, **last;
} expansion;

static qn_status expand(expansion *x, const todo *t);

/* ---- expanding ---- */

static qn_status finish_clause(expansion *x)
{
    qn_sx *s = x->s;
    if (++x->n_clauses > MAX_CLAUSES) {
        return qn_fail(s->err, QN_EFULL, "schema: more than %d combinations of alternatives for one value",
                       MAX_CLAUSES);
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

/* Goes on with `t` under more constraints, and takes them back. */
static qn_status narrowed(expansion *x, unsigned types, const qn_schema_literal *literal, const todo *t)
{
    unsigned before = x->types;
    x->types &= types;
    if (x->types == 0) {
        x->types = before;
        return QN_OK;
    }
    if (literal != NULL) {
        if (x->n_literals == MAX_LITERALS) {
            return qn_fail(x->s->err, QN_EFULL, "schema: more than %d schemas hold for one value", MAX_LITERALS);
        }
        x->literals[x->n_literals++] = *literal;
    }
    qn_status status = expand(x, t);
    x->n_literals -= literal != NULL;
    x->types = before;
    return status;
}

static todo *new_todo(expansion *x, todo_kind kind, const qn_json *v, const qn_json *list, const todo *from,
                      const todo *next)
{
    todo *t = qn_sx_alloc(x->s, sizeof(*t));
    if (t != NULL) {
        *t = (todo){.kind = kind, .v = v, .list = list, .from = from, .next = next};
    }
    return t;
}

static bool has_literal(const expansion *x, const qn_json *schema)
{
    for (size_t i = 0; i < x->n_literals; i++) {
        if (x->literals[i].schema == schema && !x->literals[i].is_negated) {
            return true;
        }
    }
    return false;
}

#define ADD(head, kind_, v_, list_, from_)                             \
    do {                                                               \
        (head) = new_todo(x, (kind_), (v_), (list_), (from_), (head)); \
        if ((head) == NULL) {                                          \
            return qn_sx_no_memory(x->s);                              \
        }                                                              \
    } while (0)

/* What the keywords of a schema that must hold add to the list. Choices go behind everything that is certain, so that
 * what contradicts it ends early. */
static qn_status add_parts(expansion *x, const todo *t, const todo **head)
{
    const qn_json *v = t->v, *list;
    const todo *rest = t->next;
    if ((list = qn_json_find(v, "dependencies")) != NULL) {
        ADD(rest, DEPENDS, v, list, t);
    }
    if ((list = qn_json_find(v, "dependentRequired")) != NULL) {
        ADD(rest, DEPENDS, v, list, t);
    }
    if ((list = qn_json_find(v, "dependentSchemas")) != NULL) {
        ADD(rest, DEPENDS, v, list, t);
    }
    if (qn_json_find(v, "if") != NULL && (qn_json_find(v, "then") != NULL || qn_json_find(v, "else") != NULL)) {
        ADD(rest, IF, v, NULL, t);
    }
    if ((list = qn_json_find(v, "not")) != NULL) {
        ADD(rest, FAILS, list, NULL, t);
    }
    if ((list = qn_json_find(v, "oneOf")) != NULL) {
        ADD(rest, ONE, v, list, t);
    }
    if ((list = qn_json_find(v, "anyOf")) != NULL) {
        ADD(rest, ANY, v, list, t);
    }
    if ((list = qn_json_find(v, "allOf")) != NULL) {
        for (size_t i = qn_json_count(list); i > 0; i--) {
            ADD(rest, HOLDS, qn_json_at(list, i - 1), NULL, t);
        }
    }
    *head = rest;
    return QN_OK;
}

static qn_status expand_holds(expansion *x, const todo *t)
{
    qn_sx *s = x->s;
    const qn_json *v = t->v, *ref = qn_json_find(v, "$ref");
    if (qn_json_kind_of(v) == QN_JSON_BOOL) {
        return qn_json_as_bool(v) ? expand(x, t->next) : QN_OK;
    }
    if (qn_json_kind_of(v) != QN_JSON_OBJECT) {
        return qn_sx_fail(s, QN_EFORMAT, v, "", "not a schema");
    }
    if (has_literal(x, v)) {
        return expand(x, t->next);
    }
    const todo *head = t->next;
    qn_schema_literal literal = {.schema = v};
    if (ref == NULL || !s->is_draft7) {
        QN_TRY(qn_sx_check(s, v));
        QN_TRY(add_parts(x, t, &head));
    }
    if (ref != NULL) {
        const qn_json *target;
        if (qn_json_kind_of(ref) != QN_JSON_STRING) {
            return qn_sx_fail(s, QN_EFORMAT, v, "$ref", "malformed");
        }
        QN_TRY(qn_sx_resolve(s, v, &target));
        ADD(head, HOLDS, target, NULL, t);
        if (s->is_draft7) {
            return expand(x, head);
        }
    }
    return narrowed(x, qn_sx_types_left(v), &literal, head);
}

static qn_status expand_any(expansion *x, const todo *t)
{
    for (size_t i = 0; i < qn_json_count(t->list); i++) {
        const todo *head = t->next;
        ADD(head, HOLDS, qn_json_at(t->list, i), NULL, t);
        QN_TRY(expand(x, head));
    }
    return QN_OK;
}

static qn_status expand_one(expansion *x, const todo *t)
{
    for (size_t i = 0; i < qn_json_count(t->list); i++) {
        const todo *head = t->next;
        const qn_json *mine = qn_json_at(t->list, i);
        for (size_t k = 0; k < qn_json_count(t->list); k++) {
            bool is_disjoint = k == i;
            if (!is_disjoint) {
                QN_TRY(qn_sx_disjoint(x->s, mine, qn_json_at(t->list, k), t->v, 0, &is_disjoint));
            }
            if (!is_disjoint) {
                ADD(head, FAILS, qn_json_at(t->list, k), NULL, t);
            }
        }
        ADD(head, HOLDS, mine, NULL, t);
        QN_TRY(expand(x, head));
    }
    return QN_OK;
}

static qn_status expand_if(expansion *x, const todo *t, bool is_negated)
{
    const char *const names[] = {"then", "else"};
    for (size_t i = 0; i < 2; i++) {
        const todo *head = t->next;
        const qn_json *then = qn_json_find(t->v, names[i]);
        if (then != NULL) {
            ADD(head, is_negated ? FAILS : HOLDS, then, NULL, t);
        } else if (is_negated) {
            continue;
        }
        ADD(head, i == 0 ? HOLDS : FAILS, qn_json_find(t->v, "if"), NULL, t);
        QN_TRY(expand(x, head));
    }
    return QN_OK;
}

/* A property of the object must be there, or must not. */
static todo *property_todo(expansion *x, const todo *t, const qn_json *schema, qn_str name, bool is_there,
                           const todo *next)
{
    todo *p = new_todo(x, LITERAL, schema, NULL, t, next);
    if (p != NULL) {
        p->literal = (qn_schema_literal){.schema = schema,
                                         .is_negated = true,
                                         .keyword = is_there ? QN_SK_PROPERTIES : QN_SK_REQUIRED,
                                         .name = name};
    }
    return p;
}

/* The i-th entry of a list of dependencies, then the ones behind it. */
static qn_status expand_depends(expansion *x, const todo *t)
{
    size_t i = t->literal.name.len; /* entries that are done */
    if (i == qn_json_count(t->list)) {
        return expand(x, t->next);
    }
    todo *others = new_todo(x, DEPENDS, t->v, t->list, t->from, t->next);
    if (others == NULL) {
        return qn_sx_no_memory(x->s);
    }
    others->literal.name = (qn_str){NULL, i + 1};
    qn_str name = qn_json_key_at(t->list, i);
    const qn_json *d = qn_json_at(t->list, i);
    unsigned not_object = QN_ST_ALL & ~(unsigned)QN_ST_OBJECT;
    QN_TRY(narrowed(x, not_object, NULL, others)); /* any other type */
    const todo *absent = property_todo(x, t, t->v, name, false, others);
    const todo *present = others;
    if (qn_json_kind_of(d) == QN_JSON_ARRAY) {
        for (size_t k = qn_json_count(d); k > 0 && present != NULL; k--) {
            present = property_todo(x, t, t->v, qn_json_as_str(qn_json_at(d, k - 1)), true, present);
        }
    } else {
        ADD(present, HOLDS, d, NULL, t);
    }
    present = present != NULL ? property_todo(x, t, t->v, name, true, present) : NULL;
    if (absent == NULL || present == NULL) {
        return qn_sx_no_memory(x->s);
    }
    QN_TRY(narrowed(x, QN_ST_OBJECT, NULL, absent));
    return narrowed(x, QN_ST_OBJECT, NULL, present);
}

/* ---- negations ---- */

static unsigned types_of_keyword(qn_schema_keyword k)
{
    switch (k) {
    case QN_SK_MINIMUM:
    case QN_SK_MAXIMUM:
    case QN_SK_EXCLUSIVE_MINIMUM:
    case QN_SK_EXCLUSIVE_MAXIMUM:
    case QN_SK_MULTIPLE_OF:
        return QN_ST_NUMBER;
    case QN_SK_MIN_LENGTH:
    case QN_SK_MAX_LENGTH:
    case QN_SK_PATTERN:
    case QN_SK_FORMAT:
        return QN_ST_STRING;
    case QN_SK_MIN_ITEMS:
    case QN_SK_MAX_ITEMS:
        return QN_ST_ARRAY;
    case QN_SK_MIN_PROPERTIES:
    case QN_SK_MAX_PROPERTIES:
        return QN_ST_OBJECT;
    case QN_SK_ENUM:
    case QN_SK_CONST:
        return QN_ST_ALL;
    default:
        return 0;
    }
}

static bool is_true(const qn_json *v)
{
    return qn_json_kind_of(v) == QN_JSON_BOOL && qn_json_as_bool(v);
}

/* None of the list holds, or two of it do. */
static qn_status fail_one_of(expansion *x, const todo *t, const qn_json *list)
{
    const todo *head = t->next;
    for (size_t i = 0; i < qn_json_count(list); i++) {
        ADD(head, FAILS, qn_json_at(list, i), NULL, t);
    }
    QN_TRY(expand(x, head));
    for (size_t i = 0; i < qn_json_count(list); i++) {
        for (size_t k = 0; k < i; k++) {
            head = t->next;
            ADD(head, HOLDS, qn_json_at(list, i), NULL, t);
            ADD(head, HOLDS, qn_json_at(list, k), NULL, t);
            QN_TRY(expand(x, head));
        }
    }
    return QN_OK;
}

/* One way for a schema to fail: its i-th keyword does. */
static qn_status fail_keyword(expansion *x, const todo *t, size_t i)
{
    qn_sx *s = x->s;
    const qn_json *v = qn_json_at(t->v, i);
    qn_str key = qn_json_key_at(t->v, i);
    qn_schema_keyword k = qn_sx_keyword(key);
    qn_schema_literal literal = {.schema = t->v, .is_negated = true, .keyword = k, .value = v};
    const todo *head = t->next;
    const qn_json *target;
    switch (k) {
    case QN_SK_TYPE:
        return narrowed(x, QN_ST_ALL & ~qn_sx_types_of(v), NULL, t->next);
    case QN_SK_REF:
        QN_TRY(qn_sx_resolve(s, t->v, &target));
        ADD(head, FAILS, target, NULL, t);
        return expand(x, head);
    case QN_SK_NOT:
        ADD(head, HOLDS, v, NULL, t);
        return expand(x, head);
    case QN_SK_ALL_OF:
        for (size_t n = 0; n < qn_json_count(v); n++) {
            head = t->next;
            ADD(head, FAILS, qn_json_at(v, n), NULL, t);
            QN_TRY(expand(x, head));
        }
        return QN_OK;
    case QN_SK_ANY_OF:
        for (size_t n = 0; n < qn_json_count(v); n++) {
            ADD(head, FAILS, qn_json_at(v, n), NULL, t);
        }
        return expand(x, head);
    case QN_SK_ONE_OF:
        return fail_one_of(x, t, v);
    case QN_SK_IF:
        return expand_if(x, t, true);
    case QN_SK_PROPERTIES:
        for (size_t n = 0; n < qn_json_count(v); n++) {
            literal.value = qn_json_at(v, n);
            literal.name = qn_json_key_at(v, n);
            if (!is_true(literal.value)) {
                QN_TRY(narrowed(x, QN_ST_OBJECT, &literal, t->next));
            }
        }
        return QN_OK;
    case QN_SK_REQUIRED:
        for (size_t n = 0; n < qn_json_count(v); n++) {
            literal.name = qn_json_as_str(qn_json_at(v, n));
            QN_TRY(narrowed(x, QN_ST_OBJECT, &literal, t->next));
        }
        return QN_OK;
    case QN_SK_UNKNOWN:
    case QN_SK_ANNOTATION:
    case QN_SK_THEN:
    case QN_SK_ELSE:
    case QN_SK_MIN_CONTAINS:
    case QN_SK_MAX_CONTAINS:
        return QN_OK;
    default:
        break;
    }
    if (types_of_keyword(k) != 0) {
        return narrowed(x, types_of_keyword(k), &literal, t->next);
    }
    if (is_true(v) && k != QN_SK_CONTAINS && k != QN_SK_UNIQUE_ITEMS) {
        return QN_OK; /* allows everything, so that it cannot fail */
    }
    char name[32] = "";
    memcpy(name, key.data, key.len < sizeof(name) ? key.len : 0);
    return qn_sx_fail(s, QN_EUNSUPPORTED, t->v, name,
                      "this keyword is not enforced where it must fail (not, if, oneOf)");
}

static qn_status expand_fails(expansion *x, const todo *t)
{
    const qn_json *v = t->v;
    if (qn_json_kind_of(v) == QN_JSON_BOOL) {
        return qn_json_as_bool(v) ? QN_OK : expand(x, t->next);
    }
    if (qn_json_kind_of(v) != QN_JSON_OBJECT) {
        return qn_sx_fail(x->s, QN_EFORMAT, v, "", "not a schema");
    }
    bool is_only_ref = x->s->is_draft7 && qn_json_find(v, "$ref") != NULL;
    if (!is_only_ref) {
        QN_TRY(qn_sx_check(x->s, v));
    }
    for (size_t i = 0; i < qn_json_count(v); i++) {
        if (!is_only_ref || qn_str_is(qn_json_key_at(v, i), "$ref")) {
            QN_TRY(fail_keyword(x, t, i));
        }
    }
    return QN_OK;
}

static qn_status expand(expansion *x, const todo *t)
{
    if (t == NULL) {
        return finish_clause(x);
    }
    QN_TRY(qn_sx_step(x->s, 1));
    uint64_t n_from = 0;
    for (const todo *from = t->from; from != NULL && (t->kind == HOLDS || t->kind == FAILS); from = from->from) {
        n_from++;
        if (from->kind == t->kind && from->v == t->v) {
            return qn_sx_fail(x->s, QN_EFORMAT, t->v, "", "this schema consists of itself");
        }
    }
    QN_TRY(qn_sx_step(x->s, n_from / 8));
    if (++x->depth > MAX_DEPTH) {
        return qn_fail(x->s->err, QN_EFULL, "schema: more than %d schemas combine for one value", MAX_DEPTH);
    }
    qn_status status = QN_OK;
    switch (t->kind) {
    case HOLDS:
        status = expand_holds(x, t);
        break;
    case FAILS:
        status = expand_fails(x, t);
        break;
    case ANY:
        status = expand_any(x, t);
        break;
    case ONE:
        status = expand_one(x, t);
        break;
    case IF:
        status = expand_if(x, t, false);
        break;
    case DEPENDS:
        status = expand_depends(x, t);
        break;
    case LITERAL:
        status = narrowed(x, QN_ST_ALL, &t->literal, t->next);
        break;
    }
    x->depth--;
    return status;
}

static qn_status start(expansion *x, const qn_schema_item *items, size_t n)
{
    const todo *head = NULL;
    for (size_t i = n; i > 0; i--) {
        ADD(head, items[i - 1].is_negated ? FAILS : HOLDS, items[i - 1].schema, NULL, NULL);
    }
    return expand(x, head);
}

qn_status qn_sx_clauses(qn_sx *s, const qn_schema_item *items, size_t n, unsigned types, qn_schema_clause **out)
{
    expansion *x = qn_alloc(s->b->budget, "grammar", sizeof(*x));
    if (x == NULL) {
        return qn_sx_no_memory(s);
    }
    *x = (expansion){.s = s, .types = types};
    x->last = &x->first;
    qn_status status = start(x, items, n);
    *out = x->first;
    qn_free(x);
    return status;
}
