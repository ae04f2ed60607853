/* The filter wordwrap: lines broken as Python's textwrap does it.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

/* One line of text and its characters. */
typedef struct wrap {
    qn_run *run;
    const qn_vstr *s;
    uint32_t *cps;   /* n of them */
    uint32_t *bytes; /* where each begins, and the end: n + 1 */
    uint32_t n;
    int64_t width;
    bool break_words, break_hyphens;
} wrap;

typedef struct chunk {
    uint32_t from, to; /* characters */
} chunk;

static bool is_blank(uint32_t cp)
{
    return cp == ' ' || (cp >= 9 && cp <= 13);
}

static bool is_letter(const wrap *w, int64_t i)
{
    return i >= 0 && i < w->n && qn_char_is_word(w->cps[i]) && !qn_char_is_decimal(w->cps[i]);
}

static bool is_word_or_punctuation(const wrap *w, int64_t i)
{
    return i >= 0 && i < w->n &&
           (qn_char_is_word(w->cps[i]) ||
            (w->cps[i] != 0 && w->cps[i] < 0x80 && strchr("!\"'&.,?", (int)w->cps[i]) != NULL));
}

/* The end of a run of two dashes or more at i with a word after it, or 0. */
static uint32_t em_dash(const wrap *w, uint32_t i)
{
    uint32_t end = i;
    while (end < w->n && w->cps[end] == '-') {
        end++;
    }
    return end >= i + 2 && end < w->n && qn_char_is_word(w->cps[end]) ? end : 0;
}

/* A dash at i that a line may be broken behind: letters on both sides. */
static bool breaks_after(const wrap *w, int64_t i)
{
    bool before =
        is_letter(w, i - 1) && (is_letter(w, i - 2) || (i >= 2 && w->cps[i - 2] == '-' && is_letter(w, i - 3)));
    bool after =
        is_letter(w, i + 1) && (is_letter(w, i + 2) || (i + 2 < w->n && w->cps[i + 2] == '-' && is_letter(w, i + 3)));
    return before && after;
}

static uint32_t chunk_end(const wrap *w, uint32_t i)
{
    uint32_t end = i;
    if (is_blank(w->cps[i])) {
        while (end < w->n && is_blank(w->cps[end])) {
            end++;
        }
        return end;
    }
    end = w->break_hyphens && is_word_or_punctuation(w, (int64_t)i - 1) ? em_dash(w, i) : 0;
    if (end > 0) {
        return end;
    }
    for (end = i + 1; end < w->n && !is_blank(w->cps[end]); end++) {
        if (!w->break_hyphens || w->cps[end] != '-') {
            continue;
        }
        if (breaks_after(w, end)) {
            return end + 1;
        }
        if (is_word_or_punctuation(w, (int64_t)end - 1) && em_dash(w, end) > 0) {
            return end;
        }
    }
    return end;
}

static bool is_empty(const wrap *w, chunk c)
{
    for (uint32_t i = c.from; i < c.to; i++) {
        if (!qn_char_is_space(w->cps[i])) {
            return false;
        }
    }
    return true;
}

/* How much of c, too long for any line, goes on one with `left` characters to spare. */
static uint32_t long_word(const wrap *w, chunk c, int64_t left)
{
    uint32_t end = c.to - c.from > left ? c.from + (uint32_t)left : c.to;
    if (!w->break_hyphens || c.to - c.from <= left) {
        return end;
    }
    uint32_t hyphen = end;
    while (hyphen > c.from && w->cps[hyphen - 1] != '-') {
        hyphen--;
    }
    if (hyphen <= c.from + 1) {
        return end;
    }
    for (uint32_t i = c.from; i + 1 < hyphen; i++) {
        if (w->cps[i] != '-') {
            return hyphen;
        }
    }
    return end;
}

static qn_status wrap_chunks(const wrap *w, chunk *chunks, uint32_t n, qn_vlist *lines)
{
    for (uint32_t at = 0; at < n;) {
        if (lines->n > 0 && is_empty(w, chunks[at])) {
            at++;
        }
        uint32_t from = at < n ? chunks[at].from : 0, to = from, last_from = from;
        int64_t length = 0;
        for (; at < n && length + (chunks[at].to - chunks[at].from) <= w->width; at++) {
            length += chunks[at].to - chunks[at].from;
            last_from = chunks[at].from;
            to = chunks[at].to;
        }
        if (at < n && chunks[at].to - chunks[at].from > w->width) {
            uint32_t end = w->break_words ? long_word(w, chunks[at], w->width - length) : chunks[at].to;
            if (w->break_words || to == from) {
                last_from = chunks[at].from;
                to = end;
                chunks[at].from = end;
                at += chunks[at].from == chunks[at].to;
            }
        }
        if (to > from && is_empty(w, (chunk){last_from, to})) {
            to = last_from;
        }
        QN_TRY(qn_run_steps(w->run, 1 + (to - from)));
        if (to > from) {
            qn_value line;
            QN_TRY(qn_vstring_slice(w->run, w->s, w->bytes[from], w->bytes[to] - w->bytes[from], &line));
            QN_TRY(qn_vlist_push(w->run, lines, line));
        }
    }
    return QN_OK;
}

static qn_status wrap_line(wrap *w, const qn_vstr *s, qn_vlist *lines)
{
    size_t n = s->n_chars;
    QN_TRY(qn_run_steps(w->run, 1 + 4 * n));
    w->s = s;
    w->n = 0;
    w->cps = qn_run_alloc(w->run, n * sizeof(*w->cps) + 4);
    w->bytes = w->cps == NULL ? NULL : qn_run_alloc(w->run, (n + 1) * sizeof(*w->bytes));
    chunk *chunks = w->bytes == NULL ? NULL : qn_run_alloc(w->run, n * sizeof(*chunks) + 8);
    if (chunks == NULL) {
        return w->run->err->code;
    }
    for (size_t i = 0; i < s->n_bytes;) {
        w->bytes[w->n] = (uint32_t)i;
        w->cps[w->n++] = qn_vchar_next(s, &i);
    }
    w->bytes[w->n] = s->n_bytes;
    uint32_t n_chunks = 0;
    for (uint32_t i = 0; i < w->n;) {
        uint32_t end = chunk_end(w, i);
        chunks[n_chunks++] = (chunk){i, end};
        i = end;
    }
    return wrap_chunks(w, chunks, n_chunks, lines);
}

qn_status qn_filter_wordwrap(qn_run *run, qn_value a, const qn_args *args, qn_value *out)
{
    qn_value bound[4], lines, joined, all;
    QN_TRY(qn_args_bind(run, "wordwrap", "width=,break_long_words=,wrapstring=,break_on_hyphens=", args, bound));
    wrap w = {.run = run, .break_words = qn_varg_truth(bound[1], true), .break_hyphens = qn_varg_truth(bound[3], true)};
    QN_TRY(qn_varg_int(run, "wordwrap", bound[0], 79, &w.width));
    if (bound[2].kind == QN_V_UNDEFINED || bound[2].kind == QN_V_NONE) {
        QN_TRY(qn_vcstring(run, "\n", &bound[2]));
    }
    QN_TRY(qn_varg_string(run, "wordwrap", bound[2]));
    QN_TRY(qn_varg_string(run, "wordwrap", a));
    QN_TRY(qn_vsplitlines(run, qn_vsafe(a, false), false, &lines));
    QN_TRY(qn_vlist_new(run, QN_V_LIST, lines.u.list->n, &all));
    for (uint32_t i = 0; i < lines.u.list->n; i++) {
        qn_value wrapped;
        if (w.width <= 0) {
            return qn_run_fail(run, "invalid width %lld (must be > 0)", (long long)w.width);
        }
        QN_TRY(qn_vlist_new(run, QN_V_LIST, 0, &wrapped));
        QN_TRY(wrap_line(&w, lines.u.list->items[i].u.s, wrapped.u.list));
        QN_TRY(qn_vjoin(run, bound[2], wrapped.u.list, true, &joined));
        QN_TRY(qn_vlist_push(run, all.u.list, joined));
    }
    return qn_vjoin(run, bound[2], all.u.list, true, out);
}
