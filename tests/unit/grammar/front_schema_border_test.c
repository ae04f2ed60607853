/* JSON schemas at their borders: bounds of zero, bounds that contradict each other or are huge, malformed keywords,
 * references of every kind, and bombs. SPDX-License-Identifier: MIT */
#include "front_rig.h"

#define CHECK(source, ...) front_check(front_schema, source, __VA_ARGS__, (const char *)NULL)
#define NOTHING(source, path) MALFORMED(source, "at " path ": no value satisfies this schema")
#define REFUSES(source, part) front_refuses(front_schema, source, QN_EUNSUPPORTED, part)
#define MALFORMED(source, part) front_refuses(front_schema, source, QN_EFORMAT, part)
#define TOO_LARGE(source, part) front_refuses(front_schema, source, QN_EFULL, part)

static void zero_bounds(void **state)
{
    (void)state;
    CHECK("{\"type\":\"array\",\"maxItems\":0}", "+[]", "-[1]");
    CHECK("{\"type\":\"array\",\"maxItems\":0,\"prefixItems\":[{\"type\":\"string\"}]}", "+[]", "-[\"a\"]");
    CHECK("{\"type\":\"array\",\"maxItems\":0,\"uniqueItems\":true}", "+[]", "-[1]");
    CHECK("{\"type\":\"array\",\"items\":false}", "+[]", "-[1]");
    CHECK("{\"type\":\"array\",\"prefixItems\":[true,false]}", "+[]", "+[1]", "-[1,2]");
    CHECK("{\"type\":\"object\",\"maxProperties\":0,\"properties\":{\"a\":true}}", "+{}", "-{\"a\":1}", "-{\"b\":1}");
    CHECK("{\"type\":\"object\",\"minProperties\":0,\"maxProperties\":0}", "+{}", "-{\"a\":1}");
    CHECK("{\"type\":\"string\",\"maxLength\":0}", "+\"\"", "-\"a\"");
    CHECK("{\"type\":\"string\",\"maxLength\":0,\"pattern\":\"^a*$\"}", "+\"\"", "-\"a\"");
    CHECK("{\"type\":\"number\",\"minimum\":-0,\"maximum\":0.0}", "+0", "+0.0", "-1", "--1");
    CHECK("{\"type\":\"number\",\"exclusiveMaximum\":-0.0}", "+-0.1", "-0");
    CHECK("{\"type\":\"array\",\"contains\":true,\"minContains\":0}", "+[]", "+[1]");
}

static void few_values(void **state)
{
    (void)state;
    NOTHING("{\"enum\":[]}", "#");
    NOTHING("{\"anyOf\":[]}", "#");
    NOTHING("{\"oneOf\":[]}", "#");
    NOTHING("false", "#");
    CHECK("{\"type\":\"object\",\"properties\":{\"a\":{\"enum\":[]}}}", "+{}", "+{\"b\":1}", "-{\"a\":1}");
    CHECK("{\"enum\":[\"x\"]}", "+\"x\"", "-\"y\"");
    CHECK("{\"const\":null}", "+null", "-0");
    CHECK("{\"const\":{\"a\":[1,{\"b\":null}]}}", "+{\"a\":[1.0,{\"b\":null}]}", "-{\"a\":[1,{\"b\":0}]}", "-{}");
    CHECK("{\"const\":[]}", "+[]", "-[1]");
    CHECK("{\"const\":{}}", "+{}", "-{\"a\":1}");
    CHECK("{\"type\":\"object\",\"properties\":{\"a\":true},\"required\":[\"z\",\"z\"]}", "+{\"z\":1}", "-{\"a\":1}");
    NOTHING("{\"type\":\"object\",\"properties\":{\"a\":true},\"required\":[\"z\"],\"additionalProperties\":false}",
            "#");
    CHECK("{\"type\":\"object\",\"properties\":{\"a\":false}}", "+{}", "-{\"a\":1}", "+{\"b\":1}");
    NOTHING("{\"type\":\"object\",\"properties\":{\"a\":false},\"required\":[\"a\"]}", "#");
}

static void contradictions(void **state)
{
    (void)state;
    NOTHING("{\"type\":\"string\",\"minLength\":3,\"maxLength\":2}", "#");
    NOTHING("{\"type\":\"array\",\"minItems\":3,\"maxItems\":2}", "#");
    NOTHING("{\"type\":\"array\",\"minItems\":3,\"maxItems\":2,\"uniqueItems\":true,\"items\":{\"enum\":[1,2,3]}}",
            "#");
    NOTHING("{\"type\":\"object\",\"minProperties\":3,\"maxProperties\":2}", "#");
    NOTHING("{\"type\":\"object\",\"required\":[\"a\",\"b\"],\"maxProperties\":1}", "#");
    NOTHING("{\"type\":\"number\",\"minimum\":3,\"maximum\":2}", "#");
    NOTHING("{\"type\":\"number\",\"exclusiveMinimum\":2,\"maximum\":2}", "#");
    NOTHING("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"array\",\"minItems\":1,\"items\":{\"enum\":[]}}},"
            "\"required\":[\"a\"]}",
            "#/properties/a/items");
    NOTHING("{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#\"}},\"required\":[\"a\"]}", "#/properties/a");
    CHECK("{\"type\":\"integer\",\"minimum\":0.1,\"maximum\":0.9}", "-0", "-1");
    CHECK("{\"anyOf\":[{\"type\":\"string\",\"minLength\":3,\"maxLength\":2},{\"type\":\"null\"}]}", "+null",
          "-\"abc\"");
}

static void huge_bounds(void **state)
{
    (void)state;
    CHECK("{\"type\":\"string\",\"maxLength\":1000000000}", "+\"a\"");
    CHECK("{\"type\":\"string\",\"maxLength\":1e30}", "+\"a\"");
    CHECK("{\"type\":\"string\",\"maxLength\":1000000000,\"pattern\":\"^a+$\"}", "+\"a\"", "-\"b\"");
    CHECK("{\"type\":\"array\",\"maxItems\":10000000,\"items\":{\"type\":\"integer\"}}", "+[1]", "-[1.5]");
    CHECK("{\"type\":\"array\",\"minItems\":1000000,\"items\":{\"type\":\"integer\"}}", "-[1]", "-[]");
    CHECK("{\"type\":\"string\",\"minLength\":1000000000}", "-\"a\"");
    CHECK("{\"type\":\"object\",\"maxProperties\":1000000}", "+{\"a\":1}");
    REFUSES("{\"type\":\"object\",\"minProperties\":1000000}", "#/minProperties");
    TOO_LARGE("{\"minimum\":1e400}", "#/minimum");
    CHECK("{\"type\":\"number\",\"maximum\":1e-400}", "+0", "-0.1", "+-1");
    CHECK("{\"type\":\"number\",\"minimum\":1.5e-3,\"maximum\":2E+1}", "+0.0015", "+20", "-20.1", "-0.0014");
    CHECK("{\"type\":\"string\",\"minLength\":1.0,\"maxLength\":2e0}", "+\"ab\"", "-\"\"", "-\"abc\"");
    MALFORMED("{\"type\":\"string\",\"maxLength\":-1}", "#/maxLength: must be a whole number");
    MALFORMED("{\"type\":\"string\",\"maxLength\":1.5}", "#/maxLength");
    CHECK("{\"enum\":[1e400,3],\"multipleOf\":1.5}", "+3");
}

static void multiples(void **state)
{
    (void)state;
    CHECK("{\"type\":\"integer\",\"multipleOf\":7,\"minimum\":100}", "+105", "+105.0", "-98", "-100", "+1001", "-1002");
    CHECK("{\"type\":\"integer\",\"multipleOf\":7,\"minimum\":-1000000,\"maximum\":123456789}", "+-7", "+-999999",
          "--1000006", "+123456788", "-123456795", "+0", "-8");
    CHECK("{\"type\":\"number\",\"multipleOf\":7,\"maximum\":-10}", "+-14", "--7", "+-700", "-7", "-0");
    CHECK("{\"type\":\"number\",\"not\":{\"multipleOf\":3},\"minimum\":2}", "+2", "-3", "+4", "+3.5", "-1.5", "-30",
          "-3.0");
    CHECK("{\"type\":\"integer\",\"multipleOf\":3,\"not\":{\"multipleOf\":7}}", "+3", "-21", "-0", "+-6", "--42");
    CHECK("{\"type\":\"number\",\"multipleOf\":7,\"not\":{\"multipleOf\":10}}", "+7", "-70", "-0", "+-21", "-5");
    CHECK("{\"type\":\"number\",\"allOf\":[{\"multipleOf\":0.5},{\"multipleOf\":3}]}", "+3", "-1.5", "-0.5", "+-6.0");
    CHECK("{\"type\":\"number\",\"multipleOf\":0.5,\"not\":{\"multipleOf\":3}}", "+0.5", "-3", "+4", "-0.25");
    CHECK("{\"type\":\"integer\",\"multipleOf\":86400,\"minimum\":1}", "-0", "+86400", "+172800", "+864000", "-86401",
          "--86400");
    CHECK("{\"type\":\"integer\",\"multipleOf\":100000,\"minimum\":-150000}", "+0", "+-100000", "--200000", "+100000",
          "-10000");
    CHECK("{\"type\":\"number\",\"multipleOf\":0.5,\"minimum\":0,\"maximum\":5}", "+0.5", "+1", "+1.50", "-4.75",
          "-5.5");
    CHECK("{\"type\":\"number\",\"multipleOf\":0.25}", "+-1.75", "-1.3", "+7", "-01");
    CHECK("{\"enum\":[1.25,1.255,2.5],\"multipleOf\":0.05}", "+1.25", "-1.255", "+2.5");
    CHECK("{\"type\":\"integer\",\"multipleOf\":7.0,\"maximum\":8}", "+7", "+0", "-8");
    REFUSES("{\"multipleOf\":9999999999,\"minimum\":0}", "#/multipleOf");
    REFUSES("{\"multipleOf\":6,\"minimum\":1e30}", "#/multipleOf");
}

static void malformed(void **state)
{
    (void)state;
    MALFORMED("5", "not a schema");
    MALFORMED("[]", "not a schema");
    MALFORMED("{\"type\":\"str\"}", "#/type: malformed: must be one of null, boolean");
    MALFORMED("{\"type\":[]}", "#/type");
    MALFORMED("{\"properties\":[]}", "#/properties");
    MALFORMED("{\"required\":true}", "#/required");
    MALFORMED("{\"required\":[1]}", "#/required");
    MALFORMED("{\"enum\":\"a\"}", "#/enum");
    MALFORMED("{\"items\":5}", "#/items");
    MALFORMED("{\"minimum\":1,\"exclusiveMinimum\":true}", "#/exclusiveMinimum");
    MALFORMED("{\"prefixItems\":[true],\"items\":[true]}", "#/items");
    MALFORMED("{\"type\":\"string\",\"type\":\"integer\"}", "#/type: malformed: this name comes twice");
    MALFORMED("{\"properties\":{\"a\":{\"type\":\"null\"},\"a\":true}}", "#/properties/a: malformed");
    MALFORMED("{\"patternProperties\":{\"^+[a-f]$\":true}}", "#/patternProperties/^+[a-f]$: pattern, byte 1");
    MALFORMED("{\"pattern\":\"^{2}x$\"}", "#/pattern: pattern, byte 1");
    MALFORMED("{\"pattern\":\"^[a-\"}", "#/pattern: pattern, byte 1");
    MALFORMED("{\"pattern\":\"^\\\\\"}", "#/pattern: pattern, byte 1");
    MALFORMED("{\"enum\":[\"a\"],\"pattern\":\"^[a-\"}", "#/pattern");
    REFUSES("{\"propertyNames\":{\"pattern\":\"^(?<=k)*z$\"}}", "#/propertyNames/pattern");
}

static void refused_names(void **state)
{
    (void)state;
    REFUSES("{\"type\":\"string\",\"maxlength\":5}", "#/maxlength: no keyword, but almost one");
    REFUSES("{\"ref\":\"#/$defs/a\",\"$defs\":{\"a\":true}}", "#/ref");
    CHECK("{\"defs\":{\"a\":{\"type\":\"null\"}},\"ref\":{},\"$ref\":\"#/defs/a\"}", "+null", "-1");
    REFUSES("{\"items\":{\"min_items\":5}}", "#/items/min_items");
    REFUSES("{\"type\":\"string\",\"nullable\":true}", "#/nullable: no keyword of JSON schema");
    CHECK("{\"type\":\"string\",\"nullable\":false,\"title\":\"t\",\"x-order\":1,\"example\":\"e\",\"readOnly\":true}",
          "+\"a\"", "-null");
    REFUSES("{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"prefixItems\":[true]}", "#/prefixItems");
    REFUSES("{\"prefixItems\":[true],\"additionalItems\":false}", "#/additionalItems");
    REFUSES("{\"$schema\":\"http://example.com/mine\"}", "#/$schema");
    REFUSES("{\"format\":\"iri\"}", "#/format");
    REFUSES("{\"enum\":[\"0000-01-01\"],\"format\":\"date\"}", "#/format: it cannot be told");
    CHECK("{\"type\":\"string\",\"not\":{\"format\":\"date\"}}", "+\"a\"", "-\"2024-02-28\"", "-\"0000-01-01\"");
}

static void other_formats(void **state)
{
    (void)state;
    CHECK("{\"type\":\"integer\",\"format\":\"int32\"}", "+2147483647", "-2147483648", "+-2147483648", "--2147483649",
          "-1.5");
    CHECK("{\"type\":\"integer\",\"format\":\"uint8\",\"maximum\":300}", "+255", "-256", "--1");
    CHECK("{\"enum\":[1,2147483648],\"format\":\"int32\"}", "+1", "-2147483648");
    CHECK("{\"type\":[\"string\",\"integer\"],\"format\":\"int64\"}", "+\"a\"", "+5", "-9223372036854775808");
    CHECK("{\"type\":\"number\",\"format\":\"double\"}", "+1.5e10");
    CHECK("{\"type\":\"string\",\"format\":\"byte\"}", "+\"YWI=\"", "-\"YWI\"", "+\"\"");
    CHECK("{\"enum\":[\"YWI=\",\"a\"],\"format\":\"byte\"}", "+\"YWI=\"", "-\"a\"");
    CHECK("{\"type\":\"string\",\"format\":\"uuid4\"}", "+\"2eb8aa08-aa98-41ea-b4aa-73b441d16380\"",
          "-\"2eb8aa08-aa98-11ea-b4aa-73b441d16380\"");
    CHECK("{\"type\":\"string\",\"format\":\"binary\"}", "+\"a\"", "-1");
    CHECK("{\"type\":\"integer\",\"format\":\"date\"}", "+1");
    REFUSES("{\"type\":\"integer\",\"format\":\"unix-time\"}", "#/format: this format is not enforced");
}

static void odd_references(void **state)
{
    (void)state;
    MALFORMED("{\"$ref\":\"#\"}", "consists of itself");
    MALFORMED("{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"allOf\":[{\"$ref\":\"#/$defs/b\"}]},\"b\":{\"$ref\":\"#/"
              "$defs/a\"}}}",
              "#/$defs/a: this schema consists of itself");
    REFUSES("{\"$ref\":\"other.json#/a\"}", "#/$ref: leads out of the document");
    CHECK("{\"$ref\":\"#/$defs/a/1\",\"$defs\":{\"a\":[true,{\"type\":\"null\"}]}}", "+null", "-1");
    MALFORMED("{\"$ref\":\"#/$defs/a/01\",\"$defs\":{\"a\":[true,{\"type\":\"null\"}]}}", "#/$ref: leads to nothing");
    MALFORMED("{\"$ref\":\"#/$defs/a/-\",\"$defs\":{\"a\":[true]}}", "#/$ref");
    MALFORMED("{\"$ref\":\"#/$defs/a/99999999999\",\"$defs\":{\"a\":[true]}}", "#/$ref");
    CHECK("{\"$ref\":\"#/$defs/a~01\",\"$defs\":{\"a~1\":{\"type\":\"null\"},\"a/\":{\"type\":\"string\"}}}", "+null",
          "-\"\"");
    CHECK("{\"$ref\":\"#/$defs/a%25\",\"$defs\":{\"a%\":{\"type\":\"null\"}}}", "+null", "-1");
    MALFORMED("{\"$ref\":\"#/description\",\"description\":\"x\"}", "#/description: not a schema");
    MALFORMED("{\"$ref\":5}", "#/$ref");
    MALFORMED("{\"$ref\":\"#x\",\"$defs\":{\"y\":{\"const\":{\"$anchor\":\"x\"}}}}", "#/$ref");
    CHECK("{\"type\":[\"null\",\"array\"],\"items\":{\"$ref\":\"\"}}", "+null", "+[[null]]", "-[1]");
    CHECK("{\"$id\":\"http://h/a/b.json\",\"$ref\":\"../c.json\",\"$defs\":{\"c\":{\"$id\":\"/"
          "c.json\",\"type\":\"null\"}}}",
          "+null", "-1");
}

static void uniqueness(void **state)
{
    (void)state;
    CHECK("{\"type\":\"array\",\"prefixItems\":[{\"type\":\"boolean\"},{\"type\":\"boolean\"}],\"items\":false,"
          "\"uniqueItems\":true}",
          "+[]", "+[true,false]", "-[true,true]", "-[true,false,true]");
    CHECK("{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"anyOf\":[{\"const\":\"a\"},{\"const\":1},{\"type\":"
          "\"null\"}]}}",
          "+[\"a\",null,1]", "-[null,null]", "-[1,1.0]");
    CHECK("{\"type\":\"array\",\"uniqueItems\":true,\"minItems\":2,\"maxItems\":2,\"prefixItems\":[{\"enum\":[1,2]}],"
          "\"items\":{\"enum\":[2,3,{\"a\":1}]}}",
          "+[1,2]", "+[2,{\"a\":1}]", "-[2,2]", "-[1]", "-[1,1]");
    CHECK(
        "{\"type\":\"array\",\"uniqueItems\":true,\"maxItems\":2,\"items\":{\"enum\":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,"
        "14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29]}}",
        "+[29,7]", "-[7,7]", "-[1,2,3]");
    REFUSES("{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"enum\":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]}}",
            "#/uniqueItems: too many sets");
}

static void occurrence(void **state)
{
    (void)state;
    CHECK("{\"type\":\"array\",\"contains\":{\"type\":\"null\"},\"minContains\":2,\"maxItems\":3}", "+[null,null]",
          "+[null,1,null]", "-[null]", "-[1,1,null]", "-[null,null,1,1]");
    CHECK("{\"type\":\"array\",\"contains\":{\"type\":\"null\"},\"minItems\":3,\"maxContains\":1}", "+[1,null,2]",
          "-[null,null,1]", "-[1,null]", "-[1,2,3]", "+[1,2,3,null,4]");
    CHECK("{\"type\":\"array\",\"prefixItems\":[{\"type\":\"string\"},{\"type\":\"integer\"}],\"contains\":{\"const\":"
          "5}}",
          "+[\"a\",5]", "+[\"a\",1,5]", "-[\"a\",1]", "-[5,5]");
    CHECK("{\"oneOf\":[{\"type\":\"array\",\"items\":{\"type\":\"string\"}},{\"type\":\"array\",\"items\":{\"type\":"
          "\"integer\"}}]}",
          "+[1]", "+[\"a\",\"b\"]", "-[]", "-[1,\"a\"]");
    CHECK("{\"type\":\"string\",\"not\":{\"uniqueItems\":true,\"maxLength\":1,\"additionalProperties\":false}}",
          "+\"ab\"", "-\"a\"");
    CHECK("{\"type\":\"array\",\"not\":{\"contains\":{\"const\":1}}}", "+[]", "+[2]", "-[2,1]");
    CHECK("{\"type\":\"array\",\"not\":{\"prefixItems\":[{\"type\":\"null\"},{\"const\":1}]}}", "+[1]", "+[null,2]",
          "-[null,1]", "-[]", "-[null]");
}

static void many_patterns(void **state)
{
    (void)state;
    CHECK("{\"type\":\"object\",\"additionalProperties\":false,\"patternProperties\":{\"^x1\":{\"type\":\"integer\"},"
          "\"^x2\":{\"type\":\"string\"},\"^x3\":{\"type\":\"null\"},\"^x4\":{\"minimum\":0},\"^x5\":true,\"b$\":{"
          "\"const\":1}}}",
          "+{\"x1\":5,\"x2\":\"\"}", "-{\"x1\":\"a\"}", "+{\"x1b\":1}", "-{\"x1b\":2}", "-{\"x2b\":1}", "-{\"q\":1}",
          "+{\"b\":1}");
}

/* oneOf of closed objects that overlap. */
static void closed_alternatives(void **state)
{
    (void)state;
    CHECK("{\"oneOf\":[{\"type\":\"object\",\"properties\":{\"a\":true},\"additionalProperties\":false},"
          "{\"type\":\"object\",\"properties\":{\"a\":true,\"b\":true},\"additionalProperties\":false}]}",
          "+{\"b\":1}", "+{\"a\":1,\"b\":1}", "-{\"a\":1}", "-{}", "-{\"c\":1}");
    CHECK("{\"oneOf\":[{\"type\":\"object\",\"properties\":{\"a\":true,\"b\":true},\"additionalProperties\":false},"
          "{\"type\":\"object\",\"properties\":{\"a\":true,\"c\":true},\"additionalProperties\":false}]}",
          "+{\"b\":1}", "+{\"a\":1,\"c\":1}", "-{\"a\":1}", "-{}", "-{\"b\":1,\"c\":1}");
    CHECK("{\"type\":\"object\",\"properties\":{\"ab\":true,\"cd\":true},\"additionalProperties\":false,\"not\":{"
          "\"patternProperties\":{\"^a\":{\"type\":\"string\"}},\"additionalProperties\":{\"type\":\"null\"}}}",
          "+{\"ab\":1}", "-{\"ab\":\"\"}", "+{\"ab\":\"\",\"cd\":1}", "-{\"cd\":null}", "-{}");
    CHECK("{\"type\":\"object\",\"propertyNames\":{\"enum\":[\"a\",\"b\",\"c\"]},\"additionalProperties\":{\"type\":"
          "\"integer\"},"
          "\"minProperties\":2}",
          "+{\"a\":1,\"c\":2}", "-{\"a\":1}", "-{\"a\":1,\"a\":2}", "-{\"a\":1,\"d\":2}", "-{\"a\":1,\"b\":null}");
    CHECK("{\"type\":\"object\",\"propertyNames\":{\"anyOf\":[{\"const\":\"a\"},{\"pattern\":\"^x\"}]}}",
          "+{\"a\":1,\"x1\":2}", "-{\"b\":1}");
    REFUSES("{\"type\":\"object\",\"not\":{\"additionalProperties\":false}}",
            "#/not/additionalProperties: not enforced");
}

/* A text of n parts, each printed with its number, the number behind it, and that again. */
static char *repeated(const char *before, const char *part, const char *between, int n, const char *behind)
{
    size_t cap = strlen(before) + strlen(behind) + (size_t)n * (strlen(part) + strlen(between) + 40) + 1;
    char *text = malloc(cap);
    assert_non_null(text);
    size_t len = (size_t)snprintf(text, cap, "%s", before);
    for (int i = 0; i < n; i++) {
        len += (size_t)snprintf(text + len, cap - len, "%s", i > 0 ? between : "");
        for (const char *p = part; *p != '\0'; p++) {
            if (*p == '@' || *p == '^') {
                len += (size_t)snprintf(text + len, cap - len, "%d", *p == '@' ? i : i + 1);
            } else {
                text[len++] = *p;
            }
        }
    }
    snprintf(text + len, cap - len, "%s", behind);
    return text;
}

static void large_schemas(void **state)
{
    (void)state;
    char *text = repeated("{\"type\":\"object\",\"properties\":{", "\"p@\":{\"type\":\"null\"}", ",", 10000, "}}");
    TOO_LARGE(text, "more than 4096 properties");
    free(text);
    text = repeated("{\"type\":\"object\",\"required\":[\"p0\"],\"additionalProperties\":false,\"properties\":{",
                    "\"p@\":{\"$ref\":\"#/$defs/d\"}", ",", 4000, "},\"$defs\":{\"d\":{\"type\":\"null\"}}}");
    CHECK(text, "+{\"p0\":null,\"p3999\":null}", "-{\"p1\":null}");
    free(text);
    text = repeated("{\"$ref\":\"#/$defs/d0\",\"$defs\":{",
                    "\"d@\":{\"allOf\":[{\"$ref\":\"#/$defs/d^\"},{\"$ref\":"
                    "\"#/$defs/d^\"}]}",
                    ",", 30, ",\"d30\":{\"type\":\"null\"}}}");
    CHECK(text, "+null", "-1");
    free(text);
    text = repeated("{\"$ref\":\"#/$defs/d0\",\"$defs\":{",
                    "\"d@\":{\"oneOf\":[{\"$ref\":\"#/$defs/d^\"},{\"$ref\":"
                    "\"#/$defs/d^\"}]}",
                    ",", 30, ",\"d30\":{\"type\":\"null\"}}}");
    TOO_LARGE(text, "combinations");
    free(text);
    text = repeated("{\"$ref\":\"#/$defs/d0\",\"const\":[null],\"$defs\":{",
                    "\"d@\":{\"items\":{\"allOf\":[{\"$ref\":\"#/$defs/e^\"},{\"$ref\":\"#/$defs/e^\"}]}},"
                    "\"e@\":{\"allOf\":[{\"$ref\":\"#/$defs/e^\"},{\"$ref\":\"#/$defs/e^\"}]}",
                    ",", 30, ",\"d30\":true,\"e30\":true}}");
    TOO_LARGE(text, "combinations");
    free(text);
    text = repeated("{\"type\":\"object\",\"dependentRequired\":{", "\"a@\":[\"b@\"]", ",", 30, "}}");
    TOO_LARGE(text, "combinations");
    free(text);
    text = repeated("{\"oneOf\":[", "{\"const\":@}", ",", 300, "]}");
    CHECK(text, "+299", "-300");
    free(text);
    text = repeated("{\"patternProperties\":{", "\"a{@}\":true", ",", 200, "}}");
    REFUSES(text, "#/patternProperties");
    free(text);
    text = repeated("{\"type\":\"array\",\"prefixItems\":[", "{\"const\":@}", ",", 1000, "]}");
    TOO_LARGE(text, "#/prefixItems");
    free(text);
    text = repeated("{\"$ref\":\"#/$defs/d0\",\"$defs\":{", "\"d@\":{\"$ref\":\"#/$defs/d^\"}", ",", 900,
                    ",\"d900\":true}}");
    TOO_LARGE(text, "more than 512 schemas hold");
    free(text);
    text = repeated("{\"$ref\":\"#", "/a", "", 5000, "\"}");
    TOO_LARGE(text, "#/$ref");
    free(text);
}

static void out_of_memory(void **state)
{
    (void)state;
    front_without_memory(front_schema,
                         "{\"type\":\"array\",\"uniqueItems\":true,\"prefixItems\":[{\"enum\":[1,\"a\"]}],\"items\":{"
                         "\"type\":\"boolean\"},\"maxItems\":2}");
    front_without_memory(front_schema, "{\"type\":\"array\",\"contains\":{\"type\":\"null\"},\"maxItems\":2,\"items\":{"
                                       "\"multipleOf\":3,\"minimum\":7}}");
    front_without_memory(front_schema,
                         "{\"type\":\"object\",\"patternProperties\":{\"^a\":true,\"b\":{\"multipleOf\":0.5}"
                         ",\"^c\":true,\"d\":true},\"not\":{\"required\":[\"q\"]}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_bounds),         cmocka_unit_test(few_values),    cmocka_unit_test(contradictions),
        cmocka_unit_test(huge_bounds),         cmocka_unit_test(multiples),     cmocka_unit_test(malformed),
        cmocka_unit_test(refused_names),       cmocka_unit_test(other_formats), cmocka_unit_test(odd_references),
        cmocka_unit_test(uniqueness),          cmocka_unit_test(occurrence),    cmocka_unit_test(many_patterns),
        cmocka_unit_test(closed_alternatives), cmocka_unit_test(large_schemas), cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
