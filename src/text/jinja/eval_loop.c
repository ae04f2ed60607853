/* Loops, and the variable `loop` that tells where one is.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/eval.h"

typedef struct loop {
    qn_eval *ev;
    const qn_node *node;
    qn_act *outer;    /* where the loop stands: the filter's and a recursive body's parent */
    qn_act *test_act; /* of the filter; NULL: there is none, or all that is left has passed it */
    bool test_entered;
    qn_value source; /* an iterator, which the body may use up as well: taken one by one. NONE: list is walked */
    const qn_vlist *list;
    uint32_t i; /* the next of list */
    qn_value before, current, after;
    bool has_after; /* `after` was taken from the list ahead of its turn */
    bool has_length;
    bool has_changed;
    int64_t index0, length, depth0;
    qn_value changed; /* arguments of the last loop.changed(), a tuple */
} loop;

/* ---- items ---- */

static qn_status test_item(loop *l, qn_value item, bool *passes, qn_value *out)
{
    qn_eval *ev = l->ev;
    qn_act *act = ev->act;
    const qn_node *target = l->node->kids[5];
    qn_value verdict;
    ev->act = l->test_act;
    if (!l->test_entered) {
        l->test_entered = true;
        QN_TRY(qn_scope_enter(ev, l->node->u.s.loop->test_scope));
    }
    QN_TRY(qn_assign(ev, target, item));
    QN_TRY(qn_eval_expr(ev, l->node->kids[4], &verdict));
    *passes = qn_vtruth(verdict);
    *out = item;
    if (*passes && target->kind == QN_N_TUPLE) { /* the filter hands on what it unpacked */
        qn_node load = *target;
        QN_TRY(qn_eval_expr(ev, &load, out));
    }
    ev->act = act;
    return QN_OK;
}

static qn_status take(loop *l, bool *has, qn_value *out)
{
    if (l->source.kind != QN_V_NONE) {
        return qn_vfirst(&l->ev->run, l->source, has, out);
    }
    *has = l->i < l->list->n;
    if (*has) {
        *out = l->list->items[l->i++];
    }
    return QN_OK;
}

/* The next item that the filter lets through. */
static qn_status pull(loop *l, bool *has, qn_value *out)
{
    bool passes = false;
    *has = true;
    while (*has && !passes) {
        QN_TRY(take(l, has, out));
        passes = true;
        if (*has && l->test_act != NULL) {
            QN_TRY(qn_run_steps(&l->ev->run, 1));
            QN_TRY(test_item(l, *out, &passes, out));
        }
    }
    return QN_OK;
}

static qn_status peek(loop *l)
{
    return l->has_after ? QN_OK : pull(l, &l->has_after, &l->after);
}

static qn_status next(loop *l, bool *has)
{
    qn_value x;
    if (l->has_after) {
        l->has_after = false;
        *has = true;
        x = l->after;
    } else {
        QN_TRY(pull(l, has, &x));
        if (!*has) {
            return QN_OK;
        }
    }
    l->index0++;
    l->before = l->current;
    l->current = x;
    return QN_OK;
}

/* How many items a filter or an iterator gives is known only when it has given them all. */
static qn_status find_length(loop *l)
{
    if (l->has_length) {
        return QN_OK;
    }
    if (l->test_act == NULL && l->source.kind == QN_V_NONE) {
        l->length = l->list->n;
    } else {
        qn_value rest, x;
        bool has;
        QN_TRY(qn_vlist_new(&l->ev->run, QN_V_LIST, 0, &rest));
        QN_TRY(pull(l, &has, &x));
        while (has) {
            QN_TRY(qn_vlist_push(&l->ev->run, rest.u.list, x));
            QN_TRY(pull(l, &has, &x));
        }
        l->source = qn_vnone();
        l->list = rest.u.list;
        l->i = 0;
        l->test_act = NULL;
        l->length = rest.u.list->n + l->index0 + 1 + l->has_after;
    }
    l->has_length = true;
    return QN_OK;
}

/* ---- the variable ---- */

static qn_status run_recursive(qn_eval *ev, const qn_node *n, qn_act *outer, qn_value iterable, int64_t depth0,
                               qn_value *out);

static qn_status loop_call(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    const loop *l = fn->self.u.object->data;
    if (args->n_pos != 1 || args->n_named != 0) {
        return qn_run_fail(run, "loop() takes one argument: what to walk");
    }
    if (l->node->op == 0) {
        return qn_run_fail(run, "The loop must have the 'recursive' marker to be called recursively.");
    }
    return run_recursive(run->evaluator, l->node, l->outer, args->pos[0], l->depth0 + 1, out);
}

static qn_status loop_cycle(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    const loop *l = fn->self.u.object->data;
    if (args->n_named != 0) {
        return qn_run_fail(run, "LoopContext.cycle() got an unexpected keyword argument");
    }
    if (args->n_pos == 0) {
        return qn_run_fail(run, "no items for cycling given");
    }
    *out = args->pos[l->index0 % args->n_pos];
    return QN_OK;
}

static qn_status loop_changed(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    loop *l = fn->self.u.object->data;
    qn_value now;
    bool same = false;
    if (args->n_named != 0) {
        return qn_run_fail(run, "LoopContext.changed() got an unexpected keyword argument");
    }
    QN_TRY(qn_vlist_new(run, QN_V_TUPLE, args->n_pos, &now));
    for (uint32_t i = 0; i < args->n_pos; i++) {
        QN_TRY(qn_vlist_push(run, now.u.list, args->pos[i]));
    }
    if (l->has_changed) {
        QN_TRY(qn_vequal(run, l->changed, now, &same));
    }
    if (!same) {
        l->has_changed = true;
        l->changed = now;
    }
    *out = qn_vbool(!same);
    return QN_OK;
}

static const char *const attributes[] = {"index",    "index0",   "first", "last",   "length", "revindex", "revindex0",
                                         "previtem", "nextitem", "depth", "depth0", "cycle",  "changed",  "__call__"};
enum {
    INDEX,
    INDEX0,
    FIRST,
    LAST,
    LENGTH,
    REVINDEX,
    REVINDEX0,
    PREVITEM,
    NEXTITEM,
    DEPTH,
    DEPTH0,
    CYCLE,
    CHANGED,
    CALL,
    N_ATTRIBUTES
};

static qn_status loop_attribute(qn_run *run, qn_vobject *o, qn_str name, qn_value *out)
{
    loop *l = o->data;
    qn_value self = {.kind = QN_V_OBJECT, .u.object = o};
    unsigned which = 0;
    while (which < N_ATTRIBUTES && !qn_str_is(name, attributes[which])) {
        which++;
    }
    switch (which) {
    case INDEX:
    case INDEX0:
        *out = qn_vint(l->index0 + (which == INDEX));
        break;
    case FIRST:
        *out = qn_vbool(l->index0 == 0);
        break;
    case LAST:
        QN_TRY(peek(l));
        *out = qn_vbool(!l->has_after);
        break;
    case LENGTH:
        QN_TRY(find_length(l));
        *out = qn_vint(l->length);
        break;
    case REVINDEX:
    case REVINDEX0:
        QN_TRY(find_length(l));
        *out = qn_vint(l->length - l->index0 - (which == REVINDEX0));
        break;
    case PREVITEM:
        *out = l->index0 == 0 ? qn_undefined_text(l->ev, "there is no previous item") : l->before;
        break;
    case NEXTITEM:
        QN_TRY(peek(l));
        *out = l->has_after ? l->after : qn_undefined_text(l->ev, "there is no next item");
        break;
    case DEPTH:
    case DEPTH0:
        *out = qn_vint(l->depth0 + (which == DEPTH));
        break;
    case CYCLE:
        return qn_vmethod(run, "cycle", loop_cycle, self, out);
    case CHANGED:
        return qn_vmethod(run, "changed", loop_changed, self, out);
    case CALL:
        return qn_vmethod(run, "loop", loop_call, self, out);
    default:
        break;
    }
    return QN_OK;
}

/* ---- the statement ---- */

/* The loop that the variable shows must last as long as it may be seen; any other lives in *local. */
static qn_status make_loop(qn_eval *ev, const qn_node *n, qn_act *outer, qn_value iterable, loop *local, loop **out,
                           qn_value *variable)
{
    const qn_loop_code *code = n->u.s.loop;
    loop *l = local;
    if (code->loop_cell != QN_NO_CELL) {
        l = qn_run_alloc(&ev->run, sizeof(*l));
        qn_vobject *o = qn_run_alloc(&ev->run, sizeof(*o));
        if (l == NULL || o == NULL) {
            return ev->run.err->code;
        }
        *o = (qn_vobject){.type = "LoopContext", .attribute = loop_attribute, .data = l};
        *variable = (qn_value){.kind = QN_V_OBJECT, .u.object = o};
    }
    *l = (loop){.ev = ev, .node = n, .outer = outer, .index0 = -1, .source = qn_vnone()};
    if (iterable.kind == QN_V_ITERATOR && (iterable.flags & QN_VF_VIEW) == 0) {
        l->source = iterable;
    } else {
        QN_TRY(qn_viterate(&ev->run, iterable, &l->list));
    }
    if (n->kids[4] != NULL) {
        l->test_act = qn_act_new(ev, code->test_scope->func, outer);
        if (l->test_act == NULL) {
            return ev->run.err->code;
        }
    }
    *out = l;
    return QN_OK;
}

static qn_status run_loop(qn_eval *ev, const qn_node *n, qn_act *outer, qn_value iterable, int64_t depth0)
{
    const qn_scope *body = n->u.s.scope, *other = n->u.s.scope2;
    loop local, *l = NULL;
    qn_value variable;
    bool has, ran_through = false;
    QN_TRY(make_loop(ev, n, outer, iterable, &local, &l, &variable));
    l->depth0 = depth0;
    QN_TRY(next(l, &has));
    while (has && ev->jump != QN_JUMP_BREAK) {
        QN_TRY(qn_run_steps(&ev->run, 1));
        QN_TRY(qn_assign(ev, n->kids[0], l->current));
        if (n->u.s.loop->loop_cell != QN_NO_CELL) {
            ev->act->cells[n->u.s.loop->loop_cell] = variable;
        }
        QN_TRY(qn_scope_enter(ev, body));
        QN_TRY(qn_exec(ev, n->kids[2]));
        /* As in jinja2, only a body that ran to its end keeps the else branch from running. */
        ran_through = ran_through || ev->jump == QN_JUMP_NONE;
        if (ev->jump == QN_JUMP_CONTINUE) {
            ev->jump = QN_JUMP_NONE;
        }
        if (ev->jump == QN_JUMP_NONE) {
            QN_TRY(next(l, &has));
        }
    }
    ev->jump = QN_JUMP_NONE;
    qn_scope_leave(ev, body);
    if (n->kids[3] != NULL && !ran_through) {
        QN_TRY(qn_scope_enter(ev, other));
        QN_TRY(qn_exec(ev, n->kids[3]));
        if (ev->jump == QN_JUMP_NONE) {
            qn_scope_leave(ev, other);
        }
    }
    return QN_OK;
}

static qn_status run_recursive(qn_eval *ev, const qn_node *n, qn_act *outer, qn_value iterable, int64_t depth0,
                               qn_value *out)
{
    qn_act *caller = ev->act, *act = qn_act_new(ev, n->u.s.func, outer);
    qn_vbuild *capture = ev->capture;
    qn_vbuild build;
    if (act == NULL) {
        return ev->run.err->code;
    }
    QN_TRY(qn_run_enter(&ev->run));
    qn_vbuild_init(&build, &ev->run);
    ev->capture = &build;
    ev->act = act;
    qn_status status = run_loop(ev, n, outer, iterable, depth0);
    ev->capture = capture;
    QN_TRY(status);
    ev->act = caller;
    qn_run_leave(&ev->run);
    qn_act_done(ev, act);
    return qn_vbuild_finish(&build, out);
}

qn_status qn_exec_for(qn_eval *ev, const qn_node *n)
{
    qn_value iterable, x;
    QN_TRY(qn_eval_expr(ev, n->kids[1], &iterable));
    ev->run.line = n->line;
    if (n->op == 0) {
        return run_loop(ev, n, ev->act, iterable, 0);
    }
    QN_TRY(run_recursive(ev, n, ev->act, iterable, 0, &x));
    return qn_emit(ev, x, true);
}
