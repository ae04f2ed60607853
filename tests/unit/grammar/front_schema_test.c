/* JSON schemas: which texts each keyword lets through, alone and together, and what is refused by name.
 * SPDX-License-Identifier: MIT */
#include "front_rig.h"

#define CHECK(source, ...) front_check(front_schema, source, __VA_ARGS__, (const char *)NULL)
#define REFUSES(source, part) front_refuses(front_schema, source, QN_EUNSUPPORTED, part)
#define MALFORMED(source, part) front_refuses(front_schema, source, QN_EFORMAT, part)

static void types_and_values(void **state)
{
    (void)state;
    CHECK("true", "+{\"a\":[1,null,{\"b\":\"\\u0061\"}]}", "+-0.5e+10", "-", "-{", "-[1,]", "-01", "-\"\n\"");
    /* A number ends: nothing else would stop a model that writes zeros. */
    CHECK("{\"type\":\"number\",\"minimum\":0.5}", "+1.5000", "+99999999999999999999999999999999999999999999",
          "-1.000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000");
    CHECK("{\"type\":\"number\"}", "+0.30000000000000004",
          "-0.1000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000");
    CHECK("{\"type\":\"integer\"}", "+0", "+-12", "+1.0", "-2.000", "-1.5", "-1.", "-\"1\"", "-1e2");
    CHECK("{\"type\":\"number\"}", "+1e307", "-1e309", "+1.6e308", "-1.8e308", "+12e-400", "+0E+05", "-1e", "-1e1000");
    CHECK("{\"type\":[\"null\",\"boolean\"]}", "+null", "+true", "+false", "-0");
    CHECK("{\"enum\":[\"a\\\"b\",1,{\"x\":[true]},0.50]}", "+\"a\\\"b\"", "+1", "+1.0", "+{\"x\":[true]}", "+0.5",
          "+0.50", "-2", "-{\"x\":[]}");
    CHECK("{\"const\":1e2}", "+100", "+100.0", "-1e2", "-10");
    CHECK("{\"type\":\"string\",\"enum\":[\"a\",1,\"bb\"],\"minLength\":2}", "+\"bb\"", "-\"a\"", "-1");
    CHECK("{\"enum\":[\"\xC3\xA9\"]}", "+\"\xC3\xA9\"", "+\"\\u00e9\"", "+\"\\u00E9\"", "-\"e\"");
    CHECK("{\"items\":{\"$ref\":\"#/$defs/Mood\"},\"$defs\":{\"Mood\":{\"enum\":[\"calm\",\"cross\"]}}}",
          "+[\"calm\",\"cross\"]", "+[]", "-[\"x\"]", "-[{}]", "+1");
}

static void strings(void **state)
{
    (void)state;
    CHECK("{\"type\":\"string\",\"minLength\":2,\"maxLength\":3}", "+\"ab\"", "+\"a\\n\\u0041\"",
          "+\"\xF0\x9F\x98\x80\\uD83D\\uDE00\"", "-\"a\"", "-\"abcd\"", "-\"\\uD83D\"");
    CHECK("{\"type\":\"string\",\"maxLength\":0}", "+\"\"", "-\"a\"");
    CHECK("{\"minLength\":2}", "+1", "+null", "+\"ab\"", "-\"a\"");
    CHECK("{\"type\":\"string\",\"pattern\":\"^[a-z]+$\",\"minLength\":2,\"maxLength\":3}", "+\"ab\"", "+\"abc\"",
          "-\"a\"", "-\"abcd\"", "-\"A1\"");
    CHECK("{\"type\":\"string\",\"pattern\":\"b\"}", "+\"abc\"", "+\"\\nb\"", "-\"ac\"");
    CHECK("{\"type\":\"string\",\"allOf\":[{\"pattern\":\"a\"},{\"pattern\":\"b\"}]}", "+\"ab\"", "+\"ba\"", "-\"a\"");
    CHECK("{\"type\":\"string\",\"not\":{\"pattern\":\"^a\"}}", "+\"b\"", "+\"\"", "-\"a\"", "-\"ab\"");
    CHECK("{\"type\":\"string\",\"not\":{\"enum\":[\"a\",\"b\"]}}", "+\"c\"", "+\"ab\"", "-\"a\"");
    REFUSES("{\"pattern\":\"(?=a)\"}", "#/pattern: pattern, byte 0: look-ahead");
    MALFORMED("{\"properties\":{\"a\":{\"pattern\":\"^+[a-f]$\"}}}",
              "#/properties/a/pattern: pattern, byte 1: nothing to repeat");
}

static void formats(void **state)
{
    (void)state;
    CHECK("{\"type\":\"string\",\"format\":\"date\"}", "+\"2024-02-29\"", "+\"2000-02-29\"", "-\"1900-02-29\"",
          "-\"2023-02-29\"", "-\"2024-04-31\"", "-\"2024-13-01\"", "+\"1999-12-31\"", "-\"2024-1-1\"");
    CHECK("{\"format\":\"date-time\"}", "+\"2024-02-29T23:59:59Z\"", "+\"1998-12-31T23:59:60Z\"",
          "+\"1998-12-31T15:59:60.123-08:00\"", "-\"1998-12-31T22:59:60Z\"", "-\"2024-02-30T00:00:00Z\"",
          "-\"2024-02-29 00:00:00Z\"", "-\"2024-02-29T24:00:00Z\"", "+\"2024-02-29T00:00:00.5+05:30\"");
    CHECK("{\"format\":\"ipv4\"}", "+\"255.0.10.199\"", "-\"256.0.0.1\"", "-\"1.2.3\"", "-\"01.2.3.4\"");
    CHECK("{\"format\":\"ipv6\"}", "+\"::\"", "+\"1:2:3:4:5:6:7:8\"", "+\"::ffff:1.2.3.4\"", "+\"1::8\"",
          "-\"1:2:3:4:5:6:7\"", "-\"1::2::3\"", "-\"12345::\"");
    CHECK("{\"format\":\"uuid\"}", "+\"2eb8aa08-aa98-11ea-b4aa-73b441d16380\"",
          "-\"2eb8aa08aa9811eab4aa73b441d16380\"");
    CHECK("{\"format\":\"email\"}", "+\"a.b@example.com\"", "+\"\\\"a b\\\"@x.y\"", "-\"a@\"", "-\"a..b@x.y\"");
    CHECK("{\"format\":\"uri\"}", "+\"https://a.b/c?d#e\"", "+\"mailto:x@y\"", "-\"/a\"", "-\"http://a b\"");
    CHECK("{\"format\":\"hostname\"}", "+\"a-b.c\"", "+\"x\"", "+\"xn\"", "+\"xa--b\"", "-\"xn--a\"", "-\"a-\"",
          "-\"-a\"", "-\"a..b\"", "+\"xn-a\"");
    CHECK("{\"format\":\"duration\"}", "+\"P1Y2M3DT4H5M6S\"", "+\"P2W\"", "+\"PT1M\"", "-\"P\"", "-\"PT\"",
          "-\"P1D2H\"", "-\"P1Y2D\"");
    CHECK("{\"format\":\"json-pointer\"}", "+\"\"", "+\"/a~1b/0\"", "-\"a\"", "-\"/~2\"");
    CHECK("{\"format\":\"uri-reference\"}", "+\"/a?b\"", "+\"\"", "+\"a/b:c\"", "+\"http://x/\"", "-\"a b\"", "-\":\"");
    REFUSES("{\"format\":\"iri\"}", "#/format");
}

static void numbers(void **state)
{
    (void)state;
    CHECK("{\"type\":\"integer\",\"minimum\":3,\"maximum\":120}", "+3", "+10", "+99", "+120", "+120.0", "-2", "-121",
          "-1000", "--5", "-003");
    CHECK("{\"type\":\"integer\",\"minimum\":-15,\"maximum\":7}", "+-15", "+-1", "+0", "+7", "-8", "--16", "-70");
    CHECK("{\"type\":\"number\",\"exclusiveMinimum\":0.25,\"exclusiveMaximum\":1}", "+0.250001", "+0.3", "+0.999",
          "-0.25", "-0.250", "-1", "-0", "-1.0", "-0.2");
    CHECK("{\"type\":\"number\",\"minimum\":-0.5}", "+-0.5", "+-0.500", "+-0.4999", "+0", "+1000000.5", "--0.51",
          "--1");
    CHECK("{\"type\":\"number\",\"maximum\":-2.5}", "+-2.5", "+-2.50", "+-3", "+-10", "--2.49", "--2", "-3");
    CHECK("{\"type\":\"integer\",\"minimum\":1.5,\"maximum\":3.5}", "+2", "+3", "-1", "-4");
    CHECK("{\"exclusiveMaximum\":0}", "+-1", "+-0.001", "-0", "-1", "+\"a\"");
    CHECK("{\"type\":\"integer\",\"minimum\":100000000000000000000}", "+100000000000000000000",
          "-99999999999999999999");
    CHECK("{\"type\":\"integer\",\"multipleOf\":7}", "+0", "+7", "+-14", "+700", "+7.0", "-8", "-1");
    CHECK("{\"type\":\"integer\",\"multipleOf\":4}", "+0", "+4", "+12", "+1000", "-2", "-10", "-1002", "+-8");
    CHECK("{\"multipleOf\":5,\"minimum\":-7,\"maximum\":11}", "+-5", "+0", "+5", "+10", "-15", "--10", "-2", "-5.5");
    CHECK("{\"type\":\"integer\",\"multipleOf\":13,\"minimum\":1}", "+13", "+26", "-0", "-14", "--13");
    CHECK("{\"type\":\"number\",\"multipleOf\":0.01}", "+1", "+1.5", "+1.25", "+1.250", "-1.255");
    CHECK("{\"type\":\"number\",\"not\":{\"type\":\"integer\"}}", "+1.5", "-1", "-1.0");
    CHECK("{\"type\":\"integer\",\"not\":{\"const\":5}}", "+4", "+50", "-5", "-5.0");
    REFUSES("{\"multipleOf\":1.5}", "#/multipleOf");
    MALFORMED("{\"multipleOf\":0}", "#/multipleOf");
}

static void arrays(void **state)
{
    (void)state;
    CHECK("{\"type\":\"object\",\"properties\":{\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"
          "\"maxItems\":0}},\"required\":[\"tags\"],\"additionalProperties\":false}",
          "+{\"tags\":[]}", "-{\"tags\":[\"a\"]}", "-{}");
    CHECK("{\"type\":\"array\",\"minItems\":0,\"maxItems\":0}", "+[]", "-[1]");
    CHECK("{\"type\":\"array\",\"items\":{\"type\":\"integer\"},\"minItems\":2,\"maxItems\":3}", "+[1,2]", "+[1,2,3]",
          "-[1]", "-[1,2,3,4]", "-[1,\"a\"]", "-[]");
    CHECK("{\"type\":\"array\",\"prefixItems\":[{\"type\":\"integer\"},{\"type\":\"string\"}],\"items\":false}", "+[]",
          "+[1]", "+[1,\"a\"]", "-[1,\"a\",2]", "-[\"a\"]");
    CHECK("{\"type\":\"array\",\"prefixItems\":[{\"type\":\"integer\"}],\"items\":{\"type\":\"null\"},\"minItems\":2,"
          "\"maxItems\":3}",
          "+[1,null]", "+[1,null,null]", "-[1]", "-[1,null,null,null]", "-[null,null]");
    CHECK("{\"$schema\":\"http://json-schema.org/draft-07/"
          "schema#\",\"type\":\"array\",\"items\":[{\"type\":\"integer\"}],\"additionalItems\":{\"type\":\"null\"}}",
          "+[]", "+[1,null]", "-[1,1]");
    CHECK("{\"type\":\"array\",\"items\":{\"enum\":[\"a\",\"b\",\"c\"]},\"uniqueItems\":true}", "+[]", "+[\"b\"]",
          "+[\"c\",\"a\",\"b\"]", "-[\"a\",\"a\"]", "-[\"a\",\"b\",\"a\"]");
    CHECK("{\"type\":\"array\",\"items\":{\"type\":\"boolean\"},\"uniqueItems\":true,\"minItems\":1}", "+[true]",
          "+[false,true]", "-[true,true]", "-[]");
    CHECK("{\"type\":\"array\",\"contains\":{\"const\":5}}", "+[5]", "+[1,5,2,5]", "-[]", "-[1]");
    REFUSES("{\"items\":{\"type\":\"string\"},\"uniqueItems\":true}", "#/uniqueItems");
}

static void objects(void **state)
{
    (void)state;
    CHECK("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"null\"},\"c\":true},"
          "\"additionalProperties\":false}",
          "+{}", "+{\"a\":1}", "+{\"b\":null}", "+{\"a\":1,\"c\":0}", "+{\"a\":1,\"b\":null,\"c\":0}",
          "-{\"b\":null,\"a\":1}", "-{,\"a\":1}", "-{\"a\":1,}", "-{\"d\":1}", "-{\"a\":1\"b\":null}");
    CHECK("{\"type\":\"object\",\"properties\":{\"a\":true,\"b\":true,\"c\":true},\"required\":[\"b\"],"
          "\"additionalProperties\":false}",
          "+{\"b\":1}", "+{\"a\":1,\"b\":1}", "+{\"b\":1,\"c\":1}", "-{\"a\":1}", "-{}", "-{\"a\":1,\"c\":1}");
    CHECK("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}},\"additionalProperties\":{\"type\":"
          "\"string\"}}",
          "+{\"x\":\"y\"}", "+{\"a\":1,\"x\":\"y\"}", "-{\"a\":\"y\"}", "-{\"x\":1}", "+{\"aa\":\"y\",\"\":\"z\"}",
          "-{\"x\":\"y\",\"a\":1}");
    CHECK("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}},\"required\":[\"z\"]}", "+{\"z\":1}",
          "+{\"a\":1,\"z\":null,\"q\":2}", "-{}", "-{\"a\":1}");
    CHECK("{\"type\":\"object\",\"patternProperties\":{\"^x\":{\"type\":\"integer\"}},\"additionalProperties\":false}",
          "+{\"x1\":1,\"x2\":2}", "-{\"y\":1}", "-{\"x\":\"a\"}");
    CHECK("{\"properties\":{\"xa\":{\"minimum\":5}},\"patternProperties\":{\"^x\":{\"type\":\"integer\"},\"b$\":{"
          "\"maximum\":3}}}",
          "+{\"xa\":6}", "-{\"xa\":6.5}", "-{\"xa\":4}", "+{\"xb\":3}", "-{\"xb\":4}", "+{\"c\":null}", "+{\"b\":2.5}",
          "-{\"b\":4}");
    CHECK("{\"type\":\"object\",\"maxProperties\":1}", "+{}", "+{\"a\":1}", "-{\"a\":1,\"b\":1}");
    CHECK("{\"type\":\"object\",\"properties\":{\"a\":true,\"b\":true,\"c\":true},\"additionalProperties\":false,"
          "\"minProperties\":2,\"maxProperties\":2}",
          "+{\"a\":1,\"b\":1}", "+{\"b\":1,\"c\":1}", "-{\"a\":1}", "-{\"a\":1,\"b\":1,\"c\":1}");
    CHECK("{\"type\":\"object\",\"minProperties\":1}", "+{\"a\":1}", "-{}");
    CHECK("{\"type\":\"object\",\"propertyNames\":{\"pattern\":\"^[a-z]$\"}}", "+{\"a\":1}", "-{\"A\":1}", "+{}");
    CHECK("{\"type\":\"object\",\"properties\":{\"a\\\"\xC3\xA9\":true},\"additionalProperties\":false}",
          "+{\"a\\\"\\u00e9\":1}", "+{\"a\\\"\xC3\xA9\":1}");
    CHECK("{\"type\":\"object\",\"dependentRequired\":{\"a\":[\"b\"]}}", "+{}", "+{\"b\":1}", "+{\"a\":1,\"b\":1}",
          "-{\"a\":1}");
    REFUSES("{\"type\":\"object\",\"minProperties\":2}", "#/minProperties");
}

static void combinations(void **state)
{
    (void)state;
    CHECK("{\"anyOf\":[{\"type\":\"integer\"},{\"minLength\":2}]}", "+1", "+1.5", "+\"ab\"", "-\"a\"");
    CHECK("{\"allOf\":[{\"type\":[\"string\",\"integer\"]},{\"minimum\":2}]}", "+\"\"", "+2", "-1", "-2.5");
    CHECK("{\"oneOf\":[{\"type\":\"integer\"},{\"minimum\":2}]}", "+1", "+2.5", "-3", "-1.5", "+\"a\"");
    CHECK("{\"oneOf\":[{\"properties\":{\"k\":{\"const\":\"a\"},\"x\":{\"type\":\"integer\"}},\"required\":[\"k\","
          "\"x\"]},{\"properties\":{\"k\":{\"const\":\"b\"}},\"required\":[\"k\"]}],\"type\":\"object\"}",
          "+{\"k\":\"a\",\"x\":1}", "+{\"k\":\"b\"}", "-{\"k\":\"a\"}", "-{\"k\":\"c\"}");
    CHECK("{\"not\":{\"type\":[\"integer\",\"boolean\"]}}", "+1.5", "+\"a\"", "-1", "-true");
    CHECK("{\"if\":{\"exclusiveMaximum\":0},\"then\":{\"minimum\":-10},\"else\":{\"multipleOf\":2}}", "+-1", "--100",
          "+4", "-3", "+\"a\"");
    CHECK("{\"type\":\"object\",\"properties\":{\"foo\":true,\"bar\":true},\"oneOf\":[{\"required\":[\"foo\"]},{"
          "\"required\":[\"bar\"]}]}",
          "+{\"foo\":1}", "+{\"bar\":1}", "-{\"foo\":1,\"bar\":1}", "-{}");
    MALFORMED("{\"anyOf\":[1]}", "#/anyOf");
    MALFORMED("{\"allOf\":[{\"$ref\":\"#\"}]}", "consists of itself");
    MALFORMED("{\"not\":{\"$ref\":\"#\"}}", "consists of itself");
    REFUSES("{\"properties\":{\"a\":{\"unevaluatedProperties\":false,\"allOf\":[true]}}}",
            "#/properties/a/unevaluatedProperties");
    CHECK("{\"not\":{\"items\":{\"type\":\"string\"}}}", "+[1]", "+[\"a\",1]", "-[]", "-[\"a\"]", "-1");
    REFUSES("{\"not\":{\"patternProperties\":{\"a\":{\"type\":\"string\"}}}}", "#/not/patternProperties");
}

static void references(void **state)
{
    (void)state;
    CHECK("{\"type\":\"object\",\"properties\":{\"next\":{\"$ref\":\"#\"}},\"additionalProperties\":false}", "+{}",
          "+{\"next\":{\"next\":{}}}", "-{\"next\":1}");
    CHECK("{\"$ref\":\"#/$defs/a~1b/0/%25c\",\"$defs\":{\"a/b\":[{\"%c\":{\"type\":\"null\"}}]}}", "+null", "-1");
    CHECK("{\"$ref\":\"#here\",\"$defs\":{\"x\":{\"$anchor\":\"here\",\"type\":\"null\"}}}", "+null", "-1");
    CHECK("{\"$id\":\"http://a.b/c/d\",\"$ref\":\"e#/$defs/"
          "q\",\"$defs\":{\"x\":{\"$id\":\"e\",\"$defs\":{\"q\":{\"type\":\"null\"}}}}}",
          "+null", "-1");
    CHECK("{\"$ref\":\"#/$defs/s\",\"maxLength\":2,\"$defs\":{\"s\":{\"type\":\"string\"}}}", "+\"ab\"", "-\"abc\"",
          "-1");
    CHECK("{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"properties\":{\"a\":{\"$ref\":\"#/definitions/"
          "s\",\"maxLength\":2}},\"definitions\":{\"s\":{\"type\":\"string\"}}}",
          "+{\"a\":\"abc\"}", "-{\"a\":1}");
    MALFORMED("{\"$ref\":\"#/nowhere\"}", "#/$ref: leads to nothing");
    REFUSES("{\"$defs\":{\"a\":{\"$id\":\"http://a/b\",\"$schema\":\"http://json-schema.org/draft-07/schema#\"}}}",
            "#/$defs/a/$schema: another dialect");
    REFUSES("{\"$ref\":\"http://x.y/z\"}", "#/$ref: leads out");
}

static qn_status strict_schema(qn_gx_builder *b, qn_str source, qn_error *err)
{
    qn_json_doc *doc;
    QN_TRY(qn_json_parse(NULL, source.data, source.len, 1000, &doc, err));
    qn_status status =
        qn_front_schema(b, qn_json_root(doc), &(qn_schema_options){.strict = true, .max_whitespace = 2}, err);
    qn_json_free(doc);
    return status;
}

static void strict_and_blanks(void **state)
{
    (void)state;
    front_refuses(strict_schema, "{\"type\":\"object\",\"properties\":{\"a\":true},\"required\":[\"a\"]}",
                  QN_EUNSUPPORTED, "#/additionalProperties");
    front_refuses(strict_schema, "{\"type\":\"object\",\"properties\":{\"a\":true},\"additionalProperties\":false}",
                  QN_EUNSUPPORTED, "#/properties/a");
    front_refuses(strict_schema, "{\"description\":\"anything\"}", QN_EUNSUPPORTED, "#: must have a type");
    front_refuses(strict_schema, "{\"type\":\"array\"}", QN_EUNSUPPORTED, "#/items: must be there");
    front_refuses(strict_schema, "{\"anyOf\":[{\"type\":\"null\"},true]}", QN_EUNSUPPORTED,
                  "#/anyOf/1: must have a type");
    front_refuses(
        strict_schema,
        "{\"type\":\"object\",\"patternProperties\":{\"a\":{\"type\":\"null\"}},\"additionalProperties\":false}",
        QN_EUNSUPPORTED, "#/patternProperties: not in strict mode");
    front_check(strict_schema,
                "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}},\"required\":[\"a\"],"
                "\"additionalProperties\":false}",
                "+{\"a\":1}", "+{\n \"a\" : 1\t}", "-{   \"a\":1}", "-{\"a\":1} ", "- {\"a\":1}", NULL);
}

static qn_status plain_schema(qn_gx_builder *b, qn_str source, qn_error *err)
{
    qn_json_doc *doc;
    QN_TRY(qn_json_parse(NULL, source.data, source.len, 1000, &doc, err));
    qn_status status = qn_front_schema(b, qn_json_root(doc), &(qn_schema_options){.plain = true}, err);
    qn_json_free(doc);
    return status;
}

/* What a careful writer leaves out, and what it may not. */
static void plainly(void **state)
{
    (void)state;
    front_check(plain_schema, "{\"type\":\"integer\"}", "+12", "+-3", "-12.0", NULL);
    front_check(plain_schema, "{\"type\":\"integer\",\"minimum\":2}", "+12", "-1", "-12.0", NULL);
    front_check(plain_schema, "{\"type\":\"integer\",\"multipleOf\":7}", "+14", "-15", "-14.0", NULL);
    front_check(plain_schema, "{\"enum\":[1,2.50,\"a\\\"\\n\"]}", "+1", "-1.0", "+2.5", "-2.50", "+\"a\\\"\\n\"",
                "-\"\\u0061\\\"\\n\"", NULL);
    front_check(plain_schema, "{\"type\":\"number\"}", "+1", "+1.0", "+2.5", NULL);
    front_check(plain_schema, "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"null\"}},\"required\":[\"b\"]}",
                "+{\"a\":null,\"b\":1}", "+{\"b\":1}", "-{\"a\":null}", "-{\"b\":1,\"c\":1}",
                "-{\"\\u0061\":null,\"b\":1}", NULL);
    front_check(plain_schema,
                "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"null\"}},\"additionalProperties\":{\"type\":"
                "\"null\"}}",
                "+{\"a\":null,\"b\":null}", "-{\"b\":1}", NULL);
    front_check(plain_schema,
                "{\"type\":\"object\",\"patternProperties\":{\"^x\":{\"type\":\"null\"}}}", "+{}", "+{\"xy\":null}",
                "-{\"y\":null}", NULL);
    front_check(plain_schema, "{\"type\":\"object\"}", "+{}", "+{\"y\":[1]}", NULL);
    front_check(plain_schema, "{\"type\":\"object\",\"properties\":{\"a\":false},\"minProperties\":1}", "+{\"b\":2}", "-{}",
                NULL);
    front_check(plain_schema,
                "{\"allOf\":[{\"properties\":{\"a\":true}},{\"properties\":{\"b\":true}}],\"type\":\"object\"}",
                "+{\"a\":1,\"b\":2}", "-{\"c\":1}", NULL);
}

static void bombs(void **state)
{
    (void)state;
    char *text = malloc(1u << 20);
    assert_non_null(text);
    /* each level has two ways, none of which ends early */
    strcpy(text, "{\"allOf\":[");
    for (int i = 0; i < 40; i++) {
        sprintf(text + strlen(text), "%s{\"anyOf\":[{\"minLength\":%d},{\"pattern\":\"a%d\"}]}", i > 0 ? "," : "", i,
                i);
    }
    strcat(text, "]}");
    front_refuses(front_schema, text, QN_EFULL, "combinations");
    /* references that double at each level */
    strcpy(text, "{\"$ref\":\"#/$defs/d0\",\"$defs\":{");
    for (int i = 0; i < 40; i++) {
        sprintf(text + strlen(text), "\"d%d\":{\"anyOf\":[{\"$ref\":\"#/$defs/d%d\"},{\"$ref\":\"#/$defs/d%d\"}]},", i,
                i + 1, i + 1);
    }
    strcat(text, "\"d40\":{\"type\":\"null\"}}}");
    front_refuses(front_schema, text, QN_EFULL, "combinations");
    free(text);
    front_refuses(front_schema, "{\"pattern\":\"(a{1000}){1000}\"}", QN_EFULL, "multiply");
}

/* A thousand optional members take no more than some dozens of expressions each. */
static void many_members(void **state)
{
    (void)state;
    char *text = malloc(1u << 20);
    assert_non_null(text);
    size_t n = (size_t)sprintf(text, "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{");
    for (int i = 0; i < 1000; i++) {
        n += (size_t)sprintf(text + n, "%s\"member%d\":{\"type\":\"null\"}", i > 0 ? "," : "", i);
    }
    strcpy(text + n, "}}");
    qn_gx_builder b;
    qn_error err;
    qn_gx_init(&b, NULL);
    assert_int_equal(front_schema(&b, qn_str_of(text), &err), QN_OK);
    assert_true(b.n_nodes < 60000);
    bool matches = false;
    assert_int_equal(
        qn_front_match(&b, qn_gx_rule_ref(&b, b.root), QN_STR("{\"member3\":null,\"member998\":null}"), &matches),
        QN_OK);
    assert_true(matches);
    qn_gx_free(&b);
    free(text);
}

static void out_of_memory(void **state)
{
    (void)state;
    front_without_memory(front_schema, "{\"type\":\"object\",\"properties\":{\"a\":{\"enum\":[1,\"\xC3\xA9\"],"
                                       "\"minLength\":1},\"b\":{\"$ref\":\"#/$defs/x\"}},"
                                       "\"patternProperties\":{\"^q\":{\"type\":\"string\",\"format\":\"ipv4\"}},\"$"
                                       "defs\":{\"x\":{\"type\":\"array\",\"items\":{\"minimum\":2}}}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_and_values),
        cmocka_unit_test(strings),
        cmocka_unit_test(formats),
        cmocka_unit_test(numbers),
        cmocka_unit_test(arrays),
        cmocka_unit_test(objects),
        cmocka_unit_test(combinations),
        cmocka_unit_test(references),
        cmocka_unit_test(strict_and_blanks),
        cmocka_unit_test(plainly),
        cmocka_unit_test(bombs),
        cmocka_unit_test(many_members),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
