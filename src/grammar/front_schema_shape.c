/* Whether the keywords of one schema are well formed and all enforced, and what strict mode asks for.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_schema_int.h"

unsigned qn_sx_types_of(const qn_json *type)
{
    static const struct {
        const char *name;
        unsigned bits;
    } table[] = {{"null", QN_ST_NULL},       {"boolean", QN_ST_BOOL},  {"string", QN_ST_STRING},
                 {"integer", QN_ST_INTEGER}, {"number", QN_ST_NUMBER}, {"array", QN_ST_ARRAY},
                 {"object", QN_ST_OBJECT}};
    unsigned bits = 0;
    bool is_list = qn_json_kind_of(type) == QN_JSON_ARRAY;
    for (size_t i = 0; i < (is_list ? qn_json_count(type) : 1); i++) {
        const qn_json *name = is_list ? qn_json_at(type, i) : type;
        unsigned found = 0;
        for (size_t k = 0; k < sizeof(table) / sizeof(*table) && qn_json_kind_of(name) == QN_JSON_STRING; k++) {
            found = qn_str_is(qn_json_as_str(name), table[k].name) ? table[k].bits : found;
        }
        if (found == 0) {
            return 0;
        }
        bits |= found;
    }
    return bits;
}

unsigned qn_sx_types_left(const qn_json *schema)
{
    unsigned types = QN_ST_ALL;
    const qn_json *type = qn_json_find(schema, "type"), *list = qn_json_find(schema, "enum"),
                  *one = qn_json_find(schema, "const");
    types &= type != NULL ? qn_sx_types_of(type) : QN_ST_ALL;
    types &= one != NULL ? qn_sx_type_of(one) : QN_ST_ALL;
    if (list != NULL) {
        unsigned listed = 0;
        for (size_t i = 0; i < qn_json_count(list); i++) {
            listed |= qn_sx_type_of(qn_json_at(list, i));
        }
        types &= listed;
    }
    return types;
}

static bool is_schema(const qn_json *v)
{
    return qn_json_kind_of(v) == QN_JSON_BOOL || qn_json_kind_of(v) == QN_JSON_OBJECT;
}

static bool is_true(const qn_json *v)
{
    return qn_json_kind_of(v) == QN_JSON_BOOL && qn_json_as_bool(v);
}

static bool all_schemas(const qn_json *v, qn_json_kind kind)
{
    bool good = qn_json_kind_of(v) == kind;
    for (size_t i = 0; good && i < qn_json_count(v); i++) {
        good = is_schema(qn_json_at(v, i));
    }
    return good;
}

static bool all_strings(const qn_json *v)
{
    bool good = qn_json_kind_of(v) == QN_JSON_ARRAY;
    for (size_t i = 0; good && i < qn_json_count(v); i++) {
        good = qn_json_kind_of(qn_json_at(v, i)) == QN_JSON_STRING;
    }
    return good;
}

static bool dependencies_good(const qn_json *v, bool names, bool schemas)
{
    bool good = qn_json_kind_of(v) == QN_JSON_OBJECT;
    for (size_t i = 0; good && i < qn_json_count(v); i++) {
        const qn_json *d = qn_json_at(v, i);
        good = (names && all_strings(d)) || (schemas && is_schema(d));
    }
    return good;
}

static bool shape_good(qn_schema_keyword k, const qn_json *v)
{
    switch (k) {
    case QN_SK_TYPE:
        return qn_sx_types_of(v) != 0;
    case QN_SK_ENUM:
        return qn_json_kind_of(v) == QN_JSON_ARRAY;
    case QN_SK_MINIMUM:
    case QN_SK_MAXIMUM:
    case QN_SK_EXCLUSIVE_MINIMUM:
    case QN_SK_EXCLUSIVE_MAXIMUM:
    case QN_SK_MULTIPLE_OF:
        return qn_json_kind_of(v) == QN_JSON_NUMBER;
    case QN_SK_PATTERN:
    case QN_SK_FORMAT:
    case QN_SK_REF:
        return qn_json_kind_of(v) == QN_JSON_STRING;
    case QN_SK_ITEMS:
        return is_schema(v) || all_schemas(v, QN_JSON_ARRAY);
    case QN_SK_PREFIX_ITEMS:
    case QN_SK_ALL_OF:
    case QN_SK_ANY_OF:
    case QN_SK_ONE_OF:
        return all_schemas(v, QN_JSON_ARRAY);
    case QN_SK_ADDITIONAL_ITEMS:
    case QN_SK_CONTAINS:
    case QN_SK_ADDITIONAL_PROPERTIES:
    case QN_SK_PROPERTY_NAMES:
    case QN_SK_NOT:
    case QN_SK_IF:
    case QN_SK_THEN:
    case QN_SK_ELSE:
        return is_schema(v);
    case QN_SK_UNIQUE_ITEMS:
        return qn_json_kind_of(v) == QN_JSON_BOOL;
    case QN_SK_PROPERTIES:
    case QN_SK_PATTERN_PROPERTIES:
    case QN_SK_DEPENDENT_SCHEMAS:
        return all_schemas(v, QN_JSON_OBJECT);
    case QN_SK_REQUIRED:
        return all_strings(v);
    case QN_SK_DEPENDENCIES:
        return dependencies_good(v, true, true);
    case QN_SK_DEPENDENT_REQUIRED:
        return dependencies_good(v, true, false);
    default:
        return true; /* counts are read, and checked, where they are used */
    }
}

/* What shape_good() asks for. */
static const char *shape_of(qn_schema_keyword k)
{
    switch (k) {
    case QN_SK_TYPE:
        return "malformed: must be one of null, boolean, string, integer, number, array, object, or a list of them";
    case QN_SK_ENUM:
        return "malformed: must be a list of values";
    case QN_SK_EXCLUSIVE_MINIMUM:
    case QN_SK_EXCLUSIVE_MAXIMUM:
        return "malformed: must be a number, the bound itself; true and false are of draft 4";
    case QN_SK_MINIMUM:
    case QN_SK_MAXIMUM:
    case QN_SK_MULTIPLE_OF:
        return "malformed: must be a number";
    case QN_SK_PATTERN:
    case QN_SK_FORMAT:
    case QN_SK_REF:
        return "malformed: must be a string";
    case QN_SK_ITEMS:
        return "malformed: must be a schema, or in draft 7 a list of schemas";
    case QN_SK_PREFIX_ITEMS:
    case QN_SK_ALL_OF:
    case QN_SK_ANY_OF:
    case QN_SK_ONE_OF:
        return "malformed: must be a list of schemas";
    case QN_SK_UNIQUE_ITEMS:
        return "malformed: must be true or false";
    case QN_SK_PROPERTIES:
    case QN_SK_PATTERN_PROPERTIES:
    case QN_SK_DEPENDENT_SCHEMAS:
        return "malformed: must be an object whose members are schemas";
    case QN_SK_REQUIRED:
        return "malformed: must be a list of names";
    case QN_SK_DEPENDENCIES:
        return "malformed: must be an object whose members are schemas or lists of names";
    case QN_SK_DEPENDENT_REQUIRED:
        return "malformed: must be an object whose members are lists of names";
    default:
        return "malformed: must be a schema, which is an object, true or false";
    }
}

/* Why a keyword is not enforced, and what would be. */
static const char *refused_why(const char *name)
{
    if (strcmp(name, "unevaluatedProperties") == 0) {
        return "not enforced beside $ref, allOf and their like; additionalProperties, with all properties named, is";
    }
    if (strcmp(name, "unevaluatedItems") == 0) {
        return "not enforced beside $ref, allOf and their like; items, behind prefixItems, is";
    }
    return strcmp(name, "$dynamicRef") == 0 || strcmp(name, "$recursiveRef") == 0 ? "not enforced; $ref is"
                                                                                  : "this keyword is not enforced";
}

static bool has_applicators(const qn_json *schema)
{
    static const char *const names[] = {
        "$ref", "allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas", "$dynamicRef", "contains", "dependencies"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (qn_json_find(schema, names[i]) != NULL) {
            return true;
        }
    }
    return false;
}

/* OpenAI's strict mode: objects are closed and every property is required. */
static qn_status check_strict(qn_sx *s, const qn_json *schema)
{
    const qn_json *properties = qn_json_find(schema, "properties"), *type = qn_json_find(schema, "type");
    const qn_json *additional = qn_json_find(schema, "additionalProperties"),
                  *required = qn_json_find(schema, "required");
    static const char *const sayers[] = {"type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf", "not"};
    bool is_said = false;
    for (size_t i = 0; i < sizeof(sayers) / sizeof(*sayers); i++) {
        is_said = is_said || qn_json_find(schema, sayers[i]) != NULL;
    }
    if (!is_said) {
        return qn_sx_fail(s, QN_EUNSUPPORTED, schema, "", "must have a type in strict mode");
    }
    if (qn_json_find(schema, "patternProperties") != NULL) {
        return qn_sx_fail(s, QN_EUNSUPPORTED, schema, "patternProperties",
                          "not in strict mode, where all properties are named and required");
    }
    bool is_array = type != NULL && (qn_sx_types_of(type) & QN_ST_ARRAY) != 0;
    const qn_json *items = qn_json_find(schema, "items");
    if (is_array && qn_json_find(schema, "prefixItems") == NULL && (items == NULL || is_true(items))) {
        return qn_sx_fail(s, QN_EUNSUPPORTED, schema, "items", "must be there in strict mode, with a type");
    }
    bool is_object = properties != NULL || (type != NULL && (qn_sx_types_of(type) & QN_ST_OBJECT) != 0);
    if (!is_object) {
        return QN_OK;
    }
    if (additional == NULL || qn_json_kind_of(additional) != QN_JSON_BOOL || qn_json_as_bool(additional)) {
        return qn_sx_fail(s, QN_EUNSUPPORTED, schema, "additionalProperties", "must be false in strict mode");
    }
    for (size_t i = 0; properties != NULL && i < qn_json_count(properties); i++) {
        bool is_required = false;
        for (size_t k = 0; required != NULL && k < qn_json_count(required); k++) {
            is_required =
                is_required || qn_str_eq(qn_json_as_str(qn_json_at(required, k)), qn_json_key_at(properties, i));
        }
        if (is_true(qn_json_at(properties, i))) {
            return qn_sx_fail(s, QN_EUNSUPPORTED, qn_json_at(properties, i), "", "must have a type in strict mode");
        }
        if (!is_required) {
            return qn_sx_fail(s, QN_EUNSUPPORTED, qn_json_at(properties, i), "", "must be required in strict mode");
        }
    }
    return QN_OK;
}

qn_status qn_sx_check(qn_sx *s, const qn_json *schema)
{
    for (size_t i = 0; i < qn_json_count(schema); i++) {
        qn_str key = qn_json_key_at(schema, i);
        qn_schema_keyword k = qn_sx_keyword(key);
        const qn_json *v = qn_json_at(schema, i);
        char name[32] = "";
        memcpy(name, key.data, key.len < sizeof(name) ? key.len : 0);
        const char *refusal = qn_sx_refusal(s, key, v);
        if (refusal != NULL) {
            return qn_sx_fail(s, QN_EUNSUPPORTED, schema, name, refusal);
        }
        if (k == QN_SK_ITEMS && qn_json_kind_of(v) == QN_JSON_ARRAY && qn_json_find(schema, "prefixItems") != NULL) {
            return qn_sx_fail(s, QN_EFORMAT, schema, "items", "malformed: a list beside prefixItems");
        }
        if (k == QN_SK_ADDITIONAL_ITEMS && qn_json_find(schema, "prefixItems") != NULL) {
            return qn_sx_fail(s, QN_EUNSUPPORTED, schema, "additionalItems",
                              "not known beside prefixItems; items says what comes behind them");
        }
        if (k == QN_SK_REFUSED) {
            bool is_items = strcmp(name, "unevaluatedItems") == 0,
                 is_properties = strcmp(name, "unevaluatedProperties") == 0;
            bool is_true = qn_json_kind_of(v) == QN_JSON_BOOL && qn_json_as_bool(v);
            bool is_plain = !has_applicators(schema) && is_schema(v); /* then the same as additional ones */
            if ((!is_items && !is_properties) || (!is_true && !is_plain)) {
                return qn_sx_fail(s, QN_EUNSUPPORTED, schema, name, refused_why(name));
            }
        }
        if (!shape_good(k, v)) {
            return qn_sx_fail(s, QN_EFORMAT, schema, name, shape_of(k));
        }
    }
    return s->o->strict ? check_strict(s, schema) : QN_OK;
}
