/* A mark: text that a template writes around what the model says. Whitespace at its edges belongs to it when it is
 * there, exactly as the template writes it; a run of whitespace inside may be any whitespace, or none, and where a
 * token like <|this|> begins or ends inside there may be some.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TEXT_CHAT_MARK_H
#define QN_TEXT_CHAT_MARK_H

#include "base/str.h"

#define QN_MARK_MAX 512       /* bytes of a mark; the longest known one has 60 */
#define QN_MARK_SPACES 16     /* whitespace that may stand where a mark has some inside */
#define QN_MARK_LINE_END '\2' /* in a core: a line end that must be there */
#define QN_MARK_DIGITS '\1'   /* in a core: one or more decimal digits (the number of a call) */

typedef struct qn_mark {
    qn_str before; /* whitespace, or empty */
    qn_str core;   /* neither begins nor ends with whitespace; empty: there is no such mark */
    qn_str after;  /* whitespace, or empty */
} qn_mark;

typedef enum qn_fit {
    QN_FIT_NONE,
    QN_FIT_PART,  /* more bytes may make it fit */
    QN_FIT_WHOLE, /* it fits, and more bytes change nothing */
} qn_fit;

/* Whether s begins with the mark, `before` and `core`, and then in how many bytes. */
qn_fit qn_mark_fit(const qn_mark *m, qn_str s, size_t *len);

/* Splits text into whitespace, core and whitespace: views of it. */
qn_mark qn_mark_of(qn_str text);

static inline bool qn_is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

#endif
