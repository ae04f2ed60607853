/* Which marks a state expects, and whether the bytes that have come are one.
 * SPDX-License-Identifier: MIT */
#include "text/chat/answer_int.h"

static void expect(qn_answer *a, const qn_mark *m, qn_mark_kind kind, size_t i)
{
    if (m->core.len == 0 || a->n_expected == QN_ANSWER_MARKS) {
        return;
    }
    a->expected[a->n_expected++] = (qn_expected){m, kind, i};
    char first = m->core.data[0];
    a->starts[(unsigned char)(first == QN_MARK_LINE_END ? '\n' : first)] = true;
    if (m->before.len > 0) {
        a->starts[(unsigned char)m->before.data[0]] = true;
    }
    for (char digit = '0'; first == QN_MARK_DIGITS && digit <= '9'; digit++) {
        a->starts[(unsigned char)digit] = true;
    }
}

static void expect_turn(qn_answer *a)
{
    for (size_t i = 0; i < a->d->n_ends; i++) {
        expect(a, &a->d->ends[i], QN_MK_END, i);
    }
    if (a->d->has_header) {
        expect(a, &a->d->header.open, QN_MK_HEADER_OPEN, 0);
    }
}

static void expect_in_content(qn_answer *a)
{
    const qn_dialect *d = a->d;
    if (d->has_reasoning && !d->has_header && a->fresh) {
        expect(a, &d->think_open, QN_MK_THINK_OPEN, 0);
        if (!a->begun) {
            expect(a, &d->think_close, QN_MK_THINK_CLOSE, 0);
        }
    }
    if (a->fresh) {
        expect(a, &d->content_open, QN_MK_CONTENT_OPEN, 0);
    }
    expect(a, &d->content_close, QN_MK_CONTENT_CLOSE, 0);
    for (size_t i = 0; !a->no_calls && i < d->n_syntaxes; i++) {
        if (!d->syntaxes[i].known || a->tools != NULL) {
            expect(a, &d->syntaxes[i].section_open, QN_MK_SECTION_OPEN, i);
            expect(a, &d->syntaxes[i].call_open, QN_MK_CALL_OPEN, i);
        }
    }
    expect_turn(a);
}

static void expect_in_name(qn_answer *a)
{
    const qn_syntax *s = a->syntax;
    if (a->state == QN_AS_ID) {
        bool before = s->id_place == QN_ID_BEFORE_NAME;
        expect(a, before ? &s->id_end : &s->name_end, before ? QN_MK_ID_END : QN_MK_NAME_END, 0);
        return;
    }
    if (s->shape == QN_SHAPE_PYTHON || s->shape == QN_SHAPE_BRACES) {
        return;
    }
    if (s->id_place == QN_ID_AFTER_NAME) {
        expect(a, &s->id_end, QN_MK_ID_END, 0);
        return;
    }
    expect(a, &s->name_end, QN_MK_NAME_END, 0);
    if (s->shape != QN_SHAPE_NAMED && s->name_end.core.len == 0) {
        expect(a, &s->key_open, QN_MK_KEY_OPEN, 0);
        expect(a, &s->call_close, QN_MK_CALL_CLOSE, 0);
    }
}

static void expect_in_value(qn_answer *a)
{
    const qn_syntax *s = a->syntax;
    if (a->guarded) {
        expect(a, &s->guard_close, QN_MK_GUARD_CLOSE, 0);
        return;
    }
    if (a->guard) {
        expect(a, &s->guard_open, QN_MK_GUARD_OPEN, 0);
    }
    if (s->shape == QN_SHAPE_NESTED) {
        expect(a, &s->key_open, QN_MK_KEY_OPEN, 0);
    }
    expect(a, &s->value_end, QN_MK_VALUE_END, 0);
}

/* Marks that come too early, when a brace is missing, and with which no JSON goes on. */
static void expect_in_json(qn_answer *a)
{
    const qn_mark *closes[] = {&a->syntax->call_close, &a->syntax->section_close};
    static const qn_mark_kind kinds[] = {QN_MK_CALL_CLOSE, QN_MK_SECTION_CLOSE};
    for (size_t i = 0; i < 2; i++) {
        qn_str core = closes[i]->core;
        if (core.len > 0 && strchr("{}[],:\"-0123456789tfn", core.data[0]) == NULL) {
            expect(a, closes[i], kinds[i], 0);
        }
    }
    expect_turn(a);
}

void qn_answer_enter(qn_answer *a, qn_answer_state state)
{
    a->state = state;
    a->n_expected = 0;
    memset(a->starts, 0, sizeof(a->starts));
    switch (state) {
    case QN_AS_CONTENT:
        expect_in_content(a);
        break;
    case QN_AS_REASONING:
        if (!a->d->has_header) {
            expect(a, &a->d->think_close, QN_MK_THINK_CLOSE, 0);
        }
        expect_turn(a);
        break;
    case QN_AS_BETWEEN:
    case QN_AS_OVER:
        expect_turn(a);
        break;
    case QN_AS_HEADER:
        expect(a, &a->d->header.end, QN_MK_HEADER_END, 0);
        break;
    case QN_AS_SECTION:
        expect(a, &a->syntax->call_open, QN_MK_CALL_OPEN, (size_t)(a->syntax - a->d->syntaxes));
        expect(a, &a->syntax->call_close, QN_MK_CALL_CLOSE, 0);
        expect(a, &a->syntax->section_close, QN_MK_SECTION_CLOSE, 0);
        expect_turn(a);
        break;
    case QN_AS_JSON:
    case QN_AS_OBJECT:
    case QN_AS_WHOLE:
        expect_in_json(a);
        break;
    case QN_AS_NAME:
    case QN_AS_ID:
        expect_in_name(a);
        break;
    case QN_AS_TAGS:
        expect(a, &a->syntax->key_open, QN_MK_KEY_OPEN, 0);
        expect(a, &a->syntax->call_close, QN_MK_CALL_CLOSE, 0);
        break;
    case QN_AS_KEY:
    case QN_AS_CLOSE_KEY:
        expect(a, &a->syntax->key_end, QN_MK_KEY_END, 0);
        expect(a, &a->syntax->key_end_json, QN_MK_KEY_END_JSON, 0);
        break;
    case QN_AS_VALUE:
        expect_in_value(a);
        break;
    default:
        break; /* literals know their own end */
    }
}

static void drop_held(qn_answer *a, size_t n)
{
    a->n_held -= n;
    memmove(a->held, a->held + n, a->n_held);
}

/* Takes whitespace that belongs to the last mark. */
static void take_skip(qn_answer *a)
{
    size_t n = 0;
    while (n < a->n_held && n < a->skip.len && a->held[n] == a->skip.data[n]) {
        n++;
    }
    if (a->holding && !a->done) {
        qn_answer_keep(a, (qn_str){a->held, n});
    }
    a->skip = n < a->n_held ? (qn_str){"", 0} : (qn_str){a->skip.data + n, a->skip.len - n};
    drop_held(a, n);
}

static void take_mark(qn_answer *a, const qn_expected *e, size_t len)
{
    char text[sizeof(a->held)];
    qn_expected mark = *e;
    memcpy(text, a->held, len);
    drop_held(a, len);
    a->skip = mark.mark->after;
    a->done = false;
    qn_answer_on_mark(a, &mark, (qn_str){text, len});
    if (a->holding && !a->done) {
        qn_answer_keep(a, (qn_str){text, len});
    }
}

static bool in_json_string(const qn_answer *a)
{
    return qn_call_in_json(a) && qn_json_stream_in_string(a->state == QN_AS_JSON ? &a->json : &a->object.stream);
}

static bool is_text_state(qn_answer_state s)
{
    return s <= QN_AS_OVER;
}

static void take_byte(qn_answer *a)
{
    char c = a->held[0];
    uint32_t i_call = a->i_call;
    a->done = false;
    bool taken = is_text_state(a->state) ? qn_answer_text_byte(a, c) : qn_answer_call_byte(a, c);
    if (!taken) {
        qn_answer_reject(a); /* the byte is looked at again, as content */
        return;
    }
    drop_held(a, 1);
    if (a->holding && !a->done && a->i_call == i_call) { /* a call's last byte is no part of what follows */
        qn_answer_keep(a, (qn_str){&c, 1});
    }
}

void qn_answer_settle(qn_answer *a, bool final)
{
    while (a->n_held > 0 && a->status == QN_OK) {
        if (a->skip.len > 0) {
            take_skip(a);
            continue;
        }
        qn_str held = {a->held, a->n_held};
        const qn_expected *best = NULL;
        size_t best_len = 0;
        bool wait = false, may = a->starts[(unsigned char)held.data[0]] && !in_json_string(a);
        for (size_t i = 0; may && i < a->n_expected; i++) {
            size_t len = 0;
            qn_fit fit = qn_mark_fit(a->expected[i].mark, held, &len);
            wait = wait || fit == QN_FIT_PART;
            if (fit == QN_FIT_WHOLE && len > best_len) {
                best = &a->expected[i];
                best_len = len;
            }
        }
        if (wait && !final && a->n_held < sizeof(a->held)) {
            return;
        }
        if (best != NULL) {
            take_mark(a, best, best_len);
        } else {
            take_byte(a);
        }
    }
}

void qn_answer_feed(qn_answer *a, const char *bytes, size_t n)
{
    size_t i = 0;
    while (i < n && a->status == QN_OK) {
        bool plain = (a->state == QN_AS_CONTENT && !a->fresh) || a->state == QN_AS_REASONING;
        size_t from = i;
        while (plain && a->n_held == 0 && a->skip.len == 0 && i < n && !a->starts[(unsigned char)bytes[i]]) {
            i++;
        }
        if (i > from) {
            bool content = a->state == QN_AS_CONTENT || a->keep_reasoning;
            qn_answer_say(a, content ? QN_PART_CONTENT : QN_PART_REASONING, bytes + from, i - from);
            continue;
        }
        a->held[a->n_held++] = bytes[i++];
        qn_answer_settle(a, false);
    }
}
