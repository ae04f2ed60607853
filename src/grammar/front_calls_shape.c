/* One call in each shape, and several of them.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_calls_int.h"

#define ID_CHARS 9 /* some templates refuse ids of any other length; the rest take any */

qn_status qn_calls_check_shape(qn_calls *c)
{
    const qn_syntax *s = c->syntax;
    bool is_marked = s->shape == QN_SHAPE_TAGGED || s->shape == QN_SHAPE_NESTED;
    if (is_marked && s->call_close.core.len == 0) {
        return qn_fail(c->err, QN_EUNSUPPORTED, "no mark of the chat template ends a call's parameters");
    }
    const qn_mark *marks[] = {&s->section_open, &s->call_open, &s->id_end, &s->name_end, &s->call_close};
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (qn_calls_is_end(c, marks[i]->core)) {
            return qn_fail(c->err, QN_EUNSUPPORTED, "a mark of calls, %.*s, has a token that ends an answer",
                           QN_STR_ARG(marks[i]->core));
        }
    }
    return QN_OK;
}

/* ---- one call ---- */

static qn_gx id(qn_calls *c)
{
    static const qn_gx_range chars[] = {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}};
    return qn_gx_repeat(c->b, qn_gx_class(c->b, chars, 3), ID_CHARS, ID_CHARS);
}

static qn_gx key(qn_calls *c, qn_str name)
{
    qn_gx_builder *b = c->b;
    qn_gx quote = qn_gx_bytes(b, QN_STR("\"")), colon = qn_gx_bytes(b, QN_STR(":"));
    return qn_gx_cat(b, (qn_gx[]){quote, qn_front_literal(b, name, true), quote, c->blank, colon, c->blank}, 6);
}

static qn_gx comma(qn_calls *c)
{
    return qn_gx_cat(c->b, (qn_gx[]){c->blank, qn_gx_bytes(c->b, QN_STR(",")), c->blank}, 3);
}

/* ALT of all tools, or the one. */
typedef qn_gx tail_fn(qn_calls *c, const qn_call_tool *t);

static qn_gx each(qn_calls *c, uint32_t only, tail_fn *tail)
{
    if (only != UINT32_MAX) {
        return tail(c, &c->tools[only]);
    }
    qn_gx *ways = qn_alloc(c->b->budget, "grammar", (c->n_tools + 1) * sizeof(*ways));
    if (ways == NULL) {
        c->b->status = c->b->status != QN_OK ? c->b->status : QN_ENOMEM;
        return 0;
    }
    for (uint32_t i = 0; i < c->n_tools; i++) {
        ways[i] = tail(c, &c->tools[i]);
    }
    qn_gx x = qn_gx_alt(c->b, ways, c->n_tools);
    qn_free(ways);
    return x;
}

static bool is_digit(char x)
{
    return x >= '0' && x <= '9';
}

/* A piece of JSON as the template writes it: its blanks need not be there, ids are ids, and a value that is a number
 * counts something. */
static qn_gx piece(qn_calls *c, qn_str text)
{
    qn_gx_builder *b = c->b;
    qn_gx parts[QN_MARK_MAX];
    uint32_t n = 0;
    size_t i = 0, from = 0, n_id = strlen(QN_SYNTAX_ID);
    while (i <= text.len && n + 2 < QN_MARK_MAX) {
        qn_str rest = {text.data + i, text.len - i};
        size_t len = 0;
        qn_gx other = 0;
        if (rest.len >= n_id && memcmp(rest.data, QN_SYNTAX_ID, n_id) == 0) {
            other = id(c);
            len = n_id;
        } else if (rest.len > 0 && qn_is_blank(rest.data[0])) {
            other = c->blank;
            len = qn_mark_of(rest).before.len;
        } else if (rest.len > 0 && is_digit(rest.data[0]) && i > 0 && strchr("\" :[", text.data[i - 1]) != NULL) {
            while (len < rest.len && is_digit(rest.data[len])) {
                len++;
            }
            bool is_whole = len < rest.len && strchr("\" ,}]\n", rest.data[len]) != NULL;
            other = is_whole ? qn_calls_text(c, QN_STR("\1")) : qn_gx_bytes(b, (qn_str){rest.data, len});
        } else if (rest.len > 0) {
            i++;
            continue;
        }
        if (i > from) {
            parts[n++] = qn_gx_bytes(b, (qn_str){text.data + from, i - from});
        }
        if (len == 0) {
            break;
        }
        parts[n++] = other;
        i += len;
        from = i;
    }
    return n == 0 ? c->none : qn_gx_cat(b, parts, n);
}

/* NAME", "arguments": {...} */
static qn_gx object_tail(qn_calls *c, const qn_call_tool *t)
{
    qn_gx_builder *b = c->b;
    if (c->syntax->head.len > 0) {
        return qn_gx_cat(b, (qn_gx[]){qn_front_literal(b, t->name, true), piece(c, c->syntax->middle), t->arguments},
                         3);
    }
    return qn_gx_cat(b,
                     (qn_gx[]){qn_front_literal(b, t->name, true), qn_gx_bytes(b, QN_STR("\"")), comma(c),
                               key(c, c->syntax->arguments_key), t->arguments},
                     5);
}

static qn_gx keyed_tail(qn_calls *c, const qn_call_tool *t)
{
    return qn_gx_cat(c->b, (qn_gx[]){key(c, t->name), t->arguments}, 2);
}

static qn_gx object(qn_calls *c, uint32_t only)
{
    qn_gx_builder *b = c->b;
    const qn_syntax *s = c->syntax;
    qn_gx open = qn_gx_bytes(b, QN_STR("{")), close = qn_gx_bytes(b, QN_STR("}")), quote = qn_gx_bytes(b, QN_STR("\""));
    if (s->shape == QN_SHAPE_KEYED) {
        return qn_gx_cat(b, (qn_gx[]){open, c->blank, each(c, only, keyed_tail), c->blank, close}, 5);
    }
    if (s->head.len > 0) {
        return qn_gx_cat(b, (qn_gx[]){piece(c, s->head), each(c, only, object_tail), piece(c, s->tail)}, 3);
    }
    qn_gx its_id = c->none;
    if (s->id_key.len > 0) {
        its_id = qn_gx_cat(b, (qn_gx[]){comma(c), key(c, s->id_key), quote, id(c), quote}, 5);
        its_id = qn_gx_repeat(b, its_id, 0, 1);
    }
    return qn_gx_cat(
        b, (qn_gx[]){open, c->blank, key(c, s->name_key), quote, each(c, only, object_tail), its_id, c->blank, close},
        8);
}

static qn_gx named_tail(qn_calls *c, const qn_call_tool *t)
{
    qn_gx_builder *b = c->b;
    const qn_syntax *s = c->syntax;
    qn_gx parts[8];
    uint32_t n = 0;
    parts[n++] = qn_gx_bytes(b, t->name);
    if (s->id_place == QN_ID_AFTER_NAME) {
        parts[n++] = qn_calls_maybe(c, s->id_end.before);
        parts[n++] = qn_calls_mark(c, &s->id_end);
        parts[n++] = id(c);
    }
    parts[n++] = qn_calls_maybe(c, s->name_end.before);
    parts[n++] = qn_calls_mark(c, &s->name_end);
    bool is_spaced = s->shape == QN_SHAPE_NAMED && s->name_end.core.len == 0;
    parts[n++] = qn_calls_maybe(c, is_spaced ? QN_STR(" ") : s->name_end.after);
    parts[n++] = t->arguments;
    return qn_gx_cat(b, parts, n);
}

static qn_gx named(qn_calls *c, uint32_t only)
{
    const qn_syntax *s = c->syntax;
    if (s->id_place != QN_ID_BEFORE_NAME) {
        return each(c, only, named_tail);
    }
    return qn_gx_cat(
        c->b,
        (qn_gx[]){id(c), qn_calls_mark(c, &s->id_end), qn_calls_maybe(c, s->id_end.after), each(c, only, named_tail)},
        4);
}

qn_gx qn_calls_of(qn_calls *c, uint32_t only)
{
    const qn_syntax *s = c->syntax;
    bool is_object = s->shape == QN_SHAPE_OBJECT || s->shape == QN_SHAPE_KEYED;
    qn_gx body = is_object ? object(c, only) : named(c, only);
    if (s->call_open.core.len == 0 && s->call_close.core.len == 0) {
        return body;
    }
    /* Templates may write the line end of parameters that are not there too. */
    qn_gx again = s->shape == QN_SHAPE_TAGGED ? qn_calls_maybe(c, s->call_close.before) : c->none;
    return qn_gx_cat(c->b,
                     (qn_gx[]){qn_calls_mark(c, &s->call_open), qn_calls_maybe(c, s->call_open.after), body,
                               qn_calls_maybe(c, s->call_close.before), again, qn_calls_mark(c, &s->call_close)},
                     6);
}

/* ---- several ---- */

static qn_gx in_list(qn_calls *c, qn_gx call)
{
    qn_gx_builder *b = c->b;
    qn_gx next = qn_gx_cat(b, (qn_gx[]){c->line, qn_gx_bytes(b, QN_STR(",")), c->line, call}, 4);
    qn_gx more = qn_gx_repeat(b, next, 0, c->o->one_call ? 0 : QN_GX_NO_MAX);
    return qn_gx_cat(
        b, (qn_gx[]){qn_gx_bytes(b, QN_STR("[")), c->line, call, more, c->line, qn_gx_bytes(b, QN_STR("]"))}, 6);
}

/* Where nothing but whitespace tells two objects apart, it must be there. */
static qn_gx in_row(qn_calls *c, qn_gx call)
{
    qn_gx_builder *b = c->b;
    const qn_syntax *s = c->syntax;
    bool has_marks = s->call_open.core.len > 0 || s->call_close.core.len > 0;
    if (c->o->one_call || s->alone || (!has_marks && s->separator.len == 0)) {
        return call;
    }
    qn_gx between = has_marks ? qn_calls_maybe(c, s->separator) : qn_gx_bytes(b, s->separator);
    return qn_gx_cat(b, (qn_gx[]){call, qn_gx_repeat(b, qn_gx_cat(b, (qn_gx[]){between, call}, 2), 0, QN_GX_NO_MAX)},
                     2);
}

qn_gx qn_calls_all(qn_calls *c, bool at_start)
{
    qn_gx_builder *b = c->b;
    const qn_syntax *s = c->syntax;
    bool has_section = s->section_open.core.len > 0;
    uint32_t rule = qn_gx_rule_new(b, QN_STR("call"));
    qn_gx_rule_define(b, rule, qn_calls_of(c, UINT32_MAX));
    qn_gx call = qn_gx_rule_ref(b, rule);
    qn_gx parts[10];
    uint32_t n = 0;
    if (at_start) {
        parts[n++] = qn_calls_maybe(c, has_section ? s->section_open.before : s->call_open.before);
    }
    if (has_section) {
        parts[n++] = qn_calls_mark(c, &s->section_open);
        parts[n++] = qn_calls_maybe(c, s->section_open.after);
        parts[n++] = qn_calls_maybe(c, s->list ? QN_STR("") : s->call_open.before);
    }
    parts[n++] = s->list ? in_list(c, call) : in_row(c, call);
    if (s->section_close.core.len > 0) {
        parts[n++] = qn_calls_maybe(c, s->call_close.after);
        parts[n++] = qn_calls_maybe(c, s->section_close.before);
        qn_gx close = qn_calls_mark(c, &s->section_close); /* not every model writes it */
        parts[n++] = c->is_guessed ? qn_gx_repeat(b, close, 0, 1) : close;
    }
    qn_str after = s->section_close.core.len > 0 ? s->section_close.after : s->call_close.after;
    for (size_t i = 0; i < c->d->n_ends && after.len == 0; i++) {
        after = c->d->ends[i].before;
    }
    parts[n++] = qn_calls_maybe(c, after);
    return qn_gx_cat(b, parts, n);
}
