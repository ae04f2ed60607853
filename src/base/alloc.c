/* Blocks with an owner, and the budgets that they are charged to.
 *
 * A block is a header of 64 bytes, the caller's bytes, and in debug builds a canary. The header remembers what was
 * charged to whom, so qn_free() needs nothing but the pointer.
 * A budget has no lock: its counters are atomics, and an owner's slot, once it has a name, keeps it.
 * SPDX-License-Identifier: MIT */
#include "base/alloc.h"

#include "base/checked.h"
#include "base/os.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#define MAX_OWNERS 64 /* as the header promises; the slot after them is "other" */
#define I_OTHER MAX_OWNERS
#define BLOCK_MAGIC UINT64_C(0x717565726e626c6b)

#if defined(__has_feature)
#define HAS_FEATURE(x) __has_feature(x)
#else
#define HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || HAS_FEATURE(address_sanitizer)
/* Plain heap blocks for all, with the sanitizer's own red zones and its search for leaks, which looks into no other
 * memory. */
#define PAGES_FROM SIZE_MAX
#define CANARY_BYTES 0
#else
#define PAGES_FROM ((size_t)1 << 20) /* zeroed blocks this big come straight from the system */
#ifdef NDEBUG
#define CANARY_BYTES 0
#else
#define CANARY_BYTES 16
#endif
#endif

struct qn_budget {
    uint64_t limit;
    _Atomic uint64_t used, peak;
    struct {
        const char *_Atomic name;
        _Atomic uint64_t bytes;
    } owners[MAX_OWNERS + 1];
};

typedef struct block {
    _Alignas(64) uint64_t magic;
    size_t bytes;   /* that the caller asked for */
    size_t charged; /* the header and the canary too */
    qn_budget *budget;
    uint32_t i_owner;
    bool from_pages;
} block;

_Static_assert(sizeof(block) == 64, "the caller's bytes must be aligned to 64");

static _Atomic uint64_t fail_at, n_live, n_allocations;

/* This thread's last request that failed, when a ceiling refused it; else budget is NULL. */
static _Thread_local struct {
    const qn_budget *budget;
    uint64_t bytes;
} refused;

/* ---- budgets ---- */

qn_status qn_budget_open(uint64_t limit_bytes, qn_budget **out)
{
    qn_budget *b = qn_zalloc(NULL, "budget", sizeof(*b));
    if (b == NULL) {
        return QN_ENOMEM;
    }
    b->limit = limit_bytes;
    refused.budget = NULL; /* perhaps an older budget at this address */
    atomic_store_explicit(&b->owners[I_OTHER].name, "other", memory_order_relaxed);
    *out = b;
    return QN_OK;
}

void qn_budget_close(qn_budget *b)
{
    assert(b == NULL || qn_budget_used(b) == 0);
    qn_free(b);
}

uint64_t qn_budget_used(const qn_budget *b)
{
    return atomic_load_explicit(&b->used, memory_order_relaxed);
}

uint64_t qn_budget_peak(const qn_budget *b)
{
    return atomic_load_explicit(&b->peak, memory_order_relaxed);
}

bool qn_budget_owner(const qn_budget *b, size_t i, const char **name, uint64_t *bytes)
{
    if (i > I_OTHER) {
        return false;
    }
    const char *found = atomic_load_explicit(&b->owners[i].name, memory_order_acquire);
    uint64_t held = atomic_load_explicit(&b->owners[i].bytes, memory_order_relaxed);
    if (found == NULL || (i == I_OTHER && held == 0)) {
        return false;
    }
    *name = found;
    *bytes = held;
    return true;
}

/* The owner's slot; takes the first free one at first use. */
static uint32_t owner_slot(qn_budget *b, const char *owner)
{
    for (uint32_t i = 0; i < MAX_OWNERS; i++) {
        const char *name = atomic_load_explicit(&b->owners[i].name, memory_order_acquire);
        /* When another thread is faster, name becomes what it put there: perhaps this very owner. */
        if (name == NULL && atomic_compare_exchange_strong(&b->owners[i].name, &name, owner)) {
            return i;
        }
        if (name == owner || strcmp(name, owner) == 0) {
            return i;
        }
    }
    return I_OTHER;
}

static qn_status charge(qn_budget *b, uint32_t i_owner, uint64_t bytes)
{
    uint64_t used = atomic_load_explicit(&b->used, memory_order_relaxed);
    uint64_t sum;
    do {
        if (!qn_add_u64(used, bytes, &sum) || (b->limit != 0 && sum > b->limit)) {
            refused.budget = b;
            refused.bytes = bytes;
            return QN_EBUDGET;
        }
    } while (!atomic_compare_exchange_weak_explicit(&b->used, &used, sum, memory_order_relaxed, memory_order_relaxed));
    atomic_fetch_add_explicit(&b->owners[i_owner].bytes, bytes, memory_order_relaxed);
    uint64_t peak = atomic_load_explicit(&b->peak, memory_order_relaxed);
    while (sum > peak &&
           !atomic_compare_exchange_weak_explicit(&b->peak, &peak, sum, memory_order_relaxed, memory_order_relaxed)) {
    }
    return QN_OK;
}

static void release(qn_budget *b, uint32_t i_owner, uint64_t bytes)
{
    assert(atomic_load_explicit(&b->owners[i_owner].bytes, memory_order_relaxed) >= bytes);
    atomic_fetch_sub_explicit(&b->owners[i_owner].bytes, bytes, memory_order_relaxed);
    atomic_fetch_sub_explicit(&b->used, bytes, memory_order_relaxed);
}

qn_status qn_budget_charge(qn_budget *b, const char *owner, uint64_t bytes)
{
    return b != NULL ? charge(b, owner_slot(b, owner), bytes) : QN_OK;
}

void qn_budget_release(qn_budget *b, const char *owner, uint64_t bytes)
{
    if (b != NULL) {
        release(b, owner_slot(b, owner), bytes);
    }
}

/* ---- blocks ---- */

/* Counts this allocation; true: a test wants it to fail. */
static bool must_fail(void)
{
    atomic_fetch_add_explicit(&n_allocations, 1, memory_order_relaxed);
    uint64_t left = atomic_load_explicit(&fail_at, memory_order_relaxed);
    while (left != 0) {
        if (atomic_compare_exchange_weak_explicit(&fail_at, &left, left - 1, memory_order_relaxed,
                                                  memory_order_relaxed)) {
            return left == 1;
        }
    }
    return false;
}

#if CANARY_BYTES > 0
static void canary_write(block *k)
{
    memset((uint8_t *)(k + 1) + k->bytes, 0xC5, CANARY_BYTES);
}

static void canary_check(const block *k)
{
    const uint8_t *after = (const uint8_t *)(k + 1) + k->bytes;
    for (size_t i = 0; i < CANARY_BYTES; i++) {
        assert(after[i] == 0xC5); /* else somebody wrote past the end of this block */
    }
}
#else
static void canary_write(const block *k)
{
    (void)k;
}

static void canary_check(const block *k)
{
    (void)k;
}
#endif

static void *take(qn_budget *b, uint32_t i_owner, size_t bytes, bool zeroed)
{
    size_t total;
    if (must_fail() || !qn_add_size(bytes, sizeof(block) + CANARY_BYTES, &total) || total > PTRDIFF_MAX) {
        refused.budget = NULL;
        return NULL;
    }
    if (b != NULL && charge(b, i_owner, total) != QN_OK) {
        refused.bytes = bytes;
        return NULL;
    }
    bool from_pages = zeroed && bytes >= PAGES_FROM;
    block *k = from_pages ? qn_os_pages_alloc(total) : qn_os_block_alloc(total);
    if (k == NULL) {
        refused.budget = NULL;
        if (b != NULL) {
            release(b, i_owner, total);
        }
        return NULL;
    }
    *k = (block){.magic = BLOCK_MAGIC,
                 .bytes = bytes,
                 .charged = total,
                 .budget = b,
                 .i_owner = i_owner,
                 .from_pages = from_pages};
    if (zeroed && !from_pages) {
        memset(k + 1, 0, bytes);
    }
    canary_write(k);
    atomic_fetch_add_explicit(&n_live, 1, memory_order_relaxed);
    return k + 1;
}

static block *block_of(void *p)
{
    block *k = (block *)p - 1;
    assert(k->magic == BLOCK_MAGIC);
    canary_check(k);
    return k;
}

void *qn_alloc(qn_budget *b, const char *owner, size_t bytes)
{
    return take(b, b != NULL ? owner_slot(b, owner) : 0, bytes, false);
}

void *qn_zalloc(qn_budget *b, const char *owner, size_t bytes)
{
    return take(b, b != NULL ? owner_slot(b, owner) : 0, bytes, true);
}

void *qn_zalloc_array(qn_budget *b, const char *owner, size_t n, size_t size)
{
    size_t bytes;
    return qn_mul_size(n, size, &bytes) ? qn_zalloc(b, owner, bytes) : NULL;
}

void *qn_realloc(qn_budget *b, const char *owner, void *p, size_t bytes)
{
    if (p == NULL) {
        return qn_alloc(b, owner, bytes);
    }
    const block *old = block_of(p);
    void *moved = take(old->budget, old->i_owner, bytes, false);
    if (moved != NULL) {
        memcpy(moved, p, bytes < old->bytes ? bytes : old->bytes);
        qn_free(p);
    }
    return moved;
}

void qn_free(void *p)
{
    if (p == NULL) {
        return;
    }
    block *k = block_of(p);
    size_t total = k->charged;
    if (k->budget != NULL) {
        release(k->budget, k->i_owner, total);
    }
    k->magic = 0; /* a second qn_free() of p fails its assert while the memory is still there */
    atomic_fetch_sub_explicit(&n_live, 1, memory_order_relaxed);
    if (k->from_pages) {
        qn_os_pages_free(k, total);
    } else {
        qn_os_block_free(k);
    }
}

qn_status qn_alloc_failure(const qn_budget *b, uint64_t bytes)
{
    uint64_t sum;
    bool above = b != NULL && b->limit != 0 &&
                 (!qn_add_u64(qn_budget_used(b), sizeof(block) + CANARY_BYTES, &sum) || !qn_add_u64(sum, bytes, &sum) ||
                  sum > b->limit);
    return above ? QN_EBUDGET : QN_ENOMEM;
}

bool qn_budget_refusal(const qn_budget *b, uint64_t *bytes, uint64_t *limit)
{
    if (refused.budget != b || b == NULL) {
        return false;
    }
    refused.budget = NULL;
    *bytes = refused.bytes;
    *limit = b->limit;
    return true;
}

/* ---- for tests ---- */

void qn_alloc_fail_at(uint64_t n)
{
    atomic_store_explicit(&fail_at, n, memory_order_relaxed);
}

uint64_t qn_alloc_live(void)
{
    return atomic_load_explicit(&n_live, memory_order_relaxed);
}

uint64_t qn_alloc_count(void)
{
    return atomic_load_explicit(&n_allocations, memory_order_relaxed);
}
