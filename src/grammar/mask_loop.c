/* Loops over characters: their states as tables, and the slices of the vocabulary that they take as a whole.
 * SPDX-License-Identifier: MIT */
#include "grammar/mask_int.h"

const uint32_t *qn_loop_row(qn_engine *e, uint32_t state)
{
    uint32_t number = qn_rx_at(&e->rx, state)->c;
    if (e->loop_rows[number] != NULL) {
        return e->loop_rows[number];
    }
    uint32_t *row = qn_zalloc_array(e->budget, QN_RX_OWNER, 256, sizeof(*row));
    if (row == NULL) {
        e->status = qn_alloc_failure(e->budget, 256 * sizeof(*row));
        return NULL;
    }
    qn_rx_head h = qn_rx_head_of(&e->rx, state);
    for (uint32_t i = 0; i < h.n_runs; i++) {
        qn_rx_run r = qn_rx_runs(&e->rx)[h.first_run + i];
        for (uint32_t c = r.lo; c <= r.hi && c < 256; c++) {
            row[c] = r.to;
        }
    }
    return e->loop_rows[number] = row;
}

/* Whether all of the n bytes that end a character lead from `state` back to `start`; *good remembers such a state. */
static bool ends_well(qn_engine *e, uint32_t state, uint32_t first, uint32_t last, uint32_t n, uint32_t start,
                      uint32_t good[4])
{
    if (state == QN_RX_NEVER || state == start) {
        return false;
    }
    bool is_full = first == 0x80 && last == 0xbf;
    if (is_full && good[n] == state) {
        return true;
    }
    for (uint32_t c = first; c <= last; c++) {
        const uint32_t *row = qn_loop_row(e, state);
        if (row == NULL || (n == 1 ? row[c] != start : !ends_well(e, row[c], 0x80, 0xbf, n - 1, start, good))) {
            return false;
        }
    }
    good[n] = is_full ? state : good[n];
    return true;
}

static bool takes_wide(qn_engine *e, uint32_t start)
{
    uint32_t good[4] = {0};
    for (uint32_t c = 0xc2; c <= 0xf4; c++) {
        uint32_t first = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80, last = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
        uint32_t n = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
        const uint32_t *row = qn_loop_row(e, start);
        if (row == NULL || !ends_well(e, row[c], first, last, n, start, good)) {
            return false;
        }
    }
    return true;
}

uint32_t qn_loop_slice(qn_engine *e, uint32_t i_loop)
{
    if (e->loop_slices[i_loop] != 0) {
        return e->loop_slices[i_loop] - 1u;
    }
    uint32_t start = qn_rx_loops(&e->rx)[i_loop].start, best = 0;
    uint16_t kinds = QN_CHAR_PART;
    for (unsigned c = 0; c < 0x80; c++) {
        const uint32_t *row = qn_loop_row(e, start);
        if (row == NULL) {
            return 0;
        }
        kinds |= row[c] == start ? 0 : qn_kind_of_ascii((unsigned char)c);
    }
    kinds |= takes_wide(e, start) ? 0 : QN_CHAR_WIDE;
    if (e->status != QN_OK) {
        return 0;
    }
    for (uint32_t i = 0; i < e->vocab->n_slices; i++) {
        const qn_slice *s = &e->vocab->slices[i];
        if ((s->kinds & kinds) == 0 && (best == 0 || s->n_tokens > e->vocab->slices[best - 1].n_tokens)) {
            best = i + 1;
        }
    }
    e->loop_slices[i_loop] = (uint8_t)(best + 1);
    return best;
}
