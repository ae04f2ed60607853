/* Parameters whose values have tags inside of them: <KEY>VALUE</KEY>, lists of <item>, objects of <KEY>.
 *
 * The reader follows a schema from tag to tag by what it says plainly, so only such schemas of objects and lists are
 * enforced: what needs more (references, alternatives, counts of members) is refused by name.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_calls_int.h"
#include "grammar/front_calls_types.h"

#define MAX_DEPTH 24    /* of tags in tags; the reader has 32 */
#define MAX_MEMBERS 128 /* of one object, each inside the one before */
#define SCALARS (QN_ST_NULL | QN_ST_BOOL | QN_ST_NUMBER)

static qn_status value_of(qn_call_tags *t, const qn_json *schema, unsigned depth, qn_gx *out);

/* Keywords of objects and lists that are enforced here, or say nothing. */
static qn_status check_keywords(qn_call_tags *t, const qn_json *schema)
{
    static const char *const known[] = {"type",        "properties", "required", "additionalProperties",
                                        "items",       "minItems",   "maxItems", "title",
                                        "description", "default",    "examples", "$schema",
                                        "$id",         "$comment",   "$defs",    "definitions",
                                        "deprecated",  "readOnly",   "nullable"};
    for (size_t i = 0; i < qn_json_count(schema); i++) {
        qn_str key = qn_json_key_at(schema, i);
        bool is_known = false;
        for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
            is_known = is_known || qn_str_is(key, known[k]);
        }
        if (!is_known) {
            return qn_fail(t->err, QN_EUNSUPPORTED,
                           "schema: \"%.*s\" of objects and lists is not enforced in nested tags",
                           (int)(key.len < 60 ? key.len : 60), key.data);
        }
    }
    return QN_OK;
}

/* <NAME>VALUE</NAME> */
static qn_status tag(qn_call_tags *t, qn_str name, const qn_json *schema, unsigned depth, qn_gx *out)
{
    qn_calls *c = t->c;
    const qn_syntax *s = c->syntax;
    qn_gx value = 0, key = qn_gx_bytes(c->b, name);
    QN_TRY(qn_tags_check_key(t, name));
    QN_TRY(value_of(t, schema, depth + 1, &value));
    qn_gx parts[] = {qn_calls_maybe(c, s->key_open.before), qn_calls_mark(c, &s->key_open),     key,
                     qn_calls_mark(c, &s->key_end),         qn_calls_text(c, s->key_end.after), value,
                     qn_calls_text(c, s->value_end.before), qn_calls_mark(c, &s->value_end),    key,
                     qn_calls_mark(c, &s->key_end)};
    *out = qn_gx_cat(c->b, parts, 10);
    return QN_OK;
}

static bool is_required(const qn_json *schema, qn_str name)
{
    const qn_json *list = qn_json_find(schema, "required");
    for (size_t i = 0; list != NULL && i < qn_json_count(list); i++) {
        if (qn_str_eq(qn_json_as_str(qn_json_at(list, i)), name)) {
            return true;
        }
    }
    return false;
}

static qn_status check_required(qn_call_tags *t, const qn_json *schema)
{
    const qn_json *list = qn_json_find(schema, "required"), *properties = qn_json_find(schema, "properties");
    for (size_t i = 0; list != NULL && i < qn_json_count(list); i++) {
        qn_str name = qn_json_as_str(qn_json_at(list, i));
        bool is_there = false;
        for (size_t k = 0; properties != NULL && k < qn_json_count(properties); k++) {
            is_there = is_there || qn_str_eq(qn_json_key_at(properties, k), name);
        }
        if (!is_there) {
            return qn_fail(t->err, QN_EUNSUPPORTED, "schema: the property \"%.*s\" is required and not described",
                           (int)(name.len < 60 ? name.len : 60), name.data);
        }
    }
    return QN_OK;
}

/* At least one member; *may_be_none: none must be there. */
static qn_status members(qn_call_tags *t, const qn_json *schema, unsigned depth, qn_gx *out, bool *may_be_none)
{
    qn_gx_builder *b = t->c->b;
    const qn_json *properties = qn_json_find(schema, "properties");
    size_t n = properties != NULL ? qn_json_count(properties) : 0;
    QN_TRY(check_keywords(t, schema));
    QN_TRY(check_required(t, schema));
    if (n > MAX_MEMBERS) {
        return qn_fail(t->err, QN_EFULL, "schema: an object with more than %d properties, in nested tags", MAX_MEMBERS);
    }
    qn_gx rest = t->c->none;
    *out = qn_gx_never(b);
    *may_be_none = true;
    for (size_t i = n; i-- > 0;) { /* from the last: what follows each is there already */
        qn_str name = qn_json_key_at(properties, i);
        bool is_list_too = (qn_read_types(schema) & (QN_READ_ARRAY | QN_READ_OBJECT)) != QN_READ_OBJECT;
        if (qn_str_is(name, "item") && depth > 0 && is_list_too) {
            return qn_fail(t->err, QN_EUNSUPPORTED,
                           "schema: a property named \"item\" looks like a list in nested tags");
        }
        qn_gx one = 0;
        QN_TRY(tag(t, name, qn_json_at(properties, i), depth, &one));
        qn_gx from = qn_gx_cat(b, (qn_gx[]){one, rest}, 2);
        bool needed = is_required(schema, name);
        *out = needed ? from : qn_gx_alt(b, (qn_gx[]){from, *out}, 2);
        rest = needed ? from : qn_gx_cat(b, (qn_gx[]){qn_gx_repeat(b, one, 0, 1), rest}, 2);
        *may_be_none = *may_be_none && !needed;
    }
    return qn_front_status(b, t->err);
}

static qn_status count_of(qn_call_tags *t, const qn_json *schema, const char *keyword, uint32_t none, uint32_t *n)
{
    bool found;
    QN_TRY(qn_sx_count(&t->json, schema, keyword, n, &found));
    *n = found ? *n : none;
    return QN_OK;
}

static qn_status list_of(qn_call_tags *t, const qn_json *schema, unsigned depth, qn_gx *out)
{
    qn_gx_builder *b = t->c->b;
    uint32_t min, max;
    qn_gx item = 0;
    QN_TRY(check_keywords(t, schema));
    QN_TRY(count_of(t, schema, "minItems", 0, &min));
    QN_TRY(count_of(t, schema, "maxItems", QN_GX_NO_MAX, &max));
    QN_TRY(tag(t, QN_STR("item"), qn_read_item(schema), depth, &item));
    qn_gx some = max == 0 ? qn_gx_never(b) : qn_gx_repeat(b, item, min > 1 ? min : 1, max);
    *out = min > 0 ? some : qn_gx_alt(b, (qn_gx[]){some, qn_gx_bytes(b, QN_STR("[]"))}, 2);
    return QN_OK;
}

/* A schema's value. Lists and objects that are not described further are JSON. */
static qn_status value_of(qn_call_tags *t, const qn_json *schema, unsigned depth, qn_gx *out)
{
    qn_gx_builder *b = t->c->b;
    unsigned reader = qn_read_types(schema), types = qn_tags_types(reader);
    qn_schema_item item = {schema, false};
    size_t n = schema != NULL ? 1 : 0;
    qn_gx ways[4];
    uint32_t n_ways = 0;
    if (depth > MAX_DEPTH) {
        return qn_fail(t->err, QN_EFULL, "schema: nested deeper than %d tags", MAX_DEPTH);
    }
    if ((types & QN_ST_STRING) != 0) {
        QN_TRY(qn_tags_string(t, reader, &item, n, &ways[n_ways++]));
    }
    bool has_members = qn_json_find(schema, "properties") != NULL, has_items = qn_json_find(schema, "items") != NULL;
    unsigned as_json = types & (SCALARS | (reader == 0 ? QN_ST_STRING : 0));
    as_json |= types & (has_members ? 0 : QN_ST_OBJECT);
    as_json |= types & (has_items ? 0 : QN_ST_ARRAY);
    if (as_json != 0) {
        QN_TRY(qn_tags_json(t, as_json, &item, n, &ways[n_ways++]));
    }
    if (has_members && (types & QN_ST_OBJECT) != 0) {
        bool may_be_none;
        qn_gx some = 0;
        QN_TRY(members(t, schema, depth, &some, &may_be_none));
        ways[n_ways++] = may_be_none ? qn_gx_alt(b, (qn_gx[]){some, qn_gx_bytes(b, QN_STR("{}"))}, 2) : some;
    }
    if (has_items && (types & QN_ST_ARRAY) != 0) {
        QN_TRY(list_of(t, schema, depth, &ways[n_ways++]));
    }
    uint32_t rule = qn_gx_rule_new(b, QN_STR("value"));
    qn_gx_rule_define(b, rule, qn_gx_alt(b, ways, n_ways));
    *out = qn_gx_rule_ref(b, rule);
    return qn_front_status(b, t->err);
}

qn_status qn_tags_nested(qn_call_tags *t, qn_gx *out)
{
    bool may_be_none;
    qn_gx some = 0;
    QN_TRY(members(t, t->tool->parameters, 0, &some, &may_be_none));
    *out = may_be_none ? qn_gx_repeat(t->c->b, some, 0, 1) : some;
    return QN_OK;
}
