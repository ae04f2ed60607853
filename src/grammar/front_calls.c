/* Answers with calls: reasoning, then content, then calls, as far as the dialect and the choice have them.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_calls_int.h"

static qn_gx maybe(qn_calls *c, qn_gx x)
{
    return qn_gx_repeat(c->b, x, 0, 1);
}

static qn_gx as_rule(qn_calls *c, const char *name, qn_gx body)
{
    uint32_t rule = qn_gx_rule_new(c->b, qn_str_of(name));
    qn_gx_rule_define(c->b, rule, body);
    return qn_gx_rule_ref(c->b, rule);
}

/* ---- turns of one message ---- */

/* Reasoning with its marks, as far as the prompt has not written them. Blanks behind belong to what follows. */
static qn_gx reasoning(qn_calls *c)
{
    const qn_dialect_view *d = c->d;
    qn_gx_builder *b = c->b;
    if (!d->has_reasoning || c->o->start == QN_START_AFTER_THINK) {
        return c->none;
    }
    qn_gx rest = qn_gx_cat(b,
                           (qn_gx[]){qn_calls_reasoning(c, &d->think_close), qn_calls_mark(c, &d->think_close),
                                     qn_calls_maybe(c, d->think_close.after)},
                           3);
    if (c->o->start == QN_START_IN_THINK) {
        return rest;
    }
    qn_gx whole[] = {qn_calls_maybe(c, d->think_open.before), qn_calls_mark(c, &d->think_open), rest};
    qn_gx none[] = {qn_calls_maybe(c, d->think_close.before), qn_calls_mark(c, &d->think_close),
                    qn_calls_maybe(c, d->think_close.after)}; /* over before it began */
    return maybe(c, qn_gx_alt(b, (qn_gx[]){qn_gx_cat(b, whole, 3), qn_gx_cat(b, none, 3)}, 2));
}

/* next: the mark behind it, or NULL. */
static qn_gx content(qn_calls *c, const qn_mark *next)
{
    const qn_dialect_view *d = c->d;
    qn_gx_builder *b = c->b;
    qn_gx text = qn_calls_content(c, next);
    if (d->content_open.core.len == 0 && d->content_close.core.len == 0) {
        return text;
    }
    qn_gx marked[] = {qn_calls_maybe(c, d->content_open.before), qn_calls_mark(c, &d->content_open), text,
                      maybe(c, qn_calls_mark(c, &d->content_close)), qn_calls_maybe(c, d->content_close.after)};
    return qn_gx_alt(b, (qn_gx[]){text, qn_gx_cat(b, marked, 5)}, 2);
}

/* Content, then perhaps calls, which begin with a mark. */
static qn_gx then_maybe(qn_calls *c, const qn_mark *open, qn_gx calls)
{
    qn_gx_builder *b = c->b;
    if (!qn_calls_overlaps(open->core)) {
        return qn_gx_cat(b, (qn_gx[]){content(c, open), maybe(c, calls)}, 2);
    }
    return qn_gx_alt(b, (qn_gx[]){content(c, NULL), qn_gx_cat(b, (qn_gx[]){content(c, open), calls}, 2)}, 2);
}

static qn_gx plain_turn(qn_calls *c)
{
    qn_gx_builder *b = c->b;
    const qn_syntax *s = c->syntax;
    qn_gx body;
    const qn_mark *open = s->section_open.core.len > 0 ? &s->section_open : &s->call_open;
    bool is_first = s->bare && open->core.len == 0;
    if (c->o->choice == QN_CALLS_NONE || c->n_tools == 0) {
        body = content(c, NULL);
    } else if (c->o->choice == QN_CALLS_REQUIRED) {
        body = as_rule(c, "calls", qn_calls_all(c, true));
    } else if (is_first) { /* only where the answer begins */
        body = qn_gx_alt(b, (qn_gx[]){content(c, NULL), as_rule(c, "calls", qn_calls_all(c, true))}, 2);
    } else {
        body = then_maybe(c, open, as_rule(c, "calls", qn_calls_all(c, false)));
    }
    return qn_gx_cat(b, (qn_gx[]){reasoning(c), body}, 2);
}

/* ---- turns of several messages, each with a header ---- */

/* What ends a message and begins the next one's header; *first: its first mark. False: the template does not tell. */
static bool next_message(qn_calls *c, qn_gx *out, const qn_mark **first)
{
    const qn_dialect_view *d = c->d;
    qn_gx open = qn_calls_mark(c, &d->header->open);
    for (size_t i = 0; i < d->n_ends; i++) {
        if ((d->ends_go_on >> i & 1) != 0 && !qn_calls_is_end(c, d->ends[i].core)) {
            *out = qn_gx_cat(c->b, (qn_gx[]){qn_calls_mark(c, &d->ends[i]), open}, 2);
            *first = &d->ends[i];
            return true;
        }
    }
    *out = open;
    *first = &d->header->open;
    return d->ends_go_on == 0 && !qn_calls_is_end(c, d->header->open.core);
}

/* A header whose text is known, with the blank that may stand before it. */
static qn_gx header(qn_calls *c, qn_str text)
{
    const qn_header *h = c->d->header;
    return qn_gx_cat(c->b,
                     (qn_gx[]){qn_calls_maybe(c, QN_STR(" ")), qn_calls_text(c, text), qn_calls_mark(c, &h->end),
                               qn_calls_maybe(c, h->end.after)},
                     4);
}

static qn_gx message_call(qn_calls *c, uint32_t i)
{
    const qn_header *h = c->d->header;
    qn_gx body = h->json_body ? c->tools[i].arguments : qn_calls_of(c, i);
    qn_gx parts[] = {qn_calls_text(c, h->lead),
                     qn_calls_text(c, h->recipient),
                     qn_gx_bytes(c->b, c->tools[i].name),
                     qn_calls_text(c, h->tail),
                     qn_calls_mark(c, &h->end),
                     qn_calls_maybe(c, h->end.after),
                     body};
    return qn_gx_cat(c->b, parts, 7);
}

static qn_status message_calls(qn_calls *c, qn_gx next, bool has_next, qn_gx *out)
{
    qn_gx_builder *b = c->b;
    qn_gx *ways = qn_alloc(b->budget, "grammar", (c->n_tools + 1) * sizeof(*ways));
    if (ways == NULL) {
        return qn_fail(c->err, qn_alloc_failure(b->budget, c->n_tools * sizeof(*ways)), "no memory for a grammar");
    }
    for (uint32_t i = 0; i < c->n_tools; i++) {
        ways[i] = message_call(c, i);
    }
    qn_gx one = as_rule(c, "call", qn_gx_alt(b, ways, c->n_tools));
    qn_free(ways);
    uint32_t more = c->o->one_call || !has_next || c->d->header->alone ? 0 : QN_GX_NO_MAX;
    *out = qn_gx_cat(b, (qn_gx[]){one, qn_gx_repeat(b, qn_gx_cat(b, (qn_gx[]){next, one}, 2), 0, more)}, 2);
    return QN_OK;
}

static qn_status header_turn(qn_calls *c, qn_gx *out)
{
    const qn_header *h = c->d->header;
    qn_gx_builder *b = c->b;
    qn_gx next, calls = 0;
    const qn_mark *mark;
    bool has_next = next_message(c, &next, &mark), has_calls = c->o->choice != QN_CALLS_NONE && c->n_tools > 0;
    if (c->o->start != QN_START_IN_HEADER) {
        return qn_fail(c->err, QN_EUNSUPPORTED, "an answer that begins inside a message, not before its header");
    }
    if (has_calls) {
        QN_TRY(message_calls(c, next, has_next, &calls));
    }
    qn_gx body = calls;
    if (c->o->choice != QN_CALLS_REQUIRED) {
        qn_gx text = has_calls && has_next ? then_maybe(c, mark, qn_gx_cat(b, (qn_gx[]){next, calls}, 2))
                                           : qn_calls_content(c, NULL);
        qn_gx ways[] = {qn_gx_cat(b, (qn_gx[]){header(c, h->content), text}, 2), calls};
        body = qn_gx_alt(b, ways, has_calls ? 2 : 1);
    }
    qn_gx first = c->none;
    if (h->reasoning.len > 0 && has_next) {
        first = maybe(c, qn_gx_cat(b, (qn_gx[]){header(c, h->reasoning), qn_calls_reasoning(c, mark), next}, 3));
    }
    *out = qn_gx_cat(b, (qn_gx[]){first, body}, 2);
    return QN_OK;
}

/* ---- the whole ---- */

/* The template shows tools and no calls: of the marks that the reader tries then, those are the model's that its
 * vocabulary has as tokens of their own. NULL: none are. */
static const qn_syntax *guess_syntax(const qn_calls *c)
{
    for (size_t i = c->d->n_own; i < c->d->n_syntaxes; i++) {
        const qn_syntax *s = &c->d->syntaxes[i];
        const qn_mark *open = s->section_open.core.len > 0 ? &s->section_open : &s->call_open;
        if (!s->bare && !s->known && qn_calls_is_special(c, open->core)) {
            return s;
        }
    }
    return NULL;
}

static qn_status begin(qn_calls *c)
{
    static const qn_gx_range blank[] = {{' ', ' '}, {'\n', '\n'}, {'\r', '\r'}, {'\t', '\t'}};
    qn_gx_builder *b = c->b;
    const qn_dialect_view *d = c->d;
    if (d->n_own == 0 && d->header == NULL) {
        c->syntax = guess_syntax(c);
        c->is_guessed = true;
        if (c->syntax == NULL) {
            return qn_fail(c->err, QN_EUNSUPPORTED, "the chat template shows no calls of tools");
        }
    }
    if (c->o->start == QN_START_UNKNOWN) {
        return qn_fail(c->err, QN_EUNSUPPORTED, "the prompt ends inside an answer");
    }
    if (d->header == NULL || !d->header->json_body) {
        c->syntax = d->n_own > 0 ? &d->syntaxes[0] : c->syntax;
        if (c->syntax == NULL) {
            return qn_fail(c->err, QN_EUNSUPPORTED, "the chat template shows calls in a shape that is not known");
        }
    }
    c->none = qn_gx_bytes(b, QN_STR(""));
    c->any = qn_gx_repeat(b, qn_front_any(b, false), 0, QN_GX_NO_MAX);
    c->blanks = qn_gx_repeat(b, qn_gx_class(b, blank, 4), 0, QN_GX_NO_MAX);
    qn_calls_find_blanks(c);
    return c->syntax != NULL ? qn_calls_check_shape(c) : QN_OK;
}

static qn_status build(qn_calls *c)
{
    QN_TRY(begin(c));
    QN_TRY(qn_calls_read_tools(c));
    if (c->o->choice == QN_CALLS_REQUIRED && c->n_tools == 0) {
        return qn_fail(c->err, QN_EFORMAT, "a call is required, but there are no tools");
    }
    if (c->o->choice != QN_CALLS_NONE) {
        QN_TRY(qn_calls_arguments(c));
    }
    qn_gx root = 0;
    if (c->d->header != NULL) {
        QN_TRY(header_turn(c, &root));
    } else {
        root = plain_turn(c);
    }
    c->b->root = qn_gx_rule_new(c->b, QN_STR("answer"));
    qn_gx_rule_define(c->b, c->b->root, root);
    return qn_front_status(c->b, c->err);
}

qn_status qn_front_calls(qn_gx_builder *b, const qn_front_calls_options *o, qn_error *err)
{
    qn_calls c = {.b = b, .o = o, .d = o->dialect, .err = err};
    qn_status status = build(&c);
    qn_calls_free_tools(&c);
    return status;
}
