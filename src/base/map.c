/* A read-only file map that survives the file being cut short, and the bytes of a file in memory.
 * SPDX-License-Identifier: MIT */
#include "base/map.h"

#include "base/os.h"

#include <stdatomic.h>

#define STEP_BYTES                                                                                    \
    ((size_t)4 << 20) /* fetched or read at a time: long for the disk, short for who waits for an end \
                       */

struct qn_map {
    uint8_t *data;
    size_t bytes;
    bool is_read;        /* into memory; then there is no guard */
    atomic_bool damaged; /* written by the guard, perhaps inside a signal handler */
    uint32_t i_guard;
    bool is_locked;
};

static qn_map *new_map(qn_error *err)
{
    qn_map *m = qn_zalloc(NULL, "map", sizeof(*m));
    if (m == NULL) {
        qn_fail(err, QN_ENOMEM, "no memory to map a file");
    }
    return m;
}

static qn_status map_file(qn_map *m, const char *path, qn_error *err)
{
    int fd;
    QN_TRY(qn_os_file_open(path, &fd, &m->bytes, err));
    qn_status status = qn_os_file_map(fd, path, m->bytes, &m->data, err);
    qn_os_file_close(fd);
    QN_TRY(status);
    if (!qn_os_guard_add(m->data, m->bytes, &m->damaged, &m->i_guard)) {
        qn_os_file_unmap(m->data, m->bytes);
        return qn_fail(err, QN_EFULL, "too many files are mapped");
    }
    return QN_OK;
}

qn_status qn_map_open(const char *path, qn_map **out, qn_error *err)
{
    qn_map *m = new_map(err);
    if (m == NULL) {
        return QN_ENOMEM;
    }
    qn_status status = map_file(m, path, err);
    if (status != QN_OK) {
        qn_free(m);
        return status;
    }
    *out = m;
    return QN_OK;
}

/* ---- read into memory ---- */

static qn_status read_bytes(qn_map *m, int fd, const char *path, qn_map_progress_fn *progress, void *ctx, qn_error *err)
{
    for (size_t at = 0; at < m->bytes;) {
        size_t left = m->bytes - at, n;
        QN_TRY(qn_os_file_read(fd, path, m->data + at, left < STEP_BYTES ? left : STEP_BYTES, &n, err));
        if (n == 0) {
            return qn_fail(err, QN_EDAMAGED, "the file was cut short while it was read");
        }
        at += n;
        if (progress != NULL && progress(ctx, at, m->bytes) != 0) {
            return qn_fail(err, QN_EABORTED, "reading was stopped on request");
        }
    }
    return QN_OK;
}

static qn_status read_file(qn_map *m, const char *path, qn_budget *b, const char *owner, qn_map_progress_fn *progress,
                           void *ctx, qn_error *err)
{
    int fd;
    QN_TRY(qn_os_file_open(path, &fd, &m->bytes, err));
    qn_status status;
    m->data = qn_zalloc(b, owner, m->bytes); /* zeroed, so that it comes in pages; huge ones where there are any */
    if (m->data == NULL) {
        status = qn_fail(err, qn_alloc_failure(b, m->bytes), "no memory to read %zu bytes", m->bytes);
    } else {
        status = read_bytes(m, fd, path, progress, ctx, err);
    }
    qn_os_file_close(fd);
    return status;
}

qn_status qn_map_read(const char *path, qn_budget *b, const char *owner, qn_map_progress_fn *progress, void *ctx,
                      qn_map **out, qn_error *err)
{
    qn_map *m = new_map(err);
    if (m == NULL) {
        return QN_ENOMEM;
    }
    m->is_read = true;
    qn_status status = read_file(m, path, b, owner, progress, ctx, err);
    if (status != QN_OK) {
        qn_map_close(m);
        return status;
    }
    *out = m;
    return QN_OK;
}

void qn_map_close(qn_map *m)
{
    if (m == NULL) {
        return;
    }
    if (m->is_locked) {
        qn_os_memory_unlock(m->data, m->bytes);
    }
    if (m->is_read) {
        qn_free(m->data);
    } else {
        qn_os_guard_remove(m->i_guard);
        qn_os_file_unmap(m->data, m->bytes);
    }
    qn_free(m);
}

qn_status qn_map_lock(qn_map *m, qn_error *err)
{
    if (!m->is_locked) {
        QN_TRY(qn_os_memory_lock(m->data, m->bytes, err));
        m->is_locked = true;
    }
    return QN_OK;
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
    if (m->is_read || offset >= m->bytes || bytes == 0) {
        return;
    }
    uint64_t rest = m->bytes - offset;
    qn_os_file_will_need(m->data + offset, (size_t)(bytes < rest ? bytes : rest));
}
