/* Syntaxes that models write though their template does not show them.
 * SPDX-License-Identifier: MIT */
#include "text/chat/dialect_int.h"

#define MARK(text)                          \
    {                                       \
        .core = {(text), sizeof(text) - 1 } \
    }
#define OBJECT_KEYS .name_key = {"name", 4}, .arguments_key = {"arguments", 9}, .id_key = {"id", 2}

/* Tried when the template shows tools but no calls. The marks are tokens that ordinary text does not hold. */
static const qn_syntax common[] = {
    {.shape = QN_SHAPE_OBJECT, OBJECT_KEYS, .section_open = MARK("<tool_call>"), .section_close = MARK("</tool_call>")},
    {.shape = QN_SHAPE_OBJECT,
     OBJECT_KEYS,
     .list = true,
     .section_open = MARK("<|tool_call|>"),
     .section_close = MARK("<|/tool_call|>")},
    {.shape = QN_SHAPE_OBJECT, OBJECT_KEYS, .list = true, .section_open = MARK("[TOOL_CALLS]")},
    {.shape = QN_SHAPE_PYTHON,
     .list = true,
     .section_open = MARK("<|tool_call_start|>"),
     .section_close = MARK("<|tool_call_end|>")},
    {.shape = QN_SHAPE_NAMED,
     .section_open = MARK("<|tool_calls_section_begin|>"),
     .section_close = MARK("<|tool_calls_section_end|>"),
     .call_open = MARK("<|tool_call_begin|>functions."),
     .name_end = MARK(":\1<|tool_call_argument_begin|>"),
     .call_close = MARK("<|tool_call_end|>"),
     .id_place = QN_ID_AROUND_NAME,
     .id_prefix = {"functions.", 10},
     .id_suffix = 2},
};

/* An answer that is nothing but a call. */
static const qn_syntax whole = {.shape = QN_SHAPE_OBJECT, OBJECT_KEYS, .bare = true, .whole = true};

/* Models that write bare JSON may put this before it, for functions that the template calls built in, and then end with
 * <|eom_id|>. */
static const qn_syntax python_tag = {.shape = QN_SHAPE_OBJECT, OBJECT_KEYS, .section_open = MARK("<|python_tag|>")};

/* What models that write bare JSON turn to when they are told of functions in other words. */
static const qn_syntax function_tag = {.shape = QN_SHAPE_NAMED,
                                       .known = true,
                                       .call_open = MARK("<function="),
                                       .name_end = MARK(">"),
                                       .call_close = MARK("</function>")};

static void add(qn_dialect *d, const qn_syntax *s)
{
    if (d->n_syntaxes < QN_MAX_SYNTAXES) {
        d->syntaxes[d->n_syntaxes++] = *s;
    }
}

/* Calls that begin with two marks, of which models leave out the first: <x> <y=NAME ... </y> </x>. */
static void add_without_outer(qn_dialect *d, const qn_syntax *own)
{
    qn_str open = own->call_open.core, close = own->call_close.core;
    size_t open_at = qn_cut_find_last(open, QN_STR("<"), open.len);
    size_t close_at = qn_cut_find_last(close, QN_STR("<"), close.len);
    bool named = own->shape == QN_SHAPE_TAGGED || own->shape == QN_SHAPE_NAMED;
    if (!named || own->section_open.core.len > 0 || own->section_close.core.len > 0 || open_at == QN_NOWHERE ||
        close_at == QN_NOWHERE) {
        return;
    }
    char closer[QN_MARK_MAX];
    qn_str outer = qn_cut_trim(qn_cut_to(open, open_at));
    size_t n = qn_str_eq(qn_cut_first_token(outer), outer) && outer.len > 0 ? qn_cut_closer(outer, closer) : 0;
    qn_mark inner_close = qn_mark_of(qn_cut_to(close, close_at));
    if (n == 0 || !qn_str_eq(qn_cut_from(close, close_at), (qn_str){closer, n}) || inner_close.core.len == 0) {
        return;
    }
    qn_syntax s = *own;
    s.known = true;
    s.call_open.core = qn_cut_from(open, open_at);
    s.section_close = (qn_mark){inner_close.after, qn_cut_from(close, close_at), own->call_close.after};
    s.call_close = (qn_mark){own->call_close.before, inner_close.core, inner_close.after};
    add(d, &s);
}

void qn_add_common_syntaxes(qn_dialect *d)
{
    if (d->has_header) {
        return;
    }
    if (d->n_own == 0 && d->has_tools) {
        for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++) {
            add(d, &common[i]);
        }
        qn_add_note(d, "common marks of calls are tried");
    }
    bool bare = d->n_own > 0 && d->syntaxes[0].bare;
    if (bare || (d->n_own == 0 && d->has_tools)) {
        add(d, &function_tag);
    }
    if (d->n_own > 0) {
        add(d, &python_tag);
        add_without_outer(d, &d->syntaxes[0]);
    }
    if (bare) {
        qn_add_end(d, QN_STR("<|eom_id|>"));
    } else {
        add(d, &whole);
    }
}
