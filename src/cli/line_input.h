/* Lines that a person types, or that come through a pipe. SPDX-License-Identifier: MIT */
#ifndef QN_CLI_LINE_INPUT_H
#define QN_CLI_LINE_INPUT_H

#include "base/buf.h"

typedef struct qn_line_input qn_line_input;

typedef enum qn_line {
    QN_LINE_READ,
    QN_LINE_END,         /* end of the input, or Ctrl-D on an empty line */
    QN_LINE_INTERRUPTED, /* Ctrl-C */
    QN_LINE_FAILED,      /* *err says why */
} qn_line;

#define QN_LINE_MAX_BYTES ((size_t)1 << 26) /* of one message; a context of a million tokens holds less */

/* With a terminal at both ends lines can be edited and fetched again with the arrow keys; else they are read as they
 * come, and no prompt is shown. bold: of the prompt, where that is possible. */
qn_status qn_line_open(bool bold, qn_line_input **out, qn_error *err);
void qn_line_close(qn_line_input *in);
bool qn_line_is_interactive(const qn_line_input *in);

/* Replaces text by the next line, without its newline. prompt: what stands before it, without control characters. */
qn_line qn_line_read(qn_line_input *in, const char *prompt, qn_buf *text, qn_error *err);

/* The next message: a line; or several, where each but the last ends in a backslash; or what stands between a line's
 * beginning """ and the next """ that ends a line. */
qn_line qn_message_read(qn_line_input *in, const char *prompt, const char *more_prompt, qn_buf *text, qn_error *err);

#endif
