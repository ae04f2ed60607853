/* GBNF: rules of alternatives of literals, classes, rules, groups and repeats, as llama.cpp writes them.
 *
 * A rule ends with its line, except inside parentheses, after `|` and `::=`, and when the next line begins with `|`.
 * `<name>` is a special token by its spelling. Rules may be used before they are defined.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_int.h"

#include "base/unicode.h"

#define MAX_SOURCE (8u << 20)
#define MAX_DEPTH 100 /* groups in groups; each is at most three levels of expressions */
#define MAX_COUNT 100000u
#define MAX_RULES 8192 /* names are looked for one by one; the largest grammars known have some hundreds */

typedef struct gbnf {
    qn_gx_builder *b;
    qn_str source;
    size_t i; /* next byte */
    unsigned depth;
    qn_gx *parts; /* a stack */
    uint32_t n_parts, cap_parts;
    size_t *first_use; /* of each rule: the byte, for the error */
    uint32_t n_uses, cap_uses;
    qn_error *err;
} gbnf;

typedef struct item {
    qn_gx x;
    uint64_t weight; /* as in patterns; rules count 1 */
} item;

static qn_status alternatives(gbnf *g, bool is_nested, item *out);

static qn_status fail_at(gbnf *g, qn_status code, size_t at, const char *what, qn_str name)
{
    size_t line = 1, start = 0;
    for (size_t i = 0; i < at && i < g->source.len; i++) {
        if (g->source.data[i] == '\n') {
            line++;
            start = i + 1;
        }
    }
    return qn_fail(g->err, code, "grammar, line %zu, column %zu: %s%s%.*s", line, at - start + 1, what, name.len != 0 ? " " : "",
                   QN_STR_ARG(name));
}

static qn_status fail(gbnf *g, size_t at, const char *what) { return fail_at(g, QN_EFORMAT, at, what, QN_STR("")); }

static char peek(const gbnf *g) { return g->i < g->source.len ? g->source.data[g->i] : '\0'; }

static bool take(gbnf *g, const char *s)
{
    size_t n = strlen(s);
    if (g->source.len - g->i < n || memcmp(g->source.data + g->i, s, n) != 0) {
        return false;
    }
    g->i += n;
    return true;
}

/* Blanks and comments, and ends of lines where they mean nothing. */
static void skip_space(gbnf *g, bool lines_too)
{
    for (; g->i < g->source.len; g->i++) {
        char c = peek(g);
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
static void skip_to_bar(gbnf *g)
{
    size_t start = g->i;
    skip_space(g, true);
    if (peek(g) != '|') {
        g->i = start;
    }
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

static qn_str take_name(gbnf *g)
{
    size_t start = g->i;
    while (g->i < g->source.len && is_name(peek(g))) {
        g->i++;
    }
    return (qn_str){g->source.data + start, g->i - start};
}

static qn_status push(gbnf *g, qn_gx x)
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
static qn_status rule_named(gbnf *g, qn_str name, size_t at, uint32_t *rule)
{
    for (uint32_t i = 0; i < g->b->n_rules; i++) {
        if (qn_str_eq(g->b->rules[i].name, name)) {
            *rule = i;
            return QN_OK;
        }
    }
    if (g->b->n_rules >= MAX_RULES) {
        return fail_at(g, QN_EFULL, at, "more than 8192 rules", QN_STR(""));
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

/* ---- characters ---- */

static int hex_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static qn_status hex_escape(gbnf *g, unsigned n, uint32_t *cp)
{
    size_t at = g->i;
    *cp = 0;
    for (unsigned i = 0; i < n; i++, g->i++) {
        int digit = g->i < g->source.len ? hex_value(peek(g)) : -1;
        if (digit < 0) {
            return fail(g, at, "an escape with too few hexadecimal digits");
        }
        *cp = *cp << 4 | (uint32_t)digit;
    }
    bool good = *cp <= QN_FRONT_LAST && (*cp < 0xD800 || *cp > 0xDFFF);
    return good ? QN_OK : fail(g, at, "an escape that names no character");
}

static qn_status character(gbnf *g, uint32_t *cp)
{
    size_t at = g->i;
    if (!take(g, "\\")) {
        size_t len = qn_unicode_decode(g->source.data + g->i, g->source.len - g->i, cp);
        g->i += len;
        return *cp != UINT32_MAX ? QN_OK : fail(g, at, "invalid UTF-8");
    }
    char c = peek(g);
    g->i++;
    switch (c) {
    case 'x': return hex_escape(g, 2, cp);
    case 'u': return hex_escape(g, 4, cp);
    case 'U': return hex_escape(g, 8, cp);
    case 't': *cp = '\t'; return QN_OK;
    case 'r': *cp = '\r'; return QN_OK;
    case 'n': *cp = '\n'; return QN_OK;
    case '\\': case '"': case '[': case ']': case '-': case '^': case '\'': case '/':
        *cp = (uint8_t)c;
        return QN_OK;
    default:
        return fail(g, at, "an unknown escape");
    }
}

static qn_status literal(gbnf *g, item *out)
{
    size_t open = g->i - 1;
    qn_buf text;
    qn_buf_init(&text, g->b->budget, "grammar", MAX_SOURCE);
    qn_status status = QN_OK;
    while (status == QN_OK && !take(g, "\"")) {
        uint32_t cp = 0;
        if (g->i >= g->source.len || peek(g) == '\n') {
            status = fail(g, open, "a literal without its closing quote");
            break;
        }
        status = character(g, &cp);
        char utf8[4];
        size_t n = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
        for (size_t i = n; i-- > 1; cp >>= 6) {
            utf8[i] = (char)(0x80 | (cp & 0x3F));
        }
        utf8[0] = (char)(n == 1 ? cp : (0xF00u >> n & 0xFF) | cp);
        qn_buf_add(&text, utf8, n);
    }
    if (status == QN_OK && text.status != QN_OK) {
        status = qn_fail(g->err, text.status, "no memory for a literal");
    }
    if (status == QN_OK) {
        *out = (item){qn_gx_bytes(g->b, qn_buf_view(&text)), text.len};
    }
    qn_buf_free(&text);
    return status;
}

static qn_status class_members(gbnf *g, size_t open, qn_ranges *r)
{
    while (!take(g, "]")) {
        uint32_t first, last;
        if (g->i >= g->source.len || peek(g) == '\n') {
            return fail(g, open, "a class without its closing bracket");
        }
        size_t at = g->i;
        QN_TRY(character(g, &first));
        last = first;
        if (peek(g) == '-' && g->i + 1 < g->source.len && g->source.data[g->i + 1] != ']') {
            g->i++;
            QN_TRY(character(g, &last));
        }
        if (last < first) {
            return fail(g, at, "a range that runs backwards");
        }
        qn_ranges_add(r, first, last);
    }
    return QN_OK;
}

static qn_status class_atom(gbnf *g, item *out)
{
    size_t open = g->i - 1;
    bool is_inverted = take(g, "^");
    qn_ranges r = {.budget = g->b->budget};
    qn_status status = class_members(g, open, &r);
    if (status == QN_OK && is_inverted) {
        qn_ranges_invert(&r);
    }
    if (status == QN_OK) {
        *out = (item){qn_front_class(g->b, &r, false), 1};
    }
    qn_ranges_free(&r);
    return status;
}

/* ---- atoms, repeats, sequences ---- */

static qn_status atom(gbnf *g, bool is_nested, item *out)
{
    size_t at = g->i;
    if (take(g, "\"")) {
        return literal(g, out);
    }
    if (take(g, "[")) {
        return class_atom(g, out);
    }
    if (take(g, ".")) {
        *out = (item){qn_front_any(g->b, false), 1};
        return QN_OK;
    }
    if (take(g, "(")) {
        if (++g->depth > MAX_DEPTH) {
            return fail_at(g, QN_EFULL, at, "groups nested too deep", QN_STR(""));
        }
        skip_space(g, true);
        QN_TRY(alternatives(g, true, out));
        g->depth--;
        return take(g, ")") ? QN_OK : fail(g, at, "a group without its closing parenthesis");
    }
    if (take(g, "<")) {
        while (g->i < g->source.len && peek(g) != '>' && peek(g) != '\n') {
            g->i++;
        }
        if (!take(g, ">") || g->i - at < 3) {
            return fail(g, at, "a token without its closing '>'");
        }
        *out = (item){qn_gx_special(g->b, (qn_str){g->source.data + at, g->i - at}), 1};
        return QN_OK;
    }
    qn_str name = take_name(g);
    if (name.len == 0) {
        return fail(g, at, is_nested ? "what is here belongs to no group" : "what is here belongs to no rule");
    }
    uint32_t rule;
    QN_TRY(rule_named(g, name, at, &rule));
    *out = (item){qn_gx_rule_ref(g->b, rule), 1};
    return QN_OK;
}

static bool count(gbnf *g, uint32_t *v)
{
    size_t start = g->i;
    for (*v = 0; peek(g) >= '0' && peek(g) <= '9'; g->i++) {
        *v = *v <= MAX_COUNT ? *v * 10 + (uint32_t)(peek(g) - '0') : *v;
    }
    return g->i > start;
}

static qn_status repeat_counts(gbnf *g, size_t at, uint32_t *min, uint32_t *max)
{
    skip_space(g, false);
    bool has_min = count(g, min);
    skip_space(g, false);
    *max = *min;
    if (take(g, ",")) {
        skip_space(g, false);
        if (!count(g, max)) {
            *max = QN_GX_NO_MAX;
        }
        skip_space(g, false);
    } else if (!has_min) {
        return fail(g, at, "a repeat without a count");
    }
    if (!take(g, "}")) {
        return fail(g, at, "a repeat without its closing brace");
    }
    if (*min > MAX_COUNT || (*max != QN_GX_NO_MAX && *max > MAX_COUNT)) {
        return fail_at(g, QN_EFULL, at, "a count above 100000", QN_STR(""));
    }
    return *max < *min ? fail(g, at, "counts that run backwards") : QN_OK;
}

static qn_status repeats(gbnf *g, bool is_nested, item *x)
{
    unsigned n = 0;
    for (;;) {
        uint32_t min = 0, max = QN_GX_NO_MAX;
        skip_space(g, is_nested);
        size_t at = g->i;
        if (take(g, "{")) {
            QN_TRY(repeat_counts(g, at, &min, &max));
        } else if (take(g, "+")) {
            min = 1;
        } else if (take(g, "?")) {
            max = 1;
        } else if (!take(g, "*")) {
            return QN_OK;
        }
        if (++n > 16) {
            return fail_at(g, QN_EFULL, at, "too many repeats of one thing", QN_STR(""));
        }
        uint64_t times = max != QN_GX_NO_MAX ? max : min;
        x->x = qn_gx_repeat(g->b, x->x, min, max);
        x->weight = (x->weight == 0 ? 1 : x->weight) * (times == 0 ? 1 : times);
        if (x->weight > QN_FRONT_MAX_WEIGHT && times > 1) {
            return fail_at(g, QN_EFULL, at, "counts that multiply to too much", QN_STR(""));
        }
    }
}

static bool ends_sequence(const gbnf *g)
{
    char c = peek(g);
    return g->i >= g->source.len || c == '|' || c == ')' || c == '\n' || c == '\r';
}

static qn_status sequence(gbnf *g, bool is_nested, item *out)
{
    uint32_t first = g->n_parts;
    uint64_t weight = 0;
    for (skip_space(g, is_nested); !ends_sequence(g); skip_space(g, is_nested)) {
        item x;
        QN_TRY(atom(g, is_nested, &x));
        QN_TRY(repeats(g, is_nested, &x));
        QN_TRY(push(g, x.x));
        weight += x.weight;
    }
    if (weight > MAX_SOURCE) {
        return fail_at(g, QN_EFULL, g->i, "counts that multiply to too much", QN_STR(""));
    }
    uint32_t n = g->n_parts - first;
    *out = (item){n == 0 ? qn_gx_bytes(g->b, QN_STR("")) : qn_gx_cat(g->b, g->parts + first, n), weight};
    g->n_parts = first;
    return QN_OK;
}

static qn_status alternatives(gbnf *g, bool is_nested, item *out)
{
    uint32_t first = g->n_parts;
    uint64_t weight = 0;
    do {
        item x = {0};
        skip_space(g, true);
        QN_TRY(sequence(g, is_nested, &x));
        QN_TRY(push(g, x.x));
        weight = weight > x.weight ? weight : x.weight;
        if (!is_nested) {
            skip_to_bar(g);
        }
    } while (take(g, "|"));
    *out = (item){qn_gx_alt(g->b, g->parts + first, g->n_parts - first), weight};
    g->n_parts = first;
    return QN_OK;
}

static qn_status rule(gbnf *g)
{
    size_t at = g->i;
    qn_str name = take_name(g);
    if (name.len == 0) {
        return fail(g, at, "the name of a rule is missing");
    }
    skip_space(g, false);
    if (!take(g, "::=")) {
        return fail_at(g, QN_EFORMAT, g->i, "'::=' is missing after", name);
    }
    uint32_t i_rule;
    QN_TRY(rule_named(g, name, at, &i_rule));
    if (g->b->rules[i_rule].is_defined) {
        return fail_at(g, QN_EFORMAT, at, "a second definition of", name);
    }
    item body;
    QN_TRY(alternatives(g, false, &body));
    if (peek(g) == ')') {
        return fail(g, g->i, "a closing parenthesis without its group");
    }
    qn_gx_rule_define(g->b, i_rule, body.x);
    return QN_OK;
}

static qn_status grammar(gbnf *g)
{
    for (skip_space(g, true); g->i < g->source.len; skip_space(g, true)) {
        QN_TRY(rule(g));
        QN_TRY(qn_front_status(g->b, g->err));
    }
    uint32_t root = g->b->n_rules;
    for (uint32_t i = 0; i < g->b->n_rules; i++) {
        if (!g->b->rules[i].is_defined) {
            return fail_at(g, QN_EFORMAT, g->first_use[i], "no rule is called", g->b->rules[i].name);
        }
        root = qn_str_is(g->b->rules[i].name, "root") ? i : root;
    }
    if (root == g->b->n_rules) {
        return fail(g, g->source.len, "no rule is called root");
    }
    g->b->root = root;
    return QN_OK;
}

qn_status qn_front_gbnf(qn_gx_builder *b, qn_str source, qn_error *err)
{
    if (source.len > MAX_SOURCE) {
        return qn_fail(err, QN_EFULL, "a grammar of more than %u bytes", MAX_SOURCE);
    }
    gbnf g = {.b = b, .source = source, .err = err};
    qn_status status = grammar(&g);
    qn_free(g.parts);
    qn_free(g.first_use);
    return status != QN_OK ? status : qn_front_status(b, err);
}
