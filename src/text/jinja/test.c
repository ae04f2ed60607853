/* The tests that follow `is`.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

static qn_status none(qn_run *run, const char *name, const qn_args *args)
{
    return qn_args_bind(run, name, "", args, NULL);
}

#define IS(name, shown, condition)                                                 \
    static qn_status name(qn_run *run, qn_value a, const qn_args *args, bool *out) \
    {                                                                              \
        QN_TRY(none(run, shown, args));                                            \
        *out = (condition);                                                        \
        return QN_OK;                                                              \
    }
IS(is_defined, "defined", a.kind != QN_V_UNDEFINED)
IS(is_undefined, "undefined", a.kind == QN_V_UNDEFINED)
IS(is_none, "none", a.kind == QN_V_NONE)
IS(is_boolean, "boolean", a.kind == QN_V_BOOL)
IS(is_true, "true", a.kind == QN_V_BOOL && a.u.b)
IS(is_false, "false", a.kind == QN_V_BOOL && !a.u.b)
IS(is_integer, "integer", a.kind == QN_V_INT || a.kind == QN_V_BIGINT)
IS(is_float, "float", a.kind == QN_V_FLOAT)
IS(is_number, "number", qn_vis_number(a))
IS(is_string, "string", a.kind == QN_V_STRING)
IS(is_mapping, "mapping", a.kind == QN_V_DICT)
IS(is_escaped, "escaped", qn_vis_safe(a))
IS(is_sequence, "sequence",
   qn_vis_sequence(a) || a.kind == QN_V_STRING || a.kind == QN_V_DICT || a.kind == QN_V_UNDEFINED)
IS(is_iterable, "iterable",
   a.kind == QN_V_STRING || a.kind == QN_V_LIST || a.kind == QN_V_TUPLE || a.kind == QN_V_DICT ||
       a.kind == QN_V_ITERATOR || a.kind == QN_V_UNDEFINED)
#undef IS

static qn_status is_callable(qn_run *run, qn_value a, const qn_args *args, bool *out)
{
    QN_TRY(none(run, "callable", args));
    qn_value call = {.kind = QN_V_UNDEFINED};
    if (a.kind == QN_V_OBJECT) {
        QN_TRY(a.u.object->attribute(run, a.u.object, QN_STR("__call__"), &call));
    }
    *out = a.kind == QN_V_FUNCTION || a.kind == QN_V_UNDEFINED || call.kind == QN_V_FUNCTION;
    return QN_OK;
}

/* ---- numbers ---- */

static qn_status rest_is(qn_run *run, qn_value a, qn_value by, int64_t what, bool *out)
{
    qn_value rest;
    QN_TRY(qn_varith(run, QN_OP_MOD, a, by, &rest));
    return qn_vequal(run, rest, qn_vint(what), out);
}

static qn_status is_odd(qn_run *run, qn_value a, const qn_args *args, bool *out)
{
    QN_TRY(none(run, "odd", args));
    return rest_is(run, a, qn_vint(2), 1, out);
}

static qn_status is_even(qn_run *run, qn_value a, const qn_args *args, bool *out)
{
    QN_TRY(none(run, "even", args));
    return rest_is(run, a, qn_vint(2), 0, out);
}

static qn_status is_divisibleby(qn_run *run, qn_value a, const qn_args *args, bool *out)
{
    qn_value by;
    QN_TRY(qn_args_bind(run, "divisibleby", "num", args, &by));
    return rest_is(run, a, by, 0, out);
}

/* ---- strings and names ---- */

static qn_status ask(qn_run *run, qn_value a, const char *method, bool *out)
{
    qn_value call = {.kind = QN_V_UNDEFINED}, answer;
    QN_TRY(qn_vstr_of(run, a, &a));
    QN_TRY(qn_method_str(run, a, qn_str_of(method), &call));
    QN_TRY(qn_vcall(run, call, &(qn_args){0}, &answer));
    *out = qn_vtruth(answer);
    return QN_OK;
}

static qn_status is_lower(qn_run *run, qn_value a, const qn_args *args, bool *out)
{
    QN_TRY(none(run, "lower", args));
    return ask(run, a, "islower", out);
}

static qn_status is_upper(qn_run *run, qn_value a, const qn_args *args, bool *out)
{
    QN_TRY(none(run, "upper", args));
    return ask(run, a, "isupper", out);
}

static qn_status is_filter(qn_run *run, qn_value a, const qn_args *args, bool *out)
{
    QN_TRY(none(run, "filter", args));
    uint64_t hash;
    QN_TRY(qn_vhash(run, a, &hash)); /* the filters are a dict, which only keys may be looked up in */
    *out = a.kind == QN_V_STRING && qn_filter_find(qn_vbytes(a)) != NULL;
    return QN_OK;
}

static qn_status is_test(qn_run *run, qn_value a, const qn_args *args, bool *out)
{
    QN_TRY(none(run, "test", args));
    uint64_t hash;
    QN_TRY(qn_vhash(run, a, &hash));
    *out = a.kind == QN_V_STRING && qn_test_find(qn_vbytes(a)) != NULL;
    return QN_OK;
}

/* ---- comparing ---- */

static qn_status is_eq(qn_run *run, qn_value a, const qn_args *args, bool *out)
{
    qn_value b;
    QN_TRY(qn_args_bind(run, "eq", "/b", args, &b));
    return qn_vequal(run, a, b, out);
}

static qn_status is_ne(qn_run *run, qn_value a, const qn_args *args, bool *out)
{
    QN_TRY(is_eq(run, a, args, out));
    *out = !*out;
    return QN_OK;
}

static qn_status compare(qn_run *run, qn_value a, const qn_args *args, int *order)
{
    qn_value b;
    QN_TRY(qn_args_bind(run, "comparison", "/b", args, &b));
    return qn_vcompare(run, a, b, order);
}

#define COMPARE(name, condition)                                                   \
    static qn_status name(qn_run *run, qn_value a, const qn_args *args, bool *out) \
    {                                                                              \
        int order;                                                                 \
        QN_TRY(compare(run, a, args, &order));                                     \
        *out = order != QN_UNORDERED && (condition);                               \
        return QN_OK;                                                              \
    }
COMPARE(is_lt, order < 0)
COMPARE(is_le, order <= 0)
COMPARE(is_gt, order > 0)
COMPARE(is_ge, order >= 0)
#undef COMPARE

static qn_status is_in(qn_run *run, qn_value a, const qn_args *args, bool *out)
{
    qn_value container;
    QN_TRY(qn_args_bind(run, "in", "seq", args, &container));
    return qn_vcontains(run, container, a, out);
}

static qn_status is_sameas(qn_run *run, qn_value a, const qn_args *args, bool *out)
{
    qn_value b;
    QN_TRY(qn_args_bind(run, "sameas", "other", args, &b));
    *out = qn_vsame(a, b);
    if (a.kind == QN_V_STRING && b.kind == QN_V_STRING) { /* equal texts are mostly one object in Python, too */
        return qn_vequal(run, a, b, out);
    }
    return QN_OK;
}

static const struct {
    const char *name;
    qn_test_fn *call;
} tests[] = {
    {"defined", is_defined},
    {"none", is_none},
    {"string", is_string},
    {"mapping", is_mapping},
    {"iterable", is_iterable},
    {"sequence", is_sequence},
    {"undefined", is_undefined},
    {"true", is_true},
    {"false", is_false},
    {"boolean", is_boolean},
    {"number", is_number},
    {"integer", is_integer},
    {"float", is_float},
    {"callable", is_callable},
    {"odd", is_odd},
    {"even", is_even},
    {"divisibleby", is_divisibleby},
    {"lower", is_lower},
    {"upper", is_upper},
    {"filter", is_filter},
    {"test", is_test},
    {"escaped", is_escaped},
    {"sameas", is_sameas},
    {"in", is_in},
    {"eq", is_eq},
    {"==", is_eq},
    {"equalto", is_eq},
    {"ne", is_ne},
    {"!=", is_ne},
    {"lt", is_lt},
    {"<", is_lt},
    {"lessthan", is_lt},
    {"le", is_le},
    {"<=", is_le},
    {"gt", is_gt},
    {">", is_gt},
    {"greaterthan", is_gt},
    {"ge", is_ge},
    {">=", is_ge},
};

qn_test_fn *qn_test_find(qn_str name)
{
    for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
        if (qn_str_is(name, tests[i].name)) {
            return tests[i].call;
        }
    }
    return NULL;
}
