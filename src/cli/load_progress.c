/* How far the reading of a model has come, on a terminal. SPDX-License-Identifier: MIT */
#include "cli/load_progress.h"

#include <stdio.h>
#include <unistd.h>

#define LINE_BYTES 40 /* more than the text takes */

static unsigned percent_of(uint64_t n_done, uint64_t n_bytes)
{
    return (unsigned)((double)n_done / (double)n_bytes * 100.0);
}

/* Each call is 4 MiB further, so there is no need to keep what was shown last. */
static int show(void *ctx, uint64_t n_done, uint64_t n_bytes)
{
    (void)ctx;
    if (n_done < n_bytes) {
        fprintf(stderr, "\rreading the model: %u %%", percent_of(n_done, n_bytes));
    } else {
        fprintf(stderr, "\r%*s\r", LINE_BYTES, "");
    }
    fflush(stderr);
    return 0;
}

void qn_load_progress_show(qn_model_options *o)
{
    if (isatty(STDERR_FILENO)) {
        o->progress = show;
    }
}
