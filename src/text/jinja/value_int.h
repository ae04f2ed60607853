/* What the files of values, methods, filters and tests share, and nobody else needs.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TEXT_JINJA_VALUE_INT_H
#define QN_TEXT_JINJA_VALUE_INT_H

#include "base/unicode.h"
#include "text/jinja/value.h"

/* Members stay in order of insertion; slots is an open hash table of indexes + 1. Nothing is ever removed: the language
 * has no way to. */
typedef struct qn_ventry {
    qn_value key, x;
    uint64_t hash;
} qn_ventry;

struct qn_vdict {
    qn_ventry *entries;
    uint32_t *slots;
    uint32_t n, cap, n_slots; /* n_slots: a power of two, or 0 */
    uint64_t seed;
    qn_vkind kind; /* dict or namespace: that refuses names with an underscore first */
};

/* ---- kinds ---- */

static inline bool qn_vis_string(qn_value a)
{
    return a.kind == QN_V_STRING;
}
static inline bool qn_vis_whole(qn_value a)
{
    return a.kind == QN_V_INT || a.kind == QN_V_BOOL;
}
static inline int64_t qn_vwhole(qn_value a)
{
    return a.kind == QN_V_BOOL ? a.u.b : a.u.i;
}
static inline bool qn_vis_missing(qn_value a)
{
    return a.kind == QN_V_UNDEFINED;
}
static inline qn_str qn_vbytes(qn_value a)
{
    return (qn_str){a.u.s->bytes, a.u.s->n_bytes};
}
bool qn_vis_range(qn_value a);
/* A list, tuple, or view with items in a fixed order. */
bool qn_vis_sequence(qn_value a);

/* An undefined value whose error says just this. */
qn_value qn_vundefined_hint(qn_run *run, const char *fmt, ...) QN_PRINTF(2, 3);
/* The same for a function's result: nothing to take, as `what` says. */
qn_status qn_vnothing(qn_run *run, const char *what, qn_value *out);
qn_value qn_vno_attribute(qn_run *run, qn_value a, qn_str name);
qn_status qn_viterator_new(qn_run *run, const char *type, uint32_t cap, qn_value *out);
/* Keeps the error st of making the items of the iterator l for whoever reads so far (a limit is passed on at once); depth
 * is what it was before. */
qn_status qn_vdefer(qn_run *run, qn_status st, uint32_t depth, qn_vlist *l);
qn_status qn_vlist_copy(qn_run *run, qn_vkind kind, const qn_value *items, uint32_t n, qn_value *out);
qn_status qn_vpair(qn_run *run, qn_value a, qn_value b, qn_value *out); /* a tuple */
qn_value qn_vsafe(qn_value a, bool safe);                               /* a string with the flag set or cleared */
bool qn_vis_safe(qn_value a);
bool qn_vsame(qn_value a, qn_value b);                                                      /* Python's `is` */
qn_status qn_vrange(qn_run *run, int64_t start, int64_t stop, int64_t step, qn_value *out); /* at most 100000 items */
#define QN_JINJA_MAX_RANGE 100000                                                           /* as jinja2's sandbox */

/* ---- dicts with a run: hostile keys are counted (qn_vdict_find gives up on tuples of very many items) ---- */

qn_status qn_vdict_get(qn_run *run, const qn_vdict *d, qn_value key, bool *has, qn_value *out); /* fails: no hash */
qn_status qn_vdict_view(qn_run *run, const qn_vdict *d, char what, qn_value *out);              /* 'k', 'v', 'i' */
qn_status qn_vdict_merge(qn_run *run, qn_vdict *d, const qn_args *args, const char *function);  /* dict(...) */
qn_status qn_vhash_seeded(qn_run *run, uint64_t seed, qn_value a, uint64_t *out);

/* ---- numbers ---- */

#define QN_F64_TEXT 40
/* What repr() shows of f; returns its length. */
size_t qn_f64_text(double f, char out[QN_F64_TEXT]);
/* int(text, base) and float(text) as Python reads them: spaces around, underscores, signs, digits of any script.
 * False: not one. Integers beyond 64 bits come as BIGINT. */
qn_status qn_vparse_int(qn_run *run, qn_str text, int64_t base, bool *is, qn_value *out);
qn_status qn_vparse_float(qn_run *run, qn_str text, bool *is, double *out);
int qn_bigint_compare(qn_str a, qn_str b);           /* of decimal digits with an optional minus */
bool qn_f64_digits(double f, char *out, size_t cap); /* the exact digits of a whole f; false: no room */
double qn_vas_f64(qn_value a);                       /* bool, int, big integer, float */
bool qn_vis_number(qn_value a);
/* The whole part of f, as int(f): fails on infinities and what is not a number. */
qn_status qn_vtruncate(qn_run *run, double f, qn_value *out);
qn_status qn_vcompare_numbers(qn_value a, qn_value b, int *out);

/* ---- strings ---- */

/* The character at s[i]; its length is added to *i. */
static inline uint32_t qn_vchar_next(const qn_vstr *s, size_t *i)
{
    uint32_t cp;
    *i += qn_unicode_decode(s->bytes + *i, s->n_bytes - *i, &cp);
    return cp;
}
/* The character before s[*i], *i > 0; *i moves to its first byte. */
uint32_t qn_vchar_before(const qn_vstr *s, size_t *i);
uint32_t qn_vchar_count(const char *bytes, size_t n);
/* Byte where character i begins; the end for those beyond it. */
size_t qn_vstr_offset(const qn_vstr *s, uint32_t i_char);
/* Where needle is in s[from, to), or SIZE_MAX. Linear. */
size_t qn_vstr_find(const qn_vstr *s, size_t from, size_t to, qn_str needle);
qn_status qn_vstr_rfind(qn_run *run, const qn_vstr *s, size_t from, size_t to, qn_str needle, size_t *at);
bool qn_vstr_starts(const qn_vstr *s, size_t from, size_t to, qn_str needle);
bool qn_vstr_ends(const qn_vstr *s, size_t from, size_t to, qn_str needle);
/* parts[0] ~ parts[1] ~ ..., the first being a string that is worth growing in place. */
#define QN_APPEND_FROM 256 /* bytes: shorter strings are cheap to copy */
qn_status qn_vappend(qn_run *run, const qn_value *parts, uint32_t n, qn_value *out);
void qn_vbuild_add_cstr(qn_vbuild *v, const char *text);
void qn_vbuild_add_char(qn_vbuild *v, uint32_t cp);
void qn_vbuild_add_string(qn_vbuild *v, qn_value s);
void qn_vbuild_add_char_like(qn_vbuild *v, const qn_vstr *s, size_t from, uint32_t cp);
void qn_vbuild_repeat(qn_vbuild *v, qn_value s, uint64_t times);           /* fails at once when there is no room */
void qn_vbuild_printf(qn_vbuild *v, const char *fmt, ...) QN_PRINTF(2, 3); /* at most 128 bytes */
qn_status qn_vcstring(qn_run *run, const char *text, qn_value *out);
/* repr(s) without the Markup(...) around it. */
void qn_vbuild_add_repr_string(qn_vbuild *v, const qn_vstr *s);
qn_status qn_vascii_of(qn_run *run, qn_value a, qn_value *out); /* ascii(a): repr without characters beyond ASCII */
qn_status qn_vescape(qn_run *run, qn_value a, qn_value *out);   /* str(a) with HTML's characters escaped; safe */
qn_status qn_vsplitlines(qn_run *run, qn_value s, bool keep, qn_value *out); /* a list */
qn_status qn_vstrip(qn_run *run, qn_value s, qn_value chars, bool left, bool right, qn_value *out);
qn_status qn_vreplace(qn_run *run, qn_value s, qn_value from, qn_value to, int64_t count, qn_value *out);
qn_status qn_vjoin(qn_run *run, qn_value separator, const qn_vlist *l, bool convert, qn_value *out);

typedef enum qn_vcase {
    QN_CASE_LOWER,
    QN_CASE_UPPER,
    QN_CASE_TITLE,
    QN_CASE_CAPITAL,
    QN_CASE_SWAP,
    QN_CASE_FOLD
} qn_vcase;
qn_status qn_vchange_case(qn_run *run, qn_value s, qn_vcase to, qn_value *out);
void qn_vbuild_add_case(qn_vbuild *v, const qn_vstr *s, size_t from, size_t n, qn_vcase to);

/* Python's classes of characters. */
bool qn_char_is_space(uint32_t cp);
bool qn_char_is_line_end(uint32_t cp);
bool qn_char_is_alpha(uint32_t cp);
bool qn_char_is_decimal(uint32_t cp);
bool qn_char_is_digit(uint32_t cp);
bool qn_char_is_numeric(uint32_t cp);
bool qn_char_is_upper(uint32_t cp);
bool qn_char_is_lower(uint32_t cp);
bool qn_char_is_title(uint32_t cp);
bool qn_char_is_printable(uint32_t cp);
bool qn_char_is_word(uint32_t cp); /* \w */
int qn_char_decimal(uint32_t cp);  /* value of a decimal digit, -1: it is none */

/* ---- formatting ---- */

qn_status qn_vpercent(qn_run *run, qn_value format, qn_value args, qn_value *out); /* format % args */
/* str.format, or with names of a mapping, format_map. */
qn_status qn_vformat(qn_run *run, qn_value format, const qn_args *args, const qn_vdict *mapping, qn_value *out);
/* format(a, spec) */
qn_status qn_vformat_one(qn_run *run, qn_value a, qn_str spec, qn_value *out);
/* Digits of f for a presentation type of e, f, g (and E, F, G): no sign; alt keeps the point. */
void qn_vbuild_add_float(qn_vbuild *v, double f); /* as repr() shows it */
void qn_vbuild_add_f64(qn_vbuild *v, double f, char type, int precision, bool alt);

/* ---- arguments ---- */

/* A bound argument as an integer; not given: fallback. */
qn_status qn_varg_int(qn_run *run, const char *what, qn_value a, int64_t fallback, int64_t *out);
qn_status qn_varg_string(qn_run *run, const char *what, qn_value a);
bool qn_varg_truth(qn_value a, bool fallback);
/* The same, but only integers and booleans are taken. */
qn_status qn_varg_flag(qn_run *run, const char *what, qn_value a, bool *out);
/* False: left out, which is not the same as given and undefined. */
static inline bool qn_varg_given(qn_value a)
{
    return a.kind != QN_V_UNDEFINED || a.u.name != NULL;
}

/* ---- names ---- */

/* The method or other attribute that a's type has. UNDEFINED without a text: none. */
qn_status qn_vtype_attribute(qn_run *run, qn_value a, qn_str name, qn_value *out);
/* Set *out to the method of a; leave it UNDEFINED when there is none of that name. */
qn_status qn_method_str(qn_run *run, qn_value a, qn_str name, qn_value *out);
qn_status qn_method_list(qn_run *run, qn_value a, qn_str name, qn_value *out);
qn_status qn_method_dict(qn_run *run, qn_value a, qn_str name, qn_value *out);
typedef struct qn_method {
    const char *name;
    qn_call_fn *call; /* NULL: the sandbox refuses it */
} qn_method;          /* a table of them ends with a NULL name */
extern const qn_method qn_methods_str_find[], qn_methods_str_split[], qn_methods_str_pad[];
/* Binds the method of that name to a; leaves *out when the table has none. */
qn_status qn_method_of(qn_run *run, const qn_method *table, qn_value a, qn_str name, qn_value *out);
qn_status qn_vunsafe(qn_run *run, qn_value a, qn_str name, qn_value *out); /* undefined: access is unsafe */

/* ---- filters that others use ---- */

/* How items are looked at by sort, map, groupby ...: the attributes "a.b,c" of each. */
typedef struct qn_getter {
    qn_value attribute; /* UNDEFINED or NONE: the item itself */
    bool fold;          /* strings in lower case */
    bool many;          /* a comma separates several, the result is a list */
    qn_value fallback;  /* UNDEFINED or NONE: none */
} qn_getter;
qn_status qn_getter_get(qn_run *run, const qn_getter *g, qn_value item, qn_value *out);
/* Sorts items[0, n) by keys[0, n), both moved; stable. */
qn_status qn_vsort(qn_run *run, qn_value *keys, qn_value *items, uint32_t n, bool reverse);
qn_status qn_json_text(qn_run *run, qn_value a, const qn_args *args, qn_value *out); /* tojson */
qn_filter_fn qn_filter_wordwrap, qn_filter_pprint, qn_filter_urlize;

/* Parts of the filter table, each ended by a NULL name. */
typedef struct qn_filter {
    const char *name;
    qn_filter_fn *call;
} qn_filter;
extern const qn_filter qn_filters_string[], qn_filters_html[], qn_filters_number[], qn_filters_list[],
    qn_filters_sort[], qn_filters_select[], qn_filters_text[];

#endif
