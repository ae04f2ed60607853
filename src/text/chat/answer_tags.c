/* Calls whose parameters stand one by one between marks: values become JSON as the function's schema says.
 * SPDX-License-Identifier: MIT */
#include "text/chat/answer_int.h"

static void say(qn_answer *a, qn_str s)
{
    qn_answer_say(a, QN_PART_ARGUMENTS, s.data, s.len);
}

static void say_escaped(qn_answer *a, qn_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char bytes[6];
        qn_answer_say(a, QN_PART_ARGUMENTS, bytes, qn_literal_escape(s.data[i], bytes));
    }
}

static void say_key(qn_answer *a, qn_str key)
{
    say(a, QN_STR("\""));
    say_escaped(a, key);
    say(a, QN_STR("\": "));
}

/* Holds what stands between parameters: content when the call goes wrong there. */
static void hold_between(qn_answer *a)
{
    if (!a->holding) {
        a->holding = true;
        qn_buf_clear(&a->raw);
    }
}

void qn_tags_begin(qn_answer *a)
{
    a->any_parameter = false;
    a->n_nest = 0;
    qn_buf_clear(&a->nest_keys);
    qn_answer_enter(a, QN_AS_TAGS);
}

void qn_tags_end_call(qn_answer *a)
{
    if (!a->announced) {
        qn_call_announce(a);
        a->any_parameter = false;
    }
    say(a, a->any_parameter ? QN_STR("}") : QN_STR("{}"));
    a->holding = false;
    qn_call_end(a);
}

static void begin_value(qn_answer *a, const qn_json *schema)
{
    a->schema = schema;
    a->types = qn_schema_types(schema);
    qn_buf_clear(&a->value);
    a->guarded = false;
    a->guard = a->syntax->guard_open.core.len > 0;
    a->holding = false;
    qn_answer_enter(a, QN_AS_VALUE);
}

static void say_value(qn_answer *a, unsigned types)
{
    qn_buf json;
    qn_buf_init(&json, a->budget, "chat", 8 * (size_t)QN_ANSWER_VALUE);
    unsigned above = a->n_nest > 0 ? (unsigned)a->n_nest : 1; /* containers that the value stands in */
    qn_argument_write(&json, qn_buf_view(&a->value), types, a->syntax->quoted, QN_ANSWER_DEPTH - above);
    if (json.status != QN_OK) {
        qn_answer_fail(a, json.status, "no memory for a value");
    } else {
        qn_answer_say(a, QN_PART_ARGUMENTS, json.data, json.len);
    }
    qn_buf_free(&json);
    qn_buf_clear(&a->value);
}

/* ---- plain parameters ---- */

static void begin_plain(qn_answer *a, bool json)
{
    qn_str key = qn_word_view(&a->key);
    if (!a->announced) {
        qn_call_announce(a);
    }
    say(a, a->any_parameter ? QN_STR(", ") : QN_STR("{"));
    a->any_parameter = true;
    say_key(a, key);
    begin_value(a, qn_schema_member(a->parameters, key));
    if (a->syntax->key_end_json.core.len > 0) {
        a->types = json ? ~(unsigned)QN_TYPE_STRING : QN_TYPE_STRING; /* the model has said it */
    }
    a->streaming = a->types == QN_TYPE_STRING && !a->syntax->quoted;
    if (a->streaming) {
        say(a, QN_STR("\""));
    }
}

static void end_plain(qn_answer *a)
{
    if (a->streaming) {
        say(a, QN_STR("\""));
    } else {
        say_value(a, a->types);
    }
    a->streaming = false;
    hold_between(a);
    a->done = true;
    qn_answer_enter(a, QN_AS_TAGS);
}

/* ---- parameters in parameters ---- */

static qn_nest *top(qn_answer *a)
{
    return a->n_nest == 0 ? NULL : &a->nest[a->n_nest - 1];
}

/* <item> in what has said nothing yet makes it a list, another tag an object. False: it cannot stand here. */
static bool open_in(qn_answer *a, qn_nest *in, qn_str key)
{
    bool item = qn_str_is(key, "item");
    unsigned types = qn_schema_types(in->schema);
    if (in->kind == '?') {
        if (qn_mark_of(qn_buf_view(&a->value)).core.len > 0) {
            return false; /* text and a tag in it */
        }
        bool list = item && (types & (QN_TYPE_ARRAY | QN_TYPE_OBJECT)) != QN_TYPE_OBJECT;
        in->kind = list ? '[' : '{';
        say(a, list ? QN_STR("[") : QN_STR("{"));
    } else if (in->kind == '[' && !item) {
        return false;
    }
    say(a, in->any ? QN_STR(", ") : (qn_str){"", 0});
    in->any = true;
    return true;
}

static bool begin_nested(qn_answer *a)
{
    qn_str key = qn_word_view(&a->key);
    qn_nest *in = top(a);
    const qn_json *schema = NULL;
    if (a->n_nest == QN_ANSWER_NESTED) {
        return false;
    }
    if (in == NULL) {
        if (!a->announced) {
            qn_call_announce(a);
        }
        say(a, a->any_parameter ? QN_STR(", ") : QN_STR("{"));
        a->any_parameter = true;
        schema = qn_schema_member(a->parameters, key);
    } else {
        if (!open_in(a, in, key)) {
            return false;
        }
        schema = in->kind == '[' ? qn_schema_item(in->schema) : qn_schema_member(in->schema, key);
    }
    if (in == NULL || in->kind == '{') {
        say_key(a, key);
    }
    a->nest[a->n_nest++] = (qn_nest){.kind = '?', .schema = schema, .key_at = a->nest_keys.len};
    qn_buf_add(&a->nest_keys, key.data, key.len);
    if (a->nest_keys.status != QN_OK) {
        qn_answer_fail(a, a->nest_keys.status, "no memory for a parameter's name");
    }
    begin_value(a, schema);
    return true;
}

static bool end_nested(qn_answer *a)
{
    qn_nest *in = top(a);
    qn_str key = qn_cut_from(qn_buf_view(&a->nest_keys), in->key_at);
    if (!qn_str_eq(key, qn_word_view(&a->key))) {
        return false;
    }
    if (in->kind == '?') {
        say_value(a, qn_schema_types(in->schema));
    } else {
        say(a, in->kind == '[' ? QN_STR("]") : QN_STR("}"));
    }
    a->nest_keys.len = in->key_at;
    a->n_nest--;
    hold_between(a);
    qn_buf_clear(&a->raw);
    a->done = true;
    qn_answer_enter(a, a->n_nest == 0 ? QN_AS_TAGS : QN_AS_VALUE);
    return true;
}

/* ---- bytes and marks ---- */

static bool in_value(qn_answer *a, char c)
{
    qn_nest *in = top(a);
    if (in != NULL && in->kind != '?') {
        return qn_is_blank(c);
    }
    if (a->guard) {
        a->guard = false;
        qn_answer_enter(a, QN_AS_VALUE);
    }
    if (a->streaming) {
        say_escaped(a, (qn_str){&c, 1});
        return true;
    }
    qn_buf_add_char(&a->value, c);
    if (a->value.status == QN_ENOMEM || a->value.status == QN_EBUDGET) {
        qn_answer_fail(a, a->value.status, "no memory for a value");
    }
    return a->value.status != QN_EFULL;
}

bool qn_tags_byte(qn_answer *a, char c)
{
    switch (a->state) {
    case QN_AS_TAGS:
        return qn_is_blank(c);
    case QN_AS_KEY:
    case QN_AS_CLOSE_KEY:
        return c != '\n' && c != '<' && c != '>' && qn_word_add(&a->key, c);
    case QN_AS_VALUE:
        return in_value(a, c);
    default:
        return false;
    }
}

void qn_tags_on_mark(qn_answer *a, const qn_expected *e, qn_str text)
{
    bool nested = a->syntax->shape == QN_SHAPE_NESTED, good = true;
    switch (e->kind) {
    case QN_MK_KEY_OPEN:
        good = a->name.n > 0;
        if (a->state == QN_AS_NAME) {
            qn_tags_begin(a);
        }
        hold_between(a);
        a->key.n = 0;
        qn_answer_enter(a, QN_AS_KEY);
        break;
    case QN_MK_KEY_END:
    case QN_MK_KEY_END_JSON:
        if (nested) {
            good = a->state == QN_AS_KEY ? begin_nested(a) : end_nested(a);
        } else {
            begin_plain(a, e->kind == QN_MK_KEY_END_JSON);
        }
        break;
    case QN_MK_GUARD_OPEN:
    case QN_MK_GUARD_CLOSE:
        a->guarded = e->kind == QN_MK_GUARD_OPEN;
        a->guard = false;
        a->types = a->types == 0 && a->guarded ? QN_TYPE_STRING : a->types;
        qn_answer_enter(a, QN_AS_VALUE);
        break;
    case QN_MK_VALUE_END:
        if (nested) {
            hold_between(a);
            a->key.n = 0;
            qn_answer_enter(a, QN_AS_CLOSE_KEY);
        } else {
            end_plain(a);
        }
        break;
    default:
        break;
    }
    if (!good) {
        qn_answer_reject(a);
        qn_answer_say(a, QN_PART_CONTENT, text.data, text.len);
    }
}

void qn_tags_finish(qn_answer *a)
{
    /* A value that is no string yet is said as it is: it may be half a number. */
    qn_arguments_flush(a);
}
