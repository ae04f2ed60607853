/* What the verbs print besides their result: errors, timings, memory. SPDX-License-Identifier: MIT */
#ifndef QN_CLI_REPORT_H
#define QN_CLI_REPORT_H

#include "base/json.h"

#include <stdio.h>

/* One line on standard error, and the exit code. verb NULL: none was found. Usage also says where help is. */
int qn_report_failure(const char *verb, const qn_error *err);
int qn_report_usage(const char *verb, const qn_error *err);

/* Writes out what standard output holds back. False: it cannot be written; says why, unless the reader has gone. */
bool qn_report_flush(void);
/* Prints JSON and a newline. False as above, or the buffer ran out of memory. */
bool qn_report_json(const qn_buf *json);

/* "1.5 GiB", in a buffer of the caller. */
#define QN_REPORT_BYTES_TEXT 24
const char *qn_report_bytes(uint64_t n_bytes, char text[QN_REPORT_BYTES_TEXT]);

/* Prints bytes from outside so that they cannot steer the terminal: control characters, backslashes and invalid
 * UTF-8 as \n, \\, \x1b; at most max_bytes of them, then "...". */
void qn_report_escaped(FILE *f, qn_str s, size_t max_bytes);

/* The most memory that this process has held; 0: the system does not tell. */
uint64_t qn_report_peak_memory(void);

/* Times of one generation. */
typedef struct qn_timings {
    uint64_t load_ns;
    uint64_t prefill_ns, first_token_ns; /* both from the start of the prompt; 0: it was not reached */
    uint64_t decode_ns;
    uint64_t n_prefill, n_decode; /* tokens evaluated */
    uint64_t n_jumped;            /* tokens made without asking the model: the format left no other way */
} qn_timings;

void qn_timings_print(const qn_timings *t); /* to standard error */
void qn_timings_json(const qn_timings *t, qn_json_writer *w);

double qn_rate(uint64_t n, uint64_t ns); /* per second; 0 when ns is 0 */

#endif
