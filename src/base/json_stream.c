/* The scanner for JSON that comes in pieces.
 * SPDX-License-Identifier: MIT */
#include "base/json_stream.h"

enum {
    ST_VALUE,       /* before a value */
    ST_FIRST_VALUE, /* after `[` */
    ST_FIRST_KEY,   /* after `{` */
    ST_KEY,         /* after a comma in an object */
    ST_COLON,
    ST_AFTER, /* after a value in a container */
    ST_IN_KEY,
    ST_IN_STRING,
    ST_WORD,
    /* In a number, after: */
    ST_MINUS,
    ST_ZERO,
    ST_DIGITS,
    ST_POINT,
    ST_FRACTION,
    ST_E,
    ST_E_SIGN,
    ST_E_DIGITS,
    ST_END, /* after the value */
};

#define ESCAPED 5 /* the byte after a backslash; less: hexadecimal digits to come */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

void qn_json_stream_init(qn_json_stream *s)
{
    *s = (qn_json_stream){.state = ST_VALUE};
}

static bool in_object(const qn_json_stream *s)
{
    uint32_t top = s->depth - 1;
    return s->depth > 0 && (s->objects[top / 64] >> (top % 64) & 1) != 0;
}

static void after_value(qn_json_stream *s)
{
    s->state = s->depth == 0 ? ST_END : ST_AFTER;
}

static qn_json_event open_container(qn_json_stream *s, bool object)
{
    if (s->depth == QN_JSON_MAX_DEPTH) {
        return QN_JSON_BAD;
    }
    uint64_t bit = (uint64_t)1 << (s->depth % 64);
    uint64_t *word = &s->objects[s->depth / 64];
    *word = object ? *word | bit : *word & ~bit;
    s->depth++;
    s->state = object ? ST_FIRST_KEY : ST_FIRST_VALUE;
    return object ? QN_JSON_OPEN_OBJECT : QN_JSON_OPEN_ARRAY;
}

static qn_json_event close_container(qn_json_stream *s, bool object)
{
    if (s->depth == 0 || in_object(s) != object) {
        return QN_JSON_BAD;
    }
    s->depth--;
    after_value(s);
    return object ? QN_JSON_CLOSE_OBJECT : QN_JSON_CLOSE_ARRAY;
}

static qn_json_event open_value(qn_json_stream *s, char c)
{
    switch (c) {
    case '{':
        return open_container(s, true);
    case '[':
        return open_container(s, false);
    case '"':
        s->state = ST_IN_STRING;
        return QN_JSON_OPEN_STRING;
    case '-':
        s->state = ST_MINUS;
        return QN_JSON_OPEN_SCALAR;
    case 't':
    case 'f':
    case 'n':
        s->word = c == 't' ? "true" : c == 'f' ? "false" : "null";
        s->i_word = 1;
        s->state = ST_WORD;
        return QN_JSON_OPEN_SCALAR;
    default:
        if (!is_digit(c)) {
            return QN_JSON_BAD;
        }
        s->state = c == '0' ? ST_ZERO : ST_DIGITS;
        return QN_JSON_OPEN_SCALAR;
    }
}

/* A digit of \uXXXX. False: half of a surrogate pair that stands alone. */
static bool surrogate_digit(qn_json_stream *s, char c)
{
    char lower = (char)(c | 0x20);
    if (s->escape == 4) {
        if (s->high && lower != 'd') {
            return false;
        }
        s->in_d = lower == 'd';
        s->half = false;
    } else if (s->escape == 3 && s->in_d) {
        bool low = lower >= 'c' && lower <= 'f';
        if (low != s->high) {
            return false;
        }
        s->half = !low && (c == '8' || c == '9' || lower == 'a' || lower == 'b');
    } else if (s->escape == 1) {
        s->high = s->half;
    }
    return true;
}

static qn_json_event in_string(qn_json_stream *s, char c)
{
    bool key = s->state == ST_IN_KEY;
    if ((unsigned char)c < 0x20) {
        return QN_JSON_BAD;
    }
    if (s->high && s->escape == 0 && c != '\\') {
        return QN_JSON_BAD;
    }
    if (s->escape == ESCAPED) {
        if ((s->high && c != 'u') || c == '\0' || strchr("\"\\/bfnrtu", c) == NULL) {
            return QN_JSON_BAD;
        }
        s->escape = c == 'u' ? 4 : 0;
    } else if (s->escape > 0) {
        if (!is_hex(c) || !surrogate_digit(s, c)) {
            return QN_JSON_BAD;
        }
        s->escape--;
    } else if (c == '\\') {
        s->escape = ESCAPED;
    } else if (c == '"') {
        if (key) {
            s->state = ST_COLON;
            return QN_JSON_CLOSE_KEY;
        }
        after_value(s);
        return QN_JSON_CLOSE_STRING;
    }
    return QN_JSON_IN_STRING;
}

/* The state after c in a number, or ST_END: c is not part of it. */
static unsigned number_state(unsigned state, char c)
{
    bool digit = is_digit(c), e = c == 'e' || c == 'E';
    switch (state) {
    case ST_MINUS:
        return digit ? (c == '0' ? ST_ZERO : ST_DIGITS) : ST_END;
    case ST_ZERO:
        return c == '.' ? ST_POINT : e ? ST_E : ST_END;
    case ST_DIGITS:
        return digit ? ST_DIGITS : c == '.' ? ST_POINT : e ? ST_E : ST_END;
    case ST_POINT:
    case ST_FRACTION:
        return digit ? ST_FRACTION : e && state == ST_FRACTION ? ST_E : ST_END;
    case ST_E:
        return digit ? ST_E_DIGITS : c == '+' || c == '-' ? ST_E_SIGN : ST_END;
    default:
        return digit ? ST_E_DIGITS : ST_END;
    }
}

static bool may_end(const qn_json_stream *s)
{
    return s->state == ST_ZERO || s->state == ST_DIGITS || s->state == ST_FRACTION || s->state == ST_E_DIGITS;
}

static qn_json_event after(qn_json_stream *s, char c)
{
    if (c == ',' && s->depth > 0) {
        s->state = in_object(s) ? ST_KEY : ST_VALUE;
        return QN_JSON_COMMA;
    }
    return c == '}' || c == ']' ? close_container(s, c == '}') : QN_JSON_BAD;
}

/* A byte between tokens. */
static qn_json_event between(qn_json_stream *s, char c)
{
    if (is_space(c)) {
        return QN_JSON_SPACE;
    }
    switch (s->state) {
    case ST_FIRST_VALUE:
        return c == ']' ? close_container(s, false) : open_value(s, c);
    case ST_VALUE:
        return open_value(s, c);
    case ST_FIRST_KEY:
    case ST_KEY:
        if (c == '}' && s->state == ST_FIRST_KEY) {
            return close_container(s, true);
        }
        if (c != '"') {
            return QN_JSON_BAD;
        }
        s->state = ST_IN_KEY;
        return QN_JSON_OPEN_KEY;
    case ST_COLON:
        if (c != ':') {
            return QN_JSON_BAD;
        }
        s->state = ST_VALUE;
        return QN_JSON_COLON;
    default:
        return after(s, c);
    }
}

qn_json_event qn_json_stream_push(qn_json_stream *s, char c)
{
    if (s->state == ST_IN_STRING || s->state == ST_IN_KEY) {
        return in_string(s, c);
    }
    if (s->state == ST_WORD) {
        if (c != s->word[s->i_word]) {
            return QN_JSON_BAD;
        }
        s->i_word++;
        if (s->word[s->i_word] == '\0') {
            after_value(s);
        }
        return QN_JSON_IN_SCALAR;
    }
    if (s->state >= ST_MINUS && s->state <= ST_E_DIGITS) {
        unsigned next = number_state(s->state, c);
        if (next != ST_END) {
            s->state = (uint8_t)next;
            return QN_JSON_IN_SCALAR;
        }
        if (!may_end(s)) {
            return QN_JSON_BAD;
        }
        qn_json_stream number = *s;
        after_value(s);
        qn_json_event event = between(s, c);
        if (event == QN_JSON_BAD) {
            *s = number;
        }
        return event;
    }
    return between(s, c);
}

bool qn_json_stream_whole(const qn_json_stream *s)
{
    return s->state == ST_END || (s->depth == 0 && may_end(s));
}

bool qn_json_stream_in_string(const qn_json_stream *s)
{
    return s->state == ST_IN_STRING || s->state == ST_IN_KEY;
}
