/* What a reader says: parts of a message, gathered and cut between characters.
 * SPDX-License-Identifier: MIT */
#include "text/chat/answer_int.h"

void qn_answer_fail(qn_answer *a, qn_status status, const char *what)
{
    if (a->status == QN_OK) {
        a->status = qn_fail(a->err, status, "answer: %s", what);
    }
}

static void call_back(qn_answer *a, qn_part part, qn_str text)
{
    if (a->status != QN_OK || a->fn == NULL) {
        return;
    }
    bool of_call = part != QN_PART_CONTENT && part != QN_PART_REASONING;
    a->status = a->fn(a->ctx, part, of_call ? a->i_call : 0, text);
}

/* Bytes at the end of out that begin a character and do not end it. */
static size_t cut_character(const qn_answer *a)
{
    for (size_t k = 1; k <= 3 && k <= a->n_out; k++) {
        unsigned char c = (unsigned char)a->out[a->n_out - k];
        if (c >= 0xC0) {
            size_t len = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
            return len > k ? k : 0;
        }
        if (c < 0x80) {
            return 0;
        }
    }
    return 0;
}

void qn_answer_flush(qn_answer *a, bool all)
{
    size_t rest = all ? 0 : cut_character(a);
    size_t n = a->n_out - rest;
    if (n > 0) {
        call_back(a, a->out_part, (qn_str){a->out, n});
        memmove(a->out, a->out + n, rest);
        a->n_out = rest;
    }
}

void qn_answer_say(qn_answer *a, qn_part part, const char *bytes, size_t n)
{
    if (part != a->out_part) {
        qn_answer_flush(a, true);
        a->out_part = part;
    }
    while (n > 0) {
        if (a->n_out == sizeof(a->out)) {
            qn_answer_flush(a, false);
        }
        size_t room = sizeof(a->out) - a->n_out;
        size_t step = n < room ? n : room;
        memcpy(a->out + a->n_out, bytes, step);
        a->n_out += step;
        bytes += step;
        n -= step;
    }
}

void qn_answer_say_once(qn_answer *a, qn_part part, qn_str text)
{
    qn_answer_flush(a, true);
    call_back(a, part, text);
}
