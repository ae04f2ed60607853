/* The filter tojson, as chat templates have it: json.dumps(x, ensure_ascii=False, indent, separators, sort_keys).
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

#include <math.h>
#include <stdio.h>

typedef struct writer {
    qn_run *run;
    qn_vbuild v;
    bool ascii, sort, lines;
    qn_value indent, comma, colon; /* strings */
    uint32_t level;
    const struct inside *around;
} writer;

/* The containers around: one that contains itself has no JSON. */
typedef struct inside {
    const void *p;
    const struct inside *around;
} inside;

static void add_string(writer *w, const qn_vstr *s)
{
    static const char short_names[] = "btn\0fr"; /* of 8 to 13 */
    qn_vbuild_add(&w->v, "\"", 1);
    size_t plain = 0;
    for (size_t i = 0; i < s->n_bytes && w->v.status == QN_OK;) {
        size_t at = i;
        uint32_t cp = qn_vchar_next(s, &i);
        char text[16];
        int n = 0;
        if (cp == '"' || cp == '\\') {
            n = snprintf(text, sizeof(text), "\\%c", (char)cp);
        } else if (cp >= 8 && cp <= 13 && cp != 11) {
            n = snprintf(text, sizeof(text), "\\%c", short_names[cp - 8]);
        } else if (cp < 0x20 || (w->ascii && cp >= 0x7F && cp < 0x10000)) {
            n = snprintf(text, sizeof(text), "\\u%04x", cp);
        } else if (w->ascii && cp >= 0x10000) {
            n = snprintf(text, sizeof(text), "\\u%04x\\u%04x", 0xD800 + ((cp - 0x10000) >> 10),
                         0xDC00 + ((cp - 0x10000) & 0x3FF));
        }
        if (n > 0) {
            qn_vbuild_add_slice(&w->v, s, plain, at - plain);
            qn_vbuild_add_like(&w->v, s, at, text, (size_t)n);
            plain = i;
        }
    }
    qn_vbuild_add_slice(&w->v, s, plain, s->n_bytes - plain);
    qn_vbuild_add(&w->v, "\"", 1);
}

static void add_float(writer *w, double f)
{
    if (isfinite(f)) {
        qn_vbuild_add_float(&w->v, f);
    } else {
        qn_vbuild_add_cstr(&w->v, isnan(f) ? "NaN" : f > 0 ? "Infinity" : "-Infinity");
    }
}

static void new_line(writer *w)
{
    if (w->lines) {
        qn_vbuild_add(&w->v, "\n", 1);
        qn_vbuild_repeat(&w->v, w->indent, w->level);
    }
}

static qn_status add(writer *w, qn_value a);

static qn_status add_list(writer *w, const qn_vlist *l)
{
    if (l->n == 0) {
        qn_vbuild_add(&w->v, "[]", 2);
        return w->v.status;
    }
    qn_vbuild_add(&w->v, "[", 1);
    w->level++;
    for (uint32_t i = 0; i < l->n; i++) {
        if (i > 0) {
            qn_vbuild_add_string(&w->v, w->comma);
        }
        new_line(w);
        QN_TRY(add(w, l->items[i]));
    }
    w->level--;
    new_line(w);
    qn_vbuild_add(&w->v, "]", 1);
    return w->v.status;
}

static qn_status add_key(writer *w, qn_value key)
{
    switch ((qn_vkind)key.kind) {
    case QN_V_STRING:
        add_string(w, key.u.s);
        return w->v.status;
    case QN_V_NONE:
    case QN_V_BOOL:
    case QN_V_INT:
    case QN_V_BIGINT:
    case QN_V_FLOAT:
        qn_vbuild_add(&w->v, "\"", 1);
        QN_TRY(add(w, key));
        qn_vbuild_add(&w->v, "\"", 1);
        return w->v.status;
    default:
        return qn_run_fail(w->run, "keys must be str, int, float, bool or None, not %s", qn_vkind_name(key));
    }
}

static qn_status sorted_members(writer *w, const qn_vdict *d, qn_value *keys, qn_value *items)
{
    QN_TRY(qn_vlist_new(w->run, QN_V_LIST, d->n, keys));
    QN_TRY(qn_vlist_new(w->run, QN_V_LIST, d->n, items));
    for (uint32_t i = 0; i < d->n; i++) {
        qn_vdict_at(d, i, &keys->u.list->items[i], &items->u.list->items[i]);
    }
    return w->sort ? qn_vsort(w->run, keys->u.list->items, items->u.list->items, d->n, false) : QN_OK;
}

static qn_status add_dict(writer *w, const qn_vdict *d)
{
    if (d->n == 0) {
        qn_vbuild_add(&w->v, "{}", 2);
        return w->v.status;
    }
    qn_value keys, items;
    QN_TRY(sorted_members(w, d, &keys, &items));
    qn_vbuild_add(&w->v, "{", 1);
    w->level++;
    for (uint32_t i = 0; i < d->n; i++) {
        if (i > 0) {
            qn_vbuild_add_string(&w->v, w->comma);
        }
        new_line(w);
        QN_TRY(add_key(w, keys.u.list->items[i]));
        qn_vbuild_add_string(&w->v, w->colon);
        QN_TRY(add(w, items.u.list->items[i]));
    }
    w->level--;
    new_line(w);
    qn_vbuild_add(&w->v, "}", 1);
    return w->v.status;
}

static qn_status add_container(writer *w, qn_value a)
{
    inside here = {.p = a.kind == QN_V_DICT ? (const void *)a.u.dict : (const void *)a.u.list, .around = w->around};
    QN_TRY(qn_run_steps(w->run, 1 + w->run->depth / 4)); /* for the walk through those around */
    for (const inside *i = w->around; i != NULL; i = i->around) {
        if (i->p == here.p) {
            return qn_run_fail(w->run, "Circular reference detected");
        }
    }
    QN_TRY(qn_run_enter(w->run));
    w->around = &here;
    qn_status st = a.kind == QN_V_DICT ? add_dict(w, a.u.dict) : add_list(w, a.u.list);
    w->around = here.around;
    qn_run_leave(w->run);
    return st;
}

static qn_status add(writer *w, qn_value a)
{
    switch ((qn_vkind)a.kind) {
    case QN_V_STRING:
        add_string(w, a.u.s);
        return w->v.status;
    case QN_V_NONE:
        qn_vbuild_add_cstr(&w->v, "null");
        return w->v.status;
    case QN_V_BOOL:
        qn_vbuild_add_cstr(&w->v, a.u.b ? "true" : "false");
        return w->v.status;
    case QN_V_INT:
    case QN_V_BIGINT:
        qn_vbuild_add_value(&w->v, a);
        return w->v.status;
    case QN_V_FLOAT:
        add_float(w, a.u.f);
        return w->v.status;
    case QN_V_LIST:
    case QN_V_TUPLE:
    case QN_V_DICT:
        return add_container(w, a);
    default:
        return qn_run_fail(w->run, "Object of type %s is not JSON serializable", qn_vkind_name(a));
    }
}

static qn_status set_indent(writer *w, qn_value indent)
{
    int64_t n = 0;
    w->lines = indent.kind != QN_V_NONE && indent.kind != QN_V_UNDEFINED;
    if (indent.kind == QN_V_STRING) {
        w->indent = indent;
        return QN_OK;
    }
    if (w->lines) {
        QN_TRY(qn_varg_int(w->run, "tojson", indent, 0, &n));
    }
    qn_value space;
    qn_vbuild v;
    QN_TRY(qn_vcstring(w->run, " ", &space));
    qn_vbuild_init(&v, w->run);
    qn_vbuild_repeat(&v, space, n < 0 ? 0 : (uint64_t)n);
    return qn_vbuild_finish(&v, &w->indent);
}

static qn_status set_separators(writer *w, qn_value separators)
{
    if (separators.kind == QN_V_NONE || separators.kind == QN_V_UNDEFINED) {
        QN_TRY(qn_vcstring(w->run, w->lines ? "," : ", ", &w->comma));
        return qn_vcstring(w->run, ": ", &w->colon);
    }
    const qn_vlist *two;
    QN_TRY(qn_viterate(w->run, separators, &two));
    if (two->n != 2) {
        return qn_run_fail(w->run, "tojson: separators are two strings");
    }
    w->comma = two->items[0];
    w->colon = two->items[1];
    QN_TRY(qn_varg_string(w->run, "tojson", w->comma));
    return qn_varg_string(w->run, "tojson", w->colon);
}

qn_status qn_json_text(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    qn_value bound[4];
    QN_TRY(qn_args_bind(run, "tojson", "ensure_ascii=,indent=,separators=,sort_keys=", args, bound));
    writer w = {.run = run, .ascii = qn_varg_truth(bound[0], false), .sort = qn_varg_truth(bound[3], false)};
    qn_vbuild_init(&w.v, run);
    QN_TRY(set_indent(&w, bound[1]));
    QN_TRY(set_separators(&w, bound[2]));
    QN_TRY(add(&w, a));
    return qn_vbuild_finish(&w.v, out);
}
