/* Arguments that are not JSON as a whole: parameters one by one between marks, in braces, or as Python has them.
 *
 * What stands between marks is turned into JSON by what the reader knows of the parameter's types; the same rules say
 * here which texts stand for which values. A string whose text would be read as something else is left out.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_calls_int.h"
#include "grammar/front_calls_types.h"

unsigned qn_tags_types(unsigned reader)
{
    static const unsigned pairs[][2] = {{QN_READ_STRING, QN_ST_STRING}, {QN_READ_NUMBER, QN_ST_NUMBER},
                                        {QN_READ_BOOL, QN_ST_BOOL},     {QN_READ_NULL, QN_ST_NULL},
                                        {QN_READ_ARRAY, QN_ST_ARRAY},   {QN_READ_OBJECT, QN_ST_OBJECT}};
    unsigned types = 0;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        types |= (reader & pairs[i][0]) != 0 ? pairs[i][1] : 0;
    }
    return reader == 0 ? QN_ST_ALL : types;
}

static qn_status check_mark(qn_calls *c, qn_str mark)
{
    return qn_calls_overlaps(mark) ? qn_fail(c->err, QN_EUNSUPPORTED,
                                             "calls of the chat template have the mark %.*s, whose "
                                             "end may be its beginning",
                                             QN_STR_ARG(mark))
                                   : QN_OK;
}

/* ---- values between marks ---- */

/* Texts that a reader which knows these types takes for something else than a string. */
static qn_gx misread(qn_calls *c, unsigned reader)
{
    static const qn_gx_range sign[] = {{'0', '9'}, {'-', '-'}},
                             in_number[] = {{'0', '9'}, {'+', '+'}, {'-', '.'}, {'E', 'E'}, {'e', 'e'}};
    qn_gx_builder *b = c->b;
    qn_gx ways[10];
    uint32_t n = 0;
    unsigned types = reader == 0 ? ~0u : reader;
    if ((types & QN_READ_NULL) != 0) {
        ways[n++] = qn_gx_bytes(b, QN_STR("null"));
        ways[n++] = qn_gx_bytes(b, QN_STR("None"));
    }
    if ((types & QN_READ_BOOL) != 0) {
        ways[n++] = qn_gx_bytes(b, QN_STR("true"));
        ways[n++] = qn_gx_bytes(b, QN_STR("false"));
        ways[n++] = qn_gx_bytes(b, QN_STR("True"));
        ways[n++] = qn_gx_bytes(b, QN_STR("False"));
    }
    if ((types & QN_READ_NUMBER) != 0) {
        qn_gx rest = qn_gx_repeat(b, qn_gx_class(b, in_number, 5), 0, QN_GX_NO_MAX);
        ways[n++] = qn_gx_cat(b, (qn_gx[]){qn_gx_class(b, sign, 2), rest}, 2);
    }
    qn_gx_range open[3];
    uint32_t n_open = 0;
    if ((types & QN_READ_ARRAY) != 0) {
        open[n_open++] = (qn_gx_range){'[', '['};
    }
    if ((types & QN_READ_OBJECT) != 0) {
        open[n_open++] = (qn_gx_range){'{', '{'};
    }
    if (reader == 0) {
        open[n_open++] = (qn_gx_range){'"', '"'};
    }
    qn_gx all = qn_gx_cat(b, (qn_gx[]){c->blanks, qn_gx_alt(b, ways, n), c->blanks}, 3);
    if (n_open == 0) {
        return all;
    }
    return qn_gx_alt(b, (qn_gx[]){all, qn_gx_cat(b, (qn_gx[]){c->blanks, qn_gx_class(b, open, n_open), c->any}, 3)}, 2);
}

/* Strings as they are; begins with what opens a guard only when it is one. */
qn_status qn_tags_string(qn_call_tags *t, unsigned reader, const qn_schema_item *items, size_t n, qn_gx *out)
{
    qn_calls *c = t->c;
    qn_gx_builder *b = c->b;
    const qn_syntax *s = c->syntax;
    qn_gx text;
    QN_TRY(qn_sx_typed(&t->raw, items, n, QN_ST_STRING, &text));
    *out = reader == QN_READ_STRING ? text : qn_gx_and(b, text, qn_gx_not(b, misread(c, reader)));
    if (s->guard_open.core.len > 0) {
        qn_gx opened = qn_gx_cat(b, (qn_gx[]){qn_calls_spelled(c, s->guard_open.core), c->any}, 2);
        qn_gx guarded[] = {qn_calls_mark(c, &s->guard_open), text, qn_calls_mark(c, &s->guard_close)};
        bool may_guard = reader == 0 || reader == QN_READ_STRING;
        qn_gx ways[] = {qn_gx_and(b, *out, qn_gx_not(b, opened)), qn_gx_cat(b, guarded, 3)};
        *out = qn_gx_alt(b, ways, may_guard ? 2 : 1);
    }
    return QN_OK;
}

qn_status qn_tags_json(qn_call_tags *t, unsigned types, const qn_schema_item *items, size_t n, qn_gx *out)
{
    const qn_sx_members *own = t->json.members;
    t->json.members = NULL; /* only the outermost object stands between marks */
    qn_status status = qn_sx_typed(&t->json, items, n, types, out);
    t->json.members = own;
    return status;
}

/* ---- parameters ---- */

/* What the reader takes for a name between marks. */
qn_status qn_tags_check_key(qn_call_tags *t, qn_str name)
{
    const qn_syntax *s = t->c->syntax;
    const qn_mark *marks[] = {&s->key_end, &s->key_end_json};
    bool is_good =
        name.len > 0 && name.len <= 256 && !qn_is_blank(name.data[0]) && !qn_is_blank(name.data[name.len - 1]);
    for (size_t i = 0; i < name.len; i++) {
        is_good = is_good && (unsigned char)name.data[i] >= ' ' && name.data[i] != '<' && name.data[i] != '>';
    }
    for (size_t i = 0; i < 2; i++) {
        qn_str core = marks[i]->core;
        is_good = is_good && (core.len == 0 || memmem(name.data, name.len, core.data, core.len) == NULL) &&
                  (core.len == 0 || memchr(name.data, core.data[0], name.len) == NULL);
    }
    return is_good
               ? QN_OK
               : qn_fail(t->err, QN_EUNSUPPORTED, "the parameter \"%.*s\" has a name that cannot stand between marks",
                         (int)(name.len < 80 ? name.len : 80), name.data);
}

static qn_gx parameter(qn_call_tags *t, qn_str name, const qn_mark *end, qn_gx value)
{
    qn_calls *c = t->c;
    const qn_syntax *s = c->syntax;
    qn_gx parts[] = {qn_calls_maybe(c, s->key_open.before), qn_calls_mark(c, &s->key_open),
                     qn_calls_maybe(c, s->key_open.after),  qn_gx_bytes(c->b, name),
                     qn_calls_maybe(c, end->before),        qn_calls_mark(c, end),
                     qn_calls_text(c, end->after),          value,
                     qn_calls_text(c, s->value_end.before), qn_calls_mark(c, &s->value_end)};
    return qn_gx_cat(c->b, parts, 10);
}

static qn_status write_tag(void *ctx, qn_str name, const qn_schema_item *items, size_t n, qn_gx *out)
{
    qn_call_tags *t = ctx;
    qn_gx_builder *b = t->c->b;
    const qn_syntax *s = t->c->syntax;
    unsigned reader = qn_read_types(qn_read_member(t->tool->parameters, name));
    bool says_type = s->key_end_json.core.len > 0; /* the mark itself tells strings from the rest */
    unsigned types = qn_tags_types(says_type ? 0 : reader);
    bool strings = (types & QN_ST_STRING) != 0 && !s->quoted;
    bool as_json = s->quoted || (!says_type && reader == 0); /* strings too, in quotes */
    qn_gx ways[2];
    uint32_t n_ways = 0;
    QN_TRY(qn_tags_check_key(t, name));
    if (strings) {
        QN_TRY(qn_tags_string(t, says_type ? QN_READ_STRING : reader, items, n, &ways[n_ways]));
        ways[n_ways] = parameter(t, name, &s->key_end, ways[n_ways]);
        n_ways++;
    }
    if (as_json || (types & ~(unsigned)QN_ST_STRING) != 0) {
        qn_gx value;
        QN_TRY(qn_tags_json(t, as_json ? types : types & ~(unsigned)QN_ST_STRING, items, n, &value));
        ways[n_ways++] = parameter(t, name, says_type ? &s->key_end_json : &s->key_end, value);
    }
    *out = qn_gx_alt(b, ways, n_ways);
    return qn_front_status(b, t->err);
}

/* key=value, where JSON is what Python would read too. */
static qn_status write_python(void *ctx, qn_str name, const qn_schema_item *items, size_t n, qn_gx *out)
{
    qn_call_tags *t = ctx;
    qn_gx value, key;
    t->json.spelling.has_bare_keys = true;
    qn_status status = qn_sx_key(&t->json, name, &key);
    t->json.spelling.has_bare_keys = false;
    QN_TRY(status);
    QN_TRY(qn_tags_json(t, QN_ST_ALL, items, n, &value));
    *out = qn_gx_cat(t->c->b, (qn_gx[]){key, qn_gx_bytes(t->c->b, QN_STR("=")), value}, 3);
    return QN_OK;
}

/* ---- the arguments of a call ---- */

static qn_status build_marked(qn_call_tags *t, const qn_sx_members *members, qn_gx *out)
{
    const qn_schema_item root = {t->tool->parameters, false};
    t->json.members = members;
    qn_status status = qn_sx_typed(&t->json, &root, 1, QN_ST_OBJECT, out);
    t->json.members = NULL;
    QN_TRY(status);
    QN_TRY(qn_sx_finish(&t->json));
    return qn_sx_finish(&t->raw);
}

static qn_status tagged(qn_call_tags *t, qn_gx *out)
{
    qn_calls *c = t->c;
    const qn_mark *end = &c->syntax->value_end;
    QN_TRY(check_mark(c, end->core));
    qn_gx inside = qn_gx_cat(c->b, (qn_gx[]){c->any, qn_calls_spelled(c, end->core), c->any}, 3);
    qn_sx_spelling json = {.is_loose = true, .shut = end->core, .shut_text = inside};
    qn_sx_spelling raw = {.is_raw = true, .shut = end->core, .shut_text = inside};
    qn_sx_respell(&t->json, &json, qn_gx_bytes(c->b, QN_STR("\"")));
    qn_sx_respell(&t->raw, &raw, c->none);
    qn_calls_set_blanks(c, &t->json);
    qn_sx_members members = {c->none, qn_calls_maybe(c, end->after), c->none, write_tag, t};
    return build_marked(t, &members, out);
}

static qn_status nested(qn_call_tags *t, qn_gx *out)
{
    qn_calls *c = t->c;
    const qn_syntax *s = c->syntax;
    QN_TRY(check_mark(c, s->key_open.core));
    QN_TRY(check_mark(c, s->value_end.core));
    qn_gx marks[] = {qn_calls_spelled(c, s->key_open.core), qn_calls_spelled(c, s->value_end.core)};
    qn_gx inside = qn_gx_cat(c->b, (qn_gx[]){c->any, qn_gx_alt(c->b, marks, 2), c->any}, 3);
    qn_sx_spelling json = {.is_loose = true, .shut = s->value_end.core, .shut_text = inside};
    qn_sx_spelling raw = {.is_raw = true, .shut = s->value_end.core, .shut_text = inside};
    qn_sx_respell(&t->json, &json, qn_gx_bytes(c->b, QN_STR("\"")));
    qn_sx_respell(&t->raw, &raw, c->none);
    qn_calls_set_blanks(c, &t->json);
    QN_TRY(qn_tags_nested(t, out));
    QN_TRY(qn_sx_finish(&t->json));
    return qn_sx_finish(&t->raw);
}

static qn_status python(qn_call_tags *t, qn_gx *out)
{
    qn_calls *c = t->c;
    qn_gx_builder *b = c->b;
    qn_sx_respell(&t->json, &(qn_sx_spelling){.is_loose = true}, qn_gx_bytes(b, QN_STR("\"")));
    qn_calls_set_blanks(c, &t->json);
    qn_sx_members members = {qn_gx_bytes(b, QN_STR("(")), t->json.comma, qn_gx_bytes(b, QN_STR(")")), write_python, t};
    return build_marked(t, &members, out);
}

static qn_status braces(qn_call_tags *t, qn_gx *out)
{
    qn_calls *c = t->c;
    qn_str quote = c->syntax->quote;
    QN_TRY(check_mark(c, quote));
    qn_sx_spelling spelling = {.is_raw = quote.len > 0, .has_bare_keys = true, .shut = quote};
    if (quote.len > 0) {
        spelling.shut_text = qn_gx_cat(c->b, (qn_gx[]){c->any, qn_gx_bytes(c->b, quote), c->any}, 3);
    }
    qn_sx_respell(&t->json, &spelling, quote.len > 0 ? qn_calls_text(c, quote) : qn_gx_bytes(c->b, QN_STR("\"")));
    return build_marked(t, NULL, out);
}

qn_status qn_calls_marked(qn_calls *c, const qn_call_tool *tool, qn_gx *out, qn_error *err)
{
    qn_call_tags t = {.c = c, .tool = tool, .o = {.strict = tool->is_strict, .plain = true}, .err = err};
    qn_status status = qn_sx_open(&t.json, c->b, tool->parameters, &t.o, err);
    status = status == QN_OK ? qn_sx_open(&t.raw, c->b, tool->parameters, &t.o, err) : status;
    if (status == QN_OK) {
        qn_shape shape = c->syntax->shape;
        status = shape == QN_SHAPE_TAGGED   ? tagged(&t, out)
                 : shape == QN_SHAPE_NESTED ? nested(&t, out)
                 : shape == QN_SHAPE_PYTHON ? python(&t, out)
                                            : braces(&t, out);
    }
    qn_sx_close(&t.json);
    qn_sx_close(&t.raw);
    return status;
}
