/* A file that appears at its path whole or not at all: it is written under another name in the same folder, flushed to
 * the disk, and renamed.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BASE_OUTFILE_H
#define QN_BASE_OUTFILE_H

#include "base/alloc.h"

typedef struct qn_outfile qn_outfile;

/* QN_EIO: err has the path and the reason. */
qn_status qn_outfile_open(const char *path, qn_outfile **out, qn_error *err);
/* Errors stick; after one nothing more is written, and qn_outfile_commit() tells it. */
void qn_outfile_write(qn_outfile *f, const void *bytes, size_t n_bytes);
/* Ends f in any case. QN_EIO (a full disk, ...): err has the path and the reason, and the path holds what it held. */
qn_status qn_outfile_commit(qn_outfile *f, qn_error *err);
/* Ends f and leaves nothing behind. NULL is allowed. */
void qn_outfile_discard(qn_outfile *f);

#endif
