/* Names, literals and what stands in parentheses.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/parser_int.h"

qn_status qn_new_node(qn_parser *p, qn_node_kind kind, uint32_t line, uint32_t n_kids, qn_node **out)
{
    *out = qn_tree_node(p->tree, kind, line, n_kids);
    return *out == NULL ? p->tree->err->code : QN_OK;
}

qn_status qn_name_of(qn_parser *p, qn_str text, qn_node *n)
{
    n->name = qn_tree_name(p->tree, text);
    return n->name == NULL ? p->tree->err->code : QN_OK;
}

bool qn_is_constant(qn_str name)
{
    static const char *const words[] = {"true", "True", "false", "False", "none", "None"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (qn_str_is(name, words[i])) {
            return true;
        }
    }
    return false;
}

qn_status qn_name_node(qn_parser *p, const qn_tok *t, qn_node **out)
{
    QN_TRY(qn_new_node(p, QN_N_NAME, t->line, 0, out));
    return qn_name_of(p, t->text, *out);
}

static qn_status parse_name(qn_parser *p, unsigned flags, qn_node **out)
{
    qn_tok t = p->cur;
    QN_TRY(qn_parser_step(p));
    if (qn_is_constant(t.text)) {
        QN_TRY(qn_new_node(p, QN_N_CONST, t.line, 0, out));
        char c = (char)(t.text.data[0] | 32);
        (*out)->u.value = c == 'n' ? qn_vnone() : qn_vbool(c == 't');
        return QN_OK;
    }
    QN_TRY(qn_name_node(p, &t, out));
    if ((flags & QN_EXPR_NAMESPACE) != 0 && p->cur.kind == QN_T_DOT) {
        qn_tok attr;
        QN_TRY(qn_parser_step(p));
        QN_TRY(qn_parser_expect(p, QN_T_NAME, &attr));
        (*out)->kind = QN_N_NSREF;
        return qn_tree_string(p->tree, attr.text, &(*out)->u.value);
    }
    return QN_OK;
}

/* One or more string literals side by side. */
static qn_status parse_string(qn_parser *p, qn_node **out)
{
    QN_TRY(qn_new_node(p, QN_N_CONST, p->cur.line, 0, out));
    qn_buf b;
    qn_buf_init(&b, p->tree->budget, "jinja", QN_JINJA_MAX_SOURCE * 4);
    qn_status status = QN_OK;
    while (status == QN_OK && p->cur.kind == QN_T_STRING) {
        qn_buf_add(&b, p->cur.text.data, p->cur.text.len);
        status = qn_parser_step(p);
    }
    if (b.status != QN_OK) {
        status = qn_fail(p->tree->err, b.status, "a template: no memory for a string");
    }
    if (status == QN_OK) {
        status = qn_tree_string(p->tree, qn_buf_view(&b), &(*out)->u.value);
    }
    qn_buf_free(&b);
    return status;
}

static qn_status parse_list(qn_parser *p, qn_node **out)
{
    uint32_t line = p->cur.line, mark = p->n_stack;
    QN_TRY(qn_parser_step(p));
    while (p->cur.kind != QN_T_RBRACKET) {
        if (p->n_stack > mark) {
            QN_TRY(qn_parser_expect(p, QN_T_COMMA, NULL));
        }
        if (p->cur.kind == QN_T_RBRACKET) {
            break;
        }
        QN_TRY(qn_parse_expr(p, 0, out));
        QN_TRY(qn_parser_push(p, *out));
    }
    QN_TRY(qn_parser_expect(p, QN_T_RBRACKET, NULL));
    return qn_parser_collect(p, QN_N_LIST, line, mark, out);
}

static qn_status parse_dict(qn_parser *p, qn_node **out)
{
    uint32_t line = p->cur.line, mark = p->n_stack;
    QN_TRY(qn_parser_step(p));
    while (p->cur.kind != QN_T_RBRACE) {
        if (p->n_stack > mark) {
            QN_TRY(qn_parser_expect(p, QN_T_COMMA, NULL));
        }
        if (p->cur.kind == QN_T_RBRACE) {
            break;
        }
        QN_TRY(qn_parse_expr(p, 0, out));
        QN_TRY(qn_parser_push(p, *out));
        QN_TRY(qn_parser_expect(p, QN_T_COLON, NULL));
        QN_TRY(qn_parse_expr(p, 0, out));
        QN_TRY(qn_parser_push(p, *out));
    }
    QN_TRY(qn_parser_expect(p, QN_T_RBRACE, NULL));
    return qn_parser_collect(p, QN_N_DICT, line, mark, out);
}

qn_status qn_parse_primary(qn_parser *p, unsigned flags, qn_node **out)
{
    switch (p->cur.kind) {
    case QN_T_NAME:
        return parse_name(p, flags, out);
    case QN_T_STRING:
        return parse_string(p, out);
    case QN_T_INT:
    case QN_T_FLOAT:
        QN_TRY(qn_new_node(p, QN_N_CONST, p->cur.line, 0, out));
        (*out)->u.value = p->cur.value;
        return qn_parser_step(p);
    case QN_T_LPAREN:
        QN_TRY(qn_parser_step(p));
        QN_TRY(qn_parse_tuple(p, QN_EXPR_PARENS, out));
        return qn_parser_expect(p, QN_T_RPAREN, NULL);
    case QN_T_LBRACKET:
        return parse_list(p, out);
    case QN_T_LBRACE:
        return parse_dict(p, out);
    default: {
        qn_str got = qn_tok_describe(&p->cur);
        return qn_tree_fail(p->tree, p->cur.line, "unexpected '%.*s'", QN_STR_ARG(got));
    }
    }
}
