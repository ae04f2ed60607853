/* Patterns to trees: one function for each level of the grammar, alternatives > sequence > repeat > atom.
 * SPDX-License-Identifier: MIT */
#include "base/regex_parse.h"

static qn_status parse_alternatives(qn_regex_parser *p, uint32_t *node);

qn_status qn_parse_fail(qn_regex_parser *p, qn_status code, size_t at, const char *what)
{
    return qn_fail(p->b->err, code, "pattern, byte %zu: %s", at, what);
}

qn_status qn_parse_new_node(qn_regex_parser *p, qn_regex_node_kind kind, uint32_t *node)
{
    qn_regex_build *b = p->b;
    if (!qn_regex_grow(b->budget, (void **)&b->nodes, &b->cap_nodes, b->n_nodes, sizeof(*b->nodes))) {
        return qn_fail(b->err, QN_ENOMEM, "pattern: no memory");
    }
    b->nodes[b->n_nodes] = (qn_regex_node){.kind = kind, .child = QN_NO_NODE, .next = QN_NO_NODE};
    *node = (uint32_t)b->n_nodes++;
    return QN_OK;
}

/* A node for the work set. */
qn_status qn_parse_set_node(qn_regex_parser *p, qn_regex_node_kind kind, uint32_t *node)
{
    uint32_t i_set;
    QN_TRY(qn_regex_intern(p->b, &i_set));
    QN_TRY(qn_parse_new_node(p, kind, node));
    p->b->nodes[*node].i_set = i_set;
    return QN_OK;
}

/* (?=x) and (?!x), after the opening: x must be one set. */
static qn_status parse_ahead(qn_regex_parser *p, bool negative, uint32_t *node)
{
    size_t at = p->i;
    uint32_t inner;
    QN_TRY(parse_alternatives(p, &inner));
    qn_regex_node *x = &p->b->nodes[inner];
    while ((x->kind == QN_NODE_CAT || x->kind == QN_NODE_ALT) && p->b->nodes[x->child].next == QN_NO_NODE) {
        x = &p->b->nodes[x->child];
    }
    if (x->kind != QN_NODE_SET && x->kind != QN_NODE_AHEAD) {
        return qn_parse_fail(p, QN_EUNSUPPORTED, at, "look-ahead at more than one character");
    }
    QN_TRY(qn_regex_add_set(p->b, x->i_set));
    if (negative) {
        QN_TRY(qn_regex_invert(p->b, QN_REGEX_EOT));
    }
    return qn_parse_set_node(p, QN_NODE_AHEAD, node);
}

/* (?i) and (?i:..): letters of flags up to : or ). *scoped: a group follows. */
static qn_status parse_flags(qn_regex_parser *p, bool *scoped)
{
    size_t at = p->i;
    bool on = true;
    for (;;) {
        if (qn_parse_take(p, "-")) {
            on = false;
        } else if (qn_parse_take(p, "i")) {
            p->fold = on;
        } else if (qn_parse_take(p, "s")) {
            p->dot_all = on;
        } else if (qn_parse_take(p, ":")) {
            *scoped = true;
            return QN_OK;
        } else if (qn_parse_take(p, ")")) {
            *scoped = false;
            return QN_OK;
        } else {
            return qn_parse_fail(p, QN_EUNSUPPORTED, at, "this kind of group");
        }
    }
}

/* After the opening parenthesis. */
static qn_status parse_group(qn_regex_parser *p, uint32_t *node)
{
    size_t at = p->i - 1;
    if (++p->depth > QN_REGEX_MAX_DEPTH) {
        return qn_parse_fail(p, QN_EUNSUPPORTED, at, "groups nested too deep");
    }
    bool fold = p->fold, dot_all = p->dot_all, scoped = true;
    if (qn_parse_take(p, "?=")) {
        QN_TRY(parse_ahead(p, false, node));
    } else if (qn_parse_take(p, "?!")) {
        QN_TRY(parse_ahead(p, true, node));
    } else {
        if (qn_parse_take(p, "?")) {
            QN_TRY(parse_flags(p, &scoped));
        }
        if (!scoped) { /* flags to the end of the group that holds this one */
            p->depth--;
            return qn_parse_new_node(p, QN_NODE_EMPTY, node);
        }
        QN_TRY(parse_alternatives(p, node));
    }
    if (!qn_parse_take(p, ")")) {
        return qn_parse_fail(p, QN_EFORMAT, at, "a group without its closing parenthesis");
    }
    p->fold = fold;
    p->dot_all = dot_all;
    p->depth--;
    return QN_OK;
}

static qn_status parse_atom(qn_regex_parser *p, uint32_t *node)
{
    size_t at = p->i;
    uint32_t cp;
    if (qn_parse_take(p, "(")) {
        return parse_group(p, node);
    }
    if (qn_parse_take(p, "[")) {
        return qn_parse_class(p, node);
    }
    if (qn_parse_take(p, ".")) {
        if (!p->dot_all) {
            QN_TRY(qn_regex_add(p->b, '\n', '\n'));
        }
        QN_TRY(qn_regex_invert(p->b, QN_UNICODE_END - 1));
        return qn_parse_set_node(p, QN_NODE_SET, node);
    }
    if (qn_parse_take(p, "^") || qn_parse_take(p, "\\A")) {
        return qn_parse_new_node(p, QN_NODE_BEGIN, node);
    }
    if (qn_parse_take(p, "$") || qn_parse_take(p, "\\z")) {
        QN_TRY(qn_regex_add(p->b, QN_REGEX_EOT, QN_REGEX_EOT));
        return qn_parse_set_node(p, QN_NODE_AHEAD, node);
    }
    if (qn_parse_take(p, "\\")) {
        QN_TRY(qn_parse_escape(p, &cp));
        return qn_parse_char(p, cp, node);
    }
    if (qn_parse_looking_at(p, "*") || qn_parse_looking_at(p, "+") || qn_parse_looking_at(p, "?")) {
        return qn_parse_fail(p, QN_EFORMAT, at, "nothing to repeat");
    }
    QN_TRY(qn_parse_next_char(p, &cp));
    return qn_parse_char(p, cp, node);
}

static bool parse_count(qn_regex_parser *p, uint32_t *v)
{
    size_t start = p->i;
    for (*v = 0; qn_parse_more(p) && qn_parse_peek(p) >= '0' && qn_parse_peek(p) <= '9'; p->i++) {
        if (*v <= QN_REGEX_MAX_REPEAT) {
            *v = *v * 10 + (uint32_t)(qn_parse_peek(p) - '0');
        }
    }
    return p->i > start;
}

/* *, +, ? or a brace with counts. False: none is here; a brace that is no repeat is an ordinary character. */
static bool parse_repeat(qn_regex_parser *p, uint32_t *min, uint32_t *max)
{
    size_t start = p->i;
    *min = 0;
    *max = QN_REGEX_NO_MAX;
    if (qn_parse_take(p, "*")) {
        return true;
    }
    if (qn_parse_take(p, "+")) {
        *min = 1;
        return true;
    }
    if (qn_parse_take(p, "?")) {
        *max = 1;
        return true;
    }
    if (qn_parse_take(p, "{") && parse_count(p, min)) {
        *max = *min;
        if (qn_parse_take(p, ",") && !parse_count(p, max)) {
            *max = QN_REGEX_NO_MAX;
        }
        if (qn_parse_take(p, "}")) {
            return true;
        }
    }
    p->i = start;
    return false;
}

static qn_status parse_repeated(qn_regex_parser *p, uint32_t *node)
{
    size_t at = p->i;
    uint32_t min, max, outer;
    if (parse_repeat(p, &min, &max)) {
        return qn_parse_fail(p, QN_EFORMAT, at, "nothing to repeat");
    }
    QN_TRY(parse_atom(p, node));
    at = p->i;
    if (!parse_repeat(p, &min, &max)) {
        return QN_OK;
    }
    qn_regex_node_kind kind = p->b->nodes[*node].kind;
    if (kind == QN_NODE_BEGIN || kind == QN_NODE_AHEAD) {
        return qn_parse_fail(p, QN_EFORMAT, at, "nothing to repeat");
    }
    if (min > QN_REGEX_MAX_REPEAT || (max != QN_REGEX_NO_MAX && max > QN_REGEX_MAX_REPEAT)) {
        return qn_fail(p->b->err, QN_EUNSUPPORTED, "pattern, byte %zu: a count above %d", at, QN_REGEX_MAX_REPEAT);
    }
    if (max < min) {
        return qn_parse_fail(p, QN_EFORMAT, at, "counts that run backwards");
    }
    QN_TRY(qn_parse_new_node(p, QN_NODE_REPEAT, &outer));
    qn_regex_node *r = &p->b->nodes[outer];
    r->child = *node;
    r->min = min;
    r->max = max;
    r->greedy = !qn_parse_take(p, "?");
    *node = outer;
    if (r->greedy && qn_parse_looking_at(p, "+")) {
        return qn_parse_fail(p, QN_EUNSUPPORTED, p->i, "possessive repeat");
    }
    if (qn_parse_looking_at(p, "*") || qn_parse_looking_at(p, "+") || qn_parse_looking_at(p, "?")) {
        return qn_parse_fail(p, QN_EFORMAT, p->i, "nothing to repeat");
    }
    return QN_OK;
}

/* Adds one more child behind *last. */
static void append(qn_regex_parser *p, uint32_t parent, uint32_t *last, uint32_t child)
{
    if (*last == QN_NO_NODE) {
        p->b->nodes[parent].child = child;
    } else {
        p->b->nodes[*last].next = child;
    }
    *last = child;
}

static qn_status parse_sequence(qn_regex_parser *p, uint32_t *node)
{
    uint32_t last = QN_NO_NODE, child;
    QN_TRY(qn_parse_new_node(p, QN_NODE_CAT, node));
    while (qn_parse_more(p) && !qn_parse_looking_at(p, "|") && !qn_parse_looking_at(p, ")")) {
        QN_TRY(parse_repeated(p, &child));
        append(p, *node, &last, child);
    }
    if (last == QN_NO_NODE) {
        p->b->nodes[*node].kind = QN_NODE_EMPTY;
    }
    return QN_OK;
}

static qn_status parse_alternatives(qn_regex_parser *p, uint32_t *node)
{
    uint32_t last = QN_NO_NODE, child;
    QN_TRY(qn_parse_new_node(p, QN_NODE_ALT, node));
    do {
        QN_TRY(parse_sequence(p, &child));
        append(p, *node, &last, child);
    } while (qn_parse_take(p, "|"));
    return QN_OK;
}

qn_status qn_regex_parse(qn_regex_build *b, uint32_t *root)
{
    qn_regex_parser p = {.b = b};
    QN_TRY(parse_alternatives(&p, root));
    return qn_parse_more(&p) ? qn_parse_fail(&p, QN_EFORMAT, p.i, "a closing parenthesis without its group") : QN_OK;
}
