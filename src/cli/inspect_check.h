/* Would the engine run this file? SPDX-License-Identifier: MIT */
#ifndef QN_CLI_INSPECT_CHECK_H
#define QN_CLI_INSPECT_CHECK_H

#include "base/json.h"
#include "gguf/gguf.h"

typedef enum qn_verdict {
    QN_VERDICT_RUNS,        /* `run` would load it */
    QN_VERDICT_VOCABULARY,  /* no tensors, but a vocabulary that `tokenize` would load */
    QN_VERDICT_UNSUPPORTED, /* nothing is wrong with the file, but it is no model that this version knows */
    QN_VERDICT_BROKEN,      /* it says what it is, and is not that */
} qn_verdict;

/* Makes every check that loading the model for `run` makes, but for trying the kernels. g: the same file, opened.
 * Unless it runs, *why tells the field, key or tensor. */
qn_verdict qn_inspect_check(const char *path, const qn_gguf *g, qn_error *why);

void qn_verdict_print(qn_verdict v, const qn_error *why); /* one line on standard output */
void qn_verdict_json(qn_verdict v, const qn_error *why, qn_json_writer *w);

#endif
