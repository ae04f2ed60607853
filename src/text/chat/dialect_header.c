/* Turns of several messages, each with a header that says what it is:
 *     <|channel|>analysis<|message|>...<|end|><|start|>assistant to=functions.NAME<|message|>...
 * The generation prompt ends with the mark that opens a header, so the same mark is found again inside a turn.
 * SPDX-License-Identifier: MIT */
#include "text/chat/dialect_int.h"

/* What the generation prompt ends with and s has inside: all of it, or what follows its last whitespace. */
static qn_str find_open(const qn_dialect *d, qn_str inside, bool word)
{
    qn_str start = qn_cut_trim(d->turn_start);
    size_t from = start.len;
    while (from > 0 && !qn_is_blank(start.data[from - 1])) {
        from--;
    }
    if (start.len > 0 && qn_cut_has(inside, start)) {
        return start;
    }
    qn_str last = qn_cut_from(start, from);
    return word && from > 0 && last.len > 1 && qn_cut_has(inside, last) ? last : (qn_str){"", 0};
}

/* The token before the place `at`: it ends a message, and the turn when no other follows. */
static void add_terminator(qn_dialect *d, qn_str s, size_t at, bool goes_on)
{
    qn_str token = qn_cut_last_token(qn_cut_to(s, at));
    qn_add_end(d, token);
    for (size_t i = 0; goes_on && i < d->n_ends; i++) {
        d->ends_go_on |= qn_str_eq(d->ends[i].core, token) ? 1u << i : 0;
    }
}

static qn_mark header_end(qn_str header)
{
    qn_str token = qn_cut_last_token(header);
    if (token.len > 0) {
        return (qn_mark){.core = token, .after = qn_mark_of(header).after};
    }
    bool line = header.len > 0 && header.data[header.len - 1] == '\n';
    return line ? (qn_mark){.core = QN_STR("\2")} : (qn_mark){.core = {"", 0}};
}

static qn_str header_text(qn_str lead, const qn_mark *end)
{
    size_t n = end->core.len + end->after.len;
    return n > lead.len ? (qn_str){"", 0} : qn_cut_trim(qn_cut_to(lead, lead.len - n));
}

/* What the generation prompt ends with, when content and the first call both follow it with a text that ends with the
 * same token, and the call's has the name in it. It shows headers where no turn shows two messages. */
static qn_str open_before_names(const qn_dialect *d, const qn_call_text *c, qn_str lead)
{
    qn_str token = qn_cut_last_token(lead), none = {"", 0};
    qn_mark end = {.core = token, .after = qn_mark_of(lead).after};
    if (token.len == 0 || header_text(lead, &end).len == 0) {
        return none;
    }
    size_t at = qn_cut_find(c->turn, token, 0);
    size_t name = qn_cut_find(c->turn, qn_probe_name(0), 0);
    bool body = at != QN_NOWHERE && name < at && at < c->key_at[0][0];
    bool json = body && qn_cut_starts(qn_cut_trim(qn_cut_from(c->turn, at + token.len)), QN_STR("{"));
    return json ? qn_cut_trim(d->turn_start) : none;
}

bool qn_derive_header(qn_dialect *d, qn_prober *p, const qn_turns *t, qn_call_text *c)
{
    qn_str reasoning, open = {"", 0};
    size_t reason_at = 0, content_at = 0, last = c->n_calls - 1;
    size_t first_name = qn_cut_find(c->turn, qn_probe_name(0), 0);
    qn_str inside = qn_cut_between(c->turn, c->value_at[0][1], c->value_at[last][1]);
    bool reasons = qn_find_reasoning_turn(d, p, &reasoning, &reason_at, &content_at);
    if (c->n_calls == 2) {
        open = find_open(d, inside, true);
    }
    qn_str between = reasons ? qn_cut_between(reasoning, reason_at, content_at) : (qn_str){"", 0};
    if (open.len == 0) {
        open = find_open(d, between, false);
    }
    bool unseen = open.len == 0;
    if (unseen) {
        open = open_before_names(d, c, t->lead);
    }
    qn_header h = {.open = {.core = open}, .end = header_end(t->lead)};
    if (open.len == 0 || h.end.core.len == 0) {
        return false;
    }
    h.content = header_text(t->lead, &h.end);
    qn_str name_end = qn_cut_from(c->turn, first_name + qn_probe_name(0).len);
    bool line = h.end.core.data[0] == QN_MARK_LINE_END;
    size_t end_at = qn_cut_find(name_end, line ? QN_STR("\n") : h.end.core, 0);
    if (end_at == QN_NOWHERE) {
        return false;
    }
    qn_str recipient = qn_cut_to(c->turn, first_name);
    size_t from = recipient.len;
    while (from > 0 && !qn_is_blank(recipient.data[from - 1]) && recipient.data[from - 1] != '>') {
        from--;
    }
    h.recipient = qn_cut_from(recipient, from);
    size_t begin = qn_cut_find_last(recipient, open, from);
    begin = begin == QN_NOWHERE ? 0 : begin + open.len;
    h.lead = qn_cut_between(recipient, begin, from);
    h.tail = qn_cut_to(name_end, end_at);
    h.alone = c->n_calls == 1;
    c->body = (size_t)(name_end.data - c->turn.data) + end_at + h.end.core.len;
    qn_str body = qn_cut_trim(qn_cut_between(c->turn, c->body, c->key_at[0][0]));
    h.json_body = qn_cut_starts(body, QN_STR("{"));
    if (reasons) {
        h.reasoning = header_text(qn_cut_to(reasoning, reason_at), &h.end);
        size_t at = qn_cut_find(between, open, 0);
        if (at != QN_NOWHERE) {
            qn_str token = qn_cut_first_token(qn_cut_from(between, strlen(QN_PROBE_REASON)));
            d->think_close = (qn_mark){.core = token};
            add_terminator(d, between, at, true);
        }
    }
    size_t again = qn_cut_find(inside, open, 0);
    if (again != QN_NOWHERE) {
        add_terminator(d, inside, again, true);
    }
    add_terminator(d, c->turn, c->turn.len, false);
    if (unseen) {
        /* Which mark stands between two messages is unknown: any but the one that ends a conversation. */
        d->ends_go_on = ~1u;
    }
    d->header = h;
    return true;
}
