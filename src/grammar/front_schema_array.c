/* Arrays of a schema: first items one by one, then all others alike; counts; values that may not repeat where they can
 * be listed; and items of a kind that must occur. SPDX-License-Identifier: MIT */
#include "grammar/front_schema_array.h"

#define NO_COUNT (1u << 24) /* no answer has as many items; such a limit is no limit */

static const qn_json *first_items(const qn_json *schema)
{
    const qn_json *items = qn_json_find(schema, "items");
    return items != NULL && qn_json_kind_of(items) == QN_JSON_ARRAY ? items : qn_json_find(schema, "prefixItems");
}

static const qn_json *other_items(const qn_json *schema)
{
    const qn_json *items = qn_json_find(schema, "items");
    if (items != NULL && qn_json_kind_of(items) == QN_JSON_ARRAY) {
        items = qn_json_find(schema, "additionalItems");
    }
    return items != NULL ? items : qn_json_find(schema, "unevaluatedItems");
}

static bool is_bool(const qn_json *v, bool truth)
{
    return qn_json_kind_of(v) == QN_JSON_BOOL && qn_json_as_bool(v) == truth;
}

static void at_least(qn_schema_array *a, uint32_t n)
{
    a->min = a->min > n ? a->min : n;
}
static void at_most(qn_schema_array *a, uint32_t n)
{
    a->max = a->max < n ? a->max : n;
}

static qn_status add_contains(qn_schema_array *a, const qn_json *schema, const char *keyword, qn_schema_item contains,
                              uint32_t min, uint32_t max)
{
    if (a->has_contains) {
        return qn_sx_fail(a->s, QN_EUNSUPPORTED, schema, keyword,
                          "a second condition on some items of the same array is not enforced");
    }
    a->has_contains = true;
    a->contains = contains;
    a->contains_schema = schema;
    a->contains_keyword = keyword;
    a->min_contains = min;
    a->max_contains = max;
    return QN_OK;
}

static qn_status add_holds(qn_schema_array *a, const qn_json *schema)
{
    qn_sx *s = a->s;
    uint32_t n = 0;
    bool found;
    QN_TRY(qn_sx_count(s, schema, "minItems", &n, &found));
    if (found) {
        at_least(a, n);
    }
    QN_TRY(qn_sx_count(s, schema, "maxItems", &n, &found));
    if (found && n < NO_COUNT) {
        at_most(a, n);
    }
    const qn_json *first = first_items(schema), *unique = qn_json_find(schema, "uniqueItems"),
                  *contains = qn_json_find(schema, "contains");
    if (first != NULL) {
        if (qn_json_count(first) > QN_SCHEMA_MAX_FIRST) {
            return qn_sx_fail(s, QN_EFULL, schema, "prefixItems", "more than 100 schemas");
        }
        n = (uint32_t)qn_json_count(first);
        a->n_first = a->n_first > n ? a->n_first : n;
    }
    if (unique != NULL && qn_json_as_bool(unique)) {
        a->unique = schema;
    }
    if (contains == NULL) {
        return QN_OK;
    }
    uint32_t min = 1, max = QN_GX_NO_MAX;
    QN_TRY(qn_sx_count(s, schema, "minContains", &min, &found));
    QN_TRY(qn_sx_count(s, schema, "maxContains", &max, &found));
    if (is_bool(contains, true)) {
        at_least(a, min);
        at_most(a, max);
    } else if (is_bool(contains, false)) {
        at_most(a, min == 0 ? QN_GX_NO_MAX : 0);
        at_least(a, min == 0 ? 0 : 1);
    } else if (min != 0 || max != QN_GX_NO_MAX) {
        return add_contains(a, schema, "contains", (qn_schema_item){contains, false}, min, max);
    }
    return QN_OK;
}

static qn_status add_fails(qn_schema_array *a, const qn_schema_literal *l)
{
    uint32_t n = 0;
    bool found;
    if (l->keyword == QN_SK_MIN_ITEMS) {
        QN_TRY(qn_sx_count(a->s, l->schema, "minItems", &n, &found));
        at_least(a, n == 0 ? 1 : 0);
        at_most(a, n == 0 ? 0 : n - 1);
    } else if (l->keyword == QN_SK_MAX_ITEMS) {
        QN_TRY(qn_sx_count(a->s, l->schema, "maxItems", &n, &found));
        at_least(a, n + 1);
    } else if (l->keyword == QN_SK_ITEMS) { /* one item at least is of another kind */
        return add_contains(a, l->schema, "items", (qn_schema_item){l->value, true}, 1, QN_GX_NO_MAX);
    } else if (l->keyword == QN_SK_CONTAINS) { /* too few of them, which is said of no maxContains */
        n = 1;
        QN_TRY(qn_sx_count(a->s, l->schema, "minContains", &n, &found));
        return add_contains(a, l->schema, "contains", (qn_schema_item){l->value, false}, 0, n == 0 ? 0 : n - 1);
    } else if (l->keyword == QN_SK_PREFIX_ITEMS) {
        uint32_t i = (uint32_t)l->name.len;
        at_least(a, i + 1);
        a->n_first = a->n_first > i ? a->n_first : i + 1;
    } else if (l->keyword == QN_SK_ENUM || l->keyword == QN_SK_CONST) {
        bool is_list = l->keyword == QN_SK_ENUM;
        for (size_t i = 0; i < (is_list ? qn_json_count(l->value) : 1); i++) {
            if (qn_json_kind_of(is_list ? qn_json_at(l->value, i) : l->value) == QN_JSON_ARRAY) {
                return qn_sx_fail(a->s, QN_EUNSUPPORTED, l->schema, is_list ? "enum" : "const",
                                  "an array is not enforced where it must fail (not, if, oneOf)");
            }
        }
    }
    return QN_OK;
}

bool qn_schema_array_item(qn_schema_array *a, uint32_t i, size_t *n)
{
    *n = 0;
    for (size_t k = 0; k < a->c->n_literals; k++) {
        const qn_schema_literal *l = &a->c->literals[k];
        if (l->is_negated) {
            if (l->keyword == QN_SK_PREFIX_ITEMS && l->name.len == i) {
                a->items[(*n)++] = (qn_schema_item){l->value, true};
            }
            continue;
        }
        const qn_json *first = first_items(l->schema);
        const qn_json *item = first != NULL && i < qn_json_count(first) ? qn_json_at(first, i) : other_items(l->schema);
        if (item != NULL && is_bool(item, false)) {
            return false;
        }
        if (item != NULL && !is_bool(item, true)) {
            a->items[(*n)++] = (qn_schema_item){item, false};
        }
    }
    return true;
}

qn_gx qn_schema_array_run(qn_schema_array *a, qn_gx item, uint32_t min, uint32_t max, bool follows)
{
    qn_gx_builder *b = a->s->b;
    qn_gx next = qn_gx_cat(b, (qn_gx[]){a->s->comma, item}, 2);
    if (follows || max == 0) {
        return qn_gx_repeat(b, next, min, max);
    }
    qn_gx rest = qn_gx_repeat(b, next, min > 0 ? min - 1 : 0, max == QN_GX_NO_MAX ? max : max - 1);
    qn_gx all = qn_gx_cat(b, (qn_gx[]){item, rest}, 2);
    return min == 0 ? qn_gx_repeat(b, all, 0, 1) : all;
}

qn_gx qn_schema_array_brackets(qn_schema_array *a, qn_gx inside)
{
    qn_gx_builder *b = a->s->b;
    return qn_gx_cat(
        b, (qn_gx[]){qn_gx_bytes(b, QN_STR("[")), a->s->blank, inside, a->s->blank, qn_gx_bytes(b, QN_STR("]"))}, 5);
}

/* ---- the whole ---- */

static qn_status plain(qn_schema_array *a, qn_gx *out)
{
    qn_sx *s = a->s;
    qn_gx_builder *b = s->b;
    size_t n;
    qn_gx item, inside = 0;
    uint32_t n_first = a->n_first;
    qn_gx first[QN_SCHEMA_MAX_FIRST];
    for (uint32_t i = 0; i < n_first && i < a->max; i++) {
        if (!qn_schema_array_item(a, i, &n)) {
            at_most(a, i);
        } else {
            QN_TRY(qn_sx_value(s, a->items, n, &first[i]));
        }
    }
    n_first = n_first < a->max ? n_first : a->max;
    if (a->max > n_first) {
        if (!qn_schema_array_item(a, a->n_first, &n)) {
            at_most(a, n_first);
        } else {
            QN_TRY(qn_sx_value(s, a->items, n, &item));
            uint32_t most = a->max == QN_GX_NO_MAX ? a->max : a->max - n_first;
            inside = qn_schema_array_run(a, item, a->min > n_first ? a->min - n_first : 0, most, n_first != 0);
        }
    }
    if (a->min > a->max) {
        *out = qn_gx_never(b);
        return QN_OK;
    }
    bool has_inside = a->max > n_first;
    for (uint32_t i = n_first; i > 0; i--) {
        qn_gx parts[3];
        uint32_t n_parts = 0;
        if (i > 1) {
            parts[n_parts++] = s->comma;
        }
        parts[n_parts++] = first[i - 1];
        if (has_inside) {
            parts[n_parts++] = inside;
        }
        inside = qn_gx_cat(b, parts, n_parts);
        inside = i > a->min ? qn_gx_repeat(b, inside, 0, 1) : inside;
        has_inside = true;
    }
    *out = qn_schema_array_brackets(a, has_inside ? inside : qn_gx_bytes(b, QN_STR("")));
    return QN_OK;
}

qn_status qn_sx_array(qn_sx *s, const qn_schema_clause *c, qn_gx *out)
{
    qn_schema_array a = {.s = s, .c = c, .max = QN_GX_NO_MAX};
    a.items = qn_sx_alloc(s, (c->n_literals + 2) * sizeof(*a.items));
    if (a.items == NULL) {
        return qn_sx_no_memory(s);
    }
    for (size_t i = 0; i < c->n_literals; i++) {
        const qn_schema_literal *l = &c->literals[i];
        QN_TRY(l->is_negated ? add_fails(&a, l) : add_holds(&a, l->schema));
    }
    if (a.min > a.max) {
        *out = qn_gx_never(s->b);
        return QN_OK;
    }
    if (a.max == 0) {
        *out = a.has_contains && a.min_contains > 0 ? qn_gx_never(s->b)
                                                    : qn_schema_array_brackets(&a, qn_gx_bytes(s->b, QN_STR("")));
        return QN_OK;
    }
    if (a.unique != NULL && a.max > 1) {
        return qn_schema_unique_items(&a, out);
    }
    return a.has_contains ? qn_schema_array_contains(&a, out) : plain(&a, out);
}
