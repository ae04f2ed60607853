/* Cutting rendered text into marks: what two texts share, and where a mark may begin and end. All results are views.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TEXT_CHAT_CUT_H
#define QN_TEXT_CHAT_CUT_H

#include "text/chat/mark.h"

#define QN_NOWHERE ((size_t)-1)

size_t qn_cut_find(qn_str s, qn_str what, size_t from);     /* the first one at or after from */
size_t qn_cut_find_last(qn_str s, qn_str what, size_t end); /* the last one that ends at or before end */
static inline bool qn_cut_has(qn_str s, qn_str what)
{
    return qn_cut_find(s, what, 0) != QN_NOWHERE;
}
bool qn_cut_starts(qn_str s, qn_str with);
bool qn_cut_ends(qn_str s, qn_str with);

static inline qn_str qn_cut_from(qn_str s, size_t from)
{
    return (qn_str){s.data + from, s.len - from};
}
static inline qn_str qn_cut_to(qn_str s, size_t to)
{
    return (qn_str){s.data, to};
}
static inline qn_str qn_cut_between(qn_str s, size_t from, size_t to)
{
    return (qn_str){s.data + from, to - from};
}
static inline qn_str qn_cut_trim(qn_str s)
{
    return qn_mark_of(s).core;
}

/* What both begin with, not ending inside <...>. */
qn_str qn_cut_common_start(qn_str a, qn_str b);
/* What both end with, beginning where in both a mark may begin: after whitespace, `>` or `]`, or at the start of the
 * text. */
qn_str qn_cut_common_end(qn_str a, qn_str b);

/* The first word of s that looks like a token of its own: <...>, [...] or another run without whitespace that begins
 * with a bracket. Empty: s begins otherwise. Whitespace before it is passed over. */
qn_str qn_cut_first_token(qn_str s);
/* The last <...> or [...], when s ends with it (and perhaps whitespace). */
qn_str qn_cut_last_token(qn_str s);

/* Writes the mark that closes `open` to out[QN_MARK_MAX]: </x> for <x>, [/x] for [x], <x|> for <|x>, <end_x> for
 * <start_x>. 0: it is no such
 * mark. */
size_t qn_cut_closer(qn_str open, char *out);

#endif
