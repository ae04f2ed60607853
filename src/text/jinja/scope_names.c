/* What a scope's statements do with names: which they read before they set them, which become its own.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/node.h"

/* ---- what a tree has ---- */

static void find_undeclared(qn_search *s, const qn_node *n)
{
    if (n == NULL || n->kind == QN_N_BLOCK || s->found == (1u << s->n) - 1) {
        return;
    }
    for (unsigned i = 0; n->kind == QN_N_NAME && i < s->n; i++) {
        if (n->name == s->names[i]) {
            unsigned bit = 1u << i;
            if (n->op != QN_USE_LOAD) {
                s->set |= bit;
            } else if ((s->set & bit) == 0) {
                s->found |= bit;
            }
        }
    }
    for (uint32_t i = 0; i < (n->kind == QN_N_FROM ? 1 : n->n_kids); i++) {
        find_undeclared(s, n->kids[i]);
    }
}

qn_status qn_scope_search(qn_tree *t, const char *const *names, unsigned n, const qn_node *body, qn_search *out)
{
    *out = (qn_search){.n = n};
    for (unsigned i = 0; i < n; i++) {
        out->names[i] = qn_tree_name(t, qn_str_of(names[i]));
        if (out->names[i] == NULL) {
            return t->err->code;
        }
    }
    find_undeclared(out, body);
    return QN_OK;
}

const qn_node *qn_scope_loop_store(const qn_node *n, bool *has_scoped)
{
    if (n == NULL) {
        return NULL;
    }
    if (n->kind == QN_N_NAME && n->op == QN_USE_STORE && qn_word_is(n->name, "loop")) {
        return n;
    }
    *has_scoped = *has_scoped || (n->kind == QN_N_BLOCK && (n->op & QN_BLOCK_SCOPED) != 0);
    const qn_node *found = NULL;
    for (uint32_t i = 0; found == NULL && i < (n->kind == QN_N_FROM ? 1 : n->n_kids); i++) {
        found = qn_scope_loop_store(n->kids[i], has_scoped);
    }
    return found;
}

/* ---- names of a scope ---- */

qn_status qn_scope_names_kids(qn_tree *t, qn_scope *s, const qn_node *n, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        QN_TRY(qn_scope_names(t, s, n->kids[i]));
    }
    return QN_OK;
}

static qn_status analyze_if(qn_tree *t, qn_scope *s, const qn_node *n)
{
    QN_TRY(qn_scope_names(t, s, n->kids[0]));
    uint32_t mark = qn_scope_if_begin(s);
    QN_TRY(qn_scope_names_kids(t, s, n, 1, n->n_kids));
    qn_scope_if_end(s, mark);
    return QN_OK;
}

/* Statements with scopes of their own show the outer one only what they are given and what they set outside. */
qn_status qn_scope_names(qn_tree *t, qn_scope *s, const qn_node *n)
{
    if (n == NULL) {
        return QN_OK;
    }
    switch (n->kind) {
    case QN_N_NAME:
        return n->op == QN_USE_LOAD    ? qn_scope_load(t, s, n->name)
               : n->op == QN_USE_STORE ? qn_scope_store(t, s, n->name)
                                       : qn_scope_param(t, s, n->name, NULL);
    case QN_N_NSREF:
        return qn_scope_load(t, s, n->name);
    case QN_N_IF:
        return analyze_if(t, s, n);
    case QN_N_MACRO:
        return qn_scope_store(t, s, n->name);
    case QN_N_IMPORT:
        QN_TRY(qn_scope_names(t, s, n->kids[0]));
        return qn_scope_store(t, s, n->name);
    case QN_N_SET:
        QN_TRY(qn_scope_names(t, s, n->kids[1]));
        return qn_scope_names(t, s, n->kids[0]);
    case QN_N_FOR:
    case QN_N_FILTERBLOCK:
        return qn_scope_names(t, s, n->kids[1]);
    case QN_N_SETBLOCK:
    case QN_N_CALLBLOCK:
        return qn_scope_names(t, s, n->kids[0]);
    case QN_N_WITH:
        return qn_scope_names_kids(t, s, n, n->n_args, 2 * n->n_args);
    case QN_N_BLOCK:
    case QN_N_AUTOESCAPE:
        return QN_OK;
    default:
        return qn_scope_names_kids(t, s, n, 0, n->n_kids);
    }
}

qn_status qn_scope_names_params(qn_tree *t, qn_scope *s, const qn_node *target)
{
    if (target->kind == QN_N_NAME) {
        return qn_scope_param(t, s, target->name, NULL);
    }
    for (uint32_t i = 0; i < target->n_kids; i++) {
        QN_TRY(qn_scope_names_params(t, s, target->kids[i]));
    }
    return QN_OK;
}
