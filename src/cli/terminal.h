/* Text for a terminal: styles where they are wanted, and nothing from outside that could steer it.
 * SPDX-License-Identifier: MIT */
#ifndef QN_CLI_TERMINAL_H
#define QN_CLI_TERMINAL_H

#include "base/str.h"

#include <stdio.h>

typedef enum qn_style { QN_STYLE_PLAIN, QN_STYLE_DIM, QN_STYLE_CALL, QN_STYLE_PROMPT } qn_style;

typedef struct qn_terminal {
    FILE *file;
    bool is_terminal;
    bool has_styles; /* a terminal that is not dumb, and no NO_COLOR */
    qn_style style;  /* in force */
    bool open_line;  /* something stands on the current line */
} qn_terminal;

void qn_terminal_init(qn_terminal *t, FILE *f);

/* From now on text has this style. */
void qn_terminal_style(qn_terminal *t, qn_style style);

/* Writes text that came from outside. On a terminal control characters other than newline and tab are spelled out;
 * anywhere else bytes stay as they are. False: it cannot be written. */
bool qn_terminal_write(qn_terminal *t, const char *bytes, size_t n_bytes);

/* Ends the current line if something stands on it. */
bool qn_terminal_end_line(qn_terminal *t);

#endif
