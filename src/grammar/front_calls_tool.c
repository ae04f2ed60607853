/* The list of tools, and the arguments of each.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_calls_int.h"

#include <stdlib.h>

#define MAX_NAME 256  /* bytes that the reader keeps; OpenAI allows 64 */
#define MAX_INDENT 40 /* blanks after a line end: ten levels of four */
#define LIST_INDENT 8 /* of the calls of a list */

/* ---- reading ---- */

/* What the reader takes in names between marks. In JSON more could stand, but no function is called so. */
static bool is_name(qn_str s)
{
    bool good = s.len > 0 && s.len <= MAX_NAME;
    for (size_t i = 0; i < s.len && good; i++) {
        good = (unsigned char)s.data[i] > ' ' && s.data[i] != 0x7F && strchr("<>{}()[]\"'`,;|=\\", s.data[i]) == NULL;
    }
    return good;
}

static bool holds(qn_str s, qn_str what)
{
    return what.len > 0 && what.len <= s.len && memmem(s.data, s.len, what.data, what.len) != NULL;
}

/* Names that the marks of this dialect would be mistaken for. */
static qn_status check_name(qn_calls *c, qn_str name)
{
    const qn_header *h = c->d->header;
    const qn_syntax *s = c->syntax;
    bool is_bad =
        h != NULL && (qn_str_eq(name, h->content) || qn_str_eq(name, h->reasoning) || holds(name, h->open.core));
    if (s != NULL) {
        const qn_mark *marks[] = {&s->name_end, &s->id_end, &s->key_open, &s->call_close};
        for (size_t i = 0; i < 4; i++) {
            is_bad = is_bad || holds(name, marks[i]->core);
        }
    }
    return is_bad ? qn_fail(c->err, QN_EUNSUPPORTED, "tool \"%.*s\": its name is a mark of the chat template",
                            QN_STR_ARG(name))
                  : QN_OK;
}

static qn_status read_tool(qn_calls *c, const qn_json *item, size_t i, qn_call_tool *out)
{
    const qn_json *type = qn_json_find(item, "type"), *function = qn_json_find(item, "function");
    if (qn_json_kind_of(item) != QN_JSON_OBJECT) {
        return qn_fail(c->err, QN_EFORMAT, "tools: item %zu is no object", i);
    }
    if (type != NULL && function != NULL && !qn_str_is(qn_json_as_str(type), "function")) {
        return qn_fail(c->err, QN_EUNSUPPORTED, "tools: item %zu is no function", i);
    }
    function = function != NULL ? function : item;
    const qn_json *name = qn_json_find(function, "name"), *strict = qn_json_find(function, "strict");
    const qn_json *parameters = qn_json_find(function, "parameters");
    parameters = parameters != NULL ? parameters : qn_json_find(function, "input_schema");
    if (name == NULL || qn_json_kind_of(name) != QN_JSON_STRING) {
        return qn_fail(c->err, QN_EFORMAT, "tools: item %zu has no \"name\"", i);
    }
    *out = (qn_call_tool){.name = qn_json_as_str(name), .parameters = parameters};
    if (!is_name(out->name)) {
        return qn_fail(c->err, QN_EUNSUPPORTED,
                       "tool \"%.*s\": a function's name has 1 to %d bytes, without blanks, "
                       "quotes, brackets and <>`,;|=\\",
                       QN_STR_ARG(out->name), MAX_NAME);
    }
    if (parameters != NULL && qn_json_kind_of(parameters) == QN_JSON_NULL) {
        out->parameters = NULL;
    } else if (parameters != NULL && qn_json_kind_of(parameters) != QN_JSON_OBJECT) {
        return qn_fail(c->err, QN_EFORMAT, "tool \"%.*s\": \"parameters\" is no object", QN_STR_ARG(out->name));
    }
    out->is_strict = c->o->strict || (strict != NULL && qn_json_as_bool(strict));
    return QN_OK;
}

static int by_name(const void *x, const void *y)
{
    const qn_str *a = x, *b = y;
    int order = memcmp(a->data, b->data, a->len < b->len ? a->len : b->len);
    return order != 0 ? order : a->len < b->len ? -1 : a->len > b->len;
}

static qn_status check_doubles(qn_calls *c, qn_str *names)
{
    qsort(names, c->n_listed, sizeof(*names), by_name);
    for (uint32_t i = 1; i < c->n_listed; i++) {
        if (qn_str_eq(names[i - 1], names[i])) {
            return qn_fail(c->err, QN_EFORMAT, "tools: two functions are named \"%.*s\"", QN_STR_ARG(names[i]));
        }
    }
    return QN_OK;
}

qn_status qn_calls_read_tools(qn_calls *c)
{
    const qn_json *list = c->o->tools;
    bool is_list = list != NULL && qn_json_kind_of(list) == QN_JSON_ARRAY;
    size_t n = is_list ? qn_json_count(list) : 0;
    if (list != NULL && !is_list) {
        return qn_fail(c->err, QN_EFORMAT, "tools: not a list");
    }
    if (n > QN_CALLS_MAX_TOOLS) {
        return qn_fail(c->err, QN_EFULL, "tools: %zu functions, at most %d", n, QN_CALLS_MAX_TOOLS);
    }
    c->tools = qn_zalloc_array(c->b->budget, "grammar", n + 1, sizeof(*c->tools));
    qn_str *names = qn_zalloc_array(c->b->budget, "grammar", n + 1, sizeof(*names));
    c->names = names;
    if (c->tools == NULL || names == NULL) {
        return qn_fail(c->err, qn_alloc_failure(c->b->budget, n * sizeof(*c->tools)), "no memory for a list of tools");
    }
    for (size_t i = 0; i < n; i++) {
        qn_call_tool *t = &c->tools[c->n_tools];
        QN_TRY(read_tool(c, qn_json_at(list, i), i, t));
        QN_TRY(check_name(c, t->name));
        names[c->n_listed++] = t->name;
        c->n_tools += c->o->name.len == 0 || qn_str_eq(c->o->name, t->name);
    }
    QN_TRY(check_doubles(c, names));
    if (c->o->name.len > 0 && c->n_tools == 0) {
        return qn_fail(c->err, QN_ENOTFOUND, "no tool is named \"%.*s\"", QN_STR_ARG(c->o->name));
    }
    return QN_OK;
}

void qn_calls_free_tools(qn_calls *c)
{
    qn_free(c->tools);
    qn_free((qn_str *)c->names);
}

/* ---- arguments ---- */

/* None, a space, or a line end with an indent. */
static qn_gx line_blank(qn_gx_builder *b, uint32_t max_indent)
{
    qn_gx indent = qn_gx_repeat(b, qn_gx_bytes(b, QN_STR(" ")), 0, max_indent);
    qn_gx ways[] = {qn_gx_bytes(b, QN_STR(" ")), qn_gx_cat(b, (qn_gx[]){qn_gx_bytes(b, QN_STR("\n")), indent}, 2)};
    return qn_gx_repeat(b, qn_gx_alt(b, ways, 2), 0, 1);
}

void qn_calls_find_blanks(qn_calls *c)
{
    const qn_syntax *s = c->syntax;
    const qn_str line_end = QN_STR("\n");
    c->is_lined = s != NULL && (holds(s->head, line_end) || holds(s->middle, line_end) || holds(s->tail, line_end));
    c->blank = c->is_lined ? line_blank(c->b, MAX_INDENT) : qn_gx_repeat(c->b, qn_gx_bytes(c->b, QN_STR(" ")), 0, 1);
    c->edge = c->is_lined ? c->blank : c->none;
    c->line = s != NULL && s->list ? line_blank(c->b, LIST_INDENT) : c->blank;
}

void qn_calls_set_blanks(qn_calls *c, qn_sx *s)
{
    qn_gx_builder *b = c->b;
    s->blank = c->edge;
    s->comma = qn_gx_cat(b, (qn_gx[]){c->edge, s->comma, c->blank}, 3);
    s->colon = qn_gx_cat(b, (qn_gx[]){c->edge, s->colon, c->blank}, 3);
}

static qn_status build_arguments(qn_calls *c, const qn_call_tool *t, qn_gx *out, qn_error *err)
{
    qn_sx s;
    const qn_schema_options o = {.strict = t->is_strict, .plain = true};
    qn_status status = qn_sx_open(&s, c->b, t->parameters, &o, err);
    if (status == QN_OK) {
        qn_calls_set_blanks(c, &s);
        status = qn_sx_typed(&s, &(qn_schema_item){t->parameters, false}, 1, QN_ST_OBJECT, out);
    }
    status = status == QN_OK ? qn_sx_finish(&s) : status;
    qn_sx_close(&s);
    return status;
}

/* QN_EFORMAT: a rule, whose texts are arguments of t, has none. */
static qn_status check_rule(qn_calls *c, const qn_call_tool *t, uint32_t rule)
{
    qn_sx s;
    qn_error why = {0};
    const qn_schema_options o = {.plain = true};
    qn_status status = qn_sx_open(&s, c->b, t->parameters, &o, &why);
    c->b->root = rule;
    status = status == QN_OK ? qn_sx_check_empty(&s) : status;
    qn_sx_close(&s);
    return status == QN_OK ? QN_OK
                           : qn_fail(c->err, status, "tool \"%.*s\": no object satisfies its parameters: %s",
                                     QN_STR_ARG(t->name), why.what);
}

/* A tool that no arguments satisfy could silently never be called. All are looked at together, as most are good. */
static qn_status check_satisfied(qn_calls *c)
{
    qn_gx_builder *b = c->b;
    const qn_call_tool *some = NULL;
    qn_gx *all = qn_alloc(b->budget, "grammar", (c->n_tools + 1) * sizeof(*all));
    if (all == NULL) {
        return qn_fail(c->err, qn_alloc_failure(b->budget, c->n_tools * sizeof(*all)), "no memory for a grammar");
    }
    for (uint32_t i = 0; i < c->n_tools; i++) {
        all[i] = c->tools[i].arguments;
        some = c->tools[i].parameters != NULL ? &c->tools[i] : some;
    }
    qn_gx together = qn_gx_cat(b, all, c->n_tools);
    qn_free(all);
    QN_TRY(qn_front_status(b, c->err));
    if (some == NULL) {
        return QN_OK;
    }
    uint32_t rule = c->n_tools == 1 ? some->rule : qn_gx_rule_new(b, QN_STR("all arguments"));
    if (c->n_tools > 1) {
        qn_gx_rule_define(b, rule, together);
    }
    QN_TRY(qn_front_status(b, c->err));
    qn_error why;
    qn_calls probe = *c;
    probe.err = &why;
    if (check_rule(&probe, some, rule) == QN_OK) {
        return QN_OK;
    }
    for (uint32_t i = 0; i < c->n_tools; i++) {
        QN_TRY(c->tools[i].parameters != NULL ? check_rule(c, &c->tools[i], c->tools[i].rule) : QN_OK);
    }
    return QN_OK;
}

qn_status qn_calls_arguments(qn_calls *c)
{
    qn_gx_builder *b = c->b;
    qn_shape shape = c->syntax != NULL ? c->syntax->shape : QN_SHAPE_NAMED;
    bool is_json = shape <= QN_SHAPE_NAMED;
    qn_gx open = qn_gx_bytes(b, shape == QN_SHAPE_PYTHON ? QN_STR("(") : QN_STR("{"));
    qn_gx close = qn_gx_bytes(b, shape == QN_SHAPE_PYTHON ? QN_STR(")") : QN_STR("}"));
    qn_gx empty = qn_gx_cat(b, (qn_gx[]){open, close}, 2);
    empty = shape == QN_SHAPE_TAGGED || shape == QN_SHAPE_NESTED ? c->none : empty;
    for (uint32_t i = 0; i < c->n_tools; i++) {
        qn_call_tool *t = &c->tools[i];
        qn_error why = {0};
        qn_gx body = empty;
        qn_status status = t->parameters == NULL ? QN_OK
                           : is_json             ? build_arguments(c, t, &body, &why)
                                                 : qn_calls_marked(c, t, &body, &why);
        if (status != QN_OK) {
            return qn_fail(c->err, status, "tool \"%.*s\": %s", QN_STR_ARG(t->name), why.what);
        }
        t->rule = qn_gx_rule_new(b, t->name);
        qn_gx_rule_define(b, t->rule, body);
        t->arguments = qn_gx_rule_ref(b, t->rule);
    }
    return check_satisfied(c);
}
