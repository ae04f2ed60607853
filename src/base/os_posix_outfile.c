/* Writing a file whole or not at all, on POSIX.
 * SPDX-License-Identifier: MIT */
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define N_NAMES 100         /* names tried; each that is taken was left by a process that was killed */
#define SUFFIX_BYTES 32     /* ".tmp-PID-N" */
#define WRITE_MAX (1 << 30) /* bytes of one write(): the system takes less than 2 GiB at a time */

struct qn_outfile {
    int fd;
    int failed; /* errno of the first failure; 0: none */
    uint64_t n_written;
    char *temp; /* both inside this block */
    char path[];
};

/* Opens a name beside the path that nobody has. */
static int open_temp(qn_outfile *f, size_t temp_bytes)
{
    int fd = -1;
    for (int i = 0; i < N_NAMES && fd < 0; i++) {
        snprintf(f->temp, temp_bytes, "%s.tmp-%ld-%d", f->path, (long)getpid(), i);
        fd = open(f->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST) {
            break;
        }
    }
    return fd;
}

qn_status qn_outfile_open(const char *path, qn_outfile **out, qn_error *err)
{
    size_t path_bytes = strlen(path) + 1, temp_bytes = path_bytes + SUFFIX_BYTES;
    qn_outfile *f = qn_zalloc(NULL, "outfile", sizeof(*f) + path_bytes + temp_bytes);
    if (f == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory to write '%s'", path);
    }
    f->temp = f->path + path_bytes;
    memcpy(f->path, path, path_bytes);
    f->fd = open_temp(f, temp_bytes);
    if (f->fd < 0) {
        qn_status status = qn_fail(err, QN_EIO, "cannot create '%s': %s", f->temp, strerror(errno));
        qn_free(f);
        return status;
    }
    *out = f;
    return QN_OK;
}

void qn_outfile_write(qn_outfile *f, const void *bytes, size_t n_bytes)
{
    const char *p = bytes;
    while (n_bytes > 0 && f->failed == 0) {
        ssize_t n = write(f->fd, p, n_bytes < WRITE_MAX ? n_bytes : WRITE_MAX);
        if (n < 0) {
            f->failed = errno == EINTR ? 0 : errno;
            continue;
        }
        p += n;
        n_bytes -= (size_t)n;
        f->n_written += (uint64_t)n;
    }
}

/* Makes the rename itself last. Some file systems cannot do that; the file is whole all the same. */
static void sync_folder(qn_outfile *f)
{
    char *slash = strrchr(f->path, '/');
    if (slash != NULL) {
        slash[slash == f->path] = '\0';
    }
    int fd = open(slash != NULL ? f->path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

qn_status qn_outfile_commit(qn_outfile *f, qn_error *err)
{
    if (f->failed == 0 && fsync(f->fd) != 0) {
        f->failed = errno;
    }
    if (close(f->fd) != 0 && f->failed == 0) {
        f->failed = errno;
    }
    f->fd = -1;
    if (f->failed == 0 && rename(f->temp, f->path) != 0) {
        f->failed = errno;
    }
    if (f->failed != 0) {
        qn_status status = qn_fail(err, QN_EIO, "cannot write '%s' (%" PRIu64 " bytes written): %s", f->path,
                                   f->n_written, strerror(f->failed));
        qn_outfile_discard(f);
        return status;
    }
    sync_folder(f);
    qn_free(f);
    return QN_OK;
}

void qn_outfile_discard(qn_outfile *f)
{
    if (f == NULL) {
        return;
    }
    if (f->fd >= 0) {
        close(f->fd);
    }
    unlink(f->temp);
    qn_free(f);
}
