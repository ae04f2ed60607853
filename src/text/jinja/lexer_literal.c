/* Literals of templates: numbers and the escapes of strings, as Python reads them.
 * SPDX-License-Identifier: MIT */
#include "base/os.h"
#include "base/unicode.h"
#include "text/jinja/node.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_DIGITS 4300 /* Python's limit for integers read from text; bounds the conversion, which is quadratic */

static bool is_digit(char c, unsigned base)
{
    if (c >= '0' && c <= '9') {
        return (unsigned)(c - '0') < base;
    }
    return base == 16 && (c | 32) >= 'a' && (c | 32) <= 'f';
}

static char char_at(const qn_lexer *l, size_t pos)
{
    return pos < l->n ? l->source[pos] : '\0';
}

/* The end of digits at pos with single underscores between them; pos: there are none. */
static size_t skip_digits(const qn_lexer *l, size_t pos)
{
    size_t i = pos;
    while (is_digit(char_at(l, i), 10)) {
        i++;
        if (char_at(l, i) == '_' && is_digit(char_at(l, i + 1), 10)) {
            i++;
        }
    }
    return i;
}

/* The end of a float at the current place, or 0. */
static size_t float_end(const qn_lexer *l)
{
    if (l->pos > 0 && l->source[l->pos - 1] == '.') {
        return 0; /* "a.0.1" are two subscripts */
    }
    size_t whole = skip_digits(l, l->pos), end = whole;
    bool is = false;
    if (char_at(l, end) == '.' && is_digit(char_at(l, end + 1), 10)) {
        end = skip_digits(l, end + 1);
        is = true;
    }
    if ((char_at(l, end) | 32) == 'e') {
        size_t digits = end + 1 + (char_at(l, end + 1) == '+' || char_at(l, end + 1) == '-');
        if (is_digit(char_at(l, digits), 10)) {
            end = skip_digits(l, digits);
            is = true;
        }
    }
    return is ? end : 0;
}

/* Digits of any base to decimal text: digit by digit into groups of nine. */
static qn_status big_decimal(qn_lexer *l, qn_str digits, unsigned base, qn_value *out)
{
    uint32_t *groups = qn_tree_alloc(l->tree, (digits.len / 7 + 2) * sizeof(*groups));
    char *text = qn_tree_alloc(l->tree, digits.len * 2 + 16);
    qn_vstr *s = qn_tree_alloc(l->tree, sizeof(*s));
    if (groups == NULL || text == NULL || s == NULL) {
        return l->tree->err->code;
    }
    size_t n = 1;
    for (size_t i = 0; i < digits.len; i++) {
        char c = digits.data[i];
        if (c == '_') {
            continue;
        }
        uint64_t carry = c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 32) - 'a') + 10;
        for (size_t g = 0; g < n; g++) {
            carry += (uint64_t)groups[g] * base;
            groups[g] = (uint32_t)(carry % 1000000000u);
            carry /= 1000000000u;
        }
        if (carry > 0) {
            groups[n++] = (uint32_t)carry;
        }
    }
    size_t len = (size_t)snprintf(text, 12, "%u", groups[n - 1]);
    for (size_t g = n - 1; g-- > 0;) {
        len += (size_t)snprintf(text + len, 12, "%09u", groups[g]);
    }
    *s = (qn_vstr){.bytes = text, .n_bytes = (uint32_t)len, .n_chars = (uint32_t)len};
    *out = (qn_value){.kind = QN_V_BIGINT, .u.s = s};
    return QN_OK;
}

static qn_status lex_integer(qn_lexer *l, qn_tok *out, size_t *len)
{
    char prefix = (char)(char_at(l, l->pos + 1) | 32);
    unsigned base = prefix == 'x' ? 16 : prefix == 'o' ? 8 : prefix == 'b' ? 2 : 10;
    size_t start = l->pos, i;
    if (char_at(l, start) != '0') {
        base = 10;
    }
    if (base != 10) {
        size_t first = start + 2 + (char_at(l, start + 2) == '_');
        if (is_digit(char_at(l, first), base)) {
            start = first;
        } else {
            base = 10;
        }
    }
    bool zeros = base == 10 && char_at(l, start) == '0'; /* "007" is a zero and then 7 */
    uint64_t v = 0;
    bool fits = true;
    for (i = start;; i++) {
        char c = char_at(l, i);
        if (c == '_' && is_digit(char_at(l, i + 1), zeros ? 1 : base)) {
            continue;
        }
        if (!is_digit(c, zeros ? 1 : base)) {
            break;
        }
        unsigned digit = c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 32) - 'a') + 10;
        fits = fits && !__builtin_mul_overflow(v, base, &v) && !__builtin_add_overflow(v, digit, &v) && v <= INT64_MAX;
    }
    *len = i - l->pos;
    out->kind = QN_T_INT;
    if (fits) {
        out->value = qn_vint((int64_t)v);
        return QN_OK;
    }
    if (i - start > MAX_DIGITS) {
        return qn_tree_fail(l->tree, l->line, "an integer of more than %d digits", MAX_DIGITS);
    }
    return big_decimal(l, (qn_str){l->source + start, i - start}, base, &out->value);
}

qn_status qn_lex_number(qn_lexer *l, qn_tok *out, size_t *len)
{
    size_t end = float_end(l);
    if (end == 0) {
        return lex_integer(l, out, len);
    }
    char *text = qn_tree_alloc(l->tree, end - l->pos + 1);
    if (text == NULL) {
        return l->tree->err->code;
    }
    size_t n = 0;
    for (size_t i = l->pos; i < end; i++) {
        if (l->source[i] != '_') {
            text[n++] = l->source[i];
        }
    }
    *len = end - l->pos;
    out->kind = QN_T_FLOAT;
    out->value = qn_vfloat(qn_os_parse_f64(text)); /* zeroed memory ends it */
    return QN_OK;
}

/* The escapes of two, four and eight hexadecimal digits: raw.data[*i] is the letter. Writes the character. */
static qn_status unescape_hex(qn_lexer *l, qn_str raw, size_t *i, char *to, size_t *n)
{
    char kind = raw.data[*i];
    unsigned n_digits = kind == 'x' ? 2 : kind == 'u' ? 4 : 8;
    uint32_t cp = 0;
    for (unsigned d = 0; d < n_digits; d++) {
        char c = *i + 1 < raw.len ? raw.data[*i + 1] : '\0';
        if (!is_digit(c, 16)) {
            return qn_tree_fail(l->tree, l->line, "truncated \\%c%.*s escape", kind, (int)n_digits, "XXXXXXXX");
        }
        cp = cp << 4 | (c <= '9' ? (uint32_t)(c - '0') : (uint32_t)((c | 32) - 'a') + 10);
        ++*i;
    }
    if (cp > 0x10FFFF || (cp >= 0xD800 && cp < 0xE000)) {
        return qn_tree_fail(l->tree, l->line, "illegal Unicode character");
    }
    *n += qn_utf8_put(cp, to + *n);
    return QN_OK;
}

qn_status qn_lex_unescape(qn_lexer *l, qn_str raw, qn_str *out)
{
    if (memchr(raw.data, '\\', raw.len) == NULL) {
        *out = raw;
        return QN_OK;
    }
    /* A backslash before a character of two bytes gives four more. */
    char *to = qn_tree_alloc(l->tree, raw.len * 4 + 16);
    if (to == NULL) {
        return l->tree->err->code;
    }
    static const char plain[] = "\\\\\'\'\"\"a\ab\bf\fn\nr\rt\tv\v";
    size_t n = 0;
    for (size_t i = 0; i < raw.len; i++) {
        if (raw.data[i] != '\\') {
            to[n++] = raw.data[i];
            continue;
        }
        char c = raw.data[++i]; /* the lexer lets no string end with a lone backslash */
        const char *p = plain;
        while (*p != '\0' && *p != c) {
            p += 2;
        }
        if (*p != '\0') {
            to[n++] = p[1];
        } else if (is_digit(c, 8)) {
            uint32_t cp = 0;
            for (unsigned d = 0; d < 3 && i < raw.len && is_digit(raw.data[i], 8); d++, i++) {
                cp = cp << 3 | (uint32_t)(raw.data[i] - '0');
            }
            i--;
            n += qn_utf8_put(cp, to + n);
        } else if (c == 'x' || c == 'u' || c == 'U') {
            QN_TRY(unescape_hex(l, raw, &i, to, &n));
        } else if (c == 'N') {
            return qn_tree_fail(l->tree, l->line, "names of characters are not known here");
        } else if ((uint8_t)c >= 0x80) {
            /* Python meets the character escaped already, and the two backslashes make one. */
            uint32_t cp;
            i += qn_unicode_decode(raw.data + i, raw.len - i, &cp) - 1;
            n += (size_t)snprintf(to + n, 12, cp < 0x100 ? "\\x%02x" : cp < 0x10000 ? "\\u%04x" : "\\U%08x", cp);
        } else if (c != '\n') {
            to[n++] = '\\';
            to[n++] = c;
        }
    }
    *out = (qn_str){to, n};
    return QN_OK;
}
