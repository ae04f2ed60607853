/* Bodies that are called: macros, the bodies of call and generation blocks, blocks of the template.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/eval.h"

typedef struct closure { /* what a macro's function value points to */
    const qn_node *node;
    qn_act *act; /* where it was made */
} closure;

static uint32_t first_param(const qn_node *n)
{
    return n->kind == QN_N_CALLBLOCK ? 1 : 0;
}

static const qn_value *find_named(const qn_args *args, qn_str name)
{
    for (uint32_t i = 0; i < args->n_named; i++) {
        if (qn_str_eq(args->names[i], name)) {
            return &args->named[i];
        }
    }
    return NULL;
}

static qn_str macro_name(const qn_node *n)
{
    return n->name != NULL ? n->name->u.text : QN_STR("None");
}

/* Parameters by place, then by name; n_found counts the names that were wanted. */
static void bind_declared(const qn_node *n, const qn_args *args, qn_value *cells, uint32_t *n_found, bool *has_caller)
{
    const qn_func *f = n->u.s.func;
    *n_found = 0;
    *has_caller = false;
    for (uint32_t i = 0; i < n->n_args; i++) {
        qn_str name = n->kids[first_param(n) + i]->name->u.text;
        bool by_place = i < args->n_pos;
        const qn_value *x = by_place ? &args->pos[i] : find_named(args, name);
        *n_found += !by_place && x != NULL;
        /* jinja2 takes a parameter called caller as the caller when it comes by name, or when all come by place */
        *has_caller = *has_caller || (qn_str_is(name, "caller") && (!by_place || args->n_pos >= n->n_args));
        cells[f->params[i]] = x != NULL ? *x : qn_missing();
    }
}

/* Named arguments that are no parameters, as a dict; those of them that make the call wrong otherwise. */
static qn_status bind_rest(qn_eval *ev, const qn_node *n, const qn_args *args, bool caller_taken, qn_value *kwargs)
{
    for (uint32_t i = 0; i < args->n_named; i++) {
        bool declared = caller_taken && qn_str_is(args->names[i], "caller");
        for (uint32_t k = args->n_pos; k < n->n_args; k++) {
            declared = declared || qn_str_eq(args->names[i], n->kids[first_param(n) + k]->name->u.text);
        }
        if (declared) {
            continue;
        }
        qn_str name = macro_name(n);
        if (kwargs == NULL && find_named(args, QN_STR("caller")) != NULL && !caller_taken) {
            return qn_run_fail(&ev->run,
                               "macro '%.*s' was invoked with two values for the special caller argument. This is "
                               "most likely a bug.",
                               QN_STR_ARG(name));
        }
        if (kwargs == NULL) {
            return qn_run_fail(&ev->run, "macro '%.*s' takes no keyword argument '%.*s'", QN_STR_ARG(name),
                               QN_STR_ARG(args->names[i]));
        }
        qn_value key;
        QN_TRY(qn_vstring(&ev->run, args->names[i].data, args->names[i].len, false, &key));
        QN_TRY(qn_vdict_set(&ev->run, kwargs->u.dict, key, args->named[i]));
    }
    return QN_OK;
}

static qn_status bind(qn_eval *ev, const qn_node *n, const qn_args *args, qn_value *cells)
{
    const qn_func *f = n->u.s.func;
    uint32_t n_found;
    bool has_caller;
    bind_declared(n, args, cells, &n_found, &has_caller);
    bool takes_caller = f->wants_caller && !has_caller;
    if (takes_caller) {
        const qn_value *caller = find_named(args, QN_STR("caller"));
        n_found += caller != NULL;
        cells[f->caller] =
            caller != NULL && caller->kind != QN_V_NONE ? *caller : qn_undefined_text(ev, "No caller defined");
    }
    if (f->wants_kwargs) {
        qn_value kwargs;
        QN_TRY(qn_vdict_new(&ev->run, QN_V_DICT, &kwargs));
        QN_TRY(bind_rest(ev, n, args, takes_caller, &kwargs));
        cells[f->kwargs] = kwargs;
    } else if (n_found < args->n_named) {
        QN_TRY(bind_rest(ev, n, args, takes_caller, NULL));
    }
    uint32_t n_more = args->n_pos > n->n_args ? args->n_pos - n->n_args : 0;
    if (f->wants_varargs) {
        qn_value rest;
        QN_TRY(qn_vlist_new(&ev->run, QN_V_TUPLE, n_more, &rest));
        for (uint32_t i = 0; i < n_more; i++) {
            QN_TRY(qn_vlist_push(&ev->run, rest.u.list, args->pos[n->n_args + i]));
        }
        cells[f->varargs] = rest;
    } else if (n_more > 0) {
        qn_str name = macro_name(n);
        return qn_run_fail(&ev->run, "macro '%.*s' takes not more than %u argument(s)", QN_STR_ARG(name), n->n_args);
    }
    return QN_OK;
}

/* Parameters that were not given, in order: a default may use those before it. */
static qn_status set_defaults(qn_eval *ev, const qn_node *n)
{
    uint32_t first = first_param(n), n_defaults = n->n_kids - 1 - first - n->n_args;
    for (uint32_t i = 0; i < n->n_args; i++) {
        qn_value *cell = &ev->act->cells[n->u.s.func->params[i]];
        if (!qn_is_missing(*cell)) {
            continue;
        }
        if (i + n_defaults >= n->n_args) {
            qn_value x;
            QN_TRY(qn_eval_expr(ev, n->kids[first + i + n_defaults], &x));
            *cell = x;
        } else {
            qn_str name = n->kids[first + i]->name->u.text;
            *cell = qn_undefined_text(ev, "parameter '%.*s' was not provided", QN_STR_ARG(name));
        }
    }
    return QN_OK;
}

static qn_status call_macro(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    qn_eval *ev = run->evaluator;
    const closure *c = fn->data;
    const qn_node *n = c->node;
    qn_act *outer = ev->act, *act = qn_act_new(ev, n->u.s.func, c->act);
    uint32_t line = run->line;
    if (act == NULL) {
        return run->err->code;
    }
    QN_TRY(qn_run_enter(run));
    QN_TRY(bind(ev, n, args, act->cells));
    ev->act = act;
    QN_TRY(qn_scope_enter(ev, n->u.s.scope));
    QN_TRY(set_defaults(ev, n));
    QN_TRY(qn_capture(ev, n->kids[n->n_kids - 1], out));
    qn_run_leave(run);
    ev->act = outer;
    qn_act_done(ev, act);
    run->line = line;
    return QN_OK;
}

static qn_status make_macro(qn_eval *ev, const qn_node *n, qn_value *out)
{
    qn_vfunction *fn = qn_run_alloc(&ev->run, sizeof(*fn));
    closure *c = qn_run_alloc(&ev->run, sizeof(*c));
    if (fn == NULL || c == NULL) {
        return ev->run.err->code;
    }
    *c = (closure){n, ev->act};
    *fn = (qn_vfunction){.name = macro_name(n), .call = call_macro, .data = c};
    *out = (qn_value){.kind = QN_V_FUNCTION, .u.fn = fn};
    return QN_OK;
}

qn_status qn_exec_macro(qn_eval *ev, const qn_node *n)
{
    qn_value macro;
    QN_TRY(make_macro(ev, n, &macro));
    ev->act->cells[n->cell] = macro;
    if (n->exports && ev->exported != NULL) {
        qn_value key;
        QN_TRY(qn_vstring(&ev->run, n->name->u.text.data, n->name->u.text.len, false, &key));
        return qn_vdict_set(&ev->run, ev->exported, key, macro);
    }
    return QN_OK;
}

qn_status qn_exec_call_block(qn_eval *ev, const qn_node *n)
{
    static const qn_args none;
    qn_value caller, x;
    qn_args args;
    uint32_t mark = ev->n_stack;
    QN_TRY(make_macro(ev, n, &caller));
    const qn_node *chain = n->kids[0];
    if (chain == NULL) {
        QN_TRY(call_macro(&ev->run, caller.u.fn, &none, &x));
        return qn_emit(ev, x, true);
    }
    const qn_node *call = chain->kids[chain->n_kids - 1];
    qn_node callee = *chain; /* all but the last call */
    callee.n_kids--;
    QN_TRY(qn_eval_expr(ev, &callee, &x));
    QN_TRY(qn_eval_args(ev, call, "caller", caller, &args));
    ev->run.line = call->line;
    QN_TRY(qn_vcall(&ev->run, x, &args, &x));
    ev->n_stack = mark;
    return qn_emit(ev, x, true);
}

bool qn_macro_attribute(qn_eval *ev, qn_value macro, qn_str name, qn_value *out, qn_status *status)
{
    if (macro.u.fn->call != call_macro) {
        return false;
    }
    const qn_node *n = ((const closure *)macro.u.fn->data)->node;
    const qn_func *f = n->u.s.func;
    *status = QN_OK;
    if (qn_str_is(name, "name")) {
        *out = qn_vnone();
        if (n->name != NULL) {
            *status = qn_vstring(&ev->run, n->name->u.text.data, n->name->u.text.len, false, out);
        }
    } else if (qn_str_is(name, "arguments")) {
        *status = qn_vlist_new(&ev->run, QN_V_TUPLE, n->n_args, out);
        for (uint32_t i = 0; *status == QN_OK && i < n->n_args; i++) {
            qn_str arg = n->kids[first_param(n) + i]->name->u.text;
            qn_value x;
            *status = qn_vstring(&ev->run, arg.data, arg.len, false, &x);
            if (*status == QN_OK) {
                *status = qn_vlist_push(&ev->run, out->u.list, x);
            }
        }
    } else if (qn_str_is(name, "catch_kwargs")) {
        *out = qn_vbool(f->wants_kwargs);
    } else if (qn_str_is(name, "catch_varargs")) {
        *out = qn_vbool(f->wants_varargs);
    } else if (qn_str_is(name, "caller")) {
        *out = qn_vbool(f->wants_caller);
    } else {
        return false;
    }
    return true;
}

/* ---- blocks of the template ---- */

/* For a scoped block: what was set at the top level, and what the scopes around it have set. */
static qn_status local_variables(qn_eval *ev, const qn_scope *scope, const qn_vdict **out)
{
    qn_value d, key, x;
    QN_TRY(qn_vdict_new(&ev->run, QN_V_DICT, &d));
    const qn_vdict *outer = ev->act->exported;
    uint32_t n = qn_vdict_count(outer);
    QN_TRY(qn_run_steps(&ev->run, n));
    for (uint32_t i = 0; i < n; i++) {
        qn_vdict_at(outer, i, &key, &x);
        QN_TRY(qn_vdict_set(&ev->run, d.u.dict, key, x));
    }
    /* From the outermost scope inward, so that inner names win. */
    for (uint32_t level = 0; level <= scope->level; level++) {
        const qn_scope *s = scope;
        while (s->level != level) {
            s = s->parent;
        }
        const qn_act *act = ev->act;
        for (uint32_t hops = scope->func->depth - s->func->depth; hops > 0; hops--) {
            act = act->parent;
        }
        for (uint32_t i = 0; i < s->n; i++) {
            qn_str name = s->symbols[i].name->u.text;
            x = act->cells[s->symbols[i].cell];
            if (s->symbols[i].stored && !qn_is_missing(x)) {
                QN_TRY(qn_vstring(&ev->run, name.data, name.len, false, &key));
                QN_TRY(qn_vdict_set(&ev->run, d.u.dict, key, x));
            }
        }
    }
    *out = d.u.dict;
    return QN_OK;
}

/* exported: what it looks names up in. */
static qn_status run_block(qn_eval *ev, const qn_node *n, const qn_vdict *exported)
{
    const qn_func *f = n->u.s.func;
    qn_act *outer = ev->act, *act = qn_act_new(ev, f, NULL);
    if (act == NULL) {
        return ev->run.err->code;
    }
    QN_TRY(qn_run_enter(&ev->run));
    act->exported = exported;
    ev->act = act;
    if (f->wants_kwargs) {
        QN_TRY(qn_self(ev, &act->cells[f->kwargs]));
    }
    if (f->wants_caller) {
        act->cells[f->caller] =
            qn_undefined_text(ev, "there is no parent block called '%.*s'.", QN_STR_ARG(n->name->u.text));
    }
    QN_TRY(qn_scope_enter(ev, n->u.s.scope));
    QN_TRY(qn_exec(ev, n->kids[0]));
    ev->act = outer;
    qn_run_leave(&ev->run);
    qn_act_done(ev, act);
    return QN_OK;
}

qn_status qn_exec_block(qn_eval *ev, const qn_node *n)
{
    const qn_vdict *exported = ev->act->exported;
    if ((n->op & QN_BLOCK_REQUIRED) != 0) {
        return qn_run_fail(&ev->run, "Required block '%.*s' not found", QN_STR_ARG(n->name->u.text));
    }
    if ((n->op & QN_BLOCK_SCOPED) != 0) {
        QN_TRY(local_variables(ev, n->u.s.scope2, &exported));
    }
    return run_block(ev, n, exported);
}

typedef struct block_call { /* what self.NAME points to; self alone: without a node */
    qn_eval *ev;
    const qn_node *node;
    const qn_vdict *exported; /* of the block that self was made in */
} block_call;

static qn_status call_block(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    const block_call *c = fn->data;
    qn_eval *ev = c->ev;
    if (args->n_pos + args->n_named > 0) {
        return qn_run_fail(run, "a block takes no arguments");
    }
    qn_vbuild *outer = ev->capture;
    qn_vbuild build;
    qn_vbuild_init(&build, run);
    ev->capture = &build;
    qn_status status = run_block(ev, c->node, c->exported);
    ev->capture = outer;
    QN_TRY(status);
    return qn_vbuild_finish(&build, out);
}

/* self.NAME */
static qn_status self_attribute(qn_run *run, qn_vobject *o, qn_str name, qn_value *out)
{
    const block_call *self = o->data;
    const qn_node *b = self->ev->jinja->tree.blocks_named;
    while (b != NULL && !qn_str_eq(b->name->u.text, name)) {
        b = b->u.s.next_block;
    }
    if (b == NULL) {
        return QN_OK;
    }
    qn_vfunction *fn = qn_run_alloc(run, sizeof(*fn));
    block_call *c = qn_run_alloc(run, sizeof(*c));
    if (fn == NULL || c == NULL) {
        return run->err->code;
    }
    *c = (block_call){self->ev, b, self->exported};
    *fn = (qn_vfunction){.name = b->name->u.text, .call = call_block, .data = c};
    *out = (qn_value){.kind = QN_V_FUNCTION, .u.fn = fn};
    return QN_OK;
}

qn_status qn_self(qn_eval *ev, qn_value *out)
{
    qn_vobject *o = qn_run_alloc(&ev->run, sizeof(*o));
    block_call *c = qn_run_alloc(&ev->run, sizeof(*c));
    if (o == NULL || c == NULL) {
        return ev->run.err->code;
    }
    *c = (block_call){.ev = ev, .exported = ev->act->exported};
    *o = (qn_vobject){.type = "TemplateReference", .attribute = self_attribute, .data = c};
    *out = (qn_value){.kind = QN_V_OBJECT, .u.object = o};
    return QN_OK;
}
