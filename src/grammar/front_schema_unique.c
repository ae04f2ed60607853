/* Arrays whose items may not repeat, where the values of each item are listed: a rule for each set of values that were
 * there says what may follow. How many items there were is the size of that set, so that places with values of their
 * own (prefixItems) need no more. SPDX-License-Identifier: MIT */
#include "grammar/front_schema_array.h"

#include <stdio.h>

#define MAX_VALUES 64u
#define MAX_SETS 10000u /* all sets of 13 values, or those of up to 3 of 38 */
#define TABLE_SIZE 32768u

typedef struct unique {
    qn_schema_array *a;
    const qn_json *values[MAX_VALUES];
    qn_gx literals[MAX_VALUES];
    uint32_t n_values;
    uint64_t *allowed; /* values of item i as bits; those behind the first ones share the last entry */
    uint64_t *sets;    /* hash table of sets, and their rules */
    uint32_t *rules;
    uint32_t n_sets;
} unique;

static qn_status refuse(const unique *u, const char *why)
{
    return qn_sx_fail(u->a->s, QN_EUNSUPPORTED, u->a->unique, "uniqueItems", why);
}

static qn_status add_value(unique *u, const qn_json *value, uint64_t *bits)
{
    uint32_t i = 0;
    QN_TRY(qn_sx_step(u->a->s, 1 + u->n_values / 8));
    while (i < u->n_values && !qn_sx_equal(u->a->s, u->values[i], value)) {
        i++;
    }
    if (i == MAX_VALUES) {
        return refuse(u, "more than 64 different values are too many to keep apart");
    }
    if (i == u->n_values) {
        u->values[u->n_values] = value;
        QN_TRY(qn_sx_literal(u->a->s, value, &u->literals[u->n_values++]));
    }
    *bits |= 1ull << i;
    return QN_OK;
}

/* The values of one alternative of an item. */
static qn_status add_clause(unique *u, const qn_schema_clause *c, const qn_json *words, uint64_t *bits)
{
    const qn_json *list = NULL;
    size_t n = 0;
    bool is_const = false;
    if (!qn_sx_listed(u->a->s, c, &list, &n, &is_const)) {
        if ((c->types & ~(unsigned)(QN_ST_BOOL | QN_ST_NULL)) != 0) {
            return refuse(u, "only enforced where the items are of listed values (enum, const), or maxItems is 1");
        }
        list = words;
        n = qn_json_count(words);
    }
    for (size_t i = 0; i < n; i++) {
        const qn_json *value = is_const ? list : qn_json_at(list, i);
        bool holds = (c->types & qn_sx_type_of(value)) != 0;
        if (holds) {
            QN_TRY(qn_sx_clause_holds(u->a->s, c, value, &holds));
        }
        if (holds) {
            QN_TRY(add_value(u, value, bits));
        }
    }
    return QN_OK;
}

static qn_status list_values(unique *u, const qn_json *words)
{
    qn_schema_array *a = u->a;
    for (uint32_t i = 0; i <= a->n_first && i < a->max; i++) {
        size_t n;
        qn_schema_clause *c = NULL;
        if (!qn_schema_array_item(a, i, &n)) {
            a->max = i; /* and so do all behind it, or none is asked for */
            return QN_OK;
        }
        QN_TRY(qn_sx_clauses(a->s, a->items, n, QN_ST_ALL, &c));
        for (; c != NULL; c = c->next) {
            QN_TRY(add_clause(u, c, words, &u->allowed[i]));
        }
    }
    return QN_OK;
}

/* The entry of a set in the table, found or free. */
static uint32_t slot_of(const unique *u, uint64_t set)
{
    uint32_t at = (uint32_t)((set + 1) * 0x9E3779B97F4A7C15ull >> 40) & (TABLE_SIZE - 1);
    while (u->rules[at] != 0 && u->sets[at] != set) {
        at = (at + 1) & (TABLE_SIZE - 1);
    }
    return at;
}

/* What may follow when n items, of the values of a set, are there. Calls go as deep as there are values. */
static qn_status after(unique *u, uint64_t set, uint32_t n, qn_gx *out)
{
    qn_schema_array *a = u->a;
    qn_gx_builder *b = a->s->b;
    uint32_t at = slot_of(u, set);
    if (u->rules[at] != 0) {
        *out = qn_gx_rule_ref(b, u->rules[at] - 1);
        return QN_OK;
    }
    if (++u->n_sets > MAX_SETS) {
        return refuse(u, "too many sets of these values; a smaller maxItems would be enforced");
    }
    char name[32];
    snprintf(name, sizeof(name), "set %u", u->n_sets);
    uint32_t rule = qn_gx_rule_new(b, qn_str_of(name)), n_ways = 0;
    u->sets[at] = set;
    u->rules[at] = rule + 1;
    qn_gx ways[MAX_VALUES + 1];
    if (n >= a->min) {
        ways[n_ways++] = qn_gx_bytes(b, QN_STR(""));
    }
    for (uint64_t left = n < a->max ? u->allowed[n < a->n_first ? n : a->n_first] & ~set : 0; left != 0;
         left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        qn_gx parts[3];
        uint32_t n_parts = 0;
        if (n > 0) {
            parts[n_parts++] = a->s->comma;
        }
        parts[n_parts++] = u->literals[i];
        QN_TRY(after(u, set | 1ull << i, n + 1, &parts[n_parts++]));
        ways[n_ways++] = qn_gx_cat(b, parts, n_parts);
    }
    qn_gx_rule_define(b, rule, qn_gx_alt(b, ways, n_ways));
    *out = qn_gx_rule_ref(b, rule);
    return qn_front_status(b, a->s->err);
}

static qn_status write_sets(unique *u, qn_gx *out)
{
    qn_sx *s = u->a->s;
    u->sets = qn_sx_alloc(s, TABLE_SIZE * sizeof(*u->sets));
    u->rules = qn_sx_alloc(s, TABLE_SIZE * sizeof(*u->rules));
    if (u->sets == NULL || u->rules == NULL) {
        return qn_sx_no_memory(s);
    }
    memset(u->rules, 0, TABLE_SIZE * sizeof(*u->rules));
    qn_gx inside;
    QN_TRY(after(u, 0, 0, &inside));
    *out = qn_schema_array_brackets(u->a, inside);
    return QN_OK;
}

qn_status qn_schema_unique_items(qn_schema_array *a, qn_gx *out)
{
    static const char text[] = "[null,true,false]";
    unique u = {.a = a};
    if (a->has_contains) {
        return refuse(&u, "not enforced beside contains");
    }
    size_t bytes = (a->n_first + 1) * sizeof(*u.allowed);
    u.allowed = qn_sx_alloc(a->s, bytes);
    if (u.allowed == NULL) {
        return qn_sx_no_memory(a->s);
    }
    memset(u.allowed, 0, bytes);
    qn_json_doc *words;
    QN_TRY(qn_json_parse(a->s->b->budget, text, sizeof(text) - 1, 8, &words, a->s->err));
    qn_status status = list_values(&u, qn_json_root(words));
    if (status == QN_OK) {
        status = a->min <= a->max ? write_sets(&u, out) : QN_OK;
    }
    if (status == QN_OK && a->min > a->max) {
        *out = qn_gx_never(a->s->b);
    }
    qn_json_free(words);
    return status;
}
