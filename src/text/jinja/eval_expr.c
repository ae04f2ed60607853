/* Expressions.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/eval.h"
#include "text/jinja/parser_int.h"

static qn_status eval_name(qn_eval *ev, const qn_node *n, qn_value *out)
{
    *out = *qn_cell(ev, n);
    if (qn_is_missing(*out)) {
        *out = qn_vundefined(&ev->run, n->name->u.text);
    }
    return QN_OK;
}

static qn_status eval_items(qn_eval *ev, const qn_node *n, qn_vkind kind, qn_value *out)
{
    QN_TRY(qn_vlist_new(&ev->run, kind, n->n_kids, out));
    for (uint32_t i = 0; i < n->n_kids; i++) {
        qn_value x;
        QN_TRY(qn_eval_expr(ev, n->kids[i], &x));
        QN_TRY(qn_vlist_push(&ev->run, out->u.list, x));
    }
    return QN_OK;
}

static qn_status eval_dict(qn_eval *ev, const qn_node *n, qn_value *out)
{
    QN_TRY(qn_vdict_new(&ev->run, QN_V_DICT, out));
    for (uint32_t i = 0; i < n->n_kids; i += 2) {
        qn_value key, x;
        QN_TRY(qn_eval_expr(ev, n->kids[i], &key));
        QN_TRY(qn_eval_expr(ev, n->kids[i + 1], &x));
        QN_TRY(qn_vdict_set(&ev->run, out->u.dict, key, x));
    }
    return QN_OK;
}

static qn_status eval_cond(qn_eval *ev, const qn_node *n, qn_value *out)
{
    QN_TRY(qn_eval_expr(ev, n->kids[0], out));
    if (qn_vtruth(*out)) {
        return qn_eval_expr(ev, n->kids[1], out);
    }
    if (n->kids[2] != NULL) {
        return qn_eval_expr(ev, n->kids[2], out);
    }
    *out = qn_undefined_text(
        ev, "the inline if-expression on line %u evaluated to false and no else section was defined.", n->line);
    return QN_OK;
}

/* The first operand that decides, or the last. */
static qn_status eval_logic(qn_eval *ev, const qn_node *n, qn_value *out)
{
    for (uint32_t i = 0; i < n->n_kids; i++) {
        QN_TRY(qn_eval_expr(ev, n->kids[i], out));
        if (i + 1 < n->n_kids && qn_vtruth(*out) == (n->kind == QN_N_OR)) {
            break;
        }
    }
    return QN_OK;
}

static qn_status eval_concat(qn_eval *ev, const qn_node *n, qn_value *out)
{
    uint32_t mark = ev->n_stack;
    qn_value *parts = qn_stack_take(ev, n->n_kids);
    if (parts == NULL) {
        return ev->run.err->code;
    }
    for (uint32_t i = 0; i < n->n_kids; i++) {
        QN_TRY(qn_eval_expr(ev, n->kids[i], &parts[i]));
    }
    QN_TRY(qn_vconcat(&ev->run, parts, n->n_kids, out));
    ev->n_stack = mark;
    return QN_OK;
}

static qn_vop arith_op(unsigned op)
{
    switch (op) {
    case QN_T_ADD:
        return QN_OP_ADD;
    case QN_T_SUB:
        return QN_OP_SUB;
    case QN_T_MUL:
        return QN_OP_MUL;
    case QN_T_DIV:
        return QN_OP_DIV;
    case QN_T_FLOORDIV:
        return QN_OP_FLOORDIV;
    case QN_T_MOD:
        return QN_OP_MOD;
    default:
        return QN_OP_POW;
    }
}

static qn_status eval_arith(qn_eval *ev, const qn_node *n, qn_value *out)
{
    QN_TRY(qn_eval_expr(ev, n->kids[0], out));
    for (uint32_t i = 1; i < n->n_kids; i++) {
        qn_value right;
        QN_TRY(qn_eval_expr(ev, n->kids[i], &right));
        ev->run.line = n->line;
        QN_TRY(qn_varith(&ev->run, arith_op(n->ops[i - 1]), *out, right, out));
    }
    return QN_OK;
}

static qn_status compare(qn_eval *ev, unsigned op, qn_value a, qn_value b, bool *out)
{
    int order;
    switch (op) {
    case QN_T_EQ:
        return qn_vequal(&ev->run, a, b, out);
    case QN_T_NE:
        QN_TRY(qn_vequal(&ev->run, a, b, out));
        *out = !*out;
        return QN_OK;
    case QN_OP_IN:
        return qn_vcontains(&ev->run, b, a, out);
    case QN_OP_NOT_IN:
        QN_TRY(qn_vcontains(&ev->run, b, a, out));
        *out = !*out;
        return QN_OK;
    default:
        QN_TRY(qn_vcompare(&ev->run, a, b, &order));
        *out = order != QN_UNORDERED && (op == QN_T_LT   ? order < 0
                                         : op == QN_T_LE ? order <= 0
                                         : op == QN_T_GT ? order > 0
                                                         : order >= 0);
        return QN_OK;
    }
}

/* a < b < c is a < b and b < c, b being evaluated once. */
static qn_status eval_compare(qn_eval *ev, const qn_node *n, qn_value *out)
{
    qn_value left, right;
    bool holds = true;
    QN_TRY(qn_eval_expr(ev, n->kids[0], &left));
    for (uint32_t i = 1; holds && i < n->n_kids; i++) {
        QN_TRY(qn_eval_expr(ev, n->kids[i], &right));
        ev->run.line = n->line;
        QN_TRY(compare(ev, n->ops[i - 1], left, right, &holds));
        left = right;
    }
    *out = qn_vbool(holds);
    return QN_OK;
}

/* ---- postfixes ---- */

static qn_status eval_part(qn_eval *ev, const qn_node *n, qn_value *out)
{
    *out = qn_vnone();
    return n == NULL ? QN_OK : qn_eval_expr(ev, n, out);
}

static qn_status eval_slice(qn_eval *ev, const qn_node *n, qn_value x, qn_value *out)
{
    qn_value from, to, step;
    QN_TRY(eval_part(ev, n->kids[0], &from));
    QN_TRY(eval_part(ev, n->kids[1], &to));
    QN_TRY(eval_part(ev, n->kids[2], &step));
    ev->run.line = n->line;
    return qn_vslice(&ev->run, x, from, to, step, out);
}

static qn_status eval_attribute(qn_eval *ev, const qn_node *n, qn_value x, qn_value *out)
{
    qn_status status;
    if (x.kind == QN_V_FUNCTION && qn_macro_attribute(ev, x, n->name->u.text, out, &status)) {
        return status;
    }
    return qn_vattribute(&ev->run, x, n->name->u.text, out);
}

static qn_status eval_call(qn_eval *ev, const qn_node *n, qn_value x, qn_value *out)
{
    qn_args args;
    uint32_t mark = ev->n_stack;
    QN_TRY(qn_eval_args(ev, n, NULL, x, &args));
    ev->run.line = n->line;
    QN_TRY(qn_vcall(&ev->run, x, &args, out));
    ev->n_stack = mark;
    ev->run.line = n->line;
    return QN_OK;
}

static qn_status eval_filter(qn_eval *ev, const qn_node *n, qn_value x, qn_value *out)
{
    qn_args args;
    uint32_t mark = ev->n_stack;
    QN_TRY(qn_eval_args(ev, n, NULL, x, &args));
    ev->run.line = n->line;
    if (n->u.filter == NULL) {
        return qn_run_fail(&ev->run, "No filter named '%.*s' found.", QN_STR_ARG(n->name->u.text));
    }
    QN_TRY(n->u.filter(&ev->run, x, &args, out));
    ev->n_stack = mark;
    return QN_OK;
}

static qn_status eval_test(qn_eval *ev, const qn_node *n, qn_value x, qn_value *out)
{
    qn_args args;
    bool holds;
    uint32_t mark = ev->n_stack;
    QN_TRY(qn_eval_args(ev, n, NULL, x, &args));
    ev->run.line = n->line;
    if (n->u.test == NULL) {
        return qn_run_fail(&ev->run, "No test named '%.*s' found.", QN_STR_ARG(n->name->u.text));
    }
    QN_TRY(n->u.test(&ev->run, x, &args, &holds));
    ev->n_stack = mark;
    *out = qn_vbool(holds != (n->op != 0));
    return QN_OK;
}

static qn_status eval_item(qn_eval *ev, const qn_node *n, qn_value x, qn_value *out)
{
    qn_value key;
    QN_TRY(qn_eval_expr(ev, n->kids[0], &key));
    ev->run.line = n->line;
    return qn_vitem(&ev->run, x, key, out);
}

qn_status qn_eval_chain(qn_eval *ev, const qn_node *chain, qn_value x, qn_value *out)
{
    QN_TRY(qn_run_steps(&ev->run, chain->n_kids));
    for (uint32_t i = 1; i < chain->n_kids; i++) {
        const qn_node *n = chain->kids[i];
        ev->run.line = n->line;
        switch (n->kind) {
        case QN_N_ATTR:
            QN_TRY(eval_attribute(ev, n, x, &x));
            break;
        case QN_N_ITEM:
            QN_TRY(eval_item(ev, n, x, &x));
            break;
        case QN_N_SLICE:
            QN_TRY(eval_slice(ev, n, x, &x));
            break;
        case QN_N_CALL:
            QN_TRY(eval_call(ev, n, x, &x));
            break;
        case QN_N_FILTER:
            QN_TRY(eval_filter(ev, n, x, &x));
            break;
        default:
            QN_TRY(eval_test(ev, n, x, &x));
            break;
        }
    }
    *out = x;
    return QN_OK;
}

/* ---- dispatch ---- */

static qn_status eval_unary(qn_eval *ev, const qn_node *n, qn_value *out)
{
    QN_TRY(qn_eval_expr(ev, n->kids[0], out));
    if (n->kind == QN_N_NOT) {
        *out = qn_vbool(!qn_vtruth(*out));
        return QN_OK;
    }
    ev->run.line = n->line;
    return qn_vnegate(&ev->run, *out, n->kind == QN_N_NEG, out);
}

static qn_status eval_base_chain(qn_eval *ev, const qn_node *n, qn_value *out)
{
    QN_TRY(qn_eval_expr(ev, n->kids[0], out));
    return qn_eval_chain(ev, n, *out, out);
}

static qn_status eval_node(qn_eval *ev, const qn_node *n, qn_value *out)
{
    switch (n->kind) {
    case QN_N_NAME:
        return eval_name(ev, n, out);
    case QN_N_TUPLE:
        return eval_items(ev, n, QN_V_TUPLE, out);
    case QN_N_LIST:
        return eval_items(ev, n, QN_V_LIST, out);
    case QN_N_DICT:
        return eval_dict(ev, n, out);
    case QN_N_COND:
        return eval_cond(ev, n, out);
    case QN_N_OR:
    case QN_N_AND:
        return eval_logic(ev, n, out);
    case QN_N_CONCAT:
        return eval_concat(ev, n, out);
    case QN_N_COMPARE:
        return eval_compare(ev, n, out);
    case QN_N_ARITH:
        return eval_arith(ev, n, out);
    case QN_N_CHAIN:
        return eval_base_chain(ev, n, out);
    default:
        return eval_unary(ev, n, out);
    }
}

qn_status qn_eval_expr(qn_eval *ev, const qn_node *n, qn_value *out)
{
    if (n->kind == QN_N_CONST || n->kind == QN_N_DATA) {
        *out = n->u.value;
        return qn_run_steps(&ev->run, 1);
    }
    QN_TRY(qn_run_steps(&ev->run, 1));
    QN_TRY(qn_level_enter(ev));
    ev->run.line = n->line;
    QN_TRY(eval_node(ev, n, out));
    ev->levels--;
    return QN_OK;
}
