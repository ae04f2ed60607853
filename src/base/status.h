/* Status codes come from the public header; this adds what the inside needs to make and pass errors on.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BASE_STATUS_H
#define QN_BASE_STATUS_H

#include "quern/quern.h"

#if defined(__GNUC__)
#define QN_PRINTF(i_fmt, i_arg) __attribute__((format(printf, i_fmt, i_arg)))
#define QN_UNUSED __attribute__((unused))
#else
#define QN_PRINTF(i_fmt, i_arg)
#define QN_UNUSED
#endif

/* Fills *err (if not NULL) and returns code: `return qn_fail(err, QN_EFORMAT, "general.alignment: %u", a);`
 * Control characters and invalid UTF-8 in the result become '?', so that a hostile file cannot write to the
 * terminal. The first caller that detects a fault calls this; the others pass the code on. */
qn_status qn_fail(qn_error *err, qn_status code, const char *fmt, ...) QN_PRINTF(3, 4);

#ifdef __clang_analyzer__
/* The analyzer does not see into another file: without this it follows paths on which a failure returns QN_OK. */
#define qn_fail(err, code, ...) ((qn_fail)(err, code, __VA_ARGS__), (code))
#endif

/* Passes a failure on. */
#define QN_TRY(call)                                                                               \
    do {                                                                                           \
        qn_status qn_try_code_ = (call);                                                           \
        if (qn_try_code_ != QN_OK) {                                                               \
            return qn_try_code_;                                                                   \
        }                                                                                          \
    } while (0)

#endif
