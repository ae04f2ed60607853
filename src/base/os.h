/* What the operating system gives: the one door to it. Only os_*.c may call the system beyond what C17 itself offers,
 * so a port to another system writes one more set of os_*.c and changes nothing else. Private to src/base.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BASE_OS_H
#define QN_BASE_OS_H

#include "base/status.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- memory: os_posix.c ---- */

/* Aligned to 64, not initialised; NULL: none left. */
void *qn_os_block_alloc(size_t bytes);
void qn_os_block_free(void *p);
/* Whole pages that read as zero and take no memory until they are touched; huge ones where many are asked for and the
 * system has them. NULL: none left. */
void *qn_os_pages_alloc(size_t bytes);
void qn_os_pages_free(void *p, size_t bytes);

/* ---- time and text: os_posix.c ---- */

uint64_t qn_os_clock_ns(void);
void qn_os_write_stderr(const char *bytes, size_t n_bytes); /* one write; failure is ignored */
/* strtod() and "%.*g" with '.' as the decimal point, whatever the locale. out holds at least 32 bytes. */
double qn_os_parse_f64(const char *text);
void qn_os_print_f64(char out[32], int n_digits, double v);

/* ---- threads: os_posix.c; the wait on a word: os_posix_park.c ---- */

typedef pthread_t qn_os_thread;
typedef pthread_mutex_t qn_os_mutex;
#define QN_OS_MUTEX_INIT PTHREAD_MUTEX_INITIALIZER

typedef void *qn_os_thread_fn(void *ctx);

/* Starts a thread with a stack of 1 MiB that takes no signals but those of its own faults. False: none to be had. */
bool qn_os_thread_start(qn_os_thread *out, qn_os_thread_fn *fn, void *ctx);
void qn_os_thread_join(qn_os_thread t);
void qn_os_thread_detach(qn_os_thread t); /* nobody will join it */
void qn_os_mutex_init(qn_os_mutex *m);
void qn_os_mutex_destroy(qn_os_mutex *m);
void qn_os_mutex_lock(qn_os_mutex *m);
void qn_os_mutex_unlock(qn_os_mutex *m);

/* Sleeps while *word == expected; may return early. */
void qn_os_park(atomic_uint *word, unsigned expected);
void qn_os_unpark_all(atomic_uint *word);
void qn_os_yield(void); /* lets another thread have the processor */

/* ---- files to read: os_posix_file.c ---- */

/* Opens a regular file that is not empty, or says why not as qn_map_open() does. */
qn_status qn_os_file_open(const char *path, int *fd, size_t *bytes, qn_error *err);
void qn_os_file_close(int fd);
/* Reads on, up to n bytes; *n_read 0: the file ends here. path is for the error. */
qn_status qn_os_file_read(int fd, const char *path, uint8_t *out, size_t n, size_t *n_read, qn_error *err);
/* Maps the first `bytes` bytes for reading; fd may be closed then. */
qn_status qn_os_file_map(int fd, const char *path, size_t bytes, uint8_t **data, qn_error *err);
void qn_os_file_unmap(uint8_t *data, size_t bytes);
void qn_os_file_will_need(const uint8_t *data, size_t bytes);
/* Asks for a part of a file, without waiting for it. */
void qn_os_file_read_ahead(int fd, size_t at, size_t bytes);
/* Waits until the byte at this place can be read. False: it never will. */
bool qn_os_file_wait(int fd, size_t at);
/* The calling thread runs only where no other thread of the machine wants to, as far as the system can say that. */
void qn_os_thread_stand_back(void);
/* Keeps data[0, bytes) in memory until it is unlocked or unmapped. QN_EFULL: not allowed; err names the limit. */
qn_status qn_os_memory_lock(const void *data, size_t bytes, qn_error *err);
void qn_os_memory_unlock(const void *data, size_t bytes);

/* ---- guards of file maps: os_posix_map.c ---- */

/* While guarded, a page of data[0, bytes) that cannot be read becomes zeros up to the end of the map, and *damaged is
 * set. False: the table of guards is full. The guard must go before the map does. */
bool qn_os_guard_add(uint8_t *data, size_t bytes, atomic_bool *damaged, uint32_t *i_guard);
void qn_os_guard_remove(uint32_t i_guard);

/* ---- the machine: os_posix_machine.c ---- */

/* Cores that the cgroups named in the file `groups` ("/proc/self/cgroup") leave, looked up below `mounts`
 * ("/sys/fs/cgroup"), rounded up; UINT32_MAX: no quota. */
uint32_t qn_os_cgroup_cores(const char *groups, const char *mounts);
uint32_t qn_os_cores(void);            /* affinity mask capped by the cgroup quota; >= 1 */
uint64_t qn_os_memory_bytes(void);     /* of the machine; UINT64_MAX: unknown */
bool qn_os_grant_amx(void);            /* asks for the tile registers for this process */
unsigned long qn_os_hwcap(unsigned i); /* 0: AT_HWCAP, 1: AT_HWCAP2; 0 where there is none */

#endif
