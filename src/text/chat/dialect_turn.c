/* Where an answer begins in a rendered conversation, and what the template writes after it.
 * SPDX-License-Identifier: MIT */
#include "text/chat/dialect_int.h"

#define MAX_PROMPT_END 2048 /* bytes of a generation prompt that are looked at; known ones have 60 */

void qn_add_note(qn_dialect *d, const char *note)
{
    if (d->n_notes < QN_MAX_NOTES) {
        d->notes[d->n_notes++] = note;
    }
}

void qn_add_end(qn_dialect *d, qn_str text)
{
    qn_str token = qn_cut_first_token(text);
    if (token.len < 2 || token.len > QN_MARK_MAX || d->n_ends == QN_MAX_ENDS) {
        return;
    }
    for (size_t i = 0; i < d->n_ends; i++) {
        if (qn_str_eq(d->ends[i].core, token)) {
            return;
        }
    }
    d->ends[d->n_ends++] = (qn_mark){.before = qn_mark_of(text).before, .core = token};
}

static qn_str after_user(qn_str rendered)
{
    qn_str user = QN_STR(QN_PROBE_USER);
    size_t at = qn_cut_find(rendered, user, 0);
    return at == QN_NOWHERE ? (qn_str){rendered.data, 0} : qn_cut_from(rendered, at + user.len);
}

/* s, which another text goes on from, ends inside <...>. */
static bool is_inside_angle(qn_str s)
{
    for (size_t i = s.len; i-- > 0 && s.data[i] != '>';) {
        if (s.data[i] == '<') {
            return true;
        }
    }
    return false;
}

/* The longest beginning of `prompt` that all prompts and the real turn have too. */
static qn_str shared_start(qn_str prompt, const qn_str *prompts, size_t n_prompts, qn_str before_content)
{
    for (size_t n = prompt.len; n > 0; n--) {
        qn_str start = qn_cut_to(prompt, n);
        bool shared = !is_inside_angle(start) && qn_cut_trim(start).len > 0 && qn_cut_has(before_content, start);
        for (size_t i = 0; shared && i < n_prompts; i++) {
            shared = qn_cut_has(prompts[i], start);
        }
        if (shared) {
            return start;
        }
    }
    return qn_cut_to(prompt, 0);
}

/* The rest of s after the last `start` in it; empty when there is none. */
static qn_str after_last(qn_str s, qn_str start)
{
    size_t at = qn_cut_find_last(s, start, s.len);
    return at == QN_NOWHERE ? (qn_str){s.data, 0} : qn_cut_from(s, at + start.len);
}

static void set_tails(qn_dialect *d, qn_turns *t, const qn_str *prompts, size_t n)
{
    t->n_tails = n;
    for (size_t i = 0; i < n; i++) {
        t->tails[i] = after_last(prompts[i], d->turn_start);
    }
}

/* A turn_start that ends with <think>, which </think> follows somewhere: reasoning is the model's, not the start's. */
static void leave_out_opener(qn_dialect *d, qn_turns *t, const qn_str *prompts, size_t n, qn_str before_content)
{
    char closer[QN_MARK_MAX];
    qn_str token = qn_cut_last_token(d->turn_start);
    size_t len = token.len == 0 ? 0 : qn_cut_closer(token, closer);
    qn_str close = {closer, len};
    bool closed = len > 0 && qn_cut_has(after_last(before_content, d->turn_start), close);
    for (size_t i = 0; len > 0 && i < n; i++) {
        closed = closed || qn_cut_has(t->tails[i], close);
    }
    if (closed) {
        d->turn_start = qn_cut_to(d->turn_start, (size_t)(token.data - d->turn_start.data));
        set_tails(d, t, prompts, n);
    }
}

bool qn_turn_text(const qn_dialect *d, qn_str rendered, qn_str *out)
{
    qn_str rest = after_user(rendered);
    if (rest.len == 0) {
        return false;
    }
    qn_mark start = qn_mark_of(d->turn_start);
    if (start.core.len == 0) {
        *out = rest;
        return true;
    }
    size_t at = qn_cut_find(rest, start.core, 0);
    if (at == QN_NOWHERE) {
        return false;
    }
    rest = qn_cut_from(rest, at + start.core.len);
    size_t n = 0;
    while (n < rest.len && n < start.after.len && rest.data[n] == start.after.data[n]) {
        n++;
    }
    *out = qn_cut_from(rest, n);
    return true;
}

static void derive_ends(qn_dialect *d, qn_prober *p, qn_str content_turn)
{
    qn_str content = QN_STR(QN_PROBE_CONTENT), long_turn, turn;
    size_t at = qn_cut_find(content_turn, content, 0);
    qn_add_end(d, qn_cut_from(content_turn, at + content.len));
    qn_probe probe = {.assistant = true, .content = QN_TEXT_CONTENT, .next = QN_NEXT_USER};
    if (qn_probe_render(p, &probe, &long_turn) && qn_turn_text(d, long_turn, &turn)) {
        at = qn_cut_find(turn, content, 0);
        if (at != QN_NOWHERE) {
            qn_add_end(d, qn_cut_from(turn, at + content.len));
        }
    }
    if (d->n_ends == 0) {
        qn_add_note(d, "no mark ends a turn");
    }
}

/* False: the template refuses a plain conversation, or does not show it. */
static bool derive_turn(qn_dialect *d, qn_prober *p, qn_turns *t)
{
    qn_str prompts[4], content_text;
    size_t n = 0;
    for (qn_probe_think think = QN_THINK_DEFAULT; think <= QN_THINK_OFF; think++) {
        qn_probe probe = {.generate = true, .think = think};
        n += qn_probe_render(p, &probe, &prompts[n]) ? 1 : 0;
    }
    qn_probe plain = {0}, answered = {.assistant = true, .content = QN_TEXT_CONTENT};
    if (n == 0 || !qn_probe_render(p, &answered, &content_text)) {
        return false;
    }
    t->prompt = prompts[0];
    qn_str user_end = after_user(content_text);
    size_t at = qn_cut_find(user_end, QN_STR(QN_PROBE_CONTENT), 0);
    if (at == QN_NOWHERE) {
        return false;
    }
    qn_str before_content = qn_cut_to(user_end, at), prompt = after_user(prompts[0]);
    if (qn_probe_render(p, &plain, &t->before)) {
        qn_str added = qn_cut_from(prompts[0], qn_cut_common_start(prompts[0], t->before).len);
        prompt = qn_cut_trim(added).len > 0 ? added : prompt;
    }
    if (prompt.len <= MAX_PROMPT_END) {
        d->turn_start = shared_start(prompt, prompts, n, before_content);
    }
    set_tails(d, t, prompts, n);
    leave_out_opener(d, t, prompts, n, before_content);
    at = qn_turn_text(d, content_text, &t->content) ? qn_cut_find(t->content, QN_STR(QN_PROBE_CONTENT), 0) : QN_NOWHERE;
    if (at == QN_NOWHERE) {
        t->content.len = 0;
        return false;
    }
    t->lead = qn_cut_to(t->content, at);
    derive_ends(d, p, t->content);
    return true;
}

void qn_derive_turn(qn_dialect *d, qn_prober *p, qn_turns *t)
{
    if (derive_turn(d, p, t)) {
        return;
    }
    p->typed = true;
    if (!derive_turn(d, p, t)) {
        p->typed = false;
        qn_add_note(d, "the template does not show a plain conversation");
    }
}

/* </think> with more after it: that begins the content. */
static void split_think_close(qn_dialect *d)
{
    char closer[QN_MARK_MAX];
    qn_str token = qn_cut_first_token(d->think_open.core);
    size_t len = token.len == 0 ? 0 : qn_cut_closer(token, closer);
    qn_mark *close = &d->think_close;
    if (len > 0 && len < close->core.len && qn_cut_starts(close->core, (qn_str){closer, len})) {
        qn_mark rest = qn_mark_of(qn_cut_from(close->core, len));
        d->content_open = (qn_mark){.core = rest.core, .after = close->after};
        close->core.len = len;
        close->after = rest.before;
    }
}

void qn_derive_content_marks(qn_dialect *d, const qn_turns *t)
{
    if (d->has_reasoning) {
        split_think_close(d);
    }
    qn_str lead = t->lead;
    size_t at = d->has_reasoning ? qn_cut_find_last(lead, d->think_close.core, lead.len) : QN_NOWHERE;
    if (at != QN_NOWHERE) {
        lead = qn_cut_from(lead, at + d->think_close.core.len);
    }
    qn_mark open = qn_mark_of(lead);
    if (open.core.len == 0 || (d->has_reasoning && qn_str_eq(open.core, d->think_open.core))) {
        return;
    }
    d->content_open = open;
    /* Reasoning ends where this begins. */
    qn_mark *close = &d->think_close;
    if (d->has_reasoning && close->core.len > open.core.len && qn_cut_ends(close->core, open.core)) {
        qn_mark rest = qn_mark_of(qn_cut_to(close->core, close->core.len - open.core.len));
        close->core = rest.core;
        close->after = rest.after;
    }
    qn_str content = QN_STR(QN_PROBE_CONTENT);
    qn_str after = qn_cut_from(t->content, t->lead.len + content.len), token = qn_cut_first_token(after);
    qn_str rest = qn_cut_from(after, (size_t)(token.data - after.data) + token.len);
    if (token.len > 0 && qn_cut_first_token(rest).len > 0 && d->n_ends > 0 && qn_str_eq(d->ends[0].core, token)) {
        d->content_close = (qn_mark){qn_mark_of(after).before, token, qn_mark_of(rest).before};
        d->n_ends = 0; /* what was taken for the end is this */
        qn_add_end(d, rest);
    }
}
