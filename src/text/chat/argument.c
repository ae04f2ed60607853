/* Arguments: their types, and their values as JSON.
 * SPDX-License-Identifier: MIT */
#include "text/chat/argument.h"

#include "base/json_stream.h"
#include "text/chat/literal.h"
#include "text/chat/mark.h"

#define MAX_TOOLS_TEXT (16u << 20) /* bytes; a request is smaller */
#define MAX_TOOLS_NODES (1u << 20)
#define MAX_UNION_DEPTH 4 /* anyOf inside anyOf */

qn_status qn_tools_copy(const qn_json *tools, qn_budget *b, qn_json_doc **out, qn_error *err)
{
    *out = NULL;
    if (tools == NULL || qn_json_kind_of(tools) != QN_JSON_ARRAY) {
        return QN_OK;
    }
    qn_buf text;
    qn_json_writer w;
    qn_buf_init(&text, b, "chat", MAX_TOOLS_TEXT);
    qn_json_writer_init(&w, &text);
    qn_json_copy(&w, tools);
    qn_status status = text.status;
    if (status == QN_OK) {
        status = qn_json_parse(b, text.data, text.len, MAX_TOOLS_NODES, out, err);
    } else {
        qn_fail(err, status, "tools: %s", status == QN_EFULL ? "too long" : "no memory");
    }
    qn_buf_free(&text);
    return status;
}

const qn_json *qn_tools_find(const qn_json_doc *tools, qn_str name)
{
    const qn_json *list = tools == NULL ? NULL : qn_json_root(tools);
    for (size_t i = list == NULL ? 0 : qn_json_count(list); i-- > 0;) {
        const qn_json *tool = qn_json_at(list, i), *function = qn_json_find(tool, "function");
        function = function == NULL ? tool : function;
        const qn_json *own = qn_json_find(function, "name");
        if (own != NULL && qn_json_kind_of(own) == QN_JSON_STRING && qn_str_eq(qn_json_as_str(own), name)) {
            return function;
        }
    }
    return NULL;
}

const qn_json *qn_tool_parameters(const qn_json *function)
{
    if (function == NULL) {
        return NULL;
    }
    const qn_json *parameters = qn_json_find(function, "parameters");
    return parameters != NULL ? parameters : qn_json_find(function, "input_schema");
}

/* ---- schemas ---- */

static const qn_json *find_str(const qn_json *object, qn_str key)
{
    if (object == NULL || qn_json_kind_of(object) != QN_JSON_OBJECT) {
        return NULL;
    }
    for (size_t i = qn_json_count(object); i-- > 0;) {
        if (qn_str_eq(qn_json_key_at(object, i), key)) {
            return qn_json_at(object, i);
        }
    }
    return NULL;
}

/* The i-th of the schemas that this one may be, or NULL; itself counts as the first. */
static const qn_json *alternative(const qn_json *schema, size_t i)
{
    static const char *const unions[] = {"anyOf", "oneOf", "allOf"};
    if (i == 0) {
        return schema;
    }
    for (size_t k = 0; k < 3; k++) {
        const qn_json *list = qn_json_find(schema, unions[k]);
        if (list != NULL && qn_json_kind_of(list) == QN_JSON_ARRAY) {
            return i - 1 < qn_json_count(list) ? qn_json_at(list, i - 1) : NULL;
        }
    }
    return NULL;
}

const qn_json *qn_schema_member(const qn_json *schema, qn_str key)
{
    const qn_json *one;
    for (size_t i = 0; schema != NULL && (one = alternative(schema, i)) != NULL; i++) {
        const qn_json *found = find_str(qn_json_find(one, "properties"), key);
        if (found != NULL) {
            return found;
        }
    }
    return schema == NULL ? NULL : qn_json_find(schema, "additionalProperties");
}

const qn_json *qn_schema_item(const qn_json *schema)
{
    const qn_json *one;
    for (size_t i = 0; schema != NULL && (one = alternative(schema, i)) != NULL; i++) {
        const qn_json *items = qn_json_find(one, "items");
        if (items != NULL) {
            return items;
        }
    }
    return NULL;
}

static unsigned type_of_name(const qn_json *v)
{
    static const char *const names[] = {"string", "number", "integer", "boolean", "null", "array", "object"};
    static const unsigned types[] = {QN_TYPE_STRING, QN_TYPE_NUMBER, QN_TYPE_NUMBER, QN_TYPE_BOOLEAN,
                                     QN_TYPE_NULL,   QN_TYPE_ARRAY,  QN_TYPE_OBJECT};
    for (size_t i = 0; qn_json_kind_of(v) == QN_JSON_STRING && i < 7; i++) {
        if (qn_str_is(qn_json_as_str(v), names[i])) {
            return types[i];
        }
    }
    return 0;
}

static unsigned type_of_value(const qn_json *v)
{
    static const unsigned types[] = {
        [QN_JSON_NULL] = QN_TYPE_NULL,     [QN_JSON_BOOL] = QN_TYPE_BOOLEAN, [QN_JSON_NUMBER] = QN_TYPE_NUMBER,
        [QN_JSON_STRING] = QN_TYPE_STRING, [QN_JSON_ARRAY] = QN_TYPE_ARRAY,  [QN_JSON_OBJECT] = QN_TYPE_OBJECT};
    return types[qn_json_kind_of(v)];
}

static unsigned types_at(const qn_json *schema, unsigned depth)
{
    if (schema == NULL || qn_json_kind_of(schema) != QN_JSON_OBJECT || depth > MAX_UNION_DEPTH) {
        return 0;
    }
    unsigned types = 0;
    const qn_json *type = qn_json_find(schema, "type"), *values = qn_json_find(schema, "enum");
    if (type != NULL) {
        types |= type_of_name(type);
        for (size_t i = 0; qn_json_kind_of(type) == QN_JSON_ARRAY && i < qn_json_count(type); i++) {
            types |= type_of_name(qn_json_at(type, i));
        }
        const qn_json *nullable = qn_json_find(schema, "nullable");
        types |= nullable != NULL && qn_json_as_bool(nullable) ? QN_TYPE_NULL : 0;
        return types;
    }
    for (size_t i = 0; values != NULL && qn_json_kind_of(values) == QN_JSON_ARRAY && i < qn_json_count(values); i++) {
        types |= type_of_value(qn_json_at(values, i));
    }
    const qn_json *one;
    for (size_t i = 1; values == NULL && (one = alternative(schema, i)) != NULL; i++) {
        unsigned more = types_at(one, depth + 1);
        if (more == 0) {
            return 0; /* one of them says nothing */
        }
        types |= more;
    }
    return types;
}

unsigned qn_schema_types(const qn_json *schema)
{
    return types_at(schema, 0);
}

/* ---- values ---- */

static bool is_json(qn_str s, unsigned max_depth)
{
    qn_json_stream stream;
    qn_json_stream_init(&stream);
    for (size_t i = 0; i < s.len; i++) {
        if (qn_json_stream_push(&stream, s.data[i]) == QN_JSON_BAD || stream.depth > max_depth) {
            return false;
        }
    }
    return qn_json_stream_whole(&stream);
}

static unsigned type_of_json(char first)
{
    switch (first) {
    case '"':
        return QN_TYPE_STRING;
    case '{':
        return QN_TYPE_OBJECT;
    case '[':
        return QN_TYPE_ARRAY;
    case 't':
    case 'f':
        return QN_TYPE_BOOLEAN;
    case 'n':
        return QN_TYPE_NULL;
    default:
        return QN_TYPE_NUMBER;
    }
}

/* True, None and containers, as Python shows them; appends JSON. */
static bool write_python(qn_buf *out, qn_str s, unsigned types, unsigned max_depth)
{
    bool word = qn_str_is(s, "True") || qn_str_is(s, "False") || qn_str_is(s, "None");
    unsigned type = word ? (s.data[0] == 'N' ? QN_TYPE_NULL : QN_TYPE_BOOLEAN) : type_of_json(s.data[0]);
    if ((types & type) == 0 || !(word || type == QN_TYPE_OBJECT || type == QN_TYPE_ARRAY)) {
        return false;
    }
    qn_literal l;
    qn_buf json;
    qn_literal_init(&l, (qn_str){"", 0});
    qn_buf_init(&json, out->budget, "chat", out->max);
    bool good = true;
    for (size_t i = 0; good && i < s.len; i++) {
        qn_literal_step step = qn_literal_push(&l, s.data[i]);
        qn_buf_add(&json, l.out, l.n_out);
        good = step == QN_LITERAL_MORE || (step == QN_LITERAL_DONE && i + 1 == s.len);
        good = good && l.depth <= max_depth;
    }
    good = good && qn_literal_finish(&l);
    qn_buf_add(&json, l.out, good ? l.n_out : 0);
    if (json.status != QN_OK) {
        out->status = json.status;
    } else if (good) {
        qn_buf_add(out, json.data, json.len);
    }
    qn_buf_free(&json);
    return good;
}

void qn_argument_write(qn_buf *out, qn_str text, unsigned types, bool quoted, unsigned max_depth)
{
    qn_str s = qn_mark_of(text).core;
    unsigned fit = types == 0 ? ~0u : types;
    if (types != QN_TYPE_STRING || quoted) {
        unsigned type = s.len == 0 ? 0 : type_of_json(s.data[0]);
        bool as_string = type == QN_TYPE_STRING && !quoted && (fit & QN_TYPE_STRING) != 0 && types != 0;
        if ((fit & type) != 0 && !as_string && is_json(s, max_depth)) {
            qn_buf_add(out, s.data, s.len);
            return;
        }
        if (s.len > 0 && write_python(out, s, fit, max_depth)) {
            return;
        }
    }
    qn_buf_add_char(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        char escaped[6];
        qn_buf_add(out, escaped, qn_literal_escape(text.data[i], escaped));
    }
    qn_buf_add_char(out, '"');
}
