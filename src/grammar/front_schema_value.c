/* Known values (enum, const): their types, whether two are equal, and how they are written.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_schema_int.h"

unsigned qn_sx_type_of(const qn_json *value)
{
    switch (qn_json_kind_of(value)) {
    case QN_JSON_NULL:
        return QN_ST_NULL;
    case QN_JSON_BOOL:
        return QN_ST_BOOL;
    case QN_JSON_STRING:
        return QN_ST_STRING;
    case QN_JSON_ARRAY:
        return QN_ST_ARRAY;
    case QN_JSON_OBJECT:
        return QN_ST_OBJECT;
    case QN_JSON_NUMBER:
        break;
    }
    /* Whether digits stand behind the point is all that matters, so this needs no memory. */
    qn_str text = qn_json_as_str(value);
    int64_t last = INT64_MIN, point = 0, at = 0, e = 0;
    bool after_point = false, is_down = false;
    size_t i = 0;
    for (; i < text.len && (text.data[i] | 0x20) != 'e'; i++) {
        char c = text.data[i];
        if (c == '.') {
            after_point = true;
        } else if (c >= '0' && c <= '9') {
            at++;
            point += !after_point;
            last = c != '0' ? at : last;
        }
    }
    for (; i < text.len; i++) {
        char c = text.data[i];
        is_down = is_down || c == '-';
        e = c >= '0' && c <= '9' && e < 1000000 ? e * 10 + (c - '0') : e;
    }
    point += is_down ? -e : e;
    return last <= point ? QN_ST_INTEGER : QN_ST_FRACTION;
}

bool qn_sx_listed(qn_sx *s, const qn_schema_clause *c, const qn_json **values, size_t *n, bool *is_const)
{
    (void)s;
    bool found = false;
    for (size_t i = 0; i < c->n_literals; i++) {
        const qn_json *schema = c->literals[i].schema;
        if (c->literals[i].is_negated) {
            continue;
        }
        const qn_json *one = qn_json_find(schema, "const"), *list = qn_json_find(schema, "enum");
        if (one != NULL) {
            *values = one;
            *n = 1;
            *is_const = true;
            return true;
        }
        if (list != NULL && (!found || qn_json_count(list) < *n)) {
            *values = list;
            *n = qn_json_count(list);
            *is_const = false;
            found = true;
        }
    }
    return found;
}

static bool member_equal(qn_sx *s, const qn_json *x, qn_str key, const qn_json *value)
{
    for (size_t i = qn_json_count(x); i > 0; i--) {
        if (qn_str_eq(qn_json_key_at(x, i - 1), key)) {
            return qn_sx_equal(s, qn_json_at(x, i - 1), value);
        }
    }
    return false;
}

bool qn_sx_equal(qn_sx *s, const qn_json *x, const qn_json *y)
{
    qn_json_kind kind = qn_json_kind_of(x);
    if (kind != qn_json_kind_of(y) || qn_json_count(x) != qn_json_count(y)) {
        return false;
    }
    qn_decimal a, b;
    switch (kind) {
    case QN_JSON_NULL:
        return true;
    case QN_JSON_BOOL:
        return qn_json_as_bool(x) == qn_json_as_bool(y);
    case QN_JSON_STRING:
        return qn_str_eq(qn_json_as_str(x), qn_json_as_str(y));
    case QN_JSON_NUMBER:
        if (!qn_decimal_read(s, qn_json_as_str(x), &a) || !qn_decimal_read(s, qn_json_as_str(y), &b)) {
            return qn_str_eq(qn_json_as_str(x), qn_json_as_str(y));
        }
        return qn_decimal_compare(&a, &b) == 0;
    case QN_JSON_ARRAY:
        for (size_t i = 0; i < qn_json_count(x); i++) {
            if (!qn_sx_equal(s, qn_json_at(x, i), qn_json_at(y, i))) {
                return false;
            }
        }
        return true;
    case QN_JSON_OBJECT:
        for (size_t i = 0; i < qn_json_count(x); i++) {
            if (!member_equal(s, y, qn_json_key_at(x, i), qn_json_at(x, i))) {
                return false;
            }
        }
        return true;
    }
    return false;
}

qn_status qn_sx_number_literal(qn_sx *s, qn_str source, uint32_t max_zeros, qn_gx *out)
{
    qn_gx_builder *b = s->b;
    qn_decimal d;
    qn_buf text;
    qn_buf_init(&text, b->budget, "grammar", 4 * QN_DECIMAL_MAX);
    if (!qn_decimal_read(s, source, &d) || !qn_decimal_write(&d, &text)) {
        *out = qn_gx_bytes(b, source);
    } else {
        qn_gx zero = qn_gx_class(b, &(qn_gx_range){'0', '0'}, 1);
        qn_gx zeros = qn_gx_repeat(b, zero, 0, max_zeros);
        if (qn_decimal_is_integer(&d) && max_zeros != 0) {
            zeros = qn_gx_repeat(b, qn_gx_cat(b, (qn_gx[]){qn_gx_bytes(b, QN_STR(".0")), zeros}, 2), 0, 1);
        }
        *out = qn_gx_cat(b, (qn_gx[]){qn_gx_bytes(b, qn_buf_view(&text)), zeros}, 2);
    }
    qn_buf_free(&text);
    return QN_OK;
}

static qn_status container(qn_sx *s, const qn_json *value, qn_gx *out)
{
    qn_gx_builder *b = s->b;
    bool is_object = qn_json_kind_of(value) == QN_JSON_OBJECT;
    size_t n = qn_json_count(value);
    qn_gx *parts = qn_sx_alloc(s, (6 * n + 8) * sizeof(*parts));
    if (parts == NULL) {
        return qn_sx_no_memory(s);
    }
    uint32_t n_parts = 0;
    parts[n_parts++] = qn_gx_bytes(b, is_object ? QN_STR("{") : QN_STR("["));
    parts[n_parts++] = s->blank;
    for (size_t i = 0; i < n; i++) {
        if (i > 0) {
            parts[n_parts++] = s->comma;
        }
        if (is_object) {
            QN_TRY(qn_sx_key(s, qn_json_key_at(value, i), &parts[n_parts++]));
            parts[n_parts++] = s->colon;
        }
        QN_TRY(qn_sx_literal(s, qn_json_at(value, i), &parts[n_parts++]));
    }
    if (n != 0) {
        parts[n_parts++] = s->blank;
    }
    parts[n_parts++] = qn_gx_bytes(b, is_object ? QN_STR("}") : QN_STR("]"));
    *out = qn_gx_cat(b, parts, n_parts);
    return QN_OK;
}

qn_status qn_sx_literal(qn_sx *s, const qn_json *value, qn_gx *out)
{
    qn_gx_builder *b = s->b;
    qn_gx text;
    switch (qn_json_kind_of(value)) {
    case QN_JSON_NULL:
        *out = qn_sx_word(s, "null");
        return QN_OK;
    case QN_JSON_BOOL:
        *out = qn_sx_word(s, qn_json_as_bool(value) ? "true" : "false");
        return QN_OK;
    case QN_JSON_NUMBER:
        return qn_sx_number_literal(s, qn_json_as_str(value), s->o->plain ? 0 : 1, out);
    case QN_JSON_STRING:
        QN_TRY(qn_sx_text(s, qn_json_as_str(value), &text));
        *out = qn_gx_cat(b, (qn_gx[]){s->quote, text, s->quote}, 3);
        return QN_OK;
    case QN_JSON_ARRAY:
    case QN_JSON_OBJECT:
        return container(s, value, out);
    }
    return QN_OK;
}
