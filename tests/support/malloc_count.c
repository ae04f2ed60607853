/* The allocator's functions, counted and passed on to glibc's own names for them. SPDX-License-Identifier: MIT */
#include "malloc_count.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *p, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void *memalign(size_t alignment, size_t bytes);

static _Atomic uint64_t n_calls;

uint64_t qn_malloc_count(void) { return atomic_load(&n_calls); }

static void count(void) { atomic_fetch_add_explicit(&n_calls, 1, memory_order_relaxed); }

void *malloc(size_t bytes)
{
    count();
    return __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes)
{
    count();
    return __libc_calloc(n, bytes);
}

void *realloc(void *p, size_t bytes)
{
    count();
    return __libc_realloc(p, bytes);
}

void *memalign(size_t alignment, size_t bytes)
{
    count();
    return __libc_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void **out, size_t alignment, size_t bytes)
{
    void *p = memalign(alignment, bytes);
    if (p == NULL) {
        return ENOMEM;
    }
    *out = p;
    return 0;
}

void *mmap(void *addr, size_t bytes, int prot, int flags, int fd, off_t offset)
{
    count();
    return (void *)syscall(SYS_mmap, addr, bytes, prot, flags, fd, offset);
}

void *mremap(void *old, size_t old_bytes, size_t bytes, int flags, ...)
{
    count();
    return (void *)syscall(SYS_mremap, old, old_bytes, bytes, flags, NULL);
}
