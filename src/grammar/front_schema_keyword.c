/* The keywords of schemas by name: which constrain, which only annotate, and which are refused. A name that is not here
 * is ignored, as the standard asks.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_schema_int.h"

qn_schema_keyword qn_sx_keyword(qn_str name)
{
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
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        if (qn_str_is(name, table[i].name)) {
            return table[i].keyword;
        }
    }
    return QN_SK_UNKNOWN;
}

qn_status qn_sx_count(qn_sx *s, const qn_json *schema, const char *keyword, uint32_t *n, bool *found)
{
    const qn_json *v = qn_json_find(schema, keyword);
    int64_t count;
    *found = v != NULL;
    if (v == NULL) {
        return QN_OK;
    }
    if (!qn_json_as_i64(v, &count) || count < 0) {
        return qn_sx_fail(s, QN_EFORMAT, schema, keyword, "not a count");
    }
    *n = count > 1000000000 ? 1000000000 : (uint32_t)count;
    return QN_OK;
}
