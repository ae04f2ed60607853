/* The parser's hands: the current token and the one after it, nesting, and lists of nodes in the making.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/node.h"

qn_status qn_parser_enter(qn_parser *p)
{
    if (p->depth >= QN_JINJA_MAX_DEPTH) {
        return qn_fail(p->tree->err, QN_EFULL, "line %u: nested deeper than %d levels", p->cur.line,
                       QN_JINJA_MAX_DEPTH);
    }
    p->depth++;
    return QN_OK;
}

/* The end of the template counts as being where the last token was. */
static qn_status read_token(qn_parser *p, uint32_t last_line, qn_tok *out)
{
    QN_TRY(qn_lexer_next(&p->lexer, out));
    if (out->kind == QN_T_EOF) {
        out->line = last_line;
    }
    return QN_OK;
}

qn_status qn_parser_step(qn_parser *p)
{
    if (p->has_ahead) {
        p->cur = p->ahead;
        p->has_ahead = false;
        return QN_OK;
    }
    return read_token(p, p->cur.line, &p->cur);
}

qn_status qn_parser_look(qn_parser *p, const qn_tok **out)
{
    if (!p->has_ahead) {
        QN_TRY(read_token(p, p->cur.line, &p->ahead));
        p->has_ahead = true;
    }
    *out = &p->ahead;
    return QN_OK;
}

qn_str qn_tok_kind_name(qn_tok_kind kind)
{
    static const char *const names[] = {"end of template",
                                        "template data / text",
                                        "begin of print statement",
                                        "end of print statement",
                                        "begin of statement block",
                                        "end of statement block",
                                        "name",
                                        "string",
                                        "integer",
                                        "float",
                                        "+",
                                        "-",
                                        "*",
                                        "/",
                                        "//",
                                        "%",
                                        "**",
                                        "~",
                                        "(",
                                        ")",
                                        "[",
                                        "]",
                                        "{",
                                        "}",
                                        "==",
                                        "!=",
                                        "<",
                                        "<=",
                                        ">",
                                        ">=",
                                        "=",
                                        ".",
                                        ":",
                                        ",",
                                        "|",
                                        ";"};
    return qn_str_of(names[kind]);
}

qn_str qn_tok_describe(const qn_tok *t)
{
    return t->kind == QN_T_NAME ? t->text : qn_tok_kind_name(t->kind);
}

static qn_status fail_expected(qn_parser *p, qn_str wanted)
{
    if (p->cur.kind == QN_T_EOF) {
        return qn_tree_fail(p->tree, p->cur.line, "unexpected end of template, expected '%.*s'.", QN_STR_ARG(wanted));
    }
    qn_str got = qn_tok_describe(&p->cur);
    return qn_tree_fail(p->tree, p->cur.line, "expected token '%.*s', got '%.*s'", QN_STR_ARG(wanted), QN_STR_ARG(got));
}

qn_status qn_parser_expect(qn_parser *p, qn_tok_kind kind, qn_tok *out)
{
    if (p->cur.kind != kind) {
        return fail_expected(p, qn_tok_kind_name(kind));
    }
    if (out != NULL) {
        *out = p->cur;
    }
    return qn_parser_step(p);
}

qn_status qn_parser_expect_name(qn_parser *p, const char *name)
{
    return qn_parser_at_name(p, name) ? qn_parser_step(p) : fail_expected(p, qn_str_of(name));
}

qn_status qn_parser_skip(qn_parser *p, qn_tok_kind kind, bool *did)
{
    *did = p->cur.kind == kind;
    return *did ? qn_parser_step(p) : QN_OK;
}

qn_status qn_parser_skip_name(qn_parser *p, const char *name, bool *did)
{
    *did = qn_parser_at_name(p, name);
    return *did ? qn_parser_step(p) : QN_OK;
}

qn_status qn_parser_push(qn_parser *p, qn_node *n)
{
    if (p->n_stack == p->cap_stack) {
        uint32_t cap = p->cap_stack == 0 ? 64 : p->cap_stack * 2;
        qn_node **stack = qn_realloc(p->tree->budget, "jinja", p->stack, cap * sizeof(*stack));
        if (stack == NULL) {
            return qn_fail(p->tree->err, qn_alloc_failure(p->tree->budget, cap * sizeof(*stack)),
                           "a template: no memory for %u nodes", cap);
        }
        p->stack = stack;
        p->cap_stack = cap;
    }
    p->stack[p->n_stack++] = n;
    return QN_OK;
}

qn_status qn_parser_collect(qn_parser *p, qn_node_kind kind, uint32_t line, uint32_t mark, qn_node **out)
{
    uint32_t n = p->n_stack - mark;
    *out = qn_tree_node(p->tree, kind, line, n);
    if (*out == NULL) {
        return p->tree->err->code;
    }
    if (n > 0) {
        memcpy((*out)->kids, p->stack + mark, n * sizeof(*p->stack));
    }
    p->n_stack = mark;
    return QN_OK;
}
