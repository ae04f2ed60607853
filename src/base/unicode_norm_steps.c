/* The three steps of normalization over one stretch of code points: decomposing, ordering, composing. Hangul is
 * computed, all else comes from tables.
 * SPDX-License-Identifier: MIT */
#include "base/unicode_norm_int.h"

#include "base/checked.h"

/* Hangul syllables: leading consonant, vowel, and perhaps a trailing consonant. */
enum {
    S_BASE = 0xAC00,
    L_BASE = 0x1100,
    V_BASE = 0x1161,
    T_BASE = 0x11A7,
    N_L = 19,
    N_V = 21,
    N_T = 28, /* T_BASE itself means that there is no trailing one */
    N_S = N_L * N_V * N_T,
};

#define SMALL_RUN 24 /* marks that are ordered by insertion; longer runs are counted by class */

static qn_status reserve(qn_norm_run *run, size_t extra)
{
    size_t need, bytes;
    if (!qn_add_size(run->n, extra, &need)) {
        return QN_ENOMEM;
    }
    if (need <= run->cap) {
        return QN_OK;
    }
    size_t cap = run->cap < 64 ? 64 : run->cap;
    while (cap < need) {
        cap += cap / 2;
    }
    uint32_t *items =
        qn_mul_size(cap, sizeof(*items), &bytes) ? qn_realloc(run->budget, "unicode", run->items, bytes) : NULL;
    if (items == NULL) {
        return QN_ENOMEM;
    }
    run->items = items;
    run->cap = cap;
    return QN_OK;
}

static uint32_t with_class(uint32_t cp)
{
    return cp | (qn_norm_word(cp) & 0xFF) << QN_NORM_CLASS_SHIFT;
}

/* The entry of cp in a table of decompositions, or 0: no entry is 0. */
static uint32_t find(const uint32_t (*entries)[2], uint32_t n, uint32_t cp)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (entries[middle][0] < cp) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < n && entries[low][0] == cp ? entries[low][1] : 0;
}

qn_status qn_norm_decompose(qn_norm_run *run, uint32_t cp, bool compatibility)
{
    QN_TRY(reserve(run, QN_NORM_MAX_EXPANSION));
    uint32_t word = qn_norm_word(cp);
    if ((word & (compatibility ? QN_NORM_NOT_NFKD : QN_NORM_NOT_NFD)) == 0) {
        run->items[run->n++] = cp | (word & 0xFF) << QN_NORM_CLASS_SHIFT;
        return QN_OK;
    }
    if (cp >= S_BASE && cp < S_BASE + N_S) {
        uint32_t s = cp - S_BASE;
        run->items[run->n++] = L_BASE + s / (N_V * N_T);
        run->items[run->n++] = V_BASE + s / N_T % N_V;
        if (s % N_T != 0) {
            run->items[run->n++] = T_BASE + s % N_T;
        }
        return QN_OK;
    }
    uint32_t entry = compatibility ? find(qn_unicode_compatible, qn_unicode_n_compatible, cp) : 0;
    entry = entry != 0 ? entry : find(qn_unicode_canonical, qn_unicode_n_canonical, cp);
    const uint32_t *from = qn_unicode_norm_pool + (entry >> 5);
    for (uint32_t i = 0; i < (entry & 31); i++) {
        run->items[run->n++] = with_class(from[i]);
    }
    return QN_OK;
}

static void sort_by_insertion(uint32_t *marks, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint32_t moved = marks[i];
        size_t to = i;
        for (; to > 0 && marks[to - 1] >> QN_NORM_CLASS_SHIFT > moved >> QN_NORM_CLASS_SHIFT; to--) {
            marks[to] = marks[to - 1];
        }
        marks[to] = moved;
    }
}

static void sort_by_counting(uint32_t *marks, size_t n, uint32_t *spare)
{
    size_t place[257] = {0};
    for (size_t i = 0; i < n; i++) {
        place[(marks[i] >> QN_NORM_CLASS_SHIFT) + 1]++;
    }
    for (size_t order = 1; order < 257; order++) {
        place[order] += place[order - 1];
    }
    for (size_t i = 0; i < n; i++) {
        spare[place[marks[i] >> QN_NORM_CLASS_SHIFT]++] = marks[i];
    }
    memcpy(marks, spare, n * sizeof(*marks));
}

qn_status qn_norm_reorder(qn_norm_run *run)
{
    for (size_t i = 0; i < run->n;) {
        size_t start = i;
        while (i < run->n && run->items[i] >> QN_NORM_CLASS_SHIFT != 0) {
            i++;
        }
        if (i - start <= SMALL_RUN) {
            sort_by_insertion(run->items + start, i - start);
        } else {
            QN_TRY(reserve(run, i - start)); /* the room behind the text is the spare one */
            sort_by_counting(run->items + start, i - start, run->items + run->n);
        }
        i += i < run->n;
    }
    return QN_OK;
}

/* What two code points compose to, or 0. */
static uint32_t compose_pair(uint32_t a, uint32_t b)
{
    if (a >= L_BASE && a < L_BASE + N_L) {
        return b >= V_BASE && b < V_BASE + N_V ? S_BASE + ((a - L_BASE) * N_V + (b - V_BASE)) * N_T : 0;
    }
    if (a >= S_BASE && a < S_BASE + N_S) {
        return (a - S_BASE) % N_T == 0 && b > T_BASE && b < T_BASE + N_T ? a + (b - T_BASE) : 0;
    }
    uint64_t key = (uint64_t)a << 32 | b;
    uint32_t low = 0, high = qn_unicode_n_compositions;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const uint32_t *at = qn_unicode_compositions[middle];
        if (((uint64_t)at[0] << 32 | at[1]) < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const uint32_t *at = qn_unicode_compositions[low];
    return low < qn_unicode_n_compositions && at[0] == a && at[1] == b ? at[2] : 0;
}

void qn_norm_compose(qn_norm_run *run)
{
    uint32_t *items = run->items;
    size_t kept = 0, starter = SIZE_MAX;
    for (size_t i = 0; i < run->n; i++) {
        uint32_t order = items[i] >> QN_NORM_CLASS_SHIFT, cp = items[i] & QN_NORM_CODE_POINT;
        if (starter != SIZE_MAX && (qn_norm_word(cp) & QN_NORM_MAYBE) != 0) {
            /* Blocked when a mark stands between that is of the same or a higher class; what is kept is in order, so
             * the last of it tells. */
            bool blocked = kept - 1 > starter && items[kept - 1] >> QN_NORM_CLASS_SHIFT >= order;
            uint32_t composed = blocked ? 0 : compose_pair(items[starter], cp);
            if (composed != 0) {
                items[starter] = composed; /* of class 0: no composition is a mark */
                continue;
            }
        }
        if (order == 0) {
            starter = kept;
        }
        items[kept++] = items[i];
    }
    run->n = kept;
}
