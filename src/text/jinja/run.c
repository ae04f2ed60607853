/* What holds one rendering: memory that lasts until its end, steps, depth, and errors that say the line.
 * SPDX-License-Identifier: MIT */
#include "base/checked.h"
#include "text/jinja/eval.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define DEFAULT_STEPS 20000000u
#define DEFAULT_MEMORY (256u << 20)
#define DEFAULT_OUTPUT (64u << 20)
#define FIRST_BLOCK (32u << 10) /* most conversations need no second one */
#define MAX_BLOCK (4u << 20)

typedef struct block {
    struct block *next;
    size_t bytes, used;
    size_t pad; /* keeps what follows aligned to 16 */
} block;

void qn_run_init(qn_run *run, qn_budget *b, const qn_jinja_options *o, qn_error *err)
{
    static const qn_jinja_options defaults = {.now = INT64_MIN};
    if (o == NULL) {
        o = &defaults;
    }
    *run = (qn_run){
        .budget = b,
        .err = err,
        .line = 1,
        .steps_left = o->max_steps != 0 ? o->max_steps : DEFAULT_STEPS,
        .memory_left = o->max_memory != 0 ? o->max_memory : DEFAULT_MEMORY,
        .max_output = o->max_output != 0 ? o->max_output : DEFAULT_OUTPUT,
        .now = o->now,
    };
}

void qn_run_free(qn_run *run)
{
    for (block *b = run->heap; b != NULL;) {
        block *next = b->next;
        qn_free(b);
        b = next;
    }
    run->heap = NULL;
}

static block *new_block(qn_run *run, size_t need)
{
    block *first = run->heap;
    size_t bytes = first == NULL ? FIRST_BLOCK : first->bytes >= MAX_BLOCK / 2 ? MAX_BLOCK : first->bytes * 2;
    size_t total;
    bytes = bytes < need ? need : bytes;
    block *b = qn_add_size(bytes, sizeof(block), &total) ? qn_alloc(run->budget, "jinja", total) : NULL;
    if (b == NULL) {
        qn_fail(run->err, qn_alloc_failure(run->budget, bytes), "line %u: no memory for %zu bytes", run->line, bytes);
        return NULL;
    }
    *b = (block){.next = first, .bytes = bytes};
    run->heap = b;
    return b;
}

void *qn_run_alloc(qn_run *run, size_t bytes)
{
    size_t need;
    if (!qn_add_size(bytes, 15, &need) || (need &= ~(size_t)15) > run->memory_left) {
        qn_fail(run->err, QN_EFULL, "line %u: the values of the template need too much memory", run->line);
        return NULL;
    }
    block *b = run->heap;
    if (b == NULL || need > b->bytes - b->used) {
        b = new_block(run, need);
        if (b == NULL) {
            return NULL;
        }
    }
    run->memory_left -= need;
    void *p = (char *)(b + 1) + b->used;
    b->used += need;
    return p;
}

qn_status qn_run_steps(qn_run *run, uint64_t n)
{
    if (n > run->steps_left) {
        run->steps_left = 0;
        return qn_fail(run->err, QN_EFULL, "line %u: the template takes too many steps", run->line);
    }
    run->steps_left -= n;
    return QN_OK;
}

qn_status qn_run_enter(qn_run *run)
{
    if (run->depth >= QN_JINJA_MAX_DEPTH) {
        return qn_fail(run->err, QN_EFULL, "line %u: calls or values nested deeper than %d", run->line,
                       QN_JINJA_MAX_DEPTH);
    }
    run->depth++;
    return QN_OK;
}

void qn_run_leave(qn_run *run)
{
    run->depth--;
}

qn_status qn_run_fail(qn_run *run, const char *fmt, ...)
{
    char text[QN_ERROR_TEXT];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return qn_fail(run->err, QN_EFORMAT, "line %u: %s", run->line, text);
}
