/* Reading a file ahead into the system's cache.
 *
 * The thread has the lowest priority, so on a busy machine it may not run for long. Nobody ever waits for it,
 * therefore: it owns all that it uses (a place in a fixed table, and a descriptor of its own), and holds no lock that
 * others take, such as that of the process's address space, which changing the map itself would need. A place: ticket 0
 * (FREE) -> n [start] -> 0 [the thread, at its end]. SPDX-License-Identifier: MIT */
#include "base/fetch.h"

#include "base/os.h"

#define MAX_FETCHES 4           /* at the same time; more would only compete */
#define WINDOW_BYTES (4u << 20) /* are waited for together, so that who needs a page now need not queue behind it all \
                                 */
#define REQUEST_BYTES (128u << 10) /* of which systems take at least as much at a time, whatever their limit is */

static struct place {
    _Atomic uint64_t ticket;
    atomic_bool stop;
    int fd;
    size_t bytes;
} places[MAX_FETCHES];

static _Atomic uint64_t last_ticket;

static void *fetch(void *ctx)
{
    struct place *p = ctx;
    qn_os_thread_stand_back();
    bool more = true;
    for (size_t at = 0, i = 0; more && at < p->bytes && !atomic_load(&p->stop); at += REQUEST_BYTES, i++) {
        qn_os_file_read_ahead(p->fd, at, REQUEST_BYTES);
        if ((i + 1) % (WINDOW_BYTES / REQUEST_BYTES) == 0) {
            more = qn_os_file_wait(p->fd, at);
        }
    }
    qn_os_file_close(p->fd);
    atomic_store(&p->ticket, 0);
    return NULL;
}

/* The file is open in p, which is taken. */
static bool begin(struct place *p)
{
    qn_os_thread t;
    if (p->bytes > qn_os_memory_bytes() / 2 || !qn_os_thread_start(&t, fetch, p)) {
        return false;
    }
    qn_os_thread_detach(t);
    return true;
}

uint64_t qn_fetch_start(const char *path)
{
    for (size_t i = 0; i < MAX_FETCHES; i++) {
        struct place *p = &places[i];
        uint64_t nobody = 0, ticket = atomic_fetch_add(&last_ticket, 1) + 1;
        if (!atomic_compare_exchange_strong(&p->ticket, &nobody, ticket)) {
            continue;
        }
        atomic_store(&p->stop, false);
        if (qn_os_file_open(path, &p->fd, &p->bytes, NULL) == QN_OK) {
            if (begin(p)) {
                return ticket;
            }
            qn_os_file_close(p->fd);
        }
        atomic_store(&p->ticket, 0);
        return 0;
    }
    return 0;
}

void qn_fetch_stop(uint64_t ticket)
{
    for (size_t i = 0; ticket != 0 && i < MAX_FETCHES; i++) {
        if (atomic_load(&places[i].ticket) == ticket) {
            /* When it ends right now and another begins here, that one is stopped: a hint less. */
            atomic_store(&places[i].stop, true);
        }
    }
}

uint32_t qn_fetch_count(void)
{
    uint32_t n = 0;
    for (size_t i = 0; i < MAX_FETCHES; i++) {
        n += atomic_load(&places[i].ticket) != 0;
    }
    return n;
}
