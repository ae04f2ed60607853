/* Statements, and where their text goes.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/eval.h"

qn_status qn_level_enter(qn_eval *ev)
{
    if (ev->levels >= QN_JINJA_MAX_LEVELS) {
        return qn_fail(ev->run.err, QN_EFULL, "line %u: nested too deeply", ev->run.line);
    }
    ev->levels++;
    return QN_OK;
}

/* ---- output ---- */

/* Adds [start, end) of the text to its spans. */
static qn_status add_span(qn_eval *ev, size_t start, size_t end)
{
    qn_jinja_text *t = ev->text;
    if (t->n_spans > 0 && t->spans[t->n_spans - 1].end == start) {
        t->spans[t->n_spans - 1].end = end;
        return QN_OK;
    }
    if (t->n_spans == ev->cap_spans) {
        size_t cap = ev->cap_spans == 0 ? 16 : ev->cap_spans * 2;
        qn_span *spans = qn_realloc(ev->run.budget, "jinja", t->spans, cap * sizeof(*spans));
        if (spans == NULL) {
            return qn_fail(ev->run.err, qn_alloc_failure(ev->run.budget, cap * sizeof(*spans)),
                           "line %u: no memory for the text", ev->run.line);
        }
        t->spans = spans;
        ev->cap_spans = cap;
    }
    t->spans[t->n_spans++] = (qn_span){start, end};
    return QN_OK;
}

static qn_status emit_string(qn_eval *ev, const qn_vstr *s)
{
    QN_TRY(qn_run_steps(&ev->run, s->n_bytes / 16));
    if (ev->capture != NULL) {
        qn_vbuild_add_slice(ev->capture, s, 0, s->n_bytes);
        return ev->capture->status;
    }
    qn_buf *text = &ev->text->text;
    size_t at = text->len;
    qn_buf_add(text, s->bytes, s->n_bytes);
    if (text->status == QN_EFULL) {
        return qn_fail(ev->run.err, QN_EFULL, "line %u: the text is longer than %zu bytes", ev->run.line, text->max);
    }
    if (text->status != QN_OK) {
        return qn_fail(ev->run.err, qn_alloc_failure(ev->run.budget, at + s->n_bytes),
                       "line %u: no memory for the text", ev->run.line);
    }
    for (uint32_t i = 0; i < s->n_marks; i++) {
        QN_TRY(add_span(ev, at + s->marks[i].start, at + s->marks[i].end));
    }
    return QN_OK;
}

qn_status qn_emit(qn_eval *ev, qn_value x, bool as_is)
{
    if (x.kind == QN_V_STRING) {
        return emit_string(ev, x.u.s);
    }
    if (as_is) {
        return qn_run_fail(&ev->run, "sequence item: expected str instance, %s found", qn_vkind_name(x));
    }
    QN_TRY(qn_vstr_of(&ev->run, x, &x));
    return emit_string(ev, x.u.s);
}

qn_status qn_capture(qn_eval *ev, const qn_node *body, qn_value *out)
{
    qn_vbuild *outer = ev->capture;
    qn_vbuild build;
    qn_vbuild_init(&build, &ev->run);
    ev->capture = &build;
    qn_status status = qn_exec(ev, body);
    ev->capture = outer; /* on every path: it is on this stack */
    QN_TRY(status);
    return qn_vbuild_finish(&build, out);
}

/* ---- statements ---- */

static qn_status exec_output(qn_eval *ev, const qn_node *n)
{
    for (uint32_t i = 0; i < n->n_kids; i++) {
        qn_value x;
        ev->run.line = n->kids[i]->line;
        QN_TRY(qn_eval_expr(ev, n->kids[i], &x));
        QN_TRY(qn_emit(ev, x, false));
    }
    return QN_OK;
}

static qn_status exec_if(qn_eval *ev, const qn_node *n)
{
    uint32_t i = 0;
    for (; i + 1 < n->n_kids; i += 2) {
        qn_value test;
        QN_TRY(qn_eval_expr(ev, n->kids[i], &test));
        if (qn_vtruth(test)) {
            return qn_exec(ev, n->kids[i + 1]);
        }
    }
    return i < n->n_kids ? qn_exec(ev, n->kids[i]) : QN_OK;
}

static qn_status exec_set(qn_eval *ev, const qn_node *n)
{
    qn_value x;
    QN_TRY(qn_check_target(ev, n->kids[0]));
    QN_TRY(qn_eval_expr(ev, n->kids[1], &x));
    ev->run.line = n->line;
    return qn_assign(ev, n->kids[0], x);
}

static qn_status exec_set_block(qn_eval *ev, const qn_node *n)
{
    qn_value x;
    QN_TRY(qn_scope_enter(ev, n->u.s.scope));
    QN_TRY(qn_capture(ev, n->kids[2], &x));
    if (ev->jump != QN_JUMP_NONE) {
        return QN_OK; /* a jump out of the block drops what it had */
    }
    ev->run.line = n->line;
    if (n->kids[1] != NULL) {
        QN_TRY(qn_eval_chain(ev, n->kids[1], x, &x));
    }
    if (n->kids[0]->kind == QN_N_NSREF) {
        QN_TRY(qn_check_target(ev, n->kids[0]));
    }
    QN_TRY(qn_assign(ev, n->kids[0], x));
    qn_scope_leave(ev, n->u.s.scope);
    return QN_OK;
}

static qn_status exec_filter_block(qn_eval *ev, const qn_node *n)
{
    qn_value x;
    QN_TRY(qn_scope_enter(ev, n->u.s.scope));
    QN_TRY(qn_capture(ev, n->kids[0], &x));
    if (ev->jump != QN_JUMP_NONE) {
        return QN_OK;
    }
    ev->run.line = n->line;
    QN_TRY(qn_eval_chain(ev, n->kids[1], x, &x));
    qn_scope_leave(ev, n->u.s.scope);
    return qn_emit(ev, x, true);
}

static qn_status exec_with(qn_eval *ev, const qn_node *n)
{
    QN_TRY(qn_scope_enter(ev, n->u.s.scope));
    for (uint32_t i = 0; i < n->n_args; i++) {
        qn_value x;
        QN_TRY(qn_eval_expr(ev, n->kids[n->n_args + i], &x));
        QN_TRY(qn_assign(ev, n->kids[i], x));
    }
    QN_TRY(qn_exec(ev, n->kids[2 * n->n_args]));
    if (ev->jump == QN_JUMP_NONE) {
        qn_scope_leave(ev, n->u.s.scope);
    }
    return QN_OK;
}

static qn_status exec_autoescape(qn_eval *ev, const qn_node *n)
{
    qn_value on;
    QN_TRY(qn_scope_enter(ev, n->u.s.scope));
    QN_TRY(qn_eval_expr(ev, n->kids[0], &on));
    if (qn_vtruth(on)) {
        return qn_run_fail(&ev->run, "autoescape is not supported");
    }
    QN_TRY(qn_exec(ev, n->kids[1]));
    if (ev->jump == QN_JUMP_NONE) {
        qn_scope_leave(ev, n->u.s.scope);
    }
    return QN_OK;
}

/* include, import, extends: there is nothing to load from. */
static qn_status exec_load(qn_eval *ev, const qn_node *n)
{
    qn_value name;
    QN_TRY(qn_eval_expr(ev, n->kids[0], &name));
    ev->run.line = n->line;
    return qn_run_fail(&ev->run, "no loader for this environment specified");
}

static qn_status exec_statement(qn_eval *ev, const qn_node *n)
{
    switch (n->kind) {
    case QN_N_OUTPUT:
        return exec_output(ev, n);
    case QN_N_IF:
        return exec_if(ev, n);
    case QN_N_FOR:
        return qn_exec_for(ev, n);
    case QN_N_BREAK:
        ev->jump = QN_JUMP_BREAK;
        return QN_OK;
    case QN_N_CONTINUE:
        ev->jump = QN_JUMP_CONTINUE;
        return QN_OK;
    case QN_N_SET:
        return exec_set(ev, n);
    case QN_N_SETBLOCK:
        return exec_set_block(ev, n);
    case QN_N_MACRO:
        return qn_exec_macro(ev, n);
    case QN_N_CALLBLOCK:
        return qn_exec_call_block(ev, n);
    case QN_N_FILTERBLOCK:
        return exec_filter_block(ev, n);
    case QN_N_WITH:
        return exec_with(ev, n);
    case QN_N_BLOCK:
        return qn_exec_block(ev, n);
    case QN_N_AUTOESCAPE:
        return exec_autoescape(ev, n);
    default:
        return exec_load(ev, n);
    }
}

qn_status qn_exec(qn_eval *ev, const qn_node *body)
{
    QN_TRY(qn_level_enter(ev));
    for (uint32_t i = 0; i < body->n_kids && ev->jump == QN_JUMP_NONE; i++) {
        ev->run.line = body->kids[i]->line;
        QN_TRY(qn_run_steps(&ev->run, 1));
        QN_TRY(exec_statement(ev, body->kids[i]));
    }
    ev->levels--;
    return QN_OK;
}
