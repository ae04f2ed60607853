/* Whether a value that is known while the schema is being read (one of an enum) satisfies the other constraints. This
 * reads keywords as the standard defines them, apart from the files that write expressions.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_schema_int.h"

#define MAX_DEPTH 200

static qn_status keyword_holds(qn_sx *s, const qn_json *schema, qn_schema_keyword k, const qn_json *v,
                               const qn_json *value, unsigned depth, bool *holds);

static const qn_json *find_key(const qn_json *v, qn_str key)
{
    for (size_t i = qn_json_kind_of(v) == QN_JSON_OBJECT ? qn_json_count(v) : 0; i > 0; i--) {
        if (qn_str_eq(qn_json_key_at(v, i - 1), key)) {
            return qn_json_at(v, i - 1);
        }
    }
    return NULL;
}

static qn_status number_holds(qn_sx *s, const qn_json *schema, qn_schema_keyword k, const qn_json *limit,
                              const qn_json *value, bool *holds)
{
    qn_decimal x, y;
    if (!qn_decimal_read(s, qn_json_as_str(value), &x) || !qn_decimal_read(s, qn_json_as_str(limit), &y)) {
        return qn_sx_fail(s, QN_EFULL, schema, "", "a number with an exponent beyond 100000");
    }
    switch (k) {
    case QN_SK_MINIMUM:
        *holds = qn_decimal_compare(&x, &y) >= 0;
        return QN_OK;
    case QN_SK_MAXIMUM:
        *holds = qn_decimal_compare(&x, &y) <= 0;
        return QN_OK;
    case QN_SK_EXCLUSIVE_MINIMUM:
        *holds = qn_decimal_compare(&x, &y) > 0;
        return QN_OK;
    case QN_SK_EXCLUSIVE_MAXIMUM:
        *holds = qn_decimal_compare(&x, &y) < 0;
        return QN_OK;
    default:
        break;
    }
    bool is_known;
    *holds = qn_decimal_is_multiple(&x, &y, &is_known);
    return is_known ? QN_OK : qn_sx_fail(s, QN_EUNSUPPORTED, schema, "multipleOf", "more than 18 digits");
}

/* int32 and its like. */
static qn_status number_format_holds(qn_sx *s, const qn_json *schema, const qn_json *format, const qn_json *value,
                                     bool *holds)
{
    const char *low, *high;
    if (!qn_sx_number_format(qn_json_as_str(format), &low, &high) || low == NULL) {
        return QN_OK;
    }
    qn_decimal x, a, b;
    if (!qn_decimal_read(s, qn_json_as_str(value), &x) || !qn_decimal_read(s, qn_str_of(low), &a) ||
        !qn_decimal_read(s, qn_str_of(high), &b)) {
        return qn_sx_fail(s, QN_EFULL, schema, "format", "a number with an exponent beyond 100000");
    }
    *holds = qn_decimal_compare(&x, &a) >= 0 && qn_decimal_compare(&x, &b) <= 0;
    return QN_OK;
}

static const qn_json *additional_of(const qn_json *schema, const char *keyword, const char *unevaluated)
{
    const qn_json *v = qn_json_find(schema, keyword);
    return v != NULL ? v : qn_json_find(schema, unevaluated);
}

static qn_status items_hold(qn_sx *s, const qn_json *schema, const qn_json *value, unsigned depth, bool *holds)
{
    const qn_json *prefix = qn_json_find(schema, "prefixItems"), *rest = qn_json_find(schema, "items");
    if (rest != NULL && qn_json_kind_of(rest) == QN_JSON_ARRAY) {
        prefix = rest;
        rest = qn_json_find(schema, "additionalItems");
    }
    rest = rest != NULL ? rest : qn_json_find(schema, "unevaluatedItems");
    for (size_t i = 0; i < qn_json_count(value) && *holds; i++) {
        const qn_json *item = prefix != NULL && i < qn_json_count(prefix) ? qn_json_at(prefix, i) : rest;
        if (item != NULL) {
            QN_TRY(qn_sx_holds(s, item, qn_json_at(value, i), depth, holds));
        }
    }
    return QN_OK;
}

static qn_status contains_holds(qn_sx *s, const qn_json *schema, const qn_json *value, unsigned depth, bool *holds)
{
    uint32_t min = 1, max = UINT32_MAX, n = 0;
    bool found;
    QN_TRY(qn_sx_count(s, schema, "minContains", &min, &found));
    QN_TRY(qn_sx_count(s, schema, "maxContains", &max, &found));
    for (size_t i = 0; i < qn_json_count(value); i++) {
        bool is_one;
        QN_TRY(qn_sx_holds(s, qn_json_find(schema, "contains"), qn_json_at(value, i), depth, &is_one));
        n += is_one;
    }
    *holds = n >= min && n <= max;
    return QN_OK;
}

static qn_status member_holds(qn_sx *s, const qn_json *schema, qn_str key, const qn_json *value, unsigned depth,
                              bool *holds)
{
    const qn_json *properties = qn_json_find(schema, "properties"),
                  *patterns = qn_json_find(schema, "patternProperties");
    const qn_json *mine = properties != NULL ? find_key(properties, key) : NULL;
    const qn_json *additional = additional_of(schema, "additionalProperties", "unevaluatedProperties");
    bool is_known = mine != NULL;
    if (mine != NULL) {
        QN_TRY(qn_sx_holds(s, mine, value, depth, holds));
    }
    for (size_t i = 0; patterns != NULL && i < qn_json_count(patterns) && *holds; i++) {
        bool fits;
        QN_TRY(qn_sx_pattern_holds(s, qn_json_at(patterns, i), "", qn_json_key_at(patterns, i), key, &fits));
        if (fits) {
            is_known = true;
            QN_TRY(qn_sx_holds(s, qn_json_at(patterns, i), value, depth, holds));
        }
    }
    return *holds && !is_known && additional != NULL ? qn_sx_holds(s, additional, value, depth, holds) : QN_OK;
}

static qn_status names_hold(qn_sx *s, const qn_json *names, const qn_json *value, unsigned depth, bool *holds)
{
    for (size_t i = 0; i < qn_json_count(value) && *holds; i++) {
        qn_buf text;
        qn_json_writer w;
        qn_json_doc *doc;
        qn_buf_init(&text, s->b->budget, "grammar", 1u << 20);
        qn_json_writer_init(&w, &text);
        qn_json_string(&w, qn_json_key_at(value, i));
        qn_status status = text.status != QN_OK ? qn_sx_no_memory(s)
                                                : qn_json_parse(s->b->budget, text.data, text.len, 4, &doc, s->err);
        qn_buf_free(&text);
        QN_TRY(status);
        status = qn_sx_holds(s, names, qn_json_root(doc), depth, holds);
        qn_json_free(doc);
        QN_TRY(status);
    }
    return QN_OK;
}

static bool has_all(const qn_json *names, const qn_json *value)
{
    for (size_t i = 0; i < qn_json_count(names); i++) {
        if (find_key(value, qn_json_as_str(qn_json_at(names, i))) == NULL) {
            return false;
        }
    }
    return true;
}

static qn_status dependencies_hold(qn_sx *s, const qn_json *v, const qn_json *value, unsigned depth, bool *holds)
{
    for (size_t i = 0; i < qn_json_count(v) && *holds; i++) {
        const qn_json *d = qn_json_at(v, i);
        if (find_key(value, qn_json_key_at(v, i)) == NULL) {
            continue;
        }
        if (qn_json_kind_of(d) == QN_JSON_ARRAY) {
            *holds = has_all(d, value);
        } else {
            QN_TRY(qn_sx_holds(s, d, value, depth, holds));
        }
    }
    return QN_OK;
}

static bool are_unique(qn_sx *s, const qn_json *value)
{
    for (size_t i = 0; i < qn_json_count(value); i++) {
        for (size_t k = 0; k < i; k++) {
            if (qn_sx_equal(s, qn_json_at(value, i), qn_json_at(value, k))) {
                return false;
            }
        }
    }
    return true;
}

static qn_status list_holds(qn_sx *s, qn_schema_keyword k, const qn_json *v, const qn_json *value, unsigned depth,
                            bool *holds)
{
    size_t n_hold = 0, n = qn_json_count(v);
    for (size_t i = 0; i < n; i++) {
        bool one;
        QN_TRY(qn_sx_holds(s, qn_json_at(v, i), value, depth, &one));
        n_hold += one;
    }
    *holds = k == QN_SK_ALL_OF ? n_hold == n : k == QN_SK_ANY_OF ? n_hold > 0 : n_hold == 1;
    return QN_OK;
}

static qn_status array_holds(qn_sx *s, const qn_json *schema, qn_schema_keyword k, const qn_json *v,
                             const qn_json *value, unsigned depth, bool *holds)
{
    switch (k) {
    case QN_SK_ITEMS:
    case QN_SK_PREFIX_ITEMS:
        return items_hold(s, schema, value, depth, holds);
    case QN_SK_MIN_ITEMS:
        *holds = qn_sx_count_holds(v, false, qn_json_count(value));
        return QN_OK;
    case QN_SK_MAX_ITEMS:
        *holds = qn_sx_count_holds(v, true, qn_json_count(value));
        return QN_OK;
    case QN_SK_UNIQUE_ITEMS:
        *holds = !qn_json_as_bool(v) || are_unique(s, value);
        return QN_OK;
    case QN_SK_CONTAINS:
        return contains_holds(s, schema, value, depth, holds);
    default:
        return QN_OK;
    }
}

static qn_status object_holds(qn_sx *s, qn_schema_keyword k, const qn_json *v, const qn_json *value, unsigned depth,
                              bool *holds)
{
    switch (k) {
    case QN_SK_REQUIRED:
        *holds = has_all(v, value);
        return QN_OK;
    case QN_SK_MIN_PROPERTIES:
        *holds = qn_sx_count_holds(v, false, qn_json_count(value));
        return QN_OK;
    case QN_SK_MAX_PROPERTIES:
        *holds = qn_sx_count_holds(v, true, qn_json_count(value));
        return QN_OK;
    case QN_SK_PROPERTY_NAMES:
        return names_hold(s, v, value, depth, holds);
    case QN_SK_DEPENDENCIES:
    case QN_SK_DEPENDENT_REQUIRED:
    case QN_SK_DEPENDENT_SCHEMAS:
        return dependencies_hold(s, v, value, depth, holds);
    default:
        return QN_OK;
    }
}

static qn_status if_holds(qn_sx *s, const qn_json *schema, const qn_json *value, unsigned depth, bool *holds)
{
    bool is_so;
    QN_TRY(qn_sx_holds(s, qn_json_find(schema, "if"), value, depth, &is_so));
    const qn_json *then = qn_json_find(schema, is_so ? "then" : "else");
    return then != NULL ? qn_sx_holds(s, then, value, depth, holds) : QN_OK;
}

/* Whether value is one of list's own elements, which stand side by side: most values come from the enum they are
 * checked against, and long ones would take n^2 steps. */
static bool is_element(const qn_json *list, const qn_json *value)
{
    size_t n = qn_json_count(list);
    const qn_json *first = qn_json_at(list, 0), *last = n != 0 ? qn_json_at(list, n - 1) : NULL;
    return n != 0 && (uintptr_t)value >= (uintptr_t)first && (uintptr_t)value <= (uintptr_t)last;
}

static qn_status keyword_holds(qn_sx *s, const qn_json *schema, qn_schema_keyword k, const qn_json *v,
                               const qn_json *value, unsigned depth, bool *holds)
{
    qn_json_kind kind = qn_json_kind_of(value);
    const qn_json *target;
    switch (k) {
    case QN_SK_TYPE:
        *holds = (qn_sx_types_of(v) & qn_sx_type_of(value)) != 0;
        return QN_OK;
    case QN_SK_CONST:
        *holds = qn_sx_equal(s, v, value);
        return QN_OK;
    case QN_SK_ENUM:
        *holds = is_element(v, value);
        if (*holds) {
            return QN_OK;
        }
        for (size_t i = 0; i < qn_json_count(v) && !*holds; i++) {
            *holds = qn_sx_equal(s, qn_json_at(v, i), value);
        }
        return qn_sx_step(s, 1 + qn_json_count(v) / 8);
    case QN_SK_ALL_OF:
    case QN_SK_ANY_OF:
    case QN_SK_ONE_OF:
        return list_holds(s, k, v, value, depth, holds);
    case QN_SK_NOT:
        QN_TRY(qn_sx_holds(s, v, value, depth, holds));
        *holds = !*holds;
        return QN_OK;
    case QN_SK_IF:
        return if_holds(s, schema, value, depth, holds);
    case QN_SK_REF:
        QN_TRY(qn_sx_resolve(s, schema, &target));
        return qn_sx_holds(s, target, value, depth, holds);
    case QN_SK_REFUSED:
        return QN_OK; /* let through only where it says what items and additionalProperties say */
    default:
        break;
    }
    switch (kind) {
    case QN_JSON_NUMBER:
        if (k == QN_SK_FORMAT) {
            return number_format_holds(s, schema, v, value, holds);
        }
        return k >= QN_SK_MINIMUM && k <= QN_SK_MULTIPLE_OF ? number_holds(s, schema, k, v, value, holds) : QN_OK;
    case QN_JSON_STRING:
        return qn_sx_string_holds(s, schema, k, v, qn_json_as_str(value), holds);
    case QN_JSON_ARRAY:
        return array_holds(s, schema, k, v, value, depth, holds);
    case QN_JSON_OBJECT:
        return object_holds(s, k, v, value, depth, holds);
    default:
        return QN_OK;
    }
}

/* Keywords that ask the same value for other schemas, which a clause has as literals of their own. */
static bool is_combination(qn_schema_keyword k)
{
    switch (k) {
    case QN_SK_ALL_OF:
    case QN_SK_ANY_OF:
    case QN_SK_ONE_OF:
    case QN_SK_NOT:
    case QN_SK_IF:
    case QN_SK_REF:
    case QN_SK_DEPENDENCIES:
    case QN_SK_DEPENDENT_REQUIRED:
    case QN_SK_DEPENDENT_SCHEMAS:
        return true;
    default:
        return false;
    }
}

static qn_status schema_holds(qn_sx *s, const qn_json *schema, const qn_json *value, unsigned depth, bool is_literal,
                              bool *holds)
{
    QN_TRY(qn_sx_step(s, 2));
    if (depth >= MAX_DEPTH) {
        return qn_sx_fail(s, QN_EFULL, schema, "", "too deep, or a schema that consists of itself");
    }
    *holds = true;
    if (qn_json_kind_of(schema) == QN_JSON_BOOL) {
        *holds = qn_json_as_bool(schema);
        return QN_OK;
    }
    if (qn_json_kind_of(schema) != QN_JSON_OBJECT) {
        return qn_sx_fail(s, QN_EFORMAT, schema, "", "not a schema, which is an object, true or false");
    }
    bool is_only_ref = s->is_draft7 && qn_json_find(schema, "$ref") != NULL;
    if (!is_only_ref) {
        QN_TRY(qn_sx_check(s, schema));
    }
    for (size_t i = 0; i < qn_json_count(schema) && *holds; i++) {
        qn_schema_keyword k = qn_sx_keyword(qn_json_key_at(schema, i));
        if ((!is_only_ref || k == QN_SK_REF) && !(is_literal && is_combination(k))) {
            QN_TRY(keyword_holds(s, schema, k, qn_json_at(schema, i), value, depth + 1, holds));
        }
    }
    for (size_t i = 0; qn_json_kind_of(value) == QN_JSON_OBJECT && !is_only_ref && i < qn_json_count(value) && *holds;
         i++) {
        QN_TRY(member_holds(s, schema, qn_json_key_at(value, i), qn_json_at(value, i), depth + 1, holds));
    }
    bool has_rest =
        qn_json_kind_of(value) == QN_JSON_ARRAY && !is_only_ref && qn_json_find(schema, "unevaluatedItems") != NULL;
    return *holds && has_rest ? items_hold(s, schema, value, depth + 1, holds) : QN_OK;
}

qn_status qn_sx_holds(qn_sx *s, const qn_json *schema, const qn_json *value, unsigned depth, bool *holds)
{
    return schema_holds(s, schema, value, depth, false, holds);
}

qn_status qn_sx_clause_holds(qn_sx *s, const qn_schema_clause *c, const qn_json *value, bool *holds)
{
    *holds = true;
    for (size_t i = 0; i < c->n_literals && *holds; i++) {
        const qn_schema_literal *l = &c->literals[i];
        if (!l->is_negated) {
            QN_TRY(schema_holds(s, l->schema, value, 0, true, holds));
        } else if (l->keyword == QN_SK_REQUIRED) {
            *holds = find_key(value, l->name) == NULL;
        } else if (l->keyword == QN_SK_PROPERTIES) {
            const qn_json *member = find_key(value, l->name);
            bool fits = false;
            if (member != NULL && l->value != NULL) {
                QN_TRY(qn_sx_holds(s, l->value, member, 0, &fits));
            }
            *holds = member != NULL && !fits;
        } else {
            QN_TRY(keyword_holds(s, l->schema, l->keyword, l->value, value, 0, holds));
            *holds = !*holds;
        }
    }
    return QN_OK;
}
