/* Strings of a schema: lengths, patterns, formats, and texts that are forbidden.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_schema_int.h"

/* No answer has as many characters; such a limit is no limit. */
#define NO_LENGTH (1u << 24)

typedef struct content {
    qn_sx *s;
    qn_gx all; /* of what was joined so far */
    bool has_all, has_not;
    uint32_t min, max;
} content;

static void join(content *x, qn_gx part)
{
    x->all = x->has_all ? qn_gx_and(x->s->b, x->all, part) : part;
    x->has_all = true;
}

static qn_status add_pattern(content *x, const qn_json *schema, const qn_json *pattern, bool is_negated)
{
    qn_gx part;
    qn_error err;
    qn_status status = qn_front_pattern(x->s->b, qn_json_as_str(pattern), true, !x->s->spelling.is_raw, &part, &err);
    if (status != QN_OK) {
        return qn_sx_fail(x->s, status, schema, "pattern", err.what);
    }
    join(x, is_negated ? qn_gx_not(x->s->b, part) : part);
    x->has_not = x->has_not || is_negated;
    return QN_OK;
}

/* A format that is a pattern of its own here. */
static qn_status add_format_pattern(content *x, const char *pattern, bool is_negated)
{
    qn_gx part;
    QN_TRY(qn_front_pattern(x->s->b, qn_str_of(pattern), true, true, &part, x->s->err));
    join(x, is_negated ? qn_gx_not(x->s->b, part) : part);
    x->has_not = x->has_not || is_negated;
    return QN_OK;
}

static qn_status add_format(content *x, const qn_json *schema, const qn_json *format, bool is_negated)
{
    qn_sx *s = x->s;
    qn_str name = qn_json_as_str(format);
    int i = qn_front_format_index(name);
    const char *other = qn_sx_other_format(name), *loose = is_negated ? qn_sx_loose_format(name) : NULL, *low, *high;
    if (other != NULL || loose != NULL) {
        return other != NULL && other[0] == '\0' && !is_negated
                   ? QN_OK
                   : add_format_pattern(x, other != NULL ? other : loose, is_negated);
    }
    if (i < 0 && !is_negated && qn_sx_number_format(name, &low, &high)) {
        return QN_OK;
    }
    if (i < 0) {
        return qn_sx_fail(s, QN_EUNSUPPORTED, schema, "format", QN_SX_NO_FORMAT);
    }
    if (!s->has_format[i]) {
        qn_gx body;
        QN_TRY(qn_front_format(s->b, name, !s->spelling.is_raw, &body, s->err));
        uint32_t rule = qn_gx_rule_new(s->b, name);
        qn_gx_rule_define(s->b, rule, body);
        s->formats[i] = qn_gx_rule_ref(s->b, rule);
        s->has_format[i] = true;
    }
    join(x, is_negated ? qn_gx_not(s->b, s->formats[i]) : s->formats[i]);
    x->has_not = x->has_not || is_negated;
    return QN_OK;
}

/* The texts of an enum (or one const) must not come. */
static qn_status forbid(content *x, const qn_json *list, bool is_list)
{
    qn_gx_builder *b = x->s->b;
    size_t n = is_list ? qn_json_count(list) : 1;
    qn_gx *ways = qn_sx_alloc(x->s, (n + 1) * sizeof(*ways));
    if (ways == NULL) {
        return qn_sx_no_memory(x->s);
    }
    uint32_t n_ways = 0;
    for (size_t i = 0; i < n; i++) {
        const qn_json *value = is_list ? qn_json_at(list, i) : list;
        if (qn_json_kind_of(value) == QN_JSON_STRING) {
            ways[n_ways++] = qn_front_literal(b, qn_json_as_str(value), !x->s->spelling.is_raw);
        }
    }
    if (n_ways != 0) {
        join(x, qn_gx_not(b, qn_gx_alt(b, ways, n_ways)));
        x->has_not = true;
    }
    return QN_OK;
}

static void at_least(content *x, uint32_t n)
{
    x->min = x->min > n ? x->min : n;
}
static void at_most(content *x, uint32_t n)
{
    x->max = x->max < n ? x->max : n;
}

static qn_status add_holds(content *x, const qn_json *schema)
{
    uint32_t n;
    bool found;
    QN_TRY(qn_sx_count(x->s, schema, "minLength", &n, &found));
    if (found) {
        at_least(x, n);
    }
    QN_TRY(qn_sx_count(x->s, schema, "maxLength", &n, &found));
    if (found && n < NO_LENGTH) {
        at_most(x, n);
    }
    const qn_json *pattern = qn_json_find(schema, "pattern"), *format = qn_json_find(schema, "format");
    if (pattern != NULL) {
        QN_TRY(add_pattern(x, schema, pattern, false));
    }
    return format != NULL ? add_format(x, schema, format, false) : QN_OK;
}

static qn_status add_fails(content *x, const qn_schema_literal *l)
{
    uint32_t n = 0;
    bool found;
    switch (l->keyword) {
    case QN_SK_MIN_LENGTH:
        QN_TRY(qn_sx_count(x->s, l->schema, "minLength", &n, &found));
        if (n == 0) {
            x->min = 1;
            x->max = 0;
        } else {
            at_most(x, n - 1);
        }
        return QN_OK;
    case QN_SK_MAX_LENGTH:
        QN_TRY(qn_sx_count(x->s, l->schema, "maxLength", &n, &found));
        at_least(x, n + 1);
        return QN_OK;
    case QN_SK_PATTERN:
        return add_pattern(x, l->schema, l->value, true);
    case QN_SK_FORMAT:
        return add_format(x, l->schema, l->value, true);
    case QN_SK_ENUM:
        return forbid(x, l->value, true);
    case QN_SK_CONST:
        return forbid(x, l->value, false);
    default:
        return QN_OK; /* of another type, which a string never fails; those of objects leave no strings */
    }
}

qn_status qn_sx_string_content(qn_sx *s, const qn_schema_clause *c, bool is_key, qn_gx *out)
{
    content x = {.s = s, .min = 0, .max = QN_GX_NO_MAX};
    for (size_t i = 0; i < c->n_literals; i++) {
        const qn_schema_literal *l = &c->literals[i];
        QN_TRY(l->is_negated ? add_fails(&x, l) : add_holds(&x, l->schema));
    }
    if (s->spelling.shut.len != 0 && !is_key) {
        join(&x, qn_gx_not(s->b, s->spelling.shut_text));
        x.has_not = true;
    }
    if (x.has_all && !x.has_not && x.min == 0 && x.max == QN_GX_NO_MAX) {
        *out = x.all;
        return qn_front_status(s->b, s->err);
    }
    bool is_plain = !x.has_all && !is_key;
    qn_gx length = qn_gx_repeat(s->b, is_plain ? s->json_char : s->any_char, x.min, x.max);
    /* NOT lets through what is no character, so any text is asked for beside it. */
    *out = x.has_all ? qn_gx_and(s->b, x.all, length) : length;
    return qn_front_status(s->b, s->err);
}

qn_status qn_sx_string(qn_sx *s, const qn_schema_clause *c, qn_gx *out)
{
    bool is_free = true;
    for (size_t i = 0; i < c->n_literals && is_free; i++) {
        const qn_schema_literal *l = &c->literals[i];
        is_free = !l->is_negated && qn_json_find(l->schema, "minLength") == NULL &&
                  qn_json_find(l->schema, "maxLength") == NULL && qn_json_find(l->schema, "pattern") == NULL &&
                  qn_json_find(l->schema, "format") == NULL;
    }
    if (is_free) {
        *out = s->any_text;
        return QN_OK;
    }
    qn_gx inside;
    QN_TRY(qn_sx_string_content(s, c, false, &inside));
    *out = qn_gx_cat(s->b, (qn_gx[]){s->quote, inside, s->quote}, 3);
    return QN_OK;
}
