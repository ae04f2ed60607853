/* The filter pprint: containers laid out in lines of 80 characters, keys of dicts sorted, as Python's pprint does it.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

#define LINE_WIDTH 80

typedef struct printer {
    qn_run *run;
    qn_vbuild v;
} printer;

/* ---- on one line ---- */

static const char *sort_name(qn_value a)
{
    return qn_vkind_name(a);
}

static bool is_ordered_pair(qn_value a, qn_value b)
{
    return (qn_vis_number(a) && qn_vis_number(b)) || (a.kind == b.kind && a.kind == QN_V_STRING);
}

/* Keys in order; those of kinds that have none between them, by the names of the kinds. */
static qn_status sorted_keys(qn_run *run, const qn_vdict *d, qn_value *keys, qn_value *items)
{
    QN_TRY(qn_vlist_new(run, QN_V_LIST, d->n, keys));
    QN_TRY(qn_vlist_new(run, QN_V_LIST, d->n, items));
    qn_value order;
    QN_TRY(qn_vlist_new(run, QN_V_LIST, d->n, &order));
    for (uint32_t i = 0; i < d->n; i++) {
        qn_vdict_at(d, i, &keys->u.list->items[i], &items->u.list->items[i]);
        qn_value pair;
        QN_TRY(qn_vpair(run, keys->u.list->items[i], items->u.list->items[i], &pair));
        order.u.list->items[i] = pair;
    }
    bool comparable = true;
    for (uint32_t i = 1; i < d->n; i++) {
        comparable = comparable && is_ordered_pair(keys->u.list->items[0], keys->u.list->items[i]);
    }
    qn_value by = *keys;
    if (!comparable) {
        QN_TRY(qn_vlist_new(run, QN_V_LIST, d->n, &by));
        for (uint32_t i = 0; i < d->n; i++) {
            QN_TRY(qn_vcstring(run, sort_name(keys->u.list->items[i]), &by.u.list->items[i]));
        }
    }
    QN_TRY(qn_vsort(run, by.u.list->items, order.u.list->items, d->n, false));
    for (uint32_t i = 0; i < d->n; i++) {
        keys->u.list->items[i] = order.u.list->items[i].u.list->items[0];
        items->u.list->items[i] = order.u.list->items[i].u.list->items[1];
    }
    return QN_OK;
}

static qn_status flat(qn_run *run, qn_value a, qn_vbuild *v);

static qn_status flat_inside(qn_run *run, qn_value a, qn_vbuild *v)
{
    qn_value keys, items = a;
    bool dict = a.kind == QN_V_DICT;
    if (dict) {
        QN_TRY(sorted_keys(run, a.u.dict, &keys, &items));
    }
    uint32_t n = dict ? a.u.dict->n : a.u.list->n;
    qn_vbuild_add_cstr(v, dict ? "{" : a.kind == QN_V_LIST ? "[" : "(");
    for (uint32_t i = 0; i < n; i++) {
        qn_vbuild_add_cstr(v, i > 0 ? ", " : "");
        if (dict) {
            QN_TRY(flat(run, keys.u.list->items[i], v));
            qn_vbuild_add_cstr(v, ": ");
        }
        QN_TRY(flat(run, items.u.list->items[i], v));
    }
    qn_vbuild_add_cstr(v, dict ? "}" : a.kind == QN_V_LIST ? "]" : n == 1 ? ",)" : ")");
    return v->status;
}

static qn_status flat(qn_run *run, qn_value a, qn_vbuild *v)
{
    if (a.kind == QN_V_DICT || a.kind == QN_V_LIST || a.kind == QN_V_TUPLE) {
        QN_TRY(qn_run_enter(run));
        QN_TRY(flat_inside(run, a, v));
        qn_run_leave(run);
        return QN_OK;
    }
    QN_TRY(qn_vrepr_of(run, a, &a));
    qn_vbuild_add_string(v, a);
    return v->status;
}

static qn_status flat_text(qn_run *run, qn_value a, qn_value *out)
{
    qn_vbuild v;
    qn_vbuild_init(&v, run);
    QN_TRY(flat(run, a, &v));
    return qn_vbuild_finish(&v, out);
}

/* ---- on several ---- */

static void new_line(printer *p, int64_t indent)
{
    qn_value space;
    qn_vbuild_add(&p->v, "\n", 1);
    if (qn_vcstring(p->run, " ", &space) == QN_OK) {
        qn_vbuild_repeat(&p->v, space, (uint64_t)indent);
    } else {
        p->v.status = p->run->err->code;
    }
}

static qn_status lay_out(printer *p, qn_value a, int64_t indent, int64_t allowance, unsigned level);

static qn_status container(printer *p, qn_value a, int64_t indent, int64_t allowance, unsigned level)
{
    qn_value keys, items = a;
    bool dict = a.kind == QN_V_DICT;
    if (dict) {
        QN_TRY(sorted_keys(p->run, a.u.dict, &keys, &items));
    }
    uint32_t n = dict ? a.u.dict->n : a.u.list->n;
    const char *end = dict ? "}" : a.kind == QN_V_LIST ? "]" : n == 1 ? ",)" : ")";
    allowance += (int64_t)strlen(end);
    qn_vbuild_add_cstr(&p->v, dict ? "{" : a.kind == QN_V_LIST ? "[" : "(");
    for (uint32_t i = 0; i < n; i++) {
        int64_t at = indent + 1;
        if (i > 0) {
            qn_vbuild_add_cstr(&p->v, ",");
            new_line(p, at);
        }
        if (dict) {
            qn_value key;
            QN_TRY(flat_text(p->run, keys.u.list->items[i], &key));
            qn_vbuild_add_string(&p->v, key);
            qn_vbuild_add_cstr(&p->v, ": ");
            at += key.u.s->n_chars + 2;
        }
        QN_TRY(lay_out(p, items.u.list->items[i], at, i + 1 == n ? allowance : 1, level));
    }
    qn_vbuild_add_cstr(&p->v, end);
    return p->v.status;
}

static qn_status repr_slice(qn_run *run, const qn_vstr *s, size_t from, size_t to, qn_value *out)
{
    QN_TRY(qn_vstring_slice(run, s, from, to - from, out));
    return qn_vrepr_of(run, *out, out);
}

/* Parts of one line that is too long, broken behind spaces. */
static qn_status break_line(printer *p, const qn_vstr *s, bool last_line, int64_t width, int64_t allowance,
                            qn_vlist *parts)
{
    size_t from = 0, end = 0;
    qn_value shown;
    for (size_t i = 0; i < s->n_bytes; end = i) {
        bool spaces = false;
        for (size_t at = i; at < s->n_bytes;) { /* a word and the spaces behind it */
            bool is = qn_char_is_space(qn_vchar_next(s, &at));
            if (spaces && !is) {
                break;
            }
            spaces = is;
            i = at;
        }
        QN_TRY(repr_slice(p->run, s, from, i, &shown));
        if (shown.u.s->n_chars > width - (last_line && i == s->n_bytes ? allowance : 0)) {
            if (end > from) {
                QN_TRY(repr_slice(p->run, s, from, end, &shown));
                QN_TRY(qn_vlist_push(p->run, parts, shown));
            }
            from = end;
        }
    }
    if (from < s->n_bytes) {
        QN_TRY(repr_slice(p->run, s, from, s->n_bytes, &shown));
        QN_TRY(qn_vlist_push(p->run, parts, shown));
    }
    return QN_OK;
}

static qn_status string(printer *p, qn_value a, int64_t indent, int64_t allowance, unsigned level)
{
    qn_value lines, parts, shown = a;
    QN_TRY(qn_vsplitlines(p->run, a, true, &lines));
    QN_TRY(qn_vlist_new(p->run, QN_V_LIST, 0, &parts));
    if (level == 1) {
        indent++;
        allowance++;
    }
    int64_t width = LINE_WIDTH - indent;
    for (uint32_t i = 0; i < lines.u.list->n; i++) {
        bool last = i + 1 == lines.u.list->n;
        qn_value line = lines.u.list->items[i];
        QN_TRY(qn_vrepr_of(p->run, line, &shown));
        if (shown.u.s->n_chars <= width - (last ? allowance : 0)) {
            QN_TRY(qn_vlist_push(p->run, parts.u.list, shown));
        } else {
            QN_TRY(break_line(p, line.u.s, last, width, allowance, parts.u.list));
        }
    }
    bool several = parts.u.list->n != 1;
    qn_vbuild_add_cstr(&p->v, several && level == 1 ? "(" : "");
    for (uint32_t i = 0; i < parts.u.list->n; i++) {
        if (i > 0) {
            new_line(p, indent);
        }
        qn_vbuild_add_string(&p->v, several ? parts.u.list->items[i] : shown);
    }
    qn_vbuild_add_cstr(&p->v, several && level == 1 ? ")" : "");
    return p->v.status;
}

static qn_status lay_out(printer *p, qn_value a, int64_t indent, int64_t allowance, unsigned level)
{
    qn_value text;
    QN_TRY(flat_text(p->run, a, &text));
    bool fits = text.u.s->n_chars <= LINE_WIDTH - indent - allowance;
    bool breaks = a.kind == QN_V_DICT || a.kind == QN_V_LIST || a.kind == QN_V_TUPLE ||
                  (a.kind == QN_V_STRING && !qn_vis_safe(a));
    if (fits || !breaks) {
        qn_vbuild_add_string(&p->v, text);
        return p->v.status;
    }
    QN_TRY(qn_run_enter(p->run));
    QN_TRY((a.kind == QN_V_STRING ? string : container)(p, a, indent, allowance, level + 1));
    qn_run_leave(p->run);
    return QN_OK;
}

qn_status qn_filter_pprint(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    printer p = {.run = run};
    QN_TRY(qn_args_bind(run, "pprint", "", args, NULL));
    qn_vbuild_init(&p.v, run);
    QN_TRY(lay_out(&p, a, 0, 0, 0));
    return qn_vbuild_finish(&p.v, out);
}
