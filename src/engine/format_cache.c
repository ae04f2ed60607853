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
    uint64_t hash, bytes;
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

void qn_format_cache_clear(qn_format_cache *c)
{
    for (;;) {
        qn_os_mutex_lock(&c->lock);
        qn_format *f = c->n == 0 ? NULL : take_out(c, c->n - 1);
        qn_os_mutex_unlock(&c->lock);
        if (f == NULL) {
            return;
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

qn_format *qn_format_find(qn_runtime *rt, const qn_buf *key)
{
    qn_format_cache *c = rt->formats;
    uint64_t hash = hash_of(key);
    qn_os_mutex_lock(&c->lock);
    qn_format *f = find(c, key, hash);
    qn_os_mutex_unlock(&c->lock);
    return f;
}

/* ---- keeping ---- */

static uint64_t bytes_of(const qn_format *f)
{
    qn_grammar_size size;
    qn_grammar_get_size(f->grammar, &size);
    return size.bytes + f->key.len + sizeof(*f);
}

/* The lock is held, and f is not there. gone: those that had to go. */
static uint32_t insert(qn_format_cache *c, qn_format *f, uint64_t hash, qn_format *gone[MAX_FORMATS])
{
    uint32_t n_gone = 0;
    uint64_t bytes = bytes_of(f), sum = bytes;
    if (bytes > c->max_bytes) {
        return 0;
    }
    for (uint32_t i = 0; i < c->n; i++) {
        sum += c->entries[i].bytes;
    }
    while (c->n > 0 && (c->n == MAX_FORMATS || sum > c->max_bytes)) {
        sum -= c->entries[c->n - 1].bytes;
        gone[n_gone++] = take_out(c, c->n - 1);
    }
    memmove(&c->entries[1], &c->entries[0], c->n * sizeof(c->entries[0]));
    c->entries[0] = (entry){qn_format_hold(f), hash, bytes};
    c->n++;
    return n_gone;
}

qn_format *qn_format_keep(qn_format *f)
{
    qn_format_cache *c = f->rt->formats;
    qn_format *gone[MAX_FORMATS];
    uint32_t n_gone = 0;
    uint64_t hash = hash_of(&f->key);
    qn_os_mutex_lock(&c->lock);
    qn_format *there = find(c, &f->key, hash);
    if (there == NULL) {
        n_gone = insert(c, f, hash, gone);
    }
    qn_os_mutex_unlock(&c->lock);
    for (uint32_t i = 0; i < n_gone; i++) {
        qn_format_close(gone[i]);
    }
    if (there != NULL) {
        qn_format_close(f);
        return there;
    }
    return f;
}
