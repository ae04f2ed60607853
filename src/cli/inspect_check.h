/* Would the engine run this file? SPDX-License-Identifier: MIT */
#ifndef QN_CLI_INSPECT_CHECK_H
#define QN_CLI_INSPECT_CHECK_H

#include "cli/inspect_memory.h"
#include "gguf/gguf.h"

typedef enum qn_verdict {
    QN_VERDICT_RUNS,        /* `run` would load it */
    QN_VERDICT_VOCABULARY,  /* no tensors, but a vocabulary that `tokenize` would load */
    QN_VERDICT_UNSUPPORTED, /* nothing is wrong with the file, but it is no model that this version knows */
    QN_VERDICT_BROKEN,      /* it says what it is, and is not that */
} qn_verdict;

/* Makes every check that loading the model for `run` makes, but for trying the kernels. g: the same file, opened.
 * Unless it runs, *why tells the field, key or tensor; when it does, *memory tells what it takes with contexts of n_ctx
 * tokens. */
qn_verdict qn_inspect_check(const char *path, const qn_gguf *g, const qn_options *o, uint32_t n_ctx,
                            qn_memory_plan *memory, qn_error *why);

void qn_verdict_print(qn_verdict v, const qn_error *why); /* one line on standard output */
void qn_verdict_json(qn_verdict v, const qn_error *why, qn_json_writer *w);

#endif
