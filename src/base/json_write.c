/* The JSON writer.
 * SPDX-License-Identifier: MIT */
#include "base/json.h"

#include "base/os.h"
#include "base/utf8_scan.h"

#include <assert.h>
#include <float.h>
#include <math.h>

void qn_json_writer_init(qn_json_writer *w, qn_buf *out)
{
    *w = (qn_json_writer){.out = out};
}

/* What goes before a value: a comma, unless it is the first or follows its key. */
static void before_value(qn_json_writer *w)
{
    if (w->need_comma && !w->after_key) {
        qn_buf_add_char(w->out, ',');
    }
    w->after_key = false;
    w->need_comma = true;
}

static void begin(qn_json_writer *w, char bracket)
{
    before_value(w);
    qn_buf_add_char(w->out, bracket);
    w->need_comma = false;
    w->depth++;
}

static void end(qn_json_writer *w, char bracket)
{
    assert(w->depth > 0 && !w->after_key);
    qn_buf_add_char(w->out, bracket);
    w->need_comma = true;
    w->depth--;
}

void qn_json_begin_object(qn_json_writer *w)
{
    begin(w, '{');
}

void qn_json_end_object(qn_json_writer *w)
{
    end(w, '}');
}

void qn_json_begin_array(qn_json_writer *w)
{
    begin(w, '[');
}

void qn_json_end_array(qn_json_writer *w)
{
    end(w, ']');
}

static void add_control(qn_buf *out, unsigned char c)
{
    switch (c) {
    case '\b':
        qn_buf_add_str(out, "\\b");
        break;
    case '\t':
        qn_buf_add_str(out, "\\t");
        break;
    case '\n':
        qn_buf_add_str(out, "\\n");
        break;
    case '\f':
        qn_buf_add_str(out, "\\f");
        break;
    case '\r':
        qn_buf_add_str(out, "\\r");
        break;
    default:
        qn_buf_printf(out, "\\u%04x", c);
        break;
    }
}

static void add_quoted(qn_buf *out, qn_str s)
{
    qn_buf_add_char(out, '"');
    size_t run = 0; /* where the bytes that need no change begin */
    size_t i = 0;
    while (i < s.len) {
        unsigned char c = (unsigned char)s.data[i];
        size_t len = qn_utf8_scan(s.data + i, s.len - i);
        if (len != 0 && c >= 0x20 && c != '"' && c != '\\') {
            i += len;
            continue;
        }
        qn_buf_add(out, s.data + run, i - run);
        if (len == 0) {
            qn_buf_add_str(out, "\xEF\xBF\xBD");
        } else if (c < 0x20) {
            add_control(out, c);
        } else {
            qn_buf_add(out, (char[]){'\\', (char)c}, 2);
        }
        i++;
        run = i;
    }
    qn_buf_add(out, s.data + run, i - run);
    qn_buf_add_char(out, '"');
}

void qn_json_key(qn_json_writer *w, const char *key)
{
    qn_json_key_str(w, qn_str_of(key));
}

void qn_json_key_str(qn_json_writer *w, qn_str key)
{
    assert(w->depth > 0 && !w->after_key);
    before_value(w);
    add_quoted(w->out, key);
    qn_buf_add_char(w->out, ':');
    w->after_key = true;
}

void qn_json_string(qn_json_writer *w, qn_str s)
{
    before_value(w);
    add_quoted(w->out, s);
}

void qn_json_cstring(qn_json_writer *w, const char *s)
{
    qn_json_string(w, qn_str_of(s));
}

void qn_json_u64(qn_json_writer *w, uint64_t v)
{
    before_value(w);
    qn_buf_printf(w->out, "%llu", (unsigned long long)v);
}

void qn_json_i64(qn_json_writer *w, int64_t v)
{
    before_value(w);
    qn_buf_printf(w->out, "%lld", (long long)v);
}

/* Makes the last of n_digits digits one larger, in a text that has an exponent and may lack zeros at its end. False: it
 * is a nine, or there is no exponent: powers of two without one have few digits. */
static bool step_up(char text[32], size_t n_digits)
{
    char *e = strchr(text, 'e'), *point = strchr(text, '.');
    if (e == NULL || point == NULL) {
        return false;
    }
    size_t lacking = n_digits - 1 - (size_t)(e - point - 1);
    if (lacking == 0 && e[-1] == '9') {
        return false;
    }
    memmove(e + lacking, e, strlen(e) + 1);
    memset(e, '0', lacking);
    text[strcspn(text, "e") - 1]++;
    return true;
}

void qn_json_f64(qn_json_writer *w, double v)
{
    before_value(w);
    if (!isfinite(v)) {
        qn_buf_add_str(w->out, "null");
        return;
    }
    /* 15 digits survive the way through a double, so a text that is shorter still comes out of "%.15g" too. Only
     * subnormals hold fewer digits than that. */
    char text[32];
    int power;
    bool asymmetric = fabs(frexp(v, &power)) == 0.5; /* below a power of two doubles are closer together than above */
    for (int n_digits = fabs(v) < DBL_MIN ? 1 : DBL_DIG; n_digits <= 17; n_digits++) {
        qn_os_print_f64(text, n_digits, v);
        if (qn_os_parse_f64(text) == v ||
            (asymmetric && step_up(text, (size_t)n_digits) && qn_os_parse_f64(text) == v)) {
            break;
        }
    }
    qn_buf_add_str(w->out, text);
}

void qn_json_bool(qn_json_writer *w, bool v)
{
    before_value(w);
    qn_buf_add_str(w->out, v ? "true" : "false");
}

void qn_json_null(qn_json_writer *w)
{
    before_value(w);
    qn_buf_add_str(w->out, "null");
}

void qn_json_raw(qn_json_writer *w, qn_str json)
{
    before_value(w);
    qn_buf_add(w->out, json.data, json.len);
}

void qn_json_copy(qn_json_writer *w, const qn_json *v) /* the reader bounds the depth */
{
    size_t n = qn_json_count(v);
    switch (qn_json_kind_of(v)) {
    case QN_JSON_NULL:
        qn_json_null(w);
        break;
    case QN_JSON_BOOL:
        qn_json_bool(w, qn_json_as_bool(v));
        break;
    case QN_JSON_NUMBER:
        qn_json_raw(w, qn_json_as_str(v));
        break;
    case QN_JSON_STRING:
        qn_json_string(w, qn_json_as_str(v));
        break;
    case QN_JSON_ARRAY:
        qn_json_begin_array(w);
        for (size_t i = 0; i < n; i++) {
            qn_json_copy(w, qn_json_at(v, i));
        }
        qn_json_end_array(w);
        break;
    case QN_JSON_OBJECT:
        qn_json_begin_object(w);
        for (size_t i = 0; i < n; i++) {
            qn_json_key_str(w, qn_json_key_at(v, i));
            qn_json_copy(w, qn_json_at(v, i));
        }
        qn_json_end_object(w);
        break;
    }
}
