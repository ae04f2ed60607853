/* Calls in the text of a turn: which rendering shows them, where they are, and what shape they have.
 * SPDX-License-Identifier: MIT */
#include "text/chat/dialect_int.h"

#include "base/json_stream.h"

#define MAX_TURN (64u << 10) /* bytes of a turn that are looked at */

/* ---- finding a rendering ---- */

static bool locate(qn_call_text *c)
{
    qn_str turn = c->turn;
    size_t from = 0;
    for (unsigned i = 0; i < c->n_calls; i++) {
        qn_str name = qn_probe_name(i);
        size_t first = qn_cut_find(turn, name, from);
        for (unsigned k = 0; k < 2 && first != QN_NOWHERE; k++) {
            c->key_at[i][k] = qn_cut_find(turn, qn_probe_key(i, k), from);
            c->value_at[i][k] = c->key_at[i][k] == QN_NOWHERE
                                    ? QN_NOWHERE
                                    : qn_cut_find(turn, qn_probe_value_text(i, k), c->key_at[i][k]);
            if (c->value_at[i][k] == QN_NOWHERE) {
                return false;
            }
        }
        if (first == QN_NOWHERE || c->key_at[i][0] > c->key_at[i][1]) {
            return false;
        }
        /* A name that stands in a header too is the call's where it is nearest to the arguments. */
        size_t nearest = qn_cut_find_last(turn, name, c->key_at[i][0]);
        c->name_at[i] = nearest == QN_NOWHERE || nearest < from ? first : nearest;
        from = c->value_at[i][1];
    }
    return true;
}

bool qn_show_calls(const qn_dialect *d, qn_prober *p, const qn_probe *probe, qn_call_text *c)
{
    qn_str text;
    *c = (qn_call_text){.n_calls = probe->n_calls};
    if (!qn_probe_render(p, probe, &text) || !qn_turn_text(d, text, &c->turn) || c->turn.len > MAX_TURN) {
        return false;
    }
    /* An object that is printed as Python shows it: the template wants a string. */
    return locate(c) && !qn_cut_has(c->turn, QN_STR("'qzka'"));
}

/* A turn that the template shows only with its results ends where these have not begun. */
static void cut_results(const qn_dialect *d, qn_call_text *c)
{
    size_t from = c->value_at[c->n_calls - 1][1], result = qn_cut_find(c->turn, QN_STR(QN_PROBE_RESULT), from);
    for (size_t i = 0; result != QN_NOWHERE && i < d->n_ends; i++) {
        size_t at = qn_cut_find(c->turn, d->ends[i].core, from);
        if (at < result) {
            c->turn.len = at + d->ends[i].core.len;
            return;
        }
    }
    c->turn.len = result == QN_NOWHERE ? c->turn.len : result;
}

static bool find_rendering(qn_dialect *d, qn_prober *p, qn_probe *how, qn_call_text *c)
{
    static const qn_probe_text contents[] = {QN_TEXT_EMPTY, QN_TEXT_NULL, QN_TEXT_ABSENT};
    for (unsigned variant = 0; variant < 96; variant++) {
        *how = (qn_probe){.tools = variant / 24 % 2 == 0,
                          .assistant = true,
                          .n_calls = variant / 3 % 2 == 0 ? 2 : 1,
                          .content = contents[variant % 3],
                          .arguments_text = variant / 6 % 2 == 1,
                          .long_ids = variant / 12 % 2 == 1,
                          .next = variant / 48 == 1 ? QN_NEXT_RESULT : QN_NEXT_NOTHING};
        if (qn_show_calls(d, p, how, c)) {
            cut_results(d, c);
            return true;
        }
    }
    return false;
}

/* ---- shapes ---- */

static qn_syntax *begin_syntax(qn_dialect *d, qn_shape shape)
{
    d->syntaxes[0] = (qn_syntax){
        .shape = shape, .name_key = QN_STR("name"), .arguments_key = QN_STR("arguments"), .id_key = QN_STR("id")};
    return &d->syntaxes[0];
}

/* The end of the JSON object that begins at `at`; QN_NOWHERE: it is none. */
static size_t object_end(qn_str s, size_t at)
{
    qn_json_stream stream;
    qn_json_stream_init(&stream);
    for (size_t i = at; i < s.len; i++) {
        if (qn_json_stream_push(&stream, s.data[i]) == QN_JSON_BAD) {
            return QN_NOWHERE;
        }
        if (qn_json_stream_whole(&stream)) {
            return i + 1;
        }
    }
    return QN_NOWHERE;
}

/* The object that holds the name and the arguments of call i, and no other call. */
static bool find_object(const qn_call_text *c, unsigned i, size_t from, size_t span[2])
{
    size_t last = c->name_at[i] > c->value_at[i][1] ? c->name_at[i] : c->value_at[i][1];
    size_t first = c->name_at[i] < c->key_at[i][0] ? c->name_at[i] : c->key_at[i][0];
    size_t other = i + 1 < c->n_calls ? c->name_at[i + 1] : c->turn.len;
    for (size_t at = from; at < first; at++) {
        size_t end = c->turn.data[at] == '{' ? object_end(c->turn, at) : QN_NOWHERE;
        if (end != QN_NOWHERE && end > last && end <= other) {
            span[0] = at;
            span[1] = end;
            return true;
        }
    }
    return false;
}

/* Names of the members that hold the name, the arguments and the id. */
static void name_members(qn_syntax *s, qn_prober *p, const qn_json *call, qn_str text)
{
    for (size_t i = 0; i < qn_json_count(call); i++) {
        const qn_json *v = qn_json_at(call, i);
        /* A view of the rendered text, which outlives the document. */
        qn_str key = qn_json_key_at(call, i);
        size_t at = qn_cut_find(text, key, 0);
        key = at == QN_NOWHERE ? (qn_str){"", 0} : qn_cut_between(text, at, at + key.len);
        qn_str str = qn_json_kind_of(v) == QN_JSON_STRING ? qn_json_as_str(v) : (qn_str){"", 0};
        if (qn_str_eq(key, qn_probe_name(0))) {
            s->shape = QN_SHAPE_KEYED;
        } else if (qn_json_find(v, qn_probe_key(0, 0).data) != NULL || qn_cut_has(str, qn_probe_key(0, 0))) {
            s->arguments_key = key;
        } else if (qn_str_eq(str, qn_probe_name(0))) {
            s->name_key = key;
        } else if (qn_str_eq(str, qn_probe_id(0))) {
            s->id_key = key;
        } else if (qn_json_kind_of(v) == QN_JSON_OBJECT) {
            name_members(s, p, v, text);
        } else if (key.len > 0 && !qn_str_is(key, "type")) {
            s->other_keys[s->other_keys[0].len > 0] = key;
        }
    }
}

/* What stands around the name and the arguments of the first call, if they come in this order. */
static void find_pieces(qn_syntax *s, const qn_call_text *c, const size_t span[2])
{
    size_t name_end = c->name_at[0] + qn_probe_name(0).len;
    size_t at = qn_cut_find_last(c->turn, QN_STR("{"), c->key_at[0][0]);
    size_t end = at == QN_NOWHERE || at < name_end ? QN_NOWHERE : object_end(c->turn, at);
    if (s->shape != QN_SHAPE_OBJECT || end == QN_NOWHERE || end > span[1] || end < c->value_at[0][1] ||
        c->turn.data[at - 1] == '"' || c->turn.data[c->name_at[0] - 1] != '"' ||
        span[1] - span[0] - (end - at) > QN_MARK_MAX) {
        return;
    }
    s->head = qn_cut_between(c->turn, span[0], c->name_at[0]);
    s->middle = qn_cut_between(c->turn, name_end, at);
    s->tail = qn_cut_between(c->turn, end, span[1]);
}

static bool derive_object(qn_dialect *d, qn_prober *p, const qn_turns *t, const qn_probe *how, qn_call_text *c)
{
    size_t spans[2][2] = {{0}};
    if (!find_object(c, 0, 0, spans[0]) || (c->n_calls == 2 && !find_object(c, 1, spans[0][1], spans[1]))) {
        return false;
    }
    qn_syntax *s = begin_syntax(d, QN_SHAPE_OBJECT);
    qn_str text = qn_cut_between(c->turn, spans[0][0], spans[0][1]);
    qn_json_doc *doc = NULL;
    qn_error ignored;
    if (qn_json_parse(p->budget, text.data, text.len, 1000, &doc, &ignored) != QN_OK) {
        return false;
    }
    name_members(s, p, qn_json_root(doc), text);
    qn_json_free(doc);
    if (!how->long_ids) {
        find_pieces(s, c, spans[0]);
    }
    qn_split_turn(d, p, t, how, c, s, spans);
    s->bare = s->section_open.core.len == 0 && s->call_open.core.len == 0;
    return true;
}

/* Two texts that differ in digits at most: one text with a placeholder for them. */
static qn_str with_digits(qn_prober *p, qn_str a, qn_str b)
{
    bool same = a.len == b.len && a.len < sizeof(p->made);
    for (size_t i = 0; same && i < a.len; i++) {
        bool digit = a.data[i] >= '0' && a.data[i] <= '9' && b.data[i] >= '0' && b.data[i] <= '9';
        p->made[i] = a.data[i] != b.data[i] ? QN_MARK_DIGITS : a.data[i];
        same = a.data[i] == b.data[i] || digit;
    }
    return same && !qn_str_eq(a, b) ? (qn_str){p->made, a.len} : a;
}

/* NAME mark {...}, perhaps with an id before or after the name. */
static bool derive_named(qn_dialect *d, qn_prober *p, const qn_turns *t, const qn_probe *how, qn_call_text *c)
{
    qn_syntax *s = begin_syntax(d, QN_SHAPE_NAMED);
    size_t spans[2][2] = {{0}};
    qn_str ends[2] = {{"", 0}, {"", 0}};
    for (unsigned i = 0; i < c->n_calls; i++) {
        size_t name_end = c->name_at[i] + qn_probe_name(i).len;
        size_t at = qn_cut_find_last(c->turn, QN_STR("{"), c->key_at[i][0]);
        size_t end = at == QN_NOWHERE || at < name_end ? QN_NOWHERE : object_end(c->turn, at);
        if (end == QN_NOWHERE || end < c->value_at[i][1]) {
            return false;
        }
        spans[i][0] = c->name_at[i];
        spans[i][1] = end;
        ends[i] = qn_cut_between(c->turn, name_end, at);
        qn_str id = qn_probe_id(i);
        size_t id_at = qn_cut_find_last(c->turn, id, at);
        if (id_at == QN_NOWHERE || (i == 1 && id_at < spans[0][1])) {
            continue;
        }
        if (id_at > c->name_at[i]) {
            s->id_place = QN_ID_AFTER_NAME;
            s->id_end = qn_mark_of(qn_cut_between(c->turn, name_end, id_at));
            ends[i] = qn_cut_between(c->turn, id_at + id.len, at);
        } else {
            s->id_place = QN_ID_BEFORE_NAME;
            s->id_end = qn_mark_of(qn_cut_between(c->turn, id_at + id.len, c->name_at[i]));
            spans[i][0] = id_at;
        }
    }
    s->name_end = qn_mark_of(c->n_calls == 2 ? with_digits(p, ends[0], ends[1]) : ends[0]);
    qn_split_turn(d, p, t, how, c, s, spans);
    size_t digits = qn_cut_find(s->name_end.core, (qn_str){"\1", 1}, 0);
    if (digits != QN_NOWHERE) {
        qn_str open = s->call_open.core;
        size_t from = open.len;
        while (from > 0 && open.data[from - 1] != '>' && open.data[from - 1] != ']' &&
               !qn_is_blank(open.data[from - 1])) {
            from--;
        }
        s->id_place = QN_ID_AROUND_NAME;
        s->id_prefix = qn_cut_from(open, from);
        s->id_suffix = digits + 1;
    }
    return true;
}

/* NAME(KEY=VALUE, ...) and NAME{KEY:VALUE,...}. */
static bool derive_literal(qn_dialect *d, qn_prober *p, const qn_turns *t, const qn_probe *how, qn_call_text *c)
{
    qn_syntax *s = begin_syntax(d, QN_SHAPE_PYTHON);
    size_t spans[2][2] = {{0}};
    for (unsigned i = 0; i < c->n_calls; i++) {
        size_t name_end = c->name_at[i] + qn_probe_name(i).len;
        char open = c->turn.data[name_end];
        size_t key_end = c->key_at[i][0] + qn_probe_key(i, 0).len;
        char sign = c->turn.data[key_end];
        size_t close = c->value_at[i][1] + qn_probe_value_text(i, 1).len;
        if (close >= c->turn.len || !((open == '(' && sign == '=' && c->turn.data[close] == ')') ||
                                      (open == '{' && sign == ':' && c->turn.data[close] == '}'))) {
            return false;
        }
        s->shape = open == '(' ? QN_SHAPE_PYTHON : QN_SHAPE_BRACES;
        qn_str quote = qn_cut_trim(qn_cut_between(c->turn, key_end + 1, c->value_at[i][0]));
        s->quote = quote.len > 1 ? quote : (qn_str){"", 0};
        spans[i][0] = c->name_at[i];
        spans[i][1] = close + 1;
    }
    qn_split_turn(d, p, t, how, c, s, spans);
    return true;
}

static bool derive_tagged(qn_dialect *d, qn_prober *p, const qn_turns *t, const qn_probe *how, qn_call_text *c)
{
    qn_syntax *s = begin_syntax(d, QN_SHAPE_TAGGED);
    size_t spans[2][2] = {{0}};
    if (!qn_derive_tags(s, c, spans)) {
        return false;
    }
    qn_split_turn(d, p, t, how, c, s, spans);
    qn_probe probe = *how;
    qn_call_text ugly;
    probe.value = QN_VALUE_UGLY;
    if (!how->arguments_text && qn_show_calls(d, p, &probe, &ugly)) {
        qn_derive_guard(s, &ugly);
    }
    return true;
}

/* What comes after the calls when their results follow: <|observation|> ends a turn as <|user|> does. */
static void add_end_before_results(qn_dialect *d, qn_prober *p, const qn_probe *how)
{
    qn_probe probe = *how;
    qn_call_text c;
    probe.next = QN_NEXT_RESULT;
    const qn_syntax *s = &d->syntaxes[0];
    if (!qn_show_calls(d, p, &probe, &c)) {
        return;
    }
    qn_str rest = qn_cut_from(c.turn, c.value_at[c.n_calls - 1][1]);
    size_t result = qn_cut_find(rest, QN_STR(QN_PROBE_RESULT), 0);
    const qn_mark *closes[] = {&s->call_close, &s->section_close};
    size_t from = 0;
    for (size_t i = 0; i < 2; i++) {
        size_t at = qn_cut_find_last(rest, closes[i]->core, result == QN_NOWHERE ? 0 : result);
        from = at != QN_NOWHERE && at + closes[i]->core.len > from ? at + closes[i]->core.len : from;
    }
    if (from > 0) {
        qn_add_end(d, qn_cut_between(rest, from, result));
    }
}

void qn_derive_calls(qn_dialect *d, qn_prober *p, qn_turns *t)
{
    qn_probe how = {.generate = true, .tools = true};
    qn_str prompt;
    d->has_tools = qn_probe_render(p, &how, &prompt) && qn_cut_has(prompt, qn_probe_name(0));
    qn_call_text c;
    if (!find_rendering(d, p, &how, &c)) {
        qn_add_note(d, "the template shows no calls");
        return;
    }
    if (qn_derive_header(d, p, t, &c)) {
        d->has_header = true;
        d->content_open.core.len = d->content_close.core.len = 0; /* the header says it */
        if (d->header.json_body) {
            return;
        }
    }
    if (derive_object(d, p, t, &how, &c) || derive_named(d, p, t, &how, &c) || derive_literal(d, p, t, &how, &c) ||
        derive_tagged(d, p, t, &how, &c)) {
        d->n_syntaxes = d->n_own = 1;
        d->syntaxes[0].alone = c.n_calls == 1;
        add_end_before_results(d, p, &how);
    } else {
        qn_add_note(d, "the template shows calls in a shape that is not known");
    }
}
