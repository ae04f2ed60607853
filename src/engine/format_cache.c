/* The formats that were compiled lately, so that the same schema in every request costs one compile.
 *
 * A list, the last one used first. Its lock is held for looking and linking, never while something is compiled.
 * SPDX-License-Identifier: MIT */
#include "engine/format_int.h"

#include "base/os.h"

/* More than the tools and schemas that the applications of one server use side by side; few enough to be looked through. */
#define MAX_FORMATS 64
/* Of all together. The largest schemas of real tools make some hundreds of kilobytes, and what their matchers leave behind
 * (masks that are known already) some megabytes. */
#define MAX_BYTES ((uint64_t)128 << 20)
#define MAX_SHARE 8 /* under a ceiling, the cache takes not more than this part of it */

typedef struct entry {
    qn_format *format;
    uint64_t hash;
} entry;

struct qn_format_cache {
    qn_os_mutex lock;
    uint64_t max_bytes;
    entry entries[MAX_FORMATS];
    uint32_t n;
};

qn_status qn_format_cache_open(qn_budget *b, uint64_t memory_bytes, qn_format_cache **out)
{
    qn_format_cache *c = qn_zalloc(b, QN_FORMAT_OWNER, sizeof(*c));
    if (c == NULL) {
        return qn_alloc_failure(b, sizeof(*c));
    }
    qn_os_mutex_init(&c->lock);
    c->max_bytes = memory_bytes == 0 || memory_bytes / MAX_SHARE > MAX_BYTES ? MAX_BYTES : memory_bytes / MAX_SHARE;
    *out = c;
    return QN_OK;
}

/* Takes out entry i; the caller lets go of the format once the lock is free. */
static qn_format *take_out(qn_format_cache *c, uint32_t i)
{
    qn_format *f = c->entries[i].format;
    c->n--;
    memmove(&c->entries[i], &c->entries[i + 1], (c->n - i) * sizeof(c->entries[0]));
    return f;
}

bool qn_format_cache_clear(qn_format_cache *c)
{
    for (bool had_any = false;; had_any = true) {
        qn_os_mutex_lock(&c->lock);
        qn_format *f = c->n == 0 ? NULL : take_out(c, c->n - 1);
        qn_os_mutex_unlock(&c->lock);
        if (f == NULL) {
            return had_any;
        }
        qn_format_close(f);
    }
}

void qn_format_cache_close(qn_format_cache *c)
{
    if (c != NULL) {
        qn_format_cache_clear(c);
        qn_os_mutex_destroy(&c->lock);
        qn_free(c);
    }
}

/* ---- looking ---- */

/* A few multiplications a word: keys may have a megabyte. Equal hashes prove nothing; the bytes are compared. */
static uint64_t hash_of(const qn_buf *key)
{
    uint64_t h = key->len;
    for (size_t i = 0; i < key->len; i += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, key->data + i, key->len - i < sizeof(word) ? key->len - i : sizeof(word));
        h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return h;
}

/* The lock is held. */
static qn_format *find(qn_format_cache *c, const qn_buf *key, uint64_t hash)
{
    for (uint32_t i = 0; i < c->n; i++) {
        entry e = c->entries[i];
        if (e.hash == hash && qn_str_eq(qn_buf_view(&e.format->key), qn_buf_view(key))) {
            memmove(&c->entries[1], &c->entries[0], i * sizeof(e));
            c->entries[0] = e;
            return qn_format_hold(e.format);
        }
    }
    return NULL;
}

/* ---- keeping ---- */

static uint64_t bytes_of(const qn_format *f)
{
    qn_grammar_size size;
    qn_grammar_get_size(f->grammar, &size);
    return size.bytes + qn_grammar_idle_bytes(f->grammar) + f->key.len + sizeof(*f);
}

/* Lets go of those used longest ago, until the others are few and small enough; the first one stays. The lock is held, so
 * they are only put aside: gone[0, *n_gone). */
static void trim(qn_format_cache *c, qn_format *gone[MAX_FORMATS], uint32_t *n_gone)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        sum += bytes_of(c->entries[i].format);
    }
    for (*n_gone = 0; c->n > 1 && sum > c->max_bytes; ++*n_gone) {
        sum -= bytes_of(c->entries[c->n - 1].format);
        gone[*n_gone] = take_out(c, c->n - 1);
    }
}

static void close_all(qn_format *const *gone, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        qn_format_close(gone[i]);
    }
}

qn_format *qn_format_find(qn_runtime *rt, const qn_buf *key)
{
    qn_format_cache *c = rt->formats;
    qn_format *gone[MAX_FORMATS];
    uint32_t n_gone;
    uint64_t hash = hash_of(key);
    qn_os_mutex_lock(&c->lock);
    qn_format *f = find(c, key, hash);
    trim(c, gone, &n_gone); /* they grow by what their matchers find out */
    qn_os_mutex_unlock(&c->lock);
    close_all(gone, n_gone);
    return f;
}

/* The lock is held, and f is not there. */
static void insert(qn_format_cache *c, qn_format *f, uint64_t hash, qn_format *gone[MAX_FORMATS], uint32_t *n_gone)
{
    qn_format *oldest = c->n == MAX_FORMATS ? take_out(c, c->n - 1) : NULL;
    memmove(&c->entries[1], &c->entries[0], c->n * sizeof(c->entries[0]));
    c->entries[0] = (entry){qn_format_hold(f), hash};
    c->n++;
    trim(c, gone, n_gone);
    if (oldest != NULL) { /* there is room: with it gone, one less than MAX_FORMATS can go besides */
        gone[(*n_gone)++] = oldest;
    }
}

qn_format *qn_format_keep(qn_format *f)
{
    qn_format_cache *c = f->rt->formats;
    qn_format *gone[MAX_FORMATS];
    uint32_t n_gone = 0;
    uint64_t hash = hash_of(&f->key);
    bool is_small = bytes_of(f) <= c->max_bytes;
    qn_os_mutex_lock(&c->lock);
    qn_format *there = find(c, &f->key, hash);
    if (there == NULL && is_small) {
        insert(c, f, hash, gone, &n_gone);
    }
    qn_os_mutex_unlock(&c->lock);
    close_all(gone, n_gone);
    if (there != NULL) {
        qn_format_close(f);
        return there;
    }
    return f;
}
