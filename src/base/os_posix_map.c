/* The guard that turns a fault inside a file map into zero bytes.
 *
 * A file cut short while it is mapped raises SIGBUS at the first read beyond its new end. The handler looks the address
 * up in a fixed table, puts zero pages there and returns, so that the read goes on.
 *
 * A guard: FREE -> TAKEN [guard_add] -> LIVE -> TAKEN [guard_remove] -> FREE. Only LIVE ones are looked at by the
 * handler, which counts itself in first; guard_remove waits until no handler is inside, so that none can put pages
 * where the map was after it has gone. A read of a map that is being closed is then an ordinary crash.
 *
 * Faults elsewhere go to the handler that was there before ours. Programs and test frames change handlers as they like,
 * so each new guard looks whether ours is still in force and, if not, puts it in front of the one it finds.
 * SPDX-License-Identifier: MIT */
#include "base/os.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_GUARDS 1024 /* as base/map.h promises: far more files than any split model has */

enum { FREE, TAKEN, LIVE };

static struct guard {
    atomic_int state;
    atomic_uint n_inside; /* handlers that look at this guard */
    _Atomic uintptr_t from, to;
    atomic_bool *_Atomic damaged;
} guards[MAX_GUARDS];

/* Handlers found in place of ours. They stay here for good: a handler on another thread may be looking at one. */
#define MAX_FOUND 8 /* different ones; a ninth is left in force */

static struct sigaction found[MAX_FOUND];
static size_t n_found; /* guarded by install_lock */
static struct sigaction *_Atomic before;
static pthread_mutex_t install_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uintptr_t page_bytes;

/* True: addr was in g, and its page and the rest of g now read as zero. */
static bool mend(struct guard *g, uintptr_t addr)
{
    bool mended = false;
    atomic_fetch_add(&g->n_inside, 1);
    if (atomic_load(&g->state) == LIVE && addr >= atomic_load(&g->from) && addr < atomic_load(&g->to)) {
        uintptr_t page = addr & ~(atomic_load(&page_bytes) - 1);
        void *got =
            mmap((void *)page, atomic_load(&g->to) - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        if (got != MAP_FAILED) {
            atomic_store(atomic_load(&g->damaged), true);
            mended = true;
        }
    }
    atomic_fetch_sub(&g->n_inside, 1);
    return mended;
}

/* A signal that is not about a map of ours. When the handler behind ours passes on to ours in turn, this ends as the
 * stack does: nobody could handle the fault, so the process was lost before. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    const struct sigaction *next = atomic_load(&before);
    if ((next->sa_flags & SA_SIGINFO) != 0) {
        next->sa_sigaction(number, info, context);
    } else if (next->sa_handler != SIG_DFL && next->sa_handler != SIG_IGN) {
        next->sa_handler(number);
    } else if (next->sa_handler == SIG_DFL || info->si_code > 0) {
        /* The signal is blocked in here; raised, it ends the process as soon as this returns. */
        signal(number, SIG_DFL);
        raise(number);
    }
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
    int saved = errno;
    bool mended = false;
    /* A positive code comes from the kernel: sent by kill(), the signal has no address. */
    for (size_t i = 0; i < MAX_GUARDS && info->si_code > 0 && !mended; i++) {
        mended = atomic_load_explicit(&guards[i].state, memory_order_relaxed) == LIVE &&
                 mend(&guards[i], (uintptr_t)info->si_addr);
    }
    if (!mended) {
        pass_on(number, info, context);
    }
    errno = saved;
}

/* The place of a handler among those found; NULL: no room for a new one. */
static struct sigaction *remember(const struct sigaction *a)
{
    for (size_t i = 0; i < n_found; i++) {
        if (found[i].sa_sigaction == a->sa_sigaction && found[i].sa_flags == a->sa_flags) {
            return &found[i];
        }
    }
    if (n_found == MAX_FOUND) {
        return NULL;
    }
    found[n_found] = *a;
    return &found[n_found++];
}

static void install_handler(void)
{
    struct sigaction ours = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART}, current;
    ours.sa_sigaction = on_bus_error;
    sigemptyset(&ours.sa_mask);
    pthread_mutex_lock(&install_lock);
    atomic_store(&page_bytes, (uintptr_t)sysconf(_SC_PAGESIZE));
    sigaction(SIGBUS, NULL, &current);
    /* Somebody who saved and restored ours with signal() has lost its flags. */
    bool is_ours = current.sa_sigaction == on_bus_error;
    bool in_force = is_ours && (current.sa_flags & SA_SIGINFO) != 0;
    if (!in_force && !is_ours) {
        struct sigaction *place = remember(&current);
        in_force = place == NULL;
        if (place != NULL) {
            atomic_store(&before, place);
        }
    }
    if (!in_force) {
        sigaction(SIGBUS, &ours, NULL);
    }
    pthread_mutex_unlock(&install_lock);
}

bool qn_os_guard_add(uint8_t *data, size_t bytes, atomic_bool *damaged, uint32_t *i_guard)
{
    install_handler();
    for (uint32_t i = 0; i < MAX_GUARDS; i++) {
        int state = FREE;
        if (atomic_compare_exchange_strong(&guards[i].state, &state, TAKEN)) {
            atomic_store(&guards[i].from, (uintptr_t)data);
            atomic_store(&guards[i].to, (uintptr_t)data + bytes);
            atomic_store(&guards[i].damaged, damaged);
            atomic_store(&guards[i].state, LIVE);
            *i_guard = i;
            return true;
        }
    }
    return false;
}

void qn_os_guard_remove(uint32_t i_guard)
{
    struct guard *g = &guards[i_guard];
    atomic_store(&g->state, TAKEN);
    while (atomic_load(&g->n_inside) != 0) {
        sched_yield();
    }
    atomic_store(&g->state, FREE);
}
