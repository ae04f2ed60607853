/* Dicts: members in order of insertion, found through a hash table. Hashes are keyed (SipHash-1-3) with what only this
 * process knows, so nobody can choose keys that collide.
 * SPDX-License-Identifier: MIT */
#include "text/jinja/value_int.h"

#include <math.h>

/* ---- hashing ---- */

typedef struct qn_sip {
    uint64_t v0, v1, v2, v3, tail;
    size_t n;
} qn_sip;

static inline uint64_t rotl(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static void sip_round(qn_sip *s)
{
    s->v0 += s->v1;
    s->v1 = rotl(s->v1, 13) ^ s->v0;
    s->v0 = rotl(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = rotl(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = rotl(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = rotl(s->v1, 17) ^ s->v2;
    s->v2 = rotl(s->v2, 32);
}

static void sip_word(qn_sip *s, uint64_t m)
{
    s->v3 ^= m;
    sip_round(s);
    s->v0 ^= m;
}

static uint64_t sip(uint64_t seed, uint8_t kind, const char *bytes, size_t n)
{
    uint64_t k1 = rotl(seed, 32) * 0x9E3779B97F4A7C15u;
    qn_sip s = {.v0 = seed ^ 0x736f6d6570736575u,
                .v1 = k1 ^ 0x646f72616e646f6du,
                .v2 = seed ^ 0x6c7967656e657261u,
                .v3 = k1 ^ 0x7465646279746573u};
    size_t i = 0;
    for (; n - i >= 8; i += 8) {
        uint64_t m;
        memcpy(&m, bytes + i, 8);
        sip_word(&s, m);
    }
    uint64_t last = (uint64_t)(uint8_t)(n ^ kind * 31u) << 56;
    if (n > i) {
        memcpy(&last, bytes + i, n - i);
        last |= (uint64_t)(uint8_t)(n ^ kind * 31u) << 56;
    }
    sip_word(&s, last);
    s.v2 ^= 0xff;
    sip_round(&s);
    sip_round(&s);
    sip_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

static uint64_t hash_number(uint64_t seed, qn_value a)
{
    if (a.kind == QN_V_FLOAT) {
        double f = a.u.f;
        if (isfinite(f) && f == floor(f)) {
            if (f >= -0x1p63 && f < 0x1p63) {
                a = qn_vint((int64_t)f);
            } else {
                char digits[320];
                return qn_f64_digits(f, digits, sizeof(digits)) ? sip(seed, 2, digits, strlen(digits)) : 0;
            }
        } else {
            return sip(seed, 3, (const char *)&f, sizeof(f));
        }
    }
    if (a.kind == QN_V_BIGINT) {
        return sip(seed, 2, a.u.s->bytes, a.u.s->n_bytes);
    }
    int64_t i = qn_vwhole(a); /* True is 1 and 1.0 is 1 */
    return sip(seed, 1, (const char *)&i, sizeof(i));
}

#define MAX_TUPLE_DEPTH 32    /* of keys; nobody nests them deeper */
#define MAX_TUPLE_ITEMS 10000 /* looked at for one hash where no steps are counted */

/* False: a kind without a hash, or past the limits. */
static bool hash_of(uint64_t seed, qn_value a, unsigned depth, uint32_t *left, uint64_t *out)
{
    if (*left == 0 || depth > MAX_TUPLE_DEPTH) {
        return false;
    }
    --*left;
    switch ((qn_vkind)a.kind) {
    case QN_V_UNDEFINED:
    case QN_V_NONE:
        *out = sip(seed, a.kind == QN_V_NONE ? 4 : 5, "", 0);
        return true;
    case QN_V_BOOL:
    case QN_V_INT:
    case QN_V_BIGINT:
    case QN_V_FLOAT:
        *out = hash_number(seed, a);
        return true;
    case QN_V_STRING:
        *out = sip(seed, 0, a.u.s->bytes, a.u.s->n_bytes);
        return true;
    case QN_V_TUPLE: {
        uint64_t h = seed + a.u.list->n;
        for (uint32_t i = 0; i < a.u.list->n; i++) {
            uint64_t one;
            if (!hash_of(seed, a.u.list->items[i], depth + 1, left, &one)) {
                return false;
            }
            uint64_t both[2] = {h, one};
            h = sip(seed, 6, (const char *)both, sizeof(both));
        }
        *out = h;
        return true;
    }
    case QN_V_LIST:
    case QN_V_DICT:
        return false;
    case QN_V_ITERATOR:
        if (strcmp(a.u.list->type, "dict_keys") == 0 || strcmp(a.u.list->type, "dict_items") == 0) {
            return false; /* sets */
        }
        break;
    case QN_V_NAMESPACE:
    case QN_V_FUNCTION:
    case QN_V_OBJECT:
        break;
    }
    *out = sip(seed, 7, (const char *)&a.u, sizeof(a.u.fn)); /* by identity */
    return true;
}

qn_status qn_vhash_seeded(qn_run *run, uint64_t seed, qn_value a, uint64_t *out)
{
    uint32_t left = MAX_TUPLE_ITEMS;
    /* A large float is hashed by its digits. */
    QN_TRY(qn_run_steps(run, a.kind == QN_V_STRING ? 1 + a.u.s->n_bytes / 64 : a.kind == QN_V_FLOAT ? 16 : 1));
    bool ok = hash_of(seed, a, 0, &left, out);
    QN_TRY(qn_run_steps(run, MAX_TUPLE_ITEMS - left));
    if (ok) {
        return QN_OK;
    }
    return a.kind == QN_V_TUPLE && left == 0 ? qn_run_fail(run, "a tuple too large to be a key")
                                             : qn_run_fail(run, "unhashable type: '%s'", qn_vkind_name(a));
}

qn_status qn_vhash(qn_run *run, qn_value a, uint64_t *out)
{
    return qn_vhash_seeded(run, (uint64_t)(uintptr_t)run * 0x9E3779B97F4A7C15u, a, out);
}

/* ---- keys ---- */

/* Python's equality for what can be a key; both have the same hash, so a difference is rare and this ends soon. */
static bool same_key(qn_value a, qn_value b, unsigned depth)
{
    if (qn_vis_number(a) && qn_vis_number(b)) {
        int order;
        return qn_vsame(a, b) || (qn_vcompare_numbers(a, b, &order) == QN_OK && order == 0);
    }
    if (a.kind != b.kind) {
        return false;
    }
    if (a.kind == QN_V_STRING) {
        return qn_str_eq(qn_vbytes(a), qn_vbytes(b));
    }
    if (a.kind != QN_V_TUPLE || a.u.list == b.u.list) {
        return a.kind == QN_V_UNDEFINED || qn_vsame(a, b);
    }
    if (a.u.list->n != b.u.list->n || depth > MAX_TUPLE_DEPTH) {
        return false;
    }
    for (uint32_t i = 0; i < a.u.list->n; i++) {
        if (!same_key(a.u.list->items[i], b.u.list->items[i], depth + 1)) {
            return false;
        }
    }
    return true;
}

static const qn_ventry *find(const qn_vdict *d, qn_value key, uint64_t hash)
{
    if (d->n_slots == 0) {
        return NULL;
    }
    for (uint32_t i = (uint32_t)hash & (d->n_slots - 1); d->slots[i] != 0; i = (i + 1) & (d->n_slots - 1)) {
        const qn_ventry *e = &d->entries[d->slots[i] - 1];
        if (e->hash == hash && same_key(e->key, key, 0)) {
            return e;
        }
    }
    return NULL;
}

/* ---- dicts ---- */

qn_status qn_vdict_new(qn_run *run, qn_vkind kind, qn_value *out)
{
    qn_vdict *d = qn_run_alloc(run, sizeof(*d));
    if (d == NULL) {
        return run->err->code;
    }
    /* Where the system put this block is not known to a template. */
    *d = (qn_vdict){.kind = kind, .seed = ((uint64_t)(uintptr_t)d ^ (uint64_t)(uintptr_t)run) * 0xD6E8FEB86659FD93u};
    *out = (qn_value){.kind = (uint8_t)kind, .u.dict = d};
    return QN_OK;
}

static void put_slot(qn_vdict *d, uint64_t hash, uint32_t i_entry)
{
    uint32_t i = (uint32_t)hash & (d->n_slots - 1);
    while (d->slots[i] != 0) {
        i = (i + 1) & (d->n_slots - 1);
    }
    d->slots[i] = i_entry + 1;
}

static qn_status grow(qn_run *run, qn_vdict *d)
{
    if (d->cap > UINT32_MAX / 8) {
        return qn_run_fail(run, "a dict of more than %u members", d->cap);
    }
    uint32_t cap = d->cap == 0 ? 4 : d->cap * 2;
    qn_ventry *entries = qn_run_alloc(run, (size_t)cap * sizeof(*entries));
    uint32_t *slots = entries == NULL ? NULL : qn_run_alloc(run, (size_t)cap * 2 * sizeof(*slots));
    if (slots == NULL) {
        return run->err->code;
    }
    if (d->n > 0) {
        memcpy(entries, d->entries, d->n * sizeof(*entries));
    }
    memset(slots, 0, (size_t)cap * 2 * sizeof(*slots));
    d->entries = entries;
    d->slots = slots;
    d->cap = cap;
    d->n_slots = cap * 2;
    for (uint32_t i = 0; i < d->n; i++) {
        put_slot(d, entries[i].hash, i);
    }
    return QN_OK;
}

qn_status qn_vdict_set(qn_run *run, qn_vdict *d, qn_value key, qn_value x)
{
    if (d->kind == QN_V_NAMESPACE && key.kind == QN_V_STRING && key.u.s->n_bytes > 0 && key.u.s->bytes[0] == '_') {
        return qn_run_fail(run,
                           "Chat templates cannot store underscore-prefixed attributes on a namespace, but got "
                           "'%.*s'.",
                           QN_STR_ARG(qn_vbytes(key)));
    }
    uint64_t hash;
    QN_TRY(qn_vhash_seeded(run, d->seed, key, &hash));
    const qn_ventry *old = find(d, key, hash);
    if (old != NULL) {
        d->entries[old - d->entries].x = x;
        return QN_OK;
    }
    if (d->n == d->cap) {
        QN_TRY(grow(run, d));
    }
    d->entries[d->n] = (qn_ventry){.key = key, .x = x, .hash = hash};
    put_slot(d, hash, d->n);
    d->n++;
    return QN_OK;
}

bool qn_vdict_find(const qn_vdict *d, qn_value key, qn_value *out)
{
    uint32_t left = MAX_TUPLE_ITEMS;
    uint64_t hash;
    if (d->n == 0 || !hash_of(d->seed, key, 0, &left, &hash)) {
        return false;
    }
    const qn_ventry *e = find(d, key, hash);
    if (e == NULL) {
        return false;
    }
    *out = e->x;
    return true;
}

bool qn_vdict_find_str(const qn_vdict *d, qn_str key, qn_value *out)
{
    qn_vstr s = {.bytes = key.data, .n_bytes = (uint32_t)key.len};
    return key.len <= UINT32_MAX && qn_vdict_find(d, (qn_value){.kind = QN_V_STRING, .u.s = &s}, out);
}

qn_status qn_vdict_get(qn_run *run, const qn_vdict *d, qn_value key, bool *has, qn_value *out)
{
    uint64_t hash;
    QN_TRY(qn_vhash_seeded(run, d->seed, key, &hash));
    const qn_ventry *e = find(d, key, hash);
    *has = e != NULL;
    if (e != NULL) {
        *out = e->x;
    }
    return QN_OK;
}

uint32_t qn_vdict_count(const qn_vdict *d)
{
    return d->n;
}

void qn_vdict_at(const qn_vdict *d, uint32_t i, qn_value *key, qn_value *x)
{
    *key = d->entries[i].key;
    *x = d->entries[i].x;
}

qn_status qn_vdict_view(qn_run *run, const qn_vdict *d, char what, qn_value *out)
{
    const char *type = what == 'k' ? "dict_keys" : what == 'v' ? "dict_values" : "dict_items";
    QN_TRY(qn_run_steps(run, d->n));
    QN_TRY(qn_viterator_new(run, type, d->n, out));
    out->flags = QN_VF_VIEW;
    for (uint32_t i = 0; i < d->n; i++) {
        qn_value x = what == 'k' ? d->entries[i].key : d->entries[i].x;
        if (what == 'i') {
            QN_TRY(qn_vpair(run, d->entries[i].key, x, &x));
        }
        QN_TRY(qn_vlist_push(run, out->u.list, x));
    }
    return QN_OK;
}

/* One element of a list of pairs. */
static qn_status set_pair(qn_run *run, qn_vdict *d, qn_value pair, const char *function)
{
    const qn_vlist *two;
    QN_TRY(qn_viterate(run, pair, &two));
    if (two->n != 2) {
        return qn_run_fail(run, "%s() update sequence element has length %u; 2 is required", function, two->n);
    }
    return qn_vdict_set(run, d, two->items[0], two->items[1]);
}

qn_status qn_vdict_merge(qn_run *run, qn_vdict *d, const qn_args *args, const char *function)
{
    if (args->n_pos > 1) {
        return qn_run_fail(run, "%s expected at most 1 argument, got %u", function, args->n_pos);
    }
    if (args->n_pos == 1 && args->pos[0].kind == QN_V_DICT) {
        const qn_vdict *from = args->pos[0].u.dict;
        for (uint32_t i = 0; i < from->n; i++) {
            QN_TRY(qn_vdict_set(run, d, from->entries[i].key, from->entries[i].x));
        }
    } else if (args->n_pos == 1) {
        const qn_vlist *l;
        QN_TRY(qn_viterate(run, args->pos[0], &l));
        for (uint32_t i = 0; i < l->n; i++) {
            QN_TRY(set_pair(run, d, l->items[i], function));
        }
    }
    for (uint32_t i = 0; i < args->n_named; i++) {
        qn_value key;
        QN_TRY(qn_vstring(run, args->names[i].data, args->names[i].len, false, &key));
        QN_TRY(qn_vdict_set(run, d, key, args->named[i]));
    }
    return QN_OK;
}
