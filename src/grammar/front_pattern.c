/* Patterns (regular expressions as ECMAScript and JSON schema have them) to expressions: one function for each level
 * of the grammar, alternatives > sequence > repeat > atom.
 *
 * `^` and `$` match nothing but say where they stand. A part therefore comes in up to four variants: bound to the
 * beginning of the text or not, bound to its end or not. A sequence joins its parts' variants; what stands before a `^`
 * or behind a `$` must then match the empty text. At the end the variants that are not bound are let begin or end
 * anywhere.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_int.h"

#define MAX_PATTERN 65536
#define MAX_DEPTH 100     /* groups in groups; each is at most four levels of expressions */
#define MAX_COUNT 100000u /* of {n,m}; above it the weight would refuse anyway */

enum { AT_BEGIN = 1, AT_END = 2, N_VARIANTS = 4 };

typedef struct qn_pattern_part {
    qn_gx x[N_VARIANTS];
    bool has[N_VARIANTS], is_nullable[N_VARIANTS];
    uint64_t weight; /* characters of the longest text, repeats without a limit counted as their least */
} part;

static qn_status alternatives(qn_pattern_parser *p, part *out);

qn_status qn_pattern_fail(qn_pattern_parser *p, qn_status code, size_t at, const char *what)
{
    return qn_fail(p->err, code, "pattern, byte %zu: %s%s", at, what,
                   code == QN_EUNSUPPORTED ? " is not supported" : "");
}

bool qn_pattern_take(qn_pattern_parser *p, const char *s)
{
    size_t n = strlen(s);
    if (p->pattern.len - p->i < n || memcmp(p->pattern.data + p->i, s, n) != 0) {
        return false;
    }
    p->i += n;
    return true;
}

static char peek(const qn_pattern_parser *p)
{
    return p->i < p->pattern.len ? p->pattern.data[p->i] : '\0';
}

static part plain(qn_gx x, bool is_nullable, uint64_t weight)
{
    return (part){.x = {x}, .has = {true}, .is_nullable = {is_nullable}, .weight = weight};
}

static qn_status push(qn_pattern_parser *p, const part *x)
{
    if (p->n_parts == p->cap_parts) {
        size_t cap = p->cap_parts == 0 ? 32 : p->cap_parts * 2;
        part *moved = qn_realloc(p->b->budget, "grammar", p->parts, cap * sizeof(*moved));
        if (moved == NULL) {
            return qn_fail(p->err, qn_alloc_failure(p->b->budget, cap * sizeof(*moved)), "no memory for a pattern");
        }
        p->parts = moved;
        p->cap_parts = cap;
    }
    p->parts[p->n_parts++] = *x;
    return QN_OK;
}

/* ---- joining ---- */

static void add_variant(qn_gx_builder *b, part *to, unsigned v, qn_gx x, bool is_nullable)
{
    to->x[v] = to->has[v] ? qn_gx_alt(b, (qn_gx[]){to->x[v], x}, 2) : x;
    to->is_nullable[v] = (to->has[v] && to->is_nullable[v]) || is_nullable;
    to->has[v] = true;
}

static part join(qn_gx_builder *b, const part *x, const part *y)
{
    part out = {.weight = x->weight + y->weight};
    for (unsigned i = 0; i < N_VARIANTS; i++) {
        for (unsigned k = 0; k < N_VARIANTS; k++) {
            bool y_empty = i & AT_END, x_empty = k & AT_BEGIN;
            if (!x->has[i] || !y->has[k] || (y_empty && !y->is_nullable[k]) || (x_empty && !x->is_nullable[i])) {
                continue;
            }
            bool is_nullable = x->is_nullable[i] && y->is_nullable[k];
            qn_gx both = x_empty && y_empty ? qn_gx_bytes(b, QN_STR(""))
                         : y_empty          ? x->x[i]
                         : x_empty          ? y->x[k]
                                            : qn_gx_cat(b, (qn_gx[]){x->x[i], y->x[k]}, 2);
            add_variant(b, &out, i | k, both, is_nullable);
        }
    }
    return out;
}

static bool is_plain(const part *x)
{
    return x->has[0] && !x->has[1] && !x->has[2] && !x->has[3];
}

/* The parts from `first` on, those without anchors side by side as one flat sequence, so that depth does not grow with
 * the length of the pattern. */
static qn_status reduce_sequence(qn_pattern_parser *p, size_t first, part *out)
{
    size_t n = p->n_parts - first;
    qn_gx *flat = qn_alloc(p->b->budget, "grammar", (n + 1) * sizeof(*flat));
    if (flat == NULL) {
        return qn_fail(p->err, QN_ENOMEM, "no memory for a pattern");
    }
    bool is_first = true;
    for (size_t i = first; i < p->n_parts;) {
        part next = p->parts[i];
        uint32_t n_flat = 0;
        uint64_t weight = 0;
        bool is_nullable = true;
        for (; i < p->n_parts && is_plain(&p->parts[i]); i++) {
            flat[n_flat++] = p->parts[i].x[0];
            weight += p->parts[i].weight;
            is_nullable = is_nullable && p->parts[i].is_nullable[0];
        }
        if (n_flat != 0) {
            next = plain(qn_gx_cat(p->b, flat, n_flat), is_nullable, weight);
        } else {
            i++;
        }
        *out = is_first ? next : join(p->b, out, &next);
        is_first = false;
    }
    if (is_first) {
        *out = plain(qn_gx_bytes(p->b, QN_STR("")), true, 0);
    }
    qn_free(flat);
    p->n_parts = first;
    return out->weight > QN_FRONT_MAX_WEIGHT ? qn_pattern_fail(p, QN_EFULL, p->i, "counts that multiply to too much")
                                             : QN_OK;
}

static qn_status reduce_alternatives(qn_pattern_parser *p, size_t first, part *out)
{
    size_t n = p->n_parts - first;
    qn_gx *ways = qn_alloc(p->b->budget, "grammar", (n + 1) * sizeof(*ways));
    if (ways == NULL) {
        return qn_fail(p->err, QN_ENOMEM, "no memory for a pattern");
    }
    *out = (part){.weight = 0};
    for (unsigned v = 0; v < N_VARIANTS; v++) {
        uint32_t n_ways = 0;
        for (size_t i = first; i < p->n_parts; i++) {
            if (p->parts[i].has[v]) {
                ways[n_ways++] = p->parts[i].x[v];
                out->is_nullable[v] = out->is_nullable[v] || p->parts[i].is_nullable[v];
            }
        }
        out->has[v] = n_ways != 0;
        out->x[v] = n_ways != 0 ? qn_gx_alt(p->b, ways, n_ways) : 0;
    }
    for (size_t i = first; i < p->n_parts; i++) {
        out->weight = out->weight > p->parts[i].weight ? out->weight : p->parts[i].weight;
    }
    qn_free(ways);
    p->n_parts = first;
    return QN_OK;
}

/* ---- atoms ---- */

static qn_status group(qn_pattern_parser *p, part *out)
{
    size_t at = p->i - 1;
    if (++p->depth > MAX_DEPTH) {
        return qn_pattern_fail(p, QN_EFULL, at, "groups nested too deep");
    }
    if (qn_pattern_take(p, "?")) {
        if (qn_pattern_take(p, "=") || qn_pattern_take(p, "!")) {
            return qn_pattern_fail(p, QN_EUNSUPPORTED, at, "look-ahead");
        }
        if (qn_pattern_take(p, "<=") || qn_pattern_take(p, "<!")) {
            return qn_pattern_fail(p, QN_EUNSUPPORTED, at, "look-behind");
        }
        if (qn_pattern_take(p, ">")) {
            return qn_pattern_fail(p, QN_EUNSUPPORTED, at, "an atomic group");
        }
        if (qn_pattern_take(p, "<") || qn_pattern_take(p, "P<")) {
            size_t start = p->i;
            while (peek(p) != '>' && p->i < p->pattern.len) {
                p->i++;
            }
            if (p->i == start || !qn_pattern_take(p, ">")) {
                return qn_pattern_fail(p, QN_EFORMAT, at, "a group without its name");
            }
        } else if (!qn_pattern_take(p, ":")) {
            return qn_pattern_fail(p, QN_EUNSUPPORTED, at, "a group with flags");
        }
    }
    QN_TRY(alternatives(p, out));
    if (!qn_pattern_take(p, ")")) {
        return qn_pattern_fail(p, QN_EFORMAT, at, "a group without its closing parenthesis");
    }
    p->depth--;
    return QN_OK;
}

static qn_status set_part(qn_pattern_parser *p, qn_ranges *r, part *out)
{
    *out = plain(qn_front_class(p->b, r, p->as_json), false, 1);
    return qn_front_status(p->b, p->err);
}

static qn_status set_atom(qn_pattern_parser *p, qn_ranges *r, part *out)
{
    uint32_t cp = UINT32_MAX;
    if (qn_pattern_take(p, "[")) {
        QN_TRY(qn_pattern_class(p, r));
    } else if (qn_pattern_take(p, ".")) {
        static const uint32_t line_ends[] = {'\n', '\r', 0x2028, 0x2029};
        for (size_t i = 0; i < 4; i++) {
            qn_ranges_add(r, line_ends[i], line_ends[i]);
        }
        qn_ranges_invert(r);
    } else {
        QN_TRY(qn_pattern_take(p, "\\") ? qn_pattern_escape(p, false, r, &cp) : qn_pattern_char(p, &cp));
    }
    if (cp != UINT32_MAX) {
        qn_ranges_add(r, cp, cp);
    }
    return set_part(p, r, out);
}

static qn_status atom(qn_pattern_parser *p, part *out)
{
    if (qn_pattern_take(p, "(")) {
        return group(p, out);
    }
    if (qn_pattern_take(p, "^") || qn_pattern_take(p, "\\A")) {
        *out = (part){.x = {[AT_BEGIN] = qn_gx_bytes(p->b, QN_STR(""))},
                      .has = {[AT_BEGIN] = true},
                      .is_nullable = {[AT_BEGIN] = true}};
        return QN_OK;
    }
    if (qn_pattern_take(p, "$") || qn_pattern_take(p, "\\z") || qn_pattern_take(p, "\\Z")) {
        *out = (part){.x = {[AT_END] = qn_gx_bytes(p->b, QN_STR(""))},
                      .has = {[AT_END] = true},
                      .is_nullable = {[AT_END] = true}};
        return QN_OK;
    }
    qn_ranges r = {.budget = p->b->budget};
    qn_status status = set_atom(p, &r, out);
    qn_ranges_free(&r);
    return status;
}

/* ---- repeats ---- */

static bool count(qn_pattern_parser *p, uint32_t *v)
{
    size_t start = p->i;
    for (*v = 0; peek(p) >= '0' && peek(p) <= '9'; p->i++) {
        *v = *v <= MAX_COUNT ? *v * 10 + (uint32_t)(peek(p) - '0') : *v;
    }
    return p->i > start;
}

/* False: none is here; a brace that is no repeat is an ordinary character. */
static bool repeat_mark(qn_pattern_parser *p, uint32_t *min, uint32_t *max)
{
    size_t start = p->i;
    *min = 0;
    *max = QN_GX_NO_MAX;
    if (qn_pattern_take(p, "*")) {
        return true;
    }
    if (qn_pattern_take(p, "+")) {
        *min = 1;
        return true;
    }
    if (qn_pattern_take(p, "?")) {
        *max = 1;
        return true;
    }
    if (qn_pattern_take(p, "{") && count(p, min)) {
        *max = *min;
        if (qn_pattern_take(p, ",") && !count(p, max)) {
            *max = QN_GX_NO_MAX;
        }
        if (qn_pattern_take(p, "}")) {
            return true;
        }
    }
    p->i = start;
    return false;
}

static qn_status repeated(qn_pattern_parser *p, part *out)
{
    size_t at = p->i;
    uint32_t min, max;
    if (repeat_mark(p, &min, &max)) {
        return qn_pattern_fail(p, QN_EFORMAT, at, "nothing to repeat");
    }
    bool is_anchor = peek(p) == '^' || peek(p) == '$' || peek(p) == '\\';
    QN_TRY(atom(p, out));
    is_anchor = is_anchor && !out->has[0];
    at = p->i;
    if (!repeat_mark(p, &min, &max)) {
        return QN_OK;
    }
    if (is_anchor) {
        return qn_pattern_fail(p, QN_EFORMAT, at, "nothing to repeat");
    }
    qn_pattern_take(p, "?"); /* lazy: the same texts match */
    if (qn_pattern_take(p, "+")) {
        return qn_pattern_fail(p, QN_EUNSUPPORTED, at, "a possessive repeat");
    }
    uint32_t again_min, again_max;
    size_t again = p->i;
    if (repeat_mark(p, &again_min, &again_max)) {
        return qn_pattern_fail(p, QN_EFORMAT, again, "nothing to repeat");
    }
    if (max < min) {
        return qn_pattern_fail(p, QN_EFORMAT, at, "counts that run backwards");
    }
    if (min > MAX_COUNT || (max != QN_GX_NO_MAX && max > MAX_COUNT)) {
        return qn_pattern_fail(p, QN_EFULL, at, "a count above 100000");
    }
    if (is_plain(out)) {
        uint64_t times = max != QN_GX_NO_MAX ? max : min == 0 ? 1 : min;
        *out = plain(qn_gx_repeat(p->b, out->x[0], min, max), min == 0 || out->is_nullable[0],
                     (out->weight == 0 ? 1 : out->weight) * (times == 0 ? 1 : times));
        return out->weight > QN_FRONT_MAX_WEIGHT ? qn_pattern_fail(p, QN_EFULL, at, "counts that multiply to too much")
                                                 : QN_OK;
    }
    if (max > 1) {
        return qn_pattern_fail(p, QN_EUNSUPPORTED, at, "an anchor inside a repeat");
    }
    if (max == 0) {
        *out = plain(qn_gx_bytes(p->b, QN_STR("")), true, 0);
    } else if (min == 0) {
        add_variant(p->b, out, 0, qn_gx_bytes(p->b, QN_STR("")), true);
    }
    return QN_OK;
}

static qn_status alternatives(qn_pattern_parser *p, part *out)
{
    size_t first = p->n_parts;
    for (;;) {
        size_t first_part = p->n_parts;
        part x;
        while (p->i < p->pattern.len && peek(p) != '|' && peek(p) != ')') {
            QN_TRY(repeated(p, &x));
            QN_TRY(push(p, &x));
        }
        QN_TRY(reduce_sequence(p, first_part, &x));
        QN_TRY(push(p, &x));
        if (!qn_pattern_take(p, "|")) {
            return reduce_alternatives(p, first, out);
        }
    }
}

/* ---- whole patterns ---- */

static qn_gx finish(qn_gx_builder *b, const part *x, bool search, bool as_json)
{
    qn_gx anything = search ? qn_gx_repeat(b, qn_front_any(b, as_json), 0, QN_GX_NO_MAX) : 0;
    qn_gx ways[N_VARIANTS];
    uint32_t n_ways = 0;
    for (unsigned v = 0; v < N_VARIANTS; v++) {
        qn_gx parts[3];
        uint32_t n = 0;
        if (!x->has[v]) {
            continue;
        }
        if (search && !(v & AT_BEGIN)) {
            parts[n++] = anything;
        }
        parts[n++] = x->x[v];
        if (search && !(v & AT_END)) {
            parts[n++] = anything;
        }
        ways[n_ways++] = qn_gx_cat(b, parts, n);
    }
    return qn_gx_alt(b, ways, n_ways);
}

qn_status qn_front_pattern(qn_gx_builder *b, qn_str pattern, bool search, bool as_json, qn_gx *out, qn_error *err)
{
    qn_pattern_parser p = {.b = b, .pattern = pattern, .as_json = as_json, .err = err};
    part x;
    if (pattern.len > MAX_PATTERN) {
        return qn_fail(err, QN_EFULL, "a pattern of more than %d bytes", MAX_PATTERN);
    }
    qn_status status = alternatives(&p, &x);
    if (status == QN_OK && p.i < pattern.len) {
        status = qn_pattern_fail(&p, QN_EFORMAT, p.i, "a closing parenthesis without its group");
    }
    qn_free(p.parts);
    QN_TRY(status);
    *out = finish(b, &x, search, as_json);
    return qn_front_status(b, err);
}
