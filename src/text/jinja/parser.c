/* Tokens to a tree: statements, and the text between them.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/node.h"

/* Whether the comma-separated list has this name. */
static bool lists(const char *list, qn_str name)
{
    while (list != NULL && *list != '\0') {
        size_t n = strcspn(list, ",");
        if (qn_str_eq((qn_str){list, n}, name)) {
            return true;
        }
        list += n + (list[n] == ',');
    }
    return false;
}

/* A tag that nobody knows, or the end of the template inside a statement: says what would have been right. */
static qn_status fail_tag(qn_parser *p, const qn_str *name)
{
    char text[QN_ERROR_TEXT];
    qn_buf b;
    qn_buf_init(&b, NULL, "jinja", sizeof(text) - 1);
    if (name == NULL) {
        qn_buf_add_str(&b, "Unexpected end of template.");
    } else {
        qn_buf_printf(&b, "Encountered unknown tag '%.*s'.", QN_STR_ARG(*name));
    }
    bool misnested = false;
    for (unsigned i = 0; name != NULL && i < p->n_ends; i++) {
        misnested = misnested || lists(p->ends[i], *name);
    }
    if (p->n_ends > 0) {
        qn_buf_add_str(&b, misnested
                               ? " You probably made a nesting mistake. Jinja is expecting this tag, but currently "
                                 "looking for "
                               : " Jinja was looking for the following tags: ");
        for (const char *e = p->ends[p->n_ends - 1]; *e != '\0';) {
            int n = (int)strcspn(e, ",");
            qn_buf_printf(&b, "'%.*s'%s", n, e, e[n] == ',' ? " or " : ".");
            e += n + (e[n] == ',');
        }
    }
    if (p->n_tags > 0) {
        qn_buf_printf(&b, " The innermost block that needs to be closed is '%.*s'.",
                      QN_STR_ARG(p->tags[p->n_tags - 1]));
    }
    qn_str view = qn_buf_view(&b);
    qn_status status = qn_tree_fail(p->tree, p->cur.line, "%.*s", (int)view.len, view.data);
    qn_buf_free(&b);
    return status;
}

static qn_status parse_set(qn_parser *p, qn_node **out)
{
    uint32_t line = p->cur.line;
    qn_node *target, *filters = NULL;
    bool has_value;
    QN_TRY(qn_parser_step(p));
    QN_TRY(qn_parse_target(p, QN_TARGET_NAMESPACE, QN_USE_STORE, &target));
    QN_TRY(qn_parser_skip(p, QN_T_ASSIGN, &has_value));
    *out = qn_tree_node(p->tree, has_value ? QN_N_SET : QN_N_SETBLOCK, line, has_value ? 2 : 3);
    if (*out == NULL) {
        return p->tree->err->code;
    }
    (*out)->kids[0] = target;
    if (has_value) {
        return qn_parse_tuple(p, 0, &(*out)->kids[1]);
    }
    QN_TRY(qn_parse_filters(p, false, &filters));
    (*out)->kids[1] = filters;
    return qn_parse_body(p, "endset", false, &(*out)->kids[2]);
}

/* A second tree of a loop's target, which its filter sets in a place of its own. */
static qn_node *clone_target(qn_tree *t, const qn_node *target)
{
    qn_node *n = qn_tree_node(t, (qn_node_kind)target->kind, target->line, target->n_kids);
    if (n == NULL) {
        return NULL;
    }
    n->op = target->op;
    n->name = target->name;
    for (uint32_t i = 0; i < n->n_kids; i++) {
        n->kids[i] = clone_target(t, target->kids[i]);
        if (n->kids[i] == NULL) {
            return NULL;
        }
    }
    return n;
}

static qn_status parse_for(qn_parser *p, qn_node **out)
{
    uint32_t line = p->cur.line;
    bool has_test, recursive;
    QN_TRY(qn_parser_step(p));
    *out = qn_tree_node(p->tree, QN_N_FOR, line, 6);
    if (*out == NULL) {
        return p->tree->err->code;
    }
    qn_node **kids = (*out)->kids;
    QN_TRY(qn_parse_target(p, 0, QN_USE_STORE, &kids[0]));
    QN_TRY(qn_parser_expect_name(p, "in"));
    QN_TRY(qn_parse_tuple(p, QN_EXPR_NO_COND, &kids[1]));
    QN_TRY(qn_parser_skip_name(p, "if", &has_test));
    if (has_test) {
        QN_TRY(qn_parse_expr(p, 0, &kids[4]));
        kids[5] = clone_target(p->tree, kids[0]);
        if (kids[5] == NULL) {
            return p->tree->err->code;
        }
    }
    QN_TRY(qn_parser_skip_name(p, "recursive", &recursive));
    (*out)->op = recursive;
    unsigned outer = p->n_loops; /* a recursive loop is a function: no jump leaves it */
    p->n_loops = recursive ? 1 : outer + 1;
    QN_TRY(qn_parse_body(p, "endfor,else", true, &kids[2]));
    p->n_loops = recursive ? 0 : outer;
    bool has_else = qn_parser_at_name(p, "else");
    QN_TRY(qn_parser_step(p));
    if (has_else) {
        QN_TRY(qn_parse_body(p, "endfor", false, &kids[3]));
    }
    p->n_loops = outer;
    return QN_OK;
}

static qn_status parse_if(qn_parser *p, qn_node **out)
{
    uint32_t line = p->cur.line, mark = p->n_stack;
    bool more = true;
    while (more) {
        qn_node *test, *body;
        QN_TRY(qn_parser_step(p));
        QN_TRY(qn_parse_tuple(p, QN_EXPR_NO_COND, &test));
        QN_TRY(qn_parser_push(p, test));
        QN_TRY(qn_parse_body(p, "elif,else,endif", true, &body));
        QN_TRY(qn_parser_push(p, body));
        more = qn_parser_at_name(p, "elif");
    }
    bool has_else = qn_parser_at_name(p, "else");
    QN_TRY(qn_parser_step(p));
    if (has_else) {
        qn_node *body;
        QN_TRY(qn_parse_body(p, "endif", false, &body));
        QN_TRY(qn_parser_push(p, body));
    }
    return qn_parser_collect(p, QN_N_IF, line, mark, out);
}

static qn_status parse_print(qn_parser *p, qn_node **out)
{
    uint32_t line = p->cur.line, mark = p->n_stack;
    QN_TRY(qn_parser_step(p));
    while (p->cur.kind != QN_T_BLOCK_END) {
        qn_node *n;
        if (p->n_stack > mark) {
            QN_TRY(qn_parser_expect(p, QN_T_COMMA, NULL));
        }
        QN_TRY(qn_parse_expr(p, 0, &n));
        QN_TRY(qn_parser_push(p, n));
    }
    return qn_parser_collect(p, QN_N_OUTPUT, line, mark, out);
}

static qn_status parse_jump(qn_parser *p, qn_node **out)
{
    bool is_break = qn_parser_at_name(p, "break");
    if (p->n_loops == 0) {
        return qn_tree_fail(p->tree, p->cur.line,
                            is_break ? "'break' outside loop" : "'continue' not properly in loop");
    }
    *out = qn_tree_node(p->tree, is_break ? QN_N_BREAK : QN_N_CONTINUE, p->cur.line, 0);
    return *out == NULL ? p->tree->err->code : qn_parser_step(p);
}

static qn_status parse_extends(qn_parser *p, qn_node **out)
{
    *out = qn_tree_node(p->tree, QN_N_EXTENDS, p->cur.line, 1);
    if (*out == NULL) {
        return p->tree->err->code;
    }
    QN_TRY(qn_parser_step(p));
    return qn_parse_expr(p, 0, &(*out)->kids[0]);
}

static qn_status parse_autoescape(qn_parser *p, qn_node **out)
{
    *out = qn_tree_node(p->tree, QN_N_AUTOESCAPE, p->cur.line, 2);
    if (*out == NULL) {
        return p->tree->err->code;
    }
    QN_TRY(qn_parser_step(p));
    QN_TRY(qn_parse_expr(p, 0, &(*out)->kids[0]));
    return qn_parse_body(p, "endautoescape", false, &(*out)->kids[1]);
}

static const struct {
    const char *tag;
    qn_status (*parse)(qn_parser *p, qn_node **out);
} statements[] = {
    {"for", parse_for},
    {"if", parse_if},
    {"set", parse_set},
    {"macro", qn_parse_macro},
    {"call", qn_parse_call_block},
    {"generation", qn_parse_generation},
    {"filter", qn_parse_filter_block},
    {"with", qn_parse_with},
    {"break", parse_jump},
    {"continue", parse_jump},
    {"print", parse_print},
    {"block", qn_parse_block},
    {"autoescape", parse_autoescape},
    {"extends", parse_extends},
    {"include", qn_parse_include},
    {"import", qn_parse_import},
    {"from", qn_parse_from},
};

static qn_status parse_statement(qn_parser *p, qn_node **out)
{
    if (p->cur.kind != QN_T_NAME) {
        return qn_tree_fail(p->tree, p->cur.line, "tag name expected");
    }
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
        if (qn_str_is(p->cur.text, statements[i].tag)) {
            QN_TRY(qn_parser_enter(p));
            p->tags[p->n_tags++] = p->cur.text;
            QN_TRY(statements[i].parse(p, out));
            p->n_tags--;
            qn_parser_leave(p);
            return QN_OK;
        }
    }
    return fail_tag(p, &p->cur.text);
}

/* What was pushed since mark is text and expressions that are printed one after the other: one node of them. */
static qn_status flush_output(qn_parser *p, uint32_t mark)
{
    if (p->n_stack == mark) {
        return QN_OK;
    }
    qn_node *n;
    QN_TRY(qn_parser_collect(p, QN_N_OUTPUT, p->stack[mark]->line, mark, &n));
    return qn_parser_push(p, n);
}

static qn_status parse_data(qn_parser *p)
{
    qn_node *n = qn_tree_node(p->tree, QN_N_DATA, p->cur.line, 0);
    if (n == NULL) {
        return p->tree->err->code;
    }
    QN_TRY(qn_tree_string(p->tree, p->cur.text, &n->u.value));
    QN_TRY(qn_parser_push(p, n));
    return qn_parser_step(p);
}

/* Statements until the end of the template or a tag of ends. */
static qn_status parse_until(qn_parser *p, const char *ends, qn_node **out)
{
    uint32_t line = p->cur.line, first = p->n_stack, mark = first;
    while (p->cur.kind != QN_T_EOF) {
        qn_node *n;
        if (p->cur.kind == QN_T_DATA) {
            QN_TRY(parse_data(p));
        } else if (p->cur.kind == QN_T_VAR_BEGIN) {
            QN_TRY(qn_parser_step(p));
            QN_TRY(qn_parse_tuple(p, 0, &n));
            QN_TRY(qn_parser_push(p, n));
            QN_TRY(qn_parser_expect(p, QN_T_VAR_END, NULL));
        } else {
            QN_TRY(flush_output(p, mark));
            QN_TRY(qn_parser_step(p));
            if (p->cur.kind == QN_T_NAME && lists(ends, p->cur.text)) {
                return qn_parser_collect(p, QN_N_BODY, line, first, out);
            }
            QN_TRY(parse_statement(p, &n));
            QN_TRY(qn_parser_push(p, n));
            QN_TRY(qn_parser_expect(p, QN_T_BLOCK_END, NULL));
            mark = p->n_stack;
        }
    }
    QN_TRY(flush_output(p, mark));
    return qn_parser_collect(p, QN_N_BODY, line, first, out);
}

qn_status qn_parse_body(qn_parser *p, const char *ends, bool keep, qn_node **out)
{
    bool colon;
    QN_TRY(qn_parser_skip(p, QN_T_COLON, &colon));
    QN_TRY(qn_parser_expect(p, QN_T_BLOCK_END, NULL));
    p->ends[p->n_ends++] = ends;
    QN_TRY(parse_until(p, ends, out));
    if (p->cur.kind == QN_T_EOF) {
        return fail_tag(p, NULL);
    }
    p->n_ends--;
    return keep ? QN_OK : qn_parser_step(p);
}

qn_status qn_parse(qn_parser *p, qn_node **out)
{
    p->cur.line = 1;
    QN_TRY(qn_parser_step(p));
    return parse_until(p, NULL, out);
}
