/* Merging the symbols of a word, the loop that both kinds of BPE share: the pair of neighbours with the least priority
 * first, of equal ones the leftmost, until no pair merges.
 *
 * A window is up to 64 symbols in small arrays, a bit for each in a word of the processor. Most words fit into one. A
 * longer word is merged in windows that overlap (tokenizer_merge.c), in time that is linear in practice. That this
 * gives the same tokens rests on two facts, true of any priorities:
 *
 *   (1) A run of neighbouring tokens of a merged text is what merging their part of the text alone gives. No merge
 *       crossed the ends of the part, and inside it the pair that was best in the whole text was best there too.
 *   (2) If each two neighbours of a sequence of tokens are what merging the text of the two alone gives, the sequence
 *       is what merging the whole gives. For let a merge be the first to cross a border of the sequence: up to there
 *       all went, in the two tokens at the border, as when they are merged alone, and so would this merge.
 *
 * By (1) neighbours in a merged window satisfy (2). So where two windows have a token in common, the tokens of the one
 * up to there and of the other from there on may be joined.
 *
 * SPDX-License-Identifier: MIT */
#ifndef QN_TEXT_TOKENIZER_MERGE_H
#define QN_TEXT_TOKENIZER_MERGE_H

#include "text/tokenizer_int.h"

#define QN_WINDOW 64 /* symbols: the bits of a uint64_t */

typedef struct qn_window {
    uint32_t n;
    int32_t id[QN_WINDOW];         /* QN_NO_ID: no token */
    uint32_t start[QN_WINDOW + 1]; /* byte offsets in the text; start[n]: the end */
} qn_window;

/* A pair of neighbours: their ids, and the bytes of the text that they cover. */
typedef struct qn_pair {
    int32_t left, right;
    uint32_t start, end;
} qn_pair;

/* False: the two do not merge. True: perhaps; *hash is for qn_merge_find. */
typedef bool qn_merge_may(const qn_tokenizer *t, const char *text, qn_pair pair, uint64_t *hash);
/* What the two become, and how early that comes (less is earlier, below UINT32_MAX). False: nothing. */
typedef bool qn_merge_find(const qn_tokenizer *t, const char *text, qn_pair pair, uint64_t hash, uint32_t *priority,
                           int32_t *id);

/* How an algorithm merges long words. */
struct qn_merge_rules {
    /* Fills w with the symbols of text[0, n) from `at` on, as many as fit. */
    void (*fill)(const qn_tokenizer *t, const char *text, uint32_t n, uint32_t at, qn_window *w);
    qn_merge_may *may_merge;
    qn_merge_find *find;
    /* qn_merge_window() with these. */
    void (*merge_window)(const qn_tokenizer *t, const char *text, qn_window *w);
    /* Appends what the symbol text[start, end) is in ids. */
    void (*emit)(qn_encode_run *run, const char *text, int32_t id, uint32_t start, uint32_t end);
};

/* A window in the course of merging. */
typedef struct qn_merging {
    uint64_t alive;               /* symbols that have not been swallowed by their left neighbour */
    uint64_t can;                 /* symbols that merge with their right neighbour */
    uint32_t priority[QN_WINDOW]; /* of that merge */
    int32_t into[QN_WINDOW];      /* and what it makes */
} qn_merging;

/* The first symbol behind i, or w->n. */
static inline uint32_t qn_merge_next(const qn_merging *m, const qn_window *w, uint32_t i)
{
    uint64_t behind = m->alive >> i >> 1;
    return behind == 0 ? w->n : i + 1 + (uint32_t)__builtin_ctzll(behind);
}

/* Looks up anew what i and its right neighbour, which is there, become. */
static inline __attribute__((always_inline)) void qn_merge_consider(const qn_tokenizer *t, const char *text,
                                                                    const qn_window *w, qn_merging *m, uint32_t i,
                                                                    uint32_t right, qn_merge_may *may_merge,
                                                                    qn_merge_find *find)
{
    uint64_t hash, bit = UINT64_C(1) << i;
    qn_pair pair = {w->id[i], w->id[right], w->start[i], w->start[qn_merge_next(m, w, right)]};
    if (may_merge(t, text, pair, &hash) && find(t, text, pair, hash, &m->priority[i], &m->into[i])) {
        m->can |= bit;
    } else {
        m->can &= ~bit;
    }
}

static inline __attribute__((always_inline)) void qn_merge_consider_all(const qn_tokenizer *t, const char *text,
                                                                        const qn_window *w, qn_merging *m,
                                                                        qn_merge_may *may_merge, qn_merge_find *find)
{
    uint64_t hash[QN_WINDOW];
    m->can = 0;
    for (uint32_t i = 0; i + 1 < w->n; i++) { /* no branches: most pairs do not merge, but which cannot be foreseen */
        qn_pair pair = {w->id[i], w->id[i + 1], w->start[i], w->start[i + 2]};
        m->can |= (uint64_t)may_merge(t, text, pair, &hash[i]) << i;
    }
    for (uint64_t left = m->can; left != 0; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        qn_pair pair = {w->id[i], w->id[i + 1], w->start[i], w->start[i + 2]};
        if (!find(t, text, pair, hash[i], &m->priority[i], &m->into[i])) {
            m->can &= ~(UINT64_C(1) << i);
        }
    }
}

/* Merges the symbols of w, whose tokens come to stand in it. The functions are inlined. */
static inline __attribute__((always_inline)) void qn_merge_window(const qn_tokenizer *t, const char *text, qn_window *w,
                                                                  qn_merge_may *may_merge, qn_merge_find *find)
{
    qn_merging m;
    m.alive = w->n < QN_WINDOW ? (UINT64_C(1) << w->n) - 1 : UINT64_MAX;
    qn_merge_consider_all(t, text, w, &m, may_merge, find);
    if (m.can == 0) {
        return;
    }
    do {
        uint64_t best = UINT64_MAX;
        for (uint64_t left = m.can; left != 0; left &= left - 1) {
            uint32_t i = (uint32_t)__builtin_ctzll(left);
            uint64_t key = (uint64_t)m.priority[i] << 8 | i;
            best = key < best ? key : best;
        }
        uint32_t i = best & 0xFF, right = qn_merge_next(&m, w, i);
        w->id[i] = m.into[i];
        m.alive &= ~(UINT64_C(1) << right);
        m.can &= ~(UINT64_C(1) << right | UINT64_C(1) << i);
        uint64_t before = m.alive & ((UINT64_C(1) << i) - 1);
        if (before != 0) {
            uint32_t left = 63 - (uint32_t)__builtin_clzll(before);
            qn_merge_consider(t, text, w, &m, left, i, may_merge, find);
        }
        right = qn_merge_next(&m, w, i);
        if (right < w->n) {
            qn_merge_consider(t, text, w, &m, i, right, may_merge, find);
        }
    } while (m.can != 0);
    uint32_t kept = 0, end = w->start[w->n];
    for (uint64_t left = m.alive; left != 0; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        w->id[kept] = w->id[i];
        w->start[kept++] = w->start[i];
    }
    w->start[kept] = end;
    w->n = kept;
}

/* Appends the ids of a word that does not fit into one window. */
qn_status qn_merge_long(qn_encode_run *run, const char *text, uint32_t n, const struct qn_merge_rules *rules);

/* Appends the ids of a piece as the vocabulary spells it, n >= 1 bytes. Inlined, so that constant rules cost no calls. */
static inline __attribute__((always_inline)) qn_status qn_merge_piece(qn_encode_run *run, const char *s, uint32_t n,
                                                                      const struct qn_merge_rules *rules)
{
    const qn_tokenizer *t = run->t;
    int32_t whole = qn_pieces_find(t, s, n);
    unsigned known = whole == QN_NO_ID ? QN_WHOLE_NO : atomic_load_explicit(&t->whole[whole], memory_order_relaxed);
    if (known == QN_WHOLE_YES) {
        qn_emit(run, whole);
        return QN_OK;
    }
    qn_window w;
    rules->fill(t, s, n, 0, &w);
    if (w.start[w.n] < n) {
        return qn_merge_long(run, s, n, rules);
    }
    rules->merge_window(t, s, &w);
    if (known == QN_WHOLE_UNKNOWN) {
        bool same = w.n == 1 && w.id[0] == whole;
        atomic_store_explicit(&t->whole[whole], same ? QN_WHOLE_YES : QN_WHOLE_NO, memory_order_relaxed);
    }
    for (uint32_t i = 0; i < w.n; i++) {
        rules->emit(run, s, w.id[i], w.start[i], w.start[i + 1]);
    }
    return QN_OK;
}

#endif
