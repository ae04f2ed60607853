/* Arguments of calls, bound to parameters by Python's rules.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

/* The next parameter of spec ("sep,maxsplit="): its name, and whether it may be left out. False: there is none. */
static bool next_parameter(const char **spec, qn_str *name, bool *optional)
{
    const char *p = *spec;
    if (*p == '\0') {
        return false;
    }
    size_t n = strcspn(p, ",=");
    *name = (qn_str){p, n};
    *optional = p[n] == '=';
    p += n + *optional;
    *spec = p + (*p == ',');
    return true;
}

/* "/" before the first name: parameters without names for the caller. */
static bool only_positional(const char **spec)
{
    bool is = **spec == '/';
    *spec += is;
    return is;
}

static qn_status unknown_name(qn_run *run, const char *function, const char *spec, qn_str name)
{
    bool nameless = only_positional(&spec), optional;
    qn_str known;
    if (nameless) {
        return qn_run_fail(run, "%s() takes no keyword arguments", function);
    }
    while (next_parameter(&spec, &known, &optional)) {
        if (qn_str_eq(known, name)) {
            return QN_OK;
        }
    }
    return qn_run_fail(run, "%s() got an unexpected keyword argument '%.*s'", function, QN_STR_ARG(name));
}

qn_status qn_args_bind(qn_run *run, const char *function, const char *spec, const qn_args *args, qn_value *out)
{
    for (uint32_t i = 0; i < args->n_named; i++) {
        QN_TRY(unknown_name(run, function, spec, args->names[i]));
    }
    only_positional(&spec);
    uint32_t n = 0;
    qn_str name;
    for (bool optional; next_parameter(&spec, &name, &optional); n++) {
        bool given = n < args->n_pos;
        out[n] = given ? args->pos[n] : (qn_value){.kind = QN_V_UNDEFINED};
        for (uint32_t i = 0; i < args->n_named; i++) {
            if (!qn_str_eq(args->names[i], name)) {
                continue;
            }
            if (given) {
                return qn_run_fail(run, "%s() got multiple values for argument '%.*s'", function, QN_STR_ARG(name));
            }
            given = true;
            out[n] = args->named[i];
        }
        if (!given && !optional) {
            return qn_run_fail(run, "%s() missing required argument: '%.*s'", function, QN_STR_ARG(name));
        }
    }
    if (args->n_pos > n) {
        return qn_run_fail(run, "%s() takes at most %u argument%s (%u given)", function, n, n == 1 ? "" : "s",
                           args->n_pos);
    }
    return QN_OK;
}

qn_status qn_varg_int(qn_run *run, const char *what, qn_value a, int64_t fallback, int64_t *out)
{
    if (a.kind == QN_V_UNDEFINED) {
        *out = fallback;
        return qn_varg_given(a) ? qn_vundefined_fail(run, a) : QN_OK;
    }
    if (a.kind == QN_V_BIGINT) {
        return qn_run_fail(run, "%s: an integer beyond 64 bits", what);
    }
    if (!qn_vis_whole(a)) {
        return qn_run_fail(run, "%s: '%s' object cannot be interpreted as an integer", what, qn_vkind_name(a));
    }
    *out = qn_vwhole(a);
    return QN_OK;
}

qn_status qn_varg_string(qn_run *run, const char *what, qn_value a)
{
    if (a.kind == QN_V_STRING) {
        return QN_OK;
    }
    if (a.kind == QN_V_UNDEFINED && a.u.name != NULL) {
        return qn_vundefined_fail(run, a);
    }
    return qn_run_fail(run, "%s: expected a string, not %s", what, qn_vkind_name(a));
}

qn_status qn_varg_flag(qn_run *run, const char *what, qn_value a, bool *out)
{
    int64_t i = 0;
    QN_TRY(qn_varg_int(run, what, a, 0, &i));
    *out = i != 0;
    return QN_OK;
}

bool qn_varg_truth(qn_value a, bool fallback)
{
    return a.kind == QN_V_UNDEFINED ? fallback : qn_vtruth(a);
}
