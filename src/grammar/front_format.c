/* The formats of strings that are enforced, as patterns.
 *
 * Where a format is not quite regular, or not worth what it would cost, the pattern is on the strict side:
 *   date, date-time   exact from year 1 to 9999 (months, leap years); year 0000, which few calendars have, is left out
 *   time              a leap second (:60) only where it is 23:59 UTC and the offset is a whole or half hour; at most 15
 *                     digits of a second's fraction, 3 of a leap second's
 *   hostname, email   labels of an internationalised name (xn--) are left out, they would have to be decoded; an address
 *                     has 254 characters at most, its name before the @ with them
 * uri, uri-reference, uuid, ipv4, ipv6, duration and json-pointer are exact (RFC 3986, 9562, 2673, 4291, 3339,
 * 6901). SPDX-License-Identifier: MIT */
#include "grammar/front_int.h"

#include <stdio.h>

#define DAY_ANY \
    "(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))"
#define YEAR "(?:\\d{3}[1-9]|\\d\\d[1-9]0|\\d[1-9]00|[1-9]000)"
#define LEAP_YEAR "(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
#define DATE "(?:" YEAR "-" DAY_ANY "|" LEAP_YEAR "-02-29)"

#define BYTE "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)"
#define IPV4 "(?:" BYTE "\\.){3}" BYTE
#define H16 "[0-9a-fA-F]{1,4}"
#define LS32 "(?:" H16 ":" H16 "|" IPV4 ")"
#define IPV6                                                                                                         \
    "(?:(?:" H16 ":){6}" LS32 "|::(?:" H16 ":){5}" LS32 "|(?:" H16 ")?::(?:" H16 ":){4}" LS32 "|(?:(?:" H16          \
    ":){0,1}" H16 ")?::(?:" H16 ":){3}" LS32 "|(?:(?:" H16 ":){0,2}" H16 ")?::(?:" H16 ":){2}" LS32 "|(?:(?:" H16    \
    ":){0,3}" H16 ")?::" H16 ":" LS32 "|(?:(?:" H16 ":){0,4}" H16 ")?::" LS32 "|(?:(?:" H16 ":){0,5}" H16 ")?::" H16 \
    "|(?:(?:" H16 ":){0,6}" H16 ")?::)"

/* A label that does not begin with xn--. Its first two characters and the two behind them are looked at apart. */
#define LD "[A-Za-z0-9]"
#define LDH "[A-Za-z0-9-]"
#define LABEL_REST(n) "(?:" LDH "{0," n "}" LD ")?"
#define LABEL                                                                        \
    "(?:[A-WYZa-wyz0-9]" LABEL_REST("61") "|[xX](?:|[A-MO-Za-mo-z0-9]" LABEL_REST("60") "|-" LDH "{0,60}" LD \
                         "|[nN](?:|" LD LABEL_REST("59") "|-" LD LABEL_REST("58") ")))"
#define HOSTNAME "(?:" LABEL "\\.)*" LABEL
#define MAX_HOSTNAME 253
#define MAX_EMAIL 254

#define ATEXT "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
#define EMAIL                                                                                                       \
    "(?:" ATEXT "(?:\\." ATEXT ")*|\"(?:[ !#-\\[\\]-~]|\\\\[ -~])*\")@(?:" HOSTNAME "|\\[" IPV4 "\\]|\\[IPv6:" IPV6 \
    "\\])"

#define UNRESERVED_SUB "A-Za-z0-9._~!$&'()*+,;=\\-"
#define PCT "%[0-9A-Fa-f]{2}"
#define PCHAR "(?:[" UNRESERVED_SUB ":@]|" PCT ")"
#define QUERY "(?:[" UNRESERVED_SUB ":@/?]|" PCT ")*"
#define AUTHORITY                                                                                     \
    "//(?:(?:[" UNRESERVED_SUB ":]|" PCT ")*@)?(?:\\[(?:" IPV6 "|[vV][0-9A-Fa-f]+\\.[" UNRESERVED_SUB \
    ":]+)\\]|(?:[" UNRESERVED_SUB "]|" PCT ")*)(?::\\d*)?(?:/" PCHAR "*)*"
#define ABSOLUTE_PATH "/(?:" PCHAR "+(?:/" PCHAR "*)*)?"
#define URI_TAIL "(?:\\?" QUERY ")?(?:#" QUERY ")?"
#define URI_HEAD "[A-Za-z][A-Za-z0-9+.-]*:(?:" AUTHORITY "|" ABSOLUTE_PATH "|" PCHAR "+(?:/" PCHAR "*)*|)"
#define URI URI_HEAD URI_TAIL
/* The first segment of a path that is relative has no colon. */
#define URI_REFERENCE \
    "(?:" URI_HEAD "|" AUTHORITY "|" ABSOLUTE_PATH "|(?:[" UNRESERVED_SUB "@]|" PCT ")+(?:/" PCHAR "*)*|)" URI_TAIL

#define POINTER "(?:/(?:[^/~]|~[01])*)*"
#define MINUTES "\\d+M(?:\\d+S)?"
#define CLOCK "T(?:\\d+H(?:" MINUTES ")?|" MINUTES "|\\d+S)"
#define MONTHS "\\d+M(?:\\d+D)?"
#define DURATION "P(?:(?:\\d+Y(?:" MONTHS ")?|" MONTHS "|\\d+D)(?:" CLOCK ")?|" CLOCK "|\\d+W)"

#define UUID "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"

#define FRACTION "(?:\\.\\d{1,15})?"
#define LEAP_FRACTION "(?:\\.\\d{1,3})?"
#define TIME "(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d" FRACTION "(?:[Zz]|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)"

static const struct {
    const char *name, *pattern;
    bool has_time; /* leap seconds come beside the pattern, behind `before` */
    const char *before;
    uint32_t max_chars; /* beside the pattern, so that they are counted; 0: any number */
} formats[QN_FRONT_N_FORMATS] = {
    {"date", DATE, false, "", 0},
    {"time", TIME, true, "", 0},
    {"date-time", DATE "[Tt]" TIME, true, DATE "[Tt]", 0},
    {"email", EMAIL, false, "", MAX_EMAIL},
    {"uuid", UUID, false, "", 0},
    {"ipv4", IPV4, false, "", 0},
    {"ipv6", IPV6, false, "", 0},
    {"uri", URI, false, "", 0},
    {"hostname", HOSTNAME, false, "", MAX_HOSTNAME},
    {"uri-reference", URI_REFERENCE, false, "", 0},
    {"json-pointer", POINTER, false, "", 0},
    {"duration", DURATION, false, "", 0},
    {"password", "[^]*", false, "", 0}, /* says how to show it */
};

int qn_front_format_index(qn_str name)
{
    for (int i = 0; i < QN_FRONT_N_FORMATS; i++) {
        if (qn_str_is(name, formats[i].name)) {
            return i;
        }
    }
    return -1;
}

/* The times at which 23:59:60 UTC may be written down, one by one. */
static void leap_seconds(qn_buf *out)
{
    qn_buf_add_str(out, "(?:23:59:60" LEAP_FRACTION "[Zz]");
    for (unsigned h = 0; h < 24; h++) {
        unsigned behind = (23 + 24 - h) % 24; /* the hour there, offset -h */
        unsigned ahead = (23 + h) % 24;
        qn_buf_printf(out, "|%02u:59:60" LEAP_FRACTION "-%02u:00|%02u:29:60" LEAP_FRACTION "-%02u:30", behind, h,
                      behind, h);
        qn_buf_printf(out, "|%02u:59:60" LEAP_FRACTION "\\+%02u:00|%02u:29:60" LEAP_FRACTION "\\+%02u:30", ahead, h,
                      (ahead + 1) % 24, h);
    }
    qn_buf_add_str(out, ")");
}

/* The pattern alone, without the limit of the whole text's length. */
static qn_status make_form(qn_gx_builder *b, qn_str name, bool as_json, qn_gx *out, qn_error *err)
{
    int i = qn_front_format_index(name);
    if (i < 0) {
        return qn_fail(err, QN_ENOTFOUND, "no format is called that");
    }
    qn_buf pattern;
    qn_buf_init(&pattern, b->budget, "grammar", 60000);
    qn_buf_add_str(&pattern, formats[i].pattern);
    if (formats[i].has_time) {
        qn_buf_add_str(&pattern, "|");
        qn_buf_add_str(&pattern, formats[i].before);
        leap_seconds(&pattern);
    }
    qn_status status = pattern.status;
    if (status == QN_OK) {
        status = qn_front_pattern(b, qn_buf_view(&pattern), false, as_json, out, err);
    } else {
        status = qn_fail(err, status, "no memory for a format");
    }
    qn_buf_free(&pattern);
    return status;
}

qn_status qn_front_format(qn_gx_builder *b, qn_str name, bool as_json, qn_gx *out, qn_error *err)
{
    QN_TRY(make_form(b, name, as_json, out, err));
    uint32_t max = formats[qn_front_format_index(name)].max_chars;
    if (max != 0) {
        *out = qn_gx_and(b, *out, qn_gx_repeat(b, qn_front_any(b, as_json), 0, max));
    }
    return qn_front_status(b, err);
}
