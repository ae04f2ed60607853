/* Activations and scopes while a template runs, and assignment to names.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/eval.h"

#include <stdarg.h>
#include <stdio.h>

static const char missing_mark[] = "";

qn_value qn_missing(void)
{
    return (qn_value){.kind = QN_V_UNDEFINED, .u.name = missing_mark};
}

bool qn_is_missing(qn_value x)
{
    return x.kind == QN_V_UNDEFINED && x.u.name == missing_mark;
}

qn_value qn_undefined_text(qn_eval *ev, const char *fmt, ...)
{
    char text[QN_ERROR_TEXT];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1;
    qn_value x = qn_vundefined(&ev->run, (qn_str){text, len});
    x.flags |= QN_VF_HINT;
    return x;
}

/* ---- activations ---- */

qn_act *qn_act_new(qn_eval *ev, const qn_func *f, qn_act *parent)
{
    qn_act *a = ev->free_acts[f->index];
    if (a != NULL) {
        ev->free_acts[f->index] = a->next_free;
    } else {
        a = qn_run_alloc(&ev->run, sizeof(*a) + f->n_cells * sizeof(a->cells[0]));
        if (a == NULL) {
            return NULL;
        }
    }
    a->parent = parent;
    a->func = f;
    a->next_free = NULL;
    a->exported = parent != NULL ? parent->exported : ev->exported;
    for (uint32_t i = 0; i < f->n_cells; i++) {
        a->cells[i] = qn_missing();
    }
    return a;
}

void qn_act_done(qn_eval *ev, qn_act *a)
{
    if (!a->func->has_inner) {
        a->next_free = ev->free_acts[a->func->index];
        ev->free_acts[a->func->index] = a;
    }
}

/* ---- scopes ---- */

/* A variable of the rendering, or missing. */
static qn_value look_up(const qn_eval *ev, const qn_node *name)
{
    qn_value x;
    if (ev->act->exported != NULL && qn_vdict_find_str(ev->act->exported, name->u.text, &x)) {
        return x;
    }
    return qn_vdict_find_str(ev->vars, name->u.text, &x) ? x : qn_missing();
}

qn_status qn_scope_enter(qn_eval *ev, const qn_scope *s)
{
    QN_TRY(qn_run_steps(&ev->run, s->n));
    for (uint32_t i = 0; i < s->n; i++) {
        const qn_symbol *sym = &s->symbols[i];
        qn_value *cell = &ev->act->cells[sym->cell];
        switch ((qn_load)sym->load) {
        case QN_LOAD_PARAM:
            break;
        case QN_LOAD_RESOLVE:
            *cell = look_up(ev, sym->name);
            break;
        case QN_LOAD_ALIAS: {
            qn_act *a = ev->act;
            for (uint32_t hops = sym->from_hops; hops > 0; hops--) {
                a = a->parent;
            }
            *cell = a->cells[sym->from_cell];
            break;
        }
        case QN_LOAD_UNDEFINED:
            *cell = qn_missing();
            break;
        }
    }
    return QN_OK;
}

void qn_scope_leave(qn_eval *ev, const qn_scope *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        ev->act->cells[s->symbols[i].cell] = qn_missing();
    }
}

/* ---- assignment ---- */

qn_status qn_check_target(qn_eval *ev, const qn_node *target)
{
    if (target->kind == QN_N_NSREF && qn_cell(ev, target)->kind != QN_V_NAMESPACE) {
        return qn_run_fail(&ev->run, "cannot assign attribute on non-namespace object");
    }
    for (uint32_t i = 0; target->kind == QN_N_TUPLE && i < target->n_kids; i++) {
        QN_TRY(qn_check_target(ev, target->kids[i]));
    }
    return QN_OK;
}

static qn_status unpack(qn_eval *ev, const qn_node *target, qn_value x)
{
    const qn_vlist *list;
    switch ((qn_vkind)x.kind) {
    case QN_V_STRING:
    case QN_V_LIST:
    case QN_V_TUPLE:
    case QN_V_DICT:
    case QN_V_ITERATOR:
    case QN_V_UNDEFINED:
        break;
    default:
        return qn_run_fail(&ev->run, "cannot unpack non-iterable %s object", qn_vkind_name(x));
    }
    QN_TRY(qn_viterate(&ev->run, x, &list));
    if (list->n < target->n_kids) {
        return qn_run_fail(&ev->run, "not enough values to unpack (expected %u, got %u)", target->n_kids, list->n);
    }
    if (list->n > target->n_kids) {
        return qn_run_fail(&ev->run, "too many values to unpack (expected %u)", target->n_kids);
    }
    for (uint32_t i = 0; i < target->n_kids; i++) {
        QN_TRY(qn_assign(ev, target->kids[i], list->items[i]));
    }
    return QN_OK;
}

qn_status qn_assign(qn_eval *ev, const qn_node *target, qn_value x)
{
    if (target->kind == QN_N_TUPLE) {
        return unpack(ev, target, x);
    }
    if (target->kind == QN_N_NSREF) {
        return qn_vdict_set(&ev->run, qn_cell(ev, target)->u.dict, target->u.value, x);
    }
    *qn_cell(ev, target) = x;
    if (target->exports && ev->exported != NULL) {
        qn_value key;
        QN_TRY(qn_vstring(&ev->run, target->name->u.text.data, target->name->u.text.len, false, &key));
        return qn_vdict_set(&ev->run, ev->exported, key, x);
    }
    return QN_OK;
}
