/* Log lines to stderr (or a sink). Levels by rate: ERROR and WARN rare, INFO once per model, DEBUG per request,
 * TRACE per step. A line is written whole with one write.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BASE_LOG_H
#define QN_BASE_LOG_H

#include "base/status.h"

typedef enum qn_log_level { QN_LOG_ERROR, QN_LOG_WARN, QN_LOG_INFO, QN_LOG_DEBUG, QN_LOG_TRACE } qn_log_level;

void qn_log_set_level(qn_log_level level); /* WARN at start */
qn_log_level qn_log_get_level(void);
/* Called by one thread at a time, with a line of at most 1023 bytes without the newline; must not log. */
typedef void qn_log_sink(void *ctx, qn_log_level level, const char *line);
void qn_log_set_sink(qn_log_sink *sink, void *ctx); /* NULL: stderr */
void qn_log(qn_log_level level, const char *fmt, ...) QN_PRINTF(2, 3);

#endif
