/* Values of a template while it is rendered, and what the language can do with them. They live in the heap of one
 * rendering, which is thrown away whole at its end: nothing is freed one by one, so values copy freely. Every call
 * that fails has filled run->err ("line N: ...") and returns its code; the others pass it on.
 *
 *     jinja.c          public calls
 *     lexer.c parser*.c node.h   source to tree
 *     eval*.c          tree to text: statements, expressions, macros, loops
 *     value.h value*.c           values: making, comparing, arithmetic, items, slices, text of a value
 *     string*.c        strings that know which of their bytes came from outside
 *     format_*.c       str % args, str.format, format(value, spec)
 *     method_*.c filter*.c test.c global.c args.c    what templates call by name
 *
 * SPDX-License-Identifier: MIT */
#ifndef QN_TEXT_JINJA_VALUE_H
#define QN_TEXT_JINJA_VALUE_H

#include "text/jinja/jinja.h"

typedef struct qn_run qn_run;

typedef enum qn_vkind {
    QN_V_UNDEFINED, /* u.name: what was not there, for the error text */
    QN_V_NONE,
    QN_V_BOOL,
    QN_V_INT,
    QN_V_BIGINT, /* u.s: the digits of an integer beyond 64 bits; it is shown and compared, not computed with */
    QN_V_FLOAT,
    QN_V_STRING,
    QN_V_LIST,
    QN_V_TUPLE,
    QN_V_DICT,
    QN_V_NAMESPACE, /* u.dict */
    QN_V_ITERATOR,  /* what map, select, dict.items() ... give: u.list is what is left of it; printed as Python would */
    QN_V_FUNCTION,  /* macro, bound method, global */
    QN_V_OBJECT,    /* with attributes only: loop, cycler, joiner */
} qn_vkind;

typedef struct qn_vstr qn_vstr;
typedef struct qn_vtail qn_vtail;
typedef struct qn_vlist qn_vlist;
typedef struct qn_vdict qn_vdict;
typedef struct qn_vfunction qn_vfunction;
typedef struct qn_vobject qn_vobject;

typedef struct qn_value {
    uint8_t kind;  /* qn_vkind */
    uint8_t flags; /* QN_VF_* */
    union {
        bool b;
        int64_t i;
        double f;
        const qn_vstr *s; /* immutable */
        const char *name;
        qn_vlist *list; /* list, tuple, iterator; shared by reference as in Python */
        qn_vdict *dict;
        const qn_vfunction *fn;
        qn_vobject *object;
    } u;
} qn_value;

enum {
    QN_VF_SAFE = 1, /* string: escaped already (the filters safe and escape) */
    QN_VF_VIEW = 2, /* iterator: dict.keys(), values(), items(), range(): may be walked again, has a length */
    QN_VF_HINT = 4, /* undefined: u.name is the whole text of the error, not a name */
    QN_VF_GROUP = 8, /* tuple of two: what groupby gives, with the attributes grouper and list */
};

/* A string: valid UTF-8. Indexes in the language count characters. */
struct qn_vstr {
    const char *bytes;
    uint32_t n_bytes, n_chars;
    const qn_span *marks; /* bytes that came from outside: sorted, disjoint, not adjacent; offsets from bytes */
    uint32_t n_marks;
    qn_vtail *tail; /* room to grow (string_append.c); NULL: none */
};

struct qn_vlist {
    qn_value *items;
    uint32_t n, cap;
    const char *type;  /* iterator: Python's name of its kind ("generator", "dict_items", "range"), never NULL */
    int64_t range[3];  /* of a range: start, stop, step */
    const char *failure; /* iterator: the error behind its items, for whoever reads so far; or NULL */
};

typedef struct qn_args { /* of a call */
    const qn_value *pos;
    uint32_t n_pos;
    const qn_str *names; /* keyword arguments */
    const qn_value *named;
    uint32_t n_named;
} qn_args;

typedef qn_status qn_call_fn(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out);

struct qn_vfunction {
    qn_str name;
    qn_call_fn *call;
    qn_value self;    /* of a bound method */
    const void *data; /* of a macro: its node and closure (eval*.c) */
};

struct qn_vobject {
    const char *type; /* "Cycler", for error texts and printing */
    /* Sets *out to the attribute, or leaves it UNDEFINED. */
    qn_status (*attribute)(qn_run *run, qn_vobject *o, qn_str name, qn_value *out);
    void *data;
};

/* ---- one rendering (run.c) ---- */

struct qn_run {
    qn_budget *budget;
    qn_error *err;
    uint32_t line; /* of the source; the evaluator keeps it */
    uint32_t depth;
    uint64_t steps_left, memory_left, max_output;
    int64_t now;
    void *heap;     /* blocks of run.c */
    void *evaluator; /* eval*.c */
};

/* Memory until the rendering ends, aligned to 16, not zeroed. NULL: run->err is filled (budget, or limit). */
void *qn_run_alloc(qn_run *run, size_t bytes);
/* Counts n steps. QN_EFULL: none are left. Work that is linear in a value's size counts it here first. */
qn_status qn_run_steps(qn_run *run, uint64_t n);
qn_status qn_run_enter(qn_run *run); /* one level deeper: a call, or a value in a value; QN_EFULL */
void qn_run_leave(qn_run *run);
/* Fills run->err with "line N: ..." and returns QN_EFORMAT. */
qn_status qn_run_fail(qn_run *run, const char *fmt, ...) QN_PRINTF(2, 3);

/* ---- strings (string*.c) ---- */

/* Builds a string from parts; marks follow the bytes. Errors stick (run->err); finish tells. */
typedef struct qn_vbuild {
    qn_run *run;
    char *bytes;
    size_t n_bytes, cap;
    qn_span *marks;
    uint32_t n_marks, cap_marks;
    qn_status status;
} qn_vbuild;

void qn_vbuild_init(qn_vbuild *v, qn_run *run);
void qn_vbuild_add(qn_vbuild *v, const char *bytes, size_t n);             /* the template's own */
void qn_vbuild_add_slice(qn_vbuild *v, const qn_vstr *s, size_t from, size_t n); /* bytes of s with their marks */
/* Other bytes in the place of s[from]: marked when that byte is. */
void qn_vbuild_add_like(qn_vbuild *v, const qn_vstr *s, size_t from, const char *bytes, size_t n);
void qn_vbuild_add_value(qn_vbuild *v, qn_value x); /* as str() shows it */
qn_status qn_vbuild_finish(qn_vbuild *v, qn_value *out);

qn_status qn_vstring(qn_run *run, const char *bytes, size_t n, bool marked, qn_value *out); /* copies */
qn_status qn_vstring_slice(qn_run *run, const qn_vstr *s, size_t from, size_t n, qn_value *out); /* bytes; shares */

/* ---- making values (value.c) ---- */

static inline qn_value qn_vnone(void) { return (qn_value){.kind = QN_V_NONE}; }
static inline qn_value qn_vbool(bool b) { return (qn_value){.kind = QN_V_BOOL, .u.b = b}; }
static inline qn_value qn_vint(int64_t i) { return (qn_value){.kind = QN_V_INT, .u.i = i}; }
static inline qn_value qn_vfloat(double f) { return (qn_value){.kind = QN_V_FLOAT, .u.f = f}; }
qn_value qn_vundefined(qn_run *run, qn_str name); /* copies the name */
/* Fails as any use of the undefined value a does: "'x' is undefined", or what a's text says. */
qn_status qn_vundefined_fail(qn_run *run, qn_value a);

qn_status qn_vlist_new(qn_run *run, qn_vkind kind, uint32_t cap, qn_value *out); /* list, tuple or iterator; empty */
qn_status qn_vlist_push(qn_run *run, qn_vlist *l, qn_value x);
qn_status qn_vdict_new(qn_run *run, qn_vkind kind, qn_value *out); /* dict or namespace */
qn_status qn_vdict_set(qn_run *run, qn_vdict *d, qn_value key, qn_value x); /* fails on keys without a hash */
bool qn_vdict_find(const qn_vdict *d, qn_value key, qn_value *out);
bool qn_vdict_find_str(const qn_vdict *d, qn_str key, qn_value *out);
uint32_t qn_vdict_count(const qn_vdict *d);
/* The i-th member in order of insertion. */
void qn_vdict_at(const qn_vdict *d, uint32_t i, qn_value *key, qn_value *x);
qn_status qn_vfrom_json(qn_run *run, const qn_json *j, qn_value *out); /* its strings are marked */
qn_status qn_vmethod(qn_run *run, const char *name, qn_call_fn *call, qn_value self, qn_value *out); /* a function */

/* ---- what the language does with them (value*.c); an undefined operand fails as jinja2's does ---- */

typedef enum qn_vop { QN_OP_ADD, QN_OP_SUB, QN_OP_MUL, QN_OP_DIV, QN_OP_FLOORDIV, QN_OP_MOD, QN_OP_POW } qn_vop;
qn_status qn_varith(qn_run *run, qn_vop op, qn_value a, qn_value b, qn_value *out); /* + on strings and lists, % too */
qn_status qn_vnegate(qn_run *run, qn_value a, bool minus, qn_value *out); /* -a, or +a */
qn_status qn_vconcat(qn_run *run, const qn_value *parts, uint32_t n, qn_value *out); /* a ~ b ~ ... */
bool qn_vtruth(qn_value a);
qn_status qn_vequal(qn_run *run, qn_value a, qn_value b, bool *out);
/* < 0, 0, > 0, or QN_UNORDERED, of which every order is false: one is not a number. Fails on kinds without an order. */
qn_status qn_vcompare(qn_run *run, qn_value a, qn_value b, int *out);
#define QN_UNORDERED 2
qn_status qn_vcontains(qn_run *run, qn_value container, qn_value x, bool *out); /* x in container */
qn_status qn_vlength(qn_run *run, qn_value a, uint32_t *out);
/* a[key], and a.name. Missing: UNDEFINED, no failure. Attributes: dict members and methods, nothing else. */
qn_status qn_vitem(qn_run *run, qn_value a, qn_value key, qn_value *out);
qn_status qn_vattribute(qn_run *run, qn_value a, qn_str name, qn_value *out);
/* a[from:to:step]; NONE stands for what is left out. */
qn_status qn_vslice(qn_run *run, qn_value a, qn_value from, qn_value to, qn_value step, qn_value *out);
/* What a loop walks: characters of a string, keys of a dict, items. The list may be a's own: do not change it.
 * An iterator is used up by it. */
qn_status qn_viterate(qn_run *run, qn_value a, const qn_vlist **out);
/* The first item of a list, string ..., the next one of an iterator, which alone is used up; *has false: there is
 * none. */
qn_status qn_vfirst(qn_run *run, qn_value a, bool *has, qn_value *out);
/* A function, or an object whose attribute function answers to "__call__" with one (templates cannot ask for it). */
qn_status qn_vcall(qn_run *run, qn_value callee, const qn_args *args, qn_value *out);
qn_status qn_vstr_of(qn_run *run, qn_value a, qn_value *out);  /* str(a): what is printed */
qn_status qn_vrepr_of(qn_run *run, qn_value a, qn_value *out); /* repr(a) */
qn_status qn_vhash(qn_run *run, qn_value a, uint64_t *out);    /* fails on list, dict */
const char *qn_vkind_name(qn_value a); /* Python's: "str", "dict", "NoneType" ... */

/* ---- what is called by name ---- */

typedef qn_status qn_filter_fn(qn_run *run, qn_value a, const qn_args *args, qn_value *out);
qn_filter_fn *qn_filter_find(qn_str name); /* NULL: there is no such filter */
typedef qn_status qn_test_fn(qn_run *run, qn_value a, const qn_args *args, bool *out);
qn_test_fn *qn_test_find(qn_str name);
/* Puts range, dict, namespace, cycler, joiner, raise_exception, strftime_now ... into d. */
qn_status qn_globals(qn_run *run, qn_vdict *d);
/* Binds arguments to parameters by Python's rules, for filters, methods and globals: spec is "sep,maxsplit=" (a name
 * with `=` may be left out and is then UNDEFINED in out[]). Fails as Python does, naming the function. */
qn_status qn_args_bind(qn_run *run, const char *function, const char *spec, const qn_args *args, qn_value *out);

#endif
