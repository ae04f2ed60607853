/* A read-only file map that survives the file being cut short: a fault inside a map gives zero bytes and marks the
 * map as damaged, it does not end the process.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BASE_MAP_H
#define QN_BASE_MAP_H

#include "base/alloc.h"

typedef struct qn_map qn_map;

/* Maps the whole of a regular file. QN_EIO: cannot be opened or mapped (err has path and reason);
 * QN_EFORMAT: not a regular file, or empty; QN_EFULL: 1024 maps are open. */
qn_status qn_map_open(const char *path, qn_map **out, qn_error *err);
void qn_map_close(qn_map *m);
const uint8_t *qn_map_data(const qn_map *m);
uint64_t qn_map_bytes(const qn_map *m);
/* True once a page of the map could not be read. Sticks. Any thread. */
bool qn_map_damaged(const qn_map *m);
/* Hints that [offset, offset+bytes) will be read soon. Never fails. */
void qn_map_will_need(const qn_map *m, uint64_t offset, uint64_t bytes);

#endif
