/* Arguments that are JSON, and calls that are: what models get wrong at their end is put right where only one thing can
 * be meant.
 *
 * A comma before a closing bracket is left out. It waits in `value` with the blanks after it: nothing that has come out
 * can be taken back. Closing braces are added when a mark ends the call before them.
 * SPDX-License-Identifier: MIT */
#include "text/chat/answer_int.h"

bool qn_call_in_json(const qn_answer *a)
{
    return a->state == QN_AS_JSON || a->state == QN_AS_OBJECT || a->state == QN_AS_WHOLE;
}

static qn_json_stream *stream_of(qn_answer *a)
{
    return a->state == QN_AS_JSON ? &a->json : &a->object.stream;
}

void qn_arguments_init(qn_answer *a, qn_json_stream *s)
{
    qn_json_stream_init(s);
    qn_buf_clear(&a->value);
    a->comma = false;
    a->n_gap = 0;
}

/* ---- bytes ---- */

qn_json_event qn_arguments_push(qn_answer *a, qn_json_stream *s, char c)
{
    if (c == ',' && !qn_json_stream_in_string(s)) {
        qn_json_stream before = *s;
        qn_json_event event = qn_json_stream_push(s, c);
        if (event != QN_JSON_BAD) {
            a->before_comma = before;
            a->comma = true;
        }
        return event;
    }
    qn_json_event event = qn_json_stream_push(s, c);
    if (event == QN_JSON_BAD && a->comma) {
        qn_json_stream closed = a->before_comma;
        event = qn_json_stream_push(&closed, c);
        bool closes = event == QN_JSON_CLOSE_OBJECT || event == QN_JSON_CLOSE_ARRAY;
        if (!closes) {
            return QN_JSON_BAD;
        }
        *s = closed;
        if (a->n_gap > 0) {
            char *gap = a->value.data + a->value.len - a->n_gap;
            memmove(gap, gap + 1, a->n_gap - 1);
            a->value.len--;
        }
        a->n_gap = 0;
    }
    if (event != QN_JSON_SPACE && event != QN_JSON_BAD) {
        a->comma = false;
    }
    return event;
}

static bool keep(qn_answer *a, char c)
{
    qn_buf_add_char(&a->value, c);
    if (a->value.status == QN_ENOMEM || a->value.status == QN_EBUDGET) {
        qn_answer_fail(a, a->value.status, "no memory for arguments");
    }
    return a->value.status == QN_OK;
}

bool qn_arguments_say(qn_answer *a, qn_json_event event, char c)
{
    if (event == QN_JSON_COMMA || (event == QN_JSON_SPACE && a->n_gap > 0)) {
        a->n_gap++;
        return keep(a, c);
    }
    a->n_gap = 0;
    if (!a->announced) {
        return keep(a, c);
    }
    qn_arguments_flush(a);
    qn_answer_say(a, QN_PART_ARGUMENTS, &c, 1);
    return true;
}

void qn_arguments_flush(qn_answer *a)
{
    qn_answer_say(a, QN_PART_ARGUMENTS, a->value.data, a->value.len);
    qn_buf_clear(&a->value);
    a->n_gap = 0;
}

bool qn_arguments_begin(qn_answer *a, char c)
{
    qn_call_announce(a);
    qn_arguments_init(a, &a->json);
    qn_answer_enter(a, QN_AS_JSON);
    return qn_arguments_byte(a, c);
}

bool qn_arguments_byte(qn_answer *a, char c)
{
    qn_json_event event = qn_arguments_push(a, &a->json, c);
    if (event == QN_JSON_BAD || a->json.depth > QN_ANSWER_DEPTH || !qn_arguments_say(a, event, c)) {
        return false;
    }
    if (qn_json_stream_whole(&a->json)) {
        qn_call_end(a);
    }
    return true;
}

/* ---- a mark that comes too early ---- */

/* Closing braces are all that is missing. */
static bool lacks_braces(qn_json_stream s)
{
    while (!qn_json_stream_whole(&s)) {
        if (qn_json_stream_push(&s, '}') == QN_JSON_BAD) {
            return false;
        }
    }
    return true;
}

void qn_call_cut_json(qn_answer *a)
{
    bool good = lacks_braces(a->comma ? a->before_comma : *stream_of(a));
    uint32_t i_call = a->i_call;
    while (good && a->i_call == i_call && !(a->state == QN_AS_WHOLE && a->object.over)) {
        good = qn_answer_call_byte(a, '}');
    }
    if (!good) {
        qn_answer_reject(a);
    } else if (a->state == QN_AS_WHOLE) {
        qn_object_end_whole(a);
    }
    a->done = false;
}
