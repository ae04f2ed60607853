/* Cutting rendered text into marks.
 * SPDX-License-Identifier: MIT */
#include "text/chat/cut.h"

size_t qn_cut_find(qn_str s, qn_str what, size_t from)
{
    if (from > s.len || what.len == 0) {
        return QN_NOWHERE;
    }
    const char *found = memmem(s.data + from, s.len - from, what.data, what.len);
    return found == NULL ? QN_NOWHERE : (size_t)(found - s.data);
}

size_t qn_cut_find_last(qn_str s, qn_str what, size_t end)
{
    if (what.len == 0 || what.len > end) {
        return QN_NOWHERE;
    }
    for (size_t at = end - what.len + 1; at-- > 0;) {
        if (memcmp(s.data + at, what.data, what.len) == 0) {
            return at;
        }
    }
    return QN_NOWHERE;
}

bool qn_cut_starts(qn_str s, qn_str with)
{
    return s.len >= with.len && (with.len == 0 || memcmp(s.data, with.data, with.len) == 0);
}

bool qn_cut_ends(qn_str s, qn_str with)
{
    return s.len >= with.len && (with.len == 0 || memcmp(s.data + s.len - with.len, with.data, with.len) == 0);
}

/* Where the text s[0, n) would end inside <...>, the place of that `<`; else n. */
static size_t before_open_angle(qn_str s, size_t n)
{
    for (size_t i = n; i-- > 0;) {
        if (s.data[i] == '>') {
            return n;
        }
        if (s.data[i] == '<') {
            return i;
        }
    }
    return n;
}

qn_str qn_cut_common_start(qn_str a, qn_str b)
{
    size_t n = 0;
    while (n < a.len && n < b.len && a.data[n] == b.data[n]) {
        n++;
    }
    return qn_cut_to(a, n == a.len && n == b.len ? n : before_open_angle(a, n));
}

static bool may_begin(qn_str s, size_t at)
{
    return at == 0 || s.data[at - 1] == '>' || s.data[at - 1] == ']' || qn_is_blank(s.data[at - 1]);
}

qn_str qn_cut_common_end(qn_str a, qn_str b)
{
    size_t n = 0;
    while (n < a.len && n < b.len && a.data[a.len - 1 - n] == b.data[b.len - 1 - n]) {
        n++;
    }
    while (n > 0 && !(may_begin(a, a.len - n) && may_begin(b, b.len - n))) {
        n--;
    }
    return qn_cut_from(a, a.len - n);
}

static char closing(char open)
{
    return open == '<' ? '>' : open == '[' ? ']' : '\0';
}

qn_str qn_cut_first_token(qn_str s)
{
    s = qn_cut_trim(s);
    if (s.len == 0 || strchr("<[|]{", s.data[0]) == NULL) {
        return (qn_str){s.data, 0};
    }
    char close = closing(s.data[0]);
    for (size_t i = 0; i < s.len; i++) {
        if (qn_is_blank(s.data[i])) {
            return qn_cut_to(s, i);
        }
        if (s.data[i] == close && i > 1) {
            return qn_cut_to(s, i + 1);
        }
    }
    return s;
}

qn_str qn_cut_last_token(qn_str s)
{
    s = qn_cut_trim(s);
    char open = s.len == 0 ? '\0' : s.data[s.len - 1] == '>' ? '<' : s.data[s.len - 1] == ']' ? '[' : '\0';
    for (size_t i = s.len; open != '\0' && i-- > 0;) {
        if (s.data[i] == open) {
            return qn_cut_from(s, i);
        }
    }
    return (qn_str){s.data, 0};
}

size_t qn_cut_closer(qn_str open, char *out)
{
    qn_str token = qn_cut_first_token(open);
    if (token.len < 3 || token.len + 2 > QN_MARK_MAX || closing(token.data[0]) != token.data[token.len - 1] ||
        token.data[1] == '/') {
        return 0;
    }
    if (token.data[0] == '<' && token.data[1] == '|' && token.data[token.len - 2] != '|') {
        size_t n = token.len - 3; /* <|x> to <x|> */
        out[0] = '<';
        memcpy(out + 1, token.data + 2, n);
        memcpy(out + 1 + n, "|>", 2);
        return token.len;
    }
    static const char *const words[][2] = {{"START", "END"}, {"BEGIN", "END"}, {"start", "end"}, {"begin", "end"}};
    for (size_t i = 0; i < 4; i++) {
        size_t n = strlen(words[i][0]), n_end = strlen(words[i][1]), at = qn_cut_find(token, qn_str_of(words[i][0]), 0);
        if (at != QN_NOWHERE) {
            memcpy(out, token.data, at);
            memcpy(out + at, words[i][1], n_end);
            memcpy(out + at + n_end, token.data + at + n, token.len - at - n);
            return token.len - n + n_end;
        }
    }
    out[0] = token.data[0];
    out[1] = '/';
    memcpy(out + 2, token.data + 1, token.len - 1);
    return token.len + 1;
}
