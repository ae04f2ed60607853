/* Trees to instructions. Repeats are unrolled, so that the size of the program is the cost of the pattern.
 * SPDX-License-Identifier: MIT */
#include "base/regex_int.h"

static qn_status emit(qn_regex_build *b, qn_regex_op op, uint32_t x, uint32_t y, uint32_t *at)
{
    if (b->n_insts >= QN_REGEX_MAX_PROGRAM) {
        return qn_fail(b->err, QN_EUNSUPPORTED, "pattern: more than %d steps", QN_REGEX_MAX_PROGRAM);
    }
    if (!qn_regex_grow(b->budget, (void **)&b->insts, &b->cap_insts, b->n_insts, sizeof(*b->insts))) {
        return qn_fail(b->err, QN_ENOMEM, "pattern: no memory");
    }
    b->insts[b->n_insts] = (qn_regex_inst){(uint16_t)op, (uint16_t)x, (uint16_t)y};
    *at = (uint32_t)b->n_insts++;
    return QN_OK;
}

static qn_status emit_node(qn_regex_build *b, uint32_t node);

/* A split whose better way is the instruction behind it (greedy) or the other one (lazy), known later. */
static qn_status emit_choice(qn_regex_build *b, uint32_t *at) { return emit(b, QN_OP_SPLIT, 0, 0, at); }

static void set_choice(qn_regex_build *b, uint32_t at, bool greedy, uint32_t body, uint32_t out)
{
    b->insts[at].x = (uint16_t)(greedy ? body : out);
    b->insts[at].y = (uint16_t)(greedy ? out : body);
}

static qn_status emit_repeat(qn_regex_build *b, const qn_regex_node *r)
{
    uint32_t split, jump, last = 0;
    for (uint32_t i = 0; i < r->min; i++) {
        last = (uint32_t)b->n_insts;
        QN_TRY(emit_node(b, r->child));
    }
    if (r->max == QN_REGEX_NO_MAX) {
        if (r->min > 0) { /* from the end of the last copy back to its start */
            QN_TRY(emit_choice(b, &split));
            set_choice(b, split, r->greedy, last, split + 1);
            return QN_OK;
        }
        QN_TRY(emit_choice(b, &split));
        QN_TRY(emit_node(b, r->child));
        QN_TRY(emit(b, QN_OP_JUMP, split, 0, &jump));
        set_choice(b, split, r->greedy, split + 1, jump + 1);
        return QN_OK;
    }
    /* Each further copy can be left out with all that follow it: the splits are chained through y until the end. */
    uint32_t chain = QN_NO_NODE, n_more = r->max - r->min;
    for (uint32_t i = 0; i < n_more; i++) {
        QN_TRY(emit_choice(b, &split));
        b->insts[split].y = (uint16_t)chain;
        chain = split;
        QN_TRY(emit_node(b, r->child));
    }
    uint32_t end = (uint32_t)b->n_insts;
    for (uint32_t i = 0; i < n_more; i++) {
        uint32_t before = b->insts[chain].y;
        set_choice(b, chain, r->greedy, chain + 1, end);
        chain = before;
    }
    return QN_OK;
}

static qn_status emit_alternatives(qn_regex_build *b, uint32_t child)
{
    uint32_t split, jump, chain = QN_NO_NODE, n_jumps = 0;
    for (; b->nodes[child].next != QN_NO_NODE; child = b->nodes[child].next) {
        QN_TRY(emit_choice(b, &split));
        QN_TRY(emit_node(b, child));
        QN_TRY(emit(b, QN_OP_JUMP, chain, 0, &jump)); /* jumps are chained until the end is known */
        chain = jump;
        n_jumps++;
        set_choice(b, split, true, split + 1, jump + 1);
    }
    QN_TRY(emit_node(b, child));
    for (uint32_t i = 0; i < n_jumps; i++) {
        uint32_t before = b->insts[chain].x;
        b->insts[chain].x = (uint16_t)b->n_insts;
        chain = before;
    }
    return QN_OK;
}

/* Recursion is as deep as the groups of the pattern: QN_REGEX_MAX_DEPTH. */
static qn_status emit_node(qn_regex_build *b, uint32_t node)
{
    const qn_regex_node n = b->nodes[node];
    uint32_t at;
    switch (n.kind) {
    case QN_NODE_EMPTY:
        return QN_OK;
    case QN_NODE_SET:
        return emit(b, QN_OP_SET, n.i_set, 0, &at);
    case QN_NODE_AHEAD:
        return emit(b, QN_OP_AHEAD, n.i_set, 0, &at);
    case QN_NODE_BEGIN:
        return emit(b, QN_OP_BEGIN, 0, 0, &at);
    case QN_NODE_CAT:
        for (uint32_t child = n.child; child != QN_NO_NODE; child = b->nodes[child].next) {
            QN_TRY(emit_node(b, child));
        }
        return QN_OK;
    case QN_NODE_ALT:
        return emit_alternatives(b, n.child);
    case QN_NODE_REPEAT:
        return emit_repeat(b, &n);
    }
    return QN_EINTERNAL;
}

qn_status qn_regex_emit_program(qn_regex_build *b, uint32_t root)
{
    uint32_t at;
    QN_TRY(emit_node(b, root));
    return emit(b, QN_OP_MATCH, 0, 0, &at);
}
