/* Statements with signatures, names of their own or other templates: macro, call, generation, filter, with, block,
 * include, import.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/parser_int.h"

/* "(a, b=1)" at the current token: pushes the names, then the defaults. */
static qn_status parse_signature(qn_parser *p, uint32_t *n_args)
{
    uint32_t mark = p->n_stack, n = 0, n_defaults = 0;
    qn_node *node;
    QN_TRY(qn_parser_expect(p, QN_T_LPAREN, NULL));
    while (p->cur.kind != QN_T_RPAREN) {
        bool has_default;
        if (n > 0) {
            QN_TRY(qn_parser_expect(p, QN_T_COMMA, NULL));
        }
        QN_TRY(qn_parse_target(p, QN_TARGET_NAME, QN_USE_PARAM, &node));
        for (uint32_t i = 0; i < n; i++) {
            if (p->stack[mark + i]->name == node->name) {
                return qn_tree_fail(p->tree, node->line, "duplicate argument '%.*s' in function definition",
                                    QN_STR_ARG(node->name->u.text));
            }
        }
        if (n == QN_MAX_PARAMS) {
            return qn_fail(p->tree->err, QN_EFULL, "line %u: more than %d parameters", node->line, QN_MAX_PARAMS);
        }
        /* Names stand before defaults: this one goes between them. */
        QN_TRY(qn_parser_push(p, NULL));
        memmove(p->stack + mark + n + 1, p->stack + mark + n, n_defaults * sizeof(*p->stack));
        p->stack[mark + n++] = node;
        QN_TRY(qn_parser_skip(p, QN_T_ASSIGN, &has_default));
        if (has_default) {
            QN_TRY(qn_parse_expr(p, 0, &node));
            QN_TRY(qn_parser_push(p, node));
            n_defaults++;
        } else if (n_defaults > 0) {
            return qn_tree_fail(p->tree, p->cur.line, "non-default argument follows default argument");
        }
    }
    *n_args = n;
    return qn_parser_step(p);
}

/* The body of something that is called: no jump leaves it. */
static qn_status parse_function(qn_parser *p, const char *end)
{
    qn_node *body;
    unsigned outer = p->n_loops;
    p->n_loops = 0;
    QN_TRY(qn_parse_body(p, end, false, &body));
    p->n_loops = outer;
    return qn_parser_push(p, body);
}

qn_status qn_parse_macro(qn_parser *p, qn_node **out)
{
    uint32_t line = p->cur.line, mark = p->n_stack, n_args;
    qn_node *name;
    QN_TRY(qn_parser_step(p));
    QN_TRY(qn_parse_target(p, QN_TARGET_NAME, QN_USE_STORE, &name));
    QN_TRY(parse_signature(p, &n_args));
    QN_TRY(parse_function(p, "endmacro"));
    QN_TRY(qn_parser_collect(p, QN_N_MACRO, line, mark, out));
    (*out)->name = name->name;
    (*out)->n_args = n_args;
    return QN_OK;
}

qn_status qn_parse_call_block(qn_parser *p, qn_node **out)
{
    uint32_t line = p->cur.line, mark = p->n_stack, n_args = 0;
    qn_node *call;
    QN_TRY(qn_parser_step(p));
    QN_TRY(qn_parser_push(p, NULL));
    if (p->cur.kind == QN_T_LPAREN) {
        QN_TRY(parse_signature(p, &n_args));
    }
    QN_TRY(qn_parse_expr(p, 0, &call));
    if (call->kind != QN_N_CHAIN || call->kids[call->n_kids - 1]->kind != QN_N_CALL) {
        return qn_tree_fail(p->tree, line, "expected call");
    }
    p->stack[mark] = call;
    QN_TRY(parse_function(p, "endcall"));
    QN_TRY(qn_parser_collect(p, QN_N_CALLBLOCK, line, mark, out));
    (*out)->n_args = n_args;
    return QN_OK;
}

qn_status qn_parse_generation(qn_parser *p, qn_node **out)
{
    uint32_t line = p->cur.line, mark = p->n_stack;
    QN_TRY(qn_parser_step(p));
    QN_TRY(qn_parser_push(p, NULL));
    QN_TRY(parse_function(p, "endgeneration"));
    return qn_parser_collect(p, QN_N_CALLBLOCK, line, mark, out);
}

qn_status qn_parse_filter_block(qn_parser *p, qn_node **out)
{
    QN_TRY(qn_new_node(p, QN_N_FILTERBLOCK, p->cur.line, 2, out));
    QN_TRY(qn_parser_step(p));
    QN_TRY(qn_parse_filters(p, true, &(*out)->kids[1]));
    return qn_parse_body(p, "endfilter", false, &(*out)->kids[0]);
}

qn_status qn_parse_with(qn_parser *p, qn_node **out)
{
    uint32_t line = p->cur.line, mark = p->n_stack, n = 0;
    qn_node *node;
    QN_TRY(qn_parser_step(p));
    while (p->cur.kind != QN_T_BLOCK_END) {
        if (n > 0) {
            QN_TRY(qn_parser_expect(p, QN_T_COMMA, NULL));
        }
        if (n == QN_MAX_PARAMS) {
            return qn_fail(p->tree->err, QN_EFULL, "line %u: more than %d variables", p->cur.line, QN_MAX_PARAMS);
        }
        QN_TRY(qn_parse_target(p, 0, QN_USE_PARAM, &node));
        QN_TRY(qn_parser_push(p, NULL));
        memmove(p->stack + mark + n + 1, p->stack + mark + n, n * sizeof(*p->stack));
        p->stack[mark + n++] = node;
        QN_TRY(qn_parser_expect(p, QN_T_ASSIGN, NULL));
        QN_TRY(qn_parse_expr(p, 0, &node));
        QN_TRY(qn_parser_push(p, node));
    }
    QN_TRY(qn_parse_body(p, "endwith", false, &node));
    QN_TRY(qn_parser_push(p, node));
    QN_TRY(qn_parser_collect(p, QN_N_WITH, line, mark, out));
    (*out)->n_args = n;
    return QN_OK;
}

/* A required block may hold nothing but white space. */
static bool is_blank(const qn_node *body)
{
    for (uint32_t i = 0; i < body->n_kids; i++) {
        const qn_node *o = body->kids[i];
        for (uint32_t k = 0; o->kind == QN_N_OUTPUT && k < o->n_kids; k++) {
            const qn_node *d = o->kids[k];
            if (d->kind != QN_N_DATA || strspn(d->u.value.u.s->bytes, " \t\n\v\f") != d->u.value.u.s->n_bytes) {
                return false;
            }
        }
        if (o->kind != QN_N_OUTPUT) {
            return false;
        }
    }
    return true;
}

qn_status qn_parse_block(qn_parser *p, qn_node **out)
{
    qn_tok name;
    bool scoped, required, named;
    QN_TRY(qn_new_node(p, QN_N_BLOCK, p->cur.line, 1, out));
    QN_TRY(qn_parser_step(p));
    QN_TRY(qn_parser_expect(p, QN_T_NAME, &name));
    (*out)->name = qn_tree_name(p->tree, name.text);
    if ((*out)->name == NULL) {
        return p->tree->err->code;
    }
    QN_TRY(qn_parser_skip_name(p, "scoped", &scoped));
    QN_TRY(qn_parser_skip_name(p, "required", &required));
    if (p->cur.kind == QN_T_SUB) {
        return qn_tree_fail(p->tree, p->cur.line,
                            "Block names in Jinja have to be valid Python identifiers and may not "
                            "contain hyphens, use an underscore instead.");
    }
    (*out)->op = (uint8_t)((scoped ? QN_BLOCK_SCOPED : 0) | (required ? QN_BLOCK_REQUIRED : 0));
    unsigned outer = p->n_loops;
    p->n_loops = 0;
    QN_TRY(qn_parse_body(p, "endblock", false, &(*out)->kids[0]));
    p->n_loops = outer;
    if (required && !is_blank((*out)->kids[0])) {
        return qn_tree_fail(p->tree, p->cur.line, "Required blocks can only contain comments or whitespace");
    }
    p->tree->has_blocks = true;
    if (p->cur.kind == QN_T_NAME && qn_str_eq(p->cur.text, (*out)->name->u.text)) {
        return qn_parser_skip(p, QN_T_NAME, &named);
    }
    return QN_OK;
}

/* "with context" or "without context", which change nothing where nothing can be included. */
static qn_status skip_context(qn_parser *p, bool *did)
{
    *did = false;
    if (qn_parser_at_name(p, "with") || qn_parser_at_name(p, "without")) {
        const qn_tok *ahead;
        QN_TRY(qn_parser_look(p, &ahead));
        if (ahead->kind == QN_T_NAME && qn_str_is(ahead->text, "context")) {
            *did = true;
            QN_TRY(qn_parser_step(p));
            return qn_parser_step(p);
        }
    }
    return QN_OK;
}

qn_status qn_parse_include(qn_parser *p, qn_node **out)
{
    bool did;
    QN_TRY(qn_new_node(p, QN_N_INCLUDE, p->cur.line, 1, out));
    QN_TRY(qn_parser_step(p));
    QN_TRY(qn_parse_expr(p, 0, &(*out)->kids[0]));
    if (qn_parser_at_name(p, "ignore")) {
        const qn_tok *ahead;
        QN_TRY(qn_parser_look(p, &ahead));
        if (ahead->kind == QN_T_NAME && qn_str_is(ahead->text, "missing")) {
            QN_TRY(qn_parser_step(p));
            QN_TRY(qn_parser_step(p));
        }
    }
    return skip_context(p, &did);
}

qn_status qn_parse_import(qn_parser *p, qn_node **out)
{
    qn_node *name;
    bool did;
    QN_TRY(qn_new_node(p, QN_N_IMPORT, p->cur.line, 1, out));
    QN_TRY(qn_parser_step(p));
    QN_TRY(qn_parse_expr(p, 0, &(*out)->kids[0]));
    QN_TRY(qn_parser_expect_name(p, "as"));
    QN_TRY(qn_parse_target(p, QN_TARGET_NAME, QN_USE_STORE, &name));
    (*out)->name = name->name;
    return skip_context(p, &did);
}

qn_status qn_parse_from(qn_parser *p, qn_node **out)
{
    uint32_t line = p->cur.line, mark = p->n_stack;
    qn_node *node;
    bool done = false, has_alias;
    QN_TRY(qn_parser_step(p));
    QN_TRY(qn_parse_expr(p, 0, &node));
    QN_TRY(qn_parser_push(p, node));
    QN_TRY(qn_parser_expect_name(p, "import"));
    while (!done) {
        if (p->n_stack > mark + 1) {
            QN_TRY(qn_parser_expect(p, QN_T_COMMA, NULL));
        }
        QN_TRY(skip_context(p, &done));
        if (done) {
            break;
        }
        QN_TRY(qn_parse_target(p, QN_TARGET_NAME, QN_USE_STORE, &node));
        if (node->name->u.text.data[0] == '_') {
            return qn_tree_fail(p->tree, node->line, "names starting with an underline can not be imported");
        }
        QN_TRY(qn_parser_skip_name(p, "as", &has_alias));
        if (has_alias) {
            QN_TRY(qn_parse_target(p, QN_TARGET_NAME, QN_USE_STORE, &node));
        }
        QN_TRY(qn_parser_push(p, node));
        QN_TRY(skip_context(p, &done));
        done = done || p->cur.kind != QN_T_COMMA;
    }
    return qn_parser_collect(p, QN_N_FROM, line, mark, out);
}
