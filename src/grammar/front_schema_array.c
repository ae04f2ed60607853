/* Arrays of a schema: first items one by one, then all others alike; counts; values that may not repeat where they can
 * be listed; and items of a kind that must occur. SPDX-License-Identifier: MIT */
#include "grammar/front_schema_int.h"

#define MAX_FIRST 100 /* prefixItems; each is two levels of expressions */
#define MAX_UNIQUE 10 /* different values that may not repeat: the automaton remembers which were there, 2^n */
#define NO_COUNT (1u << 24)

typedef struct array {
    qn_sx *s;
    const qn_schema_clause *c;
    uint32_t min, max, n_first;
    const qn_json *contains, *contains_schema; /* NULL: none */
    uint32_t min_contains, max_contains;
    const qn_json *unique; /* the schema that asks for it */
    qn_schema_item *items; /* work space of one item's conjunction */
} array;

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

static void at_least(array *a, uint32_t n)
{
    a->min = a->min > n ? a->min : n;
}
static void at_most(array *a, uint32_t n)
{
    a->max = a->max < n ? a->max : n;
}

static qn_status add_holds(array *a, const qn_json *schema)
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
        if (qn_json_count(first) > MAX_FIRST) {
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
        if (a->contains != NULL) {
            return qn_sx_fail(s, QN_EUNSUPPORTED, schema, "contains",
                              "a second one for the same array is not enforced");
        }
        a->contains = contains;
        a->contains_schema = schema;
        a->min_contains = min;
        a->max_contains = max;
    }
    return QN_OK;
}

static qn_status add_fails(array *a, const qn_schema_literal *l)
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

/* The conjunction of what the literals ask of item i; false: nothing fits there. */
static bool item_conjunction(array *a, uint32_t i, size_t *n)
{
    *n = 0;
    for (size_t k = 0; k < a->c->n_literals; k++) {
        const qn_schema_literal *l = &a->c->literals[k];
        if (l->is_negated) {
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

/* n items of one kind, min to max, commas between them and one before when `follows`. */
static qn_gx run(array *a, qn_gx item, uint32_t min, uint32_t max, bool follows)
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

static qn_gx brackets(array *a, qn_gx inside)
{
    qn_gx_builder *b = a->s->b;
    return qn_gx_cat(
        b, (qn_gx[]){qn_gx_bytes(b, QN_STR("[")), a->s->blank, inside, a->s->blank, qn_gx_bytes(b, QN_STR("]"))}, 5);
}

/* ---- values that may not repeat ---- */

/* All items alike, and their values can be listed: each value at most once. */
static qn_status unique_items(array *a, qn_gx *out)
{
    static const char words[] = "[true,false]";
    qn_sx *s = a->s;
    qn_gx_builder *b = s->b;
    size_t n;
    qn_gx values[MAX_UNIQUE];
    uint32_t n_values = 0;
    qn_schema_clause *c;
    const char *const why = "only enforced for few values that are listed (enum), or at most one item";
    if (!item_conjunction(a, 0, &n) || a->n_first != 0 || a->contains != NULL) {
        return qn_sx_fail(s, QN_EUNSUPPORTED, a->unique, "uniqueItems", why);
    }
    QN_TRY(qn_sx_clauses(s, a->items, n, QN_ST_ALL, &c));
    if (c == NULL || c->next != NULL) {
        return qn_sx_fail(s, QN_EUNSUPPORTED, a->unique, "uniqueItems", why);
    }
    const qn_json *list = NULL;
    size_t n_list = 0;
    bool is_const = false;
    bool is_listed = qn_sx_listed(s, c, &list, &n_list, &is_const);
    qn_json_doc *doc = NULL;
    if (!is_listed && (c->types & ~(unsigned)QN_ST_BOOL) == 0) {
        QN_TRY(qn_json_parse(b->budget, words, sizeof(words) - 1, 8, &doc, s->err));
        list = qn_json_root(doc);
        n_list = 2;
        is_listed = true;
    }
    qn_status status = QN_OK;
    for (size_t i = 0; i < n_list && is_listed && status == QN_OK; i++) {
        const qn_json *value = is_const ? list : qn_json_at(list, i);
        bool holds = false, is_known = false;
        status = qn_sx_clause_holds(s, c, value, &holds);
        for (size_t k = 0; k < i && !is_known; k++) {
            is_known = qn_sx_equal(s, value, qn_json_at(list, k));
        }
        if (status == QN_OK && holds && !is_known && (c->types & qn_sx_type_of(value)) != 0) {
            is_listed = n_values < MAX_UNIQUE;
            status = is_listed ? qn_sx_literal(s, value, &values[n_values]) : QN_OK;
            n_values += is_listed;
        }
    }
    qn_json_free(doc);
    QN_TRY(status);
    if (!is_listed) {
        return qn_sx_fail(s, QN_EUNSUPPORTED, a->unique, "uniqueItems", why);
    }
    at_most(a, n_values);
    qn_gx all = run(a, qn_gx_alt(b, values, n_values), a->min, a->max, false);
    for (uint32_t i = 0; i < n_values && n_values > 1; i++) {
        qn_gx others[MAX_UNIQUE];
        uint32_t n_others = 0;
        for (uint32_t k = 0; k < n_values; k++) {
            if (k != i) {
                others[n_others++] = values[k];
            }
        }
        qn_gx other = qn_gx_alt(b, others, n_others);
        /* others, the value once, others; or none of it at all */
        qn_gx before = qn_gx_repeat(b, qn_gx_cat(b, (qn_gx[]){other, s->comma}, 2), 0, QN_GX_NO_MAX);
        qn_gx after = qn_gx_repeat(b, qn_gx_cat(b, (qn_gx[]){s->comma, other}, 2), 0, QN_GX_NO_MAX);
        qn_gx once = qn_gx_cat(b, (qn_gx[]){before, values[i], after}, 3);
        qn_gx never = run(a, other, 0, QN_GX_NO_MAX, false);
        all = qn_gx_and(b, all, qn_gx_alt(b, (qn_gx[]){once, never}, 2));
    }
    *out = brackets(a, all);
    return QN_OK;
}

/* ---- items that must occur ---- */

/* Items that are not of the kind, with one of it now and then: which of the two an item is can be told, so that the
 * counts are exact. */
static qn_status with_contains(array *a, qn_gx *out)
{
    qn_sx *s = a->s;
    qn_gx_builder *b = s->b;
    size_t n;
    qn_gx yes, no;
    bool is_counted = a->min > a->min_contains || a->max != QN_GX_NO_MAX;
    if (a->n_first != 0 || is_counted) {
        return qn_sx_fail(s, QN_EUNSUPPORTED, a->contains_schema, "contains",
                          "not enforced beside prefixItems, minItems or maxItems");
    }
    if (!item_conjunction(a, 0, &n)) {
        *out = a->min_contains == 0 && a->min == 0 ? brackets(a, qn_gx_bytes(b, QN_STR(""))) : qn_gx_never(b);
        return QN_OK;
    }
    a->items[n] = (qn_schema_item){a->contains, false};
    QN_TRY(qn_sx_value(s, a->items, n + 1, &yes));
    a->items[n].is_negated = true;
    QN_TRY(qn_sx_value(s, a->items, n + 1, &no));
    uint32_t min = a->min_contains, max = a->max_contains;
    if (min > max) {
        *out = qn_gx_never(b);
        return QN_OK;
    }
    qn_gx others_before = qn_gx_repeat(b, qn_gx_cat(b, (qn_gx[]){no, s->comma}, 2), 0, QN_GX_NO_MAX);
    qn_gx others_after = qn_gx_repeat(b, qn_gx_cat(b, (qn_gx[]){s->comma, no}, 2), 0, QN_GX_NO_MAX);
    qn_gx next = qn_gx_cat(b, (qn_gx[]){s->comma, yes, others_after}, 3);
    qn_gx ways[2];
    uint32_t n_ways = 0;
    if (max > 0) {
        qn_gx rest = qn_gx_repeat(b, next, min > 0 ? min - 1 : 0, max == QN_GX_NO_MAX ? max : max - 1);
        ways[n_ways++] = qn_gx_cat(b, (qn_gx[]){others_before, yes, others_after, rest}, 4);
    }
    if (min == 0) {
        ways[n_ways++] = run(a, no, a->min, QN_GX_NO_MAX, false);
    }
    *out = brackets(a, qn_gx_alt(b, ways, n_ways));
    return QN_OK;
}

/* ---- the whole ---- */

static qn_status plain(array *a, qn_gx *out)
{
    qn_sx *s = a->s;
    qn_gx_builder *b = s->b;
    size_t n;
    qn_gx item, inside = 0;
    uint32_t n_first = a->n_first;
    qn_gx first[MAX_FIRST];
    for (uint32_t i = 0; i < n_first && i < a->max; i++) {
        if (!item_conjunction(a, i, &n)) {
            at_most(a, i);
        } else {
            QN_TRY(qn_sx_value(s, a->items, n, &first[i]));
        }
    }
    n_first = n_first < a->max ? n_first : a->max;
    if (a->max > n_first) {
        if (!item_conjunction(a, a->n_first, &n)) {
            at_most(a, n_first);
        } else {
            QN_TRY(qn_sx_value(s, a->items, n, &item));
            uint32_t most = a->max == QN_GX_NO_MAX ? a->max : a->max - n_first;
            inside = run(a, item, a->min > n_first ? a->min - n_first : 0, most, n_first != 0);
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
    *out = brackets(a, has_inside ? inside : qn_gx_bytes(b, QN_STR("")));
    return QN_OK;
}

qn_status qn_sx_array(qn_sx *s, const qn_schema_clause *c, qn_gx *out)
{
    array a = {.s = s, .c = c, .max = QN_GX_NO_MAX};
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
        *out =
            a.contains != NULL && a.min_contains > 0 ? qn_gx_never(s->b) : brackets(&a, qn_gx_bytes(s->b, QN_STR("")));
        return QN_OK;
    }
    if (a.unique != NULL && a.max > 1) {
        return unique_items(&a, out);
    }
    return a.contains != NULL ? with_contains(&a, out) : plain(&a, out);
}
