/* str.format: text with fields in braces.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

#include <stdio.h>

typedef struct fields {
    qn_run *run;
    const qn_args *args;
    const qn_vdict *mapping; /* of format_map, or NULL */
    int64_t next;            /* number of the next {}; -1: fields have been named by number */
    bool safe;               /* the text is Markup: what comes in is escaped */
} fields;

static qn_status expand(fields *f, const qn_vstr *s, size_t from, size_t to, unsigned depth, qn_vbuild *v);

/* ---- what a field names ---- */

static bool all_digits(qn_str t)
{
    for (size_t i = 0; i < t.len; i++) {
        if (t.data[i] < '0' || t.data[i] > '9') {
            return false;
        }
    }
    return t.len > 0;
}

static int64_t digits_value(qn_str t)
{
    int64_t n = 0;
    for (size_t i = 0; i < t.len && n < INT32_MAX; i++) {
        n = n * 10 + t.data[i] - '0';
    }
    return n;
}

static qn_status argument(fields *f, qn_str name, qn_value *out)
{
    if (all_digits(name)) {
        int64_t i = digits_value(name);
        if (f->mapping != NULL || i >= f->args->n_pos) {
            return qn_run_fail(f->run, "Replacement index %lld out of range for positional args tuple", (long long)i);
        }
        *out = f->args->pos[i];
        return QN_OK;
    }
    if (f->mapping != NULL && qn_vdict_find_str(f->mapping, name, out)) {
        return QN_OK;
    }
    for (uint32_t i = 0; i < f->args->n_named; i++) {
        if (qn_str_eq(f->args->names[i], name)) {
            *out = f->args->named[i];
            return QN_OK;
        }
    }
    return qn_run_fail(f->run, "format: there is no argument '%.*s'", QN_STR_ARG(name));
}

/* .attribute and [item] after the first name. */
static qn_status follow(fields *f, qn_str path, qn_value *a)
{
    for (size_t i = 0; i < path.len;) {
        bool item = path.data[i] == '[';
        size_t from = ++i;
        while (i < path.len && (item ? path.data[i] != ']' : path.data[i] != '.' && path.data[i] != '[')) {
            i++;
        }
        qn_str name = {path.data + from, i - from};
        if (name.len == 0) {
            return qn_run_fail(f->run, "Empty attribute in format string");
        }
        if (!item) {
            QN_TRY(qn_vattribute(f->run, *a, name, a));
            continue;
        }
        if (i++ == path.len) {
            return qn_run_fail(f->run, "Missing ']' in format string");
        }
        if (i < path.len && path.data[i] != '.' && path.data[i] != '[') {
            return qn_run_fail(f->run, "Only '.' or '[' may follow ']' in format field specifier");
        }
        qn_value key;
        if (all_digits(name)) {
            key = qn_vint(digits_value(name));
        } else {
            QN_TRY(qn_vstring(f->run, name.data, name.len, false, &key));
        }
        QN_TRY(qn_vitem(f->run, *a, key, a));
    }
    return QN_OK;
}

static qn_status look_up(fields *f, qn_str name, qn_value *out)
{
    char number[24];
    size_t n = 0;
    while (n < name.len && name.data[n] != '.' && name.data[n] != '[') {
        n++;
    }
    qn_str first = {name.data, n};
    if (name.len == 0) {
        if (f->next < 0) {
            return qn_run_fail(f->run, "cannot switch from manual field specification to automatic field numbering");
        }
        snprintf(number, sizeof(number), "%lld", (long long)f->next++);
        first = qn_str_of(number);
    } else if (all_digits(name)) {
        if (f->next > 0) {
            return qn_run_fail(f->run, "cannot switch from automatic field numbering to manual field specification");
        }
        f->next = -1;
    }
    QN_TRY(argument(f, first, out));
    return follow(f, (qn_str){name.data + n, name.len - n}, out);
}

/* ---- one field ---- */

static qn_status field(fields *f, const qn_vstr *s, qn_str name, char conversion, size_t spec_from, size_t spec_to,
                       unsigned depth, qn_vbuild *v)
{
    qn_value a, spec;
    QN_TRY(look_up(f, name, &a));
    if (conversion == 's') {
        QN_TRY(qn_vstr_of(f->run, a, &a));
    } else if (conversion == 'r') {
        QN_TRY(qn_vrepr_of(f->run, a, &a));
    } else if (conversion == 'a') {
        QN_TRY(qn_vascii_of(f->run, a, &a));
    } else if (conversion != 0) {
        return qn_run_fail(f->run, "Unknown conversion specifier '%c'",
                           conversion > ' ' && conversion < 0x7F ? conversion : '?');
    }
    qn_vbuild inner;
    qn_vbuild_init(&inner, f->run);
    QN_TRY(expand(f, s, spec_from, spec_to, depth + 1, &inner));
    QN_TRY(qn_vbuild_finish(&inner, &spec));
    if (f->safe && qn_vis_safe(a) && spec.u.s->n_bytes > 0) {
        return qn_run_fail(f->run, "Unsupported format specification for Markup.");
    }
    if (!qn_vis_safe(a) || !f->safe) {
        QN_TRY(qn_vformat_one(f->run, a, qn_vbytes(spec), &a));
    }
    if (f->safe) {
        QN_TRY(qn_vescape(f->run, a, &a));
    }
    qn_vbuild_add_string(v, a);
    return v->status;
}

/* s[*i] follows a '{'; moves *i behind the '}' of the field. */
static qn_status read_field(fields *f, const qn_vstr *s, size_t *i, size_t to, unsigned depth, qn_vbuild *v)
{
    size_t from = *i, end = from;
    bool bracket = false;
    for (; end < to; end++) {
        char c = s->bytes[end];
        if (c == '{') {
            return qn_run_fail(f->run, "unexpected '{' in field name");
        }
        bracket = c == '[' || (bracket && c != ']');
        if (!bracket && (c == '}' || c == ':' || c == '!')) {
            break;
        }
    }
    if (end >= to) {
        return qn_run_fail(f->run, from == to ? "Single '{' encountered in format string"
                                              : "expected '}' before end of string");
    }
    qn_str name = {s->bytes + from, end - from};
    char conversion = 0;
    if (s->bytes[end] == '!') {
        if (end + 2 >= to || (s->bytes[end + 2] != ':' && s->bytes[end + 2] != '}')) {
            return qn_run_fail(f->run, "expected ':' after conversion specifier");
        }
        conversion = s->bytes[end + 1];
        end += 2;
    }
    size_t spec_from = end, spec_to = end;
    if (s->bytes[end] == ':') {
        spec_from = ++end;
        for (unsigned open = 1; end < to; end++) {
            open += s->bytes[end] == '{';
            open -= s->bytes[end] == '}';
            if (open == 0) {
                break;
            }
        }
        if (end >= to) {
            return qn_run_fail(f->run, "unmatched '{' in format spec");
        }
        spec_to = end;
    }
    *i = end + 1;
    return field(f, s, name, conversion, spec_from, spec_to, depth, v);
}

static qn_status expand(fields *f, const qn_vstr *s, size_t from, size_t to, unsigned depth, qn_vbuild *v)
{
    if (depth > 2) {
        return qn_run_fail(f->run, "Max string recursion exceeded");
    }
    for (size_t i = from; i < to;) {
        size_t at = i;
        while (at < to && s->bytes[at] != '{' && s->bytes[at] != '}') {
            at++;
        }
        qn_vbuild_add_slice(v, s, i, at - i);
        QN_TRY(v->status);
        i = at;
        if (at >= to) {
            break;
        }
        if (at + 1 < to && s->bytes[at + 1] == s->bytes[at]) {
            qn_vbuild_add_slice(v, s, at, 1);
            i = at + 2;
            continue;
        }
        if (s->bytes[at] == '}') {
            return qn_run_fail(f->run, "Single '}' encountered in format string");
        }
        i = at + 1;
        QN_TRY(read_field(f, s, &i, to, depth, v));
    }
    return v->status;
}

qn_status qn_vformat(qn_run *run, qn_value format, const qn_args *args, const qn_vdict *mapping, qn_value *out)
{
    fields f = {.run = run, .args = args, .mapping = mapping, .safe = qn_vis_safe(format)};
    qn_vbuild v;
    qn_vbuild_init(&v, run);
    QN_TRY(expand(&f, format.u.s, 0, format.u.s->n_bytes, 0, &v));
    QN_TRY(qn_vbuild_finish(&v, out));
    *out = qn_vsafe(*out, f.safe);
    return QN_OK;
}
