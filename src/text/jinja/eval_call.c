/* Arguments of calls, filters and tests.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/eval.h"

qn_value *qn_stack_take(qn_eval *ev, uint32_t n)
{
    if (n > QN_JINJA_STACK - ev->n_stack) {
        qn_fail(ev->run.err, QN_EFULL, "line %u: too many values at once", ev->run.line);
        return NULL;
    }
    qn_value *p = ev->stack + ev->n_stack;
    ev->n_stack += n;
    return p;
}

typedef struct arg_list { /* arguments whose number is known only now; in the heap of the rendering */
    qn_value *pos, *named;
    qn_str *names;
    uint32_t n_pos, n_named;
} arg_list;

static bool make_room(qn_eval *ev, arg_list *l, uint32_t n_pos, uint32_t n_named)
{
    l->pos = qn_run_alloc(&ev->run, (n_pos + 1) * sizeof(*l->pos));
    l->named = qn_run_alloc(&ev->run, (n_named + 1) * sizeof(*l->named));
    l->names = qn_run_alloc(&ev->run, (n_named + 1) * sizeof(*l->names));
    return l->pos != NULL && l->named != NULL && l->names != NULL;
}

static bool has_name(const arg_list *l, uint32_t n, qn_str name)
{
    for (uint32_t i = 0; i < n; i++) {
        if (qn_str_eq(l->names[i], name)) {
            return true;
        }
    }
    return false;
}

/* The members of a dict become named arguments. */
static qn_status add_members(qn_eval *ev, arg_list *l, const qn_vdict *d)
{
    uint32_t before = l->n_named, n = qn_vdict_count(d);
    QN_TRY(qn_run_steps(&ev->run, (uint64_t)n * (before + 1)));
    for (uint32_t i = 0; i < n; i++) {
        qn_value key, x;
        qn_vdict_at(d, i, &key, &x);
        if (key.kind != QN_V_STRING) {
            return qn_run_fail(&ev->run, "keywords must be strings");
        }
        qn_str name = {key.u.s->bytes, key.u.s->n_bytes};
        if (has_name(l, before, name)) {
            return qn_run_fail(&ev->run, "got multiple values for keyword argument '%.*s'", QN_STR_ARG(name));
        }
        l->names[l->n_named] = name;
        l->named[l->n_named++] = x;
    }
    return QN_OK;
}

/* Arguments with *list or **dict among them. */
static qn_status eval_starred(qn_eval *ev, const qn_node *n, const char *extra_name, qn_value extra, qn_args *out)
{
    const qn_callargs *a = n->args;
    const qn_vlist *list = NULL;
    qn_value star, star_star = qn_vnone();
    arg_list l = {0};
    uint32_t at = a->n_pos + a->n_named;
    if (a->star) {
        QN_TRY(qn_eval_expr(ev, n->kids[at++], &star));
        QN_TRY(qn_viterate(&ev->run, star, &list));
    }
    if (a->star_star) {
        QN_TRY(qn_eval_expr(ev, n->kids[at], &star_star));
        if (star_star.kind != QN_V_DICT && star_star.kind != QN_V_NAMESPACE) {
            return qn_run_fail(&ev->run, "argument after ** must be a mapping, not %s", qn_vkind_name(star_star));
        }
    }
    uint32_t n_more = list == NULL ? 0 : list->n, n_members = a->star_star ? qn_vdict_count(star_star.u.dict) : 0;
    QN_TRY(qn_run_steps(&ev->run, (uint64_t)n_more + n_members));
    if (!make_room(ev, &l, a->n_pos + n_more, a->n_named + n_members + 1)) {
        return ev->run.err->code;
    }
    for (; l.n_pos < a->n_pos; l.n_pos++) {
        QN_TRY(qn_eval_expr(ev, n->kids[l.n_pos], &l.pos[l.n_pos]));
    }
    for (uint32_t i = 0; i < n_more; i++) {
        l.pos[l.n_pos++] = list->items[i];
    }
    for (; l.n_named < a->n_named; l.n_named++) {
        l.names[l.n_named] = a->names[l.n_named];
        QN_TRY(qn_eval_expr(ev, n->kids[a->n_pos + l.n_named], &l.named[l.n_named]));
    }
    if (extra_name != NULL) {
        l.names[l.n_named] = qn_str_of(extra_name);
        l.named[l.n_named++] = extra;
    }
    if (a->star_star) {
        QN_TRY(add_members(ev, &l, star_star.u.dict));
    }
    *out = (qn_args){.pos = l.pos, .n_pos = l.n_pos, .names = l.names, .named = l.named, .n_named = l.n_named};
    return QN_OK;
}

qn_status qn_eval_args(qn_eval *ev, const qn_node *n, const char *extra_name, qn_value extra, qn_args *out)
{
    const qn_callargs *a = n->args;
    if (a->star || a->star_star) {
        return eval_starred(ev, n, extra_name, extra, out);
    }
    uint32_t n_values = a->n_pos + a->n_named + (extra_name != NULL);
    qn_value *values = qn_stack_take(ev, n_values);
    if (values == NULL) {
        return ev->run.err->code;
    }
    for (uint32_t i = 0; i < a->n_pos + a->n_named; i++) {
        QN_TRY(qn_eval_expr(ev, n->kids[i], &values[i]));
    }
    *out = (qn_args){
        .pos = values, .n_pos = a->n_pos, .names = a->names, .named = values + a->n_pos, .n_named = a->n_named};
    if (extra_name != NULL) {
        qn_str *names = qn_run_alloc(&ev->run, (a->n_named + 1) * sizeof(*names));
        if (names == NULL) {
            return ev->run.err->code;
        }
        for (uint32_t i = 0; i < a->n_named; i++) {
            if (qn_str_is(a->names[i], extra_name)) {
                return qn_run_fail(&ev->run, "keyword argument repeated: %s", extra_name);
            }
            names[i] = a->names[i];
        }
        names[a->n_named] = qn_str_of(extra_name);
        values[n_values - 1] = extra;
        out->names = names;
        out->n_named++;
    }
    return QN_OK;
}
