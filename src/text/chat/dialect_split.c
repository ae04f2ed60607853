/* The marks around calls: what stands before, between and after them, split into what belongs to a section and to a
 * call. SPDX-License-Identifier: MIT */
#include "text/chat/dialect_int.h"

/* Where text[0, end) ends without the marks that end a turn, or what the template writes after all turns. */
static size_t without_end(const qn_dialect *d, const qn_turns *t, qn_str text)
{
    qn_str content = QN_STR(QN_PROBE_CONTENT);
    size_t at = qn_cut_find(t->content, content, 0);
    qn_str end = at == QN_NOWHERE ? content : qn_cut_trim(qn_cut_from(t->content, at + content.len));
    qn_str all = {text.data, qn_mark_of(text).before.len + qn_mark_of(text).core.len};
    if (end.len > 0 && qn_cut_ends(all, end)) {
        return all.len - end.len;
    }
    qn_str shared = qn_cut_common_end(text, t->before);
    if (qn_cut_trim(shared).len > 0) {
        text.len -= shared.len;
        all = (qn_str){text.data, qn_mark_of(text).before.len + qn_mark_of(text).core.len};
    }
    for (size_t i = 0; i < d->n_ends; i++) {
        if (qn_cut_ends(all, d->ends[i].core)) {
            return all.len - d->ends[i].core.len;
        }
    }
    return text.len;
}

/* Reasoning that a turn with calls leaves empty is none of the calls' marks. */
static void leave_out_reasoning(qn_dialect *d, qn_call_text *c)
{
    char closer[QN_MARK_MAX];
    qn_str token = qn_cut_first_token(c->before);
    size_t len = token.len == 0 ? 0 : qn_cut_closer(token, closer);
    qn_str rest = qn_cut_from(c->before, (size_t)(token.data - c->before.data) + token.len);
    size_t blank = qn_mark_of(rest).before.len;
    if (len > 0 && qn_cut_starts(qn_cut_from(rest, blank), (qn_str){closer, len})) {
        c->before = qn_cut_from(rest, blank + len);
        if (!d->has_reasoning) {
            d->has_reasoning = true;
            d->think_open = (qn_mark){.core = token};
            d->think_close = (qn_mark){.core = qn_cut_between(rest, blank, blank + len)};
        }
    }
}

/* What stands before the first call of a turn without content. */
static qn_str before_alone(const qn_dialect *d, const qn_turns *t, qn_str before)
{
    if (qn_cut_trim(t->lead).len > 0 && qn_cut_starts(before, t->lead)) {
        return qn_cut_from(before, t->lead.len);
    }
    size_t at = d->has_reasoning ? qn_cut_find_last(before, d->think_close.core, before.len) : QN_NOWHERE;
    return at == QN_NOWHERE ? before : qn_cut_from(before, at + d->think_close.core.len);
}

/* What stands before the first call, which begins at call_at: after the content if the template can show both. */
static void find_before(qn_dialect *d, qn_prober *p, const qn_turns *t, const qn_probe *how, qn_call_text *c,
                        size_t call_at)
{
    c->before = qn_cut_between(c->turn, c->body, call_at);
    if (c->body > 0) {
        return;
    }
    c->before = before_alone(d, t, c->before);
    qn_probe probe = *how;
    probe.content = QN_TEXT_CONTENT;
    qn_call_text with;
    qn_str content = QN_STR(QN_PROBE_CONTENT);
    size_t to_name = c->name_at[0] - call_at;
    if (!qn_show_calls(d, p, &probe, &with) || with.name_at[0] < to_name) {
        return;
    }
    size_t begin = with.name_at[0] - to_name, at = qn_cut_find_last(with.turn, content, begin);
    if (at == QN_NOWHERE) {
        return;
    }
    qn_str before = qn_cut_between(with.turn, at + content.len, begin), alone = qn_cut_trim(c->before);
    at = qn_cut_find(before, d->content_close.core, 0);
    if (at != QN_NOWHERE) {
        c->before = qn_cut_from(before, at + d->content_close.core.len);
        return;
    }
    qn_mark both = qn_mark_of(before);
    if (alone.len > 0 && alone.len < both.core.len && qn_cut_ends(both.core, alone)) {
        /* More than what begins calls: it ends the content. */
        qn_str more = qn_cut_to(before, both.before.len + both.core.len - alone.len);
        if (qn_cut_trim(more).len > 0) {
            d->content_close = qn_mark_of(more);
            return;
        }
    }
    c->before = before;
}

static size_t longest(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Sets the marks of sections and calls from what stands before the first call, between two (when know_between) and
 * after the last. */
static void set_marks(qn_syntax *s, qn_str before, qn_str between, qn_str after, bool know_between)
{
    qn_str open = know_between ? qn_cut_common_end(before, between) : before;
    bool objects = s->shape == QN_SHAPE_OBJECT || s->shape == QN_SHAPE_KEYED;
    if (!know_between || qn_cut_trim(open).len == 0) {
        bool section = objects || (know_between && qn_cut_trim(before).len > 0);
        *(section ? &s->section_open : &s->call_open) = qn_mark_of(before);
        qn_str close = know_between ? qn_cut_common_start(between, after) : (qn_str){after.data, 0};
        if (section && qn_cut_trim(close).len > 0) {
            s->call_close = qn_mark_of(close);
            after = qn_cut_from(after, close.len);
        }
        *(section ? &s->section_close : &s->call_close) = qn_mark_of(after);
        s->separator = know_between ? qn_mark_of(between).before : (qn_str){"", 0};
        return;
    }
    qn_str outside = qn_cut_to(before, before.len - open.len), rest = qn_cut_to(between, between.len - open.len);
    qn_str close = qn_cut_common_start(rest, after);
    s->call_close = qn_mark_of(close);
    qn_mark end = qn_mark_of(qn_cut_from(after, close.len));
    if (qn_cut_trim(outside).len == 0) {
        s->call_open = qn_mark_of(before);
    } else {
        s->call_open = qn_mark_of(open);
        s->section_open = qn_mark_of(outside);
        s->section_close = end;
    }
    qn_str space = qn_mark_of(open).before;
    s->separator = space.len > 0 ? space : qn_mark_of(qn_cut_from(rest, close.len)).before;
    if (s->section_open.core.len == 0 && s->call_close.core.len > 0) {
        size_t n = longest(longest(s->call_close.after.len, s->separator.len), end.core.len == 0 ? end.before.len : 0);
        s->call_close.after = n == s->call_close.after.len ? s->call_close.after
                              : n == s->separator.len      ? s->separator
                                                           : end.before;
    }
}

void qn_split_turn(qn_dialect *d, qn_prober *p, const qn_turns *t, const qn_probe *how, qn_call_text *c, qn_syntax *s,
                   const size_t (*spans)[2])
{
    bool two = c->n_calls == 2;
    qn_str after = qn_cut_between(c->turn, spans[two][1], c->turn.len);
    after.len = without_end(d, t, after);
    find_before(d, p, t, how, c, spans[0][0]);
    leave_out_reasoning(d, c);
    qn_str before = c->before, open = qn_cut_trim(before), close = qn_cut_trim(after);
    qn_str between = two ? qn_cut_between(c->turn, spans[0][1], spans[1][0]) : (qn_str){"", 0};
    if (qn_cut_ends(open, QN_STR("[")) && qn_cut_starts(close, QN_STR("]")) &&
        (!two || qn_str_is(qn_cut_trim(between), ","))) {
        s->list = true;
        s->section_open = qn_mark_of(qn_cut_to(before, qn_mark_of(before).before.len + open.len - 1));
        s->section_close = qn_mark_of(qn_cut_from(close, 1));
        return;
    }
    set_marks(s, before, between, after, two);
}
