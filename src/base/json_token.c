/* The tokens of JSON that have a shape of their own: strings and numbers.
 * SPDX-License-Identifier: MIT */
#include "base/json_int.h"
#include "base/utf8_scan.h"

#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* ---- strings ---- */

static int hex_digit(char c)
{
    return is_digit(c) ? c - '0' : (c >= 'a' && c <= 'f') ? c - 'a' + 10 : (c >= 'A' && c <= 'F') ? c - 'A' + 10 : -1;
}

/* The four digits at s. The text ends with NUL, which is no digit. -1: not four digits. */
static int32_t read_hex4(const char *s)
{
    int32_t v = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(s[i]);
        if (digit < 0) {
            return -1;
        }
        v = v << 4 | digit;
    }
    return v;
}

/* "\uXXXX" at *from, perhaps twice: appends the character at *to. What it means is never longer than its text. */
static const char *scan_unicode_escape(char **from, char **to)
{
    char *s = *from;
    int32_t unit = read_hex4(s + 2);
    if (unit < 0) {
        return "\\u needs four hexadecimal digits";
    }
    uint32_t cp = (uint32_t)unit;
    s += 6;
    if (cp >= 0xDC00 && cp < 0xE000) {
        return "the second half of a surrogate pair stands alone";
    }
    if (cp >= 0xD800 && cp < 0xDC00) {
        int32_t low = s[0] == '\\' && s[1] == 'u' ? read_hex4(s + 2) : -1;
        if (low < 0xDC00 || low > 0xDFFF) {
            return "the first half of a surrogate pair stands alone";
        }
        cp = 0x10000 + ((cp - 0xD800) << 10 | ((uint32_t)low - 0xDC00));
        s += 6;
    }
    *from = s;
    *to += qn_utf8_put((uint32_t)cp, *to);
    return NULL;
}

/* The escape at *from, which is a backslash. */
static const char *scan_escape(char **from, char **to)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    char name = (*from)[1];
    if (name == 'u') {
        return scan_unicode_escape(from, to);
    }
    const char *found = name != '\0' ? strchr(names, name) : NULL;
    if (found == NULL) {
        return "an escape that JSON does not have";
    }
    *(*to)++ = values[found - names];
    *from += 2;
    return NULL;
}

const char *qn_json_scan_string(char **at, const char *end, qn_str *out)
{
    char *const start = *at + 1;
    char *from = start, *to = start;
    const char *why = NULL;
    while (*from != '"' && why == NULL) {
        size_t len = qn_utf8_scan(from, (size_t)(end - from) + 1);
        if ((unsigned char)*from < 0x20) {
            why = from == end ? "a string has no end" : "a control character inside a string";
        } else if (*from == '\\') {
            why = scan_escape(&from, &to);
        } else if (len == 0) {
            why = "invalid UTF-8 inside a string";
        } else {
            if (to != from) {
                memmove(to, from, len);
            }
            to += len;
            from += len;
        }
    }
    *at = why == NULL ? from + 1 : from;
    *out = (qn_str){start, (size_t)(to - start)};
    return why;
}

/* ---- numbers ---- */

static char *skip_digits(char *s)
{
    while (is_digit(*s)) {
        s++;
    }
    return s;
}

const char *qn_json_scan_number(char **at)
{
    char *digits = *at + (**at == '-');
    char *s = *digits == '0' ? digits + 1 : skip_digits(digits);
    bool good = s > digits;
    if (good && *s == '.') {
        digits = s + 1;
        s = skip_digits(digits);
        good = s > digits;
    }
    if (good && (*s == 'e' || *s == 'E')) {
        digits = s + 1 + (s[1] == '+' || s[1] == '-');
        s = skip_digits(digits);
        good = s > digits;
    }
    *at = s;
    return good ? NULL : "a digit is missing";
}
