/* Making text with one sequence of a session: read a prompt, then token by token until something ends it.
 * SPDX-License-Identifier: MIT */
#ifndef QN_CLI_GENERATION_H
#define QN_CLI_GENERATION_H

#include "cli/input.h"
#include "cli/report.h"
#include "cli/sampling.h"

/* Why a text ends. QN_ENDING_OUTPUT: show() failed. */
typedef enum qn_ending {
    QN_ENDING_STOP,
    QN_ENDING_LENGTH,
    QN_ENDING_CONTEXT,
    QN_ENDING_TIME,
    QN_ENDING_INTERRUPTED,
    QN_ENDING_OUTPUT,
} qn_ending;

const char *qn_ending_name(qn_ending e); /* "stop", ... as in JSON */

/* Gets text as it may be shown. Returns 0 to go on, QN_SHOW_WHOLE when the text is whole with this, anything else when
 * it cannot be shown. */
#define QN_SHOW_WHOLE 1
typedef int qn_show_fn(void *ctx, const char *bytes, size_t n_bytes);

typedef struct qn_generation {
    const qn_model *model;
    qn_session *session;
    qn_seq *seq;
    qn_sampler *sampler;
    const qn_sampling *sampling;
    uint32_t n_ctx;

    int64_t n_predict;     /* tokens at most; -1: no limit but the context */
    unsigned stream_flags; /* of qn_stream_open() */
    qn_show_fn *show;
    void *ctx;

    qn_tokens made; /* by the last call */
    qn_ending ending;
    qn_timings timings; /* of the last call; load_ns is the caller's */
    uint64_t begin_ns;  /* when the prompt's first token went in */
} qn_generation;

/* How many tokens the context has to hold for a prompt of n_prompt tokens when `asked` are asked for (0: as many as are
 * needed) and n_predict are to be made. Warns beyond what the model was trained for. QN_ERANGE: the prompt does not
 * fit; err has both counts. */
qn_status qn_generation_context(const char *verb, int64_t asked, size_t n_prompt, int64_t n_predict,
                                const qn_model_info *info, uint32_t *out, qn_error *err);

/* Opens session, sequence and sampler. n_ctx: of the session. On failure qn_generation_close() is still due. */
qn_status qn_generation_open(qn_generation *g, qn_model *m, qn_sampling *sampling, uint32_t n_ctx, qn_error *err);
void qn_generation_close(qn_generation *g);

/* Appends prompt[0, n), n >= 1, to the sequence and makes text after it. Ctrl-C and the deadline (cli/interrupt.h)
 * end it like any other ending does. The sequence holds the prompt and all made tokens but perhaps the last. */
qn_status qn_generate(qn_generation *g, const int32_t *prompt, size_t n, qn_error *err);

/* Says on standard error that the text ended because the context is full. */
void qn_generation_tell_full(const qn_generation *g, const char *verb, const qn_model_info *info);

#endif
