/* The pool of nodes: each is made once, in its simplest form.
 * SPDX-License-Identifier: MIT */
#include "grammar/regular_int.h"

#include <stdlib.h>

#define MAX_POOL (1u << 26)
#define SHORT_TEXT 32 /* literals up to here are equal when their bytes are; longer ones when they are one place */

bool qn_vec_room(qn_budget *b, qn_status *status, qn_rx_vec *v, uint32_t n, uint32_t limit, size_t item_bytes)
{
    if (*status != QN_OK) {
        return false;
    }
    if (n > limit - v->n) {
        *status = QN_EFULL;
        return false;
    }
    if (v->n + n <= v->cap) {
        return true;
    }
    uint32_t wanted = v->cap < 16 ? 16 : v->cap > limit / 2 ? limit : v->cap * 2;
    wanted = wanted < v->n + n ? v->n + n : wanted;
    void *moved = qn_realloc(b, QN_RX_OWNER, v->items, (size_t)wanted * item_bytes);
    if (moved == NULL) {
        *status = qn_alloc_failure(b, (uint64_t)wanted * item_bytes);
        return false;
    }
    v->items = moved;
    v->cap = wanted;
    return true;
}

static bool room(qn_rx_pool *p, qn_rx_vec *v, uint32_t n, size_t item_bytes)
{
    return qn_vec_room(p->budget, &p->status, v, n, MAX_POOL, item_bytes);
}

/* ---- hashing ---- */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static uint64_t hash_bytes(uint64_t h, const void *bytes, size_t n)
{
    const unsigned char *c = bytes;
    for (; n >= 8; n -= 8, c += 8) {
        uint64_t word;
        memcpy(&word, c, 8);
        h = mix(h, word);
    }
    for (; n != 0; n--, c++) {
        h = mix(h, *c);
    }
    return h;
}

/* The part of a pool that belongs to a node's identity. */
static const void *content(const qn_rx_pool *p, const qn_rx_node *x, size_t *n_bytes)
{
    *n_bytes = 0;
    if (x->kind == QN_RX_K_SWITCH) {
        *n_bytes = x->b * sizeof(qn_rx_run);
        return qn_rx_runs(p) + x->a;
    }
    if (x->kind == QN_RX_K_ALT) {
        *n_bytes = x->b * sizeof(qn_rx);
        return qn_rx_kids(p) + x->a;
    }
    if (x->kind == QN_RX_K_LIT && x->b <= SHORT_TEXT) {
        *n_bytes = x->b;
        return (const char *)p->text.items + x->a;
    }
    return NULL;
}

static uint64_t hash_node(const qn_rx_pool *p, const qn_rx_node *x)
{
    size_t n_bytes;
    const void *held = content(p, x, &n_bytes);
    uint64_t h = mix(x->kind, x->b);
    h = mix(h, held != NULL ? 0 : x->a);
    h = mix(h, x->c);
    h = held != NULL ? hash_bytes(h, held, n_bytes) : h;
    return h ^ h >> 32;
}

static bool same_node(const qn_rx_pool *p, const qn_rx_node *x, const qn_rx_node *y)
{
    if (x->kind != y->kind || x->b != y->b || x->c != y->c) {
        return false;
    }
    size_t n_x, n_y;
    const void *of_x = content(p, x, &n_x), *of_y = content(p, y, &n_y);
    return of_x == NULL ? x->a == y->a : memcmp(of_x, of_y, n_x) == 0;
}

static bool grow_slots(qn_rx_pool *p)
{
    uint32_t n = p->n_slots == 0 ? 1024 : p->n_slots * 2;
    uint32_t *slots = qn_zalloc_array(p->budget, QN_RX_OWNER, n, sizeof(*slots));
    if (slots == NULL) {
        p->status = qn_alloc_failure(p->budget, (uint64_t)n * sizeof(*slots));
        return false;
    }
    for (uint32_t i = 1; i < p->nodes.n; i++) {
        uint32_t s = (uint32_t)hash_node(p, qn_rx_at(p, i)) & (n - 1);
        while (slots[s] != 0) {
            s = (s + 1) & (n - 1);
        }
        slots[s] = i;
    }
    qn_free(p->slots);
    p->slots = slots;
    p->n_slots = n;
    return true;
}

/* The node that equals x. *is_new: it was not there, and now owns x's part of a pool. */
static qn_rx intern(qn_rx_pool *p, const qn_rx_node *x, bool *is_new)
{
    *is_new = false;
    if (p->status != QN_OK || ((p->nodes.n + 1) * 4 > p->n_slots * 3 && !grow_slots(p))) {
        return QN_RX_NEVER;
    }
    uint32_t s = (uint32_t)hash_node(p, x) & (p->n_slots - 1);
    for (; p->slots[s] != 0; s = (s + 1) & (p->n_slots - 1)) {
        if (same_node(p, qn_rx_at(p, p->slots[s]), x)) {
            return p->slots[s];
        }
    }
    if (x->depth > QN_RX_MAX_DEPTH) {
        p->status = QN_EFULL;
        return QN_RX_NEVER;
    }
    if (!qn_vec_add(p->budget, &p->status, &p->nodes, x, QN_RX_MAX_NODES, sizeof(*x))) {
        return QN_RX_NEVER;
    }
    *is_new = true;
    return p->slots[s] = p->nodes.n - 1;
}

static qn_rx intern_plain(qn_rx_pool *p, qn_rx_node x)
{
    bool is_new;
    return intern(p, &x, &is_new);
}

/* ---- the pool ---- */

qn_status qn_rx_open(qn_rx_pool *p, qn_budget *b)
{
    *p = (qn_rx_pool){.budget = b};
    qn_rx_node never = {.kind = QN_RX_K_NEVER, .min_len = UINT32_MAX};
    if (qn_vec_add(b, &p->status, &p->nodes, &never, QN_RX_MAX_NODES, sizeof(never))) {
        intern_plain(p, (qn_rx_node){.kind = QN_RX_K_EPS, .is_null = true});
    }
    return p->status;
}

static bool copy_vec(qn_rx_pool *to, qn_rx_vec *v, const qn_rx_vec *from, size_t item_bytes)
{
    if (from->n != 0) {
        if (!room(to, v, from->n, item_bytes)) {
            return false;
        }
        memcpy(v->items, from->items, (size_t)from->n * item_bytes);
        v->n = from->n;
    }
    return true;
}

qn_status qn_rx_copy(const qn_rx_pool *from, qn_budget *b, qn_rx_pool *to)
{
    *to = (qn_rx_pool){.budget = b, .n_states = from->n_states, .n_specials = from->n_specials};
    bool good = copy_vec(to, &to->nodes, &from->nodes, sizeof(qn_rx_node)) &&
                copy_vec(to, &to->runs, &from->runs, sizeof(qn_rx_run)) &&
                copy_vec(to, &to->kids, &from->kids, sizeof(qn_rx)) &&
                copy_vec(to, &to->heads, &from->heads, sizeof(qn_rx_head)) &&
                copy_vec(to, &to->calls, &from->calls, sizeof(qn_rx_call)) &&
                copy_vec(to, &to->text, &from->text, 1) &&
                copy_vec(to, &to->rules, &from->rules, sizeof(qn_rx_rule)) &&
                copy_vec(to, &to->loops, &from->loops, sizeof(qn_rx_loop)) &&
                copy_vec(to, &to->lengths, &from->lengths, sizeof(uint16_t));
    if (good) {
        to->slots = qn_alloc(b, QN_RX_OWNER, from->n_slots * sizeof(*to->slots));
        if (to->slots != NULL) {
            memcpy(to->slots, from->slots, from->n_slots * sizeof(*to->slots));
            to->n_slots = from->n_slots;
            return QN_OK;
        }
        to->status = qn_alloc_failure(b, from->n_slots * sizeof(*to->slots));
    }
    qn_status status = to->status;
    qn_rx_close(to);
    return status;
}

void qn_rx_close(qn_rx_pool *p)
{
    qn_rx_vec *all[] = {&p->nodes, &p->runs, &p->kids, &p->heads, &p->calls, &p->text, &p->rules, &p->loops,
                        &p->lengths, &p->loop_bytes, &p->scratch_runs, &p->scratch_calls, &p->scratch_kids, &p->scratch_spine};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        qn_free(all[i]->items);
        *all[i] = (qn_rx_vec){0};
    }
    qn_free(p->slots);
    p->slots = NULL;
    p->n_slots = 0;
}

uint64_t qn_rx_bytes(const qn_rx_pool *p)
{
    return (uint64_t)p->nodes.cap * sizeof(qn_rx_node) + (uint64_t)p->runs.cap * sizeof(qn_rx_run) +
           (uint64_t)p->kids.cap * sizeof(qn_rx) + (uint64_t)p->heads.cap * sizeof(qn_rx_head) +
           (uint64_t)p->calls.cap * sizeof(qn_rx_call) + p->text.cap + (uint64_t)p->n_slots * sizeof(*p->slots) +
           (uint64_t)p->lengths.cap * sizeof(uint16_t) + (uint64_t)p->loop_bytes.cap * sizeof(uint32_t);
}

/* ---- makers ---- */

qn_rx qn_rx_switch(qn_rx_pool *p, const qn_rx_run *runs, uint32_t n)
{
    if (n == 0 || !room(p, &p->runs, n, sizeof(*runs))) {
        return QN_RX_NEVER;
    }
    qn_rx_node x = {.kind = QN_RX_K_SWITCH, .a = p->runs.n, .b = n, .min_len = UINT32_MAX};
    memcpy(qn_rx_runs(p) + p->runs.n, runs, n * sizeof(*runs));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t rest = qn_len_add(1, qn_rx_at(p, runs[i].to)->min_len);
        x.min_len = rest < x.min_len ? rest : x.min_len;
    }
    p->runs.n += n;
    bool is_new;
    qn_rx made = intern(p, &x, &is_new);
    p->runs.n -= is_new ? 0 : n;
    return made;
}

qn_rx qn_rx_lit(qn_rx_pool *p, uint32_t first, uint32_t n)
{
    return n == 0 ? QN_RX_EPS : intern_plain(p, (qn_rx_node){.kind = QN_RX_K_LIT, .a = first, .b = n, .min_len = n});
}

static qn_rx cat_two(qn_rx_pool *p, qn_rx a, qn_rx b)
{
    if (a == QN_RX_NEVER || b == QN_RX_NEVER || p->status != QN_OK) {
        return QN_RX_NEVER;
    }
    if (a == QN_RX_EPS || b == QN_RX_EPS) {
        return a == QN_RX_EPS ? b : a;
    }
    const qn_rx_node *x = qn_rx_at(p, a), *y = qn_rx_at(p, b);
    uint16_t depth = x->depth + 1 > y->depth ? x->depth + 1 : y->depth;
    return intern_plain(p, (qn_rx_node){.kind = QN_RX_K_CAT, .a = a, .b = b, .is_null = x->is_null && y->is_null,
                                        .depth = depth, .min_len = qn_len_add(x->min_len, y->min_len)});
}

qn_rx qn_rx_cat(qn_rx_pool *p, qn_rx a, qn_rx b)
{
    if (p->status != QN_OK || qn_rx_at(p, a)->kind != QN_RX_K_CAT || b == QN_RX_EPS) {
        return cat_two(p, a, b);
    }
    qn_rx_vec *spine = &p->scratch_spine;
    spine->n = 0;
    for (; qn_rx_at(p, a)->kind == QN_RX_K_CAT; a = qn_rx_at(p, a)->b) {
        if (!qn_vec_add(p->budget, &p->status, spine, &qn_rx_at(p, a)->a, MAX_POOL, sizeof(qn_rx))) {
            return QN_RX_NEVER;
        }
    }
    qn_rx_work(p, spine->n);
    b = cat_two(p, a, b);
    for (uint32_t i = spine->n; i-- > 0;) {
        b = cat_two(p, ((qn_rx *)spine->items)[i], b);
    }
    return b;
}

static int by_number(const void *x, const void *y)
{
    qn_rx a = *(const qn_rx *)x, b = *(const qn_rx *)y;
    return a < b ? -1 : a > b;
}

/* The kids of an ALT: without those of ALTs in them, sorted, each once, and no empty text beside one that matches it. */
static uint32_t tidy_kids(qn_rx_pool *p, const qn_rx *kids, uint32_t n)
{
    qn_rx_vec *out = &p->scratch_kids;
    out->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        const qn_rx_node *x = qn_rx_at(p, kids[i]);
        uint32_t n_of_it = x->kind == QN_RX_K_ALT ? x->b : kids[i] == QN_RX_NEVER ? 0 : 1;
        if (!qn_rx_work(p, n_of_it) || !room(p, out, n_of_it, sizeof(qn_rx))) {
            return 0;
        }
        if (n_of_it != 0) {
            memcpy((qn_rx *)out->items + out->n, x->kind == QN_RX_K_ALT ? qn_rx_kids(p) + x->a : &kids[i],
                   n_of_it * sizeof(qn_rx));
        }
        out->n += n_of_it;
    }
    qn_rx *own = out->items;
    if (out->n > 1) {
        qsort(own, out->n, sizeof(*own), by_number);
    }
    uint32_t n_kept = 0;
    bool other_is_null = false;
    for (uint32_t i = 0; i < out->n; i++) {
        if (n_kept == 0 || own[n_kept - 1] != own[i]) {
            own[n_kept++] = own[i];
            other_is_null |= own[i] != QN_RX_EPS && qn_rx_at(p, own[i])->is_null;
        }
    }
    if (n_kept > 1 && own[0] == QN_RX_EPS && other_is_null) {
        memmove(own, own + 1, --n_kept * sizeof(*own));
    }
    return n_kept;
}

qn_rx qn_rx_alt(qn_rx_pool *p, const qn_rx *kids, uint32_t n)
{
    uint32_t n_kept = p->status == QN_OK ? tidy_kids(p, kids, n) : 0;
    const qn_rx *own = p->scratch_kids.items;
    if (p->status != QN_OK || n_kept < 2) {
        return p->status != QN_OK || n_kept == 0 ? QN_RX_NEVER : own[0];
    }
    if (!room(p, &p->kids, n_kept, sizeof(*own))) {
        return QN_RX_NEVER;
    }
    qn_rx_node x = {.kind = QN_RX_K_ALT, .a = p->kids.n, .b = n_kept, .min_len = UINT32_MAX};
    memcpy(qn_rx_kids(p) + p->kids.n, own, n_kept * sizeof(*own));
    for (uint32_t i = 0; i < n_kept; i++) {
        const qn_rx_node *kid = qn_rx_at(p, own[i]);
        x.is_null |= kid->is_null;
        x.min_len = kid->min_len < x.min_len ? kid->min_len : x.min_len;
        x.depth = kid->depth + 1 > x.depth ? kid->depth + 1 : x.depth;
    }
    p->kids.n += n_kept;
    bool is_new;
    qn_rx made = intern(p, &x, &is_new);
    p->kids.n -= is_new ? 0 : n_kept;
    return made;
}

qn_rx qn_rx_rep(qn_rx_pool *p, qn_rx x, uint32_t min, uint32_t max)
{
    if (p->status != QN_OK) {
        return QN_RX_NEVER;
    }
    if (max == 0 || x == QN_RX_EPS || (x == QN_RX_NEVER && min == 0)) {
        return QN_RX_EPS;
    }
    if (x == QN_RX_NEVER || (min == 1 && max == 1)) {
        return x;
    }
    const qn_rx_node *y = qn_rx_at(p, x);
    min = y->is_null ? 0 : min;
    return intern_plain(p, (qn_rx_node){.kind = QN_RX_K_REP, .a = x, .b = min, .c = max, .is_null = min == 0,
                                        .depth = y->depth + 1, .min_len = qn_len_mul(y->min_len, min)});
}

qn_rx qn_rx_rule_call(qn_rx_pool *p, uint32_t rule)
{
    uint32_t min_len = qn_rx_rules(p)[rule].min_len;
    return min_len == UINT32_MAX ? QN_RX_NEVER
                                 : intern_plain(p, (qn_rx_node){.kind = QN_RX_K_CALL, .a = rule, .min_len = min_len,
                                                                .is_null = min_len == 0});
}

qn_rx qn_rx_loop_call(qn_rx_pool *p, qn_rx start, uint32_t min, uint32_t max)
{
    if (p->status != QN_OK || max == 0) {
        return p->status != QN_OK ? QN_RX_NEVER : QN_RX_EPS;
    }
    const qn_rx_node *x = qn_rx_at(p, start);
    bool is_loop = x->kind == QN_RX_K_LOOP;
    uint32_t of_one = is_loop ? qn_rx_at(p, qn_rx_loops(p)[x->a].round)->min_len : qn_rx_rules(p)[x->a].min_len;
    if (of_one == UINT32_MAX) {
        return min == 0 ? QN_RX_EPS : QN_RX_NEVER;
    }
    min = of_one == 0 ? 0 : min;
    uint32_t least = is_loop ? qn_rx_rounds(p, start, min) : min;
    if (least > max || least == UINT32_MAX) {
        return QN_RX_NEVER;
    }
    uint32_t min_len = qn_len_mul(of_one, least);
    if (is_loop && qn_rx_loops(p)[x->a].is_guarded) {
        uint64_t bytes = qn_rx_loop_bytes(p, start, min, max);
        min_len = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
    }
    return intern_plain(p, (qn_rx_node){.kind = QN_RX_K_LCALL, .a = start, .b = min, .c = max, .is_null = least == 0,
                                        .min_len = min_len});
}

qn_rx qn_rx_pair(qn_rx_pool *p, qn_rx guard, qn_rx round)
{
    return intern_plain(p, (qn_rx_node){.kind = QN_RX_K_PAIR, .a = guard, .b = round});
}

qn_rx qn_rx_gloop(qn_rx_pool *p, uint32_t rule)
{
    return intern_plain(p, (qn_rx_node){.kind = QN_RX_K_GLOOP, .a = rule});
}

qn_rx qn_rx_not(qn_rx_pool *p, qn_rx a)
{
    if (p->status != QN_OK) {
        return QN_RX_NEVER;
    }
    const qn_rx_node *x = qn_rx_at(p, a);
    if (x->kind == QN_RX_K_NOT) {
        return x->a;
    }
    return intern_plain(p, (qn_rx_node){.kind = QN_RX_K_NOT, .a = a, .is_null = !x->is_null, .depth = x->depth + 1,
                                        .min_len = x->is_null ? 1 : 0});
}

qn_rx qn_rx_and(qn_rx_pool *p, qn_rx a, qn_rx b)
{
    if (p->status != QN_OK || a == QN_RX_NEVER || b == QN_RX_NEVER) {
        return QN_RX_NEVER;
    }
    if (a > b) {
        qn_rx larger = a;
        a = b;
        b = larger;
    }
    const qn_rx_node *x = qn_rx_at(p, a), *y = qn_rx_at(p, b);
    bool x_is_all = x->kind == QN_RX_K_NOT && x->a == QN_RX_NEVER, y_is_all = y->kind == QN_RX_K_NOT && y->a == QN_RX_NEVER;
    if (a == b || x_is_all || y_is_all) {
        return x_is_all ? b : a;
    }
    return intern_plain(p, (qn_rx_node){.kind = QN_RX_K_AND, .a = a, .b = b, .is_null = x->is_null && y->is_null,
                                        .depth = 1 + (x->depth > y->depth ? x->depth : y->depth),
                                        .min_len = x->min_len > y->min_len ? x->min_len : y->min_len});
}

qn_rx qn_rx_state(qn_rx_pool *p, qn_rx_kind kind, uint32_t a, uint32_t b, bool is_null, uint32_t min_len)
{
    return intern_plain(p, (qn_rx_node){.kind = (uint8_t)kind, .a = a, .b = b, .c = ++p->n_states, .is_null = is_null,
                                        .min_len = min_len});
}

void qn_rx_set_head(qn_rx_pool *p, qn_rx x, const qn_rx_run *runs, uint32_t n)
{
    if (!room(p, &p->runs, n, sizeof(*runs)) || !room(p, &p->heads, 1, sizeof(qn_rx_head))) {
        return;
    }
    if (n != 0) {
        memcpy(qn_rx_runs(p) + p->runs.n, runs, n * sizeof(*runs));
    }
    ((qn_rx_head *)p->heads.items)[p->heads.n++] = (qn_rx_head){.first_run = p->runs.n, .n_runs = n};
    p->runs.n += n;
    qn_rx_at(p, x)->head = p->heads.n;
}
