/* What the front end of schemas knows of formats beside those of front_format.c: names that OpenAPI and model libraries
 * use, for strings and for numbers; and which formats are written more narrowly than they are defined.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_schema_int.h"

#define BASE64(c) "^(?:[" c "]{4})*(?:[" c "]{2}==|[" c "]{3}=)?$"
#define HEX "[0-9a-fA-F]"
#define UUID(version) "^" HEX "{8}-" HEX "{4}-" version HEX "{3}-[89abAB]" HEX "{3}-" HEX "{12}$"
#define ANY "" /* found in any text: such a name says how to show it, or what to do with it */

const char *qn_sx_loose_format(qn_str name)
{
    static const struct {
        const char *name, *pattern;
    } table[] = {{"date", "^\\d{4}-\\d\\d-\\d\\d$"},
                 {"time", "^\\d\\d:\\d\\d:\\d\\d"},
                 {"date-time", "^\\d{4}-\\d\\d-\\d\\d[^]\\d\\d:\\d\\d:\\d\\d"},
                 {"hostname", "^[A-Za-z0-9.-]*$"},
                 {"email", "@"}};
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        if (qn_str_is(name, table[i].name)) {
            return table[i].pattern;
        }
    }
    return NULL;
}

const char *qn_sx_other_format(qn_str name)
{
    static const struct {
        const char *name, *pattern;
    } table[] = {{"binary", ANY},
                 {"path", ANY},
                 {"file-path", ANY},
                 {"directory-path", ANY},
                 {"textarea", ANY},
                 {"byte", BASE64("A-Za-z0-9+/")},
                 {"base64", BASE64("A-Za-z0-9+/")},
                 {"base64url", BASE64("A-Za-z0-9_\\-")},
                 {"uuid1", UUID("1")},
                 {"uuid3", UUID("3")},
                 {"uuid4", UUID("4")},
                 {"uuid5", UUID("5")}};
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        if (qn_str_is(name, table[i].name)) {
            return table[i].pattern;
        }
    }
    return NULL;
}

bool qn_sx_number_format(qn_str name, const char **low, const char **high)
{
    static const struct {
        const char *name, *low, *high;
    } table[] = {{"int8", "-128", "127"},
                 {"uint8", "0", "255"},
                 {"int16", "-32768", "32767"},
                 {"uint16", "0", "65535"},
                 {"int32", "-2147483648", "2147483647"},
                 {"uint32", "0", "4294967295"},
                 {"int64", "-9223372036854775808", "9223372036854775807"},
                 {"uint64", "0", "18446744073709551615"},
                 {"float", NULL, NULL},
                 {"double", NULL, NULL},
                 {"decimal", NULL, NULL}};
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        if (qn_str_is(name, table[i].name)) {
            *low = table[i].low;
            *high = table[i].high;
            return true;
        }
    }
    return false;
}
