/* Marks: does a text begin with one?
 * SPDX-License-Identifier: MIT */
#include "text/chat/mark.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t skip_blanks(qn_str s, size_t at)
{
    while (at < s.len && qn_is_blank(s.data[at])) {
        at++;
    }
    return at;
}

/* Between <|a|> and what follows, or before it: models write blanks there that templates do not. */
static bool is_token_edge(qn_str core, size_t at)
{
    static const char bar[] = "\xEF\xBD\x9C"; /* the wide one */
    if (at == 0 || at == core.len) {
        return false;
    }
    qn_str before = {core.data, at}, after = {core.data + at, core.len - at};
    bool ends = before.len > 3 && before.data[at - 1] == '>' &&
                (before.data[at - 2] == '|' || memcmp(before.data + at - 4, bar, 3) == 0);
    bool begins =
        after.len > 3 && after.data[0] == '<' && (after.data[1] == '|' || memcmp(after.data + 1, bar, 3) == 0);
    return ends || begins;
}

static qn_fit fit_core(qn_str core, qn_str s, size_t *len)
{
    size_t i = 0, k = 0; /* in core, in s */
    while (i < core.len) {
        char want = core.data[i];
        if (qn_is_blank(want)) {
            size_t end = skip_blanks(s, k);
            if (end - k > QN_MARK_SPACES) {
                return QN_FIT_NONE;
            }
            k = end;
            i = skip_blanks(core, i);
            continue;
        }
        if (is_token_edge(core, i)) {
            size_t end = skip_blanks(s, k);
            if (end - k > QN_MARK_SPACES) {
                return QN_FIT_NONE;
            }
            k = end;
        }
        if (k == s.len) {
            return QN_FIT_PART;
        }
        if (want == QN_MARK_DIGITS) {
            size_t from = k;
            while (k < s.len && is_digit(s.data[k])) {
                k++;
            }
            if (k == from || k - from > 8) {
                return QN_FIT_NONE;
            }
            if (k == s.len) {
                return QN_FIT_PART;
            }
        } else if (s.data[k++] != (want == QN_MARK_LINE_END ? '\n' : want)) {
            return QN_FIT_NONE;
        }
        i++;
    }
    *len = k;
    return QN_FIT_WHOLE;
}

qn_fit qn_mark_fit(const qn_mark *m, qn_str s, size_t *len)
{
    if (m->core.len == 0 || s.len == 0) {
        return QN_FIT_NONE;
    }
    if (m->before.len == 0 || s.data[0] != m->before.data[0]) {
        return fit_core(m->core, s, len);
    }
    size_t n = s.len < m->before.len ? s.len : m->before.len;
    if (memcmp(s.data, m->before.data, n) != 0) {
        return QN_FIT_NONE;
    }
    if (n == s.len) {
        return QN_FIT_PART;
    }
    qn_fit fit = fit_core(m->core, (qn_str){s.data + n, s.len - n}, len);
    *len += n;
    return fit;
}

qn_mark qn_mark_of(qn_str text)
{
    size_t from = skip_blanks(text, 0), to = text.len;
    while (to > from && qn_is_blank(text.data[to - 1])) {
        to--;
    }
    return (qn_mark){{text.data, from}, {text.data + from, to - from}, {text.data + to, text.len - to}};
}
