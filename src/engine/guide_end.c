/* Ending in time: how many tokens the shortest text to the end takes.
 *
 * Where every byte is a token, n bytes take at most n tokens, and that is all that is looked at far from the limit. Near
 * it, the text itself is cut into as few tokens as there can be, between the special ones that must come on the way.
 * The rest of a shortest text is a shortest text behind its first token, so whoever follows it stays in time.
 * SPDX-License-Identifier: MIT */
#include "engine/guide_int.h"

#define MAX_MOVES 63 /* of the 64 that a matcher takes back; the token before them may have to be, too */

/* Special tokens on the way count as bytes do. */
static bool is_far_from_limit(const qn_guide *g, uint64_t n_bytes, uint64_t n_left)
{
    /* Without byte tokens the text may be impossible to spell, which is found out in time. */
    return n_bytes < (g->model->guide_vocab->has_bytes ? n_left : n_left / 2);
}

/* Moves behind a special token that must come here, one that brings the end nearer. */
static qn_status take_special(qn_guide *g, int32_t *id)
{
    uint64_t before = qn_matcher_shortest_end(g->matcher);
    QN_TRY(qn_matcher_mask(g->matcher, g->ahead));
    for (uint32_t w = 0; w < g->n_words; w++) {
        for (uint64_t left = g->ahead[w]; left != 0; left &= left - 1) {
            *id = (int32_t)(w * 64) + __builtin_ctzll(left);
            qn_token_kind kind = qn_tokenizer_kind(g->model->tokenizer, *id);
            if (kind != QN_TOKEN_CONTROL && kind != QN_TOKEN_USER && kind != QN_TOKEN_UNKNOWN) {
                continue;
            }
            QN_TRY(qn_matcher_accept(g->matcher, *id));
            if (qn_matcher_shortest_end(g->matcher) < before) {
                return QN_OK;
            }
            QN_TRY(qn_matcher_rollback(g->matcher, 1));
        }
    }
    return QN_ENOTFOUND;
}

/* find_way(), which goes back by *n_moves. */
static qn_status follow_way(qn_guide *g, int32_t *first, uint64_t *n_tokens, uint32_t *n_moves)
{
    *first = -1;
    *n_tokens = *n_moves = 0;
    for (;;) {
        int32_t id;
        uint32_t n;
        size_t n_taken;
        qn_buf_clear(&g->way);
        qn_status status = qn_matcher_shortest_text(g->matcher, &g->way);
        if (status != QN_OK && status != QN_EUNSUPPORTED) {
            return status;
        }
        QN_TRY(qn_grammar_vocab_cut(g->model->guide_vocab->grammar, qn_buf_view(&g->way), &id, &n));
        *first = *first < 0 ? id : *first;
        *n_tokens += n;
        if (status == QN_OK) {
            return QN_OK;
        }
        if (*n_moves + 2 > MAX_MOVES) {
            return QN_ENOTFOUND;
        }
        if (g->way.len != 0) {
            QN_TRY(qn_matcher_accept_bytes(g->matcher, g->way.data, g->way.len, &n_taken));
            ++*n_moves;
        }
        QN_TRY(take_special(g, &id));
        ++*n_moves;
        *first = *first < 0 ? id : *first;
        if (qn_guide_has_ended_by(g, id)) {
            return QN_OK;
        }
        ++*n_tokens;
    }
}

/* A shortest text to the end: *first of its n_tokens, the one that ends it not counted; -1: it is empty.
 * QN_ENOTFOUND: none can be spelled, or found in bounded time. */
static qn_status find_way(qn_guide *g, int32_t *first, uint64_t *n_tokens)
{
    uint32_t n_moves;
    qn_status status = follow_way(g, first, n_tokens, &n_moves);
    qn_matcher_rollback(g->matcher, n_moves); /* all of them are remembered */
    return status == QN_EFULL || status == QN_ERANGE ? QN_ENOTFOUND : status;
}

qn_status qn_guide_can_end(qn_guide *g, uint64_t n_left, bool *can)
{
    int32_t first;
    uint64_t n_tokens;
    uint64_t n_bytes = qn_matcher_shortest_end(g->matcher);
    *can = is_far_from_limit(g, n_bytes, n_left);
    if (*can || n_left == 0) {
        return QN_OK;
    }
    qn_status status = find_way(g, &first, &n_tokens);
    *can = status == QN_OK && n_tokens < n_left;
    return status == QN_ENOTFOUND ? QN_OK : status;
}

qn_status qn_guide_mask_way(qn_guide *g)
{
    int32_t first;
    uint64_t n_tokens;
    qn_status status = find_way(g, &first, &n_tokens);
    if (status != QN_OK && status != QN_ENOTFOUND) {
        return status;
    }
    bool is_end = status == QN_OK && first < 0;
    for (uint32_t w = 0; w < g->n_words; w++) {
        for (uint64_t left = g->mask[w]; left != 0; left &= left - 1) {
            int32_t id = (int32_t)(w * 64) + __builtin_ctzll(left);
            bool is_way = is_end ? qn_tokenizer_is_end(g->model->tokenizer, id) : status == QN_OK && id == first;
            g->mask[w] &= ~((uint64_t)!is_way << (id % 64));
        }
    }
    return QN_OK;
}
