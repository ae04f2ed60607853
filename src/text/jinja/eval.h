/* The evaluator of one rendering. Private to this folder.
 *
 *     run.c          memory, steps, depth and errors of a rendering
 *     eval.c         statements; output
 *     eval_scope.c   activations, scopes, assignment
 *     eval_expr.c    expressions; eval_call.c arguments
 *     eval_macro.c   macros, call blocks, template blocks
 *     eval_loop.c    loops
 *
 * A body that is called (macro, caller, recursive loop, block) has an activation with the cells of its names, and
 * points to the activation it was made in. Output goes to the innermost capture, or to the text that is rendered.
 *
 * SPDX-License-Identifier: MIT */
#ifndef QN_TEXT_JINJA_EVAL_H
#define QN_TEXT_JINJA_EVAL_H

#include "text/jinja/node.h"

#define QN_JINJA_MAX_LEVELS 800 /* nodes evaluated inside each other, calls included: at most half a MiB of C stack */
#define QN_JINJA_STACK 16384    /* arguments and operands of what is being evaluated */

struct qn_jinja {
    qn_tree tree;
    qn_node *body;
    qn_scope *top;
};

typedef struct qn_act qn_act;
struct qn_act {
    qn_act *parent;
    const qn_func *func;
    qn_act *next_free;        /* while it waits to be used again */
    const qn_vdict *exported; /* what names of no scope are looked up in first; NULL: nothing */
    qn_value cells[];
};

typedef enum qn_jump { QN_JUMP_NONE, QN_JUMP_BREAK, QN_JUMP_CONTINUE } qn_jump;

typedef struct qn_eval {
    qn_run run;
    const qn_jinja *jinja;
    qn_act *act;
    qn_act **free_acts; /* by function: activations that nothing refers to any more */
    qn_vbuild *capture; /* NULL: the text */
    qn_jinja_text *text;
    size_t cap_spans;
    qn_vdict *vars;     /* globals and what was passed in */
    qn_vdict *exported; /* set at the top level: for blocks. NULL where there are none */
    qn_value *stack;
    uint32_t n_stack;
    uint32_t levels;
    qn_jump jump;
} qn_eval;

/* run.c */
void qn_run_init(qn_run *run, qn_budget *b, const qn_jinja_options *o, qn_error *err);
void qn_run_free(qn_run *run);

/* eval.c */
qn_status qn_exec(qn_eval *ev, const qn_node *body);
/* Prints x; as_is: it must be a string, as what a filter block or a call gives. */
qn_status qn_emit(qn_eval *ev, qn_value x, bool as_is);
/* What body prints, as a string. */
qn_status qn_capture(qn_eval *ev, const qn_node *body, qn_value *out);
qn_status qn_level_enter(qn_eval *ev);

/* eval_scope.c */
qn_value qn_missing(void);
bool qn_is_missing(qn_value x);
qn_value qn_undefined_text(qn_eval *ev, const char *fmt, ...) QN_PRINTF(2, 3); /* an undefined value that says this */
qn_act *qn_act_new(qn_eval *ev, const qn_func *f, qn_act *parent);             /* NULL: failed */
void qn_act_done(qn_eval *ev, qn_act *a); /* for use again, if nothing can still see it */
qn_status qn_scope_enter(qn_eval *ev, const qn_scope *s);
void qn_scope_leave(qn_eval *ev, const qn_scope *s);
static inline qn_value *qn_cell(const qn_eval *ev, const qn_node *n)
{
    qn_act *a = ev->act;
    for (unsigned i = n->hops; i > 0; i--) {
        a = a->parent;
    }
    return &a->cells[n->cell];
}
qn_status qn_assign(qn_eval *ev, const qn_node *target, qn_value x);
/* Fails when the target has an attribute of what is no namespace. */
qn_status qn_check_target(qn_eval *ev, const qn_node *target);

/* eval_expr.c */
qn_status qn_eval_expr(qn_eval *ev, const qn_node *n, qn_value *out);
/* The postfixes of a chain applied to x. */
qn_status qn_eval_chain(qn_eval *ev, const qn_node *chain, qn_value x, qn_value *out);

/* eval_call.c: room on the value stack, given back by setting n_stack. NULL: failed. */
qn_value *qn_stack_take(qn_eval *ev, uint32_t n);
/* Arguments of a postfix, with one more named `extra` when extra_name is not NULL. */
qn_status qn_eval_args(qn_eval *ev, const qn_node *n, const char *extra_name, qn_value extra, qn_args *out);

/* eval_macro.c */
qn_status qn_exec_macro(qn_eval *ev, const qn_node *n);
qn_status qn_exec_call_block(qn_eval *ev, const qn_node *n);
qn_status qn_exec_block(qn_eval *ev, const qn_node *n);
qn_status qn_self(qn_eval *ev, qn_value *out);
bool qn_macro_attribute(qn_eval *ev, qn_value macro, qn_str name, qn_value *out, qn_status *status);

/* eval_loop.c */
qn_status qn_exec_for(qn_eval *ev, const qn_node *n);

#endif
