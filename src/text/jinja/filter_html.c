/* Filters for HTML and URLs: escape, forceescape, safe, striptags, xmlattr, urlencode.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

static const char *entity(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&#34;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

qn_status qn_vescape(qn_run *run, qn_value a, qn_value *out)
{
    if (qn_vis_safe(a)) {
        *out = a;
        return QN_OK;
    }
    QN_TRY(qn_vstr_of(run, a, &a));
    const qn_vstr *s = a.u.s;
    qn_vbuild v;
    qn_vbuild_init(&v, run);
    QN_TRY(qn_run_steps(run, 1 + s->n_bytes / 16));
    size_t plain = 0;
    for (size_t i = 0; i < s->n_bytes && v.status == QN_OK; i++) {
        const char *text = entity(s->bytes[i]);
        if (text != NULL) {
            qn_vbuild_add_slice(&v, s, plain, i - plain);
            qn_vbuild_add_like(&v, s, i, text, strlen(text));
            plain = i + 1;
        }
    }
    qn_vbuild_add_slice(&v, s, plain, s->n_bytes - plain);
    QN_TRY(qn_vbuild_finish(&v, out));
    *out = qn_vsafe(*out, true);
    return QN_OK;
}

static qn_status do_escape(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    QN_TRY(qn_args_bind(run, "escape", "", args, NULL));
    return qn_vescape(run, a, out);
}

static qn_status do_forceescape(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    QN_TRY(qn_args_bind(run, "forceescape", "", args, NULL));
    QN_TRY(qn_vstr_of(run, a, &a));
    return qn_vescape(run, a, out);
}

static qn_status do_safe(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    QN_TRY(qn_args_bind(run, "safe", "", args, NULL));
    QN_TRY(qn_vstr_of(run, a, out));
    *out = qn_vsafe(*out, true);
    return QN_OK;
}

/* ---- striptags ---- */

/* Text outside of <tags> and comments. */
static qn_status without_tags(qn_run *run, const qn_vstr *s, qn_value *out)
{
    qn_vbuild v;
    qn_vbuild_init(&v, run);
    QN_TRY(qn_run_steps(run, 1 + s->n_bytes / 16));
    size_t from = 0;
    for (;;) {
        size_t start = qn_vstr_find(s, from, s->n_bytes, QN_STR("<"));
        if (start == SIZE_MAX) {
            break;
        }
        bool comment = qn_vstr_starts(s, start, s->n_bytes, QN_STR("<!--"));
        size_t end = comment ? qn_vstr_find(s, start + 4, s->n_bytes, QN_STR("-->"))
                             : qn_vstr_find(s, start, s->n_bytes, QN_STR(">"));
        if (end == SIZE_MAX) {
            break;
        }
        qn_vbuild_add_slice(&v, s, from, start - from);
        from = end + (comment ? 3 : 1);
    }
    qn_vbuild_add_slice(&v, s, from, s->n_bytes - from);
    return qn_vbuild_finish(&v, out);
}

/* The code point of a reference at s[i] ("&#38;", "&lt;" ...), and its length; 0: none that is known here. */
static size_t reference(const qn_vstr *s, size_t i, uint32_t *cp)
{
    static const struct {
        const char *name;
        uint32_t cp;
    } known[] = {{"&amp;", '&'},       {"&lt;", '<'},      {"&gt;", '>'},       {"&quot;", '"'},
                 {"&apos;", '\''},     {"&nbsp;", 0xA0},   {"&copy;", 0xA9},    {"&reg;", 0xAE},
                 {"&laquo;", 0xAB},    {"&raquo;", 0xBB},  {"&mdash;", 0x2014}, {"&ndash;", 0x2013},
                 {"&hellip;", 0x2026}, {"&euro;", 0x20AC}, {"&lsquo;", 0x2018}, {"&rsquo;", 0x2019},
                 {"&ldquo;", 0x201C},  {"&rdquo;", 0x201D}};
    for (size_t k = 0; k < sizeof(known) / sizeof(*known); k++) {
        if (qn_vstr_starts(s, i, s->n_bytes, qn_str_of(known[k].name))) {
            *cp = known[k].cp;
            return strlen(known[k].name);
        }
    }
    if (i + 2 >= s->n_bytes || s->bytes[i + 1] != '#') {
        return 0;
    }
    bool hex = (s->bytes[i + 2] | 32) == 'x';
    size_t at = i + 2 + hex, first = at;
    uint32_t n = 0;
    for (; at < s->n_bytes && n < QN_UNICODE_END; at++) {
        char c = s->bytes[at], low = (char)(c | 32);
        if (c >= '0' && c <= '9') {
            n = n * (hex ? 16 : 10) + (uint32_t)(c - '0');
        } else if (hex && low >= 'a' && low <= 'f') {
            n = n * 16 + (uint32_t)(low - 'a' + 10);
        } else {
            break;
        }
    }
    if (at == first) {
        return 0;
    }
    *cp = n == 0 || n >= QN_UNICODE_END || (n >= 0xD800 && n < 0xE000) ? 0xFFFD : n;
    return at - i + (at < s->n_bytes && s->bytes[at] == ';');
}

static qn_status unescape(qn_run *run, const qn_vstr *s, qn_value *out)
{
    qn_vbuild v;
    qn_vbuild_init(&v, run);
    size_t plain = 0;
    for (size_t i = 0; i < s->n_bytes && v.status == QN_OK;) {
        uint32_t cp = 0;
        size_t n = s->bytes[i] == '&' ? reference(s, i, &cp) : 0;
        if (n == 0) {
            i++;
            continue;
        }
        qn_vbuild_add_slice(&v, s, plain, i - plain);
        qn_vbuild_add_char_like(&v, s, i, cp);
        i += n;
        plain = i;
    }
    qn_vbuild_add_slice(&v, s, plain, s->n_bytes - plain);
    return qn_vbuild_finish(&v, out);
}

static qn_status do_striptags(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    qn_value split = {.kind = QN_V_UNDEFINED}, words, space;
    QN_TRY(qn_args_bind(run, "striptags", "", args, NULL));
    QN_TRY(qn_vstr_of(run, a, &a));
    QN_TRY(without_tags(run, a.u.s, &a));
    QN_TRY(qn_method_str(run, a, QN_STR("split"), &split));
    QN_TRY(qn_vcall(run, split, &(qn_args){0}, &words));
    QN_TRY(qn_vcstring(run, " ", &space));
    QN_TRY(qn_vjoin(run, space, words.u.list, true, &a));
    return unescape(run, a.u.s, out);
}

/* ---- xmlattr ---- */

static qn_status check_name(qn_run *run, qn_value name)
{
    QN_TRY(qn_varg_string(run, "xmlattr", name));
    for (uint32_t i = 0; i < name.u.s->n_bytes; i++) {
        char c = name.u.s->bytes[i];
        if (c != '\0' && strchr(" \t\n\r\f\v/>=", c) != NULL) {
            return qn_run_fail(run, "Invalid character in attribute name: '%.*s'", QN_STR_ARG(qn_vbytes(name)));
        }
    }
    return QN_OK;
}

static qn_status do_xmlattr(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    qn_value autospace;
    QN_TRY(qn_args_bind(run, "xmlattr", "autospace=", args, &autospace));
    if (a.kind == QN_V_UNDEFINED) {
        return qn_vundefined_fail(run, a);
    }
    if (a.kind != QN_V_DICT) {
        return qn_run_fail(run, "'%s' object has no attribute 'items'", qn_vkind_name(a));
    }
    qn_vbuild v;
    qn_vbuild_init(&v, run);
    for (uint32_t i = 0; i < qn_vdict_count(a.u.dict); i++) {
        qn_value key, x;
        qn_vdict_at(a.u.dict, i, &key, &x);
        if (x.kind == QN_V_NONE || x.kind == QN_V_UNDEFINED) {
            continue;
        }
        QN_TRY(check_name(run, key));
        QN_TRY(qn_vescape(run, key, &key));
        QN_TRY(qn_vescape(run, x, &x));
        qn_vbuild_add_cstr(&v, v.n_bytes > 0 || qn_varg_truth(autospace, true) ? " " : "");
        qn_vbuild_add_string(&v, key);
        qn_vbuild_add_cstr(&v, "=\"");
        qn_vbuild_add_string(&v, x);
        qn_vbuild_add_cstr(&v, "\"");
    }
    return qn_vbuild_finish(&v, out);
}

/* ---- urlencode ---- */

static qn_status add_quoted(qn_run *run, qn_vbuild *v, qn_value a, bool query)
{
    QN_TRY(qn_vstr_of(run, a, &a));
    const qn_vstr *s = a.u.s;
    QN_TRY(qn_run_steps(run, 1 + s->n_bytes / 4));
    for (size_t i = 0; i < s->n_bytes && v->status == QN_OK; i++) {
        static const char hex[] = "0123456789ABCDEF";
        uint8_t c = (uint8_t)s->bytes[i];
        char text[3] = {'%', hex[c >> 4], hex[c & 15]};
        bool plain = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
                     (c != 0 && strchr(query ? "_.-~" : "_.-~/", c) != NULL);
        if (plain) {
            qn_vbuild_add_slice(v, s, i, 1);
        } else if (query && c == ' ') {
            qn_vbuild_add_like(v, s, i, "+", 1);
        } else {
            qn_vbuild_add_like(v, s, i, text, 3);
        }
    }
    return v->status;
}

static qn_status do_urlencode(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    const qn_vlist *l;
    qn_vbuild v;
    qn_vbuild_init(&v, run);
    QN_TRY(qn_args_bind(run, "urlencode", "", args, NULL));
    bool many = a.kind == QN_V_LIST || a.kind == QN_V_TUPLE || a.kind == QN_V_DICT || a.kind == QN_V_ITERATOR ||
                a.kind == QN_V_UNDEFINED;
    if (!many) {
        QN_TRY(add_quoted(run, &v, a, false));
        return qn_vbuild_finish(&v, out);
    }
    if (a.kind == QN_V_DICT) {
        QN_TRY(qn_vdict_view(run, a.u.dict, 'i', &a));
    }
    QN_TRY(qn_viterate(run, a, &l));
    for (uint32_t i = 0; i < l->n; i++) {
        const qn_vlist *pair;
        QN_TRY(qn_viterate(run, l->items[i], &pair));
        if (pair->n != 2) {
            return qn_run_fail(run, "urlencode: pairs of a name and a value are needed, not %u values", pair->n);
        }
        qn_vbuild_add_cstr(&v, i > 0 ? "&" : "");
        QN_TRY(add_quoted(run, &v, pair->items[0], true));
        qn_vbuild_add(&v, "=", 1);
        QN_TRY(add_quoted(run, &v, pair->items[1], true));
    }
    return qn_vbuild_finish(&v, out);
}

const qn_filter qn_filters_html[] = {
    {"safe", do_safe},
    {"escape", do_escape},
    {"e", do_escape},
    {"forceescape", do_forceescape},
    {"striptags", do_striptags},
    {"xmlattr", do_xmlattr},
    {"urlencode", do_urlencode},
    {NULL, NULL},
};
