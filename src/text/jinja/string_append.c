/* Strings that grow at their end, as templates make them in loops: `set ns.text = ns.text ~ more`. The new string
 * shares the bytes of the old one and writes behind them, so that n steps cost what n pieces weigh and not n times the
 * whole.
 *
 * A buffer belongs to the string that reaches to the end of what is used of it; only that one may grow in place, which
 * moves the end, so the bytes of a string never change.
 *
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

struct qn_vtail {
    char *bytes;
    size_t used, cap;
    qn_span *marks; /* of the strings that share it, the longest's */
    uint32_t n_marks, cap_marks;
};

/* s with room for n more bytes behind it. A first copy is exact: most strings are lengthened once. */
static qn_vtail *make_room(qn_run *run, const qn_vstr *s, size_t n)
{
    qn_vtail *t = s->tail;
    if (t != NULL && t->used == s->n_bytes && t->cap - t->used >= n) {
        return t;
    }
    size_t total = s->n_bytes + n;
    if (qn_run_steps(run, s->n_bytes / 16 + s->n_marks) != QN_OK) {
        return NULL;
    }
    qn_vtail *made = qn_run_alloc(run, sizeof(*made));
    size_t cap = t == NULL ? total : total + total / 2;
    char *bytes = made == NULL ? NULL : qn_run_alloc(run, cap + 1);
    if (bytes == NULL) {
        return NULL;
    }
    memcpy(bytes, s->bytes, s->n_bytes);
    *made = (qn_vtail){.bytes = bytes, .used = s->n_bytes, .cap = cap};
    return made;
}

/* Marks for the string that `more` makes of s: those of s, then more's. */
static bool join_marks(qn_run *run, qn_vtail *t, const qn_vstr *s, const qn_vstr *more, qn_vstr *out)
{
    out->marks = s->marks;
    out->n_marks = s->n_marks;
    if (more->n_marks == 0) {
        return true;
    }
    bool touch = s->n_marks > 0 && s->marks[s->n_marks - 1].end == s->n_bytes && more->marks[0].start == 0;
    uint32_t n = s->n_marks + more->n_marks - touch;
    /* Marks that touch become one, which is another one than s has. */
    bool in_place = !touch && t->marks != NULL && s->marks == t->marks && s->n_marks == t->n_marks && n <= t->cap_marks;
    if (!in_place) {
        uint32_t cap = n < UINT32_MAX / 2 ? n + n / 2 + 2 : n;
        if (qn_run_steps(run, s->n_marks) != QN_OK || (t->marks = qn_run_alloc(run, cap * sizeof(*t->marks))) == NULL) {
            return false;
        }
        if (s->n_marks > 0) {
            memcpy(t->marks, s->marks, s->n_marks * sizeof(*t->marks));
        }
        t->cap_marks = cap;
    }
    for (uint32_t i = 0; i < more->n_marks; i++) {
        t->marks[s->n_marks - touch + i] =
            (qn_span){more->marks[i].start + s->n_bytes, more->marks[i].end + s->n_bytes};
    }
    if (touch) {
        t->marks[s->n_marks - 1].start = s->marks[s->n_marks - 1].start;
    }
    t->n_marks = n;
    out->marks = t->marks;
    out->n_marks = n;
    return true;
}

/* room: bytes that will be wanted behind s, more's among them. */
static qn_status append(qn_run *run, const qn_vstr *s, const qn_vstr *more, size_t room, qn_value *out)
{
    QN_TRY(qn_run_steps(run, 1 + more->n_bytes / 16 + more->n_marks));
    qn_vtail *t = make_room(run, s, room);
    qn_vstr *joined = t == NULL ? NULL : qn_run_alloc(run, sizeof(*joined));
    if (joined == NULL) {
        return run->err->code;
    }
    *joined = (qn_vstr){
        .bytes = t->bytes, .n_bytes = s->n_bytes + more->n_bytes, .n_chars = s->n_chars + more->n_chars, .tail = t};
    if (!join_marks(run, t, s, more, joined)) {
        return run->err->code;
    }
    memcpy(t->bytes + s->n_bytes, more->bytes, more->n_bytes);
    t->used = joined->n_bytes;
    *out = (qn_value){.kind = QN_V_STRING, .u.s = joined};
    return QN_OK;
}

qn_status qn_vappend(qn_run *run, const qn_value *parts, uint32_t n, qn_value *out)
{
    size_t room = 0;
    qn_value joined = qn_vsafe(parts[0], false), *texts = qn_run_alloc(run, n * sizeof(*texts));
    if (texts == NULL) {
        return run->err->code;
    }
    for (uint32_t i = 1; i < n; i++) {
        QN_TRY(qn_vstr_of(run, parts[i], &texts[i]));
        room += texts[i].u.s->n_bytes;
    }
    if (room > UINT32_MAX - 1 - joined.u.s->n_bytes) {
        return qn_run_fail(run, "a string of more than 4 GiB");
    }
    for (uint32_t i = 1; i < n; i++) {
        const qn_vstr *more = texts[i].u.s;
        if (more->n_bytes > 0) {
            QN_TRY(append(run, joined.u.s, more, room, &joined));
            room -= more->n_bytes;
        }
    }
    *out = joined;
    return QN_OK;
}
