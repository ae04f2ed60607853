/* Counts what goes past base/alloc.h: calls of the C library's allocator and of mmap() by anybody in the process. A
 * program that uses this gets the functions of malloc_count.c in place of the library's; not for sanitizers, which bring
 * their own. SPDX-License-Identifier: MIT */
#ifndef QN_TESTS_SUPPORT_MALLOC_COUNT_H
#define QN_TESTS_SUPPORT_MALLOC_COUNT_H

#include <stdint.h>

/* Calls of malloc, calloc, realloc, aligned_alloc, posix_memalign, memalign, mmap and mremap so far, by all threads. */
uint64_t qn_malloc_count(void);

#endif
