/* What this process may use of the machine: cores by affinity and cgroup quota, and processor state on request.
 * SPDX-License-Identifier: MIT */
#include "base/os.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__linux__)

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

/* ---- affinity ---- */

#define MAX_CPUS 8192 /* NR_CPUS of the largest kernels */

static uint32_t affinity_cores(void)
{
    unsigned long mask[MAX_CPUS / (8 * sizeof(unsigned long))];
    long n_bytes = syscall(SYS_sched_getaffinity, 0, sizeof(mask), mask);
    uint32_t n = 0;
    for (long i = 0; i < n_bytes / (long)sizeof(mask[0]); i++) {
        n += (uint32_t)__builtin_popcountl(mask[i]);
    }
    return n;
}

/* ---- cgroup quota ---- */

/* Reads a small file whole, as a string. False: there is none. */
static bool read_text(const char *path, char *out, size_t cap)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    size_t len = 0;
    while (len < cap - 1) {
        ssize_t n = read(fd, out + len, cap - 1 - len);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            break;
        }
        len += (size_t)n;
    }
    close(fd);
    out[len] = '\0';
    return len > 0;
}

static uint32_t quota_cores(long long quota, long long period)
{
    if (quota <= 0 || period <= 0) {
        return UINT32_MAX;
    }
    long long n = quota / period + (quota % period != 0);
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

static uint32_t quota_of_group(const char *dir, bool v2)
{
    char path[PATH_MAX], text[128];
    long long quota = 0, period = 0;
    if (v2) {
        snprintf(path, sizeof(path), "%s/cpu.max", dir);
        /* "max 100000" does not match and means no quota. */
        if (!read_text(path, text, sizeof(text)) || sscanf(text, "%lld %lld", &quota, &period) != 2) {
            return UINT32_MAX;
        }
        return quota_cores(quota, period);
    }
    snprintf(path, sizeof(path), "%s/cpu.cfs_quota_us", dir);
    if (!read_text(path, text, sizeof(text)) || sscanf(text, "%lld", &quota) != 1) {
        return UINT32_MAX;
    }
    snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", dir);
    if (!read_text(path, text, sizeof(text)) || sscanf(text, "%lld", &period) != 1) {
        return UINT32_MAX;
    }
    return quota_cores(quota, period);
}

/* The smallest quota of the group `path` below `root` and of all groups above it. */
static uint32_t quota_walk(const char *root, const char *path, bool v2)
{
    char dir[PATH_MAX];
    int len = snprintf(dir, sizeof(dir), "%s%s", root, path);
    if (len < 0 || (size_t)len >= sizeof(dir) || strstr(path, "/..") != NULL) {
        return quota_of_group(root, v2); /* seen from another namespace: only the root is ours to read */
    }
    uint32_t least = UINT32_MAX;
    for (;;) {
        uint32_t n = quota_of_group(dir, v2);
        least = n < least ? n : least;
        char *slash = strrchr(dir, '/');
        if (slash == NULL || (size_t)(slash - dir) < strlen(root)) {
            return least;
        }
        *slash = '\0';
    }
}

/* True: `name` is one of the comma-separated words of list[0, len). */
static bool has_word(const char *list, size_t len, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i + n <= len; i++) {
        if ((i == 0 || list[i - 1] == ',') && memcmp(list + i, name, n) == 0 && (i + n == len || list[i + n] == ',')) {
            return true;
        }
    }
    return false;
}

/* The smallest quota of group `path` in either of two places where its hierarchy may be mounted. */
static uint32_t quota_mounts(const char *mounts, const char *first, const char *second, const char *path, bool v2)
{
    char root[PATH_MAX];
    snprintf(root, sizeof(root), "%s%s", mounts, first);
    uint32_t n = quota_walk(root, path, v2);
    snprintf(root, sizeof(root), "%s%s", mounts, second);
    uint32_t other = quota_walk(root, path, v2);
    return other < n ? other : n;
}

uint32_t qn_os_cgroup_cores(const char *groups, const char *mounts)
{
    char text[8192]; /* a line for each of a dozen hierarchies */
    if (strlen(mounts) > PATH_MAX / 2 || !read_text(groups, text, sizeof(text))) {
        return UINT32_MAX;
    }
    uint32_t least = UINT32_MAX;
    char *save = NULL;
    /* Lines are "id:controllers:path"; version 2 has no controllers. */
    for (char *line = strtok_r(text, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save)) {
        char *controllers = strchr(line, ':');
        char *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (path == NULL) {
            continue;
        }
        size_t n_bytes = (size_t)(path - controllers - 1);
        uint32_t n = UINT32_MAX;
        if (n_bytes == 0) {
            n = quota_mounts(mounts, "", "/unified", path + 1, true);
        } else if (has_word(controllers + 1, n_bytes, "cpu")) {
            n = quota_mounts(mounts, "/cpu", "/cpu,cpuacct", path + 1, false);
        }
        least = n < least ? n : least;
    }
    return least;
}

uint32_t qn_os_cores(void)
{
    uint32_t n = affinity_cores();
    uint32_t quota = qn_os_cgroup_cores("/proc/self/cgroup", "/sys/fs/cgroup");
    n = quota < n ? quota : n;
    return n > 0 ? n : 1;
}

/* ---- processor state ---- */

bool qn_os_grant_amx(void)
{
#if defined(__x86_64__)
    enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
    return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
#else
    return false;
#endif
}

unsigned long qn_os_hwcap(unsigned i)
{
    return getauxval(i == 0 ? AT_HWCAP : AT_HWCAP2);
}

#else

uint32_t qn_os_cgroup_cores(const char *groups, const char *mounts)
{
    (void)groups;
    (void)mounts;
    return UINT32_MAX;
}

uint32_t qn_os_cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 && n < INT_MAX ? (uint32_t)n : 1;
}

bool qn_os_grant_amx(void)
{
    return false;
}

unsigned long qn_os_hwcap(unsigned i)
{
    (void)i;
    return 0;
}

#endif

uint64_t qn_os_memory_bytes(void)
{
    long n_pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    return n_pages > 0 && page_bytes > 0 ? (uint64_t)n_pages * (uint64_t)page_bytes : UINT64_MAX;
}
