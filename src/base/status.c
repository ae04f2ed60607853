/* Names and texts of the status codes, and the one place where errors are written.
 * SPDX-License-Identifier: MIT */
#include "base/status.h"

#include "base/one_line.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *qn_status_name(qn_status code)
{
    switch (code) {
#define QN_STATUS_NAME(name, value, text) \
    case name:                            \
        return #name;
        QN_STATUS_MAP(QN_STATUS_NAME)
#undef QN_STATUS_NAME
    }
    return "QN_?";
}

const char *qn_status_text(qn_status code)
{
    switch (code) {
#define QN_STATUS_TEXT(name, value, text) \
    case name:                            \
        return text;
        QN_STATUS_MAP(QN_STATUS_TEXT)
#undef QN_STATUS_TEXT
    }
    return "unknown status";
}

qn_status (qn_fail)(qn_error *err, qn_status code, const char *fmt, ...)
{
    if (err == NULL) {
        return code;
    }
    /* Not straight into err->what: an argument may be that text, when a caller adds to it. */
    char text[QN_ERROR_TEXT];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (n < 0) {
        text[0] = '\0';
    }
    size_t len = qn_one_line(text, strlen(text), n >= (int)sizeof(text));
    err->code = code;
    memcpy(err->what, text, len + 1);
    return code;
}
