/* Telling the alternatives of oneOf apart: by type, by listed values, by a required property whose values differ, by
 * one that the other does not allow. SPDX-License-Identifier: MIT */
#include "grammar/front_schema_int.h"

#define MAX_DEPTH 16 /* references and properties that are followed */

struct qn_schema_pairs {
    const qn_json *list;
    const bool *pairs;
    struct qn_schema_pairs *next;
};

static bool is_required(const qn_json *schema, qn_str name)
{
    const qn_json *required = qn_json_kind_of(schema) == QN_JSON_OBJECT ? qn_json_find(schema, "required") : NULL;
    for (size_t i = 0; required != NULL && i < qn_json_count(required); i++) {
        if (qn_str_eq(qn_json_as_str(qn_json_at(required, i)), name)) {
            return true;
        }
    }
    return false;
}

/* a requires a property that b, which is closed, does not have. */
static bool is_shut_out(const qn_json *a, const qn_json *b)
{
    const qn_json *required = qn_json_find(a, "required"), *additional = qn_json_find(b, "additionalProperties");
    const qn_json *properties = qn_json_find(b, "properties");
    bool is_closed = additional != NULL && qn_json_kind_of(additional) == QN_JSON_BOOL && !qn_json_as_bool(additional);
    if (!is_closed || required == NULL || qn_json_find(b, "patternProperties") != NULL) {
        return false;
    }
    for (size_t i = 0; i < qn_json_count(required); i++) {
        bool is_there = false;
        for (size_t k = 0; properties != NULL && k < qn_json_count(properties); k++) {
            is_there = is_there || qn_str_eq(qn_json_key_at(properties, k), qn_json_as_str(qn_json_at(required, i)));
        }
        if (!is_there) {
            return true;
        }
    }
    return false;
}

/* All values that a lists are refused by b. */
static qn_status list_fails(qn_sx *s, const qn_json *a, const qn_json *b, bool *fails)
{
    const qn_json *list = qn_json_find(a, "enum"), *one = qn_json_find(a, "const");
    size_t n = one != NULL ? 1 : list != NULL ? qn_json_count(list) : 0;
    *fails = n != 0;
    for (size_t i = 0; i < n && *fails; i++) {
        bool holds;
        QN_TRY(qn_sx_holds(s, b, one != NULL ? one : qn_json_at(list, i), 0, &holds));
        *fails = !holds;
    }
    return QN_OK;
}

static qn_status follow_refs(qn_sx *s, const qn_json **v)
{
    for (int i = 0; i < MAX_DEPTH && qn_json_kind_of(*v) == QN_JSON_OBJECT && qn_json_find(*v, "$ref") != NULL; i++) {
        QN_TRY(qn_sx_resolve(s, *v, v));
    }
    return QN_OK;
}

/* parent: NULL, or says more of both. */
static qn_status are_disjoint(qn_sx *s, const qn_json *a, const qn_json *b, const qn_json *parent, unsigned depth,
                              bool *is)
{
    QN_TRY(qn_sx_step(s, 1));
    *is = false;
    QN_TRY(follow_refs(s, &a));
    QN_TRY(follow_refs(s, &b));
    if (qn_json_kind_of(a) != QN_JSON_OBJECT || qn_json_kind_of(b) != QN_JSON_OBJECT) {
        *is = (qn_json_kind_of(a) == QN_JSON_BOOL && !qn_json_as_bool(a)) ||
              (qn_json_kind_of(b) == QN_JSON_BOOL && !qn_json_as_bool(b));
        return QN_OK;
    }
    if (depth >= MAX_DEPTH) {
        return QN_OK;
    }
    QN_TRY(qn_sx_check(s, a));
    QN_TRY(qn_sx_check(s, b));
    unsigned types =
        qn_sx_types_left(a) & qn_sx_types_left(b) & (parent != NULL ? qn_sx_types_left(parent) : QN_ST_ALL);
    *is = types == 0;
    if (!*is) {
        QN_TRY(list_fails(s, a, b, is));
    }
    if (!*is) {
        QN_TRY(list_fails(s, b, a, is));
    }
    *is = *is || (types == QN_ST_OBJECT && (is_shut_out(a, b) || is_shut_out(b, a)));
    const qn_json *mine = qn_json_find(a, "properties"), *theirs = qn_json_find(b, "properties");
    for (size_t i = 0; types == QN_ST_OBJECT && !*is && mine != NULL && theirs != NULL && i < qn_json_count(mine);
         i++) {
        qn_str name = qn_json_key_at(mine, i);
        bool must = is_required(a, name) || is_required(b, name) || (parent != NULL && is_required(parent, name));
        for (size_t k = 0; must && !*is && k < qn_json_count(theirs); k++) {
            if (qn_str_eq(qn_json_key_at(theirs, k), name)) {
                QN_TRY(are_disjoint(s, qn_json_at(mine, i), qn_json_at(theirs, k), NULL, depth + 1, is));
            }
        }
    }
    return QN_OK;
}

qn_status qn_sx_disjoint_pairs(qn_sx *s, const qn_json *list, const qn_json *parent, const bool **pairs)
{
    size_t n = qn_json_count(list);
    for (const struct qn_schema_pairs *p = s->pairs; p != NULL; p = p->next) {
        if (p->list == list) {
            *pairs = p->pairs;
            return QN_OK;
        }
    }
    QN_TRY(qn_sx_step(s, (uint64_t)n * n / 2));
    struct qn_schema_pairs *known = qn_sx_alloc(s, sizeof(*known));
    bool *is = qn_sx_alloc(s, n * n + 1);
    if (known == NULL || is == NULL) {
        return qn_sx_no_memory(s);
    }
    for (size_t i = 0; i < n; i++) {
        is[i * n + i] = true;
        for (size_t k = 0; k < i; k++) {
            bool one = false;
            QN_TRY(are_disjoint(s, qn_json_at(list, i), qn_json_at(list, k), parent, 0, &one));
            is[i * n + k] = is[k * n + i] = one;
        }
    }
    *known = (struct qn_schema_pairs){list, is, s->pairs};
    s->pairs = known;
    *pairs = is;
    return QN_OK;
}
