/* Loose values to JSON.
 * SPDX-License-Identifier: MIT */
#include "text/chat/literal.h"

#include "base/json_stream.h"
#include "text/chat/mark.h"

#include <stdio.h>

enum {
    ST_VALUE,       /* before a value */
    ST_FIRST_VALUE, /* ... or the end of an empty list */
    ST_KEY,         /* before a key, or the end of the members */
    ST_BARE_KEY,
    ST_SIGN, /* after a key in quotes */
    ST_WORD,
    ST_OPEN_QUOTE, /* inside the quote before a string */
    ST_STRING,
    ST_ESCAPE,
    ST_HEX,
    ST_AFTER, /* after a value in a container */
    ST_END,
};

void qn_literal_init(qn_literal *l, qn_str quote)
{
    l->state = ST_VALUE;
    l->depth = 0;
    l->is_key = l->members = l->comma = false;
    l->quote = quote.len <= QN_LITERAL_QUOTE ? quote : (qn_str){"", 0};
    l->n_quote = l->n_word = l->n_out = 0;
    l->high = 0;
}

void qn_literal_init_members(qn_literal *l, qn_str quote, char close)
{
    qn_literal_init(l, quote);
    l->closers[l->depth++] = close;
    l->members = true;
    l->state = ST_KEY;
    l->out[l->n_out++] = '{';
}

size_t qn_literal_escape(char c, char out[6])
{
    static const char plain[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
    const char *found = c != '\0' ? strchr(plain, c) : NULL;
    if (found != NULL) {
        out[0] = '\\';
        out[1] = names[found - plain];
        return 2;
    }
    if ((unsigned char)c < 0x20) {
        static const char digits[] = "0123456789abcdef";
        memcpy(out, "\\u00", 4);
        out[4] = digits[(unsigned char)c >> 4];
        out[5] = digits[c & 0xF];
        return 6;
    }
    out[0] = c;
    return 1;
}

static void put(qn_literal *l, const char *s)
{
    size_t n = strlen(s);
    memcpy(l->out + l->n_out, s, n);
    l->n_out += n;
}

static void put_escaped(qn_literal *l, char c)
{
    l->n_out += qn_literal_escape(c, l->out + l->n_out);
}

static void put_string(qn_literal *l, const char *s, size_t n)
{
    put(l, "\"");
    for (size_t i = 0; i < n; i++) {
        put_escaped(l, s[i]);
    }
    put(l, "\"");
}

static void after_value(qn_literal *l)
{
    l->state = l->depth == 0 ? ST_END : ST_AFTER;
}

static bool is_number(const char *s, size_t n)
{
    qn_json_stream stream;
    qn_json_stream_init(&stream);
    for (size_t i = 0; i < n; i++) {
        if (qn_json_stream_push(&stream, s[i]) == QN_JSON_BAD) {
            return false;
        }
    }
    return qn_json_stream_whole(&stream);
}

static void put_word(qn_literal *l)
{
    static const char *const words[][2] = {{"True", "true"}, {"False", "false"}, {"None", "null"},
                                           {"true", "true"}, {"false", "false"}, {"null", "null"}};
    qn_str word = {l->word, l->n_word};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (qn_str_is(word, words[i][0])) {
            put(l, words[i][1]);
            l->n_word = 0;
            return;
        }
    }
    if (is_number(word.data, word.len)) {
        memcpy(l->out + l->n_out, word.data, word.len);
        l->n_out += word.len;
    } else {
        put_string(l, word.data, word.len);
    }
    l->n_word = 0;
}

static bool opens_container(char c)
{
    return c == '[' || c == '(' || c == '{';
}

static qn_literal_step open_container(qn_literal *l, char c)
{
    if (l->depth == QN_LITERAL_DEPTH) {
        return QN_LITERAL_BAD;
    }
    l->closers[l->depth++] = c == '[' ? ']' : c == '(' ? ')' : '}';
    put(l, c == '{' ? "{" : "[");
    l->state = c == '{' ? ST_KEY : ST_FIRST_VALUE;
    return QN_LITERAL_MORE;
}

static bool in_members(const qn_literal *l)
{
    return l->closers[l->depth - 1] == '}' || (l->depth == 1 && l->members);
}

static qn_literal_step close_container(qn_literal *l, char c)
{
    if (l->depth == 0 || l->closers[l->depth - 1] != c) {
        return QN_LITERAL_BAD;
    }
    put(l, in_members(l) ? "}" : "]");
    l->depth--;
    l->comma = false;
    after_value(l);
    return l->state == ST_END ? QN_LITERAL_DONE : QN_LITERAL_MORE;
}

static bool begins_string(qn_literal *l, char c)
{
    bool mark = l->quote.len > 0 && c == l->quote.data[0];
    if (!mark && c != '\'' && c != '"') {
        return false;
    }
    l->delimiter = mark ? '\0' : c;
    l->n_quote = mark ? 1 : 0;
    l->state = mark && l->quote.len > 1 ? ST_OPEN_QUOTE : ST_STRING;
    if (l->state == ST_STRING) {
        l->n_quote = 0;
        put(l, "\"");
    }
    return true;
}

static qn_literal_step end_string(qn_literal *l)
{
    put(l, "\"");
    if (l->is_key) {
        l->state = ST_SIGN;
        return QN_LITERAL_MORE;
    }
    after_value(l);
    return l->state == ST_END ? QN_LITERAL_DONE : QN_LITERAL_MORE;
}

/* A byte of a string that ends with the quote mark: what may be the mark is kept until it is certain. */
static qn_literal_step in_quoted(qn_literal *l, char c)
{
    while (l->n_quote > 0 && c != l->quote.data[l->n_quote]) {
        put_escaped(l, l->quote.data[0]);
        size_t n = l->n_quote - 1;
        while (n > 0 && memcmp(l->quote.data, l->quote.data + l->n_quote - n, n) != 0) {
            put_escaped(l, l->quote.data[l->n_quote - n]);
            n--;
        }
        l->n_quote = n;
    }
    if (c != l->quote.data[l->n_quote]) {
        put_escaped(l, c);
        return QN_LITERAL_MORE;
    }
    l->n_quote++;
    if (l->n_quote < l->quote.len) {
        return QN_LITERAL_MORE;
    }
    l->n_quote = 0;
    return end_string(l);
}

/* The first half of a surrogate pair that no second half follows. */
static void put_half(qn_literal *l)
{
    put(l, l->high != 0 ? "\\ufffd" : "");
    l->high = 0;
}

/* What an escape says. Pairs of surrogates are one character here, as in JSON; in Python they are none. */
static void put_code(qn_literal *l)
{
    bool low = l->code >= 0xDC00 && l->code < 0xE000;
    if (low && l->high != 0) {
        l->code = 0x10000 + ((l->high - 0xD800) << 10) + (l->code - 0xDC00);
        l->high = 0;
    }
    put_half(l);
    if (l->code >= 0xD800 && l->code < 0xDC00) {
        l->high = l->code; /* waits for the other half */
    } else if (l->code >= 0xDC00 && l->code < 0xE000) {
        put(l, "\\ufffd");
    } else if (l->code < 0x10000) {
        l->n_out += (size_t)snprintf(l->out + l->n_out, 8, "\\u%04x", l->code);
    } else if (l->code < 0x110000) {
        uint32_t v = l->code - 0x10000;
        l->n_out += (size_t)snprintf(l->out + l->n_out, 16, "\\u%04x\\u%04x", 0xD800 | v >> 10, 0xDC00 | (v & 0x3FF));
    } else {
        put(l, "\\ufffd");
    }
}

static qn_literal_step in_escape(qn_literal *l, char c)
{
    static const char names[] = "nrtbfav\\'\"/", values[] = "\n\r\t\b\f\a\v\\'\"/";
    if (l->state == ST_HEX) {
        int digit = c >= '0' && c <= '9'                     ? c - '0'
                    : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                             : -1;
        if (digit < 0) {
            return QN_LITERAL_BAD;
        }
        l->code = l->code << 4 | (uint32_t)digit;
        l->n_hex--;
        if (l->n_hex == 0) {
            put_code(l);
            l->state = ST_STRING;
        }
        return QN_LITERAL_MORE;
    }
    l->state = ST_STRING;
    if (c != 'u' && c != 'U') {
        put_half(l);
    }
    if (c == 'x' || c == 'u' || c == 'U') {
        l->state = ST_HEX;
        l->n_hex = c == 'x' ? 2 : c == 'u' ? 4 : 8;
        l->code = 0;
        return QN_LITERAL_MORE;
    }
    const char *found = c != '\0' ? strchr(names, c) : NULL;
    if (found == NULL) {
        put_escaped(l, '\\'); /* Python keeps a backslash that means nothing */
    }
    put_escaped(l, found != NULL ? values[found - names] : c);
    return QN_LITERAL_MORE;
}

static qn_literal_step in_string(qn_literal *l, char c)
{
    if (l->delimiter == '\0') {
        return in_quoted(l, c);
    }
    if (c == '\\') {
        l->state = ST_ESCAPE;
        return QN_LITERAL_MORE;
    }
    put_half(l);
    if (c == l->delimiter) {
        return end_string(l);
    }
    put_escaped(l, c);
    return QN_LITERAL_MORE;
}

static qn_literal_step in_key(qn_literal *l, char c)
{
    if (c == ':' || c == '=') {
        while (l->n_word > 0 && qn_is_blank(l->word[l->n_word - 1])) {
            l->n_word--;
        }
        if (l->state == ST_BARE_KEY) {
            put_string(l, l->word, l->n_word);
        }
        put(l, ": ");
        l->n_word = 0;
        l->is_key = false;
        l->state = ST_VALUE;
        return QN_LITERAL_MORE;
    }
    if (l->state == ST_SIGN) {
        return qn_is_blank(c) ? QN_LITERAL_MORE : QN_LITERAL_BAD;
    }
    if (c == '\0' || strchr(",{}[]()'\"\n", c) != NULL || l->n_word == sizeof(l->word)) {
        return QN_LITERAL_BAD;
    }
    l->word[l->n_word++] = c;
    return QN_LITERAL_MORE;
}

/* Before a value, or before a key. */
static qn_literal_step before(qn_literal *l, char c)
{
    bool key = l->state == ST_KEY;
    if (qn_is_blank(c)) {
        return QN_LITERAL_MORE;
    }
    if ((key || l->state == ST_FIRST_VALUE) && c == l->closers[l->depth - 1]) {
        return close_container(l, c);
    }
    if (c == '\0' || strchr(",:=)]}", c) != NULL || (key && opens_container(c))) {
        return QN_LITERAL_BAD;
    }
    l->is_key = key;
    put(l, l->comma ? ", " : "");
    l->comma = false;
    if (begins_string(l, c)) {
        return QN_LITERAL_MORE;
    }
    if (!key && opens_container(c)) {
        return open_container(l, c);
    }
    l->word[0] = c;
    l->n_word = 1;
    l->state = key ? ST_BARE_KEY : ST_WORD;
    return QN_LITERAL_MORE;
}

static qn_literal_step after(qn_literal *l, char c)
{
    if (qn_is_blank(c)) {
        return QN_LITERAL_MORE;
    }
    if (c == ',') {
        l->comma = true;
        l->state = in_members(l) ? ST_KEY : ST_FIRST_VALUE;
        return QN_LITERAL_MORE;
    }
    return close_container(l, c);
}

qn_literal_step qn_literal_push(qn_literal *l, char c)
{
    l->n_out = 0;
    switch (l->state) {
    case ST_VALUE:
    case ST_FIRST_VALUE:
    case ST_KEY:
        return before(l, c);
    case ST_BARE_KEY:
    case ST_SIGN:
        return in_key(l, c);
    case ST_WORD:
        if (!qn_is_blank(c) && strchr(",:=)]}([{'\"", c) == NULL) {
            if (l->n_word == sizeof(l->word)) {
                return QN_LITERAL_BAD;
            }
            l->word[l->n_word++] = c;
            return QN_LITERAL_MORE;
        }
        if (l->depth == 0) {
            return QN_LITERAL_BAD;
        }
        put_word(l);
        after_value(l);
        return after(l, c);
    case ST_OPEN_QUOTE:
        if (c != l->quote.data[l->n_quote]) {
            return QN_LITERAL_BAD;
        }
        if (++l->n_quote == l->quote.len) {
            l->n_quote = 0;
            l->state = ST_STRING;
            put(l, "\"");
        }
        return QN_LITERAL_MORE;
    case ST_STRING:
        return in_string(l, c);
    case ST_ESCAPE:
    case ST_HEX:
        return in_escape(l, c);
    case ST_AFTER:
        return after(l, c);
    default:
        return QN_LITERAL_BAD;
    }
}

bool qn_literal_pending(const qn_literal *l)
{
    return l->state == ST_WORD || l->state == ST_BARE_KEY || l->state == ST_OPEN_QUOTE || l->state == ST_ESCAPE ||
           l->state == ST_HEX || l->comma || l->n_quote > 0 || l->high != 0;
}

bool qn_literal_finish(qn_literal *l)
{
    l->n_out = 0;
    if (l->state == ST_WORD && l->depth == 0) {
        put_word(l);
        l->state = ST_END;
    }
    return l->state == ST_END;
}
