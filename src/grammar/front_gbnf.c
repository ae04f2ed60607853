/* GBNF: rules of alternatives of literals, classes, rules, groups and repeats, as llama.cpp writes them.
 *
 * A rule ends with its line, except inside parentheses, after `|` and `::=`, and when the next line begins with `|`.
 * `<name>` is a special token by its spelling. Rules may be used before they are defined.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_gbnf.h"

#define MAX_SOURCE QN_GBNF_MAX_SOURCE
#define MAX_DEPTH 100 /* groups in groups; each is at most three levels of expressions */
#define MAX_COUNT 100000u
#define MAX_RULES 8192 /* names are looked for one by one; the largest grammars known have some hundreds */

static qn_status alternatives(qn_gbnf *g, bool is_nested, qn_gbnf_item *out);

qn_status qn_gbnf_fail_at(qn_gbnf *g, qn_status code, size_t at, const char *what, qn_str name)
{
    size_t line = 1, start = 0;
    for (size_t i = 0; i < at && i < g->source.len; i++) {
        if (g->source.data[i] == '\n') {
            line++;
            start = i + 1;
        }
    }
    return qn_fail(g->err, code, "grammar, line %zu, column %zu: %s%s%.*s", line, at - start + 1, what,
                   name.len != 0 ? " " : "", QN_STR_ARG(name));
}

qn_status qn_gbnf_fail(qn_gbnf *g, size_t at, const char *what)
{
    return qn_gbnf_fail_at(g, QN_EFORMAT, at, what, QN_STR(""));
}

char qn_gbnf_peek(const qn_gbnf *g)
{
    return g->i < g->source.len ? g->source.data[g->i] : '\0';
}

bool qn_gbnf_take(qn_gbnf *g, const char *s)
{
    size_t n = strlen(s);
    if (g->source.len - g->i < n || memcmp(g->source.data + g->i, s, n) != 0) {
        return false;
    }
    g->i += n;
    return true;
}

/* Blanks and comments, and ends of lines where they mean nothing. */
static void skip_space(qn_gbnf *g, bool lines_too)
{
    for (; g->i < g->source.len; g->i++) {
        char c = qn_gbnf_peek(g);
        if (c == '#') {
            while (g->i + 1 < g->source.len && g->source.data[g->i + 1] != '\n' && g->source.data[g->i + 1] != '\r') {
                g->i++;
            }
        } else if (c != ' ' && c != '\t' && !(lines_too && (c == '\n' || c == '\r'))) {
            return;
        }
    }
}

/* At the end of a line: on to the next one when it goes on with `|`. */
static void skip_to_bar(qn_gbnf *g)
{
    size_t start = g->i;
    skip_space(g, true);
    if (qn_gbnf_peek(g) != '|') {
        g->i = start;
    }
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

static qn_str take_name(qn_gbnf *g)
{
    size_t start = g->i;
    while (g->i < g->source.len && is_name(qn_gbnf_peek(g))) {
        g->i++;
    }
    return (qn_str){g->source.data + start, g->i - start};
}

static qn_status push(qn_gbnf *g, qn_gx x)
{
    if (g->n_parts == g->cap_parts) {
        uint32_t cap = g->cap_parts == 0 ? 64 : g->cap_parts * 2;
        qn_gx *moved = qn_realloc(g->b->budget, "grammar", g->parts, cap * sizeof(*moved));
        if (moved == NULL) {
            return qn_fail(g->err, qn_alloc_failure(g->b->budget, cap * sizeof(*moved)), "no memory for a grammar");
        }
        g->parts = moved;
        g->cap_parts = cap;
    }
    g->parts[g->n_parts++] = x;
    return QN_OK;
}

/* The rule of that name, which is made when it is new. */
static qn_status rule_named(qn_gbnf *g, qn_str name, size_t at, uint32_t *rule)
{
    for (uint32_t i = 0; i < g->b->n_rules; i++) {
        if (qn_str_eq(g->b->rules[i].name, name)) {
            *rule = i;
            return QN_OK;
        }
    }
    if (g->b->n_rules >= MAX_RULES) {
        return qn_gbnf_fail_at(g, QN_EFULL, at, "more than 8192 rules", QN_STR(""));
    }
    if (g->n_uses == g->cap_uses) {
        uint32_t cap = g->cap_uses == 0 ? 64 : g->cap_uses * 2;
        size_t *moved = qn_realloc(g->b->budget, "grammar", g->first_use, cap * sizeof(*moved));
        if (moved == NULL) {
            return qn_fail(g->err, qn_alloc_failure(g->b->budget, cap * sizeof(*moved)), "no memory for a grammar");
        }
        g->first_use = moved;
        g->cap_uses = cap;
    }
    g->first_use[g->n_uses++] = at;
    *rule = qn_gx_rule_new(g->b, name);
    return qn_front_status(g->b, g->err);
}

/* ---- atoms, repeats, sequences ---- */

static qn_status atom(qn_gbnf *g, bool is_nested, qn_gbnf_item *out)
{
    size_t at = g->i;
    if (qn_gbnf_take(g, "\"")) {
        return qn_gbnf_literal(g, out);
    }
    if (qn_gbnf_take(g, "[")) {
        return qn_gbnf_class(g, out);
    }
    if (qn_gbnf_take(g, ".")) {
        *out = (qn_gbnf_item){qn_front_any(g->b, false), 1};
        return QN_OK;
    }
    if (qn_gbnf_take(g, "(")) {
        if (++g->depth > MAX_DEPTH) {
            return qn_gbnf_fail_at(g, QN_EFULL, at, "groups nested too deep", QN_STR(""));
        }
        skip_space(g, true);
        QN_TRY(alternatives(g, true, out));
        g->depth--;
        return qn_gbnf_take(g, ")") ? QN_OK : qn_gbnf_fail(g, at, "a group without its closing parenthesis");
    }
    if (qn_gbnf_take(g, "<")) {
        while (g->i < g->source.len && qn_gbnf_peek(g) != '>' && qn_gbnf_peek(g) != '\n') {
            g->i++;
        }
        if (!qn_gbnf_take(g, ">") || g->i - at < 3) {
            return qn_gbnf_fail(g, at, "a token without its closing '>'");
        }
        *out = (qn_gbnf_item){qn_gx_special(g->b, (qn_str){g->source.data + at, g->i - at}), 1};
        return QN_OK;
    }
    qn_str name = take_name(g);
    if (name.len == 0) {
        return qn_gbnf_fail(g, at, is_nested ? "what is here belongs to no group" : "what is here belongs to no rule");
    }
    uint32_t rule;
    QN_TRY(rule_named(g, name, at, &rule));
    *out = (qn_gbnf_item){qn_gx_rule_ref(g->b, rule), 1};
    return QN_OK;
}

static bool count(qn_gbnf *g, uint32_t *v)
{
    size_t start = g->i;
    for (*v = 0; qn_gbnf_peek(g) >= '0' && qn_gbnf_peek(g) <= '9'; g->i++) {
        *v = *v <= MAX_COUNT ? *v * 10 + (uint32_t)(qn_gbnf_peek(g) - '0') : *v;
    }
    return g->i > start;
}

static qn_status repeat_counts(qn_gbnf *g, size_t at, uint32_t *min, uint32_t *max)
{
    skip_space(g, false);
    bool has_min = count(g, min);
    skip_space(g, false);
    *max = *min;
    if (qn_gbnf_take(g, ",")) {
        skip_space(g, false);
        if (!count(g, max)) {
            *max = QN_GX_NO_MAX;
        }
        skip_space(g, false);
    } else if (!has_min) {
        return qn_gbnf_fail(g, at, "a repeat without a count");
    }
    if (!qn_gbnf_take(g, "}")) {
        return qn_gbnf_fail(g, at, "a repeat without its closing brace");
    }
    if (*min > MAX_COUNT || (*max != QN_GX_NO_MAX && *max > MAX_COUNT)) {
        return qn_gbnf_fail_at(g, QN_EFULL, at, "a count above 100000", QN_STR(""));
    }
    return *max < *min ? qn_gbnf_fail(g, at, "counts that run backwards") : QN_OK;
}

static qn_status repeats(qn_gbnf *g, bool is_nested, qn_gbnf_item *x)
{
    unsigned n = 0;
    for (;;) {
        uint32_t min = 0, max = QN_GX_NO_MAX;
        skip_space(g, is_nested);
        size_t at = g->i;
        if (qn_gbnf_take(g, "{")) {
            QN_TRY(repeat_counts(g, at, &min, &max));
        } else if (qn_gbnf_take(g, "+")) {
            min = 1;
        } else if (qn_gbnf_take(g, "?")) {
            max = 1;
        } else if (!qn_gbnf_take(g, "*")) {
            return QN_OK;
        }
        if (++n > 16) {
            return qn_gbnf_fail_at(g, QN_EFULL, at, "too many repeats of one thing", QN_STR(""));
        }
        uint64_t times = max != QN_GX_NO_MAX ? max : min;
        x->x = qn_gx_repeat(g->b, x->x, min, max);
        x->weight = (x->weight == 0 ? 1 : x->weight) * (times == 0 ? 1 : times);
        if (x->weight > QN_FRONT_MAX_WEIGHT && times > 1) {
            return qn_gbnf_fail_at(g, QN_EFULL, at, "counts that multiply to too much", QN_STR(""));
        }
    }
}

static bool ends_sequence(const qn_gbnf *g)
{
    char c = qn_gbnf_peek(g);
    return g->i >= g->source.len || c == '|' || c == ')' || c == '\n' || c == '\r';
}

static qn_status sequence(qn_gbnf *g, bool is_nested, qn_gbnf_item *out)
{
    uint32_t first = g->n_parts;
    uint64_t weight = 0;
    for (skip_space(g, is_nested); !ends_sequence(g); skip_space(g, is_nested)) {
        qn_gbnf_item x;
        QN_TRY(atom(g, is_nested, &x));
        QN_TRY(repeats(g, is_nested, &x));
        QN_TRY(push(g, x.x));
        weight += x.weight;
    }
    if (weight > MAX_SOURCE) {
        return qn_gbnf_fail_at(g, QN_EFULL, g->i, "counts that multiply to too much", QN_STR(""));
    }
    uint32_t n = g->n_parts - first;
    *out = (qn_gbnf_item){n == 0 ? qn_gx_bytes(g->b, QN_STR("")) : qn_gx_cat(g->b, g->parts + first, n), weight};
    g->n_parts = first;
    return QN_OK;
}

static qn_status alternatives(qn_gbnf *g, bool is_nested, qn_gbnf_item *out)
{
    uint32_t first = g->n_parts;
    uint64_t weight = 0;
    do {
        qn_gbnf_item x = {0};
        skip_space(g, true);
        QN_TRY(sequence(g, is_nested, &x));
        QN_TRY(push(g, x.x));
        weight = weight > x.weight ? weight : x.weight;
        if (!is_nested) {
            skip_to_bar(g);
        }
    } while (qn_gbnf_take(g, "|"));
    *out = (qn_gbnf_item){qn_gx_alt(g->b, g->parts + first, g->n_parts - first), weight};
    g->n_parts = first;
    return QN_OK;
}

static qn_status rule(qn_gbnf *g)
{
    size_t at = g->i;
    qn_str name = take_name(g);
    if (name.len == 0) {
        return qn_gbnf_fail(g, at, "the name of a rule is missing");
    }
    skip_space(g, false);
    if (!qn_gbnf_take(g, "::=")) {
        return qn_gbnf_fail_at(g, QN_EFORMAT, g->i, "'::=' is missing after", name);
    }
    uint32_t i_rule;
    QN_TRY(rule_named(g, name, at, &i_rule));
    if (g->b->rules[i_rule].is_defined) {
        return qn_gbnf_fail_at(g, QN_EFORMAT, at, "a second definition of", name);
    }
    g->first_use[i_rule] = at; /* from here on the place of its definition */
    qn_gbnf_item body;
    QN_TRY(alternatives(g, false, &body));
    if (qn_gbnf_peek(g) == ')') {
        return qn_gbnf_fail(g, g->i, "a closing parenthesis without its group");
    }
    qn_gx_rule_define(g->b, i_rule, body.x);
    return QN_OK;
}

static qn_status grammar(qn_gbnf *g)
{
    for (skip_space(g, true); g->i < g->source.len; skip_space(g, true)) {
        QN_TRY(rule(g));
        QN_TRY(qn_front_status(g->b, g->err));
    }
    uint32_t root = g->b->n_rules;
    for (uint32_t i = 0; i < g->b->n_rules; i++) {
        if (!g->b->rules[i].is_defined) {
            return qn_gbnf_fail_at(g, QN_EFORMAT, g->first_use[i], "no rule is called", g->b->rules[i].name);
        }
        root = qn_str_is(g->b->rules[i].name, "root") ? i : root;
    }
    if (root == g->b->n_rules) {
        return qn_gbnf_fail(g, g->source.len, "no rule is called root");
    }
    g->b->root = root;
    return qn_gbnf_check_left(g);
}

qn_status qn_front_gbnf(qn_gx_builder *b, qn_str source, qn_error *err)
{
    if (source.len > MAX_SOURCE) {
        return qn_fail(err, QN_EFULL, "a grammar of more than %u bytes", MAX_SOURCE);
    }
    qn_gbnf g = {.b = b, .source = source, .err = err};
    qn_status status = grammar(&g);
    qn_free(g.parts);
    qn_free(g.first_use);
    return status != QN_OK ? status : qn_front_status(b, err);
}
