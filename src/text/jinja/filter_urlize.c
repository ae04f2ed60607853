/* The filter urlize: addresses in a text become links.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

typedef struct urlize {
    qn_run *run;
    qn_vbuild v;
    const qn_vstr *s;        /* the text, escaped */
    qn_value attributes;     /* ' rel="..." target="..."' */
    const qn_vlist *schemes; /* more beginnings that make a link, or NULL */
    qn_value limit;          /* characters of a link that are shown; None: all */
} urlize;

static bool starts(const qn_vstr *s, size_t from, size_t to, const char *what)
{
    return qn_vstr_starts(s, from, to, qn_str_of(what));
}

static bool starts_fold(const qn_vstr *s, size_t from, size_t to, const char *what)
{
    size_t n = strlen(what);
    for (size_t i = 0; i < n; i++) {
        char c = from + i < to ? s->bytes[from + i] : '\0';
        if ((c >= 'A' && c <= 'Z' ? c + 32 : c) != what[i]) {
            return false;
        }
    }
    return true;
}

/* ---- addresses ---- */

static bool is_host_char(uint32_t cp)
{
    return qn_char_is_word(cp) || cp == '%' || cp == '-';
}

static bool is_top_level(const qn_vstr *s, size_t from, size_t to)
{
    size_t n = 0, at = from;
    bool letters = true;
    for (; at < to; n++) {
        uint32_t cp = qn_vchar_next(s, &at) | 32;
        letters = letters && cp >= 'a' && cp <= 'z';
    }
    if (letters) {
        return n >= 2 && n <= 63;
    }
    if (!starts_fold(s, from, to, "xn--") || n < 6 || n > 63) {
        return false;
    }
    for (at = from + 4; at < to;) {
        uint32_t cp = qn_vchar_next(s, &at);
        if (!qn_char_is_word(cp) && cp != '%') {
            return false;
        }
    }
    return true;
}

static bool is_common_top_level(const qn_vstr *s, size_t from, size_t to)
{
    static const char *const known[] = {"com", "net", "int", "edu", "gov", "org", "info", "mil"};
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        if (to - from == strlen(known[i]) && starts_fold(s, from, to, known[i])) {
            return true;
        }
    }
    return false;
}

/* Labels between dots; the last is a top level. strict: labels of 2 to 63 characters, at least one, and a well-known
 * top level. */
static bool is_domain(const qn_vstr *s, size_t from, size_t to, bool strict)
{
    size_t label = from, n = 0, n_labels = 0;
    for (size_t i = from; i < to;) {
        size_t at = i;
        if (qn_vchar_next(s, &i) != '.') {
            n++;
            continue;
        }
        if (n == 0 || (strict && (n < 2 || n > 63))) {
            return false;
        }
        label = at + 1;
        n = 0;
        n_labels++;
    }
    return strict ? n_labels > 0 && is_common_top_level(s, label, to) : is_top_level(s, label, to);
}

static bool is_ipv4(const qn_vstr *s, size_t from, size_t to)
{
    unsigned n_digits = 0, n_parts = 1;
    for (size_t i = from; i < to;) {
        uint32_t cp = qn_vchar_next(s, &i);
        if (cp == '.') {
            if (n_digits == 0) {
                return false;
            }
            n_parts++;
            n_digits = 0;
        } else if (!qn_char_is_decimal(cp) || ++n_digits > 3) {
            return false;
        }
    }
    return n_parts == 4 && n_digits > 0;
}

/* The end of "[...]" at s[from], or 0. */
static size_t ipv6_end(const qn_vstr *s, size_t from, size_t to)
{
    size_t i = from + 1;
    if (from >= to || s->bytes[from] != '[') {
        return 0;
    }
    for (unsigned group = 0; group < 8; group++) {
        for (unsigned n = 0; n < 4 && i < to; n++) {
            char c = s->bytes[i];
            if (!((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f'))) {
                break;
            }
            i++;
        }
        bool colon = i < to && s->bytes[i] == ':';
        if (group < 2 && !colon) {
            return 0;
        }
        i += colon;
    }
    return i < to && s->bytes[i] == ']' ? i + 1 : 0;
}

/* Whether s[from, to) may follow the host: a port, then a path, a query or a fragment. */
static bool is_rest(const qn_vstr *s, size_t from, size_t to)
{
    if (from < to && s->bytes[from] == ':') {
        unsigned n = 0;
        from++;
        for (size_t i = from; i < to && qn_char_is_decimal(qn_vchar_next(s, &i)); from = i) {
            n++;
        }
        if (n < 1 || n > 5) {
            return false;
        }
    }
    return from == to || s->bytes[from] == '/' || s->bytes[from] == '?' || s->bytes[from] == '#';
}

static bool is_address(const qn_vstr *s, size_t from, size_t to)
{
    size_t scheme = starts_fold(s, from, to, "https://") ? 8 : starts_fold(s, from, to, "http://") ? 7 : 0;
    size_t www = scheme == 0 && starts_fold(s, from, to, "www.") ? 4 : 0, host = from + scheme + www, end = host;
    for (size_t i = host; i < to; end = i) {
        uint32_t cp = qn_vchar_next(s, &i);
        if (!is_host_char(cp) && cp != '.') {
            break;
        }
    }
    size_t bracket = scheme > 0 ? ipv6_end(s, host, to) : 0;
    if (bracket > 0) {
        return is_rest(s, bracket, to);
    }
    if (!is_rest(s, end, to)) {
        return false;
    }
    return (scheme + www > 0 && is_domain(s, host, end, false)) || (scheme > 0 && is_ipv4(s, host, end)) ||
           (scheme == 0 && is_domain(s, from, end, true));
}

static bool is_email(const qn_vstr *s, size_t from, size_t to)
{
    size_t at = to;
    while (at > from && s->bytes[at - 1] != '@') {
        at--;
    }
    if (at <= from + 1) {
        return false;
    }
    size_t dot = 0;
    bool first = true, word_end = false;
    for (size_t i = at; i < to; first = false) {
        size_t here = i;
        uint32_t cp = qn_vchar_next(s, &i);
        bool word = qn_char_is_word(cp);
        if (!word && (first || (cp != '.' && cp != '-'))) {
            return false;
        }
        if (cp == '.') {
            dot = here;
        }
        word_end = cp == '.' ? false : word && (word_end || here == dot + 1);
    }
    return dot > 0 && word_end;
}

/* ---- words ---- */

static void add(urlize *u, size_t from, size_t to)
{
    qn_vbuild_add_slice(&u->v, u->s, from, to - from);
}

static qn_status add_link(urlize *u, const char *before, size_t from, size_t to, bool attributes, size_t shown_from)
{
    qn_vbuild_add_cstr(&u->v, "<a href=\"");
    qn_vbuild_add_cstr(&u->v, before);
    add(u, from, to);
    qn_vbuild_add_cstr(&u->v, "\"");
    if (attributes) {
        qn_vbuild_add_string(&u->v, u->attributes);
    }
    qn_vbuild_add_cstr(&u->v, ">");
    qn_value shown;
    QN_TRY(qn_vstring_slice(u->run, u->s, shown_from, to - shown_from, &shown));
    int64_t limit = INT64_MAX;
    if (attributes && u->schemes == NULL && u->limit.kind != QN_V_NONE) {
        QN_TRY(qn_varg_int(u->run, "urlize", u->limit, limit, &limit));
    }
    if ((int64_t)shown.u.s->n_chars > limit) {
        QN_TRY(qn_vslice(u->run, shown, qn_vnone(), qn_vint(limit), qn_vnone(), &shown));
        qn_vbuild_add_string(&u->v, shown);
        qn_vbuild_add_cstr(&u->v, "...");
    } else {
        qn_vbuild_add_string(&u->v, shown);
    }
    qn_vbuild_add_cstr(&u->v, "</a>");
    return u->v.status;
}

static qn_status add_middle(urlize *u, size_t from, size_t to)
{
    const qn_vstr *s = u->s;
    if (is_address(s, from, to)) {
        const qn_vlist *schemes = u->schemes;
        bool whole = starts(s, from, to, "https://") || starts(s, from, to, "http://");
        u->schemes = NULL;
        QN_TRY(add_link(u, whole ? "" : "https://", from, to, true, from));
        u->schemes = schemes;
        return QN_OK;
    }
    if (starts(s, from, to, "mailto:") && is_email(s, from + 7, to)) {
        return add_link(u, "", from, to, false, from + 7);
    }
    bool colon = to > from && memchr(s->bytes + from, ':', to - from) != NULL;
    if (!starts(s, from, to, "www.") && !starts(s, from, to, "@") && !colon && is_email(s, from, to)) {
        return add_link(u, "mailto:", from, to, false, from);
    }
    for (uint32_t i = 0; u->schemes != NULL && i < u->schemes->n; i++) {
        qn_str scheme = qn_vbytes(u->schemes->items[i]);
        QN_TRY(qn_run_steps(u->run, 1));
        if (to - from != scheme.len && qn_vstr_starts(s, from, to, scheme)) {
            return add_link(u, "", from, to, true, from);
        }
    }
    add(u, from, to);
    return u->v.status;
}

static size_t count(const qn_vstr *s, size_t from, size_t to, const char *what)
{
    size_t n = 0;
    for (size_t at; (at = qn_vstr_find(s, from, to, qn_str_of(what))) != SIZE_MAX; from = at + strlen(what)) {
        n++;
    }
    return n;
}

static qn_status add_word(urlize *u, size_t from, size_t to)
{
    static const char *const pairs[3][2] = {{"(", ")"}, {"<", ">"}, {"&lt;", "&gt;"}};
    const qn_vstr *s = u->s;
    size_t head = from, tail = to;
    while (head < to && (s->bytes[head] == '(' || s->bytes[head] == '<' || starts(s, head, to, "&lt;"))) {
        head += s->bytes[head] == '&' ? 4 : 1;
    }
    while (tail > head) {
        bool one = strchr(")>.,", s->bytes[tail - 1]) != NULL && s->bytes[tail - 1] != '\0';
        if (!one && !(tail - head >= 4 && starts(s, tail - 4, tail, "&gt;"))) {
            break;
        }
        tail -= one ? 1 : 4;
    }
    for (int i = 0; i < 3; i++) { /* what closes a bracket of the address belongs to it */
        size_t open = count(s, head, tail, pairs[i][0]), more = count(s, tail, to, pairs[i][1]);
        if (open <= count(s, head, tail, pairs[i][1])) {
            continue;
        }
        for (size_t n = open < more ? open : more; n > 0; n--) {
            tail = qn_vstr_find(s, tail, to, qn_str_of(pairs[i][1])) + strlen(pairs[i][1]);
        }
    }
    add(u, from, head);
    QN_TRY(add_middle(u, head, tail));
    add(u, tail, to);
    return u->v.status;
}

/* ---- arguments ---- */

static qn_status check_scheme(qn_run *run, qn_value a)
{
    QN_TRY(qn_varg_string(run, "urlize", a));
    size_t n = 0, i = 0;
    const qn_vstr *s = a.u.s;
    for (size_t at = 0; at < s->n_bytes; i = at) {
        uint32_t cp = qn_vchar_next(s, &at);
        if (!qn_char_is_word(cp) && cp != '.' && cp != '+' && cp != '-') {
            break;
        }
        n++;
    }
    qn_str rest = {s->bytes + i, s->n_bytes - i};
    bool ok = n >= 2 && (qn_str_is(rest, ":") || qn_str_is(rest, ":/") || qn_str_is(rest, "://"));
    return ok ? QN_OK : qn_run_fail(run, "'%.*s' is not a valid URI scheme prefix.", QN_STR_ARG(qn_vbytes(a)));
}

static qn_status make_attributes(qn_run *run, qn_value rel, bool nofollow, qn_value target, qn_value *out)
{
    qn_value words, split = {.kind = QN_V_UNDEFINED}, unique, keys, space, more;
    QN_TRY(qn_vcstring(run, "noopener", &more));
    QN_TRY(qn_vdict_new(run, QN_V_DICT, &unique));
    QN_TRY(qn_vdict_set(run, unique.u.dict, more, qn_vnone()));
    if (nofollow) {
        QN_TRY(qn_vcstring(run, "nofollow", &more));
        QN_TRY(qn_vdict_set(run, unique.u.dict, more, qn_vnone()));
    }
    if (qn_vtruth(rel)) {
        QN_TRY(qn_varg_string(run, "urlize", rel));
        QN_TRY(qn_method_str(run, rel, QN_STR("split"), &split));
        QN_TRY(qn_vcall(run, split, &(qn_args){0}, &words));
        for (uint32_t i = 0; i < words.u.list->n; i++) {
            QN_TRY(qn_vdict_set(run, unique.u.dict, words.u.list->items[i], qn_vnone()));
        }
    }
    QN_TRY(qn_vdict_view(run, unique.u.dict, 'k', &keys));
    QN_TRY(qn_vlist_copy(run, QN_V_LIST, keys.u.list->items, keys.u.list->n, &words));
    QN_TRY(qn_vsort(run, keys.u.list->items, words.u.list->items, keys.u.list->n, false));
    QN_TRY(qn_vcstring(run, " ", &space));
    QN_TRY(qn_vjoin(run, space, words.u.list, true, &rel));
    QN_TRY(qn_vescape(run, rel, &rel));
    qn_vbuild v;
    qn_vbuild_init(&v, run);
    qn_vbuild_add_cstr(&v, " rel=\"");
    qn_vbuild_add_string(&v, rel);
    qn_vbuild_add_cstr(&v, "\"");
    if (qn_vtruth(target)) {
        QN_TRY(qn_vescape(run, target, &target));
        qn_vbuild_add_cstr(&v, " target=\"");
        qn_vbuild_add_string(&v, target);
        qn_vbuild_add_cstr(&v, "\"");
    }
    return qn_vbuild_finish(&v, out);
}

qn_status qn_filter_urlize(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    qn_value bound[5];
    urlize u = {.run = run};
    QN_TRY(qn_args_bind(run, "urlize", "trim_url_limit=,nofollow=,target=,rel=,extra_schemes=", args, bound));
    u.limit = bound[0];
    if (bound[4].kind != QN_V_UNDEFINED && bound[4].kind != QN_V_NONE) {
        QN_TRY(qn_viterate(run, bound[4], &u.schemes));
        for (uint32_t i = 0; i < u.schemes->n; i++) {
            QN_TRY(check_scheme(run, u.schemes->items[i]));
        }
    }
    QN_TRY(make_attributes(run, bound[3], qn_varg_truth(bound[1], false), bound[2], &u.attributes));
    QN_TRY(qn_vescape(run, a, &a));
    u.s = a.u.s;
    QN_TRY(qn_run_steps(run, 1 + u.s->n_bytes));
    qn_vbuild_init(&u.v, run);
    size_t word = 0;
    for (size_t i = 0; i <= u.s->n_bytes && u.v.status == QN_OK;) {
        size_t at = i;
        bool end = i == u.s->n_bytes;
        if (!end && !qn_char_is_space(qn_vchar_next(u.s, &i))) {
            continue;
        }
        if (at > word) {
            QN_TRY(add_word(&u, word, at));
        }
        add(&u, at, i);
        word = i;
        i += end;
    }
    return qn_vbuild_finish(&u.v, out);
}
