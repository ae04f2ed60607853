/* Strings: making, slicing and building them, with the marks of the bytes that came from outside.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

#include <stdarg.h>
#include <stdio.h>

uint32_t qn_vchar_count(const char *bytes, size_t n)
{
    size_t n_chars = 0;
    for (size_t i = 0; i < n; i++) {
        n_chars += ((uint8_t)bytes[i] & 0xC0) != 0x80;
    }
    return (uint32_t)n_chars;
}

uint32_t qn_vchar_before(const qn_vstr *s, size_t *i)
{
    size_t end = *i;
    do {
        --*i;
    } while (*i > 0 && ((uint8_t)s->bytes[*i] & 0xC0) == 0x80);
    uint32_t cp;
    qn_unicode_decode(s->bytes + *i, end - *i, &cp);
    return cp;
}

size_t qn_vstr_offset(const qn_vstr *s, uint32_t i_char)
{
    if (s->n_bytes == s->n_chars || i_char >= s->n_chars) {
        return i_char >= s->n_chars ? s->n_bytes : i_char;
    }
    size_t at = 0;
    for (uint32_t i = 0; i < i_char; i++) {
        do {
            at++;
        } while (((uint8_t)s->bytes[at] & 0xC0) == 0x80);
    }
    return at;
}

/* ---- making ---- */

/* A string with room for n_marks marks. */
static qn_vstr *new_string(qn_run *run, const char *bytes, size_t n, uint32_t n_marks, qn_span **marks)
{
    if (n > UINT32_MAX - 1) {
        qn_run_fail(run, "a string of more than 4 GiB");
        return NULL;
    }
    qn_vstr *s = qn_run_alloc(run, sizeof(*s) + n_marks * sizeof(qn_span));
    if (s == NULL) {
        return NULL;
    }
    *s = (qn_vstr){.bytes = bytes, .n_bytes = (uint32_t)n, .n_chars = qn_vchar_count(bytes, n), .n_marks = n_marks};
    *marks = n_marks == 0 ? NULL : (qn_span *)(void *)(s + 1);
    s->marks = *marks;
    return s;
}

qn_status qn_vstring(qn_run *run, const char *bytes, size_t n, bool marked, qn_value *out)
{
    QN_TRY(qn_run_steps(run, 1 + n / 16));
    char *copy = qn_run_alloc(run, n + 1);
    if (copy == NULL) {
        return run->err->code;
    }
    if (n > 0) {
        memcpy(copy, bytes, n);
    }
    copy[n] = '\0';
    qn_span *marks;
    qn_vstr *s = new_string(run, copy, n, marked && n > 0, &marks);
    if (s == NULL) {
        return run->err->code;
    }
    if (marks != NULL) {
        marks[0] = (qn_span){0, n};
    }
    *out = (qn_value){.kind = QN_V_STRING, .u.s = s};
    return QN_OK;
}

qn_status qn_vcstring(qn_run *run, const char *text, qn_value *out)
{
    return qn_vstring(run, text, strlen(text), false, out);
}

/* The first mark of s that ends after `from`. */
static uint32_t mark_after(const qn_vstr *s, size_t from)
{
    uint32_t low = 0, high = s->n_marks;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (s->marks[mid].end <= from) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

qn_status qn_vstring_slice(qn_run *run, const qn_vstr *s, size_t from, size_t n, qn_value *out)
{
    uint32_t first = mark_after(s, from), last = first;
    while (last < s->n_marks && s->marks[last].start < from + n) {
        last++;
    }
    QN_TRY(qn_run_steps(run, 1 + n / 64 + (last - first)));
    qn_span *marks;
    qn_vstr *part = new_string(run, s->bytes + from, n, n == 0 ? 0 : last - first, &marks);
    if (part == NULL) {
        return run->err->code;
    }
    for (uint32_t i = 0; i < part->n_marks; i++) {
        qn_span m = s->marks[first + i];
        marks[i] = (qn_span){m.start < from ? 0 : m.start - from, m.end > from + n ? n : m.end - from};
    }
    *out = (qn_value){.kind = QN_V_STRING, .u.s = part};
    return QN_OK;
}

/* ---- building ---- */

void qn_vbuild_init(qn_vbuild *v, qn_run *run)
{
    *v = (qn_vbuild){.run = run};
}

/* Room for n more bytes. */
static bool reserve(qn_vbuild *v, size_t n)
{
    if (v->status == QN_OK) {
        v->status = qn_run_steps(v->run, 1 + n / 16);
    }
    if (v->status != QN_OK) {
        return false;
    }
    if (n <= v->cap - v->n_bytes) {
        return true;
    }
    if (n > UINT32_MAX - v->n_bytes) {
        v->status = qn_run_fail(v->run, "a string of more than 4 GiB");
        return false;
    }
    size_t cap = v->n_bytes + n < 32 ? 32 : v->n_bytes + n;
    if (cap < v->cap * 2) {
        cap = v->cap * 2;
    }
    char *bytes = qn_run_alloc(v->run, cap);
    if (bytes == NULL) {
        v->status = v->run->err->code;
        return false;
    }
    if (v->n_bytes > 0) {
        memcpy(bytes, v->bytes, v->n_bytes);
    }
    v->bytes = bytes;
    v->cap = cap;
    return true;
}

static bool add_mark(qn_vbuild *v, size_t start, size_t end)
{
    if (v->n_marks > 0 && v->marks[v->n_marks - 1].end == start) {
        v->marks[v->n_marks - 1].end = end;
        return true;
    }
    if (v->n_marks == v->cap_marks) {
        uint32_t cap = v->cap_marks == 0 ? 2 : v->cap_marks * 2;
        qn_span *marks = qn_run_alloc(v->run, cap * sizeof(*marks));
        if (marks == NULL) {
            v->status = v->run->err->code;
            return false;
        }
        if (v->n_marks > 0) {
            memcpy(marks, v->marks, v->n_marks * sizeof(*marks));
        }
        v->marks = marks;
        v->cap_marks = cap;
    }
    v->marks[v->n_marks++] = (qn_span){start, end};
    return true;
}

void qn_vbuild_add(qn_vbuild *v, const char *bytes, size_t n)
{
    if (n > 0 && reserve(v, n)) {
        memcpy(v->bytes + v->n_bytes, bytes, n);
        v->n_bytes += n;
    }
}

void qn_vbuild_add_slice(qn_vbuild *v, const qn_vstr *s, size_t from, size_t n)
{
    size_t at = v->n_bytes;
    qn_vbuild_add(v, s->bytes + from, n);
    if (v->status != QN_OK || n == 0) {
        return;
    }
    for (uint32_t i = mark_after(s, from); i < s->n_marks && s->marks[i].start < from + n; i++) {
        size_t start = s->marks[i].start < from ? 0 : s->marks[i].start - from;
        size_t end = s->marks[i].end > from + n ? n : s->marks[i].end - from;
        if (!add_mark(v, at + start, at + end)) {
            return;
        }
    }
}

void qn_vbuild_add_like(qn_vbuild *v, const qn_vstr *s, size_t from, const char *bytes, size_t n)
{
    size_t at = v->n_bytes;
    qn_vbuild_add(v, bytes, n);
    uint32_t i = s->n_marks == 0 ? 0 : mark_after(s, from);
    if (v->status == QN_OK && n > 0 && i < s->n_marks && s->marks[i].start <= from) {
        add_mark(v, at, at + n);
    }
}

void qn_vbuild_add_cstr(qn_vbuild *v, const char *text)
{
    qn_vbuild_add(v, text, strlen(text));
}

void qn_vbuild_add_char(qn_vbuild *v, uint32_t cp)
{
    char c[4];
    qn_vbuild_add(v, c, qn_utf8_put(cp, c));
}

void qn_vbuild_add_char_like(qn_vbuild *v, const qn_vstr *s, size_t from, uint32_t cp)
{
    char c[4];
    qn_vbuild_add_like(v, s, from, c, qn_utf8_put(cp, c));
}

void qn_vbuild_add_string(qn_vbuild *v, qn_value s)
{
    qn_vbuild_add_slice(v, s.u.s, 0, s.u.s->n_bytes);
}

void qn_vbuild_repeat(qn_vbuild *v, qn_value s, uint64_t times)
{
    uint64_t total;
    if (__builtin_mul_overflow(times, (uint64_t)s.u.s->n_bytes, &total) || total > UINT32_MAX - v->n_bytes) {
        if (v->status == QN_OK) {
            v->status = qn_run_fail(v->run, "a string of more than 4 GiB");
        }
        return;
    }
    if (total == 0 || !reserve(v, total)) { /* all of it now: without room for it nothing is copied */
        return;
    }
    for (uint64_t i = 0; i < times && v->status == QN_OK; i++) {
        qn_vbuild_add_string(v, s);
    }
}

void qn_vbuild_printf(qn_vbuild *v, const char *fmt, ...)
{
    char text[128];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (n > 0) {
        qn_vbuild_add(v, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
    }
}

qn_status qn_vbuild_finish(qn_vbuild *v, qn_value *out)
{
    if (v->status != QN_OK) {
        return v->status;
    }
    qn_span *marks;
    qn_vstr *s = new_string(v->run, v->bytes == NULL ? "" : v->bytes, v->n_bytes, 0, &marks);
    if (s == NULL) {
        return v->run->err->code;
    }
    s->marks = v->marks;
    s->n_marks = v->n_marks;
    *out = (qn_value){.kind = QN_V_STRING, .u.s = s};
    return QN_OK;
}

/* ---- looking for ---- */

size_t qn_vstr_find(const qn_vstr *s, size_t from, size_t to, qn_str needle)
{
    if (from > to || needle.len > to - from) {
        return SIZE_MAX;
    }
    if (needle.len == 0) {
        return from;
    }
    const char *at = memmem(s->bytes + from, to - from, needle.data, needle.len); /* two-way: linear */
    return at == NULL ? SIZE_MAX : (size_t)(at - s->bytes);
}

qn_status qn_vstr_rfind(qn_run *run, const qn_vstr *s, size_t from, size_t to, qn_str needle, size_t *at)
{
    *at = SIZE_MAX;
    if (from > to || needle.len > to - from) {
        return QN_OK;
    }
    if (needle.len == 0) {
        *at = to;
        return QN_OK;
    }
    for (size_t end = to - needle.len + 1; end > from;) {
        const char *p = memrchr(s->bytes + from, needle.data[0], end - from);
        QN_TRY(qn_run_steps(run, 1 + needle.len / 64));
        if (p == NULL) {
            break;
        }
        if (memcmp(p, needle.data, needle.len) == 0) {
            *at = (size_t)(p - s->bytes);
            break;
        }
        end = (size_t)(p - s->bytes);
    }
    return QN_OK;
}

bool qn_vstr_starts(const qn_vstr *s, size_t from, size_t to, qn_str needle)
{
    return from <= to && needle.len <= to - from &&
           (needle.len == 0 || memcmp(s->bytes + from, needle.data, needle.len) == 0);
}

bool qn_vstr_ends(const qn_vstr *s, size_t from, size_t to, qn_str needle)
{
    return from <= to && needle.len <= to - from && qn_vstr_starts(s, to - needle.len, to, needle);
}
