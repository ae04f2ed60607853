/* The keywords of schemas by name: which constrain, which only annotate, and which are refused. A name that is not here
 * is ignored, as the standard asks, unless it is one of these but for capitals, underscores or the dollar sign
 * (maxlength, min_items, ref). SPDX-License-Identifier: MIT */
#include "grammar/front_schema_int.h"

#define MAX_COUNT 1000000000 /* more than any answer has of anything */

static const struct {
    const char *name;
    qn_schema_keyword keyword;
} table[] = {
    {"type", QN_SK_TYPE},
    {"enum", QN_SK_ENUM},
    {"const", QN_SK_CONST},
    {"properties", QN_SK_PROPERTIES},
    {"required", QN_SK_REQUIRED},
    {"items", QN_SK_ITEMS},
    {"$ref", QN_SK_REF},
    {"additionalProperties", QN_SK_ADDITIONAL_PROPERTIES},
    {"patternProperties", QN_SK_PATTERN_PROPERTIES},
    {"propertyNames", QN_SK_PROPERTY_NAMES},
    {"minProperties", QN_SK_MIN_PROPERTIES},
    {"maxProperties", QN_SK_MAX_PROPERTIES},
    {"prefixItems", QN_SK_PREFIX_ITEMS},
    {"additionalItems", QN_SK_ADDITIONAL_ITEMS},
    {"minItems", QN_SK_MIN_ITEMS},
    {"maxItems", QN_SK_MAX_ITEMS},
    {"uniqueItems", QN_SK_UNIQUE_ITEMS},
    {"contains", QN_SK_CONTAINS},
    {"minContains", QN_SK_MIN_CONTAINS},
    {"maxContains", QN_SK_MAX_CONTAINS},
    {"minLength", QN_SK_MIN_LENGTH},
    {"maxLength", QN_SK_MAX_LENGTH},
    {"pattern", QN_SK_PATTERN},
    {"format", QN_SK_FORMAT},
    {"minimum", QN_SK_MINIMUM},
    {"maximum", QN_SK_MAXIMUM},
    {"exclusiveMinimum", QN_SK_EXCLUSIVE_MINIMUM},
    {"exclusiveMaximum", QN_SK_EXCLUSIVE_MAXIMUM},
    {"multipleOf", QN_SK_MULTIPLE_OF},
    {"allOf", QN_SK_ALL_OF},
    {"anyOf", QN_SK_ANY_OF},
    {"oneOf", QN_SK_ONE_OF},
    {"not", QN_SK_NOT},
    {"if", QN_SK_IF},
    {"then", QN_SK_THEN},
    {"else", QN_SK_ELSE},
    {"dependencies", QN_SK_DEPENDENCIES},
    {"dependentRequired", QN_SK_DEPENDENT_REQUIRED},
    {"dependentSchemas", QN_SK_DEPENDENT_SCHEMAS},
    {"unevaluatedProperties", QN_SK_REFUSED},
    {"unevaluatedItems", QN_SK_REFUSED},
    {"$dynamicRef", QN_SK_REFUSED},
    {"$recursiveRef", QN_SK_REFUSED},
    {"extends", QN_SK_REFUSED},
    {"disallow", QN_SK_REFUSED},
    {"divisibleBy", QN_SK_REFUSED},
    {"formatMinimum", QN_SK_REFUSED},
    {"formatMaximum", QN_SK_REFUSED},
    {"patternRequired", QN_SK_REFUSED},
    {"uniqueItemProperties", QN_SK_REFUSED},
    {"title", QN_SK_ANNOTATION},
    {"description", QN_SK_ANNOTATION},
    {"default", QN_SK_ANNOTATION},
    {"examples", QN_SK_ANNOTATION},
    {"deprecated", QN_SK_ANNOTATION},
    {"readOnly", QN_SK_ANNOTATION},
    {"writeOnly", QN_SK_ANNOTATION},
    {"$schema", QN_SK_ANNOTATION},
    {"$id", QN_SK_ANNOTATION},
    {"$anchor", QN_SK_ANNOTATION},
    {"$defs", QN_SK_ANNOTATION},
    {"definitions", QN_SK_ANNOTATION},
    {"$comment", QN_SK_ANNOTATION},
    {"contentEncoding", QN_SK_ANNOTATION},
    {"contentMediaType", QN_SK_ANNOTATION},
    {"contentSchema", QN_SK_ANNOTATION},
    {"$vocabulary", QN_SK_ANNOTATION},
    {"$dynamicAnchor", QN_SK_ANNOTATION},
    {"discriminator", QN_SK_ANNOTATION},
    {"nullable", QN_SK_ANNOTATION},
};

qn_schema_keyword qn_sx_keyword(qn_str name)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        if (qn_str_is(name, table[i].name)) {
            return table[i].keyword;
        }
    }
    return QN_SK_UNKNOWN;
}

/* The same but for capitals, underscores and hyphens. */
static bool is_near(qn_str name, const char *keyword)
{
    size_t i = 0;
    for (;;) {
        while (i < name.len && (name.data[i] == '_' || name.data[i] == '-')) {
            i++;
        }
        if (i == name.len || *keyword == '\0') {
            return i == name.len && *keyword == '\0';
        }
        if ((name.data[i] | 0x20) != (*keyword | 0x20)) {
            return false;
        }
        i++;
        keyword++;
    }
}

const char *qn_sx_refusal(const qn_sx *s, qn_str name, const qn_json *value)
{
    static const char *const later[] = {"prefixItems",          "minContains",      "maxContains",
                                        "dependentRequired",    "dependentSchemas", "unevaluatedItems",
                                        "unevaluatedProperties"};
    if (qn_str_is(name, "nullable")) {
        bool is_off = qn_json_kind_of(value) == QN_JSON_BOOL && !qn_json_as_bool(value);
        return is_off ? NULL : "no keyword of JSON schema; a \"null\" in type, or anyOf with it, says the same";
    }
    for (size_t i = 0; s->is_draft7 && i < sizeof(later) / sizeof(*later); i++) {
        if (qn_str_is(name, later[i])) {
            return "draft 7, which $schema names, does not know this keyword; 2020-12 does";
        }
    }
    if (qn_sx_keyword(name) != QN_SK_UNKNOWN) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        bool has_dollar = table[i].name[0] == '$' && qn_json_kind_of(value) == QN_JSON_STRING;
        if (table[i].keyword != QN_SK_ANNOTATION && is_near(name, table[i].name + has_dollar)) {
            return "no keyword, but almost one: look at its spelling";
        }
    }
    return NULL;
}

qn_status qn_sx_count(qn_sx *s, const qn_json *schema, const char *keyword, uint32_t *n, bool *found)
{
    const qn_json *v = qn_json_find(schema, keyword);
    int64_t count;
    *found = v != NULL;
    if (v == NULL) {
        return QN_OK;
    }
    if (!qn_json_as_i64(v, &count)) {
        qn_decimal d; /* of more digits perhaps, such as 1e30 */
        bool is_read = qn_json_kind_of(v) == QN_JSON_NUMBER && qn_decimal_read(s, qn_json_as_str(v), &d);
        count = is_read && !d.is_negative && d.n != 0 && qn_decimal_is_integer(&d) ? MAX_COUNT : -1;
    }
    if (count < 0) {
        return qn_sx_fail(s, QN_EFORMAT, schema, keyword, "must be a whole number, zero or more");
    }
    *n = count > MAX_COUNT ? MAX_COUNT : (uint32_t)count;
    return QN_OK;
}

qn_status qn_sx_dialect(qn_sx *s, const qn_json *schema, bool *is_draft7)
{
    static const struct {
        const char *uri;
        bool is_draft7;
    } known[] = {{"json-schema.org/draft-04/schema", true},       {"json-schema.org/draft-06/schema", true},
                 {"json-schema.org/draft-07/schema", true},       {"json-schema.org/draft/2019-09/schema", false},
                 {"json-schema.org/draft/2020-12/schema", false}, {"json-schema.org/schema", false}};
    const qn_json *dialect = qn_json_find(schema, "$schema");
    if (dialect == NULL) {
        return QN_OK;
    }
    if (qn_json_kind_of(dialect) != QN_JSON_STRING) {
        return qn_sx_fail(s, QN_EFORMAT, schema, "$schema", "malformed: must be a string");
    }
    qn_str uri = qn_json_as_str(dialect);
    for (size_t i = 0; i < 2; i++) { /* http:// and https:// are the same to everybody */
        qn_str scheme = i == 0 ? QN_STR("http://") : QN_STR("https://");
        if (uri.len > scheme.len && memcmp(uri.data, scheme.data, scheme.len) == 0) {
            uri = (qn_str){uri.data + scheme.len, uri.len - scheme.len};
        }
    }
    uri.len -= uri.len != 0 && uri.data[uri.len - 1] == '#';
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        if (qn_str_is(uri, known[i].uri)) {
            *is_draft7 = known[i].is_draft7;
            return QN_OK;
        }
    }
    return qn_sx_fail(s, QN_EUNSUPPORTED, schema, "$schema", "this dialect is not known; 2020-12 and draft 7 are");
}
