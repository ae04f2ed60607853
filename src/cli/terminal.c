/* Styles, and control characters made harmless. SPDX-License-Identifier: MIT */
#include "cli/terminal.h"

#include "cli/report.h"

#include <stdlib.h>
#include <unistd.h>

void qn_terminal_init(qn_terminal *t, FILE *f)
{
    const char *no_color = getenv("NO_COLOR"), *kind = getenv("TERM");
    *t = (qn_terminal){.file = f, .is_terminal = isatty(fileno(f)) == 1};
    t->has_styles = t->is_terminal && (no_color == NULL || no_color[0] == '\0') && kind != NULL && kind[0] != '\0' &&
                    strcmp(kind, "dumb") != 0;
}

void qn_terminal_style(qn_terminal *t, qn_style style)
{
    static const char *const codes[] = {"\x1b[0m", "\x1b[2m", "\x1b[36m", "\x1b[1m"};
    if (style == t->style) {
        return;
    }
    if (t->has_styles) {
        fputs(codes[QN_STYLE_PLAIN], t->file);
        fputs(style != QN_STYLE_PLAIN ? codes[style] : "", t->file);
    }
    t->style = style;
}

/* Bytes of a control character at s[0, n): C0 but newline and tab, DEL, C1. 0: it is none. */
static size_t control_length(const char *s, size_t n)
{
    unsigned char c = (unsigned char)s[0];
    if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F) {
        return 1;
    }
    return c == 0xC2 && n > 1 && (unsigned char)s[1] < 0xA0 ? 2 : 0;
}

bool qn_terminal_write(qn_terminal *t, const char *bytes, size_t n_bytes)
{
    size_t begin = 0;
    for (size_t i = 0; t->is_terminal && i < n_bytes;) {
        size_t length = control_length(bytes + i, n_bytes - i);
        if (length == 0) {
            i++;
            continue;
        }
        fwrite(bytes + begin, 1, i - begin, t->file);
        fprintf(t->file, "\\x%02x", (unsigned char)bytes[i + length - 1]);
        i += length;
        begin = i;
    }
    fwrite(bytes + begin, 1, n_bytes - begin, t->file);
    if (n_bytes > 0) {
        t->open_line = bytes[n_bytes - 1] != '\n';
    }
    return t->file == stdout ? qn_report_flush() : fflush(t->file) == 0;
}

bool qn_terminal_end_line(qn_terminal *t)
{
    return !t->open_line || qn_terminal_write(t, "\n", 1);
}
