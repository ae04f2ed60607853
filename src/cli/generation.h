/* Making text with one sequence of a session: read a prompt, then token by token until something ends it.
 * SPDX-License-Identifier: MIT */
#ifndef QN_CLI_GENERATION_H
#define QN_CLI_GENERATION_H

#include "cli/input.h"
#include "cli/mark_wait.h"
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

    qn_guide *guide_start;   /* at the beginning of a format; NULL: any text will do */
    const char *guide_after; /* the format begins behind the first such mark of the text; NULL: with the text */
    int64_t n_predict;       /* tokens at most; -1: no limit but the context */
    unsigned stream_flags;   /* of qn_stream_open() */
    qn_show_fn *show;
    void *ctx;

    qn_tokens made; /* by the last call */
    qn_ending ending;
    bool is_whole;      /* there was a format, and the text is what it wants */
    qn_timings timings; /* of the last call; load_ns is the caller's */
    uint64_t begin_ns;  /* when the prompt's first token went in */

    /* Of the call that runs. */
    qn_stream *stream;
    qn_guide *guide;   /* where the text is in the format */
    qn_mark_wait wait; /* for guide_after */
    uint32_t i_made;   /* the sequence's length where made.ids[0] belongs */
} qn_generation;

/* How many tokens the context has to hold for a prompt of n_prompt tokens when `asked` are asked for (0: as many as are
 * needed) and n_predict are to be made. Warns beyond what the model was trained for. QN_ERANGE: the prompt does not
 * fit; err has both counts. */
qn_status qn_generation_context(const char *verb, int64_t asked, size_t n_prompt, int64_t n_predict,
                                const qn_model_info *info, uint32_t *out, qn_error *err);

/* Opens session, sequence and sampler. n_ctx: of the session. On failure qn_generation_close() is still due. */
qn_status qn_generation_open(qn_generation *g, qn_model *m, qn_sampling *sampling, uint32_t n_ctx, qn_error *err);
void qn_generation_close(qn_generation *g);

/* From now on every text has this format; NULL: any text will do. QN_ENOTFOUND: the model lacks a token it names. */
qn_status qn_generation_set_format(qn_generation *g, qn_format *f, qn_error *err);

/* Appends prompt[0, n), n >= 1, to the sequence and makes text after it. Ctrl-C and the deadline (cli/interrupt.h)
 * end it like any other ending does. The sequence holds the prompt and all made tokens but perhaps the last ones. */
qn_status qn_generate(qn_generation *g, const int32_t *prompt, size_t n, qn_error *err);

/* False: a format was asked for, and the text is not all of what it wants. Says so on standard error, unless it was a
 * person who stopped it. */
bool qn_generation_check_whole(const qn_generation *g, const char *verb);

/* Writes the member "whole": null where no format was asked for. */
void qn_generation_json_whole(const qn_generation *g, qn_json_writer *w);

/* Says on standard error that the text ended because the context is full. */
void qn_generation_tell_full(const qn_generation *g, const char *verb, const qn_model_info *info);

#endif
