/* Filters that lay out text: indent and truncate here, the longer ones beside.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

static qn_status do_indent(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    qn_value bound[3], lines, by;
    QN_TRY(qn_args_bind(run, "indent", "width=,first=,blank=", args, bound));
    bool first = qn_varg_truth(bound[1], false), blank = qn_varg_truth(bound[2], false);
    if (a.kind != QN_V_STRING) {
        return a.kind == QN_V_UNDEFINED ? qn_vundefined_fail(run, a)
                                        : qn_run_fail(run, "indent: '%s' is not a string", qn_vkind_name(a));
    }
    if (bound[0].kind == QN_V_STRING) {
        by = bound[0];
    } else {
        int64_t width;
        qn_value space;
        qn_vbuild spaces;
        QN_TRY(qn_varg_int(run, "indent", bound[0], 4, &width));
        QN_TRY(qn_vcstring(run, " ", &space));
        qn_vbuild_init(&spaces, run);
        qn_vbuild_repeat(&spaces, space, width < 0 ? 0 : (uint64_t)width);
        QN_TRY(qn_vbuild_finish(&spaces, &by));
    }
    QN_TRY(qn_vsplitlines(run, a, false, &lines));
    const qn_vlist *l = lines.u.list;
    qn_vbuild v;
    qn_vbuild_init(&v, run);
    /* One newline more is added to the text before its lines are taken: what ends in one keeps it. */
    const qn_vstr *s = a.u.s;
    size_t end = s->n_bytes;
    bool ends_line = end == 0 || qn_char_is_line_end(qn_vchar_before(s, &end));
    ends_line = ends_line && !(s->n_bytes > 0 && s->bytes[s->n_bytes - 1] == '\r'); /* "\r\n" is one end */
    uint32_t n = l->n + ends_line;
    for (uint32_t i = 0; i < n && v.status == QN_OK; i++) {
        bool empty = i >= l->n || l->items[i].u.s->n_bytes == 0;
        if (i > 0) {
            qn_vbuild_add(&v, "\n", 1);
        }
        if (i == 0 ? first : blank || !empty) {
            qn_vbuild_add_string(&v, by);
        }
        if (!empty) {
            qn_vbuild_add_string(&v, l->items[i]);
        }
    }
    QN_TRY(qn_vbuild_finish(&v, out));
    *out = qn_vsafe(*out, qn_vis_safe(a));
    return QN_OK;
}

static qn_status do_truncate(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    qn_value bound[4], head, end;
    int64_t length, leeway = 5;
    uint32_t n;
    QN_TRY(qn_args_bind(run, "truncate", "length=,killwords=,end=,leeway=", args, bound));
    QN_TRY(qn_varg_int(run, "truncate", bound[0], 255, &length));
    if (bound[3].kind != QN_V_NONE) {
        QN_TRY(qn_varg_int(run, "truncate", bound[3], 5, &leeway));
    }
    end = bound[2];
    if (end.kind == QN_V_UNDEFINED) {
        QN_TRY(qn_vcstring(run, "...", &end));
    }
    QN_TRY(qn_varg_string(run, "truncate", end));
    if (length < end.u.s->n_chars || leeway < 0) {
        return qn_run_fail(run, "truncate: length %lld is below that of the end, or leeway %lld below 0",
                           (long long)length, (long long)leeway);
    }
    QN_TRY(qn_vlength(run, a, &n));
    if (n <= (uint64_t)length + (uint64_t)leeway) {
        *out = a;
        return QN_OK;
    }
    QN_TRY(qn_vslice(run, a, qn_vnone(), qn_vint(length - end.u.s->n_chars), qn_vnone(), &head));
    if (!qn_varg_truth(bound[1], false)) {
        size_t at = SIZE_MAX;
        QN_TRY(qn_varg_string(run, "truncate", head));
        QN_TRY(qn_vstr_rfind(run, head.u.s, 0, head.u.s->n_bytes, QN_STR(" "), &at));
        if (at != SIZE_MAX) {
            bool safe = qn_vis_safe(head);
            QN_TRY(qn_vstring_slice(run, head.u.s, 0, at, &head));
            head = qn_vsafe(head, safe);
        }
    }
    return qn_varith(run, QN_OP_ADD, head, end, out);
}

const qn_filter qn_filters_text[] = {
    {"indent", do_indent},        {"truncate", do_truncate},    {"wordwrap", qn_filter_wordwrap},
    {"pprint", qn_filter_pprint}, {"urlize", qn_filter_urlize}, {NULL, NULL},
};
