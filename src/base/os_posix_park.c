/* Sleeping until a word changes: a futex on Linux, elsewhere condition variables shared by all words of a bucket.
 * SPDX-License-Identifier: MIT */
#include "base/os.h"

#include <sched.h>

void qn_os_yield(void)
{
    sched_yield();
}

#if defined(__linux__) && !defined(QN_OS_NO_FUTEX)

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(sizeof(atomic_uint) == 4, "a futex is 32 bits");

void qn_os_park(atomic_uint *word, unsigned expected)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

void qn_os_unpark_all(atomic_uint *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

#else

#define N_BUCKETS 16 /* words that share one only wake each other early */

#define BUCKET                                              \
    {                                                       \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER \
    }
#define BUCKETS_4 BUCKET, BUCKET, BUCKET, BUCKET

static struct bucket {
    pthread_mutex_t lock;
    pthread_cond_t changed;
} buckets[N_BUCKETS] = {BUCKETS_4, BUCKETS_4, BUCKETS_4, BUCKETS_4};

static struct bucket *bucket_of(const atomic_uint *word)
{
    return &buckets[(uintptr_t)word / 64 % N_BUCKETS];
}

void qn_os_park(atomic_uint *word, unsigned expected)
{
    struct bucket *b = bucket_of(word);
    pthread_mutex_lock(&b->lock);
    if (atomic_load(word) == expected) {
        pthread_cond_wait(&b->changed, &b->lock);
    }
    pthread_mutex_unlock(&b->lock);
}

void qn_os_unpark_all(atomic_uint *word)
{
    /* The lock orders this after the look at the word of a thread that is about to sleep. */
    struct bucket *b = bucket_of(word);
    pthread_mutex_lock(&b->lock);
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

#endif
