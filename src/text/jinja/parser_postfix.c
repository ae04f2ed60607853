/* What may follow a value: attributes, subscripts, calls, filters, tests.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/parser_int.h"

static qn_status fail_call(qn_parser *p, uint32_t line)
{
    return qn_tree_fail(p->tree, line, "invalid syntax for function call expression");
}

/* Names are words of the tree, so one that comes twice is seen by a mark on the word. */
static qn_status check_names(qn_parser *p, uint32_t line, uint32_t mark, uint32_t n_names)
{
    for (uint32_t i = 0; i < n_names; i++) {
        qn_node *word = p->stack[mark + 2 * i];
        if (word->op != 0) {
            return qn_tree_fail(p->tree, line, "keyword argument repeated: %.*s", QN_STR_ARG(word->u.text));
        }
        word->op = 1;
    }
    for (uint32_t i = 0; i < n_names; i++) {
        p->stack[mark + 2 * i]->op = 0;
    }
    return QN_OK;
}

/* Kids of n: those pushed since mark, the last 2 * n_names being word and value in turn; then the starred ones. */
static qn_status finish_call(qn_parser *p, qn_node *n, uint32_t mark, uint32_t n_names, qn_node *star,
                             qn_node *star_star)
{
    uint32_t n_pos = p->n_stack - mark - 2 * n_names, total = n_pos + n_names + (star != NULL) + (star_star != NULL);
    qn_callargs *a = qn_tree_alloc(p->tree, sizeof(*a));
    qn_str *names = qn_tree_alloc(p->tree, (n_names + 1) * sizeof(*names));
    qn_node **kids = qn_tree_alloc(p->tree, (total + 1) * sizeof(qn_node *));
    if (a == NULL || names == NULL || kids == NULL) {
        return p->tree->err->code;
    }
    QN_TRY(check_names(p, n->line, mark + n_pos, n_names));
    for (uint32_t i = 0; i < n_pos; i++) {
        kids[i] = p->stack[mark + i];
    }
    for (uint32_t i = 0; i < n_names; i++) {
        names[i] = p->stack[mark + n_pos + 2 * i]->u.text;
        kids[n_pos + i] = p->stack[mark + n_pos + 2 * i + 1];
    }
    *a = (qn_callargs){
        .n_pos = n_pos, .n_named = n_names, .names = names, .star = star != NULL, .star_star = star_star != NULL};
    if (star != NULL) {
        kids[n_pos + n_names] = star;
    }
    if (star_star != NULL) {
        kids[total - 1] = star_star;
    }
    n->kids = kids;
    n->n_kids = total;
    n->args = a;
    p->n_stack = mark;
    return QN_OK;
}

/* One argument: pushed, or one of the starred ones. */
static qn_status parse_arg(qn_parser *p, uint32_t line, uint32_t *n_names, qn_node **star, qn_node **star_star)
{
    qn_node *value;
    if (p->cur.kind == QN_T_MUL || p->cur.kind == QN_T_POW) {
        bool one = p->cur.kind == QN_T_MUL;
        if (*star_star != NULL || (one && *star != NULL)) {
            return fail_call(p, line);
        }
        QN_TRY(qn_parser_step(p));
        return qn_parse_expr(p, 0, one ? star : star_star);
    }
    const qn_tok *ahead = NULL;
    if (p->cur.kind == QN_T_NAME) {
        QN_TRY(qn_parser_look(p, &ahead));
    }
    if (ahead != NULL && ahead->kind == QN_T_ASSIGN) {
        if (*star_star != NULL) {
            return fail_call(p, line);
        }
        qn_node *word = (qn_node *)(uintptr_t)qn_tree_name(p->tree, p->cur.text);
        if (word == NULL) {
            return p->tree->err->code;
        }
        QN_TRY(qn_parser_push(p, word));
        QN_TRY(qn_parser_step(p));
        QN_TRY(qn_parser_step(p));
        ++*n_names;
    } else if (*star != NULL || *star_star != NULL || *n_names > 0) {
        return fail_call(p, line);
    }
    QN_TRY(qn_parse_expr(p, 0, &value));
    return qn_parser_push(p, value);
}

/* The arguments in parentheses at the current token become n's. */
static qn_status parse_call_args(qn_parser *p, qn_node *n)
{
    uint32_t line = p->cur.line, mark = p->n_stack, n_names = 0;
    qn_node *star = NULL, *star_star = NULL;
    bool first = true;
    QN_TRY(qn_parser_step(p));
    while (p->cur.kind != QN_T_RPAREN) {
        if (!first) {
            QN_TRY(qn_parser_expect(p, QN_T_COMMA, NULL));
            if (p->cur.kind == QN_T_RPAREN) {
                break;
            }
        }
        first = false;
        QN_TRY(parse_arg(p, line, &n_names, &star, &star_star));
    }
    QN_TRY(qn_parser_expect(p, QN_T_RPAREN, NULL));
    return finish_call(p, n, mark, n_names, star, star_star);
}

static qn_status no_args(qn_parser *p, qn_node *n)
{
    return finish_call(p, n, p->n_stack, 0, NULL, NULL);
}

/* ---- subscripts ---- */

static qn_status parse_slice_part(qn_parser *p, qn_node **out)
{
    if (p->cur.kind == QN_T_COLON || p->cur.kind == QN_T_RBRACKET || p->cur.kind == QN_T_COMMA) {
        return QN_OK;
    }
    return qn_parse_expr(p, 0, out);
}

/* An expression, or a slice. */
static qn_status parse_subscribed(qn_parser *p, qn_node **out)
{
    uint32_t line = p->cur.line;
    qn_node *from = NULL;
    bool more;
    if (p->cur.kind != QN_T_COLON) {
        QN_TRY(qn_parse_expr(p, 0, &from));
        if (p->cur.kind != QN_T_COLON) {
            *out = from;
            return QN_OK;
        }
    }
    QN_TRY(qn_parser_step(p));
    QN_TRY(qn_new_node(p, QN_N_SLICE, line, 3, out));
    qn_node *slice = *out;
    slice->kids[0] = from;
    QN_TRY(parse_slice_part(p, &slice->kids[1]));
    QN_TRY(qn_parser_skip(p, QN_T_COLON, &more));
    if (more && p->cur.kind != QN_T_RBRACKET && p->cur.kind != QN_T_COMMA) {
        QN_TRY(qn_parse_expr(p, 0, &slice->kids[2]));
    }
    return QN_OK;
}

static qn_status parse_brackets(qn_parser *p, qn_node **out)
{
    uint32_t line = p->cur.line, mark = p->n_stack;
    bool has_slice = false;
    qn_node *key;
    QN_TRY(qn_parser_step(p));
    while (p->cur.kind != QN_T_RBRACKET) {
        if (p->n_stack > mark) {
            QN_TRY(qn_parser_expect(p, QN_T_COMMA, NULL));
        }
        QN_TRY(parse_subscribed(p, &key));
        has_slice = has_slice || key->kind == QN_N_SLICE;
        QN_TRY(qn_parser_push(p, key));
    }
    QN_TRY(qn_parser_step(p));
    if (p->n_stack == mark + 1) {
        key = p->stack[mark];
        p->n_stack = mark;
    } else if (has_slice) {
        return qn_tree_fail(p->tree, line, "a slice cannot be one of several subscripts");
    } else {
        QN_TRY(qn_parser_collect(p, QN_N_TUPLE, line, mark, &key));
    }
    if (key->kind == QN_N_SLICE) {
        *out = key;
        return QN_OK;
    }
    QN_TRY(qn_new_node(p, QN_N_ITEM, line, 1, out));
    (*out)->kids[0] = key;
    return QN_OK;
}

static qn_status parse_dot(qn_parser *p, qn_node **out)
{
    uint32_t line = p->cur.line;
    QN_TRY(qn_parser_step(p));
    qn_tok t = p->cur;
    QN_TRY(qn_parser_step(p));
    if (t.kind == QN_T_NAME) {
        QN_TRY(qn_new_node(p, QN_N_ATTR, line, 0, out));
        return qn_name_of(p, t.text, *out);
    }
    if (t.kind != QN_T_INT) {
        return qn_tree_fail(p->tree, t.line, "expected name or number");
    }
    QN_TRY(qn_new_node(p, QN_N_ITEM, line, 1, out));
    QN_TRY(qn_new_node(p, QN_N_CONST, t.line, 0, &(*out)->kids[0]));
    (*out)->kids[0]->u.value = t.value;
    return QN_OK;
}

qn_status qn_parse_postfixes(qn_parser *p)
{
    for (;;) {
        qn_node *n = NULL;
        if (p->cur.kind == QN_T_DOT) {
            QN_TRY(parse_dot(p, &n));
        } else if (p->cur.kind == QN_T_LBRACKET) {
            QN_TRY(parse_brackets(p, &n));
        } else if (p->cur.kind == QN_T_LPAREN) {
            QN_TRY(qn_new_node(p, QN_N_CALL, p->cur.line, 0, &n));
            QN_TRY(parse_call_args(p, n));
        } else {
            return QN_OK;
        }
        QN_TRY(qn_parser_push(p, n));
    }
}

/* ---- filters and tests ---- */

/* The dotted name at the current token becomes n's. */
static qn_status parse_dotted(qn_parser *p, qn_node *n)
{
    qn_tok t;
    QN_TRY(qn_parser_expect(p, QN_T_NAME, &t));
    QN_TRY(qn_name_of(p, t.text, n));
    while (p->cur.kind == QN_T_DOT) {
        char text[256];
        QN_TRY(qn_parser_step(p));
        QN_TRY(qn_parser_expect(p, QN_T_NAME, &t));
        qn_str before = n->name->u.text;
        if (before.len + 1 + t.text.len > sizeof(text)) {
            return qn_tree_fail(p->tree, t.line, "a name is too long");
        }
        memcpy(text, before.data, before.len);
        text[before.len] = '.';
        memcpy(text + before.len + 1, t.text.data, t.text.len);
        QN_TRY(qn_name_of(p, (qn_str){text, before.len + 1 + t.text.len}, n));
    }
    return QN_OK;
}

/* The filter whose name is the current token. */
static qn_status parse_filter(qn_parser *p, qn_node **out)
{
    QN_TRY(qn_new_node(p, QN_N_FILTER, p->cur.line, 0, out));
    QN_TRY(parse_dotted(p, *out));
    (*out)->u.filter = qn_filter_find((*out)->name->u.text);
    return p->cur.kind == QN_T_LPAREN ? parse_call_args(p, *out) : no_args(p, *out);
}

qn_status qn_parse_filters(qn_parser *p, bool at_name, qn_node **out)
{
    uint32_t line = p->cur.line, mark = p->n_stack;
    *out = NULL;
    if (!at_name && p->cur.kind != QN_T_PIPE) {
        return QN_OK;
    }
    QN_TRY(qn_parser_push(p, NULL));
    while (at_name || p->cur.kind == QN_T_PIPE) {
        qn_node *n;
        if (!at_name) {
            QN_TRY(qn_parser_step(p));
        }
        at_name = false;
        QN_TRY(parse_filter(p, &n));
        QN_TRY(qn_parser_push(p, n));
    }
    return qn_parser_collect(p, QN_N_CHAIN, line, mark, out);
}

/* Whether an argument without parentheses follows the name of a test. */
static bool at_test_arg(const qn_parser *p)
{
    switch (p->cur.kind) {
    case QN_T_NAME:
        return !qn_parser_at_name(p, "else") && !qn_parser_at_name(p, "or") && !qn_parser_at_name(p, "and");
    case QN_T_STRING:
    case QN_T_INT:
    case QN_T_FLOAT:
    case QN_T_LBRACKET:
    case QN_T_LBRACE:
        return true;
    default:
        return false;
    }
}

/* "is" is the current token. */
static qn_status parse_test(qn_parser *p, qn_node **out)
{
    bool negated;
    QN_TRY(qn_new_node(p, QN_N_TEST, p->cur.line, 0, out));
    qn_node *n = *out;
    QN_TRY(qn_parser_step(p));
    QN_TRY(qn_parser_skip_name(p, "not", &negated));
    n->op = negated;
    QN_TRY(parse_dotted(p, n));
    n->u.test = qn_test_find(n->name->u.text);
    if (p->cur.kind == QN_T_LPAREN) {
        return parse_call_args(p, n);
    }
    if (!at_test_arg(p)) {
        return no_args(p, n);
    }
    if (qn_parser_at_name(p, "is")) {
        return qn_tree_fail(p->tree, p->cur.line, "You cannot chain multiple tests with is");
    }
    uint32_t line = p->cur.line, mark = p->n_stack;
    qn_node *arg;
    QN_TRY(qn_parse_primary(p, 0, &arg));
    QN_TRY(qn_parser_push(p, arg));
    QN_TRY(qn_parse_postfixes(p));
    if (p->n_stack > mark + 1) {
        QN_TRY(qn_parser_collect(p, QN_N_CHAIN, line, mark, &arg));
        QN_TRY(qn_parser_push(p, arg));
    }
    return finish_call(p, n, mark, 0, NULL, NULL);
}

qn_status qn_parse_filter_chain(qn_parser *p)
{
    for (;;) {
        qn_node *n;
        if (p->cur.kind == QN_T_PIPE) {
            QN_TRY(qn_parser_step(p));
            QN_TRY(parse_filter(p, &n));
        } else if (qn_parser_at_name(p, "is")) {
            QN_TRY(parse_test(p, &n));
        } else if (p->cur.kind == QN_T_LPAREN) {
            QN_TRY(qn_new_node(p, QN_N_CALL, p->cur.line, 0, &n));
            QN_TRY(parse_call_args(p, n));
        } else {
            return QN_OK;
        }
        QN_TRY(qn_parser_push(p, n));
    }
}
