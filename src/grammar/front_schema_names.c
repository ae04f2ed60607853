/* Members of an object whose names are not declared: by the patterns that they fit, and what propertyNames allows.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_schema_object.h"

/* Names that propertyNames allow; *has false: any name. */
static qn_status allowed_names(qn_schema_object *o, qn_gx *out, bool *has)
{
    o->n_items = 0;
    bool fits = true;
    for (size_t i = 0; i < o->c->n_literals; i++) {
        const qn_schema_literal *l = &o->c->literals[i];
        const qn_json *names = l->is_negated ? NULL : qn_json_find(l->schema, "propertyNames");
        if (names != NULL) {
            QN_TRY(qn_schema_add_item(o, names, false, &fits));
        }
    }
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
                one = qn_front_literal(b, qn_json_as_str(value), true);
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
    *out = qn_gx_repeat(b, o->n_members == 0 && o->n_patterns == 0 ? o->s->json_char : o->s->any_char, 0, QN_GX_NO_MAX);
    QN_TRY(allowed_names(o, &allowed, &has_allowed));
    if (has_allowed) {
        *out = allowed;
    }
    if (o->n_members == 0) {
        return QN_OK;
    }
    qn_gx *names = qn_sx_alloc(o->s, o->n_members * sizeof(*names));
    if (names == NULL) {
        return qn_sx_no_memory(o->s);
    }
    for (uint32_t i = 0; i < o->n_members; i++) {
        names[i] = qn_front_literal(b, o->members[i].name, true);
    }
    *out = qn_gx_and(b, *out, qn_gx_not(b, qn_gx_alt(b, names, o->n_members)));
    return QN_OK;
}

qn_status qn_schema_free_members(qn_schema_object *o)
{
    qn_sx *s = o->s;
    qn_gx_builder *b = s->b;
    qn_gx names = 0, patterns[QN_SCHEMA_MAX_PATTERNS], ways[1 << QN_SCHEMA_MAX_PATTERNS];
    uint32_t n_ways = 0;
    bool has_names = false;
    for (unsigned bits = 0; bits < 1u << o->n_patterns; bits++) {
        bool fits;
        qn_gx value;
        QN_TRY(qn_schema_member_items(o, NULL, bits, &fits));
        if (!fits) {
            continue;
        }
        QN_TRY(qn_sx_value(s, o->items, o->n_items, &value));
        if (!has_names) {
            QN_TRY(undeclared_names(o, &names));
            for (uint32_t i = 0; i < o->n_patterns; i++) {
                qn_error err;
                qn_status status = qn_front_pattern(b, o->patterns[i].text, true, true, &patterns[i], &err);
                if (status != QN_OK) {
                    return qn_sx_fail(s, status, o->patterns[i].schema, "patternProperties", err.what);
                }
            }
            has_names = true;
        }
        qn_gx key = names;
        for (uint32_t i = 0; i < o->n_patterns; i++) {
            key = qn_gx_and(b, key, (bits >> i & 1) != 0 ? patterns[i] : qn_gx_not(b, patterns[i]));
        }
        ways[n_ways++] = qn_schema_key_value(o, key, value);
    }
    o->has_free = n_ways != 0;
    o->free = o->has_free ? qn_gx_alt(b, ways, n_ways) : 0;
    return QN_OK;
}
