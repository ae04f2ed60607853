/* Reading arrays from .npz files as NumPy's savez() writes them: a ZIP archive whose entries are stored, not deflated.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TESTS_SUPPORT_NPZ_H
#define QN_TESTS_SUPPORT_NPZ_H

#include <stddef.h>
#include <stdint.h>

typedef struct qn_npz {
    char *file;
    size_t n_bytes;
} qn_npz;

/* Both fail the test when the file or the array is not as expected. */
qn_npz qn_npz_open(const char *path);
void qn_npz_close(qn_npz *z);

/* A one- or two-dimensional array of type descr ("<f4", "<i8"), in C order; shape[1] is 1 for one dimension. Points into
 * z, perhaps unaligned. */
const void *qn_npz_array(const qn_npz *z, const char *name, const char *descr, size_t shape[2]);

#endif
