/* A read-only file map that survives the file being cut short: a fault inside a map gives zero bytes and marks the
 * map as damaged, it does not end the process. Or the same bytes read into memory.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BASE_MAP_H
#define QN_BASE_MAP_H

#include "base/alloc.h"

typedef struct qn_map qn_map;

/* Maps the whole of a regular file. QN_EIO: cannot be opened or mapped (err has path and reason);
 * QN_EFORMAT: not a regular file, or empty; QN_EFULL: 1024 maps are open. */
qn_status qn_map_open(const char *path, qn_map **out, qn_error *err);

/* Told now and then while a file is read; other than 0: stop. */
typedef int qn_map_progress_fn(void *ctx, uint64_t n_done, uint64_t n_bytes);

/* Reads the whole of a regular file into one block aligned to 64 bytes, charged to b under `owner`. progress may be
 * NULL. QN_EIO, QN_EFORMAT as above; QN_EDAMAGED: it was cut short meanwhile; QN_EABORTED: progress said so;
 * QN_ENOMEM, QN_EBUDGET: err tells the bytes. */
qn_status qn_map_read(const char *path, qn_budget *b, const char *owner, qn_map_progress_fn *progress, void *ctx,
                      qn_map **out, qn_error *err);
void qn_map_close(qn_map *m);
const uint8_t *qn_map_data(const qn_map *m);
uint64_t qn_map_bytes(const qn_map *m);
/* True once a page of the map could not be read. Sticks. Any thread. */
bool qn_map_damaged(const qn_map *m);
/* Hints that [offset, offset+bytes) will be read soon. Never fails. */
void qn_map_will_need(const qn_map *m, uint64_t offset, uint64_t bytes);
/* Keeps all of it in memory, which waits for the whole to be read. QN_EFULL: the system does not allow that; err names
 * the limit. */
qn_status qn_map_lock(qn_map *m, qn_error *err);

#endif
