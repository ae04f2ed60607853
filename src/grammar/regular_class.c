/* Sets of characters as bytes of UTF-8: a switch on the first byte, then on the second, and so on; equal ends are one.
 * SPDX-License-Identifier: MIT */
#include "grammar/regular_int.h"

typedef struct byte_seq { /* characters whose i-th byte lies in [lo[i], hi[i]] */
    uint8_t n, lo[4], hi[4];
} byte_seq;

static uint8_t encode(uint32_t c, uint8_t out[4])
{
    if (c < 0x80) {
        out[0] = (uint8_t)c;
        return 1;
    }
    uint8_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (uint8_t i = n; i-- > 1; c >>= 6) {
        out[i] = 0x80 | (c & 0x3f);
    }
    out[0] = (uint8_t)((n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0) | c);
    return n;
}

static bool add_seq(qn_rx_pool *p, qn_rx_vec *out, uint32_t first, uint32_t last)
{
    byte_seq s = {0};
    s.n = encode(first, s.lo);
    encode(last, s.hi);
    return qn_vec_add(p->budget, &p->status, out, &s, 1u << 24, sizeof(s));
}

/* Cuts [first, last] where the length changes and where a byte's range would depend on the byte before it. */
static bool split(qn_rx_pool *p, qn_rx_vec *out, uint32_t first, uint32_t last)
{
    static const uint32_t ends[] = {0x7f, 0x7ff, 0xffff, 0x10ffff};
    last = last > 0x10ffff ? 0x10ffff : last;
    while (first <= last) {
        uint32_t end = last;
        for (int i = 0; i < 4; i++) {
            if (first <= ends[i]) {
                end = end > ends[i] ? ends[i] : end;
                break;
            }
        }
        for (int i = first < 0x80 ? 0 : first < 0x800 ? 1 : first < 0x10000 ? 2 : 3; i > 0; i--) {
            uint32_t low = (1u << (6 * i)) - 1; /* the bits of the last i bytes */
            if ((first & ~low) == (end & ~low)) {
                continue;
            }
            if ((first & low) != 0) {
                end = first | low;
            } else if ((end & low) != low) {
                end = (end & ~low) - 1;
            }
        }
        if (!add_seq(p, out, first, end)) {
            return false;
        }
        first = end + 1;
    }
    return true;
}

/* A switch over the bytes from i on of seqs[0, n), which agree on the bytes before. */
static qn_rx build(qn_rx_pool *p, const byte_seq *seqs, uint32_t n, uint8_t i)
{
    qn_rx_run runs[256];
    uint32_t n_runs = 0;
    for (uint32_t k = 0; k < n;) {
        uint32_t same = k + 1;
        while (same < n && seqs[same].lo[i] == seqs[k].lo[i]) {
            same++;
        }
        qn_rx to = seqs[k].n == i + 1 ? QN_RX_EPS : build(p, seqs + k, same - k, i + 1);
        qn_rx_run *last = n_runs == 0 ? NULL : &runs[n_runs - 1];
        if (last != NULL && last->to == to && last->hi + 1 == seqs[k].lo[i]) {
            last->hi = seqs[k].hi[i];
        } else {
            runs[n_runs++] = (qn_rx_run){seqs[k].lo[i], seqs[k].hi[i], to};
        }
        k = same;
    }
    return qn_rx_switch(p, runs, n_runs);
}

qn_rx qn_rx_class(qn_rx_pool *p, const qn_gx_range *ranges, uint32_t n)
{
    qn_rx_vec seqs = {0};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t first = ranges[i].first, last = ranges[i].last;
        bool good = true;
        if (first < 0xd800 && last >= 0xd800) {
            good = split(p, &seqs, first, 0xd7ff);
            first = 0xd800;
        }
        first = first >= 0xd800 && first < 0xe000 ? 0xe000 : first; /* no surrogates in UTF-8 */
        if (!good || !split(p, &seqs, first, last)) {
            break;
        }
    }
    qn_rx made = p->status == QN_OK ? build(p, seqs.items, seqs.n, 0) : QN_RX_NEVER;
    qn_free(seqs.items);
    return made;
}

qn_rx qn_rx_any_char(qn_rx_pool *p) { return qn_rx_class(p, (qn_gx_range[]){{0, 0x10ffff}}, 1); }
