/* Merging words of more symbols than a window has: in windows that overlap, each joined to the one before at a token
 * that both have (tokenizer_merge.h says why that is right). When two have none in common, or a window has too few
 * tokens, the word is begun again with windows of twice the size, at last with one that holds all of it; so the time
 * is n log n for words as they are, and has one more logarithm for the worst of vocabularies.
 *
 * Windows above the first size are merged through a heap over a linked list. The heap holds a candidate for every pair
 * that can merge, and void ones besides: a symbol that has grown or gone since. An entry is void when its left symbol
 * is gone, or when the pair no longer ends where it did.
 *
 * SPDX-License-Identifier: MIT */
#include "text/tokenizer_merge.h"

#include "base/checked.h"

#define OVERLAP 4     /* tokens at the end of a window that the next one finds out again: its cut bends the last */
#define MIN_TOKENS 12 /* of a window, else it is too small for its tokens */

/* A word that is being merged. */
typedef struct merging {
    qn_encode_run *run;
    const char *text;
    uint32_t n;
    const struct qn_merge_rules *rules;
} merging;

/* The tokens of text[.., end). */
typedef struct span {
    qn_symbol *tokens;
    uint32_t n, end;
} span;

static bool grow(qn_encode_run *run, void **items, size_t *cap, size_t need, size_t item_bytes)
{
    if (need <= *cap) {
        return true;
    }
    size_t new_cap = *cap < 64 ? 64 : *cap, bytes;
    while (new_cap < need) {
        new_cap += new_cap / 2;
    }
    void *p =
        qn_mul_size(new_cap, item_bytes, &bytes) ? qn_realloc(run->t->budget, QN_TOKENIZER_OWNER, *items, bytes) : NULL;
    if (p == NULL) {
        return false;
    }
    *items = p;
    *cap = new_cap;
    return true;
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

/* Where the symbol ends; behind it there may be symbols that are gone. */
static uint32_t end_of(const span *s, uint32_t i)
{
    return s->tokens[i].next == QN_NO_SYMBOL ? s->end : s->tokens[s->tokens[i].next].start;
}

/* Puts the pair of `left` and its neighbour at the end of the heap, if they merge. */
static qn_status note(const merging *m, const span *s, uint32_t left, bool *noted)
{
    qn_encode_run *run = m->run;
    uint32_t right = left == QN_NO_SYMBOL ? QN_NO_SYMBOL : s->tokens[left].next, priority;
    uint64_t hash;
    *noted = false;
    if (right == QN_NO_SYMBOL) {
        return QN_OK;
    }
    qn_merge_entry e = {.end = end_of(s, right)};
    qn_pair pair = {s->tokens[left].id, s->tokens[right].id, s->tokens[left].start, e.end};
    if (!m->rules->may_merge(run->t, m->text, pair, &hash) ||
        !m->rules->find(run->t, m->text, pair, hash, &priority, &e.id)) {
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

static qn_status push(const merging *m, const span *s, uint32_t left)
{
    qn_encode_run *run = m->run;
    bool noted;
    QN_TRY(note(m, s, left, &noted));
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

/* Merges the symbols of s, which are linked. */
static qn_status merge_through_heap(const merging *m, const span *s)
{
    qn_symbol *tokens = s->tokens;
    qn_encode_run *run = m->run;
    bool noted;
    run->n_heap = 0;
    for (uint32_t i = 0; i + 1 < s->n; i++) {
        QN_TRY(note(m, s, i, &noted));
    }
    for (size_t i = run->n_heap / 2; i-- > 0;) {
        sift_down(run->heap, run->n_heap, i);
    }
    while (run->n_heap > 0) {
        qn_merge_entry e = pop(run);
        uint32_t left = (uint32_t)e.key, right = tokens[left].next;
        if (tokens[left].start == UINT32_MAX || right == QN_NO_SYMBOL || end_of(s, right) != e.end) {
            continue;
        }
        tokens[left].id = e.id;
        tokens[left].next = tokens[right].next;
        if (tokens[right].next != QN_NO_SYMBOL) {
            tokens[tokens[right].next].prev = left;
        }
        tokens[right].start = UINT32_MAX; /* gone */
        QN_TRY(push(m, s, tokens[left].prev));
        QN_TRY(push(m, s, left));
    }
    return QN_OK;
}

/* The tokens of a window of about `size` symbols from `at` on: the last of the small windows that it is filled by may
 * pass that. s->tokens has room for QN_WINDOW more. */
static qn_status merge_span(const merging *m, uint32_t at, uint32_t size, span *s)
{
    qn_window w = {0};
    s->n = 0;
    s->end = at;
    while (s->n < size && s->end < m->n) {
        m->rules->fill(m->run->t, m->text, m->n, s->end, &w);
        s->end = w.start[w.n];
        if (size == QN_WINDOW) {
            m->rules->merge_window(m->run->t, m->text, &w);
        }
        for (uint32_t i = 0; i < w.n; i++, s->n++) {
            s->tokens[s->n] = (qn_symbol){w.id[i], w.start[i], s->n - 1, s->n + 1}; /* -1 is QN_NO_SYMBOL */
        }
        if (size == QN_WINDOW) {
            return QN_OK;
        }
    }
    s->tokens[s->n - 1].next = QN_NO_SYMBOL;
    QN_TRY(merge_through_heap(m, s));
    s->n = 0;
    for (uint32_t i = 0; i != QN_NO_SYMBOL;) { /* symbol 0 is never a right one, so it is still there */
        uint32_t next = s->tokens[i].next;
        s->tokens[s->n++] = s->tokens[i];
        i = next;
    }
    return QN_OK;
}

static uint32_t token_end(const span *s, uint32_t i)
{
    return i + 1 < s->n ? s->tokens[i + 1].start : s->end;
}

/* A token that both have, the first from *i on in a; *k is its place in b. */
static bool find_common(const span *a, const span *b, uint32_t *i, uint32_t *k)
{
    for (*k = 0; *i < a->n && *k < b->n;) {
        uint32_t left = a->tokens[*i].start, right = b->tokens[*k].start;
        if (left == right && token_end(a, *i) == token_end(b, *k)) {
            return true;
        }
        *i += left <= right;
        *k += right <= left;
    }
    return false;
}

static void emit(const merging *m, const span *s, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        m->rules->emit(m->run, m->text, s->tokens[i].id, s->tokens[i].start, token_end(s, i));
    }
}

/* False in *done: the windows are too small; ids may have been appended. */
static qn_status try_windows(const merging *m, uint32_t size, bool *done)
{
    qn_symbol *rooms[2] = {m->run->symbols, m->run->symbols + size + QN_WINDOW};
    span now = {.tokens = rooms[0]}, next = {.tokens = rooms[1]};
    uint32_t n_done = 0; /* tokens of now whose ids are appended */
    *done = false;
    QN_TRY(merge_span(m, 0, size, &now));
    while (now.end < m->n) {
        uint32_t i = now.n - OVERLAP, k, first = now.tokens[0].start;
        if (now.n < MIN_TOKENS || i < n_done || now.tokens[i].start - first < (now.end - first) / 4) {
            return QN_OK;
        }
        QN_TRY(merge_span(m, now.tokens[i].start, size, &next));
        if (!find_common(&now, &next, &i, &k)) {
            return QN_OK;
        }
        emit(m, &now, n_done, i + 1);
        n_done = k + 1;
        span swap = now;
        now = next;
        next = swap;
    }
    emit(m, &now, n_done, now.n);
    *done = true;
    return QN_OK;
}

qn_status qn_merge_long(qn_encode_run *run, const char *text, uint32_t n, const struct qn_merge_rules *rules)
{
    merging m = {run, text, n, rules};
    size_t n_before = run->n;
    bool done = false;
    for (uint32_t size = QN_WINDOW; !done; size *= 2) {
        if (!grow(run, (void **)&run->symbols, &run->cap_symbols, 2 * ((size_t)size + QN_WINDOW),
                  sizeof(*run->symbols))) {
            return QN_ENOMEM;
        }
        run->n = n_before;
        QN_TRY(try_windows(&m, size, &done));
    }
    return QN_OK;
}
