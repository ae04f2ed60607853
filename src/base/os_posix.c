/* Memory, time, text and threads from a POSIX system.
 * SPDX-License-Identifier: MIT */
#include "base/os.h"

#include "base/checked.h"

#include <assert.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif

#define STACK_BYTES (1024 * 1024) /* kernels keep their tiles on the stack, far below this */
#define HUGE_FROM ((size_t)4 << 20) /* bytes; in less there is hardly a huge page of 2 MiB that is whole */

/* ---- memory ---- */

void *qn_os_block_alloc(size_t bytes)
{
    uint64_t rounded; /* aligned_alloc() wants a multiple of the alignment */
    return qn_round_up_u64(bytes, 64, &rounded) && rounded <= PTRDIFF_MAX ? aligned_alloc(64, (size_t)rounded) : NULL;
}

void qn_os_block_free(void *p)
{
    free(p);
}

void *qn_os_pages_alloc(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        return NULL;
    }
#if defined(MADV_HUGEPAGE)
    if (bytes >= HUGE_FROM) {
        madvise(p, bytes, MADV_HUGEPAGE); /* a hint: without them all is as well, but slower */
    }
#endif
    return p;
}

void qn_os_pages_free(void *p, size_t bytes)
{
    munmap(p, bytes);
}

/* ---- time and text ---- */

uint64_t qn_os_clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void qn_os_write_stderr(const char *bytes, size_t n_bytes)
{
    ssize_t ignored = write(STDERR_FILENO, bytes, n_bytes);
    (void)ignored;
}

static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;
static locale_t c_locale;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

double qn_os_parse_f64(const char *text)
{
    pthread_once(&c_locale_once, make_c_locale);
    return c_locale != (locale_t)0 ? strtod_l(text, NULL, c_locale) : strtod(text, NULL);
}

void qn_os_print_f64(char out[32], int n_digits, double v)
{
    pthread_once(&c_locale_once, make_c_locale);
    locale_t before = c_locale != (locale_t)0 ? uselocale(c_locale) : (locale_t)0;
    snprintf(out, 32, "%.*g", n_digits, v);
    if (before != (locale_t)0) {
        uselocale(before);
    }
}

/* ---- threads ---- */

bool qn_os_thread_start(qn_os_thread *out, qn_os_thread_fn *fn, void *ctx)
{
    pthread_attr_t attr;
    if (pthread_attr_init(&attr) != 0) {
        return false;
    }
    bool started = false;
    sigset_t blocked, before;
    sigfillset(&blocked);
    /* A fault whose signal is blocked ends the process, whatever handler there is. */
    sigdelset(&blocked, SIGBUS);
    sigdelset(&blocked, SIGSEGV);
    sigdelset(&blocked, SIGILL);
    sigdelset(&blocked, SIGFPE);
    sigdelset(&blocked, SIGTRAP);
    if (pthread_attr_setstacksize(&attr, STACK_BYTES) == 0 && pthread_sigmask(SIG_SETMASK, &blocked, &before) == 0) {
        started = pthread_create(out, &attr, fn, ctx) == 0;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    pthread_attr_destroy(&attr);
    return started;
}

void qn_os_thread_join(qn_os_thread t)
{
    pthread_join(t, NULL);
}

void qn_os_thread_detach(qn_os_thread t)
{
    pthread_detach(t);
}

void qn_os_mutex_init(qn_os_mutex *m)
{
    int rc = pthread_mutex_init(m, NULL);
    assert(rc == 0); /* a plain mutex takes nothing from the system */
    (void)rc;
}

void qn_os_mutex_destroy(qn_os_mutex *m)
{
    pthread_mutex_destroy(m);
}

void qn_os_mutex_lock(qn_os_mutex *m)
{
    pthread_mutex_lock(m);
}

void qn_os_mutex_unlock(qn_os_mutex *m)
{
    pthread_mutex_unlock(m);
}
