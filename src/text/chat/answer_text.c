/* Content, reasoning, and the headers of messages.
 * SPDX-License-Identifier: MIT */
#include "text/chat/answer_int.h"

bool qn_word_add(qn_word *w, char c)
{
    if (w->n == sizeof(w->bytes)) {
        return false;
    }
    w->bytes[w->n++] = c;
    return true;
}

/* A call without a mark before it: only at the beginning. */
static bool begin_bare(qn_answer *a, char c)
{
    if (a->no_calls || (c != '{' && c != '[')) {
        return false;
    }
    for (size_t i = 0; i < a->d->n_syntaxes; i++) {
        const qn_syntax *s = &a->d->syntaxes[i];
        if (!s->bare || (s->whole && (a->tools == NULL || c != '{' || a->i_call > 0))) {
            continue;
        }
        qn_answer_hold(a, s);
        a->n_calls = 0;
        qn_answer_enter(a, QN_AS_SECTION);
        return qn_answer_call_byte(a, c);
    }
    return false;
}

bool qn_answer_text_byte(qn_answer *a, char c)
{
    switch (a->state) {
    case QN_AS_CONTENT:
        if (a->fresh && !qn_is_blank(c)) {
            if (begin_bare(a, c)) {
                return true;
            }
            a->fresh = false;
            qn_answer_enter(a, QN_AS_CONTENT);
        }
        qn_answer_say(a, QN_PART_CONTENT, &c, 1);
        return true;
    case QN_AS_REASONING:
        qn_answer_say(a, a->keep_reasoning ? QN_PART_CONTENT : QN_PART_REASONING, &c, 1);
        return true;
    case QN_AS_HEADER:
        return c >= ' ' && c < 0x7F && qn_word_add(&a->name, c); /* all that headers are made of */
    default:
        /* Between messages, or over: else the mark was none. A call's arguments may end with a brace too many. */
        return qn_is_blank(c) || (c == '}' && a->state == QN_AS_BETWEEN && a->syntax != NULL);
    }
}

/* ---- headers ---- */

/* The function that the header is addressed to. */
static bool find_recipient(const qn_header *h, qn_str header, qn_str *name)
{
    size_t at = h->recipient.len == 0 ? 0 : qn_cut_find(header, h->recipient, 0), n = h->recipient.len;
    size_t sign = qn_cut_find(h->recipient, QN_STR("="), 0);
    if (at == QN_NOWHERE && sign != QN_NOWHERE) {
        n = sign + 1; /* to= without functions. */
        at = qn_cut_find(header, qn_cut_to(h->recipient, n), 0);
    }
    if (at == QN_NOWHERE) {
        return false;
    }
    size_t end = at + n;
    while (end < header.len && !qn_is_blank(header.data[end]) && header.data[end] != '<') {
        end++;
    }
    *name = qn_cut_between(header, at + n, end);
    return name->len > 0 && name->len <= QN_ANSWER_NAME;
}

static void end_header(qn_answer *a, qn_str text)
{
    const qn_header *h = &a->d->header;
    qn_str header = qn_cut_trim(qn_word_view(&a->name)), name;
    bool content = qn_str_eq(header, h->content), reasoning = h->reasoning.len > 0 && qn_str_eq(header, h->reasoning);
    if (!content && !reasoning && find_recipient(h, header, &name)) {
        bool known = h->recipient.len > 0 || a->tools == NULL || qn_tools_find(a->tools, name) != NULL;
        if (a->no_calls || !known) {
            qn_answer_keep(a, text);
            qn_answer_reject(a);
            return;
        }
        if (h->json_body) {
            memmove(a->name.bytes, name.data, name.len);
            a->name.n = name.len;
            qn_call_from_header(a);
            return;
        }
        content = true; /* the body says itself what is called */
    }
    reasoning = reasoning || (!content && h->reasoning.len > 0 && qn_cut_has(header, h->reasoning));
    a->fresh = true;
    if (reasoning && a->keep_reasoning) {
        qn_answer_say(a, QN_PART_CONTENT, a->raw.data, a->raw.len);
        qn_answer_say(a, QN_PART_CONTENT, text.data, text.len);
    }
    a->holding = false;
    qn_answer_enter(a, reasoning ? QN_AS_REASONING : QN_AS_CONTENT);
}

/* ---- marks ---- */

static void leave_for(qn_answer *a, qn_answer_state state)
{
    if (a->holding && a->n_calls == 0 && a->state == QN_AS_SECTION) {
        qn_answer_reject(a);
    }
    if (a->state != QN_AS_OVER || state != QN_AS_OVER) { /* a second end is held with the first */
        qn_answer_hold(a, NULL);
    }
    qn_answer_enter(a, state);
}

static void end_turn(qn_answer *a, const qn_expected *e, qn_str text)
{
    bool reasoning = a->state == QN_AS_REASONING, goes_on = (a->d->ends_go_on >> e->i & 1) != 0;
    if (reasoning && a->keep_reasoning && goes_on) {
        qn_answer_say(a, QN_PART_CONTENT, text.data, text.len);
    }
    a->cut = a->cut || (reasoning && !goes_on);
    leave_for(a, goes_on && a->state != QN_AS_OVER ? QN_AS_BETWEEN : QN_AS_OVER);
}

void qn_answer_on_mark(qn_answer *a, const qn_expected *e, qn_str text)
{
    if (qn_call_in_json(a)) {
        qn_call_cut_json(a);
    }
    switch (e->kind) {
    case QN_MK_THINK_OPEN:
    case QN_MK_THINK_CLOSE:
        if (a->keep_reasoning) {
            qn_answer_say(a, QN_PART_CONTENT, text.data, text.len);
            a->skip.len = 0;
        }
        a->begun = a->fresh = true;
        qn_answer_enter(a, e->kind == QN_MK_THINK_OPEN ? QN_AS_REASONING : QN_AS_CONTENT);
        break;
    case QN_MK_CONTENT_OPEN:
    case QN_MK_CONTENT_CLOSE:
        a->begun = a->fresh = true;
        qn_answer_enter(a, QN_AS_CONTENT);
        break;
    case QN_MK_END:
        end_turn(a, e, text);
        break;
    case QN_MK_HEADER_OPEN:
        leave_for(a, QN_AS_HEADER);
        break;
    case QN_MK_HEADER_END:
        end_header(a, text);
        break;
    default:
        qn_call_on_mark(a, e, text);
        break;
    }
}
