/* A read-only file map that survives the file being cut short.
 * SPDX-License-Identifier: MIT */
#include "base/map.h"

#include "base/os.h"

#include <stdatomic.h>

struct qn_map {
    uint8_t *data;
    size_t bytes;
    atomic_bool damaged; /* written by the guard, perhaps inside a signal handler */
    uint32_t i_guard;
};

qn_status qn_map_open(const char *path, qn_map **out, qn_error *err)
{
    qn_map *m = qn_zalloc(NULL, "map", sizeof(*m));
    if (m == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory to map a file");
    }
    qn_status status = qn_os_file_map(path, &m->data, &m->bytes, err);
    if (status != QN_OK) {
        qn_free(m);
        return status;
    }
    if (!qn_os_guard_add(m->data, m->bytes, &m->damaged, &m->i_guard)) {
        qn_os_file_unmap(m->data, m->bytes);
        qn_free(m);
        return qn_fail(err, QN_EFULL, "too many files are mapped");
    }
    *out = m;
    return QN_OK;
}

void qn_map_close(qn_map *m)
{
    if (m == NULL) {
        return;
    }
    qn_os_guard_remove(m->i_guard);
    qn_os_file_unmap(m->data, m->bytes);
    qn_free(m);
}

const uint8_t *qn_map_data(const qn_map *m)
{
    return m->data;
}

uint64_t qn_map_bytes(const qn_map *m)
{
    return m->bytes;
}

bool qn_map_damaged(const qn_map *m)
{
    return atomic_load_explicit(&m->damaged, memory_order_relaxed);
}

void qn_map_will_need(const qn_map *m, uint64_t offset, uint64_t bytes)
{
    if (offset >= m->bytes || bytes == 0) {
        return;
    }
    uint64_t rest = m->bytes - offset;
    qn_os_file_will_need(m->data + offset, (size_t)(bytes < rest ? bytes : rest));
}
