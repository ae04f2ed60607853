/* A text in the form that a unigram vocabulary spells: its characters mapped as the model says, spaces put before it,
 * squeezed and spelled U+2581, as SentencePiece does it. A byte that is no UTF-8 becomes U+FFFD.
 * SPDX-License-Identifier: MIT */
#include "text/tokenizer_unigram.h"
#include "text/utf8.h"

/* What stands for the start of text[0, n) and how much of it: mapped, or one character as it is. */
static size_t next(const qn_charsmap *map, const char *text, size_t n, qn_str *to)
{
    size_t len = qn_charsmap_match(map, text, n, to);
    if (len == 0) {
        uint32_t cp;
        len = qn_utf8_next(text, n, &cp);
        *to = cp == UINT32_MAX ? QN_STR("\xEF\xBF\xBD") : (qn_str){text, len};
    }
    return len;
}

/* Appends s with its spaces spelled out. Returns whether it ends in one, or was_space when it is empty. */
static bool add(qn_buf *out, qn_str s, bool was_space)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.data[i] == ' ') {
            qn_buf_add(out, QN_SPACE, QN_SPACE_LEN);
        } else {
            size_t start = i;
            while (i + 1 < s.len && s.data[i + 1] != ' ') {
                i++;
            }
            qn_buf_add(out, s.data + start, i + 1 - start);
        }
    }
    return s.len == 0 ? was_space : s.data[s.len - 1] == ' ';
}

static void drop_spaces_at_end(qn_buf *out, size_t begin)
{
    while (out->len - begin >= QN_SPACE_LEN &&
           memcmp(out->data + out->len - QN_SPACE_LEN, QN_SPACE, QN_SPACE_LEN) == 0) {
        out->len -= QN_SPACE_LEN;
        out->data[out->len] = '\0';
    }
}

qn_status qn_unigram_normalize(const qn_unigram *m, const char *text, size_t n, bool opens, bool closes, qn_buf *out)
{
    size_t at = 0, begin = out->len;
    qn_str s;
    while (opens && m->squeezes && at < n) { /* a text of spaces alone is no text, and gets no prefix either */
        size_t len = next(&m->map, text + at, n - at, &s);
        if (!qn_str_is(s, " ")) {
            break;
        }
        at += len;
    }
    if (at == n) {
        return QN_OK;
    }
    if (opens && m->prefix) {
        qn_buf_add(out, QN_SPACE, QN_SPACE_LEN);
    }
    for (bool was_space = opens; at < n && out->status == QN_OK;) {
        at += next(&m->map, text + at, n - at, &s);
        while (m->squeezes && was_space && s.len > 0 && s.data[0] == ' ') {
            s.data++;
            s.len--;
        }
        was_space = add(out, s, was_space);
    }
    if (m->squeezes && closes && out->status == QN_OK) {
        drop_spaces_at_end(out, begin);
    }
    return out->status;
}
