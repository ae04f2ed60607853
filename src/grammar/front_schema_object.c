/* Objects of a schema. Properties come in the schema's order: those that some schema declares, each at most once, then
 * the others, whose names are none of the declared ones.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_schema_object.h"

#define MAX_MEMBERS 4096
#define NO_COUNT (1u << 24)

static bool is_bool(const qn_json *v, bool truth)
{
    return qn_json_kind_of(v) == QN_JSON_BOOL && qn_json_as_bool(v) == truth;
}

static const qn_json *additional_of(const qn_json *schema)
{
    const qn_json *v = qn_json_find(schema, "additionalProperties");
    return v != NULL ? v : qn_json_find(schema, "unevaluatedProperties");
}

/* ---- what is said of the object ---- */

qn_status qn_schema_member_named(qn_schema_object *o, qn_str name, qn_schema_member **out)
{
    QN_TRY(qn_sx_step(o->s, 1 + o->n_members / 64));
    for (uint32_t i = 0; i < o->n_members; i++) {
        if (qn_str_eq(o->members[i].name, name)) {
            *out = &o->members[i];
            return QN_OK;
        }
    }
    if (o->n_members == MAX_MEMBERS) {
        return qn_sx_fail(o->s, QN_EFULL, o->s->at, "", "an object of more than 4096 properties");
    }
    QN_TRY(qn_sx_grow(o->s, (void **)&o->members, o->n_members, &o->cap_members, sizeof(*o->members)));
    o->members[o->n_members] = (qn_schema_member){.name = name};
    *out = &o->members[o->n_members++];
    return QN_OK;
}

static qn_status add_counts(qn_schema_object *o, const qn_json *schema)
{
    uint32_t n = 0;
    bool found;
    QN_TRY(qn_sx_count(o->s, schema, "minProperties", &n, &found));
    if (found && n > o->min) {
        o->min = n;
        o->min_schema = schema;
    }
    QN_TRY(qn_sx_count(o->s, schema, "maxProperties", &n, &found));
    if (found && n < NO_COUNT && n < o->max) {
        o->max = n;
        o->max_schema = schema;
    }
    return QN_OK;
}

static qn_status add_patterns(qn_schema_object *o, const qn_json *schema)
{
    const qn_json *patterns = qn_json_find(schema, "patternProperties");
    for (size_t i = 0; patterns != NULL && i < qn_json_count(patterns); i++) {
        qn_str text = qn_json_key_at(patterns, i);
        bool is_known = false;
        for (uint32_t k = 0; k < o->n_patterns; k++) {
            is_known = is_known || qn_str_eq(o->patterns[k].text, text);
        }
        if (is_known) {
            continue;
        }
        if (o->n_patterns == QN_SCHEMA_MAX_PATTERNS) {
            return qn_sx_fail(o->s, QN_EUNSUPPORTED, schema, "patternProperties",
                              "more than 16 patterns for one object are not enforced");
        }
        o->patterns[o->n_patterns].text = text;
        o->patterns[o->n_patterns++].schema = qn_json_at(patterns, i);
    }
    return QN_OK;
}

static qn_status add_fails(qn_schema_object *o, const qn_schema_literal *l)
{
    qn_schema_member *m;
    uint32_t n = 0;
    bool found;
    switch (l->keyword) {
    case QN_SK_REQUIRED:
        QN_TRY(qn_schema_member_named(o, l->name, &m));
        m->is_forbidden = true;
        return QN_OK;
    case QN_SK_PROPERTIES:
        QN_TRY(qn_schema_member_named(o, l->name, &m));
        m->is_required = true;
        return QN_OK;
    case QN_SK_MIN_PROPERTIES:
        QN_TRY(qn_sx_count(o->s, l->schema, "minProperties", &n, &found));
        o->min = n == 0 && o->min == 0 ? 1 : o->min;
        o->max = n == 0 ? 0 : n - 1 < o->max ? n - 1 : o->max;
        o->max_schema = l->schema;
        return QN_OK;
    case QN_SK_MAX_PROPERTIES:
        QN_TRY(qn_sx_count(o->s, l->schema, "maxProperties", &n, &found));
        if (n + 1 > o->min) {
            o->min = n + 1;
            o->min_schema = l->schema;
        }
        return QN_OK;
    case QN_SK_ENUM:
    case QN_SK_CONST: {
        bool is_list = l->keyword == QN_SK_ENUM;
        for (size_t i = 0; i < (is_list ? qn_json_count(l->value) : 1); i++) {
            if (qn_json_kind_of(is_list ? qn_json_at(l->value, i) : l->value) == QN_JSON_OBJECT) {
                return qn_sx_fail(o->s, QN_EUNSUPPORTED, l->schema, is_list ? "enum" : "const",
                                  "an object is not enforced where it must fail (not, if, oneOf)");
            }
        }
        return QN_OK;
    }
    default:
        return QN_OK;
    }
}

static qn_status collect(qn_schema_object *o)
{
    qn_schema_member *m;
    for (size_t i = 0; i < o->c->n_literals; i++) {
        const qn_schema_literal *l = &o->c->literals[i];
        const qn_json *properties = l->is_negated ? NULL : qn_json_find(l->schema, "properties");
        for (size_t k = 0; properties != NULL && k < qn_json_count(properties); k++) {
            QN_TRY(qn_schema_member_named(o, qn_json_key_at(properties, k), &m));
        }
    }
    for (size_t i = 0; i < o->c->n_literals; i++) {
        const qn_schema_literal *l = &o->c->literals[i];
        if (l->is_negated) {
            QN_TRY(add_fails(o, l));
            continue;
        }
        const qn_json *required = qn_json_find(l->schema, "required");
        for (size_t k = 0; required != NULL && k < qn_json_count(required); k++) {
            QN_TRY(qn_schema_member_named(o, qn_json_as_str(qn_json_at(required, k)), &m));
            m->is_required = true;
        }
        QN_TRY(add_counts(o, l->schema));
        QN_TRY(add_patterns(o, l->schema));
    }
    return QN_OK;
}

/* ---- the value of a member ---- */

qn_status qn_schema_add_item(qn_schema_object *o, const qn_json *schema, bool is_negated, bool *fits)
{
    if (o->n_items == o->cap_items) {
        uint32_t cap = (uint32_t)o->cap_items;
        QN_TRY(qn_sx_grow(o->s, (void **)&o->items, (uint32_t)o->n_items, &cap, sizeof(*o->items)));
        o->cap_items = cap;
    }
    if (is_bool(schema, is_negated)) {
        *fits = false;
    }
    if (!is_bool(schema, !is_negated)) {
        o->items[o->n_items++] = (qn_schema_item){schema, is_negated};
    }
    return QN_OK;
}

/* Which patterns a name fits, as bits. */
static qn_status patterns_of(qn_schema_object *o, qn_str name, unsigned *bits)
{
    *bits = 0;
    for (uint32_t i = 0; i < o->n_patterns; i++) {
        bool fits;
        QN_TRY(qn_sx_pattern_holds(o->s, o->patterns[i].schema, "", o->patterns[i].text, name, &fits));
        *bits |= (unsigned)fits << i;
    }
    return QN_OK;
}

static bool has_pattern(const qn_schema_object *o, unsigned bits, qn_str pattern)
{
    for (uint32_t i = 0; i < o->n_patterns; i++) {
        if ((bits >> i & 1) != 0 && qn_str_eq(o->patterns[i].text, pattern)) {
            return true;
        }
    }
    return false;
}

qn_status qn_schema_member_items(qn_schema_object *o, const qn_str *name, unsigned bits, bool *fits)
{
    o->n_items = 0;
    *fits = true;
    for (size_t i = 0; i < o->c->n_literals; i++) {
        const qn_schema_literal *l = &o->c->literals[i];
        if (l->is_negated) {
            if (l->keyword == QN_SK_PROPERTIES && l->value != NULL && name != NULL && qn_str_eq(l->name, *name)) {
                QN_TRY(qn_schema_add_item(o, l->value, true, fits));
            }
            continue;
        }
        bool is_known = false;
        const qn_json *properties = qn_json_find(l->schema, "properties"),
                      *patterns = qn_json_find(l->schema, "patternProperties");
        for (size_t k = name != NULL && properties != NULL ? qn_json_count(properties) : 0; k > 0; k--) {
            if (qn_str_eq(qn_json_key_at(properties, k - 1), *name)) {
                QN_TRY(qn_schema_add_item(o, qn_json_at(properties, k - 1), false, fits));
                is_known = true;
                break;
            }
        }
        for (size_t k = 0; patterns != NULL && k < qn_json_count(patterns); k++) {
            if (has_pattern(o, bits, qn_json_key_at(patterns, k))) {
                QN_TRY(qn_schema_add_item(o, qn_json_at(patterns, k), false, fits));
                is_known = true;
            }
        }
        const qn_json *additional = additional_of(l->schema);
        if (!is_known && additional != NULL) {
            QN_TRY(qn_schema_add_item(o, additional, false, fits));
        }
        QN_TRY(qn_sx_step(o->s, 1 + (properties != NULL ? qn_json_count(properties) / 64 : 0)));
    }
    return QN_OK;
}

qn_gx qn_schema_key_value(qn_schema_object *o, qn_gx key, qn_gx value)
{
    return qn_gx_cat(o->s->b, (qn_gx[]){qn_sx_key_of(o->s, key), o->s->colon, value}, 3);
}

/* Whether propertyNames of all literals let a declared name through. */
static qn_status name_holds(qn_schema_object *o, qn_str name, bool *holds)
{
    *holds = true;
    for (size_t i = 0; i < o->c->n_literals && *holds; i++) {
        const qn_schema_literal *l = &o->c->literals[i];
        const qn_json *names = l->is_negated ? NULL : qn_json_find(l->schema, "propertyNames");
        if (names == NULL) {
            continue;
        }
        qn_buf text;
        qn_json_writer w;
        qn_json_doc *doc = NULL;
        qn_buf_init(&text, o->s->b->budget, "grammar", 1u << 20);
        qn_json_writer_init(&w, &text);
        qn_json_string(&w, name);
        qn_status status = text.status != QN_OK
                               ? qn_sx_no_memory(o->s)
                               : qn_json_parse(o->s->b->budget, text.data, text.len, 4, &doc, o->s->err);
        qn_buf_free(&text);
        QN_TRY(status);
        status = qn_sx_holds(o->s, names, qn_json_root(doc), 0, holds);
        qn_json_free(doc);
        QN_TRY(status);
    }
    return QN_OK;
}

static qn_status build_members(qn_schema_object *o)
{
    for (uint32_t i = 0; i < o->n_members; i++) {
        qn_schema_member *m = &o->members[i];
        unsigned bits;
        bool fits, holds;
        QN_TRY(patterns_of(o, m->name, &bits));
        QN_TRY(qn_schema_member_items(o, &m->name, bits, &fits));
        QN_TRY(name_holds(o, m->name, &holds));
        m->is_forbidden = m->is_forbidden || !fits || !holds;
        if (!m->is_forbidden && o->s->members != NULL) {
            QN_TRY(o->s->members->write(o->s->members->ctx, m->name, o->items, o->n_items, &m->x));
        } else if (!m->is_forbidden) {
            qn_gx key, value;
            QN_TRY(qn_sx_key(o->s, m->name, &key));
            QN_TRY(qn_sx_value(o->s, o->items, o->n_items, &value));
            m->x = qn_gx_cat(o->s->b, (qn_gx[]){key, o->s->colon, value}, 3);
        }
    }
    return QN_OK;
}

/* ---- the whole ---- */

static qn_gx braces(qn_schema_object *o, qn_gx inside)
{
    qn_gx_builder *b = o->s->b;
    const qn_sx_members *own = o->s->members;
    if (own != NULL) {
        return qn_gx_cat(b, (qn_gx[]){own->open, inside, own->close}, 3);
    }
    return qn_gx_cat(
        b, (qn_gx[]){qn_gx_bytes(b, QN_STR("{")), o->s->blank, inside, o->s->blank, qn_gx_bytes(b, QN_STR("}"))}, 5);
}

qn_status qn_sx_object(qn_sx *s, const qn_schema_clause *c, qn_gx *out)
{
    qn_schema_object o = {.s = s, .c = c, .max = QN_GX_NO_MAX};
    QN_TRY(collect(&o));
    QN_TRY(qn_schema_listed_names(&o));
    QN_TRY(build_members(&o));
    QN_TRY(qn_schema_free_members(&o));
    uint32_t n = 0, n_required = 0;
    for (uint32_t i = 0; i < o.n_members; i++) {
        if (o.members[i].is_forbidden && o.members[i].is_required) {
            *out = qn_gx_never(s->b);
            return QN_OK;
        }
        n_required += o.members[i].is_required;
        if (!o.members[i].is_forbidden) {
            o.members[n++] = o.members[i];
        }
    }
    o.n_members = n;
    if (o.min > o.max || n_required > o.max) {
        *out = qn_gx_never(s->b);
        return QN_OK;
    }
    bool is_capped = o.max != QN_GX_NO_MAX && (o.has_free || o.max < n);
    bool is_counted = is_capped || (o.min > n_required && o.min > 1);
    qn_gx inside = 0;
    bool may_be_empty = false;
    if (is_counted) {
        QN_TRY(qn_schema_counted_members(&o, n_required, &inside));
    } else {
        inside = qn_schema_members(&o, &may_be_empty);
        if (may_be_empty && o.min > 0 && n == 0 && !o.has_free) {
            *out = qn_gx_never(s->b);
            return QN_OK;
        }
        if (may_be_empty && o.min == 0) {
            inside = qn_gx_repeat(s->b, inside, 0, 1);
        }
    }
    *out = braces(&o, inside);
    return qn_front_status(s->b, s->err);
}
