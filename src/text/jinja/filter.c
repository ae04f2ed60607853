/* The filters by name, and how they look at items.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

qn_filter_fn *qn_filter_find(qn_str name)
{
    static const qn_filter *const tables[] = {qn_filters_string, qn_filters_list, qn_filters_select, qn_filters_number,
                                              qn_filters_html,   qn_filters_sort, qn_filters_text};
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
        for (const qn_filter *f = tables[i]; f->name != NULL; f++) {
            if (qn_str_is(name, f->name)) {
                return f->call;
            }
        }
    }
    return NULL;
}

static bool given(qn_value a)
{
    return a.kind != QN_V_UNDEFINED && a.kind != QN_V_NONE;
}

/* One step of a path: digits are an index. */
static qn_status step_into(qn_run *run, qn_str part, qn_value *item)
{
    bool number = part.len > 0 && part.len < 18;
    int64_t i = 0;
    for (size_t at = 0; at < part.len && number; at++) {
        number = part.data[at] >= '0' && part.data[at] <= '9';
        i = i * 10 + (part.data[at] - '0');
    }
    qn_value key = qn_vint(i);
    if (!number) {
        QN_TRY(qn_vstring(run, part.data, part.len, false, &key));
    }
    return qn_vitem(run, *item, key, item);
}

static qn_status follow(qn_run *run, const qn_getter *g, qn_str path, qn_value *item)
{
    for (size_t from = 0; from <= path.len;) {
        const char *dot = from == path.len ? NULL : memchr(path.data + from, '.', path.len - from);
        size_t end = dot == NULL ? path.len : (size_t)(dot - path.data);
        QN_TRY(step_into(run, (qn_str){path.data + from, end - from}, item));
        if (item->kind == QN_V_UNDEFINED && given(g->fallback)) {
            *item = g->fallback;
        }
        from = end + 1;
    }
    return QN_OK;
}

static qn_status fold(qn_run *run, const qn_getter *g, qn_value *item)
{
    return g->fold && item->kind == QN_V_STRING ? qn_vchange_case(run, *item, QN_CASE_LOWER, item) : QN_OK;
}

qn_status qn_getter_get(qn_run *run, const qn_getter *g, qn_value item, qn_value *out)
{
    qn_value whole = item, list;
    if (!g->many) {
        if (g->attribute.kind == QN_V_STRING) {
            QN_TRY(follow(run, g, qn_vbytes(g->attribute), &item));
        } else if (given(g->attribute)) {
            QN_TRY(qn_vitem(run, item, g->attribute, &item));
            item = item.kind == QN_V_UNDEFINED && given(g->fallback) ? g->fallback : item;
        }
        *out = item;
        return fold(run, g, out);
    }
    QN_TRY(qn_vlist_new(run, QN_V_LIST, 1, &list));
    if (g->attribute.kind != QN_V_STRING) {
        if (given(g->attribute)) {
            QN_TRY(qn_vitem(run, item, g->attribute, &item));
        }
        QN_TRY(fold(run, g, &item));
        QN_TRY(qn_vlist_push(run, list.u.list, item));
        *out = list;
        return QN_OK;
    }
    qn_str paths = qn_vbytes(g->attribute);
    for (size_t from = 0; from <= paths.len;) {
        const char *comma = from == paths.len ? NULL : memchr(paths.data + from, ',', paths.len - from);
        size_t end = comma == NULL ? paths.len : (size_t)(comma - paths.data);
        item = whole;
        QN_TRY(follow(run, g, (qn_str){paths.data + from, end - from}, &item));
        QN_TRY(fold(run, g, &item));
        QN_TRY(qn_vlist_push(run, list.u.list, item));
        from = end + 1;
    }
    *out = list;
    return QN_OK;
}
