/* Text that may be shown, out of the bytes of tokens.
 *
 * Bytes pass two gates. The first holds back what may be, or may become, a stop string: one Knuth-Morris-Pratt
 * automaton per stop tells in linear time how long a beginning of it the text ends with. The second holds back the
 * bytes of an unfinished character.
 *
 * Positions count the bytes pushed so far. Promises between calls:
 *   (1) n_shown <= i_safe <= n_pushed, and held[0, n_pushed - n_shown) are the bytes from n_shown on;
 *   (2) i_match is where the earliest complete stop begins, or NONE; it is final once no stop that begins before
 *       it can still be completed, and then the stream is stopped;
 *   (3) while not stopped, n_pushed - n_shown < the longest stop: only an unfinished stop holds text back.
 *
 * SPDX-License-Identifier: MIT */
#include "text/stream.h"

#include "text/utf8.h"

#include <assert.h>

#define QN_STREAM_OWNER "stream"
#define QN_STREAM_NONE UINT64_MAX

typedef struct stop {
    char *bytes;
    uint32_t *border; /* border[i]: longest proper beginning of bytes[0, i + 1) that is also its end */
    uint32_t len;
    uint32_t matched; /* the text ends with bytes[0, matched), and with no longer beginning */
} stop;

struct qn_text_stream {
    stop *stops;
    size_t n_stops;
    char *held; /* twice the longest stop, so that moving it to the front costs little per byte */
    size_t held_cap, held_begin, held_end;
    uint64_t n_pushed, n_shown, i_match;
    char part[4]; /* an unfinished character */
    size_t n_part;
    bool stopped, finished;
};

/* ---- the second gate: whole characters ---------------------------------------------------------- */

static void show_replacement(qn_buf *out)
{
    char mark[4];
    qn_buf_add(out, mark, qn_utf8_put(0xFFFD, mark));
}

static void show_byte(qn_text_stream *st, char byte, qn_buf *out)
{
    st->part[st->n_part++] = byte;
    uint32_t cp;
    if (qn_utf8_next(st->part, st->n_part, &cp) == st->n_part && cp != UINT32_MAX) {
        qn_buf_add(out, st->part, st->n_part);
        st->n_part = 0;
        return;
    }
    if (qn_utf8_tail(st->part, st->n_part) == st->n_part) {
        return;
    }
    show_replacement(out);
    /* What came before this byte was a good beginning, so the byte itself may begin a character. */
    bool again = st->n_part > 1;
    st->n_part = 0;
    if (again) {
        show_byte(st, byte, out);
    }
}

static void show_end(qn_text_stream *st, qn_buf *out)
{
    if (st->n_part > 0) {
        show_replacement(out);
        st->n_part = 0;
    }
}

/* ---- the first gate: stops ---------------------------------------------------------------------- */

static void compute_borders(stop *s)
{
    uint32_t k = 0;
    s->border[0] = 0;
    for (uint32_t i = 1; i < s->len; i++) {
        while (k > 0 && s->bytes[i] != s->bytes[k]) {
            k = s->border[k - 1];
        }
        k += s->bytes[i] == s->bytes[k];
        s->border[i] = k;
    }
}

/* True when the byte completes the stop. */
static bool stop_advance(stop *s, char byte)
{
    if (s->matched == s->len) {
        s->matched = s->border[s->len - 1];
    }
    while (s->matched > 0 && s->bytes[s->matched] != byte) {
        s->matched = s->border[s->matched - 1];
    }
    s->matched += s->bytes[s->matched] == byte;
    return s->matched == s->len;
}

/* Takes one byte; returns the position before which no stop begins or may yet begin. */
static uint64_t advance_stops(qn_text_stream *st, char byte)
{
    uint64_t i_alive = st->n_pushed; /* the earliest beginning of a stop that may still be completed */
    for (size_t i = 0; i < st->n_stops; i++) {
        stop *s = &st->stops[i];
        uint64_t i_begin;
        if (stop_advance(s, byte)) {
            i_begin = st->n_pushed - s->len;
            st->i_match = i_begin < st->i_match ? i_begin : st->i_match;
            i_begin = st->n_pushed - s->border[s->len - 1];
        } else {
            i_begin = st->n_pushed - s->matched;
        }
        i_alive = i_begin < i_alive ? i_begin : i_alive;
    }
    if (st->i_match <= i_alive) {
        st->stopped = st->i_match != QN_STREAM_NONE;
        return st->i_match < i_alive ? st->i_match : i_alive;
    }
    return i_alive;
}

static void hold(qn_text_stream *st, char byte)
{
    if (st->held_end == st->held_cap) {
        memmove(st->held, st->held + st->held_begin, st->held_end - st->held_begin);
        st->held_end -= st->held_begin;
        st->held_begin = 0;
    }
    assert(st->held_end < st->held_cap);
    st->held[st->held_end++] = byte;
    st->n_pushed++;
}

static void show_until(qn_text_stream *st, uint64_t i_safe, qn_buf *out)
{
    for (; st->n_shown < i_safe; st->n_shown++) {
        show_byte(st, st->held[st->held_begin++], out);
    }
}

/* ---- the stream --------------------------------------------------------------------------------- */

static qn_status stop_open(qn_str text, qn_budget *b, stop *s)
{
    s->bytes = qn_alloc(b, QN_STREAM_OWNER, text.len);
    s->border = qn_zalloc_array(b, QN_STREAM_OWNER, text.len, sizeof(*s->border));
    if (s->bytes == NULL || s->border == NULL) {
        return QN_ENOMEM;
    }
    memcpy(s->bytes, text.data, text.len);
    s->len = (uint32_t)text.len;
    compute_borders(s);
    return QN_OK;
}

static qn_status check_stops(const qn_str *stops, size_t n_stops, qn_error *err)
{
    if (n_stops > QN_STREAM_MAX_STOPS) {
        return qn_fail(err, QN_EINVAL, "stop: %zu strings, at most %d are allowed", n_stops, QN_STREAM_MAX_STOPS);
    }
    for (size_t i = 0; i < n_stops; i++) {
        if (stops[i].len == 0) {
            return qn_fail(err, QN_EINVAL, "stop: string %zu is empty", i);
        }
        if (stops[i].len > QN_STREAM_MAX_STOP_BYTES) {
            return qn_fail(err, QN_EINVAL, "stop: string %zu has %zu bytes, at most %d are allowed", i, stops[i].len,
                           QN_STREAM_MAX_STOP_BYTES);
        }
    }
    return QN_OK;
}

qn_status qn_text_stream_open(const qn_str *stops, size_t n_stops, qn_budget *b, qn_text_stream **out, qn_error *err)
{
    QN_TRY(check_stops(stops, n_stops, err));
    qn_text_stream *st = qn_zalloc(b, QN_STREAM_OWNER, sizeof(*st));
    if (st == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for a text stream");
    }
    st->i_match = QN_STREAM_NONE;
    size_t longest = 1;
    qn_status status = QN_OK;
    st->stops = qn_zalloc_array(b, QN_STREAM_OWNER, n_stops, sizeof(*st->stops));
    if (st->stops == NULL) {
        status = QN_ENOMEM;
    }
    for (; status == QN_OK && st->n_stops < n_stops; st->n_stops++) {
        status = stop_open(stops[st->n_stops], b, &st->stops[st->n_stops]);
        longest = stops[st->n_stops].len > longest ? stops[st->n_stops].len : longest;
    }
    st->held_cap = 2 * longest;
    st->held = status == QN_OK ? qn_alloc(b, QN_STREAM_OWNER, st->held_cap) : NULL;
    if (st->held == NULL) {
        qn_text_stream_close(st);
        return qn_fail(err, QN_ENOMEM, "no memory for %zu stop strings", n_stops);
    }
    *out = st;
    return QN_OK;
}

void qn_text_stream_close(qn_text_stream *st)
{
    if (st == NULL) {
        return;
    }
    for (size_t i = 0; i < st->n_stops; i++) {
        qn_free(st->stops[i].bytes);
        qn_free(st->stops[i].border);
    }
    qn_free(st->stops);
    qn_free(st->held);
    qn_free(st);
}

qn_status qn_text_stream_push(qn_text_stream *st, const char *bytes, size_t n, qn_buf *out, bool *stopped)
{
    for (size_t i = 0; i < n && !st->stopped && !st->finished; i++) {
        hold(st, bytes[i]);
        show_until(st, advance_stops(st, bytes[i]), out);
        if (st->stopped) {
            show_end(st, out);
        }
    }
    *stopped = st->stopped;
    return out->status;
}

qn_status qn_text_stream_finish(qn_text_stream *st, qn_buf *out)
{
    if (!st->stopped && !st->finished) {
        /* A stop that waited for an earlier one to be completed or not: there is no more text to complete it. */
        show_until(st, st->i_match < st->n_pushed ? st->i_match : st->n_pushed, out);
        show_end(st, out);
    }
    st->finished = true;
    return out->status;
}
