/* Jumping ahead: tokens for the bytes that a grammar forces, without the model.
 *
 * The end of the text and the forced bytes are cut by the tokenizer; its cuts must agree with the tokens that are there.
 * Of the tokens behind them only those count that stay as they are whatever follows. A token that will reach beyond the
 * forced bytes begins at a place from where they are the beginning of some token, and before that place the cuts are
 * those of the text up to it alone. So what the cuts of the whole have in common with the cuts of the text up to each
 * such place is certain.
 * SPDX-License-Identifier: MIT */
#include "engine/guide_int.h"

#define MAX_BYTES 4096     /* forced bytes looked at in one jump: bounds its time */
#define BYTES_A_TOKEN 64   /* and for each token that is wanted: few are longer */
#define MAX_TAIL_BYTES 256 /* of the tokens before */
#define N_AGREE 4          /* tokens before that must be as the tokenizer cuts them */
#define MAX_SUFFIX 64      /* bytes of a token on this side of the end; longer ones are runs of blanks */
#define MAX_PLACES 16      /* where such tokens begin; where there are more, nothing is certain */

/* Before the tail: nothing joins it, and behind it no tokenizer puts a blank of its own. */
#define ANCHOR "\n"

typedef struct jump {
    qn_guide *g;
    const qn_grammar_vocab *vocab;
    qn_str forced;
    size_t border;   /* bytes of g->text before the forced ones */
    int32_t *whole;  /* tokens of all of g->text */
    int32_t *part;   /* and of a part of it */
    size_t n_whole, first; /* whole[first, n_whole) spell the forced bytes */
} jump;

/* Without a character that is not whole at the end. */
static qn_str whole_characters(qn_str s)
{
    size_t n = s.len;
    while (n > 0 && s.len - n < 3 && ((unsigned char)s.data[n - 1] & 0xc0) == 0x80) {
        n--;
    }
    unsigned char lead = n > 0 ? (unsigned char)s.data[n - 1] : 0;
    size_t needed = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    return n > 0 && needed > s.len - n + 1 ? (qn_str){s.data, n - 1} : s;
}

static void write_text(jump *j)
{
    qn_guide *g = j->g;
    size_t n_bytes = 0;
    uint32_t first = g->n_tail;
    while (first > 0) {
        n_bytes += qn_grammar_vocab_bytes(j->vocab, g->tail[first - 1]).len;
        if (n_bytes > MAX_TAIL_BYTES) {
            break;
        }
        first--;
    }
    qn_buf_clear(&g->text);
    qn_buf_add_str(&g->text, ANCHOR);
    for (uint32_t i = first; i < g->n_tail; i++) {
        qn_str bytes = qn_grammar_vocab_bytes(j->vocab, g->tail[i]);
        qn_buf_add(&g->text, bytes.data, bytes.len);
    }
    j->border = g->text.len;
    qn_buf_add(&g->text, j->forced.data, j->forced.len);
}

/* Room for two lists of tokens. */
static qn_status make_room(jump *j)
{
    qn_guide *g = j->g;
    size_t cap = g->text.len + 16; /* a token has a byte at least, but for a few at the ends */
    if (g->cap_ids < cap) {
        int32_t *ids = qn_realloc(g->model->rt->budget, QN_GUIDE_OWNER, g->ids, 2 * cap * sizeof(*ids));
        if (ids == NULL) {
            return QN_ENOMEM;
        }
        g->ids = ids;
        g->cap_ids = cap;
    }
    j->whole = g->ids;
    j->part = g->ids + g->cap_ids;
    return QN_OK;
}

/* Tokens of the first n_bytes of the text. A tokenizer that makes more of it than there is room for has none. */
static qn_status cut(const jump *j, size_t n_bytes, int32_t *ids, size_t *n)
{
    const qn_guide *g = j->g;
    qn_status status = qn_tokenizer_encode(g->model->tokenizer, g->text.data, n_bytes, 0, ids, g->cap_ids, n, NULL);
    *n = status == QN_OK ? *n : 0;
    return status == QN_ERANGE ? QN_OK : status;
}

/* Whether the last tokens of the whole spell the forced bytes, with a cut before them, those before are of the tail. */
static bool agrees(jump *j)
{
    size_t left = j->forced.len;
    j->first = j->n_whole;
    while (left > 0 && j->first > 0) {
        qn_str bytes = qn_grammar_vocab_bytes(j->vocab, j->whole[j->first - 1]);
        if (bytes.len == 0 || bytes.len > left ||
            memcmp(bytes.data, j->forced.data + left - bytes.len, bytes.len) != 0) {
            return false;
        }
        left -= bytes.len;
        j->first--;
    }
    uint32_t n_tail = j->g->n_tail, n = n_tail < N_AGREE ? n_tail : N_AGREE;
    return left == 0 && j->first > n &&
           memcmp(j->whole + j->first - n, j->g->tail + n_tail - n, n * sizeof(j->whole[0])) == 0;
}

static size_t common(const jump *j, size_t n_part)
{
    size_t n = 0;
    while (n < n_part && n < j->n_whole && j->whole[n] == j->part[n]) {
        n++;
    }
    return n;
}

/* How many tokens of the whole stay as they are whatever follows: *n of them, from the first on. */
static qn_status find_certain(jump *j, size_t *n)
{
    int n_places = 0;
    size_t n_part, n_bytes = j->forced.len;
    *n = j->n_whole;
    for (size_t i = n_bytes > MAX_SUFFIX ? n_bytes - MAX_SUFFIX : 0; i < n_bytes && *n > j->first; i++) {
        if (!qn_grammar_vocab_has_longer(j->vocab, (qn_str){j->forced.data + i, n_bytes - i})) {
            continue;
        }
        if (i == 0 || ++n_places > MAX_PLACES) {
            *n = j->first;
            break;
        }
        QN_TRY(cut(j, j->border + i, j->part, &n_part));
        size_t same = common(j, n_part);
        *n = same < *n ? same : *n;
    }
    return QN_OK;
}

static qn_status must_end_behind(qn_guide *g, qn_str forced, bool *must)
{
    size_t n_taken;
    QN_TRY(qn_matcher_accept_bytes(g->matcher, forced.data, forced.len, &n_taken));
    *must = qn_matcher_must_end(g->matcher);
    return qn_matcher_rollback(g->matcher, 1);
}

/* j->whole[j->first, *end) may be handed out. */
static qn_status find_tokens(jump *j, size_t *end)
{
    qn_guide *g = j->g;
    bool must_end;
    write_text(j);
    QN_TRY(g->text.status);
    QN_TRY(make_room(j));
    QN_TRY(cut(j, g->text.len, j->whole, &j->n_whole));
    *end = j->first = 0;
    if (!agrees(j)) {
        *end = j->first;
        return QN_OK;
    }
    QN_TRY(must_end_behind(g, j->forced, &must_end));
    *end = j->n_whole;
    return must_end ? QN_OK : find_certain(j, end);
}

/* Moves behind ids[0, n) as far as there is room for the end. */
static qn_status move_on(qn_guide *g, const int32_t *ids, size_t n, uint64_t n_left, size_t *n_moved)
{
    qn_status status = QN_OK;
    *n_moved = 0;
    for (bool can = true; *n_moved < n && can; *n_moved += can) {
        if (n_left != 0 && n_left <= *n_moved + 1) {
            break;
        }
        QN_TRY(qn_matcher_accept(g->matcher, ids[*n_moved]));
        if (n_left != 0) {
            status = qn_guide_can_end(g, n_left - *n_moved - 1, &can);
            can = can && status == QN_OK;
        }
        if (can) {
            qn_guide_moved(g, ids[*n_moved]);
        } else {
            QN_TRY(qn_matcher_rollback(g->matcher, 1));
        }
    }
    return status;
}

static qn_status do_jump(qn_guide *g, uint64_t n_left, int32_t *ids, size_t cap, size_t *n_ids)
{
    qn_buf_clear(&g->forced);
    QN_TRY(qn_matcher_forced(g->matcher, &g->forced));
    size_t most = cap < MAX_BYTES / BYTES_A_TOKEN ? cap * BYTES_A_TOKEN : MAX_BYTES;
    qn_str forced = {g->forced.data, g->forced.len < most ? g->forced.len : most};
    jump j = {.g = g, .vocab = g->model->guide_vocab->grammar, .forced = whole_characters(forced)};
    size_t end, n = 0;
    if (j.forced.len == 0) {
        return QN_OK;
    }
    QN_TRY(find_tokens(&j, &end));
    end = end - j.first < cap ? end : j.first + cap;
    qn_status status = move_on(g, j.whole + j.first, end - j.first, n_left, &n);
    memcpy(ids, j.whole + j.first, n * sizeof(*ids));
    *n_ids = n;
    return n != 0 ? QN_OK : status; /* tokens that were taken are told; what failed will fail again */
}

qn_status qn_guide_jump(qn_guide *g, qn_sampler *s, uint64_t n_left, int32_t *ids, size_t cap, size_t *n_ids,
                        qn_error *err)
{
    QN_NEED(g, err);
    QN_NEED_IF(cap != 0, ids, err);
    QN_NEED(n_ids, err);
    if (s != NULL) {
        QN_TRY(qn_guide_check_sampler(g, s, err));
    }
    size_t n = 0;
    qn_status status = cap == 0 || g->has_ended ? QN_OK : do_jump(g, n_left, ids, cap, &n);
    bool is_limit = status == QN_EFULL || status == QN_ERANGE; /* a pick may go on all the same */
    if (status != QN_OK && !is_limit) {
        qn_fail(err, status, "jumping ahead: %s", qn_status_text(status));
        return qn_blame_ceiling(g->model->rt->budget, status, err);
    }
    if (s != NULL) {
        qn_chain_accept(s->chain, ids, n);
    }
    *n_ids = n;
    return QN_OK;
}
