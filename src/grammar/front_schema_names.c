/* Members of an object whose names are not declared: by the patterns that they fit, and what propertyNames allows.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_schema_object.h"
#include "grammar/grammar.h"

#define FEW_PATTERNS 3 /* whose combinations are not looked at one by one */
#define MAX_KINDS 64   /* of names, by the patterns that they fit */

/* What all literals ask of names, in o->items; *fits false: there may be none. */
static qn_status names_items(qn_schema_object *o, bool *fits)
{
    o->n_items = 0;
    *fits = true;
    for (size_t i = 0; i < o->c->n_literals; i++) {
        const qn_schema_literal *l = &o->c->literals[i];
        const qn_json *names = l->is_negated ? NULL : qn_json_find(l->schema, "propertyNames");
        if (names != NULL) {
            QN_TRY(qn_schema_add_item(o, names, false, fits));
        }
    }
    return QN_OK;
}

static qn_status add_listed(qn_schema_object *o, const qn_schema_clause *c)
{
    const qn_json *list = NULL;
    size_t n = 0;
    bool is_const = false;
    qn_sx_listed(o->s, c, &list, &n, &is_const);
    for (size_t i = 0; i < n; i++) {
        const qn_json *value = is_const ? list : qn_json_at(list, i);
        bool holds = qn_json_kind_of(value) == QN_JSON_STRING;
        qn_schema_member *m;
        if (holds) {
            QN_TRY(qn_sx_clause_holds(o->s, c, value, &holds));
        }
        if (holds) {
            QN_TRY(qn_schema_member_named(o, qn_json_as_str(value), &m));
        }
    }
    return QN_OK;
}

qn_status qn_schema_listed_names(qn_schema_object *o)
{
    bool fits;
    qn_schema_clause *all = NULL;
    QN_TRY(names_items(o, &fits));
    if (o->n_items == 0 || !fits) {
        return QN_OK;
    }
    QN_TRY(qn_sx_clauses(o->s, o->items, o->n_items, QN_ST_STRING, &all));
    for (const qn_schema_clause *c = all; c != NULL; c = c->next) {
        const qn_json *list;
        size_t n;
        bool is_const;
        if (!qn_sx_listed(o->s, c, &list, &n, &is_const)) {
            return QN_OK;
        }
    }
    for (const qn_schema_clause *c = all; c != NULL; c = c->next) {
        QN_TRY(add_listed(o, c));
    }
    o->has_names = true;
    return QN_OK;
}

/* Names that propertyNames allow; *has false: any name. */
static qn_status allowed_names(qn_schema_object *o, qn_gx *out, bool *has)
{
    bool fits;
    QN_TRY(names_items(o, &fits));
    *has = o->n_items != 0 || !fits;
    if (!*has) {
        return QN_OK;
    }
    qn_gx_builder *b = o->s->b;
    qn_schema_clause *c = NULL;
    *out = qn_gx_never(b);
    if (fits) {
        QN_TRY(qn_sx_clauses(o->s, o->items, o->n_items, QN_ST_STRING, &c));
    }
    for (; c != NULL; c = c->next) {
        const qn_json *list;
        size_t n = 0;
        bool is_const = false;
        qn_gx one;
        if (!qn_sx_listed(o->s, c, &list, &n, &is_const)) {
            QN_TRY(qn_sx_string_content(o->s, c, true, &one));
            *out = qn_gx_alt(b, (qn_gx[]){*out, one}, 2);
            continue;
        }
        for (size_t i = 0; i < n; i++) {
            const qn_json *value = is_const ? list : qn_json_at(list, i);
            bool holds = qn_json_kind_of(value) == QN_JSON_STRING;
            if (holds) {
                QN_TRY(qn_sx_clause_holds(o->s, c, value, &holds));
            }
            if (holds) {
                one = qn_front_literal(b, qn_json_as_str(value), !o->s->spelling.is_raw);
                *out = qn_gx_alt(b, (qn_gx[]){*out, one}, 2);
            }
        }
    }
    return QN_OK;
}

/* Names that are none of the declared ones. */
static qn_status undeclared_names(qn_schema_object *o, qn_gx *out)
{
    qn_gx_builder *b = o->s->b;
    qn_gx allowed;
    bool has_allowed;
    *out = qn_sx_names(o->s, o->n_members == 0 && o->n_patterns == 0);
    QN_TRY(allowed_names(o, &allowed, &has_allowed));
    if (has_allowed) {
        *out = o->s->spelling.has_bare_keys ? qn_gx_and(b, *out, allowed) : allowed;
    }
    if (o->n_members == 0) {
        return QN_OK;
    }
    qn_gx *names = qn_sx_alloc(o->s, o->n_members * sizeof(*names));
    if (names == NULL) {
        return qn_sx_no_memory(o->s);
    }
    for (uint32_t i = 0; i < o->n_members; i++) {
        names[i] = qn_front_literal(b, o->members[i].name, !o->s->spelling.is_raw);
    }
    *out = qn_gx_and(b, *out, qn_gx_not(b, qn_gx_alt(b, names, o->n_members)));
    return QN_OK;
}

static qn_status pattern_of(qn_schema_object *o, qn_gx_builder *b, uint32_t i, qn_gx *out)
{
    qn_error err;
    qn_status status = qn_front_pattern(b, o->patterns[i].text, true, !o->s->spelling.is_raw, out, &err);
    return status == QN_OK ? QN_OK : qn_sx_fail(o->s, status, o->patterns[i].schema, "", err.what);
}

/* Whether there are names that fit all patterns of a combination. */
static qn_status is_possible(qn_schema_object *o, unsigned bits, bool *is)
{
    qn_gx_builder b;
    qn_grammar *g = NULL;
    qn_error err;
    qn_status status = QN_OK;
    qn_gx all = 0;
    bool has_all = false;
    qn_gx_init(&b, o->s->b->budget);
    for (uint32_t i = 0; i < o->n_patterns && status == QN_OK; i++) {
        qn_gx one;
        if ((bits >> i & 1) != 0 && (status = pattern_of(o, &b, i, &one)) == QN_OK) {
            all = has_all ? qn_gx_and(&b, all, one) : one;
            has_all = true;
        }
    }
    if (status == QN_OK) {
        b.root = qn_gx_rule_new(&b, QN_STR("names"));
        qn_gx_rule_define(&b, b.root, all);
        status = qn_grammar_open(&b, b.budget, &g, &err);
        *is = status == QN_OK;
        if (status != QN_OK && status != QN_EFORMAT) {
            status = qn_sx_fail(o->s, status, o->patterns[0].schema, "", err.what);
        } else {
            status = QN_OK;
        }
        qn_grammar_close(g);
    }
    qn_gx_free(&b);
    return status;
}

/* The combinations of patterns that a name can fit, as bits; none of them first. */
static qn_status kinds_of_names(qn_schema_object *o, unsigned *kinds, uint32_t *n_kinds)
{
    *n_kinds = 1;
    kinds[0] = 0;
    for (uint32_t i = 0; i < o->n_patterns; i++) {
        for (uint32_t k = 0, n = *n_kinds; k < n; k++) {
            unsigned bits = kinds[k] | 1u << i;
            bool is = true;
            QN_TRY(qn_sx_step(o->s, 100));
            if (o->n_patterns > FEW_PATTERNS) {
                QN_TRY(is_possible(o, bits, &is));
            }
            if (is && *n_kinds == MAX_KINDS) {
                return qn_sx_fail(o->s, QN_EUNSUPPORTED, o->patterns[0].schema, "",
                                  "a name could fit too many combinations of this and other patterns");
            }
            if (is) {
                kinds[(*n_kinds)++] = bits;
            }
        }
    }
    return QN_OK;
}

/* Whether names that fit no pattern are left out, though the schema would let them be. */
static bool leaves_out_others(const qn_schema_object *o)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < o->n_members; i++) {
        n += !o->members[i].is_forbidden;
    }
    if (!o->s->o->plain || (o->n_members == 0 && o->n_patterns == 0) || o->min > n) {
        return false;
    }
    static const char *const keywords[] = {"additionalProperties", "unevaluatedProperties", "propertyNames"};
    for (size_t i = 0; i < o->c->n_literals; i++) {
        const qn_schema_literal *l = &o->c->literals[i];
        for (size_t k = 0; !l->is_negated && k < sizeof(keywords) / sizeof(*keywords); k++) {
            if (qn_json_find(l->schema, keywords[k]) != NULL) {
                return false;
            }
        }
    }
    return true;
}

qn_status qn_schema_free_members(qn_schema_object *o)
{
    if (o->s->members != NULL) {
        return QN_OK; /* only what is declared stands between marks */
    }
    qn_sx *s = o->s;
    qn_gx_builder *b = s->b;
    qn_gx names = 0, patterns[QN_SCHEMA_MAX_PATTERNS], ways[MAX_KINDS];
    unsigned kinds[MAX_KINDS];
    uint32_t n_ways = 0, n_kinds;
    bool has_names = false;
    if (o->has_names) {
        return QN_OK;
    }
    QN_TRY(kinds_of_names(o, kinds, &n_kinds));
    for (uint32_t k = leaves_out_others(o) ? 1 : 0; k < n_kinds; k++) {
        bool fits;
        qn_gx value;
        QN_TRY(qn_schema_member_items(o, NULL, kinds[k], &fits));
        if (!fits) {
            continue;
        }
        QN_TRY(qn_sx_value(s, o->items, o->n_items, &value));
        if (!has_names) {
            QN_TRY(undeclared_names(o, &names));
            for (uint32_t i = 0; i < o->n_patterns; i++) {
                QN_TRY(pattern_of(o, b, i, &patterns[i]));
            }
            has_names = true;
        }
        qn_gx key = names;
        for (uint32_t i = 0; i < o->n_patterns; i++) {
            key = qn_gx_and(b, key, (kinds[k] >> i & 1) != 0 ? patterns[i] : qn_gx_not(b, patterns[i]));
        }
        ways[n_ways++] = qn_schema_key_value(o, key, value);
    }
    o->has_free = n_ways != 0;
    o->free = o->has_free ? qn_gx_alt(b, ways, n_ways) : 0;
    return QN_OK;
}
