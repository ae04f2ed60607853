/* The marks of calls whose parameters stand one by one: <parameter=KEY>VALUE</parameter> and the like.
 * SPDX-License-Identifier: MIT */
#include "text/chat/dialect_int.h"

static bool is_blank(qn_str s)
{
    return qn_cut_trim(s).len == 0;
}

/* <KEY>VALUE</KEY>: the key stands on both sides. repeat_at: where call 0's first key stands again. */
static bool derive_nested(qn_syntax *s, const qn_call_text *c, size_t repeat_at, size_t (*spans)[2])
{
    qn_str turn = c->turn, key = qn_probe_key(0, 0);
    size_t value_end = c->value_at[0][0] + qn_probe_value_text(0, 0).len;
    qn_str after_name = qn_cut_between(turn, c->name_at[0] + qn_probe_name(0).len, c->key_at[0][0]);
    qn_str open = qn_cut_common_end(after_name, qn_cut_between(turn, repeat_at + key.len, c->key_at[0][1]));
    qn_str key_end = qn_cut_between(turn, c->key_at[0][0] + key.len, c->value_at[0][0]);
    qn_str close = qn_cut_between(turn, value_end, repeat_at);
    if (is_blank(open) || is_blank(key_end) || is_blank(close)) {
        return false;
    }
    s->shape = QN_SHAPE_NESTED;
    s->key_open = qn_mark_of(open);
    s->key_end = qn_mark_of(key_end);
    s->value_end = qn_mark_of(close);
    s->name_end = qn_mark_of(qn_cut_to(after_name, after_name.len - open.len));
    for (unsigned i = 0; i < c->n_calls; i++) {
        size_t at = c->value_at[i][1] + qn_probe_value_text(i, 1).len + close.len + qn_probe_key(i, 1).len;
        spans[i][0] = c->name_at[i];
        spans[i][1] = at + s->key_end.core.len;
        if (spans[i][1] > turn.len || !qn_cut_starts(qn_cut_from(turn, at), s->key_end.core)) {
            return false;
        }
    }
    return true;
}

bool qn_derive_tags(qn_syntax *s, const qn_call_text *c, size_t (*spans)[2])
{
    qn_str turn = c->turn;
    size_t key_end = c->key_at[0][0] + qn_probe_key(0, 0).len, key2_end = c->key_at[0][1] + qn_probe_key(0, 1).len;
    size_t value_end = c->value_at[0][0] + qn_probe_value_text(0, 0).len;
    size_t name_end = c->name_at[0] + qn_probe_name(0).len;
    if (c->key_at[0][0] < name_end || value_end > c->key_at[0][1]) {
        return false;
    }
    size_t repeat_at = qn_cut_find(turn, qn_probe_key(0, 0), value_end);
    if (repeat_at != QN_NOWHERE && repeat_at < c->key_at[0][1]) {
        return derive_nested(s, c, repeat_at, spans);
    }
    qn_str after_name = qn_cut_between(turn, name_end, c->key_at[0][0]);
    qn_str after_value = qn_cut_between(turn, value_end, c->key_at[0][1]);
    qn_str after_key = qn_cut_between(turn, key_end, c->value_at[0][0]);
    qn_str after_key2 = qn_cut_between(turn, key2_end, c->value_at[0][1]);
    qn_str open = qn_cut_common_end(after_name, after_value);
    qn_str close = qn_cut_to(after_value, after_value.len - open.len);
    if (after_key.len == after_key2.len + 1 && qn_cut_starts(after_key, after_key2) &&
        after_key.data[after_key.len - 1] == '"' && qn_cut_starts(close, QN_STR("\""))) {
        s->quoted = true;
        after_key = after_key2;
        close = qn_cut_from(close, 1);
    }
    if (is_blank(open) || is_blank(close) || is_blank(after_key)) {
        return false;
    }
    s->key_open = qn_mark_of(open);
    s->value_end = qn_mark_of(close);
    s->name_end = qn_mark_of(qn_cut_to(after_name, after_name.len - open.len));
    s->key_end = qn_mark_of(after_key);
    if (!qn_str_eq(after_key, after_key2)) {
        s->key_end_json = qn_mark_of(after_key2);
    }
    for (unsigned i = 0; i < c->n_calls; i++) {
        size_t at = c->value_at[i][1] + qn_probe_value_text(i, 1).len;
        if (!qn_cut_starts(qn_cut_from(turn, at), close)) {
            return false;
        }
        spans[i][0] = c->name_at[i];
        spans[i][1] = at + close.len - s->value_end.after.len;
    }
    return true;
}

void qn_derive_guard(qn_syntax *s, const qn_call_text *c)
{
    qn_str turn = c->turn, ugly = qn_str_of(qn_probe_ugly);
    size_t at = qn_cut_find(turn, ugly, 0);
    size_t key_end = c->key_at[0][0] + qn_probe_key(0, 0).len;
    if (at == QN_NOWHERE || at < key_end || s->shape != QN_SHAPE_TAGGED) {
        return;
    }
    qn_str before = qn_cut_between(turn, key_end, at), after = qn_cut_from(turn, at + ugly.len);
    size_t n = s->key_end.before.len + s->key_end.core.len + s->key_end.after.len;
    size_t end = qn_cut_find(after, s->value_end.core, 0);
    if (before.len > n && end != QN_NOWHERE && end > 0) {
        s->guard_open = qn_mark_of(qn_cut_from(before, n));
        s->guard_close = qn_mark_of(qn_cut_to(after, end));
    }
}
