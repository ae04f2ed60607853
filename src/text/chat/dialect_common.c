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

void qn_add_common_syntaxes(qn_dialect *d)
{
    if (d->has_header) {
        return;
    }
    if (d->n_own > 0) {
        if (d->syntaxes[0].bare) {
            d->syntaxes[d->n_syntaxes++] = python_tag;
            qn_add_end(d, QN_STR("<|eom_id|>"));
        }
        return;
    }
    if (d->has_tools) {
        for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++) {
            d->syntaxes[d->n_syntaxes++] = common[i];
        }
        qn_add_note(d, "common marks of calls are tried");
    }
    d->syntaxes[d->n_syntaxes++] = whole;
}
