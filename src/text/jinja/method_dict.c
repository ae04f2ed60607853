/* Methods of dicts. What changes one in place is refused, as in jinja2's immutable sandbox.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

static qn_status call_get(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    qn_value a[2];
    bool has;
    QN_TRY(qn_args_bind(run, "get", "/key,default=", args, a));
    QN_TRY(qn_vdict_get(run, fn->self.u.dict, a[0], &has, out));
    if (!has) {
        *out = args->n_pos < 2 ? qn_vnone() : a[1];
    }
    return QN_OK;
}

static qn_status view(qn_run *run, const qn_vfunction *fn, const qn_args *args, char what, qn_value *out)
{
    QN_TRY(qn_args_bind(run, fn->name.data, "", args, NULL));
    return qn_vdict_view(run, fn->self.u.dict, what, out);
}

static qn_status call_keys(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    return view(run, fn, args, 'k', out);
}

static qn_status call_values(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    return view(run, fn, args, 'v', out);
}

static qn_status call_items(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    return view(run, fn, args, 'i', out);
}

static qn_status call_copy(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    QN_TRY(qn_args_bind(run, "copy", "", args, NULL));
    QN_TRY(qn_vdict_new(run, QN_V_DICT, out));
    return qn_vdict_merge(run, out->u.dict, &(qn_args){.pos = &fn->self, .n_pos = 1}, "copy");
}

/* dict.fromkeys(keys, value): of the type, which every dict answers to. */
static qn_status call_fromkeys(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    qn_value a[2];
    const qn_vlist *l;
    (void)fn;
    QN_TRY(qn_args_bind(run, "fromkeys", "/iterable,value=", args, a));
    QN_TRY(qn_viterate(run, a[0], &l));
    QN_TRY(qn_vdict_new(run, QN_V_DICT, out));
    for (uint32_t i = 0; i < l->n; i++) {
        QN_TRY(qn_vdict_set(run, out->u.dict, l->items[i], args->n_pos < 2 ? qn_vnone() : a[1]));
    }
    return QN_OK;
}

static const qn_method methods[] = {
    {"get", call_get},   {"items", call_items},       {"keys", call_keys}, {"values", call_values},
    {"copy", call_copy}, {"fromkeys", call_fromkeys}, {"update", NULL},    {"pop", NULL},
    {"popitem", NULL},   {"setdefault", NULL},        {"clear", NULL},     {NULL, NULL},
};

qn_status qn_method_dict(qn_run *run, qn_value a, qn_str name, qn_value *out)
{
    return qn_method_of(run, methods, a, name, out);
}
