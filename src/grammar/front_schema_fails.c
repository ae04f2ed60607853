/* Schemas that must not hold (not, if, oneOf): one of their keywords fails, each of which is a way of its own.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_schema_array.h"
#include "grammar/front_schema_clause.h"

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
    case QN_SK_ITEMS:
    case QN_SK_CONTAINS:
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

/* Of values that a keyword can refuse which cannot be made to fail; the others are above. */
static unsigned types_of_rest(qn_schema_keyword k)
{
    switch (k) {
    case QN_SK_UNIQUE_ITEMS:
    case QN_SK_ADDITIONAL_ITEMS:
    case QN_SK_ITEMS:
    case QN_SK_CONTAINS:
        return QN_ST_ARRAY;
    case QN_SK_PATTERN_PROPERTIES:
    case QN_SK_ADDITIONAL_PROPERTIES:
    case QN_SK_PROPERTY_NAMES:
    case QN_SK_DEPENDENCIES:
    case QN_SK_DEPENDENT_REQUIRED:
    case QN_SK_DEPENDENT_SCHEMAS:
        return QN_ST_OBJECT;
    default:
        return QN_ST_ALL;
    }
}

static bool is_true(const qn_json *v)
{
    return qn_json_kind_of(v) == QN_JSON_BOOL && qn_json_as_bool(v);
}

/* None of the list holds, or two of it do. */
static qn_status fail_one_of(qn_expansion *x, const qn_ask *t, const qn_json *list)
{
    const qn_ask *head = t->next;
    for (size_t i = 0; i < qn_json_count(list); i++) {
        QN_CLAUSE_ADD(head, QN_ASK_FAILS, qn_json_at(list, i), NULL, t);
    }
    QN_TRY(qn_clause_expand(x, head));
    for (size_t i = 0; i < qn_json_count(list); i++) {
        for (size_t k = 0; k < i; k++) {
            head = t->next;
            QN_CLAUSE_ADD(head, QN_ASK_HOLDS, qn_json_at(list, i), NULL, t);
            QN_CLAUSE_ADD(head, QN_ASK_HOLDS, qn_json_at(list, k), NULL, t);
            QN_TRY(qn_clause_expand(x, head));
        }
    }
    return QN_OK;
}

/* Items of a list of schemas: one of them fails, and is there. */
static qn_status fail_first_items(qn_expansion *x, const qn_ask *t, const qn_json *list)
{
    for (size_t n = 0; n < qn_json_count(list) && n < QN_SCHEMA_MAX_FIRST; n++) {
        qn_schema_literal literal = {.schema = t->v,
                                     .is_negated = true,
                                     .keyword = QN_SK_PREFIX_ITEMS,
                                     .value = qn_json_at(list, n),
                                     .name = {NULL, n}};
        if (!is_true(literal.value)) {
            QN_TRY(qn_clause_narrowed(x, QN_ST_ARRAY, &literal, t->next));
        }
    }
    return QN_OK;
}

static qn_status too_many_first(qn_expansion *x, const qn_ask *t)
{
    return qn_sx_fail(x->s, QN_EFULL, t->v, "", "more than 100 schemas of first items");
}

/* Whether it can be said in one literal that the keyword fails. */
static bool is_alone(const qn_json *schema, qn_schema_keyword k)
{
    if (k == QN_SK_ITEMS) {
        return qn_json_find(schema, "prefixItems") == NULL;
    }
    return k != QN_SK_CONTAINS || qn_json_find(schema, "maxContains") == NULL;
}

/* One way for a schema to fail: its i-th keyword does. */
static qn_status fail_keyword(qn_expansion *x, const qn_ask *t, size_t i)
{
    qn_sx *s = x->s;
    const qn_json *v = qn_json_at(t->v, i);
    qn_str key = qn_json_key_at(t->v, i);
    qn_schema_keyword k = qn_sx_keyword(key);
    qn_schema_literal literal = {.schema = t->v, .is_negated = true, .keyword = k, .value = v};
    const qn_ask *head = t->next;
    const qn_json *target;
    switch (k) {
    case QN_SK_TYPE:
        return qn_clause_narrowed(x, QN_ST_ALL & ~qn_sx_types_of(v), NULL, t->next);
    case QN_SK_REF:
        QN_TRY(qn_sx_resolve(s, t->v, &target));
        QN_CLAUSE_ADD(head, QN_ASK_FAILS, target, NULL, t);
        return qn_clause_expand(x, head);
    case QN_SK_NOT:
        QN_CLAUSE_ADD(head, QN_ASK_HOLDS, v, NULL, t);
        return qn_clause_expand(x, head);
    case QN_SK_ALL_OF:
        for (size_t n = 0; n < qn_json_count(v); n++) {
            head = t->next;
            QN_CLAUSE_ADD(head, QN_ASK_FAILS, qn_json_at(v, n), NULL, t);
            QN_TRY(qn_clause_expand(x, head));
        }
        return QN_OK;
    case QN_SK_ANY_OF:
        for (size_t n = 0; n < qn_json_count(v); n++) {
            QN_CLAUSE_ADD(head, QN_ASK_FAILS, qn_json_at(v, n), NULL, t);
        }
        return qn_clause_expand(x, head);
    case QN_SK_ONE_OF:
        return fail_one_of(x, t, v);
    case QN_SK_IF:
        return qn_clause_expand_if(x, t, true);
    case QN_SK_PROPERTIES:
        for (size_t n = 0; n < qn_json_count(v); n++) {
            literal.value = qn_json_at(v, n);
            literal.name = qn_json_key_at(v, n);
            if (!is_true(literal.value)) {
                QN_TRY(qn_clause_narrowed(x, QN_ST_OBJECT, &literal, t->next));
            }
        }
        return QN_OK;
    case QN_SK_REQUIRED:
        for (size_t n = 0; n < qn_json_count(v); n++) {
            literal.name = qn_json_as_str(qn_json_at(v, n));
            QN_TRY(qn_clause_narrowed(x, QN_ST_OBJECT, &literal, t->next));
        }
        return QN_OK;
    case QN_SK_UNKNOWN:
    case QN_SK_ANNOTATION:
    case QN_SK_THEN:
    case QN_SK_ELSE:
    case QN_SK_MIN_CONTAINS:
    case QN_SK_MAX_CONTAINS:
        return QN_OK;
    case QN_SK_PREFIX_ITEMS:
        return qn_json_count(v) <= QN_SCHEMA_MAX_FIRST ? fail_first_items(x, t, v) : too_many_first(x, t);
    case QN_SK_ITEMS:
        if (qn_json_kind_of(v) == QN_JSON_ARRAY) {
            return qn_json_count(v) <= QN_SCHEMA_MAX_FIRST ? fail_first_items(x, t, v) : too_many_first(x, t);
        }
        break;
    default:
        break;
    }
    if (is_true(v) && k == QN_SK_ITEMS) {
        return QN_OK;
    }
    if (k == QN_SK_ADDITIONAL_PROPERTIES || k == QN_SK_PATTERN_PROPERTIES) {
        bool is_known;
        QN_TRY(qn_clause_fail_members(x, t, k == QN_SK_ADDITIONAL_PROPERTIES, v, &is_known));
        if (is_known) {
            return QN_OK;
        }
    }
    if (types_of_keyword(k) != 0 && is_alone(t->v, k)) {
        return qn_clause_narrowed(x, types_of_keyword(k), &literal, t->next);
    }
    bool is_no_limit = k == QN_SK_UNIQUE_ITEMS ? !qn_json_as_bool(v) : is_true(v) && k != QN_SK_CONTAINS;
    if (is_no_limit || (x->types & types_of_rest(k)) == 0) {
        return QN_OK; /* allows everything, or no value that is left could fail it */
    }
    char name[32] = "";
    memcpy(name, key.data, key.len < sizeof(name) ? key.len : 0);
    return qn_sx_fail(
        s, QN_EUNSUPPORTED, t->v, name,
        "not enforced where it must fail (not, if, or oneOf of alternatives that overlap; anyOf is enforced)");
}

qn_status qn_clause_expand_fails(qn_expansion *x, const qn_ask *t)
{
    const qn_json *v = t->v;
    if (qn_json_kind_of(v) == QN_JSON_BOOL) {
        return qn_json_as_bool(v) ? QN_OK : qn_clause_expand(x, t->next);
    }
    if (qn_json_kind_of(v) != QN_JSON_OBJECT) {
        return qn_sx_fail(x->s, QN_EFORMAT, v, "", "not a schema, which is an object, true or false");
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
