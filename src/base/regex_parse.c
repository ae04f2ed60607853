/* Patterns to trees: one function for each level of the grammar, alternatives > sequence > repeat > atom.
 * SPDX-License-Identifier: MIT */
#include "base/regex_int.h"

typedef struct parser {
    qn_regex_build *b;
    size_t i; /* next byte of the pattern */
    unsigned depth;
    bool fold, dot_all; /* (?i) and (?s), to the end of the group */
} parser;

static qn_status parse_alternatives(parser *p, uint32_t *node);

static qn_status fail(parser *p, qn_status code, size_t at, const char *what)
{
    return qn_fail(p->b->err, code, "pattern, byte %zu: %s", at, what);
}

static bool more(const parser *p) { return p->i < p->b->pattern.len; }
static char peek(const parser *p) { return more(p) ? p->b->pattern.data[p->i] : '\0'; }

static bool looking_at(const parser *p, const char *s)
{
    size_t n = strlen(s);
    return p->b->pattern.len - p->i >= n && memcmp(p->b->pattern.data + p->i, s, n) == 0;
}

static bool take(parser *p, const char *s)
{
    if (!looking_at(p, s)) {
        return false;
    }
    p->i += strlen(s);
    return true;
}

static qn_status new_node(parser *p, qn_regex_node_kind kind, uint32_t *node)
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
static qn_status set_node(parser *p, qn_regex_node_kind kind, uint32_t *node)
{
    uint32_t i_set;
    QN_TRY(qn_regex_intern(p->b, &i_set));
    QN_TRY(new_node(p, kind, node));
    p->b->nodes[*node].i_set = i_set;
    return QN_OK;
}

static qn_status next_char(parser *p, uint32_t *cp)
{
    size_t len = qn_unicode_decode(p->b->pattern.data + p->i, p->b->pattern.len - p->i, cp);
    if (*cp == UINT32_MAX) {
        return fail(p, QN_EFORMAT, p->i, "not UTF-8");
    }
    p->i += len;
    return QN_OK;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* n_digits hex digits, or with n_digits 0 any number of them and a closing brace. */
static qn_status parse_hex(parser *p, unsigned n_digits, uint32_t *cp)
{
    uint32_t v = 0;
    unsigned n = 0;
    while ((n_digits == 0 || n < n_digits) && more(p) && hex_digit(peek(p)) >= 0 && v < QN_UNICODE_END) {
        v = v * 16 + (uint32_t)hex_digit(peek(p));
        p->i++;
        n++;
    }
    if (n == 0 || (n_digits != 0 && n != n_digits) || (n_digits == 0 && !take(p, "}"))) {
        return fail(p, QN_EFORMAT, p->i, "malformed number of a character");
    }
    if (v >= QN_UNICODE_END) {
        return fail(p, QN_EFORMAT, p->i, "no such character");
    }
    *cp = v;
    return QN_OK;
}

/* After \p or \P. */
static qn_status parse_property(parser *p, bool inverted)
{
    size_t at = p->i;
    qn_str name = {p->b->pattern.data + p->i, 1};
    if (take(p, "{")) {
        inverted ^= take(p, "^");
        size_t start = p->i;
        while (more(p) && peek(p) != '}') {
            p->i++;
        }
        name = (qn_str){p->b->pattern.data + start, p->i - start};
        if (!take(p, "}")) {
            return fail(p, QN_EFORMAT, at, "a property without its closing brace");
        }
    } else if (more(p)) {
        p->i++;
    } else {
        return fail(p, QN_EFORMAT, at, "a property without a name");
    }
    uint32_t mask = qn_unicode_category_mask(name);
    if (mask == 0) {
        return qn_fail(p->b->err, QN_EUNSUPPORTED, "pattern, byte %zu: property %.*s", at, QN_STR_ARG(name));
    }
    return qn_regex_add_categories(p->b, inverted ? ~mask : mask);
}

#define CATEGORIES_DIGIT (1u << QN_CATEGORY_ND)
#define CATEGORIES_WORD                                                                            \
    (1u << QN_CATEGORY_LU | 1u << QN_CATEGORY_LL | 1u << QN_CATEGORY_LT | 1u << QN_CATEGORY_LM | 1u << QN_CATEGORY_LO |  \
     1u << QN_CATEGORY_MN | 1u << QN_CATEGORY_MC | 1u << QN_CATEGORY_ME | 1u << QN_CATEGORY_ND | 1u << QN_CATEGORY_PC)

/* After a backslash: one character in *cp, or a class added to the work set with *cp = UINT32_MAX. */
static qn_status parse_escape(parser *p, uint32_t *cp)
{
    size_t at = p->i;
    if (!more(p)) {
        return fail(p, QN_EFORMAT, at, "nothing after the backslash");
    }
    char c = p->b->pattern.data[p->i];
    *cp = UINT32_MAX;
    if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z')) {
        return next_char(p, cp);
    }
    p->i++;
    switch (c) {
    case 'r': *cp = '\r'; return QN_OK;
    case 'n': *cp = '\n'; return QN_OK;
    case 't': *cp = '\t'; return QN_OK;
    case 'f': *cp = '\f'; return QN_OK;
    case 'v': *cp = '\v'; return QN_OK;
    case 'x': return take(p, "{") ? parse_hex(p, 0, cp) : parse_hex(p, 2, cp);
    case 'u': return take(p, "{") ? parse_hex(p, 0, cp) : parse_hex(p, 4, cp);
    case 'p': return parse_property(p, false);
    case 'P': return parse_property(p, true);
    case 'd': return qn_regex_add_categories(p->b, CATEGORIES_DIGIT);
    case 'D': return qn_regex_add_categories(p->b, ~CATEGORIES_DIGIT);
    case 'w': return qn_regex_add_categories(p->b, CATEGORIES_WORD);
    case 'W': return qn_regex_add_categories(p->b, ~CATEGORIES_WORD);
    case 's': return qn_regex_add_spaces(p->b, false);
    case 'S': return qn_regex_add_spaces(p->b, true);
    default: return qn_fail(p->b->err, QN_EUNSUPPORTED, "pattern, byte %zu: \\%c", at - 1, c);
    }
}

/* One member of a class: a character in *cp, or a class within (UINT32_MAX). */
static qn_status parse_member(parser *p, uint32_t *cp)
{
    if (looking_at(p, "[:") || looking_at(p, "&&")) {
        return fail(p, QN_EUNSUPPORTED, p->i, "named class or intersection");
    }
    return take(p, "\\") ? parse_escape(p, cp) : next_char(p, cp);
}

/* After the opening bracket. */
static qn_status parse_class(parser *p, uint32_t *node)
{
    size_t at = p->i - 1;
    bool inverted = take(p, "^");
    if (looking_at(p, "]")) {
        return fail(p, QN_EFORMAT, at, "an empty class");
    }
    while (!take(p, "]")) {
        if (!more(p)) {
            return fail(p, QN_EFORMAT, at, "a class without its closing bracket");
        }
        uint32_t first, last;
        size_t at_member = p->i;
        QN_TRY(parse_member(p, &first));
        last = first;
        if (first != UINT32_MAX && looking_at(p, "-") && !looking_at(p, "-]")) {
            p->i++;
            if (!more(p)) {
                return fail(p, QN_EFORMAT, at, "a class without its closing bracket");
            }
            QN_TRY(parse_member(p, &last));
            if (last == UINT32_MAX || last < first) {
                return fail(p, QN_EFORMAT, at_member, "a range that runs backwards");
            }
        }
        if (first != UINT32_MAX) {
            QN_TRY(qn_regex_add(p->b, first, last));
        }
    }
    if (p->fold) {
        QN_TRY(qn_regex_fold_case(p->b));
    }
    if (inverted) {
        QN_TRY(qn_regex_invert(p->b, QN_UNICODE_END - 1));
    }
    return set_node(p, QN_NODE_SET, node);
}

static qn_status parse_char(parser *p, uint32_t cp, uint32_t *node)
{
    if (cp != UINT32_MAX) { /* otherwise a class is in the work set already */
        QN_TRY(qn_regex_add(p->b, cp, cp));
    }
    if (p->fold) {
        QN_TRY(qn_regex_fold_case(p->b));
    }
    return set_node(p, QN_NODE_SET, node);
}

/* (?=x) and (?!x), after the opening: x must be one set. */
static qn_status parse_ahead(parser *p, bool negative, uint32_t *node)
{
    size_t at = p->i;
    uint32_t inner;
    QN_TRY(parse_alternatives(p, &inner));
    qn_regex_node *x = &p->b->nodes[inner];
    while ((x->kind == QN_NODE_CAT || x->kind == QN_NODE_ALT) && p->b->nodes[x->child].next == QN_NO_NODE) {
        x = &p->b->nodes[x->child];
    }
    if (x->kind != QN_NODE_SET && x->kind != QN_NODE_AHEAD) {
        return fail(p, QN_EUNSUPPORTED, at, "look-ahead at more than one character");
    }
    QN_TRY(qn_regex_add_set(p->b, x->i_set));
    if (negative) {
        QN_TRY(qn_regex_invert(p->b, QN_REGEX_EOT));
    }
    return set_node(p, QN_NODE_AHEAD, node);
}

/* (?i) and (?i:..): letters of flags up to : or ). *scoped: a group follows. */
static qn_status parse_flags(parser *p, bool *scoped)
{
    size_t at = p->i;
    bool on = true;
    for (;;) {
        if (take(p, "-")) {
            on = false;
        } else if (take(p, "i")) {
            p->fold = on;
        } else if (take(p, "s")) {
            p->dot_all = on;
        } else if (take(p, ":")) {
            *scoped = true;
            return QN_OK;
        } else if (take(p, ")")) {
            *scoped = false;
            return QN_OK;
        } else {
            return fail(p, QN_EUNSUPPORTED, at, "this kind of group");
        }
    }
}

/* After the opening parenthesis. */
static qn_status parse_group(parser *p, uint32_t *node)
{
    size_t at = p->i - 1;
    if (++p->depth > QN_REGEX_MAX_DEPTH) {
        return fail(p, QN_EUNSUPPORTED, at, "groups nested too deep");
    }
    bool fold = p->fold, dot_all = p->dot_all, scoped = true;
    if (take(p, "?=")) {
        QN_TRY(parse_ahead(p, false, node));
    } else if (take(p, "?!")) {
        QN_TRY(parse_ahead(p, true, node));
    } else {
        if (take(p, "?")) {
            QN_TRY(parse_flags(p, &scoped));
        }
        if (!scoped) { /* flags to the end of the group that holds this one */
            p->depth--;
            return new_node(p, QN_NODE_EMPTY, node);
        }
        QN_TRY(parse_alternatives(p, node));
    }
    if (!take(p, ")")) {
        return fail(p, QN_EFORMAT, at, "a group without its closing parenthesis");
    }
    p->fold = fold;
    p->dot_all = dot_all;
    p->depth--;
    return QN_OK;
}

static qn_status parse_atom(parser *p, uint32_t *node)
{
    size_t at = p->i;
    uint32_t cp;
    if (take(p, "(")) {
        return parse_group(p, node);
    }
    if (take(p, "[")) {
        return parse_class(p, node);
    }
    if (take(p, ".")) {
        if (!p->dot_all) {
            QN_TRY(qn_regex_add(p->b, '\n', '\n'));
        }
        QN_TRY(qn_regex_invert(p->b, QN_UNICODE_END - 1));
        return set_node(p, QN_NODE_SET, node);
    }
    if (take(p, "^") || take(p, "\\A")) {
        return new_node(p, QN_NODE_BEGIN, node);
    }
    if (take(p, "$") || take(p, "\\z")) {
        QN_TRY(qn_regex_add(p->b, QN_REGEX_EOT, QN_REGEX_EOT));
        return set_node(p, QN_NODE_AHEAD, node);
    }
    if (take(p, "\\")) {
        QN_TRY(parse_escape(p, &cp));
        return parse_char(p, cp, node);
    }
    if (looking_at(p, "*") || looking_at(p, "+") || looking_at(p, "?")) {
        return fail(p, QN_EFORMAT, at, "nothing to repeat");
    }
    QN_TRY(next_char(p, &cp));
    return parse_char(p, cp, node);
}

static bool parse_count(parser *p, uint32_t *v)
{
    size_t start = p->i;
    for (*v = 0; more(p) && peek(p) >= '0' && peek(p) <= '9'; p->i++) {
        if (*v <= QN_REGEX_MAX_REPEAT) {
            *v = *v * 10 + (uint32_t)(peek(p) - '0');
        }
    }
    return p->i > start;
}

/* *, +, ? or a brace with counts. False: none is here; a brace that is no repeat is an ordinary character. */
static bool parse_repeat(parser *p, uint32_t *min, uint32_t *max)
{
    size_t start = p->i;
    *min = 0;
    *max = QN_REGEX_NO_MAX;
    if (take(p, "*")) {
        return true;
    }
    if (take(p, "+")) {
        *min = 1;
        return true;
    }
    if (take(p, "?")) {
        *max = 1;
        return true;
    }
    if (take(p, "{") && parse_count(p, min)) {
        *max = *min;
        if (take(p, ",") && !parse_count(p, max)) {
            *max = QN_REGEX_NO_MAX;
        }
        if (take(p, "}")) {
            return true;
        }
    }
    p->i = start;
    return false;
}

static qn_status parse_repeated(parser *p, uint32_t *node)
{
    size_t at = p->i;
    uint32_t min, max, outer;
    if (parse_repeat(p, &min, &max)) {
        return fail(p, QN_EFORMAT, at, "nothing to repeat");
    }
    QN_TRY(parse_atom(p, node));
    at = p->i;
    if (!parse_repeat(p, &min, &max)) {
        return QN_OK;
    }
    qn_regex_node_kind kind = p->b->nodes[*node].kind;
    if (kind == QN_NODE_BEGIN || kind == QN_NODE_AHEAD) {
        return fail(p, QN_EFORMAT, at, "nothing to repeat");
    }
    if (min > QN_REGEX_MAX_REPEAT || (max != QN_REGEX_NO_MAX && max > QN_REGEX_MAX_REPEAT)) {
        return qn_fail(p->b->err, QN_EUNSUPPORTED, "pattern, byte %zu: a count above %d", at, QN_REGEX_MAX_REPEAT);
    }
    if (max < min) {
        return fail(p, QN_EFORMAT, at, "counts that run backwards");
    }
    QN_TRY(new_node(p, QN_NODE_REPEAT, &outer));
    qn_regex_node *r = &p->b->nodes[outer];
    r->child = *node;
    r->min = min;
    r->max = max;
    r->greedy = !take(p, "?");
    *node = outer;
    if (r->greedy && looking_at(p, "+")) {
        return fail(p, QN_EUNSUPPORTED, p->i, "possessive repeat");
    }
    if (looking_at(p, "*") || looking_at(p, "+") || looking_at(p, "?")) {
        return fail(p, QN_EFORMAT, p->i, "nothing to repeat");
    }
    return QN_OK;
}

/* Adds one more child behind *last. */
static void append(parser *p, uint32_t parent, uint32_t *last, uint32_t child)
{
    if (*last == QN_NO_NODE) {
        p->b->nodes[parent].child = child;
    } else {
        p->b->nodes[*last].next = child;
    }
    *last = child;
}

static qn_status parse_sequence(parser *p, uint32_t *node)
{
    uint32_t last = QN_NO_NODE, child;
    QN_TRY(new_node(p, QN_NODE_CAT, node));
    while (more(p) && !looking_at(p, "|") && !looking_at(p, ")")) {
        QN_TRY(parse_repeated(p, &child));
        append(p, *node, &last, child);
    }
    if (last == QN_NO_NODE) {
        p->b->nodes[*node].kind = QN_NODE_EMPTY;
    }
    return QN_OK;
}

static qn_status parse_alternatives(parser *p, uint32_t *node)
{
    uint32_t last = QN_NO_NODE, child;
    QN_TRY(new_node(p, QN_NODE_ALT, node));
    do {
        QN_TRY(parse_sequence(p, &child));
        append(p, *node, &last, child);
    } while (take(p, "|"));
    return QN_OK;
}

qn_status qn_regex_parse(qn_regex_build *b, uint32_t *root)
{
    parser p = {.b = b};
    QN_TRY(parse_alternatives(&p, root));
    return more(&p) ? fail(&p, QN_EFORMAT, p.i, "a closing parenthesis without its group") : QN_OK;
}
