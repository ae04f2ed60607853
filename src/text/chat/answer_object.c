/* Calls that are JSON objects. Their members come in any order: arguments that come before the name wait for it.
 * SPDX-License-Identifier: MIT */
#include "text/chat/answer_int.h"

enum { M_UNKNOWN, M_NAME, M_ARGUMENTS, M_ID, M_FUNCTION, M_TYPE, M_SILENT };

void qn_object_begin(qn_answer *a)
{
    qn_object_reader *o = &a->object;
    *o = (qn_object_reader){.level = 1};
    qn_arguments_init(a, &o->stream);
    a->name.n = a->id.n = 0;
    a->id_said = false;
    qn_answer_enter(a, a->syntax->whole ? QN_AS_WHOLE : QN_AS_OBJECT);
}

static bool key_is(const qn_answer *a, qn_str own, const char *other, const char *another)
{
    qn_str key = qn_word_view(&a->object.key);
    return (own.len > 0 && qn_str_eq(key, own)) || qn_str_is(key, other) || qn_str_is(key, another);
}

static uint8_t member_of(const qn_answer *a)
{
    const qn_syntax *s = a->syntax;
    if (s->shape == QN_SHAPE_KEYED) {
        return M_ARGUMENTS;
    }
    if (key_is(a, s->name_key, "name", "tool_name")) {
        return M_NAME;
    }
    if (key_is(a, s->arguments_key, "arguments", "parameters")) {
        return M_ARGUMENTS;
    }
    if (key_is(a, s->id_key, "id", "tool_call_id")) {
        return M_ID;
    }
    qn_str key = qn_word_view(&a->object.key);
    for (size_t i = 0; i < 2; i++) {
        if (s->other_keys[i].len > 0 && qn_str_eq(key, s->other_keys[i])) {
            return M_SILENT;
        }
    }
    return qn_str_is(key, "function") ? M_FUNCTION : qn_str_is(key, "type") ? M_TYPE : M_UNKNOWN;
}

static bool is_known(const qn_answer *a)
{
    return a->tools == NULL || qn_tools_find(a->tools, qn_word_view(&a->name)) != NULL;
}

static void say_call(qn_answer *a)
{
    qn_call_announce(a);
    qn_arguments_flush(a);
}

/* The name and the beginning of the arguments are known: it is a call, unless a bare one calls nothing known. */
static bool announce(qn_answer *a)
{
    if (a->syntax->bare && !is_known(a)) {
        return false;
    }
    if (!a->syntax->whole) { /* that waits for what follows */
        say_call(a);
    }
    return true;
}

bool qn_object_lacks_end(const qn_answer *a)
{
    return a->state == QN_AS_OBJECT && a->announced && a->holding && !a->object.in_arguments &&
           qn_cut_trim(qn_buf_view(&a->raw)).len == 0;
}

void qn_object_end_whole(qn_answer *a)
{
    say_call(a);
    qn_call_end(a);
}

/* A byte of a string that is the name, the id or, written as a string, the arguments. */
static bool in_text(qn_answer *a, char c)
{
    qn_object_reader *o = &a->object;
    char bytes[6];
    size_t n = qn_json_unescape_push(&o->unescape, c, bytes);
    if (o->member == M_ARGUMENTS) {
        for (size_t i = 0; i < n; i++) {
            bool outside = o->inner.depth == 0;
            qn_json_event event = qn_json_stream_push(&o->inner, bytes[i]);
            if (event == QN_JSON_BAD || o->inner.depth > QN_ANSWER_DEPTH ||
                (outside && event != QN_JSON_SPACE && event != QN_JSON_OPEN_OBJECT)) {
                return false;
            }
            if (event == QN_JSON_OPEN_OBJECT && outside && o->has_name && !announce(a)) {
                return false;
            }
            if (!qn_arguments_say(a, QN_JSON_IN_STRING, bytes[i])) {
                return false;
            }
        }
        return true;
    }
    qn_word *w = o->member == M_ID ? &a->id : o->member == M_TYPE ? &o->key : &a->name;
    for (size_t i = 0; i < n; i++) {
        if (!qn_word_add(w, bytes[i])) {
            return false;
        }
    }
    return true;
}

/* What follows is held: content when the object goes wrong there. */
static bool end_arguments(qn_answer *a)
{
    a->object.in_arguments = a->object.text_arguments = false;
    if (a->announced) {
        a->holding = a->done = true;
        qn_buf_clear(&a->raw);
    }
    return true;
}

static bool begin_arguments(qn_answer *a, bool text)
{
    qn_object_reader *o = &a->object;
    if (o->has_arguments) {
        return false; /* twice */
    }
    o->has_arguments = o->in_arguments = true;
    o->text_arguments = text;
    o->unescape = (qn_json_unescape){0};
    qn_json_stream_init(&o->inner);
    return text || !o->has_name || announce(a); /* a text may still be none of JSON */
}

static bool begin_value(qn_answer *a, qn_json_event event)
{
    qn_object_reader *o = &a->object;
    bool string = event == QN_JSON_OPEN_STRING;
    switch (o->member) {
    case M_NAME:
        a->name.n = 0;
        o->unescape = (qn_json_unescape){0};
        return string && !o->has_name;
    case M_ID:
    case M_TYPE:
        o->unescape = (qn_json_unescape){0};
        o->key.n = 0;
        return (string || event == QN_JSON_OPEN_SCALAR) && (o->member == M_TYPE ? string : a->id.n == 0);
    case M_FUNCTION:
        if (string) {
            o->member = M_NAME;
            return begin_value(a, event);
        }
        o->level += event == QN_JSON_OPEN_OBJECT && o->level == 1 ? 1 : 0;
        return true;
    case M_ARGUMENTS:
        return (string || event == QN_JSON_OPEN_OBJECT) && begin_arguments(a, string);
    case M_SILENT:
        return string || event == QN_JSON_OPEN_SCALAR;
    default:
        return false; /* nobody would see it */
    }
}

static bool end_string(qn_answer *a)
{
    qn_object_reader *o = &a->object;
    if (o->member == M_NAME) {
        o->has_name = true;
        return a->name.n > 0 && (!a->syntax->whole || is_known(a)) && (!o->has_arguments || announce(a));
    }
    if (o->member == M_TYPE) {
        return qn_str_is(qn_word_view(&o->key), "function"); /* there is no other, and nobody hears of it */
    }
    return o->member != M_ARGUMENTS || (qn_json_stream_whole(&o->inner) && end_arguments(a));
}

static bool end_object(qn_answer *a)
{
    qn_object_reader *o = &a->object;
    if (o->level == 2 && o->stream.depth == 1) {
        o->level = 1; /* of "function": {...} */
        return true;
    }
    if (o->stream.depth > 0) {
        return true;
    }
    if (!o->has_name || (!o->has_arguments && a->syntax->bare)) {
        return false;
    }
    if (!o->has_arguments) {
        if (!announce(a)) {
            return false;
        }
        qn_answer_say(a, QN_PART_ARGUMENTS, "{}", 2);
    }
    if (a->syntax->whole) {
        o->over = true;
    } else {
        qn_call_end(a);
    }
    return true;
}

static bool end_key(qn_answer *a)
{
    qn_object_reader *o = &a->object;
    o->member = member_of(a);
    if (a->syntax->shape == QN_SHAPE_KEYED) {
        bool first = !o->has_name && o->key.n > 0;
        a->name = o->key;
        o->has_name = true;
        return first;
    }
    return o->member != M_UNKNOWN;
}

/* A byte of a key or a value of the call itself. */
static bool in_member(qn_answer *a, qn_json_event event, char c)
{
    qn_object_reader *o = &a->object;
    switch (event) {
    case QN_JSON_OPEN_KEY:
        o->key.n = 0;
        o->unescape = (qn_json_unescape){0};
        o->in_key = true;
        return true;
    case QN_JSON_CLOSE_KEY:
        o->in_key = false;
        return end_key(a);
    case QN_JSON_CLOSE_STRING:
        return end_string(a);
    case QN_JSON_OPEN_STRING:
        return begin_value(a, event);
    case QN_JSON_OPEN_SCALAR:
        return begin_value(a, event) && (o->member != M_ID || qn_word_add(&a->id, c));
    case QN_JSON_IN_SCALAR:
        return o->member != M_ID || qn_word_add(&a->id, c);
    case QN_JSON_IN_STRING:
        break;
    default:
        return true;
    }
    if (o->in_key) {
        char bytes[6];
        size_t n = qn_json_unescape_push(&o->unescape, c, bytes);
        for (size_t i = 0; i < n; i++) {
            qn_word_add(&o->key, bytes[i]); /* a longer one is none that is known */
        }
        return a->syntax->shape != QN_SHAPE_KEYED || o->key.n < sizeof(o->key.bytes);
    }
    return o->member == M_SILENT || in_text(a, c);
}

bool qn_object_byte(qn_answer *a, char c)
{
    qn_object_reader *o = &a->object;
    uint32_t depth = o->stream.depth;
    qn_json_event event = qn_arguments_push(a, &o->stream, c);
    if (event == QN_JSON_BAD || o->stream.depth > o->level + QN_ANSWER_DEPTH) {
        return false;
    }
    if (o->in_arguments && !o->text_arguments) {
        if (!qn_arguments_say(a, event, c)) {
            return false;
        }
        return o->stream.depth > o->level || end_arguments(a);
    }
    if ((event == QN_JSON_OPEN_OBJECT || event == QN_JSON_OPEN_ARRAY) && depth == o->level) {
        uint8_t member = o->member;
        if (!begin_value(a, event)) {
            return false;
        }
        return member != M_ARGUMENTS || qn_arguments_say(a, event, c);
    }
    if (event == QN_JSON_CLOSE_OBJECT) {
        return end_object(a);
    }
    return depth != o->level || in_member(a, event, c);
}
