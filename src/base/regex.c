/* Compiling and matching. See regex_int.h for who does what.
 * SPDX-License-Identifier: MIT */
#include "base/regex_int.h"

#define FREE_STEPS 64 /* characters that a search may read in vain before it changes to the linear way */

static qn_status compile(qn_regex_build *b, qn_regex *re)
{
    uint32_t root;
    QN_TRY(qn_regex_parse(b, &root));
    QN_TRY(qn_regex_emit_program(b, root));
    QN_TRY(qn_regex_make_classes(b, re));
    re->insts = b->insts;
    re->n_insts = (uint32_t)b->n_insts;
    b->insts = NULL;
    qn_status s = qn_regex_make_table(re, b->budget);
    return s == QN_OK ? QN_OK : qn_fail(b->err, s, "pattern: no memory for its table");
}

qn_status qn_regex_open(qn_str pattern, qn_budget *budget, qn_regex **out, qn_error *err)
{
    if (pattern.len > QN_REGEX_MAX_PATTERN) {
        return qn_fail(err, QN_EUNSUPPORTED, "pattern: longer than %d bytes", QN_REGEX_MAX_PATTERN);
    }
    qn_regex *re = qn_zalloc(budget, QN_REGEX_OWNER, sizeof(*re));
    if (re == NULL) {
        return qn_fail(err, QN_ENOMEM, "pattern: no memory");
    }
    qn_regex_build b = {.budget = budget, .err = err, .pattern = pattern};
    qn_status s = compile(&b, re);
    qn_free(b.work);
    qn_free(b.ranges);
    qn_free(b.sets);
    qn_free(b.nodes);
    qn_free(b.insts);
    if (s != QN_OK) {
        qn_regex_close(re);
        return s;
    }
    *out = re;
    return QN_OK;
}

void qn_regex_close(qn_regex *re)
{
    if (re != NULL) {
        qn_free(re->insts);
        qn_free(re->members);
        qn_free(re->blocks);
        qn_free(re->rows);
        qn_free(re->table);
        qn_free(re);
    }
}

bool qn_regex_is_table(const qn_regex *re)
{
    return re->table != NULL;
}

bool qn_regex_step(const qn_regex *re, const qn_regex_threads *in, bool at_begin, uint32_t c, qn_regex_threads *out,
                   size_t *start)
{
    uint64_t seen[QN_REGEX_MAX_PROGRAM / 64];
    uint16_t stack[2 * QN_REGEX_MAX_PROGRAM + 1]; /* an instruction is followed once and leaves at most two */
    memset(seen, 0, (re->n_insts + 63) / 64 * sizeof(*seen));
    out->n = 0;
    for (uint32_t i = 0; i < in->n; i++) {
        uint32_t depth = 0;
        stack[depth++] = in->pc[i];
        while (depth > 0) {
            uint16_t pc = stack[--depth];
            if (seen[pc / 64] >> pc % 64 & 1) {
                continue;
            }
            seen[pc / 64] |= UINT64_C(1) << pc % 64;
            qn_regex_inst inst = re->insts[pc];
            switch ((qn_regex_op)inst.op) {
            case QN_OP_SET:
                if (re->members[inst.x][c / 64] >> c % 64 & 1) {
                    out->pc[out->n] = (uint16_t)(pc + 1);
                    out->start[out->n++] = in->start[i];
                }
                break;
            case QN_OP_AHEAD:
                if (re->members[inst.x][c / 64] >> c % 64 & 1) {
                    stack[depth++] = (uint16_t)(pc + 1);
                }
                break;
            case QN_OP_BEGIN:
                if (at_begin) {
                    stack[depth++] = (uint16_t)(pc + 1);
                }
                break;
            case QN_OP_SPLIT:
                stack[depth++] = inst.y;
                stack[depth++] = inst.x;
                break;
            case QN_OP_JUMP:
                stack[depth++] = inst.x;
                break;
            case QN_OP_MATCH:
                *start = in->start[i];
                return true;
            }
        }
    }
    return false;
}

bool qn_regex_simulate(const qn_regex *re, const char *text, size_t n, size_t from, bool anchored, size_t *start,
                       size_t *end)
{
    qn_regex_threads lists[2];
    qn_regex_threads *now = &lists[0], *next = &lists[1];
    bool matched = false;
    now->n = 0;
    for (size_t at = from;;) {
        if (!matched && (at == from || !anchored)) { /* the latest start is the worst thread */
            now->pc[now->n] = 0;
            now->start[now->n++] = at;
        }
        if (now->n == 0) {
            return matched;
        }
        uint32_t c = re->n_classes - 1;
        size_t len = at < n ? qn_regex_class_at(re, text + at, n - at, &c) : 0;
        if (qn_regex_step(re, now, at == 0, c, next, start)) {
            matched = true;
            *end = at;
        }
        if (at >= n) {
            return matched;
        }
        at += len;
        qn_regex_threads *t = now;
        now = next;
        next = t;
    }
}

/* The match at text[at] by the table; *read is where reading stopped. */
static inline __attribute__((always_inline)) bool run_table(const qn_regex *re, const char *text, size_t n, size_t at,
                                                            size_t *end, size_t *read)
{
    const uint32_t *table = re->table, *row = table + (at == 0 ? re->row_begin : re->row_middle);
    const char *s = text + at, *stop = text + n, *last = NULL; /* last: end of the longest match so far */
    while (s < stop) {
        uint32_t c = (uint8_t)*s, to;
        size_t len = 1;
        if (c < QN_REGEX_ASCII) {
            to = row[c];
        } else {
            uint32_t class;
            len = qn_regex_class_at(re, s, (size_t)(stop - s), &class);
            to = row[QN_REGEX_ASCII + class];
        }
        last = (to & 1) != 0 ? s : last;
        if (to <= 1) {
            break;
        }
        row = table + (to >> 1);
        s += len;
    }
    if (s >= stop && (row[QN_REGEX_ASCII + re->n_classes - 1] & 1) != 0) {
        last = stop;
    }
    *read = (size_t)(s - text);
    *end = (size_t)(last - text);
    return last != NULL;
}

bool qn_regex_match(const qn_regex *re, const char *text, size_t n, size_t at, size_t *end)
{
    size_t read, start;
    return re->table != NULL ? run_table(re, text, n, at, end, &read)
                             : qn_regex_simulate(re, text, n, at, true, &start, end);
}

/* Tries every place from `at` on that a match may begin at, by the table. What is read in vain is read again from the
 * next place on; when that adds up, all places are followed at once instead, which keeps the call linear. */
static __attribute__((noinline)) bool search(const qn_regex *re, const char *text, size_t n, size_t at, size_t *start,
                                             size_t *end)
{
    size_t in_vain = 0;
    for (size_t from = at;;) {
        size_t read;
        while (at > 0 && at < n && !re->starts[(uint8_t)text[at]]) {
            at++;
        }
        if (run_table(re, text, n, at, end, &read)) {
            *start = at;
            return true;
        }
        if (at >= n) {
            return false;
        }
        uint32_t c;
        in_vain += read - at;
        at += qn_regex_class_at(re, text + at, n - at, &c);
        if (in_vain > FREE_STEPS + 2 * (at - from)) {
            return qn_regex_simulate(re, text, n, at, false, start, end);
        }
    }
}

bool qn_regex_find(const qn_regex *re, const char *text, size_t n, size_t from, size_t *start, size_t *end)
{
    size_t read;
    if (re->table == NULL) {
        return qn_regex_simulate(re, text, n, from, false, start, end);
    }
    if ((from == 0 || from >= n || re->starts[(uint8_t)text[from]]) && run_table(re, text, n, from, end, &read)) {
        *start = from; /* the most frequent case, kept lean */
        return true;
    }
    return search(re, text, n, from, start, end);
}
