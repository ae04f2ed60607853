/* The text of values: str(), which is what a template prints, and repr(), which is how containers show their items.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

#include <stdio.h>

/* ---- strings ---- */

/* How repr() writes cp, or 0: as it is. */
static size_t escape_of(uint32_t cp, char quote, char out[12])
{
    static const char hex[] = "0123456789abcdef";
    if (cp == (uint32_t)quote || cp == '\\') {
        out[0] = '\\';
        out[1] = (char)cp;
        return 2;
    }
    if (qn_char_is_printable(cp)) {
        return 0;
    }
    out[0] = '\\';
    if (cp == '\n' || cp == '\r' || cp == '\t') {
        out[1] = cp == '\n' ? 'n' : cp == '\r' ? 'r' : 't';
        return 2;
    }
    out[1] = cp < 0x100 ? 'x' : cp < 0x10000 ? 'u' : 'U';
    size_t n_digits = cp < 0x100 ? 2 : cp < 0x10000 ? 4 : 8;
    for (size_t i = 0; i < n_digits; i++) {
        out[2 + i] = hex[cp >> (4 * (n_digits - 1 - i)) & 15];
    }
    return 2 + n_digits;
}

void qn_vbuild_add_repr_string(qn_vbuild *v, const qn_vstr *s)
{
    bool single = memchr(s->bytes, '\'', s->n_bytes) != NULL, both = memchr(s->bytes, '"', s->n_bytes) != NULL;
    char quote = single && !both ? '"' : '\'';
    qn_vbuild_add(v, &quote, 1);
    size_t plain = 0;
    for (size_t i = 0; i < s->n_bytes && v->status == QN_OK;) {
        size_t at = i;
        char escape[12];
        size_t n = escape_of(qn_vchar_next(s, &i), quote, escape);
        if (n > 0) {
            qn_vbuild_add_slice(v, s, plain, at - plain);
            qn_vbuild_add_like(v, s, at, escape, n);
            plain = i;
        }
    }
    qn_vbuild_add_slice(v, s, plain, s->n_bytes - plain);
    qn_vbuild_add(v, &quote, 1);
}

/* ---- containers ---- */

/* The containers that are being shown, innermost first: one inside itself (a namespace can be) is shown as dots. */
typedef struct shown {
    const void *p;
    const struct shown *around;
} shown;

static void add_repr(qn_vbuild *v, qn_value a, const shown *around);

static void add_items(qn_vbuild *v, const qn_vlist *l, const char *ends, bool comma_for_one, const shown *inside)
{
    qn_vbuild_add(v, ends, 1);
    for (uint32_t i = 0; i < l->n && v->status == QN_OK; i++) {
        if (i > 0) {
            qn_vbuild_add(v, ", ", 2);
        }
        add_repr(v, l->items[i], inside);
    }
    qn_vbuild_add(v, ",", comma_for_one && l->n == 1);
    qn_vbuild_add(v, ends + 1, 1);
}

static void add_dict(qn_vbuild *v, const qn_vdict *d, const shown *inside)
{
    qn_vbuild_add(v, "{", 1);
    for (uint32_t i = 0; i < d->n && v->status == QN_OK; i++) {
        if (i > 0) {
            qn_vbuild_add(v, ", ", 2);
        }
        add_repr(v, d->entries[i].key, inside);
        qn_vbuild_add(v, ": ", 2);
        add_repr(v, d->entries[i].x, inside);
    }
    qn_vbuild_add(v, "}", 1);
}

static void add_iterator(qn_vbuild *v, qn_value a, const shown *inside)
{
    const qn_vlist *l = a.u.list;
    if ((a.flags & QN_VF_VIEW) == 0) {
        qn_vbuild_printf(v, "<%s object>", l->type); /* Python adds the address */
    } else if (qn_vis_range(a)) {
        qn_vbuild_printf(v, "range(%lld, %lld", (long long)l->range[0], (long long)l->range[1]);
        if (l->range[2] != 1) {
            qn_vbuild_printf(v, ", %lld", (long long)l->range[2]);
        }
        qn_vbuild_add(v, ")", 1);
    } else {
        qn_vbuild_printf(v, "%s(", l->type);
        add_items(v, l, "[]", false, inside);
        qn_vbuild_add(v, ")", 1);
    }
}

static void add_inside(qn_vbuild *v, qn_value a, const shown *around)
{
    const void *p = a.kind == QN_V_DICT || a.kind == QN_V_NAMESPACE ? (const void *)a.u.dict : (const void *)a.u.list;
    shown inside = {.p = p, .around = around};
    for (const shown *s = around; s != NULL; s = s->around) {
        if (s->p == p) {
            qn_vbuild_add_cstr(v, a.kind == QN_V_LIST        ? "[...]"
                                  : a.kind == QN_V_TUPLE     ? "(...)"
                                  : a.kind == QN_V_NAMESPACE ? "<Namespace {...}>"
                                                             : "{...}");
            return;
        }
    }
    switch ((qn_vkind)a.kind) {
    case QN_V_LIST:
        add_items(v, a.u.list, "[]", false, &inside);
        break;
    case QN_V_TUPLE:
        add_items(v, a.u.list, "()", true, &inside);
        break;
    case QN_V_NAMESPACE:
        qn_vbuild_add_cstr(v, "<Namespace ");
        add_dict(v, a.u.dict, &inside);
        qn_vbuild_add(v, ">", 1);
        break;
    case QN_V_DICT:
        add_dict(v, a.u.dict, &inside);
        break;
    default:
        add_iterator(v, a, &inside);
        break;
    }
}

static void add_function(qn_vbuild *v, const qn_vfunction *f)
{
    if (f->data != NULL) {
        qn_vbuild_printf(v, "<Macro '%.*s'>", QN_STR_ARG(f->name));
    } else if (f->self.kind != QN_V_UNDEFINED) {
        qn_vbuild_printf(v, "<built-in method %.*s of %s object>", QN_STR_ARG(f->name), qn_vkind_name(f->self));
    } else {
        qn_vbuild_printf(v, "<function %.*s>", QN_STR_ARG(f->name));
    }
}

/* Numbers, None and whatever looks the same in str() and repr(). */
static void add_plain(qn_vbuild *v, qn_value a)
{
    switch ((qn_vkind)a.kind) {
    case QN_V_NONE:
        qn_vbuild_add_cstr(v, "None");
        break;
    case QN_V_BOOL:
        qn_vbuild_add_cstr(v, a.u.b ? "True" : "False");
        break;
    case QN_V_INT:
        qn_vbuild_printf(v, "%lld", (long long)a.u.i);
        break;
    case QN_V_BIGINT:
        qn_vbuild_add_string(v, a);
        break;
    case QN_V_FLOAT:
        qn_vbuild_add_float(v, a.u.f);
        break;
    case QN_V_FUNCTION:
        add_function(v, a.u.fn);
        break;
    case QN_V_OBJECT:
        qn_vbuild_printf(v, "<%s object>", a.u.object->type);
        break;
    default:
        break;
    }
}

static void add_repr(qn_vbuild *v, qn_value a, const shown *around)
{
    if (v->status != QN_OK) {
        return;
    }
    switch ((qn_vkind)a.kind) {
    case QN_V_UNDEFINED:
        qn_vbuild_add_cstr(v, "Undefined");
        return;
    case QN_V_STRING:
        qn_vbuild_add_cstr(v, qn_vis_safe(a) ? "Markup(" : "");
        qn_vbuild_add_repr_string(v, a.u.s);
        qn_vbuild_add_cstr(v, qn_vis_safe(a) ? ")" : "");
        return;
    case QN_V_LIST:
    case QN_V_TUPLE:
    case QN_V_DICT:
    case QN_V_NAMESPACE:
    case QN_V_ITERATOR:
        v->status = qn_run_steps(v->run, 1 + v->run->depth / 4); /* for the walk through those around */
        v->status = v->status == QN_OK ? qn_run_enter(v->run) : v->status;
        if (v->status == QN_OK) {
            add_inside(v, a, around);
            qn_run_leave(v->run);
        }
        return;
    default:
        add_plain(v, a);
        return;
    }
}

/* ---- what others call ---- */

void qn_vbuild_add_value(qn_vbuild *v, qn_value x)
{
    if (x.kind == QN_V_STRING) {
        qn_vbuild_add_string(v, x);
    } else if (x.kind != QN_V_UNDEFINED) {
        add_repr(v, x, NULL);
    }
}

qn_status qn_vstr_of(qn_run *run, qn_value a, qn_value *out)
{
    if (a.kind == QN_V_STRING) {
        *out = qn_vsafe(a, false);
        return QN_OK;
    }
    qn_vbuild v;
    qn_vbuild_init(&v, run);
    qn_vbuild_add_value(&v, a);
    return qn_vbuild_finish(&v, out);
}

qn_status qn_vrepr_of(qn_run *run, qn_value a, qn_value *out)
{
    qn_vbuild v;
    qn_vbuild_init(&v, run);
    add_repr(&v, a, NULL);
    return qn_vbuild_finish(&v, out);
}

qn_status qn_vascii_of(qn_run *run, qn_value a, qn_value *out)
{
    QN_TRY(qn_vrepr_of(run, a, &a));
    const qn_vstr *s = a.u.s;
    qn_vbuild v;
    qn_vbuild_init(&v, run);
    for (size_t i = 0; i < s->n_bytes && v.status == QN_OK;) {
        size_t at = i;
        uint32_t cp = qn_vchar_next(s, &i);
        char escape[16];
        int n = snprintf(escape, sizeof(escape), cp < 0x100 ? "\\x%02x" : cp < 0x10000 ? "\\u%04x" : "\\U%08x", cp);
        if (cp < 0x80) {
            qn_vbuild_add_slice(&v, s, at, 1);
        } else {
            qn_vbuild_add_like(&v, s, at, escape, (size_t)n);
        }
    }
    return qn_vbuild_finish(&v, out);
}

qn_status qn_vconcat(qn_run *run, const qn_value *parts, uint32_t n, qn_value *out)
{
    if (parts[0].kind == QN_V_STRING && parts[0].u.s->n_bytes >= QN_APPEND_FROM) {
        return qn_vappend(run, parts, n, out);
    }
    qn_vbuild v;
    qn_vbuild_init(&v, run);
    for (uint32_t i = 0; i < n; i++) {
        qn_vbuild_add_value(&v, parts[i]);
    }
    return qn_vbuild_finish(&v, out);
}
