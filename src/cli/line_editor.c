/* Lines edited by libedit. SPDX-License-Identifier: MIT */
#include "cli/line_editor.h"

#include "cli/interrupt.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

bool qn_line_wait(void (*changed)(void *ctx, bool resumed), void *ctx)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    int n;
    do {
        if (qn_interrupt_resized()) {
            changed(ctx, false);
        }
        if (qn_interrupt_resumed()) {
            changed(ctx, true);
        }
        if (qn_interrupted()) {
            return false;
        }
        n = poll(&input, 1, -1);
    } while (n < 0 && errno == EINTR);
    return true;
}

#ifdef QN_HAVE_LIBEDIT

#include <histedit.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>

#define QN_LINE_HISTORY 1000 /* lines that the arrow keys reach */
#define QN_LINE_PROMPT 64    /* bytes of a prompt */

struct qn_line_editor {
    EditLine *editor;
    History *history;
    char prompt[QN_LINE_PROMPT];
    bool bold, was_interrupted;
};

static char *show_prompt(EditLine *editor)
{
    qn_line_editor *e;
    el_get(editor, EL_CLIENTDATA, &e);
    return e->prompt;
}

static void follow(void *ctx, bool resumed)
{
    el_resize(ctx);
    if (resumed) { /* whoever had the terminal meanwhile has left it in another state */
        el_set(ctx, EL_PREP_TERM, 0);
        el_set(ctx, EL_PREP_TERM, 1);
        el_set(ctx, EL_REFRESH);
    }
}

/* In place of libedit's own, which goes on reading after a signal. */
static int read_character(EditLine *editor, wchar_t *out)
{
    qn_line_editor *e;
    mbstate_t state = {0};
    el_get(editor, EL_CLIENTDATA, &e);
    for (;;) {
        char byte;
        if (!qn_line_wait(follow, editor)) {
            e->was_interrupted = true;
            return -1;
        }
        ssize_t n = read(STDIN_FILENO, &byte, 1);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return (int)n;
        }
        size_t length = mbrtowc(out, &byte, 1, &state);
        if (length == (size_t)-1) { /* no UTF-8 */
            *out = 0xFFFD;
            return 1;
        }
        if (length != (size_t)-2) {
            return 1;
        }
    }
}

/* Wide characters need a UTF-8 locale; numbers keep the one of C. */
static void choose_locale(void)
{
    setlocale(LC_CTYPE, "");
    if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0) {
        setlocale(LC_CTYPE, "C.UTF-8");
    }
}

static qn_status set_up(qn_line_editor *e, qn_error *err)
{
    HistEvent event;
    choose_locale();
    e->editor = el_init("quern", stdin, stdout, stderr);
    e->history = history_init();
    if (e->editor == NULL || e->history == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for editing lines");
    }
    history(e->history, &event, H_SETSIZE, QN_LINE_HISTORY);
    history(e->history, &event, H_SETUNIQUE, 1);
    el_set(e->editor, EL_CLIENTDATA, e);
    el_set(e->editor, EL_PROMPT_ESC, show_prompt, '\1'); /* what stands between two \1 takes no room */
    el_set(e->editor, EL_EDITOR, "emacs");
    el_set(e->editor, EL_HIST, history, e->history);
    el_set(e->editor, EL_GETCFN, read_character);
    el_set(e->editor, EL_SIGNAL, 0);
    el_set(e->editor, EL_BIND, "^R", "em-inc-search-prev", NULL);
    /* libedit counts characters, not columns, where it has the terminal shift a line: wide characters would be torn.
     * Without these abilities it writes the rest of the line again. */
    static const char *const shifts[] = {"ic", "IC", "im", "ei", "dc", "DC", "dm", "ed"};
    for (size_t i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++) {
        el_set(e->editor, EL_SETTC, shifts[i], "", NULL);
    }
    return QN_OK;
}

qn_status qn_line_editor_open(bool bold, qn_line_editor **out, qn_error *err)
{
    qn_line_editor *e = qn_zalloc(NULL, "line", sizeof(*e));
    if (e == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for editing lines");
    }
    e->bold = bold;
    qn_status status = set_up(e, err);
    if (status != QN_OK) {
        qn_line_editor_close(e);
        return status;
    }
    *out = e;
    return QN_OK;
}

void qn_line_editor_close(qn_line_editor *e)
{
    if (e == NULL) {
        return;
    }
    if (e->editor != NULL) {
        el_end(e->editor);
    }
    if (e->history != NULL) {
        history_end(e->history);
    }
    qn_free(e);
}

qn_line qn_line_editor_read(qn_line_editor *e, const char *prompt, qn_buf *text, qn_error *err)
{
    int n = 0;
    e->was_interrupted = false;
    snprintf(e->prompt, sizeof(e->prompt), e->bold ? "\1\x1b[1m\1%s\1\x1b[0m\1" : "%s", prompt);
    const char *line = el_gets(e->editor, &n);
    if (e->was_interrupted) {
        el_reset(e->editor);
        return QN_LINE_INTERRUPTED;
    }
    if (line == NULL || n <= 0) {
        return n < 0 ? (qn_fail(err, QN_EIO, "standard input: cannot be read"), QN_LINE_FAILED) : QN_LINE_END;
    }
    HistEvent event;
    if (n > 1) {
        history(e->history, &event, H_ENTER, line);
    }
    qn_buf_add(text, line, (size_t)n - (line[n - 1] == '\n'));
    return QN_LINE_READ;
}

#else

qn_status qn_line_editor_open(bool bold, qn_line_editor **out, qn_error *err)
{
    (void)bold, (void)err;
    *out = NULL;
    return QN_OK;
}

void qn_line_editor_close(qn_line_editor *e)
{
    (void)e;
}

qn_line qn_line_editor_read(qn_line_editor *e, const char *prompt, qn_buf *text, qn_error *err)
{
    (void)e, (void)prompt, (void)text;
    qn_fail(err, QN_EUNSUPPORTED, "built without libedit");
    return QN_LINE_FAILED;
}

#endif
