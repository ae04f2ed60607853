/* The way to the end: how many bytes it takes at least, and which.
 * SPDX-License-Identifier: MIT */
#include "grammar/matcher_int.h"

#define MAX_SHORTEST 65536u       /* bytes of a way that is written out */
#define MAX_SHORTEST_WORK (1u << 22) /* frames looked at for all of it: well below a second */
#define FAR UINT32_MAX            /* lengths from here on are not told apart: nodes know no larger ones */

/* Bytes from a state to its end, with the rounds that its loop needs and allows. */
static uint64_t own_left(const qn_engine *e, uint32_t state, uint32_t lo, uint32_t hi)
{
    const qn_rx_node *x = qn_rx_at(&e->rx, state);
    uint64_t left = x->min_len;
    if (x->kind == QN_RX_K_GLOOP) {
        left = (uint64_t)lo * qn_rx_rules(&e->rx)[x->a].min_len;
    } else if (x->kind == QN_RX_K_LOOP && qn_rx_loops(&e->rx)[x->a].is_guarded) {
        left = qn_rx_loop_bytes(&e->automaton->rx, state, lo, hi);
    } else if (x->kind == QN_RX_K_LOOP) {
        uint64_t of_round = qn_rx_at(&e->rx, qn_rx_loops(&e->rx)[x->a].round)->min_len;
        left = x->b != 0 ? lo * of_round : left + (lo == 0 ? 0 : lo - 1) * of_round;
    }
    return left < FAR ? left : FAR;
}

/* Bytes to the end of a frame and those below it. Found once: a frame's answer is kept, and those of frames below. */
static uint64_t frame_left(qn_engine *e, uint32_t frame)
{
    qn_frame *frames = e->frames.items;
    uint64_t sum = 0;
    uint32_t f = frame;
    for (; frames[f].min_left == QN_NOT_ASKED; f = frames[f].parent) {
        sum += own_left(e, frames[f].state, frames[f].lo, frames[f].hi);
    }
    sum += frames[f].min_left; /* at most FAR a frame of QN_MAX_STACK_DEPTH: no overflow */
    for (f = frame; frames[f].min_left == QN_NOT_ASKED; f = frames[f].parent) {
        frames[f].min_left = sum;
        sum -= own_left(e, frames[f].state, frames[f].lo, frames[f].hi);
    }
    return frames[frame].min_left;
}

static uint64_t config_left(qn_engine *e, uint32_t config)
{
    const qn_config *c = qn_config_at(e, config);
    uint64_t least = c->may_end ? 0 : UINT64_MAX;
    for (uint32_t i = 0; i < c->n && least != 0; i++) {
        uint64_t left = frame_left(e, qn_config_frames(e, config)[i]);
        least = left < least ? left : least;
    }
    return least < FAR ? least : UINT64_MAX;
}

uint64_t qn_matcher_shortest_end(const qn_matcher *m) { return config_left(m->engine, qn_matcher_now(m)); }

/* The least symbol behind which one byte less than `left` is needed; UINT32_MAX: there is none. */
static uint32_t next_symbol(qn_engine *e, uint32_t config, uint64_t left)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < qn_config_at(e, config)->n; i++) {
        uint32_t frame = qn_config_frames(e, config)[i];
        if (frame_left(e, frame) > left) {
            continue;
        }
        qn_frame f = *qn_frame_at(e, frame);
        uint64_t below = frame_left(e, f.parent);
        qn_rx_head h = qn_rx_head_of(&e->rx, f.state);
        for (uint32_t k = 0; k < h.n_runs; k++) {
            qn_rx_run r = qn_rx_runs(&e->rx)[h.first_run + k];
            uint32_t lo = f.lo, hi = f.hi;
            qn_count_round(e, r.to, &lo, &hi);
            if (r.lo < best && own_left(e, r.to, lo, hi) + below < left) {
                best = r.lo;
                break;
            }
        }
        e->work += 1 + h.n_runs;
    }
    return best;
}

static qn_status write_way(qn_engine *e, uint32_t config, qn_buf *out)
{
    uint64_t left = config_left(e, config);
    if (left > MAX_SHORTEST) {
        return QN_ERANGE;
    }
    while (left != 0 && out->status == QN_OK) {
        uint32_t symbol = next_symbol(e, config, left);
        if (symbol >= QN_RX_SPECIAL_SYMBOL) {
            return e->rx.status != QN_OK ? e->rx.status : QN_EUNSUPPORTED;
        }
        config = qn_config_step(e, config, symbol);
        e->status = e->status == QN_OK && e->work > MAX_SHORTEST_WORK ? QN_EFULL : e->status;
        QN_TRY(e->status);
        qn_buf_add_char(out, (char)symbol);
        left = config_left(e, config);
    }
    return out->status;
}

qn_status qn_matcher_shortest_text(qn_matcher *m, qn_buf *out)
{
    qn_matcher_begin(m);
    if (qn_matcher_has_ended(m)) {
        return out->status;
    }
    size_t before = out->len;
    qn_status status = write_way(m->engine, qn_matcher_now(m), out);
    if (status != QN_OK && status != QN_EUNSUPPORTED) {
        out->len = before;
        if (out->data != NULL) {
            out->data[before] = '\0';
        }
    }
    return status;
}
