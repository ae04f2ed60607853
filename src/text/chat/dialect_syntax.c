/* What a dialect says of calls, and where an answer begins. SPDX-License-Identifier: MIT */
#include "text/chat/dialect_syntax.h"

#include "text/chat/answer_int.h"

void qn_dialect_get_view(const qn_dialect *d, qn_dialect_view *out)
{
    *out = (qn_dialect_view){.has_reasoning = d->has_reasoning,
                             .think_open = d->think_open,
                             .think_close = d->think_close,
                             .content_open = d->content_open,
                             .content_close = d->content_close,
                             .header = d->has_header ? &d->header : NULL,
                             .syntaxes = d->syntaxes,
                             .n_syntaxes = d->n_syntaxes,
                             .n_own = d->n_own,
                             .ends = d->ends,
                             .n_ends = d->n_ends,
                             .ends_go_on = d->ends_go_on};
}

/* The reader's own view of the prompt, so that the two cannot disagree. */
qn_status qn_dialect_find_start(const qn_dialect *d, qn_str prompt, qn_budget *b, qn_answer_start *out, qn_error *err)
{
    qn_answer *a;
    const qn_answer_options o = {.prompt = prompt};
    QN_TRY(qn_answer_open(d, &o, b, &a, err));
    switch (a->state) {
    case QN_AS_CONTENT:
        *out = !a->fresh ? QN_START_UNKNOWN : a->begun ? QN_START_AFTER_THINK : QN_START_CONTENT;
        break;
    case QN_AS_REASONING:
        *out = QN_START_IN_THINK;
        break;
    case QN_AS_HEADER:
        *out = a->name.n == 0 ? QN_START_IN_HEADER : QN_START_UNKNOWN;
        break;
    default:
        *out = QN_START_UNKNOWN;
        break;
    }
    qn_answer_close(a);
    return QN_OK;
}
