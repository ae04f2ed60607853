/* Expressions to a tree, from the loosest operator to the tightest, with jinja2's order of them.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/parser_int.h"

typedef qn_status parse_fn(qn_parser *p, qn_node **out);

/* A list in one node: operand { word operand }. */
static qn_status parse_words(qn_parser *p, const char *word, parse_fn *operand, qn_node_kind kind, qn_node **out)
{
    uint32_t line = p->cur.line, mark = p->n_stack;
    bool more;
    do {
        QN_TRY(operand(p, out));
        QN_TRY(qn_parser_push(p, *out));
        QN_TRY(qn_parser_skip_name(p, word, &more));
    } while (more);
    if (p->n_stack == mark + 1) {
        p->n_stack = mark;
        return QN_OK;
    }
    return qn_parser_collect(p, kind, line, mark, out);
}

/* operand { operator operand }, the operators being tokens of a set. */
static qn_status parse_operators(qn_parser *p, uint64_t set, parse_fn *operand, qn_node_kind kind, qn_node **out)
{
    uint32_t line = p->cur.line, mark = p->n_stack, n = 0, cap = 0;
    uint8_t *ops = NULL;
    QN_TRY(operand(p, out));
    while ((set >> p->cur.kind & 1) != 0) {
        if (n == 0) {
            QN_TRY(qn_parser_push(p, *out));
        }
        QN_TRY(qn_ops_add(p, &ops, &n, &cap, p->cur.kind));
        QN_TRY(qn_parser_step(p));
        QN_TRY(operand(p, out));
        QN_TRY(qn_parser_push(p, *out));
    }
    if (n > 0) {
        QN_TRY(qn_parser_collect(p, kind, line, mark, out));
        (*out)->ops = ops;
    }
    return QN_OK;
}

qn_status qn_ops_add(qn_parser *p, uint8_t **ops, uint32_t *n, uint32_t *cap, unsigned op)
{
    if (*n == *cap) {
        uint32_t more = *cap == 0 ? 8 : *cap * 2;
        uint8_t *grown = qn_tree_alloc(p->tree, more);
        if (grown == NULL) {
            return p->tree->err->code;
        }
        if (*n > 0) {
            memcpy(grown, *ops, *n);
        }
        *ops = grown;
        *cap = more;
    }
    (*ops)[(*n)++] = (uint8_t)op;
    return QN_OK;
}

static qn_status parse_filtered(qn_parser *p, qn_node **out);

static qn_status parse_unary(qn_parser *p, bool with_filter, qn_node **out)
{
    uint32_t line = p->cur.line, mark = p->n_stack;
    if (p->cur.kind == QN_T_SUB || p->cur.kind == QN_T_ADD) {
        qn_node *n = qn_tree_node(p->tree, p->cur.kind == QN_T_SUB ? QN_N_NEG : QN_N_POS, line, 1);
        if (n == NULL) {
            return p->tree->err->code;
        }
        QN_TRY(qn_parser_enter(p));
        QN_TRY(qn_parser_step(p));
        QN_TRY(parse_unary(p, false, &n->kids[0]));
        qn_parser_leave(p);
        *out = n;
    } else {
        QN_TRY(qn_parse_primary(p, 0, out));
    }
    QN_TRY(qn_parser_push(p, *out));
    QN_TRY(qn_parse_postfixes(p));
    if (with_filter) {
        QN_TRY(qn_parse_filter_chain(p));
    }
    if (p->n_stack == mark + 1) {
        p->n_stack = mark;
        return QN_OK;
    }
    return qn_parser_collect(p, QN_N_CHAIN, line, mark, out);
}

static qn_status parse_filtered(qn_parser *p, qn_node **out)
{
    return parse_unary(p, true, out);
}

#define BIT(kind) ((uint64_t)1 << (kind))

static qn_status parse_pow(qn_parser *p, qn_node **out)
{
    return parse_operators(p, BIT(QN_T_POW), parse_filtered, QN_N_ARITH, out);
}

static qn_status parse_product(qn_parser *p, qn_node **out)
{
    return parse_operators(p, BIT(QN_T_MUL) | BIT(QN_T_DIV) | BIT(QN_T_FLOORDIV) | BIT(QN_T_MOD), parse_pow, QN_N_ARITH,
                           out);
}

static qn_status parse_concat(qn_parser *p, qn_node **out)
{
    return parse_operators(p, BIT(QN_T_TILDE), parse_product, QN_N_CONCAT, out);
}

static qn_status parse_sum(qn_parser *p, qn_node **out)
{
    return parse_operators(p, BIT(QN_T_ADD) | BIT(QN_T_SUB), parse_concat, QN_N_ARITH, out);
}

/* The comparison at the current token, which it steps over; 0: there is none. */
static qn_status parse_comparison(qn_parser *p, unsigned *op)
{
    *op = 0;
    if (p->cur.kind >= QN_T_EQ && p->cur.kind <= QN_T_GE) {
        *op = p->cur.kind;
    } else if (qn_parser_at_name(p, "in")) {
        *op = QN_OP_IN;
    } else if (qn_parser_at_name(p, "not")) {
        const qn_tok *ahead;
        QN_TRY(qn_parser_look(p, &ahead));
        if (ahead->kind == QN_T_NAME && qn_str_is(ahead->text, "in")) {
            *op = QN_OP_NOT_IN;
            QN_TRY(qn_parser_step(p));
        }
    }
    return *op != 0 ? qn_parser_step(p) : QN_OK;
}

static qn_status parse_compare(qn_parser *p, qn_node **out)
{
    uint32_t line = p->cur.line, mark = p->n_stack, n = 0, cap = 0;
    uint8_t *ops = NULL;
    unsigned op;
    QN_TRY(parse_sum(p, out));
    QN_TRY(parse_comparison(p, &op));
    if (op == 0) {
        return QN_OK;
    }
    QN_TRY(qn_parser_push(p, *out));
    while (op != 0) {
        QN_TRY(qn_ops_add(p, &ops, &n, &cap, op));
        QN_TRY(parse_sum(p, out));
        QN_TRY(qn_parser_push(p, *out));
        QN_TRY(parse_comparison(p, &op));
    }
    QN_TRY(qn_parser_collect(p, QN_N_COMPARE, line, mark, out));
    (*out)->ops = ops;
    return QN_OK;
}

static qn_status parse_not(qn_parser *p, qn_node **out)
{
    if (!qn_parser_at_name(p, "not")) {
        return parse_compare(p, out);
    }
    qn_node *n = qn_tree_node(p->tree, QN_N_NOT, p->cur.line, 1);
    if (n == NULL) {
        return p->tree->err->code;
    }
    QN_TRY(qn_parser_enter(p));
    QN_TRY(qn_parser_step(p));
    QN_TRY(parse_not(p, &n->kids[0]));
    qn_parser_leave(p);
    *out = n;
    return QN_OK;
}

static qn_status parse_and(qn_parser *p, qn_node **out)
{
    return parse_words(p, "and", parse_not, QN_N_AND, out);
}

static qn_status parse_or(qn_parser *p, qn_node **out)
{
    return parse_words(p, "or", parse_and, QN_N_OR, out);
}

static qn_status parse_cond(qn_parser *p, qn_node **out)
{
    uint32_t line = p->cur.line;
    unsigned depth = p->depth;
    bool is_cond, has_else;
    QN_TRY(parse_or(p, out));
    QN_TRY(qn_parser_skip_name(p, "if", &is_cond));
    while (is_cond) {
        qn_node *n = qn_tree_node(p->tree, QN_N_COND, line, 3);
        if (n == NULL) {
            return p->tree->err->code;
        }
        QN_TRY(qn_parser_enter(p)); /* each one holds those before it */
        n->kids[1] = *out;
        QN_TRY(parse_or(p, &n->kids[0]));
        QN_TRY(qn_parser_skip_name(p, "else", &has_else));
        if (has_else) {
            QN_TRY(parse_cond(p, &n->kids[2]));
        }
        *out = n;
        line = p->cur.line;
        QN_TRY(qn_parser_skip_name(p, "if", &is_cond));
    }
    p->depth = depth;
    return QN_OK;
}

qn_status qn_parse_expr(qn_parser *p, unsigned flags, qn_node **out)
{
    QN_TRY(qn_parser_enter(p));
    QN_TRY((flags & QN_EXPR_NO_COND) != 0 ? parse_or(p, out) : parse_cond(p, out));
    qn_parser_leave(p);
    return QN_OK;
}

qn_status qn_parse_tuple(qn_parser *p, unsigned flags, qn_node **out)
{
    uint32_t line = p->cur.line, mark = p->n_stack;
    bool is_tuple = false;
    for (;;) {
        if (p->n_stack > mark) {
            QN_TRY(qn_parser_expect(p, QN_T_COMMA, NULL));
        }
        if (p->cur.kind == QN_T_VAR_END || p->cur.kind == QN_T_BLOCK_END || p->cur.kind == QN_T_RPAREN) {
            break;
        }
        QN_TRY((flags & QN_EXPR_TARGET) != 0 ? qn_parse_primary(p, flags, out) : qn_parse_expr(p, flags, out));
        QN_TRY(qn_parser_push(p, *out));
        if (p->cur.kind != QN_T_COMMA) {
            break;
        }
        is_tuple = true;
        line = p->cur.line;
    }
    if (!is_tuple && p->n_stack > mark) {
        *out = p->stack[mark];
        p->n_stack = mark;
        return QN_OK;
    }
    if (!is_tuple && (flags & QN_EXPR_PARENS) == 0) {
        qn_str got = qn_tok_describe(&p->cur);
        return qn_tree_fail(p->tree, p->cur.line, "Expected an expression, got '%.*s'", QN_STR_ARG(got));
    }
    return qn_parser_collect(p, QN_N_TUPLE, line, mark, out);
}

/* ---- targets of assignments ---- */

static const char *kind_of_target(const qn_node *n)
{
    switch (n->kind) {
    case QN_N_CONST:
        return "const";
    case QN_N_NAME:
        return "name";
    case QN_N_LIST:
        return "list";
    case QN_N_DICT:
        return "dict";
    case QN_N_CHAIN:
        switch (n->kids[n->n_kids - 1]->kind) {
        case QN_N_ATTR:
            return "getattr";
        case QN_N_CALL:
            return "call";
        case QN_N_FILTER:
            return "filter";
        case QN_N_TEST:
            return "test";
        default:
            return "getitem";
        }
    default:
        return "expression";
    }
}

static qn_status make_target(qn_parser *p, qn_node *n, qn_name_use use)
{
    if (n->kind == QN_N_TUPLE) {
        for (uint32_t i = 0; i < n->n_kids; i++) {
            if (n->kids[i]->kind != QN_N_TUPLE && n->kids[i]->kind != QN_N_NAME && n->kids[i]->kind != QN_N_NSREF) {
                return qn_tree_fail(p->tree, n->line, "can't assign to 'tuple'");
            }
            QN_TRY(make_target(p, n->kids[i], use));
        }
        return QN_OK;
    }
    bool is_word = n->kind == QN_N_NAME && !qn_is_constant(n->name->u.text);
    if (!is_word && n->kind != QN_N_NSREF) {
        return qn_tree_fail(p->tree, n->line, "can't assign to '%s'", kind_of_target(n));
    }
    n->op = (uint8_t)(n->kind == QN_N_NAME ? use : QN_USE_LOAD);
    return QN_OK;
}

qn_status qn_parse_target(qn_parser *p, unsigned flags, qn_name_use use, qn_node **out)
{
    if ((flags & QN_TARGET_NAME) != 0) {
        qn_tok t;
        QN_TRY(qn_parser_expect(p, QN_T_NAME, &t));
        QN_TRY(qn_name_node(p, &t, out));
    } else {
        unsigned ns = (flags & QN_TARGET_NAMESPACE) != 0 ? QN_EXPR_NAMESPACE : 0;
        QN_TRY(qn_parse_tuple(p, QN_EXPR_TARGET | ns, out));
    }
    return make_target(p, *out, use);
}
