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
#include <stdlib.h>
#include <wchar.h>

#define QN_LINE_HISTORY 1000 /* lines that the arrow keys reach */
#define QN_LINE_PROMPT 64    /* bytes of a prompt */

struct qn_line_editor {
    EditLine *editor;
    History *history;
    char prompt[QN_LINE_PROMPT];
    bool bold, was_interrupted;
    bool marks_pastes; /* the terminal is told to put marks around what is pasted */
};

static char *show_prompt(EditLine *editor)
{
    qn_line_editor *e;
    el_get(editor, EL_CLIENTDATA, &e);
    return e->prompt;
}

static void mark_pastes(const qn_line_editor *e, bool on)
{
    if (e->marks_pastes) {
        fputs(on ? "\x1b[?2004h" : "\x1b[?2004l", stdout);
        fflush(stdout);
    }
}

static void follow(void *ctx, bool resumed)
{
    qn_line_editor *e;
    el_get(ctx, EL_CLIENTDATA, &e);
    el_resize(ctx);
    if (resumed) { /* whoever had the terminal meanwhile has left it in another state */
        el_set(ctx, EL_PREP_TERM, 0);
        el_set(ctx, EL_PREP_TERM, 1);
        mark_pastes(e, true);
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

/* ---- what is pasted ------------------------------------------------------------------------------- */

#define QN_PASTE_CHUNK 256 /* characters handed to libedit at once */

typedef struct paste {
    EditLine *editor;
    wchar_t chunk[QN_PASTE_CHUNK + 1];
    size_t n, n_all;
    size_t n_newlines; /* held back: those at the end are no part of the message */
    bool is_full;
} paste;

static void flush_paste(paste *p)
{
    p->chunk[p->n] = L'\0';
    p->is_full |= p->n > 0 && el_winsertstr(p->editor, p->chunk) != 0;
    p->n = 0;
}

static void put(paste *p, wchar_t c)
{
    if (p->n == QN_PASTE_CHUNK) {
        flush_paste(p);
    }
    p->is_full |= p->n_all == QN_LINE_MAX_BYTES / 4;
    if (!p->is_full && c != L'\0') {
        p->chunk[p->n++] = c;
        p->n_all++;
    }
}

static void put_character(paste *p, wchar_t c)
{
    if (c == L'\n') {
        p->n_newlines++;
        return;
    }
    for (; p->n_newlines > 0; p->n_newlines--) {
        put(p, L'\n');
    }
    put(p, c);
}

/* Behind the mark that begins a paste: takes all up to the one that ends it into the line, newlines too. */
static unsigned char take_paste(EditLine *editor, wint_t key)
{
    static const wchar_t end[] = L"\x1b[201~";
    paste p = {.editor = editor};
    wchar_t c;
    size_t n_end = 0; /* characters of the end that were seen */
    (void)key;
    while (end[n_end] != L'\0' && el_wgetc(editor, &c) == 1) {
        if (c == end[n_end]) {
            n_end++;
            continue;
        }
        for (size_t i = 0; i < n_end; i++) {
            put_character(&p, end[i]);
        }
        n_end = c == end[0];
        if (n_end == 0) {
            put_character(&p, c == L'\r' ? L'\n' : c); /* terminals send CR for a newline */
        }
    }
    flush_paste(&p);
    return p.is_full ? CC_REFRESH_BEEP : CC_REFRESH;
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
    const char *kind = getenv("TERM");
    e->marks_pastes = kind != NULL && kind[0] != '\0' && strcmp(kind, "dumb") != 0 &&
                      el_wset(e->editor, EL_ADDFN, L"quern-paste", L"Take what is pasted", take_paste) == 0 &&
                      el_set(e->editor, EL_BIND, "\\e[200~", "quern-paste", NULL) == 0;
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
    mark_pastes(e, true);
    const char *line = el_gets(e->editor, &n);
    mark_pastes(e, false);
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
