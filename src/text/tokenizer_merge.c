/* Merging neighbours by priority: the least priority first, of equal ones the leftmost. Pieces of a few symbols are
 * merged in small arrays; longer ones through a heap over a linked list, n log n.
 *
 * The heap holds a candidate for every pair that can merge, and void ones besides: a symbol that has grown or gone
 * since. An entry is void when its left symbol is gone, or when the pair no longer ends where it did.
 *
 * SPDX-License-Identifier: MIT */
#include "text/tokenizer_int.h"

#include "base/checked.h"

#define SMALL 32        /* symbols; words have 5 on average */
#define NO_PAIR UINT64_MAX

static bool grow(qn_encode_run *run, void **items, size_t *cap, size_t need, size_t item_bytes)
{
    if (need <= *cap) {
        return true;
    }
    size_t new_cap = *cap < 64 ? 64 : *cap, bytes;
    while (new_cap < need) {
        new_cap += new_cap / 2;
    }
    void *p = qn_mul_size(new_cap, item_bytes, &bytes) ? qn_realloc(run->t->budget, QN_TOKENIZER_OWNER, *items, bytes)
                                                       : NULL;
    if (p == NULL) {
        return false;
    }
    *items = p;
    *cap = new_cap;
    return true;
}

qn_status qn_merge_reserve(qn_encode_run *run, size_t n)
{
    return grow(run, (void **)&run->symbols, &run->cap_symbols, n, sizeof(*run->symbols)) ? QN_OK : QN_ENOMEM;
}

/* Symbols in an array, the candidate of each with its right neighbour beside it. */
static void merge_small(qn_encode_run *run, const char *text, uint32_t n_bytes, uint32_t *n_symbols,
                        qn_merge_look_up *look_up)
{
    qn_symbol *s = run->symbols;
    uint32_t n = *n_symbols;
    uint64_t priority[SMALL]; /* NO_PAIR: the two do not merge */
    int32_t id[SMALL];
    for (uint32_t stale = 0, n_stale = n;;) {
        /* Candidates [stale, stale + n_stale) are looked up anew. */
        for (uint32_t i = stale; i < stale + n_stale && i + 1 < n; i++) {
            uint32_t p, end = i + 2 < n ? s[i + 2].start : n_bytes;
            priority[i] = look_up(run->t, text, &s[i], &s[i + 1], end, &p, &id[i]) ? p : NO_PAIR;
        }
        uint32_t best = 0;
        for (uint32_t i = 1; i + 1 < n; i++) {
            best = priority[i] < priority[best] ? i : best;
        }
        if (n < 2 || priority[best] == NO_PAIR) {
            break;
        }
        s[best].id = id[best];
        n--;
        memmove(s + best + 1, s + best + 2, (n - best - 1) * sizeof(*s));
        memmove(priority + best + 1, priority + best + 2, (n - best - 1) * sizeof(*priority));
        memmove(id + best + 1, id + best + 2, (n - best - 1) * sizeof(*id));
        stale = best > 0 ? best - 1 : 0;
        n_stale = best - stale + 1;
    }
    *n_symbols = n;
}

static void sift_down(qn_merge_entry *heap, size_t n, size_t i)
{
    qn_merge_entry moved = heap[i];
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        child += child + 1 < n && heap[child + 1].key < heap[child].key;
        if (moved.key <= heap[child].key) {
            break;
        }
        heap[i] = heap[child];
    }
    heap[i] = moved;
}

static qn_merge_entry pop(qn_encode_run *run)
{
    qn_merge_entry top = run->heap[0];
    run->heap[0] = run->heap[--run->n_heap];
    if (run->n_heap > 1) {
        sift_down(run->heap, run->n_heap, 0);
    }
    return top;
}

static uint32_t end_of(const qn_encode_run *run, uint32_t i, uint32_t n_bytes)
{
    uint32_t next = run->symbols[i].next;
    return next == QN_NO_SYMBOL ? n_bytes : run->symbols[next].start;
}

/* Notes the candidate of symbol `left` and its neighbour at the end of the heap, unsorted. */
static qn_status note(qn_encode_run *run, const char *text, uint32_t n_bytes, uint32_t left, qn_merge_look_up *look_up,
                      bool *noted)
{
    uint32_t right = left == QN_NO_SYMBOL ? QN_NO_SYMBOL : run->symbols[left].next, priority;
    *noted = false;
    if (right == QN_NO_SYMBOL) {
        return QN_OK;
    }
    qn_merge_entry e = {.end = end_of(run, right, n_bytes)};
    if (!look_up(run->t, text, &run->symbols[left], &run->symbols[right], e.end, &priority, &e.id)) {
        return QN_OK;
    }
    e.key = (uint64_t)priority << 32 | left;
    if (!grow(run, (void **)&run->heap, &run->cap_heap, run->n_heap + 1, sizeof(*run->heap))) {
        return QN_ENOMEM;
    }
    run->heap[run->n_heap++] = e;
    *noted = true;
    return QN_OK;
}

static qn_status push(qn_encode_run *run, const char *text, uint32_t n_bytes, uint32_t left, qn_merge_look_up *look_up)
{
    bool noted;
    QN_TRY(note(run, text, n_bytes, left, look_up, &noted));
    if (noted) {
        size_t i = run->n_heap - 1;
        qn_merge_entry e = run->heap[i];
        for (; i > 0 && e.key < run->heap[(i - 1) / 2].key; i = (i - 1) / 2) {
            run->heap[i] = run->heap[(i - 1) / 2];
        }
        run->heap[i] = e;
    }
    return QN_OK;
}

static qn_status merge_long(qn_encode_run *run, const char *text, uint32_t n_bytes, uint32_t *n,
                            qn_merge_look_up *look_up)
{
    qn_symbol *s = run->symbols;
    for (uint32_t i = 0; i < *n; i++) {
        s[i].prev = i == 0 ? QN_NO_SYMBOL : i - 1;
        s[i].next = i + 1 == *n ? QN_NO_SYMBOL : i + 1;
    }
    run->n_heap = 0;
    bool noted;
    for (uint32_t i = 0; i + 1 < *n; i++) {
        QN_TRY(note(run, text, n_bytes, i, look_up, &noted));
    }
    for (size_t i = run->n_heap / 2; i-- > 0;) {
        sift_down(run->heap, run->n_heap, i);
    }
    while (run->n_heap > 0) {
        qn_merge_entry e = pop(run);
        uint32_t left = (uint32_t)e.key, right = s[left].next;
        if (s[left].start == UINT32_MAX || right == QN_NO_SYMBOL || end_of(run, right, n_bytes) != e.end) {
            continue;
        }
        s[left].id = e.id;
        s[left].next = s[right].next;
        if (s[right].next != QN_NO_SYMBOL) {
            s[s[right].next].prev = left;
        }
        s[right].start = UINT32_MAX; /* gone */
        QN_TRY(push(run, text, n_bytes, s[left].prev, look_up));
        QN_TRY(push(run, text, n_bytes, left, look_up));
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i != QN_NO_SYMBOL;) { /* symbol 0 is never a right one, so it is still there */
        uint32_t next = s[i].next;
        s[kept++] = s[i];
        i = next;
    }
    *n = kept;
    return QN_OK;
}

qn_status qn_merge(qn_encode_run *run, const char *text, uint32_t n_bytes, uint32_t *n, qn_merge_look_up *look_up)
{
    if (*n < 2) {
        return QN_OK;
    }
    if (*n > SMALL) {
        return merge_long(run, text, n_bytes, n, look_up);
    }
    merge_small(run, text, n_bytes, n, look_up);
    return QN_OK;
}
