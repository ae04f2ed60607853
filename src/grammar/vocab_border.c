/* Where tokens leave a slice: found once, so that a loop which takes the whole slice only has to look at what is beyond.
 * SPDX-License-Identifier: MIT */
#include "grammar/vocab_int.h"

#define OWNER "grammar"

const qn_utf8_range qn_utf8_within[8] = {
    [QN_UTF8_LAST] = {0x80, 0xbf, QN_UTF8_BETWEEN}, [QN_UTF8_TWO] = {0x80, 0xbf, QN_UTF8_LAST},
    [QN_UTF8_THREE] = {0x80, 0xbf, QN_UTF8_TWO},    [QN_UTF8_E0] = {0xa0, 0xbf, QN_UTF8_LAST},
    [QN_UTF8_ED] = {0x80, 0x9f, QN_UTF8_LAST},      [QN_UTF8_F0] = {0x90, 0xbf, QN_UTF8_TWO},
    [QN_UTF8_F4] = {0x80, 0x8f, QN_UTF8_TWO},
};

int qn_utf8_after_lead(unsigned char c)
{
    switch (c) {
    case 0xe0:
        return QN_UTF8_E0;
    case 0xed:
        return QN_UTF8_ED;
    case 0xf0:
        return QN_UTF8_F0;
    case 0xf4:
        return QN_UTF8_F4;
    default:
        return c >= 0xf1 ? QN_UTF8_THREE : c >= 0xe1 ? QN_UTF8_TWO : QN_UTF8_LAST;
    }
}

int qn_utf8_after(int place, unsigned char c)
{
    if (place != QN_UTF8_BETWEEN) {
        qn_utf8_range r = qn_utf8_within[place];
        return c >= r.first && c <= r.last ? r.next : -1;
    }
    return c < 0x80 ? QN_UTF8_BETWEEN : c >= 0xc2 && c <= 0xf4 ? qn_utf8_after_lead(c) : -1;
}

/* The place behind a byte; -1: the slice is left between two characters; -2: within one. */
static int next_place(const qn_slice *s, int place, unsigned char c)
{
    if (place != QN_UTF8_BETWEEN) {
        return c >= qn_utf8_within[place].first && c <= qn_utf8_within[place].last ? qn_utf8_within[place].next : -2;
    }
    if (c < 0x80) {
        return (s->kinds & qn_kind_of_ascii(c)) != 0 ? QN_UTF8_BETWEEN : -1;
    }
    return (s->kinds & QN_CHAR_WIDE) != 0 && c >= 0xc2 && c <= 0xf4 ? qn_utf8_after_lead(c) : -1;
}

/* Goes through the rest of the slice. Without borders (NULL), counts only: borders by byte, and parts. */
static void look_through(qn_slice *s, uint32_t *n_borders, qn_slice_place *borders)
{
    uint8_t places[QN_TRIE_MAX_LEN + 1];
    uint16_t n_chars[QN_TRIE_MAX_LEN + 1];
    places[0] = QN_UTF8_BETWEEN;
    n_chars[0] = 0;
    s->n_parts = 0;
    for (uint32_t i = 0; i < s->rest.n;) {
        const qn_trie_node *n = &s->rest.nodes[i];
        uint32_t d = n->depth - 1u;
        int place = next_place(s, places[d], n->byte);
        if (place < 0) {
            s->has_odd |= place == -2;
            if (place == -1 && borders != NULL) {
                borders[n_borders[n->byte]] = (qn_slice_place){i, n_chars[d]};
                s->max_border = n_chars[d] > s->max_border ? n_chars[d] : s->max_border;
            }
            n_borders[n->byte] += place == -1;
            i = n->next;
            continue;
        }
        places[d + 1] = (uint8_t)place;
        n_chars[d + 1] = n_chars[d] + (places[d] == QN_UTF8_BETWEEN);
        for (uint32_t k = n->rank; k < n[1].rank; k++) {
            s->max_border = n_chars[d + 1] > s->max_border ? n_chars[d + 1] : s->max_border;
            if (borders != NULL) {
                s->parts[s->n_parts] = (qn_slice_place){(uint32_t)s->rest.ids[k], n_chars[d + 1]};
            }
            s->n_parts++;
        }
        i++;
    }
}

qn_status qn_slice_find_borders(const qn_grammar_vocab *v, qn_slice *s)
{
    uint32_t n_borders[256] = {0};
    look_through(s, n_borders, NULL);
    for (unsigned c = 0; c < 256; c++) {
        s->first_border[c + 1] = s->first_border[c] + n_borders[c];
    }
    s->borders = qn_zalloc_array(v->budget, OWNER, (size_t)s->first_border[256] + 1, sizeof(*s->borders));
    s->parts = qn_zalloc_array(v->budget, OWNER, (size_t)s->n_parts + 1, sizeof(*s->parts));
    if (s->borders == NULL || s->parts == NULL) {
        return qn_alloc_failure(v->budget, ((uint64_t)s->first_border[256] + s->n_parts) * sizeof(*s->parts));
    }
    memcpy(n_borders, s->first_border, sizeof(n_borders));
    look_through(s, n_borders, s->borders);
    return QN_OK;
}
