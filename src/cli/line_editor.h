/* Editing of one line by libedit. Where the program was built without it, there is none.
 * SPDX-License-Identifier: MIT */
#ifndef QN_CLI_LINE_EDITOR_H
#define QN_CLI_LINE_EDITOR_H

#include "cli/line_input.h"

typedef struct qn_line_editor qn_line_editor;

/* *out is NULL when the program was built without libedit. */
qn_status qn_line_editor_open(bool bold, qn_line_editor **out, qn_error *err);
void qn_line_editor_close(qn_line_editor *e);

/* Appends a line to text, as qn_line_read(). */
qn_line qn_line_editor_read(qn_line_editor *e, const char *prompt, qn_buf *text, qn_error *err);

/* Waits until there is input. False: Ctrl-C came instead. changed() is called when the window has another size, or when
 * the process goes on after it was stopped. */
bool qn_line_wait(void (*changed)(void *ctx, bool resumed), void *ctx);

#endif
