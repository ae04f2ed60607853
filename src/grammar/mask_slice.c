/* Slices of the vocabulary that a state takes as a whole: texts of their kinds of characters are followed, one character
 * longer each time, until all places they lead to were met, or one is dead.
 * SPDX-License-Identifier: MIT */
#include "grammar/mask_int.h"

#define MAX_REACHED 2048 /* places; a state that leads to more is not looked at further */
#define MAX_CHARS 64     /* after which a configuration's places must come back */
#define MAX_LOOP_STEPS (1u << 17) /* bytes looked at for all slices of a state: cheap by rows */
#define MAX_CONFIG_STEPS 6000 /* the same of a configuration, whose steps have to be made */
#define FEW_NODES 48     /* fewer below a node are walked sooner than a slice is found */
#define N_SLOTS (MAX_REACHED * 2)

typedef struct place {
    uint32_t at_node; /* a configuration or a loop's state */
    uint8_t at;       /* place in a character */
} place;

typedef struct search {
    bool is_loop;
    bool is_dead; /* a place without a way on was reached, or too many */
    uint32_t n_left; /* bytes that may still be looked at */
    uint32_t n_places;
    place places[MAX_REACHED];
    uint16_t slots[N_SLOTS]; /* hash table of places, numbers + 1 */
} search;

static void forget_places(search *s)
{
    s->n_places = 0;
    s->is_dead = false;
    memset(s->slots, 0, sizeof(s->slots));
}

static uint32_t step(qn_engine *e, search *s, uint32_t node, unsigned char c)
{
    if (s->n_left == 0) {
        return QN_RX_NEVER;
    }
    s->n_left--;
    if (s->is_loop) {
        const uint32_t *row = qn_loop_row(e, node);
        return row == NULL ? QN_RX_NEVER : row[c];
    }
    return qn_config_next(e, node, c);
}

static void reach(search *s, uint32_t node, int at)
{
    if (node == QN_RX_NEVER || s->n_places == MAX_REACHED) { /* QN_DEAD is the same number */
        s->is_dead = true;
        return;
    }
    uint32_t slot = (node * 8 + (uint32_t)at) * 0x9e3779b1u % N_SLOTS;
    for (; s->slots[slot] != 0; slot = (slot + 1) % N_SLOTS) {
        const place *p = &s->places[s->slots[slot] - 1];
        if (p->at_node == node && p->at == at) {
            return;
        }
    }
    s->places[s->n_places] = (place){node, (uint8_t)at};
    s->slots[slot] = (uint16_t)++s->n_places;
}

/* All bytes that may come next in a text of these kinds. */
static void expand(qn_engine *e, search *s, place p, uint16_t kinds)
{
    if (p.at != QN_UTF8_BETWEEN) {
        qn_utf8_range r = qn_utf8_within[p.at];
        for (unsigned c = r.first; c <= r.last && !s->is_dead; c++) {
            reach(s, step(e, s, p.at_node, (unsigned char)c), r.next);
        }
        return;
    }
    for (unsigned c = 0; c < 0x80 && !s->is_dead; c++) {
        if ((kinds & qn_kind_of_ascii((unsigned char)c)) != 0) {
            reach(s, step(e, s, p.at_node, (unsigned char)c), QN_UTF8_BETWEEN);
        }
    }
    for (unsigned c = 0xc2; c <= 0xf4 && (kinds & QN_CHAR_WIDE) != 0 && !s->is_dead; c++) {
        reach(s, step(e, s, p.at_node, (unsigned char)c), qn_utf8_after_lead((unsigned char)c));
    }
}

/* One character more from places[first, last): what lies within it is followed at once. False: it may be dead. */
static bool grow(qn_engine *e, search *s, uint32_t first, uint32_t last, uint16_t kinds)
{
    for (uint32_t i = first; i < last && !s->is_dead; i++) {
        if (s->places[i].at == QN_UTF8_BETWEEN) {
            expand(e, s, s->places[i], kinds);
        }
    }
    for (uint32_t i = last; i < s->n_places && !s->is_dead; i++) {
        if (s->places[i].at != QN_UTF8_BETWEEN) {
            expand(e, s, s->places[i], kinds);
        }
    }
    return !s->is_dead && e->status == QN_OK;
}

static void look_at_loop(const qn_engine *e, const search *s, qn_slice_fit *f)
{
    f->is_plain = true;
    for (uint32_t i = 0; i < s->n_places; i++) {
        place p = s->places[i];
        bool is_between = qn_rx_at(&e->rx, p.at_node)->b != 0;
        f->has_rounds |= is_between;
        if (p.at == QN_UTF8_BETWEEN) {
            uint32_t needed = qn_rx_free_rounds(&e->rx, p.at_node);
            f->spare = needed > f->spare ? needed : f->spare;
            f->is_plain = f->is_plain && is_between;
        }
    }
}

static qn_slice_fit try_slice(qn_engine *e, search *s, uint32_t node, const qn_slice *slice)
{
    forget_places(s);
    reach(s, node, QN_UTF8_BETWEEN);
    qn_slice_fit f = {.is_known = true, .level = QN_ANY_LEVEL};
    uint32_t first = 0;
    for (uint32_t level = 0; first < s->n_places; level++) {
        uint32_t last = s->n_places;
        if (level == (s->is_loop ? QN_SLICE_LEVELS : MAX_CHARS) || !grow(e, s, first, last, slice->kinds)) {
            f.level = level;
            break;
        }
        first = last;
    }
    if (s->is_loop) {
        look_at_loop(e, s, &f);
    }
    return f;
}

/* What a slice saves: its tokens that need not be walked; the longer ones are looked at one by one. A configuration's must
 * be taken whole: what goes on below it is known by nodes of the tree that is walked. */
static int64_t gain_of(const qn_slice *s, const qn_slice_fit *f, bool is_loop)
{
    if (f->level == QN_ANY_LEVEL) {
        return s->n_tokens;
    }
    return f->level == 0 || !is_loop ? 0 : (int64_t)s->n_up_to[f->level] - 2 * (int64_t)(s->n_tokens - s->n_up_to[f->level]);
}

static qn_slice_fit best_fit(qn_engine *e, uint32_t node, bool is_loop, const uint64_t first[4])
{
    qn_slice_fit best = {.is_known = true, .spare = UINT32_MAX};
    search *s = NULL;
    int64_t most = 0;
    for (uint32_t i = 0; i < e->vocab->n_slices && e->status == QN_OK; i++) {
        const qn_slice *slice = &e->vocab->slices[i];
        bool may_fit = slice->n_tokens > most;
        for (unsigned c = 0; c <= 0xf4 && may_fit; c = c == 0x7f ? 0xc2 : c + 1) {
            may_fit = !slice->has_byte[c] || (first[c / 64] >> (c % 64) & 1) != 0;
        }
        if (!may_fit) {
            continue;
        }
        if (s == NULL) {
            s = qn_zalloc(e->budget, QN_RX_OWNER, sizeof(*s));
            if (s == NULL) {
                e->status = qn_alloc_failure(e->budget, sizeof(*s));
                break;
            }
            s->is_loop = is_loop;
            s->n_left = is_loop ? MAX_LOOP_STEPS : MAX_CONFIG_STEPS;
        }
        qn_slice_fit f = try_slice(e, s, node, slice);
        if (gain_of(slice, &f, is_loop) > most) {
            most = gain_of(slice, &f, is_loop);
            best = f;
            best.slice = i + 1;
        }
    }
    qn_free(s);
    return best;
}

uint32_t qn_slice_of_config(qn_engine *e, uint32_t config)
{
    uint64_t first[4];
    qn_config_first(e, config, first);
    return best_fit(e, config, false, first).slice;
}

qn_slice_fit qn_slice_of_loop(qn_engine *e, uint32_t state)
{
    qn_slice_fit *known = &e->loop_slices[qn_rx_at(&e->rx, state)->c];
    if (!known->is_known) {
        const uint32_t *row = qn_loop_row(e, state);
        uint64_t first[4] = {0};
        for (unsigned c = 0; row != NULL && c < 256; c++) {
            first[c / 64] |= (uint64_t)(row[c] != QN_RX_NEVER) << (c % 64);
        }
        qn_slice_fit found = best_fit(e, state, true, first);
        *known = e->status == QN_OK ? found : (qn_slice_fit){0};
    }
    return *known;
}

uint32_t qn_below_needs(qn_engine *e, const qn_trie *t, uint32_t i, uint32_t state, uint32_t *n_left)
{
    const qn_trie_node *n = &t->nodes[i];
    const qn_slice_fit *fit = &e->loop_slices[qn_rx_at(&e->rx, state)->c];
    if (n->height == QN_NO_HEIGHT) {
        return UINT32_MAX;
    }
    if (!fit->is_known) {
        if (*n_left == 0 || n->next - i <= FEW_NODES) {
            return UINT32_MAX;
        }
        --*n_left;
        qn_slice_of_loop(e, state);
    }
    bool fits = fit->slice != 0 && fit->spare != UINT32_MAX && n->height <= fit->level &&
                (n->kinds & ~e->vocab->slices[fit->slice - 1].kinds) == 0;
    return !fits ? UINT32_MAX : fit->has_rounds ? qn_len_add(fit->spare, n->height) : fit->spare;
}
