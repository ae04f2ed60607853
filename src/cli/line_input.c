/* Lines and messages, from a person or a pipe. SPDX-License-Identifier: MIT */
#include "cli/line_input.h"

#include "cli/line_editor.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define QN_LINE_OWNER "line"

struct qn_line_input {
    bool is_interactive, bold;
    qn_line_editor *editor; /* NULL: lines are read as they come */
};

/* ---- lines ---------------------------------------------------------------------------------------- */

static void ignore(void *ctx, bool resumed)
{
    (void)ctx, (void)resumed;
}

/* EOF at the end; *interrupted: Ctrl-C came instead. */
static int next_byte(const qn_line_input *in, bool *interrupted)
{
    if (!in->is_interactive) {
        return getchar();
    }
    unsigned char byte;
    ssize_t n;
    do {
        if (!qn_line_wait(ignore, NULL)) {
            *interrupted = true;
            return EOF;
        }
        n = read(STDIN_FILENO, &byte, 1);
    } while (n < 0 && errno == EINTR);
    return n == 1 ? byte : EOF;
}

static qn_line take_line(const qn_line_input *in, const char *prompt, qn_buf *text, qn_error *err)
{
    int c = 0;
    bool any = false, interrupted = false;
    if (in->is_interactive) {
        printf(in->bold ? "\x1b[1m%s\x1b[0m" : "%s", prompt);
        fflush(stdout);
    }
    while (text->status == QN_OK && (c = next_byte(in, &interrupted)) != EOF && c != '\n') {
        qn_buf_add_char(text, (char)c);
        any = true;
    }
    if (interrupted) {
        return QN_LINE_INTERRUPTED;
    }
    if (c == EOF && ferror(stdin)) {
        qn_fail(err, QN_EIO, "standard input: cannot be read: %s", strerror(errno));
        return QN_LINE_FAILED;
    }
    return c == EOF && !any ? QN_LINE_END : QN_LINE_READ;
}

qn_status qn_line_open(bool bold, qn_line_input **out, qn_error *err)
{
    qn_line_input *in = qn_zalloc(NULL, QN_LINE_OWNER, sizeof(*in));
    if (in == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for reading lines");
    }
    in->bold = bold;
    in->is_interactive = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    qn_status status = in->is_interactive ? qn_line_editor_open(bold, &in->editor, err) : QN_OK;
    if (status != QN_OK) {
        qn_line_close(in);
        return status;
    }
    *out = in;
    return QN_OK;
}

void qn_line_close(qn_line_input *in)
{
    if (in == NULL) {
        return;
    }
    qn_line_editor_close(in->editor);
    qn_free(in);
}

bool qn_line_is_interactive(const qn_line_input *in)
{
    return in->is_interactive;
}

qn_line qn_line_read(qn_line_input *in, const char *prompt, qn_buf *text, qn_error *err)
{
    qn_buf_clear(text);
    qn_line result =
        in->editor != NULL ? qn_line_editor_read(in->editor, prompt, text, err) : take_line(in, prompt, text, err);
    if (result == QN_LINE_READ && text->status != QN_OK) {
        qn_fail(err, text->status, "the line does not fit into memory");
        return QN_LINE_FAILED;
    }
    return result;
}

/* ---- messages ------------------------------------------------------------------------------------- */

static bool ends_with(const qn_buf *b, const char *end)
{
    size_t n = strlen(end);
    return b->len >= n && memcmp(b->data + b->len - n, end, n) == 0;
}

/* Cuts n bytes off the end. */
static void shorten(qn_buf *b, size_t n)
{
    b->len -= n;
    b->data[b->len] = '\0';
}

static qn_line read_more(qn_line_input *in, const char *prompt, qn_buf *text, const char *last, bool goes_on,
                         qn_error *err)
{
    qn_buf line;
    qn_line result = QN_LINE_READ;
    qn_buf_init(&line, NULL, QN_LINE_OWNER, QN_LINE_MAX_BYTES);
    while (goes_on && result == QN_LINE_READ) {
        result = qn_line_read(in, prompt, &line, err);
        if (result == QN_LINE_READ) {
            bool has_mark = ends_with(&line, last);
            goes_on = last[0] == '\\' ? has_mark : !has_mark;
            if (has_mark) {
                shorten(&line, strlen(last));
            }
            qn_buf_add_char(text, '\n');
            qn_buf_add(text, line.data, line.len);
        }
    }
    qn_buf_free(&line);
    if (text->status != QN_OK) {
        qn_fail(err, text->status, "the message does not fit into memory");
        return QN_LINE_FAILED;
    }
    return result == QN_LINE_END ? QN_LINE_READ : result; /* what there is, is the message */
}

qn_line qn_message_read(qn_line_input *in, const char *prompt, const char *more_prompt, qn_buf *text, qn_error *err)
{
    static const char quotes[] = "\"\"\"";
    qn_line result = qn_line_read(in, prompt, text, err);
    if (result != QN_LINE_READ) {
        return result;
    }
    if (text->len >= 3 && memcmp(text->data, quotes, 3) == 0) {
        memmove(text->data, text->data + 3, text->len - 3);
        shorten(text, 3);
        bool is_whole = ends_with(text, quotes);
        if (is_whole) {
            shorten(text, 3);
        }
        return read_more(in, more_prompt, text, quotes, !is_whole, err);
    }
    bool goes_on = ends_with(text, "\\");
    if (goes_on) {
        shorten(text, 1);
    }
    return read_more(in, more_prompt, text, "\\", goes_on, err);
}
