/* The marks of reasoning: from a turn that shows some, else from what changes in the prompt when thinking is switched,
 * else from what the template leaves out of earlier turns.
 * SPDX-License-Identifier: MIT */
#include "text/chat/dialect_int.h"

#include <stdio.h>

static const char *const known[][2] = {
    {"<think>", "</think>"},     {"[THINK]", "[/THINK]"},         {"<thinking>", "</thinking>"},
    {"<thought>", "</thought>"}, {"<reasoning>", "</reasoning>"}, {"<|START_THINKING|>", "<|END_THINKING|>"},
};

bool qn_find_reasoning_turn(const qn_dialect *d, qn_prober *p, qn_str *turn, size_t *reason_at, size_t *content_at)
{
    for (unsigned parts = 0; parts < 2; parts++) {
        for (qn_probe_think think = QN_THINK_DEFAULT; think < QN_THINK_OFF; think++) {
            qn_probe probe = {.assistant = true,
                              .content = QN_TEXT_CONTENT,
                              .think = think,
                              .reasoning = parts == 0,
                              .parts = parts == 1};
            qn_str text;
            if (!qn_probe_render(p, &probe, &text) || !qn_turn_text(d, text, turn)) {
                continue;
            }
            *reason_at = qn_cut_find(*turn, QN_STR(QN_PROBE_REASON), 0);
            *content_at =
                *reason_at == QN_NOWHERE ? QN_NOWHERE : qn_cut_find(*turn, QN_STR(QN_PROBE_CONTENT), *reason_at);
            /* A list of parts that is printed as it is shows the word too, in JSON. */
            if (*content_at != QN_NOWHERE && !(parts == 1 && qn_cut_has(*turn, QN_STR("type")))) {
                return true;
            }
        }
    }
    return false;
}

static void set_marks(qn_dialect *d, qn_mark open, qn_mark close)
{
    d->has_reasoning = true;
    d->think_open = open;
    d->think_close = close;
}

/* <x>blank</x> in what the prompt ends with or the content begins with: reasoning that is over before it began. */
static bool from_tails(qn_dialect *d, const qn_turns *t)
{
    char closer[QN_MARK_MAX];
    qn_str texts[5] = {t->lead};
    memcpy(texts + 1, t->tails, t->n_tails * sizeof(qn_str));
    for (size_t i = 0; i <= t->n_tails; i++) {
        qn_str open = qn_cut_first_token(texts[i]);
        size_t len = open.len == 0 ? 0 : qn_cut_closer(open, closer);
        for (size_t k = 0; len > 0 && k <= t->n_tails; k++) {
            size_t at = qn_cut_find(texts[k], (qn_str){closer, len}, 0);
            if (at == QN_NOWHERE) {
                continue;
            }
            qn_str core = qn_cut_between(texts[k], at, at + len);
            qn_mark close = {.core = core, .after = qn_mark_of(qn_cut_from(texts[k], at + len)).before};
            size_t begin = (size_t)(open.data - texts[i].data);
            qn_mark mark = {.core = open, .after = qn_mark_of(qn_cut_from(texts[i], begin + open.len)).before};
            if (i == k) {
                /* What stands between is the mark's (a channel's name), then one line end for each mark. */
                mark = qn_mark_of(qn_cut_between(texts[k], begin, at));
                size_t half = mark.after.len / 2;
                close.before = qn_cut_from(mark.after, mark.after.len - half);
                mark.after.len -= half;
            }
            set_marks(d, mark, close);
            return true;
        }
    }
    return false;
}

/* The template leaves <x>...</x> out of an earlier turn. *n_after: line ends after </x> that it leaves out with it. */
static bool is_left_out(qn_dialect *d, qn_prober *p, qn_str open, qn_str close, size_t *n_after)
{
    char text[2 * QN_MARK_MAX + 64];
    int n = snprintf(text, sizeof(text), "%.*s\n" QN_PROBE_REASON "\n%.*s\n\n" QN_PROBE_CONTENT, (int)open.len,
                     open.data, (int)close.len, close.data);
    qn_probe probe = {
        .assistant = true, .content = QN_TEXT_CONTENT, .literal = {text, (size_t)n}, .next = QN_NEXT_USER};
    qn_str rendered, turn;
    if (!qn_probe_render(p, &probe, &rendered) || !qn_turn_text(d, rendered, &turn) ||
        qn_cut_has(turn, QN_STR(QN_PROBE_REASON))) {
        return false;
    }
    size_t at = qn_cut_find(turn, QN_STR(QN_PROBE_CONTENT), 0);
    *n_after = 2;
    while (at != QN_NOWHERE && at > 2 - *n_after && *n_after > 0 && turn.data[at - 1 - (2 - *n_after)] == '\n') {
        --*n_after;
    }
    return at != QN_NOWHERE;
}

static bool from_history(qn_dialect *d, qn_prober *p, const qn_turns *t)
{
    char closer[QN_MARK_MAX];
    size_t n_after;
    qn_str open = t->n_tails > 0 ? qn_cut_last_token(t->tails[0]) : (qn_str){"", 0};
    size_t len = open.len == 0 ? 0 : qn_cut_closer(open, closer);
    if (len > 0 && is_left_out(d, p, open, (qn_str){closer, len}, &n_after)) {
        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
            if (qn_str_is(open, known[i][0])) {
                set_marks(d, (qn_mark){.core = open, .after = qn_mark_of(t->tails[0]).after},
                          (qn_mark){.core = qn_str_of(known[i][1]), .after = {"\n\n", n_after}});
                return true;
            }
        }
    }
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        qn_str from = qn_str_of(known[i][0]), to = qn_str_of(known[i][1]);
        if (is_left_out(d, p, from, to, &n_after)) {
            set_marks(d, (qn_mark){.core = from, .after = QN_STR("\n")},
                      (qn_mark){.before = QN_STR("\n"), .core = to, .after = {"\n\n", n_after}});
            return true;
        }
    }
    return false;
}

/* The prompt tells the model to write <think> and </think>. */
static bool from_instructions(qn_dialect *d, qn_prober *p)
{
    qn_probe probe = {.generate = true, .think = QN_THINK_ON};
    qn_str prompt;
    if (!qn_probe_render(p, &probe, &prompt)) {
        return false;
    }
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        qn_str open = qn_str_of(known[i][0]), close = qn_str_of(known[i][1]);
        if (qn_cut_has(prompt, open) && qn_cut_has(prompt, close)) {
            set_marks(d, (qn_mark){.core = open}, (qn_mark){.core = close});
            return true;
        }
    }
    return false;
}

void qn_derive_reasoning(qn_dialect *d, qn_prober *p, const qn_turns *t)
{
    qn_str turn;
    size_t reason, content;
    if (qn_find_reasoning_turn(d, p, &turn, &reason, &content)) {
        qn_mark open = qn_mark_of(qn_cut_to(turn, reason));
        qn_mark close = qn_mark_of(qn_cut_between(turn, reason + strlen(QN_PROBE_REASON), content));
        if (open.core.len == 0 && t->n_tails > 0) {
            open = qn_mark_of(t->tails[0]); /* the turn shows what the model says after it */
        }
        if (open.core.len > 0 && close.core.len > 0) {
            set_marks(d, open, close);
        } else {
            qn_add_note(d, "reasoning is shown, but not between marks");
        }
    } else if (!from_tails(d, t) && !from_history(d, p, t)) {
        from_instructions(d, p);
    }
    if (d->has_reasoning && t->n_tails > 0) {
        size_t at = qn_cut_find_last(t->tails[0], d->think_open.core, t->tails[0].len);
        d->prompt_opens = at != QN_NOWHERE && !qn_cut_has(qn_cut_from(t->tails[0], at), d->think_close.core);
    }
}
