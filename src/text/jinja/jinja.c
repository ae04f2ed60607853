/* Chat templates: the public calls.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/jinja.h"

#include "text/jinja/eval.h"

static qn_status compile(qn_jinja *j, qn_parser *p, qn_str source)
{
    p->tree = &j->tree;
    QN_TRY(qn_lexer_open(&p->lexer, &j->tree, source));
    QN_TRY(qn_parse(p, &j->body));
    return qn_scope_resolve(&j->tree, j->body, &j->top);
}

qn_status qn_jinja_open(qn_str source, qn_budget *b, qn_jinja **out, qn_error *err)
{
    qn_error local;
    err = err == NULL ? &local : err;
    if (source.len > QN_JINJA_MAX_SOURCE) {
        return qn_fail(err, QN_EFULL, "the template has more than %u bytes", QN_JINJA_MAX_SOURCE);
    }
    qn_jinja *j = qn_zalloc(b, "jinja", sizeof(*j));
    qn_parser *p = qn_zalloc(b, "jinja", sizeof(*p));
    qn_status status;
    if (j == NULL || p == NULL) {
        status = qn_fail(err, qn_alloc_failure(b, sizeof(*j) + sizeof(*p)), "a template: out of memory");
    } else {
        j->tree.budget = b;
        j->tree.err = err;
        status = compile(j, p, source);
        j->tree.err = NULL; /* the caller's */
        qn_free(p->stack);
    }
    qn_free(p);
    if (status != QN_OK) {
        qn_jinja_close(j);
        return status;
    }
    *out = j;
    return QN_OK;
}

void qn_jinja_close(qn_jinja *j)
{
    if (j != NULL) {
        qn_tree_free(&j->tree);
        qn_free(j);
    }
}

void qn_jinja_text_free(qn_jinja_text *t)
{
    qn_buf_free(&t->text);
    qn_free(t->spans);
    t->spans = NULL;
    t->n_spans = 0;
}

static bool is_own(const char *const *own, qn_str name)
{
    for (; own != NULL && *own != NULL; own++) {
        if (qn_str_is(name, *own)) {
            return true;
        }
    }
    return false;
}

/* Globals, and over them the members of vars. own: as in qn_jinja_options. */
static qn_status set_variables(qn_eval *ev, const qn_json *vars, const char *const *own)
{
    qn_value d, x, key;
    QN_TRY(qn_vdict_new(&ev->run, QN_V_DICT, &d));
    ev->vars = d.u.dict;
    QN_TRY(qn_globals(&ev->run, ev->vars));
    if (ev->jinja->tree.has_blocks) {
        QN_TRY(qn_vdict_new(&ev->run, QN_V_DICT, &d));
        ev->exported = d.u.dict;
    }
    for (size_t i = 0; i < qn_json_count(vars); i++) {
        qn_str name = qn_json_key_at(vars, i);
        QN_TRY(qn_vstring(&ev->run, name.data, name.len, true, &key));
        const qn_json *v = qn_json_at(vars, i);
        if (qn_json_kind_of(v) == QN_JSON_STRING && is_own(own, name)) {
            qn_str s = qn_json_as_str(v);
            QN_TRY(qn_vstring(&ev->run, s.data, s.len, false, &x));
        } else {
            QN_TRY(qn_vfrom_json(&ev->run, v, &x));
        }
        QN_TRY(qn_vdict_set(&ev->run, ev->vars, key, x));
    }
    return QN_OK;
}

static qn_status render(qn_eval *ev, const qn_json *vars, const char *const *own)
{
    const qn_jinja *j = ev->jinja;
    size_t bytes = j->tree.n_funcs * sizeof(*ev->free_acts);
    ev->free_acts = qn_run_alloc(&ev->run, bytes);
    ev->stack = qn_run_alloc(&ev->run, QN_JINJA_STACK * sizeof(*ev->stack));
    if (ev->free_acts == NULL || ev->stack == NULL) {
        return ev->run.err->code;
    }
    memset(ev->free_acts, 0, bytes);
    QN_TRY(set_variables(ev, vars, own));
    ev->act = qn_act_new(ev, j->top->func, NULL);
    if (ev->act == NULL) {
        return ev->run.err->code;
    }
    if (j->top->func->wants_kwargs) {
        QN_TRY(qn_self(ev, &ev->act->cells[j->top->func->kwargs]));
    }
    QN_TRY(qn_scope_enter(ev, j->top));
    return qn_exec(ev, j->body);
}

qn_status qn_jinja_render(const qn_jinja *j, const qn_json *vars, const qn_jinja_options *o, qn_budget *b,
                          qn_jinja_text *out, qn_error *err)
{
    qn_error local;
    err = err == NULL ? &local : err;
    if (qn_json_kind_of(vars) != QN_JSON_OBJECT) {
        return qn_fail(err, QN_EINVAL, "the variables of a template are an object");
    }
    qn_jinja_text text = {0};
    qn_eval ev = {.jinja = j, .text = &text};
    qn_run_init(&ev.run, b, o, err);
    ev.run.evaluator = &ev;
    qn_buf_init(&text.text, b, "jinja", ev.run.max_output > SIZE_MAX / 2 ? SIZE_MAX / 2 : (size_t)ev.run.max_output);
    qn_status status = render(&ev, vars, o != NULL ? o->own : NULL);
    qn_run_free(&ev.run);
    if (status != QN_OK) {
        qn_jinja_text_free(&text);
        return status;
    }
    *out = text;
    return QN_OK;
}
