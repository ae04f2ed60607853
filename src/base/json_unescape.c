/* The meaning of a JSON string's bytes, one at a time.
 * SPDX-License-Identifier: MIT */
#include "base/json_stream.h"

enum { IN_TEXT, ESCAPED, HEX1, HEX2, HEX3, HEX4 };

static size_t put_utf8(uint32_t cp, char *out)
{
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    size_t n = cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (cp & 0x3F));
        cp >>= 6;
    }
    out[0] = (char)((0xF0 << (4 - n) & 0xFF) | cp);
    return n;
}

/* A first half whose second half does not come. */
static size_t put_lone(qn_json_unescape *u, char *out)
{
    size_t n = u->high != 0 ? put_utf8(0xFFFD, out) : 0;
    u->high = 0;
    return n;
}

static size_t put_unit(qn_json_unescape *u, char *out)
{
    uint16_t unit = u->unit;
    if (unit >= 0xDC00 && unit < 0xE000 && u->high != 0) {
        uint32_t cp = 0x10000 + ((uint32_t)(u->high - 0xD800) << 10 | (uint32_t)(unit - 0xDC00));
        u->high = 0;
        return put_utf8(cp, out);
    }
    size_t n = put_lone(u, out);
    if (unit >= 0xD800 && unit < 0xDC00) {
        u->high = unit;
        return n;
    }
    return n + put_utf8(unit >= 0xDC00 && unit < 0xE000 ? 0xFFFD : unit, out + n);
}

size_t qn_json_unescape_push(qn_json_unescape *u, char c, char out[6])
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    size_t n = 0;
    if (u->state == IN_TEXT) {
        if (c == '\\') {
            u->state = ESCAPED;
            return 0;
        }
        n = put_lone(u, out);
        out[n] = c;
        return n + 1;
    }
    if (u->state == ESCAPED) {
        if (c == 'u') {
            u->state = HEX1;
            u->unit = 0;
            return 0;
        }
        const char *found = c != '\0' ? strchr(names, c) : NULL;
        n = put_lone(u, out);
        out[n] = found != NULL ? values[found - names] : c;
        u->state = IN_TEXT;
        return n + 1;
    }
    unsigned digit = c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a') + 10;
    u->unit = (uint16_t)(u->unit << 4 | (digit & 0xF));
    if (u->state < HEX4) {
        u->state++;
        return 0;
    }
    u->state = IN_TEXT;
    return put_unit(u, out);
}
