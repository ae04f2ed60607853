/* Chat templates: an interpreter for the Jinja language as model files use it (jinja2 with trim_blocks and
 * lstrip_blocks, loop controls, `generation` blocks, raise_exception, strftime_now and a tojson that leaves non-ASCII
 * characters and HTML's as they are). A template is hostile: it reaches nothing but its variables, and a budget of
 * steps, memory, output and depth holds it.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TEXT_JINJA_JINJA_H
#define QN_TEXT_JINJA_JINJA_H

#include "base/buf.h"
#include "base/json.h"

typedef struct qn_jinja qn_jinja; /* a compiled template; immutable: any thread may render it */

#define QN_JINJA_MAX_SOURCE (1u << 20) /* bytes of a template; the longest known one has 40 KiB */
#define QN_JINJA_MAX_DEPTH 100         /* nesting of the source, and of calls while rendering; bounds the stack */

/* Compiles; source is copied. QN_EFORMAT: err has the line and what is wrong there. QN_EFULL: a limit. */
qn_status qn_jinja_open(qn_str source, qn_budget *b, qn_jinja **out, qn_error *err);
void qn_jinja_close(qn_jinja *j);

typedef struct qn_jinja_options {
    uint64_t max_steps;    /* nodes evaluated and characters moved, about; 0: 20 million */
    uint64_t max_memory;   /* bytes of values; 0: 256 MiB */
    uint64_t max_output;   /* bytes; 0: 64 MiB */
    int64_t now;           /* seconds since 1970 that strftime_now shows, local time; INT64_MIN: the clock's */
    /* Names, ended by NULL, of variables whose strings count as the template's own, not as from outside: bos_token and
     * its like. NULL: none. */
    const char *const *own;
} qn_jinja_options;

typedef struct qn_jinja_text {
    qn_buf text;      /* UTF-8 */
    qn_span *spans;   /* parts that came from the variables: sorted, disjoint, not adjacent; from the budget */
    size_t n_spans;
} qn_jinja_text;

void qn_jinja_text_free(qn_jinja_text *t);

/* Renders with the members of vars (an object) as variables; o may be NULL. *out is written whole on success and is the
 * caller's to free. QN_EFORMAT: the template raised an error: err says "line N: message" (raise_exception's message as
 * it is); QN_EFULL: a limit, named; QN_ENOMEM, QN_EBUDGET. */
qn_status qn_jinja_render(const qn_jinja *j, const qn_json *vars, const qn_jinja_options *o, qn_budget *b,
                          qn_jinja_text *out, qn_error *err);

#endif
