/* Ending in time: how many tokens the shortest text to the end takes.
 *
 * Where every byte is a token, n bytes take at most n tokens, and that is all that is looked at far from the limit. Near
 * it, the text itself is cut into as few tokens as there can be. The rest of a shortest text is a shortest text behind
 * its first token, so whoever follows it stays in time.
 * SPDX-License-Identifier: MIT */
#include "engine/guide_int.h"

/* Special tokens on the way count as bytes do. */
static bool is_far_from_limit(const qn_guide *g, uint64_t n_bytes, uint64_t n_left)
{
    /* Without byte tokens the text may be impossible to spell, which is found out in time. */
    return n_bytes < (g->model->guide_vocab->has_bytes ? n_left : n_left / 2);
}

/* A shortest text to the end, as far as it is ordinary text: *first of its n_tokens. QN_EUNSUPPORTED: a special token
 * follows; QN_ENOTFOUND: none can be spelled, or found in bounded time. */
static qn_status find_way(qn_guide *g, int32_t *first, uint32_t *n_tokens)
{
    *first = -1;
    *n_tokens = 0;
    qn_buf_clear(&g->way);
    qn_status status = qn_matcher_shortest_text(g->matcher, &g->way);
    if (status == QN_OK || status == QN_EUNSUPPORTED) {
        qn_status spelled = qn_grammar_vocab_cut(g->model->guide_vocab->grammar, qn_buf_view(&g->way), first, n_tokens);
        return spelled == QN_OK ? status : spelled;
    }
    return status == QN_EFULL || status == QN_ERANGE ? QN_ENOTFOUND : status;
}

qn_status qn_guide_can_end(qn_guide *g, uint64_t n_left, bool *can)
{
    int32_t first;
    uint32_t n_tokens;
    uint64_t n_bytes = qn_matcher_shortest_end(g->matcher);
    *can = is_far_from_limit(g, n_bytes, n_left);
    if (*can || n_left == 0) {
        return QN_OK;
    }
    qn_status status = find_way(g, &first, &n_tokens);
    *can = status == QN_OK && n_tokens < n_left;
    return status == QN_EUNSUPPORTED || status == QN_ENOTFOUND ? QN_OK : status;
}

qn_status qn_guide_mask_way(qn_guide *g)
{
    int32_t first;
    uint32_t n_tokens;
    qn_status status = find_way(g, &first, &n_tokens);
    if (status != QN_OK && status != QN_EUNSUPPORTED && status != QN_ENOTFOUND) {
        return status;
    }
    if (status != QN_ENOTFOUND && first >= 0) {
        memset(g->mask, 0, g->n_words * sizeof(*g->mask));
        g->mask[first / 64] = (uint64_t)1 << (first % 64);
        return QN_OK;
    }
    for (uint32_t w = 0; w < g->n_words; w++) {
        for (uint64_t left = g->mask[w]; left != 0; left &= left - 1) {
            int32_t id = (int32_t)(w * 64) + __builtin_ctzll(left);
            bool is_text = qn_grammar_vocab_bytes(g->model->guide_vocab->grammar, id).len != 0;
            g->mask[w] &= ~((uint64_t)is_text << (id % 64));
        }
    }
    return QN_OK;
}
