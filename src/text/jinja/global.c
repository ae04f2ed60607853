/* What templates can call without anybody having given it to them.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

#include <stdlib.h>
#include <time.h>

static qn_status call_range(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    qn_value a[3];
    int64_t n[3];
    (void)fn;
    QN_TRY(qn_args_bind(run, "range", "/start,stop=,step=", args, a));
    for (int i = 0; i < 3; i++) {
        QN_TRY(qn_varg_int(run, "range", a[i], i, &n[i]));
    }
    if (args->n_pos == 1) {
        return qn_vrange(run, 0, n[0], 1, out);
    }
    return qn_vrange(run, n[0], n[1], args->n_pos < 3 ? 1 : n[2], out);
}

static qn_status call_namespace(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    (void)fn;
    QN_TRY(qn_vdict_new(run, QN_V_NAMESPACE, out));
    return qn_vdict_merge(run, out->u.dict, args, "namespace");
}

static qn_status call_raise_exception(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    qn_value message;
    (void)fn;
    (void)out;
    QN_TRY(qn_args_bind(run, "raise_exception", "message", args, &message));
    QN_TRY(qn_vstr_of(run, message, &message));
    return qn_run_fail(run, "%.*s", (int)(message.u.s->n_bytes > 1000 ? 1000 : message.u.s->n_bytes),
                       message.u.s->bytes);
}

static qn_status call_lipsum(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    (void)fn;
    (void)args;
    (void)out;
    return qn_run_fail(run, "lipsum() is refused: a template gives the same text each time");
}

/* ---- strftime_now ---- */

static qn_status call_strftime_now(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    qn_value format;
    (void)fn;
    QN_TRY(qn_args_bind(run, "strftime_now", "format", args, &format));
    QN_TRY(qn_varg_string(run, "strftime_now", format));
    time_t now = run->now == INT64_MIN ? time(NULL) : (time_t)run->now;
    struct tm tm;
    if (localtime_r(&now, &tm) == NULL) {
        return qn_run_fail(run, "strftime_now: the time is out of range");
    }
    const qn_vstr *s = format.u.s;
    qn_vbuild v;
    qn_vbuild_init(&v, run);
    for (size_t i = 0; i < s->n_bytes && v.status == QN_OK;) {
        size_t at = i++;
        if (s->bytes[at] != '%') {
            qn_vbuild_add_slice(&v, s, at, 1);
            continue;
        }
        /* Flags of the C library, an alternative form, and the letter. */
        while (i < s->n_bytes && i - at < 4 && s->bytes[i] != '\0' && strchr("-_0^#EO", s->bytes[i]) != NULL) {
            i++;
        }
        char one[8] = "", shown[128];
        if (i >= s->n_bytes || (uint8_t)s->bytes[i] >= 0x80) {
            qn_vbuild_add_slice(&v, s, at, i - at);
            continue;
        }
        char letter = s->bytes[i++];
        memcpy(one, s->bytes + at, i - at);
        if (letter == 'f') { /* Python's own: microseconds; a time without a zone shows none */
            qn_vbuild_add_cstr(&v, "000000");
        } else if (letter != 'z' && letter != 'Z') {
            qn_vbuild_add(&v, shown, strftime(shown, sizeof(shown), one, &tm));
        }
    }
    return qn_vbuild_finish(&v, out);
}

/* ---- dict: callable, and dict.fromkeys ---- */

static qn_status call_dict(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    (void)fn;
    QN_TRY(qn_vdict_new(run, QN_V_DICT, out));
    return qn_vdict_merge(run, out->u.dict, args, "dict");
}

static qn_status dict_attribute(qn_run *run, qn_vobject *o, qn_str name, qn_value *out)
{
    qn_value self = {.kind = QN_V_OBJECT, .u.object = o}, empty;
    if (qn_str_is(name, "__call__")) {
        return qn_vmethod(run, "dict", call_dict, self, out);
    }
    if (qn_str_is(name, "fromkeys")) {
        QN_TRY(qn_vdict_new(run, QN_V_DICT, &empty));
        return qn_method_dict(run, empty, name, out);
    }
    return QN_OK;
}

/* ---- cycler and joiner ---- */

typedef struct turns {
    qn_value items; /* a tuple; of a joiner: the separator, shown from the second call on */
    uint32_t at;
} turns;

static qn_status new_object(qn_run *run, const char *type, qn_value items, qn_value *out,
                            qn_status (*attribute)(qn_run *, qn_vobject *, qn_str, qn_value *))
{
    qn_vobject *o = qn_run_alloc(run, sizeof(*o));
    turns *t = o == NULL ? NULL : qn_run_alloc(run, sizeof(*t));
    if (t == NULL) {
        return run->err->code;
    }
    *t = (turns){.items = items};
    *o = (qn_vobject){.type = type, .attribute = attribute, .data = t};
    *out = (qn_value){.kind = QN_V_OBJECT, .u.object = o};
    return QN_OK;
}

static qn_status call_next(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    turns *t = fn->self.u.object->data;
    QN_TRY(qn_args_bind(run, "next", "", args, NULL));
    *out = t->items.u.list->items[t->at];
    t->at = (t->at + 1) % t->items.u.list->n;
    return QN_OK;
}

static qn_status call_reset(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    turns *t = fn->self.u.object->data;
    QN_TRY(qn_args_bind(run, "reset", "", args, NULL));
    t->at = 0;
    *out = qn_vnone();
    return QN_OK;
}

static qn_status cycler_attribute(qn_run *run, qn_vobject *o, qn_str name, qn_value *out)
{
    turns *t = o->data;
    qn_value self = {.kind = QN_V_OBJECT, .u.object = o};
    if (qn_str_is(name, "next")) {
        return qn_vmethod(run, "next", call_next, self, out);
    }
    if (qn_str_is(name, "reset")) {
        return qn_vmethod(run, "reset", call_reset, self, out);
    }
    if (qn_str_is(name, "current")) {
        *out = t->items.u.list->items[t->at];
    } else if (qn_str_is(name, "pos")) {
        *out = qn_vint(t->at);
    } else if (qn_str_is(name, "items")) {
        *out = t->items;
    }
    return QN_OK;
}

static qn_status call_cycler(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    qn_value items;
    (void)fn;
    if (args->n_pos == 0 || args->n_named > 0) {
        return qn_run_fail(run, "at least one item has to be provided");
    }
    QN_TRY(qn_vlist_copy(run, QN_V_TUPLE, args->pos, args->n_pos, &items));
    return new_object(run, "Cycler", items, out, cycler_attribute);
}

static qn_status call_join_next(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    turns *t = fn->self.u.object->data;
    QN_TRY(qn_args_bind(run, "joiner", "", args, NULL));
    if (t->at++ == 0) {
        return qn_vcstring(run, "", out);
    }
    t->at = 1;
    *out = t->items;
    return QN_OK;
}

static qn_status joiner_attribute(qn_run *run, qn_vobject *o, qn_str name, qn_value *out)
{
    turns *t = o->data;
    if (qn_str_is(name, "__call__")) {
        return qn_vmethod(run, "joiner", call_join_next, (qn_value){.kind = QN_V_OBJECT, .u.object = o}, out);
    }
    if (qn_str_is(name, "sep")) {
        *out = t->items;
    } else if (qn_str_is(name, "used")) {
        *out = qn_vbool(t->at > 0);
    }
    return QN_OK;
}

static qn_status call_joiner(qn_run *run, const qn_vfunction *fn, const qn_args *args, qn_value *out)
{
    qn_value separator;
    (void)fn;
    QN_TRY(qn_args_bind(run, "joiner", "sep=", args, &separator));
    if (separator.kind == QN_V_UNDEFINED) {
        QN_TRY(qn_vcstring(run, ", ", &separator));
    }
    return new_object(run, "Joiner", separator, out, joiner_attribute);
}

qn_status qn_globals(qn_run *run, qn_vdict *d)
{
    static const qn_method globals[] = {
        {"range", call_range},
        {"namespace", call_namespace},
        {"cycler", call_cycler},
        {"joiner", call_joiner},
        {"lipsum", call_lipsum},
        {"raise_exception", call_raise_exception},
        {"strftime_now", call_strftime_now},
    };
    qn_value name, x;
    for (size_t i = 0; i < sizeof(globals) / sizeof(*globals); i++) {
        QN_TRY(qn_vcstring(run, globals[i].name, &name));
        QN_TRY(qn_vmethod(run, globals[i].name, globals[i].call, (qn_value){.kind = QN_V_UNDEFINED}, &x));
        QN_TRY(qn_vdict_set(run, d, name, x));
    }
    QN_TRY(qn_vcstring(run, "dict", &name));
    QN_TRY(new_object(run, "TemplateDict", qn_vnone(), &x, dict_attribute));
    return qn_vdict_set(run, d, name, x);
}
