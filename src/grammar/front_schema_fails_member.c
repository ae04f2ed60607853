/* additionalProperties and patternProperties that must not hold: some member is of a name that they speak of, and of a
 * value that they refuse. Which members there may be is known where another schema, which holds, is closed: each of its
 * names is a way of its own.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_schema_clause.h"

/* The names that a schema lets its members have; NULL: others too. */
static const qn_json *closed_names(const qn_json *schema)
{
    const qn_json *additional = qn_json_find(schema, "additionalProperties");
    bool is_closed = additional != NULL && qn_json_kind_of(additional) == QN_JSON_BOOL &&
                     !qn_json_as_bool(additional) && qn_json_find(schema, "patternProperties") == NULL;
    return is_closed ? qn_json_find(schema, "properties") : NULL;
}

static qn_status fits_pattern(qn_expansion *x, const qn_json *patterns, qn_str name, bool *fits)
{
    *fits = false;
    for (size_t i = 0; patterns != NULL && i < qn_json_count(patterns) && !*fits; i++) {
        QN_TRY(qn_sx_pattern_holds(x->s, qn_json_at(patterns, i), "", qn_json_key_at(patterns, i), name, fits));
    }
    return QN_OK;
}

/* A member of that name is there and not of `schema`. */
static qn_status fail_member(qn_expansion *x, const qn_ask *t, qn_str name, const qn_json *schema)
{
    qn_schema_literal literal = {
        .schema = t->v, .is_negated = true, .keyword = QN_SK_PROPERTIES, .value = schema, .name = name};
    return qn_clause_narrowed(x, QN_ST_OBJECT, &literal, t->next);
}

static bool is_declared(const qn_json *schema, qn_str name)
{
    const qn_json *properties = qn_json_find(schema, "properties");
    for (size_t i = 0; properties != NULL && i < qn_json_count(properties); i++) {
        if (qn_str_eq(qn_json_key_at(properties, i), name)) {
            return true;
        }
    }
    return false;
}

static qn_status fail_name(qn_expansion *x, const qn_ask *t, bool is_additional, const qn_json *v, qn_str name)
{
    const qn_json *patterns = qn_json_find(t->v, "patternProperties");
    bool fits;
    QN_TRY(qn_sx_step(x->s, 1));
    if (is_additional) {
        QN_TRY(fits_pattern(x, patterns, name, &fits));
        return fits || is_declared(t->v, name) ? QN_OK : fail_member(x, t, name, v);
    }
    for (size_t i = 0; i < qn_json_count(v); i++) {
        QN_TRY(qn_sx_pattern_holds(x->s, qn_json_at(v, i), "", qn_json_key_at(v, i), name, &fits));
        if (fits) {
            QN_TRY(fail_member(x, t, name, qn_json_at(v, i)));
        }
    }
    return QN_OK;
}

qn_status qn_clause_fail_members(qn_expansion *x, const qn_ask *t, bool is_additional, const qn_json *v, bool *is_known)
{
    const qn_json *names = NULL;
    for (size_t i = 0; i < x->n_literals && names == NULL; i++) {
        names = x->literals[i].is_negated ? NULL : closed_names(x->literals[i].schema);
    }
    *is_known = names != NULL;
    for (size_t i = 0; names != NULL && i < qn_json_count(names); i++) {
        QN_TRY(fail_name(x, t, is_additional, v, qn_json_key_at(names, i)));
    }
    return QN_OK;
}
