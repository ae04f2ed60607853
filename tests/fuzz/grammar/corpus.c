/* Writes the seeds of this layer's fuzzers into a folder: a few grammars, patterns and schemas, each with every kind of
 * thing that the front ends read.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const seeds[] = {
    "root ::= \"a\\n\\x41\" | b* # c\nb ::= [^a-c\\]]{1,3} (\"x\" root? | .)+ <tool>\n",
    "root ::= ws \"{\" ws (pair (\",\" ws pair)*)? \"}\"\npair ::= \"\\\"\" [a-z]+ \"\\\":\" ws [0-9]+\nws ::= [ "
    "\\t\\n]{0,4}\n",
    "1^a(b|c)*?[\\d\\w-]{2,3}\\.\\u0041\\p{Lu}$",
    "3(?:^|,)(?<n>x+)\\/[^\"\\\\]\\xff(?=a)",
    "0{\"type\":\"object\",\"properties\":{\"a\":{\"enum\":[1,\"\xC3\xA9\",null]},\"b\":{\"$ref\":\"#/$defs/"
    "x\"}},\"required\":[\"b\"],"
    "\"additionalProperties\":{\"type\":\"integer\",\"minimum\":-3,\"exclusiveMaximum\":1.5},\"minProperties\":1,"
    "\"maxProperties\":3,"
    "\"$defs\":{\"x\":{\"type\":\"array\",\"prefixItems\":[true],\"items\":{\"$ref\":\"#\"},\"maxItems\":3}}}",
    "2{\"anyOf\":[{\"type\":\"string\",\"pattern\":\"^a\",\"minLength\":2,\"maxLength\":4,\"format\":\"date\"},{"
    "\"const\":{\"k\":[1.50]}}],"
    "\"not\":{\"type\":\"null\"},\"oneOf\":[{\"multipleOf\":3},{\"required\":[\"q\"]}],\"if\":{\"maxLength\":1},"
    "\"then\":false}",
    "0{\"$schema\":\"http://json-schema.org/draft-07/"
    "schema#\",\"items\":[{\"$id\":\"#x\"},{\"$ref\":\"#x\"}],\"additionalItems\":false,"
    "\"uniqueItems\":true,\"patternProperties\":{\"^x\":{}},\"propertyNames\":{\"maxLength\":3},\"dependencies\":{"
    "\"a\":[\"b\"]},\"contains\":{\"const\":1}}",
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof(seeds) / sizeof(*seeds); i++) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/front_%zu", argv[1], i);
        FILE *f = fopen(path, "wb");
        if (f == NULL || fwrite(seeds[i], 1, strlen(seeds[i]), f) != strlen(seeds[i]) || fclose(f) != 0) {
            perror(path);
            return 1;
        }
    }
    return argc == 2 ? 0 : 2;
}
