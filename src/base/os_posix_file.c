/* Files to read: opened, mapped or read, fetched ahead, and locked in memory.
 * SPDX-License-Identifier: MIT */
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_PATH_SHOWN 160 /* bytes: leaves room for the reason in an error's text */

/* The end of a path is what tells files apart. */
static const char *shown(const char *path)
{
    size_t len = strlen(path);
    return len <= MAX_PATH_SHOWN ? path : path + (len - MAX_PATH_SHOWN);
}

static qn_status check(const struct stat *st, const char *path, qn_error *err)
{
    if (!S_ISREG(st->st_mode)) {
        return qn_fail(err, QN_EFORMAT, "%s: not a regular file", shown(path));
    }
    if (st->st_size == 0) {
        return qn_fail(err, QN_EFORMAT, "%s: the file is empty", shown(path));
    }
    if ((uint64_t)st->st_size > PTRDIFF_MAX) {
        return qn_fail(err, QN_EIO, "%s: too large for this machine's addresses", shown(path));
    }
    return QN_OK;
}

qn_status qn_os_file_open(const char *path, int *fd, size_t *bytes, qn_error *err)
{
    /* Without O_NONBLOCK a pipe would wait for its writer here. */
    int opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (opened < 0) {
        return qn_fail(err, QN_EIO, "%s: %s", shown(path), strerror(errno));
    }
    struct stat st;
    qn_status status =
        fstat(opened, &st) == 0 ? check(&st, path, err) : qn_fail(err, QN_EIO, "%s: %s", shown(path), strerror(errno));
    if (status != QN_OK) {
        close(opened);
        return status;
    }
    *fd = opened;
    *bytes = (size_t)st.st_size;
    return QN_OK;
}

void qn_os_file_close(int fd)
{
    close(fd);
}

qn_status qn_os_file_read(int fd, const char *path, uint8_t *out, size_t n, size_t *n_read, qn_error *err)
{
    ssize_t got;
    do {
        got = read(fd, out, n);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        return qn_fail(err, QN_EIO, "%s: %s", shown(path), strerror(errno));
    }
    *n_read = (size_t)got;
    return QN_OK;
}

qn_status qn_os_file_map(int fd, const char *path, size_t bytes, uint8_t **data, qn_error *err)
{
    void *p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) {
        return qn_fail(err, QN_EIO, "%s: cannot map: %s", shown(path), strerror(errno));
    }
    *data = p;
    return QN_OK;
}

void qn_os_file_unmap(uint8_t *data, size_t bytes)
{
    munmap(data, bytes);
}

void qn_os_file_will_need(const uint8_t *data, size_t bytes)
{
    uintptr_t start = (uintptr_t)data & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
    madvise((void *)start, (uintptr_t)data + bytes - start, MADV_WILLNEED);
}

void qn_os_file_read_ahead(int fd, size_t at, size_t bytes)
{
#if defined(POSIX_FADV_WILLNEED)
    posix_fadvise(fd, (off_t)at, (off_t)bytes, POSIX_FADV_WILLNEED);
#else
    (void)fd; /* the system reads ahead of what qn_os_file_wait() reads */
    (void)at;
    (void)bytes;
#endif
}

bool qn_os_file_wait(int fd, size_t at)
{
    uint8_t byte;
    return pread(fd, &byte, 1, (off_t)at) == 1;
}

void qn_os_thread_stand_back(void)
{
#if defined(__linux__)
    setpriority(PRIO_PROCESS, 0, 19); /* there it is the calling thread's alone */
#endif
}

qn_status qn_os_memory_lock(const void *data, size_t bytes, qn_error *err)
{
    if (mlock(data, bytes) == 0) {
        return QN_OK;
    }
    int reason = errno;
    struct rlimit limit;
    bool is_limit = (reason == ENOMEM || reason == EPERM || reason == EAGAIN) &&
                    getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    if (is_limit) {
        return qn_fail(err, QN_EFULL,
                       "mlock: %zu bytes cannot be locked in memory: RLIMIT_MEMLOCK (ulimit -l) allows %llu", bytes,
                       (unsigned long long)limit.rlim_cur);
    }
    return qn_fail(err, QN_EFULL, "mlock: %zu bytes cannot be locked in memory: %s", bytes, strerror(reason));
}

void qn_os_memory_unlock(const void *data, size_t bytes)
{
    munlock(data, bytes);
}
