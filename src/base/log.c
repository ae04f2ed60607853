/* Log lines.
 * SPDX-License-Identifier: MIT */
#include "base/log.h"

#include "base/one_line.h"
#include "base/os.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LINE_BYTES 1024 /* room for a path and a reason; longer lines are cut. Below PIPE_BUF: written whole */

static const char *const level_names[] = {"error", "warning", "info", "debug", "trace"};

static atomic_int current_level = QN_LOG_WARN;
static qn_os_mutex sink_lock = QN_OS_MUTEX_INIT; /* held while a sink runs, so its ctx can be freed after a change */
static qn_log_sink *current_sink;
static void *current_ctx;

void qn_log_set_level(qn_log_level level)
{
    atomic_store_explicit(&current_level, (int)level, memory_order_relaxed);
}

qn_log_level qn_log_get_level(void)
{
    return (qn_log_level)atomic_load_explicit(&current_level, memory_order_relaxed);
}

void qn_log_set_sink(qn_log_sink *sink, void *ctx)
{
    qn_os_mutex_lock(&sink_lock);
    current_sink = sink;
    current_ctx = ctx;
    qn_os_mutex_unlock(&sink_lock);
}

/* True: a sink has taken the line. */
static bool give_to_sink(qn_log_level level, const char *line)
{
    qn_os_mutex_lock(&sink_lock);
    bool taken = current_sink != NULL;
    if (taken) {
        current_sink(current_ctx, level, line);
    }
    qn_os_mutex_unlock(&sink_lock);
    return taken;
}

void qn_log(qn_log_level level, const char *fmt, ...)
{
    if (level > qn_log_get_level() || level < QN_LOG_ERROR || level > QN_LOG_TRACE) {
        return;
    }
    char text[LINE_BYTES - 32]; /* the prefix and the newline fit into the rest */
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (n < 0) {
        return;
    }
    qn_one_line(text, strlen(text), n >= (int)sizeof(text));
    if (give_to_sink(level, text)) {
        return;
    }
    char line[LINE_BYTES];
    int len = snprintf(line, sizeof(line), "quern: %s: %s\n", level_names[level], text);
    qn_os_write_stderr(line, (size_t)len);
}
